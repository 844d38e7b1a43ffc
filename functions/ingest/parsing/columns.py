"""Reading order where the content stream does not have it: lines across two columns, pages in no order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functions.ingest.parsing.layout import Row, Word

MIN_ROWS = 6
"""Fewer rows than this never make two columns of prose."""

MIN_SIDE = 18
"""Characters a side must have on average; tables have less."""


def split_columns(rows: list[Row]) -> list[Row]:
    """Split rows that run across two columns of prose, left column first.

    A stretch of rows counts as two columns when most have one wide gap at the same place, and both sides are prose:
    long, and rarely numbers.
    """
    gaps = [_widest_gap(row) for row in rows]
    found = [gap for gap in gaps if gap]
    if len(found) < MIN_ROWS or len(found) < 0.5 * len(rows):
        return rows
    middle = sorted((left + right) / 2 for left, right in found)[len(found) // 2]
    out: list[Row] = []
    left_rows: list[Row] = []
    right_rows: list[Row] = []
    split = 0

    def flush() -> None:
        out.extend(left_rows + right_rows)
        left_rows.clear()
        right_rows.clear()

    for row, gap in zip(rows, gaps, strict=True):
        if gap and gap[0] <= middle <= gap[1]:
            left, right = _cut(row, middle)
            left_rows.append(left)
            right_rows.append(right)
            split += 1
        elif row.x1 <= middle:
            left_rows.append(row)
        elif row.x0 >= middle:
            right_rows.append(row)
        else:
            flush()
            out.append(row)
    flush()
    return out if split >= MIN_ROWS and _prose(rows, gaps, middle) else rows


def _prose(rows: Sequence[Row], gaps: Sequence[tuple[float, float] | None], middle: float) -> bool:
    sides: list[str] = []
    for row, gap in zip(rows, gaps, strict=True):
        if gap and gap[0] <= middle <= gap[1]:
            sides += [" ".join(word.text for word in part.words) for part in _cut(row, middle)]
    letters = sum(character.isalpha() for side in sides for character in side)
    total = sum(map(len, sides)) or 1
    longest = sorted(map(len, sides))[len(sides) // 4]
    return letters > 0.6 * total and total / len(sides) >= 1.4 * MIN_SIDE and longest >= MIN_SIDE


def _widest_gap(row: Row) -> tuple[float, float] | None:
    best: tuple[float, float] | None = None
    size = max(1.0, row.words[0].style.size)
    for before, word in pairwise(row.words):
        room = word.x0 - before.x1
        if room > 0.9 * size and (best is None or room > best[1] - best[0]):
            best = (before.x1, word.x0)
    return best


def _cut(row: Row, at: float) -> tuple[Row, Row]:
    left: list[Word] = [word for word in row.words if word.x0 < at]
    right: list[Word] = [word for word in row.words if word.x0 >= at]
    left[-1].ends = left[-1].ends or "\n"
    return type(row).of(left), type(row).of(right)


def in_reading_order(rows: list[Row]) -> list[Row]:
    """Return rows as they are when their order makes sense; else sort them by recursive cuts along white space.

    An order makes sense when lines mostly go down, and go up only to begin a column further to the right.
    """
    if len(rows) < 4:
        return rows
    wrong = sum(_backwards(a, b) for a, b in pairwise(rows))
    return _cut_recursively(rows, 0) if wrong > max(2, 0.2 * len(rows)) else rows


def _backwards(a: Row, b: Row) -> bool:
    up = b.y1 <= a.y0 + 0.3 * (a.y1 - a.y0)
    return up and b.x0 < a.x1 - 0.5 * (a.x1 - a.x0)


def _cut_recursively(rows: list[Row], depth: int) -> list[Row]:
    """XY-cut: split at the widest horizontal white band, else at a vertical one (Nagy and Seth, 1984)."""
    if len(rows) < 2 or depth > 20:
        return sorted(rows, key=lambda row: (row.y0, row.x0))
    across = _bands(rows, vertical=False)
    beside = _bands(rows, vertical=True)
    height = sorted(row.y1 - row.y0 for row in rows)[len(rows) // 2]
    wide = [band for band in across if band[1] - band[0] > 1.5 * height]
    if beside and not wide:
        cut = max(beside, key=lambda band: band[1] - band[0])
        first = [row for row in rows if row.x1 <= cut[0] + 0.01]
        rest = [row for row in rows if row.x1 > cut[0] + 0.01]
    elif across:
        cut = max(wide or across, key=lambda band: band[1] - band[0])
        first = [row for row in rows if row.y1 <= cut[0] + 0.01]
        rest = [row for row in rows if row.y1 > cut[0] + 0.01]
    else:
        return sorted(rows, key=lambda row: (row.y0, row.x0))
    return _cut_recursively(first, depth + 1) + _cut_recursively(rest, depth + 1)


def _bands(rows: list[Row], *, vertical: bool) -> list[tuple[float, float]]:
    """Return the white stretches between the rows' shadows on one axis."""
    spans = sorted((row.x0, row.x1) if vertical else (row.y0, row.y1) for row in rows)
    bands: list[tuple[float, float]] = []
    end = spans[0][1]
    for start, stop in spans[1:]:
        if start > end:
            bands.append((end, start))
        end = max(end, stop)
    return bands
