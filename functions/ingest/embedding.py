"""Embedding in batches: under the provider's limits, patient when it is busy, and never trusting what comes back."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from functions.ingest.passages import Passage
from shared.errors import DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited
from shared.ports import Embedder

REQUEST_TIMEOUT_S = 30.0
ATTEMPTS = 5
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0
"""A request is tried this often, waiting twice as long each time; then the whole message goes back to the queue."""
MAX_REFUSED = 8
"""Chunks of one batch that may be refused alone; more of them means that the fault is not in the chunks."""
NORM_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True)
class Embedded:
    """Passages with their vectors, and those the provider will not take with its reason."""

    pairs: Sequence[tuple[Passage, Sequence[float]]]
    refused: Sequence[tuple[Passage, str]] = ()
    tokens: int = 0
    reused: int = 0


def batches(passages: Iterable[Passage], *, max_inputs: int, max_tokens: int) -> Iterator[list[Passage]]:
    """Group passages, in order, under both limits of a request.

    Title and section go before the text that is embedded, so what is counted is the embedded text: its tokens are the
    chunk's plus, at most, one for each character put before.
    """
    batch: list[Passage] = []
    tokens = 0
    for passage in passages:
        cost = passage.chunk.token_count + max(0, len(passage.chunk.embedded_text) - len(passage.chunk.text))
        if batch and (len(batch) == max_inputs or tokens + cost > max_tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(passage)
        tokens += cost
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class PatientEmbedder:
    """Embeds one batch: waits when asked to, splits what is too much, sets apart what is refused.

    `sleep` takes seconds; `jitter` gives a factor between 0 and 1, so that parallel workers do not come back in step.
    """

    embedder: Embedder
    sleep: Callable[[float], None]
    jitter: Callable[[], float]

    def embed(self, batch: Sequence[Passage]) -> Embedded:
        """Return the batch's vectors, checked. Raises `DependencyError` when patience ends or nothing is accepted."""
        try:
            return self._request(batch)
        except (DependencyTimeout, DependencyRefused) as error:
            # Too slow, or one of them unacceptable: halves tell which. A batch refused as a whole is no chunk's fault.
            if len(batch) == 1:
                raise
            done = self._halves(batch, error)
        if not done.pairs or len(done.refused) > MAX_REFUSED:
            raise DependencyRefused("embeddings", done.refused[0][1])
        return done

    def _halves(self, batch: Sequence[Passage], error: Exception) -> Embedded:
        middle = len(batch) // 2
        parts: list[Embedded] = []
        for half in (batch[:middle], batch[middle:]):
            try:
                parts.append(self._request(half))
            except DependencyRefused as refusal:
                if len(half) > 1:
                    parts.append(self._halves(half, refusal))
                else:
                    parts.append(Embedded((), ((half[0], refusal.message),)))
                if sum(len(part.refused) for part in parts) > MAX_REFUSED:
                    raise
            except DependencyTimeout:
                if len(half) == 1:
                    raise
                parts.append(self._halves(half, error))
        return Embedded(
            [pair for part in parts for pair in part.pairs],
            [refusal for part in parts for refusal in part.refused],
            sum(part.tokens for part in parts),
        )

    def _request(self, batch: Sequence[Passage]) -> Embedded:
        texts = [passage.chunk.embedded_text for passage in batch]
        wait_s = FIRST_WAIT_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self.embedder.embed(texts, timeout_s=REQUEST_TIMEOUT_S)
                break
            except (RateLimited, DependencyUnavailable) as error:
                asked_s = error.retry_after_s or 0.0
                if attempt == ATTEMPTS or asked_s > LONGEST_WAIT_S:
                    raise
                self.sleep(max(asked_s, wait_s * (0.5 + self.jitter() / 2)))
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        check_vectors(answer.vectors, count=len(batch), dimensions=self.embedder.space.dimensions)
        return Embedded(list(zip(batch, answer.vectors, strict=True)), (), answer.usage.input_tokens)


def check_vectors(vectors: Sequence[Sequence[float]], *, count: int, dimensions: int) -> None:
    """Refuse what must not be written: a wrong number or length, anything not finite, anything not of unit length.

    Raises `DependencyUnavailable`, because a provider that answers so is broken now and may be whole later.
    """
    if len(vectors) != count:
        raise DependencyUnavailable("embeddings", f"{len(vectors)} vectors came back for {count} texts")
    for vector in vectors:
        if len(vector) != dimensions:
            raise DependencyUnavailable("embeddings", f"a vector has {len(vector)} dimensions, not {dimensions}")
        norm = math.sqrt(math.sumprod(vector, vector))
        if not abs(norm - 1.0) <= NORM_TOLERANCE:  # written so that NaN is caught too
            raise DependencyUnavailable("embeddings", f"a vector has length {norm:.4f}, not 1")
