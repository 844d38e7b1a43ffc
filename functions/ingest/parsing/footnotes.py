"""Footnotes: small print that ends a column comes behind all columns."""

import re
from collections import Counter
from itertools import pairwise
from operator import itemgetter

from functions.ingest.parsing.wire import Line

SMALLER = 0.93
SENTENCE_END = re.compile(r"[.!?:;][)\]\"'”’»]*$")
_MARK = re.compile(r"^(?:\d{1,3}|[*∗†‡§¶]+|[a-z](?=[\s.)A-Z]))[\s.)]*\S")
LOWER_PART = 0.5
"""Share of a page's height below which notes begin."""
SAME_SIZE = 0.3
"""How much smaller, in points, the print may be in which a sentence goes on in the next column."""


def footnotes_last(lines: list[Line], body_size: float, height: float) -> list[Line]:
    """Return the lines with small print that ends a column moved behind all columns; order is kept otherwise.

    A footnote is set smaller than the body, begins with a mark or stands in a sentence that goes on in the next column,
    and nothing of its column stands below it.
    """
    kept: list[Line] = []
    notes: list[Line] = []
    body_size = min(body_size, _usual_size(lines) or body_size)
    columns = _columns(lines)
    for column, following in pairwise([*columns, []]):
        start = len(column)
        while start and _small(column[start - 1], body_size):
            start -= 1
        if not _interrupts(column, start, following):
            while start < len(column) and not _MARK.match(column[start].text):
                start += 1
        ends_page = 0 < start < len(column) and column[start].y0 > LOWER_PART * height
        if ends_page and not _is_above_text(column[start], lines, body_size):
            kept += column[:start]
            notes += column[start:]
        else:
            kept += column
    return kept + notes


def _is_above_text(note: Line, lines: list[Line], body_size: float) -> bool:
    """Whether the page's text goes on below a line in small print, which is no footnote then."""
    return any(
        line.y0 > note.y1 and line.x0 < note.x1 and note.x0 < line.x1 and not _small(line, body_size) and line.cells
        for line in lines
    )


def _interrupts(column: list[Line], start: int, following: list[Line]) -> bool:
    """Whether the small print from `start` on stands in a sentence that goes on in the next column."""
    if not 0 < start < len(column) or not following or following[0].size < column[start - 1].size - SAME_SIZE:
        return False
    return not SENTENCE_END.search(column[start - 1].text) and following[0].text[:1].islower()


def _usual_size(lines: list[Line]) -> float:
    """Return the size that more than half of a page's letters are set in, as those of an index; 0 if none is."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    size, count = max(sizes.items(), key=itemgetter(1), default=(0.0, 0))
    return size if 2 * count > sizes.total() else 0.0


def _small(line: Line, body_size: float) -> bool:
    return 0 < line.size <= SMALLER * body_size and not (line.column or line.mono) and line.cells > 0


def _columns(lines: list[Line]) -> list[list[Line]]:
    """Cut the lines where they go up again."""
    columns: list[list[Line]] = []
    for line in lines:
        if columns and line.y0 >= columns[-1][-1].y0 - 2:
            columns[-1].append(line)
        else:
            columns.append([line])
    return columns
