"""Footnotes to the end of their page, so that the sentence they interrupt goes on in the next column or page."""

import re

from functions.ingest.parsing.wire import Line

SMALLER = 0.93
_MARK = re.compile(r"^(?:\d{1,3}|[*†‡§¶]+|[a-z])[\s.)]*\S")


def footnotes_last(lines: list[Line], body_size: float, height: float) -> list[Line]:
    """Return the lines with small print that ends a column moved behind all columns; order is kept otherwise.

    A footnote is set smaller than the body, begins with a mark, and nothing of its column stands below it.
    """
    kept: list[Line] = []
    notes: list[Line] = []
    for column in _columns(lines):
        start = len(column)
        while start and _small(column[start - 1], body_size):
            start -= 1
        while start < len(column) and not _MARK.match(column[start].text):
            start += 1
        if 0 < start < len(column) and column[start].y0 > 0.5 * height:
            kept += column[:start]
            notes += column[start:]
        else:
            kept += column
    return kept + notes


def _small(line: Line, body_size: float) -> bool:
    return 0 < line.size <= SMALLER * body_size and not line.column and line.cells > 0


def _columns(lines: list[Line]) -> list[list[Line]]:
    """Cut the lines where they go up again."""
    columns: list[list[Line]] = []
    for line in lines:
        if columns and line.y0 >= columns[-1][-1].y0 - 2:
            columns[-1].append(line)
        else:
            columns.append([line])
    return columns
