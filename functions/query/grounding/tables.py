"""Reads tables from a passage's stored text: rows, columns with their names, and the scale of the figures.

Ingest writes one row per line, with `SEPARATOR` between the cells. What a PDF loses is put together here: several
figures in one cell, column names over two or three lines or over several columns, names that stand in the lines above,
and a table that goes on after an interruption with the columns it had before.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from itertools import chain, pairwise, takewhile

from functions.query.grounding.injection import is_speaker
from functions.query.grounding.table_cells import (
    NO,
    YES,
    TableCell,
    TableRow,
    column_names,
    figures_of,
    is_bare,
    is_figure,
    is_period,
    is_two_in_one,
    is_unit_column,
    may_name,
    mentions_money,
    names_words_in,
    read_cell,
    scale_in,
    with_units,
)
from functions.query.grounding.words import has_digit
from shared.text import (
    BULLET_LETTER,
    NOTHING,
    SEPARATOR,
    are_numbered,
    header_at,
    is_dash,
    is_field,
    row_cells,
    rows_below,
)

_OF_NUMBERS = re.compile(r"(?:no|nr|n[°º]|pos|#)\.?", re.IGNORECASE)
"""The name of a column that only numbers the rows."""
MAX_HEAD_ROWS = 3
MIN_ROWS_BELOW = 2
BARE_SHARE = 0.8
"""Rows below one that names columns with numbers in its words, at least, and the share of bare figures in them."""
MIN_STEPS = 3
"""Names that are figures with one unit, each greater than the one before, at least."""
_CLOCK = re.compile(r"\d{1,3}:\d\d(?::\d\d)?")
"""A time of day, or hours and minutes: "7:02"."""
MAX_SHORT_LINE = 90
"""A longer line above a table is its caption, a shorter one may name columns."""
_SENTENCE_END = re.compile(r"[.!?;][)\"'”’]*$")
LINES_ABOVE = 8
"""Lines above a table that are kept with it."""

_MARKS = frozenset("✓✔☑☒✗✘×")
"""Cells that tell something without a letter."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under the same columns.

    `columns`: the name of each value column, the label's not counted; empty if they cannot be told. `caption`: the
    lines above. `scale`: what the figures are multiplied by; None if the caption does not say. `names_words`: whether
    the columns' names, with none above the labels, are short, several and different, so that they name words, too.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[TableRow]
    scale: Decimal | None
    names_words: bool = False

    def name_of(self, cell: TableCell) -> str:
        """Return the name of a cell's column; empty if it is not known."""
        return self.columns[cell.column] if cell.column is not None and self.columns else ""

    @property
    def unit_columns(self) -> Sequence[int]:
        """The columns that hold the units of their rows."""
        return [at for at, name in enumerate(self.columns) if is_unit_column(name)]

    @property
    def start(self) -> int:
        """The position of the first row."""
        return self.rows[0].start

    @property
    def end(self) -> int:
        """The position after the last row."""
        return self.rows[-1].end


@lru_cache(maxsize=128)
def tables_in(text: str) -> Sequence[Table]:
    """Return the tables of a passage's text, in order."""
    reader = _TableReader()
    for block in _blocks(text):
        reader.add(block)
    return tuple(reader.tables)


def row_at(text: str, start: int) -> tuple[Table, TableRow] | None:
    """Return the table's row that begins at a position, with its table; None for a header or no row."""
    return _rows_by_start(text).get(start)


def row_text(text: str, start: int, end: int, *, with_nothing: bool = True, every: bool = False) -> str:
    """Return a table's row as "column: value; column: value", its cells alone where nothing names the columns.

    Cells that say that there is nothing are told `with_nothing` only; `every` cell with a name, an empty one as a dash.
    """
    cells = [" ".join(cell.split()) for cell in row_cells(text[start:end])]
    header = header_at(text, start)
    names = row_cells(text[slice(*header)]) if header else []
    if header and are_numbered(names, rows_below(text, header)):
        names[0] = ""  # the name of the numbers: "Trip | 701 | 703"
    if names and is_speaker(names[0]):
        names[0] = ""  # "System: Windows 10" would read like a message to a model
    found = row_at(text, start)
    if len(names) != len(cells) and found is not None and (start, end) == (found[1].start, found[1].end):
        table, row = found
        if table.names_words or any(cell.values for cell in row.cells):
            label = row.label if cells[0] in row.label else f"{cells[0]} {row.label}"
            cells = [" ".join(label.split()), *(cell.text for cell in row.cells)]
            names = ["", *("".join(_named(table, cell)) for cell in row.cells)]
    if len(names) != len(cells):
        names = [""] * len(cells)
    tells_nothing = with_nothing and has_digit("".join((*cells[1:], *names[1:])))
    shown = (
        (name, cell)
        for name, each in _with_nothing(names, cells)
        if (cell := (each or NOTHING) if every and name else each) != BULLET_LETTER
        and (any(map(str.isalnum, cell)) or (name and (every or cell in _MARKS)) or (tells_nothing and is_dash(cell)))
    )
    told = "; ".join(f"{name.rstrip(':')}: {cell}" if name else cell for name, cell in shown)
    return told.replace(":; ", ": ") if is_field(cells) else told


def _with_nothing(names: Sequence[str], cells: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the cells of a row with their names; one between others is a dash if it is empty and has no name.

    Else those behind it would seem to stand in other columns.
    """
    last = max((at for at, cell in enumerate(cells) if any(map(str.isdigit, cell))), default=0)
    for at, (name, cell) in enumerate(zip(names, cells, strict=True)):
        yield name, cell if cell or any(names) or not 0 < at < last else NOTHING


def _named(table: Table, cell: TableCell) -> Sequence[str]:
    """Return the name of a cell's column, if it is known."""
    return () if cell.column is None else table.columns[cell.column : cell.column + 1]


@lru_cache(maxsize=128)
def _rows_by_start(text: str) -> Mapping[int, tuple[Table, TableRow]]:
    return {row.start: (table, row) for table in tables_in(text) for row in table.rows}


# --- lines ---


@dataclass(frozen=True, slots=True)
class _TextLine:
    text: str
    start: int
    cells: Sequence[str]
    heads: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _blocks(text: str) -> Iterator[list[_TextLine]]:
    """Yield the lines of each paragraph or table."""
    block: list[tuple[str, int]] = []
    at = 0
    for line in (*text.split("\n"), ""):
        if line.strip():
            block.append((line, at))
        elif block:
            yield _read_block(block)
            block = []
        at += len(line) + 1


def _read_block(lines: Sequence[tuple[str, int]]) -> list[_TextLine]:
    rows = [(row_cells(line), at) for line, at in lines if SEPARATOR in line]
    (first, at_first), *below = rows or [([], -1)]
    cells_below = [cells for cells, _ in below]
    heads = _heads_figures(first, cells_below) or (bool(rows) and are_numbered(first, cells_below))
    named = len(first) if heads or (at_first == lines[0][1] and all(map(may_name, first))) else 0
    return [
        _TextLine(line, at, first, heads=True)
        if heads and at == at_first
        else _TextLine(line, at, _cells_of(line, named))
        for line, at in lines
    ]


def _heads_figures(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a row with numbers in its words names columns: "80 mg", "Rate per 100,000".

    It stands above bare figures or words without any, and one of its names is more than a figure with its unit: "40
    miles" and "50 min" are a row. If it has no label and all rows below have one, it names them anyway.
    """
    of_width = [row for row in rows if len(row) == len(names)]
    if len(of_width) < MIN_ROWS_BELOW or any(map(is_bare, names)) or all(map(may_name, names)):
        return False
    values = [cell for row in of_width for cell in row[1:] if cell]
    if names[:1] == [""] and all(names[1:]) and all(row[0] for row in of_width):
        return not set(names) & set(values)
    if all(map(is_figure, names[1:])):
        return _counts_up(names[1:], values)
    is_of_words = not has_digit("".join(values)) and all(has_digit(name) for name in names[1:])
    bare = sum(is_bare(value) or _CLOCK.fullmatch(value) is not None for value in values)
    return is_of_words or bare >= BARE_SHARE * max(1, len(values))


def _counts_up(names: Sequence[str], values: Sequence[str]) -> bool:
    """Return whether several figures with one unit, which no value has, grow from column to column: "5 km | 10 km"."""
    read = [read_cell(name, None) for name in names]
    units = {cell.unit for cell in read}
    if len(names) < MIN_STEPS or len(units) > 1 or "" in units:
        return False
    sizes = [min(cell.values) for cell in read]
    others = {read_cell(value, None).unit for value in values}
    return all(a < b for a, b in pairwise(sizes)) and units.isdisjoint(others)


def _cells_of(line: str, named: int) -> Sequence[str]:
    """Return the cells of a line; one with several figures counts as several unless the line has all `named` cells."""
    if SEPARATOR not in line:
        return (line.strip(),)
    cells = row_cells(line)
    is_named = len(cells) == named
    return tuple(part for cell in cells for part in ((cell,) if is_named and is_two_in_one(cell) else figures_of(cell)))


# --- tables ---


@dataclass(slots=True)
class _TableReader:
    """Gathers tables; `above` and `heads` are the lines and rows over the next one."""

    tables: list[Table] = field(default_factory=list)
    caption: str = ""
    above: list[str] = field(default_factory=list)
    heads: list[Sequence[str]] = field(default_factory=list)
    continued: Table | None = None

    def add(self, block: Sequence[_TextLine]) -> None:
        if all(len(line.cells) == 1 for line in block):
            self._add_text(block)
            return
        rows = list(block)
        while rows:
            while rows and len(rows[0].cells) == 1:
                self.above.append(rows.pop(0).text.strip())
            heads = _head_rows(rows, whole=rows == list(block))
            self.heads += [line.cells for line in rows[:heads]]
            rows = rows[heads:]
            while rows and len(rows[0].cells) == 1 and self.heads and rows[0].text.strip().startswith("("):
                self.above.append(rows.pop(0).text.strip())  # "(In millions)" below the names
                if len(rows) > 1 and _is_next_head(rows[0]):
                    self.heads.append(rows.pop(0).cells)  # and the years below that
            end = next((n for n, line in enumerate(rows) if n and _begins_next(rows, n)), len(rows))
            if any(len(line.cells) > 1 for line in rows[:end]):
                self._finish(rows[:end])
            rows = rows[end:]

    def _add_text(self, block: Sequence[_TextLine]) -> None:
        for line in block:
            text = line.text.strip()
            if len(text) <= MAX_SHORT_LINE and not _SENTENCE_END.search(text) and not text.endswith(":"):
                self.above.append(text)
                continue
            self.caption, self.above, self.heads = text, [], []
            if len(text) > 2 * MAX_SHORT_LINE:
                self.continued = None

    def _finish(self, lines: Sequence[_TextLine]) -> None:
        above, heads = self.above[-LINES_ABOVE:], _each_once(self.heads)[-MAX_HEAD_ROWS:]
        count = _count_columns(lines, heads)
        rows = _rows_of(lines, count)
        columns = column_names(above, heads, count, rows)
        corners = [head[0] for head in heads if len(head) == count + 1]
        if more := _more_labels(rows, corners[-1] if corners else ""):
            count, corners, columns = count - more, [*corners, *columns[:more]], columns[more:]
            rows = _grouped_by_label(rows, more)
        caption = "\n".join(filter(None, (self.caption, *above, *corners)))
        scale = scale_in((*caption.split("\n"), *chain.from_iterable(heads)))
        is_money = mentions_money("\n".join((caption, *chain.from_iterable(heads))))
        rows = with_units(columns, rows, is_money=is_money)
        table = Table(caption, columns, rows, scale, names_words_in(columns, heads, rows))
        before = self.continued
        if before is not None and not columns and count == len(before.columns):
            table = replace(
                table,
                columns=before.columns,
                rows=with_units(before.columns, rows, is_money=is_money or mentions_money(before.caption)),
                caption=f"{before.caption}\n{caption}",
                scale=before.scale if table.scale is None else table.scale,
            )
        self.tables.append(table)
        self.continued = table if table.columns else before
        self.caption, self.above, self.heads = self.caption if not self.heads else "", [], []


def _each_once(heads: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return each row of names once: where a table goes on overleaf they are repeated, perhaps without the corner."""
    return list({tuple(filter(None, head)): head for head in heads}.values())


def _head_rows(rows: Sequence[_TextLine], *, whole: bool) -> int:
    """Return how many of the first rows name columns."""
    first = rows[:MAX_HEAD_ROWS]
    names = (_is_named(line) and not (n and _is_answered(line)) for n, line in enumerate(first))
    heads = next((n for n, is_head in enumerate(names) if not is_head), len(first))
    with_figures = sum(any(is_figure(cell) and has_digit(cell) for cell in line.cells[1:]) for line in rows[heads:])
    if with_figures < len(rows[heads:]) / 2:
        # Among rows of words: one that has a label besides as many cells as the names above it.
        heads = next((n for n in range(1, heads) if len(first[n].cells) == len(first[n - 1].cells) + 1 > 3), heads)
    if with_figures and with_figures >= len(rows[heads:]) / 2:
        return heads
    # Words under words: only the first row names the columns, if there is another, and dates alone below it.
    named = 2 if heads > 1 and not first[1].cells[0] and _is_next_head(first[1]) else 1
    return min(heads, named if len(rows) > named or not whole else len(rows))


def _is_answered(line: _TextLine) -> bool:
    """Return whether a row has a label, and behind it only "yes" and "no"; letters ("n", "x") may name columns."""
    label, *values = line.cells
    is_letter = any(len(value) == 1 and value.isalpha() for value in values)
    return bool(label and values) and not is_letter and all(value.lower() in YES | NO for value in values)


def _is_next_head(line: _TextLine) -> bool:
    """Return whether a row inside a table begins another one: all its cells are periods."""
    return _is_named(line) and all(map(is_period, line.cells[-2:]))


def _begins_next(rows: Sequence[_TextLine], at: int) -> bool:
    """Return whether another table begins at a row: it is a head, figures stand below, and it is none of many dates."""
    heads = [*takewhile(_is_next_head, rows[at:])]
    around = (*heads, *takewhile(_is_next_head, reversed(rows[:at])))
    below = (cell for line in rows[at + len(heads) :] for cell in line.cells[1:])
    return bool(heads) and len(around) <= MAX_HEAD_ROWS and any(map(is_figure, below))


def _is_named(line: _TextLine) -> bool:
    return line.heads or (len(line.cells) > 1 and not is_field(line.cells) and all(map(may_name, line.cells)))


def _count_columns(lines: Sequence[_TextLine], heads: Sequence[Sequence[str]]) -> int:
    """Return the number of values of a row: as many as have names, or the commonest number.

    Names count where all rows have a label and as many cells: as many as names if the labels have one, too, or one more
    than names that are no periods.
    """
    widths = {len(line.cells) for line in lines if len(line.cells) > 1}
    with_label = sum(_has_label(line.cells) for line in lines)
    if len(widths) == 1 and len(lines) > 1:
        width = widths.pop()
        # "1 day" is a label where another row has "Half day", and the names have one for the labels.
        whole = with_label == len(lines)
        if with_label and not whole and any(len(head) == width and may_name(head[0]) for head in heads):
            return width - 1
        if whole and any(
            len(head) == width or (len(head) == width - 1 and not any(map(is_period, head))) for head in heads
        ):
            return width - 1
        corners = [head[0] for head in heads if len(head) == width]
        if not with_label and corners and (not any(corners) or _are_keys(lines)):
            return width - 1
    counts = Counter(
        sum(map(_is_value, line.cells[_has_label(line.cells) :])) or len(line.cells) - 1
        for line in lines
        if len(line.cells) > 1
    )
    return max(counts.items(), key=lambda item: (item[1], item[0]))[0]


def _are_keys(lines: Sequence[_TextLine]) -> bool:
    """Return whether the figures that rows begin with are labels: before words, counting, or in a unit of their own.

    "14:30 | Tea", "1 | 42" above "2 | 45" and "3 | 39", "10 km | 34 min".
    """
    labels = [line.cells[0] for line in lines]
    is_of_numbers = len(labels) >= MIN_STEPS and all(map(str.isdecimal, labels))
    if is_of_numbers and all(int(b) == int(a) + 1 for a, b in pairwise(labels)):
        return True
    values = [cell for line in lines for cell in line.cells[1:]]
    if len(set(labels)) < len(labels):
        return False
    if 2 * sum(map(is_figure, values)) < len(values):
        return True
    units = {read_cell(label, None).unit for label in labels}
    return "" not in units and units.isdisjoint(read_cell(value, None).unit for value in values)


def _is_value(cell: str) -> bool:
    return not cell or is_figure(cell)


def _has_label(cells: Sequence[str]) -> bool:
    return not is_figure(cells[0]) or len(cells) == 1


def _rows_of(lines: Sequence[_TextLine], count: int) -> Sequence[TableRow]:
    rows: list[TableRow] = []
    group = ""
    scale: Decimal | None = None
    count_without_shares = count - _count_shares_at_end(lines)
    for line in lines:
        cells = line.cells
        if len(cells) == 1:
            group = cells[0]
            scale = scale_in((group,)) or scale
            continue
        labels = max(len(cells) - count, 0) if any(map(is_figure, cells)) else 1
        while labels > 1 and any(map(is_figure, cells[1:labels])):
            labels -= 1
        if labels == 0 and _has_label(cells):
            labels = 1  # a row without some of its cells
        values = cells[labels:]
        placed = len(values) in {count, count_without_shares}
        label = " ".join(cells[:labels])
        rows.append(
            TableRow(
                label,
                group,
                tuple(read_cell(text, column if placed else None) for column, text in enumerate(values) if text),
                line.start,
                line.end,
                scale_in((label,)) or scale,
            )
        )
    return tuple(rows)


def _more_labels(rows: Sequence[TableRow], corner: str) -> int:
    """Return how many columns of words behind the first one are labels, too: where those before do not tell rows apart.

    "North | Quay | 12" above "North | Mill | 9", or above " | Mill | 9"; or only number them, "1 | Chair" below "No."
    (`corner`, the name of the first column). A column of figures stands behind them.
    """
    texts = [{cell.column: cell.text for cell in row.cells if cell.column is not None} for row in rows]
    of_figures = [n for cells in texts for n, text in cells.items() if is_figure(text)]
    numbers = [row.label.rstrip(".)") for row in rows]
    is_numbered = len(rows) > 1 and numbers == [str(n) for n in range(1, len(rows) + 1)]
    if is_numbered and _OF_NUMBERS.fullmatch(corner) and min(of_figures, default=0) > 0:
        return 1
    labels: list[tuple[str, ...]] = [(label,) for label in _carried([row.label for row in rows])]
    for at in range(min(of_figures, default=0)):
        labels = [(*label, cells.get(at, "")) for label, cells in zip(labels, texts, strict=True)]
        filled = [label for label in labels if label[-1]]
        if all(len({label[:n] for label in filled}) < len(filled) for n in range(1, at + 2)) and (
            len(set(filled)) == len(filled) > len(rows) / 2
        ):
            return at + 1
    return 0


def _carried(labels: Sequence[str]) -> Sequence[str]:
    """Return labels, that of the row above for each row that has none."""
    carried: list[str] = []
    for label in labels:
        carried.append(label or (carried[-1] if carried else ""))
    return carried


def _grouped_by_label(rows: Sequence[TableRow], more: int) -> Sequence[TableRow]:
    """Return rows whose first column names their group, and the `more` columns behind it their labels."""
    out: list[TableRow] = []
    for row, carried in zip(rows, _carried([row.label for row in rows]), strict=True):
        own = [cell.text for cell in row.cells if cell.column is not None and cell.column < more]
        cells = tuple(
            cell if cell.column is None else replace(cell, column=cell.column - more)
            for cell in row.cells
            if cell.column is None or cell.column >= more
        )
        group = " ".join(filter(None, (row.group, carried))) if own else row.group
        out.append(replace(row, label=" ".join(own) or row.label, group=group, cells=cells))
    return tuple(out)


def _count_shares_at_end(lines: Sequence[_TextLine]) -> int:
    """Return how many of the last columns are percentages in a table of other figures; some rows lack them."""
    widest = max(lines, key=lambda line: len(line.cells)).cells
    shares = next((n for n, cell in enumerate(reversed(widest)) if "%" not in cell), 0)
    return shares if any(is_figure(cell) for cell in widest[1 : len(widest) - shares]) else 0
