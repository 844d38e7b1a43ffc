"""Numbers as people write them, read into values: separators of either kind, scales, words, signs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

NUMBER = (
    r"\d{1,3}(?:[,\u00a0\u202f\u2009'’]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+,\d+(?!\d)"
    r"|\d{1,3}(?:[ ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*"
)
_SCALES = {
    "hundred": 2, "thousand": 3, "thousands": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "mln": 6, "mil": 6,
    "billion": 9, "billions": 9, "bn": 9, "mlrd": 9, "mrd": 9, "trillion": 12, "trillions": 12, "tn": 12, "trln": 12,
    "tukst": 3, "tukstantis": 3, "tukstanciai": 3, "tukstanciu": 3, "tukstancius": 3, "simtai": 2, "simtu": 2,
    "milijonas": 6, "milijonai": 6, "milijonu": 6, "milijonus": 6, "milijono": 6,
    "milijardas": 9, "milijardai": 9, "milijardu": 9, "milijardus": 9, "milijardo": 9, "lakh": 5, "crore": 7,
    "millionen": 6, "milliarden": 9, "milliards": 9, "millones": 6,
}  # fmt: skip
_ATTACHED = {"k": 3, "m": 6, "b": 9, "t": 12}
"""Scales of one letter: only right behind a number that has a currency sign ("$1.2M")."""
SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))

_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12, "twice": 2,
    "du": 2, "dvi": 2, "dvieju": 2, "trys": 3, "tris": 3, "triju": 3, "keturi": 4, "keturios": 4, "keturis": 4,
    "keturiu": 4, "penki": 5, "penkios": 5, "penkis": 5, "penkiu": 5, "sesi": 6, "sesios": 6, "sesis": 6, "sesiu": 6,
    "septyni": 7, "septynios": 7, "septyniu": 7, "astuoni": 8, "astuonios": 8, "astuoniu": 8, "devyni": 9,
    "devynios": 9, "devyniu": 9, "desimt": 10, "desimties": 10, "dvylika": 12, "dvidesimt": 20, "trisdesimt": 30,
    "penkiasdesimt": 50, "simtas": 100, "simta": 100,
}  # fmt: skip
_ORDINALS = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10
}  # fmt: skip
_ANY_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
SPELLED = re.compile(
    rf"\b(?:{_ANY_WORD})(?:(?:[ -]|[ ]and[ ]|[ -]hundred[ ](?:and[ ])?)(?:{_ANY_WORD}|{SCALE}))*\b", re.IGNORECASE
)
ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a number may mean. `quantum` is the worth of its last digit, for telling whether it may be a rounded one."""

    values: frozenset[Decimal]
    quantum: Decimal


def readings(digits: str, scale: str = "") -> Reading:
    """Read digits with separators, times a scale word.

    "1.234" may be a thousand and more or a decimal, by the writer's country: both values are given. "1,234" could be a
    decimal, too, but hardly anybody writes three decimals behind a comma, and it would let 1,234 pass for 1.234.
    """
    plain = re.sub(r"[\s\u00a0\u202f\u2009'’]", "", digits)
    factor = Decimal(10) ** scale_of(scale)
    forms = list(_plain_forms(plain))
    if factor > 1 and plain.count(".") == 1 and "," not in plain:
        forms = [plain]  # nobody writes "2.175 billion" for two thousand billions
    values = {Decimal(each) * factor for each in forms}
    decimals = len(re.split(r"[.,]", plain)[-1]) if re.search(r"[.,]", plain) and len(values) == 1 else 0
    if decimals and all(value == value.to_integral_value() for value in map(Decimal, forms)):
        decimals = 0
    return Reading(frozenset(value.normalize() for value in values), factor * Decimal(10) ** -decimals)


def scale_of(word: str) -> int:
    """Return the power of ten of a scale word or letter; 0 for none."""
    bare = word.strip(". ").lower()
    return _SCALES.get(bare, 0) or _ATTACHED.get(bare, 0)


def is_number_word(word: str) -> bool:
    """Say whether a word (folded, in lower case) is a number or scales one."""
    return word in _WORDS or word in _SCALES or word in _ORDINALS


def spelled(words: str) -> Decimal:
    """Return the value of a spelled-out number: "twenty-five", "three hundred and fifty", "two million"."""
    total = current = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "hundred":
            current = max(1, current) * 100
        elif word in _SCALES:
            total += max(1, current) * 10 ** _SCALES[word]
            current = 0
    return Decimal(total + current)


def ordinal(word: str) -> Decimal:
    """Return the value of "third" to "tenth"."""
    return Decimal(_ORDINALS[word.lower()])


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
