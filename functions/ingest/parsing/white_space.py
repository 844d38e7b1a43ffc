"""White space that runs through a page: rows are cut along it, and a column on one side of it is whole."""

from itertools import pairwise
from math import inf

from functions.ingest.parsing.words import Row

MAX_CUTS, MAX_JUMPS = 20, 8
WIDE_BAND = 1.5
"""Cuts within each other, places where a column may go on that are looked at, at most, and height of the white space
that is cut first, in heights of a row."""
EDGE = 0.01
"""Points by which an edge may lie behind the cut."""
LEAST_ROWS = 4
"""Rows of each of two columns of which one was written in two parts."""
MOST_OVERLAP, MOST_ROOM = 0.5, 0.6
"""How far two lines of one text may overlap or be apart, in heights of a line."""


def cut_along_white_space(rows: list[Row], depth: int = 0) -> list[Row]:
    """XY-cut: split at the widest horizontal white band, else at a vertical one (Nagy and Seth, 1984)."""
    if len(rows) < 2 or depth > MAX_CUTS:
        return sorted(rows, key=lambda row: (row.y0, row.x0))
    across = _bands(rows, vertical=False)
    beside = _bands(rows, vertical=True)
    height = sorted(row.y1 - row.y0 for row in rows)[len(rows) // 2]
    wide = [band for band in across if band[1] - band[0] > WIDE_BAND * height]
    if beside and not wide:
        cut = max(beside, key=lambda band: band[1] - band[0])
        first = [row for row in rows if row.x1 <= cut[0] + EDGE]
        rest = [row for row in rows if row.x1 > cut[0] + EDGE]
    elif across:
        cut = max(wide or across, key=lambda band: band[1] - band[0])
        first = [row for row in rows if row.y1 <= cut[0] + EDGE]
        rest = [row for row in rows if row.y1 > cut[0] + EDGE]
    else:
        return sorted(rows, key=lambda row: (row.y0, row.x0))
    return cut_along_white_space(first, depth + 1) + cut_along_white_space(rest, depth + 1)


def _bands(rows: list[Row], *, vertical: bool) -> list[tuple[float, float]]:
    """Return the gaps between the rows' projections on one axis."""
    spans = sorted((row.x0, row.x1) if vertical else (row.y0, row.y1) for row in rows)
    bands: list[tuple[float, float]] = []
    end = spans[0][1]
    for start, stop in spans[1:]:
        if start > end:
            bands.append((end, start))
        end = max(end, stop)
    return bands


def with_columns_whole(rows: list[Row]) -> list[Row]:
    """Return the rows with a column first that was written in two parts, before and after the one on its right.

    A text goes on in no row below the two: else what stands on the right is a picture beside its first lines.
    """
    jumps = [at for at, (a, b) in enumerate(pairwise(rows), 1) if b.x1 <= a.x0 and b.y0 < a.y0]
    for at in jumps[:MAX_JUMPS]:
        before, first = rows[at - 1], rows[at]
        for place in sorted({row.x1 for row in rows if first.x1 <= row.x1 <= before.x0})[:MAX_JUMPS]:
            across = [row for row in rows if row.x0 < place < row.x1]
            top = max([row.y1 for row in across if row.y0 < first.y0], default=-inf)
            foot = min([row.y0 for row in across if row.y0 >= first.y0], default=inf)
            band = [i for i, row in enumerate(rows) if row.y0 > top - EDGE and row.y1 < foot + EDGE]
            start, end = (band[0], band[-1] + 1) if band else (0, 0)
            is_left = [row.x1 <= place for row in rows[start:end]]
            if not start < at < end or end - start != len(band) or not (is_left[0] and is_left[-1]):
                continue
            left = [row for row, is_first in zip(rows[start:end], is_left, strict=True) if is_first]
            right = [row for row, is_first in zip(rows[start:end], is_left, strict=True) if not is_first]
            is_between = sum([a != b for a, b in pairwise(is_left)]) == 2 and min(len(left), len(right)) >= LEAST_ROWS
            if is_between and not (end < len(rows) and _goes_on(left[-1], rows[end])):
                return [*rows[:start], *left, *right, *rows[end:]]
    return rows


def _goes_on(row: Row, below: Row) -> bool:
    """Whether a row stands right below another one, as the next line of its text does."""
    return -MOST_OVERLAP < (below.y0 - row.y1) / max(1.0, row.y1 - row.y0) < MOST_ROOM
