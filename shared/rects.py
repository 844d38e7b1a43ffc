"""Where on its page a text stands: the rectangles of its lines, packed into a vector's metadata, and read for a quote.

A *place* is a string: four coordinates of two digits (left, top, right, bottom), then a digit for the way from each
word to the next one, where that is known. Digits are signs that JSON need not escape; the unit is a share of the
page's longer side (0.1 points on A4). Coordinates are those of the page as it is shown (rotated, cropped) from its top
left corner.

The rectangles of a chunk are a row for each page, `"{number}|{width}|{height}|{char_start}|{record} {record} …"`. A
record is two digits for the characters from the record before (none in the first), then the place, or nothing where
that is not known; it holds until the next one begins. `char_start` counts in the document's cleaned text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import sub
from typing import NamedTuple

LEAST_SPACE = 0.1
"""Width of a space at least, in heights of the line."""


class Rect(NamedTuple):
    """A rectangle on a page (from 1), in points from the top left corner of the page as it is shown."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class PageSize(NamedTuple):
    """A page as it is shown, in points."""

    page: int
    width: float
    height: float


DIGITS = "".join(chr(code) for code in range(35, 127) if chr(code) not in "\\|")
BASE = len(DIGITS)
STEPS = 8_000
"""Units of the page's longer side; two digits hold 8,100."""
WORD_UNITS = 10
"""Units of a digit between two words."""
FURTHER = BASE - 1
"""A digit between two words that means: this much, plus what the next digit says."""
LEEWAY = 4
"""Such units that a word may begin before the one before it."""
CORNERS = 8
"""Digits of a place before those between its words."""

_VALUES = {digit: value for value, digit in enumerate(DIGITS)}
_AS_DIGITS = DIGITS[:FURTHER].encode().ljust(256, b"\0")
_WORD = re.compile(r"\S+")


@lru_cache(maxsize=BASE * BASE)
def pair(value: int) -> str:
    """Return two digits; a number out of range becomes the nearest one in range."""
    high, low = divmod(min(max(value, 0), BASE * BASE - 1), BASE)
    return DIGITS[high] + DIGITS[low]


def place_of(box: tuple[float, float, float, float], starts: Sequence[float], unit: float) -> str:
    """Pack a box (left, top, right, bottom) and where its words begin, all in points; `unit` is the page's.

    Words that do not go from left to right have no known ways between them (a superscript may go back a little).
    """
    x0, y0, x1, y1 = box
    corners = pair(round(x0 / unit)) + pair(round(y0 / unit)) + pair(round(x1 / unit)) + pair(round(y1 / unit))
    if len(starts) < 2:
        return corners
    per_word = 1 / (WORD_UNITS * unit)
    before = 0.5 - x0 * per_word
    ats = [int(start * per_word + before) for start in starts]
    try:  # bytes, because this runs for every word of a document
        digits = bytes(map(sub, ats[1:], ats)).translate(_AS_DIGITS)
    except ValueError:
        digits = b"\0"
    if b"\0" not in digits:
        return corners + digits.decode("ascii")
    goes_on = min(b - a for a, b in pairwise(ats)) >= -LEEWAY
    return corners + _steps(list(accumulate(ats, max)) if goes_on else [])


def _steps(ats: Sequence[int]) -> str:
    steps = (b - a for a, b in pairwise(ats))
    return "".join(DIGITS[FURTHER] * (step // FURTHER) + DIGITS[step % FURTHER] for step in steps)


def word_count(place: str) -> int:
    """Return of how many words of a place it is known where they begin; 1 if only of the first."""
    return len(place) - CORNERS + 1 - place.count(DIGITS[FURTHER], CORNERS)


def with_words(place: str, kept: Sequence[int]) -> str:
    """Return a place with only some of its words, by their numbers in order; the first of them is its left edge."""
    ats = _starts(place)
    first = ats[kept[0]]
    left = pair(number_at(place, 0) + WORD_UNITS * first) if first else place[:2]
    return left + place[2:CORNERS] + _steps([ats[at] for at in kept])


def without_words(place: str, count: int) -> str:
    """Return a place without its first words; unchanged where it is not known where the next one begins."""
    known = word_count(place)
    return with_words(place, range(count, known)) if 0 < count < known else place


def number_at(text: str, at: int) -> int:
    """Return the number that the two digits at a position stand for (the reverse of `pair`)."""
    return BASE * _VALUES[text[at]] + _VALUES[text[at + 1]]


def word_starts(place: str, longer_side: float) -> list[float]:
    """Return where the words of a place begin, in points from its left edge; `longer_side` is the page's."""
    return [at * WORD_UNITS * longer_side / STEPS for at in _starts(place)]


def _starts(place: str) -> list[int]:
    """Return where the words of a place begin, from its left edge, in `WORD_UNITS`."""
    ats = [0]
    at = 0
    for digit in place[CORNERS:]:
        step = _VALUES[digit]
        at += step
        if step != FURTHER:
            ats.append(at)
    return ats


# --- the rectangles of a quote ---


class _Record(NamedTuple):
    size: PageSize
    char_start: int
    place: str


def rects_between(
    packed: str, text: str, origin: int, start: int, end: int
) -> tuple[tuple[Rect, ...], tuple[PageSize, ...]]:
    """Return the rectangles of the characters from `start` to before `end`, and the sizes of their pages.

    `text` begins at `origin`; all three count in the document's cleaned text. The first and last line are cut to the
    words, and within a word in proportion. What is not known, or cannot be read, is left out.
    """
    rects: list[Rect] = []
    sizes: dict[PageSize, None] = {}
    try:
        records = list(_records(packed))
        for at, record in enumerate(records):
            until = records[at + 1].char_start if at + 1 < len(records) else origin + len(text)
            if record.char_start >= end or until <= start or not record.place:
                continue
            row = text[record.char_start - origin : until - origin]
            rect = _cut(record, row, start - record.char_start, end - record.char_start)
            if rect is not None:
                rects.append(rect)
                sizes.setdefault(record.size)
    except (ValueError, KeyError, IndexError):
        return (), ()
    return tuple(rects), tuple(sizes)


def _records(packed: str) -> Iterator[_Record]:
    """Yield the records in order; of joined chunks, which may overlap, those that go on where the former ones end."""
    last = -1
    for line in packed.split("\n") if packed else ():
        number, width, height, char_start, records = line.split("|")
        size = PageSize(int(number), float(width), float(height))
        at = int(char_start)
        for record in records.split(" "):
            at += number_at(record, 0)
            if at > last:
                last = at
                yield _Record(size, at, record[2:])


def _cut(record: _Record, row: str, start: int, end: int) -> Rect | None:
    """Return the rectangle of the words of a row between two positions; None if only white space is there."""
    size, _, place = record
    words = [word.span() for word in _WORD.finditer(row.rstrip("| \n"))]  # a cell ends before its border
    touched = [n for n, (begin, stop) in enumerate(words) if begin < end and stop > start]
    if not touched:
        return None
    unit = max(size.width, size.height) / STEPS
    x0, y0, x1, y1 = (number_at(place, at) * unit for at in range(0, CORNERS, 2))
    starts = [x0 + at * WORD_UNITS * unit for at in _starts(place)]
    first, last = touched[0], touched[-1]
    left, right = x0, x1
    if len(words) <= len(starts):  # else it is not known where each begins
        left = _edge(starts, words, first, start, x1, y1 - y0) if words[first][0] < start else starts[first]
        if last + 1 < len(starts) or words[last][1] > end:
            right = _edge(starts, words, last, end, x1, y1 - y0)
    return Rect(size.page, *(round(edge, 1) for edge in (left, y0, right, y1)))


def _edge(
    starts: Sequence[float], words: Sequence[tuple[int, int]], at: int, position: int, right: float, height: float
) -> float:
    """Return where a position in or behind a word is; a space is at least a tenth of the line's height."""
    begin, stop = words[at]
    left = starts[at]
    if at + 1 < len(starts):
        right = max(left, min(starts[at + 1] - LEAST_SPACE * height, left + (stop - begin) * height))
    return left + (right - left) * min(1.0, (position - begin) / (stop - begin))
