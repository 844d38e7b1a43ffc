"""BM25 over whole pages: no chunks, no model; the baseline that every retriever has to beat.

Pages as pypdf reads them; bm25s at its defaults (Lucene's variant, k1 1.5, b 0.75, English stop words, no stemmer).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

import bm25s
from pypdf import PdfReader

from evals.context import SystemContext
from evals.systems.base import Ingested, RankedChunk, SearchResult
from evals.systems.peers import Peer, Piece, split_all, versions_of


class Bm25Pages(Peer):
    """One BM25 index over the pages of all PDFs, or one for each PDF when asked within it."""

    name = "bm25-pages"

    def __init__(self, context: SystemContext) -> None:
        self._context = context
        self._pieces: list[Piece] = []
        self._indexes: dict[str | None, tuple[bm25s.BM25, list[Piece]]] = {}
        self.versions: Mapping[str, str] = versions_of("bm25s", "pypdf")
        self.settings: Mapping[str, object] = {"k1": 1.5, "b": 0.75, "method": "lucene", "stopwords": "english"}

    def ingest(self, pdfs: Sequence[Path]) -> Ingested:
        """Read the pages and index them."""
        pieces, ingested = split_all(pdfs, _pages, self._context, kind=self.name, depends_on=self.versions)
        started = perf_counter()
        self._pieces = pieces
        self._index(None)
        ingested.seconds["index"] = perf_counter() - started
        return ingested

    def search(self, question: str, k: int, *, doc: str | None = None) -> SearchResult:
        """Score the pages; those that share no word with the question are not found."""
        started = perf_counter()
        index, pieces = self._index(doc)
        if not pieces:
            return SearchResult(())
        words = bm25s.tokenize([question], stopwords="en", show_progress=False, return_ids=False)
        numbers, scores = index.retrieve(words, k=min(k, len(pieces)), show_progress=False)
        took = 1000 * (perf_counter() - started)
        kept = [(pieces[n], float(score)) for n, score in zip(numbers[0], scores[0], strict=True) if score > 0]
        return SearchResult(
            hits=[RankedChunk(piece.doc, (piece.page,), score) for piece, score in kept],
            snippets=[piece.snippet for piece, _ in kept],
            milliseconds={"search": took},
        )

    def _index(self, doc: str | None) -> "tuple[bm25s.BM25, list[Piece]]":
        if doc not in self._indexes:
            pieces = [piece for piece in self._pieces if doc is None or piece.doc == doc]
            index = bm25s.BM25()
            if pieces:
                corpus = bm25s.tokenize([piece.text for piece in pieces], stopwords="en", show_progress=False)
                index.index(corpus, show_progress=False)
            self._indexes[doc] = (index, pieces)
        return self._indexes[doc]


def _pages(path: Path) -> list[tuple[int, str, str]]:
    pages = [page.extract_text() or "" for page in PdfReader(path).pages]
    return [(number, text, text) for number, text in enumerate(pages, start=1) if text.strip()]
