"""Whatever happens and in whatever order, what can be found is what lies in the bucket.

The short form; `make soak` runs the long one (tests/soak).
"""

from collections.abc import Iterator

import pytest

from tests.support.ingest_kills import World
from tests.support.ingest_machine import IngestMachine, machine_world, run_machine

pytestmark = pytest.mark.timeout(600)  # about 40 seconds, and several times that on a machine with much else to do

EXAMPLES = 12
STEPS = 30


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with machine_world(tmp_path_factory.mktemp("stack")) as made:
        yield made


def test_what_can_be_found_is_what_the_bucket_holds(world: World) -> None:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    run_machine(lambda: IngestMachine(world, count), examples=EXAMPLES, steps=STEPS)
    assert steps >= 300, f"only {steps} steps were taken"
