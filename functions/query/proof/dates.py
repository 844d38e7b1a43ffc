"""Dates as people write them: 3 January 2024, Jan. 3rd, 2024-01-03, 03.01.2024, 2024 m. sausio 3 d."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
_NUMBER = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NAME = "(?:" + "|".join(sorted(_NUMBER, key=len, reverse=True)) + ")"
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_TH = r"(?:st|nd|rd|th)?"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<y>{_YEAR})-(?P<mn>0[1-9]|1[0-2])-(?P<d>{_DAY})(?!\d)",
        rf"\b(?P<y>{_YEAR})[./](?P<mn>0?[1-9]|1[0-2])[./](?P<d>{_DAY})(?!\d)",
        rf"\b(?P<a>\d{{1,2}})[./-](?P<b>\d{{1,2}})[./-](?P<y>{_YEAR})(?!\d)",
        rf"\b(?P<y>{_YEAR})\s*(?:m\.?|metu)\s*(?P<m>{_NAME})\b(?:\s*(?P<d>{_DAY})(?!\d)(?:\s*d\b\.?)?)?",
        rf"\b(?P<d>{_DAY}){_TH}(?:\.(?=\s)|\s+of)?[\s-]+(?P<m>{_NAME})\b\.?(?:,?[\s-]+(?P<y>{_YEAR})(?!\d))?",
        rf"\b(?P<m>{_NAME})\b\.?\s+(?P<d>{_DAY}){_TH}(?!\d|[.,]\d)(?:\s*d\b\.?)?(?:\s*,?\s+(?P<y>{_YEAR})(?!\d))?",
        rf"\b(?P<m>{_NAME})\b\.?,?\s+(?:of\s+)?(?P<y>{_YEAR})(?!\d)",
        rf"\b(?P<y>{_YEAR})-(?P<mn>0[1-9]|1[0-2])(?![\d-])",
    )
)
_ALONE = re.compile(rf"\b(?P<m>{_NAME})\b", re.IGNORECASE)
_VERBS = frozenset({"may", "march", "mar", "mai", "mars", "dec", "sep", "jan", "okt", "dez", "juni", "juli", "liepa"})
"""Month names that are also other words: alone they are taken for a month only with a capital, "may" never."""


def is_month(word: str) -> bool:
    """Say whether a word (folded, in lower case) names a month."""
    return word in _NUMBER


@dataclass(frozen=True, slots=True)
class Date:
    """A date, possibly in part: 0 where a part is not said. `swapped` when day and month may be the other way round."""

    year: int
    month: int
    day: int
    start: int
    end: int
    swapped: bool = False


def dates_in(text: str) -> Iterator[Date]:
    """Yield the dates of a folded text (no diacritics), in order, none overlapping another."""
    found: list[Date] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not any(match.start() < each.end and match.end() > each.start for each in found):
                found.extend(_dates(match))
    for match in _ALONE.finditer(text):
        name = match.group()
        doubtful = name.lower() in _VERBS and (name.lower() == "may" or not name[0].isupper())
        if not doubtful and not any(match.start() < each.end and match.end() > each.start for each in found):
            found.append(Date(0, _NUMBER[name.lower()], 0, *match.span()))
    return iter(sorted(found, key=lambda date: date.start))


def agrees(said: Date, held: Date) -> bool:
    """Say whether every part of a date that was said stands in the date that is held."""
    ways = [(held.month, held.day)] + ([(held.day, held.month)] if held.swapped else [])
    mine = [(said.month, said.day)] + ([(said.day, said.month)] if said.swapped else [])
    parts = any(
        (not month or month == other_month) and (not day or day == other_day)
        for month, day in mine
        for other_month, other_day in ways
    )
    return parts and (not said.year or not held.year or said.year == held.year)


def _dates(match: "re.Match[str]") -> Iterator[Date]:
    parts = match.groupdict()
    year = int(parts.get("y") or 0)
    if parts.get("a"):
        first, second = int(parts["a"]), int(parts["b"])
        if first <= 31 and second <= 12:
            yield Date(year, second, first, *match.span(), swapped=first <= 12)
        elif first <= 12 and second <= 31:
            yield Date(year, first, second, *match.span())
        return
    month = int(parts["mn"]) if parts.get("mn") else _NUMBER[parts["m"].lower()]
    yield Date(year, month, int(parts.get("d") or 0), *match.span())
