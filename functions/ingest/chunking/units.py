"""From pages to units: the smallest stretches a chunk is made of, each encoded once, as the pages come in."""

import zlib
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from functions.ingest.chunking import borders
from functions.ingest.chunking.borders import Border
from functions.ingest.chunking.regions import CHAR_START, Region, Regions
from shared.models import Page, PageStart, SectionStart, page_separator

_PROSE = ("paragraph", "list_item")
_LINEWISE = ("table", "code")
_ENDLESS_TOKENS = 100_000
_MAY_JOIN = (Border.SENTENCE, Border.ITEM)
_FIRST_BORDER = {"heading": Border.SECTION, "list_item": Border.ITEM}


class Unit(NamedTuple):
    """A sentence, item, row or line, up to the start of the next; positions count in the document's cleaned text.

    Tokens are counted from `cut` to the next unit's `cut` (see `borders.count_cut`, which gives `exact` too).
    `after_heading` says that a heading stands right before it, `new_page` that it is the first to begin on its page;
    `header` is the header row of the table it is a row of.
    """

    start: int
    cut: int
    exact: bool
    border: Border
    kind: str
    section: str
    header: str
    after_heading: bool
    new_page: bool = False


type CountedUnit = tuple[Unit, int, int]
"""A unit, its tokens, and the sum of their ids: a cheap fingerprint of its text."""


class UnitReader:
    """Takes pages one by one and gives back the units that are complete; holds only the text not yet let go."""

    def __init__(self, encode: Callable[[str], list[int]], limit_tokens: int) -> None:
        self._encode = encode
        self._limit = limit_tokens
        self._least = limit_tokens // 4
        self._regions = Regions(self._least)
        self._next_start = 0  # no unit but a section, a table or code starts before
        self._text = ""
        self._base = 0
        self._open: Unit | None = None
        self._section = ""
        self._sections: list[SectionStart] = []
        self._page_starts: list[int] = []
        self._pages: list[PageStart] = []
        self._done: list[CountedUnit] = []

    def add(self, page: Page) -> list[CountedUnit]:
        """Append a page and return the units it completed, with their tokens; the last may go on overleaf."""
        if self._pages:
            self._text += page_separator(page)
        origin = len(self._text)
        self._page_starts.append(self._base + origin)
        self._pages.append(PageStart(page.number, self._base + origin, page.label))
        self._text += page.text
        continues = page.continues
        if not continues:
            self._next_start = 0
        for region in self._regions.of(page, origin):
            self._add_region(region, continues)
            continues = False
        return self._take()

    def finish(self) -> list[CountedUnit]:
        """Return the last unit: the text is over."""
        if self._open:
            self._split(self._open, self.end())
        self._open = None
        return self._take()

    def end(self) -> int:
        """Return the position behind the last character that is not white space."""
        return self._base + len(self._text.rstrip())

    def text(self, start: int, end: int) -> str:
        """Return the cleaned text between two positions that have not been let go."""
        return self._text[start - self._base : end - self._base]

    def trimmed(self, start: int, end: int) -> str:
        """Return the cleaned text between two positions without the white space at its end."""
        return self._text[start - self._base : end - self._base].rstrip()

    def pages_between(self, start: int, end: int) -> tuple[PageStart, ...]:
        """Return the pages that hold the characters from `start` to before `end`, and where each of them begins."""
        first = bisect_right(self._page_starts, start) - 1
        return tuple(self._pages[first : bisect_right(self._page_starts, end - 1)])

    def sections_between(self, start: int, end: int) -> tuple[SectionStart, ...]:
        """Return the sections that hold the characters from `start` to before `end`, and where each of them begins."""
        first = max(0, bisect_right(self._sections, start, key=CHAR_START) - 1)
        return tuple(self._sections[first : bisect_right(self._sections, end - 1, key=CHAR_START)])

    def let_go(self, position: int) -> None:
        """Forget the text before `position`."""
        self._text = self._text[position - self._base :]
        self._base = position

    def _take(self) -> list[CountedUnit]:
        done, self._done = self._done, []
        return done

    def _add_region(self, region: Region, continues: bool) -> None:
        start, end, kind, section, header = region
        text = self._text
        before = self._open
        short = (
            before is not None
            and before.kind in _PROSE
            and start + self._base < self._next_start
            and not _always_begins(text, start)
        )
        if short and kind in _PROSE and not continues and end + self._base <= self._next_start:
            return
        begins: list[tuple[int, Border]] = []
        first = start
        if kind == "heading":
            self._section = section or text[start:end]
            self._sections.append(SectionStart(start + self._base, self._section))
        if continues and before and kind in _PROSE and before.kind in _PROSE:
            # The paragraph runs on from the page before: its last sentence is looked at again together with the rest,
            # unless it is so long that it will be cut anyway (which keeps this linear for a text without full stops).
            if start - before.start + self._base > 16 * self._limit:
                begins.append((start, Border.WORD))
            else:
                first = before.start - self._base
        elif continues:
            begins.append((start, Border.ITEM))
        elif not short or kind not in _PROSE:
            begins.append((start, _FIRST_BORDER.get(kind, Border.PARAGRAPH)))
        if kind in _LINEWISE:
            begins.extend((position, Border.ITEM) for position in borders.line_starts(text, start, end))
        else:
            items = []
            if kind == "paragraph" and text.find("\n", start, end) >= 0:
                items = borders.item_starts(text, start, end)
            for stop in [*items, end]:
                if stop - first > self._least:
                    begins += [(position, Border.SENTENCE) for position in borders.sentence_starts(text, first, stop)]
                if stop < end:
                    begins.append((stop, Border.ITEM))
                    first = stop
        self._begin(begins, kind, header)

    def _begin(self, begins: list[tuple[int, Border]], kind: str, header: str) -> None:
        """Start units at these positions (in the text held); each completes the one before.

        One of less than a quarter of a character a token of the chunk (126 characters for 512 tokens) takes the next
        sentence, row or short paragraph in: fewer borders to weigh, and hardly a chunk would have ended there.
        """
        text, base, section, before = self._text, self._base, self._section, self._open
        least, next_start = self._least, self._next_start - self._base
        encode, limit, done, page_start = self._encode, self._limit, self._done, self._page_starts[-1]
        for start, border in begins:
            if start < next_start and border in _MAY_JOIN and not _always_begins(text, start):
                continue
            next_start = start + least
            cut, exact = borders.count_cut(text, start)
            after_heading = False
            if before is not None:
                piece = text[before.cut - base : cut]
                # More than 16 characters a token is no text: not worth an encode to know that it is too long.
                if len(piece) <= 16 * limit and (tokens := len(ids := encode(piece))) <= limit:
                    done.append((before, tokens, sum(ids)))
                else:
                    self._split(before, cut + base)
                after_heading = before.kind == "heading" and border < Border.SENTENCE
            new_page = before is not None and before.start < page_start <= start + base
            before = Unit(start + base, cut + base, exact, border, kind, section, header, after_heading, new_page)
        self._open = before
        self._next_start = next_start + base

    def _split(self, unit: Unit, cut: int) -> None:
        """Cut a unit that is longer than a chunk at clauses, where that is not enough at words, then inside words."""
        text, limit = self._text, self._limit
        end = cut - self._base
        starts = [(unit.start - self._base, unit.border)]
        # `limit // 4` characters are at most `limit` bytes in UTF-8, and no token is shorter than a byte.
        for border, find in (
            (Border.CLAUSE, borders.clause_starts),
            (Border.WORD, lambda t, a, b: borders.word_starts(t, a, b, 2 * limit)),
            (Border.WORD, lambda t, a, b: borders.word_starts(t, a, b, limit // 4)),
            (Border.TOKEN, lambda t, a, b: borders.token_starts(t, a, b, limit // 4)),
        ):
            finer: list[tuple[int, Border]] = []
            for (start, level), (stop, _) in zip(starts, [*starts[1:], (end, border)], strict=True):
                finer.append((start, level))
                if stop - start > 16 * limit or len(self._encode(text[start:stop])) > limit:
                    finer.extend(
                        (position, border) for position in find(text, start, stop) if not text[position].isspace()
                    )
            starts = finer
        cuts = [(unit.cut - self._base, unit.exact), *(borders.count_cut(text, start) for start, _ in starts[1:])]
        for (start, border), (first, exact), (last, _) in zip(starts, cuts, [*cuts[1:], (end, True)], strict=True):
            part = unit._replace(
                start=start + self._base,
                cut=first + self._base,
                exact=exact,
                border=border,
                after_heading=unit.after_heading and start + self._base == unit.start,
                new_page=unit.new_page and start + self._base == unit.start,
            )
            piece = text[first:last]
            # What is still that long has endless white space at its end: too large for company, trimmed on its own.
            ids = self._encode(piece) if len(piece) <= 16 * limit else [0] * _ENDLESS_TOKENS
            self._done.append((part, len(ids), sum(ids)))


def _always_begins(text: str, start: int) -> bool:
    """Say whether a unit begins at `start` although the one before is short: every fourth, by the text around it.

    Else which of many short rows begin a unit would hang on all before them, and one more row would shift every chunk.
    """
    return zlib.crc32(text[max(0, start - 40) : start + 40].encode("utf-8", "replace")) % 4 == 0
