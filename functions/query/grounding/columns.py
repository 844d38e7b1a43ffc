"""Finds which columns of a table a text speaks of: by a period, by "a year earlier", or by the words of their names.

A column's fiscal year may be called by another number than the calendar year in its name. Where the passage does not
tell ("the first quarter of 2023" over "December 31, 2022"), a year names no column.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from functions.query.grounding.facts import QUARTERS
from functions.query.grounding.quantities import spelled_value
from functions.query.grounding.words import content_stems
from shared import identity
from shared.dates import DateMention, dates_agree, dates_in
from shared.lexical import fold

_YEAR = re.compile(rf"(?<![\d.,$€£¥-])({identity.YEAR})(?:[-–/]\d\d)?(?![\d%]|[.,]\d)")
"""A year, or one that goes on into the next: "2023–24"."""
_COUNT = r"\d{1,2}|three|six|nine|twelve|thirteen|twenty-six|thirty-nine"
_DURATION = re.compile(
    rf"\b(?P<count>{_COUNT})[ -](?P<unit>month|week)s?\b|\b(?P<year>full[ -]year|years? ended|annual)\b"
    r"|\b(?P<half>half[ -]year|(?:first|second) half|h[12])\b"
    r"|\b(?P<quarter>quarters?(?= end(?:ed|ing)\b)|(?<=the )quarter\b)"
    r"|\b(?P<to_date>ytd|year[ -]to[ -]date)\b",
    re.IGNORECASE,
)
_QUARTER = re.compile(
    r"\b(?:(?P<name>first|second|third|fourth)(?: fiscal)?[ -]quarter|q(?P<number>[1-4]))\b", re.IGNORECASE
)
_EARLIER = re.compile(
    r"\b(?:(?:a|one) year (?:earlier|ago|before)|year[ -]ago|the year before"
    r"|(?:prior|previous|preceding|last)[ -](?:fiscal )?(?:year|period)(?:'s)?"
    r"|(?:same|comparable|corresponding) (?:quarter|period|(?:three )?months)"
    r"(?: (?:of|in) (?:the )?(?:prior|previous|last) year)?)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"[\s,('-]*(?:(?:period|ended|ending|of|in|for|on|the|fiscal|year|as|at)[\s,-]*){0,4}", re.IGNORECASE
)
"""What stands between the parts of one period: "three months *ended* October 30, 2022"."""
_FISCAL_YEAR = re.compile(
    rf"(?:\bquarters?(?: of)?(?: the)?|\bfiscal(?: years?)?)(?: of)?(?: fiscal)?(?: years?)? ({identity.YEAR})",
    re.IGNORECASE,
)
_BEFORE_FISCAL_YEAR = re.compile(r"\bfiscal(?: years?)? \Z", re.IGNORECASE)
_NAMED_QUARTER = re.compile(rf"\b({identity.YEAR})[ _-]?q[1-4]\b|\bq[1-4][ _-]?({identity.YEAR})\b", re.IGNORECASE)
_WORD = re.compile(r"\w[\w./-]*\w|\w")
_LETTER = re.compile(r"(?<![\w'’])[A-Z](?![\w'’.])")
"""A letter that is a name: "Model A"."""
_MEASURES_OF_CHANGE = frozenset({"chang", "change", "growth", "increas", "decreas", "varianc", "variance"})
MONTH_DAYS = 30.4
NEAR_QUARTER_DAYS = 10
"""Days between a column's date and the end of the calendar quarter, at most."""


@dataclass(frozen=True, slots=True)
class Period:
    """The period in a column's name; 0 or empty for what it does not say. `to_date`: since the year's start."""

    years: frozenset[int]
    date: DateMention | None
    months: int
    quarter: int
    to_date: bool

    @property
    def order(self) -> tuple[int, int, int]:
        """Its place in time: year, month or quarter, day; (0, 0, 0) if unknown."""
        year = max(self.years, default=0)
        if not year:
            return (0, 0, 0)
        return (year, self.date.month if self.date else 3 * self.quarter, self.date.day if self.date else 0)


@dataclass(frozen=True, slots=True)
class ColumnMention:
    """A place in a text (folded) that names columns."""

    start: int
    end: int
    columns: frozenset[int]


@lru_cache(maxsize=1_024)
def period_of(name: str) -> Period:
    """Return the period in a column's name."""
    text = fold(name)
    dates = [date for date in dates_in(text) if date.month]
    years = {date.year for date in dates if date.year} | {int(match[1]) for match in _YEAR.finditer(text)}
    duration = _DURATION.search(text)
    quarter = _QUARTER.search(text)
    return Period(
        frozenset(years),
        next((date for date in dates if date.day or date.year), None),
        _months(duration) if duration else 0,
        _quarter(quarter) if quarter else 0,
        duration is not None and duration["to_date"] is not None,
    )


def is_change(name: str) -> bool:
    """Return whether a column's name says that it holds changes."""
    return not _MEASURES_OF_CHANGE.isdisjoint(content_stems(name))


def mentions_in(text: str, columns: Sequence[str], *, context: str, own_words: frozenset[str]) -> list[ColumnMention]:
    """Return the places of a text that name some of the columns, in order.

    `context` tells how fiscal years are counted; `own_words`: stems that name the row and thus no column.
    """
    if not columns:
        return []
    folded = fold(text)
    periods = [period_of(name) for name in columns]
    found = list(_periods_named(folded, periods, context))
    found += _words_named(folded, columns, own_words)
    return sorted(found, key=lambda mention: (mention.start, mention.end, sorted(mention.columns)))


def has_words_besides(name: str, text: str) -> bool:
    """Return whether a column's name has words, its period aside, that a text does not say."""
    return not _words_of(name) <= _places(fold(text)).keys()


def spans_of_periods(text: str) -> list[tuple[int, int]]:
    """Return where a folded text speaks of periods: its numbers there are no values."""
    return [(start, end) for start, end, _ in _atoms(text)]


# --- periods ---

_Atom = tuple[int, int, "DateMention | re.Match[str]"]


@lru_cache(maxsize=1_024)
def _atoms(text: str) -> Sequence[_Atom]:
    found: list[_Atom] = [(date.start, date.end, date) for date in dates_in(text) if date.month]
    for pattern in (_EARLIER, _QUARTER, _DURATION, _YEAR):
        for match in pattern.finditer(text):
            if not any(match.start() < end and start < match.end() for start, end, _ in found):
                found.append((match.start(), match.end(), match))
    return sorted(found, key=lambda atom: atom[0])


def _periods_named(text: str, periods: Sequence[Period], context: str) -> Iterator[ColumnMention]:
    group: list[_Atom] = []
    for atom in _atoms(text):
        if group and not _JOINED.fullmatch(text, group[-1][1], atom[0]):
            yield from _mention(group, periods, context)
            group = []
        group.append(atom)
    if group:
        yield from _mention(group, periods, context)


def _mention(group: Sequence[_Atom], periods: Sequence[Period], context: str) -> Iterator[ColumnMention]:
    """Yield the columns that all parts of one period agree with; nothing if no part names any."""
    quarter = next((_quarter(part) for *_, part in group if _is(part, _QUARTER)), 0)
    has_year = any(_is(part, _YEAR) or (isinstance(part, DateMention) and part.year) for *_, part in group)
    allowed: frozenset[int] | None = None
    for *_, part in group:
        named = _columns_of(part, periods, quarter, context, has_year=has_year)
        if named is not None:
            allowed = named if allowed is None else allowed & named
    if allowed is not None:
        yield ColumnMention(group[0][0], group[-1][1], allowed)


def _is(part: "DateMention | re.Match[str]", pattern: "re.Pattern[str]") -> bool:
    return isinstance(part, re.Match) and part.re is pattern


def _columns_of(
    part: "DateMention | re.Match[str]", periods: Sequence[Period], quarter: int, context: str, *, has_year: bool
) -> frozenset[int] | None:
    """Return the columns that a part of a period agrees with; None if it does not tell."""
    if isinstance(part, DateMention):
        named = {n for n, each in enumerate(periods) if each.date and dates_agree(part, each.date)}
        return frozenset(named) or (_of_year(part.year, periods) if part.year else None)
    if part.re is _YEAR:
        is_fiscal = _BEFORE_FISCAL_YEAR.search(part.string, 0, part.start()) is not None
        return _of_named_year(int(part[1]), periods, quarter, context, is_fiscal=is_fiscal)
    if part.re is _DURATION:
        months, to_date = _months(part), part["to_date"] is not None
        if to_date and not any(each.to_date for each in periods):
            months, to_date = max(each.months for each in periods), False
        told = {each.months for each in periods} | {-1 for each in periods if each.to_date}
        if len(told) < 2 and not (months and told - {0}):
            return None
        same = {n for n, each in enumerate(periods) if each.to_date == to_date}
        exact = {n for n in same if periods[n].months == months}
        return frozenset(same if to_date else exact or {n for n in same if not periods[n].months})
    if part.re is _QUARTER:
        if any(each.quarter for each in periods):
            return frozenset(n for n, each in enumerate(periods) if each.quarter == _quarter(part))
        lengths = {each.months for each in periods if each.months}
        return frozenset(n for n, each in enumerate(periods) if each.months == 3) if len(lengths) > 1 else None
    return None if has_year else _earlier_than_newest(periods)


def _of_year(year: int, periods: Sequence[Period]) -> frozenset[int] | None:
    return frozenset(n for n, each in enumerate(periods) if year in each.years) or None


def _of_named_year(
    year: int, periods: Sequence[Period], quarter: int, context: str, *, is_fiscal: bool
) -> frozenset[int] | None:
    """Return the columns of a year; of a fiscal year where the columns have dates."""
    if all(each.date is None or each.quarter for each in periods):
        return _of_year(year, periods)
    shift = _fiscal_shift(periods, context)
    if shift is None and (not quarter or _is_of_calendar(quarter, periods)):
        return _of_year(year, periods)
    if shift is None:
        return None
    if shift and not (quarter or is_fiscal):
        return None  # the calendar year or the fiscal year
    return _of_year(year - shift, periods)


def _is_of_calendar(quarter: int, periods: Sequence[Period]) -> bool:
    """Return whether all the columns' dates lie within ten days of the calendar quarter's end."""
    ends = [MONTH_DAYS * (each.date.month - 1) + each.date.day for each in periods if each.date and each.date.day]
    return bool(ends) and all(abs(end - 3 * MONTH_DAYS * quarter) <= NEAR_QUARTER_DAYS for end in ends)


def _fiscal_shift(periods: Sequence[Period], context: str) -> int | None:
    """Return the newest fiscal year in the context less the newest year of the columns; None if it cannot be told."""
    newest = max((year for each in periods for year in each.years), default=0)
    told = [max(map(int, years)) for years in (_FISCAL_YEAR.findall(context),) if years]
    told += [max(int(a or b) for a, b in years) for years in (_NAMED_QUARTER.findall(context),) if years]
    shifts = {year - newest for year in told}
    return shifts.pop() if len(shifts) == 1 and shifts <= {-1, 0, 1} else None


def _earlier_than_newest(periods: Sequence[Period]) -> frozenset[int] | None:
    newest: dict[tuple[int, bool], tuple[int, int, int]] = {}
    for each in periods:
        key = (each.months, each.to_date)
        newest[key] = max(newest.get(key, (0, 0, 0)), each.order)
    earlier = {n for n, each in enumerate(periods) if (0, 0, 0) < each.order < newest[each.months, each.to_date]}
    return frozenset(earlier) or None


def _months(match: "re.Match[str]") -> int:
    if match["year"]:
        return 12
    if match["quarter"]:
        return 3
    if match["half"]:
        return 6
    if not match["count"]:
        return 0
    count = int(match["count"]) if match["count"].isdigit() else int(spelled_value(match["count"]))
    return count if match["unit"].lower() == "month" else round(count / 13) * 3


def _quarter(match: "re.Match[str] | DateMention") -> int:
    assert isinstance(match, re.Match)  # noqa: S101
    return QUARTERS[match["name"].lower()] if match["name"] else int(match["number"])


# --- words ---

_ADDED = re.compile(r"\([^()]*\)")


def _words_named(text: str, columns: Sequence[str], own_words: frozenset[str]) -> Iterator[ColumnMention]:
    """Yield the columns all of whose own words are in the text; those of a longer name only, if one is in another.

    Where columns share all the words of their names, like "North Plan" and "North Actual", each word names its columns.
    """
    words = [frozenset(each for each in _words_of(name) if each not in own_words) for name in columns]
    common = frozenset.intersection(*words)
    own = [each - common - _MEASURES_OF_CHANGE for each in words]
    places = _places(text)
    columns_of = {word: frozenset(n for n, each in enumerate(own) if word in each) for each in own for word in each}
    parted = {each for each in own if _is_of_parts([columns_of[word] for word in each])}
    yield from _parts_named(places, {word: columns_of[word] for each in parted for word in each})
    named = {each for each in own if each and each <= places.keys() and each not in parted}
    for each in named:
        longer = sum(each < other for other in named)
        if longer and any(len(places[word]) <= longer for word in each):
            continue
        columns_named = frozenset(n for n, other in enumerate(own) if other == each)
        for spans in zip(*(places[word] for word in each), strict=False):
            yield ColumnMention(max(start for start, _ in spans), max(end for _, end in spans), columns_named)


def _is_of_parts(columns: Sequence[frozenset[int]]) -> bool:
    """Return whether a name consists of words that it shares with several others, not all with the same ones."""
    return len(set(columns)) > 1 and all(len(each) > 1 for each in columns)


def _parts_named(
    places: Mapping[str, Sequence[tuple[int, int]]], columns_of: Mapping[str, frozenset[int]]
) -> Iterator[ColumnMention]:
    """Yield the columns of each part of a name that is said; parts that stand together name those of both."""
    words_of = {part: [word for word, each in columns_of.items() if each == part] for part in columns_of.values()}
    found = sorted(
        (max(start for start, _ in spans), max(end for _, end in spans), sorted(part))
        for part, words in words_of.items()
        if all(word in places for word in words)
        for spans in zip(*(places[word] for word in words), strict=False)
    )
    before: ColumnMention | None = None
    for start, end, part in found:
        columns = frozenset(part)
        if before is not None and start - before.end <= 1 and columns & before.columns:
            before = ColumnMention(before.start, end, columns & before.columns)
            continue
        if before is not None:
            yield before
        before = ColumnMention(start, end, columns)
    if before is not None:
        yield before


@lru_cache(maxsize=1_024)
def _words_of(name: str) -> frozenset[str]:
    """Return the words and identifiers of a column's name, without its period and what is added in brackets."""
    text = fold(_ADDED.sub(" ", name) if _ADDED.sub("", name).strip() else name)
    for start, end, _ in reversed(_atoms(text)):
        text = f"{text[:start]} {text[end:]}"
    plain = re.sub(r"(?i)\b(?:ended|(?:in )?(?:millions|thousands))\b", " ", text)
    stems = (_IN_FULL.get(stem, stem) for stem in content_stems(plain))
    return frozenset((*stems, *_LETTER.findall(plain)))


_IN_FULL = {"max": "maximum", "min": "minimum", "avg": "averag", "typ": "typic", "qty": "quantiti"}
"""Stems of the words that names of columns abbreviate."""
_NUMBER_BEFORE = re.compile(r"\d[ -]?\Z")
"""What stands before "min" where it means minutes."""
_LIMITS = (
    (re.compile(r"\b(?:at least|(?:not|no) less than|between)\b(?=[^.;]{0,30}?\d)", re.IGNORECASE), "minimum"),
    (
        re.compile(
            r"\b(?:at most|(?:not|never) (?:be )?(?:exceed|more than|above|over)|no more than|up to)\b"
            r"|\bbetween [^.;]{0,20}?\d\S*(?: \S+)? (?P<and>and)(?= \S?\d)",
            re.IGNORECASE,
        ),
        "maximum",
    ),
)
"""Words that tell a limit, which is the figure of a column with that name."""


def _places(text: str) -> dict[str, list[tuple[int, int]]]:
    """Return the places of each content word of a text, and of limits by the names that columns of them have."""
    places: dict[str, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(text):
        for stem in (*content_stems(match.group()), *_LETTER.findall(match.group())):
            is_minutes = stem == "min" and _NUMBER_BEFORE.search(text[max(0, match.start() - 2) : match.start()])
            places.setdefault(stem if is_minutes else _IN_FULL.get(stem, stem), []).append(match.span())
    for limit, name in _LIMITS:
        for match in limit.finditer(text):
            places.setdefault(name, []).append(match.span("and") if match.groupdict().get("and") else match.span())
    return places
