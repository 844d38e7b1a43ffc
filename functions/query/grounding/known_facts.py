"""Checks whether the facts of a claim are in the text it cites."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache

from functions.query.grounding import quantities
from functions.query.grounding.facts import QUARTERS, Fact, facts_in, is_rounded
from functions.query.grounding.quantities import CURRENCIES, is_unit, unit_name
from shared import identity
from shared.dates import DateMention, dates_agree
from shared.lexical import fold

_SCALE_OF_TABLE = re.compile(
    r"(?:\b(?:in|expressed in|amounts in|usd|eur|us)|[$€£(])[\s(]*(?:[a-z$€£.]+\s+){0,3}?"
    r"(thousands?|millions?|billions?|mln|tukst)\b",
    re.IGNORECASE,
)
_WORD_OR_SIGN = re.compile(r"[^\W\d_]+|[%°$€£¥]")
_PERSONS = frozenset({"people", "employees"})
"""Units that are no measures: "1,376 people" is a "total manpower of 1,376"."""
_SOURCE_ONLY_KINDS = frozenset({"part", "year"})
"""Kinds that only a source's facts have; in a claim, the fact that contains them is checked."""


@dataclass(frozen=True)
class KnownFacts:
    """The facts of the quoted sentences and their titles, with which a claim's facts are compared.

    `passages` are the texts around the sentences. Everything is read when a fact is first compared with it, because
    most claims have none.
    """

    texts: Sequence[str]
    passages: Sequence[str]
    titles: Sequence[str] = ()

    @cached_property
    def facts(self) -> Sequence[Fact]:
        """The facts themselves; a title's number ("Part 1") has no unit."""
        facts = [fact for text in self.texts for fact in facts_in(text)]
        of_titles = (fact for title in self.titles for fact in facts_in(title))
        return [*facts, *(replace(each, kind="title") if each.kind == "number" else each for each in of_titles)]

    @cached_property
    def years(self) -> frozenset[int]:
        """The numbers that may be years."""
        values = (value for each in self.facts for value in each.values if each.unit in {"", "year"})
        return frozenset(int(value) for value in values if 1000 <= value <= 2100 and value == int(value))

    @cached_property
    def text(self) -> str:
        """The text for identifiers: folded, once as it is and once without the signs that join their parts."""
        whole = "\n".join((*self.texts, *self.titles))
        return f"{_plain(whole)}\n{_unjoined(whole)}"

    @cached_property
    def scales(self) -> frozenset[Decimal]:
        """The scales of the whole passages, because a table states them once."""
        return frozenset().union(*(_scales_and_units(passage)[0] for passage in self.passages))

    @cached_property
    def units(self) -> frozenset[str]:
        """The units of the whole passages, for the same reason."""
        return frozenset().union(*(_scales_and_units(passage)[1] for passage in self.passages))


def known_facts(texts: Sequence[str], passage: str) -> KnownFacts:
    """Return the facts of sentences; `passage` is the text around them."""
    return KnownFacts(texts, (passage,))


_QUARTER_OF_YEAR = re.compile(
    rf"\b(?:q(?P<short>[1-4])|(?P<word>{'|'.join(QUARTERS)})[ -](?:fiscal[ ])?quarter)"
    rf"(?:[ ]of)?(?:[ ]fiscal)?(?:[ ]year)?,?[ ](?P<year>{identity.YEAR})\b",
    re.IGNORECASE,
)


def is_of_another_quarter(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim names a quarter of a year of which its evidence names only others."""
    said = _quarters_of_years(claim)
    if not said:
        return False
    held = set[tuple[int, str]]().union(*map(_quarters_of_years, sentences))
    return any(each not in held and any(year == each[1] for _, year in held) for each in said)


def _quarters_of_years(text: str) -> set[tuple[int, str]]:
    return {
        (int(match["short"]) if match["short"] else QUARTERS[match["word"].lower()], match["year"])
        for match in _QUARTER_OF_YEAR.finditer(fold(text))
    }


_LONE_LETTER = re.compile(r"(?<![\w.'’&-])[B-HJ-Z](?![\w.'’&-])|(?<=[a-z] )A(?= [A-Za-z]|[.,;)])")
"""A capital that stands alone, as in 'draw a "Z"', "plan B" or "a Class A device"; "A" and "I" are words, too."""


def has_other_letter(claim: str, texts: Sequence[str]) -> bool:
    """Return whether a claim names a letter that is in none of the texts."""
    return any(not any(_has_letter(each, text) for text in texts) for each in _LONE_LETTER.findall(claim))


def _has_letter(letter: str, text: str) -> bool:
    before = "(?<=[a-z] )" if letter == "A" else "(?<![A-Za-z])"
    return re.search(rf"{before}{letter}(?![A-Za-z])", text) is not None


def missing_facts(claim: str, known: KnownFacts) -> list[str]:
    """Return the facts of a claim, as written, that are not in `known`."""
    return [fact.text for fact in facts_missing(claim, known)]


def facts_missing(claim: str, known: KnownFacts) -> list[Fact]:
    """Return the facts of a claim that are not in `known`."""
    said = (fact for fact in facts_in(claim) if fact.kind not in _SOURCE_ONLY_KINDS)
    return [fact for fact in said if not _is_known(fact, known)]


_MOST_COUNTED = 10
SHORTEST_COUNTED = 3
SHORTEST_STEM = 4
ENDING = 2
"""Letters of a word that names what is counted, more than that; letters of its stem at least, and of the ending it may
lose."""
_NOUNS_AFTER = re.compile(r"\W+([^\W\d_]+)(?:\W+([^\W\d_]+))?(?:\W+([^\W\d_]+))?")


_LISTED = re.compile(
    r"(?:[^,;:.()]{2,40}, ){0,8}[^,;:.()]{2,40},? (?:and|or|und|oder|et|ou|y|o|e) [^,;:.()]{2,40}", re.IGNORECASE
)
_LISTED_ITEM = re.compile(r",? (?:and|or|und|oder|et|ou|y|o|e) |, ", re.IGNORECASE)
"""A row of things that are named, and what stands between them."""
_ONE = re.compile(r"(?<!no )\bone\b(?! (?:another|of|or)\b)")
_TIME_WITH_DOT = re.compile(r"([01]?\d|2[0-4])\.([0-5]\d)")


def is_count(fact: str, claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a number word ("two films") may count what the sentences name, instead of quoting their number.

    It may if there are as many sentences, or if one of the next three words occurs as often.
    """
    number, _, unit = fact.lower().partition(" ")
    is_word = quantities.is_number_word(number) and (not unit or unit_name(unit) in _PERSONS)
    if not is_word or (at := claim.find(fact)) < 0:
        return False
    value = next((value for each in facts_in(fact) for value in each.values), Decimal(0))
    words = _NOUNS_AFTER.match(claim, at + len(fact))
    if (
        not 2 <= value <= _MOST_COUNTED
        or words is None
        or any(is_unit(each.lower()) and unit_name(each.lower()) not in _PERSONS for each in words.groups() if each)
    ):
        return False
    text = fold(" ".join(sentences)).lower()
    stems = (
        fold(each).lower()[: max(SHORTEST_STEM, len(each) - ENDING)]
        for each in words.groups()
        if each and len(each) > SHORTEST_COUNTED
    )
    return (
        len(sentences) >= value
        or any(text.count(stem) >= value for stem in stems)
        or any(value == len(_LISTED_ITEM.split(row.group())) for each in sentences for row in _LISTED.finditer(each))
    )


_MONTHS_OF_QUARTERS = tuple(
    re.compile(rf"\b{first}\b\W*(?:to|until|through|-|–)\W*\b{last}\b", re.IGNORECASE)
    for first, last in (
        ("jan(?:uary)?", "mar(?:ch)?"),
        ("apr(?:il)?", "june?"),
        ("july?", "sep(?:t|tember)?"),
        ("oct(?:ober)?", "dec(?:ember)?"),
    )
)
"""How the quarters of a year are written by their months: "April to June"."""


def is_quarter_by_months(fact: str, sentences: Sequence[str]) -> bool:
    """Return whether a quarter of a claim may be the one that sentences tell by its months."""
    quarters = {int(value) for each in facts_in(fact) if each.kind == "quarter" for value in each.values} & {1, 2, 3, 4}
    return any(_MONTHS_OF_QUARTERS[each - 1].search(text) for each in quarters for text in sentences)


def is_fraction(fact: str, claim: str) -> bool:
    """Return whether a fact of a claim is a part of a whole in words, which may round any figures."""
    return any(each.kind == "fraction" and each.text.startswith(fact) for each in facts_in(claim))


def _is_known(fact: Fact, known: KnownFacts) -> bool:
    match fact.kind:
        case "date":
            return fact.date is not None and _is_known_date(fact.date, known)
        case "identifier":
            return _is_known_identifier(fact, known)
        case "years":
            years = frozenset().union(*(each.values for each in known.facts))
            return fact.values <= years or (fact.date is not None and _is_known_date(fact.date, known))
        case "time":
            return any(each.values & fact.values for each in known.facts if each.kind == "time") or any(
                _minutes_with_dot(each, known.text) in fact.values for each in known.facts if each.kind == "number"
            )
        case "century":
            return any(fact.values & each.values for each in known.facts if each.kind == "century") or any(
                100 * (century - 1) <= year <= 100 * century for century in fact.values for year in known.years
            )
        case _:
            if (fact.text == "1" and _ONE.search(known.text)) or _is_told_in_words(fact, known):
                return True
            return any(_is_same_number(fact, each, known) for each in known.facts if each.values)


_DECADE = re.compile(r"(\d{3})0s")
_IN_WORDS = (
    (Decimal(0), ("", "people", "employees"), re.compile(r"\b(?:no|none|nobody|nothing|never|without)\b")),
    (Decimal(7), ("day",), re.compile(r"\b(?:daily|every day|each day)\b")),
    (Decimal(24), ("h",), re.compile(r"\b(?:around the clock|day and night)\b")),
)
"""Numbers with their units, and the words that tell them without any."""


def _is_told_in_words(fact: Fact, known: KnownFacts) -> bool:
    """Return whether a source tells a number by a word, or a decade by one of its years."""
    decade = _DECADE.match(fact.text)
    if decade:
        return any(str(year).startswith(decade[1]) for year in known.years)
    return any(
        value in fact.values and fact.unit in units and words.search(known.text) for value, units, words in _IN_WORDS
    )


_NO_TIME = re.compile(
    r"\b(?:version|release|v|section|chapter|article|paragraph|no|number|figure|table|costs?|price|fee|toll|is|value|of)"
    r"\.?\s*\Z",
    re.IGNORECASE,
)
LONGEST_BEFORE_TIME = 12
"""Words right before a number with a full stop that is no time, and characters in which one stands."""


def _minutes_with_dot(fact: Fact, text: str) -> Decimal | None:
    """Return the minutes of a time of the day that is written with a full stop, like a number: "daily at 11.30"."""
    written = fact.text.rstrip(" .,;")
    found = _TIME_WITH_DOT.fullmatch(written) if not fact.unit else None
    if found is None or (at := text.find(written)) < 0 or _NO_TIME.search(text, max(0, at - LONGEST_BEFORE_TIME), at):
        return None
    return Decimal(60 * int(found[1]) + int(found[2]))


def _is_known_date(said: DateMention, known: KnownFacts) -> bool:
    dates = [each.date for each in known.facts if each.date]
    years = {value for each in known.facts for value in each.values if each.kind in {"number", "part", "title"}}
    years |= {Decimal(date.year) for date in dates if date.year}
    return any(
        dates_agree(said, date) and (not said.year or bool(date.year) or Decimal(said.year) in years) for date in dates
    )


_FISCAL = re.compile(r"FY'?(?:20)?(\d\d)", re.IGNORECASE)


def _is_known_identifier(said: Fact, known: KnownFacts) -> bool:
    with_unit = re.fullmatch(r"(\d+(?:[.,]\d+)?)[-]?([a-z]+)", said.text.lower())  # "24h", "3x"
    fiscal = _FISCAL.fullmatch(said.text)
    return (
        (fiscal is not None and re.search(rf"\bfiscal (?:year )?(?:20)?{fiscal[1]}\b", known.text) is not None)
        or any(_occurs(form, known.text) for form in (_unjoined(said.text), _plain(said.text)))
        or (with_unit is not None and f"{with_unit[1]}{with_unit[2]}" in known.text)
        or any(said.values & each.values for each in known.facts)
    )


def _is_same_number(said: Fact, held: Fact, known: KnownFacts) -> bool:
    if said.kind == "time" or held.kind == "time":
        is_hour = said.kind == "number" and not said.unit and ":" not in held.text  # "8", for "8 p.m."
        return is_hour and re.match(rf"{re.escape(said.text)}(?!\d)", held.text) is not None
    if held.kind == "title" and said.unit != held.unit:
        return False
    if said.unit == "x" and held.text.lower() == "twice":
        return said.values == held.values  # "two times a day"
    if not _may_be_unit(said.unit, held.unit, known):
        return False
    if said.negative and not held.negative and not held.text.startswith("("):
        return False
    values = set(held.values)
    if not held.unit or held.unit in CURRENCIES:
        values |= {value * scale for value in held.values for scale in known.scales}
    if held.kind == "fraction" and any(is_rounded(held, mine) for mine in said.values):
        return True
    return any(is_rounded(said, value) for value in values)


def _may_be_unit(said: str, held: str, known: KnownFacts) -> bool:
    """Return whether a number's unit may be the claim's; a table states its unit once, in its head."""
    if said in _PERSONS and held in {"", *_PERSONS}:
        return True
    return said in {"", held} or (not held and said in known.units)


def _occurs(wanted: str, text: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", text) is not None


def _plain(text: str) -> str:
    """Return a text in lower case without diacritics and full-width letters."""
    return fold(unicodedata.normalize("NFKC", text)).lower()


def _unjoined(text: str) -> str:
    return re.sub(r"(?<=\w)[-‐‑–_/](?=\w)|\u00ad", "", _plain(text))


@lru_cache(maxsize=256)
def _scales_and_units(passage: str) -> tuple[frozenset[Decimal], frozenset[str]]:
    folded = fold(passage)
    scales = (Decimal(10) ** quantities.scale_of(match[1]) for match in _SCALE_OF_TABLE.finditer(folded))
    return frozenset(scales), frozenset(map(unit_name, set(_WORD_OR_SIGN.findall(folded.lower()))))
