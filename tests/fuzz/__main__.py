"""`make fuzz`: 10,000 requests made from the OpenAPI document, to all routes, as each role and nobody, right and wrong.

No answer may be a server error, have a status or a form that the document does not name, or hold anything of another
tenant's; and nothing of the other tenant's may be gone afterwards. Exit code 0 if all held.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import pytest

from tests.fuzz.running import fuzz, theirs_is_untouched
from tests.fuzz.world import fuzzed_world


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Read the command line, make the two tenants, send the requests."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="(default: 10000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other requests (default: 1)")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        fuzzed_world(patch, Path(folder)) as world,
    ):
        report = fuzz(world, cases=arguments.cases, start=arguments.seed, progress=say)
        kept = theirs_is_untouched(world)
    say(str(report))
    gone = [name for name, is_there in kept.items() if not is_there]
    if gone:
        say(f"FAILED: of the other tenant's things these are gone or changed: {', '.join(gone)}")
    return 1 if report.failures or gone else 0


if __name__ == "__main__":
    sys.exit(main())
