"""Embedding in batches: under the provider's limits, patient when it is busy, and never trusting what comes back."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from functions.ingest.pace import Pace
from functions.ingest.passages import Passage
from shared.errors import DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited
from shared.models import Embeddings
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


@dataclass(frozen=True)
class PatientEmbedder:
    """Embeds one batch: waits when asked to, splits what is too much, sets apart what is refused.

    `sleep` takes seconds; `jitter` gives a factor between 0 and 1, so that parallel workers do not come back in step;
    `monotonic` tells seconds. Thread-safe: the batches of a document share one pace.
    """

    embedder: Embedder
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    monotonic: Callable[[], float] = time.monotonic

    @cached_property
    def pace(self) -> Pace:
        """What was learnt of how fast the provider may be asked."""
        return Pace(self.sleep, self.jitter, self.monotonic)

    def embed(self, batch: Sequence[Passage]) -> Embedded:
        """Return the batch's vectors, checked. Raises `DependencyError` when patience ends or nothing is accepted.

        A piece that takes too long, or is refused, is halved: the halves tell which of it is at fault. A batch that is
        refused as a whole is no chunk's fault.
        """
        pieces = deque([batch])
        pairs: list[tuple[Passage, Sequence[float]]] = []
        refused: list[tuple[Passage, str]] = []
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
            if len(piece) >= self.pace.size(len(batch)):
                self.pace.speed_up()
            pairs += zip(piece, answer.vectors, strict=True)
            tokens += answer.usage.input_tokens
        if not pairs:
            raise DependencyRefused("embeddings", refused[0][1])
        return Embedded(pairs, refused, tokens)

    def _cut(self, pieces: deque[Sequence[Passage]], full: int) -> Sequence[Passage]:
        """Take the first piece off, or as much of it as a request may hold now."""
        piece, size = pieces.popleft(), self.pace.size(full)
        if len(piece) > size:
            pieces.appendleft(piece[size:])
        return piece[:size]

    def _ask(self, piece: Sequence[Passage]) -> Embeddings:
        self.pace.wait_for_turn()
        answer = self.embedder.embed([each.chunk.embedded_text for each in piece], timeout_s=REQUEST_TIMEOUT_S)
        check_vectors(answer.vectors, count=len(piece), dimensions=self.embedder.space.dimensions)
        return answer

    def _wait_or_raise(self, error: RateLimited | DependencyUnavailable, failures: int) -> None:
        asked_s = error.retry_after_s or 0.0
        if failures == ATTEMPTS or asked_s > LONGEST_WAIT_S:
            raise error
        wait_s = max(asked_s, min(FIRST_WAIT_S * 2 ** (failures - 1), LONGEST_WAIT_S) * (0.5 + self.jitter() / 2))
        if isinstance(error, RateLimited):
            self.pace.slow_down(wait_s)
        else:
            self.pace.pause(wait_s)


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
