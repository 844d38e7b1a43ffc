"""Finds tables among a page's rows: where they begin and end, and what is none."""

import re
from collections.abc import Collection, Iterator, Sequence, Set
from itertools import pairwise

from functions.ingest.parsing.table_cells import (
    ALIGNED,
    LARGER,
    LEAST_WORDS,
    MARK,
    SMALLEST_HEIGHT,
    UNIT,
    YEAR,
    Cell,
    Group,
    cells_of,
    has_figure,
    is_beside,
    is_figure,
    is_led,
    is_number,
    is_title_of,
)
from functions.ingest.parsing.table_columns import WIDER, cut_at, gutters_of, is_cut_in_two
from functions.ingest.parsing.words import Row, Word

PROSE_GAP_EM = 2.5
"""Gaps in spread prose are under it; columns of text are further apart, or begin below each other."""
SMALLER = 0.93
"""Print that is smaller than its table's by this factor."""
MAX_BETWEEN = 2
MAX_BETWEEN_FIGURES = 3
"""Groups of one cell (titles inside a table, wrapped labels) allowed between rows of several; and below figures."""
MAX_CELL_CHARACTERS = 500
MAX_HEADER_CHARACTERS = 60
"""Of one line of a header's cell."""
LED_ROWS = 3
"""Entries of a table of contents with dots, at least, beside which others may be without."""
ENTRIES_OUTSIDE, LONGEST_NUMBER = 2, 4
"""Entries without dots before the first or behind the last of these, at most, unless they are counted: more are a
table; and digits that a chapter's number does not have."""
LEADER = "...."
NEAR_ITEMS = 3
"""Lines or rows around an item within which the one before or after it begins."""
LEAST_ROWS = 2
"""Rows of a table, its header among them, before another one that begins with the same header."""
ROW_ROOM = 3
ROW_OVERLAP = 0.8
"""How far two rows of a table may be apart or overlap, in heights of a line."""
LONGEST_SINGLE_ROWS = 3
LONGEST_SINGLE = 160
"""Lines, and characters, of a table's row with a single cell, at most."""
FIGURES_SHARE = 0.4
"""Share of the cells behind the labels that are figures, if these alone tell that it is a table."""
_FORMULA_NUMBER = re.compile(r"\((?:\d+\.)*(\d+)\)")
_ITEM_NUMBER = re.compile(r"\(?(\d{1,2})([.)]?)")
_RELATION = re.compile(r"[=<>≤≥≈∼~≡≠∝∈→]")
"""What a formula holds: "x = 2y"."""
NARROW_SHARE = 0.6
PROSE_ALIGNED = 0.3
ALIGNED_SHARE = 0.6
"""Share of narrow gaps in justified prose at least, share of its lines whose gaps are at one place at most, and share
of a table's rows that line up at least."""


def with_leaders(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of a page, with dots in the entries of a table of contents that have none beside others.

    Chapters have room there instead: the entry's page ends where those of the others do, and lies between those of the
    entries before and after it. Before the first and behind the last entry with dots, there are few,
    or they are counted.
    """
    paged = [(at, row) for at, row in enumerate(rows) if row.words[-1].text.isdecimal()]
    led = {at: row for at, row in paged if is_led(row.words)}
    if len(led) < LED_ROWS:
        return rows
    edges = [row.x1 for row in led.values()]
    aligned = [(at, int(row.words[-1].text)) for at, row in paged if any(abs(row.x1 - x) < ALIGNED for x in edges)]
    first, last = min(led), max(led)
    groups = ([each for each in aligned if each[0] < first], [each for each in aligned if each[0] > last])
    may_be = [group for group in groups if len(group) <= ENTRIES_OUTSIDE or _are_counted(rows, group)]
    few = {at for group in may_be for at, _ in group}
    order = [page for at, page in aligned if first <= at <= last or at in few]
    entries = (
        few | {at for at, _ in aligned if first <= at <= last} if order == sorted(order) else _rising(aligned, led)
    )
    out: list[Row] = []
    for at, row in enumerate(rows):
        *label, page = row.words
        if at not in entries:
            out.append(row)
        elif label:
            cells = cells_of(row)
            is_entry = len(cells) == 2 and cells[1].text == page.text and any(map(str.isalpha, cells[0].text))
            out.append(_with_leader(label, page) if is_entry else row)
        elif out and out[-1].x1 < page.x0 and is_beside(out[-1], row) and len(cells_of(out[-1])) == 1:
            out.append(_with_leader(out.pop().words, page))
        else:
            out.append(row)
    return out


def _are_counted(rows: Sequence[Row], entries: Sequence[tuple[int, int]]) -> bool:
    """Whether entries, which may be written apart from their pages, begin with numbers that count on, as chapters."""
    labels = [rows[max(0, at - 1)] if len(rows[at].words) == 1 else rows[at] for at, _ in entries]
    numbers = [label.words[0].text.removesuffix(".") for label in labels]
    counted = [int(number) for number in numbers if number.isdecimal() and len(number) < LONGEST_NUMBER]
    return len(counted) == len(labels) and all(b == a + 1 for a, b in pairwise(counted))


def _rising(aligned: Sequence[tuple[int, int]], led: Collection[int]) -> Set[int]:
    """Return the numbers of the rows between two entries with dots whose pages they lie between."""
    found: set[int] = set()
    before = after = None
    for at, page in aligned:
        before = page if at in led else before
        after = next((other for place, other in aligned if place > at and place in led), None)
        if before is not None and after is not None and before <= page <= after:
            found.add(at)
    return found


def _with_leader(label: Sequence[Word], page: Word) -> Row:
    label[-1].ends = ""
    return Row.of([*label, Word(LEADER, label[-1].x1, page.y0, page.x0, page.y1, label[-1].style), page])


def with_items_whole(groups: list[Group]) -> list[Group]:
    """Return groups, those of numbered items and notes whose numbers stand apart with a single cell: no table."""
    out: list[Group] = []
    for at, group in enumerate(groups):
        number = _number_of(*group.cells) if len(group.cells) == 2 else None
        near = groups[max(0, at - NEAR_ITEMS) : at + NEAR_ITEMS + 1]
        if number is None or {number - 1, number + 1}.isdisjoint(map(_first_number, near)):
            out.append(group)
            continue
        mark, text = group.cells
        lines = [mark.lines[0] + text.lines[0], *text.lines[1:]]
        out.append(Group([Row.of(words) for words in lines], [Cell(lines, mark.x0, text.y0, text.x1, text.y1)]))
    return out


def _number_of(mark: Cell, text: Cell) -> int | None:
    """Return the number before an item ("7.", "(7)") or, in small print, before a note, if words stand behind it."""
    number = _ITEM_NUMBER.fullmatch(mark.text)
    if number is None or sum(map(len, text.lines)) < LEAST_WORDS or not any(map(str.isalpha, text.text)):
        return None
    is_small = mark.lines[0][0].style.size < SMALLER * text.lines[0][0].style.size
    return int(number[1]) if number[2] or is_small else None


def _first_number(group: Group) -> int | None:
    number = _ITEM_NUMBER.fullmatch(group.rows[0].words[0].text)
    return int(number[1]) if number else None


def tables_in(groups: list[Group]) -> list[tuple[int, int]]:
    """Return the runs of groups (start, end) that are tables."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(groups):
        if not _has_several_cells(groups[at]) or _introduces(groups[at]):
            at += 1
            continue
        end = _end_of_run(groups, at)
        for start, stop in _apart(groups, at, end):
            if _is_table(groups[start:stop]):
                found += _with_own_headers(groups, start, stop)
        if found and found[-1][1] == end:
            start, _ = found.pop()
            end = _end_of_narrow_rows(groups, start, end)
            found.append((start, end))
        at = end
    return found


def _end_of_narrow_rows(groups: list[Group], start: int, end: int) -> int:
    """Return where a table ends if the rows below it count whose label leaves its second column little room.

    They begin as the two rows above do, are as near, and have their widest gap before that column, or go on in it.
    """
    several = [group for group in groups[start:end] if len(group.cells) > 1][-2:]
    if len(several) < 2 or groups[end - 1] is not several[1]:
        return end
    above, last = several
    after = end
    left, right = last.cells[0].x0, last.cells[1].x0
    pitch = last.box[1] - above.box[1]
    gutters: list[tuple[float, float]] | None = None
    if abs(above.cells[0].x0 - left) > 1 or abs(above.cells[1].x0 - right) > 1 or pitch <= 0:
        return end
    while end < len(groups):
        group = groups[end]
        drops = [row.y0 - before.y0 for before, row in pairwise([groups[end - 1].rows[-1], *group.rows])]
        if not all(0 < drop < WIDER * pitch for drop in drops):
            break
        narrow = [_is_narrow_row(row, left, right) for row in group.rows]
        if not all(is_narrow or abs(row.x0 - right) <= 1 for is_narrow, row in zip(narrow, group.rows, strict=True)):
            break
        if end == after and not narrow[0]:
            break  # an indented paragraph
        if gutters is None:
            gutters = gutters_of(groups[start:after])
        labelled = [row for row, is_narrow in zip(group.rows, narrow, strict=True) if is_narrow]
        if not all(len(cut_at(cells_of(row), gutters)) > 1 for row in labelled):
            break
        if len(group.cells) == 1:
            groups[end : end + 1] = [Group([row], cells_of(row)) for row in group.rows]  # each is cut by itself
        end += len(group.rows) if len(group.cells) == 1 else 1
    return end


def _is_narrow_row(row: Row, left: float, right: float) -> bool:
    """Whether a row begins at `left`, not with a note's number, and has its widest gap before a word at `right`."""
    if abs(row.x0 - left) > 1 or not is_cut_in_two(row.words) or MARK.fullmatch(row.words[0].text):
        return False
    rooms = [word.x0 - before.x1 for before, word in pairwise(row.words)]
    return abs(row.words[rooms.index(max(rooms)) + 1].x0 - right) <= 1


def _apart(groups: list[Group], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a run where another table begins: at a header below rows with figures."""
    last = None
    for at in range(start, end):
        if last is not None and (_begins_table(groups[at]) or _is_over_figures(groups[at], groups[last])):
            yield start, last + 1
            start = next(begin for begin in range(last + 1, end) if len(groups[begin].cells) > 1)
            last = None
        if has_figure(groups[at]):
            last = at
    yield start, end


def _with_own_headers(groups: list[Group], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a table where its header is repeated below a line that introduces the next one."""
    for at in range(start + LEAST_ROWS + 1, end - 1):
        if len(groups[at - 1].cells) == 1 and _repeats(groups[at], groups[start]):
            yield start, at - 1
            start = at
    yield start, end


def _repeats(group: Group, header: Group) -> bool:
    """Whether a row has the cells of an earlier one, in the same places, all of words: the names of columns."""
    if len(group.cells) < 2 or len(group.cells) != len(header.cells) or has_figure(group):
        return False
    if not all(any(map(str.isalpha, cell.text)) for cell in group.cells):
        return False
    pairs = zip(group.cells, header.cells, strict=True)
    return all(cell.text == name.text and abs(cell.x0 - name.x0) < ALIGNED for cell, name in pairs)


def _is_over_figures(group: Group, above: Group) -> bool:
    """Whether a row of one cell tells the period of the figures below it: it stands where those above it stand."""
    (cell, *others) = group.cells
    if others or is_number(cell.text) or not YEAR.search(cell.text) or len(cell.text) > MAX_HEADER_CHARACTERS:
        return False
    return above.cells[0].x1 < cell.x0 and above.cells[1].x0 < cell.x1 and cell.x0 < above.cells[-1].x1


def _begins_table(group: Group) -> bool:
    """Whether a row with several cells is the header of a table: years, dates or a unit, and no figures."""
    later = [cell.text for cell in group.cells[1:]]
    if not later or has_figure(group) or any(len(text) > MAX_HEADER_CHARACTERS for text in later):
        return False
    return any(YEAR.search(text) for text in later) or any(UNIT.fullmatch(cell.text) for cell in group.cells)


def _has_several_cells(group: Group) -> bool:
    if len(group.cells) < 2 or group.rows[0].mono:
        return False
    return all(sum(len(w.text) for line in cell.lines for w in line) <= MAX_CELL_CHARACTERS for cell in group.cells)


def _introduces(group: Group) -> bool:
    """Whether a row ends the sentence that introduces a table: cut at its figures, and with a colon at its end."""
    first, last = group.cells[0].text, group.cells[-1].text
    return len(first) > MAX_HEADER_CHARACTERS and last.endswith(":")


def _end_of_run(groups: list[Group], start: int) -> int:
    end = last = start + 1
    between = 0
    is_one_row = sum(is_figure(cell.text) for cell in groups[start].cells) > 1  # which would be no table without others
    while end < len(groups):
        above, group = groups[end - 1], groups[end]
        between += not (end > last and is_title_of(above.cells[0], group.cells[0]))  # the two count as one
        drop = group.box[1] - above.box[3]
        height = group.rows[0].y1 - group.rows[0].y0
        if between > (MAX_BETWEEN_FIGURES if has_figure(groups[last - 1]) else MAX_BETWEEN) + 1:
            break
        if (
            drop > ROW_ROOM * max(SMALLEST_HEIGHT, height)
            or drop < -ROW_OVERLAP * max(SMALLEST_HEIGHT, height)
            or group.rows[0].mono
        ):
            break
        if len(group.cells) == 1 and (
            len(group.rows) > LONGEST_SINGLE_ROWS or sum(row.length for row in group.rows) > LONGEST_SINGLE
        ):
            break
        if _is_sentence(group, groups[last - 1]) or _is_note(group, groups[last - 1]):
            break
        if len(group.cells) == 1 and _is_larger(group, groups[last - 1], groups[end + 1 : end + 2]) and not is_one_row:
            break
        end += 1
        if _has_several_cells(group) or _is_last_sum(group, above):
            last, between, is_one_row = end, 0, False
    return last


def _is_larger(group: Group, above: Group, below: Sequence[Group]) -> bool:
    """Whether a row is set in larger print than the rows around it, so that it is the title of what follows."""
    sizes = [words[0].style.size for other in (above, *below) for cell in other.cells for words in cell.lines]
    return group.rows[0].words[0].style.size > LARGER * max(sizes)


def _is_note(group: Group, above: Group) -> bool:
    """Whether a row in small print below figures, with a mark, is a note to the table."""
    first, row = group.rows[0].words[0], above.rows[0].words[0]
    is_small = first.style.size < SMALLER * row.style.size
    return is_small and len(group.cells) == 1 and has_figure(above) and MARK.fullmatch(first.text) is not None


def _is_sentence(group: Group, above: Group) -> bool:
    """Whether a row runs on below the columns above it, longer than a title: it introduces another table."""
    (first, *others) = group.cells
    if others or len(first.text) <= MAX_HEADER_CHARACTERS or first.x1 <= above.cells[-1].x0:
        return False
    return not any(is_cut_in_two(words) for words in first.lines)


def _is_last_sum(group: Group, above: Group) -> bool:
    """Whether a row is a sum without a label, below the figures of the last column."""
    (cell, *others), last = group.cells, above.cells[-1]
    return not others and is_number(cell.text) and is_number(last.text) and abs(cell.x1 - last.x1) < ALIGNED


def _is_table(run: list[Group]) -> bool:
    """Two rows with cells that line up, or with figures in them; prose with stray gaps is neither."""
    several = [group for group in run if len(group.cells) >= 2]
    if len(several) < 2 or _are_formulas(several) or _are_blanks(several):
        return False
    figures = sum(is_number(cell.text) for group in several for cell in group.cells[1:])
    others = sum(len(group.cells) - 1 for group in several)
    return figures >= FIGURES_SHARE * others or (_aligned(several) and not _is_spread_prose(several))


def _are_blanks(several: list[Group]) -> bool:
    """Whether rows all read the same, as those of a form do: "Petitioner ___ % Respondent ___ %"."""
    texts = {tuple([cell.text for cell in group.cells]) for group in several}
    return len(texts) == 1 and not any(is_number(cell) for text in texts for cell in text)


def _are_formulas(several: list[Group]) -> bool:
    """Whether rows are formulas with their numbers, which count: "x = 2y | (7)"."""
    numbers = [_FORMULA_NUMBER.fullmatch(group.cells[-1].text) for group in several if len(group.cells) == 2]
    counted = [int(number[1]) for number in numbers if number is not None]
    if len(counted) != len(several) or any(b != a + 1 for a, b in pairwise(counted)):
        return False
    return all(_RELATION.search(group.cells[0].text) for group in several)


def _is_spread_prose(several: list[Group]) -> bool:
    """Whether cells are parts of justified lines, as scans have them: narrow gaps, each at another place."""
    gaps = [(a, b) for group in several for a, b in pairwise(group.cells)]
    narrow = sum(b.x0 - a.x1 < PROSE_GAP_EM * a.lines[0][0].style.size for a, b in gaps)
    if narrow < NARROW_SHARE * len(gaps):
        return False
    starts = [{cell.x0 for cell in group.cells[1:]} for group in several]
    aligned = sum(any(abs(a - b) < ALIGNED for a in above for b in below) for above, below in pairwise(starts))
    return aligned < PROSE_ALIGNED * (len(several) - 1)


def _aligned(several: list[Group]) -> bool:
    """Whether most rows share the left, right or middle of a later cell with the row before."""
    hits = 0
    for above, below in pairwise(several):
        edges = [(cell.x0, cell.x1) for cell in above.cells[1:]]
        hits += any(
            abs(cell.x0 - x0) < ALIGNED or abs(cell.x1 - x1) < ALIGNED or abs(cell.x0 + cell.x1 - x0 - x1) < 2 * ALIGNED
            for cell in below.cells[1:]
            for x0, x1 in edges
        )
    return hits >= ALIGNED_SHARE * (len(several) - 1)
