"""Reads the cells of stored tables: figures with their units and signs, several in one, and names of columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from functions.query.grounding.quantities import CURRENCY_SIGN, UNIT, read_number, scale_of, unit_name
from shared import identity
from shared.dates import dates_in
from shared.lexical import fold
from shared.text import MAX_NAME_CHARACTERS, without_measure

_DIGITS = r"\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:[.,]\d+)?"
_FIGURE = re.compile(
    rf"""\s*(?P<minus>[-−–])?\s?(?P<money>{CURRENCY_SIGN})?\s?(?P<open>[(\-−–])?\s?(?P<money2>{CURRENCY_SIGN})?\s?
         (?P<digits>{_DIGITS})\s?(?P<unit>%|pts?\b|bps?\b|x\b)?\s?\)?\s?(?P<unit2>%|pts?\b|bps?\b)?
         (?:(?<!10)[⁰¹²³⁴-⁹]+)?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_NOTHING = re.compile(rf"\s*(?:{CURRENCY_SIGN})?\s*(?:[-–—−]+|n/?[am])\s*%?\s*", re.IGNORECASE)
_WITH_DEVIATION = re.compile(rf"(?P<figure>-?(?:{_DIGITS})\s?%?)\s*(?:\((?:{_DIGITS})\s?%?\)|±\s*(?:{_DIGITS})\s?%?)")
"""A measured value and how far it may be off: "54.3% (0.3%)"."""
_GROUPS_OF_DIGITS = re.compile(r"\d{1,3}(?: \d{3})+")
_RANGE = re.compile(rf"(?:{_DIGITS})\s?%? [-–—] (?:{_DIGITS})\s?%?")
_DIALLED = re.compile(r"\(?0\d{2,4}\)?(?: \d{3,}){1,3}")
"""A telephone's number, whose groups are no amounts: "0117 496 0640"."""
_WITH_UNIT = re.compile(rf"(?P<digits>{_DIGITS})[\s-]?(?P<unit>{UNIT})\.?", re.IGNORECASE)
YEAR = re.compile(r"(?<![\d.,])(?:1[89]|2[01])\d\d(?![\d.,]\d|\d)")
_FOOTNOTE = re.compile(r"\(\w\)|\[\d+\]|[*†‡]+")
_MONTH_AND_DAY = re.compile(r"\b[A-Z][a-z]{2,8}\.? \d{1,2},?(?!\d)")
_NAMING_NUMBERS = re.compile(
    rf"(?:FY ?)?{identity.YEAR} ?[-–/] ?(?:\d{{4}}|\d\d)\b"
    r"|(?<=[^\W\d_] )\(?\d{1,3} ?(?:[-–]|to) ?\d{1,3}\)?(?!\S)|\d{1,3}\+"
    r"|(?<=[^\W\d_] )(?:in|per|after|within|from|over|under|up to) \d{1,3} [^\W\d_]+",
    re.IGNORECASE,
)
"""Years, ages and times in names of columns: "2021–22", "Youths (13–17)", "65+", "Most in 24 hours"."""
_NUMBER_ALONE = re.compile(r"(?<![\w.,/-])[\d.,:/]*\d[\d.,:/%]*(?![\w-])")
_VERSION = re.compile(r"[^\W\d][\w ]{0,15} \d+(?:\.\d+)?")
"""A model or a level: "OBS 2.0", "Level 3"."""
_SCALE = re.compile(
    r"(?:\b(?:in|expressed in|amounts in)\s|[$€£(]|\b(?:usd|eur|us|rs)\b\.?)[\s(]*(?:[a-z$€£.]+\s+){0,4}?"
    r"(hundreds?|thousands?|millions?|billions?|mln|lakhs?|crores?|tukst)\b|^\(?(thousands?|millions?|billions?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A value of a row. `values`: the possible readings of its figure, without sign and scale; none for words."""

    text: str
    column: int | None = None
    values: frozenset[Decimal] = frozenset()
    negative: bool = False
    unit: str = ""

    @property
    def signed(self) -> Decimal | None:
        """Its figure with its sign; None for words."""
        return min(self.values) * (-1 if self.negative else 1) if self.values else None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with its label and the line above it that holds for a group of rows; `start` and `end` in the text.

    `scale`: what its figures are multiplied by; None if neither the label nor a line above in the table says it.
    """

    label: str
    group: str
    cells: Sequence[TableCell]
    start: int
    end: int
    scale: Decimal | None = None


def is_bare(cell: str) -> bool:
    """Return whether a cell holds figures and no words; a year and a unit are words."""
    return not YEAR.fullmatch(cell) and any(
        form.fullmatch(cell) for form in (_FIGURE, _NOTHING, _GROUPS_OF_DIGITS, _WITH_DEVIATION)
    )


def is_two_in_one(cell: str) -> bool:
    """Return whether a cell may hold two figures that belong together: "54.3 (0.3)", "24 – 36"."""
    return _WITH_DEVIATION.fullmatch(cell) is not None or _RANGE.fullmatch(cell) is not None


def figures_of(cell: str) -> Sequence[str]:
    """Return the figures of a cell that holds several ("$ 11,715 $ 18,353"); else the cell."""
    parts: list[str] = []
    at = 0
    while at < len(cell):
        found = _FIGURE.match(cell, at) or _NOTHING.match(cell, at)
        if found is None:
            return (cell,)
        if at and not cell[at - 1].isspace():
            return (cell,)  # "18-29"
        parts.append(found.group().strip())
        at = found.end()
    is_one = not parts or _GROUPS_OF_DIGITS.fullmatch(cell) or _DIALLED.fullmatch(cell)
    return (cell,) if is_one else parts


def is_figure(cell: str) -> bool:
    """Return whether a cell holds one figure or a dash for nothing, but no year."""
    return is_bare(cell) or _WITH_UNIT.fullmatch(cell) is not None


@lru_cache(maxsize=2_048)
def may_name(cell: str) -> bool:
    """Return whether a cell may name a column: words, a period or a model, but no other number."""
    if len(cell) > MAX_NAME_CHARACTERS or _NOTHING.fullmatch(cell):
        return False
    folded = fold(_NAMING_NUMBERS.sub(" ", _FOOTNOTE.sub(" ", without_measure(cell))))
    for date in reversed(dates_in(folded)):
        folded = folded[: date.start] + " " + folded[date.end :]
    folded = YEAR.sub(" ", _MONTH_AND_DAY.sub(" ", folded)).strip()
    return _NUMBER_ALONE.search(folded) is None or _VERSION.fullmatch(folded) is not None


def is_period(cell: str) -> bool:
    """Return whether a cell names a year, a date or a change."""
    return bool(
        YEAR.search(cell) or dates_in(fold(cell)) or re.search(r"(?i)\b(?:years?|months?|change|ended)\b", cell)
    )


def read_cell(text: str, column: int | None) -> TableCell:
    """Return the value of a cell, with its figure read."""
    if deviates := _WITH_DEVIATION.fullmatch(text):
        return replace(read_cell(deviates["figure"], column), text=text)
    found = _FIGURE.fullmatch(text)
    if with_unit := _WITH_UNIT.fullmatch(text) if found is None else None:
        return TableCell(text, column, read_number(with_unit["digits"]).values, unit=unit_name(with_unit["unit"]))
    if found is None:
        plain = text.replace(" ", "") if _GROUPS_OF_DIGITS.fullmatch(text) else ""
        return TableCell(text, column, read_number(plain).values if plain else frozenset())
    unit = found["unit"] or found["unit2"] or found["money"] or found["money2"] or ""
    negative = bool(found["minus"] or found["open"])
    return TableCell(text, column, read_number(found["digits"]).values, negative, unit_name(unit) if unit else "")


def scale_in(texts: Sequence[str]) -> Decimal | None:
    """Return the last scale that the texts name."""
    found = [match for text in texts if (match := _SCALE.search(text))]
    return Decimal(10) ** scale_of(found[-1][1] or found[-1][2]) if found else None
