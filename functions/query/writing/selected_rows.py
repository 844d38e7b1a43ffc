"""Rows of a table that meet the condition of a question, or two: "Which dishes contain sesame?", "Who is absent?".

Nothing is selected unless every word of the question is accounted for, and the whole table is at hand: a list that
leaves one out, or has one that does not belong, is worse than none.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from functions.query.grounding.injection import is_speaker
from functions.query.grounding.table_cells import read_cell
from functions.query.grounding.words import has_digit, is_stop_word, other_words_of
from functions.query.retrieval.neighbours import Tables
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import DEGREES, without_contractions
from functions.query.understanding.vocabulary import are_of_family
from functions.query.writing.asked import Asked
from functions.query.writing.row_conditions import Meets, conditions_in, limits_in, may_mean
from functions.query.writing.statement_scores import PassageSpan
from functions.query.writing.table_words import (
    ANY_KIND,
    ASIDE,
    CROSSES,
    JOINS,
    NO,
    NONE,
    NOT,
    OPENS,
    OPENS_ALONE,
    TURNS,
    YES,
    AskedWord,
    comparison_in,
    keys_of,
    words_for,
    words_in,
)
from functions.query.writing.whole_tables import WholeRow, WholeTable, tables_of
from shared.text import NOTHING, SEPARATOR, TIME, is_dash

_OF_PEOPLE, _MODAL, _OFFERS = words_for("people"), words_for("modal"), words_for("offers")


class SelectedRow(NamedTuple):
    """A row's span in its passage, and what is told of it: what it is, and how it meets the condition.

    `is_nearest`: no row meets it, and this one comes nearest.
    """

    span: PassageSpan
    text: str
    is_nearest: bool = False


def selected_rows(question: str, passages: Sequence[Passage]) -> Sequence[SelectedRow]:
    """Return the rows that meet the condition of a question for all that do, in order; none if that is not certain.

    They are of one document; tables of it with the same columns are read as one. Those of a question for how many meet
    it are to be counted.
    """
    which = which_are_counted(question)
    question = without_contractions(which or question)
    if not asks_which(question):
        return ()
    for document in dict.fromkeys(each.document_id for each in passages):
        found = _selected_in(question, passages, document, are_counted=bool(which))
        if found is not None:
            return found
    best = passages[0].document_id if passages else ""
    return () if which else _all_of_kind(question, tables_of_document(passages, best))


def tables_needed(question: str) -> Tables:
    """Say of which tables no row may be missing: of all where rows meet a condition, or one of them has the most.

    Of those that a passage begins where things are counted, which may be rows.
    """
    which = which_are_counted(question)
    if asks_which(which or question) or Asked.of(question).extreme_of_row:
        return "whole"
    return "begun" if which else ""


def asks_which_not(question: str) -> bool:
    """Say whether a question asks for all that do not meet a condition: sentences with its words tell the others."""
    said = {token.word for token in words_in(without_contractions(question), "en")}
    return asks_which(question) and not said.isdisjoint(NO | NOT)


def asks_for_limit(question: str) -> bool:
    """Say whether a question asks for all whose figure is within a limit: "Which bikes cost more than €200?"."""
    return asks_which(question) and limits_in(question) is not None


def are_rows_asked_for(question: str, passages: Sequence[Passage], document: str) -> bool:
    """Say whether a question asks for things that are the rows of a table of a document, so that a sentence is no list.

    "Which parts are out of stock?" beside a table with a column "Part no.".
    """
    question = without_contractions(which_are_counted(question) or question)
    if not asks_which(question) or question.lower().startswith("was "):  # more often English than German
        return False
    return any(_is_kind_of_rows(question, table) for table in tables_of_document(passages, document) if table.rows)


def _is_kind_of_rows(question: str, table: WholeTable) -> bool:
    tokens = words_in(question, table.language)
    kind = _kind_of(tokens, table)
    if kind is None:
        return False
    is_alone = all(tokens[at].word in OPENS for at in kind)
    is_of_people = not _OF_PEOPLE.isdisjoint(keys_of(table.names[0], table.language))
    return _has_kind(question, table) or (is_alone and (is_of_people or tokens[0].word not in OPENS_ALONE))


def _selected_in(
    question: str, passages: Sequence[Passage], document: str, *, are_counted: bool
) -> Sequence[SelectedRow] | None:
    """Return the rows of a document's tables; empty if it is not certain that these are all, None if none fits.

    What a column of figures is named after is not counted by rows: "How many seats has Elm?".
    """
    tables = tables_of_document(passages, document)
    found = [(table, _selection(question, table, are_counted=are_counted) if table.rows else None) for table in tables]
    met = [(table, each) for table, each in found if each and each.is_named]
    met = met or [(table, each) for table, each in found if each]
    met = [each for each in met if not each[1].is_nearest] or met
    if not met:
        return None
    if any(table.rows and _has_kind(question, table) for table in tables):
        # Of a table that only its document's title calls so, the rows are something else: "Trailer" among bikes.
        met = [each for each in met if _has_kind(question, each[0])]
    if are_counted:
        met = [each for each in met if not each[1].is_nearest and not _is_figure_asked(question, each[0])]
    if not met:
        return None
    first, selection = met[0]
    # Rows of a table that may go on, or of two tables, are not all, or not of one kind.
    if not all(table.is_whole and table.names == first.names for table, _ in met):
        return ()
    others = [table for table, each in found if each is None and table.names == first.names]
    if any(_may_have_more(table, first, selection) for table in others):
        return ()
    if len(met) > 1 and selection.is_of_people:
        return ()  # of two votes, say
    if len(met) > 1 and selection.is_nearest:
        return ()
    return [_told(row, table, each.told, is_nearest=each.is_nearest) for table, each in met for row in each.rows]


def _all_of_kind(question: str, tables: Sequence[WholeTable]) -> Sequence[SelectedRow]:
    """Return all rows of the one table that lists what a question asks for without a condition: "Which courses …?".

    A column must be named after it and tell the rows apart.
    """
    named = [each for each in tables if each.rows and _lists_what_is_asked(question, each)]
    if len(named) != 1 or not (named[0].is_whole and named[0].is_named):
        return ()
    table = named[0]
    return [_told(row, table, range(len(table.names)), is_nearest=False) for row in table.rows]


def _lists_what_is_asked(question: str, table: WholeTable) -> bool:
    """Return whether a question asks for what a column tells the rows apart by, right at its beginning, and no more."""
    tokens = words_in(question, table.language)
    named = [each for each in tokens if each.word not in OPENS | ASIDE | _OFFERS and not is_stop_word(each.word)]
    first = next((each for each in tokens if each.word not in OPENS | {"of", "the", "all"}), None)
    if _CODE.search(question) or first not in named[:1]:
        return False
    kind = {each.key for each in named}
    columns = [at for at, name in enumerate(table.names) if kind and kind.issubset(keys_of(name, table.language))]
    return any(
        len(set(table.column(at))) == len(table.rows) and all(any(map(str.isalpha, cell)) for cell in table.column(at))
        for at in columns
    )


def tables_of_document(passages: Sequence[Passage], document: str) -> Sequence[WholeTable]:
    """Return the tables of a document in its passages, in order."""
    of_document = [(at, each) for at, each in enumerate(passages) if each.document_id == document]
    in_order = sorted(of_document, key=lambda each: each[1].char_start)
    of_order = [None, *(each for _, each in in_order), None]
    tables = [
        table
        for (at, passage), before, after in zip(in_order, of_order, of_order[2:], strict=False)
        for table in tables_of(at, passage, before, after)
    ]
    beside = "\n".join(line for _, each in in_order for line in each.whole.split("\n") if SEPARATOR not in line)
    return [replace(table, beside=beside) for table in tables]


def _may_have_more(table: WholeTable, first: WholeTable, selection: "_Selection") -> bool:
    """Return whether a table with the same columns, in which nothing was found, may have more rows of a selection."""
    if not table.rows:
        return True
    if selection.has_two:
        return True
    column = selection.told[-1]
    cells = [cell.casefold().strip() for cell in table.column(column)]
    if selection.value:
        return any(may_mean(cell, selection.value, table.language) for cell in cells)
    marks = YES | NONE | CROSSES | {""}
    if all(cell in marks or is_dash(cell) for cell in map(str.casefold, map(str.strip, first.column(column)))):
        return not all(cell in marks or is_dash(cell) for cell in cells)
    return not all(len(read_cell(cell, column).values) == 1 or is_dash(cell) or TIME.fullmatch(cell) for cell in cells)


def _told(row: WholeRow, table: WholeTable, columns: Sequence[int], *, is_nearest: bool) -> SelectedRow:
    """Return a row told by its label and some of its cells; by all if it is a bare number, or no other tells more."""
    of_all = not any(map(str.isalpha, row.cells[0])) or {*columns} == {0}
    told = [
        f"{name.rstrip(':')}: {cell or NOTHING}" if name and (at or not (is_speaker(name) or row.group)) else cell
        for at, (name, cell) in enumerate(zip(table.names, row.cells, strict=True))
        if (of_all and cell) or at == 0 or at in columns
    ]
    return SelectedRow(PassageSpan(row.passage, row.start, row.end), "; ".join(told), is_nearest)


# --- the question ---


class _Selection(NamedTuple):
    """The rows that a question asks for; `is_named`: the table has a word for what is asked for.

    `told` are the columns that are told, the condition's last; `value` is what a cell must be if that is the condition.
    `has_two`: there are two conditions. `is_nearest`: no row meets it, and these come nearest.
    """

    rows: Sequence[WholeRow]
    is_named: bool
    told: Sequence[int]
    is_of_people: bool
    value: Sequence[str]
    has_two: bool
    is_nearest: bool


def _selection(question: str, table: WholeTable, *, are_counted: bool) -> _Selection | None:
    """Return the rows of a table that meet a question's condition; None if the table has nothing to do with it.

    Empty if it is not clear which. How many tickets one can buy for a sum is not how many kinds are that cheap.
    """
    tokens = words_in(question, table.language)
    table = _of_group(tokens, table)
    kind = _kind_of(tokens, table)
    if kind is None and limits_in(question) and tokens[0].word in {"what", "was"}:
        kind = {0}  # "What costs less than 10 euros?"
    if kind is None:
        return None
    conditions = [*conditions_in(question, tokens, table, kind)]
    if are_counted:
        conditions = [each._replace(asides=frozenset()) for each in conditions]
    met = [each for each in conditions if _is_all_said(tokens, table, kind, each)] or [
        both
        for one, other in combinations(conditions, 2)
        if (both := _both(one, other, tokens)) and _is_all_said(tokens, table, kind, both)
    ]
    if not met or not table.is_named:
        return None
    met = [each for each in met if _is_column_named(tokens, table, each)] or met
    of_names = {key for name in table.names for key in keys_of(name, table.language)}
    is_named = not any(tokens[at].word in ANY_KIND and tokens[at].key not in of_names | table.around for at in kind)
    if tokens[0].word in OPENS_ALONE and len(kind) == 1 and 0 in met[0].columns:
        return None  # "Who works on Sunday?" asks for none of the rows called "Sunday"
    rows = met[0].rows
    of_kind = {tokens[at].key for at in kind}
    told = [at for at, name in enumerate(table.names) if not of_kind.isdisjoint(keys_of(name, table.language))]
    is_of_people = any(tokens[at].word in OPENS_ALONE for at in kind)
    same = rows if all(each.rows == rows for each in met) else ()
    first = met[0]
    has_two = len(first.columns) > 1
    return _Selection(same, is_named, [*told, *first.columns], is_of_people, first.value, has_two, first.is_nearest)


def _of_group(tokens: Sequence[AskedWord], table: WholeTable) -> WholeTable:
    """Return a table with only the rows of the group that a question names: "adult bikes"."""
    asked = {token.key for token in tokens}
    groups = {row.group: frozenset(keys_of(row.group, table.language)) for row in table.rows if row.group}
    named = [group for group, keys in groups.items() if asked.issuperset(keys)]
    if len(named) != 1:
        return table
    rows = [row for row in table.rows if row.group == named[0]]
    return replace(table, rows=rows, around=table.around | groups[named[0]])


def _kind_of(tokens: Sequence[AskedWord], table: WholeTable) -> Set[int] | None:
    """Return the tokens that say what is asked for: "which dishes", "who"; None if the table's rows are none of it."""
    at = next((n for n, token in enumerate(tokens) if token.word not in OPENS), len(tokens))
    if not at:
        return None
    at = next((n for n in range(at, len(tokens)) if tokens[n].word not in {"of", "the", "all"}), len(tokens))
    own = _own_keys(table) - _of_marks(table)
    kind = set(range(at))
    while at < len(tokens) and not is_stop_word(tokens[at].word):
        if tokens[at].key not in own and tokens[at].word not in ANY_KIND:
            break
        kind.add(at)
        at += 1
    of_what = next(n for n, token in enumerate(tokens) if token.word not in OPENS)
    if len(kind) > of_what or tokens[0].word in OPENS_ALONE:
        return kind
    # "Which doubles have a sea view?" is asked of rows with "Double".
    values = {keys_of(cell, table.language) for row in table.rows for cell in row.cells}
    return kind if at < len(tokens) and (tokens[at].key,) in values else None


def _has_kind(question: str, table: WholeTable) -> bool:
    """Return whether the names of a table's columns, or its labels, have the word for what is asked for."""
    tokens = words_in(question, table.language)
    kind = {tokens[at].key for at in _kind_of(tokens, table) or () if tokens[at].word not in OPENS}
    own = {key for cell in (*table.names, *table.column(0)) for key in keys_of(cell, table.language)}
    return not kind.isdisjoint(own)


def _is_figure_asked(question: str, table: WholeTable) -> bool:
    """Return whether a column of figures has the word for what is asked for."""
    tokens = words_in(question, table.language)
    kind = {tokens[at].key for at in _kind_of(tokens, table) or () if tokens[at].word not in OPENS}
    columns = (at for at in range(1, len(table.names)) if has_digit("".join(table.column(at))))
    return any(not kind.isdisjoint(keys_of(table.names[at], table.language)) for at in columns)


def _own_keys(table: WholeTable) -> Set[str]:
    return {key for name in table.names for key in keys_of(name, table.language)} | table.around


def _of_marks(table: WholeTable) -> Set[str]:
    """Return the words of columns of marks, but for what the rows are: "balcony rooms" have a mark there."""
    columns = {at for at in range(1, len(table.names)) if {cell.casefold().strip() for cell in table.column(at)} & YES}
    words = [set(keys_of(name, table.language)) for name in table.names]
    others = set[str]().union(*(keys for at, keys in enumerate(words) if at not in columns))
    return set[str]().union(*(words[at] for at in columns)) - others


def _is_all_said(tokens: Sequence[AskedWord], table: WholeTable, kind: Set[int], met: Meets) -> bool:
    """Return whether every word of a question says what is asked for, states the condition, or sets none."""
    named = {key for column in met.columns for key in keys_of(table.names[column], table.language)}
    others = {other for key in named for other in other_words_of(key, table.language)}
    known = named | others | table.around | {*keys_of(table.names[0], table.language)}
    aside = (ASIDE | JOINS if len(met.columns) > 1 else ASIDE) | met.asides
    # "Which classes does Ann Lee teach?" where a column is called "Teacher".
    columns = [token for at in met.columns for token in words_in(table.names[at], table.language)]
    return all(
        at in kind
        or at in met.stated
        or token.word in aside
        or token.key in known
        or any(are_of_family(token.word, name.word, table.language) for name in columns)
        for at, token in enumerate(tokens)
    )


def _is_column_named(tokens: Sequence[AskedWord], table: WholeTable, met: Meets) -> bool:
    """Return whether a question names a column of a condition: "Sat 9" by "on Saturday"."""
    named = {key for column in met.columns for key in keys_of(table.names[column], table.language)}
    return any(
        token.key in named or not named.isdisjoint(other_words_of(token.key, table.language)) for token in tokens
    )


def _both(one: Meets, other: Meets, tokens: Sequence[AskedWord]) -> Meets | None:
    """Return two conditions as one; None if they are of one column, or stated by the same words.

    "No balcony and a sea view" may deny both, "no balcony but a sea view" does not.
    """
    shared = [tokens[at].word for at in one.stated & other.stated]
    if one.is_nearest or other.is_nearest or one.columns == other.columns:
        return None
    if not all(is_stop_word(word) or word in ASIDE | _MODAL for word in shared):
        return None
    if one.stated <= other.stated or other.stated <= one.stated:
        return None
    first, second = sorted((one, other), key=lambda each: max(each.stated))
    between = {token.word for token in tokens[max(first.stated) + 1 : max(second.stated)]}
    if first.denied and not second.denied and between & JOINS and not between & TURNS:
        return None
    rows = [row for row in one.rows if row in other.rows]
    asides = one.asides | other.asides
    return Meets(rows, one.stated | other.stated, (*one.columns, *other.columns), asides=asides) if rows else None


# --- how it is asked ---

MAX_WORDS = 14
"""Words of such a question at most: a longer one sets more than two conditions."""
_OPENS = re.compile(
    r"\W*(?:(?:which|list)\b|what (?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|the"
    r"|an?)\b)|who (?!(?:is|are|was|were) (?:the|our|your|my|an?)\b)|welche[rs]?\b|wer\b|was (?!ist|sind|war)"
    r"|quel(?:le)?s?\b|qui\b|qué\b|quiénes\b|cuáles\b|kurie\b|kurios\b|kas\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<=\s)(?!I\b)[A-Z]\b|\d")
"""What names one thing of a kind: "container A"."""
_MORE = re.compile(r"\b(?:or|if|except|only|unless|oder|wenn|nur|ou|si|o|arba|jei)\b", re.IGNORECASE)
_LIMIT = re.compile(r"\bat (?:least|most)\b")
_WORD = re.compile(r"\w+")


_COUNTS = {
    "how many": "which", "wie viele": "welche", "combien de": "quels", "combien d'": "quels ", "cuántos": "qué",
    "cuántas": "qué", "kiek": "kurie",
}  # fmt: skip
"""How a question for a number of things begins, and how one for the things does."""


def which_are_counted(question: str) -> str:
    """Return a question for how many things meet a condition as one for the things; empty if it is none."""
    plain = question.strip().replace("’", "'")
    for how_many, which in _COUNTS.items():
        if plain.lower().startswith(how_many):
            return which + plain[len(how_many) :]
    return ""


def asks_which(question: str) -> bool:
    """Say whether a question asks which things meet a condition, or two, by how it begins and what it does without."""
    words = _WORD.findall(_LIMIT.sub(" ", question.lower()))
    if len(words) > MAX_WORDS or _OPENS.match(question) is None or not DEGREES.isdisjoint(words):
        return False
    compared = comparison_in(question)  # "100 euros or more" is one limit
    rest = question[: compared.found.start()] + question[compared.found.end() :] if compared else question
    return _MORE.search(rest) is None
