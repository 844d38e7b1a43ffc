"""Batches under the limits, patience with the provider, and no trust in what comes back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.embedding import (
    ATTEMPTS,
    MAX_REFUSED,
    BatchEmbedder,
    KnownVectors,
    RateLimiter,
    batches,
    check_vectors,
    embed_new,
)
from functions.ingest.sources import SourceChunk
from shared.errors import DependencyError, DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited
from shared.models import Chunk, Embeddings, EmbeddingSpace, Usage


def chunk(index: int, *, tokens: int = 10, text: str = "") -> SourceChunk:
    text = text or f"text {index}"
    return SourceChunk(Chunk(index, text, text, tokens, 1, 1, 0, len(text), str(index)), {})


@dataclass
class ScriptedModel:
    """Raises what the script says, then answers; refuses every text in `poison`."""

    script: list[DependencyError] = field(default_factory=list)
    poison: frozenset[str] = frozenset()
    slow_over: int = 10**9
    busy_over: int = 10**9
    requests: list[int] = field(default_factory=list)
    space: EmbeddingSpace = field(default_factory=lambda: EmbeddingSpace("m", 2))

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        self.requests.append(len(texts))
        if self.script:
            raise self.script.pop(0)
        if len(texts) > self.busy_over:
            raise RateLimited("embeddings")
        if len(texts) > self.slow_over:
            raise DependencyTimeout("embeddings")
        if self.poison.intersection(texts):
            raise DependencyRefused("embeddings", "this input is not acceptable")
        return Embeddings([(math.cos(len(text)), math.sin(len(text))) for text in texts], Usage(len(texts)))


@dataclass
class Watch:
    """A clock that only sleeping moves."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def embedder_of(model: ScriptedModel, watch: Watch | None = None, *, jitter: float = 1.0) -> BatchEmbedder:
    watch = watch or Watch()
    return BatchEmbedder(model, watch.sleep, lambda: jitter, lambda: watch.now)


@given(
    sizes=st.lists(st.integers(1, 500), max_size=40),
    max_inputs=st.integers(1, 10),
    max_tokens=st.integers(500, 2_000),
)
def test_batches_keep_order_lose_nothing_and_stay_under_both_limits(
    sizes: list[int], max_inputs: int, max_tokens: int
) -> None:
    chunks = [chunk(index, tokens=size) for index, size in enumerate(sizes)]
    made = list(batches(chunks, max_inputs=max_inputs, max_tokens=max_tokens))
    assert [p for batch in made for p in batch] == chunks
    assert all(len(batch) <= max_inputs for batch in made)
    assert all(sum(p.chunk.token_count for p in batch) <= max_tokens for batch in made)


def test_retry_after_is_waited_for() -> None:
    watch = Watch()
    model = ScriptedModel([RateLimited("embeddings", retry_after_s=7.0), DependencyUnavailable("embeddings")])
    assert len(embedder_of(model, watch, jitter=0.0).embed([chunk(0)]).pairs) == 1
    assert watch.waits == [7.0]  # and none after the other failure: all of the back-off is drawn, here as nothing


def test_waits_grow() -> None:
    watch = Watch()
    embedder_of(ScriptedModel([DependencyUnavailable("embeddings")] * 3), watch, jitter=1.0).embed([chunk(0)])
    assert watch.waits == pytest.approx([each * 9 / 8 for each in (0.5, 1.0, 2.0)])


@given(jitter=st.floats(0, 1))
def test_no_retry_is_earlier_than_retry_after_nor_much_later(jitter: float) -> None:
    watch = Watch()
    embedder_of(ScriptedModel([RateLimited("embeddings", retry_after_s=8.0)]), watch, jitter=jitter).embed([chunk(0)])
    assert 8.0 <= watch.now <= 10.0


def test_a_request_too_large_for_the_rate_limit_shrinks_and_grows_again() -> None:
    """As OpenAI does with more tokens than the account may send in a minute."""
    model = ScriptedModel(busy_over=20)
    embedder = embedder_of(model)
    done = embedder.embed([chunk(n) for n in range(100)])
    assert [p.chunk.index for p, _ in done.pairs] == list(range(100))
    assert model.requests[:4] == [100, 50, 25, 12]
    assert max(model.requests[4:]) <= 25, "it grew far beyond what was taken"
    assert len(model.requests) <= 15
    model.busy_over = 10**9
    for _ in range(12):
        embedder.embed([chunk(n) for n in range(100)])
    assert model.requests[-1] == 100


def test_one_rate_limited_request_pauses_all() -> None:
    watch = Watch()
    embedder = embedder_of(ScriptedModel([RateLimited("embeddings", retry_after_s=60.0)]), watch)
    embedder.limiter.slow_down(5.0)
    embedder.embedder.script.clear()  # type: ignore[attr-defined]
    embedder.embed([chunk(0)])
    assert watch.now >= 5.0


def test_many_rate_limits_at_one_time_halve_requests_once() -> None:
    limiter = RateLimiter(lambda _: None, lambda: 0.0, lambda: 0.0)
    for _ in range(10):
        limiter.slow_down(5.0)
    assert limiter.size(256) == 128


def test_retries_end() -> None:
    model = ScriptedModel([DependencyUnavailable("embeddings")] * 9)
    with pytest.raises(DependencyUnavailable):
        embedder_of(model).embed([chunk(0)])
    assert len(model.requests) == ATTEMPTS


def test_a_long_retry_after_is_left_to_the_queue_at_once() -> None:
    model = ScriptedModel([RateLimited("embeddings", retry_after_s=60.0)])
    with pytest.raises(RateLimited):
        embedder_of(model).embed([chunk(0)])
    assert len(model.requests) == 1


def test_a_batch_that_times_out_is_halved_until_it_does_not() -> None:
    model = ScriptedModel(slow_over=4)
    done = embedder_of(model).embed([chunk(n) for n in range(16)])
    assert [p.chunk.index for p, _ in done.pairs] == list(range(16))
    assert not done.refused


@given(poisoned=st.sets(st.integers(0, 15), min_size=1, max_size=3))
def test_refused_chunks_are_set_apart_and_the_others_embedded(poisoned: set[int]) -> None:
    model = ScriptedModel(poison=frozenset(f"text {n}" for n in poisoned))
    done = embedder_of(model).embed([chunk(n) for n in range(16)])
    assert {p.chunk.index for p, _ in done.refused} == poisoned
    assert [p.chunk.index for p, _ in done.pairs] == [n for n in range(16) if n not in poisoned]


@pytest.mark.parametrize("count", [1, 2, 16, 256])
def test_a_provider_that_refuses_everything_is_at_fault_itself(count: int) -> None:
    model = ScriptedModel(poison=frozenset(f"text {n}" for n in range(count)))
    with pytest.raises(DependencyRefused, match=r"\Aembeddings: this input is not acceptable"):
        embedder_of(model).embed([chunk(n) for n in range(count)])
    assert len(model.requests) < 40


@pytest.mark.parametrize(
    "vectors", [[], [(1.0, 0.0)] * 2, [(1.0,)], [(math.nan, 1.0)], [(math.inf, 0.0)], [(2.0, 0.0)], [(0.0, 0.0)]]
)
def test_vectors_that_must_not_be_written_are_refused(vectors: list[tuple[float, ...]]) -> None:
    with pytest.raises(DependencyUnavailable):
        check_vectors(vectors, count=1, dimensions=2)


@pytest.mark.parametrize(
    ("tokens", "max_inputs", "max_tokens", "sizes"),
    [
        ([10, 10, 10], 3, 30, [3]),
        ([10, 10, 10], 3, 29, [2, 1]),
        ([10, 10, 10], 2, 30, [2, 1]),
        ([50, 10, 10], 3, 30, [1, 2]),  # one that is too large by itself goes alone
        ([], 3, 30, []),
    ],
)
def test_a_batch_is_full_at_its_limits_and_not_before(
    tokens: list[int], max_inputs: int, max_tokens: int, sizes: list[int]
) -> None:
    chunks = [chunk(at, tokens=size) for at, size in enumerate(tokens)]
    assert [len(batch) for batch in batches(chunks, max_inputs=max_inputs, max_tokens=max_tokens)] == sizes


def test_title_and_section_count_a_token_a_character_at_most() -> None:
    chunks = [
        replace(each, chunk=replace(each.chunk, embedded_text=f"12345{each.chunk.text}"))
        for each in (chunk(0), chunk(1))
    ]
    assert [len(batch) for batch in batches(chunks, max_inputs=9, max_tokens=30)] == [2]
    assert [len(batch) for batch in batches(chunks, max_inputs=9, max_tokens=29)] == [1, 1]


@pytest.mark.parametrize("poisoned", [MAX_REFUSED, MAX_REFUSED + 1])
def test_more_refused_chunks_than_may_be_are_the_providers_fault(poisoned: int) -> None:
    model = ScriptedModel(poison=frozenset(f"text {n}" for n in range(poisoned)))
    chunks = [chunk(n) for n in range(40)]
    if poisoned > MAX_REFUSED:
        with pytest.raises(DependencyRefused):
            embedder_of(model).embed(chunks)
    else:
        assert len(embedder_of(model).embed(chunks).refused) == MAX_REFUSED


def test_known_vectors_cost_no_tokens_and_new_ones_what_the_provider_says() -> None:
    first = embed_new([chunk(0), chunk(1), chunk(0)], embedder_of(ScriptedModel()), KnownVectors())
    assert (len(first.pairs), first.tokens, first.reused, first.refused) == (3, 2, 1, [])

    class Cache:
        def get_many(self, space: EmbeddingSpace, hashes: Sequence[str]) -> dict[str, Sequence[float]]:
            return dict.fromkeys(hashes, (1.0, 0.0))

        def put_many(self, space: EmbeddingSpace, vectors: object) -> None:
            raise AssertionError("nothing is new")

    known = embed_new([chunk(0), chunk(1)], embedder_of(ScriptedModel()), KnownVectors(cache=Cache()))
    assert (len(known.pairs), known.tokens, known.reused) == (2, 0, 2)


def test_requests_never_shrink_below_the_smallest_share_nor_to_nothing() -> None:
    now = [0.0]
    limiter = RateLimiter(lambda _: None, lambda: 0.0, lambda: now[0])
    sizes = []
    for _ in range(9):
        limiter.slow_down(1.0)
        now[0] += 1.0
        sizes.append((limiter.size(640), limiter.size(1)))
    assert sizes == [(320, 1), (160, 1), (80, 1), (40, 1), (20, 1), (10, 1), (10, 1), (10, 1), (10, 1)]
    for _ in range(60):
        limiter.speed_up()
    assert limiter.size(640) == 640


def test_a_pause_is_never_shortened_and_ends_with_some_jitter() -> None:
    watch = Watch()
    limiter = RateLimiter(watch.sleep, lambda: 1.0, lambda: watch.now)
    limiter.wait_for_turn()
    limiter.pause(8.0)
    limiter.pause(4.0)
    limiter.wait_for_turn()
    assert watch.waits == [9.0]
