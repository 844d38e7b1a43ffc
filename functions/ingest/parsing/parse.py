"""Opens a PDF and yields its pages, cleaned, as they become ready.

    child frames → running lines out → headings → reflow → Page

The child handles the hostile bytes; this module only works on text, at a cost linear in its length.
"""

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from functions.ingest.parsing.figures import MAX_SHARE, MIN_PICTURE_SHARE
from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.guard import Reader, check_file
from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.identity_card import card_of
from functions.ingest.parsing.joining import join
from functions.ingest.parsing.parts import Part
from functions.ingest.parsing.places import place_in, without_first_word
from functions.ingest.parsing.process import Clock, Limits, Stopwatch
from functions.ingest.parsing.reflow import cells, page_of, reflow
from functions.ingest.parsing.report import is_unread, mend, report_of
from functions.ingest.parsing.running import WINDOW, remove_running_lines
from functions.ingest.parsing.table_cells import YEAR
from functions.ingest.parsing.text import cleaned
from functions.ingest.parsing.titles import COVER_PAGES, Beginning, filing_of, title_of
from functions.ingest.parsing.vocabulary import Vocabulary, ends_hyphenated
from functions.ingest.parsing.wire import Header, RawPage
from shared.language import language_of
from shared.models import Page, PageReport

LOOK_AHEAD = 2 * WINDOW
"""Pages read before the first is yielded, to find body size, title and language."""
MIN_OCR_CONFIDENCE = 0.5
"""Mean confidence of OCR below which a page stays unread: what it found are the strokes of a picture."""
GRACE_S = 2.0
"""Seconds past the limit in which pages that were read in time may still be finished."""
ATTACHED = "PDFs attached to it were not read: upload each separately"


class PdfParse:
    """One document being read; close it (or use `with`), so that no child outlives it.

    `title`, `card` and `language` (ISO 639-1, "" if unknown) are there from the start. `reports`, `problems` and the
    numbers of pages in `read_by_ocr`, `ocr_failed` (OCR could not read them either) and `figures` (they have figures,
    or pictures that may be some) are complete when `pages()` is exhausted.
    """

    def __init__(
        self,
        reader: Reader,
        header: Header,
        watch: Stopwatch,
        file_name: str,
        limits: Limits,
        read_pages: Mapping[int, RawPage],
    ) -> None:
        self.page_count = header.page_count
        self.reports: list[PageReport] = []
        self.read_by_ocr: set[int] = set()
        self.ocr_failed: set[int] = set()
        self.figures: set[int] = set()
        self._read_pages = read_pages
        self._reader, self._watch, self._limits = reader, watch, limits
        if header.has_attached_pdfs:
            reader.problems.append(ATTACHED)
        self._words = Vocabulary()
        self._headings = Headings(header, self._words)
        self._running: dict[str, None] = {}
        self._raw = self._with_reports(remove_running_lines(self._pages(header.page_count), header.page_count))
        self._ahead: deque[tuple[RawPage, PageReport]] = deque()
        while len(self._ahead) < LOOK_AHEAD and (got := next(self._raw, None)):
            self._ahead.append(got)
        text = "\n".join(line.text for raw, _ in self._ahead for line in raw.lines)
        self.language = language_of(text)
        beginning = self._beginning(header, file_name)
        covers = ("\n".join(cleaned(line.text) for line in lines) for lines in beginning.pages[:COVER_PAGES])
        filing = next(filter(None, (filing_of(cover, header.title) for cover in covers)), None)
        self.title = title_of(beginning, filing)
        self.card = card_of(beginning, self.title, filing)
        self._headings.title = self.title
        self._headings.has_form_cover = filing is not None
        watch.pause()

    @property
    def problems(self) -> list[str]:
        """Sentences that say what was cut off and why."""
        return self._reader.problems

    def pages(self) -> Iterator[Page]:
        """Yield the pages in order, once; those that could not be read come with empty text."""
        self._watch.resume()
        characters = 0
        held: tuple[RawPage, list[Part]] | None = None
        continues = False
        for raw in self._remaining_pages():
            parts = reflow(raw, self._headings.of(raw), self._words)
            if held:
                is_continued = _carry_over(held[1], parts, self._words)
                page = self._finished(*held, continues=continues)
                characters += len(page.text)
                yield from self._handed_over(page)
                continues = is_continued
            held = raw, parts
            if characters > self._limits.max_characters:
                self.problems.append(f"stopped after page {raw.number}: too much text")
                break
            if self._watch.left_s < -GRACE_S:
                self.problems.append(f"stopped after page {raw.number}: time limit of the document")
                break
        if held:
            yield from self._handed_over(self._finished(*held, continues=continues))
        self._reader.close()

    def close(self) -> None:
        """End the child; pages not yet yielded are lost."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _handed_over(self, page: Page) -> Iterator[Page]:
        self._watch.pause()
        yield page
        self._watch.resume()

    def _pages(self, page_count: int) -> Iterator[RawPage]:
        """Yield the reader's pages; in the places of those that hold no usable text, what OCR has read there."""
        for raw in self._reader.pages(page_count):
            mend(raw)
            read = self._read_pages.get(raw.number)
            if read is None or not is_unread(raw):
                yield raw
                continue
            if read.error or (read.lines and (read.confidence < MIN_OCR_CONFIDENCE or is_unread(read))):
                self.ocr_failed.add(raw.number)
                yield raw
                continue
            self.read_by_ocr.add(raw.number)
            yield replace(read, label=raw.label, images=raw.images, paths=raw.paths, hidden=raw.hidden)

    def _with_reports(self, pages: Iterator[tuple[RawPage, list[str]]]) -> Iterator[tuple[RawPage, PageReport]]:
        """Yield each page with its report, after learning its words and sizes; a garbled page has no lines left."""
        for raw, removed in pages:
            report = report_of(raw, removed)
            if raw.figures or MIN_PICTURE_SHARE <= raw.images <= MAX_SHARE:
                self.figures.add(raw.number)
            self._headings.learn(raw)
            self._running.update(dict.fromkeys(removed))
            self._words.add_all([line.text for line in raw.lines])
            yield raw, report

    def _remaining_pages(self) -> Iterator[RawPage]:
        while self._ahead:
            raw, report = self._ahead.popleft()
            if (got := next(self._raw, None)) is not None:
                self._ahead.append(got)
            self.reports.append(report)
            if raw.cut:
                self.problems.append(f"page {raw.number} was cut: too much text on one page")
            whole = [line for line in raw.lines if not line.column and " " not in line.place]
            for line in whole if self._words.may_rejoin([line.text for line in whole]) else ():
                if (text := self._words.rejoin_apart(line.text)) != line.text:
                    line.place, line.text = place_in(line.place, line.text, text), text
            raw.lines = footnotes_last(raw.lines, self._headings.body_size, raw.height)
            yield raw

    def _beginning(self, header: Header, file_name: str) -> Beginning:
        """Return what is known so far.

        Where most pages are garbled, nothing is taken from the cover either: it has too few words to be judged.
        """
        states = Counter(report.state for _, report in self._ahead)
        is_garbled = states["garbled"] > states["text"]
        return Beginning(
            file_name=file_name,
            metadata_title=header.title,
            pages=[] if is_garbled else [raw.lines for raw, _ in self._ahead],
            running=[] if is_garbled else list(self._running),
            body_size=self._headings.body_size,
            words=self._words,
            metadata_author=header.author,
        )

    def _finished(self, raw: RawPage, parts: list[Part], *, continues: bool) -> Page:
        page = page_of(raw, parts, continues=continues)
        report = self.reports[raw.number - 1]
        self.reports[raw.number - 1] = replace(report, characters=len(page.text))
        return page


def _carry_over(before: list[Part], after: list[Part], words: Vocabulary) -> bool:
    """Whether a paragraph continues on the next page; a word cut there moves whole to the page before.

    A table that continues keeps its caption and header, unless it begins with years of its own: the first row on the
    new page is a row like any other.
    """
    if not before or not after:
        return False
    last, first = before[-1], after[0]
    goes_on = last.kind == first.kind == "table" and last.header and cells(last.text) == cells(first.text)
    if goes_on and (first.header in last.header or not (YEAR.search(first.header) or _has_title(first, last))):
        first.header = last.header
    is_continued = last.is_open and first.kind == "paragraph" and bool(first.text)
    is_continued = is_continued and (first.text[0].islower() or (last.full and last.size == first.size))
    if is_continued and ends_hyphenated(last.text) and " " in first.text:
        head, rest = first.text.split(" ", 1)
        last.text, first.text = join(last.text, head, words), rest
        first.lines = without_first_word(first.lines, len(head) + 1)
    return is_continued


def _has_title(table: Part, before: Part) -> bool:
    """Whether a table has a title of its own over the same names of columns as one before: "District 2", and no rest.

    A title that only says that a table goes on is shorter.
    """
    title, _, names = table.header.rpartition("\n")
    is_within = bool(title) and table.text.startswith(table.header)
    return is_within and before.header.endswith(f"\n{names}") and len(table.header) >= len(before.header)


def open_pdf(
    path: Path,
    *,
    file_name: str,
    limits: Limits,
    clock: Clock = time.monotonic,
    read_pages: Mapping[int, RawPage] = MappingProxyType({}),
) -> PdfParse:
    """Open a PDF and read its first pages; `file_name` is the last resort for a title.

    `read_pages` are the pages that OCR has read, by number.

    Raises `DocumentRejected` with the code EMPTY, TOO_LARGE, NOT_A_PDF, TOO_MANY_PAGES, ENCRYPTED, XFA_FORM or DAMAGED.
    """
    check_file(path, limits)
    watch = Stopwatch(limits.wall_s, clock)
    reader = Reader(path, limits, watch)
    try:
        return PdfParse(reader, reader.header(), watch, file_name, limits, read_pages)
    except BaseException:
        reader.close()
        raise
