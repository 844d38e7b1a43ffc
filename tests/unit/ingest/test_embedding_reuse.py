"""A chunk embedded once is not embedded again, whatever the cache table does."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError

from functions.ingest import embedding as reuse
from functions.ingest.embedding import BatchEmbedder, FormerVectors, KnownVectors, embed_new
from functions.ingest.sources import SourceChunk
from shared.adapters.cache import DynamoChunkVectorCache
from shared.adapters.retry import Retry
from shared.models import Chunk, Embeddings, EmbeddingSpace, Usage, VectorRecord, vector_id_of
from tests.support.clock import FakeClock
from tests.support.moto_aws import mocked_aws

SPACE = EmbeddingSpace("model", 2)
OTHER = EmbeddingSpace("other", 2)
TTL_S = 100


class Flaky:
    """A DynamoDB client that can leave work undone, or be down."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.leave = 0
        self.down = False
        self.calls: list[str] = []

    def batch_get_item(self, **request: Any) -> Any:
        return self._call("batch_get_item", "UnprocessedKeys", request)

    def batch_write_item(self, **request: Any) -> Any:
        return self._call("batch_write_item", "UnprocessedItems", request)

    def _call(self, name: str, undone: str, request: dict[str, Any]) -> Any:
        self.calls.append(name)
        if self.down:
            error = {"Error": {"Code": "InternalServerError", "Message": ""}, "ResponseMetadata": {}}
            raise ClientError(error, name)  # type: ignore[arg-type]
        if self.leave:
            self.leave -= 1
            return {"Responses": {}, undone: request["RequestItems"]}
        return getattr(self._client, name)(**request)


class Bench:
    def __init__(self, client: Any) -> None:
        self.clock, self.dynamodb, self.waits = FakeClock(), Flaky(client), list[float]()
        self.cache = DynamoChunkVectorCache(
            self.dynamodb,  # type: ignore[arg-type]
            "cache",
            self.clock,
            ttl_s=TTL_S,
            retry=Retry("cache", attempts=3, first_wait_s=0.05, sleep=self.waits.append, jitter=lambda: 1.0),
        )


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with mocked_aws(monkeypatch) as aws:
        aws.dynamodb.create_table(
            TableName="cache",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield Bench(aws.dynamodb)


class Counting:
    """Embeds everything as one unit vector, and counts."""

    space = SPACE

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        self.asked.extend(texts)
        return Embeddings([[0.0, 1.0] for _ in texts], Usage(len(texts)))


def chunks(*texts: str) -> list[SourceChunk]:
    return [
        SourceChunk(Chunk(n, text, text, 1, 1, 1, 0, len(text), content_hash=f"hash of {text}"), {})
        for n, text in enumerate(texts)
    ]


def embed(bench: Bench | None, *texts: str) -> tuple[list[str], Any]:
    counting = Counting()
    embedder = BatchEmbedder(counting, lambda _: None, lambda: 0.5)
    known = KnownVectors((), bench.cache if bench else None)
    return counting.asked, embed_new(chunks(*texts), embedder, known)


class Written:
    """What generations of a document hold: texts by generation, in order. `read` counts ids asked for."""

    def __init__(self, **generations: Sequence[str]) -> None:
        self.read = 0
        self._texts = {
            vector_id_of("d", name, n): text for name, texts in generations.items() for n, text in enumerate(texts)
        }

    def fetch(self, *, namespace: str, ids: Sequence[str]) -> dict[str, VectorRecord]:
        self.read += len(ids)
        return {
            each: VectorRecord(each, [1.0, 0.0], {"content_hash": f"hash of {self._texts[each]}"})
            for each in ids
            if each in self._texts
        }


def test_vectors_of_a_dead_worker_and_published_ones_are_both_reused() -> None:
    index = Written(draft=["new a", "new b"], published=["old", "kept"])
    known = KnownVectors([FormerVectors(index, "t", "d", "draft", 4), FormerVectors(index, "t", "d", "published", 2)])
    counting = Counting()
    batch = chunks("new a", "new b", "kept", "unheard of")
    embedded = embed_new(batch, BatchEmbedder(counting, lambda _: None, lambda: 0.5), known)
    assert counting.asked == ["unheard of"]
    assert [chunk.chunk.text for chunk, _ in embedded.pairs] == ["new a", "new b", "kept", "unheard of"]


def embedded_of(index: Written, count: int, texts: Sequence[str], *, batch: int) -> list[str]:
    """Embed texts in batches of so many beside a former generation of `count`; return what had to be embedded."""
    former, counting = FormerVectors(index, "t", "d", "old", count), Counting()
    known, every = KnownVectors([former]), chunks(*texts)
    for start in range(0, len(every), batch):
        embedder = BatchEmbedder(counting, lambda _: None, lambda: 0.5)
        embed_new(every[start : start + batch], embedder, known)
    return counting.asked


@pytest.mark.parametrize("batch", [8, 30, 256])
def test_chunks_that_moved_far_are_reused(batch: int) -> None:
    old = [f"chunk {n}" for n in range(210)]
    assert embedded_of(Written(old=old), 210, old[180:], batch=batch) == []
    assert embedded_of(Written(old=old), 210, [*old[:10], *old[150:], *old[10:150]], batch=batch) == []


def test_chunks_after_many_new_ones_are_reused() -> None:
    old = [f"chunk {n}" for n in range(300)]
    new = [f"new {n}" for n in range(600)]
    assert embedded_of(Written(old=old), 300, [*new, *old], batch=100) == new


def test_one_changed_chunk_does_not_read_the_whole_former_generation() -> None:
    old = [f"chunk {n}" for n in range(2_000)]
    index = Written(old=old)
    assert embedded_of(index, 2_000, [*old[:10], "changed", *old[11:100]], batch=100) == ["changed"]
    assert index.read <= 100 + reuse.REACH


def test_of_a_very_large_generation_no_more_is_read_than_is_kept() -> None:
    old = [f"chunk {n}" for n in range(2 * reuse.KEPT)]
    index = Written(old=old)
    new = [f"new {n}" for n in range(1_000)]
    assert embedded_of(index, len(old), new, batch=100) == new
    assert index.read <= 1_000


def test_many_vectors_come_back_as_they_were_put(bench: Bench) -> None:
    vectors = {f"h{n}": [n / 256, 1.0] for n in range(130)}
    bench.cache.put_many(SPACE, vectors)
    found = bench.cache.get_many(SPACE, [*vectors, "unknown"])
    assert {name: list(vector) for name, vector in found.items()} == vectors
    assert bench.dynamodb.calls == ["batch_write_item"] * 6 + ["batch_get_item"] * 2


def test_another_embedding_space_does_not_know_them(bench: Bench) -> None:
    bench.cache.put_many(SPACE, {"h": [0.0, 1.0]})
    assert bench.cache.get_many(OTHER, ["h"]) == {}


def test_an_expired_vector_is_a_miss_though_the_table_still_holds_it(bench: Bench) -> None:
    bench.cache.put_many(SPACE, {"h": [0.0, 1.0]})
    bench.clock.advance(TTL_S - 1)
    assert "h" in bench.cache.get_many(SPACE, ["h"])
    bench.clock.advance(1)
    assert bench.cache.get_many(SPACE, ["h"]) == {}


def test_unprocessed_keys_of_a_busy_table_are_requested_again(bench: Bench) -> None:
    bench.dynamodb.leave = 2
    bench.cache.put_many(SPACE, {"h": [0.0, 1.0]})
    bench.dynamodb.leave = 2
    assert "h" in bench.cache.get_many(SPACE, ["h"])
    assert bench.waits == [0.05, 0.1, 0.05, 0.1]


def test_a_table_that_stays_busy_or_is_down_is_a_miss(bench: Bench) -> None:
    bench.dynamodb.leave = 1_000
    bench.cache.put_many(SPACE, {"h": [0.0, 1.0]})
    assert bench.cache.get_many(SPACE, ["h"]) == {}
    bench.dynamodb.down = True
    asked, embedded = embed(bench, "a", "b")
    assert asked == ["a", "b"]
    assert len(embedded.pairs) == 2


def test_a_chunk_of_another_document_is_taken_from_the_cache(bench: Bench) -> None:
    embed(bench, "a", "b")
    asked, embedded = embed(bench, "b", "c", "a")
    assert asked == ["c"]
    assert [chunk.chunk.text for chunk, _ in embedded.pairs] == ["b", "c", "a"]
    assert embedded.reused == 2


def test_a_text_that_stands_twice_in_a_batch_is_embedded_once() -> None:
    asked, embedded = embed(None, "a", "b", "a")
    assert asked == ["a", "b"]
    assert [chunk.chunk.index for chunk, _ in embedded.pairs] == [0, 1, 2]


def test_a_garbled_vector_is_embedded_again(bench: Bench) -> None:
    bench.cache.put_many(SPACE, {"hash of a": [3.0, 4.0], "hash of b": [1.0, 0.0, 0.0]})
    asked, _ = embed(bench, "a", "b")
    assert asked == ["a", "b"]
