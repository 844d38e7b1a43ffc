"""Finds where the tables that a document's tags tell stand on a page.

Tags say which words are a cell's, and in which row. Where the columns are is told by how tags count them or, since
some leave empty cells out and others have cells that only make room, by where the words stand.
"""

import re
from bisect import bisect, bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from functions.ingest.parsing.ruled import MAX_COLUMNS, MAX_ROWS, Grid, Rows, table_in
from functions.ingest.parsing.table_cells import BULLETS, CLOSE_EM, SIGN_AFTER, SIGN_BEFORE, Group, is_number
from functions.ingest.parsing.tags import TaggedCell, TaggedTable, Tags
from functions.ingest.parsing.words import Word, box_of

ITEM_MARK = re.compile(r"\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)]")
"""What an item begins with."""
NOTE = re.compile(r"\([a-z0-9]\)|[*†‡§]{1,3}")
"""What refers to a note, in a cell of its own behind a figure."""
TOUCHING = 2.0
"""Points by which the words of two columns may overlap."""
FREE = 12.0
"""Points by which the words of a cell over several columns may reach beyond those columns' words."""
ROOM_BELOW, ROOM_BETWEEN, ONE_LINE = 3.0, 0.5, 1.3
MOST_WORDS = 4
"""Room below the names of columns that no tag tells, room above them in which there is no other line, and height of
all of them at most, in heights of a line; words of each at most."""
SHARED_LINE = 0.5
"""Share of a line's height by which two rows may overlap."""


@dataclass(slots=True)
class PlacedCell:
    """A cell's words on the page, by their places; `x0` to `x1` and `y0` to `y1` in points, `y` downwards.

    It goes over the columns `first` to `last`, down to the row `lowest`.
    """

    cell: TaggedCell
    indices: list[int]
    x0: float
    y0: float
    x1: float
    y1: float
    first: int
    last: int
    lowest: int


Span = tuple[float, float]
"""From where to where the words of a column go."""


@dataclass(frozen=True, slots=True)
class TableOnPage:
    """Where a table's columns and rows are, the words in its cells, and how many rows name columns."""

    grid: Grid
    held: Mapping[int, Sequence[int]]
    names: int


def tables_on_page(tags: Tags, words: Sequence[Word], top: float) -> Iterator[TableOnPage]:
    """Yield the tables of a page that stand on it as its tags say: rows below each other, columns beside each other.

    `words` are in page space, `top` is the page's.
    """
    for table in tags.tables:
        if table.is_frame or not table.is_apart or not 2 <= len(table.rows) <= MAX_ROWS:
            continue
        rows = _rows_of(table, words, top)
        edges = _row_edges(rows)
        columns = edges and (_columns_counted(table, rows) or _columns_met(table, rows))
        if not edges or not columns or not 2 <= len(columns) <= MAX_COLUMNS:
            continue
        names = next((at for at, parts in enumerate(rows) if not all(part.cell.names for part in parts)), 0)
        if not names and (above := _untold_above(columns, edges[0], words, top)):
            if not (head := _names_in(above, columns, words, top)):
                continue
            for part in (part for parts in rows for part in parts):
                part.lowest += 1
            rows, edges, names = [head, *rows], [min(part.y0 for part in head), *edges], 1
        if grid := _grid(rows, edges, columns):
            numbered = ((row, part) for row, parts in enumerate(rows) for part in parts)
            yield TableOnPage(grid, {row * len(columns) + part.first: part.indices for row, part in numbered}, names)


def _rows_of(table: TaggedTable, words: Sequence[Word], top: float) -> list[list[PlacedCell]]:
    """Return the cells that have words, row by row; rows without any are left out."""
    cells = [(row, at, cell) for row, cells in enumerate(table.rows) for at, cell in enumerate(cells)]
    places = {mark: (row, at) for row, at, cell in cells for mark in cell.marks}
    held: dict[tuple[int, int], list[int]] = {}
    for index, word in enumerate(words):
        if word.mark in places:
            held.setdefault(places[word.mark], []).append(index)
    starts = _starts(table)
    rows: list[list[PlacedCell]] = []
    numbers: list[int] = []
    for row, line in enumerate(table.rows):
        parts: list[PlacedCell] = []
        for at, cell in enumerate(line):
            if indices := held.get((row, at)):
                x0, y0, x1, y1 = box_of([words[index] for index in indices])
                start = starts[row][at]
                spans = start, start + cell.columns - 1, row + cell.rows - 1
                parts.append(PlacedCell(cell, indices, x0, top - y1, x1, top - y0, *spans))
        if parts:
            rows.append(_with_signs(parts, words))
            numbers.append(row)
    for parts in rows:
        for part in parts:
            part.lowest = bisect(numbers, part.lowest) - 1
    return _with_marks(rows, words)


def _with_marks(rows: list[list[PlacedCell]], words: Sequence[Word]) -> list[list[PlacedCell]]:
    """Join the marks of items to their texts where they have a column of their own: "1." and "24 V DC In"."""
    pairs = [(part, other) for parts in rows for part, other in pairwise(parts)]
    marked = {id(part) for part, other in pairs if _marks(_text(part, words), _text(other, words))}
    others = {part.first for parts in rows for part in parts if id(part) not in marked}
    out: list[list[PlacedCell]] = []
    for parts in rows:
        mark: PlacedCell | None = None
        out.append([])
        for part in parts:
            if id(part) in marked and part.first not in others:
                mark = part
            else:
                out[-1].append(part if mark is None else replace(_joined(mark, part), first=part.first, last=part.last))
                mark = None
    return out


def _marks(text: str, other: str) -> bool:
    return (ITEM_MARK.fullmatch(text) is not None or text in BULLETS) and not is_number(other)


def _starts(table: TaggedTable) -> list[list[int]]:
    """Return the column that each cell begins in, as they are counted: those above may reach down into its row."""
    starts: list[list[int]] = []
    taken: dict[int, int] = {}
    for row, cells in enumerate(table.rows):
        starts.append([])
        at = 0
        for cell in cells:
            while taken.get(at, 0) > row:
                at += 1
            starts[-1].append(at)
            taken.update(dict.fromkeys(range(at, at + cell.columns), row + cell.rows))
            at += cell.columns
    return starts


def _with_signs(parts: list[PlacedCell], words: Sequence[Word]) -> list[PlacedCell]:
    """Join the cells of a row that hold only a currency, a sign or a note's mark to the figure's."""
    joined: list[PlacedCell] = []
    sign: PlacedCell | None = None
    for part in parts:
        cell, text = part, _text(part, words)
        if sign is not None and is_number(text):
            cell = replace(_joined(sign, part), first=part.first, last=part.last)
        elif sign is not None:
            joined.append(sign)
        sign = None
        if text in SIGN_BEFORE:
            sign = cell
        elif joined and (text in SIGN_AFTER or NOTE.fullmatch(text)) and is_number(_text(joined[-1], words)):
            joined[-1] = _joined(joined[-1], cell)
        else:
            joined.append(cell)
    return [*joined, sign] if sign is not None else joined


def _text(part: PlacedCell, words: Sequence[Word]) -> str:
    return " ".join([words[index].text for index in part.indices])


def _joined(part: PlacedCell, other: PlacedCell) -> PlacedCell:
    box = min(part.x0, other.x0), min(part.y0, other.y0), max(part.x1, other.x1), max(part.y1, other.y1)
    return PlacedCell(part.cell, [*part.indices, *other.indices], *box, part.first, part.last, part.lowest)


def _row_edges(rows: Sequence[Sequence[PlacedCell]]) -> list[float]:
    """Return where rows begin and end; nothing if one does not stand below the one before it."""
    if len(rows) < 2:
        return []
    edges = [min(part.y0 for part in rows[0])]
    for row, (parts, below) in enumerate(pairwise(rows)):
        above = [part for part in parts if part.lowest == row] or parts
        end, begin = max(part.y1 for part in above), min(part.y0 for part in below)
        height = min(part.y1 - part.y0 for part in (*above, *below))
        if begin < end - SHARED_LINE * height:
            return []
        edges.append((begin + end) / 2)
    edges.append(max(part.y1 for part in rows[-1]))
    return edges


def _columns_counted(table: TaggedTable, rows: Sequence[Sequence[PlacedCell]]) -> list[Span]:
    """Return the columns as the tags count them, and number each cell's by those that have cells of their own.

    Nothing if rows differ in their number of columns, or if cells do not stand where they are counted.
    """
    if len(_widths(table)) > 1:
        return []
    spans: dict[int, Span] = {}
    for part in (part for parts in rows for part in parts if part.first == part.last):
        x0, x1 = spans.get(part.first, (part.x0, part.x1))
        spans[part.first] = min(x0, part.x0), max(x1, part.x1)
    own = sorted(spans)
    columns = [spans[at] for at in own]
    placed = [(part, bisect_left(own, part.first), bisect(own, part.last) - 1) for parts in rows for part in parts]
    if not _are_apart(columns) or any(first > last for _, first, last in placed):
        return []
    if any(part.x0 < columns[first][0] - FREE or part.x1 > columns[last][1] + FREE for part, first, last in placed):
        return []
    for part, first, last in placed:
        part.first, part.last = first, last
    return columns


def _widths(table: TaggedTable) -> set[int]:
    """Return in how many columns its rows end, as they are counted, with what reaches down into them."""
    widths: set[int] = set()
    reach: dict[int, int] = {}
    for row, (starts, cells) in enumerate(zip(_starts(table), table.rows, strict=True)):
        for start, each in zip(starts, cells, strict=True):
            reach[start + each.columns] = max(row + each.rows, reach.get(start + each.columns, 0))
        widths.update([max(end for end, last in reach.items() if last > row)] if cells else [])
    return widths


def _columns_met(table: TaggedTable, rows: Sequence[Sequence[PlacedCell]]) -> list[Span]:
    """Return the columns by where words stand, because tags leave empty cells out, and number each cell's.

    The rows with the most cells leave none out: each column is where theirs are. A cell of another row belongs to the
    columns that it stands over, or to the nearest between those of its neighbours. Nothing if two columns overlap.
    """
    most = max(map(len, rows))
    full = [parts for parts in rows if len(parts) == most]
    columns = [(min(part.x0 for part in parts), max(part.x1 for part in parts)) for parts in zip(*full, strict=True)]
    if not _are_apart(columns):
        return []
    is_exact = max(_widths(table)) == most
    for parts in rows:
        after = 0
        for at, part in enumerate(parts):
            end = most - (len(parts) - at - 1)
            met = [column for column in range(after, end) if _meet((part.x0, part.x1), columns[column])]
            if not met and after >= end:
                return []
            amid = part.x0 + part.x1
            near = met or [min(range(after, end), key=lambda column: abs(sum(columns[column]) - amid))]
            part.first, part.last = near[0], near[-1]
            after = part.last + 1
        _widen(parts, columns, is_exact=is_exact)
    return columns


def _widen(parts: Sequence[PlacedCell], columns: Sequence[Span], *, is_exact: bool) -> None:
    """Let cells go over as many columns as their tags say, as far as those beside them leave room.

    Unless that is exact, because all columns that tags count have words, only over those that they stand amid.
    """
    end = -1
    starts = [*(part.first for part in parts[1:]), len(columns)]
    for part, start in zip(parts, starts, strict=True):
        own = part.last - part.first + 1
        width = max(own, min(part.cell.columns, start - end - 1))
        reach = [
            (first, last)
            for first in range(end + 1, part.first + 1)
            for last in range(part.last, start)
            if last - first < width and (not is_exact or last - first == width - 1)
        ]
        off = [abs(columns[first][0] + columns[last][1] - part.x0 - part.x1) / 2 for first, last in reach]
        likely = [spans for spans, each in zip(reach, off, strict=True) if each < min(off) + TOUCHING]
        if likely:
            part.first, part.last = max(likely, key=lambda spans: spans[1] - spans[0])
        end = part.last


def _meet(a: Span, b: Span) -> bool:
    return a[0] < b[1] - TOUCHING and b[0] < a[1] - TOUCHING


def _are_apart(columns: Sequence[Span]) -> bool:
    return all(before[1] - TOUCHING <= after[0] for before, after in pairwise(columns))


def _between(columns: Sequence[Span]) -> list[float]:
    return [(before[1] + after[0]) / 2 for before, after in pairwise(columns)]


def _untold_above(columns: Sequence[Span], begin: float, words: Sequence[Word], top: float) -> list[int]:
    """Return the words directly above a table that no tag tells, as its names, repeated on each page, are left out.

    With all else at their height; those of the line above them, too, if it is near.
    """
    left, right = columns[0][0], columns[-1][1]
    untold = [at for at, word in enumerate(words) if word.mark < 0 and top - word.y1 < begin]
    over = [at for at in untold if words[at].x0 < right and left < words[at].x1]
    near = [at for at in over if begin - (top - words[at].y0) < ROOM_BELOW * (words[at].y1 - words[at].y0)]
    if not near:
        return []
    low, high = min(words[at].y0 for at in near), max(words[at].y1 for at in near)
    high += ROOM_BETWEEN * (high - low)
    return [at for at in untold if low < words[at].y1 and words[at].y0 < high]


def _names_in(above: Sequence[int], columns: Sequence[Span], words: Sequence[Word], top: float) -> list[PlacedCell]:
    """Return the names of columns in words above a table: one line of few words over each of half of them at least.

    Nothing if it is anything else.
    """
    level = sorted(above, key=lambda at: words[at].x0)
    height = words[level[0]].y1 - words[level[0]].y0
    if max(words[at].y1 for at in level) - min(words[at].y0 for at in level) > ONE_LINE * height:
        return []
    parts: list[PlacedCell] = []
    for run in _runs(level, words, CLOSE_EM * height):
        x0, y0, x1, y1 = box_of([words[at] for at in run])
        met = [at for at, column in enumerate(columns) if _meet((x0, x1), column)]
        column = met[0] if met else bisect(_between(columns), (x0 + x1) / 2)
        if len(met) > 1 or len(run) > MOST_WORDS or (parts and column <= parts[-1].last):
            return []
        parts.append(PlacedCell(TaggedCell(names=True), sorted(run), x0, top - y1, x1, top - y0, column, column, 0))
    return parts if 2 * len(parts) >= max(4, len(columns)) else []


def _runs(level: Sequence[int], words: Sequence[Word], room: float) -> list[list[int]]:
    """Return the words of a line, apart where there is the room of a column."""
    runs = [[level[0]]]
    for at in level[1:]:
        if words[at].x0 - words[runs[-1][-1]].x1 < room:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _grid(rows: Sequence[Sequence[PlacedCell]], edges: Sequence[float], columns: Sequence[Span]) -> Grid | None:
    """Return the grid of a table; None where two cells would be in one place."""
    width = len(columns)
    cells = [list(range(row * width, (row + 1) * width)) for row in range(len(rows))]
    taken: set[tuple[int, int]] = set()
    for row, parts in enumerate(rows):
        for part in parts:
            number = row * width + part.first
            places = {(each, at) for each in range(row, part.lowest + 1) for at in range(part.first, part.last + 1)}
            if not taken.isdisjoint(places):
                return None
            taken |= places
            for below in range(row, part.lowest + 1):
                cells[below][part.first : part.last + 1] = [number] * (part.last + 1 - part.first)
    return Grid([columns[0][0], *_between(columns), max(columns[-1][1], columns[0][0] + 1)], edges, cells)


def take_tagged(
    words: list[Word], top: float, tags: Tags, rows_of: Rows
) -> tuple[list[Word], list[tuple[list[Group], Word | None]]]:
    """Take the tables that tags tell out of a page's words; return the other words, and the tables.

    Each with the word that is written before it. `top` is the page's; `rows_of` makes lines of a cell's words.
    """
    return take_placed(words, tables_on_page(tags, words, top), rows_of)


def take_placed(
    words: list[Word], found: Iterable[TableOnPage], rows_of: Rows
) -> tuple[list[Word], list[tuple[list[Group], Word | None]]]:
    """Take tables out of a page's words that are known by their cells; return as `take_tagged` does."""
    tables: list[tuple[list[Group], set[int]]] = []
    taken: set[int] = set()
    for each in found:
        table, of_table = table_in(each.grid, each.held, words, rows_of, names=each.names)
        if table:
            tables.append((table, of_table))
            taken |= of_table
    placed: list[tuple[list[Group], Word | None]] = []
    for table, of_table in tables:
        first = next(at for at, word in enumerate(words) if id(word) in of_table)
        placed.append((table, next((word for word in reversed(words[:first]) if id(word) not in taken), None)))
    return (without(words, taken) if taken else words), placed


def without(words: list[Word], taken: Collection[int]) -> list[Word]:
    """Return the words without those of a table; a line ends before it."""
    for word, following in pairwise(words):
        if id(following) in taken and id(word) not in taken:
            word.ends = word.ends or "\n"
    return [word for word in words if id(word) not in taken]
