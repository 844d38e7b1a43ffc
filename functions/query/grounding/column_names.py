"""Names the columns of stored tables: by the place of their names, or else by the periods in their order."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile

from functions.query.grounding.table_cells import YEAR, TableRow
from shared import identity
from shared.dates import dates_in, month_number
from shared.lexical import fold

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
