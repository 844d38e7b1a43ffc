"""Tables as ingest writes them, a row a line: what stands over a row."""

import re
from collections.abc import Sequence

SEPARATOR = " | "
"""Stands between the cells of a row."""
LONGEST_NAME_CHARACTERS = 60
"""A longer cell is text, not the name of a column."""
_NAME = re.compile(
    r"(?: [^\W\d]++(?:\d{1,2}\b)? | (?:19|20)\d\d\b(?:[/–-]\d\d\b)? | \d{1,2}(?=,?[ ](?:19|20)\d\d\b) | \W )*+",
    re.VERBOSE,
)
"""Words ("Q1" is one), years and days of a year: a cell with any other number is data."""


def table_head(text: str, start: int, *, rows: int = 1) -> Sequence[str]:
    """Return the first rows of the table that a position stands in, and the line before it; empty elsewhere."""
    lines, first = _above(text, start)
    if first is None:
        return ()
    before = next((line for line in reversed(lines[:first]) if line.strip()), "")
    return tuple(line for line in (before, *lines[first : first + rows]) if line.strip())


def column_names(text: str, start: int) -> tuple[int, int] | None:
    """Return where the names of the columns stand (start, end) for a position in one of the rows with figures below.

    None where there are none that can be told from data.
    """
    lines, first = _above(text, start)
    if first is None or first == len(lines) or not any(map(str.isdigit, row := _line(text, start))):
        return None
    names = [cell.strip() for cell in lines[first].split(SEPARATOR.strip())]
    above_the_labels, *above_the_figures = names
    if len(names) != len(row.split(SEPARATOR.strip())) or not all(map(_may_name, above_the_figures)):
        return None
    if above_the_labels and not _may_name(above_the_labels):
        return None
    begin = sum(len(line) + 1 for line in lines[:first])
    return begin, begin + len(lines[first].rstrip())


def _may_name(cell: str) -> bool:
    return len(cell) <= LONGEST_NAME_CHARACTERS and any(map(str.isalnum, cell)) and _NAME.fullmatch(cell) is not None


def _line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _above(text: str, at: int) -> tuple[Sequence[str], int | None]:
    """Return the lines above a position in a table, and the number of the one that begins it (all of them: its own)."""
    if SEPARATOR not in _line(text, at):
        return (), None
    lines = text[: text.rfind("\n", 0, at) + 1].split("\n")[:-1]
    first = len(lines)
    while first > 0 and SEPARATOR in lines[first - 1]:
        first -= 1
    return lines, first
