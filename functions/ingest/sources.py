"""The readers behind one port: what each kind of object says, as passages that can be embedded."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from functions.ingest.chunking import ChunkSettings, chunk_pages
from functions.ingest.events import Subject
from functions.ingest.parsing import Limits, PdfParse, open_pdf, status_of
from shared.errors import DocumentRejected
from shared.models import Chunk, DocumentError, DocumentStatus, MetadataValue, PageReport
from shared.settings import Settings


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk, and what its vector's metadata holds beside the usual."""

    chunk: Chunk
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a source turned out to be, once all its passages have been taken."""

    status: DocumentStatus
    error: DocumentError | None
    page_count: int
    report: Sequence[PageReport]


class Source(Protocol):
    """An opened object. `findings` is complete when `passages` is exhausted."""

    @property
    def title(self) -> str:
        """The document's title."""
        ...

    def passages(self) -> Iterator[Passage]:
        """Yield the passages in order, the same ones every time for the same bytes and settings."""
        ...

    def findings(self) -> Findings:
        """Return status, reason and report."""
        ...


class PdfSource:
    """A PDF: pages, then chunks of them."""

    def __init__(self, pdf: PdfParse, settings: Settings) -> None:
        self._pdf = pdf
        self._settings = ChunkSettings(settings.chunk_size_tokens, settings.chunk_overlap_tokens)

    @property
    def title(self) -> str:
        """The document's title."""
        return self._pdf.title

    def passages(self) -> Iterator[Passage]:
        """Yield the passages page by page, as the parser gets to them."""
        pages = self._pdf.pages()
        for chunk in chunk_pages(pages, title=self._pdf.title, settings=self._settings, language=self._pdf.language):
            yield Passage(chunk, {})

    def findings(self) -> Findings:
        """Return what the extraction report amounts to."""
        pdf = self._pdf
        status, error = status_of(pdf.reports, pdf.page_count, pdf.problems)
        return Findings(status, error, pdf.page_count, tuple(pdf.reports))


@contextmanager
def open_source(subject: Subject, path: Path, settings: Settings) -> Iterator[Source]:
    """Open the downloaded object at `path` with the reader for its kind. Raises `DocumentRejected`."""
    if not subject.key.lower().endswith(".pdf"):
        raise DocumentRejected(
            "UNSUPPORTED_TYPE",
            f"{subject.file_name!r} is not a PDF: only files named .pdf are read here. Convert it and upload it again.",
        )
    limits = Limits(
        max_bytes=settings.max_file_bytes,
        max_pages=settings.max_pages,
        wall_s=settings.parse_timeout_s,
        memory_mb=settings.parse_memory_mb,
    )
    with open_pdf(path, file_name=subject.file_name, limits=limits) as pdf:
        yield PdfSource(pdf, settings)
