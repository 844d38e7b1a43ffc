"""Parses numbers, dates and units into comparable values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from unicodedata import numeric

from functions.query.understanding.question import lines_of

# --- numbers: digits with separators of either kind, scales, words ---

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
"""Fractions that are one sign, alone or after a whole number: "3¼"."""
NUMBER = (
    rf"\d{{0,3}}[{VULGAR}]"
    r"|\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+,\d+(?!\d)"
    r"|\d{1,3}(?:[ ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*"
)


def _words_of(wanted: str) -> dict[str, int]:
    rows = (line.split() for line in lines_of("number_words.txt"))
    return {word: int(value) for kind, value, *words in rows if kind == wanted for word in words}


_SCALES = _words_of("scale")
LETTER_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}
"""One-letter scales, valid only directly after a number with a currency sign ("$1.2M")."""
SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))

_PART_STEP = Decimal("0.001")
"""The step to which a fraction written as one sign is read."""

_NUMBERS = _words_of("number")
_NUMBER_WORDS = _NUMBERS | _words_of("count")
ORDINALS = _words_of("ordinal")
UP_TO_TWELVE = "|".join(word for word, value in _NUMBERS.items() if 2 <= value <= 12)
"""A number from two to twelve in words: what is not also an article, nor put together."""
_NUMBER_WORD = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
SPELLED = re.compile(
    rf"\b(?:{_NUMBER_WORD})(?:(?:[ -]|[ ]and[ ]|[ -]hundred[ ](?:and[ ])?)(?:{_NUMBER_WORD}|{SCALE}))*\b", re.IGNORECASE
)
ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberReading:
    """The possible values of a written number; `quantum` is one step of its last digit, to check rounding."""

    values: frozenset[Decimal]
    quantum: Decimal


def read_number(digits: str, scale: str = "") -> NumberReading:
    """Parse digits with separators, times a scale word.

    "1.234" gives two values, because some countries group thousands with a point. "1,234" gives one: three decimals
    after a comma are rare, and a second value would make 1,234 equal 1.234.
    """
    if digits[-1] in VULGAR:
        return NumberReading(frozenset({(Decimal(digits[:-1] or 0) + _part(digits[-1])).normalize()}), _PART_STEP)
    plain = re.sub(r"[\s\u00a0\u202f\u2009'’]", "", digits)
    factor = Decimal(10) ** scale_of(scale)
    forms = list(_plain_forms(plain))
    if factor > 1 and plain.count(".") == 1 and "," not in plain:
        forms = [plain]  # "2.175 billion" never means 2,175 billion
    values = {Decimal(each) * factor for each in forms}
    has_decimals = len(values) == 1 and any(value != value.to_integral_value() for value in map(Decimal, forms))
    decimals = len(re.split(r"[.,]", plain)[-1]) if has_decimals else 0
    return NumberReading(frozenset(value.normalize() for value in values), factor * Decimal(10) ** -decimals)


def _part(sign: str) -> Decimal:
    """Return the value of a fraction written as one sign: "¾"."""
    return round(Decimal(numeric(sign)), 3)


def scale_of(word: str) -> int:
    """Return the power of ten of a scale word or letter; 0 for none."""
    bare = word.strip(". ").lower()
    return _SCALES.get(bare, 0) or LETTER_SCALES.get(bare, 0)


def is_scale(word: str) -> bool:
    """Return whether a word (folded, in lower case) multiplies a number: "million"."""
    return word in _SCALES


def is_number_word(word: str) -> bool:
    """Return whether a word (folded, in lower case) is a number or a scale."""
    return word in _NUMBER_WORDS or word in _SCALES or word in ORDINALS


def spelled_value(words: str) -> Decimal:
    """Return the value of a spelled-out number: "twenty-five", "three hundred and fifty", "two million"."""
    total = current = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _NUMBER_WORDS:
            current += _NUMBER_WORDS[word]
        elif word == "hundred":
            current = max(1, current) * 100
        elif word in _SCALES:
            total += max(1, current) * 10 ** _SCALES[word]
            current = 0
    return Decimal(total + current)


def ordinal_value(word: str) -> Decimal:
    """Return the value of an ordinal from "third" to "tenth"."""
    return Decimal(ORDINALS[word.lower()])


def _plain_forms(plain: str) -> Iterator[str]:
    commas, dots = plain.count(","), plain.count(".")
    decimal, grouping = (",", ".") if plain.rfind(",") > plain.rfind(".") else (".", ",")
    if commas and dots and plain.count(decimal) == 1:
        yield plain.replace(grouping, "").replace(decimal, ".")
    elif commas + dots > 1:
        yield plain.replace(",", "").replace(".", "")
    elif commas or dots:
        whole, _, fraction = plain.replace(",", ".").partition(".")
        is_group = len(fraction) == 3 and 1 <= len(whole) <= 3 and whole != "0"
        if not (is_group and commas):
            yield f"{whole}.{fraction}"
        if is_group:
            yield whole + fraction
    else:
        yield plain


# --- units and currencies ---

CURRENCIES = frozenset({"usd", "eur", "gbp", "jpy", "chf", "ltl"})
_UNIT_NAMES: dict[str, str] = {}
for _line in lines_of("units.txt"):
    _name, _, _ways = _line.partition(": ")
    for _way in _ways.split("|"):
        _UNIT_NAMES.setdefault(_way, _name)

CURRENCY_SIGN = r"US\$|[$€£¥]|\b(?:USD|EUR|GBP|JPY|CHF|LTL)\b"
_UNIT = "|".join(
    re.escape(way).replace(r"\ ", r"[\s-]")
    for way in sorted(_UNIT_NAMES, key=len, reverse=True)
    if way not in {"$", "us$", "¥"}
)
UNIT_AT = re.compile(rf"(?:{_UNIT})(?!\w)", re.IGNORECASE)
"""A unit that begins at a position, which is asked for with `match`: as a part of other expressions it would have to be
compiled for each of them, which takes longer than they do."""


def is_unit(word: str) -> bool:
    """Return whether a word (folded, in lower case) is a unit or a currency."""
    return word in _UNIT_NAMES


def is_unit_written(text: str) -> bool:
    """Return whether a text is a unit or a currency as it is written, with spaces or hyphens: "kWh", "basis-points"."""
    return UNIT_AT.fullmatch(text) is not None


ADVERBS_OF_PERIODS = {
    **{"daily": "day", "weekly": "week", "monthly": "month", "hourly": "h", "nightly": "night"},
    **dict.fromkeys(("yearly", "annual", "annually", "annum"), "year"),
}
"""Periods by the words that tell how often something is."""
PERIODS = frozenset(("min", "h", "day", "week", "month", "year"))
"""Units of time (`unit_name`) for which something is counted: "per month", "every year"."""


@lru_cache(maxsize=4_096)
def unit_name(written: str) -> str:
    """Return the canonical name of a unit or currency; an unknown one is returned as written."""
    key = re.sub(r"[\s-]+", " ", written.strip().lower())
    return _UNIT_NAMES.get(key) or _UNIT_NAMES.get(key.rstrip(".")) or key
