"""Whether a source holds the facts of a claim.

Ways of writing one and the same are one: 1,000 = 1000 = 1 000, 12% = 12 percent, 3 January 2024 = 2024-01-03,
$1.2 million = 1,200,000, 12,5 = 12.5. Values are compared, never the characters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from functions.query.proof import numerals
from functions.query.proof.dates import agrees
from functions.query.proof.facts import CURRENCIES, Fact, facts_in
from functions.query.proof.units import canonical
from shared.lexical import fold

_HINT = re.compile(
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
    scales = {Decimal(10) ** numerals.scale_of(match[1]) for match in _HINT.finditer(folded)}
    units = {canonical(word) for word in set(_WORD_OR_SIGN.findall(folded.lower()))}
    return tuple(scales), frozenset(units)
