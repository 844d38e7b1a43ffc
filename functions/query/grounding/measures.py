"""Checks what the numbers of a claim are of: which thing, group, part, limit, rate or move."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, permutations, product

from functions.query.grounding.facts import Fact, facts_in
from functions.query.grounding.polarity import count_negations
from functions.query.grounding.quantities import (
    ADVERBS_OF_PERIODS,
    PERIODS,
    is_number_word,
    is_unit,
    spelled_value,
    unit_name,
)
from functions.query.grounding.words import (
    content_stems,
    has_digit,
    is_degree,
    stem_of,
    stems_of,
    tokens_of,
    with_synonyms,
)
from shared.dates import CENTURY_YEAR, is_month, is_year, month_number
from shared.lexical import fold
from shared.text import SEPARATOR

# --- numbers and months of like parts ---

_PAIR_PART = re.compile(r";\s|,?\s(?:and|but|while|whereas|compared (?:to|with)|against|versus)\s", re.IGNORECASE)


def crosses_pairs(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim takes a number or month of one part of a sentence with another one of a like part.

    "Admitted in January, by December" crosses "Admitted in January, by July; admitted in August, by December".
    """
    said = [frozenset(_marks_in(part)) for part in _PAIR_PART.split(claim)]
    for sentence in sentences:
        parts = [marks for part in _PAIR_PART.split(sentence) if len(marks := _marks_in(part)) > 1]
        for one, other in combinations(parts, 2):
            if len(one) != len(other) and all(each.startswith("month") for each in (*one, *other)):
                one, other = (one[0], one[-1]), (other[0], other[-1])  # "in April/May …, in November/December …"
            elif len(one) != len(other):
                continue
            if any(_crosses(marks, one, other) for marks in said):
                return True
    return False


def _crosses(said: frozenset[str], one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether marks hold the first of one row and the second of another, but not the others of both."""
    return any(
        one[i] in said and other[j] in said and one[j] not in said and other[i] not in said
        for i, j in permutations(range(len(one)), 2)
    )


@lru_cache(maxsize=512)
def _marks_in(text: str) -> Sequence[str]:
    """Return the numbers but years, and the months of a text, in order; "01" is "1", "Jan" is "month 1"."""
    return tuple(
        f"month {month_number(word)}" if is_month(word) else word.strip("$€£¥%").lstrip("0")
        for word in tokens_of(text)
        if (is_month(word) and word != "may") or (has_digit(word) and not is_year(word))
    )


# --- parts of sentences, each with a value of its own ---

_VALUE_PART = re.compile(
    r"(?<=\w{3})\.\s|[;:]\s|,\s(?!\d{4}\b)|\s(?:and|but|while|whereas|compared (?:to|with)|versus|against)\s",
    re.IGNORECASE,
)
"""Where a part of a sentence ends that may have a value of its own."""
_ITEM = r"[^\s,;()]+(?:\s(?:hundred|thousand|million|billion|trillion|%))?"
_ROW = re.compile(rf"{_ITEM}(?:, {_ITEM})*,? and {_ITEM}", re.IGNORECASE)
_ITEM_END = re.compile(r",? and |, ", re.IGNORECASE)
_RESPECTIVELY = re.compile(r",?\s*\brespectively\b,?", re.IGNORECASE)
_WORD_OR_YEAR = re.compile(r"[^\W_]+(?:-[^\W\d_]+)*(?:['’][^\W\d_]+)?")
_FIGURES = re.compile(r"(?<![\w.,])\d[\d.,:]*(?![^\W_])")
"""Numbers, but no "21st"."""
MAX_PARTS = 24
"""Parts of the evidence above which none are compared: any two things could be found in some of them."""


@dataclass(frozen=True, slots=True)
class ValuePart:
    """A part of a sentence, or a row of a table: its words (with dates) and its numbers as digits.

    `facts`: its values, if it is of a sentence.
    """

    words: frozenset[str]
    numbers: frozenset[str]
    facts: tuple[Fact, ...] = ()
    text: str = ""


@lru_cache(maxsize=512)
def parts_of(text: str, language: str) -> Sequence[ValuePart]:
    """Return the parts of a sentence that tell a value each, or a row of a table as one."""
    if SEPARATOR in text:
        return [_part(text, language)]
    if _RESPECTIVELY.search(text) and (paired := _paired(text, language)):
        return paired
    parts: list[ValuePart] = []
    opening = ""
    for piece in _pieces_of(fold(text)):
        part = _part(piece, language)
        if part.numbers or part.facts:
            said = frozenset(content_words_of(opening, language))  # "Among the members, …" is said of all parts
            parts.append(replace(part, words=part.words | said))
        elif not parts:
            opening = f"{opening} {piece}".strip()
    return parts


def _pieces_of(text: str) -> Iterator[str]:
    """Yield the parts of a sentence; a number in brackets behind another one is a part: "8 percent (previously 6)"."""
    for piece in _VALUE_PART.split(text):
        before, bracket, behind = piece.partition(" (")
        pieces = (before, behind) if bracket and has_digit(before) and has_digit(behind) else (piece,)
        yield from filter(None, map(str.strip, pieces))


def _part(text: str, language: str) -> ValuePart:
    plain = (each.group().replace(",", "").strip(".:").lstrip("0") or "0" for each in _FIGURES.finditer(fold(text)))
    numbers = frozenset(each for each in plain if not is_year(each))
    facts = () if SEPARATOR in text else tuple(each for each in facts_in(text) if _is_value(each))
    return ValuePart(frozenset(content_words_of(text, language)), numbers, facts, text)


def content_words_of(text: str, language: str) -> Sequence[str]:
    """Return the stems of the content words of a text, of words with a hyphen as one, its years and its months."""
    found: list[str] = []
    for match in _WORD_OR_YEAR.finditer(fold(text).lower()):
        word = match.group()
        if is_year(word) or is_month(word):
            found.append(word)
        elif not has_digit(word) and content_stems(word, language):
            found.append(word if "-" in word else stem_of(word, language))
    return found


def _paired(text: str, language: str) -> Sequence[ValuePart]:
    """Return the parts of "19% and 14%, respectively, of Democrats and Republicans": each item with its value."""
    plain = _RESPECTIVELY.sub("", fold(text))
    rows = [(row, _ITEM_END.split(row.group())) for row in _ROW.finditer(plain)]
    values = [(row, items) for row, items in rows if all(map(has_digit, items)) and not all(map(is_year, items))]
    names = [(row, items) for row, items in rows if all(map(is_year, items)) or all(map(_is_name, items))]
    if len(values) != 1:
        return []
    row, told = values[0]
    fitting = [(other, items) for other, items in names if len(items) == len(told) and other.end() + 1 < row.start()]
    fitting += [(other, items) for other, items in names if len(items) == len(told) and other.start() > row.end()]
    if len(fitting) != 1:
        return []
    other, items = fitting[0]
    first, second = sorted((row.span(), other.span()))
    rest = f"{plain[: first[0]]} # {plain[first[1] : second[0]]} # {plain[second[1] :]}"
    if has_digit(rest):
        rest = " ".join(word for word in rest.split() if not has_digit(word))
    return [
        replace(_part(f"{rest} {name} {value}", language), facts=_part(value, language).facts)
        for name, value in zip(items, told, strict=True)
    ]


def _is_name(item: str) -> bool:
    return not has_digit(item) and not any(map(is_degree, tokens_of(item)))


def _is_value(fact: Fact) -> bool:
    if fact.kind == "date":
        return fact.date is not None and bool(fact.date.month and fact.date.day) and not fact.date.swapped
    return fact.kind in {"number", "time"} and len(fact.values) == 1 and not CENTURY_YEAR.fullmatch(fact.text)


# --- who has which value ---


def may_exchange_values(claim: str) -> bool:
    """Return whether a claim has two numbers that it may exchange."""
    return len(_FIGURES.findall(claim)) > 1 and _VALUE_PART.search(claim) is not None


def exchanges_values(claim: str, texts: Sequence[str], language: str) -> bool:
    """Return whether a claim gives two things each the value that its evidence (sentences and rows) gives the other."""
    said = [part for part in parts_of(claim, language) if part.numbers]
    if not 2 <= len(said) <= MAX_PARTS or count_negations(tokens_of(claim)):
        return False
    held = [part for text in dict.fromkeys(texts) for part in parts_of(text, language) if part.numbers]
    found = [each for one, other in combinations(said, 2) for each in _exchanged(one, other, held)]
    return bool(found) and all(found)


def _exchanged(one: ValuePart, other: ValuePart, held: Sequence[ValuePart]) -> Iterator[bool]:
    """Yield for each two parts of the evidence with the two values whether they are told of the other thing."""
    values = product(one.numbers - other.numbers, other.numbers - one.numbers)
    for (mine, theirs), (first, second) in product(values, permutations(held, 2)):
        is_told = mine in first.numbers and theirs in second.numbers
        if is_told and mine not in second.numbers and theirs not in first.numbers:
            said, others = one.words - other.words, other.words - one.words
            told, told_of_other = first.words - second.words, second.words - first.words
            kept = [len(said & told), len(others & told_of_other)]
            crossed = [len(said & told_of_other), len(others & told)]
            if (all(crossed) and not all(kept)) or sum(kept) > 0:
                yield all(crossed) and not all(kept) and sum(crossed) > sum(kept)


# --- limits ---

_NUMBER = r"(?<![\d.,])[$€£¥]?\s?(\d[\d.,]*\d|\d|[^\W\d_]{3,9})"
_ROUND = r"(?:(?:about|some|around|an?|additional|period|of|total)\s+){0,3}"
_FIRST = r"(?:the\s+(?:first|last)\s+)?"
_LEAST = re.compile(
    rf"\b(?:at least|(?:a |the )?minimum(?: of)?|more than|over|longer than|exceed(?:s|ed|ing)?)\s+{_ROUND}{_NUMBER}"
    r"(?:\s+([^\W\d_]+))?",
    re.IGNORECASE,
)
_MOST = re.compile(
    rf"\b(?:at most|(?:a |the )?maximum(?: of)?|(?:less|fewer|shorter) than|under|up to|within)\s+{_FIRST}{_ROUND}"
    rf"{_NUMBER}(?:\s+([^\W\d_]+))?",
    re.IGNORECASE,
)
_OR_BEYOND = re.compile(
    rf"{_NUMBER}(?:\s+([^\W\d_]+))?(?:\s+\([^()]*\))?\s+(?:or|and)\s+"
    r"(?:(more|longer|over|above|older|higher)|(?:less|fewer|shorter|under|below|younger|lower))\b",
    re.IGNORECASE,
)
_UNTIL_BEFORE = re.compile(r"up to\s[\w\s]+?\s(?:before|prior|ahead|in advance)\b", re.IGNORECASE)
"""A time that ends something: "up to 72 hours before" is "at least 72 hours before"."""
AFTER_BOUND = 20
"""Characters behind "up to" and its number in which "before" ends."""
MIN_SAME_LIMITED = 0.6
"""Share of a claim's content words that a sentence must contain for its limit to be of the same thing."""


def turns_limit(claim: str, sentences: Sequence[str], language: str, *, is_bound: bool = False) -> bool:
    """Return whether a claim calls the most what a sentence about the same calls the least, or the other way round.

    A row that a claim's figures are bound to (`is_bound`) is about the same.
    """
    mine = _limits_in(claim)
    if not mine or count_negations(tokens_of(claim)):
        return False
    said = stems_of(claim, language)
    theirs = [_limits_in(each) for each in sentences if is_bound or _is_about_the_same(said, each, language)]
    held = frozenset().union(*theirs)
    return any((*limit, not is_least) in held and (*limit, is_least) not in held for *limit, is_least in mine)


def _is_about_the_same(said: frozenset[str], sentence: str, language: str) -> bool:
    held = stems_of(sentence, language)
    shared = (said & held) | with_synonyms(said, held, language)
    return len(shared) >= MIN_SAME_LIMITED * len(said) and not count_negations(tokens_of(sentence))


def _limits_in(text: str) -> frozenset[tuple[str, str, bool]]:
    """Return the numbers that a text calls the least or the most, with their units; whether they are the least."""
    found: set[tuple[str, str, bool]] = set()
    for way, is_least in ((_LEAST, True), (_MOST, False)):
        for match in way.finditer(text):
            number, unit = match.groups(default="")
            is_least_here = is_least or _UNTIL_BEFORE.match(text, match.start(), match.end() + AFTER_BOUND) is not None
            value = number.lower() if number[0].isdigit() else str(spelled_value(number.lower()))
            if number[0].isdigit() or is_number_word(number.lower()):
                found.add((value, unit_name(unit.lower()) if is_unit(unit.lower()) else "", is_least_here))
    for number, unit, more in _OR_BEYOND.findall(text):
        if number[0].isdigit():
            found.add((number, unit_name(unit.lower()) if is_unit(unit.lower()) else "", bool(more)))
    return frozenset(found)


# --- moves ---

_MOVE = re.compile(rf"\bfrom\s+{_ROUND}{_NUMBER}(?:\s+[^\W\d_]+){{0,6}}?\s+to\s+{_ROUND}{_NUMBER}", re.IGNORECASE)
_FORMER = re.compile(
    rf"{_NUMBER}[^.;\d]{{0,25}}?(?:\(|\b)(?:before|previously|formerly|until now|instead of|rather than"
    rf"|(?:up|down) from)[\s:]+{_ROUND}{_NUMBER}",
    re.IGNORECASE,
)
_COMPARED_BEFORE = re.compile(
    rf"{_NUMBER}[^.;\d]{{0,60}}?\bcompared (?:with|to) {_ROUND}{_NUMBER}[^.;\d]{{0,40}}?"
    r"\b(?:(?:last|prior|previous|preceding)[\s-](?:fiscal )?(?:year|quarter|month|period)"
    r"|(?:year|month) (?:ago|earlier))",
    re.IGNORECASE,
)
"""A move from one number to another, and a number with the one that it was before."""


def turns_move(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim moves a number from what it is to what it was: "from 20 to 60" for "20 (before: 60)"."""
    said = [match.groups() for match in _MOVE.finditer(claim)]
    ways = (_FORMER, _COMPARED_BEFORE) if said else ()
    held = {match.groups() for sentence in sentences for way in ways for match in way.finditer(sentence)}
    return any((old, new) in held and (new, old) not in held for old, new in said)


# --- what a word before a number says of it ---

_BEFORE_NUMBER = re.compile(
    r"\b(?:(?P<from>from|since)|(?P<to>to|until|till|through)|(?P<by>by)|(?P<within>within|during|in the first)"
    r"|(?P<after>after|following)|(?P<before>before|prior to))\s+"
    r"(?:(?:the|a|an|about|around|some|nearly|almost|only|first|last|next|as|much|many|to)\s+){0,3}\Z",
    re.IGNORECASE,
)
"""A word before a number that tells whether something begins, ends or changes with it."""
_OTHER_ROLES = frozenset(
    pair
    for one, other in (("from", "to"), ("from", "by"), ("to", "by"), ("within", "after"), ("before", "after"))
    for pair in ((one, other), (other, one))
)
"""Such words of which one says something else than the other."""
_AFTER_THAT = re.compile(r"\b(?:after (?:that|this|which)|afterwards|thereafter)\b", re.IGNORECASE)
LONGEST_BEFORE_NUMBER = 30
"""Characters before a number among which such a word stands."""


def takes_number_otherwise(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a number stands behind "by", "after" or the like, and in its sentences always behind another one.

    "Raised by £68" of "raised from £60 to £68"; "within the first year" of "after the first year".
    """
    mine = _roles_in(claim)
    if not mine or (
        count_negations(tokens_of(claim)) and not any(count_negations(tokens_of(each)) for each in sentences)
    ):
        return False  # "after 14 days you may no longer cancel", of "cancel within 14 days"
    theirs = [_roles_in(sentence) for sentence in sentences]
    for number, roles in mine.items():
        held = frozenset[str]().union(*(each[number] for each in theirs if number in each))
        if held and all((one, other) in _OTHER_ROLES for one in roles for other in held):
            return True
    return False


@lru_cache(maxsize=512)
def _roles_in(text: str) -> dict[tuple[frozenset[Decimal], str], frozenset[str]]:
    """Return by which words a text introduces each of its numbers and times; "" for one without such a word."""
    folded = fold(text)
    found: dict[tuple[frozenset[Decimal], str], set[str]] = {}
    for fact in facts_in(text):
        if fact.start >= 0 and fact.kind in {"number", "time"} and fact.values:
            before = _BEFORE_NUMBER.search(folded, max(0, fact.start - LONGEST_BEFORE_NUMBER), fact.start)
            role = (before.lastgroup or "") if before else ""
            role = "to" if role == "by" and fact.kind == "time" else role
            found.setdefault((fact.values, fact.unit), set()).add(role)
            if role == "within" and _AFTER_THAT.search(folded, fact.end):
                found[fact.values, fact.unit].add("after")
    return {number: frozenset(roles) for number, roles in found.items()}


# --- rates ---

_RATE = re.compile(
    r"(?<![\w.,])(?:[$€£¥]\s?)?(\d[\d.,]*\d|\d)(?:\s?[%pc])?(?:\s+(?:per|each|every)\s+|\s?/\s?)((?:[^\W\d_]+\s?){1,3})"
    r"|(?<![\w.,])(?:[$€£¥]\s?(\d[\d.,]*\d|\d)|(\d[\d.,]*\d|\d)\s?%)\s+an?\s+((?:[^\W\d_]+\s?){1,2})",
    re.IGNORECASE,
)
"""A number with what it is counted by: "€18 per day", "5 % a year"."""
_SAME_RATES = {"annum": "year", "yearly": "year", "head": "person", "guest": "person", "kilo": "kg"}


def turns_rate(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim counts a number by another unit or time than its sentences: "per month" for "per day"."""
    mine = _rates_in(claim)
    held = _rates_in(" . ".join(sentences)) if mine else {}
    return any(
        number in held and words.isdisjoint(held[number]) and _is_measured(words) and _is_measured(held[number])
        for number, words in mine.items()
    )


_EVERY = re.compile(
    r"\b(?:every|each|per)\s+([^\W\d_]+)|(?:\d|\bonce|\btwice|\btimes)\s+an?\s+([^\W\d_]+)|\b([^\W\d_]+ly)\b",
    re.IGNORECASE,
)
"""How a claim says how often something is: "every month", "€5 a week", "daily"."""


_TELLING = {
    **dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "weekend"), "week"),
    **dict.fromkeys(("morning", "afternoon", "evening", "night", "nightly", "24"), "day"),
    "pa": "year",
}
_WHOLE_WEEK = frozenset(("monday", "sunday"))
"""Words of "from Monday to Sunday", which is every day."""


def repeats_otherwise(claim: str, texts: Sequence[str]) -> bool:
    """Return whether a claim tells what is so every day, week or the like, of which its evidence does not speak."""
    said = {period for match in _EVERY.finditer(fold(claim)) for word in match.groups() if (period := _period(word))}
    words = {word for text in texts for word in tokens_of(fold(text).replace(".", "").lower())}
    told = {
        period
        for text in texts
        for match in _EVERY.finditer(fold(text))
        for word in match.groups()
        if (period := _period(word))
    }
    told = told or {_period(word) for word in words}
    told |= {_period_told(word) for word in words}
    return bool(said) and not said <= told | ({"day"} if words >= _WHOLE_WEEK else set())


def _period_told(word: str) -> str:
    """Return the period that a word tells without naming it: "on Tuesdays" is every week, "at night" every day."""
    return _TELLING.get(word.removesuffix("s"), "")


def _period(word: str | None) -> str:
    """Return the period that a word names, "day" for "days" and "daily"; empty if none."""
    name = unit_name(ADVERBS_OF_PERIODS.get((word or "").lower(), (word or "").lower()))
    return name if name in PERIODS else ""


def _is_measured(words: Set[str]) -> bool:
    return any(map(is_unit, words))


def _rates_in(text: str) -> dict[str, set[str]]:
    """Return the words, units by their names, by which each number is counted."""
    found: dict[str, set[str]] = {}
    for number, words, amount, share, others in _RATE.findall(text):
        for word in (words or others).lower().split():
            name = unit_name(word) if is_unit(word) else _SAME_RATES.get(word, word)
            found.setdefault(number or amount or share, set()).add(name)
    return found
