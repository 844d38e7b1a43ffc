"""Compares a claim with the words in a table's cells: those of other rows, and "yes" or "no" under a column's name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from functions.query.grounding.polarity import count_negations
from functions.query.grounding.table_cells import TableRow
from functions.query.grounding.tables import Table
from functions.query.grounding.words import content_stems, tokens_of
from shared.text import SEPARATOR, is_dash

MIN_LETTERS = 3
"""Letters of a cell that names something: codes and marks stand for too much else."""
_CODE = re.compile(r"\d{3,4}|[A-Z]{1,3}-?\d{1,4}")
"""The first cell of a row that is known by its number: "202", "E10"."""
_YES, _NO = frozenset({"yes", "y", "✓", "✔", "●", "x"}), frozenset({"no", "n", "✗", "✘", "–", "-", "—", "not"})
_CONTRASTS = frozenset(
    (
        "but",
        "unlike",
        "whereas",
        "while",
        "than",
        "instead",
        "only",
        "except",
        "other",
        "others",
        "all",
        "both",
        "before",
        "after",
    )
)
"""Words with which a claim speaks of more than one row, or of what a row is not."""


@dataclass(frozen=True)
class CellTexts:
    """One claim beside one table of a text, some rows of which are quoted.

    `elsewhere`: the stems of other evidence. `begin`: where the text of the quoted passage begins, before which stands
    what its table continues.
    """

    claim: str
    table: Table
    text: str
    quoted: Sequence[TableRow]
    elsewhere: frozenset[str]
    begin: int = 0

    @property
    def is_of_another(self) -> bool:
        """Whether the claim says of a quoted row what stands in other rows, or affirms what the row denies."""
        words = tokens_of(self.claim)
        if not _CONTRASTS.isdisjoint(words):
            return False
        negations = count_negations(words)
        if not negations and any(self._says_a_cell_of_another(row) for row in self.quoted):
            return True
        named = [row for row in self.quoted if self._is_named(row)]
        return any(self._answers_otherwise(row, is_denied=negations % 2 == 1) for row in named)

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(content_stems(self.claim))

    @cached_property
    def _grid(self) -> Sequence[Sequence[str]]:
        """The cells of each row, its label's parts included."""
        return [self._cells_of(row) for row in self.table.rows if row.start >= self.begin]

    def _cells_of(self, row: TableRow) -> Sequence[str]:
        return [cell.strip() for cell in self.text[row.start : row.end].split(SEPARATOR)]

    def _says(self, cell: str) -> bool:
        """Return whether the claim says all words of a cell that names something."""
        stems = frozenset(content_stems(cell))
        return bool(stems) and sum(map(str.isalpha, cell)) >= MIN_LETTERS and stems <= self._said

    def _is_named(self, row: TableRow) -> bool:
        """Return whether the claim says the first cell of a row, which may be a code: "Room 202"."""
        label = self._cells_of(row)[0]
        if self._says(label):
            return True
        is_code = _CODE.fullmatch(label) is not None and frozenset(content_stems(label)) <= self._said
        return is_code and sum(cells[0] == label for cells in self._grid) == 1

    def _says_a_cell_of_another(self, row: TableRow) -> bool:
        own = self._cells_of(row)
        if not self._is_named(row):
            return False
        of_own = frozenset(content_stems(" ".join(own))) | self.elsewhere
        for column, cell in enumerate(own[1:], start=1):
            if self._says(cell) or not any(map(str.isalpha, cell)) or frozenset(content_stems(cell)) & self._said:
                continue
            others = [other for other in self._grid if len(other) == len(own) and self._says(other[column])]
            others = [other for other in others if not frozenset(content_stems(other[column])) <= of_own]
            if others and not any(self._is_told_besides(other, own, column) for other in others):
                return True
        return False

    def _is_told_besides(self, other: Sequence[str], own: Sequence[str], column: int) -> bool:
        """Return whether the claim says something else of another row, which it may thus speak of, too."""
        return any(cell not in own and self._says(cell) for at, cell in enumerate(other) if at != column)

    def _answers_otherwise(self, row: TableRow, *, is_denied: bool) -> bool:
        """Return whether the claim says the name of a column, and the row's cell says the opposite, or is not empty.

        What tells the cell as it is ("4207: –") says what it says.
        """
        for cell in row.cells:
            name = self.table.name_of(cell)
            answer = cell.text.strip().lower()
            told = self._told_below(name)
            if told and answer == told.lower():
                continue
            if told and is_dash(told):
                return True
            if answer in (_YES if is_denied else _NO) and name and frozenset(content_stems(name)) <= self._said:
                return not frozenset(content_stems(name)) <= frozenset(content_stems(row.label))
        return False

    def _told_below(self, name: str) -> str:
        """Return what the claim tells behind a column's name and a colon, as an answer without a model does."""
        _, named, behind = f" {self.claim}".partition(f" {' '.join(name.split())}: ")
        return behind.partition(";")[0].strip() if name and named else ""
