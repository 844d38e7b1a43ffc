"""Texts of a data set without PDFs, searched as the product searches: Pinecone's emulator and the query's retrieval."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from evals.emulator import running_index
from evals.memory import MemoryRegistry
from evals.systems.base import SystemContext
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.retrieve import retrieve
from functions.query.retrieval.search import Search
from shared.adapters.aws import SystemClock
from shared.adapters.pinecone import PineconeIndex
from shared.deadline import Deadline
from shared.identity import passage_vector
from shared.models import Document, DocumentStatus, VectorRecord

TENANT = "evals"
GENERATION = "1"
BATCH = 100
ENOUGH_S = 60.0


class TextIndex:
    """Each text is a document of one passage, without title and file name. Use it with `with`."""

    def __init__(self, context: SystemContext) -> None:
        self._context = context
        self._exit = ExitStack()
        folder = self._exit.enter_context(tempfile.TemporaryDirectory(prefix="recto-evals-"))
        serving = running_index(Path(folder), dimensions=context.embedder.space.dimensions)
        self._index = PineconeIndex(host=self._exit.enter_context(serving), api_key="local")
        self._exit.callback(self._index.close)
        self._registry = MemoryRegistry()
        self._clock = SystemClock()
        self._ids: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    def add(self, texts: Mapping[str, str], vectors: Sequence[Sequence[float]]) -> None:
        """Index texts by id, with their vectors in the same order."""
        records = []
        for number, ((key, text), vector) in enumerate(zip(texts.items(), vectors, strict=True)):
            # Ids of data sets may hold anything; an id of ours is its place.
            document_id = f"d{len(self._ids)}"
            self._ids.append(key)
            metadata = {
                "document_id": document_id,
                "generation": GENERATION,
                "source_type": "pdf",
                "text": text,
                "language": "en",
                "content_hash": document_id,
            }
            words = passage_vector(text, language="en", title="", key="")
            records.append(VectorRecord(f"{document_id}#0", list(vector), metadata, words))
            self._registry.put(
                Document(TENANT, document_id, "", DocumentStatus.READY, generation=GENERATION, chunk_count=1)
            )
            if len(records) == BATCH or number == len(texts) - 1:
                self._index.upsert(namespace=TENANT, records=records)
                records = []
                self._context.progress("indexing texts", number + 1, len(texts))

    def ranking(self, question: str, vector: Sequence[float] | None, k: int) -> list[str]:
        """Return the ids of the best `k` texts; without a vector the words are searched alone."""
        return [self.id_of(passage) for passage in self.passages(question, vector, k)]

    def id_of(self, passage: Passage) -> str:
        """Return the id a passage's text was added under."""
        return self._ids[int(passage.document_id[1:])]

    def passages(self, question: str, vector: Sequence[float] | None, k: int) -> Sequence[Passage]:
        """Return the best `k` texts as the query pipeline has them."""
        search = Search(question, vector, self._context.embedder.space.dimensions, TENANT)
        found = retrieve(
            search,
            tenant=TENANT,
            top_k=k,
            index=self._index,
            registry=self._registry,
            deadline=Deadline(self._clock, ENOUGH_S),
        )
        return found.passages
