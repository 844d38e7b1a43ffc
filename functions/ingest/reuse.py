"""Vectors known already, so that what did not change is not embedded again.

They come from what a former worker wrote of the same draft, from the document's published generation, and from the
cache table where that is switched on.
"""

from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from functions.ingest.embedding import Embedded, PatientEmbedder, check_vectors
from functions.ingest.passages import Passage
from shared.errors import DependencyError, DependencyUnavailable
from shared.models import EmbeddingSpace, vector_id_of
from shared.ports import ChunkVectorCache, VectorReader

REACH = 64
"""Chunks looked at on either side of where one is expected: about ten pages put in or taken out at once."""
KEPT = 4_096
"""Vectors kept for chunks still to come: 25 MB at 1,536 dimensions. A generation of no more is read as a whole where
less than half of a batch is found around its place.
"""
GIVE_UP_AFTER = 2
"""Batches without any match after which no more is read of a generation that is too large to be read as a whole."""


class FormerVectors:
    """One generation of a document, read in step with its successor. Thread-safe.

    A content hash covers title, section and text, all that the model sees; so the same hash means the same vector.
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

    def of(self, batch: Sequence[Passage]) -> Mapping[str, Sequence[float]]:
        """Return content hash → vector for what of the batch is known; nothing when the index cannot be read."""
        if not self._count:
            return {}
        with self._lock:
            if self._misses < GIVE_UP_AFTER:
                try:
                    self._read_for(batch)
                except DependencyError:
                    self._misses = GIVE_UP_AFTER  # embedding anew is always right
            return self._known_of(batch)

    def _read_for(self, batch: Sequence[Passage]) -> None:
        first, last = batch[0].chunk.index, batch[-1].chunk.index
        self._read(first + self._shift - REACH, last + self._shift + REACH + 1)
        known = self._known_of(batch)
        if 2 * len(known) < len({each.chunk.content_hash for each in batch}) and self._count <= KEPT:
            self._read(0, self._count)
            known = self._known_of(batch)
        self._misses = 0 if known else self._misses + 1

    def _known_of(self, batch: Sequence[Passage]) -> dict[str, Sequence[float]]:
        known: dict[str, Sequence[float]] = {}
        for passage in batch:
            found = self._values.get(passage.chunk.content_hash)
            if found is not None:
                self._shift = found[0] - passage.chunk.index
                known[passage.chunk.content_hash] = found[1]
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
    """Where vectors are looked for, in this order."""

    formers: Sequence[FormerVectors] = ()
    cache: ChunkVectorCache | None = None

    def of(self, batch: Sequence[Passage], space: EmbeddingSpace) -> dict[str, Sequence[float]]:
        """Return content hash → vector for what of the batch is known."""
        known: dict[str, Sequence[float]] = {}
        for former in self.formers:
            if left := [each for each in batch if each.chunk.content_hash not in known]:
                known |= former.of(left)
        unknown = {each.chunk.content_hash for each in batch} - known.keys()
        if self.cache is not None and unknown:
            known |= _sound(self.cache.get_many(space, sorted(unknown)), dimensions=space.dimensions)
        return known

    def remember(self, space: EmbeddingSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors for other documents, where that is switched on."""
        if self.cache is not None and vectors:
            self.cache.put_many(space, vectors)


def embed_what_is_new(batch: Sequence[Passage], embedder: PatientEmbedder, source: KnownVectors) -> Embedded:
    """Return the batch's vectors in order: known ones reused, each other text embedded once and remembered."""
    space = embedder.embedder.space
    known = source.of(batch, space)
    check_vectors(list(known.values()), count=len(known), dimensions=space.dimensions)
    new = list({each.chunk.content_hash: each for each in batch if each.chunk.content_hash not in known}.values())
    embedded = embedder.embed(new) if new else Embedded(())
    fresh = {passage.chunk.content_hash: vector for passage, vector in embedded.pairs}
    source.remember(space, fresh)
    vectors = known | fresh
    reasons = {passage.chunk.content_hash: reason for passage, reason in embedded.refused}
    pairs = [(each, vectors[each.chunk.content_hash]) for each in batch if each.chunk.content_hash in vectors]
    refused = [(each, reasons[each.chunk.content_hash]) for each in batch if each.chunk.content_hash in reasons]
    return Embedded(pairs, refused, embedded.tokens, reused=len(batch) - len(new))


def _sound(vectors: Mapping[str, Sequence[float]], *, dimensions: int) -> dict[str, Sequence[float]]:
    """Leave out what a table may have garbled: embedding anew is always right."""
    sound: dict[str, Sequence[float]] = {}
    for content_hash, vector in vectors.items():
        with suppress(DependencyUnavailable):
            check_vectors([vector], count=1, dimensions=dimensions)
            sound[content_hash] = vector
    return sound
