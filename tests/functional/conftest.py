"""What holds for every functional test."""

from collections.abc import Iterator

import pytest

from tests.support.ingest import Stack


@pytest.fixture(autouse=True)
def _no_message_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty the queues of a module's stack: a message of an earlier test would come back in a later one."""
    yield
    stack = request.node.funcargs.get("stack")
    if isinstance(stack, Stack):
        stack.empty_queues()
