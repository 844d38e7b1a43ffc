"""Embeds chunks in batches: known vectors are reused, new ones requested within the provider's limits and checked."""

import math
import time
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from functions.ingest.ports import ChunkVectorCache, VectorReader
from functions.ingest.sources import SourceChunk
from shared.adapters.retry import Retry
from shared.errors import DependencyError, DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited
from shared.models import Embeddings, EmbeddingSpace, vector_id_of
from shared.ports import Embedder

SMALLEST_SHARE = 1 / 64
"""The smallest share of a full batch: an account with 40,000 tokens a minute takes a sixteenth of 300,000."""
RECOVERY = 1.1
"""Growth with each request that succeeds: some six succeed before one is too large again."""
JITTER_SHARE = 8
"""A pause is longer by up to an eighth, so that requests do not all resume at once."""


class RateLimiter:
    """Pauses all requests of a process when one is rate-limited, and makes them smaller until they pass. Thread-safe.

    Parallel Lambdas do not know of each other: the provider limits each, and each halves its requests until all of them
    together fit. `sleep` takes seconds; `jitter` gives a factor between 0 and 1.
    """

    def __init__(
        self,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep = sleep
        self._jitter = jitter
        self._monotonic = monotonic
        self._lock = Lock()
        self._resume_at = 0.0
        self._share = 1.0

    def wait_for_turn(self) -> None:
        """Sleep until the pause is over, plus jitter, so that requests do not all resume at once."""
        with self._lock:
            pause_s = self._resume_at - self._monotonic()
        if pause_s > 0:
            self._sleep(pause_s * (1 + self._jitter() / JITTER_SHARE))

    def size(self, full: int) -> int:
        """Return how many of `full` inputs a request may hold now, at least one."""
        with self._lock:
            return max(1, int(full * self._share))

    def pause(self, wait_s: float) -> None:
        """Start no request for `wait_s` seconds."""
        with self._lock:
            self._resume_at = max(self._resume_at, self._monotonic() + wait_s)

    def slow_down(self, wait_s: float) -> None:
        """Pause, and halve later requests, only once for all the requests that were running before the pause."""
        with self._lock:
            if self._monotonic() >= self._resume_at:
                self._share = max(SMALLEST_SHARE, self._share / 2)
        self.pause(wait_s)

    def speed_up(self) -> None:
        """Allow larger requests, because one succeeded."""
        with self._lock:
            self._share = min(1.0, self._share * RECOVERY)


REQUEST_TIMEOUT_S = 30.0
ATTEMPTS = 5
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0
"""A request is tried this often (`shared.adapters.retry`); then the whole message goes back to the queue."""
MAX_REFUSED = 8
"""Chunks of one batch that may be refused; if more are, the fault is not in the chunks."""
NORM_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True)
class Embedded:
    """Chunks with their vectors, and the refused ones with the provider's reason."""

    pairs: Sequence[tuple[SourceChunk, Sequence[float]]]
    refused: Sequence[tuple[SourceChunk, str]] = ()
    tokens: int = 0
    reused: int = 0


def batches(chunks: Iterable[SourceChunk], *, max_inputs: int, max_tokens: int) -> Iterator[list[SourceChunk]]:
    """Group chunks, in order, under both limits of a request.

    Counted is the embedded text, which begins with title and section: its tokens are the chunk's plus at most one for
    each character of these.
    """
    batch: list[SourceChunk] = []
    tokens = 0
    for each in chunks:
        cost = each.chunk.token_count + max(0, len(each.chunk.embedded_text) - len(each.chunk.text))
        if batch and (len(batch) == max_inputs or tokens + cost > max_tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(each)
        tokens += cost
    if batch:
        yield batch


@dataclass(frozen=True)
class BatchEmbedder:
    """Embeds one batch: waits when rate-limited, splits requests that are too large, sets refused chunks apart.

    `sleep` takes seconds; `jitter` gives a factor between 0 and 1, so that parallel workers do not retry in step;
    `monotonic` gives seconds. Thread-safe: the batches of a document share one rate limiter.
    """

    embedder: Embedder
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    monotonic: Callable[[], float] = time.monotonic

    @cached_property
    def retry(self) -> Retry:
        """How often to retry and how long to wait; the shared `limiter` does the waiting."""
        return Retry(
            "embeddings",
            attempts=ATTEMPTS,
            first_wait_s=FIRST_WAIT_S,
            longest_wait_s=LONGEST_WAIT_S,
            jitter=self.jitter,
        )

    @cached_property
    def limiter(self) -> RateLimiter:
        """What is known of the provider's limits from its answers so far."""
        return RateLimiter(self.sleep, self.jitter, self.monotonic)

    def embed(self, batch: Sequence[SourceChunk]) -> Embedded:
        """Return the batch's vectors, checked. Raises `DependencyError` when retries end or nothing is accepted.

        A piece that takes too long, or is refused, is halved until the chunk at fault is found. When all of a batch is
        refused, no chunk is at fault.
        """
        pieces = deque([batch])
        pairs: list[tuple[SourceChunk, Sequence[float]]] = []
        refused: list[tuple[SourceChunk, str]] = []
        tokens = failures = 0
        while pieces:
            piece = self._cut(pieces, len(batch))
            try:
                answer = self._ask(piece)
            except (RateLimited, DependencyUnavailable) as error:
                failures += 1
                self._wait_or_raise(error, failures)
                pieces.appendleft(piece)
                continue
            except (DependencyTimeout, DependencyRefused) as error:
                if len(piece) > 1:
                    middle = len(piece) // 2
                    pieces.extendleft((piece[middle:], piece[:middle]))
                    continue
                refused.append((piece[0], error.message))
                if isinstance(error, DependencyTimeout) or len(batch) == 1 or len(refused) > MAX_REFUSED:
                    raise
                continue
            failures = 0
            if len(piece) >= self.limiter.size(len(batch)):
                self.limiter.speed_up()
            pairs += zip(piece, answer.vectors, strict=True)
            tokens += answer.usage.input_tokens
        if not pairs:
            raise DependencyRefused("embeddings", refused[0][1].removeprefix("embeddings: "))
        return Embedded(pairs, refused, tokens)

    def _cut(self, pieces: deque[Sequence[SourceChunk]], full: int) -> Sequence[SourceChunk]:
        """Remove and return the first piece, or as much of it as a request may hold now."""
        piece, size = pieces.popleft(), self.limiter.size(full)
        if len(piece) > size:
            pieces.appendleft(piece[size:])
        return piece[:size]

    def _ask(self, piece: Sequence[SourceChunk]) -> Embeddings:
        self.limiter.wait_for_turn()
        answer = self.embedder.embed([each.chunk.embedded_text for each in piece], timeout_s=REQUEST_TIMEOUT_S)
        check_vectors(answer.vectors, count=len(piece), dimensions=self.embedder.space.dimensions)
        return answer

    def _wait_or_raise(self, error: RateLimited | DependencyUnavailable, failures: int) -> None:
        wait_s = self.retry.wait_s(error, failures)
        if wait_s is None:
            raise error
        if isinstance(error, RateLimited):
            self.limiter.slow_down(wait_s)
        else:
            self.limiter.pause(wait_s)


def check_vectors(vectors: Sequence[Sequence[float]], *, count: int, dimensions: int) -> None:
    """Reject vectors that must not be written: of a wrong number or dimension, not finite, or not of unit length.

    Raises `DependencyUnavailable`, because the provider may recover.
    """
    if len(vectors) != count:
        raise DependencyUnavailable("embeddings", f"{len(vectors)} vectors came back for {count} texts")
    for vector in vectors:
        if len(vector) != dimensions:
            raise DependencyUnavailable("embeddings", f"a vector has {len(vector)} dimensions, not {dimensions}")
        norm = math.sqrt(math.sumprod(vector, vector))
        if not abs(norm - 1.0) <= NORM_TOLERANCE:  # written so that NaN is caught too
            raise DependencyUnavailable("embeddings", f"a vector has length {norm:.4f}, not 1")


REACH = 64
"""Chunks read on either side of the expected position: about ten pages inserted or removed at once."""
KEPT = 4_096
"""Vectors kept for later chunks: 25 MB at 1,536 dimensions. A generation that is no larger is read whole when less
than half of a batch is found near its place.
"""
GIVE_UP_AFTER = 2
"""Batches without any match after which no more is read of a generation too large to be read whole."""


class FormerVectors:
    """Vectors of an earlier generation of a document, read in step with the new one. Thread-safe.

    The content hash covers all that the model sees (title, section, text), so the same hash means the same vector.
    """

    def __init__(self, reader: VectorReader, namespace: str, document_id: str, generation: str, count: int) -> None:
        self._reader = reader
        self._namespace = namespace
        self._name = (document_id, generation)
        self._count = count
        self._seen: set[int] = set()
        self._values: OrderedDict[str, tuple[int, array[float]]] = OrderedDict()
        self._shift = 0
        self._misses = 0
        self._lock = Lock()

    def of(self, batch: Sequence[SourceChunk]) -> Mapping[str, Sequence[float]]:
        """Return content hash → vector for the batch's known chunks; none when the index cannot be read."""
        if not self._count:
            return {}
        with self._lock:
            if self._misses < GIVE_UP_AFTER:
                try:
                    self._read_for(batch)
                except DependencyError:
                    self._misses = GIVE_UP_AFTER  # embedding again is always safe
            return self._known_of(batch)

    def _read_for(self, batch: Sequence[SourceChunk]) -> None:
        first, last = batch[0].chunk.index, batch[-1].chunk.index
        self._read(first + self._shift - REACH, last + self._shift + REACH + 1)
        known = self._known_of(batch)
        if 2 * len(known) < len({each.chunk.content_hash for each in batch}) and self._count <= KEPT:
            self._read(0, self._count)
            known = self._known_of(batch)
        self._misses = 0 if known else self._misses + 1

    def _known_of(self, batch: Sequence[SourceChunk]) -> dict[str, Sequence[float]]:
        known: dict[str, Sequence[float]] = {}
        for each in batch:
            found = self._values.get(each.chunk.content_hash)
            if found is not None:
                self._shift = found[0] - each.chunk.index
                known[each.chunk.content_hash] = found[1]
        return known

    def _read(self, start: int, end: int) -> None:
        wanted = [index for index in range(max(start, 0), min(end, self._count)) if index not in self._seen]
        if not wanted:
            return
        self._seen.update(wanted)
        ids = {vector_id_of(*self._name, index): index for index in wanted}
        for vector_id, record in self._reader.fetch(namespace=self._namespace, ids=list(ids)).items():
            # float32, as it is stored: a third of the memory.
            self._values[str(record.metadata["content_hash"])] = ids[vector_id], array("f", record.values)
        while len(self._values) > KEPT:
            self._values.popitem(last=False)


@dataclass(frozen=True, slots=True)
class KnownVectors:
    """Sources of known vectors, tried in this order."""

    formers: Sequence[FormerVectors] = ()
    cache: ChunkVectorCache | None = None

    def of(self, batch: Sequence[SourceChunk], space: EmbeddingSpace) -> dict[str, Sequence[float]]:
        """Return content hash → vector for the batch's known chunks."""
        known: dict[str, Sequence[float]] = {}
        for former in self.formers:
            if left := [each for each in batch if each.chunk.content_hash not in known]:
                known |= former.of(left)
        unknown = {each.chunk.content_hash for each in batch} - known.keys()
        if self.cache is not None and unknown:
            known |= _valid(self.cache.get_many(space, sorted(unknown)), dimensions=space.dimensions)
        return known

    def remember(self, space: EmbeddingSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Cache vectors for other documents, if there is a cache."""
        if self.cache is not None and vectors:
            self.cache.put_many(space, vectors)


def embed_new(batch: Sequence[SourceChunk], embedder: BatchEmbedder, known_vectors: KnownVectors) -> Embedded:
    """Return the batch's vectors in order: known ones reused, each other text embedded once and remembered."""
    space = embedder.embedder.space
    known = known_vectors.of(batch, space)
    check_vectors(list(known.values()), count=len(known), dimensions=space.dimensions)
    new = list({each.chunk.content_hash: each for each in batch if each.chunk.content_hash not in known}.values())
    embedded = embedder.embed(new) if new else Embedded(())
    fresh = {each.chunk.content_hash: vector for each, vector in embedded.pairs}
    known_vectors.remember(space, fresh)
    vectors = known | fresh
    reasons = {each.chunk.content_hash: reason for each, reason in embedded.refused}
    pairs = [(each, vectors[each.chunk.content_hash]) for each in batch if each.chunk.content_hash in vectors]
    refused = [(each, reasons[each.chunk.content_hash]) for each in batch if each.chunk.content_hash in reasons]
    return Embedded(pairs, refused, embedded.tokens, reused=len(batch) - len(new))


def _valid(vectors: Mapping[str, Sequence[float]], *, dimensions: int) -> dict[str, Sequence[float]]:
    """Drop cached vectors that are corrupt: embedding again is always safe."""
    valid: dict[str, Sequence[float]] = {}
    for content_hash, vector in vectors.items():
        with suppress(DependencyUnavailable):
            check_vectors([vector], count=1, dimensions=dimensions)
            valid[content_hash] = vector
    return valid
