"""The conditions of a question that a table has a column for: a mark, a value, or a figure within a limit."""

import re
from collections.abc import Iterator, Sequence, Set
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from functions.query.grounding.quantities import (
    CURRENCIES,
    LETTER_SCALES,
    PERIODS,
    is_scale,
    is_unit,
    spelled_value,
    unit_name,
)
from functions.query.grounding.table_cells import read_cell
from functions.query.grounding.words import has_digit, is_stop_word, other_words_of, stem_of, tokens_of
from functions.query.writing.table_words import (
    ASIDE,
    FREE,
    HOLDS,
    JOINS,
    NO,
    NONE,
    NOT,
    YES,
    AskedWord,
    comparison_in,
    keys_of,
    marks_for_yes,
    range_in,
    says_no,
    words_for,
    words_in,
)
from functions.query.writing.whole_tables import WholeRow, WholeTable
from shared.dates import is_month
from shared.lexical import fold
from shared.text import TIME, is_dash, sentences_of

MIN_LEGEND = 2
"""Rows of a table, and entries of a legend ("(S) sesame"), at least."""
MAX_CODE = 2
"""Letters of a code, which other words have by chance."""
_OF_ALL_CELLS = re.compile(
    r"(?:all|any|every|both|daily|always|world|unlimited|week|work|alle|täglich|woche|werk|tous|toutes|en semaine"
    r"|todos|todas|laborable|darbo|visos?)",
    re.IGNORECASE,
)
_RANGE_OF_WORDS = re.compile(r"[^\W\d_]\s?[-–—]\s?[^\W\d_]|\b(?:to|bis|except|but|not|außer|sauf)\b", re.IGNORECASE)
"""Cells that may mean more, or less, than the words that they are written in."""
_DENIES = re.compile(r"\b(?:\w*free|without|not|never|\w*frei|ohne|sans|sin|libres?)\b", re.IGNORECASE)
"""What a title, or the name of a column, says of things that are not in what it names."""
_SUITS = re.compile(r"\b(?:suitable|safe|geeignet\w*|verträglich\w*|convient\w*|aptos?|aptas?)\b", re.IGNORECASE)
"""What a title says of a table of whom something suits: those who may not eat nuts, or who like them."""
_OF_MARKS = re.compile(
    r"\b(?:cross(?:es)?|tick(?:s|ed)?|mark(?:s|ed|ings?)?|symbols?|empty|blank|traces?|may contain|(?:ange)?kreuz\w*"
    r"|häkchen|\w*markier\w*|\w*kennzeichn\w*|leere?\w*|spuren|croix|coch\w+|marqu\w+|vides?|cruz|cruces|marca\w*"
    r"|vac[ií]\w+|kryž\w+|varnel\w*|pažym\w+|tušč\w+)\b",
    re.IGNORECASE,
)
"""How a text beside a table speaks of what its marks, or its empty cells, mean."""
_OF_EMPTY = re.compile(r"\b(?:empty|blank|no (?:tick|cross|mark)|leere?\w*|vides?|vac[ií]\w+|tušč\w+)\b", re.IGNORECASE)
_MEANS = re.compile(
    r"\b(?:means?|stands? for|shows?|indicates?|bedeute\w*|heißt|zeigt|signifie\w*|indique\w*|significa\w*|indica\w*"
    r"|reiškia)\b(?P<meaning>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OPEN_MEANING = re.compile(
    r"\b(?:may|might|can|could|request|some|only|if|unless|free|suitable|traces?|kann|können|nur|spuren|peut|puede\w*)\b",
    re.IGNORECASE,
)
"""What leaves open, or turns, what a mark means."""
_LEGEND_OF_MARK = re.compile(r"(?<!\w)(?:x|×|✓|✔|✗|•|●)\s?(?:=|:|–|means)\s?([^\n;,|]{1,60})", re.IGNORECASE)
_CODE = r"[A-Z]{1,2}|\d{1,2}"
_LEGEND = re.compile(rf"\(({_CODE})\)\s([^\W\d_]+)|(?<![^\s,;(])({_CODE})\s?[=:–]\s?([^\W\d_]+)")
"""The legend of codes: "(S) sesame", "S = sesame"."""
_NOT_THERE = NO | NOT | NONE
_FIGURE_AND_SIGN = re.compile(r"\s*(\d+(?:[.,:]\d+)*)\s*")
_PARTS = re.compile(r"\s*[,;/+&]\s*|\s+(?:and|und|et|y|ir)\s+")
_LIMITED = re.compile(r"\b(?:up to|from|max\w*|min\w*|over|under|ab|bis|jusqu|hasta|nuo|iki)\b", re.IGNORECASE)
"""The name of a column whose figures are limits themselves."""
_RANKED = re.compile(
    r"\b(?:rank\w*|priorit\w*|place|position|grade|class|stufe|klasse|rang|platz|prioridad)\b", re.IGNORECASE
)
"""The name of a column whose first is its highest."""
_PER = re.compile(r"\b(?:per|pro|par|por|je|each|an?)\b|/", re.IGNORECASE)
_PLURAL = ("s", "n", "tage")
"""What stands before a unit that figures are for each of, and how the name of a column ends that counts a unit."""
_DIRECTIONS = words_for("directions")
BUYS, NOUNS, PRICE, RENTS, SELLS, OPEN = (
    words_for(each) for each in ("buys", "nouns", "price", "rents", "sells", "open")
)


class Meets(NamedTuple):
    """The rows that meet a condition, or two, the tokens of the question that state it, and its columns.

    `denied`: the condition is that something is not so. `is_nearest`: no row meets it, and these come nearest.
    `asides` are words that set no condition of their own beside it.
    """

    rows: Sequence[WholeRow]
    stated: Set[int]
    columns: Sequence[int]
    value: Sequence[str] = ()
    denied: bool = False
    is_nearest: bool = False
    asides: Set[str] = frozenset()


def conditions_in(question: str, tokens: Sequence[AskedWord], table: WholeTable, kind: Set[int]) -> Iterator[Meets]:
    """Yield the conditions that a question sets of a table's columns, each with the rows that meet it."""
    if compared := limits_in(question):
        found, limits = compared
        stated = {n for n, token in enumerate(tokens) if found.start() <= token.start < found.end()}
        column, rows, nearest = _compared(limits, tokens, table, stated | kind)
        if rows or nearest:
            asides = _asides(tokens, table, column, limits[0][1])
            yield Meets(rows or nearest, stated, (column,), is_nearest=not rows, asides=asides)
    codes = list(_codes_of(tokens, table))
    for column in range(len(table.names)):
        yield from _marked(tokens, table, column)
        yield from _lacking(tokens, table, column)
        yield from _with_value(tokens, table, column, kind, codes)


def _at(keys: Sequence[str], tokens: Sequence[AskedWord]) -> Iterator[Set[int]]:
    """Yield where keys stand in the question, one behind the other."""
    for at in range(len(tokens) - len(keys) + 1 if keys else 0):
        if all(tokens[at + n].key == key for n, key in enumerate(keys)):
            yield set(range(at, at + len(keys)))


# --- conditions ---


def _marked(tokens: Sequence[AskedWord], table: WholeTable, column: int) -> Iterator[Meets]:
    """Yield the rows with a mark in a column that is named, or without one: "contain sesame", "contain no sesame"."""
    cells = [cell.casefold().strip() for cell in table.column(column)]
    yes = marks_for_yes(cells)
    no = {cell for cell in cells if says_no(cell, yes)}
    is_unknown = len(no) > 1 and "" in no  # an empty cell beside some that say no
    if not (yes and set(cells) <= yes | no) or column == 0 or _says_otherwise(tokens, table):
        return
    name = {each.key for each in words_in(table.names[column], table.language) if not is_stop_word(each.word)}
    rows = [(row, cell in yes) for row, cell in zip(table.rows, cells, strict=True)]
    content = [n for n, token in enumerate(tokens) if token.key in name]
    if not name or {tokens[n].key for n in content} != name:
        return
    first = content[-1]
    for at in reversed(content):  # the first word of "May book at weekends" may stand in front of another name
        first = at if all(is_stop_word(token.word) for token in tokens[at + 1 : first]) else first
    begins = max((n for n in range(first) if tokens[n].word in JOINS), default=0)
    # What is denied behind the column's name is something else: "have a sea view but no balcony".
    denies = {
        n
        for n, token in enumerate(tokens[:first])
        if n >= begins and (token.word in NOT or (token.word in NO and n + 1 in content))
    }
    if len(denies) == 1 and not is_unknown and not all(is_met for _, is_met in rows):
        yield Meets([row for row, is_met in rows if not is_met], denies | set(content), (column,), denied=True)
    elif not denies:
        yield Meets([row for row, is_met in rows if is_met], set(content), (column,))


def _says_otherwise(tokens: Sequence[AskedWord], table: WholeTable) -> bool:
    """Return whether a table's title or legend may give its marks another meaning: "free from", "x = on request".

    What suits somebody need not be what something holds.
    """
    if _DENIES.search(table.about) or not _are_marks_plain(table.beside):
        return True
    if _SUITS.search(table.about) and any(token.word in HOLDS for token in tokens):
        return True
    keys = {token.key for token in tokens}
    known = keys | table.around | {stem_of(word, table.language) for word in ASIDE}
    meanings = _LEGEND_OF_MARK.findall(table.text)
    return any(not known.issuperset(keys_of(meaning, table.language)) for meaning in meanings)


@lru_cache(maxsize=64)
def _are_marks_plain(text: str) -> bool:
    """Return whether all that a text says of marks is that one means yes, or that none means no.

    "A tick means that the dish contains the allergen. An empty field means that it does not."
    """
    for start, end in sentences_of(text):
        sentence = text[start:end]
        marks = _OF_MARKS.findall(sentence)
        if not marks:
            continue
        meaning = _MEANS.search(sentence)
        if meaning is None or len(marks) > 1 or _OPEN_MEANING.search(sentence):
            return False
        says_none = any(word in _NOT_THERE for word in tokens_of(meaning["meaning"]))
        is_of_empty = _OF_EMPTY.search(sentence[: meaning.start()]) is not None
        if says_none != is_of_empty or (_DENIES.search(meaning["meaning"]) and not is_of_empty):
            return False
    return True


def _lacking(tokens: Sequence[AskedWord], table: WholeTable, column: int) -> Iterator[Meets]:
    """Yield the rows whose cell says that there is none of what is named: "no allergens" of `Allergens | none`."""
    name = keys_of(table.names[column], table.language)
    cells = [cell.casefold().strip() for cell in table.column(column)]
    met = [row for row, cell in zip(table.rows, cells, strict=True) if cell in NONE or is_dash(cell)]
    if not all(cells) or not met or len(met) == len(cells) or {*cells} & YES:
        return
    for stated in _at(name, tokens):
        before = min(stated) - 1
        if before > 0 and tokens[before].word in NO:
            yield Meets(met, stated | {before}, (column,), denied=True)


def _with_value(
    tokens: Sequence[AskedWord],
    table: WholeTable,
    column: int,
    kind: Set[int],
    codes: Sequence[tuple[int, tuple[str, ...]]],
) -> Iterator[Meets]:
    """Yield the rows whose cell, or one of the things in it, is what the question names, or one of its `codes`."""
    items = [[keys_of(item, table.language) for item in _PARTS.split(cell)] for cell in table.column(column)]
    stated: dict[tuple[str, ...], Set[int]] = {}
    is_column_asked = {token.key for token in tokens}.issuperset(keys_of(table.names[column], table.language))
    for value in {item for of_cell in items for item in of_cell if item}:
        for places in _at(value, tokens):
            is_last = max(places) == len(tokens) - 1 or is_column_asked
            if places.isdisjoint(kind) and (is_last or not all(is_stop_word(tokens[n].word) for n in places)):
                stated[value] = places
    for token_at, code in codes:
        if any(code in of_cell for of_cell in items):
            stated[code] = {token_at}
    name = fold(table.names[column]).lower()
    if name in _DIRECTIONS and all(token.word != name for token in tokens):
        return
    asked = {token.word for token in tokens}
    said = (*_DENIES.findall(table.names[column]), *_SUITS.findall(table.names[column]))
    if any(fold(word).lower() not in asked for word in said):
        return
    for value, places in stated.items():
        rows = [row for row, of_cell in zip(table.rows, items, strict=True) if value in of_cell]
        others = [row.cells[column] for row in table.rows if row not in rows]
        if not any(may_mean(cell, value, table.language) for cell in others):
            yield Meets(rows, places, (column,), value)


def may_mean(cell: str, value: Sequence[str], language: str) -> bool:
    """Return whether a cell may hold a value that is no thing of its own in it: "Mon–Fri", "all", "hazelnuts"."""
    keys = keys_of(cell, language)
    holds = any(
        all(
            part == key or (len(part) > MAX_CODE and part in key)
            for part, key in zip(value, keys[at : at + len(value)], strict=True)
        )
        for at in range(len(keys) - len(value) + 1)
    )
    return holds or not cell or bool(_OF_ALL_CELLS.match(cell) or _RANGE_OF_WORDS.search(cell))


def _codes_of(tokens: Sequence[AskedWord], table: WholeTable) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the codes that the legend beside a table gives for words of the question."""
    legend = [(one or two, word or other) for one, word, two, other in _LEGEND.findall(table.text)]
    codes = {code: stem_of(fold(word).lower(), table.language) for code, word in legend}
    if len(codes) < MIN_LEGEND or any(codes[c] != stem_of(fold(w).lower(), table.language) for c, w in legend):
        return
    for code, key in codes.items():
        for at, token in enumerate(tokens):
            if token.key == key:
                yield at, keys_of(code, table.language)


# --- comparisons ---


def limits_in(question: str) -> tuple[re.Match[str], Sequence[tuple[str, str, int, bool]]] | None:
    """Return where a question compares with figures, and each with its unit, the direction, and whether it is meant."""
    if (found := range_in(question)) is not None:
        ends = [_FIGURE_AND_SIGN.split(found[end]) for end in ("low", "high")]
        unit = next((sign for end in ends for sign in end if sign and not has_digit(sign)), found["unit"] or "")
        numbers = [next(part for part in end if has_digit(part)) for end in ends]
        return found, [(numbers[0], unit, 1, True), (numbers[1], unit, -1, True)]
    if (compared := comparison_in(question)) is None:
        return None
    found, sign, is_met = compared
    number = found["number"] if has_digit(found["number"]) else str(spelled_value(found["number"]))
    behind = (found["unit"] or "").lower()
    if is_month(behind) or is_scale(behind) or (found["sign"] and len(behind) == 1 and behind in LETTER_SCALES):
        return None  # "after 3 May", "over £20k"
    return found, [(number, found["sign"] or found["unit"] or "", sign, is_met)]


def _asides(tokens: Sequence[AskedWord], table: WholeTable, column: int, unit: str) -> Set[str]:
    """Return the words that tell who pays where a price is limited: "can I rent" of "Which bikes can I rent for …?".

    None where the column may be no price, or one for something else: to buy where it is asked what can be rented.
    """
    name = {token.word for token in words_in(table.names[column], table.language)}
    is_period = any(unit_name(word) in PERIODS for word in name)
    if unit_name(unit.strip()) not in CURRENCIES or not (is_period or name & PRICE):
        return frozenset()
    asked = {token.word for token in tokens}
    told = {token.word for text in (table.about, *table.names) for token in words_in(text, table.language)}
    if asked & RENTS and not (is_period or told & RENTS):
        return frozenset()
    if asked & SELLS and (is_period or told & RENTS):
        return frozenset()
    return BUYS - {token.word for before, token in pairwise(tokens) if before.word in NOUNS}


def _compared(
    limits: Sequence[tuple[str, str, int, bool]], tokens: Sequence[AskedWord], table: WholeTable, known: Set[int]
) -> tuple[int, Sequence[WholeRow], Sequence[WholeRow]]:
    """Return the rows whose figure is within the limits that a question sets, with their column; none if unclear.

    If no row is within them, those with the figure that comes nearest are returned beside.
    """
    read = [(*_read(number, unit), sign, is_met) for number, unit, sign, is_met in limits]
    unit, word = read[0][1], limits[0][1]
    if unit == "time" and not OPEN.isdisjoint(token.word for token in tokens):
        return 0, (), ()  # what is open after six has not opened after six
    noun = stem_of(fold(word).lower(), table.language)
    asked = {token.key for n, token in enumerate(tokens) if n not in known and token.word not in {"at", "in", "on"}}
    asked |= {other for key in asked for other in other_words_of(key, table.language)}
    sizes = {}
    for at in range(1, len(table.names)):
        # "A deposit over 60" is in the currency of the deposits.
        is_named = asked.issuperset(keys_of(table.names[at], table.language))
        if each := _sizes(table, at, unit, noun, any_unit=is_named and not unit):
            sizes[at] = each
    shared = {at: len(asked.intersection(keys_of(table.names[at], table.language))) for at in sizes}
    columns = [at for at, number in shared.items() if number and number == max(shared.values())]
    if len(columns) > 1:  # "a day" is of "1 day", not of "Half day" or "3 days"
        columns = [at for at in columns if asked | {"1", "per"} >= set(keys_of(table.names[at], table.language))]
    if not columns and unit:  # a bare number may be of anything, and nothing is no figure of it
        prices = {at for at in sizes if PRICE & {each.word for each in words_in(table.names[at], table.language)}}
        columns = [
            at
            for at in sizes
            if not any(cell.casefold() in (NONE if at in prices else NONE | FREE) for cell in table.column(at))
        ]
    if len(columns) != 1:
        return 0, (), ()
    rows = [
        row
        for row, size in zip(table.rows, sizes[columns[0]], strict=True)
        if size is not None
        and all(
            limit is not None and (sign * (size - limit) > 0 or (is_met and size == limit))
            for limit, _, sign, is_met in read
        )
    ]
    sized = [size for size in sizes[columns[0]] if size is not None]
    if rows or len(read) > 1 or not sized:
        return columns[0], rows, ()
    nearest = max(sized, key=lambda size: read[0][2] * size)
    return columns[0], (), [row for row, size in zip(table.rows, sizes[columns[0]], strict=True) if size == nearest]


def _read(number: str, unit: str) -> tuple[Decimal | None, str]:
    """Return a question's figure, and its unit: "time" of a time of the day."""
    if TIME.fullmatch(number) and not number.isdecimal() and "." not in number:
        hours, minutes = re.split(r"\D", number)
        return Decimal(60 * int(hours) + int(minutes)), "time"
    cell = read_cell(number, None)
    name = fold(unit).lower().strip()
    return cell.signed if len(cell.values) == 1 else None, unit_name(name) if name and is_unit(name) else name


def _sizes(table: WholeTable, column: int, unit: str, noun: str, *, any_unit: bool) -> Sequence[Decimal | None]:
    """Return the figure of each row in a column, None for a dash; nothing if one is no figure in the, or any, unit."""
    name = table.names[column]
    cells = table.column(column)
    if _LIMITED.search(name) or (not unit and _RANKED.search(name)):
        return ()
    if unit == "time":
        read = [_read(cell, "") for cell in cells]
        if not all(kind == unit or is_dash(cell) for (_, kind), cell in zip(read, cells, strict=True)):
            return ()
        return [size for size, _ in read] if any(size is not None for size, _ in read) else ()
    values = [read_cell("0" if cell.casefold() in NONE | FREE else cell, column) for cell in cells]
    if not all(len(each.values) == 1 or is_dash(each.text) for each in values):
        return ()
    units = {each.unit for each in values if each.values and (each.unit or each.signed)}
    counted = words_in(_PER.split(name)[0], table.language)  # "Price per day" is of no days
    if len(counted) == 1 and unit_name(counted[0].word) in PERIODS and not counted[0].word.endswith(_PLURAL):
        counted = []  # nor is "Day" above prices
    in_name = {unit_name(token.word) for token in counted if is_unit(token.word)}
    in_name |= {unit_name(each) for each in re.findall(r"[€$£%]", name)}
    of_noun = bool(noun) and noun in (token.key for token in counted)
    if units == {unit} or (any_unit and len(units) == 1) or (units == {""} and (unit in in_name or of_noun)):
        return [each.signed for each in values]
    return ()
