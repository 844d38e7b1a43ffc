"""From words with boxes to lines in reading order.

pdfium keeps the order of the content stream, which for most files is the reading order. So that order is kept, and only
corrected where geometry contradicts it: superscripts that broke a line, rows of a table written cell by cell, lines
that run across two columns, pages written in no order at all.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from functions.ingest.parsing.placing import TALL, Placing, runs_of, span_of
from functions.ingest.parsing.tables import CELL_GAP_EM, Cell, grouped, join_wrapped_labels, tables_in
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import SOFT_HYPHEN, Row, Word
from shared.rects import pair
from shared.text import SEPARATOR

TYPEWRITTEN = 0.9
"""Share of fixed-pitch words above which a page is typewritten, so that fixed pitch marks no code."""


def lay_out(words: list[Word], bounds: tuple[float, float, float, float], rotation: int = 0) -> list[Line]:
    """Make lines of a page's words; `bounds` is the page's box (left, bottom, right, top).

    `rotation` counts the quarter turns to the right with which the page is shown.
    """
    if not words:
        return []
    if sum([word.style.mono for word in words]) > TYPEWRITTEN * len(words):
        for word in words:
            word.style = replace(word.style, mono=False)
    turns = Counter([word.style.turn for word in words])
    turn = turns.most_common(1)[0][0]
    rows = _rows(words if len(turns) == 1 else [w for w in words if w.style.turn == turn], turn, bounds)
    rows = in_reading_order(split_columns(rows))
    lines = _lines(rows, Placing(bounds, rotation, turn))
    # Vertical marginal notes and axis labels follow the text, as lines of their own.
    for other in sorted(turns.keys() - {turn}):
        rotated = _rows([word for word in words if word.style.turn == other], other, bounds)
        placing = Placing(bounds, rotation, other)
        lines += [replace(_line(row, placing), cells=0) for row in rotated]
    return lines


def _lines(rows: list[Row], placing: Placing) -> list[Line]:
    groups = grouped(rows)
    lines: list[Line] = []
    at = 0
    for start, end in [*tables_in(groups), (len(groups), len(groups))]:
        lines += [_line(row, placing) for group in groups[at:start] for row in group.rows]
        for group in join_wrapped_labels(groups[start:end]):
            row = _line(group.rows[0], placing)
            x0, y0, x1, y1 = group.box
            text, place = _joined_cells(group.cells, placing)
            lines.append(Line(text, x0, y0, x1, y1, row.size, row.bold, False, len(group.cells), 1, place))
        at = end
    return lines


def _joined_cells(cells: Sequence[Cell], placing: Placing) -> tuple[str, str]:
    """Return the text of a table row, and the places of its cells' lines in it."""
    texts: list[str] = []
    records: list[str] = []
    at = 0
    for cell in cells:
        texts.append(text := cell.text)
        begin = 0
        for words in cell.lines:
            for run in runs_of(words):
                start, begin = span_of(run, text, begin)
                records.append(pair(at + start) + pair(begin - start) + placing.place_of(run))
        at += len(text) + len(SEPARATOR)
    return SEPARATOR.join(texts), " ".join(records)


def _upright(word: Word, turn: int, bounds: tuple[float, float, float, float]) -> None:
    left, bottom, right, top = bounds
    x0, y0, x1, y1 = word.x0, word.y0, word.x1, word.y1
    if turn == 1:
        word.x0, word.x1, word.y0, word.y1 = y0 - bottom, y1 - bottom, x0 - left, x1 - left
    elif turn == 2:
        word.x0, word.x1, word.y0, word.y1 = right - x1, right - x0, y0 - bottom, y1 - bottom
    else:
        word.x0, word.x1, word.y0, word.y1 = top - y1, top - y0, right - x1, right - x0


def _rows(words: list[Word], turn: int, bounds: tuple[float, float, float, float]) -> list[Row]:
    rows: list[Row] = []
    fragment: list[Word] = []
    top = bounds[3]
    for word in words:
        if turn:
            _upright(word, turn, bounds)
        else:
            word.y0, word.y1 = top - word.y1, top - word.y0
        fragment.append(word)
        if word.ends:
            _place(fragment, rows)
            fragment = []
    if fragment:
        _place(fragment, rows)
    return rows


def _place(fragment: list[Word], rows: list[Row]) -> None:
    """Append a fragment to the row it continues (after a superscript, say), or begin a row with it."""
    new = Row.of(fragment)
    row = rows[-1] if rows else None
    if row and row.words[-1].ends != "-" and _overlap(row, new):
        last = row.words[-1]
        room = new.x0 - row.x1
        if -0.3 * max(1.0, last.style.size) <= room < CELL_GAP_EM * max(1.0, last.style.size):
            last.ends = ""
            row.words += fragment
            row.x1, row.y0, row.y1 = new.x1, min(row.y0, new.y0), max(row.y1, new.y1)
            return
    rows.append(new)


def _overlap(a: Row, b: Row) -> bool:
    shared = min(a.y1, b.y1) - max(a.y0, b.y0)
    return shared > 0.5 * max(0.1, min(a.y1 - a.y0, b.y1 - b.y0))


def _line(row: Row, placing: Placing) -> Line:
    words = row.words
    style = words[0].style
    size, bold = style.size, style.bold
    if [word for word in words if word.style is not style]:  # a list, because that is twice as fast as `any`
        bold = bold and all(word.style.bold for word in words)
        sizes: Counter[float] = Counter()
        for word in words:
            sizes[word.style.size] += len(word.text)
        size = sizes.most_common(1)[0][0]
    mono = row.mono
    text = _spaced(words) if mono else " ".join([word.text for word in words])
    text += SOFT_HYPHEN if words[-1].ends == "-" else ""
    place = _place_of(row, size, text, placing)
    return Line(text, row.x0, row.y0, row.x1, row.y1, size, bold, mono, place=place)


def _place_of(row: Row, size: float, text: str, placing: Placing) -> str:
    """Return the place of a line; a record for each of its runs, if it has several."""
    starts = [word.x0 for word in row.words]
    if row.y1 - row.y0 < TALL * size and starts == sorted(starts):  # nearly always
        return placing.place((row.x0, row.y0, row.x1, row.y1), starts)
    runs = runs_of(row.words)
    if len(runs) == 1:
        return placing.place_of(runs[0])
    records: list[str] = []
    end = 0
    for run in runs:
        start, end = span_of(run, text, end)
        records.append(pair(start) + pair(end - start) + placing.place_of(run))
    return " ".join(records)


def _spaced(words: list[Word]) -> str:
    """Join words of a fixed-pitch font with as many spaces as there is room for, because columns in code matter."""
    pitch = sum(word.x1 - word.x0 for word in words) / max(1, sum(len(word.text) for word in words))
    parts = [words[0].text]
    for before, word in pairwise(words):
        room = round((word.x0 - before.x1) / pitch) if pitch > 0 else 1
        parts += [" " * min(40, max(1, room)), word.text]
    return "".join(parts)


MIN_ROWS = 6
"""Fewer rows than this never make two columns of prose."""
MIN_SIDE = 18
"""Characters a side must have on average; tables have less."""


def split_columns(rows: list[Row]) -> list[Row]:
    """Split rows that run across two columns of prose, left column first.

    A run of rows counts as two columns when most have one wide gap at the same place, and both sides are prose:
    long, and rarely numbers.
    """
    gaps = [_widest_gap(row) for row in rows]
    found = [gap for gap in gaps if gap]
    if len(found) < MIN_ROWS or len(found) < 0.5 * len(rows):
        return rows
    middle = sorted((left + right) / 2 for left, right in found)[len(found) // 2]
    out: list[Row] = []
    left_rows: list[Row] = []
    right_rows: list[Row] = []
    split = 0

    def flush() -> None:
        out.extend(left_rows + right_rows)
        left_rows.clear()
        right_rows.clear()

    for row, gap in zip(rows, gaps, strict=True):
        if gap and gap[0] <= middle <= gap[1]:
            left, right = _cut(row, middle)
            left_rows.append(left)
            right_rows.append(right)
            split += 1
        elif row.x1 <= middle:
            left_rows.append(row)
        elif row.x0 >= middle:
            right_rows.append(row)
        else:
            flush()
            out.append(row)
    flush()
    return out if split >= MIN_ROWS and _prose(rows, gaps, middle) else rows


def _prose(rows: Sequence[Row], gaps: Sequence[tuple[float, float] | None], middle: float) -> bool:
    sides: list[str] = []
    for row, gap in zip(rows, gaps, strict=True):
        if gap and gap[0] <= middle <= gap[1]:
            sides += [" ".join(word.text for word in part.words) for part in _cut(row, middle)]
    letters = sum(character.isalpha() for side in sides for character in side)
    total = sum(map(len, sides)) or 1
    longest = sorted(map(len, sides))[len(sides) // 4]
    return letters > 0.6 * total and total / len(sides) >= 1.4 * MIN_SIDE and longest >= MIN_SIDE


def _widest_gap(row: Row) -> tuple[float, float] | None:
    best: tuple[float, float] | None = None
    size = max(1.0, row.words[0].style.size)
    for before, word in pairwise(row.words):
        room = word.x0 - before.x1
        if room > 0.9 * size and (best is None or room > best[1] - best[0]):
            best = (before.x1, word.x0)
    return best


def _cut(row: Row, at: float) -> tuple[Row, Row]:
    left: list[Word] = [word for word in row.words if word.x0 < at]
    right: list[Word] = [word for word in row.words if word.x0 >= at]
    left[-1].ends = left[-1].ends or "\n"
    return type(row).of(left), type(row).of(right)


def in_reading_order(rows: list[Row]) -> list[Row]:
    """Return rows as they are when their order makes sense; else sort them by recursive cuts along white space.

    An order makes sense when lines mostly go down, and go up only to begin a column further to the right.
    """
    if len(rows) < 4:
        return rows
    wrong = sum(_backwards(a, b) for a, b in pairwise(rows))
    return _cut_recursively(rows, 0) if wrong > max(2, 0.2 * len(rows)) else rows


def _backwards(a: Row, b: Row) -> bool:
    up = b.y1 <= a.y0 + 0.3 * (a.y1 - a.y0)
    return up and b.x0 < a.x1 - 0.5 * (a.x1 - a.x0)


def _cut_recursively(rows: list[Row], depth: int) -> list[Row]:
    """XY-cut: split at the widest horizontal white band, else at a vertical one (Nagy and Seth, 1984)."""
    if len(rows) < 2 or depth > 20:
        return sorted(rows, key=lambda row: (row.y0, row.x0))
    across = _bands(rows, vertical=False)
    beside = _bands(rows, vertical=True)
    height = sorted(row.y1 - row.y0 for row in rows)[len(rows) // 2]
    wide = [band for band in across if band[1] - band[0] > 1.5 * height]
    if beside and not wide:
        cut = max(beside, key=lambda band: band[1] - band[0])
        first = [row for row in rows if row.x1 <= cut[0] + 0.01]
        rest = [row for row in rows if row.x1 > cut[0] + 0.01]
    elif across:
        cut = max(wide or across, key=lambda band: band[1] - band[0])
        first = [row for row in rows if row.y1 <= cut[0] + 0.01]
        rest = [row for row in rows if row.y1 > cut[0] + 0.01]
    else:
        return sorted(rows, key=lambda row: (row.y0, row.x0))
    return _cut_recursively(first, depth + 1) + _cut_recursively(rest, depth + 1)


def _bands(rows: list[Row], *, vertical: bool) -> list[tuple[float, float]]:
    """Return the gaps between the rows' projections on one axis."""
    spans = sorted((row.x0, row.x1) if vertical else (row.y0, row.y1) for row in rows)
    bands: list[tuple[float, float]] = []
    end = spans[0][1]
    for start, stop in spans[1:]:
        if start > end:
            bands.append((end, start))
        end = max(end, stop)
    return bands
