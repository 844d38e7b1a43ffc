"""Reads the cells of stored tables: figures with their units and signs, several in one, and the names of columns.

Columns are named by the place of their names, or else by the periods in their order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import chain, takewhile

from functions.query.grounding.quantities import (
    CURRENCY_SIGN,
    is_unit,
    is_unit_written,
    read_number,
    scale_of,
    unit_name,
)
from shared import identity
from shared.dates import dates_in, month_number
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
_SIZE = re.compile(r"\d+(?: [x×*] \d+)+")
"""Lengths of several sides: "640 x 480"."""
_DIALLED = re.compile(r"\(?0\d{2,4}\)?(?: \d{3,}){1,3}")
"""A telephone's number, whose groups are no amounts: "0117 496 0640"."""
_WITH_UNIT = re.compile(rf"(?P<digits>{_DIGITS})[\s-]?(?P<unit>[^\d\s].*)")
YES = frozenset(("yes", "y", "✓", "✔", "●", "x", "included", "available", "supported", "allowed", "open"))
NO = frozenset(("no", "n", "✗", "✘", "–", "-", "—", "not", "none", "never", "closed"))
"""Cells, in lower case, that answer what the name of their column asks."""
_DENIES = ("not ", "no ", "non-", "without ")
YEAR = re.compile(r"(?<![\d.,])(?:1[89]|2[01])\d\d(?![\d.,]\d|\d)")
_FOOTNOTE = re.compile(r"\(\w\)|\[\d+\]|[*†‡]+")
_MONTH_AND_DAY = re.compile(r"\b[A-Z][a-z]{2,8}\.? \d{1,2},?(?!\d)")
_NAMING_NUMBERS = re.compile(
    rf"(?:FY ?)?{identity.YEAR} ?[-–/] ?(?:\d{{4}}|\d\d)\b"
    r"|(?<=[^\W\d_] )\(?\d{1,3} ?(?:[-–]|to) ?\d{1,3}\)?(?!\S)|\d{1,3}\+"
    r"|(?<=[^\W\d_] )(?:in|per|after|within|from|over|under|up to) \d{1,3} [^\W\d_]+"
    r"|^(?:per|pro|je|pour|par|por) \d{1,3} [^\W\d_]+",
    re.IGNORECASE,
)
"""Years, ages, times, amounts in names of columns: "2021–22", "Youths (13–17)", "65+", "in 24 hours", "per 100 g"."""
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


def answer_of(cell: str) -> bool | None:
    """Return whether a cell says yes, False if it says no ("–", "not allowed"), None if it says something else."""
    text = cell.strip().lower()
    if text in NO or text.startswith(_DENIES):
        return False
    return True if text in YES else None


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
    is_one = not parts or _GROUPS_OF_DIGITS.fullmatch(cell) or _DIALLED.fullmatch(cell) or _SIZE.fullmatch(cell)
    return (cell,) if is_one else parts


def is_figure(cell: str) -> bool:
    """Return whether a cell holds one figure or a dash for nothing, but no year."""
    return is_bare(cell) or _with_unit(cell) is not None


def _with_unit(cell: str) -> tuple[str, str] | None:
    """Return the digits and the unit of a cell that holds nothing else, also before a full stop."""
    found = _WITH_UNIT.fullmatch(cell)
    ways = (found["unit"], found["unit"].removesuffix(".")) if found else ()
    unit = next(filter(is_unit_written, ways), "")
    return (found["digits"], unit) if found and unit else None


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
    if with_unit := _with_unit(text) if found is None else None:
        digits, name = with_unit
        return TableCell(text, column, read_number(digits).values, unit=unit_name(name))
    if found is None:
        plain = text.replace(" ", "") if _GROUPS_OF_DIGITS.fullmatch(text) else ""
        return TableCell(text, column, read_number(plain).values if plain else frozenset())
    unit = found["unit"] or found["unit2"] or found["money"] or found["money2"] or ""
    negative = bool(found["minus"] or found["open"])
    return TableCell(text, column, read_number(found["digits"]).values, negative, unit_name(unit) if unit else "")


# --- units beside the figures ---

_BEHIND_UNIT = re.compile(r"[/(]| per ")
_UNIT_COLUMN = frozenset(("unit", "units", "unit of measure", "einheit", "unité", "unidad", "vienetas", "vnt"))
_OF_PERIOD = r"[\s,]+(?:[QH][1-4] )?(?:19|20)\d\d(?:[-–/]\d{2,4})?"
_NAMED_UNIT = re.compile(rf"[(\[](?P<bracket>[^()\[\]]+)[)\]](?:{_OF_PERIOD})?\W*\Z|(?:,| in| en) (?P<last>[^\s,]+)\Z")
"""The unit with which the name of a row or column ends: "Weight (kg)", "Stay (days), 2024–25", "Energy, kJ"."""
_OF_OTHERS = re.compile(
    rf"{CURRENCY_SIGN}|%|\b(?:price|cost|fee|rate|total|amount|charge|value|discount|vat|tax|year|rank|page|no|number"
    r"|date|preis|kosten|betrag|summe|jahr|rang|seite|prix|coût|tarif|montant|année|precio|coste?|importe|año"
    r"|página|kaina|suma|metai)s?\b",
    re.IGNORECASE,
)
"""The name of a column whose figures are not in the unit of their row: prices, years, ranks."""
_ALSO_SCALES = frozenset("bkmt")
"""Units that mean billions, thousands or millions beside amounts of money."""


def is_unit_column(name: str) -> bool:
    """Return whether a column's name says that it holds the units of the figures beside it."""
    return name.strip(" .:").casefold() in _UNIT_COLUMN


def unit_of_cell(text: str) -> str:
    """Return the canonical name of the unit that a cell is ("litres", "l/min", "dB(A)"); empty if it is none."""
    folded = fold(text).lower().strip()
    return next((unit_name(each) for each in (folded, _BEHIND_UNIT.split(folded)[0]) if is_unit(each)), "")


def _unit_named(name: str) -> str:
    found = _NAMED_UNIT.search(name)
    unit = unit_of_cell(found["bracket"] or found["last"]) if found else ""
    return "" if unit == "percent" else unit


def with_units(columns: Sequence[str], rows: Sequence[TableRow], *, is_money: bool) -> Sequence[TableRow]:
    """Return rows whose figures have a unit, if they have none: of their row's column of units, row or column.

    A price, a year or a rank has none of these. Where figures of the table are amounts of money (`is_money`), a letter
    may be a scale and is not read; nor is "min" beside "max".
    """
    places = {at for at, name in enumerate(columns) if is_unit_column(name)}
    no_units = {"min"} if any("max" in name.lower() for name in (*columns, *(row.label for row in rows))) else set()
    no_units |= _ALSO_SCALES if is_money else set()
    named = [_unit_named(name) for name in columns]
    of_others = {at for at, name in enumerate(columns) if _OF_OTHERS.search(name)}

    def with_unit(row: TableRow) -> TableRow:
        of_label = _unit_named(row.label)
        if not (places or of_label or any(named)):
            return row
        of_row = {unit_of_cell(cell.text) for cell in row.cells if cell.column in places}

        def unit_of(cell: TableCell) -> str:
            if cell.unit or not cell.values or YEAR.fullmatch(cell.text):
                return cell.unit
            told = set() if cell.column in of_others else of_row
            told = told or {of_label, named[cell.column] if cell.column is not None and named else ""}
            found = told - {""} - no_units
            return next(iter(found)) if len(found) == 1 else ""

        return replace(row, cells=tuple(replace(cell, unit=unit_of(cell)) for cell in row.cells))

    return [with_unit(row) for row in rows]


def mentions_money(text: str) -> bool:
    """Return whether a text has the sign of a currency or a scale: "$", "in thousands"."""
    return re.search(CURRENCY_SIGN, text) is not None or scale_in((text,)) is not None


def scale_in(texts: Sequence[str]) -> Decimal | None:
    """Return the last scale that the texts name."""
    found = [match for text in texts if (match := _SCALE.search(text))]
    return Decimal(10) ** scale_of(found[-1][1] or found[-1][2]) if found else None


# --- names of columns ---

_COMPARED = re.compile(rf"\b{identity.YEAR}\s*(?:vs?\.?|to|over|/)\s*{identity.YEAR}\b", re.IGNORECASE)
"""The name of a column of changes: "2022 vs. 2021"."""
_QUARTER = re.compile(r"[QH]([1-4])", re.IGNORECASE)
_SHORT_NAME = re.compile(r"[^.;:!?]{1,25}")
"""The name of a column that holds words: a longer one may be a row of words itself."""


def column_names(
    above: Sequence[str], heads: Sequence[Sequence[str]], count: int, rows: Sequence[TableRow]
) -> Sequence[str]:
    """Return the names of the value columns: by their place, or else the periods in the order they stand in."""
    by_place = _names_by_place(heads, count)
    if len(set(by_place)) < len(by_place):
        by_place = _names_by_place([*(_filled(head, count) for head in heads[:-1]), *heads[-1:]], count)
    names = [_COMPARED.sub("Change", name) for name in by_place]
    years = [bool(YEAR.search(name)) for name in names]
    has_corner = any(len(head) == count + 1 and any(map(YEAR.search, head[1:])) for head in heads)
    is_corner_a_name = len(years) > 2 and not years[0] and all(years[1:]) and not has_corner
    told = [name for name in names if name]
    if told and len(set(told)) == len(told) and not is_corner_a_name:
        return tuple(names)
    return _names_by_order(above, heads, count, rows) or (() if is_corner_a_name else tuple(names))


def _filled(head: Sequence[str], count: int) -> Sequence[str]:
    """Return a row of groups in which a name stands over each of its columns: "2024 | | 2023 |"."""
    corner = len(head) > count
    groups: list[str] = []
    for name in head[corner:]:
        groups.append(name or (groups[-1] if groups else ""))
    return [*head[:corner], *groups]


def _names_by_place(heads: Sequence[Sequence[str]], count: int) -> list[str]:
    if grouped := _names_by_group(heads, count) or _names_with_group(heads, count):
        return grouped
    names = [""] * count
    finest = 0
    for head in heads:
        has_corner = len(head) == count + 1 or (len(head) > 1 and count % len(head) and not count % (len(head) - 1))
        cells = head[1:] if has_corner else head
        if not cells or count % len(cells) or len(cells) < finest:
            return []
        finest = len(cells)
        width = count // len(cells)
        names = [f"{name} {cells[at // width]}".strip() for at, name in enumerate(names)]
    return names if finest == count and any(names) else []


def _names_by_group(heads: Sequence[Sequence[str]], count: int) -> list[str]:
    """Return names below those of unequal groups.

    A group begins where a name comes again ("2023 | 2024 | 2024"), or a quarter or month is before the one beside it.
    """
    if len(heads) != 2 or len(heads[1]) not in {count, count + 1} or not 2 <= len(heads[0]) < count:
        return []
    names = heads[1][-count:]
    starts, by_year = [0], False
    for at, name in enumerate(names):
        goes_back = at > 0 and 0 < _place_in_year(name) < _place_in_year(names[at - 1])
        if goes_back or name in names[starts[-1] : at]:
            starts.append(at)
            by_year = by_year or goes_back
    groups = heads[0] if len(heads[0]) == len(starts) else heads[0][1:]
    is_even = count % len(groups) == 0 and not by_year
    if len(groups) != len(starts) or not all(names) or is_even:
        return []
    ends = [*starts[1:], count]
    return [f"{group} {name}".strip() for group, a, b in zip(groups, starts, ends, strict=True) for name in names[a:b]]


def _names_with_group(heads: Sequence[Sequence[str]], count: int) -> list[str]:
    """Return names of which each first one has its group's before it: "Plan Cost | Sales | Actual Cost | Sales"."""
    names = list(heads[-1][-count:]) if heads and len(heads[-1]) in {count, count + 1} else []
    for width in range(2, count // 2 + 1):
        firsts = [name.split() for name in names[::width]]
        repeated = [names[at : at + width][1:] == names[1:width] for at in range(0, len(names), width)]
        if count % width or not all(repeated) or not all(names):
            continue
        shared = sum(1 for _ in _tails(firsts))
        groups = [" ".join(words[: len(words) - shared]) for words in firsts]
        if shared and all(groups) and len(set(groups)) == len(groups):
            leaves = [" ".join(firsts[0][-shared:]), *names[1:width]]
            return [f"{group} {leaf}" for group in groups for leaf in leaves]
    return []


def _tails(texts: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Yield the last words of texts, the last but one and so on, as long as they are all the same."""
    return takewhile(lambda words: len(set(words)) == 1, zip(*(reversed(words) for words in texts), strict=False))


def _place_in_year(name: str) -> int:
    """Return the number of a quarter or month in its year; 0 for other names."""
    quarter = _QUARTER.fullmatch(name.strip())
    return int(quarter[1]) if quarter else month_number(name.strip().lower())


def _names_by_order(
    above: Sequence[str], heads: Sequence[Sequence[str]], count: int, rows: Sequence[TableRow]
) -> Sequence[str]:
    text = fold(" ".join((*above, *chain.from_iterable(heads))))
    compared = _COMPARED.search(text)
    text = _COMPARED.sub(" ", text)
    dates = [(date.start, text[date.start : date.end]) for date in dates_in(text) if date.year]
    years = [
        (match.start(), match.group())
        for match in YEAR.finditer(text)
        if not any(start <= match.start() < start + len(date) for start, date in dates)
    ]
    periods = [name for _, name in sorted((*dates, *years))]
    shares = _share_columns(rows, count)
    if len(periods) == count:
        return tuple(periods)
    if compared and len(periods) == 2:
        return (*periods, *["Change"] * (count - 2))
    if shares and len(periods) == count - len(shares):
        rest = iter(periods)
        return tuple("Change %" if column in shares else next(rest) for column in range(count))
    return ()


def names_words_in(columns: Sequence[str], heads: Sequence[Sequence[str]], rows: Sequence[TableRow]) -> bool:
    """Return whether names of columns, with none above the labels, are short, several and different."""
    is_cornerless = any(len(head) == len(columns) or not head[0] for head in heads)
    values = {cell.text for row in rows for cell in row.cells}
    is_short = all(_SHORT_NAME.fullmatch(name) and name not in values for name in columns)
    return is_cornerless and is_short and len(set(columns)) == len(columns) > 1


def _share_columns(rows: Sequence[TableRow], count: int) -> frozenset[int]:
    """Return the columns whose figures are percentages, while others are not."""
    units: list[set[str]] = [set() for _ in range(count)]
    for row in rows:
        for cell in row.cells:
            if cell.column is not None and cell.values:
                units[cell.column].add(cell.unit)
    found = frozenset(column for column, each in enumerate(units) if each == {"percent"})
    return found if len(found) < count else frozenset()


# --- Options of a form that are ticked ---

_UNTICKED = "☐□❏❑"
_TICKED = "☑☒✓✔✗✘"
_BOX = rf"[{_UNTICKED}{_TICKED}]"
_LABEL = rf"[^\s{_UNTICKED}{_TICKED}|;:][^{_UNTICKED}{_TICKED}|;:\n]{{0,60}}?"
_BEFORE = re.compile(
    rf"(?:(?<=\A)|(?<=[:|\n])|(?<=[:|;] )){_BOX} ?{_LABEL}(?:[ ,/]*{_BOX} ?{_LABEL})+(?=\s*(?:[|;\n.]|\Z))"
)
"""Options behind their boxes, from the beginning of a line, of a cell, or of what a label introduces."""
_VERDICT = r"(?:[Yy]es|[Nn]o|[Jj]a|[Nn]ein|[Oo]ui|[Nn]on|[Ss]í|[Tt]aip|[Nn]e)"
_BEHIND = re.compile(rf"(?<![{_UNTICKED}{_TICKED}] )(?<!\w){_VERDICT} ?{_BOX}[ ,/]*{_VERDICT} ?{_BOX}")
"""Yes and no before their boxes: "Yes ☒ No ☐"."""
_OPTION_BEFORE = re.compile(rf"({_BOX}) ?({_LABEL})[ ,/]*(?={_BOX}|\Z)")
_OPTION_BEHIND = re.compile(rf"({_VERDICT}) ?({_BOX})")


def with_ticked_only(text: str) -> str:
    """Return a text with the ticked ones of options only; those of which none or all are ticked stay as they are."""
    if not any(map(text.__contains__, _TICKED)):
        return text
    return _BEFORE.sub(_before, _BEHIND.sub(_behind, text))


def _before(options: re.Match[str]) -> str:
    found = [(box, label.strip(" ,/")) for box, label in _OPTION_BEFORE.findall(options.group())]
    return _ticked_of(options.group(), found)


def _behind(options: re.Match[str]) -> str:
    return _ticked_of(options.group(), [(box, label) for label, box in _OPTION_BEHIND.findall(options.group())])


def _ticked_of(whole: str, options: list[tuple[str, str]]) -> str:
    ticked = [label for box, label in options if box in _TICKED]
    return ", ".join(ticked) if 0 < len(ticked) < len(options) else whole
