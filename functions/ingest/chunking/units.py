"""From pages to units: the smallest spans a chunk is made of, each encoded once, as the pages come in."""

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from zlib import crc32

from functions.ingest.chunking import borders
from functions.ingest.chunking.borders import Border
from functions.ingest.chunking.packing import Counted, Unit, UnitRow, split_unit
from shared.models import Page, PageStart, SectionStart, page_separator
from shared.rects import pair, without_words

_CHAR_START = attrgetter("char_start")
# Markdown's "# Pumps", after a blank line (else it may be a comment in code), and a wiki's "== Pumps ==".
_HEADING = re.compile(
    r"(?:\A|(?<=\n\n))(?P<hashes>#{1,6})[ \t]+(?P<title>\S[^\n]{0,120}?)(?:[ \t]+#+)?[ \t]*(?=\n|\Z)"
    r"|(?:\A|(?<=\n))[ ]?(?P<signs>=(?:[ ]?=){0,5})[ ]*(?P<name>[^\s=][^\n=]{0,120}?)[ ]*(?P=signs)[ \t]*(?=\n|\Z)"
)
_SIGNS = ("#", "=", " =")
_LINES = ("\n#", "\n=", "\n =")  # looked for first, which costs next to nothing


type Region = tuple[int, int, str, str, str]
"""A span of text: start, end (behind the last character), kind, section path, header row. Pages have thousands."""
AROUND = 40
EVERY = 4
"""Characters on either side of a place that decide whether a unit begins there, and how many such places one is chosen
of."""


class Regions:
    """Cuts pages into regions; remembers the headings of plain text, for the section paths of those to come.

    A plain span shorter than `least` characters includes the next one.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._open: list[tuple[int, str]] = []

    def of(self, page: Page, origin: int) -> list[Region]:
        """Return the page's blocks and the text between them, in order, without blank ones, shifted by `origin`."""
        text = page.text
        position = 0
        regions: list[Region] = []
        length = len(text)
        for block in sorted(page.blocks, key=_CHAR_START):
            start, end = max(block.char_start, position), min(block.char_end, length)
            if start >= end:
                continue
            if position < start and not text[position:start].isspace():
                self._add_plain(regions, text, position, start, origin)
            position = end
            lead = start
            if text[start].isspace():
                lead = _first_visible(text, start, end)
                if lead == end:
                    continue
            kind, header = block.kind, block.header
            if kind == "code":  # keep the indent of the first line
                lead = max(start, text.rfind("\n", start, lead) + 1)
            regions.append((lead + origin, end + origin, kind, block.section, header))
        if position < length:
            self._add_plain(regions, text, position, length, origin)
        return regions

    def _add_plain(self, regions: list[Region], text: str, start: int, end: int, origin: int) -> None:
        """Add the paragraphs of a span outside the parser's blocks; Markdown and wiki markup is recognized."""
        start = _first_visible(text, start, end)
        has_code = text.find("```", start, end) >= 0
        fenced = False
        for first, last in borders.paragraphs(text, start, end, self._least):
            if has_code and (fenced or "```" in text[first:last]):
                regions.append((first + origin, last + origin, "code", "", ""))
                fenced ^= text.count("```", first, last) % 2 == 1
            elif text[first] == "|" and "\n|" in text[first:last]:
                lines = text[first:last].split("\n", 2)
                header = lines[0] if lines[1].strip("|-: \t") else "\n".join(lines[:2])
                regions.append((first + origin, last + origin, "table", "", header))
            elif text.startswith(_SIGNS, first, last) or any(text.find(sign, first, last) >= 0 for sign in _LINES):
                regions.extend(self._with_headings(text, first, last, origin))
            else:
                regions.append((first + origin, last + origin, "paragraph", "", ""))

    def _with_headings(self, text: str, start: int, end: int, origin: int) -> Iterator[Region]:
        """Yield a plain span as headings and the paragraphs between them."""
        at = start
        for match in _HEADING.finditer(text[start:end]):
            first, last = start + match.start(), start + match.end()
            if text[at:first].strip():
                yield (_first_visible(text, at, first) + origin, first + origin, "paragraph", "", "")
            signs = match["hashes"] or match["signs"].replace(" ", "")
            path = self._path(len(signs), (match["title"] or match["name"]).strip())
            yield (_first_visible(text, first, last) + origin, last + origin, "heading", path, "")
            at = last
        if text[at:end].strip():
            yield (_first_visible(text, at, end) + origin, end + origin, "paragraph", "", "")

    def _path(self, level: int, title: str) -> str:
        self._open = [(depth, name) for depth, name in self._open if depth < level]
        self._open.append((level, title))
        return " > ".join(name for _, name in self._open)


def _first_visible(text: str, start: int, end: int) -> int:
    """Return the position of the first character that is not white space, or `end`."""
    while start < end and text[start].isspace():
        start += 1
    return start


_PROSE = ("paragraph", "list_item")
_LINEWISE = ("table", "code")
_PARAGRAPH, _ITEM, _SENTENCE, _WORD = Border.PARAGRAPH, Border.ITEM, Border.SENTENCE, Border.WORD
_MAY_JOIN = (_SENTENCE, _ITEM)
_FIRST_BORDER = {"heading": Border.SECTION, "list_item": _ITEM}
_BATCH = 32_768  # characters; a few chunks' worth, so that the first come early and memory stays bounded


class UnitReader:
    """Takes pages one by one and returns the units that are complete; holds only the text not yet discarded."""

    def __init__(self, encode: Callable[[str], list[int]], limit_tokens: int) -> None:
        self._encode = encode
        self._limit = limit_tokens
        self._least = limit_tokens // 4
        self._regions = Regions(self._least)
        self._text = ""
        self._base = 0
        self._open: UnitRow | None = None
        self._section = ""
        self._section_starts: list[int] = []
        self._sections: list[SectionStart] = []
        self._page_starts: list[int] = []
        self._pages: list[PageStart] = []
        self._places = LinePlaces()
        self._next_start = 0  # no unit but a section, a table or code starts before
        self._waiting: list[Page] = []
        self._waiting_characters = 0

    def add(self, page: Page) -> Counted | None:
        """Take a page; return the units that are complete, every `_BATCH` characters, else None."""
        self._waiting.append(page)
        self._waiting_characters += len(page.text)
        return self._read() if self._waiting_characters >= _BATCH else None

    def finish(self) -> Counted:
        """Return the last units."""
        done = self._read()
        if self._open:
            self._split(self._open, self.end(), done)
        self._open = None
        return done

    def end(self) -> int:
        """Return the position behind the last character that is not white space."""
        return self._base + len(self._text.rstrip())

    def text(self, start: int, end: int) -> str:
        """Return the cleaned text between two positions not yet discarded."""
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
        first = max(0, bisect_right(self._section_starts, start) - 1)
        return tuple(self._sections[first : bisect_right(self._section_starts, end - 1)])

    def rects_between(self, start: int, end: int) -> str:
        """Return the packed rectangles of the lines that hold the characters from `start` to before `end`."""
        return self._places.packed(start, end)

    def discard_before(self, position: int) -> None:
        """Discard the text before `position`."""
        self._places.discard_before(position)
        self._text = self._text[position - self._base :]
        self._base = position

    def _read(self) -> Counted:
        """Append the waiting pages to the text and return complete units; the last may continue on the next page."""
        pages, self._waiting, self._waiting_characters = self._waiting, [], 0
        parts = [self._text]
        position = len(self._text)
        origins = []
        for page in pages:
            if self._pages:
                parts.append(page_separator(page))
                position += len(parts[-1])
            origins.append(position)
            parts.append(page.text)
            self._page_starts.append(self._base + position)
            self._pages.append(PageStart(page.number, self._base + position, page.label))
            self._places.add(page, self._base + position)
            position += len(page.text)
        self._text = "".join(parts)
        rows = [self._open] if self._open else []
        for page, origin in zip(pages, origins, strict=True):
            self._begin(page, origin, rows)
        if not rows:
            return Counted()
        self._open = rows.pop()
        return self._count(rows, self._open[1])

    def _begin(self, page: Page, origin: int, rows: list[UnitRow]) -> None:
        """Append the units that begin on a page, which begins at `origin` of the text held.

        One of fewer characters than a quarter of the chunk's tokens (126 for 512) includes the next sentence, row or
        short paragraph: fewer borders to weigh, and hardly a chunk would have ended there.
        """
        text, base, least, continues = self._text, self._base, self._least, page.continues
        page_end = origin + len(page.text)
        last_start, last_kind = origin, ""
        if rows:
            last_start, _, _, _, last_kind, _, _, _, _ = rows[-1]
            last_start -= base
        next_start = self._next_start - base if continues else 0
        for start, end, kind, section, header in self._regions.of(page, origin):
            prose = kind in _PROSE
            joins = start < next_start and last_kind in _PROSE and not _always_begins(text, start, page_end)
            if joins and prose and not continues and end <= next_start:
                continue
            if kind == "heading":
                self._section = section or text[start:end]
                self._section_starts.append(start + base)
                self._sections.append(SectionStart(start + base, self._section))
            section = self._section
            first = start
            groups: list[tuple[Sequence[int], Border]] = []
            if not continues:
                if not (joins and prose):
                    groups.append(((start,), _FIRST_BORDER.get(kind, _PARAGRAPH)))
            else:
                # A paragraph that continues from the page before: its last sentence is read again together with the
                # rest, unless it is so long that it will be cut anyway (which keeps this linear for a text without
                # full stops).
                continues = False
                if not (prose and last_kind in _PROSE):
                    groups.append(((start,), _ITEM))
                elif start - last_start > 16 * self._limit:
                    groups.append(((start,), _WORD))
                else:
                    first = last_start
            groups += _starts_within(text, kind, first, start, end, least)
            for starts, border in groups:
                may_join = border in _MAY_JOIN
                for start in starts:
                    if start < next_start and may_join and not _always_begins(text, start, page_end):
                        continue
                    if start > 1 and text[start - 1] == " " and "!" <= text[start - 2] <= "~":
                        cut, exact = start - 1, True  # as nearly always in prose
                    else:
                        cut, exact = borders.count_cut(text, start)
                    after_heading = last_kind == "heading" and border < _SENTENCE
                    new_page = last_start < origin <= start
                    rows.append(
                        (start + base, cut + base, exact, border, kind, section, header, after_heading, new_page)
                    )
                    next_start, last_start, last_kind = start + least, start, kind
        self._next_start = next_start + base

    def _count(self, rows: list[UnitRow], stop: int) -> Counted:
        """Return units with their tokens; the last ends at `stop`.

        All are encoded in one loop: other work in between would evict the tokenizer from the CPU's cache.
        """
        text, base, longest = self._text, self._base, 16 * self._limit
        cuts = [row[1] - base for row in rows]
        cuts.append(stop - base)
        # More than 16 characters a token is no real text: too long, as is known without encoding it.
        pieces = [text[cut:stop] if stop - cut <= longest else "" for cut, stop in pairwise(cuts)]
        encode = self._encode
        counts: list[int] = []
        sums: list[int] = []
        for piece in pieces:
            ids = encode(piece)  # freed at once: the next one reuses its memory
            counts.append(len(ids))
            sums.append(sum(ids))
        if min(counts, default=1) and max(counts, default=1) <= self._limit:
            return Counted(rows, counts, sums)
        done = Counted()
        for row, cut, count, fingerprint in zip(rows, cuts[1:], counts, sums, strict=True):
            if 0 < count <= self._limit:
                done.append(row, count, fingerprint)
            else:
                self._split(row, cut + base, done)
        return done

    def _split(self, row: UnitRow, stop: int, done: Counted) -> None:
        split_unit(Unit(*row), self._text, self._base, stop, encode=self._encode, limit=self._limit, done=done)


def _starts_within(
    text: str, kind: str, first: int, start: int, end: int, least: int
) -> list[tuple[Sequence[int], Border]]:
    """Return where units may begin inside of a region: at lines, or at items and sentences; in a figure nowhere.

    Its first sentence begins at `first`, which may be before the page; a run of at most `least` characters stays whole.
    """
    if kind in _LINEWISE:
        return [(borders.line_starts(text, start, end), _ITEM)]
    if kind == "figure":
        return []
    found: list[tuple[Sequence[int], Border]] = []
    if kind == "paragraph" and text.find("\n", start, end) >= 0:
        for item in borders.item_starts(text, start, end):
            if item - first > least:
                found.append((borders.sentence_starts(text, first, item), _SENTENCE))
            found.append(((item,), _ITEM))
            first = item
    if end - first > least:
        found.append((borders.sentence_starts(text, first, end), _SENTENCE))
    return found


def _always_begins(text: str, start: int, page_end: int) -> bool:
    """Whether a unit begins at `start` although the one before is short: every fourth, by the text around it.

    Otherwise units of many short rows would depend on all rows before, and one more row would shift every chunk.
    """
    stop = start + AROUND
    around = text[start - AROUND if start > AROUND else 0 : stop if stop < page_end else page_end]
    return crc32(around.encode("utf-8", "replace")) % EVERY == 0


# --- Where the lines of a chunk stand ---

MAX_STEP = 8_000
"""Characters between two records: two digits hold a little more."""


@dataclass(frozen=True, slots=True)
class _PlacedPage:
    page: Page
    char_start: int
    starts: list[int]


class LinePlaces:
    """The lines of the pages whose text is not yet discarded."""

    def __init__(self) -> None:
        self._pages: deque[_PlacedPage] = deque()

    def add(self, page: Page, char_start: int) -> None:
        """Take a page whose text begins at `char_start` of the document's."""
        self._pages.append(_PlacedPage(page, char_start, [start for start, _ in page.lines]))

    def discard_before(self, position: int) -> None:
        """Forget the pages that end before `position`."""
        while self._pages and self._pages[0].char_start + len(self._pages[0].page.text) < position:
            self._pages.popleft()

    def packed(self, start: int, end: int) -> str:
        """Return the packed rectangles of the text from `start` to before `end`; empty if none is known."""
        found: list[str] = []
        is_known = False
        for placed in self._pages:
            if placed.char_start >= end:
                break
            if placed.char_start + len(placed.page.text) > start:
                is_known = is_known or len(placed.starts) > 0
                found.append(_packed(placed, max(0, start - placed.char_start), end - placed.char_start))
        return "\n".join(found) if is_known else ""


def _packed(placed: _PlacedPage, start: int, end: int) -> str:
    """Pack the lines between two positions of a page's text; of the first, the words that begin behind `start`."""
    page, starts = placed.page, placed.starts
    first = bisect_right(starts, start) - 1
    records = [pair(0)]
    if first >= 0:
        before = page.text[starts[first] : start]
        records[0] += without_words(page.lines[first][1], len(before.split())) if before else page.lines[first][1]
    at = start
    for line_start, place in page.lines[first + 1 : bisect_left(starts, end)]:
        if line_start - at > MAX_STEP:
            records.append(pair(1))  # the line before ends somewhere in between
            break
        records.append(pair(line_start - at) + place)
        at = line_start
    head = f"{page.number}|{page.width:g}|{page.height:g}|{placed.char_start + start}"
    return f"{head}|{' '.join(records)}"
