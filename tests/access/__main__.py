"""`python -m tests.access`: 10,000 random steps of readers, questions and changes of rules; nobody is shown too much.

They are taken in memory; `--stack-steps` takes as many more through the handler and the emulated stack.
Exit code 0 if nothing leaked.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import pytest

from functions.query import withholding
from tests.access.light import LightWorld, take_light
from tests.access.world import changing_world, take


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Read the command line, take the steps."""
    parser = argparse.ArgumentParser(prog="python -m tests.access", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=10_000, help="in memory (default: 10000)")
    parser.add_argument("--stack-steps", type=int, default=0, help="through the emulated stack (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other steps (default: 1)")
    given = parser.parse_args()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(withholding, "CHECK_EVERY_S", 0.0)
            light = LightWorld(given.seed)
            take_light(light, given.steps, say)
            say(f"{given.steps} steps in memory, 0 leaks: {dict(light.done)}")
        if given.stack_steps:
            with (
                tempfile.TemporaryDirectory() as folder,
                pytest.MonkeyPatch.context() as patch,
                changing_world(patch, Path(folder), seed=given.seed) as world,
            ):
                take(world, given.stack_steps, say)
                say(f"{given.stack_steps} steps through the stack, 0 leaks: {dict(world.done)}")
    except AssertionError as error:
        say(f"FAILED: {type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
