"""Figures and short labels that were written apart, as columns of a list or as the lettering of a chart.

Each figure belongs to the label on its line; lettering in any order is read line by line.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from functions.ingest.parsing.words import Row, shared_height

TOUCHING = 0.3
"""How far rows that stand below or beside each other may overlap, in heights of a row."""
FIGURE_SHARE = 0.5
"""Share of the rows of a chart's lettering that are figures."""
IN_LINE = 3
"""Points that the edges of figures in one column may differ."""
BAR_SHIFT = 8
BAR_ROOM = 4
"""How far the figures in two bars of a chart may be shifted, and be apart, in heights of a figure."""
SAME_LINE = 0.6
"""Share of the lower one's height that a figure and its label have in common."""
FIGURE = re.compile(r"[^\W\d_]{0,3}[\s$€£¥~<>≈+\-–—−(]*\d[\d.,:/]*[\s%‰)°+x×KkMmBb]*[.)]?[⁰¹²³⁴-⁹]*")
MIN_FIGURES = 3
"""Fewer figures below each other are no column of their own."""
LONGEST_LABEL = 40
"""Characters of a label with figures beside it; prose in a narrow column has fewer, but no figure on each line."""
MOST_LABEL_WORDS = 6
MIN_LETTERING = 8
"""Words of a chart's label at most, and rows of its lettering at least."""
LONGEST_GAP = 20
"""Room between a figure and its label, in heights of the figure."""


def goes_up(a: Row, b: Row) -> bool:
    """Whether a row stands above the one that is written before it."""
    return b.y1 <= a.y0 + TOUCHING * (a.y1 - a.y0)


def with_figures_beside(rows: list[Row]) -> list[Row]:
    """Return the rows with each figure of a column, written apart from the labels on its left, behind its label.

    Numbers on the left of what they number, as those of steps, come before it.
    """
    out = rows
    placed: set[int] = set()
    for figures in _columns_of_figures(rows):
        partners = [_beside(figure, rows, placed) for figure in figures]
        found = {id(partner): (partner, figure) for partner, figure in zip(partners, figures, strict=True) if partner}
        sides = {partner.x0 < figure.x0 for partner, figure in found.values()}
        if len(found) < len(figures) or len(sides) > 1:
            continue
        if sides == {False} and not all(_in_line(a, b) for a, b in pairwise(figures)):
            continue  # numbers at the edge of the page
        placed |= {id(figure) for figure in figures}
        merged: list[Row] = []
        for row in out:
            if (pair := found.get(id(row))) is not None:
                merged += sorted(pair, key=lambda one: one.x0)
            elif not any(row is figure for figure in figures):
                merged.append(row)
        out = merged
    return out


def lettering_by_line(rows: list[Row]) -> list[Row]:
    """Return the rows with the lettering of charts (numbers and short labels, drawn in any order) line by line."""
    out: list[Row] = []
    run: list[Row] = []

    def flush() -> None:
        out.extend(_by_line(run) if _is_lettering(run) else run)
        run.clear()

    for row in rows:
        if len(row.words) > MOST_LABEL_WORDS or row.length > LONGEST_LABEL:
            flush()
            out.append(row)
        else:
            run.append(row)
    flush()
    return out


def _is_lettering(run: list[Row]) -> bool:
    """Whether short rows one after the other are a chart's: half of them figures, and they go up time and again."""
    if len(run) < MIN_LETTERING:
        return False
    jumps = sum(goes_up(a, b) for a, b in pairwise(run))
    return jumps >= MIN_FIGURES and sum(FIGURE.fullmatch(row.text) is not None for row in run) >= FIGURE_SHARE * len(
        run
    )


def _by_line(rows: list[Row]) -> list[Row]:
    lines: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: row.y0 + row.y1):
        if lines and row.y0 + row.y1 < 2 * lines[-1][0].y1:
            lines[-1].append(row)
        else:
            lines.append([row])
    return [row for line in lines for row in sorted(line, key=lambda row: row.x0)]


def _columns_of_figures(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield runs of rows that are figures, each below the one before: in line with it, or near, as in a bar chart."""
    column: list[Row] = []
    for row in rows:
        is_figure = len(row.words) <= 2 and FIGURE.fullmatch(row.text) is not None
        if is_figure and column and row.y0 >= column[-1].y1 and _goes_on_in(row, column[-1]):
            column.append(row)
            continue
        if len(column) >= MIN_FIGURES:
            yield column
        column = [row] if is_figure else []
    if len(column) >= MIN_FIGURES:
        yield column


def _goes_on_in(row: Row, above: Row) -> bool:
    """Whether a figure stands in line with the one above it, or close enough for the ends of two bars of a chart."""
    height = row.y1 - row.y0
    is_near = abs(row.x0 - above.x0) < BAR_SHIFT * height and row.y0 - above.y1 < BAR_ROOM * height
    return is_near or _in_line(row, above)


def _in_line(a: Row, b: Row) -> bool:
    return abs(a.x0 - b.x0) < IN_LINE or abs(a.x1 - b.x1) < IN_LINE or abs(a.x0 + a.x1 - b.x0 - b.x1) < 2 * IN_LINE


def _beside(figure: Row, rows: list[Row], placed: set[int]) -> Row | None:
    """Return the row next to a figure on its line if that is its label, or a figure that has been placed already."""
    best: Row | None = None
    nearest = LONGEST_GAP * (figure.y1 - figure.y0)
    for row in rows:
        room = max(figure.x0 - row.x1, row.x0 - figure.x1)
        if (
            row is not figure
            and 0 <= room < nearest
            and shared_height(row, figure) > SAME_LINE * min(row.y1 - row.y0, figure.y1 - figure.y0)
        ):
            best, nearest = row, room
    if best is None or id(best) in placed:
        return best
    text = best.text
    is_label = any(map(str.isalpha, text)) and (best.x0 > figure.x0 or len(text) <= LONGEST_LABEL)
    return best if is_label and not FIGURE.fullmatch(text) else None
