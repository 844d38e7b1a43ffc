"""Calculates the time between two dates of the evidence, and a date from another one and a time."""

from calendar import monthrange
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise, permutations, product
from operator import attrgetter

from functions.query.grounding.arithmetic import Calculation
from functions.query.grounding.facts import Fact, facts_in

MAX_MOVED = 100_000
"""Days, weeks, months or years by which a date is moved at the most."""
MAX_DATES = 4
"""Dates of the evidence above which none are compared: some two would always be as far apart as a claim says."""


def derive_from_dates(fact: Fact, texts: Sequence[str], claim: str) -> Calculation | None:
    """Return how two dates of the evidence give a claim's time, or a date and a time its date; None if they do not.

    Both must stand in one of the `texts`, its sentences and rows, or be two dates that the claim names.
    """
    told = [[each for each in facts_in(text) if each.kind == "date"] for text in dict.fromkeys(texts)]
    said = {each.text for each in facts_in(claim)}
    named = list({each.text: each for dates in told for each in dates if each.text in said}.values())
    if found := _time_between(fact, named, or_months=False):
        return found
    for dates in told:
        own = [each for each in dates if each.text in said]
        if found := _time_between(fact, own if len(own) > 1 or len(named) > 1 else dates, or_months=True):
            return found
    for text in texts if fact.unit in _CLOCK_LENGTHS else ():
        if found := _time_on_the_clock(fact, [each for each in facts_in(text) if each.kind == "time"]):
            return found
    for dates, text in zip(told, dict.fromkeys(texts), strict=True):
        if found := _date_after(fact, dates, text):
            return found
    return None


def _time_between(fact: Fact, dates: Sequence[Fact], *, or_months: bool) -> Calculation | None:
    or_months = or_months and fact.unit == "year"
    days = {each.text: day for each in dates if (day := _day_of(each, or_month=or_months)) is not None}
    if fact.unit not in _LENGTHS or len(days) > MAX_DATES:
        return None
    for (one, first), (other, last) in permutations(days.items(), 2):
        if first < last and _length(first, last, fact.unit) in fact.values:
            return Calculation(f"{other} − {one} = {fact.text}")
    return None


def _time_on_the_clock(fact: Fact, times: Sequence[Fact]) -> Calculation | None:
    """Return how long it is from one time of the day to the next one in a text: "from 22:30 to 07:00"."""
    for first, last in pairwise(sorted(times, key=attrgetter("start"))):
        for begin, end in product(first.values, last.values):
            if (_DAY + end - begin) % _DAY / _CLOCK_LENGTHS[fact.unit] in fact.values:
                return Calculation(f"{last.text.strip()} − {first.text.strip()} = {fact.text}")
    return None


def _date_after(fact: Fact, dates: Sequence[Fact], text: str) -> Calculation | None:
    wanted = _day_of(fact)
    times = [each for each in facts_in(text) if each.unit in _LENGTHS and each.values] if wanted else []
    for each, time in product(dates, times):
        day, number = _day_of(each), min(time.values)
        for sign in ("+", "−") if day is not None and number == int(number) else ():
            if day is not None and _moved(day, int(number) * (1 if sign == "+" else -1), time.unit) == wanted:
                return Calculation(f"{each.text} {sign} {time.text} = {fact.text}")
    return None


_DAY = 24 * 60
_CLOCK_LENGTHS = {"min": 1, "h": 60}
"""Units of time, in minutes."""
_LENGTHS = {"day": 1, "week": 7, "month": 1, "year": 12}
"""Units of time, in days or in months."""


def _day_of(fact: Fact, *, or_month: bool = False) -> date | None:
    """Return the day of a date; with `or_month`, the first of the month that one without a day tells."""
    told = fact.date
    if fact.kind != "date" or told is None or told.swapped or not (told.year and told.month):
        return None
    if not told.day:
        return date(told.year, told.month, 1) if or_month else None
    return date(told.year, told.month, told.day) if told.day <= monthrange(told.year, told.month)[1] else None


def _length(first: date, last: date, unit: str) -> Decimal | None:
    """Return the time between two dates in a unit; None if it is no whole number of months or years."""
    if unit in {"day", "week"}:
        return Decimal((last - first).days) / _LENGTHS[unit]
    months = 12 * (last.year - first.year) + last.month - first.month
    ends_month = first.day == 1 and last.day == monthrange(last.year, last.month)[1]
    if _moved(first, months, "month") == last:
        return Decimal(months) / _LENGTHS[unit]
    return Decimal(months + 1) / _LENGTHS[unit] if ends_month else None  # from the 1st to the last day of a month


def _moved(day: date, number: int, unit: str) -> date | None:
    """Return the date some days, weeks, months or years later; the end of a month stays the end of one.

    None if no calendar has it.
    """
    if abs(number) > MAX_MOVED:
        return None
    if unit in {"day", "week"}:
        ordinal = day.toordinal() + number * _LENGTHS[unit]
        return date.fromordinal(ordinal) if 1 <= ordinal <= date.max.toordinal() else None
    years, month = divmod(12 * day.year + day.month - 1 + number * _LENGTHS[unit], 12)
    if not date.min.year <= years <= date.max.year:
        return None
    lasts, length = monthrange(day.year, day.month)[1], monthrange(years, month + 1)[1]
    return date(years, month + 1, length if day.day == lasts else min(day.day, length))
