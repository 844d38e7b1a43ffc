"""Rows of a table that meet the one condition of a question: "Which dishes contain sesame?", "Who is absent?".

Nothing is selected unless every word of the question is accounted for, and the whole table is at hand: a list that
leaves one out, or has one that does not belong, is worse than none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from functions.query.grounding.quantities import is_unit, unit_name
from functions.query.grounding.table_cells import may_name, read_cell
from functions.query.grounding.ticked import with_ticked_only
from functions.query.grounding.words import has_digit, is_stop_word, other_words_of, stem_of
from functions.query.retrieval.passages import Passage
from functions.query.understanding.question import lines_of, without_contractions
from functions.query.understanding.selecting import asks_which
from functions.query.writing.cells import is_of_all
from functions.query.writing.statement_scores import PassageSpan
from shared.lexical import fold
from shared.text import NOTHING, SEPARATOR, TIME, header_at, is_dash, is_header, row_cells

MIN_ROWS = 2
MIN_LEGEND = 2
"""Rows of a table, and entries of a legend ("(S) sesame"), at least."""
MAX_CODE = 2
"""Letters of a code, which other words have by chance."""
MAX_GAP = 4
"""Maximum characters of white space between a passage and the next one of its document."""
MAX_APART = 3
"""Lines below a table in which rows without names may be more of it."""

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_LISTS: dict[str, list[str]] = {}
for _line in lines_of("selecting_words.txt"):
    _LISTS.setdefault(_line.split()[0], []).extend(fold(_line).lower().split()[1:])
_ASIDE, _ANY_KIND, _OPENS, _OPENS_ALONE, _NO, _NOT = (
    frozenset(_LISTS[name]) for name in ("aside", "any", "opens", "alone", "no", "not")
)
_YES, _TICKS, _CROSSES, _NONE, _OF_PEOPLE, _DIRECTIONS = (
    frozenset(_LISTS[name]) for name in ("yes", "ticks", "crosses", "none", "people", "directions")
)
_OF_ALL_CELLS = re.compile(
    r"(?:all|any|every|both|daily|always|world|unlimited|week|work|alle|täglich|woche|werk|tous|toutes|en semaine"
    r"|todos|todas|laborable|darbo|visos?)",
    re.IGNORECASE,
)
_RANGE_OF_WORDS = re.compile(r"[^\W\d_]\s?[-–—]\s?[^\W\d_]|\b(?:to|bis|except|but|not|außer|sauf)\b", re.IGNORECASE)
"""Cells that may mean more, or less, than the words that they are written in."""
_DENIES = re.compile(
    r"\b(?:\w*free|without|not|never|suitable|safe|\w*frei|ohne|geeignet\w*|verträglich\w*|sans|convient\w*|sin|aptos?|aptas?|libres?)\b",
    re.IGNORECASE,
)
"""What a title, or the name of a column, says of things that are not in what it names."""
_OF_MARKS = re.compile(
    r"\b(?:cross(?:es)?|tick(?:s|ed)?|mark(?:s|ed|ings?)?|symbols?|empty|blank|traces?|may contain|(?:ange)?kreuz\w*"
    r"|häkchen|\w*markier\w*|\w*kennzeichn\w*|leere?\w*|spuren|croix|coch\w+|marqu\w+|vides?|cruz|cruces|marca\w*"
    r"|vac[ií]\w+|kryž\w+|varnel\w*|pažym\w+|tušč\w+)\b",
    re.IGNORECASE,
)
"""How a text beside a table speaks of what its marks, or its empty cells, mean."""
_LEGEND_OF_MARK = re.compile(r"(?<!\w)(?:x|×|✓|✔|✗|•|●)\s?(?:=|:|–|means)\s?([^\n;,|]{1,60})", re.IGNORECASE)
_CODE = r"[A-Z]{1,2}|\d{1,2}"
_LEGEND = re.compile(rf"\(({_CODE})\)\s([^\W\d_]+)|(?<![^\s,;(])({_CODE})\s?[=:–]\s?([^\W\d_]+)")
"""The legend of codes: "(S) sesame", "S = sesame"."""
_SEVERAL = re.compile(r"[,&/]|\b(?:and|or|und|oder|et|ou|y|o|ir|ar)\b")
"""A text that is about several things, of which a table may be one."""
_PARTS = re.compile(r"\s*[,;/+&]\s*|\s+(?:and|und|et|y|ir)\s+")
_LIMITED = re.compile(r"\b(?:up to|from|max\w*|min\w*|over|under|ab|bis|jusqu|hasta|nuo|iki)\b", re.IGNORECASE)
"""The name of a column whose figures are limits themselves."""
_COMPARED: Mapping[str, tuple[int, bool]] = {
    how.replace("_", " "): meant
    for name, meant in (("below", (-1, False)), ("above", (1, False)), ("most", (-1, True)), ("least", (1, True)))
    for how in _LISTS[name]
}
"""What compares, with the direction (1 up, -1 down), and whether the limit itself is meant."""
_COMPARES = re.compile(
    rf"\b(?P<not>(?:no|not|nicht) )?(?P<how>{'|'.join(sorted(_COMPARED, key=len, reverse=True))}) (?:the )?"
    r"(?P<sign>[€$£]|(?:EUR|USD|GBP|CHF) )?\s?(?P<number>\d+(?:[.,:]\d+)*)\s?(?P<unit>[€$£%]|[^\W\d_]+[²³]?)?",
    re.IGNORECASE,
)
"""A comparison with a figure: "less than 10 euros", "before 9:00"."""


class SelectedRow(NamedTuple):
    """A row's span in its passage, and what is told of it: what it is, and how it meets the condition."""

    span: PassageSpan
    text: str


class _Row(NamedTuple):
    passage: int
    start: int
    end: int
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Table:
    """A table's rows that are known, all if it `is_whole`.

    `about` is its document's name, its section and the line above it, `around` their words, `beside` the text of its
    document that is at hand, without rows; `is_named`: its first row clearly names its columns. A table has no rows if
    not all of them can be read.
    """

    names: Sequence[str]
    is_named: bool
    rows: Sequence[_Row]
    about: str
    around: frozenset[str]
    text: str
    language: str
    is_whole: bool
    beside: str = ""

    def column(self, at: int) -> Sequence[str]:
        return [row.cells[at] for row in self.rows]


class _AskedWord(NamedTuple):
    word: str
    key: str
    start: int
    end: int


def selected_rows(question: str, passages: Sequence[Passage]) -> Sequence[SelectedRow]:
    """Return the rows that meet the condition of a question for all that do, in order; none if that is not certain.

    They are of one document; tables of it with the same columns are read as one.
    """
    question = without_contractions(question)
    if not asks_which(question):
        return ()
    for document in dict.fromkeys(each.document_id for each in passages):
        found = _selected_in(question, passages, document)
        if found is not None:
            return found
    return ()


def asks_which_not(question: str) -> bool:
    """Say whether a question asks for all that do not meet a condition: sentences with its words tell the others."""
    said = {token.word for token in _tokens(without_contractions(question), "en")}
    return asks_which(question) and not said.isdisjoint(_NO | _NOT)


def _selected_in(question: str, passages: Sequence[Passage], document: str) -> Sequence[SelectedRow] | None:
    """Return the rows of a document's tables; empty if it is not certain that these are all, None if none fits."""
    of_document = [(at, each) for at, each in enumerate(passages) if each.document_id == document]
    in_order = sorted(of_document, key=lambda each: each[1].char_start)
    of_order = [None, *(each for _, each in in_order), None]
    tables = [
        table
        for (at, passage), before, after in zip(in_order, of_order, of_order[2:], strict=False)
        for table in _tables_of(at, passage, before, after)
    ]
    beside = "\n".join(line for _, each in in_order for line in each.whole.split("\n") if SEPARATOR not in line)
    tables = [replace(table, beside=beside) for table in tables]
    found = [(table, _selection(question, table) if table.rows else None) for table in tables]
    met = [(table, each) for table, each in found if each and each.is_named]
    met = met or [(table, each) for table, each in found if each]
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
    return [_told(row, table, each.told) for table, each in met for row in each.rows]


def _may_have_more(table: _Table, first: _Table, selection: "_Selection") -> bool:
    """Return whether a table with the same columns, in which nothing was found, may have more rows of a selection."""
    if not table.rows:
        return True
    column = selection.told[-1]
    cells = [cell.casefold().strip() for cell in table.column(column)]
    if selection.value:
        return any(_may_mean(cell, selection.value, table.language) for cell in cells)
    marks = _YES | _NONE | _CROSSES | {""}
    if all(cell in marks or is_dash(cell) for cell in map(str.casefold, map(str.strip, first.column(column)))):
        return not all(cell in marks or is_dash(cell) for cell in cells)
    return not all(len(read_cell(cell, column).values) == 1 or is_dash(cell) or TIME.fullmatch(cell) for cell in cells)


def _told(row: _Row, table: _Table, columns: Sequence[int]) -> SelectedRow:
    """Return a row told by its label and some of its cells; by all of them if the label is a bare number."""
    of_all = not any(map(str.isalpha, row.cells[0]))
    told = [
        f"{name.rstrip(':')}: {cell or NOTHING}" if name else cell
        for at, (name, cell) in enumerate(zip(table.names, row.cells, strict=True))
        if (of_all and cell) or at == 0 or at in columns
    ]
    return SelectedRow(PassageSpan(row.passage, row.start, row.end), "; ".join(told))


# --- tables ---


def _tables_of(at: int, passage: Passage, before: Passage | None, after: Passage | None) -> Iterator[_Table]:
    """Yield the tables of a passage of which all rows have as many cells as there are names.

    `before` and `after` are those beside it of its document that are at hand.
    """
    if passage.corrected or passage.described_by:
        return
    lines: list[tuple[str, int]] = []
    start = 0
    for line in passage.whole.split("\n"):
        lines.append((line, start))
        start += len(line) + 1
    end = 0
    while end < len(lines):
        first = next((n for n in range(end, len(lines)) if SEPARATOR in lines[n][0]), len(lines))
        end = next((n for n in range(first, len(lines)) if SEPARATOR not in lines[n][0]), len(lines))
        names, is_named = _names_of(lines[first:end])
        if names and not (rows := _rows_of(at, lines[first + 1 : end], names, len(passage.above))):
            yield _Table(names, is_named, (), "", frozenset(), "", "", is_whole=False)
        elif names:
            begins = lines[first][1] >= len(passage.above) and (
                first > 0 or not passage.char_start or (before is not None and _is_next(before, passage))
            )
            ends = end < len(lines) or passage.table_ends or (after is not None and _begins_anew(passage, after))
            is_whole = begins and ends and not _goes_on(lines[end:], len(names))
            about = [next((line for line, _ in reversed(lines[:first]) if line.strip()), ""), passage.title]
            about += [passage.section_at(passage.char_start + rows[0].start), *passage.organisations]
            language = passage.language or "en"
            clear = " ".join(each for each in about if not _SEVERAL.search(each))
            around = frozenset(token.key for token in _tokens(clear, language) if not is_stop_word(token.word))
            yield _Table(names, is_named, rows, " ".join(about), around, passage.whole, language, is_whole)


def _names_of(block: Sequence[tuple[str, int]]) -> tuple[Sequence[str], bool]:
    """Return the cells of the first of a run of rows that may name columns, and whether it clearly does; else none."""
    if len(block) <= MIN_ROWS:
        return (), False
    text = "\n".join(line for line, _ in block)
    names, *rows = [row_cells(line) for line, _ in block]
    may_name_all = len(names) > 1 and len(set(names)) == len(names) and all(names[1:])
    if not may_name_all or any(set(names) & set(row) - {""} for row in rows if row != names):
        return (), False
    if header_at(text, len(block[0][0]) + 1) == (0, len(block[0][0].rstrip())) or is_header(text, 0):
        return names, True
    return (names if all(map(may_name, names)) and not has_digit(text) else ()), False


def _begins_anew(passage: Passage, after: Passage) -> bool:
    """Return whether a passage follows another, and does not go on with its table: with names of its own, or none."""
    lines = [(line, 0) for line in after.text.partition("\n\n")[0].split("\n")]
    is_of_rows = SEPARATOR in lines[0][0]
    is_other = not (after.table or (is_of_rows and not _names_of(lines)[1]))
    return is_other and _is_next(passage, after)


def _is_next(passage: Passage, after: Passage) -> bool:
    is_other = after.corrected or after.described_by
    return not is_other and 0 <= after.char_start - passage.char_end <= MAX_GAP


def _goes_on(below: Sequence[tuple[str, int]], width: int) -> bool:
    """Return whether more rows of a table may stand below lines that interrupt it."""
    near = [(line, n) for n, (line, _) in enumerate(below) if line.strip()][:MAX_APART]
    at = next((n for line, n in near if SEPARATOR in line), None)
    if at is None:
        return False
    end = next((n for n in range(at, len(below)) if SEPARATOR not in below[n][0]), len(below))
    return len(row_cells(below[at][0])) == width and not _names_of(below[at:end])[1]


def _rows_of(at: int, block: Sequence[tuple[str, int]], names: Sequence[str], shift: int) -> Sequence[_Row]:
    """Return the rows below the names, without totals and repeated names; none if one has other cells than they."""
    rows = [
        _Row(at, start - shift, start - shift + len(line.rstrip()), row_cells(with_ticked_only(line)))
        for line, start in block
    ]
    if not names or any(len(row.cells) != len(names) for row in rows):
        return ()
    kept = [
        row
        for row in rows
        if row.start >= 0 and row.cells != list(names) and sum(map(bool, row.cells)) > 1 and not is_of_all(row.cells[0])
    ]
    return kept if all(row.cells[0] for row in kept) else ()


# --- the question ---


def _tokens(text: str, language: str) -> Sequence[_AskedWord]:
    return [
        _AskedWord(word, stem_of(word, language), found.start(), found.end())
        for found in _TOKEN.finditer(text)
        for word in [fold(found.group()).lower()]
    ]


@lru_cache(maxsize=4_096)
def _keys(text: str, language: str) -> tuple[str, ...]:
    return tuple(token.key for token in _tokens(text, language))


class _Selection(NamedTuple):
    """The rows that a question asks for; `is_named`: the table has a word for what is asked for.

    `told` are the columns that are told, the condition's last; `value` is what a cell must be if that is the condition.
    """

    rows: Sequence[_Row]
    is_named: bool
    told: Sequence[int]
    is_of_people: bool
    value: Sequence[str]


class _Meets(NamedTuple):
    """The rows that meet a condition, the tokens of the question that state it, and its column."""

    rows: Sequence[_Row]
    stated: Set[int]
    column: int
    value: Sequence[str] = ()


def _selection(question: str, table: _Table) -> _Selection | None:
    """Return the rows of a table that meet a question's condition; None if the table has nothing to do with it.

    Empty if it is not clear which.
    """
    tokens = _tokens(question, table.language)
    kind = _kind_of(tokens, table)
    if kind is None and _COMPARES.search(fold(question)) and tokens[0].word in {"what", "was"}:
        kind = {0}  # "What costs less than 10 euros?"
    if kind is None:
        return None
    met = [each for each in _conditions(question, tokens, table, kind) if _is_all_said(tokens, table, kind, each)]
    if not met:
        return None
    of_names = {key for name in table.names for key in _keys(name, table.language)}
    is_named = not any(tokens[at].word in _ANY_KIND and tokens[at].key not in of_names | table.around for at in kind)
    if not table.is_named:
        # A first row of words names the columns if it has the word for what is asked for.
        asked = {tokens[at].key for at in kind if tokens[at].word not in _OPENS}
        is_of_people = not asked and not _OF_PEOPLE.isdisjoint(_keys(table.names[0], table.language))
        if not (is_of_people or asked & of_names):
            return None
    rows = met[0].rows
    of_kind = {tokens[at].key for at in kind}
    told = [at for at, name in enumerate(table.names) if not of_kind.isdisjoint(_keys(name, table.language))]
    is_of_people = any(tokens[at].word in _OPENS_ALONE for at in kind)
    same = rows if all(each.rows == rows for each in met) else ()
    return _Selection(same, is_named, [*told, met[0].column], is_of_people, met[0].value)


def _kind_of(tokens: Sequence[_AskedWord], table: _Table) -> Set[int] | None:
    """Return the tokens that say what is asked for: "which dishes", "who"; None if the table's rows are none of it."""
    at = next((n for n, token in enumerate(tokens) if token.word not in _OPENS), len(tokens))
    if not at:
        return None
    at = next((n for n in range(at, len(tokens)) if tokens[n].word not in {"of", "the", "all"}), len(tokens))
    own = _own_keys(table) - _of_marks(table)
    kind = set(range(at))
    while at < len(tokens) and not is_stop_word(tokens[at].word):
        if tokens[at].key not in own and tokens[at].word not in _ANY_KIND:
            break
        kind.add(at)
        at += 1
    is_named = len(kind) > next(n for n, token in enumerate(tokens) if token.word not in _OPENS)
    return kind if is_named or tokens[0].word in _OPENS_ALONE else None


def _own_keys(table: _Table) -> Set[str]:
    return {key for name in table.names for key in _keys(name, table.language)} | table.around


def _of_marks(table: _Table) -> Set[str]:
    """Return the words of columns of marks, but for what the rows are: "balcony rooms" have a mark there."""
    columns = {at for at in range(1, len(table.names)) if {cell.casefold().strip() for cell in table.column(at)} & _YES}
    words = [set(_keys(name, table.language)) for name in table.names]
    others = set[str]().union(*(keys for at, keys in enumerate(words) if at not in columns))
    return set[str]().union(*(words[at] for at in columns)) - others


def _is_all_said(tokens: Sequence[_AskedWord], table: _Table, kind: Set[int], met: _Meets) -> bool:
    """Return whether every word of a question says what is asked for, states the condition, or sets none."""
    named = set(_keys(table.names[met.column], table.language))
    others = {other for key in named for other in other_words_of(key, table.language)}
    known = named | others | table.around
    return all(
        at in kind or at in met.stated or token.word in _ASIDE or token.key in known for at, token in enumerate(tokens)
    )


def _conditions(question: str, tokens: Sequence[_AskedWord], table: _Table, kind: Set[int]) -> Iterator[_Meets]:
    if compared := _COMPARES.search(fold(question)):
        stated = {n for n, token in enumerate(tokens) if compared.start() <= token.start < compared.end()}
        column, rows = _compared(compared, tokens, table, stated | kind)
        if rows:
            yield _Meets(rows, stated, column)
        return
    for column in range(len(table.names)):
        yield from _marked(tokens, table, column)
        yield from _lacking(tokens, table, column)
        yield from _with_value(tokens, table, column, kind)


def _at(keys: Sequence[str], tokens: Sequence[_AskedWord]) -> Iterator[Set[int]]:
    """Yield where keys stand in the question, one behind the other."""
    for at in range(len(tokens) - len(keys) + 1 if keys else 0):
        if all(tokens[at + n].key == key for n, key in enumerate(keys)):
            yield set(range(at, at + len(keys)))


# --- conditions ---


def _marked(tokens: Sequence[_AskedWord], table: _Table, column: int) -> Iterator[_Meets]:
    """Yield the rows with a mark in a column that is named, or without one: "contain sesame", "contain no sesame"."""
    cells = [cell.casefold().strip() for cell in table.column(column)]
    yes = {cell for cell in cells if cell in _YES}
    if yes & _TICKS:
        yes -= _CROSSES
    no = {cell for cell in cells if not cell or is_dash(cell) or cell in _NONE | (_CROSSES - yes)}
    is_unknown = len(no) > 1 and "" in no  # an empty cell beside some that say no
    if not (yes and set(cells) <= yes | no) or column == 0 or _says_otherwise(tokens, table):
        return
    name = _keys(table.names[column], table.language)
    rows = [(row, cell in yes) for row, cell in zip(table.rows, cells, strict=True)]
    content = [n for n, token in enumerate(tokens) if token.key in name]
    if not name or {tokens[n].key for n in content} != {*name}:
        return
    first = content[0]
    denies = {n for n, token in enumerate(tokens) if token.word in _NOT or (token.word in _NO and n + 1 in content)}
    if len(denies) == 1 and min(denies) < first and not is_unknown and not all(is_met for _, is_met in rows):
        yield _Meets([row for row, is_met in rows if not is_met], denies | set(content), column)
    elif not denies:
        yield _Meets([row for row, is_met in rows if is_met], set(content), column)


def _says_otherwise(tokens: Sequence[_AskedWord], table: _Table) -> bool:
    """Return whether a table's title or legend may give its marks another meaning: "free from", "x = on request"."""
    keys = {token.key for token in tokens}
    if _DENIES.search(table.about) or _OF_MARKS.search(table.beside):
        return True
    known = keys | table.around | {stem_of(word, table.language) for word in _ASIDE}
    return any(not known.issuperset(_keys(meaning, table.language)) for meaning in _LEGEND_OF_MARK.findall(table.text))


def _lacking(tokens: Sequence[_AskedWord], table: _Table, column: int) -> Iterator[_Meets]:
    """Yield the rows whose cell says that there is none of what is named: "no allergens" of `Allergens | none`."""
    name = _keys(table.names[column], table.language)
    cells = [cell.casefold().strip() for cell in table.column(column)]
    met = [row for row, cell in zip(table.rows, cells, strict=True) if cell in _NONE or is_dash(cell)]
    if not all(cells) or not met or len(met) == len(cells) or {*cells} & _YES:
        return
    for stated in _at(name, tokens):
        before = min(stated) - 1
        if before > 0 and tokens[before].word in _NO:
            yield _Meets(met, stated | {before}, column)


def _with_value(tokens: Sequence[_AskedWord], table: _Table, column: int, kind: Set[int]) -> Iterator[_Meets]:
    """Yield the rows whose cell, or one of the things in it, is what the question names."""
    items = [[_keys(item, table.language) for item in _PARTS.split(cell)] for cell in table.column(column)]
    stated: dict[tuple[str, ...], Set[int]] = {}
    for value in {item for of_cell in items for item in of_cell if item}:
        for places in _at(value, tokens):
            is_last = max(places) == len(tokens) - 1
            if places.isdisjoint(kind) and (is_last or not all(is_stop_word(tokens[n].word) for n in places)):
                stated[value] = places
    for token_at, code in _codes_of(tokens, table):
        if any(code in of_cell for of_cell in items):
            stated[code] = {token_at}
    name = fold(table.names[column]).lower()
    if name in _DIRECTIONS and all(token.word != name for token in tokens):
        return
    asked = {token.word for token in tokens}
    if any(fold(word).lower() not in asked for word in _DENIES.findall(table.names[column])):
        return
    for value, places in stated.items():
        rows = [row for row, of_cell in zip(table.rows, items, strict=True) if value in of_cell]
        others = [row.cells[column] for row in table.rows if row not in rows]
        if not any(_may_mean(cell, value, table.language) for cell in others):
            yield _Meets(rows, places, column, value)


def _may_mean(cell: str, value: Sequence[str], language: str) -> bool:
    """Return whether a cell may hold a value that is no thing of its own in it: "Mon–Fri", "all", "hazelnuts"."""
    keys = _keys(cell, language)
    holds = any(
        all(
            part == key or (len(part) > MAX_CODE and part in key)
            for part, key in zip(value, keys[at : at + len(value)], strict=True)
        )
        for at in range(len(keys) - len(value) + 1)
    )
    return holds or not cell or bool(_OF_ALL_CELLS.match(cell) or _RANGE_OF_WORDS.search(cell))


def _codes_of(tokens: Sequence[_AskedWord], table: _Table) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the codes that the legend beside a table gives for words of the question."""
    legend = [(one or two, word or other) for one, word, two, other in _LEGEND.findall(table.text)]
    codes = {code: stem_of(fold(word).lower(), table.language) for code, word in legend}
    if len(codes) < MIN_LEGEND or any(codes[c] != stem_of(fold(w).lower(), table.language) for c, w in legend):
        return
    for code, key in codes.items():
        for at, token in enumerate(tokens):
            if token.key == key:
                yield at, _keys(code, table.language)


# --- comparisons ---


def _compared(
    found: re.Match[str], tokens: Sequence[_AskedWord], table: _Table, known: Set[int]
) -> tuple[int, Sequence[_Row]]:
    """Return the rows whose figure is within the limit that a question sets, with their column; none if unclear."""
    sign, is_met = _COMPARED[found["how"].lower()]
    if found["not"]:
        sign, is_met = -sign, True
    limit, unit = _read(found["number"], found["sign"] or found["unit"] or "")
    if limit is None:
        return 0, ()
    noun = stem_of(fold(found["unit"] or "").lower(), table.language)
    asked = {token.key for n, token in enumerate(tokens) if n not in known and token.word not in {"at", "in", "on"}}
    asked |= {other for key in asked for other in other_words_of(key, table.language)}
    sizes = {at: each for at in range(1, len(table.names)) if (each := _sizes(table, at, unit, noun))}
    columns = [at for at in sizes if not asked.isdisjoint(_keys(table.names[at], table.language))]
    columns = columns or [at for at in sizes if unit]  # a bare number may be of anything
    if len(columns) != 1:
        return 0, ()
    rows = [
        row
        for row, size in zip(table.rows, sizes[columns[0]], strict=True)
        if size is not None and (sign * (size - limit) > 0 or (is_met and size == limit))
    ]
    return columns[0], rows


def _read(number: str, unit: str) -> tuple[Decimal | None, str]:
    """Return a question's figure, and its unit: "time" of a time of the day."""
    if TIME.fullmatch(number) and not number.isdecimal() and "." not in number:
        hours, minutes = re.split(r"\D", number)
        return Decimal(60 * int(hours) + int(minutes)), "time"
    cell = read_cell(number, None)
    name = fold(unit).lower().strip()
    return min(cell.values) if len(cell.values) == 1 else None, unit_name(name) if name and is_unit(name) else name


def _sizes(table: _Table, column: int, unit: str, noun: str) -> Sequence[Decimal | None]:
    """Return the figure of each row in a column, None for a dash; nothing if one is no figure in the unit."""
    name = table.names[column]
    cells = table.column(column)
    if _LIMITED.search(name):
        return ()
    if unit == "time":
        read = [_read(cell, "") for cell in cells]
        if not all(kind == unit or is_dash(cell) for (_, kind), cell in zip(read, cells, strict=True)):
            return ()
        return [size for size, _ in read] if any(size is not None for size, _ in read) else ()
    values = [read_cell(cell, column) for cell in cells]
    if not all(len(each.values) == 1 or is_dash(each.text) for each in values):
        return ()
    units = {each.unit for each in values if each.values}
    words = {unit_name(token.word) for token in _tokens(name, table.language) if is_unit(token.word)}
    in_name = words | {unit_name(each) for each in re.findall(r"[€$£%]", name)}
    of_noun = bool(noun) and noun in _keys(name, table.language)
    if units == {unit} or (units == {""} and (unit in in_name or of_noun)):
        return [each.signed for each in values]
    return ()
