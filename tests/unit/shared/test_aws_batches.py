"""DynamoDB's batches and pages are read to their end, its clients have limits, its values become plain ones."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import pytest

from shared.adapters import aws
from shared.adapters.aws import batch_get, from_item, pages, to_item, until_processed
from shared.adapters.retry import Retry
from shared.deadline import CURRENT, Deadline
from shared.errors import RateLimited
from tests.support.clock import FakeClock

KEYS = [{"pk": {"S": str(number)}} for number in range(250)]


class Table:
    """Answers each batch with its items but for those that `leaves` says it leaves."""

    def __init__(self, *leaves: int) -> None:
        self.leaves = list(leaves)
        self.asked: list[tuple[int, Mapping[str, Any]]] = []

    def batch_get_item(self, *, RequestItems: Mapping[str, Any]) -> Any:  # noqa: N803 - as boto3 has it
        ((table, batch),) = RequestItems.items()
        keys = batch["Keys"]
        self.asked.append((len(keys), {name: value for name, value in batch.items() if name != "Keys"}))
        left = self.leaves.pop(0) if self.leaves else 0
        told = {"Responses": {table: keys[: len(keys) - left]}}
        return told | ({"UnprocessedKeys": {table: {"Keys": keys[len(keys) - left :]}}} if left else {})


def read(table: Table, count: int, attempts: int = 3) -> tuple[int, list[float]]:
    """How many items were read, and how long it was waited."""
    waits: list[float] = []
    retry = Retry("registry", attempts=attempts, sleep=waits.append, jitter=lambda: 1.0)
    found = list(batch_get(cast("Any", table), "documents", KEYS[:count], retry=retry, ConsistentRead=True))
    assert len({each["pk"]["S"] for each in found}) == len(found)
    return len(found), waits


@pytest.mark.parametrize(
    ("count", "batches"), [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_a_hundred_keys_are_asked_for_at_once(count: int, batches: list[int]) -> None:
    table = Table()
    assert read(table, count) == (count, [])
    assert [size for size, _ in table.asked] == batches
    assert all(request == {"ConsistentRead": True} for _, request in table.asked)


def test_keys_that_were_left_are_asked_for_again_for_as_long_as_some_are_read() -> None:
    table = Table(90, 80, 70, 60)
    assert read(table, 100) == (100, [0.25] * 4)  # each time some were read, so it counts as a first attempt
    assert [size for size, _ in table.asked] == [100, 90, 80, 70, 60]


def test_a_table_that_reads_nothing_is_given_up_after_the_last_attempt() -> None:
    table = Table(100, 100, 100)
    with pytest.raises(RateLimited):
        read(table, 100)
    assert len(table.asked) == 3
    assert read(Table(100, 100), 100) == (100, [0.25, 0.5])


def test_requests_that_were_left_are_sent_again() -> None:
    sent: list[int] = []
    waits: list[float] = []

    def send(requests: Sequence[int]) -> Sequence[int]:
        sent.append(len(requests))
        return requests[: len(requests) // 2]

    until_processed([1, 2, 3, 4], send, Retry("registry", sleep=waits.append, jitter=lambda: 1.0, attempts=4))
    assert (sent, waits) == ([4, 2, 1], [0.25, 0.5])
    with pytest.raises(RateLimited):
        until_processed([1], lambda requests: requests, Retry("registry", sleep=waits.append, attempts=2))


def test_pages_are_asked_for_until_the_last() -> None:
    asked: list[object] = []

    def ask(**request: Any) -> Any:
        at = request.get("ExclusiveStartKey", 0)
        asked.append((at, request["TableName"]))
        return {"Items": [{"n": at}], **({"LastEvaluatedKey": at + 1} if at < 2 else {})}

    assert [each["n"] for each in pages("registry", ask, TableName="t")] == [0, 1, 2]
    assert asked == [(0, "t"), (1, "t"), (2, "t")]


def test_values_are_stored_and_read_as_they_are() -> None:
    values = {"n": 5, "f": 0.1, "s": "x", "b": b"y", "l": [1.5, {"a": 2.0}], "t": True, "none": None, "m": {"o": None}}
    stored = to_item(values)
    assert stored["f"] == {"N": "0.1"}
    read_back = from_item(stored)
    assert read_back == {"n": 5, "f": 0.1, "s": "x", "b": b"y", "l": [1.5, {"a": 2}], "t": True, "m": {}}
    assert [type(read_back[name]) for name in ("n", "f", "b")] == [int, float, bytes]
    assert from_item({"n": {"N": str(Decimal("1E+2"))}}) == {"n": 100}


@pytest.mark.parametrize(
    ("name", "how", "expected"),
    [
        ("dynamodb", {}, (5.0, 2.0, 3)),
        ("s3", {}, (10.0, 2.0, 3)),
        ("sqs", {}, (5.0, 2.0, 3)),
        ("secrets", {}, (5.0, 2.0, 3)),
        ("events", {"read_timeout_s": 2.5, "attempts": 2, "call_s": 9.0}, (2.5, 2.5, 2)),
        ("dynamodb", {"read_timeout_s": 7.0, "connect_timeout_s": 1.0, "attempts": 1}, (7.0, 1.0, 1)),
    ],
)
def test_a_client_waits_so_long_and_tries_so_often(
    name: str, how: dict[str, Any], expected: tuple[float, float, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    client = getattr(aws, f"{name}_client")(**how)
    config = client.meta.config
    assert (config.read_timeout, config.connect_timeout, config.retries["total_max_attempts"]) == expected
    assert config.max_pool_connections == 16


def test_s3_is_addressed_by_host_and_by_path_on_an_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert aws.client_config(read_timeout_s=1).s3 == {"addressing_style": "virtual"}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost")
    assert aws.client_config(read_timeout_s=1).s3 == {"addressing_style": "path"}


def test_a_wait_that_the_requests_deadline_leaves_no_time_for_is_not_begun() -> None:
    waits: list[float] = []
    retry = Retry("registry", sleep=waits.append, jitter=lambda: 1.0)
    token = CURRENT.set(Deadline(FakeClock(), 0.3))
    try:
        with pytest.raises(RateLimited):
            retry.wait(RateLimited("registry"), 1)  # 0.25 s, and a tenth for the attempt
        assert waits == []
        CURRENT.set(Deadline(FakeClock(), 0.36))
        retry.wait(RateLimited("registry"), 1)
    finally:
        CURRENT.reset(token)
    assert waits == [0.25]
