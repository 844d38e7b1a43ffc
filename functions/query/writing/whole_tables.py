"""The tables of passages that are known to their end, with all their rows: those from which a list can be told."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from functions.query.grounding.table_cells import may_name, with_ticked_only
from functions.query.grounding.tables import tables_in
from functions.query.grounding.words import has_digit, is_stop_word
from functions.query.retrieval.passages import Passage
from functions.query.writing.cells import is_of_all
from functions.query.writing.table_words import words_in
from shared.text import SEPARATOR, header_at, is_header, row_cells

MIN_ROWS = 2
MAX_GAP = 4
"""Maximum characters of white space between a passage and the next one of its document."""
MAX_APART = 3
"""Lines below a table in which rows without names may be more of it."""

_GROUP = re.compile(r"[^\W\d_][^.:;!?|]{0,40}")
"""A line that names the rows below it."""
_SEVERAL = re.compile(r"[,&/]|\b(?:and|or|und|oder|et|ou|y|o|ir|ar)\b")
"""A text that is about several things, of which a table may be one."""


class WholeRow(NamedTuple):
    """A row's place and its cells; `group`: the line above it that names some of the rows: "Children"."""

    passage: int
    start: int
    end: int
    cells: Sequence[str]
    group: str = ""


@dataclass(frozen=True, slots=True)
class WholeTable:
    """A table's rows that are known, all if it `is_whole`.

    `about` is its document's name, its section and the line above it, `around` their words, `beside` the text of its
    document that is at hand, without rows; `is_named`: its first row clearly names its columns. A table has no rows if
    not all of them can be read.
    """

    names: Sequence[str]
    is_named: bool
    rows: Sequence[WholeRow]
    about: str
    around: frozenset[str]
    text: str
    language: str
    is_whole: bool
    beside: str = ""

    def column(self, at: int) -> Sequence[str]:
        """Return the cells of a column."""
        return [row.cells[at] for row in self.rows]


@lru_cache(maxsize=64)
def tables_of(at: int, passage: Passage, before: Passage | None, after: Passage | None) -> Sequence[WholeTable]:
    """Return the tables of a passage of which all rows have as many cells as there are names.

    `before` and `after` are those beside it of its document that are at hand. Kept for a question or two: the decision
    and the writer, its list and its doubts all read the same ones.
    """
    return tuple(_read_tables(at, passage, before, after))


def _read_tables(at: int, passage: Passage, before: Passage | None, after: Passage | None) -> Iterator[WholeTable]:
    if passage.corrected or passage.described_by:
        return
    lines: list[tuple[str, int]] = []
    start = 0
    for line in passage.whole.split("\n"):
        lines.append((line, start))
        start += len(line) + 1
    end = 0
    while end < len(lines):
        first = next((n for n in range(end, len(lines)) if SEPARATOR in lines[n][0]), len(lines))
        end = _end_of_table(lines, first)
        of_rows = [line for line in lines[first:end] if SEPARATOR in line[0]]
        names, is_named = _names_of(of_rows)
        if names and not (rows := _rows_of(at, lines[first + 1 : end], names, len(passage.above))):
            yield WholeTable(names, is_named, (), "", frozenset(), "", "", is_whole=False)
        elif names:
            begins = lines[first][1] >= len(passage.above) and (
                first > 0 or not passage.char_start or (before is not None and _is_next(before, passage))
            )
            ends = end < len(lines) or passage.table_ends or (after is not None and _begins_anew(passage, after))
            is_whole = begins and ends and not _goes_on(lines[end:], len(names))
            about = [next((line for line, _ in reversed(lines[:first]) if line.strip()), ""), passage.title]
            about += [passage.section_at(passage.char_start + rows[0].start), *passage.organisations]
            language = passage.language or "en"
            clear = " ".join(each for each in about if not _SEVERAL.search(each))
            around = frozenset(token.key for token in words_in(clear, language) if not is_stop_word(token.word))
            yield WholeTable(names, is_named, rows, " ".join(about), around, passage.whole, language, is_whole)


def _end_of_table(lines: Sequence[tuple[str, int]], first: int) -> int:
    """Return the number of the line behind a table's rows, between which a line may name the rows below it."""
    end = first
    while end < len(lines):
        line, below = lines[end][0], lines[end + 1][0] if end + 1 < len(lines) else ""
        if SEPARATOR not in line and not (
            SEPARATOR in below
            and len(row_cells(below)) == len(row_cells(lines[first][0]))
            and _GROUP.fullmatch(line.strip())
        ):
            return end
        end += 1
    return end


def _names_of(block: Sequence[tuple[str, int]]) -> tuple[Sequence[str], bool]:
    """Return the cells of the first of a run of rows that may name columns, and whether it clearly does; else none."""
    if len(block) <= MIN_ROWS:
        return (), False
    text = "\n".join(line for line, _ in block)
    names, *rows = [row_cells(line) for line, _ in block]
    may_name_all = len(names) > 1 and len(set(names)) == len(names) and all(names[1:])
    if not may_name_all or any(set(names) & set(row) - {""} for row in rows if row != names):
        return (), False
    if header_at(text, len(block[0][0]) + 1) == (0, len(block[0][0].rstrip())) or is_header(text, 0):
        return names, True
    tables = tables_in(text)
    if len(tables) == 1 and [*tables[0].columns] == names[1:] and len(tables[0].rows) == len(rows):
        return names, True
    return (names if all(map(may_name, names)) and not has_digit(text) else ()), False


def _begins_anew(passage: Passage, after: Passage) -> bool:
    """Return whether a passage follows another, and does not go on with its table: with names of its own, or none."""
    lines = [(line, 0) for line in after.text.partition("\n\n")[0].split("\n")]
    is_of_rows = SEPARATOR in lines[0][0]
    is_other = not (after.table or (is_of_rows and not _names_of(lines)[1]))
    return is_other and _is_next(passage, after)


def _is_next(passage: Passage, after: Passage) -> bool:
    is_other = after.corrected or after.described_by
    return not is_other and 0 <= after.char_start - passage.char_end <= MAX_GAP


def _goes_on(below: Sequence[tuple[str, int]], width: int) -> bool:
    """Return whether more rows of a table may stand below lines that interrupt it."""
    near = [(line, n) for n, (line, _) in enumerate(below) if line.strip()][:MAX_APART]
    at = next((n for line, n in near if SEPARATOR in line), None)
    if at is None:
        return False
    end = next((n for n in range(at, len(below)) if SEPARATOR not in below[n][0]), len(below))
    return len(row_cells(below[at][0])) == width and not _names_of(below[at:end])[1]


def _rows_of(at: int, block: Sequence[tuple[str, int]], names: Sequence[str], shift: int) -> Sequence[WholeRow]:
    """Return the rows below the names, without totals and repeated names; none if one has other cells than they."""
    rows: list[WholeRow] = []
    group = ""
    for line, start in block:
        if SEPARATOR not in line:
            group = line.strip()
            continue
        end = start - shift + len(line.rstrip())
        rows.append(WholeRow(at, start - shift, end, row_cells(with_ticked_only(line)), group))
    if not names or any(len(row.cells) != len(names) for row in rows):
        return ()
    kept = [
        row
        for row in rows
        if row.start >= 0 and row.cells != list(names) and sum(map(bool, row.cells)) > 1 and not is_of_all(row.cells[0])
    ]
    return kept if all(row.cells[0] for row in kept) else ()
