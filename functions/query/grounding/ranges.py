"""Ranges of numbers in labels and sentences ("under 6 years"), and which numbers are in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from functions.query.grounding.arithmetic import convert
from functions.query.grounding.facts import Fact
from functions.query.grounding.quantities import NUMBER, is_unit, is_unit_written, read_number, spelled_value, unit_name
from functions.query.grounding.words import WORD, content_stems, has_digit
from functions.query.understanding.question import lines_of
from shared import lexical
from shared.dates import dates_in
from shared.lexical import fold

DAYS: Mapping[str, Decimal] = {"day": Decimal(1), "week": Decimal(7), "month": Decimal(365) / 12, "year": Decimal(365)}
"""The units of time that are compared with one another, in days."""

_WORDS = {kind: ways for kind, *ways in map(str.split, lines_of("range_words.txt"))}


def _any(kind: str) -> str:
    ways = sorted(_WORDS[kind], key=len, reverse=True)
    return f"(?:{'|'.join(re.escape(way).replace('_', ' ') for way in ways)})"


def _limit(name: str) -> str:
    return rf"[€$£]?(?P<{name}>{NUMBER})(?P<{name}_unit>{_UNIT_BEHIND})"


_WORD_BEHIND = r"(?:k?m[23]|°?[^\W\d_]+(?:/[^\W\d_]+|-hours)?)(?!\w)|[°×]"
_UNIT_BEHIND = rf"(?:\s?[%€$£]|(?:(?:(?![^\W\d_]\b)|\s)(?:{_WORD_BEHIND})|\s[^\W\d_]+)(?:\s(?:per\s)?[^\W\d_]+)?)?"
"""A word or two; also without a space, if it is a unit and no single letter: "8751H-8" is no range."""
_RANGE = re.compile(
    rf"(?<![\w.,])(?:(?:{_any('first')}\s)?{_limit('low')}\s?(?:[-–—]|{_any('to')})\s?{_limit('high')}"
    rf"|(?:(?P<under>{_any('under')})|{_any('most')})\s{_limit('most')}"
    rf"|(?:(?P<over>{_any('over')})|{_any('least')})\s{_limit('least')}"
    rf"|{_limit('behind')}(?:(?P<more>\s?\+|\s{_any('joins')}\s{_any('more')})"
    rf"|\s{_any('joins')}\s{_any('less')})(?P<unit>{_UNIT_BEHIND}))",
    re.IGNORECASE,
)
"""A range of numbers: "6 to 9", "under 3 years", "10 or more"."""
_NUMBER = re.compile(r"(?<![\w.,/-])(\d{1,3}(?:[, ]\d{3})+|\d+)(?![\d.,/-]*\d)( ?[%€$£]|[ -]?[^\W\d_]+)?")
"""A number of a question, with the word after it: "7 years", "16-year-old", "15kg"."""
_AGE = re.compile(
    r"\b(?:(?P<years>[^\W\d_]+)[- ]years?[- ]olds?"
    r"|(?:aged?(?: of)?|(?:child|boy|girl|son|daughter|kind|enfant|niñ[oa]) (?:of|von|de)) (?P<of>\d+|[^\W\d_]+))\b",
    re.IGNORECASE,
)
"""An age in words, or without the word for years: "a four-year-old", "a child of 4"."""
_OF_PEOPLE = re.compile(
    r"\b(?:child(?:ren)?|kids?|adults?|seniors?|persons?|people|pupils?|ages?|aged|kind(?:er)?|jugendliche\w*|erwachsene\w*"
    r"|senioren|personen|enfants?|adultes?|niñ[oa]s?|adult[oa]s?|personas?|vaik\w*)\W{1,2}\Z",
    re.IGNORECASE,
)
"""What makes an age of a bare number behind it: "children under 6"."""
_UNIT_GROUPS = ("low_unit", "high_unit", "most_unit", "least_unit", "behind_unit", "unit")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\Z")
MAX_BESIDE_RANGE = 2
"""Words of a label besides the range that a number of a claim is in: "Dog 10 to 25 kg"."""


class Range(NamedTuple):
    """A range, where it stands, and what is written behind its limits; a limit is None if open.

    `over`, `under`: without its lower, its upper limit.
    """

    start: int
    end: int
    low: Decimal | None
    high: Decimal | None
    low_unit: str
    high_unit: str
    over: bool
    under: bool


@lru_cache(maxsize=2_000)
def _ranges_in(text: str) -> Sequence[Range]:
    """Return the ranges that a text names, in order."""
    return tuple(_range_of(found) for found in _RANGE.finditer(text) if _has_units(found))


def _has_units(found: re.Match[str]) -> bool:
    """Return whether what stands behind a limit without a space is a unit: "6kg", not "6th"."""
    written = filter(None, (found[group] for group in _UNIT_GROUPS))
    return all(each[0].isspace() or each[0] in "%€$£" or is_unit_written(each.split()[0]) for each in written)


def _range_of(found: re.Match[str]) -> Range:
    low, high = found["low"] or found["least"], found["high"] or found["most"]
    low_unit, high_unit = found["low_unit"] or found["least_unit"], found["high_unit"] or found["most_unit"]
    if behind := found["behind"]:
        low, high = (behind, None) if found["more"] else (None, behind)
        low_unit = high_unit = found["behind_unit"] or found["unit"]
    limits = [(_value(low), low_unit or high_unit or ""), (_value(high), high_unit or low_unit or "")]
    (lower, below), (upper, above) = limits
    if lower is not None and upper is not None and lower > upper and below == above:
        lower, upper = upper, lower
    return Range(*found.span(), lower, upper, below, above, found["over"] is not None, found["under"] is not None)


def _value(digits: str | None) -> Decimal | None:
    """Return the value of a number; that of "3.000", which some write for three thousand, is the larger one."""
    return max(read_number(digits).values) if digits else None


def holds_number(label: str, fact: Fact, head: str) -> bool:
    """Return whether a number of a claim is in the range that a row's label is: "three years" in "2 to 5 years".

    `head` is that of its table, in lower case: the unit of a range without one must stand there.
    """
    found = next(iter(_ranges_in(label)), None)
    if found is None:
        return False
    units = [_known_unit(each) for each in (found.low_unit, found.high_unit)]
    outside = (label[: found.start], *(each for each in {found.low_unit} if not _known_unit(each)), label[found.end :])
    if len(WORD.findall(" ".join(outside))) > MAX_BESIDE_RANGE:
        return False
    said = min(fact.values)
    for limit, unit, sign in ((found.low, units[0], 1), (found.high, units[1], -1)):
        is_same = unit == fact.unit or (not unit and fact.unit in head)
        value = said if is_same else convert(said, fact.unit, unit)
        if limit is not None and (value is None or sign * value < sign * limit):
            return False
    return True


def _known_unit(written: str) -> str:
    """Return the name of the unit that is written behind a limit; "" if it is none."""
    word = fold(written).strip().lower()
    return next((unit_name(each) for each in (word, word.rpartition(" ")[0]) if is_unit(each)), "")


def is_in_range(label: str, question: str, language: str = "en") -> bool | None:
    """Return whether a row's label is a range ("6 to 9") that a number of the question is in.

    None if it is none, or if no number of the question can be compared with it: they must be of one unit, or of units
    of time. A range that ends a label, or stands in brackets there ("Large dog (over 25 kg)"), must have a unit, or be
    an age, unless the question has the words before it: "Plates for up to 50".
    """
    if not _numbers_in(question, language):
        return None
    texts = label.strip(), _IN_BRACKETS.sub("", label).strip()
    at_end = [(text, each) for text in texts for each in _ranges_in(text) if text[each.end :].strip() in ("", ")")]
    whole = [(text, each) for text, each in at_end if each.start == 0 and each.end == len(text)]
    if not at_end or dates_in(fold(label)):
        return None
    text, found = (whole or at_end)[0]
    before = frozenset(content_stems(text[: found.start], language))
    is_named = bool(before) and before.issubset(content_stems(question, language))
    return _has_number(found, text, question, language, needs_unit=not (whole or is_named))


def is_in_range_told(sentence: str, question: str, language: str = "en") -> bool | None:
    """Return whether a number of a question is in one of the ranges of a sentence; None if none can be compared."""
    if not (_numbers_in(question, language) and has_digit(sentence)):
        return None
    found = (_has_number(each, sentence, question, language, needs_unit=True) for each in _ranges_in(sentence))
    compared = [each for each in found if each is not None]
    return any(compared) if compared else None


def _has_number(found: Range, text: str, question: str, language: str, *, needs_unit: bool) -> bool | None:
    """Return whether a number of the question is in a range of a text; None if none can be compared with it."""
    units = list(dict.fromkeys(filter(None, (_unit(each, language) for each in (found.low_unit, found.high_unit)))))
    is_age = _OF_PEOPLE.search(text[: found.start]) is not None
    if needs_unit and is_age and not any(each in DAYS or is_unit(each) for each in units):
        units = ["year"]
    if (needs_unit and not units) or (len(units) > 1 and not DAYS.keys() >= set(units)):
        return None
    low_days, high_days = (
        DAYS.get("year" if units == ["year"] else _unit(each, language), Decimal(1))
        for each in (found.low_unit, found.high_unit)
    )
    in_days = bool(units) and units[0] in DAYS
    numbers = [
        number * DAYS.get(unit, 1) if in_days else number
        for number, unit in _numbers_in(question, language)
        if not units or unit in units or (in_days and unit in DAYS)
    ]
    low = None if found.low is None else found.low * low_days
    high = None if found.high is None else found.high * high_days
    above = [each for each in numbers if low is None or each > low or (each == low and not found.over)]
    return any(high is None or each < high or (each == high and not found.under) for each in above) if numbers else None


@lru_cache(maxsize=256)
def _numbers_in(question: str, language: str) -> Sequence[tuple[Decimal, str]]:
    """Return the numbers of a question, each with its unit."""
    return tuple(_read_numbers(question, language))


def _read_numbers(question: str, language: str) -> Iterator[tuple[Decimal, str]]:
    for digits, word in _NUMBER.findall(question):
        yield Decimal("".join(filter(str.isdigit, digits))), _unit(word, language)
    for found in _AGE.finditer(question):
        number = found["years"] or found["of"]
        value = Decimal(number) if number.isdecimal() else spelled_value(number)
        if value:
            yield Decimal(value), "year"


def _unit(text: str, language: str) -> str:
    """Return the name or stem of the first word after a number, or its sign; "" if there is none."""
    word = fold((text.strip("- ").split() or [""])[0]).lower()
    return unit_name(word) if is_unit(word) else lexical.stem(word, language) if word else ""
