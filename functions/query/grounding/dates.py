"""Calculates the time between two dates of the evidence, and a date from another one and a time."""

from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import permutations, product

from functions.query.grounding.arithmetic import Calculation, Operand
from functions.query.grounding.facts import Fact

MAX_DATES = 4
"""Dates of the evidence above which none are compared: some two would always be as far apart as a claim says."""


def derive_from_dates(fact: Fact, dates: Sequence[Fact], operands: Sequence[Operand]) -> Calculation | None:
    """Return how two dates of the evidence give a claim's time, or a date and a time its date; None if they do not.

    Of several pairs, the first of `dates` counts: those that the claim names come first.
    """
    whole = [(each.text, day) for each in dates if (day := _day_of(each)) is not None]
    if len(dict(whole)) > MAX_DATES:
        return None
    if fact.unit in _LENGTHS:
        for (one, first), (other, last) in permutations(whole, 2):
            if first < last and _length(first, last, fact.unit) in fact.values:
                return Calculation(f"{other} − {one} = {fact.text}")
    wanted = _day_of(fact)
    for (text, day), time in product(whole if wanted else (), operands):
        if time.unit in _LENGTHS and time.value == int(time.value):
            for sign, number in (("+", int(time.value)), ("−", -int(time.value))):
                if _moved(day, number, time.unit) == wanted:
                    return Calculation(f"{text} {sign} {time.text} = {fact.text}")
    return None


_LENGTHS = {"day": 1, "week": 7, "month": 1, "year": 12}
"""Units of time, in days or in months."""


def _day_of(fact: Fact) -> date | None:
    told = fact.date
    if fact.kind != "date" or told is None or told.swapped or not (told.year and told.month and told.day):
        return None
    return date(told.year, told.month, told.day) if told.day <= monthrange(told.year, told.month)[1] else None


def _length(first: date, last: date, unit: str) -> Decimal | None:
    """Return the time between two dates in a unit; None if it is no whole number of months or years."""
    if unit in {"day", "week"}:
        return Decimal((last - first).days) / _LENGTHS[unit]
    months = 12 * (last.year - first.year) + last.month - first.month
    return Decimal(months) / _LENGTHS[unit] if _moved(first, months, "month") in {last, last + timedelta(1)} else None


def _moved(day: date, number: int, unit: str) -> date:
    """Return the date some days, weeks, months or years later; the end of a month stays the end of one."""
    if unit in {"day", "week"}:
        return day + timedelta(number * _LENGTHS[unit])
    years, month = divmod(12 * day.year + day.month - 1 + number * _LENGTHS[unit], 12)
    lasts, length = monthrange(day.year, day.month)[1], monthrange(years, month + 1)[1]
    return date(years, month + 1, length if day.day == lasts else min(day.day, length))
