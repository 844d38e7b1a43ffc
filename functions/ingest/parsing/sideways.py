"""Text that runs up or down a page of upright text, where it stands in a table: in its cells, or as names of columns.

Other such text, as at the edge of a page or along an axis, stays apart (`layout`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from functions.ingest.parsing.table_cells import cells_of
from functions.ingest.parsing.words import Box, Row, Word, box_of, shared_height

UPWARDS, DOWNWARDS = 1, 3
"""Quarter turns to the left of such text."""
MIN_NAMES = 3
"""Names of columns side by side, at least."""
MAX_TEXTS = 300
"""Texts that run up or down a page, at most, of which names of columns are looked for. Bounds a quadratic cost."""
APART = 8
"""Room between two of them, in font sizes, at most: they are turned because their columns are narrow."""
NEXT_LINE = 0.35
"""Room between two lines of one text, in heights of a line."""
ROW_BELOW = 2.5
"""Room between the names and the first row below them, in font sizes, at most."""
HEADED = 0.7
"""Share of the names that have a cell of that row below them."""
BESIDE = 0.5
"""Share of the lower one's height that names, or cells, side by side have in common."""
NEAR = 0.5
"""How far beside its cell a name may stand, in font sizes."""


@dataclass(frozen=True, slots=True)
class Upright:
    """Lines of one text that run up or down the page, and that text as one word in page space."""

    word: Word
    lines: Sequence[Row]


def uprights_of(lines: Sequence[Row], turn: int, bounds: Box) -> Iterator[Upright]:
    """Yield the texts that lines make if they run up or down the page.

    Lines are as they are read; `bounds` is the page's box (left, bottom, right, top).
    """
    if turn not in {UPWARDS, DOWNWARDS}:
        return
    runs: list[list[Row]] = []
    for line in lines:
        if runs and _goes_on(runs[-1][-1], line):
            runs[-1].append(line)
        else:
            runs.append([line])
    for run in runs:
        style = replace(run[0].words[0].style, turn=0)
        yield Upright(Word(" ".join(line.text for line in run), *_on_page(box_of(run), turn, bounds), style, "\n"), run)


def _goes_on(above: Row, line: Row) -> bool:
    height = above.y1 - above.y0
    return -height < line.y0 - above.y1 < NEXT_LINE * height and line.x0 < above.x1 and above.x0 < line.x1


def _on_page(box: Box, turn: int, bounds: Box) -> Box:
    left, bottom, right, top = bounds
    x0, y0, x1, y1 = box
    if turn == UPWARDS:
        return left + y0, bottom + x0, left + y1, bottom + x1
    return right - y1, top - x1, right - y0, top - x0


def with_names(rows: list[Row], texts: Sequence[Upright], top: float) -> tuple[list[Row], list[Upright]]:
    """Return the rows with those of the texts that are names of columns in rows above these columns, and those texts.

    Names stand side by side, and a cell of the next row below each of them. `top` is that of the page.
    """
    used: list[Upright] = []
    for band in _bands(texts) if len(texts) <= MAX_TEXTS else ():
        words = [replace(text.word, y0=top - text.word.y1, y1=top - text.word.y0) for text in band]
        at = _first_below(rows, words)
        if at is None:
            continue
        x0, y0, x1, y1 = box_of(words)
        size = words[0].style.size
        label = next((row for row in reversed(rows[:at]) if row.x1 <= x0 and y0 < row.y1 <= y1 + size), None)
        y0, y1 = (label.y0, label.y1) if label else (y1 - size, y1)
        rows = [*rows[:at], Row(words, x0, y0, x1, y1), *rows[at:]]
        used += band
    return rows, used


def _bands(texts: Sequence[Upright]) -> Iterator[list[Upright]]:
    """Yield texts that stand side by side, from left to right."""
    bands: list[list[Upright]] = []
    for text in sorted(texts, key=lambda text: text.word.x0):
        for band in bands:
            word, last = text.word, band[-1].word
            is_near = 0 <= word.x0 - last.x1 < APART * word.style.size
            if is_near and shared_height(word, last) > BESIDE * min(word.y1 - word.y0, last.y1 - last.y0):
                band.append(text)
                break
        else:
            bands.append([text])
    yield from (band for band in bands if len(band) >= MIN_NAMES)


def _first_below(rows: Sequence[Row], names: Sequence[Word]) -> int | None:
    """Return which row is the first below these names if most of them have a cell of it below them."""
    left, _, right, bottom = box_of(names)
    size = names[0].style.size
    below = [row for row in rows if bottom - NEAR * size <= row.y0 and row.x0 < right and left < row.x1]
    first = min(below, key=lambda row: row.y0, default=None)
    if first is None or first.y0 - bottom > ROW_BELOW * size:
        return None
    least = BESIDE * (first.y1 - first.y0)
    line = [at for at, row in enumerate(rows) if shared_height(row, first) > least]
    cells = [cell for at in line for cell in cells_of(rows[at])]
    near = NEAR * size
    headed = {
        next((at for at, cell in enumerate(cells) if cell.x0 < name.x1 + near and name.x0 - near < cell.x1), None)
        for name in names
    }
    return line[0] if len(headed - {None}) >= HEADED * len(names) else None
