"""Ranges of numbers in labels and sentences ("under 6 years"), and whether a number of a question is in one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from functions.query.grounding.quantities import is_unit, spelled_value, unit_name
from functions.query.grounding.words import has_digit
from shared import lexical
from shared.dates import dates_in
from shared.lexical import fold

DAYS: Mapping[str, Decimal] = {"day": Decimal(1), "week": Decimal(7), "month": Decimal(365) / 12, "year": Decimal(365)}
"""The units of time that are compared with one another, in days."""

_DIGITS = r"\d{1,3}(?:[., \u00a0\u202f]\d{3})+|\d+"
_UNIT = r"(?:\s?[%€$£]|\s[^\W\d_]+(?:\s[^\W\d_]+)?)?"
_RANGE = re.compile(
    rf"(?:(?:from|between|von|zwischen|nuo|de|entre)\s)?[€$£]?(?P<low>{_DIGITS})(?P<low_unit>{_UNIT})"
    rf"\s?(?:[-–—]|to|bis|à|a|iki)\s?[€$£]?(?P<high>{_DIGITS})(?P<high_unit>{_UNIT})"
    rf"|(?:(?P<under>under|below|less than|fewer than|unter|weniger als|moins de|menos de|mažiau nei)"
    rf"|(?:up to|at most|bis(?: zu)?|jusqu['’]à|hasta|iki))\s[€$£]?(?P<most>{_DIGITS})(?P<most_unit>{_UNIT})"
    rf"|(?:(?P<over>over|above|more than|über|mehr als|plus de|más de|daugiau nei)|(?:from|at least|ab|dès|desde|nuo))"
    rf"\s[€$£]?(?P<least>{_DIGITS})(?P<least_unit>{_UNIT})"
    rf"|(?P<or_more>{_DIGITS})(?P<or_more_unit>{_UNIT})"
    rf"(?:\s?\+|\s(?:or|and|oder|und|ou|et|o|y|ar|ir)\s(?:more|over|above|mehr|plus|más|daugiau))(?P<more_unit>{_UNIT})",
    re.IGNORECASE,
)
"""A range of numbers in the five languages: "6 to 9", "under 3 years", "10 or more"."""
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
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\Z")


def is_in_range(label: str, question: str, language: str = "en") -> bool | None:
    """Return whether a row's label is a range ("6 to 9") that a number of the question is in.

    None if it is none, or if no number of the question can be compared with it: they must be of one unit, or of units
    of time. A range that ends a label, or stands in brackets there ("Large dog (over 25 kg)"), must have a unit, or be
    an age.
    """
    if not _numbers_in(question, language):
        return None
    plain = _IN_BRACKETS.sub("", label).strip()
    for whole in (label.strip(), plain):
        if found := _RANGE.fullmatch(whole):
            return None if dates_in(fold(label)) else _has_number(found, question, language, needs_unit=False)
    ends = (each for text in (label, plain) for each in _RANGE.finditer(text) if _ends_label(text, each))
    found = next(ends, None)
    return None if found is None or dates_in(fold(label)) else _has_number(found, question, language, needs_unit=True)


def is_in_range_told(sentence: str, question: str, language: str = "en") -> bool | None:
    """Return whether a number of a question is in one of the ranges of a sentence; None if none can be compared."""
    if not (_numbers_in(question, language) and has_digit(sentence)):
        return None
    found = (_has_number(each, question, language, needs_unit=True) for each in _ranges_in(sentence))
    compared = [each for each in found if each is not None]
    return any(compared) if compared else None


@lru_cache(maxsize=2_000)
def _ranges_in(sentence: str) -> Sequence[re.Match[str]]:
    return tuple(_RANGE.finditer(sentence))


def _has_number(found: re.Match[str], question: str, language: str, *, needs_unit: bool) -> bool | None:
    """Return whether a number of the question is in a range; None if none can be compared with it."""
    units = [_unit(text, language) for name, text in found.groupdict().items() if name.endswith("_unit")]
    units = list(dict.fromkeys(filter(None, units)))
    is_age = _OF_PEOPLE.search(found.string[: found.start()]) is not None
    if needs_unit and is_age and not any(each in DAYS or is_unit(each) for each in units):
        units = ["year"]
    if (needs_unit and not units) or (len(units) > 1 and not DAYS.keys() >= set(units)):
        return None
    low, high = _limits(found, language, "year" if units == ["year"] else "")
    in_days = bool(units) and units[0] in DAYS
    numbers = [
        number * DAYS.get(unit, 1) if in_days else number
        for number, unit in _numbers_in(question, language)
        if not units or unit in units or (in_days and unit in DAYS)
    ]
    return any(_is_within(each, low, high, found) for each in numbers) if numbers else None


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


def _ends_label(label: str, found: re.Match[str]) -> bool:
    return label[found.end() :].strip() in ("", ")") and (found.start() == 0 or not label[found.start() - 1].isalnum())


def _is_within(number: Decimal, low: Decimal | None, high: Decimal | None, found: re.Match[str]) -> bool:
    above = low is None or (number > low if found["over"] else number >= low)
    return above and (high is None or (number < high if found["under"] else number <= high))


def _unit(text: str | None, language: str) -> str:
    """Return the name or stem of the first word after a number, or its sign; "" if there is none."""
    word = fold(((text or "").strip("- ").split() or [""])[0]).lower()
    return unit_name(word) if is_unit(word) else lexical.stem(word, language) if word else ""


def _limits(found: re.Match[str], language: str, unit: str) -> tuple[Decimal | None, Decimal | None]:
    """Return the lower and the upper limit of a range, in days if they are times; None for no limit.

    `unit` is that of limits without one.
    """
    low = found["low"] or found["least"] or found["or_more"]
    high = found["high"] or found["most"]
    above = found["high_unit"] or found["most_unit"]
    below = found["low_unit"] or found["least_unit"] or found["or_more_unit"] or found["more_unit"] or above
    lower, upper = (
        Decimal("".join(filter(str.isdigit, digits))) * DAYS.get(unit or _unit(told, language), 1) if digits else None
        for digits, told in ((low, below), (high, above))
    )
    return (upper, lower) if lower is not None and upper is not None and lower > upper else (lower, upper)
