"""Puts the cells of a table's rows under its columns: where a row has none, it gets an empty one. Parts two tables.

Without it all later cells of a row with a gap stand under the wrong header. Columns are told from all rows together, as
header and figures of one need not overlap. Rows of one cell, and those of a header over several columns, stay as they
are.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from functions.ingest.parsing.table_cells import Cell, Group, header_of, is_number
from functions.ingest.parsing.table_groups import Span
from functions.ingest.parsing.words import Row

MAX_COLUMNS = 40
MOST_EMPTY = 0.5
"""Share of empty cells above which the places of the cells are no columns."""
WHOLLY = 0.5
"""Share of a column's width that a cell covers which stands over it."""
LEAST_ROWS = 2
LEAST_COLUMNS = 2
HEADER_ROWS = 3
"""Rows and columns of each of two tables side by side, at least, and rows from the first in which their names stand."""
SPARE = 0.5
"""Points by which a cell of the second one may begin before the others."""


def with_empty_cells(run: Sequence[Group]) -> list[Group]:
    """Return a table's groups, those with several cells with one for each column, if all columns are clear."""
    kept = {id(group.cells) for group in _over_several(run)}
    rows = [group.cells for group in run if len(group.cells) > 1 and id(group.cells) not in kept]
    if len({len(cells) for cells in rows}) < 2:
        return list(run)
    columns = _columns(rows)
    most = max(len(cells) for cells in rows)
    if not most <= len(columns) <= min(most + 1, MAX_COLUMNS):
        return list(run)
    placed = {id(cells): _places(cells, columns) for cells in rows}
    found = [places for places in placed.values() if places]
    if {place for places in found for place in places} != set(range(len(columns))):
        return list(run)
    if sum(map(len, found)) < MOST_EMPTY * len(found) * len(columns):
        return list(run)
    return [_filled(group, placed.get(id(group.cells), ()), len(columns)) for group in run]


def _over_several(run: Sequence[Group]) -> list[Group]:
    """Return the rows of a table's header that have fewer cells than its last row."""
    header = [group for group in header_of(run) if len(group.cells) > 1]
    return [group for group in header if len(group.cells) < len(header[-1].cells)] if len(header) < len(run) else []


def _columns(rows: Sequence[Sequence[Cell]]) -> list[Span]:
    """Return where columns stand, left to right: cells below each other, narrow ones first.

    Two places beside each other that no row has both of are one column: its header and its figures.
    """
    spans = sorted(((cell.x0, cell.x1, at) for at, cells in enumerate(rows) for cell in cells), key=_width)
    found: list[tuple[float, float, set[int]]] = []
    for x0, x1, at in spans:
        over = [n for n, (left, right, _) in enumerate(found) if x0 < right and left < x1]
        if not over:
            found.append((x0, x1, {at}))
        elif len(over) == 1:
            left, right, held = found[over[0]]
            found[over[0]] = min(left, x0), max(right, x1), held | {at}
        else:
            lefts, rights, rows_of = zip(*(found[n] for n in over), strict=True)
            if sum(map(len, rows_of)) == len(set().union(*rows_of)):
                # What stands over several places that no row has two of shows that they are one.
                found[over[0]] = min(x0, *lefts), max(x1, *rights), {at}.union(*rows_of)
                for n in reversed(over[1:]):
                    del found[n]
        if len(found) > 3 * MAX_COLUMNS:
            return []
    found.sort()
    while apart := [n for n in range(1, len(found)) if found[n - 1][2].isdisjoint(found[n][2])]:
        at = min(apart, key=lambda n: found[n][0] - found[n - 1][1])
        (left, _, held), (_, right, others) = found[at - 1 : at + 1]
        found[at - 1 : at + 1] = [(left, right, held | others)]
    return [(left, right) for left, right, _ in found]


def _width(span: tuple[float, float, int]) -> float:
    return span[1] - span[0]


def _places(cells: Sequence[Cell], columns: Sequence[Span]) -> Sequence[int]:
    """Return the column of each cell; none if one runs over several, a label apart, or two are in one column."""
    places: list[int] = []
    for cell in cells:
        over = [n for n, (left, right) in enumerate(columns) if cell.x0 < right and left < cell.x1]
        if not over:
            return ()
        shared = {n: min(cell.x1, columns[n][1]) - max(cell.x0, columns[n][0]) for n in over}
        wholly = [n for n in over if shared[n] > WHOLLY * (columns[n][1] - columns[n][0])]
        if cell is cells[0] and over[0] == 0:
            places.append(0)
        elif len(wholly) > 1:
            return ()
        else:
            places.append(max(over, key=shared.__getitem__))
    return places if all(a < b for a, b in pairwise(places)) else ()


def _filled(group: Group, places: Sequence[int], count: int) -> Group:
    if not places or len(places) == count:
        return group
    by_column = dict(zip(places, group.cells, strict=True))
    x0, y0, x1, y1 = group.box
    return Group(group.rows, [by_column.get(at) or Cell([], x0, y0, x1, y1) for at in range(count)])


def parted(run: Sequence[Group]) -> list[list[Group]]:
    """Return a table's groups, or those of the two tables side by side that their rows run through.

    The first name comes again over labels of words ("Item | 2024 | Item | 2025"); or nothing stands over both labels.
    """
    for at, group in enumerate(run[:HEADER_ROWS]):
        below = [each.cells for each in run[at + 1 :] if len(each.cells) > 1]
        for edge in _edges(group.cells, below):
            halves = [_half(run, edge, is_left=is_left) for is_left in (True, False)]
            rows = [[each for each in half if len(each.cells) >= LEAST_COLUMNS] for half in halves]
            if all(len(each) > LEAST_ROWS for each in rows):
                return halves
    return [list(run)]


def _edges(names: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> Iterator[float]:
    """Yield where the second one of two tables may begin whose columns have these names."""
    if not rows or len(names) < 2 * (LEAST_COLUMNS - 1):
        return
    for at in range(LEAST_COLUMNS, len(names) - 1):
        is_again = names[at].text == names[0].text and not is_number(names[0].text)
        if is_again and _are_labels(rows, names[at - 1].x1, names[at].x1):
            yield min(names[at].x0, *(cell.x0 for cells in rows for cell in cells if cell.x0 > names[at - 1].x1))
    widest = max(rows, key=len)
    for at in range(LEAST_COLUMNS, len(widest) - 1):
        left, right = widest[at - 1].x1, widest[at + 1].x0
        is_unnamed = not any(widest[n].x0 < name.x1 and name.x0 < widest[n].x1 for n in (0, at) for name in names)
        if is_unnamed and len(names) == len(widest) - 2 and _are_labels(rows, left, right):
            yield min(cell.x0 for cells in rows for cell in cells if left < cell.x0 < right)


def _are_labels(rows: Sequence[Sequence[Cell]], left: float, right: float) -> bool:
    """Return whether words alone begin between two places, with a figure on both their sides, and nothing runs across.

    A row may end before them.
    """
    inside = [[cell for cell in cells if left < cell.x0 < right] for cells in rows]
    edge = min((cell.x0 for found in inside for cell in found), default=right)
    if any(cell.x0 < edge < cell.x1 for cells in rows for cell in cells):
        return False
    whole = [(cells, found[0]) for cells, found in zip(rows, inside, strict=True) if found]
    return len(whole) >= LEAST_ROWS and all(
        not is_number(label.text)
        and any(is_number(cell.text) for cell in cells if cell.x1 <= label.x0)
        and any(is_number(cell.text) for cell in cells if cell.x0 >= label.x1)
        for cells, label in whole
    )


def _half(run: Sequence[Group], edge: float, *, is_left: bool) -> list[Group]:
    """Return the groups of one of two tables side by side; what runs across is of the left one."""
    out: list[Group] = []
    for group in run:
        cells = [cell for cell in group.cells if (cell.x0 < edge - SPARE) == is_left]
        if cells:
            out.append(Group([Row.of(words) for cell in cells for words in cell.lines], cells))
    return out
