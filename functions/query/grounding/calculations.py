"""Recomputes numbers of a claim from others that its evidence states, and times and dates from its evidence's dates.

A claim that names what it calculates with need not name rows or columns: its own numbers are the operands, as in "£475
(£335 plus £140)".
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import combinations, pairwise, permutations, product
from operator import attrgetter

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
from functions.query.grounding.facts import Fact, facts_in, is_rounded
from functions.query.grounding.quantities import (
    ADVERBS_OF_PERIODS,
    CURRENCIES,
    PERIODS,
    SPELLED,
    spelled_value,
    unit_name,
)
from functions.query.grounding.words import content_stems
from functions.query.understanding.question import of_any_language, patterns_of
from shared import identity
from shared.dates import CENTURY_YEAR, is_year
from shared.lexical import fold
from shared.text import SEPARATOR

_SUM = re.compile(
    r"\+|\b(?:plus|together|total|in all|altogether|combined|namely|comes? to|add(?:s|ed)?|sum)\b|# \S* ?[^.;]*\(",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    rf"\b(?:{CHANGE}|not|never|rest|remain\w*|others?|left|sav(?:e|es|ed|ing)|without|half an?)"
    r"|n['’]t\b"
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
        if once is not None and times and once * times in fact.values:
            return Calculation(f"{times} × {text} = {_written(fact)}")
    return _for_its_time(folded, fact, operands) or _by_another_period(folded, fact, texts)


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


_BY_PERIOD = re.compile(
    r"(?:\s*times)?\s*(?:an?|per|each|every|/)\s*(hour|day|week|month|quarter|year)\b"
    r"|(?:\s*times)?\s*(daily|weekly|monthly|quarterly|yearly|annually)\b",
    re.IGNORECASE,
)
_PERIODS_IN_A_YEAR = {"year": 1, "quarter": 4, "month": 12, "week": 52, "day": 365}
_ADVERBS = {"daily": "day", "annually": "year"}
_EVERY = re.compile(r"\bevery (\d{1,2}|half|quarter)[\s-](?:of an )?(?:minutes?|hour)\b", re.IGNORECASE)


def _by_another_period(claim: str, fact: Fact, texts: Sequence[str]) -> Calculation | None:
    """Return what something each month comes to in a year, or how often an hour "every 15 minutes" is."""
    period = _period_behind(claim, fact)
    for text in map(fold, texts) if period else ():
        for each in facts_in(text):
            other = _period_behind(text, each) if each.unit == fact.unit and each.kind == "number" else ""
            if not other or other == period or not {period, other} <= _PERIODS_IN_A_YEAR.keys():
                continue
            times = Decimal(_PERIODS_IN_A_YEAR[other]) / _PERIODS_IN_A_YEAR[period]
            if times > 1 and min(each.values) * times in fact.values:
                return Calculation(f"{times} × {_written(each)} = {_written(fact)}")
        for every in _EVERY.findall(text) if period == "hour" else ():
            minutes = {"half": 30, "quarter": 15}.get(every.lower()) or int(every)
            if minutes and Decimal(60) / minutes in fact.values:
                return Calculation(f"60 min / {minutes} min = {_written(fact)}")
    return None


def _period_behind(text: str, fact: Fact) -> str:
    """Return the period for which a number is told: "£5 a month"; empty if for none."""
    found = _BY_PERIOD.match(text, fact.end)
    name = next((each for each in found.groups() if each), "").lower() if found else ""
    return _ADVERBS.get(name, name.removesuffix("ly"))


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


_DEDUCTED = re.compile(
    r"\b(?:less (?=[$€£¥]|\d)|less (?:an?|the)\b|minus\b|deduct|discount|all but\b|short of\b|of which\b"
    r"|(?:more|fewer|mehr|weniger|mas|menos|plus|moins|piu|meno) (?:than|als|que|quam|de|che|di)\b)",
    re.IGNORECASE,
)
_TWICE = re.compile(r"\b(?:twice|doubl\w*|half|halv\w*)\b", re.IGNORECASE)
"""How evidence says that one of its numbers is taken from another, or is twice or half of one."""
_OF_THAT = re.compile(r"\b(?:twice|double|half) (?:that|this|as (?:many|much))\b", re.IGNORECASE)
"""How it says so of a number of the clause before."""
_EACH = re.compile(r"\b(?:each|apiece|jeweils|chacune?s?|cada un[oa]|ciascun[oa]?)\b", re.IGNORECASE)
"""How evidence says that a number is that of each of several."""
_CELLS = re.compile(rf"{re.escape(SEPARATOR)}|; [^;:]+: ")
"""Signs of a row of a table."""
_UP = re.compile(r"\b(?:increase[ds]?|r[io]se[ns]?|up|grew|higher|more)\b", re.IGNORECASE)
_DOWN = re.compile(r"\b(?:decrease[ds]?|f[ae]ll(?:s|en)?|down|dropped|lower|less|cut)\b", re.IGNORECASE)
"""How evidence says that a number rose or fell."""
_BEFORE = re.compile(
    r"\b(?:before|previous|previously|prior|earlier|last (?:year|month)|had been|was|were|from)\b", re.IGNORECASE
)
"""How a claim says that its number is that of a time before."""
_PERHAPS_LESS = of_any_language({"en": r"\b(?:outstanding|adds)\b", **patterns_of("claim_patterns.txt")["changed"]})
"""How a claim may say that its number is the difference of two."""
_CLAUSE = re.compile(r"[;.]\s|,\s(?:and|but|while)\s", re.IGNORECASE)
_YEARS_APART = re.compile(r"\byears?\s+(?:after|before|later|earlier|older|younger)\b", re.IGNORECASE)
_A_YEAR_APART = re.compile(r"\b(?:(?:a|one) year (?:after|before|later|earlier)|the (?:next|following) year)\b", re.I)
"""How evidence, or a claim, tells one year by another."""


def may_be_calculated(
    claim: str, fact: Fact, stated: Sequence[Fact], operands: Sequence[Operand], texts: Sequence[str] = ()
) -> bool:
    """Return whether two numbers of the evidence give one of a claim, which compares or adds, or its own list does.

    Which numbers it means, or whether its list is whole, is not certain: such a claim is not refuted. Its evidence
    (`texts`) may also say that one number is taken from another, or is a part of one, or tell a year by another.
    """
    if (
        _counts_its_list(fold(claim), fact)
        or _may_be_part(fact, texts)
        or _may_be_left(fact, texts)
        or _may_be_of_all(fact, texts)
        or _may_be_before(fold(claim), fact, texts)
        or _may_be_age(fact, claim, texts)
        or _may_be_years_apart(fact, claim, texts)
    ):
        return True
    place = around(fold(claim), fact)
    cues = ((1, _SUM), (-1, _DIFFERENCE), (-1, _PERHAPS_LESS))
    signs = dict.fromkeys(sign for sign, cue in cues if cue.search(place))
    if not signs or fact.unit == "percent":
        return False
    unit = "percent" if fact.unit == "pp" else fact.unit
    same = [each for each in operands if each.unit in {"", unit} and not each.is_year]
    values = {each.value for each in same}
    if len(values) > MAX_NUMBERS:
        values = {each.value for each in same if each.is_named}
    values |= {value for _, value in _like(fact, stated)}
    pairs = permutations(values, 2) if len(values) <= MAX_NUMBERS else ()
    return any(one + sign * other in fact.values for one, other in pairs for sign in signs)


def _may_be_part(fact: Fact, texts: Sequence[str]) -> bool:
    """Return whether a number is a part, twice or half of one of its unit in a clause that tells such a part."""
    clauses = ((clause, text) for text in texts for clause in _CLAUSE.split(text)) if fact.kind == "number" else ()
    for clause, text in clauses:
        facts = facts_in(clause)
        parts = {min(each.values) / 100 for each in facts if each.kind == "fraction"}
        parts |= {Decimal(2), Decimal("0.5")} if _TWICE.search(clause) else set()
        of_what = text if _OF_THAT.search(clause) else clause
        made = [value * part for value in _values_like(fact, [of_what]) for part in parts]
        if any(abs(value - mine) <= fact.quantum / 2 for value in made for mine in fact.values):
            return True
    return False


def _may_be_left(fact: Fact, texts: Sequence[str]) -> bool:
    """Return whether a number is what is left of one of its unit by a sentence that takes another from it."""
    for text in texts if fact.kind == "number" else ():
        taken = _values_like(fact, [text]) if _DEDUCTED.search(text) else []
        values = taken if len(taken) > 1 else _values_like(fact, texts)  # "the price, less €2,100"
        pairs = product(taken, values) if len(values) <= MAX_OPERANDS else ()
        if any(abs(one - other) in fact.values for one, other in pairs):
            return True
    return False


def _may_be_of_all(fact: Fact, texts: Sequence[str]) -> bool:
    """Return whether a number is what all have together by a sentence that tells what each has: "41 put in £2,000"."""
    for text in texts if fact.kind == "number" and fact.unit else ():
        if _EACH.search(text) and not _CELLS.search(text):
            facts = [each for each in facts_in(text) if each.kind == "number" and each.values]
            counts = [min(each.values) for each in facts if each.unit != fact.unit and not is_year(each.text)]
            pairs = product(_values_like(fact, [text]), counts) if len(counts) <= MAX_NUMBERS else ()
            if any(rate * count in fact.values for rate, count in pairs if 1 not in {rate, count}):
                return True
    return False


def _may_be_before(claim: str, fact: Fact, texts: Sequence[str]) -> bool:
    """Return whether a number is what one of its unit was before it changed by some per cent: "£31,500, up 5%"."""
    if fact.kind != "number" or fact.unit == "percent" or not _BEFORE.search(claim):
        return False
    for text in texts:
        for sign, cue in ((1, _UP), (-1, _DOWN)):
            if cue.search(text):
                shares = [share / 100 for share in _values_like(replace(fact, unit="percent"), [text])]
                pairs = product(_values_like(fact, [text]), (share for share in shares if share < 1))
                befores = [now / (1 + sign * share) for now, share in pairs]
                if any(abs(before - mine) <= fact.quantum / 2 for before in befores for mine in fact.values):
                    return True
    return False


def _values_like(fact: Fact, texts: Sequence[str]) -> list[Decimal]:
    """Return the numbers of a fact's unit in some texts."""
    facts = (each for text in texts for each in facts_in(text))
    return [min(each.values) for each in facts if each.kind == "number" and each.unit == fact.unit and each.values]


def _may_be_years_apart(fact: Fact, claim: str, texts: Sequence[str]) -> bool:
    """Return whether a year, or a number of years, is told by two others: "in 1889, two years after her friend"."""
    if fact.unit == "year":
        spans = [span for text in texts for span in _spans_of_years(text, _BETWEEN_YEARS)]
        if any(is_rounded(fact, Decimal(end - start)) for start, end in spans):
            return True
        years = [year for text in texts for year in _years_in(facts_in(text))]
        is_told = _YEARS_APART.search(claim) is not None
        return is_told and any(abs(one - other) in fact.values for one, other in combinations(years, 2))
    said = frozenset(_years_in([fact]))
    for before, text in pairwise(("", *texts)) if said else ():
        facts = facts_in(text) if _YEARS_APART.search(text) or _A_YEAR_APART.search(text) else ()
        apart = [value for each in facts if each.unit == "year" for value in each.values]
        years = list(_years_in(facts)) or list(_years_in(facts_in(before)))  # "for ten years after that"
        apart += [Decimal(1)] if _A_YEAR_APART.search(text) else []
        if any(year + sign * span in said for year in years for span in apart for sign in (1, -1)):
            return True
    return False


def _years_in(facts: Sequence[Fact]) -> Iterator[Decimal]:
    """Yield the years among facts: those of dates, and numbers that may be one."""
    for each in facts:
        if each.date is not None and each.date.year:
            yield Decimal(each.date.year)
        elif CENTURY_YEAR.fullmatch(each.text):
            yield from each.values


def _written(fact: Fact) -> str:
    return fact.text.rstrip(" .,;")


# --- dates and times ---

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
        if found := _date_after(fact, dates, text) or _years_between(fact, text):
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


_FROM_YEAR_TO_YEAR = re.compile(rf"\bfrom ({identity.YEAR}) (?:to|until|till) ({identity.YEAR})\b", re.IGNORECASE)
_BETWEEN_YEARS = re.compile(
    r"\b(?:from|between|von|zwischen|de|entre|dal|tra|fra) (1\d{3}|20\d\d) "
    r"(?:to|until|till|and|bis|und|a|et|y|al|e) (1\d{3}|20\d\d)\b",
    re.IGNORECASE,
)
"""Two years between which something lasted, or happened."""
_AGED = re.compile(r"\b(?:aged|age of|age)\s+\Z", re.IGNORECASE)
_LIVED = re.compile(r"\bborn\b|\([^()]*\d{4} ?[–-] ?[^()]*\d{4}\)", re.IGNORECASE)
"""Before the number of an age, and what tells when somebody was born."""


def _may_be_age(fact: Fact, claim: str, texts: Sequence[str]) -> bool:
    """Return whether a number may be the age on a day of who was born on another."""
    is_age = fact.text.lower().rstrip(" .,;").endswith("old") or _AGED.search(claim, 0, fact.start) is not None
    for text in texts if is_age else ():
        days = [day for each in facts_in(text) if (day := _day_of(each)) is not None] if _LIVED.search(text) else []
        for born, day in permutations(days, 2) if len(days) <= MAX_DATES else ():
            if born < day and day.year - born.year - ((day.month, day.day) < (born.month, born.day)) in fact.values:
                return True
    return False


def _years_between(fact: Fact, text: str) -> Calculation | None:
    """Return how many years "from 1946 to 1971" are."""
    spans = _spans_of_years(text) if fact.unit == "year" else []
    if len(spans) == 1 and is_rounded(fact, Decimal(spans[0][1] - spans[0][0])):
        return Calculation(f"{spans[0][1]} − {spans[0][0]} = {fact.text}")
    return None


def _spans_of_years(text: str, told: re.Pattern[str] = _FROM_YEAR_TO_YEAR) -> Sequence[tuple[int, int]]:
    """Return the first and last year of each "from 1946 to 1971" in a text, each once; `told`: how it is written."""
    return [(int(first), int(last)) for first, last in dict.fromkeys(told.findall(fold(text)))]


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
