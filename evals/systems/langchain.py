"""LangChain as its own tutorial builds it: PyPDFLoader, RecursiveCharacterTextSplitter(1000, 200), a vector store.

The sizes are those of "Build a semantic search engine" in LangChain's documentation. The vector store is its in-memory
one, which is exact.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # "is being sunset": it is still what the tutorial uses
    from langchain_community.document_loaders import PyPDFLoader

from evals.context import SystemContext
from evals.embedding import SharedEmbedder
from evals.systems.base import Ingested, RankedChunk, SearchResult
from evals.systems.peers import Peer, Piece, split_all, versions_of

CHUNK_CHARACTERS = 1000
OVERLAP_CHARACTERS = 200


class MiniLMEmbeddings(Embeddings):  # type: ignore[misc]
    """The shared embedder as LangChain calls it."""

    def __init__(self, embedder: SharedEmbedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages."""
        vectors: list[list[float]] = self._embedder.vectors(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return self.embed_documents([text])[0]


class LangChain(Peer):
    """The tutorial's pipeline over the PDFs."""

    name = "langchain"

    def __init__(self, context: SystemContext) -> None:
        self._context = context
        self._store = InMemoryVectorStore(MiniLMEmbeddings(context.embedder))
        self._splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK_CHARACTERS, chunk_overlap=OVERLAP_CHARACTERS)
        self.versions: Mapping[str, str] = versions_of(
            "langchain-core", "langchain-community", "langchain-text-splitters", "pypdf"
        )
        self.settings: Mapping[str, object] = {
            "chunk_size_characters": CHUNK_CHARACTERS,
            "chunk_overlap_characters": OVERLAP_CHARACTERS,
            "embedding": str(context.embedder.space),
        }

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Load, split, embed, add."""
        pieces, ingested = split_all(
            pdfs, self._split, self._context, kind=self.name, depends_on={**self.versions, **self.settings}
        )
        started = perf_counter()
        for start in range(0, len(pieces), 128):
            self._store.add_documents([_document(piece) for piece in pieces[start : start + 128]])
            self._context.progress("langchain: embedding", min(start + 128, len(pieces)), len(pieces))
        ingested.seconds["embed_and_index"] = perf_counter() - started
        return ingested

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Ask the vector store."""
        started = perf_counter()
        wanted = (lambda each: each.metadata["doc"] == doc) if doc else None
        scored = self._store.similarity_search_with_score(question, k=k, filter=wanted)
        took = 1000 * (perf_counter() - started)
        return SearchResult(
            hits=[RankedChunk(each.metadata["doc"], (each.metadata["page"],), float(score)) for each, score in scored],
            snippets=[" ".join(each.page_content.split())[:300] for each, _ in scored],
            score=float(scored[0][1]) if scored else None,
            milliseconds={"search": took},
        )

    def _split(self, path: Path) -> list[tuple[int, str, str]]:
        documents = self._splitter.split_documents(PyPDFLoader(str(path)).load())
        return [(each.metadata["page"] + 1, each.page_content, each.page_content) for each in documents]


def _document(piece: Piece) -> Document:
    return Document(piece.text, metadata={"doc": piece.doc, "page": piece.page})
