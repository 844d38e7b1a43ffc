"""Sparse vectors by term, so that a sparse query touches only the records that share a term with it."""

import numpy as np
from numpy.typing import NDArray

from local.pinecone.records import Floats, Sparse

_MIN_REBUILD = 1_000
"""Changed records scored one by one before the lists are built anew (or a tenth of all, if that is more)."""


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
