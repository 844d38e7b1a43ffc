"""A container's snapshot, taken when it has started, holds nothing that is stale or shared when it is restored."""

import gc
import random
import socket
from collections.abc import Iterator

import pytest

from functions.query import bootstrap
from shared.adapters import retry
from tests.support.aws_wire import aws_on_the_wire
from tests.support.ingest import Stack
from tests.support.moto_aws import REGION
from tests.support.query_stack import LENS, call, query_stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("snapshot")) as made,
        aws_on_the_wire(patch, "secretsmanager", REGION) as secrets,
    ):
        yield made
        assert secrets.calls
        bootstrap.reset()


def connections() -> list[socket.socket]:
    """Connected sockets of this process that are not a server's end of one."""
    gc.collect()
    found = []
    for each in gc.get_objects():
        if isinstance(each, socket.socket) and each.fileno() >= 0 and each.family in {socket.AF_INET, socket.AF_INET6}:
            try:
                found.append((each, each.getpeername()))
            except OSError:
                continue  # it listens, or is closed
    return [each for each, _ in found]


def test_what_is_built_while_a_container_starts_holds_no_connection(stack: Stack) -> None:
    stack.http.close()  # the test's own
    bootstrap.reset()
    ours = set(map(id, connections()))
    bootstrap.warm_up()
    kept = [each for each in connections() if id(each) not in ours]
    assert [each.getpeername() for each in kept] == []
    assert call("POST", "/query", {"question": LENS})[0] == 200


def test_jitter_does_not_come_from_a_seed_that_a_snapshot_would_share() -> None:
    random.seed(7)
    first = [retry.draw() for _ in range(3)]
    random.seed(7)
    assert [retry.draw() for _ in range(3)] != first
