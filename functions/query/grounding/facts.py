"""Checks whether the numbers, dates, units and identifiers of a claim are in the text it cites."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache

from functions.query.grounding import quantities
from functions.query.grounding.quantities import (
    CURRENCIES,
    CURRENCY_SIGN,
    NUMBER,
    SCALE,
    UNIT,
    VULGAR,
    DateMention,
    dates_agree,
    dates_in,
    is_unit,
    read_number,
    unit_name,
)
from shared.lexical import fold

# --- extracting facts, each with its possible values ---

_NUMBER = re.compile(
    rf"""(?<![\w])(?P<sign>[-−–](?=[\d$€£¥]))? (?P<money>{CURRENCY_SIGN})?\s?(?P<sign2>[-−](?=\d))?(?P<digits>{NUMBER})
         (?P<ordinal>\s?(?:st|nd|rd|th)\b)?
         (?: (?P<letter>[kKmMbBtT])(?![\w]) | (?P<pence>p)(?![\w.]) | [\s-]?(?P<scale>{SCALE})\b\.? )?
         (?: [\s\u00a0-]?(?P<unit>{UNIT})(?!\w|-to-) )?""",
    re.VERBOSE | re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w.])(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])[^\W_]+(?:[-./_][^\W_]+)*(?![\w])|(?<![\w.])\d+(?:\.\d+){2,}(?!\w|\.\w)"
)
_MEASURE = re.compile(
    rf"(?:{NUMBER})(?:st|nd|rd|th|[kmbtp]|-?(?:{UNIT})|-?(?:{SCALE})|-[a-z]{{3,}})|\d+s|\d*[{VULGAR}]|\d+(?:-\d+)?-(?:{UNIT})(?:-[a-z]+)?",
    re.IGNORECASE,
)
"""A number with its unit, scale or ending ("5kg", "24-month"), which is not an identifier."""
_YEAR_RANGE = re.compile(r"(?<![\w-])((?:19|20)\d\d)\s?[-–—]{1,2}\s?(\d\d(?:\d\d)?)(?![\w-])")
_AGE = re.compile(r"(?<![\w.,])(\d{1,3})[\s-]years?[\s-]old\b", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_CENTURY_YEAR = re.compile(r"1[5-9]\d\d|2[01]\d\d")
_UNIT_AFTER = re.compile(rf"[\s-]({UNIT})(?!\w)", re.IGNORECASE)
_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?\s*([ap]\.?m\b\.?)?", re.IGNORECASE)
_HOUR = re.compile(
    r"(?<![\d:.,$€£])(1[0-2]|0?[1-9])(?:[:.]([0-5]\d))?\s?(?:([ap])\.?m\b\.?|in\sthe\s(morning|afternoon|evening)\b)",
    re.IGNORECASE,
)
"""A time of the day by twelve hours: "8pm", "9 in the morning"."""
_BEFORE_HOUR = re.compile(r"\b(?:at|by|from|to|till|until|before|after|about|around|between|and)\s+\Z", re.IGNORECASE)
LONGEST_BEFORE_HOUR = 12
"""Characters before an hour among which a word shows that it is one."""
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_QUARTER = re.compile(rf"\b({'|'.join(_QUARTERS)})[ -](?:fiscal[ ])?quarter\b", re.IGNORECASE)
_SHORT_QUARTER = re.compile(r"[qQ]([1-4])")
_PARTS = ("third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_DENOMINATORS = {"half": 2, "quarter": 4, "third": 3, **{part: at for at, part in enumerate(_PARTS[2:], start=4)}}
_OF_WHAT = rf"(?=\s+of\b(?!\s+an?\s+(?:{UNIT})(?!\w)))"
_FRACTION = re.compile(
    rf"\b(?P<many>{quantities.SPELLED.pattern}|\d)(?:\s+out\s+of(?:\s+every)?|\s+in(?:\s+every)?|\s+of\s+every)\s+"
    rf"(?P<of>{quantities.SPELLED.pattern}|10|\d)\b(?!\s+(?:{UNIT})(?!\w))"
    rf"|\b(?P<parts>an?|one|two|three|four|five|seven|nine)[\s-](?P<part>{'|'.join(_PARTS)})s?\b"
    rf"(?:(?<=thirds)|(?<=one.third)|(?<=(?:just|only|than).a.third)|(?<=(?:about|under).a.third)|{_OF_WHAT})"
    rf"|(?<=by\s)an?\s(?P<by>half|{'|'.join(_PARTS)})\b"
    rf"|\b(?P<half>half){_OF_WHAT}",
    re.IGNORECASE,
)
"""A part of a whole in words: "four in five", "two thirds", "a quarter of", "by a tenth"."""
_HALF = re.compile(
    rf"\bhalf(?:\s+an?\s+|[\s-](?=hourly))(?P<unit>{UNIT}|hourly)(?!\w)|\b(?:an?\s|(?P<three>three\s))?quarters?\s+of\s+an?\s+(?P<of>{UNIT})(?!\w)",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"\b(?:about|approximately|approx|around|roughly|nearly|almost|close to|over|more than|some|circa|apie|beveik"
    r"|daugiau nei)"
    r"\W*$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:(?P<more>more than|over|above|exceed(?:s|ed|ing)?)|(?P<less>less than|fewer than|under|below))\W*$",
    re.IGNORECASE,
)
_COUNTED_NOUN = re.compile(r"\s[a-z]{4,}s\b")
BEFORE_CHARACTERS = 24
"""Characters before a number in which "about" or a bound such as "more than" may stand."""
ROUGH_PERCENT = 5
FRACTION_PERCENT = 2
"""Points of per cent by which a fraction in words may differ: after "about" ("about a third"), and else."""
SHORTEST_COUNTED = 3
SHORTEST_STEM = 4
ENDING = 2
"""Letters of a word that names what is counted, more than that; letters of its stem at least, and of the ending it may
lose."""
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
    folded = fold(text)
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
        add(Fact("number", match.group(), frozenset({Decimal(match[1])})), *match.span())
    for date in dates_in(folded):
        if any(taken[date.start : date.end]):
            continue
        add(Fact("date", folded[date.start : date.end], date=date), date.start, date.end)
        if date.year:
            found.append(Fact("year", str(date.year), frozenset({Decimal(date.year)})))
    for match in unread(_HOUR):
        if match[4] and not _BEFORE_HOUR.search(folded, max(0, match.start() - LONGEST_BEFORE_HOUR), match.start()):
            continue  # "there were 5 in the afternoon group"
        add(Fact("time", match.group(), _minutes_of_hour(match)), *match.span())
    for match in unread(_TIME):
        add(Fact("time", match.group(), _minutes(match)), *match.span())
    for match in unread(_QUARTER):
        add(Fact("quarter", match.group(), frozenset({Decimal(_QUARTERS[match[1].lower()])})), *match.span())
    for match in unread(_FRACTION):
        if (fraction := _fraction(folded, match)) is not None:
            add(fraction, *match.span())
    for match in unread(_HALF):
        value = Decimal("0.5") if match["unit"] else Decimal("0.75") if match["three"] else Decimal("0.25")
        add(Fact("number", match.group(), frozenset({value}), _unit_of_part(match)), *match.span())
    for match in unread(_IDENTIFIER):
        if not _MEASURE.fullmatch(match.group()):
            add(_identifier(match.group()), *match.span())
    return (*found, *_numbers(folded, taken))


def _unit_of_part(match: "re.Match[str]") -> str:
    unit = match["unit"] or match["of"]
    return "h" if unit.lower() == "hourly" else unit_name(unit)


def _last_year(span: "re.Match[str]") -> Decimal | None:
    """Return the last year of "2007-08" or "2007-2008"; None if the years do not ascend, as in a date."""
    first, last = span[1], span[2]
    last = last if len(last) == len(first) else first[:2] + last
    return Decimal(last) if last > first else None


def _fraction(text: str, match: "re.Match[str]") -> Fact | None:
    """Return a part of a whole as per cent, None if it is none ("two in 2023")."""
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


def _minutes_of_hour(match: "re.Match[str]") -> frozenset[Decimal]:
    is_morning = (match[3] or match[4]).lower() in {"a", "morning"}
    return frozenset({Decimal(60 * (int(match[1]) % 12 + (0 if is_morning else 12)) + int(match[2] or 0))})


def _numbers(text: str, taken: Sequence[bool]) -> Iterator[Fact]:
    for match in _NUMBER.finditer(text):
        if any(taken[slice(*match.span("digits"))]):
            continue
        if " " in match["digits"]:
            # "12 345" may be two table columns, so each part is also a fact.
            yield from (Fact("part", part, read_number(part).values) for part in match["digits"].split())
        yield _number(text, match)
    for match in quantities.SPELLED.finditer(text):
        unit = _UNIT_AFTER.match(text, match.end())
        if not any(taken[slice(*match.span())]) and (unit or match.group().lower() != "one"):
            value = quantities.spelled_value(match.group()).normalize()
            written = text[match.start() : unit.end() if unit else match.end()]
            name = unit_name(unit[1]) if unit else ""
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


def _number(text: str, match: "re.Match[str]") -> Fact:
    digits, money, unit = match["digits"], match["money"] or "", match["unit"] or ""
    scale, letter = match["scale"] or "", match["letter"] or ""
    unit = "pence" if match["pence"] else unit
    counts = letter in {"M", "B"} and _COUNTED_NOUN.match(text, match.end())
    if letter and not money and letter.lower() != "k" and unit_name(unit) not in CURRENCIES and not counts:
        # "5m" is five metres; "$5m", "5m euros" and "5M parameters" are five million.
        unit, letter = unit or letter, ""
    if money and unit_name(unit) not in CURRENCIES:
        unit = ""  # "$164 million year-to-date"
    if _CENTURY_YEAR.fullmatch(digits) and unit_name(unit) in {"s", "m", "year"}:
        unit = ""  # "1990s" is not in seconds, and Lithuanian "2022 m." is a year
    reading = read_number(digits, scale or letter)
    start = match.start()
    bound, about = _bound_before(text, start)
    in_range = start > 0 and text[start - 1].isalnum()
    return Fact(
        "number",
        match.group().strip(),
        reading.values,
        unit_name(unit or money) if unit or money else "",
        reading.quantum,
        scaled=bool(scale or letter),
        about=about,
        rough=bool(scale or letter) or about,
        negative=bool(match["sign"] or match["sign2"]) and not in_range,
        bound=bound,
        start=match.end() - len(match.group().lstrip()),
    )


# --- comparing facts with a source ---

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


def known_facts(texts: Sequence[str], passage: str, titles: Sequence[str] = ()) -> KnownFacts:
    """Return the facts of sentences and their titles; `passage` is the text around the sentences."""
    return KnownFacts(texts, (passage,), titles)


_QUARTER_OF_YEAR = re.compile(
    rf"\b(?:q(?P<short>[1-4])|(?P<word>{'|'.join(_QUARTERS)})[ -](?:fiscal[ ])?quarter)"
    r"(?:[ ]of)?(?:[ ]fiscal)?(?:[ ]year)?,?[ ](?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


def is_of_another_quarter(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim names a quarter of a year of which its evidence names only others."""
    said = _quarters_of_years(claim)
    if not said:
        return False
    held = set[tuple[int, str]]().union(*map(_quarters_of_years, sentences))
    return any(each not in held and any(year == each[1] for _, year in held) for each in said)


_WHOLE_YEAR = re.compile(r"\b(?:full[ -]year|(?:whole|entire) (?:fiscal )?year)\b", re.IGNORECASE)
_PART_OF_YEAR = re.compile(
    r"\b(?:three|six|nine) months ended\b|\bquarter ended\b|\b(?:first|second|third|fourth)(?: fiscal)? quarter\b",
    re.IGNORECASE,
)
_OF_YEAR = re.compile(r"\b(?:twelve months|years?) ended\b|\b(?:full[ -]|fiscal )year|\bannual", re.IGNORECASE)


def is_of_part_of_year(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a claim tells of a whole year what its evidence only tells of months or a quarter of one."""
    if not _WHOLE_YEAR.search(claim):
        return False
    text = "\n".join(sentences)
    return _PART_OF_YEAR.search(text) is not None and not (_OF_YEAR.search(text) or _WHOLE_YEAR.search(text))


def _quarters_of_years(text: str) -> set[tuple[int, str]]:
    return {
        (int(match["short"]) if match["short"] else _QUARTERS[match["word"].lower()], match["year"])
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
_NOUNS_AFTER = re.compile(r"\W+([^\W\d_]+)(?:\W+([^\W\d_]+))?(?:\W+([^\W\d_]+))?")


def is_count(fact: str, claim: str, sentences: Sequence[str]) -> bool:
    """Return whether a number word ("two films") may count what the sentences name, instead of quoting their number.

    It may if there are as many sentences, or if one of the next three words occurs as often.
    """
    if not quantities.is_number_word(fact.lower()) or (at := claim.find(fact)) < 0:
        return False
    value = next((value for each in facts_in(fact) for value in each.values), Decimal(0))
    words = _NOUNS_AFTER.match(claim, at + len(fact))
    if (
        not 2 <= value <= _MOST_COUNTED
        or words is None
        or any(is_unit(each.lower()) for each in words.groups() if each)
    ):
        return False
    text = fold(" ".join(sentences)).lower()
    stems = (
        fold(each).lower()[: max(SHORTEST_STEM, len(each) - ENDING)]
        for each in words.groups()
        if each and len(each) > SHORTEST_COUNTED
    )
    return len(sentences) >= value or any(text.count(stem) >= value for stem in stems)


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
            return any(each.kind == "time" and each.values & fact.values for each in known.facts)
        case _:
            return any(_is_same_number(fact, each, known) for each in known.facts if each.values)


def _is_known_date(said: DateMention, known: KnownFacts) -> bool:
    dates = [each.date for each in known.facts if each.date]
    years = {value for each in known.facts for value in each.values if each.kind in {"number", "part", "title"}}
    years |= {Decimal(date.year) for date in dates if date.year}
    return any(
        dates_agree(said, date) and (not said.year or bool(date.year) or Decimal(said.year) in years) for date in dates
    )


def _is_known_identifier(said: Fact, known: KnownFacts) -> bool:
    with_unit = re.fullmatch(r"(\d+(?:[.,]\d+)?)[-]?([a-z]+)", said.text.lower())  # "24h", "3x"
    return (
        any(_occurs(form, known.text) for form in (_unjoined(said.text), _plain(said.text)))
        or (with_unit is not None and f"{with_unit[1]}{with_unit[2]}" in known.text)
        or any(said.values & each.values for each in known.facts)
    )


def _is_same_number(said: Fact, held: Fact, known: KnownFacts) -> bool:
    if said.kind == "time" or held.kind == "time":
        is_hour = said.kind == "number" and not said.unit and ":" not in held.text  # "8", for "8 p.m."
        return is_hour and re.match(rf"{re.escape(said.text)}(?!\d)", held.text) is not None
    if held.kind == "title" and said.unit != held.unit:
        return False
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
            if 0 <= said.bound * (value - mine) < min(_last_digit(mine), value / BOUND_SHARE):
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
