"""Recomputes numbers of a claim from its other numbers, which its evidence states: "£475 (£335 plus £140)".

A claim that names what it calculates with need not name rows or columns: its own numbers are the operands.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, permutations, product

from functions.query.grounding.arithmetic import (
    CHANGE,
    MAX_NUMBERS,
    MAX_OPERANDS,
    Calculation,
    Operand,
    around,
    convert,
    is_negated,
)
from functions.query.grounding.facts import Fact
from functions.query.grounding.quantities import (
    ADVERBS_OF_PERIODS,
    CURRENCIES,
    PERIODS,
    SPELLED,
    spelled_value,
    unit_name,
)
from functions.query.grounding.words import content_stems
from shared.lexical import fold

_SUM = re.compile(
    r"\+|\b(?:plus|together|total|in all|altogether|combined|namely|comes? to|add(?:s|ed)?|sum)\b|# \S* ?[^.;]*\(",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    rf"\b(?:{CHANGE}|not|never|rest|remain\w*|others?|left|sav(?:e|es|ed|ing)|without|half an?)|n['’]t\b"
    r"|\d[\d.,]*\s+[−–-]\s+[$€£]?\d",
    re.IGNORECASE,
)
_QUOTIENT = re.compile(r"[÷/:]|\b(?:divided|after|each|per|every|a|an|average|last(?:s|ed)?|times)\b", re.IGNORECASE)
_REST = re.compile(r"\b(?:rest|remaining|remainder|others?|left|sav(?:e|es|ed|ing)|discount|off)\b", re.IGNORECASE)
"""How a claim says that a number is the sum, the difference, the quotient or what is left of others."""
_MULTIPLIED = re.compile(r"\b(\d{1,2})\s*[×*]\s*[$€£]?\d|\d\s*[×*]\s*(\d{1,2})\b(?![.,]\d)")
_TIMES = re.compile(rf"\b({SPELLED.pattern}|\d{{1,2}})\s+times\b(?!\s+(?:as|more|less|higher|a|per)\b)", re.IGNORECASE)
_COUNTED = re.compile(rf"\b({SPELLED.pattern}|\d{{1,3}})[\s-]((?:[^\W\d_]+[\s-]){{0,2}}[^\W\d_]{{3,}})", re.IGNORECASE)
_PER = re.compile(
    r"(?:\b(?:per|each|every|an?)|/)\s*((?:[^\W\d_]+\s)?[^\W\d_]{3,})|\b((?:dai|week|month|year|hour|night)ly)\b"
)
"""How many of a thing a claim speaks of ("three working days"), and for which thing a rate is."""
_LIST = re.compile(r"\s[^\W\d_][^.:;,]{0,60}:\s([^.:]+)")
_ITEM = re.compile(r"[,;]\s*(?:(?:and|or)\s)?")
_ITEM_OR_AND = re.compile(r"[,;]\s*(?:(?:and|or)\s)?|\s(?:and|or)\s")
"""A list behind a number ("three kinds: A, B and C"), and what stands between its items."""


def own_calculation(
    claim: str, fact: Fact, stated: Sequence[Fact], texts: Sequence[str] = (), operands: Sequence[Operand] = ()
) -> Calculation | None:
    """Return how the numbers of a claim that its evidence states (`stated`) give another one; None if they do not.

    The claim must say so: "863 volunteers, 122 more than the 741 before", "€84 (3 × €28)", "ten days (180 divided by
    18)". `texts`: the evidence, which may say for what a rate is; `operands`: its numbers, which a claim may multiply.
    """
    others = [each for each in stated if each.values and each.start != fact.start]
    folded = fold(claim)
    for ways in (_sums, _differences, _quotients, _shares):
        for value, text, is_rest in ways(folded, fact, others):
            if value in fact.values:
                return Calculation(f"{text} = {_written(fact)}", is_rest=is_rest)
    amounts = [(_in_unit(each, fact.unit), _written(each)) for each in others]
    amounts += [(each.value, each.text) for each in operands if each.unit in {"", fact.unit} and each.value != 1]
    for times, (once, text) in product(multipliers_in(claim, texts), amounts):
        if once is not None and once * times in fact.values:
            return Calculation(f"{times} × {text} = {_written(fact)}")
    return _for_its_time(folded, fact, operands)


def _counts_its_list(claim: str, fact: Fact) -> bool:
    """Return whether a claim's number counts the items that it lists: "in two ways: by post or by e-mail"."""
    told = _LIST.match(claim, fact.end)
    if told is None or fact.unit or fact.kind != "number":
        return False
    counts = {Decimal(len(separator.split(told[1]))) for separator in (_ITEM, _ITEM_OR_AND)} - {Decimal(1)}
    return bool(fact.values & counts)


def _for_its_time(claim: str, fact: Fact, operands: Sequence[Operand]) -> Calculation | None:
    """Return what a price per month of a row that the claim names comes to over its months: "£219 over the term"."""
    per = _stems_of_rates(claim) if _SUM.search(around(claim, fact)) else frozenset()
    for price, time in permutations(operands, 2) if per else ():
        is_rate = price.unit == fact.unit in CURRENCIES and time.unit in per & PERIODS
        is_of_row = price.is_named and price.group == time.group
        if is_rate and is_of_row and price.value * time.value in fact.values:
            return Calculation(f"{time.text} × {price.text} = {_written(fact)}")
    return None


_Result = tuple[Decimal, str, bool]


def _in_unit(each: Fact, unit: str) -> Decimal | None:
    """Return a number in a unit; None if it is of another measure."""
    value = min(each.values)
    return value if each.unit in {"", unit} else convert(value, each.unit, unit)


def _like(fact: Fact, others: Sequence[Fact]) -> list[tuple[Fact, Decimal]]:
    """Return the numbers of the same measure as a fact, each with its value in the fact's unit."""
    found = ((each, _in_unit(each, fact.unit)) for each in others if each.kind == "number")
    return [(each, value) for each, value in found if value is not None][:MAX_NUMBERS]


def _sums(claim: str, fact: Fact, others: Sequence[Fact]) -> Iterator[_Result]:
    same = _like(fact, others)
    is_said = _SUM.search(around(claim, fact)) is not None
    for size in range(2, min(len(same), MAX_OPERANDS) + 1):
        for chosen in combinations(same, size) if size == len(same) or is_said else ():
            yield (
                sum((value for _, value in chosen), Decimal(0)),
                " + ".join(_written(each) for each, _ in chosen),
                False,
            )


def _differences(claim: str, fact: Fact, others: Sequence[Fact]) -> Iterator[_Result]:
    place = around(claim, fact)
    for (more, high), (less, low) in permutations(_like(fact, others), 2) if _DIFFERENCE.search(place) else ():
        yield high - low, f"{_written(more)} − {_written(less)}", is_negated(place)
    for each in others if fact.unit == "percent" and _REST.search(claim) else ():
        if each.kind == "number" and each.unit in {"", "percent"}:
            yield 100 - min(each.values), f"100 − {_written(each)}", False


def _quotients(claim: str, fact: Fact, others: Sequence[Fact]) -> Iterator[_Result]:
    numbers = [each for each in others if each.kind == "number"][:MAX_NUMBERS]
    for whole, part in permutations(numbers, 2) if _QUOTIENT.search(around(claim, fact)) else ():
        if whole.unit == part.unit and fact.unit != whole.unit and min(part.values) > 1:
            yield min(whole.values) / min(part.values), f"{_written(whole)} / {_written(part)}", False


def _shares(_claim: str, fact: Fact, others: Sequence[Fact]) -> Iterator[_Result]:
    """Yield parts of a number: a fraction in words, or some per cent of it, or that much more or less."""
    shares = [each for each in others if each.kind == "fraction" or each.unit == "percent"]
    for share in shares if fact.unit != "percent" else ():
        part = min(share.values) / 100
        for each in others:
            value = _in_unit(each, fact.unit) if each is not share else None
            if value is None:
                continue
            yield value * part, f"{_written(share)} of {_written(each)}", False
            if share.kind != "fraction":
                yield value * (1 + part), f"{_written(each)} + {_written(share)}", False
                yield value * (1 - part), f"{_written(each)} − {_written(share)}", False


def multipliers_in(claim: str, texts: Sequence[str] = ()) -> Sequence[Decimal]:
    """Return the numbers by which a claim says that it multiplies another one.

    "3 × €28", "seven times the daily rate", "three working days" where `texts` or the claim have something per day.
    """
    folded = fold(claim)
    found = [number for numbers in _MULTIPLIED.findall(folded) for number in numbers if number]
    found += _TIMES.findall(folded)
    per = _stems_of_rates("\n".join((folded, *map(fold, texts)))) if _COUNTED.search(folded) else frozenset()
    found += [number for number, words in _COUNTED.findall(folded) if per & _names_of(words)]
    return [Decimal(each) if each.isdigit() else spelled_value(each) for each in dict.fromkeys(found)]


def _names_of(words: str) -> frozenset[str]:
    """Return the stems of words, those of units by their name: "days" and "daily" are one."""
    return frozenset(content_stems(words)) | {
        ADVERBS_OF_PERIODS.get(each) or unit_name(each) for each in words.lower().split()
    }


def _stems_of_rates(text: str) -> frozenset[str]:
    return frozenset[str]().union(*(_names_of(words or period) for words, period in _PER.findall(text.lower())))


def may_be_calculated(claim: str, fact: Fact, stated: Sequence[Fact], operands: Sequence[Operand]) -> bool:
    """Return whether two numbers of the evidence give one of a claim, which compares or adds, or its own list does.

    Which numbers it means, or whether its list is whole, is not certain: such a claim is not refuted.
    """
    if _counts_its_list(fold(claim), fact):
        return True
    place = around(fold(claim), fact)
    signs = [sign for sign, cue in ((1, _SUM), (-1, _DIFFERENCE)) if cue.search(place)]
    if not signs or fact.unit == "percent":
        return False
    unit = "percent" if fact.unit == "pp" else fact.unit
    values = {each.value for each in operands if each.unit in {"", unit} and not each.is_year}
    values |= {value for _, value in _like(fact, stated)}
    pairs = permutations(values, 2) if len(values) <= MAX_NUMBERS else ()
    return any(one + sign * other in fact.values for one, other in pairs for sign in signs)


def _written(fact: Fact) -> str:
    return fact.text.rstrip(" .,;")
