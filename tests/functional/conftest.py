"""What holds for every functional test."""

from collections.abc import Iterator

import pytest

from tests.support.ingest import Stack


@pytest.fixture(autouse=True)
def _no_message_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty the queues of a module's stack: a message of an earlier test would come back in a later one."""
    # Asked for here, so that it still stands when this fixture ends.
    stack = request.getfixturevalue("stack") if "stack" in request.fixturenames else None
    yield
    if isinstance(stack, Stack):
        stack.empty_queues()
