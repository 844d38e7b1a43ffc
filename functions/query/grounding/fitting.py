"""Fits the numbers of a claim to cells of the rows and columns that it names, in whatever order it names them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from functions.query.grounding.columns import ColumnMention, period_of
from functions.query.grounding.facts import Fact
from functions.query.grounding.rows import RowMention
from functions.query.grounding.tables import Table

_REFERENCE = re.compile(
    r"\b(?:from|(?:compared|comparing) (?:with|to)|versus|vs\.?|against|than|instead of)\s+"
    r"(?:(?!(?:was|were|is|are|had|has|to)\b)[\w$€£'’]+\s+){0,3}?\Z",
    re.IGNORECASE,
)
"""Before a number to which another one is compared."""
_NAMED_BEFORE = re.compile(r"\s*(?:of|is|are|was|were|at|:|=)?\s*")
"""Between the name of a column and its number."""

type CellPlace = tuple[int, int]
"""A cell by its row and its position in the row."""
type _RowWay = Callable[[Fact, Sequence[RowMention]], frozenset[int] | None]
type _ColumnWay = Callable[[Fact, Sequence[ColumnMention]], frozenset[int] | None]
"""Which rows or columns a number may be of, by the places of their names."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """The numbers of a claim beside the rows that it names.

    `held` are those of the `numbers` that stand in the table; `cells` the cells with each, by where it begins.
    """

    claim: str
    table: Table
    rows: Sequence[RowMention]
    numbers: Sequence[Fact]
    held: Sequence[Fact]
    cells: "dict[int, frozenset[CellPlace]]"

    def fit(self, facts: Sequence[Fact], columns: Sequence[ColumnMention]) -> "dict[int, frozenset[CellPlace]] | None":
        """Return the cells that each of some numbers may be; None if no order of names and numbers fits."""
        row_ways: Sequence[_RowWay] = (_preceding, _following, partial(_in_order, facts))
        column_ways: Sequence[_ColumnWay] = (
            self._columns_before,
            self._columns_after,
            partial(_column_in_order, facts),
        )
        free = [each for each in columns if not any(self._is_right_before(each, fact) for fact in facts)]
        for of_row, of_column in product(row_ways, column_ways):
            bound = {}
            for fact in facts:
                allowed_rows = self._rows_allowed(fact, of_row)
                own = [each.columns for each in columns if self._is_right_before(each, fact)]
                allowed_columns = self._narrowed(fact, own[-1] if own else of_column(fact, free), free)
                bound[fact.start] = frozenset(
                    (n, at)
                    for n, at in self.cells[fact.start]
                    if (allowed_rows is None or n in allowed_rows) and self._is_in(n, at, allowed_columns)
                )
            if all(bound.values()):
                return bound
        return None

    def _rows_allowed(self, fact: Fact, of_row: _RowWay) -> "frozenset[int] | None":
        """Return the rows that a number may be of; one that others are compared with may be of any row named."""
        rows = of_row(fact, self.rows)
        is_last = all(each.start < fact.start for each in self.rows)
        if rows is not None and of_row is _preceding and is_last and self.is_reference(fact):
            return rows.union(*(each.rows for each in self.rows))
        return rows

    def _is_in(self, n: int, at: int, columns: "frozenset[int] | None") -> bool:
        """Return whether a cell is in one of some columns, as far as that is known."""
        column = self.table.rows[n].cells[at].column
        return columns is None or column is None or column in columns

    def _narrowed(
        self, fact: Fact, allowed: "frozenset[int] | None", mentions: Sequence[ColumnMention]
    ) -> "frozenset[int] | None":
        """Return the columns that other names beside a number leave of some: "revenue of 5.1 *in 2024*"."""
        parts = [
            each.columns & allowed
            for each in mentions
            if allowed is not None and each.columns & allowed and self._is_beside(fact, each)
        ]
        return (frozenset.intersection(*parts) if parts else None) or allowed

    def _is_beside(self, fact: Fact, mention: ColumnMention) -> bool:
        """Return whether no other number stands between a number and the name of a column, nor "than in"."""
        start, end = min(fact.start, mention.start), max(fact.start, mention.start)
        is_alone = not any(start < other.start < end for other in self.held)
        return is_alone and (mention.start < fact.start or not self._is_of_reference(fact, mention))

    def _is_right_before(self, mention: ColumnMention, fact: Fact) -> bool:
        """Return whether the name of a column stands right before a number, and is thus of no other."""
        return mention.end <= fact.start and bool(_NAMED_BEFORE.fullmatch(self.claim, mention.end, fact.start))

    def _columns_before(self, fact: Fact, mentions: Sequence[ColumnMention]) -> "frozenset[int] | None":
        """Return the columns named before a number; one that others are compared with needs its own."""
        begin = self.end_before(fact)
        own = [each for each in mentions if begin <= each.start < fact.start]
        if own:
            return common_columns(own)
        if self.is_reference(fact):
            after = [each for each in mentions if each.start > fact.start]
            return common_columns(after) if fact is self.numbers[-1] and after else None
        earlier = [each for each in mentions if each.start < fact.start]
        later = [each for each in mentions if each.start > fact.start]
        return common_columns(earlier[-1:] or later[:1])

    def _columns_after(self, fact: Fact, mentions: Sequence[ColumnMention]) -> "frozenset[int] | None":
        """Return the columns named between a number and the next one; one before all numbers holds for the rest."""
        stop = min((other.start for other in self.held if other.start > fact.start), default=len(self.claim))
        own = [each for each in mentions if fact.start < each.start < stop]
        own = [each for each in own if not self._is_of_reference(fact, each)]
        if own:
            return common_columns(own)
        if self.is_reference(fact):
            return None
        leading = [each for each in mentions if each.start < self.held[0].start]
        if leading and any(each.start > self.held[0].start for each in mentions):
            return frozenset()  # the names stand before their numbers
        return common_columns(leading)

    def _is_of_reference(self, fact: Fact, mention: ColumnMention) -> bool:
        """Return whether a column named after a number is that of what it is compared with: "than in 2023"."""
        between = _REFERENCE.search(self.claim[fact.end : mention.start] + " ")
        if between is None or not between.group().lower().startswith("from"):
            return between is not None
        return any(any(period_of(self.table.columns[column]).order) for column in mention.columns)

    def end_before(self, fact: Fact) -> int:
        """Return where the number before a number ends; 0 before the first."""
        return max((other.end for other in self.held if other.start < fact.start), default=0)

    def is_reference(self, fact: Fact) -> bool:
        """Return whether another number is compared with this one: "than 5"."""
        return _REFERENCE.search(self.claim, 0, fact.start) is not None


def _preceding(fact: Fact, mentions: Sequence[RowMention]) -> frozenset[int] | None:
    """Return the rows of the last name before a number."""
    if not mentions:
        return None
    before = [each.rows for each in mentions if each.start < fact.start]
    return before[-1] if before else mentions[0].rows if _is_one(mentions) else frozenset()


def _following(fact: Fact, mentions: Sequence[RowMention]) -> frozenset[int] | None:
    """Return the rows of the first name behind a number."""
    if not mentions:
        return None
    after = [each.rows for each in mentions if each.start > fact.start]
    return after[0] if after else mentions[0].rows if _is_one(mentions) else frozenset()


def _in_order(facts: Sequence[Fact], fact: Fact, mentions: Sequence[RowMention]) -> frozenset[int] | None:
    """Return the rows of the name with a number's rank, if there are as many names as numbers: "A above B (7 − 5)"."""
    return mentions[facts.index(fact)].rows if len(mentions) == len(facts) else _preceding(fact, mentions)


def _column_in_order(facts: Sequence[Fact], fact: Fact, mentions: Sequence[ColumnMention]) -> frozenset[int] | None:
    """Return the columns of the name with a number's rank, if there are as many names as numbers."""
    if len(mentions) == len(facts):
        return mentions[facts.index(fact)].columns
    return common_columns([each for each in mentions if each.start < fact.start][-1:] or mentions[:1])


def _is_one(mentions: Sequence[RowMention]) -> bool:
    return all(each.rows == mentions[0].rows for each in mentions)


def common_columns(mentions: Sequence[ColumnMention]) -> frozenset[int] | None:
    """Return the columns of all mentions together, or of any where none is of all; None without mentions."""
    if not mentions:
        return None
    sets = [each.columns for each in mentions]
    return frozenset.intersection(*sets) or frozenset().union(*sets)
