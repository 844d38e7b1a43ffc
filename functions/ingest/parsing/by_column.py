"""Tables that were written column by column, all labels and then all figures: their rows are put together again."""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from functions.ingest.parsing.lettering import FIGURE, SAME_LINE, TOUCHING
from functions.ingest.parsing.words import Row, shared_height

ITEM_MARK = re.compile(r"\(?\d{1,2}[.)]")
LEAST = 3
"""Figures of a column, and labels that have one, at least."""
FIGURES_SHARE = 0.6
BESIDE_SHARE = 0.8
"""Share of a column's rows that are figures, and of those from the first label on that stand beside one."""
LONGEST_VALUE = 20
"""Characters of a value that holds a digit and is no figure, without spaces: "3 May 2024"."""
LONGEST_LABEL = 45
"""Characters of labels, on average, at most: lines of prose are longer."""
SAME_EDGE = 4.0
FARTHEST_LEFT = 60.0
"""Points by which the edges of a column's figures may differ, and by which a row may begin left of the one above it."""
MAX_ROWS = 400
"""Rows of a page that is looked at; bounds the cost."""


def rows_together(rows: list[Row]) -> list[Row]:
    """Return the rows line by line where labels were written first, and then the columns of figures beside them."""
    if len(rows) > MAX_ROWS:
        return rows
    runs = list(_runs(rows))
    are_columns = [_is_column(run) for run in runs]
    may_be = [is_column or all(map(_is_figure, run)) for run, is_column in zip(runs, are_columns, strict=True)]
    at = len(runs) - 1
    while at > 0:
        first = at
        while first > 0 and may_be[first]:
            first -= 1
        if not any(are_columns[first + 1 : at + 1]):
            at = min(first, at - 1)
            continue
        if labels := _labels(runs[: first + 1], runs[first + 1 : at + 1]):
            block = _block(runs[first + 1 - labels : first + 1], runs[first + 1 : at + 1])
            runs[first + 1 - labels : at + 1] = [block]
            at = first - labels
        else:
            at = first if are_columns[at] else at - 1
    return [row for run in runs for row in run]


def _runs(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield runs of rows that stand below each other, as those of a column."""
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or not _goes_on(rows[at - 1], rows[at]):
            yield rows[start:at]
            start = at


def _goes_on(above: Row, row: Row) -> bool:
    is_below = row.y0 >= above.y1 - TOUCHING * (above.y1 - above.y0)
    is_under = row.x0 < above.x1 and above.x0 < row.x1
    is_aligned = min(abs(row.x0 - above.x0), abs(row.x1 - above.x1)) < SAME_EDGE
    return is_below and (is_under or is_aligned) and row.x0 > above.x0 - FARTHEST_LEFT


def _is_figure(row: Row) -> bool:
    return FIGURE.fullmatch(row.text) is not None or row.text in "-–—"


def _is_value(row: Row) -> bool:
    """Whether a row is a figure or a short text with a digit, and no number of an item: "3 May 2024"."""
    has_digit = row.length <= LONGEST_VALUE and any(map(str.isdigit, row.text))
    return (has_digit or _is_figure(row)) and ITEM_MARK.fullmatch(row.text) is None


def _is_column(run: Sequence[Row]) -> bool:
    """Whether most rows of a run are figures or short values with a digit, at one edge."""
    values = [row for row in run if _is_value(row)]
    if len(values) < max(LEAST, FIGURES_SHARE * len(run)):
        return False
    for edge in (attrgetter("x0"), attrgetter("x1")):
        places = sorted(map(edge, values))
        middle = places[len(places) // 2]
        if sum([abs(place - middle) < SAME_EDGE for place in places]) >= BESIDE_SHARE * len(places):
            return True
    return False


def _labels(before: Sequence[list[Row]], columns: Sequence[list[Row]]) -> int:
    """Return how many of the runs before columns are their labels: those of the last one, and what numbers or dates it.

    Where the columns hold other values than figures, each label has one.
    """
    rows = [row for column in columns for row in column]
    top, bottom = min([row.y0 for row in rows]), max([row.y1 for row in rows])
    labels = [row for row in before[-1] if row.y1 > top and row.y0 < bottom]
    named = [label for label in labels if any(_is_beside(label, row) for row in rows)]
    if len(named) < LEAST or sum([row.length for row in labels]) > LONGEST_LABEL * len(labels):
        return 0
    if not all(any(map(str.isalpha, label.text)) for label in named):
        return 0
    for column in columns:
        below = [row for row in column if row.y1 > named[0].y0]
        beside = [row for row in below if any(_is_beside(label, row) for label in labels)]
        if len(beside) < max(min(LEAST, len(column)), BESIDE_SHARE * len(below)):
            return 0
        if sum(map(_is_figure, below)) < FIGURES_SHARE * len(below) and not len(beside) == len(below) == len(labels):
            return 0
    count = 1
    while count < len(before):
        run = before[-count - 1]
        beside = [row for row in run if any(_is_beside(row, label) for label in named)]
        if len(beside) < max(LEAST, FIGURES_SHARE * len([row for row in run if row.y1 > top and row.y0 < bottom])):
            break
        count += 1
    return count


def _is_beside(label: Row, row: Row) -> bool:
    """Whether a row stands right of another one on its line."""
    return label.x1 <= row.x0 and shared_height(label, row) > SAME_LINE * min(label.y1 - label.y0, row.y1 - row.y0)


def _block(labels: Sequence[list[Row]], columns: Sequence[list[Row]]) -> list[Row]:
    """Return the rows of labels and columns line by line; what stands above or below the columns stays outside."""
    rows = [row for column in columns for row in column]
    top, bottom = min([row.y0 for row in rows]), max([row.y1 for row in rows])
    texts = [row for run in labels for row in run]
    lines: list[list[Row]] = []
    for row in [*(row for row in texts if row.y1 > top and row.y0 < bottom), *rows]:
        nearest = max(lines, key=lambda line: shared_height(line[0], row), default=[])
        if nearest and shared_height(nearest[0], row) > SAME_LINE * min(row.y1 - row.y0, nearest[0].y1 - nearest[0].y0):
            nearest.append(row)
        else:
            lines.append([row])
    lines.sort(key=lambda line: line[0].y0)
    return [
        *(row for row in texts if row.y1 <= top),
        *(row for line in lines for row in sorted(line, key=attrgetter("x0"))),
        *(row for row in texts if row.y0 >= bottom and row.y1 > top),
    ]
