"""Documents read in this process as `parse` reads them, and all that comes out as text, to be compared or looked at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import floor
from pathlib import Path
from types import MappingProxyType
from typing import cast
from zlib import crc32

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.ingest.parsing.guard import Reader
from functions.ingest.parsing.parse import PdfParse
from functions.ingest.parsing.process import Limits, Stopwatch
from functions.ingest.parsing.report import status_of
from functions.ingest.parsing.wire import HEADER, Header, Line, RawPage, pack_header, pack_page, unpack
from shared.models import Chunk, Page
from shared.rects import CORNERS, STEPS, number_at

LONGEST = 30
"""Characters of a chunk that are shown from its beginning and from its end."""
OFF = 0.2317
"""Added before points are cut to whole ones."""


class ReadAlready:
    """Stands for the reader of a document: its pages are those given, and they come as through the pipe of a child."""

    def __init__(self, pages: Iterable[RawPage]) -> None:
        self.problems: list[str] = []
        self._pages = pages

    def pages(self, _page_count: int) -> Iterator[RawPage]:
        """Yield the pages."""
        for page in self._pages:
            yield cast("RawPage", unpack(pack_page(page)[HEADER.size :]))

    def close(self) -> None:
        """End nothing."""


def parsed(
    pages: Sequence[RawPage],
    header: Header | None = None,
    file_name: str = "report.pdf",
    read_pages: Mapping[int, RawPage] = MappingProxyType({}),
) -> tuple[PdfParse, list[Page]]:
    """Read a document to its end; `read_pages` are those that OCR has read."""
    sent = cast("Header", unpack(pack_header(header or Header(len(pages)))[HEADER.size :]))
    reader = cast("Reader", ReadAlready(pages))
    parse = PdfParse(reader, sent, Stopwatch(1e9, lambda: 0.0), file_name, Limits(), read_pages)
    return parse, list(parse.pages())


def retold(parse: PdfParse, pages: Sequence[Page], *, exactly: bool = True) -> str:
    """Return all that is known of a document: what it is called, and each page with its report and its blocks."""
    about = [f"title: {parse.title}", f"language: {parse.language}"]
    about += [f"{name}: {value}" for name, value in sorted(parse.card.items())]
    about += [f"problem: {problem}" for problem in parse.problems]
    status, error = status_of(parse.reports, parse.page_count, parse.problems, parse.ocr_failed)
    about += [f"status: {status.value}, {error.code}: {error.message}"] if error else []
    for name in ("read_by_ocr", "ocr_failed", "figures"):
        about += [f"{name}: {sorted(getattr(parse, name))}"] if getattr(parse, name) else []
    reports = {report.number: report for report in parse.reports}
    for page in pages:
        report = reports[page.number]
        label = f' "{page.label}"' if page.label else ""
        continues = ", continues" if page.continues else ""
        about += ["", f"-- page {page.number}{label}: {page.width:g} x {page.height:g}{continues}"]
        about.append(f"{report.state}, {report.characters} characters, {report.doubtful:.3f} doubtful, {report.detail}")
        about += _blocks(page, exactly=exactly)
    return "\n".join(line.rstrip() for line in about)


def _blocks(page: Page, *, exactly: bool) -> Iterator[str]:
    starts = [start for start, _ in page.lines]
    for block in page.blocks:
        section = f" in {block.section}" if block.section else ""
        header = f" below {block.header!r}" if block.header else ""
        yield f"{block.kind}{section}{header}"
        at = block.char_start
        within = [n for n, start in enumerate(starts) if block.char_start <= start < block.char_end]
        for n, after in pairwise([*within, -1]):
            end = starts[after] if after >= 0 else block.char_end
            yield f"  {_place(page.lines[n][1], page, exactly=exactly)} {_shown(page.text[at:end], is_last=after < 0)}"
            at = end
        if at < block.char_end:
            yield f"  {_shown(page.text[at : block.char_end], is_last=True)}"


def _shown(text: str, *, is_last: bool) -> str:
    """Return a line's text; "¬" says that the next one is joined to it without a space."""
    joined = "" if is_last or text[-1:].isspace() else "¬"
    return text.rstrip().replace("\n", "⏎") + joined


def _place(place: str, page: Page, *, exactly: bool) -> str:
    """Return the rectangle of a place in points; `exactly` with a sum of all its digits, those of its words too."""
    if not place:
        return "-"
    unit = max(1.0, page.width, page.height) / STEPS
    corners = boxed(number_at(place, at) * unit for at in range(0, CORNERS, 2))
    return f"{corners} {crc32(place.encode()) & 0xFFF:03x}" if exactly else corners


def boxed(edges: Iterable[float]) -> str:
    """Return edges in whole points.

    They are rounded where no measure lies, as halves do, since pdfium's numbers differ from processor to processor.
    """
    return ",".join(str(floor(edge + OFF)) for edge in edges)


def lines_told(lines: Iterable[Line]) -> str:
    """Return lines as an engine gives them, each with its box, its size and its marks."""
    return "\n".join(_line(line) for line in lines)


def _line(line: Line) -> str:
    box = boxed((line.x0, line.y0, line.x1, line.y1))
    marks = [name for name in ("bold", "mono", "apart") if getattr(line, name)]
    marks += [f"cells {line.cells}"] if line.cells != 1 else []
    marks += [f"table {line.column}"] if line.column else []
    marks += [f"figure {line.figure}"] if line.figure else []
    return f"  {box} {line.size:.1f} {''.join(f'[{mark}] ' for mark in marks)}{line.text}"


def chunks_told(pages: Sequence[Page], settings: ChunkSettings, *, title: str = "", language: str = "") -> str:
    """Return the chunks of a document, a few lines each."""
    return "\n".join(_chunk(chunk) for chunk in chunk_pages(pages, title=title, settings=settings, language=language))


def _chunk(chunk: Chunk) -> str:
    text = chunk.text.replace("\n", "⏎")
    shown = text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]} … {text[-LONGEST:]}"
    pages = " ".join(map(str, chunk.pages))
    sections = " / ".join(f"{each.char_start} {each.path}" for each in chunk.sections)
    head = f"{chunk.index}: {chunk.char_start}-{chunk.char_end}, {chunk.token_count} tokens, pages {pages}"
    head += f", sections {sections}" if sections else ""
    head += f", section {chunk.section}" if not sections.endswith(chunk.section) else ""
    head += f", table {chunk.table!r}" if chunk.table else ""
    head += f", rectangles {crc32(chunk.rects.encode()):08x}" if chunk.rects else ""
    return f"{head}, {chunk.content_hash[:8]}\n  {shown}"


def stored(folder: Path, name: str) -> Path:
    """Return where a snapshot is kept: in the folder of its tests."""
    return folder / "snapshots" / f"{name}.txt"
