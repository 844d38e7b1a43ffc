"""The days of the week, and the months, that a text names: each of "Mon–Fri", and all of "daily".

A question about Thursday is not answered by what is told of Sunday.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from functions.query.understanding.question import lines_of
from shared.lexical import fold

MIN_RANGE = 3
"""Days, or months, at least, that a text names by a range or a word for all of them."""
_LAST_OF: Final = {"day": 7, "month": 12}
_DAY = r"\d{1,2}(?:\.|st|nd|rd|th)?"
_TO = re.compile(
    rf"\s?(?:{_DAY},?\s?)?(?:\d{{4}}\s?)?(?:[-–—]|\b(?:to|through|till|until|bis|a|al|au|iki|hasta)\b)\s?"
    rf"(?:(?:the|zum|el|le)\s)?(?:{_DAY}\s?(?:of\s|de\s)?)?",
    re.IGNORECASE,
)
"""What makes a range of two names: "Monday to Friday", "1 June to 30 September"."""
_LIMIT = re.compile(
    r"\b(?:before|after|by|until|till|since|from|vor|nach|bis|seit|ab|antes de|despues de|hasta|desde|avant|apres"
    r"|jusqu\W?au?|des|iki|nuo|po|pries)(?: (?:the|der|dem|den|el|la|le|zum|next))?\s\Z",
    re.IGNORECASE,
)
"""What makes a limit of the name behind it: "before Friday"."""


_DAY_BEFORE = re.compile(r"(?<![\d.,:/-])(\d{1,2})(?:\.|st|nd|rd|th|er)?\s?(?:of |de )?\Z")
_DAY_BEHIND = re.compile(r"\s(\d{1,2})(?:st|nd|rd|th)?(?![\d:/]|\.\d)")
"""The day of a month's name, before and behind it: "16 May", "May 16"; not the 20 of "May 2031"."""
_MONTH: Final = 32
"""What a month counts in a place in the year: 5 * 32 + 16 is 16 May."""


class _Named(NamedTuple):
    start: int
    end: int
    first: int
    last: int


def days_in(text: str) -> frozenset[int]:
    """Return the days of the week that a text names, from 1 for Monday."""
    return _in(text, "day")


def months_in(text: str) -> frozenset[int]:
    """Return the months that a text names, from 1."""
    return _in(text, "month")


@lru_cache(maxsize=256)
def days_asked(question: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the days, and the months, about which a question asks: none that are limits, or parts of a date."""
    return _asked(question, "day"), _asked(question, "month")


def names_days(question: str, text: str) -> bool:
    """Return whether a text names days where a question asks about some, or months."""
    days, months = days_asked(question)
    return bool((days and days_in(text)) or (months and months_in(text)))


def is_in_period(question: str, label: str) -> bool | None:
    """Return whether a label has a period ("16 May to 30 September") that a question's date, or month, is in.

    None if it has none, or if the question names no time of the year.
    """
    asked, period = _times_asked(question), _period_in(label) if question else None
    if not asked or period is None:
        return None
    first, last = period
    return any(
        (low <= last and high >= first) if first <= last else (low <= last or high >= first) for low, high in asked
    )


def times_of_year_in(question: str) -> Sequence[str]:
    """Return the dates and months that a question names, as typed: "24 December", "July"."""
    folded = fold(question)
    return [question[each.start : each.end] for each in _dates_in(folded)] if len(folded) == len(question) else ()


@lru_cache(maxsize=256)
def _times_asked(question: str) -> Sequence[tuple[int, int]]:
    return [(each.first, each.last) for each in _dates_in(fold(question))]


@lru_cache(maxsize=4_096)
def _period_in(label: str) -> tuple[int, int] | None:
    folded = fold(label)
    for one, other in pairwise(_named(folded, "month")):
        if one.first == one.last and other.first == other.last and _TO.fullmatch(folded, one.end, other.start):
            return _date_of(folded, one).first, _date_of(folded, other).last
    return None


def _dates_in(text: str) -> Sequence[_Named]:
    return [_date_of(text, each) for each in _named(text, "month") if each.first == each.last]


def _date_of(text: str, month: _Named) -> _Named:
    """Return where a date of a month stands, and its place in the year; without a day that of the whole month."""
    before = _DAY_BEFORE.search(text[: month.start])
    behind = None if before else _DAY_BEHIND.match(text, month.end)
    start, end = before.start() if before else month.start, behind.end() if behind else month.end
    day = int((before or behind)[1]) if before or behind else 0  # type: ignore[index]
    place = month.first * _MONTH
    return _Named(start, end, place + (day or 1), place + (day or _MONTH - 1))


def tells_of_others(question: str, text: str, *, may_exclude: bool = False) -> bool:
    """Return whether a text names days, or months, and none about which a question asks.

    "Open from May to July" tells of January that it is closed then, where that may be the answer (`may_exclude`).
    """
    compared = zip(days_asked(question), (days_in, months_in), strict=True)
    told = [(asked, named) for asked, named_in in compared if asked and (named := named_in(text))]
    is_range = any(len(named) >= MIN_RANGE for _, named in told)
    return bool(told) and all(asked.isdisjoint(named) for asked, named in told) and not (may_exclude and is_range)


def _asked(question: str, kind: str) -> frozenset[int]:
    text = fold(question)
    found = [*_named(text, kind)]
    if any(_LIMIT.search(text[: each.start]) or _is_in_date(text, each) for each in found):
        return frozenset()
    return _in(question, kind)


def _is_in_date(text: str, named: _Named) -> bool:
    return bool(re.search(r"\d\W{0,2}(?:of |de )?\Z", text[: named.start]) or re.match(r"\W{0,2}\d", text[named.end :]))


@lru_cache(maxsize=4_096)
def _in(text: str, kind: str) -> frozenset[int]:
    folded = fold(text)
    found = list(_named(folded, kind))
    values = {value for each in found for value in range(each.first, each.last + 1)}
    for one, other in pairwise(found):
        if one.first == one.last and _TO.fullmatch(folded, one.end, other.start):
            length = (other.first - one.last) % _LAST_OF[kind]
            values.update((one.last + at - 1) % _LAST_OF[kind] + 1 for at in range(length))
    return frozenset(values)


def _named(text: str, kind: str) -> Iterator[_Named]:
    """Yield the names of days or months in a folded text, in order."""
    pattern, values = _names()[kind]
    for found in pattern.finditer(text):
        if found.lastgroup is not None:
            yield _Named(found.start(), found.end(), *values[found.lastgroup])


@cache
def _names() -> Mapping[str, tuple[re.Pattern[str], Mapping[str, tuple[int, int]]]]:
    """Return the pattern of all names of a kind, with a group for each line, and what the groups stand for."""
    lines: dict[str, dict[str, tuple[tuple[int, int], str]]] = {"day": {}, "month": {}}
    for line in lines_of("days_and_months.txt"):
        kind, numbers, *words = line.split()
        first, _, last = numbers.partition("-")
        group = f"of_{len(lines[kind])}"
        lines[kind][group] = (int(first), int(last or first)), "|".join(map(_pattern_of, words))
    return {
        kind: (
            re.compile("|".join(rf"(?P<{group}>{words})" for group, (_, words) in of_kind.items())),
            {group: numbers for group, (numbers, _) in of_kind.items()},
        )
        for kind, of_kind in lines.items()
    }


def _pattern_of(word: str) -> str:
    letters = re.escape(word.strip("^=*").replace("_", " "))
    if word[0] == "^":
        return rf"(?<=[^\s.!?¿:;|] ){letters}\b"
    if word[0] == "=":
        return rf"(?<![\w.]){letters}(?=\s?[-–—/,;:|&+]|\.?\s?\d|\s*(?:\Z|\n))"
    return rf"\b(?i:{letters}){r'\w*' if word[-1] == '*' else r'\b'}"
