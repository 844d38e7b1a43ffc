"""Caches keep what they are given for so long, in the container and in the table, and fail without harm."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from botocore.exceptions import EndpointConnectionError

from shared.adapters.cache import DynamoAnswerCache, DynamoChunkVectorCache, DynamoEmbeddingCache, Recent
from shared.adapters.document_registry import MAX_DETAIL, REPORT_BYTES, pack_report, unpack_report
from shared.adapters.retry import CircuitBreaker, Retry
from shared.models import EmbeddingSpace, PageReport
from tests.support.clock import FakeClock

SPACE = EmbeddingSpace("MiniLM", 2)


class Table:
    """A table in a dict."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}
        self.down = False
        self.reads = 0
        self.batches: list[int] = []
        self.leaves: list[int] = []

    def _ask(self) -> None:
        if self.down:
            raise EndpointConnectionError(endpoint_url="x")

    def get_item(self, *, TableName: str, Key: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        self.reads += 1
        self._ask()
        found = self.items.get(Key["pk"]["S"])
        return {"Item": found} if found else {}

    def put_item(self, *, TableName: str, Item: dict[str, Any]) -> None:  # noqa: N803
        self._ask()
        self.items[Item["pk"]["S"]] = Item

    def batch_get_item(self, *, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803
        self._ask()
        ((table, batch),) = RequestItems.items()
        self.batches.append(len(batch["Keys"]))
        left = self.leaves.pop(0) if self.leaves else 0
        keys = [key["pk"]["S"] for key in batch["Keys"]]
        told: dict[str, Any] = {
            "Responses": {table: [self.items[key] for key in keys[: len(keys) - left] if key in self.items]}
        }
        return told | ({"UnprocessedKeys": {table: {"Keys": batch["Keys"][-left:]}}} if left else {})

    def batch_write_item(self, *, RequestItems: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N803
        self._ask()
        ((table, requests),) = RequestItems.items()
        self.batches.append(len(requests))
        left = self.leaves.pop(0) if self.leaves else 0
        for request in requests[: len(requests) - left]:
            item = request["PutRequest"]["Item"]
            self.items[item["pk"]["S"]] = item
        return {"UnprocessedItems": {table: requests[-left:]}} if left else {}


@pytest.fixture
def table() -> Table:
    return Table()


def embeddings(table: Table, clock: FakeClock, size: int = 512) -> DynamoEmbeddingCache:
    breaker = CircuitBreaker("cache", failures_to_open=100)
    return DynamoEmbeddingCache(cast("Any", table), "cache", clock, container_size=size, breaker=breaker)


def test_a_vector_is_kept_in_the_container_and_in_the_table_until_it_expires(table: Table) -> None:
    clock = FakeClock()
    cache = embeddings(table, clock)
    assert cache.get("a") is None
    cache.put("a", [0.1, 0.5], ttl_s=60)
    assert list(cache.get("a") or ()) == pytest.approx([0.1, 0.5])
    assert table.reads == 1
    other = embeddings(table, clock)
    assert other.get("a") == cache.get("a")  # both are rounded to 32 bits
    assert table.reads == 2
    other.get("a")
    assert table.reads == 2
    clock.advance(59.9)
    assert cache.get("a") is not None
    clock.advance(0.1)
    assert cache.get("a") is None
    assert other.get("a") is None


def test_the_vectors_used_last_are_kept_in_the_container(table: Table) -> None:
    cache = embeddings(table, FakeClock(), size=2)
    for key in "ab":
        cache.put(key, [1.0, 0.0], ttl_s=60)
    cache.get("a")
    cache.put("c", [1.0, 0.0], ttl_s=60)
    cache.get("a")
    assert table.reads == 0
    cache.get("b")
    assert table.reads == 1


def test_a_table_that_is_down_costs_nothing_but_the_cache(table: Table) -> None:
    table.down = True
    cache = embeddings(table, FakeClock())
    cache.put("a", [1.0, 0.0], ttl_s=60)
    assert cache.get("b") is None
    assert cache.get("a") is not None  # the container has it
    answers = DynamoAnswerCache(cast("Any", table), "cache", FakeClock())
    answers.put("a", b"x", ttl_s=60)
    assert answers.get("a") is None
    chunks = chunk_cache(table)
    chunks.put_many(SPACE, {"h": [1.0, 0.0]})
    assert chunks.get_many(SPACE, ["h"]) == {}


@pytest.mark.parametrize(("size", "is_kept"), [(300_000, True), (300_001, False)])
def test_a_large_answer_is_not_kept(table: Table, size: int, is_kept: bool) -> None:
    clock = FakeClock()
    cache = DynamoAnswerCache(cast("Any", table), "cache", clock)
    assert cache.get("a") is None
    cache.put("a", b"x" * size, ttl_s=60)
    assert (cache.get("a") == b"x" * size) is is_kept
    clock.advance(60)
    assert cache.get("a") is None


def test_what_was_used_last_is_kept_in_memory() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert (recent.get("a"), len(recent)) == (1, 2)
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c"), len(recent)) == (1, None, 3, 2)
    recent.put("a", 4)
    recent.put("d", 5)
    assert (recent.get("a"), recent.get("c")) == (4, None)


def chunk_cache(table: Table, clock: FakeClock | None = None) -> DynamoChunkVectorCache:
    retry = Retry("cache", attempts=3, sleep=lambda _: None)
    return DynamoChunkVectorCache(cast("Any", table), "cache", clock or FakeClock(), ttl_s=60, retry=retry)


def test_vectors_of_chunks_are_read_and_written_in_batches(table: Table) -> None:
    clock = FakeClock()
    cache = chunk_cache(table, clock)
    vectors = {f"hash{number}": [float(number), 0.5] for number in range(101)}
    cache.put_many(SPACE, vectors)
    assert table.batches == [25, 25, 25, 25, 1]
    table.batches.clear()
    assert {key: list(vector) for key, vector in cache.get_many(SPACE, [*vectors, "other"]).items()} == vectors
    assert table.batches == [100, 2]
    assert cache.get_many(EmbeddingSpace("MiniLM", 3), list(vectors)) == {}
    clock.advance(60)
    assert cache.get_many(SPACE, list(vectors)) == {}


def test_what_the_table_leaves_three_times_is_a_miss(table: Table) -> None:
    cache = chunk_cache(table)
    cache.put_many(SPACE, {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    table.leaves = [1, 1, 1]
    assert set(cache.get_many(SPACE, ["a", "b"])) == {"a"}
    table.leaves = [1, 1]
    assert set(cache.get_many(SPACE, ["a", "b"])) == {"a", "b"}
    table.leaves = [1, 1, 1]
    cache.put_many(SPACE, {"c": [1.0, 0.0], "d": [0.0, 1.0]})
    assert set(cache.get_many(SPACE, ["c", "d"])) == {"c"}


# --- the report of a document's pages, as it is stored ---


def page(number: int, detail: str = "") -> PageReport:
    return PageReport(number, 100 + number, "text", detail, 0.12345, 0.127, 0.993, text_layer=number % 2 == 0)


def test_a_report_is_stored_with_rounded_seconds_and_shares() -> None:
    (one, two) = unpack_report(pack_report([page(1, "x" * MAX_DETAIL), page(2)]))
    assert (one.number, one.characters, one.state, one.seconds) == (1, 101, "text", 0.123)
    assert (one.doubtful, one.pictured, one.text_layer, two.text_layer) == (0.13, 0.99, False, True)
    assert len(one.detail) == MAX_DETAIL
    assert len(unpack_report(pack_report([page(1, "x" * (MAX_DETAIL + 1))]))[0].detail) == MAX_DETAIL


@pytest.mark.parametrize(
    ("count", "rows", "detail"), [(1_000, 1_000, 200), (3_500, 3_500, 40), (9_000, 9_000, 0), (32_000, 24_000, 0)]
)
def test_of_a_large_report_details_are_cut_and_then_its_last_rows(count: int, rows: int, detail: int) -> None:
    made = random.Random(1)
    pages = [replace(page(at, made.randbytes(100).hex()), characters=made.randrange(10**12)) for at in range(count)]
    packed = pack_report(pages)
    assert len(packed) <= REPORT_BYTES
    kept = unpack_report(packed)
    assert (len(kept), len(kept[0].detail)) == (rows, detail)
