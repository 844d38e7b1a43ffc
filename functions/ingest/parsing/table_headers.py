"""Puts a table that was found in order: cells that run together, and header cells that stand above it.

The columns are where the figures stand. A header's cells are centred over them, often on several lines, and are
written in any order: they are collected, and stacked column by column.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

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
    is_note_of,
    is_sign_of,
    is_signed_by,
)
from functions.ingest.parsing.table_groups import RULED, SAME_EDGE, ColumnPlaces, by_line, cell_of, over_groups
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
BESIDE = 1
"""Points by which a label may stand higher than the names that it stands beside."""
MAX_LABELS = 2
MAX_STACKED = 8
"""Lines of one header cell."""
TIGHT = 0.6
"""Room between two lines of one paragraph, in heights of a line."""
RAGGED = 0.15
"""Share of the width by which a line of a paragraph may end before the right edge."""
OFF = 0.1
OFF_BESIDE = 0.2
"""How far the middle of what stands above a table may be from that of columns, as a share of their width, so that it is
their header; and if another cell stands beside it, which is a sign of its own."""

_BEFORE_DATE = re.compile(r"\b(?:ended|ending)$", re.IGNORECASE)
"""How a line of a header's cell ends below which the date stands: "Six Months Ended" over "December 31,"."""

SMALLEST_HEIGHT = 4.0
HEADER_ABOVE = 6
"""Height in points that is used for rows without one, or in smaller print, and heights of a row above the first figures
in which a header stands."""
LABEL_OVERLAP = 0.5
"""How far the lines of a paragraph may overlap, in their heights."""
LOWER = 0.3
"""How far a header may reach above the end of those over the columns, in its heights, if it stands below them."""
NAMES_EM, MIN_ROWS = 0.8, 2
"""Room between two names of columns that nearly touch, in font sizes, and rows below them at least that tell them."""
DATE_OVERLAP = 0.35
"""How far a date may reach into the words above it, in its heights."""


def in_order(before: Sequence[Row], run: Sequence[Group], rules: Sequence[Rule] = ()) -> tuple[int, list[Group]]:
    """Return how many of the rows just before a table belong to its header, and the table's groups in order.

    `rules` are drawn across the page, also below cells over several columns.
    """
    columns = ColumnPlaces.of(run)
    if len(columns.spans) < 2:
        return 0, list(run)
    run = [_recut(group, columns) for group in run]
    body = len(header_of(run))
    taken = _taken(before, run[0], columns, _room_between(run), rules)
    if body > MAX_HEADER_GROUPS or (not taken and body < 2 and not any(map(columns.run_together, run[:body]))):
        return 0, _with_names(run[:body], run[body:])
    above = [Group([row], cells_of(row)) for row in before[len(before) - taken :]]
    rebuilt = _header([*above, *run[:body]], columns, rules)
    return taken if rebuilt else 0, _with_names(rebuilt or run[:body], run[body:])


def over_ruled(before: Sequence[Row], table: Sequence[Group]) -> tuple[int, list[Group]]:
    """Return how many of the rows just before a ruled table are its header without rules, and the table with it."""
    cells = table[0].cells
    if len(cells) < 2 or not has_figure(table[0]) or not all(cell.lines for cell in cells):
        return 0, list(table)
    columns = ColumnPlaces([(cell.x0, cell.x1) for cell in cells[1:]], (cells[0].x0, cells[0].x1))
    first = table[0].rows[0]
    taken = _taken(before, table[0], columns, RULE_ROOM * (first.y1 - first.y0), ())
    header = (
        _header([Group([row], cells_of(row)) for row in before[len(before) - taken :]], columns, ()) if taken else []
    )
    return (taken, [*header, *table]) if header else (0, list(table))


def _room_between(run: Sequence[Group]) -> float:
    """Return how far the rows of a table are apart, most of them."""
    rooms = sorted(below.box[1] - above.box[3] for above, below in pairwise(run))
    return SPARE_ROOM * rooms[len(rooms) // 2] if rooms else 0.0


def _recut(group: Group, columns: ColumnPlaces) -> Group:
    """Cut the cells of a group that run across several columns and have room between them."""
    cells = [part for cell in group.cells for part in _parts(cell, columns)]
    return group if len(cells) == len(group.cells) else Group(group.rows, cells)


def _with_names(header: Sequence[Group], rows: Sequence[Group]) -> list[Group]:
    return [*(_with_parted_names(group, rows) for group in header), *rows]


def _with_parted_names(names: Group, rows: Sequence[Group]) -> Group:
    """Cut cells of a header that nearly touch where the rows below it have room between two columns, if it fits then.

    In large print a table has hardly more room between its columns than a cell needs.
    """
    counts = Counter(len(group.cells) for group in rows)
    count = max(counts, key=counts.__getitem__, default=0)
    if not 1 < len(names.cells) < count or counts[count] < MIN_ROWS or any(len(cell.lines) > 1 for cell in names.cells):
        return names
    rows = [group for group in rows if len(group.cells) == count and all(cell.lines for cell in group.cells)]
    strips = [
        (max(group.cells[at].x1 for group in rows), min(group.cells[at + 1].x0 for group in rows))
        for at in range(count - 1 if rows else 0)
    ]
    cells: list[Cell] = []
    for cell in names.cells:
        parts: list[list[Word]] = [[]]
        for word in cell.lines[0] if cell.lines else ():
            before = parts[-1][-1] if parts[-1] else word
            is_apart = word.x0 - before.x1 > NAMES_EM * word.style.size
            if is_apart and any(a < b and a < word.x0 and before.x1 < b for a, b in strips):
                parts.append([])
            parts[-1].append(word)
        cells += [Cell([part], part[0].x0, cell.y0, part[-1].x1, cell.y1) for part in parts] if cell.lines else [cell]
    return Group(names.rows, cells) if len(cells) == count else names


def _parts(cell: Cell, columns: ColumnPlaces) -> list[Cell]:
    words = cell.lines[0]
    if len(cell.lines) > 1 or len(words) < 2 or sum(x0 < cell.x1 and x1 > cell.x0 for x0, x1 in columns.spans) < 2:
        return [cell]
    phrases = [[words[0]]]
    for before, word in pairwise(words):
        size = before.style.size if is_note_of(before, word) else min(before.style.size, word.style.size)
        apart = word.x0 - before.x1 > CLOSE_EM * size
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


def _taken(before: Sequence[Row], first: Group, columns: ColumnPlaces, room: float, rules: Sequence[Rule]) -> int:
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
        is_near = (
            top - row.y1 < nearest * (RULE_ROOM if is_ruled else 1)
            and row.y0 > begin - HEADER_ABOVE * height
            and row.y1 < end + height
        )
        is_title = CAPTION.match(row.words[0].text) or row.length > MAX_HEADER_CHARACTERS
        is_title = (
            is_title
            or row.words[-1].text[-1] == ":"
            or row.words[0].style.size > LARGER * first.rows[0].words[0].style.size
        )
        is_label = row.x1 < columns.spans[0][0]
        if (
            not is_near
            or (row.mono and not is_label)
            or is_title
            or _ends_prose(row, before[: len(before) - count], columns.spans[-1][1])
        ):
            break
        if _is_over(row, columns) or (taken and is_label and row.y0 > top - BESIDE):
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


def _is_over(row: Row, columns: ColumnPlaces) -> bool:
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


def _header(groups: Sequence[Group], columns: ColumnPlaces, rules: Sequence[Rule]) -> list[Group]:
    """Make a table's header rows of groups in any order; nothing if their cells do not fit the columns.

    Cells over several columns make rows of their own, then comes one row with a cell for each column.
    """
    wide: dict[Sequence[int], list[Row]] = {}
    stacks: dict[int, list[Row]] = {}
    fragments = sorted(_fragments(groups, columns), key=lambda each: each.y0)
    centred = over_groups(fragments, columns, rules)
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
    cells = [cell_of(lines) for lines in _with_rests([*wide.values(), *([each] for each in _of_several(over_columns))])]
    bottom = max(stack[-1].y1 for stack in over_columns.values())
    labels = stacks.get(-1, [])
    below = [each for each in labels if each.y0 > bottom - LOWER * (each.y1 - each.y0)]
    stacks[-1] = [each for each in labels if each not in below]
    rows = by_line(cells)
    label = [cell_of(stacks[-1])] if stacks[-1] else []
    rows.append([*label, *(cell_of(cell) for at in sorted(over_columns) for cell in _side_by_side(stacks[at]))])
    rows += [[cell_of([each])] for each in below]
    return [Group([Row.of(cell.lines[0]) for cell in row], row) for row in rows]


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


def _fragments(groups: Sequence[Group], columns: ColumnPlaces) -> Iterator[Row]:
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
