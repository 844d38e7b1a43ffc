"""Tells which columns a table's header cells stand over that head several of them.

A cell is centred over its columns or has an edge of theirs, a rule is drawn below it, or the names below it tell them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from functions.ingest.parsing.ruled import Rule
from functions.ingest.parsing.table_cells import YEAR, Cell, Group, has_figure, header_of, is_figure, is_number
from functions.ingest.parsing.words import Row, box_of

RULED = 0.4
"""Room below a cell over several columns, in its heights, where a rule is drawn; lines of one cell are nearer."""
OFF_GROUP_EM = 2.5
LEFT_OUT_EM = 1.0
"""How far the middle or edge of such a cell may be from that of its columns at most, where they are found by their
names, and how much nearer it must be for each column that is left without a group, in font sizes."""
CENTRED = 0.06
"""How far the middle of such a cell may be from that of its columns, as a share of their width."""
LEVEL = 2
"""Points by which twice the middles of a name over two rows of a header, and of these, may differ."""
EDGE = 2
"""Points by which a rule may be shorter than what it is drawn below."""
COVERED = 0.5
"""Share of the narrower one's width that a header and its column have in common."""
SAME_EDGE = 3
"""Points by which edges of two lines of one cell may differ."""

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ColumnPlaces:
    """Where the columns of figures stand, left to right, and the labels before them."""

    spans: Sequence[Span]
    labels: Span

    @classmethod
    def of(cls, run: Sequence[Group]) -> Self:
        """Find them: places where at least two rows have a figure, or one below a header's cell of its own.

        Years that begin rows are labels, if there are two other columns.
        """
        without_years = cls._of(run, are_years_labels=True)
        return without_years if len(without_years.spans) > 1 else cls._of(run, are_years_labels=False)

    @classmethod
    def _of(cls, run: Sequence[Group], *, are_years_labels: bool) -> Self:
        rows = [group for group in run if len(group.cells) > 1]
        figures = sorted(
            (cell.x0, cell.x1, is_figure(cell.text))
            for row in rows
            for cell in row.cells
            if len(cell.lines) == 1 and is_number(cell.text)
            if not (are_years_labels and cell is row.cells[0] and YEAR.match(cell.text) and has_figure(row))
        )
        columns: list[tuple[float, float, int]] = []
        for x0, x1, is_no_year in figures:
            if columns and x0 < columns[-1][1]:
                left, right, count = columns.pop()
                columns.append((left, max(right, x1), count + 1))
            else:
                columns.append((x0, x1, is_no_year))
        heads = [cell for group in header_of(run) for cell in group.cells]
        apart = [cell for cell in heads if sum(x0 < cell.x1 and cell.x0 < x1 for x0, x1, _ in columns) == 1]
        spans = [
            (x0, x1)
            for x0, x1, count in columns
            if count > 1 or (count and any(x0 < cell.x1 and cell.x0 < x1 for cell in apart))
        ]
        left = spans[0][0] if spans else 0.0
        labels = [row.cells[0] for row in rows if row.cells[0].x1 < left and has_figure(row)]
        start = min((cell.x0 for cell in labels), default=-math.inf)
        return cls(spans, (start, max((cell.x1 for cell in labels), default=left)))

    def nearest(self, x0: float, x1: float) -> int:
        """Return the column whose middle is nearest to that of a box; -1 for a label."""
        middle = (x0 + x1) / 2
        if middle < self.labels[1] or x0 < self.labels[0] + 2:
            return -1
        return min(range(len(self.spans)), key=lambda at: abs(sum(self.spans[at]) / 2 - middle))

    def run_together(self, group: Group) -> bool:
        """Whether a cell of several lines runs across several columns."""
        return any(
            sum(x0 < cell.x1 and cell.x0 < x1 for x0, x1 in self.spans) > 1
            for cell in group.cells
            if len(cell.lines) > 1
        )

    def under(self, x0: float, x1: float) -> list[int]:
        """Return the columns under a box: those it covers, or else the nearest."""
        covered = [
            at
            for at, (left, right) in enumerate(self.spans)
            if min(x1, right) - max(x0, left) > COVERED * min(x1 - x0, right - left)
        ]
        return covered or [self.nearest(x0, x1)]


def over_groups(fragments: Sequence[Row], columns: ColumnPlaces, rules: Sequence[Rule]) -> dict[int, Sequence[int]]:
    """Return the columns, by the id of each header's cell, of lines whose cells are centred over groups of columns.

    A cell over three columns stands over the middle one like its own, but with room below it, where a rule is drawn.
    """
    found: dict[int, Sequence[int]] = {}
    lines = by_line([cell_of([each]) for each in fragments if columns.nearest(each.x0, each.x1) >= 0])
    # Headers are centred over each other, figures often at the right below them.
    heads = {columns.nearest(cell.x0, cell.x1): (cell.x0, cell.x1) for cell in (lines[-1] if lines else [])}
    places = [heads.get(at, span) for at, span in enumerate(columns.spans)]
    for at, line in enumerate(lines[:-1]):
        middles, size = [(cell.x0 + cell.x1) / 2 for cell in line], line[0].lines[0][0].style.size
        groups = _centred(middles, columns.spans, size) or _centred(middles, places, size)
        if len(groups) == len(columns.spans):
            continue
        if not groups:
            around = lines[max(0, at - 1) : at + 1], lines[at + 1 :]
            groups = [_over_two(cell, *around, places) for cell in line]
        are_apart = len({cell.text for cell in line}) == len(line) == len(groups) > 1
        below = [columns.nearest(other.x0, other.x1) for other in lines[at + 1]]
        sizes = {len(group) for group in groups}
        are_alike = len(sizes) == 1 or (min(sizes) > 1 and len(set(below)) == len(columns.spans))
        are_apart = are_apart and are_alike
        for cell, group in zip(line, groups, strict=False):
            is_divided = are_apart and len(set(below).intersection(group)) > 1
            if len(group) > 1 and (is_divided or _stands_over(cell, group, lines[at + 1 :], columns)):
                found[id(cell.lines[0])] = group
    ruled: set[int] = set()
    for at, line in enumerate(lines[:-1]):
        by_rule = _over_rules(line, lines[at + 1], columns, rules)
        found |= by_rule
        ruled.update(by_rule)
        found |= _over_names(line, lines[at + 1 :], fragments, columns, found)
    for line, below_it in reversed(list(pairwise(lines))):
        for cell in line:
            goes_on = [other for other in below_it if id(other.lines[0]) in found and _is_line_above(cell, other)]
            is_ruled = bool(goes_on) and id(goes_on[0].lines[0]) in ruled
            if goes_on and (is_ruled or id(cell.lines[0]) not in found):
                found[id(cell.lines[0])] = found[id(goes_on[0].lines[0])]
                ruled.update([id(cell.lines[0])] if is_ruled else [])
    return {id(each): found[id(each.words)] for each in fragments if id(each.words) in found}


def _over_rules(
    line: Sequence[Cell], below: Sequence[Cell], columns: ColumnPlaces, rules: Sequence[Rule]
) -> dict[int, Sequence[int]]:
    """Return the columns, by the id of each cell, of those with a rule of their own below them, over two or more."""
    found: dict[int, Sequence[int]] = {}
    lowest = min(other.y0 + other.y1 for other in below) / 2
    for cell in line:
        top, bottom = (cell.y0 + cell.y1) / 2, max(cell.y1, lowest)
        for y, x0, x1 in rules:
            if not top < y < bottom:  # nearly always
                continue
            over = [other for other in line if x0 < (other.x0 + other.x1) / 2 < x1]
            under = [at for at, span in enumerate(columns.spans) if x0 - EDGE < sum(span) / 2 < x1 + EDGE]
            if over == [cell] and 1 < len(under) < len(columns.spans):
                found[id(cell.lines[0])] = under
    return found


def _over_names(
    line: Sequence[Cell],
    lower: Sequence[Sequence[Cell]],
    fragments: Sequence[Row],
    columns: ColumnPlaces,
    found: Mapping[int, Sequence[int]],
) -> dict[int, Sequence[int]]:
    """Return the columns, by the id of each cell, of a line that heads the names below it, which are more.

    Where the same names come again, a group begins. Else each cell has the columns whose middle or edge it has; a line
    of a column's own name is near it, and has its middle or an edge, unless another name of the header's `fragments`
    stands at the middle of both. `found` are the groups known before.
    """
    below = next((other for other in lower if len(other) > len(line)), [])
    names = {columns.nearest(cell.x0, cell.x1): cell for cell in below}
    heads = [cell for cell in line if columns.nearest(cell.x0, cell.x1) in names]
    if len(names) < max(2 * len(heads), len(below)) or not heads or len({head.text for head in heads}) < len(heads):
        return {}
    places = sorted(names)
    groups = _repeated(heads, [names[at] for at in places])
    known = [id(head.lines[0]) in found for head in heads]
    if not groups and not all(known):
        room = min(name.y0 for name in below) - max(head.y1 for head in heads)
        is_apart = len(heads) > 1 and room > RULED * (heads[0].y1 - heads[0].y0)
        is_apart = is_apart and not any(_has_middle(head, name) for head in heads for name in below)
        middle = (heads[0].y0 + heads[0].y1 + below[0].y0 + below[0].y1) / 2
        is_apart = is_apart or any(abs(each.y0 + each.y1 - middle) < LEVEL for each in fragments)
        if is_apart or any(known) or any(_stands_between(head, below) for head in heads):
            groups = _nearest_groups(heads, [names[at] for at in places])
    return {
        id(head.lines[0]): places[a:b]
        for head, (a, b) in zip(heads, groups, strict=False)
        if id(head.lines[0]) not in found and places[a:b] == list(range(places[a], places[b - 1] + 1))
    }


def _repeated(heads: Sequence[Cell], names: Sequence[Cell]) -> list[tuple[int, int]]:
    """Return from which name to which each of several cells stands over, if the same names come again below each."""
    texts = [name.text for name in names]
    count = len(heads)
    for each in range(len(names) // count, 1 if count > 1 else len(names), -1):
        for start in range(len(names) - each * count + 1):
            if texts[start : start + each * count] != texts[start : start + each] * count:
                continue
            groups = [(start + n * each, start + (n + 1) * each) for n in range(count)]
            if all(
                names[a].x0 < head.x1 and head.x0 < names[b - 1].x1 for head, (a, b) in zip(heads, groups, strict=True)
            ):
                return groups
    return []


def _stands_between(head: Cell, names: Sequence[Cell]) -> bool:
    """Whether a cell has neither the middle nor an edge of one below it."""
    near = [name for name in names if name.x0 < head.x1 and head.x0 < name.x1]
    return not any(
        _has_middle(head, name) or min(abs(head.x0 - name.x0), abs(head.x1 - name.x1)) < SAME_EDGE for name in near
    )


def _has_middle(head: Cell, name: Cell) -> bool:
    return abs(head.x0 + head.x1 - name.x0 - name.x1) < 2 * SAME_EDGE


def _nearest_groups(heads: Sequence[Cell], names: Sequence[Cell]) -> list[tuple[int, int]]:
    """Return from which name to which each cell stands over two or more: those whose middle or edge it is nearest to.

    Nothing if one is near none. A name that no cell stands over belongs to no group.
    """
    size = heads[0].lines[0][0].style.size
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (0.0, [])}
    for head in heads:
        following: dict[int, tuple[float, list[tuple[int, int]]]] = {}
        for start, (cost, groups) in best.items():
            for a in range(start, len(names) - 1):
                for b in range(a + 2, len(names) + 1):
                    left, right = names[a].x0, names[b - 1].x1
                    off = _off(head, names[a], names[b - 1])
                    if off > OFF_GROUP_EM * size or head.x1 <= left or right <= head.x0:
                        continue
                    total = cost + off + LEFT_OUT_EM * size * (a - start)
                    if b not in following or total < following[b][0]:
                        following[b] = total, [*groups, (a, b)]
        best = following
    ends = [(cost + LEFT_OUT_EM * size * (len(names) - end), groups) for end, (cost, groups) in best.items()]
    return min(ends, default=(0.0, []))[1]


def _off(head: Cell, first: Cell, last: Cell) -> float:
    """Return how far a cell's middle, or an edge, is from that of the names it may stand over.

    An edge does not count where the cell has the middle of the name there: the two are as wide.
    """
    left = math.inf if _has_middle(head, first) else abs(head.x0 - first.x0)
    right = math.inf if _has_middle(head, last) else abs(head.x1 - last.x1)
    return min(left, right, abs(head.x0 + head.x1 - first.x0 - last.x1) / 2)


def _is_line_above(cell: Cell, below: Cell) -> bool:
    """Whether a cell is the line above another one of the same cell: as near, and with the same middle."""
    is_near = below.y0 - cell.y1 <= RULED * (cell.y1 - cell.y0)
    return is_near and abs(below.x0 + below.x1 - cell.x0 - cell.x1) <= 2 * cell.lines[0][0].style.size


def _over_two(
    cell: Cell, beside: Sequence[Sequence[Cell]], below: Sequence[Sequence[Cell]], places: Sequence[Span]
) -> list[int]:
    """Return the two columns that a header's cell alone stands over the middle of, with a cell of each below it.

    `beside` are the line above it and its own.
    """
    middle, size = (cell.x0 + cell.x1) / 2, cell.lines[0][0].style.size
    near = [other for line in (*beside[:-1], *below[:1]) for other in line]
    if any(abs(cell.x0 - other.x0) < SAME_EDGE or abs(cell.x1 - other.x1) < SAME_EDGE for other in near):
        return []  # a line of one column's name
    heads = {(other.x0, other.x1) for line in below for other in line}
    for at, ((left, end), (begin, right)) in enumerate(pairwise(places)):
        off = abs((left + right) / 2 - middle)
        others = min(abs(x0 + x1 - 2 * middle) / 2 for x0, x1 in places)
        is_middle = off < max(size, CENTRED * (right - left)) and 2 * off < others
        if not is_middle or not {(left, end), (begin, right)} <= heads:
            continue
        is_alone = not any(other.x0 < right and left < other.x1 for other in beside[-1] if other is not cell)
        return [at, at + 1] if is_alone else []
    return []


def _stands_over(cell: Cell, group: Sequence[int], lines: Sequence[Sequence[Cell]], columns: ColumnPlaces) -> bool:
    """Whether columns of a group have cells of their own below a header's cell: two, or all below its later lines.

    Those are as near as lines of one cell are, and have the same middle.
    """
    is_long = False
    for at, line in enumerate(lines):
        below = [other for other in line if other.x0 < cell.x1 and cell.x0 < other.x1]
        if len(below) == 1 and _is_line_above(cell, below[0]):
            cell, is_long = below[0], True
        elif below or at + 1 == len(lines) or len(line) >= len(group):
            own = {columns.nearest(other.x0, other.x1) for later in lines[at:] for other in later}
            return len(own.intersection(group)) >= (len(group) if is_long else 2)
    return False


def _centred(middles: Sequence[float], spans: Sequence[Span], size: float, start: int = 0) -> list[list[int]]:
    """Divide the columns from `start` on into as many groups as there are cells, each with its cell in the middle."""
    if not middles:
        return []
    for end in range(len(spans) - len(middles) + 1, start, -1):
        if _is_middle(middles[0], spans[start:end], size):
            rest = _centred(middles[1:], spans, size, end)
            if len(rest) == len(middles) - 1 and (len(middles) > 1 or end == len(spans)):
                return [list(range(start, end)), *rest]
    return []


def _is_middle(middle: float, spans: Sequence[Span], size: float) -> bool:
    """Whether something stands in the middle of columns: nearer to that than to the middle of one of them."""
    left, right = spans[0][0], spans[-1][1]
    off = abs((left + right) / 2 - middle)
    if off < min(abs(x0 + x1 - 2 * middle) / 2 for x0, x1 in spans):
        return off < 2 * CENTRED * (right - left)
    return off < max(size, CENTRED * (right - left)) and len(spans) % 2 == 1


def by_line(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells as rows, from the top, each from the left."""
    rows: list[list[Cell]] = []
    for each in sorted(cells, key=lambda each: each.y0):
        if rows and each.y0 < (rows[-1][0].y0 + rows[-1][0].y1) / 2:
            rows[-1].append(each)
        else:
            rows.append([each])
    return [sorted(row, key=lambda each: each.x0) for row in rows]


def cell_of(fragments: Sequence[Row]) -> Cell:
    """Return a cell of these lines."""
    words = [word for each in fragments for word in each.words]
    return Cell([each.words for each in fragments], *box_of(words))
