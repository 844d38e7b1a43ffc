"""Tells the columns of a table by the room between them, and cuts the cells that run across it."""

from collections.abc import Sequence
from itertools import pairwise

from functions.ingest.parsing.table_cells import (
    CLOSE_EM,
    SIGN_BEFORE,
    Cell,
    Group,
    cells_of,
    grouped_cells,
    is_number,
    is_sign_of,
)
from functions.ingest.parsing.words import Row, Word

WIDER = 1.3
"""How much wider than any space of a line the room between its two cells is."""
GUTTER_ROWS = 2
GUTTER_SHARE = 0.3
CROSSED = 0.2
"""Rows of a table, and share of them, whose cells leave room at one place, so that it is between two columns; and the
share of them that may have a word there."""
IN_GUTTER = 0.5
"""Share of the room between two words that lies between two columns."""


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
    return grouped_cells(rows)


def gutters_of(run: list[Group]) -> list[tuple[float, float]]:
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
    return [
        (x0, x1)
        for x0, x1, count in sorted(found)
        if count >= enough and sum([_crosses(words, (x0, x1)) for words in lines]) <= CROSSED * len(rows)
    ]


def _crosses(words: Sequence[Word], gutter: tuple[float, float]) -> bool:
    """Whether the words of a cell run across a gutter without more room there than a space."""
    x0, x1 = gutter
    if words[0].x0 >= x1 or words[-1].x1 <= x0 or not any(word.x0 < x1 and x0 < word.x1 for word in words):
        return False
    return words[0].x0 < x0 and words[-1].x1 > x1 and not any(_is_between(a, b, [gutter]) for a, b in pairwise(words))


def cut_at(cells: list[Cell], gutters: Sequence[tuple[float, float]]) -> list[Cell]:
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


def _is_between(before: Word, word: Word, gutters: Sequence[tuple[float, float]]) -> bool:
    room = word.x0 - before.x1
    if room < CLOSE_EM * min(before.style.size, word.style.size):
        return False
    if before.text in SIGN_BEFORE or is_sign_of(before, word) or before.text == word.text == ".":
        return False
    return any(min(word.x0, x1) - max(before.x1, x0) > IN_GUTTER * min(room, x1 - x0) for x0, x1 in gutters)


def is_cut_in_two(words: Sequence[Word]) -> bool:
    """Whether two cells stand so near each other that they were taken for one: one gap is wider than all others."""
    rooms = sorted(word.x0 - before.x1 for before, word in pairwise(words))
    return len(rooms) > 1 and rooms[-1] > max(CLOSE_EM * words[0].style.size, WIDER * rooms[-2])
