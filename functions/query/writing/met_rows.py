"""The rows of a table that meet what a question asks of them: a limit, one column above another, a mark.

"Which rooms cost less than £50?" is answered by all rows of a table of rooms with less than 50 below the price, "which
items take longer by post than by courier?" by those with more below the one than the other, "which rooms have a sink?"
by those with a mark below the sink. The table must be one of what is asked for (its labels are named so), and the
question must name its columns. English only, as are the words of comparing.
"""

import re
from collections.abc import Callable, Sequence, Set
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.columns import is_change
from functions.query.grounding.quantities import CURRENCIES
from functions.query.grounding.tables import Table, TableRow, tables_in
from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from functions.query.writing.cells import is_total
from shared.text import SEPARATOR, row_cells

_THINGS = re.compile(
    r"\b(?:how many|which|what|list|name)(?: (?:of|all|the|these|those|our|your))* ((?:[^\W\d_]+[ -]?){1,3})",
    re.IGNORECASE,
)
"""What is asked for, in up to three words."""
_MORE = r"more|greater|higher|larger|bigger|longer|over|above|exceed\w*|dearer|heavier|taller|later"
_LESS = r"less|fewer|lower|smaller|shorter|under|below|cheaper|lighter|earlier"
_COMPARED = re.compile(rf"\b(?:(?P<more>{_MORE})|(?:{_LESS}))\b(?P<one>[^?]*?)\bthan\b(?P<other>[^?]*)", re.IGNORECASE)
_LIMIT = re.compile(
    r"(?:\b(?:(?P<least>at least|no (?:less|fewer) than|minimum of)|(?P<most>at most|no more than|up to|maximum of)"
    rf"|(?P<more>{_MORE})(?: than)?|(?P<less>{_LESS})(?: than)?) )"
    r"(?P<sign>[$€£¥]?) ?(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?) ?(?P<share>%|per ?cent\b)?",
    re.IGNORECASE,
)
_FELL = re.compile(r"\b(?:fall|falls|fell|fallen|drop\w*|declin\w*|decreas\w*|(?:go|went|gone) down)\b", re.IGNORECASE)
_ROSE = re.compile(r"\b(?:rise|rises|rose|risen|gr[eo]w\w*|increas\w*|(?:go|went|gone) up)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no|without|never|lack\w*)\b|n['’]t\b", re.IGNORECASE)
_YES = re.compile(r"yes|[✓✔●•■]|included|available|x", re.IGNORECASE)
_NO = re.compile(r"no|[✗✘×–—-]|n/a|none|x|not \w+|", re.IGNORECASE)
_CROSS = frozenset("xX")
"""A cross is a yes, unless another sign of the column is one."""


class MetRows(NamedTuple):
    """Claims that tell the rows, in order, and whether the table is whole, so that they can be counted."""

    claims: Sequence[Claim]
    is_whole: bool


class _Found(NamedTuple):
    rows: Sequence[TableRow]
    columns: Sequence[int]


def met_rows(question: str, passages: Sequence[Passage]) -> MetRows | None:
    """Return the rows of a table of the first passage's document that meet what a question asks; None if unclear."""
    words = [each.split() for each in _THINGS.findall(question)]
    stems = (content_stems(" ".join(each[:end]), "en") for each in words for end in range(1, len(each) + 1))
    things = {tuple(each) for each in stems if each}
    if not things:
        return None
    for at, passage in enumerate(passages, 1):
        if passage.document_id != passages[0].document_id or passage.language not in {"", "en"}:
            continue
        text = passage.whole
        for table in tables_in(text):
            found = _found(table, question) if _is_of(things, _labels_named(table, text)) else None
            if found is not None:
                claims = [
                    Claim(_told(table, row, found.columns), (Reference(at, text[row.start : row.end]),), "\n")
                    for row in found.rows
                ]
                return MetRows(claims, is_whole=bool(text[table.end :].strip()))
    return None


def _is_of(things: Set[tuple[str, ...]], named: tuple[str, ...]) -> bool:
    """Return whether a table's labels are named after what is asked for: "Room", "Room type", "Kind of room"."""
    return any(each in (named[: len(each)], named[-len(each) :]) for each in things)


def _labels_named(table: Table, text: str) -> tuple[str, ...]:
    """Return the stems of what names a table's labels: what stands above them, or else above the table."""
    line = text[: table.start].rstrip("\n").rpartition("\n")[2]
    cells = row_cells(line)
    has_corner = SEPARATOR in line and len(cells) == len(table.columns) + 1
    corner = cells[0] if has_corner else ""
    return _stems(corner or (table.caption.rstrip().rpartition("\n")[2] if has_corner else ""))


@lru_cache(maxsize=1_000)
def _stems(name: str) -> tuple[str, ...]:
    """Return the stems of a name without what stands in brackets behind it."""
    return tuple(content_stems(name.partition("(")[0], "en"))


def _told(table: Table, row: TableRow, columns: Sequence[int]) -> str:
    cells = (cell for cell in row.cells if cell.column in columns)
    told = (f"{' '.join(table.name_of(cell).split())}: {cell.text}" for cell in cells)
    return "; ".join((" ".join(row.label.split()), *told))


def _found(table: Table, question: str) -> _Found | None:
    if not table.columns or len(set(table.columns)) < len(table.columns):
        return None
    for reader in (_compared, _limited, _changed, _marked):
        found = reader(table, question)
        if found is not None:
            return found if found.rows else None
    return None


def _columns_named(table: Table, text: str) -> Sequence[int]:
    """Return the columns all of whose name's words a text has; of names within one another the longest."""
    words = frozenset(content_stems(text, "en"))
    stems = {at: frozenset(content_stems(name, "en")) for at, name in enumerate(table.columns)}
    named = {at: each for at, each in stems.items() if each and each <= words}
    return [at for at, each in named.items() if not any(each < other for other in named.values())]


class _Figure(NamedTuple):
    row: TableRow
    unit: str
    size: Decimal


def _figures(table: Table, column: int) -> Sequence[_Figure]:
    """Return the rows with one figure in a column, but no totals."""
    return [
        _Figure(row, cell.unit, cell.signed)
        for row in table.rows
        for cell in row.cells
        if cell.column == column and len(cell.values) == 1 and cell.signed is not None and not is_total(row.label)
    ]


def _compared(table: Table, question: str) -> _Found | None:
    """Return the rows with more, or less, in one named column than in another one."""
    found = _COMPARED.search(question)
    if found is None:
        return None
    one = _columns_named(table, found["one"])
    # "A higher price in 2025 than in 2024": the other one is named by words of both.
    other = [at for at in _columns_named(table, f"{found['one']} {found['other']}") if at not in one]
    if len(one) != 1 or len(other) != 1:
        return None
    others = {each.row.start: each for each in _figures(table, other[0])}
    pairs = [(each, others[each.row.start]) for each in _figures(table, one[0]) if each.row.start in others]
    if any(each.unit != beside.unit for each, beside in pairs):
        return None
    sign = 1 if found["more"] else -1
    return _Found([each.row for each, beside in pairs if sign * (each.size - beside.size) > 0], (one[0], other[0]))


def _limited(table: Table, question: str) -> _Found | None:
    """Return the rows with a figure above or below a limit in the column that is named, or in the only one."""
    limit = _LIMIT.search(question)
    if limit is None:
        return None
    with_figures = [at for at in range(len(table.columns)) if _figures(table, at)]
    named = [at for at in _columns_named(table, question) if at in with_figures]
    columns = named or with_figures
    if len(columns) != 1:
        return None
    figures = _figures(table, columns[0])
    units = {each.unit for each in figures}
    if (limit["share"] and units != {"percent"}) or (limit["sign"] and not units & CURRENCIES):
        return None
    meets = _test(limit)
    return _Found([each.row for each in figures if meets(each.size)], columns)


def _test(limit: re.Match[str]) -> Callable[[Decimal], bool]:
    number = Decimal(limit["number"].replace(",", ""))
    if limit["least"]:
        return lambda size: size >= number
    if limit["most"]:
        return lambda size: size <= number
    return (lambda size: size > number) if limit["more"] else (lambda size: size < number)


def _changed(table: Table, question: str) -> _Found | None:
    """Return the rows whose change, in the only column of changes, is a rise or a fall, as is asked."""
    fell, rose = _FELL.search(question), _ROSE.search(question)
    columns = [at for at, name in enumerate(table.columns) if is_change(name)]
    if bool(fell) == bool(rose) or len(columns) != 1 or _NOT.search(question):
        return None
    sign = -1 if fell else 1
    return _Found([each.row for each in _figures(table, columns[0]) if sign * each.size > 0], columns)


def _marked(table: Table, question: str) -> _Found | None:
    """Return the rows with a mark, or without one if that is asked, in the column that is named."""
    columns = _columns_named(table, question)
    if len(columns) != 1:
        return None
    texts = {
        row.start: next((cell.text.strip() for cell in row.cells if cell.column == columns[0]), "")
        for row in table.rows
        if not is_total(row.label)
    }
    signs = set(texts.values())
    if not all(_YES.fullmatch(sign) or _NO.fullmatch(sign) for sign in signs):
        return None
    yes = {sign for sign in signs if _YES.fullmatch(sign)}
    yes = yes - _CROSS or yes
    if not yes or not signs - yes:
        return None
    wanted = signs - yes if _NOT.search(question) else yes
    return _Found([row for row in table.rows if texts.get(row.start) in wanted], columns)
