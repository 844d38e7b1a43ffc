"""Passages without PDFs, searched by Recto's own retrieval; an exact index in memory takes Pinecone's place."""

from collections.abc import Mapping, Sequence

import numpy as np

from evals.context import SystemContext
from evals.systems.memory import MemoryRegistry
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.retrieve import retrieve
from functions.query.retrieval.search import Search
from functions.query.understanding.question import Understood
from shared import identity
from shared.adapters.aws import SystemClock
from shared.deadline import Deadline
from shared.models import Filter, Match, MetadataValue, SparseVector
from shared.ports import CatalogueEntry

TENANT = "pool"
A_DAY_S = 86_400.0


class PassagePool:
    """Passages by key, each a document of its own. It is the `VectorSearch` of the retrieval: cosine and BM25, added.

    What is embedded may differ from the passages: `embedded`, in their order. Equal scores come in the passages' order,
    or with `emulated_ties` in the order that Pinecone's emulator gives them.
    """

    def __init__(
        self,
        passages: Mapping[str, str],
        context: SystemContext,
        *,
        embedded: Sequence[str] | None = None,
        emulated_ties: bool = False,
    ) -> None:
        self._emulated_ties = emulated_ties
        self._embedder = context.embedder
        self._clock = SystemClock()
        self._registry = MemoryRegistry()
        self._keys = list(passages)
        self._metadata = [self._put(key, text) for key, text in passages.items()]
        self._dense = context.embedder.vectors(embedded or list(passages.values()))
        sparse = [identity.chunk_vector(text, language="en", title="", key="") for text in passages.values()]
        terms = sorted({index for vector in sparse for index in vector.indices})
        self._column = {index: at for at, index in enumerate(terms)}
        self._sparse = np.zeros((len(sparse), len(terms)), np.float32)
        for row, vector in enumerate(sparse):
            self._sparse[row, [self._column[index] for index in vector.indices]] = vector.values

    def search_for(self, understood: Understood) -> Search:
        """Return the search that the query pipeline makes from it."""
        texts = [understood.standalone, *(variant.text for variant in understood.variants)]
        own, *others = self._embedder.vectors(texts).tolist()
        variants = [
            variant._replace(vector=vector) for variant, vector in zip(understood.variants, others, strict=True)
        ]
        return Search(understood.standalone, own, len(own), TENANT, variants=variants)

    def search(self, question: str, vector: Sequence[float]) -> Search:
        """Return the search for a question without rewriting it."""
        return Search(question, vector, len(vector), TENANT)

    def passages(self, search: Search, k: int) -> Sequence[Passage]:
        """Return the best `k` passages, as the product ranks them; `document_id` is the key."""
        deadline = Deadline(self._clock, A_DAY_S)
        found = retrieve(search, tenant=TENANT, top_k=k, index=self, registry=self._registry, deadline=deadline)
        return found.passages

    def ranked(self, search: Search, k: int) -> list[str]:
        """Return the keys of the best `k` passages."""
        return [passage.document_id for passage in self.passages(search, k)]

    def query(
        self,
        *,
        namespace: str,  # noqa: ARG002 - there is one
        vector: Sequence[float],
        sparse: SparseVector | None = None,
        top_k: int,
        filter: Filter | None = None,  # noqa: ARG002 - none is set
        timeout_s: float,  # noqa: ARG002 - nothing waits
        metadata: bool = True,  # noqa: ARG002 - it is at hand
        is_retry: bool = False,  # noqa: ARG002 - nothing fails
    ) -> Sequence[Match]:
        """Return the best passages by the sum of both dot products, computed exactly."""
        scores = self._dense @ np.asarray(vector, np.float32)
        if sparse is not None:
            wanted = np.zeros(self._sparse.shape[1], np.float32)
            for index, value in zip(sparse.indices, sparse.values, strict=True):
                if index in self._column:
                    wanted[self._column[index]] = value
            scores = scores + self._sparse @ wanted
        candidates = np.arange(len(scores))
        if self._emulated_ties and top_k < len(scores):
            candidates = np.argpartition(-scores, top_k)[:top_k]
        best = candidates[np.argsort(-scores[candidates], kind="stable")][:top_k]
        return [Match(self._keys[at], float(scores[at]), self._metadata[at]) for at in best]

    def _put(self, key: str, text: str) -> dict[str, MetadataValue]:
        self._registry.put(TENANT, CatalogueEntry(key, key, "", "1"))
        return {
            "document_id": key,
            "generation": "1",
            "source_type": "pdf",
            "text": text,
            "chunk_index": 0,
            "token_count": len(text.split()),
            "language": "en",
        }
