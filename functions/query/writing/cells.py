"""The figures of a table that a question asks for: the row that it names, in the columns of its years and words."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import lru_cache

from functions.query.grounding.clauses import clauses_of, turns
from functions.query.grounding.columns import is_change
from functions.query.grounding.quantities import CURRENCIES, CURRENCY_SIGN, is_unit
from functions.query.grounding.ranges import DAYS
from functions.query.grounding.table_cells import TableCell, TableRow
from functions.query.grounding.tables import Table, row_at, row_text
from functions.query.grounding.words import content_stems, has_digit, other_words_of, with_synonyms
from functions.query.understanding.vocabulary import document_words
from functions.query.writing.table_words import FREE
from shared import lexical
from shared.dates import ENGLISH_MONTHS, dates_in, years_written
from shared.lexical import fold
from shared.text import NOTHING, TIME, first_row, header_at, is_dash, row_cells

_NEGATIVE_SHARE = re.compile(r"\(\d[^()]*\) ?%|\(\d[^()]*%\)")
_UNIT_OF_NAME = re.compile(r"\s+(?:per|pro|par|por|in)\s.*|\s*\(.*", re.IGNORECASE | re.DOTALL)
"""What a column's name says after what it measures: "Rate per 100,000", "Cost (£)"."""
_TOTAL = re.compile(
    r"(?:sub)?total|all\b|average|mean\b|sum\b|overall|summe\b|(?:ins)?gesamt|iš viso|suma\b", re.IGNORECASE
)
_OF_PRICE = frozenset(("price", "cost"))
"""Stems of what "cheapest" is of."""
_CODE = re.compile(r"[^\W\d_]|\d{1,3}[^\W\d_]?|[^\W\d_]\d{1,2}|[IVX]{2,4}")
"""What says nothing without the name before it: "B", "12", "3a", "IV"."""
_BEHIND_A_WORD = re.compile(rf"\w ({_CODE.pattern})(?!\w)", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?=[A-Z\d./-]*\d)[A-Z][A-Z\d./-]{3,}")
_PLAIN_FIGURE = re.compile(rf"(?:{CURRENCY_SIGN})? ?\d[\d.,]*(?: ?%| ?(?:{CURRENCY_SIGN})| [^\W\d_]+)?")
"""A number with at most one word: what is told without it loses no condition."""
_UNIT_IN_BRACKETS = re.compile(r"[\[(]([^\W\d_]{1,4}|%)[\])]")
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NO_NAMES = frozenset((*ENGLISH_MONTHS, "page", "pages"))
"""What a number behind it is no code of."""
MIN_RARITY = 4.4
"""Rarity of a word (`lexical.background`) from which on it stands for a column's name that begins with it."""
MIN_COMPARED = 2
"""Minimum rows, or cells of one, with a figure, for one of them to have the most or least."""
MAX_VERDICT_CHARACTERS = 20
"""Maximum characters of a cell of words that tells by itself."""
MIN_LABEL_SHARE = 0.5
"""Share of a row's label above which it is asked for, in content words; at it if the last word is among them."""


def with_line_items(question: str, part: str, texts: Sequence[str]) -> str:
    """Return a question with the statements' words for what a part of it names: "capex", purchases of property.

    What a row of the texts is named after is asked for in its own words.
    """

    def is_row(phrase: str) -> bool:
        named = re.compile(rf"^{re.escape(phrase)}\b[^\n|]*\|", re.IGNORECASE | re.MULTILINE)
        return any(named.search(text) for text in texts)

    words_of = document_words(part)
    stated = {words for phrase, words in words_of.items() if is_row(phrase)}
    return " ".join((question, *(words for words in dict.fromkeys(words_of.values()) if words not in stated)))


def asked_share(text: str, start: int, wanted: Set[str], years: Set[str], language: str) -> float:
    """Return how much of the label of the row at a position is asked for, as a share of its content words.

    0 if that is less than `MIN_LABEL_SHARE`, or if the row has no figure of one of the years.
    """
    found = row_at(text, start)
    if found is None or not _of_years(*found, years):
        return 0.0
    stems = [stem for stem in content_stems(found[1].label, language) if not stem.isdigit()]
    label = frozenset(stems)
    held = (label & wanted) | with_synonyms(label - wanted, frozenset(wanted), language)
    share = len(held) / len(label) if label else 0.0
    # "Merchandise inventories" are inventories, "cost of sales" is not any cost.
    return share if share > MIN_LABEL_SHARE or (share == MIN_LABEL_SHARE and stems[-1] in held) else 0.0


def asked_row_text(
    text: str,
    start: int,
    end: int,
    wanted: Set[str],
    years: Set[str],
    language: str,
    *,
    verdict: bool = False,
    extreme: int = 0,
    measured: Sequence[str] = (),
) -> str:
    """Return a row with only the columns that a question asks for: "Inventories; 2019: 5,409", "Export; Guest: No".

    Empty if it asks for none of them, for all, or if the row's columns are not known. Words are told so where a
    `verdict` is asked for, where all of the row's cells are short words, or where its label is asked for and the other
    cells are figures. If it is asked which has the most (`extreme` 1) or the least (-1) of what the row is about, that
    column is told: "Weight; Mini: 16.4 kg". The column in which rows are compared, by the words that are `measured`, is
    told with others. An empty cell that is asked for is a dash.
    """
    found = row_at(text, start)
    if found is None or (found[1].start, found[1].end) != (start, end):
        return ""
    table, row = found
    # A code ("B") does not bind its figures by itself.
    if not content_stems(row.label, language) or not all(
        cell.column is not None and table.columns for cell in row.cells
    ):
        return ""
    chosen = _of_years(table, row, years) or _named(table, row, wanted, language)
    units = table.unit_columns
    empty = () if chosen else _named_without_cell(table, row, wanted, language)
    if extreme and not chosen and is_label_asked(row, wanted, language):
        chosen = _extreme_cells(table, row, extreme)
    compared = _compared_column(table, measured, years, language) if chosen and measured else None
    if compared is not None:
        chosen = [at for at, cell in enumerate(row.cells) if at in chosen or cell.column == compared]
    label = _told_label(text, row)
    if chosen:
        told_units = [at for at, cell in enumerate(row.cells) if cell.column in units and not is_dash(cell.text)]
        chosen = sorted({*chosen, *told_units}) if any(row.cells[at].values for at in chosen) else chosen
    if empty and not chosen:
        return "; ".join((label, *(f"{' '.join(name.split())}: {NOTHING}" for name in empty)))
    if not chosen or len(chosen) == len(row.cells):
        return ""
    of_words = not any(map(_is_measured, row.cells)) or not any(
        _is_measured(row.cells[at]) or is_dash(row.cells[at].text) for at in chosen
    )
    if of_words:
        others = (cell.text for at, cell in enumerate(row.cells) if at not in chosen)
        is_plain = all(_PLAIN_FIGURE.fullmatch(other) or is_unit(other) or is_dash(other) for other in others)
        tells_alone = verdict or (is_plain and is_whole_label_asked(row, wanted, language))
        told_alone = [row.cells[at] for at in chosen] if tells_alone else row.cells
        if not all(map(_is_verdict, told_alone)) or any(row.cells[at].text in _name(table, row, at) for at in chosen):
            return ""
    shown = (f"{' '.join(_name(table, row, at).split())}: {row.cells[at].text}" for at in chosen)
    told = "; ".join((label, *shown))
    # "May 31", "provided (used)" and "(2.0) %" read like a hedge, a condition, and a rise: the whole row is confirmed.
    if any(clause.kinds for clause in clauses_of(told, language)) or _NEGATIVE_SHARE.search(told):
        return ""
    # So does a "No" of several.
    return "" if of_words and turns(told, [row_text(text, start, end)], language) else told


def is_of_all(label: str) -> bool:
    """Return whether a row's label says that it sums up others: "Total", "All ages", "Average"."""
    return _TOTAL.match(label) is not None


def is_other_total(label: str, asked: Set[str], language: str) -> bool:
    """Return whether a row's label says that it sums up others, by a word whose stem is not `asked` for."""
    total = _TOTAL.match(label)
    return total is not None and asked.isdisjoint(content_stems(total.group(), language))


def extreme_rows(
    places: Sequence[tuple[str, int]], measured: Sequence[str], years: Set[str], language: str, sign: int, rank: int = 1
) -> Sequence[int]:
    """Return which of the rows that begin at these places of texts have the most (`sign` 1) or least (-1), by number.

    With a `rank` of 2 those that have the second most.

    They must be of one table, of which each text may hold a piece, and of one unit or times. Compared is the column of
    the year with most of the words that are `measured` (stems, in the question's order), or the columns of all times if
    the same rows are first in each. None are returned if it is not clear which, or if fewer than two rows have a figure
    there. Totals are left out.
    """
    found = [row_at(*place) for place in places]
    if not found or found[0] is None:
        return ()
    table, _ = found[0]
    rows = {
        number: each[1]
        for number, each in enumerate(found)
        if each and _are_of_one_table(table, each[0]) and not is_of_all(each[1].label)
    }
    column = _compared_column(table, measured, years, language)
    columns = [column] if column is not None else () if years else _unnamed_columns(table, measured, language)
    best = {tuple(_most_in(rows, each, sign, rank)) for each in columns}
    return best.pop() if len(best) == 1 else ()


def _are_of_one_table(one: Table, other: Table) -> bool:
    # One that goes on overleaf has no caption there, only the first column's name.
    short, long = sorted((one.caption, other.caption), key=len)
    is_same = long == short or not short or long.endswith(f"\n{short}")
    return one is other or (bool(one.columns) and one.columns == other.columns and is_same)


def _most_in(rows: Mapping[int, TableRow], column: int, sign: int, rank: int) -> Sequence[int]:
    """Return the numbers of the rows that have the most or the least in a column; none if that is not clear.

    Which is the second is not clear if two are first.
    """
    cells = [(number, cell) for number, row in rows.items() for cell in row.cells if cell.column == column]
    figures = [(number, cell) for number, cell in cells if len(cell.values) == 1]
    units = {cell.unit for _, cell in figures} - CURRENCIES
    free = [
        n for n, row in rows.items() for cell in row.cells if cell.column == column and cell.text.casefold() in FREE
    ]
    if len(figures) < MIN_COMPARED or not (len(units) <= 1 or units <= DAYS.keys()):
        return ()
    scale = DAYS if len(units) > 1 else {}
    sizes = {number: sign * round(_size(cell) * scale.get(cell.unit, 1), 3) for number, cell in figures}
    if any(cell.unit in CURRENCIES for _, cell in figures):
        sizes.update(dict.fromkeys(free, Decimal(0)))
    in_order = sorted(sizes.values(), reverse=True)
    if rank > len(in_order) or len(set(in_order[:rank])) < rank:
        return ()
    most = in_order[rank - 1]
    return [number for number, size in sizes.items() if size == most]


def _columns_of_times(table: Table) -> Sequence[int]:
    """Return the columns of figures if all their names but those of changes are of times."""
    figures = _columns_of_figures(table)
    columns = [at for at, name in enumerate(table.columns) if at in figures and not is_change(name)]
    return columns if all(years_written(table.columns[at]) for at in columns) else ()


def _columns_of_figures(table: Table) -> Set[int | None]:
    return {cell.column for row in table.rows for cell in row.cells if cell.values}


def _compared_column(table: Table, measured: Sequence[str], years: Set[str], language: str) -> int | None:
    """Return the column of figures that is compared: named by what is `measured`, or other words; None if unclear."""
    figures = _columns_of_figures(table)
    columns = [
        at
        for at, name in enumerate(table.columns)
        if at in figures and (not years or not years.isdisjoint(years_written(name)))
    ]
    if (named := _named_column(table, columns, measured, language)) is not None or years:
        return named
    others = [word for stem in measured for word in sorted(other_words_of(stem, language))]
    if (named := _named_column(table, columns, others, language)) is not None:
        return named
    of_money = [at for at in columns if re.search(CURRENCY_SIGN, table.columns[at])]
    if len(of_money) == 1 and not _OF_PRICE.isdisjoint(others):
        return of_money[0]
    return None


def _unnamed_columns(table: Table, measured: Sequence[str], language: str) -> Sequence[int]:
    """Return the columns that are compared where none is named: that of totals, or those of all times."""
    totals = [at for at, name in enumerate(table.columns) if is_of_all(name)]
    if len(totals) == 1:
        stems = frozenset(measured).union(*(other_words_of(stem, language) for stem in measured))
        is_named = any(not stems.isdisjoint(content_stems(name, language)) for name in table.columns)
        return () if is_named else totals
    return _columns_of_times(table)


def _named_column(table: Table, columns: Sequence[int], measured: Sequence[str], language: str) -> int | None:
    stems = {at: frozenset(content_stems(table.columns[at], language)) for at in columns}
    held = {at: len(stems[at].intersection(measured)) for at in columns}
    highest = max(held.values(), default=0)
    most = [at for at in columns if held[at] == highest]
    if len(most) == 1:
        return most[0]
    # "The highest rate of stays" may be of the rate or of the stays; "the most loans, and how many stays" is of loans.
    first = next((named for word in measured if (named := [at for at in most if word in stems[at]])), [])
    whole = [at for at in first if stems[at].issubset(measured)] or [
        at
        for at in first
        if frozenset(content_stems(_UNIT_OF_NAME.sub("", table.columns[at]), language)) <= {*measured}
    ]
    return whole[0] if len(whole) == 1 else None


def _of_years(table: Table, row: TableRow, years: Set[str]) -> Sequence[int]:
    """Return the cells with a figure whose column is of one of the years, and of no other."""
    found = ((at, frozenset(years_written(_name(table, row, at)))) for at, cell in enumerate(row.cells) if cell.values)
    return [at for at, named in found if named and named <= years]


def _told_label(text: str, row: TableRow) -> str:
    """Return a row's label, with the name of its column if it is only a number: "Week: 3"."""
    label, first = " ".join(row.label.split()), " ".join(row_cells(text[row.start : row.end])[0].split())
    if first not in label:
        return f"{first}; {label}"  # what it is called stands before what it is read by
    header = header_at(text, row.start) if label.isdecimal() else None
    name = row_cells(text[slice(*header)])[0] if header else ""
    return f"{name}: {label}" if name else label


def _is_measured(cell: TableCell) -> bool:
    """Return whether a cell holds a figure, a time or a date."""
    if cell.values or TIME.fullmatch(cell.text):
        return True
    text = fold(cell.text)
    return any((date.start, date.end) == (0, len(text)) for date in dates_in(text))


def _named_without_cell(table: Table, row: TableRow, wanted: Set[str], language: str) -> Sequence[str]:
    """Return the names of columns, each asked for whole, in which a row with figures or times has an empty cell."""
    held = {cell.column for cell in row.cells}
    if not (any(map(_is_measured, row.cells)) or has_digit("".join(table.columns))) or not all(table.columns):
        return ()
    names = ((name, content_stems(name, language)) for at, name in enumerate(table.columns) if at not in held)
    return [name for name, stems in names if stems and set(stems) <= wanted]


def _is_verdict(cell: TableCell) -> bool:
    """Return whether a cell of words tells by itself: "Yes", "Not supported", "BD-1107"."""
    is_plain = not has_digit(cell.text) or _IDENTIFIER.fullmatch(cell.text) is not None
    return 0 < len(cell.text) <= MAX_VERDICT_CHARACTERS and is_plain


def _named(table: Table, row: TableRow, wanted: Set[str], language: str) -> Sequence[int]:
    """Return the cells whose column is named: by its whole name, or else by a rare word that its name begins with."""
    names = [content_stems(_name(table, row, at), language) for at in range(len(row.cells))]
    whole = [at for at, name in enumerate(names) if name and set(name) <= wanted]
    rarity = lexical.background(language)
    first = Counter(name[0] for name in names if name)
    label = content_stems(row.label, language)
    begun = [
        at
        for at, name in enumerate(names)
        if name and name[0] in wanted and first[name[0]] == 1 and name[0] not in label
        if rarity.get(name[0], lexical.MAX_RARITY) >= MIN_RARITY
    ]
    return whole or begun


def compares_cells(table: Table, row: TableRow, wanted: Set[str], language: str, extreme: int) -> bool:
    """Return whether a question compares cells of a row: asks which has most or least, or names two of its columns."""
    if not table.columns or len(row.cells) < MIN_COMPARED:
        return False
    return (
        bool(extreme and _extreme_cells(table, row, extreme))
        or len(_named(table, row, wanted, language)) >= MIN_COMPARED
    )


def _extreme_cells(table: Table, row: TableRow, sign: int) -> Sequence[int]:
    """Return the cells with the most (`sign` 1) or the least (-1); none if not all can be compared, or all have it.

    Totals, changes and units are left out.
    """
    units = table.unit_columns
    cells = [
        (at, cell)
        for at, cell in enumerate(row.cells)
        if not _is_summed(_name(table, row, at)) and cell.column not in units
    ]
    sizes = {at: _size(cell) for at, cell in cells if len(cell.values) == 1}
    if not MIN_COMPARED <= len(sizes) == len(cells) or len({cell.unit for _, cell in cells}) > 1:
        return ()
    best = max(sizes.values(), key=lambda size: sign * size)
    chosen = [at for at, size in sizes.items() if size == best]
    return chosen if len(chosen) < len(sizes) else ()


def _is_summed(name: str) -> bool:
    return is_of_all(name) or is_change(name)


def is_whole_label_asked(row: TableRow, wanted: Set[str], language: str) -> bool:
    """Return whether a question has all content words of a row's label, or of a name behind its code: "C2 | Glaze"."""
    return any(bool(stems) and wanted >= frozenset(stems) for stems in _names_of(row, language))


def _names_of(row: TableRow, language: str) -> Iterator[Sequence[str]]:
    yield content_stems(row.label, language)
    if row.cells and has_digit(row.label) and " " not in row.label and not has_digit(row.cells[0].text):
        yield content_stems(row.cells[0].text, language)


def is_label_asked(row: TableRow, wanted: Set[str], language: str) -> bool:
    """Return whether a question has a word of a row's label, or one for it."""
    label = frozenset(content_stems(row.label, language))
    return not label.isdisjoint(frozenset(wanted).union(*(other_words_of(stem, language) for stem in wanted)))


def _size(cell: TableCell) -> Decimal:
    return (-1 if cell.negative else 1) * max(cell.values)


def _name(table: Table, row: TableRow, at: int) -> str:
    column = row.cells[at].column
    return table.columns[column] if column is not None and table.columns else ""


def is_row_named(text: str, start: int, question: str) -> bool | None:
    """Return whether a question names a row by a code; None if by none.

    The code stands behind the label's word, "influenza B", or behind a column's name: "zone B" of `Zone | Price`.
    """
    if not _may_name_a_code(question):
        return None
    end = text.find("\n", start)
    cells = row_cells(text[start : end if end >= 0 else len(text)])
    *words, code = cells[0].split() if cells and cells[0] else [""]
    if words and words[-1].lower() in _NO_NAMES:
        return None
    if words:
        return _is_code_asked(words[-1], code, question, needs_capital=True) if _CODE.fullmatch(code) else None
    if not any(_CODE.fullmatch(cell) for cell in cells):
        return None
    header = first_row(text, start)
    names = row_cells(text[slice(*header)]) if header and header[0] != start else ()
    asked = (
        _is_code_asked(name.split()[-1], cell, question, needs_capital=at > 0)
        for at, (name, cell) in enumerate(zip(names, cells, strict=False))
        if name.split() and _CODE.fullmatch(cell) and not _CODE.fullmatch(name)
    )
    return next((each for each in asked if each is not None), None)


def is_measure_named(text: str, start: int, question: str) -> bool | None:
    """Return whether a question names a row by its measure: "10 W" the row "10" of `Power [W] | Distance`.

    None if it names none with the unit that stands in the first column's name.
    """
    header = first_row(text, start)
    if header is None or header[0] == start:
        return None
    unit = _UNIT_IN_BRACKETS.search(row_cells(text[slice(*header)])[0])
    if unit is None:
        return None
    named = re.findall(rf"(?<![\w.,])(\d+(?:\.\d+)?)[ -]?{re.escape(unit[1])}(?!\w)", question)
    end = text.find("\n", start)
    label = row_cells(text[start : end if end >= 0 else len(text)])[0]
    return label in named if named and _PLAIN_NUMBER.fullmatch(label) else None


@lru_cache(maxsize=100)
def _may_name_a_code(question: str) -> bool:
    return _BEHIND_A_WORD.search(question) is not None


def _is_code_asked(word: str, code: str, question: str, *, needs_capital: bool) -> bool | None:
    """Return whether a question has a code behind a word; None if it has none there.

    With `needs_capital` no small "a" or "i" is one: "Is influenza a risk?"
    """
    if word.casefold() not in question.casefold():  # most labels' words: no pattern need be made for them
        return None
    word, one = re.escape(word), rf"(?:{_CODE.pattern})(?!\w)"
    named = re.findall(
        rf"(?<!\w){word}s? ({one}(?:(?:,? (?:and|or|to) |, | ?[-–/&] ?)(?:{word}s? )?{one})*)", question, re.IGNORECASE
    )
    is_range = any(re.search(r" to |[-–]", each) for each in named)
    codes = {each.casefold() for each in re.findall(rf"(?<!\w){one}", " ".join(named), re.IGNORECASE)}
    if needs_capital:
        codes -= {each for each in ("a", "i") if not re.search(rf"(?<!\w){each.upper()}(?!\w)", question)}
    if code.casefold() in codes:
        return True
    return None if is_range or not codes else False
