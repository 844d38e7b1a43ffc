"""Reads the numbers, dates, units and identifiers of a text as facts with their possible values."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from functions.query.grounding import quantities
from functions.query.grounding.quantities import (
    CURRENCIES,
    CURRENCY_SIGN,
    NUMBER,
    SCALE,
    UNIT_AT,
    UP_TO_TWELVE,
    VULGAR,
    is_unit_written,
    read_number,
    unit_name,
)
from shared import identity
from shared.dates import CENTURY_YEAR, DateMention, dates_in
from shared.lexical import fold

# --- extracting facts, each with its possible values ---

_NUMBER = re.compile(
    rf"""(?<![\w])(?P<sign>[-−–](?=[\d$€£¥]))? (?P<money>{CURRENCY_SIGN})?\s?(?P<sign2>[-−](?=\d))?(?P<digits>{NUMBER})
         (?P<ordinal>\s?(?:st|nd|rd|th)\b)?
         (?: (?P<letter>[kKmMbBtT])(?![\w]) | (?P<pence>p)(?![\w.]) | [\s-]?(?P<scale>{SCALE})\b\.? )?""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number, up to its unit."""
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])[^\W_]+(?:[-./_][^\W_]+)*(?![\w])|(?<![\w.])\d+(?:\.\d+){2,}(?!\w|\.\w)"
)
_MEASURE = re.compile(
    rf"(?:{NUMBER})(?:st|nd|rd|th|[kmbtp]|-?(?:{SCALE})|-[a-z]{{3,}})|\d+s|\d*[{VULGAR}]"
    rf"|(?:\d+-\d+(?=-)|{NUMBER})(?P<hyphen>-)?(?P<unit>[^\d-].*)",
    re.IGNORECASE,
)
"""A number with its scale or ending ("5th", "24-month"), or what may be its unit."""
_YEAR_RANGE = re.compile(rf"(?<![\w-])({identity.YEAR})\s?[-–—]{{1,2}}\s?(\d\d(?:\d\d)?)(?![\w-])")
_AGE = re.compile(rf"(?<![\w.,])(?:(\d{{1,3}})|({quantities.SPELLED.pattern}))[\s-]years?[\s-]old\b", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_CLOCK = re.compile(
    r"(?<![\d:.,])([01]?\d|2[0-4])(?:[.:]([0-5]\d))?\suhr\b"
    r"|(?<=\ba )([01]?\d|2[0-4])\s?h(?:eures?)?(?:\s?([0-5]\d))?(?![\w.,]\d|\w)",
    re.IGNORECASE,
)
"""A time of the day in German ("9.30 Uhr") and French ("à 9 h 30")."""
_SEVERAL_MEN = re.compile(r"\bmen\.(?=\s*\Z|\s+[A-Z])")
"""Men at the end of a sentence, which within one, without diacritics, are months in Lithuanian: "24 men. nuo"."""
_CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)[ -]century\b", re.IGNORECASE)
_HALF_A_DOZEN = re.compile(r"\bhalf a dozen\b", re.IGNORECASE)
_AND_A_HALF = re.compile(
    rf"\b(?P<whole>{quantities.SPELLED.pattern}|\d{{1,3}}|an?) (?:(?P<unit>[^\W\d_]+(?: [^\W\d_]+)?) )?and a half\b",
    re.IGNORECASE,
)
"""A number and a half: "two and a half hours", "a year and a half"."""
_HOURS = f"one|{UP_TO_TWELVE}"
_PAST = re.compile(
    r"\b(?P<part>half past|(?:a )?quarter past|(?:a )?quarter to) "
    rf"(?P<hour>{_HOURS}|1[0-2]|[1-9])\b",
    re.IGNORECASE,
)
"""A time of the day in words: "half past nine"."""
_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?\s*([ap]\.?m\b\.?)?", re.IGNORECASE)
_HOUR = re.compile(
    r"(?<![\d:.,$€£])(?:(1[0-2]|0?[1-9])(?:[:.]([0-5]\d))?\s?(?:([ap])\.?m\b\.?|in\sthe\s(morning|afternoon|evening)\b)"
    rf"|\b({_HOURS})\sin\sthe\s(morning|afternoon|evening)\b)",
    re.IGNORECASE,
)
"""A time of the day by twelve hours: "8pm", "9 in the morning", "five in the morning"."""
_BEFORE_HOUR = re.compile(r"\b(?:at|by|from|to|till|until|before|after|about|around|between|and)\s+\Z", re.IGNORECASE)
LONGEST_BEFORE_HOUR = 12
"""Characters before an hour among which a word shows that it is one."""
QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_QUARTER = re.compile(rf"\b({'|'.join(QUARTERS)})[ -](?:fiscal[ ])?quarter\b", re.IGNORECASE)
_SHORT_QUARTER = re.compile(r"[qQ]([1-4])")
_PARTS = ("quarter", *quantities.ORDINALS)
_DENOMINATORS = {"half": 2, "quarter": 4, **quantities.ORDINALS}
_FRACTION = re.compile(
    rf"\b(?P<many>{quantities.SPELLED.pattern}|\d)(?:\s+out\s+of(?:\s+every)?|\s+in(?:\s+every)?|\s+of\s+every)\s+"
    rf"(?P<of>{quantities.SPELLED.pattern}|10|\d)\b"
    rf"|\b(?P<parts>an?|one|two|three|four|five|seven|nine)[\s-](?P<part>{'|'.join(_PARTS)})s?\b"
    r"(?:(?<=thirds)|(?<=one.third)|(?<=(?:just|only|than).a.third)|(?<=(?:about|under).a.third)|(?P<what>(?=\s+of\b)))"
    rf"|(?<=by\s)an?\s(?P<by>half|{'|'.join(_PARTS)})\b"
    r"|\b(?P<half>half)(?=\s+of\b)",
    re.IGNORECASE,
)
"""A part of a whole in words, unless a unit follows: "four in five", "two thirds", "a quarter of", "by a tenth"."""
_OF_A = re.compile(r"\s+of\s+an?\s+", re.IGNORECASE)
_HALF = re.compile(
    r"\bhalf(?:[\s-](?P<hourly>hourly)\b|\s+an?\s+)|\b(?:an?\s|(?P<three>three\s))?(?P<quarter>quarters?)\s+of\s+an?\s+",
    re.IGNORECASE,
)
"""A half or quarters of the unit that follows."""
_BEFORE_UNIT, _SPACES = re.compile(r"[\s-]"), re.compile(r"\s+")
_ROUGHLY = re.compile(
    r"\b(?:about|approximately|approx|around|roughly|nearly|almost|close to|over|more than|some|circa|apie|beveik"
    r"|daugiau nei|rund|etwa|ungefahr|ca|knapp|fast|gut|uber|mehr als|environ|pres de|plus de|presque|unos|unas|casi"
    r"|mas de|alrededor de|cerca de|quasi|oltre|piu di|un po' piu di)"
    r"\W*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:(?P<more>more than|over|above|exceed(?:s|ed|ing)?|mehr als|uber|gut|plus de|mas de|oltre|piu di)"
    r"|(?P<less>less than|fewer than|under|below|weniger als|unter|knapp|moins de|menos de|meno di))\W*$",
    re.IGNORECASE,
)
_COUNTED_NOUN = re.compile(r"\s[a-z]{4,}s\b")
BEFORE_CHARACTERS = 24
"""Characters before a number in which "about" or a bound such as "more than" may stand."""
ROUGH_PERCENT = 5
FRACTION_PERCENT = 2
"""Points of per cent by which a fraction in words may differ: after "about" ("about a third"), and else."""
BOUND_SHARE = 10
ROUGH_SHARE = 20
ROUND_STEPS = 10
"""The part of a number, a tenth and a twentieth, by which one with a bound and a rough one may differ; and steps of
rounding that a number has at least, whatever that part."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One checkable fact.

    `kind` is "date", "year", "years" (a range), "time", "quarter", "identifier", "number", "part" (of a number with
    spaces), "fraction" (in words, as per cent) or "title" (a number in a title). `text` is as written, `values` are the
    possible values; `quantum` is as in `NumberReading`; `scaled`: written with a scale ("million"); `about`: after
    "about"; `rough`: either of both; `bound` is 1 after "more than", -1 after "less than"; `start` is the position of
    `text` in the folded text.
    """

    kind: str
    text: str
    values: frozenset[Decimal] = frozenset()
    unit: str = ""
    quantum: Decimal = Decimal(1)
    rough: bool = False
    negative: bool = False
    date: DateMention | None = None
    scaled: bool = False
    about: bool = False
    bound: int = 0
    start: int = -1

    @property
    def end(self) -> int:
        """The position after the fact."""
        return self.start + len(self.text)


@lru_cache(maxsize=2_048)
def facts_in(text: str) -> tuple[Fact, ...]:
    """Return the facts of a text, in no particular order."""
    folded = fold(text) if "mėn" in text.lower() else _SEVERAL_MEN.sub("men,", fold(text))
    found: list[Fact] = []
    taken = [False] * (len(folded) + 1)

    def unread(pattern: "re.Pattern[str]") -> Iterator["re.Match[str]"]:
        """Yield the matches that do not overlap a fact found before."""
        for match in pattern.finditer(folded):
            if not any(taken[slice(*match.span())]):
                yield match

    def add(fact: Fact, start: int, end: int) -> None:
        found.append(replace(fact, start=start))
        taken[start:end] = [True] * (end - start)

    for match in unread(_YEAR_RANGE):
        if (last := _last_year(match)) is not None:
            date = next(iter(dates_in(match.group())), None)  # "2007-08" may also be a month
            add(Fact("years", match.group(), frozenset({Decimal(match[1]), last}), date=date), *match.span())
    for match in unread(_AGE):
        age = Decimal(match[1]) if match[1] else quantities.spelled_value(match[2])
        add(Fact("number", match.group(), frozenset({age})), *match.span())
    for date in dates_in(folded):
        if any(taken[date.start : date.end]):
            continue
        add(Fact("date", folded[date.start : date.end], date=date), date.start, date.end)
        if date.year:
            found.append(Fact("year", str(date.year), frozenset({Decimal(date.year)})))
    for match in unread(_HOUR):
        before = max(0, match.start() - LONGEST_BEFORE_HOUR)
        if (match[4] or match[6]) and not _BEFORE_HOUR.search(folded, before, match.start()):
            continue  # "there were 5 in the afternoon group"
        add(Fact("time", match.group(), _minutes_of_hour(match)), *match.span())
    for match in unread(_TIME):
        add(Fact("time", match.group(), _minutes(match)), *match.span())
    for match in unread(_PAST):
        add(Fact("time", match.group(), _minutes_past(match)), *match.span())
    for match in unread(_CLOCK):
        if match[3] and "à" not in text:
            continue  # "a 5 h drive"
        hour, minute = match[1] or match[3], match[2] or match[4] or "0"
        add(Fact("time", match.group(), frozenset({Decimal(60 * int(hour) + int(minute))})), *match.span())
    for match in unread(_CENTURY):
        add(Fact("century", match.group(), frozenset({Decimal(match[1])})), *match.span())
    for match in unread(_HALF_A_DOZEN):
        add(Fact("number", match.group(), frozenset({Decimal(6)})), *match.span())
    for match in unread(_AND_A_HALF):
        behind = _unit_behind(folded, match.end())
        end = behind.end() if behind else match.end()
        if is_unit_written(written := match["unit"] or (behind.group() if behind else "")):
            half = _whole(match["whole"]) + Decimal("0.5")
            add(Fact("number", folded[match.start() : end], frozenset({half}), unit_name(written)), match.start(), end)
    for match in unread(_QUARTER):
        add(Fact("quarter", match.group(), frozenset({Decimal(QUARTERS[match[1].lower()])})), *match.span())
    for match in unread(_FRACTION):
        if (fraction := _fraction(folded, match)) is not None:
            add(fraction, *match.span())
    for match in unread(_HALF):
        unit = UNIT_AT.match(folded, match.end())
        if not (unit or match["hourly"]):
            continue
        end = unit.end() if unit else match.end()
        value = Decimal("0.5") if not match["quarter"] else Decimal("0.75") if match["three"] else Decimal("0.25")
        name = unit_name(unit.group()) if unit else "h"
        add(Fact("number", folded[match.start() : end], frozenset({value}), name), match.start(), end)
    for match in unread(_IDENTIFIER):
        if not _is_measure(match.group()):
            add(_identifier(match.group()), *match.span())
    return (*found, *_numbers(folded, taken))


def _unit_behind(text: str, end: int) -> "re.Match[str] | None":
    """Return the unit that follows, behind a space or a hyphen."""
    return UNIT_AT.match(text, end + 1) if _BEFORE_UNIT.match(text, end) else None


def _is_measure(word: str) -> bool:
    """Return whether a word is a number with its unit, scale or ending ("5kg", "24-month"), which is no identifier."""
    measure = _MEASURE.fullmatch(word)
    if measure is None or not (unit := measure["unit"]):
        return measure is not None
    return is_unit_written(unit) or (measure["hyphen"] is not None and is_unit_written(unit.rpartition("-")[0]))


def _last_year(span: "re.Match[str]") -> Decimal | None:
    """Return the last year of "2007-08" or "2007-2008"; None if the years do not ascend, as in a date."""
    first, last = span[1], span[2]
    last = last if len(last) == len(first) else first[:2] + last
    return Decimal(last) if last > first else None


def _fraction(text: str, match: "re.Match[str]") -> Fact | None:
    """Return a part of a whole as per cent, None if it is none ("two in 2023", "one in ten minutes")."""
    unit_at = _OF_A if match["what"] is not None or match["half"] else _SPACES if match["many"] else None
    before = unit_at.match(text, match.end()) if unit_at else None
    if before and UNIT_AT.match(text, before.end()):
        return None  # "a quarter of an hour"
    if match["many"]:
        part, whole = (
            Decimal(each) if each.isdigit() else quantities.spelled_value(each) for each in (match["many"], match["of"])
        )
    else:
        name = match["part"] or match["by"] or match["half"]
        parts = match["parts"] or "a"
        part = Decimal(1) if parts.lower() in {"a", "an"} else quantities.spelled_value(parts)
        whole = Decimal(_DENOMINATORS[name.lower()])
    if not 0 < part < whole:
        return None
    start = match.start()
    is_rough = _ROUGHLY.search(text, max(0, start - BEFORE_CHARACTERS), start) is not None
    return Fact(
        "fraction",
        match.group(),
        frozenset({100 * part / whole}),
        "percent",
        Decimal(ROUGH_PERCENT if is_rough else FRACTION_PERCENT),
        rough=True,
        scaled=True,
    )


def _identifier(word: str) -> Fact:
    if quarter := _SHORT_QUARTER.fullmatch(word):
        return Fact("quarter", word, frozenset({Decimal(quarter[1])}))
    return Fact("identifier", word, read_number(word).values if _GROUPED.fullmatch(word) else frozenset())


def _minutes(match: "re.Match[str]") -> frozenset[Decimal]:
    hours, half = int(match[1]), (match[3] or "").lower()[:1]
    hours = hours % 12 + (12 if half == "p" else 0) if half else hours
    return frozenset({Decimal(60 * hours + int(match[2]))})


def _whole(number: str) -> Decimal:
    if number.isdigit():
        return Decimal(number)
    return Decimal(1) if number.lower() in {"a", "an"} else quantities.spelled_value(number)


def _minutes_past(match: "re.Match[str]") -> frozenset[Decimal]:
    """Return the minutes of the day of "half past three", before and after noon."""
    part = match["part"].lower()
    minutes = 60 * _whole(match["hour"]) + (30 if "half" in part else 15 if "past" in part else -15)
    return frozenset({minutes % (12 * 60), minutes % (12 * 60) + 12 * 60})


def _minutes_of_hour(match: "re.Match[str]") -> frozenset[Decimal]:
    is_morning = (match[3] or match[4] or match[6]).lower() in {"a", "morning"}
    hour = _whole(match[1] or match[5])
    return frozenset({60 * (hour % 12 + (0 if is_morning else 12)) + int(match[2] or 0)})


def _numbers(text: str, taken: Sequence[bool]) -> Iterator[Fact]:
    at = 0
    while match := _NUMBER.search(text, at):
        unit = _unit_of(text, match)
        at = unit.end() if unit else match.end()
        if any(taken[slice(*match.span("digits"))]):
            continue
        if " " in match["digits"]:
            # "12 345" may be two table columns, so each part is also a fact.
            yield from (Fact("part", part, read_number(part).values) for part in match["digits"].split())
        yield _number(text, match, unit)
    for match in quantities.SPELLED.finditer(text):
        unit = _unit_behind(text, match.end())
        if not any(taken[slice(*match.span())]) and (unit or match.group().lower() != "one"):
            value = quantities.spelled_value(match.group()).normalize()
            written = text[match.start() : unit.end() if unit else match.end()]
            name = unit_name(unit.group()) if unit else ""
            bound, about = _bound_before(text, match.start())
            yield Fact(
                "number", written, frozenset({value}), name, about=about, rough=about, bound=bound, start=match.start()
            )
    for match in quantities.ORDINAL.finditer(text):
        if not any(taken[slice(*match.span())]):
            value = quantities.ordinal_value(match.group())
            yield Fact("number", match.group(), frozenset({value}), start=match.start())


def _bound_before(text: str, start: int) -> tuple[int, bool]:
    """Return the bound that stands before a number (see `Fact`), and whether "about" does."""
    bound = _BOUND.search(text, max(0, start - BEFORE_CHARACTERS), start)
    about = _ROUGHLY.search(text, max(0, start - BEFORE_CHARACTERS), start) is not None
    return (0 if bound is None else 1 if bound["more"] else -1), about


def _unit_of(text: str, number: "re.Match[str]") -> "re.Match[str] | None":
    unit = _unit_behind(text, number.end()) or UNIT_AT.match(text, number.end())
    return None if unit and text.startswith("-to-", unit.end()) else unit  # "$164 million year-to-date"


def _number(text: str, match: "re.Match[str]", behind: "re.Match[str] | None") -> Fact:
    end = behind.end() if behind else match.end()
    digits, money, unit = match["digits"], match["money"] or "", behind.group() if behind else ""
    scale, letter = match["scale"] or "", match["letter"] or ""
    unit = "pence" if match["pence"] else unit
    counts = letter in {"M", "B"} and _COUNTED_NOUN.match(text, end)
    if letter and not money and letter.lower() != "k" and unit_name(unit) not in CURRENCIES and not counts:
        # "5m" is five metres; "$5m", "5m euros" and "5M parameters" are five million.
        unit, letter = unit or letter, ""
    if money and unit_name(unit) not in CURRENCIES:
        unit = ""  # an amount of money has no other unit
    if CENTURY_YEAR.fullmatch(digits) and unit_name(unit) in {"s", "m", "year"}:
        unit = ""  # "1990s" is not in seconds, and Lithuanian "2022 m." is a year
    reading = read_number(digits, scale or letter)
    start = match.start()
    bound, about = _bound_before(text, start)
    in_range = start > 0 and text[start - 1].isalnum()
    return Fact(
        "number",
        text[start:end].strip(),
        reading.values,
        unit_name(unit or money) if unit or money else "",
        reading.quantum,
        scaled=bool(scale or letter),
        about=about,
        rough=bool(scale or letter) or about,
        negative=bool(match["sign"] or match["sign2"]) and not in_range,
        bound=bound,
        start=end - len(text[start:end].lstrip()),
    )


# --- comparing with a value ---


def is_rounded(said: Fact, value: Decimal) -> bool:
    """Return whether a value is what a claim states, or rounds to it where the claim says that it rounds.

    "about 48,000" is rounded to its last digit that is not zero; with a scale alone ("$4.2 billion") to the last digit
    written. A number of one digit must also be within a twentieth of the value. "More than $400 million" is true of
    427, as "less than 430" is: it is the value cut off, or the next step, at most a tenth away.
    """
    for mine in said.values:
        if mine == value:
            return True
        if not (said.rough or said.bound):
            continue
        if said.bound:
            apart = said.bound * (value - mine)
            if 0 <= apart < min(_last_digit(mine), value / BOUND_SHARE) or (0 <= apart <= 1 and value <= ROUND_STEPS):
                return True
            continue
        step = said.quantum if said.scaled and not said.about else _last_digit(mine)
        near = abs(value - mine) <= step / 2
        if near and (value >= ROUND_STEPS * step or abs(value - mine) <= value / ROUGH_SHARE):
            return True
    return False


def _last_digit(value: Decimal) -> Decimal:
    """Return one step of a number's last digit that is not zero: 1,000 for 48,000, 0.1 for 10.50."""
    return Decimal(10) ** int(value.normalize().as_tuple().exponent)
