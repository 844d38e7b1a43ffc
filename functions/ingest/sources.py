"""The readers behind one port, chosen by the kind of object."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from functions.ingest.chunking import ChunkSettings, chunk_pages
from functions.ingest.events import Subject
from functions.ingest.json_sources import open_json
from functions.ingest.parsing import Limits, PdfParse, open_pdf, status_of
from functions.ingest.parsing.language import language_of
from functions.ingest.passages import Findings, Passage, Source
from shared.errors import DocumentRejected
from shared.identity import cover_of
from shared.models import SourceType
from shared.settings import Settings


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
        cover: str | None = None
        for chunk in chunk_pages(pages, title=self._pdf.title, settings=self._settings, language=self._pdf.language):
            if (language := language_of(chunk.text, within=chunk.language)) != chunk.language:
                chunk = replace(chunk, language=language)
            if cover is None:
                cover = cover_of(chunk.text, language=chunk.language or "en")
            yield Passage(chunk, {"cover": cover})

    def findings(self) -> Findings:
        """Return what the extraction report amounts to."""
        pdf = self._pdf
        status, error = status_of(pdf.reports, pdf.page_count, pdf.problems)
        return Findings(status, error, pdf.page_count, tuple(pdf.reports))


@contextmanager
def open_source(subject: Subject, path: Path, settings: Settings) -> Iterator[Source]:
    """Open the downloaded object at `path` with the reader for its kind. Raises `DocumentRejected`."""
    suffix = ".pdf" if subject.source_type is SourceType.PDF else ".json"
    if not subject.key.lower().endswith(suffix):
        prefix = subject.key.partition("/")[0]
        raise DocumentRejected(
            "UNSUPPORTED_TYPE",
            f"{subject.file_name!r} is not a {suffix[1:].upper()} file: only files named {suffix} are read under "
            f"{prefix}/. Convert it and upload it again.",
        )
    if subject.source_type is not SourceType.PDF:
        yield open_json(subject, path)
        return
    limits = Limits(
        max_bytes=settings.max_file_bytes,
        max_pages=settings.max_pages,
        wall_s=settings.parse_timeout_s,
        memory_mb=settings.parse_memory_mb,
    )
    with open_pdf(path, file_name=subject.file_name, limits=limits) as pdf:
        yield PdfSource(pdf, settings)
