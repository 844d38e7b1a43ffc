"""`evals cells`: are the cells of tables read with the label of their row and the name of their column?

A file says of cells what is printed: the row's label, the header above, the value. Each is looked for in the tables
that the query function reads from the stored passages of the cell's page.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from evals.data import csv_rows
from evals.display import Display
from evals.errors import DatasetError
from evals.metrics import wilson
from evals.pdf_library import PdfLibrary
from evals.storage import ResultCache, environment, source_hash, write_json
from functions.query.grounding.table_cells import TableRow
from functions.query.grounding.tables import Table, tables_in
from functions.query.retrieval.passages import Passage
from shared.lexical import fold
from shared.text import SEPARATOR

FORM = """  pdf,page,row,column,value
  report.pdf,3,Net sales,2024,"1,204"
  All as printed; `column` is the header above the cell, stacked headers joined from top to bottom."""
FIELDS = ("pdf", "page", "row", "column", "value")
Outcome = Literal["right", "row only", "apart", "lost"]
OUTCOMES: Sequence[Outcome] = ("right", "row only", "apart", "lost")
_WORD = re.compile(r"\w+(?:[.,]\d+)*|[%$€£]")


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell of a table as a person reads it on the page."""

    pdf: str
    page: int
    row: str
    column: str
    value: str


def cells(
    *, cells: Path, pdfs: Sequence[Path], json: Path | None, details: bool, cache: Path, fresh: bool, display: Display
) -> int:
    """Look for every cell of a file; print, and write with `--json`.

    `right`: in its row, under its column. `row only`: in its row, but the column's name is not known or another.
    `apart`: on its page, but not in a row with that label. `lost`: not in any text of its page.
    """
    library = PdfLibrary(pdfs, ResultCache(cache), fresh=fresh)
    printed = list(_read(cells))
    found: list[tuple[PrintedCell, Outcome]] = []
    with display.progress():
        for number, cell in enumerate(printed):
            display.advance("looking for cells", number, len(printed))
            passages = library.passages_of(cell.pdf.removesuffix(".pdf"))
            found.append((cell, outcome_of(cell, [each for each in passages if _is_on(each, cell.page)])))
    names = [*dict.fromkeys(cell.pdf for cell in printed)]
    result: dict[str, Any] = {
        "command": "cells",
        "versions": {"source": source_hash("functions", "shared"), **environment()},
        "settings": {"cells": cells.name},
        "all": _counts(found),
        "pdfs": {name: _counts([each for each in found if each[0].pdf == name]) for name in names},
    }
    rows = [[name, *_row(result["pdfs"][name])] for name in names]
    display.table("Cells of tables, %", ["pdf", "n", *OUTCOMES], [*rows, ["all", *_row(result["all"])]])
    low, high = result["all"]["interval"]
    display.say(f"right: {low:.0%} to {high:.0%} with 95 % confidence")
    if details:
        result["details"] = [{**asdict(cell), "outcome": outcome} for cell, outcome in found]
    if json:
        write_json(json, result)
    return 0


def outcome_of(cell: PrintedCell, passages: Sequence[Passage]) -> Outcome:
    """Return how a cell is read in the passages of its page."""
    rows = [(table, row) for passage in passages for table in tables_in(passage.whole) for row in table.rows]
    in_row = [
        (table, row)
        for table, row in rows
        if _holds(row.label, cell.row) or _holds(f"{row.group} {row.label}", cell.row)
    ]
    if any(_is_under(table, row, cell) for table, row in in_row):
        return "right"
    lines = [line for passage in passages for line in passage.text.split("\n")]
    if any(SEPARATOR in line and _holds(line, cell.row) and _holds(line, cell.value) for line in lines):
        return "row only"
    return "apart" if any(_holds(passage.text, cell.value) for passage in passages) else "lost"


def _is_under(table: Table, row: TableRow, cell: PrintedCell) -> bool:
    """Whether a row has the value under the column's name; what stands over several columns may be in the caption."""
    wanted = _words(cell.value)
    names = [table.name_of(each) for each in row.cells if _words(each.text) == wanted]
    return any(
        set(_words(name)) & set(_words(cell.column)) and _holds(f"{table.caption} {name}", cell.column)
        for name in names
    )


def _holds(text: str, wanted: str) -> bool:
    """Whether the words of what is wanted are among those of a text, so that more around them does no harm."""
    return not Counter(_words(wanted)) - Counter(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text).casefold())


def _is_on(passage: Passage, page: int) -> bool:
    return passage.page_start <= page <= passage.page_end


def _read(path: Path) -> Iterator[PrintedCell]:
    for _, where, row in csv_rows(path, FORM):
        if missing := [name for name in FIELDS if not (row.get(name) or "").strip()]:
            raise DatasetError(f"{where}: {', '.join(missing)} is empty. Expected is:\n{FORM}")
        if not row["page"].strip().isdecimal() or int(row["page"]) < 1:
            raise DatasetError(f"{where}: `page` must be a number from 1, not {row['page']!r}.")
        yield PrintedCell(row["pdf"], int(row["page"]), row["row"], row["column"], row["value"])


def _counts(found: Sequence[tuple[PrintedCell, Outcome]]) -> dict[str, Any]:
    outcomes = Counter(outcome for _, outcome in found)
    return {
        "n": len(found),
        **{outcome: outcomes[outcome] for outcome in OUTCOMES},
        "interval": wilson(outcomes["right"], len(found)),
    }


def _row(counts: dict[str, Any]) -> list[str]:
    return [str(counts["n"]), *(f"{100 * counts[outcome] / counts['n']:.0f}" for outcome in OUTCOMES)]
