"""The unit that stands above a table and holds for its figures: "£ thousand", "(in millions)", "All amounts in mg."."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from functions.query.grounding.claims import Claim
from functions.query.grounding.quantities import CURRENCIES, is_unit, scale_of, unit_name
from functions.query.grounding.table_cells import YEAR, TableCell, TableRow, unit_of_cell
from functions.query.grounding.tables import Table, row_at
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from shared.lexical import fold
from shared.text import SEPARATOR, row_cells, sentences_of

MAX_LINES_ABOVE = 1
"""Lines above a table in which its unit may stand."""
MAX_UNIT_WORDS = 5
MAX_WORDS_BEFORE = 3
"""Words of a unit at most, and words before the "in" with which it begins: "All amounts in"."""
MIN_WHOLE = 0.8
"""Share of a table's figures without decimals from which on one with them is of another unit."""
_IN = re.compile(r"(?P<before>(?:[^\W\d_]+ ){0,4}?)(?P<unit>(?:in|en) \S.*)", re.IGNORECASE)
"""A unit with the word before it, and what it is of: "All amounts in mg", "Angaben in Tausend Euro"."""
MIN_ALONE = 2
"""Characters of a unit that stands alone in brackets behind a title."""
_BRACKET = re.compile(r"(?<= )\(([^()]+)\)[.:]?\Z")
_EXCEPT = re.compile(r",?\s*\b(?:except|excluding|unless|other than)\b.*", re.IGNORECASE)
_SIGNED_SCALE = re.compile(r"[$€£¥](?:m|mn|bn|k|['’]?000s?)|['’]?000s?|[tmk](?:eur|usd|chf)", re.IGNORECASE)
"""A currency with its scale in one word: "£m", "€'000", "TEUR"."""
_OTHER_MEASURE = re.compile(
    r"%|\b(?:per|pro|par|por|ratio|number|numbers|shares?|employees|headcount|percent\w*|basic|diluted)\b|/",
    re.IGNORECASE,
)
"""Words of a row or column whose figures are counts, shares or rates, and not in the table's unit."""
_OF_ALL = re.compile(
    r"all|amounts|figures|values|numbers|data|readings|measurements|are|alle|angaben|beträge|werte|montants|chiffres"
    r"|valeurs|importes|cifras|valores|sumos"
)
"""Words before a unit that say that it is of all figures; "Prices in €" is of the rows and columns of prices."""
_OF_UNIT = frozenset(("in", "of", "de", "d'", "us"))
_PLAIN = re.compile(r"[-−–]?[\d.,'’ ]+")
"""A figure without a sign or unit of its own."""
_LARGE = re.compile(r"\d{3}")
_DECIMALS = re.compile(r"\d[.,]\d{1,2}\D*\Z")


def with_unit(told: str, text: str, start: int) -> str:
    """Return a told row with its unit: "Diesel; Minimum: 900 litres", of its table "Cash; 2026: 4,060 (£ thousand)".

    That of the table stands behind the last figure if it holds for all that are told, else behind each that it holds
    for.
    """
    found = row_at(text, start)
    told = _with_unit_of_row(told, *found) if found else told
    unit, thing = unit_above(text, found[0].start) if found else ("", "")
    if found is None or not unit or unit.casefold() in told.casefold():
        return told
    table, row = found
    parts = told.split("; ")
    holds = [_is_in_unit(part, thing, table, row) for part in parts]
    others = [any(map(str.isdigit, part.rpartition(": ")[2])) for part in parts[1:]]
    if not any(holds):
        return told
    if holds[1:] == others and holds[-1]:
        return _behind(told, unit)
    return "; ".join(_behind(part, unit) if is_held else part for part, is_held in zip(parts, holds, strict=True))


def _with_unit_of_row(told: str, table: Table, row: TableRow) -> str:
    """Put the unit that stands in a column of its own behind all of a row's figures; "Unit: kg" is told no more."""
    cells = {f"{' '.join(table.name_of(cell).split())}: {cell.text}": cell for cell in row.cells}
    units = [part for part, cell in cells.items() if cell.column in table.unit_columns]
    parts = told.split("; ")
    if len(units) != 1 or units[0] not in parts:
        return told
    unit = cells[units[0]].text
    figures = [part for part in parts if part in cells and cells[part].values]
    of_row = unit_of_cell(unit)
    if not figures or not all(cells[part].unit == of_row and _PLAIN.fullmatch(cells[part].text) for part in figures):
        return told
    return "; ".join(f"{part} {unit}" if part in figures else part for part in parts if part != units[0])


def without_unit(claim: Claim, passages: Sequence[Passage]) -> Claim:
    """Return a claim that tells a row without the unit of its table; any other claim as it is."""
    reference = claim.references[0]
    text = passages[reference.source - 1].whole
    start = text.find(reference.quote)
    found = row_at(text, start) if start >= 0 else None
    unit, _ = unit_above(text, found[0].start) if found else ("", "")
    plain = claim.text.replace(_behind("", unit), "").replace(_behind(")", unit), ")") if unit else claim.text
    return claim if plain == claim.text else replace(claim, text=plain)


def _behind(told: str, unit: str) -> str:
    """Return a told figure with its unit in brackets, or without them behind "(9,020)"."""
    if not told.endswith(")"):
        return f"{told} ({unit})"
    return f"{told} {unit}" if unit.startswith("in ") else f"{told}, {unit}"


def _is_in_unit(part: str, thing: str, table: Table, row: TableRow) -> bool:
    """Return whether a part of a told row ("2026: 4,060") tells a figure that is in the table's unit.

    `thing`: what the unit is said to be of, for all figures none.
    """
    name, _, figure = part.rpartition(": ")
    cells = [
        cell
        for cell in row.cells
        if cell.text == figure and (not table.columns or " ".join(table.name_of(cell).split()) == name)
    ]
    if not cells or not all(_may_have_unit(cell) for cell in cells):
        return False
    names = (row.label, row.group, name)
    if any(_OTHER_MEASURE.search(each) or any(map(_unit_in, _BRACKET.findall(each))) for each in names):
        return False
    if thing and frozenset(content_stems(thing)).isdisjoint(content_stems(" ".join(names))):
        return False
    figures = [each.text for other in table.rows for each in other.cells if each.values]
    whole = sum(_DECIMALS.search(each) is None for each in figures)
    return whole < MIN_WHOLE * len(figures) or _DECIMALS.search(figure) is None


def _may_have_unit(cell: TableCell) -> bool:
    """Say whether a cell is a figure of three digits: a smaller one may be a count, an age or a year of service."""
    is_large = _LARGE.search(cell.text) is not None and YEAR.fullmatch(cell.text) is None
    return bool(cell.values) and cell.unit in {"", *CURRENCIES} and is_large


@lru_cache(maxsize=128)
def unit_above(text: str, start: int) -> tuple[str, str]:
    """Return the unit in the lines above a table that begins at a position, and what it is of; none if not clear."""
    passed = 0
    for line in reversed(text[:start].split("\n")[:-1]):
        if SEPARATOR in line:
            if passed:
                break  # another table's
            corner = row_cells(line)[0]
        elif line.strip():
            passed += 1
            corner = line.strip()
        else:
            continue
        unit, thing = _unit_of_line(corner)
        if unit or passed == MAX_LINES_ABOVE:
            return unit, thing
    return "", ""


def _unit_of_line(line: str) -> tuple[str, str]:
    """Return the unit that a line tells: all of it, its last sentence, or what stands in brackets at its end."""
    line = _EXCEPT.sub("", line).rstrip()
    sentences = [line[start:end] for start, end in sentences_of(line)]
    bracket = _BRACKET.search(f"{line})" if line.count("(") > line.count(")") else line)
    told = (line, *sentences[-1:], *((part.strip() for part in bracket[1].split(",")) if bracket else ()))
    unit, thing = next((found for each in told if (found := _unit_in(each.strip(" .:()")))), ("", ""))
    if not unit and bracket and len(bracket[1]) >= MIN_ALONE and _is_unit(bracket[1]):
        unit = bracket[1]  # "Energy used (GWh)"
    words = unit.split()
    small = [word.lower() if word in {"In", "Thousands", "Millions", "Billions"} else word for word in words]
    return " ".join(small), thing


def _unit_in(words: str) -> tuple[str, str] | None:
    """Return the unit that words are, and what it is of: "£ thousand", "in mg" and "prices" of "All prices in mg"."""
    words = " ".join(words.split())
    if _is_unit(words, least_words=2):
        return words, ""
    found = _IN.fullmatch(words)
    if found is None or not _is_unit(found["unit"].partition(" ")[2]):
        return None
    before = [word for word in found["before"].lower().split() if not (_OF_ALL.fullmatch(word) or is_unit(word))]
    return (found["unit"], " ".join(before)) if len(before) <= MAX_WORDS_BEFORE else None


def _is_unit(words: str, *, least_words: int = 1) -> bool:
    """Return whether words are only scales, currencies and units; with `least_words` 2, alone only with a scale."""
    parts = fold(words).lower().split()
    whole = next((at for at in range(len(parts) - 1) if is_unit(" ".join(parts[at:]))), len(parts))
    kinds = [*map(_kind_of, parts[:whole]), *(["unit"] if whole < len(parts) else [])]  # "Swiss francs" are one
    if not 0 < len(parts) <= MAX_UNIT_WORDS or not all(kinds):
        return False
    return "scale" in kinds or (least_words == 1 and "unit" in kinds)


def _kind_of(word: str) -> str:
    bare = word.strip(".")
    if _SIGNED_SCALE.fullmatch(word) or (scale_of(bare) and len(bare) > 1):
        return "scale"
    if is_unit(bare) or unit_name(bare) in CURRENCIES:
        return "unit"
    return "of" if bare in _OF_UNIT else ""
