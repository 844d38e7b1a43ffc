"""LlamaIndex as its starter tutorial builds it: SimpleDirectoryReader, VectorStoreIndex, all at their defaults.

That is SentenceSplitter with 1,024 tokens and 200 of overlap, and an in-memory vector store. LlamaIndex puts page label
and file path before the text that is embedded; the path given to it is `pdfs/NAME`, so that figures do not depend on
where the folder lies.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import MetadataMode, TextNode
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters
from pydantic import PrivateAttr

from evals.context import SystemContext
from evals.embedding import SharedEmbedder
from evals.systems.base import Ingested, RankedChunk, SearchResult
from evals.systems.peers import Peer, Piece, give_nltk_its_data, split_all, versions_of
from functions.ingest.chunking import tokens


class MiniLMEmbedding(BaseEmbedding):  # type: ignore[misc]
    """The shared embedder as LlamaIndex calls it."""

    _embedder: SharedEmbedder = PrivateAttr()

    def __init__(self, embedder: SharedEmbedder, **more: Any) -> None:
        super().__init__(model_name=str(embedder.space), embed_batch_size=128, **more)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.vectors(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class LlamaIndex(Peer):
    """The starter tutorial's pipeline over the PDFs."""

    name = "llamaindex"

    def __init__(self, context: SystemContext) -> None:
        self._context = context
        give_nltk_its_data(context.folder / "nltk")
        # Its own default tokenizer is tiktoken's for gpt-3.5-turbo, cl100k; this is the same one without a download.
        self._splitter = SentenceSplitter(tokenizer=tokens.encoding("cl100k_base").encode_ordinary)
        self._index: VectorStoreIndex | None = None
        self.versions: Mapping[str, str] = versions_of("llama-index-core", "llama-index-readers-file", "pypdf")
        self.settings: Mapping[str, object] = {
            "chunk_size_tokens": self._splitter.chunk_size,
            "chunk_overlap_tokens": self._splitter.chunk_overlap,
            "embedding": str(context.embedder.space),
        }

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Read, split, embed, index."""
        pieces, ingested = split_all(
            pdfs, self._split, self._context, kind=self.name, depends_on={**self.versions, **self.settings}
        )
        started = perf_counter()
        vectors = self._context.embedder.vectors(
            [piece.embedded for piece in pieces], advance=partial(self._context.progress, "llamaindex: embedding")
        )
        nodes = [_node(piece, vector) for piece, vector in zip(pieces, vectors.tolist(), strict=True)]
        self._index = VectorStoreIndex(nodes, embed_model=MiniLMEmbedding(self._context.embedder))
        ingested.seconds["embed_and_index"] = perf_counter() - started
        return ingested

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Ask the index's retriever."""
        if self._index is None:
            raise RuntimeError("ingest first")
        filters = MetadataFilters(filters=[ExactMatchFilter(key="doc", value=doc)]) if doc else None
        started = perf_counter()
        found = self._index.as_retriever(similarity_top_k=k, filters=filters).retrieve(question)
        took = 1000 * (perf_counter() - started)
        return SearchResult(
            hits=[
                RankedChunk(each.metadata["doc"], (each.metadata["page"],), float(each.score or 0.0)) for each in found
            ],
            snippets=[" ".join(each.text.split())[:300] for each in found],
            score=float(found[0].score or 0.0) if found else None,
            milliseconds={"search": took},
        )

    def _split(self, path: Path) -> list[tuple[int, str, str]]:
        reader = SimpleDirectoryReader(
            input_files=[path], file_metadata=lambda _: {"file_name": path.name, "file_path": f"pdfs/{path.name}"}
        )
        pieces = []
        for number, document in enumerate(reader.load_data(), start=1):
            pieces += [
                (
                    number,
                    node.get_content(metadata_mode=MetadataMode.NONE),
                    node.get_content(metadata_mode=MetadataMode.EMBED),
                )
                for node in self._splitter.get_nodes_from_documents([document])
            ]
        return pieces


def _node(piece: Piece, vector: list[float]) -> TextNode:
    return TextNode(text=piece.text, embedding=vector, metadata={"doc": piece.doc, "page": piece.page})
