"""Binds the numbers of a claim to cells: each must stand in the row and in the column that the claim speaks of.

A row is named as in `rows.py`, a column as in `columns.py`. Where a claim names several rows or columns,
numbers may follow their names or come before them; a claim conflicts with its table only if neither way fits.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

from functions.query.grounding.arithmetic import Operand
from functions.query.grounding.columns import (
    ColumnMention,
    has_words_besides,
    is_change,
    mentions_in,
    period_of,
    spans_of_periods,
)
from functions.query.grounding.facts import Fact, facts_in, is_rounded
from functions.query.grounding.fitting import CellPlace, Fitting, common_columns
from functions.query.grounding.polarity import direction_of
from functions.query.grounding.quantities import CURRENCIES, PERIODS, read_number, unit_name
from functions.query.grounding.relations import Superlative, among_in, is_superlative
from functions.query.grounding.rows import NamedRows, Place, RowFinder, RowMention, rows_within, words_of
from functions.query.grounding.table_cells import TableCell, TableRow, scale_in
from functions.query.grounding.table_claims import (
    TableChanges,
    direction_of_order,
    is_order,
)
from functions.query.grounding.tables import Table, tables_in
from functions.query.grounding.words import WORD
from shared.lexical import fold
from shared.text import SEPARATOR

_WITHOUT = re.compile(r"\b(?:no|without)\s+(?:[^\W\d_]+\s+)?\Z", re.IGNORECASE)
"""Before a name of which no number is told: "has no minimum mark"."""
_AROUND_A_TIME = re.compile(
    r"\b(?:no|not|never|before|after|until|till|later|earlier|than|from)\b|n['’]t\b", re.IGNORECASE
)
"""What makes a date or time another one than that of the row: "later than 08:00", "not on 3 May"."""
_BESIDE = re.compile(r"\W*(?:(?:is|are|at|on)\W+){0,2}", re.IGNORECASE)
"""What stands between the name of a column and its time: "opens at 9:00"."""
_FROM = re.compile(r"\bfrom\s+(?:about |some |around )?\Z", re.IGNORECASE)
_PER = re.compile(r"\s*\b(?:an?|per|each|every)\s+([^\W\d_]+)", re.IGNORECASE)
"""By what a figure is counted."""
_FIGURE = re.compile(r"\d[\d.,'’\u00a0\u202f]*")

Conflict = Literal["", "row", "column", "sign", "order"]
AFTER_CHARACTERS = 24
AFTER_WORDS = 2
"""Characters and words behind a number that may say whether it rises or falls."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What a table says about a claim's numbers.

    `bound`: the positions (in the folded claim) of the numbers that are cells of the right row and column. `conflict`:
    what contradicts the table. `is_named`: whether the claim leaves open neither the row nor the column of any of them;
    `is_open`: whether it has numbers of the table that are neither bound nor certain to be of other cells. `texts`: the
    labels, names and captions of the bound cells, or of the rows that the claim names. `is_extreme`: whether the row
    that it calls the most or the least is that.
    """

    bound: frozenset[int] = frozenset()
    conflict: Conflict = ""
    is_named: bool = False
    is_open: bool = False
    texts: Sequence[str] = ()
    is_extreme: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a table is read with, besides its passage's text.

    `before`: the text of the passage before it, which may hold the table's names and caption. `scale`: that of the
    document's other tables, for one that does not say its own. `asked`: the question and titles. `elsewhere`: the facts
    of evidence outside tables, whose numbers are free.
    """

    before: str = ""
    scale: Decimal | None = None
    asked: str = ""
    elsewhere: Sequence[Fact] = ()


def compare_tables(
    claim: str, text: str, quoted: Sequence[Place], around: Surroundings | None = None
) -> "list[TableComparison]":
    """Return the comparisons of a claim with each table of a passage's text that a quoted place lies in."""
    around = around or Surroundings()
    compares = any(map(is_order, WORD.findall(claim))) or is_superlative(claim)
    tells_when = bool(_moments_of(facts_in(claim)))
    chosen_from = among_in(claim) if is_superlative(claim) else None
    if SEPARATOR not in text or not (_numbers_of(claim, PERIODS) or compares or tells_when):
        return []
    shift = len(around.before)
    places = [(start + shift, end + shift) for start, end in quoted]
    whole = around.before + text
    return [
        TableComparison(claim, table, _numbers_of(claim, _units_in(table), chosen_from), around, whole, places)
        for table in tables_in(whole)
        if any(table.start < end and start < table.end for start, end in places)
    ]


def binding_of(comparisons: "Sequence[TableComparison]") -> Binding:
    """Return what several tables say together: one that fits is enough."""
    found = [each.binding() for each in comparisons]
    if any(each.is_extreme for each in found):  # "the lowest fee" is of the table of fees
        found = [each for each in found if each.conflict != "order"]
    fitting = [each for each in found if not each.conflict and each.bound]
    if fitting:
        return max(fitting, key=lambda each: len(each.bound))
    return next((each for each in found if each.conflict), next(iter(found), Binding()))


def _is_in(fact: Fact, place: re.Match[str] | None) -> bool:
    return place is not None and place.start() <= fact.start < place.end()


def _numbers_of(claim: str, units: frozenset[str], but: re.Match[str] | None = None) -> Sequence[Fact]:
    """Return the numbers of a claim that may be values, in order; not of dates, of periods, or in the place `but`.

    A time ("8 weeks") may be a value where cells are in its unit (`units`).
    """
    folded = fold(claim)
    periods = spans_of_periods(folded)
    numbers = (
        fact
        for fact in facts_in(claim)
        if fact.kind == "number"
        and not _is_in(fact, but)
        and (fact.unit in units & PERIODS or not any(s < fact.end and fact.start < e for s, e in periods))
    )
    return sorted(numbers, key=lambda fact: fact.start)


def _units_in(table: Table) -> frozenset[str]:
    return frozenset(cell.unit for row in table.rows for cell in row.cells)


@dataclass(frozen=True)
class TableComparison:
    """One claim beside one table."""

    claim: str
    table: Table
    stated: Sequence[Fact]
    around: Surroundings
    text: str
    quoted: Sequence[Place]

    def binding(self) -> Binding:
        """Return what the table says about the numbers, and about which figure is higher or rose."""
        found = self._binding()
        is_turned = bool(self.stated) and not found.conflict and self._is_ordered() is False
        return Binding(conflict="order") if is_turned else found

    def _binding(self) -> Binding:
        if conflict := self._conflict_of_dates():
            return Binding(conflict=conflict)
        is_extreme = self._is_extreme()
        if is_extreme is False:
            return Binding(conflict="order")
        if not self.stated:
            is_ordered = self._is_ordered()
            is_told = bool(is_extreme or is_ordered)
            texts = self._texts(frozenset(self._named_rows)) if is_told else ()
            conflict = "order" if is_ordered is False else ""
            return Binding(
                self._counted_rows,
                conflict,
                texts=texts,
                is_extreme=is_told,
                is_open=bool(self._counted_rows) and not is_told,
            )
        if not self._held:
            rows = frozenset(n for each in self.rows.mentions for n in each.rows)
            return Binding(texts=self._texts(rows), is_open=self._has_figures_of_another_unit(rows))
        bound = self._fitting.fit(self._held, self.columns)
        if bound is None:
            conflict = self._conflict()
            return Binding(conflict=conflict, is_open=not conflict)
        if conflict := self._changes(bound):
            return Binding(conflict=conflict)
        if self._is_wrong_extreme(bound):
            return Binding(conflict="order")
        rows = frozenset(n for places in bound.values() for n, _ in places)
        is_named = self.rows.by in {"label", "most"} and self._is_named(bound)
        is_named = is_named and not self._has_figures_of_another_unit(rows)
        return Binding(
            frozenset(bound) | {each.start for each in self._ranges},
            is_named=is_named,
            is_open=not is_named,
            texts=self._texts(rows),
        )

    @cached_property
    def _counted_rows(self) -> frozenset[int]:
        """Where the claim counts the quoted rows, of which it calls one the most: "of the *three*"."""
        chosen_from = among_in(self.claim) if is_superlative(self.claim) else None
        count = sum(map(self._finder.is_quoted, self.table.rows))
        return frozenset(
            each.start for each in facts_in(self.claim) if _is_in(each, chosen_from) and count in each.values
        )

    @cached_property
    def _finder(self) -> RowFinder:
        return RowFinder(self.claim, self.table, self.quoted)

    @cached_property
    def rows(self) -> NamedRows:
        """The rows that the claim names, by a number in the range that a row is of or by words; or the quoted ones."""
        named, ranges = self._finder.rows, self._ranges
        if not ranges:
            return named
        within = frozenset.intersection(*(each.rows for each in ranges))
        if named.by not in {"label", "most"}:
            return NamedRows([RowMention(each.start, within) for each in ranges], "label")
        both = [RowMention(each.start, each.rows & within) for each in named.mentions]
        return NamedRows(both, named.by) if all(each.rows for each in both) else named

    @cached_property
    def _ranges(self) -> Sequence[RowMention]:
        """The numbers that are in no cell and in no other evidence, but in the range that a row's label is."""
        elsewhere = frozenset[Decimal]().union(*(each.values for each in self.around.elsewhere))
        found = (
            RowMention(fact.start, rows_within(fact, self.table))
            for fact in facts_in(self.claim)
            if fact.kind == "number" and not self._cells_with(fact) and not fact.values & elsewhere
        )
        return [each for each in found if each.rows]

    @cached_property
    def columns(self) -> Sequence[ColumnMention]:
        """The columns of figures that the claim names."""
        figures = frozenset(cell.column for row in self.table.rows for cell in row.cells if cell.values)
        found = [each for each in self._all_columns if each.columns & figures]  # "split" names none
        return [each for each in found if not _WITHOUT.search(fold(self.claim), 0, each.start)]

    @cached_property
    def _all_columns(self) -> Sequence[ColumnMention]:
        names = (words_of(self.table.rows[n].label) for each in self.rows.mentions for n in each.rows)
        context = f"{self.around.asked}\n{self.text}"
        return mentions_in(self.claim, self.table.columns, context=context, own_words=frozenset[str]().union(*names))

    @cached_property
    def numbers(self) -> Sequence[Fact]:
        """The numbers of the claim, except those in the names of columns."""
        names = [(each.start, each.end) for each in self.columns]
        names += [(each.start, each.start + 1) for each in self._ranges]
        return [fact for fact in self.stated if not any(s < fact.end and fact.start < e for s, e in names)]

    @cached_property
    def _held(self) -> Sequence[Fact]:
        """The numbers of the claim that stand in the table."""
        return [fact for fact in self.numbers if self._cells[fact.start]]

    @cached_property
    def _cells(self) -> "dict[int, frozenset[CellPlace]]":
        """The cells with each number, by where it begins in the claim."""
        return {fact.start: self._cells_with(fact) for fact in self.numbers}

    @cached_property
    def _fitting(self) -> Fitting:
        return Fitting(self.claim, self.table, self.rows.mentions, self.numbers, self._held, self._cells)

    # --- numbers and cells ---

    def _cells_with(self, fact: Fact) -> frozenset[CellPlace]:
        """Return the places (row, position) of the cells with a number."""
        return frozenset(
            (n, at)
            for n, row in enumerate(self.table.rows)
            for at, cell in enumerate(row.cells)
            if self._is_value(fact, cell, row)
        )

    def _is_value(self, fact: Fact, cell: TableCell, row: TableRow) -> bool:
        if not cell.values:
            held = facts_in(cell.text)
            return any(fact.values & each.values and each.unit in {"", fact.unit} for each in held)
        name = self.table.name_of(cell)
        around = f"{row.label} {row.group} {name} {self.table.caption}"
        if (fact.unit == "percent") != (cell.unit == "percent") and not (
            fact.unit == "percent" and not cell.unit and re.search(r"%|\bpercent", around)
        ):
            return False
        if fact.unit not in {"", "percent"} and cell.unit not in {"", fact.unit}:
            return False
        if fact.negative and not cell.negative:
            return False
        scale = self._scale(row)
        values = set(cell.values)
        if scale is not None and self._is_scaled(cell, row):
            scaled = {value * scale for value in cell.values}
            values = scaled if fact.scaled else values | scaled
        return any(is_rounded(fact, value) for value in values)

    def _has_figures_of_another_unit(self, rows: frozenset[int]) -> bool:
        """Return whether figures of some rows, in units or scales that are not theirs, are further numbers of it."""
        figures = [cell.values for n in rows for cell in self.table.rows[n].cells]
        elsewhere = frozenset[Decimal]().union(*(each.values for each in self.around.elsewhere))
        further = [fact for fact in self.numbers if not self._cells[fact.start]]
        said = [fact for fact in further if (fact.unit or fact.scaled) and not fact.values & elsewhere]
        written = [read_number(digits.group().rstrip(".,")) for fact in said if (digits := _FIGURE.search(fact.text))]
        return any(not each.values.isdisjoint(values) for each in written for values in figures)

    # --- conflicts ---

    def _conflict(self) -> Conflict:
        """Return what does not fit, if it is certain: a small number may be in other evidence, or say how many."""
        certain = [fact for fact in self._held if self._is_certain(fact)]
        if not certain:
            return ""
        if self._fitting.fit(certain, []) is None:
            return "row" if self.rows.by == "label" and not self._may_mean_others(certain) else ""
        return "column" if self.columns and self._fitting.fit(certain, self.columns) is None else ""

    def _may_mean_others(self, facts: Sequence[Fact]) -> bool:
        """Return whether the row that a number stands in has words of the claim that no named row has.

        A row without content words ("For") may always be meant: a claim cannot be seen to name it.
        """
        named = frozenset[str]().union(
            *(words_of(self.table.rows[n].label) for each in self.rows.mentions for n in each.rows)
        )
        said = frozenset(self._finder.places) - named
        labels = (words_of(self.table.rows[n].label) for fact in facts for n, _ in self._cells[fact.start])
        return any(not words or said & words for words in labels)

    def _is_certain(self, fact: Fact) -> bool:
        free = any(fact.values & each.values for each in self.around.elsewhere)
        words = f"{self.table.caption}\n" + "\n".join(f"{row.label} {row.group}" for row in self.table.rows)
        free = free or any(fact.values & each.values for each in facts_in(words) if each.kind in {"number", "part"})
        return not free and (bool(fact.unit) or fact.scaled or sum(map(str.isdigit, fact.text)) > 2 or "." in fact.text)

    def _changes(self, bound: "dict[int, frozenset[CellPlace]]") -> Conflict:
        """Return "sign" for a rise that is a fall in the table, "order" for "from" and "to" exchanged."""
        for fact in self._held:
            if all(self._is_per_another(fact, n, at) for n, at in bound[fact.start]):
                return "column"
            changes = [self._changed.change_at(n, at) for n, at in bound[fact.start]]
            if all(changes) and set(changes) == {-self._direction_at(fact)}:
                return "sign"
            if all(self._changed.is_of_other_sign(self.claim, fact, n, at) for n, at in bound[fact.start]):
                return "sign"
        for first, second in pairwise(self._held):
            pair = (first, second) if _FROM.search(self.claim, 0, first.start) else (second, first)
            if _FROM.search(self.claim, 0, pair[0].start) and self._changed.is_later(
                bound[pair[0].start], bound[pair[1].start]
            ):
                return "order"
        return ""

    def _is_per_another(self, fact: Fact, n: int, at: int) -> bool:
        """Return whether a claim tells a figure by another time than its column: "€5 a week" below "Cost a month"."""
        said = _PER.match(self.claim, fact.end)
        told = [unit_name(word.lower()) for word in _PER.findall(self.table.name_of(self.table.rows[n].cells[at]))]
        return (
            said is not None
            and not PERIODS.isdisjoint(told)
            and (period := unit_name(said[1].lower())) in PERIODS
            and period not in told
        )

    def _direction_at(self, fact: Fact) -> int:
        """Return 1 or -1 for the nearest word of rising or falling beside a number; 0 for none."""
        before = WORD.findall(self.claim[self._fitting.end_before(fact) : fact.start])
        after = WORD.findall(self.claim[fact.end : fact.end + AFTER_CHARACTERS])[:AFTER_WORDS]
        directions = map(direction_of_order, (*reversed(before), *after))
        return next((each for each in directions if each), 0)

    # --- dates and times in cells ---

    def _conflict_of_dates(self) -> Conflict:
        """Return "row" or "column" if a date or time stands in another row or column than the one that is named."""
        named = self._named_rows
        if len(named) != 1:
            return ""
        moments = _moments_of(facts_in(self.claim))
        if len(moments) != 1 or moments & _moments_of(self.around.elsewhere) or _AROUND_A_TIME.search(self.claim):
            return ""
        rows = {n for n, row in enumerate(self.table.rows) if moments & _moments_in(row)}
        if not rows & named:
            return "row" if rows else ""
        cells = self.table.rows[min(named)].cells
        held = {cell.column for cell in cells if moments & _moments_of(facts_in(cell.text))} - {None}
        fact = next(fact for fact in facts_in(self.claim) if _moment_of(fact) is not None)
        beside = [each for each in self._all_columns if _BESIDE.fullmatch(self.claim, each.end, fact.start)]
        columns = frozenset[int]().union(*(each.columns for each in beside))
        of_times = [cell for cell in cells if cell.column in columns and _moments_of(facts_in(cell.text))]
        return "column" if held and of_times and held.isdisjoint(columns) else ""

    @cached_property
    def _named_rows(self) -> frozenset[int]:
        """The rows whose labels the claim says."""
        return frozenset(n for each in self.rows.mentions for n in each.rows if self.rows.by == "label")

    @cached_property
    def _named_columns(self) -> frozenset[int]:
        """The columns that any of the claim's words name."""
        return frozenset(column for each in self.columns for column in each.columns)

    # --- comparisons without numbers ---

    @cached_property
    def _changed(self) -> TableChanges:
        return TableChanges(self.table)

    def _is_extreme(self) -> bool | None:
        """Return whether the row that the claim calls the most or least is that; None if it cannot be told."""
        if len(self._named_rows) != 1 or not is_superlative(self.claim):
            return None
        columns = common_columns(self.columns) or frozenset()
        return Superlative(self.claim, self.table, min(self._named_rows), columns, self._quoted_rows).is_right()

    def _is_wrong_extreme(self, bound: "dict[int, frozenset[CellPlace]]") -> bool:
        """Return whether the claim calls the one figure that it tells the most or least of a column, and it is not."""
        places = [place for each in bound.values() for place in each]
        if len(places) != 1 or len(self.stated) != 1 or places[0][0] not in self._named_rows:
            return False
        [(row, at)] = places
        column = self.table.rows[row].cells[at].column
        return column is not None and Superlative(
            self.claim, self.table, row, frozenset({column}), self._quoted_rows
        ).is_wrong_in(column)

    @cached_property
    def _quoted_rows(self) -> frozenset[int]:
        return frozenset(n for n, row in enumerate(self.table.rows) if self._finder.is_quoted(row))

    def _is_ordered(self) -> bool | None:
        """Return whether the table shows "A is higher than B" or "A rose", False if the opposite; None if neither."""
        if self.rows.by not in {"label", "most"}:
            return None
        shown = self._changed.shows(self.claim, self.rows.mentions, self.columns, common_columns(self.columns))
        rows = frozenset(n for each in self.rows.mentions for n in each.rows)
        return None if shown and not any(self._finder.is_quoted(self.table.rows[n]) for n in rows) else shown

    # --- what else the claim says ---

    def _is_named(self, bound: "dict[int, frozenset[CellPlace]]") -> bool:
        """Return whether the claim, or else the question, leaves no other cell of the rows in doubt."""
        asked = mentions_in(self.around.asked, self.table.columns, context=self.text, own_words=frozenset())
        meant = common_columns(asked) if asked and not self.columns else None
        # Figures that are all told leave no doubt between them where a column is named.
        alone = (places for places in bound.values() if len(places) == 1)
        told = frozenset().union(*alone) if self.columns else frozenset()
        for fact in self._held:
            cells = [self.table.rows[n].cells[at] for n, at in bound[fact.start]]
            if any(cell.unit == "percent" for cell in cells) or self._fitting.is_reference(fact):
                continue
            row_values = [
                cell
                for n, _ in bound[fact.start]
                for at, cell in enumerate(self.table.rows[n].cells)
                if cell.values and self._may_be_meant(cell, cells) and (n, at) not in told - bound[fact.start]
            ]
            same = {cell.unit for cell in cells} - {""}
            others = [cell for cell in row_values if (cell.unit in same if same else cell.unit != "percent")]
            if len({cell.signed for cell in others}) > 1 and (
                meant is None or not any(cell.column in meant for cell in cells)
            ):
                return any(direction_of(word.lower()) for word in WORD.findall(self.claim))
        return True

    def _may_be_meant(self, other: TableCell, cells: Sequence[TableCell]) -> bool:
        """Return whether the claim may as well mean another cell, by what it says of the columns."""
        names = [each.columns for each in self.columns if any(cell.column in each.columns for cell in cells)]
        is_told = not all(has_words_besides(self.table.name_of(cell), self.claim) for cell in cells)
        is_more = is_told and has_words_besides(self.table.name_of(other), self.claim)
        return all(other.column in each for each in names) and not (names and is_more)

    def _texts(self, rows: frozenset[int]) -> Sequence[str]:
        table = self.table
        return (table.caption, *table.columns, *(f"{table.rows[n].group} {table.rows[n].label}" for n in sorted(rows)))

    # --- numbers to calculate with ---

    def operands(self) -> Iterator[Operand]:
        """Yield the figures of the quoted rows."""
        table = self.table
        named = frozenset(n for each in self.rows.mentions for n in each.rows if self.rows.by != "quote")
        for n, row in enumerate(table.rows):
            if self._finder.is_quoted(row):
                for cell in row.cells:
                    if cell.values:
                        yield self._operand(
                            cell, row, is_named=n in named, in_column=cell.column in self._named_columns
                        )

    def _operand(self, cell: TableCell, row: TableRow, *, is_named: bool, in_column: bool) -> Operand:
        name = self.table.name_of(cell)
        period = period_of(name)
        value = cell.signed or Decimal(0)
        scale = (self._scale(row) if self._is_scaled(cell, row) else None) or Decimal(1)
        digits = _FIGURE.search(cell.text)
        return Operand(
            value * scale,
            f"{'−' if cell.negative else ''}{digits.group() if digits else cell.text}",
            cell.unit,
            row.label,
            cell.column,
            kind="change" if is_change(name) else f"{period.months} {period.to_date}" if self._has_periods else "",
            order=period.order if any(period.order) else (),
            is_named=is_named,
            in_column=in_column,
            scale=scale,
        )

    @cached_property
    def _has_periods(self) -> bool:
        """Whether the columns are of times; else "Annual" is the name of something."""
        return any(any(period_of(name).order) for name in self.table.columns)

    def _scale(self, row: TableRow) -> Decimal | None:
        return row.scale or self.table.scale or self.around.scale

    def _is_scaled(self, cell: TableCell, row: TableRow) -> bool:
        name = self.table.name_of(cell)
        if any(scale_in((other,)) for other in self.table.columns) and not scale_in((name,)):
            return False  # the scale of another column: "Loans (thousands)", "Per head"
        return cell.unit in {"", *CURRENCIES} and not re.search(r"(?i)\bper\b", f"{row.label} {row.group} {name}")


def _moment_of(fact: Fact) -> tuple[object, ...] | None:
    """Return the day or the time that a fact tells; None for one that tells none, or only a month or year."""
    if fact.kind == "date" and fact.date is not None and fact.date.day and not fact.date.swapped:
        return fact.date.month, fact.date.day, fact.date.year
    return divmod(int(min(fact.values)), 60) if fact.kind == "time" else None


def _moments_of(facts: Iterable[Fact]) -> frozenset[tuple[object, ...]]:
    return frozenset(moment for fact in facts if (moment := _moment_of(fact)) is not None)


@lru_cache(maxsize=256)
def _moments_in(row: TableRow) -> frozenset[tuple[object, ...]]:
    return _moments_of(fact for text in (row.label, *(cell.text for cell in row.cells)) for fact in facts_in(text))
