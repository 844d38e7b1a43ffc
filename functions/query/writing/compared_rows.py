"""Rows of tables that a question compares: what has the most, all that are alike, and none that sums them up."""

from collections.abc import Sequence

from functions.query.grounding.tables import row_at
from functions.query.grounding.words import WORD, content_stems
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import DEGREES
from functions.query.writing.asked import Asked, Kind
from functions.query.writing.cells import compares_cells, extreme_rows, is_label_asked, is_of_all, is_other_total
from functions.query.writing.row_scores import stems_of_kind
from functions.query.writing.statement_scores import Candidate
from functions.query.writing.statements import Statement
from shared.text import header_at, row_cells

COMPARED = 0.5
"""Minimum score of a row to be compared with others, as a share of the best one's."""
LABELS = 2
"""Columns that may say what the rows are: the second where the first has codes."""
MIN_ALIKE = 3
"""Minimum rows with the cell that a question names, to be told as its list."""


def without_totals(asked: Asked, ranked: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the statements without rows that sum up others, if the question does not name them."""

    def is_total(statement: Statement) -> bool:
        stems = frozenset(content_stems(asked.text, statement.language))
        return statement.is_row and is_other_total(statement.text, stems, statement.language)

    return [each for each in ranked if not is_total(each.statement)]


def with_compared_first(asked: Asked, ranked: Sequence[Candidate], passages: Sequence[Passage]) -> Sequence[Candidate]:
    """Return the statements with a row first that tells what has the most, if the best one cannot: it has no such word.

    "Quiet pumps for boats" does not say which is the quietest; "Noise | 41 | 46" does.
    """
    best = ranked[0]
    if best.statement.is_row or not DEGREES.isdisjoint(WORD.findall(best.statement.text.lower())):
        return ranked
    wanted = frozenset(content_stems(asked.text, best.statement.language))
    rows = [each for each in ranked if each.statement.is_row and each.score >= COMPARED * best.score]
    for each in rows:
        passage, language = passages[each.passage], each.statement.language
        row = row_at(passage.whole, len(passage.above) + each.statement.start)
        if (
            row
            and compares_cells(*row, wanted, language, asked.extreme_of_row)
            and is_label_asked(row[1], wanted, language)
        ):
            return [each._replace(score=best.score), *(other for other in ranked if other is not each)]
    return ranked


def extreme_rows_first(asked: Asked, ranked: Sequence[Candidate], passages: Sequence[Passage]) -> Sequence[Candidate]:
    """Return the rows that have the most, or the least, if the best statements are rows to compare; else none."""
    best = ranked[0]
    if asked.extreme_of_row and not best.statement.is_row:
        best = next((each for each in ranked if _names_rows(asked, each, passages)), best)
    if not (asked.extreme and best.statement.is_row):
        return ()
    passage, language = passages[best.passage], best.statement.language
    named = _names_rows(asked, best, passages)
    is_of_rows = bool(named)
    of_table = [
        each
        for each in ranked
        if each.statement.is_row
        and (each.passage == best.passage or (is_of_rows and _are_of_one_document(passage, passages[each.passage])))
    ]
    least = COMPARED * max((each.score for each in of_table if not is_of_all(each.statement.text)), default=0.0)
    rows = [each for each in of_table if each is not best and (is_of_rows or each.score >= least)]
    rows = [best, *rows]
    places = [(passages[each.passage].whole, len(passages[each.passage].above) + each.statement.start) for each in rows]
    # What the rows are says nothing about what is compared.
    measured = [stem for stem in content_stems(asked.measured, language) if stem not in named]
    found = extreme_rows(places, measured, asked.years, language, asked.extreme, asked.rank)
    return [rows[number]._replace(score=best.score) for number in found]


def _names_rows(asked: Asked, row: Candidate, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the words of a question, as stems, that name what a table's rows are, by its first or second column."""
    if not row.statement.is_row:
        return ()
    passage = passages[row.passage]
    header = header_at(passage.whole, len(passage.above) + row.statement.start)
    names = row_cells(passage.whole[slice(*header)])[:LABELS] if header else ()
    for name in names:
        kind = tuple(stems_of_kind(name, row.statement.language))
        if kind and any(tuple(thing[-len(kind) :]) == kind for thing in asked.things):
            return kind
    return ()


def _are_of_one_document(one: Passage, other: Passage) -> bool:
    return (one.document_id, one.section) == (other.document_id, other.section)


def rows_alike(asked: Asked, ranked: Sequence[Candidate], passages: Sequence[Passage]) -> Sequence[Candidate]:
    """Return the rows that share the cell which a question for a list names, in their order, if the best one has it."""
    best = ranked[0]
    is_for_rows = asked.kind is Kind.LIST or (asked.gathers and asked.kind is not Kind.YES_NO)
    if not (best.statement.is_row and is_for_rows) or asked.extreme or asked.years:
        return ()
    language, document = best.statement.language, passages[best.passage].document_id
    stems = content_stems(asked.text, language)

    def cells_of(row: str) -> Sequence[Sequence[str]]:
        return [tuple(content_stems(cell, language)) for cell in row_cells(row)]

    cells = cells_of(best.statement.text)
    named = max((cell for cell in cells if cell and _stand_together(cell, stems)), key=len, default=())
    alike = [
        each
        for each in ranked
        if named and each.statement.is_row and passages[each.passage].document_id == document
        if len(others := cells_of(each.statement.text)) == len(cells) and others[cells.index(named)] == named
    ]
    in_order = sorted(alike, key=lambda each: passages[each.passage].char_start + each.statement.start)
    return in_order if len(alike) >= MIN_ALIKE else ()


def _stand_together(part: Sequence[str], stems: Sequence[str]) -> bool:
    return any(tuple(stems[at : at + len(part)]) == tuple(part) for at in range(len(stems) - len(part) + 1))
