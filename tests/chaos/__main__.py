"""`make chaos`: a deployed laptop stack under kills and under readers.

First: a hundred documents are uploaded, replaced and deleted while the process of the ingest Lambda is killed fifty
times; afterwards the index must hold exactly what is in the bucket. Second: a document is replaced again and again
while four clients query it a thousand times; every answer must come from one whole version. Exit code 0 if both held.
"""

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from local.report import Reporter
from local.stack.config import PORTS, LocalConfig
from local.stack.laptop import Laptop
from tests.chaos.killing import run_killing
from tests.chaos.world import ChaosWorld
from tests.support.local_stack import free_ports
from tests.support.replacing import replace_under_readers
from tests.support.waiting import until

LEASE_S = 5
"""A worker's lease. The successor of a killed one waits this long and ten seconds more, here fifty times."""
PARAMETERS = {"LeaseSeconds": str(LEASE_S), "IngestMaximumConcurrency": "3"}


def main() -> int:
    """Read the command line, bring a stack up, do both parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--documents", type=int, default=100, help="(default: 100)")
    parser.add_argument("--kills", type=int, default=50, help="(default: 50)")
    parser.add_argument("--queries", type=int, default=1_000, help="(default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other changes and moments (default: 1)")
    parser.add_argument("--state", type=Path, metavar="DIR", help="keep the stack here (default: a new one, removed)")
    arguments = parser.parse_args()
    report = Reporter()
    folder = arguments.state or Path(tempfile.mkdtemp(prefix="recto-chaos-"))
    ports = {} if (folder / "config.json").exists() else dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    config = LocalConfig.load(folder.resolve(), {}, parameters=PARAMETERS, **ports)
    laptop = Laptop(config, report)
    held = True
    laptop.up()
    try:
        world = ChaosWorld(laptop, random.Random(arguments.seed))
        if arguments.kills:
            world.shorten_visibility(LEASE_S + 10)
            # What S3 sent at the deployment has the old one: its worker killed, it would come back after 36 minutes.
            until(lambda: world.waiting("QueueUrl"), lambda left: left == 0, what="an empty queue", within_s=120)
            held = run_killing(world, report, documents=arguments.documents, kills=arguments.kills)
        if arguments.queries:
            result = replace_under_readers(laptop, queries=arguments.queries, report=report)
            report.say(result.summary())
            held = held and result.held
    finally:
        laptop.down()
        if arguments.state is None:
            shutil.rmtree(folder, ignore_errors=True)
    report.say("Every invariant held." if held else "An invariant was violated; see above.")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
