"""Proper names of a claim that no source holds."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from functions.query.grounding import quantities as numerals
from functions.query.grounding.quantities import SIGNS, UNIT, Date, agrees, canonical, dates_in, is_month
from functions.query.grounding.sanitizing import plain
from shared.lexical import fold

# --- The numbers, dates, shares, amounts, units and identifiers of a text, each with the values it may have ---

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


# --- Whether a source holds the facts of a claim ---

_CHANGE = re.compile(
    r"(?:\b(?:in|expressed in|amounts in|usd|eur|us)|[$€£(])[\s(]*(?:[a-z$€£.]+\s+){0,3}?"
    r"(thousands?|millions?|billions?|mln|tukst)\b",
    re.IGNORECASE,
)
_WORD_OR_SIGN = re.compile(r"[^\W\d_]+|[%°$€£¥]")
_ONLY_HELD = frozenset({"part", "year"})
"""Kinds that are there to be found by a claim's facts; as a part of a claim they are checked with the whole."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What claims are held against: facts near the quote, and the whole passage for scales and units said once.

    `text` is for identifiers: folded, once as it is and once without what joins their parts.
    """

    facts: Sequence[Fact]
    text: str
    scales: Sequence[Decimal]
    units: frozenset[str]


def evidence_of(texts: Sequence[str], passage: str, titles: Sequence[str] = ()) -> Evidence:
    """Gather what some stretches (a quote's sentences) and the titles over them hold; `passage` is the text around."""
    facts = [fact for text in texts for fact in facts_in(text)]
    # A title's number ("Part 1") has no unit to be found in the text.
    facts += [replace(fact, kind="title") if fact.kind == "number" else fact for t in titles for fact in facts_in(t)]
    whole = "\n".join((*texts, *titles))
    return Evidence(facts, f"{fold(whole).lower()}\n{_squeezed(whole)}", *_context_of(passage))


def missing(claim: str, evidence: Evidence) -> list[str]:
    """Return the facts of a claim, as written there, that the evidence does not hold."""
    said = (fact for fact in facts_in(claim) if fact.kind not in _ONLY_HELD)
    return [fact.text for fact in said if not _holds(fact, evidence)]


def _holds(fact: Fact, evidence: Evidence) -> bool:
    match fact.kind:
        case "date":
            return _holds_date(fact, evidence)
        case "identifier":
            return (
                _stands(_squeezed(fact.text), evidence.text)
                or _stands(fact.text.lower(), evidence.text)
                or _as_number(fact, evidence)
                or any(fact.values & each.values for each in evidence.facts)
            )
        case "time":
            return any(each.kind == "time" and each.values & fact.values for each in evidence.facts)
        case _:
            return any(_same_number(fact, each, evidence) for each in evidence.facts if each.values)


def _holds_date(fact: Fact, evidence: Evidence) -> bool:
    said = fact.date
    if said is None:
        return False
    years = {value for each in evidence.facts for value in each.values if each.kind in {"number", "part", "title"}}
    years |= {Decimal(each.date.year) for each in evidence.facts if each.date and each.date.year}
    return any(
        agrees(said, each.date) and (not said.year or bool(each.date.year) or Decimal(said.year) in years)
        for each in evidence.facts
        if each.date is not None
    )


def _same_number(said: Fact, held: Fact, evidence: Evidence) -> bool:
    if said.kind == "time" or held.kind == "time":
        return False
    if held.kind == "title" and said.unit != held.unit:
        return False
    if said.unit and said.unit != held.unit and (held.unit or said.unit not in evidence.units):
        # A table says its unit once, in its head; a number with another unit is another fact.
        return False
    if said.negative and not held.negative and not held.text.startswith("("):
        return False
    values = set(held.values)
    if not held.unit or held.unit in CURRENCIES:
        values |= {value * scale for value in held.values for scale in evidence.scales}
    if said.values & values:
        return True
    if not said.rough:
        return False
    return any(
        abs(value - mine) <= said.quantum / 2 and value >= 10 * said.quantum for value in values for mine in said.values
    )


def _as_number(fact: Fact, evidence: Evidence) -> bool:
    """An identifier such as "24h" or "3x" may stand as "24 h" there."""
    match = re.fullmatch(r"(\d+(?:[.,]\d+)?)[-]?([a-z]+)", fact.text.lower())
    return bool(match) and f"{match[1]}{match[2]}" in evidence.text if match else False


def _stands(wanted: str, squeezed: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", squeezed) is not None


def _squeezed(text: str) -> str:
    return re.sub(r"(?<=\w)[-‐‑–_/](?=\w)|\u00ad", "", fold(text).lower())


@lru_cache(maxsize=256)
def _context_of(passage: str) -> tuple[tuple[Decimal, ...], frozenset[str]]:
    folded = fold(passage)
    scales = {Decimal(10) ** numerals.scale_of(match[1]) for match in _CHANGE.finditer(folded)}
    units = {canonical(word) for word in set(_WORD_OR_SIGN.findall(folded.lower()))}
    return tuple(scales), frozenset(units)


_NAME = re.compile(r"(?<![\w&])[^\W\d_a-z][\w&]*(?:['’-][^\W\d_]\w*)*")
_STARTS = re.compile(r"(?:\A|[.!?…\n(\[\"“„«'‘|*•–—-])[\s\"“„«'‘(*_-]*\Z")
_CASED_NOUNS = frozenset({"de", "lb"})
"""Languages that write every noun with a capital."""
_ALIKE = 4
_ALIKE_BENT = 3
"""Letters two words must begin with in common to be forms of one name; other languages than English bend names."""


def foreign_names(claim: str, texts: Iterable[str], language: str) -> list[str]:
    """Return the capitalised words inside a claim's sentences that none of the texts holds in any form.

    Empty for languages that write nouns with capitals and for texts all in capitals: there a capital says nothing.
    """
    if language in _CASED_NOUNS or claim.isupper():
        return []
    names = [match.group() for match in _NAME.finditer(claim) if not _STARTS.search(claim, 0, match.start())]
    names = [name for name in names if len(name) > 1 and name[0].isupper() and not is_month(fold(name).lower())]
    if not names:
        return []
    held = fold(plain("\n".join(texts))).lower()
    tokens = set(re.findall(r"\w+", held))
    return [
        name
        for name in names
        if not _is_held(fold(name).lower(), name, tokens, held, _ALIKE if language == "en" else _ALIKE_BENT)
    ]


def _is_held(folded: str, name: str, tokens: set[str], held: str, alike: int) -> bool:
    parts = re.findall(r"\w+", folded)
    parts = parts[:-1] if len(parts) > 1 and parts[-1] == "s" else parts
    if all(part in tokens or _has_form(part, tokens, alike) for part in parts):
        return True
    # "CEO" for "chief executive officer".
    return (
        name.isupper()
        and 2 <= len(name) <= 6
        and re.search(r"\b" + r"\w*\W+(?:of\W+|and\W+|the\W+)?".join(map(re.escape, folded)), held) is not None
    )


def _has_form(part: str, tokens: set[str], alike: int) -> bool:
    if len(part) < alike:
        return False
    stem = part[: max(alike, len(part) - 3)]
    return any(token.startswith(stem) and abs(len(token) - len(part)) <= 3 for token in tokens)
