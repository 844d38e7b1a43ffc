"""Compares "A is the cheapest" of a claim with the figures of a table's column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from functions.query.grounding.quantities import CURRENCIES, PERIODS, spelled_value
from functions.query.grounding.table_cells import TableCell
from functions.query.grounding.tables import Table
from shared.lexical import fold

_AMONG = re.compile(
    r" of (?:the|all(?: the)?) (three|four|five|six|seven|eight)(?: [^\W\d_]+)?(?=[.!]?\s*\Z)", re.IGNORECASE
)
"""How many a claim chooses from: "the longest of the three"."""
MIN_COMPARED = 3
"""Rows of which one may be the most or the least."""
_MOST = "highest|largest|biggest|greatest|longest|heaviest|dearest|costliest|most (?:expensive|costly)|most"
_LEAST = "fewest|lowest|smallest|shortest|lightest|cheapest|least (?:expensive|costly)|least"
_EXTREME = re.compile(
    rf"\b(?:is|are|was|were|has|have|had) (?P<negated>not )?the (?:(?P<most>{_MOST})|(?P<least>{_LEAST}))"
    r"(?: [^\W\d_]+){0,4}[.!]?\s*\Z",
    re.IGNORECASE,
)
"""A superlative with which a claim ends: more words may restrict it, or speak of another comparison."""
_OTHER = re.compile(
    r"\b(?:of|with|without|than|from|among|but|ever|in|for|since|under|over|below|above|rank|place|position|increase|decrease"
    r"|rise|fall|growth|gain|drop|change|loss|losses|decline|deficit)\b",
    re.IGNORECASE,
)
"""Words behind a superlative that restrict it, or after which more is less, or a change and no figure is compared."""
_SUM = re.compile(r"\b(?:total|all|sum|average|mean|overall|subtotal)\b", re.IGNORECASE)
"""Rows that are made of the others."""
_OF_PRICE = re.compile(r"cheap|dear|cost|expensive", re.IGNORECASE)
_OF_TIME = re.compile(r"longest|shortest", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Superlative:
    """What a claim calls "the cheapest", of a table: `row` is what it calls so, `columns` those that it names."""

    claim: str
    table: Table
    row: int
    columns: frozenset[int]
    quoted: frozenset[int]

    def is_right(self) -> bool | None:
        """Return whether the row has the highest or lowest figure of the column meant; None if that cannot be told."""
        claim = fold(self.claim)
        among = _AMONG.search(claim)
        said = _EXTREME.search(_AMONG.sub("", claim))
        if said is None or _OTHER.search(said.group(), said.end("most" if said["most"] else "least") - said.start()):
            return None
        if among and spelled_value(among[1].lower()) != len(self.quoted):
            return None
        found = {self._is_right_in(column, said) for column in self._columns(said["most"] or said["least"])}
        return next(iter(found)) if len(found) == 1 else None

    def _is_right_in(self, column: int | None, said: re.Match[str]) -> bool | None:
        values = self._values(column) if column is not None else {}
        if _AMONG.search(fold(self.claim)):
            values = {n: value for n, value in values.items() if n in self.quoted}
        if self.row not in values or len(values) < MIN_COMPARED:
            return None
        best = max if said["most"] else min
        is_best = values[self.row] == best(values.values())
        among = [values[n] for n in self.quoted if n in values]
        if not is_best and len(among) > 1 and values[self.row] == best(among):
            return None  # of those that the claim may speak of
        return is_best != (said["negated"] is not None)

    def _columns(self, word: str) -> frozenset[int | None]:
        """Return the columns that are meant: those named, one of prices or times, or the only one with figures."""
        columns = {cell.column for row in self.table.rows for cell in row.cells if cell.values}
        if self.columns:
            return frozenset(columns & self.columns)
        if word.lower() in {"most", "fewest", "least"}:
            return frozenset()
        if units := CURRENCIES if _OF_PRICE.search(word) else PERIODS if _OF_TIME.search(word) else None:
            columns = {cell.column for row in self.table.rows for cell in row.cells if cell.unit in units}
        return frozenset(columns) if len(columns) == 1 else frozenset()

    def _values(self, column: int) -> dict[int, Decimal]:
        """Return the figure of each row in a column; none if a row has words there, or another unit."""
        rows = [(n, row) for n, row in enumerate(self.table.rows) if not _SUM.search(row.label)]
        cells = {n: _cell_in(row.cells, column) for n, row in rows}
        values = {n: cell.signed for n, cell in cells.items() if cell is not None and cell.signed is not None}
        units = {cell.unit for cell in cells.values() if cell is not None}
        return values if len(values) == len(cells) and len(units) == 1 else {}


def _cell_in(cells: Sequence[TableCell], column: int) -> TableCell | None:
    return next((cell for cell in cells if cell.column == column), None)


def is_superlative(text: str) -> bool:
    """Return whether a text says at its end that something is the most or the least."""
    return _EXTREME.search(_AMONG.sub("", fold(text))) is not None
