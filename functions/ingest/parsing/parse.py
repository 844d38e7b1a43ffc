"""Opens a PDF and yields its pages, cleaned, as they become ready.

    child frames → running lines out → headings → reflow → Page

The child handles the hostile bytes; this module only works on text, at a cost linear in its length.
"""

import itertools
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Self

from functions.ingest.parsing.guard import Reader, check_file
from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.process import Clock, Limits, Stopwatch
from functions.ingest.parsing.reflow import Part, cells, join, page_of, reflow, without_first_word
from functions.ingest.parsing.report import report_of
from functions.ingest.parsing.running import WINDOW, footnotes_last, remove_running_lines
from functions.ingest.parsing.text import cleaned, filing_title, kind_of, title_from_file_name, usable_title
from functions.ingest.parsing.vocabulary import Vocabulary, ends_hyphenated
from functions.ingest.parsing.wire import Header, RawPage
from shared.language import language_of
from shared.models import Page, PageReport

LOOK_AHEAD = 2 * WINDOW
"""Pages read before the first is yielded, to find body size, title and language."""
COVER_PAGES = 3
"""Pages on which a filing's cover is looked for: a picture or a letter may precede it."""
GRACE_S = 2.0
"""Seconds past the limit in which pages that were read in time may still be finished."""
ATTACHED = "PDFs attached to it were not read: upload each separately"


class PdfParse:
    """One document being read; close it (or use `with`), so that no child outlives it.

    `title` and `language` (ISO 639-1, "" if unknown) are there from the start. `reports` and `problems` are
    complete when `pages()` is exhausted.
    """

    def __init__(self, reader: Reader, header: Header, watch: Stopwatch, file_name: str, limits: Limits) -> None:
        self.page_count = header.page_count
        self.reports: list[PageReport] = []
        self._reader, self._watch, self._limits = reader, watch, limits
        if header.has_attached_pdfs:
            reader.problems.append(ATTACHED)
        self._headings = Headings(header)
        self._words = Vocabulary()
        self._raw = self._with_reports(remove_running_lines(reader.pages(header.page_count)))
        self._ahead: deque[tuple[RawPage, PageReport]] = deque()
        while len(self._ahead) < LOOK_AHEAD and (got := next(self._raw, None)):
            self._ahead.append(got)
        text = "\n".join(line.text for raw, _ in self._ahead for line in raw.lines)
        self.language = language_of(text)
        self.title = self._title(header, file_name)
        self._headings.title = self.title
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

    def _with_reports(self, pages: Iterator[tuple[RawPage, list[str]]]) -> Iterator[tuple[RawPage, PageReport]]:
        """Yield each page with its report, after learning its words and sizes; a garbled page has no lines left."""
        for raw, removed in pages:
            report = report_of(raw, removed)
            self._headings.learn(raw)
            for line in raw.lines:
                self._words.add(line.text)
            yield raw, report

    def _remaining_pages(self) -> Iterator[RawPage]:
        while self._ahead:
            raw, report = self._ahead.popleft()
            if (got := next(self._raw, None)) is not None:
                self._ahead.append(got)
            self.reports.append(report)
            if raw.cut:
                self.problems.append(f"page {raw.number} was cut: too much text on one page")
            raw.lines = footnotes_last(raw.lines, self._headings.body_size, raw.height)
            yield raw

    def _title(self, header: Header, file_name: str) -> str:
        first_pages = [raw.lines for raw, _ in itertools.islice(self._ahead, COVER_PAGES)]
        covers = ("\n".join(cleaned(line.text) for line in lines) for lines in first_pages)
        title = next(filter(None, map(filing_title, covers)), "") or usable_title(header.title)
        if title:
            return title
        title = self._first_heading() or title_from_file_name(file_name)
        on_cover = (kind_of(line.text) for line in next(filter(None, first_pages), []))
        kind = kind_of(header.title) or next(filter(None, on_cover), "")
        return f"{title}: {kind}" if kind and kind.lower() not in title.lower() else title

    def _first_heading(self) -> str:
        """Return the largest line of the first pages that can be a title."""
        body = self._headings.body_size
        lines = next((raw.lines for raw, _ in self._ahead if raw.lines), [])
        titles = [line for line in lines if not line.column and line.size >= 1.15 * body and usable_title(line.text)]
        if not titles:
            return ""
        largest = max(line.size for line in titles)
        first = next(i for i, line in enumerate(lines) if line in titles and line.size >= 0.97 * largest)
        chosen = [lines[first]]
        for line in lines[first + 1 : first + 3]:
            if abs(line.size - largest) > 0.3 or line.y0 - chosen[-1].y0 > 2 * largest:
                break
            chosen.append(line)
        return usable_title(reduce(lambda a, b: join(a, b, self._words), (line.text for line in chosen)))

    def _finished(self, raw: RawPage, parts: list[Part], *, continues: bool) -> Page:
        page = page_of(raw, parts, continues=continues)
        report = self.reports[raw.number - 1]
        self.reports[raw.number - 1] = replace(report, characters=len(page.text))
        return page


def _carry_over(before: list[Part], after: list[Part], words: Vocabulary) -> bool:
    """Whether a paragraph continues on the next page; a word cut there moves whole to the page before.

    A table that continues keeps its header: the first row on the new page is a row like any other.
    """
    if not before or not after:
        return False
    last, first = before[-1], after[0]
    if last.kind == first.kind == "table" and last.header and cells(last.text) == cells(first.text):
        first.header = last.header
    is_continued = last.is_open and first.kind == "paragraph" and bool(first.text)
    is_continued = is_continued and (first.text[0].islower() or (last.full and last.size == first.size))
    if is_continued and ends_hyphenated(last.text) and " " in first.text:
        head, rest = first.text.split(" ", 1)
        last.text, first.text = join(last.text, head, words), rest
        first.lines = without_first_word(first.lines, len(head) + 1)
    return is_continued


def open_pdf(path: Path, *, file_name: str, limits: Limits, clock: Clock = time.monotonic) -> PdfParse:
    """Open a PDF and read its first pages; `file_name` is the last resort for a title.

    Raises `DocumentRejected` with the code EMPTY, TOO_LARGE, NOT_A_PDF, TOO_MANY_PAGES, ENCRYPTED, XFA_FORM or DAMAGED.
    """
    check_file(path, limits)
    watch = Stopwatch(limits.wall_s, clock)
    reader = Reader(path, limits, watch)
    try:
        return PdfParse(reader, reader.header(), watch, file_name, limits)
    except BaseException:
        reader.close()
        raise
