"""Finds dates in texts of the five languages: 3 January 2024, Jan. 3rd, 2024-01-03, 03.01.2024, 2024 m. sausio 3 d."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared import identity

_MONTHS = {
    1: "january jan sausio sausis sausi januar enero janvier",
    2: "february feb vasario vasaris vasari februar febrero fevrier",
    3: "march mar kovo kovas kova maerz marz marzo mars",
    4: "april apr balandzio balandis balandi abril avril",
    5: "may geguzes geguze mai mayo",
    6: "june jun birzelio birzelis birzeli juni junio juin",
    7: "july jul liepos liepa juli julio juillet",
    8: "august aug rugpjucio rugpjutis rugpjuti agosto aout",
    9: "september sept sep rugsejo rugsejis rugseji septiembre septembre",
    10: "october oct spalio spalis spali oktober okt octubre octobre",
    11: "november nov lapkricio lapkritis lapkriti noviembre novembre",
    12: "december dec gruodzio gruodis gruodi dezember dez diciembre decembre",
}
ENGLISH_MONTHS = tuple(names.split()[0] for names in _MONTHS.values())
_MONTH_NUMBER = {name: number for number, names in _MONTHS.items() for name in names.split()}
_MONTH = "(?:" + "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True)) + ")"
_YEAR = r"(?:1[5-9]|20|21)\d\d"
CENTURY_YEAR = re.compile(_YEAR)
"""A number that may be a year of any of seven centuries."""
_MAY_DO = re.compile(
    r"\s+(?:not\s+|be\b|have\b|also\s+)?(?!(?:and|or|at|in|on|to|for|from|by|with|until|is|was|the|a)\b)[a-z]{2,}"
)
"""What follows "may" where it is a verb: "those of 6–12 may take two"."""
_ON_DAY = re.compile(r"\b(?:on|by|until|till|since|before|after)\s+(?:the\s+)?\Z", re.IGNORECASE)
RECENT_YEAR = re.compile(identity.YEAR)
"""A number that, without a unit, is more likely a year than an amount."""
_RECENT_YEAR_ALONE = re.compile(rf"(?<!\d){RECENT_YEAR.pattern}(?!\d)")
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_ORDINAL_SUFFIX = r"(?:\s?(?:st|nd|rd|th|er)\b)?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<y>{_YEAR})-(?P<mn>0[1-9]|1[0-2])-(?P<d>{_DAY})(?!\d)",
        rf"\b(?P<y>{_YEAR})[./](?P<mn>0?[1-9]|1[0-2])[./](?P<d>{_DAY})(?!\d)",
        rf"\b(?P<a>\d{{1,2}})[./-](?P<b>\d{{1,2}})[./-](?P<y>{_YEAR})(?![^\W_])",
        rf"\b(?P<y>{_YEAR})\s*(?:m\.?|metu)\s*(?P<m>{_MONTH})\b(?:\s*(?P<d>{_DAY})(?!\d)(?:\s*d\b\.?)?)?",
        rf"\b(?P<d>{_DAY}){_ORDINAL_SUFFIX}(?:\.(?=\s)|\s+(?:of|de))?[\s-]+(?P<m>{_MONTH})\b\.?(?:,?(?:\s+del?)?[\s-]+(?P<y>{_YEAR})(?![^\W_]))?",
        rf"\b(?P<m>{_MONTH})\b\.?\s+(?P<d>{_DAY}){_ORDINAL_SUFFIX}(?!\d|[.,]\d)(?:\s*d\b\.?)?(?:\s*,?\s+(?P<y>{_YEAR})(?![^\W_]))?",
        rf"\b(?P<m>{_MONTH})\b\.?,?\s+(?:(?:of|del?)\s+)?(?P<y>{_YEAR})(?![^\W_])",
        rf"\b(?P<y>{_YEAR})-(?P<mn>0[1-9]|1[0-2])(?![\d-])",
    )
)
_DIGIT = re.compile(r"\d")
_MONTH_ALONE = re.compile(rf"\b(?P<m>{_MONTH})\b", re.IGNORECASE)
_AMBIGUOUS_MONTHS = frozenset((
    "may", "march", "mar", "mai", "mars", "dec", "sep", "jan", "okt", "dez", "juni", "juli", "liepa",
))  # fmt: skip
"""Month names that are also other words: alone they are months only if capitalised, and "may" never."""


def is_year(word: str) -> bool:
    """Return whether a word is a year of this century or the last one."""
    return RECENT_YEAR.fullmatch(word) is not None


def years_written(text: str) -> list[str]:
    """Return the years of this century and the last one that stand in a text, in order."""
    return _RECENT_YEAR_ALONE.findall(text)


def is_month(word: str) -> bool:
    """Return whether a word (folded, in lower case) names a month."""
    return word in _MONTH_NUMBER


def month_number(word: str) -> int:
    """Return the number of the month that a word (folded, in lower case) names, 0 if it names none."""
    return _MONTH_NUMBER.get(word, 0)


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text; a missing part is 0. `swapped`: day and month may be interchanged."""

    year: int
    month: int
    day: int
    start: int
    end: int
    swapped: bool = False


def dates_in(text: str) -> list[DateMention]:
    """Return the dates of a folded text (no diacritics), in order, without overlaps."""
    found: list[DateMention] = []

    def is_free(match: "re.Match[str]") -> bool:
        return not any(match.start() < each.end and match.end() > each.start for each in found)

    for pattern in _DATES if _DIGIT.search(text) else ():  # most sentences have none
        for match in filter(is_free, pattern.finditer(text)):
            is_verb = match.group().endswith(" may") and _MAY_DO.match(text, match.end()) is not None
            if not is_verb or _ON_DAY.search(text, max(0, match.start() - 8), match.start()):
                found.extend(_dates_of(match))
    for match in _MONTH_ALONE.finditer(text):
        name = match.group()
        ambiguous = name.lower() in _AMBIGUOUS_MONTHS and (name.lower() == "may" or not name[0].isupper())
        if not ambiguous and is_free(match):
            found.append(DateMention(0, _MONTH_NUMBER[name.lower()], 0, *match.span()))
    return sorted(found, key=lambda date: date.start)


def dates_agree(said: DateMention, held: DateMention) -> bool:
    """Return whether a source's date has the month and day that the claim states, and the years do not differ."""
    ways = [(held.month, held.day)] + ([(held.day, held.month)] if held.swapped else [])
    mine = [(said.month, said.day)] + ([(said.day, said.month)] if said.swapped else [])
    parts = any(
        (not month or month == other_month) and (not day or day == other_day)
        for month, day in mine
        for other_month, other_day in ways
    )
    return parts and (not said.year or not held.year or said.year == held.year)


def _dates_of(match: "re.Match[str]") -> Iterator[DateMention]:
    parts = match.groupdict()
    year = int(parts.get("y") or 0)
    if parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        if first <= 31 and second <= 12:
            yield DateMention(year, second, first, *match.span(), swapped=first <= 12)
        elif first <= 12 and second <= 31:
            yield DateMention(year, first, second, *match.span())
        return
    month = int(parts["mn"]) if parts.get("mn") else _MONTH_NUMBER[parts["m"].lower()]
    yield DateMention(year, month, int(parts.get("d") or 0), *match.span())
