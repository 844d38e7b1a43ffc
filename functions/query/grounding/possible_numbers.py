"""Tells whether a number that the evidence does not state may still follow from it, so that it refutes no claim.

Which numbers a claim means is not certain here: what is found confirms nothing. A number may count what is listed, be
what two or three numbers of the evidence give, lie in a range, or be a looser limit than the evidence has.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, permutations

from functions.query.grounding.arithmetic import MAX_NUMBERS, Operand, convert
from functions.query.grounding.facts import Fact, facts_in, is_rounded
from functions.query.grounding.own_arithmetic import calculates, counts_its_list, has_list
from functions.query.grounding.quantities import CURRENCIES, PERIODS
from functions.query.grounding.rows import is_in_a_range
from shared.lexical import fold

MAX_COUNTED = 12
"""The highest number that may count what a text lists."""
LOOSE_LIMIT = Decimal(2)
"""How many times a number a limit may be that holds for it: "under €50" of €40."""
LIKELY_BY_CHANCE = 10
"""Numbers up to this one are given by some two others too often: only a claim that calculates may have them so."""
DAYS_OF_MONTH = (28, 30, 31)
_ITEM_END = re.compile(r"[,;•]\s|\s(?:and|or|und|ir)\s|\n")
_PERIODS_IN = {("day", "week"): 7, ("week", "year"): 52, ("month", "year"): 12, ("h", "day"): 24, ("min", "h"): 60}


def may_follow(
    claim: str, fact: Fact, stated: Sequence[Fact], operands: Sequence[Operand], texts: Sequence[str]
) -> bool:
    """Return whether a fact of a claim may follow from its evidence.

    `stated` are the claim's other numbers that its evidence has, `operands` those of the evidence, `texts` its
    sentences and rows.
    """
    folded = fold(claim)
    if fact.kind == "time":
        return _is_moved_time(fact, texts)
    if fact.kind != "number" or not fact.values:
        return False
    return (
        counts_its_list(folded, fact)
        or (not has_list(folded, fact) and _may_count(fact, texts))
        or is_in_a_range(fact, texts)
        or _is_looser_limit(fact, operands)
        or any(_gives(fact, value) for value in _results(folded, fact, stated, operands))
    )


def _gives(fact: Fact, value: Decimal) -> bool:
    if value <= 0:
        return False
    return is_rounded(fact, value) or any(abs(value - mine) <= fact.quantum / 2 for mine in fact.values)


def _may_count(fact: Fact, texts: Sequence[str]) -> bool:
    """Return whether a small number without a measure may be that of the rows, or of the items of a sentence."""
    value = min(fact.values)
    is_counting = fact.unit in {"", "people", "x", "day"} and not fact.negative and value == int(value)
    if not is_counting or not 1 < value <= MAX_COUNTED:
        return False
    return len(texts) >= value or any(len(_ITEM_END.findall(text)) + 1 >= value for text in texts)


def _is_moved_time(fact: Fact, texts: Sequence[str]) -> bool:
    """Return whether a time of the day is one of the evidence and some minutes or hours of it before or after."""
    facts = [each for text in texts for each in facts_in(text)]
    times = {value for each in facts if each.kind == "time" for value in each.values}
    spans = {
        value * (60 if each.unit == "h" else 1) for each in facts if each.unit in {"h", "min"} for value in each.values
    }
    return any(time + sign * span in fact.values for time in times for span in spans for sign in (1, -1))


def _is_looser_limit(fact: Fact, operands: Sequence[Operand]) -> bool:
    """Return whether a claim says "more than" or "less than" a number of which that is true of the evidence's."""
    mine = min(fact.values)
    return fact.bound != 0 and any(
        each.unit in {"", fact.unit}
        and each.value > 0
        and fact.bound * (each.value - mine) > 0
        and max(each.value, mine) <= LOOSE_LIMIT * min(each.value, mine)
        for each in operands
        if mine > 0
    )


def _results(claim: str, fact: Fact, stated: Sequence[Fact], operands: Sequence[Operand]) -> Iterator[Decimal]:
    """Yield what the numbers give that may be meant."""
    named = [each for each in operands if each.is_named] or operands
    numbers = {(each.value, each.unit) for each in named if each.value > 0}
    numbers |= {(min(each.values), each.unit) for each in stated if each.values and each.start != fact.start}
    own = {min(each.values) for each in facts_in(claim) if each.kind == "number" and each.start != fact.start}
    if len(numbers) > MAX_NUMBERS:
        return
    yield from _conversions(fact, numbers)
    if min(fact.values) <= LIKELY_BY_CHANCE and fact.unit not in PERIODS and not calculates(claim, fact):
        return
    # Five points between percentages are no "5 percent".
    same = [value for value, unit in numbers if unit in {"", fact.unit}] if fact.unit != "percent" else []
    for one, second in permutations(same, 2):
        yield one + second
        yield one - second  # two years, too
    for chosen in combinations(same, 3):
        yield sum(chosen, Decimal(0))
    for value, unit in numbers:
        if unit == "percent":
            yield 100 - value
            yield from (
                amount * factor for amount in same for factor in (value / 100, 1 - value / 100, 1 + value / 100)
            )
        else:
            yield from (value * times for times in own if unit in {"", fact.unit} and times > 1)
            yield from (value / times for times in own if unit in {"", fact.unit} and times > 1)
    if fact.unit == "percent":
        for (part, measure), (whole, other) in permutations(numbers, 2):
            if measure == other != "percent" and part < whole:
                yield from (100 * part / whole, 100 * (whole - part) / whole, 100 * (whole - part) / part)


def _conversions(fact: Fact, numbers: set[tuple[Decimal, str]]) -> Iterator[Decimal]:
    """Yield the numbers in the fact's unit, and what a number per month comes to in a year, and the other way round."""
    for value, unit in numbers:
        if (converted := convert(value, unit, fact.unit)) is not None:
            yield converted
        if {unit, fact.unit} == {"month", "day"}:
            yield from (value * days if unit == "month" else value / days for days in DAYS_OF_MONTH)
        if unit == fact.unit in CURRENCIES:
            yield from (each for times in _PERIODS_IN.values() for each in (value * times, value / times))
