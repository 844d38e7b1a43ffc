"""What a table's row is worth as an answer by its label, its cells and its columns (`statement_scores.py`)."""

from collections import Counter
from collections.abc import Sequence

from functions.query.grounding.ranges import is_in_range
from functions.query.grounding.table_cells import NO, YES, TableRow
from functions.query.grounding.tables import Table, row_at
from functions.query.grounding.words import content_stems, other_words_of
from functions.query.retrieval.passages import Passage
from functions.query.understanding.days import days_asked, days_in, is_in_period
from functions.query.writing.asked import Asked, Kind
from functions.query.writing.cells import (
    asked_share,
    compares_cells,
    is_label_asked,
    is_measure_named,
    is_row_named,
    is_whole_label_asked,
)
from functions.query.writing.row_doubts import ToldSpan, contradicts, is_another_table_named
from functions.query.writing.statements import Statement
from shared.text import SEPARATOR, row_cells

_NO_STEMS: frozenset[str] = frozenset()
_NAME = "name"
YES_OR_NO = 1.3
"""Factor for a row that says yes or no where that is asked."""
VERDICTS = 2.0
"""Factor for a row whose whole label is in the question "which …", and whose cells all say yes or no of a column."""
MIN_VERDICTS = 2
ASKED_FIGURE = 3.0
"""Factor for the row of whose label most is asked for, with a figure of the year that is asked for; nearer to 1 for
those of whose label less is: "iPhone" comes before "Total net sales" where the iPhone's net sales are asked for."""
CELLS_COMPARED = 2.0
"""Factor for a row about what is asked, where it is asked which of its columns has most, or two of them are named."""
THAT_ROW, NAMED_ROW, ANOTHER_ROW = 3.0, 8.0, 0.5
"""Factors for the row with the range ("6 to 9", "May to July"), or the code ("B") or measure ("10 W"), that is asked
for, and for rows with another one."""
CONTRADICTS = 0.25
"""Factor for a row that says no, or yes, where the question asks for what is not so: "Nuts: –" for "with nuts"."""
WHOLE_LABEL = 1.5
"""Factor for a row whose whole label is in the question; figures of years have `ASKED_FIGURE`."""
THING = 1.6
"""Factor for a row of a table of what is asked for: "which hotel" is answered by `Place | Hotel | Nights`."""
COMPARED_THING = 3.0
"""The same where it is asked which of them has the most or the least."""
CELL_ASKED = 2.0
"""Factor for a row whose whole label is asked for, and one of its table's columns: "Dev" and "on Thursday"."""


def fitness_of_row(asked: Asked, passage: Passage, statement: Statement, wanted: frozenset[str]) -> float:
    """Return the factor for what a row is labelled with, and for its cells."""
    fitness, language = 1.0, statement.language
    start = statement.start + len(passage.above)
    row, told = row_at(passage.whole, start), ToldSpan(passage, statement.start, statement.end)
    if (
        row
        and row[0].columns
        and not asked.years
        and is_whole_label_asked(row[1], wanted - inherited_stems(asked, language), language)
        and not is_another_table_named(asked.text, told)
    ):
        fitness *= WHOLE_LABEL
        if _is_column_asked(*row, asked.text, wanted, language):
            fitness *= CELL_ASKED
        if asked.for_name and _tells_which(row[1], language):
            fitness *= VERDICTS
    verdict = asked.kind is Kind.YES_NO
    if contradicts(asked.text, told, verdict=verdict):
        fitness *= CONTRADICTS
    if is_of_thing(asked, statement):
        fitness *= COMPARED_THING if asked.extreme_of_row else THING
    if row is None or is_label_asked(row[1], wanted, language):
        if asked.kind is Kind.YES_NO and statement.has_yes_or_no:
            fitness *= YES_OR_NO
        if row and compares_cells(*row, wanted, language, asked.extreme_of_row):
            fitness *= CELLS_COMPARED
    label = statement.text.partition(SEPARATOR)[0]
    in_range = is_in_range(label, asked.without_years, language) if asked.may_have_number else None
    if in_range is not None:
        fitness *= THAT_ROW if in_range else ANOTHER_ROW
    in_period = is_in_period_of_row(asked.text, statement.text)
    if in_period is not None:
        fitness *= THAT_ROW if in_period else ANOTHER_ROW
    is_named = is_row_named(passage.whole, start, asked.text)
    if is_named is None and asked.may_have_number:
        is_named = is_measure_named(passage.whole, start, asked.text)
    if is_named is not None:
        fitness *= NAMED_ROW if is_named else ANOTHER_ROW
    return fitness


def _tells_which(row: TableRow, language: str) -> bool:
    """Return whether a row tells for which columns something is so: "Managing buckets | Yes | No | Yes"."""
    says = [cell.text.lower() in YES | NO for cell in row.cells]
    return len(says) >= MIN_VERDICTS and all(says) and len(content_stems(row.label, language)) >= MIN_VERDICTS


def is_in_period_of_row(question: str, row: str) -> bool | None:
    """Return whether a row is for a period ("16 May to 30 September") that a question's date or month is in.

    None if it is for none, or the question names no time of the year.
    """
    compared = (is_in_period(question, cell) for cell in row_cells(row))
    return next((each for each in compared if each is not None), None)


def _is_column_asked(table: Table, row: TableRow, question: str, wanted: frozenset[str], language: str) -> bool:
    """Return whether a question names one column beside a row's label: by its day, or a word of its own."""
    days, _ = days_asked(question)
    if days and sum(days_in(name) == days for name in table.columns) == 1:
        return True
    besides = wanted - frozenset(content_stems(row.label, language))
    besides = besides.union(*(other_words_of(stem, language) for stem in besides))
    names = [frozenset(content_stems(name, language)) for name in table.columns]
    held = Counter(stem for name in names for stem in name)
    return sum(any(held[stem] == 1 for stem in name & besides) for name in names) == 1


def inherited_stems(asked: Asked, language: str) -> frozenset[str]:
    """Return the stems of the words that a question takes over and has not itself."""
    if not asked.inherited:
        return _NO_STEMS
    typed = content_stems(asked.text.replace(asked.inherited, " "), language)
    return frozenset(content_stems(asked.inherited, language)).difference(typed)


def is_of_thing(asked: Asked, statement: Statement) -> bool:
    """Return whether a statement is a row whose table has a column, or labels, named after what is asked for."""
    if not (asked.things and statement.is_row):
        return False
    header = next((line for line in reversed(statement.context.split("\n")) if SEPARATOR in line), "")
    return any(stems_of_kind(cell, statement.language) in asked.things for cell in row_cells(header) if cell)


def stems_of_kind(column: str, language: str) -> Sequence[str]:
    """Return the stems of what a column holds, by its name: of programmes in "Programme" and in "Programme name"."""
    stems = content_stems(column, language)
    return stems[:-1] if len(stems) > 1 and stems[-1] == _NAME else stems


def share_asked(asked: Asked, passage: Passage, statement: Statement) -> float:
    """Return how much of a row's label is asked for, if it has a figure of the year that is asked for; else 0."""
    if not (asked.years and statement.is_row and asked.for_figure):
        return 0.0
    wanted = frozenset(content_stems(asked.text, statement.language))
    # Tables are read only where a row may be asked for.
    text = passage.whole
    if wanted.isdisjoint(statement.stems) or not any(year in text for year in asked.years):
        return 0.0
    return asked_share(text, statement.start + len(passage.above), wanted, asked.years, statement.language)
