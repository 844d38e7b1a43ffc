"""Compares with a table what a claim says without figures: that something rose, is higher or the most, or its words.

Compared are the words of other rows, and "yes" or "no" under a column's name.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from functions.query.grounding.columns import ColumnMention, is_change, mentions_in, period_of, spans_of_periods
from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.polarity import count_negations, direction_of
from functions.query.grounding.relations import Multiple, multiple_in
from functions.query.grounding.rows import EITHER, RowMention
from functions.query.grounding.table_cells import NO, YES, TableCell, TableRow, answer_of
from functions.query.grounding.tables import Table
from functions.query.grounding.words import WORD, content_stems, has_digit, tokens_of
from functions.query.understanding.question import word_lists
from shared.lexical import fold
from shared.text import SEPARATOR, is_dash

_HIGHER = word_lists("claim_words.txt")["higher"]
_LOWER = word_lists("claim_words.txt")["lower"]
_THAN = re.compile(r"\bthan\b|(?<=exceed)|(?<=exceeds)|(?<=exceeded)", re.IGNORECASE)
_HOW_FAST = re.compile(r"\b(?:faster|slower|more (?:quickly|slowly|strongly|sharply|steeply))\b", re.IGNORECASE)
"""Words that compare changes, not figures: "grew faster"."""
_HOW_MUCH = re.compile(
    r"\b(?:twice|double|triple|half|times|much|far|slightly|little|percent"
    r"|than (?:all|any|every|each|planned|expected))\b|%",
    re.IGNORECASE,
)
"""What says by how much figures differ, or from which others."""
_BESIDE = re.compile(
    r"\b(?:(?P<more>above|over|ahead of|exceed(?:s|ed)?)|(?P<less>below|behind))\s"
    r"(?:(?:that|those) (?:of|for)\s)?(?:the\s)?",
    re.IGNORECASE,
)
"""What stands before the name of a row with which another one is compared: "above that of"."""
_ALL_OF = re.compile(r"\b(?:both|all|each|every)\b", re.IGNORECASE)
_VERB_ENDINGS = ("ed", "ew", "ose", "fell")
"""Of "increased", "grew", "rose", "fell": "gain" and "loss" also name rows."""
_INCOME, _LOSS = frozenset({"income", "profit", "earnings", "gain", "gains"}), frozenset({"loss", "losses", "deficit"})
_NEGATIVE = frozenset({"negative", "minus", "expense", "shortfall"})
_BELOW_ZERO = re.compile(r"[(–−-]\s?[^\w\s]?\d")
"""A bracket or a minus before a number: "$(5) million", "–$5 million"."""
SIGN_CHARACTERS = 3
"""Characters before a number in which its sign stands."""


@dataclass(frozen=True, slots=True)
class TableChanges:
    """The changes that a table's columns, or their periods, show; cells are told by their row and position."""

    table: Table

    def change_at(self, n: int, at: int) -> int:
        """Return 1 for a cell that holds a rise, -1 for a fall, 0 for one that holds no change."""
        cell = self.table.rows[n].cells[at]
        name = self.table.name_of(cell)
        is_of_change = is_change(f"{name} {self.table.rows[n].label}") or (not name and self._is_computed_change(n, at))
        return (-1 if cell.negative else 1) if is_of_change and any(cell.values) else 0

    def rises(self, n: int) -> list[int]:
        """Return in which direction a row's figure changed: by its columns of changes, or else by its periods."""
        cells = self.table.rows[n].cells
        found = [change for at in range(len(cells)) if (change := self.change_at(n, at))]
        pairs = [(a, b) for a in range(len(cells)) for b in range(len(cells)) if self._is_next_period(n, a, b)]
        for new, old in [] if found else pairs:
            a, b = _signed(cells[new]), _signed(cells[old])
            if a is not None and b is not None and a * b > 0:
                found.append((abs(a) > abs(b)) - (abs(a) < abs(b)))
        return found

    def is_later(self, these: frozenset[tuple[int, int]], those: frozenset[tuple[int, int]]) -> bool:
        """Return whether all cells of the first kind are of a later time than those of the second, in the same rows."""
        pairs = [(a, b) for a in these for b in those if a[0] == b[0] and a != b]
        return bool(pairs) and all(self._compare_times(*pair) > 0 for pair in pairs)

    def differences(self, one: int, other: int, columns: frozenset[int] | None) -> list[int]:
        """Return in which direction one row differs from another, in each of the columns, or in all."""
        if self._units_of(one) != self._units_of(other):
            return []
        pairs = [
            (_signed(mine), _signed(theirs))
            for mine in self.table.rows[one].cells
            for theirs in self.table.rows[other].cells
            if mine.column is not None and mine.column == theirs.column and "percent" not in {mine.unit, theirs.unit}
            if columns is None or mine.column in columns
        ]
        return [(a > b) - (a < b) for a, b in pairs if a is not None and b is not None and max(a, b) >= 0]

    def _units_of(self, n: int) -> Sequence[str]:
        """Return what stands in a row's columns of units."""
        return [cell.text for cell in self.table.rows[n].cells if cell.column in self.table.unit_columns]

    def shows(
        self, claim: str, rows: Sequence[RowMention], columns: Sequence[ColumnMention], common: frozenset[int] | None
    ) -> bool | None:
        """Return whether all figures show "A is higher than B" or "A rose", False if the opposite; None if neither.

        `rows` and `columns` are those that the claim names, `common` the columns that all its names have in common.
        """
        said = next((word for word in WORD.finditer(claim) if is_order(word.group())), None)
        compared = {word.group().lower() for word in WORD.finditer(claim)}
        if _HOW_FAST.search(claim) or (compared & _HIGHER and compared & _LOWER):
            return None  # "takes longer, but uses less water" compares two figures
        if multiple := multiple_in(claim):
            mine = [each.rows for each in rows if each.start < multiple.start]
            theirs = [each.rows for each in rows if each.start >= multiple.start]
            is_told = _is_one(mine) and _is_one(theirs)
            return self._is_multiple(multiple, min(mine[0]), min(theirs[0]), common) if is_told else None
        than = _THAN.search(claim, said.end()) if said else None
        beside = None if than else _beside(claim, [each.start for each in rows])
        said, than = (beside, beside) if beside else (said, than)
        if said is None:
            return None
        before = [each.rows for each in rows if each.start < (than or said).start()]
        after = [each.rows for each in rows if than and each.start > than.start()]
        found: list[int] = []
        if than and _is_one(before) and _is_one(after):
            found = self.differences(min(before[0]), min(after[0]), common)
        elif than and len(rows) == 1 and len(rows[0].rows) == 1:
            found = self._compared(min(rows[0].rows), columns, than.start())
        elif not than and said.group().lower() not in _HIGHER | _LOWER:
            if len(rows) == 1 and _is_one(before):
                found = self.rises(min(before[0]))
            elif len(before) == len(rows) and _ALL_OF.search(claim):
                return self._all_rise(frozenset().union(*before), columns, direction_of_order(said.group()))
        direction = (1 if beside["more"] else -1) if beside else direction_of_order(said.group())
        if found and all(each == -direction for each in found):
            return False
        is_shown = bool(found) and all(each == direction for each in found) and bool(than)
        return True if is_shown and not (_HOW_MUCH.search(claim) or count_negations(tokens_of(claim))) else None

    def _is_multiple(self, multiple: Multiple, one: int, other: int, columns: frozenset[int] | None) -> bool | None:
        """Return False if one row's figures are not as many times another's as a claim says, in all columns."""
        if self._units_of(one) != self._units_of(other):
            return None
        found = [
            multiple.is_of(mine.signed, theirs.signed)
            for mine in self.table.rows[one].cells
            for theirs in self.table.rows[other].cells
            if mine.column is not None and mine.column == theirs.column and (columns is None or mine.column in columns)
            if mine.signed is not None and theirs.signed is not None
        ]
        return False if found and not any(each is not False for each in found) else None

    def _compared(self, n: int, columns: Sequence[ColumnMention], than: int) -> list[int]:
        """Return in which direction a row's figures in the columns named before "than" differ from those behind it."""
        first = [each.columns for each in columns if each.start < than]
        second = [each.columns for each in columns if each.start > than]
        if not first or not second:
            return []
        mine, theirs = frozenset.intersection(*first), frozenset.intersection(*second)
        for each in first:  # "more *profit* in 2022 than in 2023": a measure is of both
            theirs = theirs & each or theirs
        if len(first) == len(second) == 1 and len(mine) == len(theirs):
            pairs = list(zip(sorted(mine), sorted(theirs), strict=True))
        else:
            pairs = [(a, b) for a in mine for b in theirs if a != b and self._measure(a) == self._measure(b)]
        return [each for pair in pairs for each in self._differences_in(n, *pair)]

    def _measure(self, column: int) -> str:
        """Return the name of a column without its periods."""
        name = fold(self.table.columns[column])
        for start, end in reversed(spans_of_periods(name)):
            name = name[:start] + name[end:]
        return " ".join(name.split())

    def _all_rise(self, rows: frozenset[int], columns: Sequence[ColumnMention], direction: int) -> bool | None:
        """Return False if the figure of any of several rows changed the other way than is said of both, or all."""
        for n in rows if direction else ():
            cells = self.table.rows[n].cells
            pairs = [(a, b) for a in range(len(cells)) for b in range(len(cells)) if self._is_next_period(n, a, b)]
            named = [
                (cells[a], cells[b])
                for a, b in pairs
                if self._measure(cells[a].column or 0) == self._measure(cells[b].column or 0)
                and all(not each.columns.isdisjoint({cells[a].column, cells[b].column}) for each in columns)
            ]
            values = [(_signed(new), _signed(old)) for new, old in named]
            found = [(a > b) - (a < b) for a, b in values if a is not None and b is not None and min(a, b) > 0]
            if found and all(each == -direction for each in found):
                return False
        return None

    def _differences_in(self, n: int, one: int, other: int) -> list[int]:
        """Return in which direction a row's figure in one column differs from that in another."""
        cells = {cell.column: cell for cell in self.table.rows[n].cells}
        if one not in cells or other not in cells or cells[one].unit != cells[other].unit:
            return []
        a, b = _signed(cells[one]), _signed(cells[other])
        return [] if a is None or b is None or max(a, b) < 0 else [(a > b) - (a < b)]

    def is_of_other_sign(self, claim: str, fact: Fact, n: int, at: int) -> bool:
        """Return whether a claim calls a figure, a fact of it, a loss that its row calls income, or the reverse."""
        row = self.table.rows[n]
        if row.cells[at].unit == "percent" or self.change_at(n, at):
            return False
        said = frozenset(word.lower() for word in WORD.findall(fold(claim)))
        label = fold(row.label).lower()
        if either := EITHER.search(label):  # "Net income (loss)"
            is_below = either[2] in said
            return is_below != (either[1] in said) and is_below != row.cells[at].negative
        is_income = not _INCOME.isdisjoint(WORD.findall(label)) and "income tax" not in label
        if row.cells[at].negative:  # brackets need not mean a loss, but they do where others have none
            others = [cell for place, cell in enumerate(row.cells) if not self.change_at(n, place)]
            is_mixed = any(cell.values and not cell.negative for cell in others)
            is_written = _BELOW_ZERO.search(claim, max(0, fact.start - SIGN_CHARACTERS), fact.end) is not None
            return is_income and is_mixed and not is_written and said.isdisjoint(_LOSS | _NEGATIVE)
        return is_income and bool(said & _LOSS) and not said & _INCOME

    def _is_computed_change(self, n: int, at: int) -> bool:
        """Return whether a figure is the change between the row's first two, in percent or as an amount."""
        row = self.table.rows[n]
        if at < 2:
            return False
        change, new, old = (_signed(cell) for cell in (row.cells[at], *row.cells[:2]))
        if change is None or not new or not old:
            return False
        share = 100 * (new - old) / abs(old)
        return abs(share - change) <= 1 if row.cells[at].unit == "percent" else abs(new - old - change) < 1e-6

    def _compare_times(self, this: tuple[int, int], that: tuple[int, int]) -> int:
        row = self.table.rows[this[0]]
        mine, theirs = row.cells[this[1]], row.cells[that[1]]
        if self.table.columns and mine.column is not None and theirs.column is not None:
            a, b = (period_of(self.table.columns[each.column or 0]).order for each in (mine, theirs))
            return 0 if (0, 0, 0) in {a, b} else (a > b) - (a < b)
        # Without names: a percentage that is the change from the second figure to the first shows which is newer.
        is_change_known = any(self._is_computed_change(this[0], at) for at in range(2, len(row.cells)))
        return (that[1] > this[1]) - (that[1] < this[1]) if is_change_known else 0

    def _is_next_period(self, n: int, new: int, old: int) -> bool:
        """Return whether two cells of a row are of periods of one length, the first later than the second."""
        columns = [self.table.rows[n].cells[at].column for at in (new, old)]
        if not self.table.columns or None in columns:
            return False
        a, b = (period_of(self.table.columns[column or 0]) for column in columns)
        return a.months == b.months and a.order > b.order > (0, 0, 0)


def _beside(claim: str, starts: Sequence[int]) -> re.Match[str] | None:
    """Return what compares one row with another whose name, one of those that start at `starts`, follows."""
    return next((each for each in _BESIDE.finditer(claim) if each.end() in starts and min(starts) < each.start()), None)


def _signed(cell: TableCell) -> float | None:
    return None if cell.signed is None else float(cell.signed)


def is_order(word: str) -> bool:
    """Return whether a word says that a figure is higher or lower than another, or rose or fell."""
    lower = word.lower()
    return lower in _HIGHER or lower in _LOWER or (direction_of(lower) != 0 and lower.endswith(_VERB_ENDINGS))


def direction_of_order(word: str) -> int:
    """Return 1 for a word of rising or being higher, -1 for one of falling or being lower, 0 for any other."""
    lower = word.lower()
    return direction_of(lower) or (lower in _HIGHER) - (lower in _LOWER)


def _is_one(named: Sequence[frozenset[int]]) -> bool:
    return len(named) == 1 and len(named[0]) == 1


# --- words of cells ---

MIN_LETTERS = 3
"""Letters of a cell that names something: codes and marks stand for too much else."""
_CODE = re.compile(r"\d{3,4}|[A-Z]{1,3}-?\d{1,4}")
"""The first cell of a row that is known by its number: "202", "E10"."""
_MOMENTS = frozenset(("time", "date"))
"""Kinds of facts that a cell tells without a figure."""
_TOLD = frozenset((*_MOMENTS, "number", "fraction"))
"""Kinds of facts by which a claim tells a figure or a time."""
_CONTRASTS = word_lists("claim_words.txt")["contrasts"]
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
        if not _CONTRASTS.isdisjoint(tokens_of(self.claim)):
            return False
        if not self._is_denied and any(self._says_a_cell_of_another(row) for row in self.quoted):
            return True
        return any(self._answers_otherwise(row) for row in self.quoted if self._is_named(row))

    @property
    def names_only(self) -> bool:
        """Whether the claim names a quoted row and columns of times, and tells no time: "closed" of "Closes: 17:00"."""
        named = next((row for row in self.quoted if self._is_named(row)), None)
        if named is None or any(fact.kind in _TOLD for fact in facts_in(self.claim)):
            return False
        columns = {column for each in self._mentions(named) for column in each.columns}
        cells = [cell for cell in named.cells if cell.column in columns]
        return bool(cells) and all(any(fact.kind in _MOMENTS for fact in facts_in(cell.text)) for cell in cells)

    def texts(self, *, are_so: bool) -> Sequence[str]:
        """Return what names a quoted row, its columns and the words, times, or yes or no that the claim tells of it.

        `are_so`: as they are, or else otherwise. Empty if it tells none so.
        """
        row = next((row for row in self.quoted if self._is_named(row) and self._tells(row) is are_so), None)
        if row is None or not _CONTRASTS.isdisjoint(tokens_of(self.claim)):
            return ()
        said = [cell.text for cell in row.cells if self._says(cell.text) or self._says_time(cell.text)]
        return (self.table.caption, *self.table.columns, f"{row.group} {row.label}", *said)

    def _tells(self, row: TableRow) -> bool | None:
        """Return whether the claim tells what the row's cells say in the columns that it names; None if it tells none.

        Told are words, or else a "yes" or "no", which are told by what is said or denied of the column's name. A time
        may be told of another column by words besides ("open until"), but not where numbers name the columns.
        """
        mentions = self._mentions(row)
        cells = {cell.column: cell.text for cell in row.cells if cell.column is not None}
        named = {column for each in mentions for column in each.columns}
        if not named or any(len(each.columns) > 1 for each in mentions) or not named <= cells.keys():
            return None
        told = {column for column, text in cells.items() if self._says(text) and not _denies(text)}
        told |= {column for column in named if self._told_below(self.table.columns[column]) == cells[column]}
        times = {column for column, text in cells.items() if self._says_time(text)}
        if told | times >= named:
            return None if self._is_denied else True
        if all(has_digit(self.table.columns[column]) for column in named | times):
            told |= times
        if told:
            is_of_another = not self._is_denied and all(self._has_like(named, column) for column in told)
            return False if is_of_another and named.isdisjoint(told) else None
        answers = {answer_of(cells[column]) for column in named}
        return None if times or None in answers else answers == {not self._is_denied}

    def _has_like(self, named: Set[int], column: int) -> bool:
        """Return whether a column has cells like the named ones', so that a cell may be told of the wrong one."""

        def texts(at: int) -> set[str]:
            held = [cell.text.lower() for row in self.table.rows for cell in row.cells if cell.column == at]
            held += ["yes or no" for text in held if answer_of(text) is not None]
            held += ["time" for text in held if any(fact.kind in _MOMENTS for fact in facts_in(text))]
            return set(held)

        return all(not texts(column).isdisjoint(texts(other)) for other in named)

    def _mentions(self, row: TableRow) -> Sequence[ColumnMention]:
        """Return where the claim names columns, with words that are not the row's own."""
        own = frozenset(content_stems(row.label))
        return mentions_in(self.claim, self.table.columns, context="", own_words=own)

    @cached_property
    def _is_denied(self) -> bool:
        return count_negations(tokens_of(self.claim)) % 2 == 1

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

    def _says_time(self, cell: str) -> bool:
        """Return whether a cell is a time or a date that the claim says."""
        held = facts_in(cell)
        return bool(held) and all(each.kind in _MOMENTS and _moment(each) in self._moments for each in held)

    @cached_property
    def _moments(self) -> frozenset[object]:
        return frozenset(_moment(fact) for fact in facts_in(self.claim) if fact.kind in _MOMENTS)

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

    def _answers_otherwise(self, row: TableRow) -> bool:
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
            if self._says(cell.text) and not _denies(cell.text):
                continue
            if answer in (YES if self._is_denied else NO) and name and frozenset(content_stems(name)) <= self._said:
                return not frozenset(content_stems(name)) <= frozenset(content_stems(row.label))
        return False

    def _told_below(self, name: str) -> str:
        """Return what the claim tells behind a column's name and a colon, as an answer without a model does."""
        _, named, behind = f" {self.claim}".partition(f" {' '.join(name.split())}: ")
        return behind.partition(";")[0].strip() if name and named else ""


def _denies(cell: str) -> bool:
    """Return whether a cell denies with its words what it names: "not allowed", but not "closed"."""
    return answer_of(cell) is False and cell.strip().lower() not in NO


def _moment(fact: Fact) -> object:
    return (fact.date.month, fact.date.day) if fact.date else fact.values
