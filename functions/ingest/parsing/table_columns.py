"""Tells the columns of a table by the room between them, and cuts the cells that run across it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest

from functions.ingest.parsing.table_cells import (
    CELL_GAP_EM,
    CELL_ROOM,
    CLOSE_EM,
    MAX_CELL_LINES,
    Cell,
    Group,
    cells_of,
    grouped,
    is_number,
    is_sign_of,
    is_signed_by,
    unparted,
)
from functions.ingest.parsing.words import Row, Word, box_of, pitch_of

TYPED_COLUMNS = 3
TYPED_ROWS = 3
TYPED_SHARE = 0.8
TYPED_ROOM = 1.6
"""Columns and rows of a table set by spaces, at least, the share of its rows that have a cell in each column, and of
cells that have their column's edge, and the least room between two cells, in letters."""
WIDER = 1.3
"""How much wider than any space of a line the room between its two cells is."""
GUTTER_ROWS = 2
GUTTER_SHARE = 0.3
CROSSED = 0.2
"""Rows of a table, and share of them, whose cells leave room at one place, so that it is between two columns; and the
share of them that may have a word there."""
BAND_ROWS = 4
NARROWEST = 0.5
MAX_BANDS = 20
"""Lines with room at a narrow place between columns, at least, the share of the narrowest room that is left in all of
them, at least, and such places in one table at most."""
IN_GUTTER = 0.5
"""Share of the room between two words that lies between two columns."""

HYPHEN_EM = 0.6
"""How much further than a line with a hyphen the next one may reach, in font sizes: a hyphen has no box."""

Gap = tuple[float, float]
"""From where to where there is room."""
NEXT_ROWS = 8
LINES_BETWEEN = 3
SAME_EDGE = 0.7
WIDER_ALONE = 1.05
"""Rows, and heights of a line, within which a row with two cells stands above or below one whose label leaves the
second cell no room, points by which their edges may differ, and how much wider than all others the room before that
cell is if no row stands below."""


def is_typed_table(rows: Sequence[Row]) -> bool:
    """Return whether rows in fixed pitch are a table that is set by spaces: three columns or more with common edges."""
    cells = [_typed_cells(row) for row in rows]
    count = max(map(len, cells), default=0)
    full = [each for each in cells if len(each) == count]
    if count < TYPED_COLUMNS or len(full) < max(TYPED_ROWS, TYPED_SHARE * len(rows)):
        return False
    return all(_have_common_edge(column) for column in zip(*full, strict=True))


def _typed_cells(row: Row) -> list[Gap]:
    """Return from where to where the cells of a row reach, which two spaces or more part."""
    pitch = pitch_of(row.words)
    cells = [(row.words[0].x0, row.words[0].x1)]
    for before, word in pairwise(row.words):
        if word.x0 - before.x1 < TYPED_ROOM * pitch:
            cells[-1] = (cells[-1][0], word.x1)
        else:
            cells.append((word.x0, word.x1))
    return cells


def _have_common_edge(cells: Sequence[Gap]) -> bool:
    """Return whether most cells of a column begin, or end, at one place."""
    for side in (0, 1):
        edges = [cell[side] for cell in cells]
        usual = sorted(edges)[len(edges) // 2]
        if sum(abs(edge - usual) < SAME_EDGE for edge in edges) >= TYPED_SHARE * len(edges):
            return True
    return False


def with_narrow_apart(rows: Sequence[Row]) -> list[tuple[Row, list[Cell]]]:
    """Return rows with their cells, cut where those around them have their second cell, if a word begins there."""
    cells = _with_stretched_whole(rows, [cells_of(row) for row in rows])
    pairs = _pairs(rows, cells)
    out: list[tuple[Row, list[Cell]]] = []
    for at, row in enumerate(rows):
        may_be = bool(pairs) and at not in pairs and len(row.words) > 1 and not row.mono
        near = [n for n in range(at - NEXT_ROWS, at + NEXT_ROWS + 1) if n in pairs] if may_be else []
        if near and (cut := _cut_of(row, at, {n: pairs[n] for n in near if _is_near(pairs[n], row)})):
            row.words[cut - 1].ends = "\n"
            label, text = row.words[:cut], Row.of(row.words[cut:])
            name = Row(label, *box_of(label), False)  # a name in fixed pitch is no line of code
            out += [(name, cells_of(name)), (text, cells_of(text))]
        else:
            is_name = row.mono and _is_name(rows, at)
            out.append((Row(row.words, *box_of(row.words), False) if is_name else row, cells[at]))
    return out


def _is_name(rows: Sequence[Row], at: int) -> bool:
    """Whether a row in fixed pitch is the name of what is told in other print beside it, and no line of code.

    It stands at the height of one of the lines there, or in their middle.
    """
    row = rows[at]
    if at + 1 == len(rows) or (at and rows[at - 1].mono and abs(rows[at - 1].x0 - row.x0) < 1):
        return False
    height = row.y1 - row.y0
    top, bottom = rows[at + 1].y0, rows[at + 1].y0
    for text in rows[at + 1 : at + 1 + MAX_CELL_LINES]:
        if text.mono or text.x0 < row.x1 + CLOSE_EM * height or not -height < text.y0 - bottom < height:
            break
        bottom = text.y1
    return top < (row.y0 + row.y1) / 2 < bottom


def _with_stretched_whole(rows: Sequence[Row], cells: list[list[Cell]]) -> list[list[Cell]]:
    """Return the cells of rows, those that are words of one stretched line as one: the line next to it has its edges.

    Both are lines of one paragraph, or of one cell.
    """
    several = [at for at, each in enumerate(cells) if len(each) > 1]  # few rows have
    below = [(at, at + 1) for at in several if at + 1 < len(rows)]
    for at, other in below:
        if _is_next_line(rows[at], rows[other]):
            cells[at] = _joined_at_hyphen(cells[at], rows[other])
    for at, other in (*((at, at - 1) for at in several if at), *reversed(below)):
        if len(cells[at]) > 1 and _is_next_line(rows[at], rows[other]):
            for cell in cells[other]:
                if len(cell.lines[0]) > 1:
                    cells[at] = _joined_to(cells[at], cell)
    return cells


def _joined_at_hyphen(cells: list[Cell], below: Row) -> list[Cell]:
    """Join the cells of a row that ends in a hyphen from the one at whose edge the next line goes on."""
    starts = [n for n, cell in enumerate(cells) if abs(cell.x0 - below.x0) < SAME_EDGE]
    if cells[-1].lines[0][-1].ends != "-" or not starts or starts[0] == len(cells) - 1:
        return cells
    parts = cells[starts[0] :]
    words = [word for part in parts for word in part.lines[0]]
    return [*cells[: starts[0]], Cell([words], parts[0].x0, parts[0].y0, parts[-1].x1, parts[0].y1)]


def _is_next_line(row: Row, other: Row) -> bool:
    room = max(row.y0 - other.y1, other.y0 - row.y1)
    return abs(room) < CELL_ROOM * (row.y1 - row.y0) and not row.mono


def _joined_to(cells: list[Cell], other: Cell) -> list[Cell]:
    """Join the cells of a row that begin and end together where another line does, if all but the first are words."""
    last_word = other.lines[0][-1]
    spare = HYPHEN_EM * last_word.style.size if last_word.ends == "-" else 0.0
    for first, cell in enumerate(cells):
        if abs(cell.x0 - other.x0) >= SAME_EDGE:
            continue
        for last in range(first + 1, len(cells)):
            if not -SAME_EDGE < cells[last].x1 - other.x1 < SAME_EDGE + spare:
                continue
            parts = cells[first : last + 1]
            if not any(map(str.isdecimal, "".join([part.text for part in parts[1:]]))):
                words = [word for part in parts for word in part.lines[0]]
                return [*cells[:first], Cell([words], cell.x0, cell.y0, parts[-1].x1, cell.y1), *cells[last + 1 :]]
    return cells


def _cut_of(row: Row, at: int, pairs: Mapping[int, tuple[float, float, float]]) -> int:
    """Return before which word of a row its second cell begins, 0 if before none.

    Rows above and below have it there; or two above, and no word of the row has more room before it.
    """
    above = [x for n, (_, x, _) in pairs.items() if n < at]
    below = [x for n, (_, x, _) in pairs.items() if n > at]
    both = [x for x in above if any(abs(x - other) < SAME_EDGE for other in below)]
    last = above[-1:] if len(above) > 1 and abs(above[-1] - above[-2]) < SAME_EDGE else []
    if not both and not last:
        return 0
    rooms = [word.x0 - before.x1 for before, word in pairwise(row.words)]
    for n in range(1 + unparted(row.words), len(row.words)):
        x0, others = row.words[n].x0, [*rooms[: n - 1], *rooms[n:]]
        if any(abs(x0 - x) < SAME_EDGE for x in both):
            return n
        if any(abs(x0 - x) < SAME_EDGE for x in last) and rooms[n - 1] > max(others, default=0.0) * WIDER_ALONE:
            return n
    return 0


def _is_near(pair: tuple[float, float, float], row: Row) -> bool:
    left, _, top = pair
    return abs(left - row.x0) < SAME_EDGE and abs(top - row.y0) < (LINES_BETWEEN + 1) * (row.y1 - row.y0)


def _pairs(rows: Sequence[Row], cells: Sequence[Sequence[Cell]]) -> dict[int, tuple[float, float, float]]:
    """Return where rows with a second cell, in the same row or the next one, begin, and where that does; their top."""
    pairs: dict[int, tuple[float, float, float]] = {}
    for at, (row, other) in enumerate(zip_longest(rows, rows[1:])):
        if len(cells[at]) > 1:
            pairs[at] = row.x0, cells[at][1].x0, row.y0
        elif other is not None and other.x0 > row.x1 and other.y0 < (row.y0 + row.y1) / 2 < other.y1:
            if unparted(row.words) == len(row.words):
                continue  # the number of a section or an item
            pairs[at] = row.x0, other.x0, row.y0
    return pairs


def regrouped(run: list[Group]) -> list[Group]:
    """Return a table's groups with cells that stand too near each other cut where the other rows have columns."""
    gutters = gutters_of(run)
    if not any(len(cut_at(group.cells, gutters)) > len(group.cells) for group in run):
        return run
    rows: list[tuple[Row, list[Cell]]] = []
    for group in run:
        for row in group.rows:
            cells = cells_of(row)
            cut = cut_at(cells, gutters)
            # A title or a sentence may have some room there by chance.
            is_row = len(group.cells) > 1 or all(is_number(cell.text) for cell in cut[1:]) or is_cut_in_two(row.words)
            rows.append((row, cut if is_row else cells))
    return grouped(rows)


def gutters_of(run: list[Group]) -> list[Gap]:
    """Return the places between columns: room that several rows have at one place, and hardly any row a word."""
    rows = [group.cells for group in run if len(group.cells) > 1]
    gaps = [(a.x1, b.x0) for cells in rows for a, b in pairwise(cells) if a.x1 < b.x0]
    gaps.sort(key=lambda gap: gap[1] - gap[0])
    found: list[tuple[float, float, int]] = []
    for left, right in gaps:  # narrow ones first: a wide one may have an empty column in it
        over = [at for at, (x0, x1, _) in enumerate(found) if min(right, x1) > max(left, x0)]
        if not over:
            found.append((left, right, 1))
        elif len(over) == 1:
            x0, x1, count = found[over[0]]
            found[over[0]] = max(left, x0), min(right, x1), count + 1
    enough = max(GUTTER_ROWS, GUTTER_SHARE * len(rows))
    lines = [words for cells in rows for cell in cells for words in cell.lines]
    gutters = [
        (x0, x1)
        for x0, x1, count in sorted(found)
        if count >= enough and sum([_crosses(words, (x0, x1)) for words in lines]) <= CROSSED * len(rows)
    ]
    return sorted([*gutters, *_bands(lines, gaps, gutters)])


def _bands(lines: Sequence[Sequence[Word]], between: Sequence[Gap], gutters: Sequence[Gap]) -> list[Gap]:
    """Return narrow places between columns: nearly all lines that go over one have more room there than a space."""
    rooms = sorted([gap for words in lines for gap in _wide_rooms(words)], key=lambda gap: gap[1] - gap[0])
    bands: list[Gap] = []
    while len(rooms) >= BAND_ROWS and len(bands) < MAX_BANDS:
        left, right = rooms[0]
        here = [gap for gap in rooms if gap[0] < right and left < gap[1]]
        x0, x1 = max(gap[0] for gap in here), min(gap[1] for gap in here)
        rooms = [gap for gap in rooms if not (gap[0] < right and left < gap[1])]
        if len(here) < BAND_ROWS or x1 - x0 < NARROWEST * (right - left) or _over((x0, x1), gutters):
            continue
        crossing = sum([_crosses(words, (x0, x1)) for words in lines])
        if crossing <= CROSSED * len(_over((x0, x1), [*here, *between])):
            bands.append((x0, x1))
    return bands


def _wide_rooms(words: Sequence[Word]) -> Iterator[Gap]:
    """Yield the places in a cell's line with more room than a space, and than its narrowest, or between two figures."""
    rooms = [(before, word, word.x0 - before.x1) for before, word in pairwise(words)]
    narrowest = min([room for _, _, room in rooms], default=0.0) if len(rooms) > 1 else 0.0
    for before, word, room in rooms[unparted(words) :]:
        if room < CLOSE_EM * max(1.0, min(before.style.size, word.style.size)):
            continue
        if room > WIDER * narrowest or (is_number(before.text) and is_number(word.text)):
            yield before.x1, word.x0


def _over(gap: Gap, others: Sequence[Gap]) -> list[Gap]:
    return [other for other in others if other[0] < gap[1] and gap[0] < other[1]]


def _crosses(words: Sequence[Word], gutter: Gap) -> bool:
    """Whether the words of a cell run across a gutter without more room there than a space."""
    x0, x1 = gutter
    if words[0].x0 >= x1 or words[-1].x1 <= x0 or not any(word.x0 < x1 and x0 < word.x1 for word in words):
        return False
    return words[0].x0 < x0 and words[-1].x1 > x1 and not any(_is_between(a, b, [gutter]) for a, b in pairwise(words))


def cut_at(cells: list[Cell], gutters: Sequence[Gap]) -> list[Cell]:
    """Cut cells of one line at the gutters that they run across."""
    out: list[Cell] = []
    for cell in cells:
        parts = [cell]
        if len(cell.lines) == 1 and len(cell.lines[0]) > 1:
            words = cell.lines[0]
            cuts = [at for at in range(1, len(words)) if _is_between(words[at - 1], words[at], gutters)]
            parts = [
                Cell([words[a:b]], words[a].x0, cell.y0, words[b - 1].x1, cell.y1)
                for a, b in pairwise([0, *cuts, len(words)])
            ]
        out += parts
    return out


def _is_between(before: Word, word: Word, gutters: Sequence[Gap]) -> bool:
    room = word.x0 - before.x1
    if room < CLOSE_EM * min(before.style.size, word.style.size):
        return False
    is_unit = room > CELL_GAP_EM * word.style.size  # a currency in a column of units
    if (is_signed_by(before, word) and not is_unit) or is_sign_of(before, word) or before.text == word.text == ".":
        return False
    return any(min(word.x0, x1) - max(before.x1, x0) > IN_GUTTER * min(room, x1 - x0) for x0, x1 in gutters)


def is_cut_in_two(words: Sequence[Word]) -> bool:
    """Whether two cells stand so near each other that they were taken for one: one gap is wider than all others."""
    rooms = sorted(word.x0 - before.x1 for before, word in pairwise(words))
    return len(rooms) > 1 and rooms[-1] > max(CLOSE_EM * words[0].style.size, WIDER * rooms[-2])
