"""Recomputes numbers of a claim that its evidence does not state: sums, changes, shares, averages, conversions.

With enough numbers and four operands nearly every number can be made. So a calculation counts only if the claim's words
name it ("together", "fell by", "share of"), its operands are of one kind (the row, the column or the unit that the
claim speaks of), and the result is the claim's number to its last digit.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise, permutations

from functions.query.grounding.facts import Fact, is_rounded
from functions.query.grounding.measures import parts_of
from functions.query.grounding.polarity import direction_of
from functions.query.grounding.quantities import CURRENCIES, PERIODS, scale_of
from functions.query.grounding.relations import ComparedThings, compared_in
from functions.query.grounding.words import WORD, content_stems, stems_of
from functions.query.understanding.question import of_any_language, patterns_of
from shared.dates import CENTURY_YEAR
from shared.lexical import fold

MAX_OPERANDS = 4
MAX_NUMBERS = 12
"""More numbers of one row or sentence are not combined: some calculation would always fit."""
MAX_IN_PROSE = 6
"""Numbers of one unit in sentences, any two of which may add up."""
_CLAUSE_END = re.compile(r"; |(?<=\w{3})\. ")
"""No full stop of an abbreviation: "Rs. 13 crore"."""
_COMMA = re.compile(r"[,;]\s")
_SCALE = re.compile(r"\b(thousand|million|billion|trillion)\b", re.IGNORECASE)

# --- the numbers of the evidence ---


@dataclass(frozen=True, slots=True)
class Operand:
    """A number of the evidence. `group`: what it is of (a row's label, or a sentence); `column`: of which column.

    `kind`: what else it must have in common with another one to be compared, like the length of the period. `order`:
    its place in time, empty if unknown. `is_named`: whether the claim names what it is of; `in_column`: and when.
    `scale`: what its figure was multiplied by. `change`: 1 or -1 if it is told as what its predecessor rose or fell by.
    `is_part`: whether it is told as a part of the number after it ("20 of the 28 people").
    """

    value: Decimal
    text: str
    unit: str = ""
    group: str = ""
    column: int | None = None
    kind: str = ""
    order: tuple[int, ...] = ()
    is_named: bool = True
    in_column: bool = False
    scale: Decimal = Decimal(1)
    change: int = 0
    is_part: bool = False

    @property
    def measure(self) -> str:
        """Its unit; none for money, which tables mark in the first row only."""
        return "" if self.unit in CURRENCIES else self.unit

    @property
    def is_year(self) -> bool:
        """Whether it is written as a year, which is a date and no amount."""
        return not self.unit and self.column is None and CENTURY_YEAR.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculation that gives a claim's number, as text: "7,735 / 26,742 = 28.9 %".

    `stated`: for a conversion, what the evidence has in the number's place ("12 months" for "one year"). `is_rest`:
    whether it is what a part leaves over, so that a claim rightly denies of it what the evidence says of the part.
    """

    text: str
    stated: str = ""
    is_rest: bool = False


def derive(claim: str, fact: Fact, operands: Sequence[Operand]) -> Calculation | None:
    """Return a calculation by which the operands give a number of a claim (a fact of it); None if there is none."""
    converted = _converted(fact, operands)
    if converted is not None:
        return converted
    folded = fold(claim)
    for operation in _OPERATIONS:
        if operation.units and fact.unit not in operation.units:
            continue
        if not operation.cue.search(f"{around(folded, fact)} {fact.text}"):
            continue
        for chosen, value, text in operation.results(folded, fact, operands):
            exact = operation.is_exact and _is_exact(chosen)
            written = value if fact.scaled or fact.unit in {"percent", "x"} else value / chosen[0].scale
            is_of_one_unit = len({each.unit for each in chosen}) == 1
            other = convert(value, chosen[0].unit, fact.unit) if is_of_one_unit else None
            if any(_fits(fact, each, exact=exact) for each in (value, written, other) if each is not None):
                is_rest = is_negated(claim) and (operation.results is _complements or _is_part_of(chosen))
                return Calculation(text, is_rest=is_rest)
    return None


def _is_part_of(operands: Sequence[Operand]) -> bool:
    """Return whether two numbers are a part and its whole: "four of the six"."""
    return len(operands) == 2 and any(each.is_part for each in operands)


def around(claim: str, fact: Fact) -> str:
    """Return the clause of a number, with "#" and its unit in its place; other clauses do not say how it was made."""
    start = max((end.end() for end in _CLAUSE_END.finditer(claim, 0, fact.start)), default=0)
    end = _CLAUSE_END.search(claim, fact.end)
    stop = end.start() if end else len(claim)
    return f"{claim[start : fact.start]} # {fact.unit} {claim[fact.end : stop]}"


def _fits(fact: Fact, value: Decimal, *, exact: bool) -> bool:
    """Return whether a result is the claim's number: to its last digit, or rounded if the claim says so."""
    if value <= 0:
        return False
    if is_rounded(fact, value):
        return True
    return not exact and any(abs(value - mine) <= fact.quantum / 2 for mine in fact.values)


def _is_exact(operands: Sequence[Operand]) -> bool:
    return all(each.unit != "percent" for each in operands)


# --- operations ---


@dataclass(frozen=True, slots=True)
class _Operation:
    """A calculation; `cue` matches the clause with "#" in the number's place. `is_exact`: without any rounding."""

    cue: "re.Pattern[str]"
    results: "Callable[[str, Fact, Sequence[Operand]], Iterator[_Result]]"
    units: frozenset[str] = frozenset()
    is_exact: bool = False


_NEGATED = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|rest|remaining|remainder|others?|left)\b|n['’]t\b", re.IGNORECASE
)
"""Words that speak of what a number leaves over."""


def is_negated(text: str) -> bool:
    """Return whether a text speaks of what a number leaves over: "38 of the 46 sites did *not* …", "the *rest*"."""
    return _NEGATED.search(text) is not None


_THE_REST = re.compile(r"\bthe (?:rest|remainder|balance)\b", re.IGNORECASE)
"""What a sentence says of the part that it gives no number."""
_Result = tuple[Sequence[Operand], Decimal, str]
_PATTERNS = patterns_of("claim_patterns.txt")
CHANGE = f"(?:{_PATTERNS['change']['en']})"
"""Beginnings of words that compare two numbers, or tell a change."""


def _changes(claim: str, fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    """Yield differences of two numbers of the same thing at two times, or of two things at one."""
    for new, old in _pairs(claim, fact, operands):
        if new.unit == fact.unit == "percent":
            continue  # percentage points
        more, less = (new, old) if new.value >= old.value else (old, new)
        yield (
            (new, old),
            more.value - less.value,
            f"{more.text} − {less.text} = {_plain(more.value - less.value, more)}",
        )


def _change_shares(claim: str, fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    for new, old in _pairs(claim, fact, operands):
        if old.value and new.unit != "percent":
            share = 100 * (new.value - old.value) / abs(old.value)
            yield (new, old), abs(share), f"({new.text} − {old.text}) / {old.text} = {_shown(share, 1)} %"


def _pairs(claim: str, fact: Fact, operands: Sequence[Operand]) -> Iterator[tuple[Operand, Operand]]:
    """Yield pairs (new, old) in the direction that the claim states."""
    compared = _compared_by(claim, fact)
    for one, other in combinations(_of_claim(operands), 2):
        said = _direction(claim, fact)
        if not _is_comparable(one, other):
            continue
        if not (one.in_column or other.in_column) and {one.group, other.group} & _groups_in_columns(operands):
            continue
        pairs: Sequence[tuple[Operand, Operand]] = ((one, other), (other, one))
        if one.order and other.order and one.order != other.order:
            pairs = [max(pairs, key=lambda pair: pair[0].order)]
        if (
            compared
            and compared.way
            and min(one.value, other.value) >= 0
            and (placed := [pair for pair in pairs if _stand_as_said(*pair, compared)])
        ):
            pairs, said = placed, _way_of(compared, fact)
        for new, old in pairs:
            rises = (new.value > old.value) - (new.value < old.value)
            if not said or said == rises:
                yield new, old


def is_otherwise(claim: str, fact: Fact, operands: Sequence[Operand]) -> bool:
    """Return whether a number is the difference of the two things that a claim compares, the other way round.

    "Norda is 3 euros dearer than Lark" of 15 and 18 euros.
    """
    compared = compared_in(claim)
    if compared is None or not compared.way:
        return False
    way = _way_of(compared, fact)
    for one, other in permutations(_of_claim(operands), 2):
        difference = one.value - other.value
        if (
            difference * way >= 0
            or min(one.value, other.value) < 0
            or not _is_comparable(one, other)
            or not _stand_as_said(one, other, compared)
        ):
            continue
        if _fits(fact, abs(difference), exact=True):
            return True
    return False


def _compared_by(claim: str, fact: Fact) -> ComparedThings | None:
    """Return what a claim compares, if a number tells by how much."""
    compared = compared_in(claim)
    return compared if compared and compared.says_how_much(fact, fold(claim)) else None


def _stand_as_said(first: Operand, second: Operand, compared: ComparedThings) -> bool:
    """Return whether a claim names what the first number is of before "than", and what the second is of behind it."""
    before, behind = frozenset(content_stems(compared.before)), frozenset(content_stems(compared.behind))
    mine, theirs = (frozenset(content_stems(_owner_of(each))) for each in (first, second))
    own, others = mine - theirs, theirs - mine
    return bool(own & before and others & behind) and not (own & behind or others & before)


def _owner_of(operand: Operand) -> str:
    """Return what a number is of: the label of its row, or the part of its sentence."""
    if operand.column is not None:
        return operand.group
    parts = [part for part in parts_of(operand.group, "en") if operand.text in {fact.text for fact in part.facts}]
    return parts[0].text if len(parts) == 1 else ""


def _way_of(compared: ComparedThings, fact: Fact) -> int:
    """Return 1 or -1 for what a claim calls more or less; who is faster needs less time."""
    is_of_time = compared.word in {"faster", "slower"} and fact.unit in PERIODS
    return -compared.way if is_of_time else compared.way


def _is_comparable(one: Operand, other: Operand) -> bool:
    """Return whether two numbers are of one thing and kind of period, or of one column."""
    if one.measure != other.measure or one.kind != other.kind:
        return False
    return one.group == other.group or (one.column is not None and one.column == other.column)


def _complements(claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    """Yield what is left of a hundred per cent, or of a number of which a part is told, for what is not the part.

    The claim must speak of something else than the part does: it denies it, or has a word that the sentence has not.
    """
    for at, each in enumerate(operands):
        leaves = is_negated(claim) != is_negated(each.group)
        is_other = leaves or not _begins_with(claim, _clause_around(each))
        if each.unit == "percent" and each.column is None and 0 < each.value < 100 and is_other:
            yield (each,), 100 - each.value, f"100 − {each.text} = {_shown(100 - each.value, 2)} %"
        if each.is_part and at + 1 < len(operands) and (leaves or _THE_REST.search(each.group)):
            whole = operands[at + 1]
            yield (
                (each, whole),
                whole.value - each.value,
                f"{whole.text} − {each.text} = {_plain(whole.value - each.value, whole)}",
            )


def _clause_around(part: Operand) -> str:
    """Return the clause of a sentence in which a part stands."""
    number = re.compile(rf"(?<!\w){re.escape(part.text)}(?!\w)")
    return next(filter(number.search, _COMMA.split(part.group)), part.group)


def _begins_with(claim: str, clause: str) -> bool:
    """Return whether the first content word of a claim is in a clause."""
    first = next((stem for stem in content_stems(claim) if not stem.isdigit()), "")
    return first in stems_of(clause)


def _former(_claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    """Yield what was before: "4.4 billion, down 1.5 billion from a year ago" was 5.9 billion."""
    for value, change in pairwise(_of_claim(operands)):
        if change.change and not value.change and value.group == change.group and value.unit == change.unit:
            sign = "−" if change.change > 0 else "+"
            former = value.value - change.change * change.value
            yield (value, change), former, f"{value.text} {sign} {change.text} = {_plain(former, value)}"


def _parts(_claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    """Yield the whole of which a number is told to be some per cent, and the part that some per cent of it are."""
    for amount, share in permutations(_of_columns(operands), 2):
        if share.unit == "percent" != amount.unit and amount.group == share.group and share.value > 0:
            whole, part = 100 * amount.value / share.value, amount.value * share.value / 100
            yield (amount, share), whole, f"{amount.text} / {share.text} = {_plain(whole, amount)}"
            yield (amount, share), part, f"{amount.text} × {share.text} = {_plain(part, amount)}"


def _sums(_claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    """Yield sums of the named things of one column, or of all the numbers of one kind."""
    for chosen in _sets(operands):
        yield chosen, sum((each.value for each in chosen), Decimal(0)), _joined(chosen, " + ", "")


def _averages(_claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    for chosen in _sets(operands):
        mean = sum((each.value for each in chosen), Decimal(0)) / len(chosen)
        text = " + ".join(each.text for each in chosen)
        yield chosen, mean, f"({text}) / {len(chosen)} = {_plain(mean, chosen[0])}"


def _sets(operands: Sequence[Operand]) -> Iterator[Sequence[Operand]]:
    """Yield the sets of numbers that a sum may be of: of one column, of one row, or of one sentence."""
    families: dict[tuple[object, ...], list[Operand]] = {}
    for each in _of_columns(operands):
        # Figures of several times do not add up; those of one time, or of one sentence, may.
        measure = each.unit if each.column is None else each.measure
        families.setdefault((each.column, measure), []).append(each)
        if each.column is not None and not each.order:
            families.setdefault((each.group, each.measure), []).append(each)
    for members in families.values():
        chosen = tuple(dict.fromkeys(members))
        if 2 <= len(chosen) <= MAX_OPERANDS:
            yield chosen
        if chosen[0].column is None:  # numbers that follow one another in a sentence, and any two of a few
            runs = [chosen[at : at + size] for size in (3, 2) for at in range(len(chosen) - size + 1)]
            runs += combinations(chosen, 2) if len(chosen) <= MAX_IN_PROSE else ()
            yield from (run for run in runs if len(run) < len(chosen) <= MAX_NUMBERS)


def _shares(_claim: str, fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    for part, whole in permutations(_of_columns(operands), 2):
        is_of_one = part.column == whole.column or (fact.kind == "fraction" and _is_comparable(part, whole))
        if part.measure == whole.measure != "percent" and is_of_one and 0 < part.value < whole.value:
            share = 100 * part.value / whole.value
            yield (part, whole), share, f"{part.text} / {whole.text} = {_shown(share, 1)} %"


def _ratios(_claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    for one, other in permutations(_of_columns(operands), 2):
        if _is_comparable(one, other) and other.value > 0 and other.value != 1 and one.value > other.value:
            ratio = one.value / other.value
            yield (one, other), ratio, f"{one.text} / {other.text} = {_shown(ratio, 2)}"


def _rates(_claim: str, _fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    for one, other in permutations(_of_columns(operands), 2):
        if one.unit != other.unit and one.column == other.column and other.value > 1:
            rate = one.value / other.value
            yield (one, other), rate, f"{one.text} / {other.text} = {_shown(rate, 2)}"


def _products(_claim: str, fact: Fact, operands: Sequence[Operand]) -> Iterator[_Result]:
    for one, other in combinations(_of_columns(operands), 2):
        if fact.unit in {"", one.unit, other.unit} and one.column == other.column and 1 not in {one.value, other.value}:
            yield (
                (one, other),
                one.value * other.value,
                f"{one.text} × {other.text} = {_shown(one.value * other.value, 2)}",
            )


_CHANGED = re.compile(rf"\b{CHANGE}", re.IGNORECASE)
_CUES = {kind: of_any_language(patterns) for kind, patterns in _PATTERNS.items()}
_OPERATIONS = (
    _Operation(_CHANGED, _change_shares, frozenset({"percent"})),
    _Operation(_CHANGED, _changes, is_exact=True),
    _Operation(_CUES["sum"], _sums, is_exact=True),
    _Operation(_CUES["share"], _shares, frozenset({"percent"})),
    _Operation(_CUES["part"], _parts),
    _Operation(_CUES["former"], _former, is_exact=True),
    _Operation(re.compile(r""), _complements),
    _Operation(_CUES["average"], _averages),
    _Operation(_CUES["ratio"], _ratios),
    _Operation(_CUES["rate"], _rates),
    _Operation(_CUES["product"], _products, is_exact=True),
)


def _of_claim(operands: Sequence[Operand]) -> Sequence[Operand]:
    """Return the numbers of what the claim names, without groups of too many to mean anything."""
    named = [each for each in operands if each.is_named and not each.is_year]
    sizes = Counter(each.group for each in named)
    return [each for each in named if sizes[each.group] <= MAX_NUMBERS]


def _of_columns(operands: Sequence[Operand]) -> Sequence[Operand]:
    """Return the numbers of what the claim names, in the columns that it names if it names any."""
    named = _of_claim(operands)
    known = _groups_in_columns(named)
    return [each for each in named if each.in_column or each.group not in known]


def _groups_in_columns(operands: Sequence[Operand]) -> frozenset[str]:
    """Return the groups that have a number in a column that the claim names; of others the columns may be unknown."""
    return frozenset(each.group for each in operands if each.in_column)


def _direction(claim: str, fact: Fact) -> int:
    """Return 1 or -1 for the word of rising or falling nearest to a number, 0 for none."""
    places = [
        (min(abs(match.start() - fact.end), abs(fact.start - match.end())), _direction_of(match.group().lower()))
        for match in WORD.finditer(claim)
    ]
    return min(((at, each) for at, each in places if each), default=(0, 0))[1]


def _direction_of(word: str) -> int:
    """Return the direction of a word; what somebody lost is less, whatever a loss is elsewhere."""
    return direction_of(word) or -(word in {"lost", "loses", "lose"})


def _joined(operands: Sequence[Operand], sign: str, end: str) -> str:
    total = sum((each.value for each in operands), Decimal(0))
    return f"{sign.join(each.text for each in operands)}{end} = {_plain(total, operands[0])}"


def _plain(value: Decimal, like: Operand) -> str:
    """Write a result as its operands are written: in millions, if they are."""
    if word := _SCALE.search(like.text):
        return f"{_shown(value / 10 ** scale_of(word[1]), 2)} {word[1].lower()}"
    return f"{_shown(value / like.scale, 2)}{' %' if like.unit == 'percent' else ''}"


def _shown(value: Decimal, digits: int) -> str:
    text = f"{round(value, digits):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# --- conversions ---

_FAMILIES: Sequence[dict[str, str]] = (
    {"ms": ".001", "s": "1", "min": "60", "h": "3600", "day": "86400", "week": "604800"},
    {"month": "1", "year": "12"},
    {
        "um": ".000001",
        "mm": ".001",
        "cm": ".01",
        "m": "1",
        "km": "1000",
        "in": ".0254",
        "ft": ".3048",
        "mi": "1609.344",
    },
    {"mg": ".001", "g": "1", "kg": "1000", "t": "1000000", "lb": "453.59237", "oz": "28.349523"},
    {"ml": ".001", "l": "1", "gal": "3.785412", "m3": "1000"},
    {"kmh": "1", "mph": "1.609344"},
    {"m2": "1", "ha": "10000", "km2": "1000000"},
    {"w": "1", "kw": "1000", "mw": "1000000"},
    {"kwh": "1", "mwh": "1000"},
    {"uv": ".000001", "mv": ".001", "v": "1"},
    {"ua": ".000001", "ma": ".001", "a": "1"},
    {"hz": "1", "khz": "1000", "mhz": "1000000", "ghz": "1000000000"},
    {"b": "1", "kb": "1000", "mb": "1000000", "gb": "1000000000", "tb": "1000000000000"},
    {"kpa": "1", "bar": "100", "psi": "6.894757"},
    {"cents": "1", "usd": "100"},
    {"pence": "1", "gbp": "100"},
    {"bp": "1", "pp": "100"},
)
"""Units that measure the same, with their size in the first one's terms (SI; pounds, ounces, miles, US gallons)."""
_SIZES = {name: (family, Decimal(size)) for family, sizes in enumerate(_FAMILIES) for name, size in sizes.items()}
_IMPERIAL = frozenset({"in", "ft", "mi", "lb", "oz", "gal", "mph", "psi", "f"})


def _converted(fact: Fact, operands: Sequence[Operand]) -> Calculation | None:
    """Return the conversion of an operand to the unit of a claim's number; between systems, to two digits at least."""
    for operand in operands:
        value = convert(operand.value, operand.unit, fact.unit)
        if value is None:
            continue
        crosses = (fact.unit in _IMPERIAL) != (operand.unit in _IMPERIAL)
        enough = abs(value) >= 10 * fact.quantum or fact.unit in {"c", "f"}
        near = enough and any(abs(value - mine) <= fact.quantum / 2 for mine in fact.values)
        if is_rounded(fact, value) or (crosses and near):
            return Calculation(f"{operand.text} = {fact.text.strip(' .,;')}", operand.text)
    return None


def convert(value: Decimal, unit: str, to: str) -> Decimal | None:
    """Return a value in another unit of the same measure; None if that is the same unit, or none of the measure."""
    if unit == to:
        return None
    if {unit, to} == {"c", "f"}:
        return value * 9 / 5 + 32 if unit == "c" else (value - 32) * 5 / 9
    if {unit, to} == {"cents", "eur"}:
        return value * 100 if to == "cents" else value / 100
    here, there = _SIZES.get(unit), _SIZES.get(to)
    if here is None or there is None or here[0] != there[0]:
        return None
    return value * here[1] / there[1]
