"""Whether the rows that are told are those that a question asks for: what contradicts it in them, or leaves it open.

A row is found by its words, and says of some of them that they are not so: "Lentil curry; Sesame: –" answers no
question for what contains sesame, and "Impeller 120 mm" none for one of 160 mm. Such a row ranks below others
(`contradicts`), and an answer of such rows is doubtful (`may_be_others`). Rows that are `selected_rows` are certain.
"""

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache, lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from functions.query.grounding.quantities import CURRENCY_SIGN, is_number_word, is_unit
from functions.query.grounding.ranges import is_in_range
from functions.query.grounding.tables import row_at, tables_in
from functions.query.grounding.words import is_stop_word, other_words_of
from functions.query.retrieval.passages import Passage, last_title
from functions.query.understanding.days import (
    days_asked,
    is_in_period,
    names_days,
    tells_of_others,
    times_of_year_in,
)
from functions.query.understanding.phrases import YEAR, is_time
from functions.query.understanding.question import without_contractions
from functions.query.understanding.vocabulary import MIN_WORD, are_of_family
from functions.query.writing.asked import Asked, Kind
from functions.query.writing.cells import MIN_LABEL_SHARE
from functions.query.writing.premises import are_forms, words_of_asking
from functions.query.writing.table_words import (
    ASKING,
    DENIES,
    EITHER,
    JOINS,
    NO,
    NOT,
    OPENS,
    AskedWord,
    comparison_in,
    keys_of,
    marks_for_yes,
    range_in,
    says_no,
    words_in,
)
from shared import lexical
from shared.language import FUNCTION_WORDS
from shared.text import SEPARATOR, header_at, row_cells

MAX_UNSAID = 0.3
"""Share, by rarity, of what a question names that may be missing in the passage of the rows that are told."""
MAX_CELL_WORDS = 4
"""Words of a cell that names something, at most: a longer one is a text, which shares words by chance."""
MAX_TITLE_WORDS = 6
"""Words of a line above a table that is its title, at most."""
WORDS_BEFORE = 3
"""Words before the name of a column in which what denies it is looked for: "does not contain any nuts"."""

_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
_PARTS = JOINS | EITHER
_NUMBER = re.compile(
    rf"(?<![\w.,:/–-])(?P<sign>{CURRENCY_SIGN}\s?)?(?P<number>[A-Z]?\d+(?:[.,:]\d+)*)(?P<after>\s?{CURRENCY_SIGN})?"
    r"(?![\d:/–-]*\d)"
)
_CODE = re.compile(r"(?:(?<=[^\W\d_] )|(?<=\| )|(?<=\A)|(?<=\n))([A-HJ-Z])(?![\w'’.])")
_FIGURE = re.compile(rf"(?P<sign>{CURRENCY_SIGN}\s?)?(?P<number>[A-Z]?\d+(?:[.,:]\d+)*)(?P<after>\s?{CURRENCY_SIGN})?")


class ToldSpan(NamedTuple):
    """What is told, by its passage and the characters of its text: a row, say."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        """Its characters."""
        return self.passage.text[self.start : self.end]

    @property
    def is_row(self) -> bool:
        """Whether it is one row of a table."""
        return SEPARATOR in self.text and "\n" not in self.text


class _Row(NamedTuple):
    """A row's cells, the names of its columns (none if nothing names them), and the cells of the table's other rows."""

    cells: Sequence[str]
    names: Sequence[str]
    others: Sequence[Sequence[str]]


def contradicts(question: str, told: ToldSpan, *, verdict: bool) -> bool:
    """Return whether a row says no where a question asks for what has something, or yes for what has it not.

    A row that the question names is asked about itself, and a yes or no is what is asked for where a `verdict` is.
    """
    if not told.is_row:
        return False
    language = told.passage.language or "en"
    row = _row_of(told)
    columns = _columns_asked(question, tuple(row.names), language) if len(row.names) == len(row.cells) else ()
    if not columns or are_named(question, [told]):
        return False
    return any(
        (not verdict and _denies(row, each)) or (each.keys and _has_in_another(question, row, each, language))
        for each in columns
    )


class _AskedColumn(NamedTuple):
    """A column that a question names: whether it denies what the column tells, and the name's stems if all are there.

    `is_denied` is None if only other words for the name are there.
    """

    at: int
    is_denied: bool | None
    keys: frozenset[str]


@lru_cache(maxsize=512)
def _columns_asked(question: str, names: Sequence[str], language: str) -> Sequence[_AskedColumn]:
    asked = words_asked(question, language)
    keys = {each.key for each in asked}
    columns = []
    for at, name in enumerate(names[1:], start=1):
        whole = frozenset(keys_of(_IN_BRACKETS.sub("", name), language))
        is_denied = _is_denied(asked, words_in(name, language), language)
        if (whole and whole <= keys) or is_denied is not None:
            columns.append(_AskedColumn(at, is_denied, whole if whole <= keys else frozenset()))
    return tuple(columns)


def _has_in_another(question: str, row: _Row, column: _AskedColumn, language: str) -> bool:
    """Return whether a row has what is asked for of a named column in another one: "Group 1: Climbing" for group 2."""
    asked = words_asked(question, language)
    keys = {each.key for each in asked if is_content(each, language) and each.word not in NO | NOT}
    of_width = [each for each in row.others if len(each) == len(row.cells)]
    in_column = {key for each in of_width for key in keys_of(each[column.at], language)}
    wanted = (keys & in_column) - column.keys
    others = {key for n, cell in enumerate(row.cells) if n not in {0, column.at} for key in keys_of(cell, language)}
    return not wanted.isdisjoint(others) and wanted.isdisjoint(keys_of(row.cells[column.at], language))


def _denies(row: _Row, column: _AskedColumn) -> bool:
    if column.is_denied is None:
        return False
    cells = [each[column.at].casefold() for each in (*row.others, row.cells) if len(each) == len(row.cells)]
    yes, cell = marks_for_yes(cells), row.cells[column.at].casefold()
    if cell not in yes and not (says_no(cell, yes) and (cell or yes)):
        return False
    return (cell in yes) == column.is_denied


def _is_denied(asked: Sequence[AskedWord], name: Sequence[AskedWord], language: str) -> bool | None:
    """Return whether a question denies what a column is named after: "no nuts", "nut-free"; None if it is not named."""
    named = {each.key for each in name if each.word not in DENIES and not is_stop_word(each.word)}
    places = [n for n, each in enumerate(asked) if each.key in named or not named.isdisjoint(_others(each, language))]
    # "Who may vote but not book at weekends?" has the first word of "May book at weekends" elsewhere.
    while len(places) > 1 and max(after - before for before, after in pairwise(places)) > WORDS_BEFORE:
        places = places[1:]
    said = {asked[n].key for n in places}.union(*(_others(asked[n], language) for n in places))
    if not named or not named <= said:
        return None
    return _denies_at(asked, places) != any(each.word in DENIES for each in name)


def _others(word: AskedWord, language: str) -> frozenset[str]:
    return other_words_of(word.key, language)


def _denies_at(asked: Sequence[AskedWord], places: Sequence[int]) -> bool:
    behind = [each.word for each in asked[places[-1] + 1 : places[-1] + 3]]
    if behind[:1] in (["free"], ["frei"]) or any(
        word in NOT for word in takewhile(lambda word: word not in _PARTS, behind)
    ):
        return True  # "gluten-free", "does offline mode not work"
    for each in reversed(asked[max(0, places[0] - WORDS_BEFORE) : places[0]]):
        if each.word in DENIES:
            return True
        if each.word in _PARTS:
            return False
    return False


def is_of_other_days(asked: Asked, told: ToldSpan, heading: str = "") -> bool:
    """Return whether what is told, or else the heading above it, names days or months, and none of the question's.

    That something is not so on another day may be told where a yes or no is asked for: "Closed on Mondays".
    """
    if not any(days_asked(asked.text)):
        return False
    if names_days(asked.text, told.text):
        is_verdict = asked.kind is Kind.YES_NO
        of_others = tells_of_others(asked.text, told.text, may_exclude=is_verdict)
        denies = not DENIES.isdisjoint(word.word for word in words_in(told.text, told.passage.language or "en"))
        return of_others and not (is_verdict and denies)
    section = last_title(told.passage.section_at(told.passage.char_start + told.start))
    return tells_of_others(asked.text, heading if names_days(asked.text, heading) else section)


def may_be_others(asked: Asked, told: Sequence[ToldSpan], *, is_compared: bool, named: str = "") -> bool:
    """Return whether an answer that begins with a table's rows may tell others than those that are asked for.

    Of what has the most, all those that were not compared (`is_compared`) may be others. `named` says what the
    rows' document is about.
    """
    rows = [each for each in told if each.is_row]
    if not (rows and told[0].is_row):
        return False
    is_of_row = len(rows) == 1 and bool(asked.extreme_of_row)  # "Noise | 61 | 70" tells which model is the loudest
    if asked.extreme and not (is_compared or is_of_row or are_named(asked.text, rows)):
        return True
    besides = "\n".join(each.text for each in told if not each.is_row)
    # Of a list each row must be what is asked for; of what is compared, they are together.
    groups = [[each] for each in rows] if asked.for_several and not asked.gathers else [rows]
    verdict = asked.kind is Kind.YES_NO
    return any(_leave_doubt(asked.text, each, besides=besides, of_document=named, verdict=verdict) for each in groups)


def is_another_table_named(question: str, told: ToldSpan) -> bool:
    """Return whether a question has a word of the title of another table of a row's passage: "on call"."""
    passage, start = told.passage, told.start + len(told.passage.above)
    tables = tables_in(passage.whole)
    own = next((each for each in tables if each.start <= start < each.end), None)
    if not told.is_row or own is None or len(tables) == 1:
        return False
    language = passage.language or "en"
    titles = [_title_of(each.caption, language) for each in tables if each is not own]
    named = f"{told.text} {' '.join(own.columns)} {around(told)}"
    missing = {each.key for each in unsaid(words_asked(question, language), named, language)}
    return any(not missing.isdisjoint(title) for title in titles)


def _title_of(caption: str, language: str) -> frozenset[str]:
    """Return the stems of the lines above a table that are as short as a title, up to a longer one."""
    lines = takewhile(lambda line: len(line.split()) <= MAX_TITLE_WORDS and line[-1:] != ".", caption.split("\n")[::-1])
    return frozenset(keys_of(" ".join(lines), language))


def are_named(question: str, rows: Sequence[ToldSpan]) -> bool:
    """Return whether a question names all of these rows by more than half of their labels."""

    def is_named(row: ToldSpan) -> bool:
        language = row.passage.language or "en"
        asked = {each.key for each in words_asked(question, language)}
        label = row_cells(row.text)[0]
        keys = {key for key in keys_of(label, language) if not is_stop_word(key)}
        return len(keys & asked) > MIN_LABEL_SHARE * len(keys)

    return all(map(is_named, rows))


def _leave_doubt(question: str, rows: Sequence[ToldSpan], *, besides: str, of_document: str, verdict: bool) -> bool:
    """Return whether rows that are told as an answer may be others than the question asks for.

    One contradicts it, or none has a number or a name of the question which other rows have, or much of what it names.
    `besides`: what is told beside them; `of_document`: what says what their document is about.
    """
    if any(contradicts(question, each, verdict=verdict) for each in rows):
        return True
    if any(any(is_in_period(question, cell) for cell in row_cells(each.text)) for each in rows):
        for time in times_of_year_in(question):
            question = question.replace(time, " ")
    if all(is_another_table_named(question, each) for each in rows):
        return True
    first = rows[0].passage
    language = first.language or "en"
    read = list(map(_row_of, rows))
    told = "\n".join((*(" ".join(each.cells) for each in read), besides))
    beside = "\n".join((*(" ".join(each.names) for each in read), *map(around, rows)))
    named = f"{told}\n{beside}"
    asked = words_asked(question, language)
    comparison = comparison_in(question)
    compared = comparison.found if comparison else range_in(question)
    return (
        any(not _has_number(each, read, beside, question) for each in _numbers_in(question, compared))
        or (compared is not None and not any(is_in_range(each.cells[0], question) is not None for each in read))
        or not _codes_in(question) <= _codes_in(named)
        or _are_others_named(asked, rows, named, language)
        or _share_unsaid(asked, f"{named}\n{first.whole}\n{of_document}", language) > MAX_UNSAID
    )


def _codes_in(text: str) -> Set[str]:
    """Return the single capitals behind a word, and those alone in a cell: "group B"."""
    return {*_CODE.findall(text)}


def _numbers_in(question: str, compared: re.Match[str] | None) -> Iterator[re.Match[str]]:
    """Yield the numbers of a question that name something: no years, and none that a figure is compared with."""
    for found in _NUMBER.finditer(question):
        is_compared = compared is not None and compared.start() <= found.start() < compared.end()
        if not is_compared and not YEAR.fullmatch(found["number"]):
            yield found


def _has_number(asked: re.Match[str], rows: Sequence[_Row], around: str, question: str) -> bool:
    """Return whether a number stands in a row, or in what names it, and is no amount of money if the question's is not.

    A row for a range that the number is in has it.
    """
    number, has_sign = asked["number"].lstrip("0"), bool(asked["sign"] or asked["after"])
    for row in rows:
        if is_in_range(row.cells[0], question):
            return True
        for found in _FIGURE.finditer(" | ".join(row.cells)):
            if found["number"].lstrip("0") == number and (has_sign or not (found["sign"] or found["after"])):
                return True
    return any(found["number"].lstrip("0") == number for found in _FIGURE.finditer(around))


def _are_others_named(asked: Sequence[AskedWord], rows: Sequence[ToldSpan], told: str, language: str) -> bool:
    """Return whether a question names what stands in other rows of the passages' tables, and nowhere in what is told.

    Of the tables that are told from all cells count, and the labels of others if the question names none of these rows.
    """
    read = list(map(_row_of, rows))
    cells = {cell for row in read for other in row.others for cell in other}
    labels = {key for row in read for key in keys_of(row.cells[0], language)}
    if labels.isdisjoint(each.key for each in asked if is_content(each, language)):
        tables = (table for each in rows for table in tables_in(each.passage.whole) if table.columns)
        cells |= {row.label for table in tables for row in table.rows}
    elsewhere = {key for cell in cells if len(keys := keys_of(cell, language)) <= MAX_CELL_WORDS for key in keys}
    return any(each.key in elsewhere for each in unsaid(asked, told, language))


def _share_unsaid(asked: Sequence[AskedWord], told: str, language: str) -> float:
    """Return the share of a question's content words, by rarity, that are neither in what is told nor meant by it."""
    table = lexical.background(language)
    things = [each for each in asked if not is_time(each.word, language)]
    rarity = {each.key: table.get(each.key, lexical.MAX_RARITY) for each in things if is_content(each, language)}
    missing = sum(rarity[key] for key in {each.key for each in unsaid(things, told, language)})
    return missing / (sum(rarity.values()) or 1.0)


def unsaid(asked: Sequence[AskedWord], told: str, language: str) -> Sequence[AskedWord]:
    """Return the content words of a question that a text has not: no form, no synonym and none of their family."""
    held = {*keys_of(told, language)}
    held = held.union(*(other_words_of(key, language) for key in held))
    missing = [each for each in asked if is_content(each, language) and each.key not in held]
    if not missing:
        return ()
    stems = {lexical.stem(word, language) for word in held}
    near: dict[str, list[str]] = {}
    for word in held:  # forms, and words of one family with other stems, begin alike
        near.setdefault(word[:MIN_WORD], []).append(word)
    return [
        each
        for each in missing
        if lexical.stem(each.word, language) not in stems
        and not any(
            are_forms(each.word, other) or are_of_family(each.word, other, language)
            for other in near.get(each.word[:MIN_WORD], ())
        )
    ]


def is_content(word: AskedWord, language: str) -> bool:
    """Return whether a word of a question names something, and does not only ask, count or measure."""
    return not (
        is_stop_word(word.word)
        or word.word.isdigit()
        or is_unit(word.word)
        or is_number_word(word.word)
        or word.word in OPENS
        or word.word in small_words_of(language)
        or word.key in words_of_asking(language)
    )


@cache
def small_words_of(language: str) -> frozenset[str]:
    """Return the small words of a language, and what questions say besides what they ask about, folded."""
    return ASKING.union(lexical.fold(word) for word in FUNCTION_WORDS.get(language, ()))


def around(row: ToldSpan) -> str:
    """Return what says of a row what it is about: its section, its document's title, and the line above its table."""
    passage = row.passage
    lines = passage.whole[: row.start + len(passage.above)].split("\n")
    above = next((line for line in reversed(lines[:-1]) if SEPARATOR not in line and line.strip()), "")
    return f"{passage.section_at(passage.char_start + row.start)}\n{passage.title}\n{above}"


def columns_of(told: ToldSpan) -> Sequence[str]:
    """Return the names of a row's columns; none of anything else."""
    return _row_of(told).names if told.is_row else ()


def _row_of(told: ToldSpan) -> _Row:
    return _row_at(told.passage.whole, told.start + len(told.passage.above))


@lru_cache(maxsize=1_024)
def _row_at(text: str, start: int) -> _Row:
    """Read the row at a position of a text with the table around it."""
    line = text.count("\n", 0, start)
    lines = text.split("\n")
    first = next((at + 1 for at in range(line - 1, -1, -1) if SEPARATOR not in lines[at]), 0)
    last = next((at for at in range(line, len(lines)) if SEPARATOR not in lines[at]), len(lines))
    header = header_at(text, start)
    names: Sequence[str] = row_cells(text[slice(*header)]) if header else ()
    if not names and (found := row_at(text, start)) is not None and found[0].columns:
        names = ("", *found[0].columns)  # a line that names a group of rows stands between
    others = [row_cells(lines[at]) for at in range(first, last) if at != line]
    return _Row(row_cells(lines[line]), names, [each for each in others if each != names])


@lru_cache(maxsize=64)
def words_asked(question: str, language: str) -> Sequence[AskedWord]:
    """Return the words and numbers of a question, without contractions."""
    return words_in(without_contractions(question), language)
