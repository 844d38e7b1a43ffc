"""Puts a table that was found in order: cells that run together, and header cells that stand above it.

The columns are where the figures stand. A header's cells are centred over them, often on several lines, and are
written in any order: they are collected, and stacked column by column.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from functions.ingest.parsing.ruled import Rule
from functions.ingest.parsing.table_cells import (
    CLOSE_EM,
    LARGER,
    UNIT,
    YEAR,
    Cell,
    Group,
    cells_of,
    has_figure,
    header_of,
    is_figure,
    is_number,
    is_sign_of,
    is_signed_by,
)
from functions.ingest.parsing.tables import MAX_HEADER_CHARACTERS
from functions.ingest.parsing.words import Row, Word, box_of

CAPTION = re.compile(r"(?:table|figure|exhibit|chart|tabelle|tableau|tabla|lentelė)\b", re.IGNORECASE)
"""How the line above a table begins that names it."""
MAX_HEADER_GROUPS = 8
MAX_HEADER_ROWS = 30
SPARE_ROOM = 1.2
RULE_ROOM = 2
"""How much further from a table than its rows from each other a row above it may be that is its header, and how much
more if a rule is drawn between them."""
MAX_LABELS = 2
MAX_STACKED = 8
"""Lines of one header cell."""
TIGHT = 0.6
"""Room between two lines of one paragraph, in heights of a line."""
RAGGED = 0.15
"""Share of the width by which a line of a paragraph may end before the right edge."""
RULED = 0.4
"""Room below a cell over several columns, in its heights, where a rule is drawn; lines of one cell are nearer."""
OFF = 0.1
OFF_BESIDE = 0.2
"""How far the middle of what stands above a table may be from that of columns, as a share of their width, so that it is
their header; and if another cell stands beside it, which is a sign of its own."""
OFF_GROUP_EM = 2.5
LEFT_OUT_EM = 1.0
"""How far the middle or edge of such a cell may be from that of its columns at most, where they are found by their
names, and how much nearer it must be for each column that is left without a group, in font sizes."""
CENTRED = 0.06
"""How far the middle of such a cell may be from that of its columns, as a share of their width."""

_BEFORE_DATE = re.compile(r"\b(?:ended|ending)$", re.IGNORECASE)
"""How a line of a header's cell ends below which the date stands: "Six Months Ended" over "December 31,"."""

Span = tuple[float, float]
LEVEL = 2
"""Points by which twice the middles of a name over two rows of a header, and of these, may differ."""
EDGE = 2
"""Points by which a rule may be shorter than what it is drawn below."""
COVERED = 0.5
"""Share of the narrower one's width that a header and its column have in common."""
SMALLEST_HEIGHT = 4.0
HEADER_ABOVE = 6
"""Height in points that is used for rows without one, or in smaller print, and heights of a row above the first figures
in which a header stands."""
SAME_EDGE = 3
LABEL_OVERLAP = 0.5
"""Points by which the left edges of a label's lines may differ, and how far the lines may overlap, in their heights."""
LOWER = 0.3
"""How far a header may reach above the end of those over the columns, in its heights, if it stands below them."""
DATE_OVERLAP = 0.35
"""How far a date may reach into the words above it, in its heights."""


def in_order(before: Sequence[Row], run: Sequence[Group], rules: Sequence[Rule] = ()) -> tuple[int, list[Group]]:
    """Return how many of the rows just before a table belong to its header, and the table's groups in order.

    `rules` are drawn across the page, also below cells over several columns.
    """
    columns = _Columns.of(run)
    if len(columns.spans) < 2:
        return 0, list(run)
    run = [_recut(group, columns) for group in run]
    body = len(header_of(run))
    taken = _taken(before, run[0], columns, _room_between(run), rules)
    if body > MAX_HEADER_GROUPS or (not taken and body < 2 and not any(map(columns.parts, run[:body]))):
        return 0, run
    above = [Group([row], cells_of(row)) for row in before[len(before) - taken :]]
    rebuilt = _header([*above, *run[:body]], columns, rules)
    return (taken, [*rebuilt, *run[body:]]) if rebuilt else (0, run)


def over_ruled(before: Sequence[Row], table: Sequence[Group]) -> tuple[int, list[Group]]:
    """Return how many of the rows just before a ruled table are its header without rules, and the table with it."""
    cells = table[0].cells
    if len(cells) < 2 or not has_figure(table[0]) or not all(cell.lines for cell in cells):
        return 0, list(table)
    columns = _Columns([(cell.x0, cell.x1) for cell in cells[1:]], (cells[0].x0, cells[0].x1))
    taken = _taken(before, table[0], columns, 0.0, ())
    header = _header([Group([row], cells_of(row)) for row in before[len(before) - taken :]], columns, ()) if taken else []
    return (taken, [*header, *table]) if header else (0, list(table))


def _room_between(run: Sequence[Group]) -> float:
    """Return how far the rows of a table are apart, most of them."""
    rooms = sorted(below.box[1] - above.box[3] for above, below in pairwise(run))
    return SPARE_ROOM * rooms[len(rooms) // 2] if rooms else 0.0


@dataclass(frozen=True, slots=True)
class _Columns:
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

    def parts(self, group: Group) -> bool:
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


def _recut(group: Group, columns: _Columns) -> Group:
    """Cut the cells of a group that run across several columns and have room between them."""
    cells = [part for cell in group.cells for part in _parts(cell, columns)]
    return group if len(cells) == len(group.cells) else Group(group.rows, cells)


def _parts(cell: Cell, columns: _Columns) -> list[Cell]:
    words = cell.lines[0]
    if len(cell.lines) > 1 or len(words) < 2 or sum(x0 < cell.x1 and x1 > cell.x0 for x0, x1 in columns.spans) < 2:
        return [cell]
    phrases = [[words[0]]]
    for before, word in pairwise(words):
        apart = word.x0 - before.x1 > CLOSE_EM * min(before.style.size, word.style.size)
        if apart and not is_signed_by(before, word) and not is_sign_of(before, word):
            phrases.append([])
        phrases[-1].append(word)
    parts: list[list[Word]] = []
    last = None
    for phrase in phrases:
        at = columns.nearest(phrase[0].x0, phrase[-1].x1)
        if at == last:
            parts[-1] += phrase
        else:
            parts.append(phrase)
        last = at
    return [Cell([part], part[0].x0, cell.y0, part[-1].x1, cell.y1) for part in parts]


def _taken(before: Sequence[Row], first: Group, columns: _Columns, room: float, rules: Sequence[Rule]) -> int:
    """Count the rows just before a table that stand over its columns, or tell its unit; `room` is between its own.

    Where a rule is drawn between a row and the table, there may be more.

    Up to `MAX_LABELS` rows of a label only, which begin the first group of figures, may stand between.
    """
    _, begin, _, end = first.box
    height = max(SMALLEST_HEIGHT, first.rows[0].y1 - first.rows[0].y0)
    nearest = max(height, room)
    taken = labels = 0
    top = begin
    for count, row in enumerate(reversed(before[-MAX_HEADER_ROWS:]), 1):
        is_ruled = any(row.y1 < y < top and x0 < row.x1 and row.x0 < x1 for y, x0, x1 in rules)
        is_near = top - row.y1 < nearest * (RULE_ROOM if is_ruled else 1) and row.y0 > begin - HEADER_ABOVE * height and row.y1 < end + height
        is_title = CAPTION.match(row.words[0].text) or row.length > MAX_HEADER_CHARACTERS
        is_title = is_title or row.words[0].style.size > LARGER * first.rows[0].words[0].style.size
        is_label = row.x1 < columns.spans[0][0]
        if not is_near or (row.mono and not is_label) or is_title or _ends_prose(row, before[: len(before) - count], columns.spans[-1][1]):
            break
        if _is_over(row, columns) or (taken and is_label and row.y0 > top):
            taken = count
        elif not taken and labels < MAX_LABELS and is_label:
            labels += 1
        else:
            break
        top = min(top, row.y0)
    return taken


def _ends_prose(row: Row, before: Sequence[Row], edge: float) -> bool:
    """Whether a row is the last line of the paragraph above it: the line above it is long, and set tightly.

    A unit is one only if that line reaches the table's right edge.
    """
    if not before or before[-1].length <= MAX_HEADER_CHARACTERS:
        return False
    above = before[-1]
    if UNIT.fullmatch(row.text) and above.x1 < edge - RAGGED * (edge - above.x0):
        return False
    return (
        abs(above.x0 - row.x0) < SAME_EDGE and -LABEL_OVERLAP < (row.y0 - above.y1) / max(1.0, row.y1 - row.y0) < TIGHT
    )


def _is_over(row: Row, columns: _Columns) -> bool:
    """Whether the cells stand over one column, or centred over several; a label's or a unit may stand left of them."""
    cells = [part for whole in cells_of(row) for part in _parts(whole, columns)]
    over = 0
    for cell in cells:
        under = columns.under(cell.x0, cell.x1)
        if UNIT.fullmatch(cell.text):
            over += 1
        elif under == [-1] or cell.x0 < sum(columns.labels) / 2:
            if cell is not cells[0] or cell.x1 > columns.spans[0][0]:
                return False
        else:
            middle = (cell.x0 + cell.x1) / 2
            left, right = columns.spans[under[0]][0], columns.spans[under[-1]][1]
            off = OFF_BESIDE if len(cells) > 1 else OFF
            if len(under) > 1 and abs((left + right) / 2 - middle) > max(off * (right - left), row.y1 - row.y0):
                return False
            over += 1
    return over > 0


def _header(groups: Sequence[Group], columns: _Columns, rules: Sequence[Rule]) -> list[Group]:
    """Make a table's header rows of groups in any order; nothing if their cells do not fit the columns.

    Cells over several columns make rows of their own, then comes one row with a cell for each column.
    """
    wide: dict[Sequence[int], list[Row]] = {}
    stacks: dict[int, list[Row]] = {}
    fragments = sorted(_fragments(groups, columns), key=lambda each: each.y0)
    centred = _over_groups(fragments, columns, rules)
    units = [each for each in fragments if UNIT.fullmatch(each.text)]
    left = columns.spans[0][0]
    end = max((each.y1 for each in fragments if each.x1 > left), default=math.inf)
    for fragment in fragments:
        under = centred.get(id(fragment)) or columns.under(fragment.x0, fragment.x1)
        if fragment.x1 < left and fragment.y0 > end - LOWER * (fragment.y1 - fragment.y0):
            under = [-1]  # a title of the first rows, though it may stand in the table's middle
        if len(under) > 1 or (under != [-1] and units == [fragment]):
            wide.setdefault(tuple(under), []).append(fragment)
        else:
            stacks.setdefault(under[0], []).append(fragment)
    over_columns = {at: stack for at, stack in stacks.items() if at >= 0}
    if not over_columns or any(len(stack) > MAX_STACKED for stack in over_columns.values()):
        return []
    cells = [_cell(lines) for lines in _with_rests([*wide.values(), *([each] for each in _of_several(over_columns))])]
    bottom = max(stack[-1].y1 for stack in over_columns.values())
    labels = stacks.get(-1, [])
    below = [each for each in labels if each.y0 > bottom - LOWER * (each.y1 - each.y0)]
    stacks[-1] = [each for each in labels if each not in below]
    rows = _by_line(cells)
    label = [_cell(stacks[-1])] if stacks[-1] else []
    rows.append([*label, *(_cell(cell) for at in sorted(over_columns) for cell in _side_by_side(stacks[at]))])
    rows += [[_cell([each])] for each in below]
    return [Group([Row.of(cell.lines[0]) for cell in row], row) for row in rows]


def _over_groups(fragments: Sequence[Row], columns: _Columns, rules: Sequence[Rule]) -> dict[int, Sequence[int]]:
    """Return the columns, by the id of each header's cell, of lines whose cells are centred over groups of columns.

    A cell over three columns stands over the middle one like its own, but with room below it, where a rule is drawn.
    """
    found: dict[int, Sequence[int]] = {}
    lines = _by_line([_cell([each]) for each in fragments if columns.nearest(each.x0, each.x1) >= 0])
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
    for at, line in enumerate(lines[:-1]):
        found |= _over_rules(line, lines[at + 1], columns, rules)
        found |= _over_names(line, lines[at + 1 :], fragments, columns, found)
    for line, below_it in reversed(list(pairwise(lines))):
        for cell in line:
            goes_on = [other for other in below_it if id(other.lines[0]) in found and _is_line_above(cell, other)]
            if goes_on and id(cell.lines[0]) not in found:
                found[id(cell.lines[0])] = found[id(goes_on[0].lines[0])]
    return {id(each): found[id(each.words)] for each in fragments if id(each.words) in found}


def _over_rules(
    line: Sequence[Cell], below: Sequence[Cell], columns: _Columns, rules: Sequence[Rule]
) -> dict[int, Sequence[int]]:
    """Return the columns, by the id of each cell, of those with a rule of their own below them, over two or more."""
    found: dict[int, Sequence[int]] = {}
    for cell in line:
        top, bottom = (cell.y0 + cell.y1) / 2, max(cell.y1, min(other.y0 + other.y1 for other in below) / 2)
        for y, x0, x1 in rules:
            over = [other for other in line if x0 < (other.x0 + other.x1) / 2 < x1]
            under = [at for at, span in enumerate(columns.spans) if x0 - EDGE < sum(span) / 2 < x1 + EDGE]
            if top < y < bottom and over == [cell] and 1 < len(under) < len(columns.spans):
                found[id(cell.lines[0])] = under
    return found


def _over_names(
    line: Sequence[Cell],
    lower: Sequence[Sequence[Cell]],
    fragments: Sequence[Row],
    columns: _Columns,
    found: Mapping[int, Sequence[int]],
) -> dict[int, Sequence[int]]:
    """Return the columns, by the id of each cell, of a line that heads the names below it: they are more than its cells.

    Where the same names come again, a group begins. Else each cell has the columns whose middle or edge it has; a line
    of a column's own name is near it, and has its middle or an edge, unless another name of the header's `fragments`
    stands at the middle of both. `found` are the groups known before.
    """
    below = next((other for other in lower if len(other) > len(line)), [])
    names = {columns.nearest(cell.x0, cell.x1): cell for cell in below}
    heads = [cell for cell in line if columns.nearest(cell.x0, cell.x1) in names]
    if len(names) < max(2 * len(heads), len(below)) or not heads:
        return {}
    places = sorted(names)
    groups = _repeated(heads, [names[at] for at in places])
    known = [id(head.lines[0]) in found for head in heads]
    if not groups and not all(known):
        room = min(name.y0 for name in below) - max(head.y1 for head in heads)
        is_apart = len(heads) > 1 and room > RULED * (heads[0].y1 - heads[0].y0)
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
        min(abs(head.x0 - name.x0), abs(head.x1 - name.x1), abs(head.x0 + head.x1 - name.x0 - name.x1) / 2) < SAME_EDGE
        for name in near
    )


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
                    off = min(
                        abs(head.x0 - left), abs(head.x1 - right), abs(head.x0 + head.x1 - left - right) / 2
                    )
                    if off > OFF_GROUP_EM * size or head.x1 <= left or right <= head.x0:
                        continue
                    total = cost + off + LEFT_OUT_EM * size * (a - start)
                    if b not in following or total < following[b][0]:
                        following[b] = total, [*groups, (a, b)]
        best = following
    ends = [(cost + LEFT_OUT_EM * size * (len(names) - end), groups) for end, (cost, groups) in best.items()]
    return min(ends, default=(0.0, []))[1]


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


def _stands_over(cell: Cell, group: Sequence[int], lines: Sequence[Sequence[Cell]], columns: _Columns) -> bool:
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


def _side_by_side(stack: Sequence[Row]) -> list[list[Row]]:
    """Divide what is nearest to one column into cells, if some stand on one line: other columns hold no figures."""
    lines = sorted(stack, key=lambda each: each.y0)
    if not any(b.y0 < (a.y0 + a.y1) / 2 and (b.x0 >= a.x1 or b.x1 <= a.x0) for a, b in pairwise(lines)):
        return [lines] if lines else []
    found: list[list[Row]] = []
    edge = -math.inf
    for each in sorted(stack, key=lambda each: each.x0):
        if each.x0 >= edge:
            found.append([])
        found[-1].append(each)
        edge = max(edge, each.x1)
    return [sorted(cell, key=lambda each: each.y0) for cell in found]


def _fragments(groups: Sequence[Group], columns: _Columns) -> Iterator[Row]:
    """Yield the lines of cells, each over one column or several."""
    for group in groups:
        for cell in group.cells:
            for words in cell.lines:
                for part in _parts(Cell([words], *box_of(words)), columns):
                    yield Row.of(part.lines[0])


def _of_several(stacks: Mapping[int, list[Row]]) -> list[Row]:
    """Take what stands over several years ("Fiscal Year") out of the stack of the one that it is nearest to.

    "2018 versus" over "2017" is no cell of its own.
    """
    years = [stack for stack in stacks.values() if YEAR.search(stack[-1].text)]
    found: list[Row] = []
    for stack in years:
        for each in stack[:-1]:
            if YEAR.match(each.text) or any(_heads_another(each, other, stack[-1]) for other in stack[:-1]):
                continue
            middle = (each.y0 + each.y1) / 2
            beside = [other for other in years if any(one.y0 < middle < one.y1 for one in other)]
            if len(beside) < len(years):
                found.append(each)
        stack[:] = [each for each in stack if each not in found]
    return found


def _with_rests(cells: Sequence[list[Row]]) -> list[list[Row]]:
    """Return the lines of cells over several columns, those of one that goes on below it together.

    "Six Months Ended" over "December 31," may each be nearest to another column.
    """
    whole: list[list[Row]] = []
    for lines in sorted(cells, key=lambda lines: lines[0].y0):
        first = lines[0]
        above = [
            upper
            for upper in whole
            if _BEFORE_DATE.search(upper[-1].text)
            if -DATE_OVERLAP < (first.y0 - upper[-1].y1) / max(1.0, first.y1 - first.y0) < RULED
            if first.x0 < upper[-1].x1 and upper[-1].x0 < first.x1
        ]
        if len(above) == 1:
            above[0] += lines
        else:
            whole.append(list(lines))
    return whole


def _heads_another(each: Row, other: Row, year: Row) -> bool:
    """Whether a cell is the first line of `other`, which stands beside a year: the header of a column of words."""
    is_beside = other.y1 > (year.y0 + year.y1) / 2 > other.y0 and (other.x1 < year.x0 or year.x1 < other.x0)
    return is_beside and each.y1 <= other.y1 and each is not other and each.x0 < other.x1 and other.x0 < each.x1


def _by_line(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells as rows, from the top, each from the left."""
    rows: list[list[Cell]] = []
    for each in sorted(cells, key=lambda each: each.y0):
        if rows and each.y0 < (rows[-1][0].y0 + rows[-1][0].y1) / 2:
            rows[-1].append(each)
        else:
            rows.append([each])
    return [sorted(row, key=lambda each: each.x0) for row in rows]


def _cell(fragments: Sequence[Row]) -> Cell:
    words = [word for each in fragments for word in each.words]
    return Cell([each.words for each in fragments], *box_of(words))
