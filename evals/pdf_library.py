"""The PDFs that claims, cells or instructions are about, cut into passages as they are ingested."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.errors import DatasetError
from evals.storage import ResultCache, file_hash, source_hash
from functions.ingest.changes import document_ref_of
from functions.ingest.sources import open_source
from functions.query.retrieval.passages import Passage
from shared.errors import DocumentRejected
from shared.models import Match
from shared.settings import Settings


class PdfLibrary:
    """The PDFs of some folders by name, parsed and cut as they are ingested; their passages are cached."""

    def __init__(self, folders: Sequence[Path], cache: ResultCache, *, fresh: bool = False) -> None:
        self._folders = folders
        self._cache = cache
        self._fresh = fresh
        self._read: dict[str, Sequence[Passage]] = {}

    def passages_of(self, name: str) -> Sequence[Passage]:
        """Return the passages of `{name}.pdf`. Raises `DatasetError`."""
        if name not in self._read:
            path = self._find(name)
            depends_on = {
                "pdf": file_hash(path),
                "name": name,
                "source": source_hash("functions/ingest", "shared", "evals/pdf_library.py"),
            }
            found = self._cache.get("passages", depends_on, lambda: _read_pdf(path), fresh=self._fresh)
            self._read[name] = [Passage.of(Match(f"{name}#1#{number}", 0.8, each)) for number, each in enumerate(found)]
        return self._read[name]

    def _find(self, name: str) -> Path:
        if not self._folders:
            raise DatasetError(f"{name}.pdf is needed: say with --pdfs in which folders the PDFs are.")
        for folder in self._folders:
            if (path := folder / f"{name}.pdf").is_file():
                return path
        raise DatasetError(f"There is no {name}.pdf in {', '.join(map(str, self._folders))}.")


def _read_pdf(path: Path) -> list[dict[str, Any]]:
    """Return the metadata of each chunk, as far as the query function needs it."""
    ref = document_ref_of(f"uploads/evals/{path.name}")
    if ref is None:
        raise DatasetError(f"{path} has a name that is not ingested.")
    try:
        with open_source(ref, path, Settings()) as source:
            return [
                {
                    **each.metadata,
                    "document_id": ref.document_id,
                    "generation": "1",
                    "source_id": ref.key,
                    "title": source.title,
                    "section": each.chunk.section,
                    "sections": [str(section) for section in each.chunk.sections],
                    "page_start": each.chunk.page_start,
                    "page_end": each.chunk.page_end,
                    "page_label": each.chunk.page_label,
                    "pages": [str(page) for page in each.chunk.pages],
                    "chunk_index": each.chunk.index,
                    "token_count": each.chunk.token_count,
                    "char_start": each.chunk.char_start,
                    "text": each.chunk.text,
                    "table": each.chunk.table,
                    "language": each.chunk.language,
                }
                for each in source.chunks
            ]
    except DocumentRejected as rejected:
        raise DatasetError(f"{path} cannot be read: {rejected.message}") from rejected
