"""One namespace in memory: vectors as a matrix, metadata as columns, inverted lists; exact search, filter first."""

import bisect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from local.pinecone.filters import Columns, Filter
from local.pinecone.records import Floats, Record, Space, Sparse

_MIN_REBUILD = 1_000
"""Changed records scored one by one before the lists are rebuilt (or a tenth of all, if that is more)."""


class InvertedLists:
    """Postings in one sorted block (term, slot, value), plus the records changed since it was built.

    Scores are exact at every moment: changed slots are masked out of the block and scored from their own vectors.
    """

    def __init__(self, capacity: int) -> None:
        self._vectors: dict[int, Sparse] = {}
        self._changed: set[int] = set()
        self._valid = np.zeros(capacity, dtype=np.bool_)
        self._terms: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._slots: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._values: Floats = np.empty(0, dtype=np.float32)

    def grow(self, capacity: int) -> None:
        """Make room for more slots."""
        self._valid = np.concatenate([self._valid, np.zeros(capacity - len(self._valid), dtype=np.bool_)])

    def set(self, slot: int, sparse: Sparse | None) -> None:
        """Put a sparse vector (None for absent) into a slot."""
        self._valid[slot] = False
        if sparse is None:
            self._vectors.pop(slot, None)
            self._changed.discard(slot)
        else:
            self._vectors[slot] = sparse
            self._changed.add(slot)

    def scores(self, query: Sparse, count: int) -> Floats:
        """Return the dot product of `query` with each of the first `count` slots; 0 where they share no term."""
        if len(self._changed) > max(_MIN_REBUILD, len(self._vectors) // 10):
            self._rebuild()
        scores = np.zeros(count, dtype=np.float64)
        places = np.searchsorted(self._terms, query.indices)
        for term, weight, place in zip(query.indices, query.values, places, strict=True):
            if place < len(self._terms) and self._terms[place] == term:
                block = slice(self._starts[place], self._starts[place + 1])
                # A slot occurs once in a term's block, so plain indexed addition loses nothing.
                scores[self._slots[block]] += float(weight) * self._values[block]
        scores[~self._valid[:count]] = 0.0
        weights = dict(zip(query.indices.tolist(), query.values.tolist(), strict=True))
        for slot in self._changed:
            sparse = self._vectors[slot]
            pairs = zip(sparse.indices.tolist(), sparse.values.tolist(), strict=True)
            scores[slot] = sum(value * weights[index] for index, value in pairs if index in weights)
        return scores.astype(np.float32)

    def _rebuild(self) -> None:
        vectors = list(self._vectors.items())
        slots = np.repeat([slot for slot, _ in vectors], [len(sparse.indices) for _, sparse in vectors])
        terms = np.concatenate([sparse.indices for _, sparse in vectors])
        values = np.concatenate([sparse.values for _, sparse in vectors])
        order = np.argsort(terms, kind="stable")
        self._terms, starts = np.unique(terms[order], return_index=True)
        self._starts = np.append(starts, len(terms))
        self._slots, self._values = slots[order], values[order]
        self._valid[:] = False
        self._valid[list(self._vectors)] = True
        self._changed.clear()


_GATHER_BELOW = 0.25
"""Share of records passing the filter under which copying them out beats multiplying the whole matrix."""


class Scored(NamedTuple):
    """A record and its score: similarity, or the squared distance of a euclidean index."""

    record: Record
    score: float


class Namespace:
    """Records by slot. A slot of a deleted record is dead until a new record takes it. Not thread-safe."""

    def __init__(self, space: Space, *, capacity: int = 64) -> None:
        self._space = space
        self._matrix: Floats = np.zeros((capacity, space.dimension or 0), dtype=np.float32)
        self._norms: Floats = np.zeros(capacity, dtype=np.float32)
        self._alive = np.zeros(capacity, dtype=np.bool_)
        self._ids: list[str] = []
        self._metadata: list[bytes] = []
        self._sparse: list[Sparse | None] = []
        self._slot_of: dict[str, int] = {}
        self._dead: list[int] = []
        self._inverted = InvertedLists(capacity)
        self._columns = Columns(self._alive_metadata, capacity)
        self._sorted_ids: list[str] | None = None

    def __len__(self) -> int:
        return len(self._slot_of)

    # --- writing -------------------------------------------------------------------------------------------------

    def apply(self, changes: Mapping[str, Record | None]) -> None:
        """Store every record of `changes`, and remove the ids mapped to None."""
        for record_id, record in changes.items():
            if record is None:
                self._remove(record_id)
            else:
                self._put(record)

    def _put(self, record: Record) -> None:
        slot = self._slot_of.get(record.id)
        if slot is None:
            slot = self._new_slot(record.id)
        self._matrix[slot] = record.values
        self._norms[slot] = np.linalg.norm(record.values)
        self._metadata[slot] = record.metadata
        if record.sparse is not None or self._sparse[slot] is not None:
            self._inverted.set(slot, record.sparse)
        self._sparse[slot] = record.sparse
        if self._columns.in_use:
            self._columns.set(slot, orjson.loads(record.metadata or b"{}"))

    def _new_slot(self, record_id: str) -> int:
        if self._dead:
            slot = self._dead.pop()
            self._ids[slot] = record_id
        else:
            slot = len(self._ids)
            if slot == len(self._alive):
                self._grow(2 * slot)
            self._ids.append(record_id)
            self._metadata.append(b"")
            self._sparse.append(None)
        self._slot_of[record_id] = slot
        self._alive[slot] = True
        self._sorted_ids = None
        return slot

    def _grow(self, capacity: int) -> None:
        extra = capacity - len(self._alive)
        self._matrix = np.concatenate([self._matrix, np.zeros((extra, self._matrix.shape[1]), dtype=np.float32)])
        self._norms = np.concatenate([self._norms, np.zeros(extra, dtype=np.float32)])
        self._alive = np.concatenate([self._alive, np.zeros(extra, dtype=np.bool_)])
        self._inverted.grow(capacity)
        self._columns.grow(capacity)

    def _remove(self, record_id: str) -> None:
        slot = self._slot_of.pop(record_id, None)
        if slot is None:
            return
        self._alive[slot] = False
        if self._sparse[slot] is not None:
            self._inverted.set(slot, None)
        self._sparse[slot] = None
        self._metadata[slot] = b""
        if self._columns.in_use:
            self._columns.set(slot, {})
        self._dead.append(slot)
        self._sorted_ids = None

    # --- reading -------------------------------------------------------------------------------------------------

    def get(self, record_id: str) -> Record | None:
        """Return one record, or None."""
        slot = self._slot_of.get(record_id)
        return None if slot is None else self._record(slot)

    def ids(self, *, prefix: str = "", after: str = "", limit: int | None = None) -> list[str]:
        """Return ids in code-point order that start with `prefix` and come after `after`."""
        if self._sorted_ids is None:
            self._sorted_ids = sorted(self._slot_of)
        start = max(bisect.bisect_left(self._sorted_ids, prefix), bisect.bisect_right(self._sorted_ids, after))
        end = bisect.bisect_left(self._sorted_ids, prefix + "\x80") if prefix else len(self._sorted_ids)
        return self._sorted_ids[start : end if limit is None else min(end, start + limit)]

    def select(self, passes: Filter) -> list[str]:
        """Return the ids of the records that pass the filter, in code-point order."""
        return sorted(self._ids[slot] for slot in np.flatnonzero(self._passing(passes)))

    def search(
        self, values: Floats | None, sparse: Sparse | None, *, top_k: int, passes: Filter | None
    ) -> list[Scored]:
        """Return the best `top_k` records, best first: exact, over everything that passes the filter.

        Dense and sparse scores are added (dot product). Without `values` only records that share a term are found.
        """
        slots = np.flatnonzero(self._passing(passes))
        if not len(slots):
            return []
        scores = self._dense_scores(values, slots) if values is not None else np.zeros(len(slots), dtype=np.float32)
        if sparse is not None:
            sparse_scores = self._inverted.scores(sparse, len(self._ids))[slots]
            scores = scores + sparse_scores
            if values is None:
                found = sparse_scores != 0
                slots, scores = slots[found], scores[found]
        best = _best(scores, top_k)
        records = [self._record(slot) for slot in slots[best]]
        if self._space.metric != "euclidean" or values is None:
            return list(map(Scored, records, scores[best].tolist()))
        # Exact differences for the best few: the expanded square loses digits when distances are small.
        return [Scored(record, float(np.square(record.values - values).sum())) for record in records]

    def _passing(self, passes: Filter | None) -> NDArray[np.bool_]:
        count = len(self._ids)
        alive = self._alive[:count]
        return alive if passes is None else alive & passes(self._columns, count)

    def _dense_scores(self, values: Floats, slots: NDArray[np.int64]) -> Floats:
        count = len(self._ids)
        if len(slots) == count:
            dots, norms = self._matrix[:count] @ values, self._norms[:count]
        elif len(slots) < _GATHER_BELOW * count:
            dots, norms = self._matrix[slots] @ values, self._norms[slots]
        else:
            dots, norms = (self._matrix[:count] @ values)[slots], self._norms[slots]
        scores: Floats = dots
        if self._space.metric == "cosine":
            lengths = norms * np.linalg.norm(values)
            scores = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
        elif self._space.metric == "euclidean":
            # Larger is better here; `search` turns it back into a distance.
            scores = 2 * dots - np.square(norms)
        return scores

    def _record(self, slot: int) -> Record:
        return Record(self._ids[slot], self._matrix[slot].copy(), self._sparse[slot], self._metadata[slot])

    def _alive_metadata(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for slot in self._slot_of.values():
            if metadata := self._metadata[slot]:
                yield slot, orjson.loads(metadata)


def _best(scores: Floats, top_k: int) -> NDArray[np.int64]:
    candidates = np.argpartition(-scores, top_k)[:top_k] if top_k < len(scores) else np.arange(len(scores))
    order: NDArray[np.int64] = candidates[np.argsort(-scores[candidates], kind="stable")]
    return order
