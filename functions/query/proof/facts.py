"""The numbers, dates, shares, amounts, units and identifiers of a text, each with the values it may have."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from functions.query.proof import numerals
from functions.query.proof.dates import Date, dates_in
from functions.query.proof.units import SIGNS, UNIT, canonical
from shared.lexical import fold

_NUMBER = re.compile(
    rf"""(?<![\w])(?P<sign>[-−–](?=[\d$€£¥]))? (?P<money>{SIGNS})?\s?(?P<sign2>[-−](?=\d))?(?P<digits>{numerals.NUMBER})
         (?P<ordinal>(?:st|nd|rd|th)\b)?
         (?: (?P<letter>[kKmMbBtT])(?![\w]) | [\s-]?(?P<scale>{numerals.SCALE})\b\.? )?
         (?: [\s\u00a0-]?(?P<unit>{UNIT})(?![\w]) )?""",
    re.VERBOSE | re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])[^\W_]+(?:[-./_][^\W_]+)*(?![\w])|(?<![\w.])\d+(?:\.\d+){2,}(?!\w|\.\w)"
)
_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?\s*([ap]\.?m\b\.?)?", re.IGNORECASE)
_QUARTERS = {
    "first": "q1",
    "second": "q2",
    "third": "q3",
    "fourth": "q4",
    "1st": "q1",
    "2nd": "q2",
    "3rd": "q3",
    "4th": "q4",
}
_QUARTER = re.compile(rf"\b({'|'.join(_QUARTERS)})[ -](?:fiscal[ ])?quarter\b", re.IGNORECASE)
_ROUGHLY = re.compile(
    r"\b(?:about|approximately|approx|around|roughly|nearly|almost|over|more than|some|circa|apie|beveik|daugiau nei)"
    r"\W*$",
    re.IGNORECASE,
)
CURRENCIES = frozenset({"usd", "eur", "gbp", "jpy", "chf", "ltl"})


@dataclass(frozen=True, slots=True)
class Fact:
    """One checkable thing. `values` are its possible values; `text` is how it was written (for identifiers, times)."""

    kind: str
    text: str
    values: frozenset[Decimal] = frozenset()
    unit: str = ""
    quantum: Decimal = Decimal(1)
    rough: bool = False
    negative: bool = False
    date: Date | None = None


def facts_in(text: str) -> Sequence[Fact]:
    """Return the facts of a text, in no particular order."""
    return _facts_in(text)


@lru_cache(maxsize=2_048)
def _facts_in(text: str) -> tuple[Fact, ...]:
    folded = fold(text)
    found: list[Fact] = []
    taken = [False] * (len(folded) + 1)

    def free(start: int, end: int) -> bool:
        return not any(taken[start:end])

    def take(start: int, end: int) -> None:
        taken[start:end] = [True] * (end - start)

    for date in dates_in(folded):
        found.append(Fact("date", folded[date.start : date.end], date=date))
        if date.year:
            found.append(Fact("year", str(date.year), frozenset({Decimal(date.year)})))
        take(date.start, date.end)
    for match in _TIME.finditer(folded):
        if free(*match.span()):
            found.append(Fact("time", match.group(), _times(match)))
            take(*match.span())
    for match in _QUARTER.finditer(folded):
        if free(*match.span()):
            found.append(Fact("quarter", match.group(), frozenset({Decimal(_QUARTERS[match[1].lower()][1])})))
            take(*match.span())
    for match in _IDENTIFIER.finditer(folded):
        if free(*match.span()) and not _is_measure(match.group()):
            whole = match.group()
            grouped = re.fullmatch(r"\d{1,3}(?:\.\d{3})+", whole)
            found.append(Fact("identifier", whole, numerals.readings(whole).values if grouped else frozenset()))
            if quarter := re.fullmatch(r"[qQ]([1-4])", whole):
                found[-1] = Fact("quarter", whole, frozenset({Decimal(quarter[1])}))
            take(*match.span())
    found.extend(_numbers(folded, taken))
    return tuple(found)


def _numbers(text: str, taken: list[bool]) -> Iterator[Fact]:
    for match in _NUMBER.finditer(text):
        start, end = match.span("digits")
        if any(taken[start:end]):
            continue
        money, unit, scale = match["money"] or "", match["unit"] or "", match["scale"] or ""
        letter = match["letter"] or ""
        if letter and not money and letter.lower() != "k" and canonical(unit) not in CURRENCIES:
            # "5m" is five metres; "$5m" and "5m euros" are five million.
            unit, letter = unit or letter, ""
        if re.fullmatch(r"1[5-9]\d\d|2[01]\d\d", match["digits"]) and canonical(unit) in {"s", "m", "year"}:
            unit = ""  # the 1990s are no seconds, and Lithuanian "2022 m." is a year
        reading = numerals.readings(match["digits"], scale or letter)
        values = set(reading.values)
        if " " in match["digits"]:
            # "12 345" may be two columns of a table; each of them is held, too.
            yield from (Fact("part", part, numerals.readings(part).values) for part in match["digits"].split())
        yield Fact(
            "number",
            match.group().strip(),
            frozenset(values),
            canonical(unit or money) if unit or money else "",
            reading.quantum,
            bool(scale or letter) or _ROUGHLY.search(text, max(0, match.start() - 24), match.start()) is not None,
            bool(match["sign"] or match["sign2"]) and not _is_range(text, match.start()),
        )
    for match in numerals.SPELLED.finditer(text):
        if any(taken[slice(*match.span())]):
            continue
        unit_after = re.match(rf"[\s-]({UNIT})(?!\w)", text[match.end() :], re.IGNORECASE)
        if match.group().lower() == "one" and unit_after is None:
            continue
        yield Fact(
            "number",
            match.group(),
            frozenset({numerals.spelled(match.group()).normalize()}),
            canonical(unit_after[1]) if unit_after else "",
        )
    for match in numerals.ORDINAL.finditer(text):
        if not any(taken[slice(*match.span())]):
            yield Fact("number", match.group(), frozenset({numerals.ordinal(match.group())}))


def _is_range(text: str, at: int) -> bool:
    return at > 0 and text[at - 1].isalnum()


def _is_measure(word: str) -> bool:
    """Say whether a word of digits and letters is a number with its unit, scale or ending ("5kg", "24-month")."""
    return (
        re.fullmatch(
            rf"(?:{numerals.NUMBER})(?:st|nd|rd|th|[kmbt]|-?(?:{UNIT})|-?(?:{numerals.SCALE})|-[a-z]{{3,}})|\d+s|\d+(?:-\d+)?-(?:{UNIT})",
            word,
            re.IGNORECASE,
        )
        is not None
    )


def _times(match: "re.Match[str]") -> frozenset[Decimal]:
    hours, minutes = int(match[1]), int(match[2])
    half = (match[3] or "").lower()[:1]
    hours = hours % 12 + (12 if half == "p" else 0) if half else hours
    return frozenset({Decimal(60 * hours + minutes)})
