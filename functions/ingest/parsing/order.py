"""The order in which rows are read: columns, boxes and captions as regions, each from its top to its bottom.

Rows come in the order of the content stream, which is the order of reading except where a producer has drawn a page in
layers (all headings last), from right to left, or one column of a list after the other. Only that is mended: a page in
order stays as it is, at a cost linear in its rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, takewhile

from functions.ingest.parsing.by_column import rows_together
from functions.ingest.parsing.lettering import (
    FIGURE,
    TOUCHING,
    goes_up,
    lettering_by_line,
    with_figures_beside,
)
from functions.ingest.parsing.white_space import cut_along_white_space, with_columns_whole
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import Box, Row, Word, box_of, shared_height

MIN_ORDERED = 4
MAX_BACKWARDS = 2
BACKWARDS_SHARE = 0.2
"""Rows of a page whose order is looked at, at least; rows, and share of them, that may stand against reading order."""
MARGINAL_HEIGHT = 1.2
"""Height of a row of header or footer, at most, in those of the usual row."""
SET_OFF_MORE = 1.05
"""How much more room there is between rows that are set off than between the lines of either."""
TIGHT_OVERLAP = 0.5
TIGHT_ROOM = 0.6
LEAST_HEIGHT = 0.8
MOST_HEIGHT = 1.25
"""How far the rows of a run set tightly may overlap or be apart, in heights of a row, and how much their heights may
differ."""
SMALLER = 0.9
"""Size of a mark in small print, in that of the text it belongs to, at most."""
MARK_WITHIN = 0.5
MARK_NEAR = 2
"""Share of a mark's height that lies within the row it belongs to, and room between the two, in its font sizes."""
RAGGED_SHARE = 0.5
"""Share of the narrower row's width that a row above has in common with it."""
BESIDE_SHARE = 0.5
"""Share of a row's height that it has in common with the row it stands beside."""
BACK = 0.5
"""Share of a row's width that the next one begins to the left of its end, if it stands against reading order."""
MAX_ROWS = 500
"""Rows of a page that is put in order; one with more keeps the order it is written in. Bounds a quadratic cost."""
MARGIN = 0.09
"""Share of the page's height from its edge within which header and footer stand."""
LONGEST_MARK = 8
"""Characters of a raised or lowered mark: "(12)", "th", "(1)(2)"."""
MOST_TOGETHER = 4
"""Lines that are moved together, as those of a box or a caption; of more lines only those that contradict the page."""
LONGEST_PARAGRAPH = 12
"""Lines before which what stands beside them may move; of more it is a column."""
MOST_MOVED = 0.5
"""Share of a page's rows above which moving them one by one is no mending."""
APART = 1.15
"""Room between two words, in font sizes, that may separate two columns."""
NEAR = 2.5
"""Room below a region's last row, in heights of a row, up to which the next one belongs to it."""
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
MOST_RUNNING = 3
LONGEST_RUNNING = 80
MOST_BESIDE = 2
"""Rows of a header or footer, characters of one without spaces, and its parts side by side."""
NEXT_ROWS = 6
"""Rows next to it whose distance counts."""
RUNNING = 0.11
SET_OFF = 0.75
"""Share of the page's height within which they stand, and room, in font sizes, that sets them off from a table."""


def in_reading_order(rows: list[Row], height: float) -> list[Row]:
    """Return rows as they are when their order makes sense; else mend it. `height` is the page's.

    An order makes sense when lines mostly go down, and go up only to begin a column further to the right. If it does
    nowhere, they are sorted by recursive cuts along white space.
    """
    if len(rows) < MIN_ORDERED:
        return rows
    wrong = sum(_backwards(a, b) for a, b in pairwise(rows))
    if wrong > max(MAX_BACKWARDS, BACKWARDS_SHARE * len(rows)):
        return cut_along_white_space(rows)
    if len(rows) > MAX_ROWS or not any(goes_up(a, b) for a, b in pairwise(rows)):
        return rows
    start, end = _within_margins(rows, height)
    inner = rows_together(rows[start:end])
    return rows[:start] + lettering_by_line(with_figures_beside(_left_first(_top_down(inner)))) + rows[end:]


def is_in_margin(y0: float, y1: float, height: float) -> bool:
    """Whether what reaches from `y0` down to `y1` stands where header and footer do on a page of this height."""
    return y1 < MARGIN * height or y0 > (1 - MARGIN) * height


def _within_margins(rows: list[Row], height: float) -> tuple[int, int]:
    """Return where the rows begin and end that are not header and footer, written before or after everything else.

    Those stay apart, so that they are no part of a table or a paragraph until they are recognised.
    """
    usual = sorted(row.y1 - row.y0 for row in rows)[len(rows) // 2]

    def is_marginal(row: Row) -> bool:
        return is_in_margin(row.y0, row.y1, height) and row.y1 - row.y0 < MARGINAL_HEIGHT * usual

    start, end = 0, len(rows)
    while start < end and is_marginal(rows[start]):
        start += 1
    while start < end and is_marginal(rows[end - 1]):
        end -= 1
    return start, end


def apart_from_table(rows: list[Row], height: float) -> tuple[int, int]:
    """Return where the rows begin and end that are not header and footer, set off from what is next to them."""
    start, end = 0, len(rows)
    for at in range(min(MOST_RUNNING, end - 1), 0, -1):
        is_marginal = rows[at - 1].y1 < RUNNING * height
        if is_marginal and _may_run(rows[:at]) and _is_set_off(rows[:at], rows[at : at + NEXT_ROWS]):
            start = at
            break
    for at in range(max(1, end - MOST_RUNNING), end):
        is_marginal = rows[at].y0 > (1 - RUNNING) * height
        if is_marginal and _may_run(rows[at:]) and _is_set_off(rows[max(0, at - NEXT_ROWS) : at], rows[at:]):
            return start, at
    return start, end


def _may_run(rows: Sequence[Row]) -> bool:
    """Whether rows may be a header or footer: short ones, with a page number at an edge and no other figures.

    Three parts side by side are the header of a table.
    """
    beside = [sum([len(_parts(other)) for other in rows if other.y0 < row.y1 and row.y0 < other.y1]) for row in rows]
    if any(row.length > LONGEST_RUNNING for row in rows) or max(beside, default=0) > MOST_BESIDE:
        return False
    edges = {id(word): word for row in rows for word in (row.words[0], row.words[-1])}
    within = [word for row in rows for word in row.words[1:-1]]
    return sum(map(_is_bare, edges.values())) == 1 and not any(map(_is_bare, within))


def _is_bare(word: Word) -> bool:
    """Whether a word is a figure without letters, and no day in a date."""
    return FIGURE.fullmatch(word.text) is not None and not any(map(str.isalpha, word.text)) and word.text[-1] != ","


def _is_set_off(above: Sequence[Row], below: Sequence[Row]) -> bool:
    """Whether there is more room between some rows than between the lines of either."""
    room = min([row.y0 for row in below]) - max([row.y1 for row in above])
    size = max(above[-1].words[0].style.size, below[0].words[0].style.size)
    gaps = [b.y0 - a.y1 for rows in (above, below) for a, b in pairwise(rows) if b.y0 >= a.y1]
    return room > SET_OFF * size and room > SET_OFF_MORE * min(gaps, default=0.0)


AT_ONE_HEIGHT = 0.1
"""Share of their height that two rows of different columns have in common at least, if they stand side by side."""


def is_beside(a: Row, b: Row) -> bool:
    """Whether two rows stand side by side, at one height."""
    return shared_height(a, b) > AT_ONE_HEIGHT * min(a.y1 - a.y0, b.y1 - b.y0) and (a.x1 <= b.x0 or b.x1 <= a.x0)


def _top_down(rows: list[Row]) -> list[Row]:
    """Return the rows with those that were written late or early put where they stand, in the column they stand in.

    Those are the shortest rows (chosen greedily) without which every column goes down: headings that were drawn after
    the text move up between its paragraphs, a footer that was drawn first moves down. Where these are most rows, as in
    a form whose boxes were written in any order, all are sorted.
    """
    if not rows or not _has_late_rows(rows):
        return rows
    rows = _with_bottom_last(rows)
    parts, blocks = [_parts(row) for row in rows], _blocks(rows)
    moved = _misplaced(rows, parts, blocks)
    if len(moved) > MOST_MOVED * len(rows):
        return rows_together(cut_along_white_space(rows))
    out = [i for i in range(len(rows)) if i not in moved]
    for i in sorted(moved):
        kept = [rows[other] for other in out]
        if _take_marks(kept, rows[i]):
            continue
        if i - 1 in moved and blocks[i - 1] == blocks[i] and i - 1 in out:
            at = out.index(i - 1) + 1
        elif _is_mark(rows[i], kept):
            at = sum([other < i for other in out])
        else:
            at = _place_among(out, i, rows, parts, blocks)
        out.insert(at, i)
    return [rows[i] for i in out]


def _with_bottom_last(rows: list[Row]) -> list[Row]:
    """Return the rows so that those written first come last where they stand below all others, not beside them."""
    lowest = list(accumulate((row.y1 for row in reversed(rows)), max))[::-1]
    top = rows[0].y0
    for at in range(1, len(rows)):
        top = min(top, rows[at - 1].y0)
        if top >= lowest[at]:
            (left, _, right, _), (x0, _, x1, _) = box_of(rows[:at]), box_of(rows[at:])
            if min(right, x1) - max(left, x0) > RAGGED_SHARE * min(right - left, x1 - x0):
                return rows[at:] + rows[:at]
    return rows


def _misplaced(rows: list[Row], parts: list[list[Box]], blocks: Sequence[range]) -> set[int]:
    """Return rows without which every column goes down: the shortest that contradict most others, with their blocks."""
    contradicted = _contradicted(rows, parts)
    against = [set(each) for each in contradicted]
    lengths = [max(1, row.length) for row in rows]
    moved: set[int] = set()
    while any(against):
        worst = max(range(len(rows)), key=lambda i: len(against[i]) / lengths[i])
        block = blocks[worst] if len(blocks[worst]) <= MOST_TOGETHER else range(worst, worst + 1)
        for i in block:
            for other in against[i]:
                against[other].discard(i)
            against[i] = set()
        moved.update(block)
    for i in sorted(moved):
        if contradicted[i] and contradicted[i] <= moved:
            moved.discard(i)  # what it contradicted has been taken out, too
    return moved


def _contradicted(rows: list[Row], parts: list[list[Box]]) -> list[set[int]]:
    """Return for each row those that stand above it but are written after it, and the other way round."""
    against: list[set[int]] = [set() for _ in rows]
    tops = [row.y0 for row in rows]
    for late, top in enumerate(tops):
        # Most rows stand below those before them.
        for early in [at for at in range(late) if top < tops[at]]:
            if _is_above(parts[late], parts[early]):
                against[late].add(early)
                against[early].add(late)
    return against


def _is_mark(row: Row, others: list[Row]) -> bool:
    """Whether a row is nothing but marks in small print, as of footnotes, at one of the others."""
    return (
        all(len(word.text) <= LONGEST_MARK for word in row.words)
        and _is_small(row, others)
        and any(_is_at(row, other) for other in others)
    )


def _blocks(rows: list[Row]) -> list[range]:
    """Return for each row the run of rows, set tightly below each other in one size, that it belongs to."""
    runs: list[range] = []
    start = 0
    for at, (above, row) in enumerate(pairwise(rows), 1):
        height, other = row.y1 - row.y0, above.y1 - above.y0
        tight = -TIGHT_OVERLAP * height < row.y0 - above.y1 < TIGHT_ROOM * height and row.y0 > above.y0
        if not (
            tight and row.x0 < above.x1 and above.x0 < row.x1 and LEAST_HEIGHT * other < height < MOST_HEIGHT * other
        ):
            runs += [range(start, at)] * (at - start)
            start = at
    return runs + [range(start, len(rows))] * (len(rows) - start)


def _place_among(out: list[int], moved: int, rows: list[Row], parts: list[list[Box]], blocks: Sequence[range]) -> int:
    """Return where a row is to be inserted: before the first one below it, else behind the lines that end above it.

    What stands above or beside a paragraph goes before it, not between its lines.
    """
    for at, other in enumerate(out):
        if _is_above(parts[moved], parts[other]):
            first = at
            while first and out[first - 1] in blocks[other]:
                first -= 1
            is_between = first < at and rows[moved].y0 > (rows[out[at - 1]].y0 + rows[out[at - 1]].y1) / 2
            return at if is_between or at - first > LONGEST_PARAGRAPH else first
    at = max((at + 1 for at, other in enumerate(out) if _is_above(parts[other], parts[moved])), default=len(out))
    while 0 < at < len(out):
        above, row = rows[out[at - 1]], rows[out[at]]
        if row.y1 > rows[moved].y0 or row.y0 < above.y0 or row.x0 >= above.x1 or above.x0 >= row.x1:
            break
        at += 1
    return at


def _is_small(row: Row, others: list[Row]) -> bool:
    sizes = sorted(other.words[0].style.size for other in others)
    return bool(sizes) and row.words[0].style.size < SMALLER * sizes[len(sizes) // 2]


def _is_at(mark: Row, row: Row) -> bool:
    """Whether a mark stands at a row in larger print, or close to it."""
    near = MARK_NEAR * mark.words[0].style.size
    is_beside = mark.x0 < row.x1 + near and row.x0 < mark.x1 + near
    return is_beside and mark.y0 < row.y1 + near and row.y0 < mark.y1 + near and _is_smaller(mark, row)


def _is_smaller(mark: Row, row: Row) -> bool:
    return mark.words[0].style.size < SMALLER * max(word.style.size for word in row.words)


def _take_marks(rows: list[Row], marks: Row) -> bool:
    """Put raised or lowered marks, written apart, between the words they stand at; return whether all found a place."""
    left: list[Word] = []
    for word in marks.words:
        row = next((row for row in rows if _has_room_for(word, row)), None)
        if row is None:
            left.append(word)
            continue
        at = sum([other.x0 < word.x0 for other in row.words])
        word.ends = ""
        if at == len(row.words):
            word.ends, row.words[-1].ends = row.words[-1].ends, ""
        row.words.insert(at, word)
        row.x0, row.y0, row.x1, row.y1 = box_of(row.words)
    if left:
        marks.words = left
        marks.x0, marks.y0, marks.x1, marks.y1 = box_of(left)
    return not left


def _has_room_for(mark: Word, row: Row) -> bool:
    """Whether a mark in small print belongs to a row: it stands right behind one of its words, or before the first."""
    if len(mark.text) > LONGEST_MARK or ((row.y1 <= mark.y0 or mark.y1 <= row.y0) and mark.y0 < mark.y1):
        return False
    size = mark.style.size
    if shared_height(row, mark) < MARK_WITHIN * (mark.y1 - mark.y0) or mark.x0 > row.x1 + MARK_NEAR * size:
        return False
    at = sum([word.x0 < mark.x0 for word in row.words])
    if not at:
        return 0 <= row.x0 - mark.x1 < size and size < SMALLER * row.words[0].style.size
    if size >= SMALLER * max(other.style.size for other in row.words[:at]):
        return False
    room = mark.x0 - row.words[at - 1].x1
    return -TOUCHING * size <= room < MARK_NEAR * size and (
        at == len(row.words) or mark.x1 <= row.words[at].x0 + TOUCHING * size
    )


def _has_late_rows(rows: list[Row]) -> bool:
    """Whether a row may stand above one that is written before it: looked for where the order goes up."""
    runs: list[list[Row]] = [[rows[0]]]
    for before, row in pairwise(rows):
        if goes_up(before, row):
            runs.append([])
        runs[-1].append(row)
    boxes = [box_of(run) for run in runs]
    for later, (left, top, right, _) in enumerate(boxes):
        for run, (x0, _, x1, y1) in zip(runs[:later], boxes, strict=False):
            if x0 < right and left < x1 and top < y1:
                below = [_parts(row) for row in run if row.x0 < right and left < row.x1 and row.y1 > top]
                late = [_parts(row) for row in runs[later]]
                if any(_is_above(row, other) for other in below for row in late):
                    return True
    return False


def _parts(row: Row) -> list[Box]:
    """Return the boxes of a row's parts with wide room between them, which may belong to different columns."""
    words = row.words
    cuts = [at for at in range(1, len(words)) if words[at].x0 - words[at - 1].x1 > APART * words[at].style.size]
    if not cuts:
        return [(row.x0, row.y0, row.x1, row.y1)]
    return [(words[a].x0, row.y0, words[b - 1].x1, row.y1) for a, b in pairwise([0, *cuts, len(words)])]


def _is_above(row: list[Box], other: list[Box]) -> bool:
    """Whether a row ends above another one, and they share more of their width than a ragged edge may."""
    _, y0, _, y1 = row[0]
    _, top, _, bottom = other[0]
    if y0 >= top:
        return False
    height = min(y1 - y0, bottom - top)
    if y1 > top + TOUCHING * height:
        return False
    # Loops and comparisons, since this runs for every two rows of a page.
    for x0, _, x1, _ in row:
        for left, _, right, _ in other:
            shared = (x1 if x1 < right else right) - (x0 if x0 > left else left)
            if shared > min(height, RAGGED_SHARE * min(x1 - x0, right - left)):
                return True
    return False


@dataclass(slots=True)
class _Region:
    """Rows one after the other that stand below or right of each other: a column, a box, a table."""

    rows: list[Row]
    x0: float
    y0: float
    x1: float
    y1: float

    def try_add(self, row: Row) -> bool:
        """Add a row that continues the region; return whether it did."""
        last = self.rows[-1]
        height = max(1.0, min(row.y1 - row.y0, last.y1 - last.y0))
        beside = row.x0 >= last.x1 - TOUCHING * height and shared_height(row, last) > BESIDE_SHARE * height
        below = row.y0 >= last.y0 and row.y0 - self.y1 < NEAR * height and row.x0 < self.x1 and self.x0 < row.x1
        if not beside and not below:
            return False
        self.rows.append(row)
        self.x0, self.y0 = min(self.x0, row.x0), min(self.y0, row.y0)
        self.x1, self.y1 = max(self.x1, row.x1), max(self.y1, row.y1)
        return True

    def continues_in(self, other: "_Region") -> bool:
        """Whether another region begins close below this one."""
        room = other.y0 - self.y1
        height = self.rows[-1].y1 - self.rows[-1].y0
        return room < NEAR * height and self.x0 < other.x1 and other.x0 < self.x1


def _regions(rows: list[Row]) -> Iterator[_Region]:
    region = _Region(rows[:1], *box_of(rows[:1]))
    for row in rows[1:]:
        if not region.try_add(row):
            yield region
            region = _Region([row], *box_of([row]))
    yield region


def _left_first(rows: list[Row]) -> list[Row]:
    """Return the rows so that of regions side by side the left one comes first, where it was written later."""
    if not any(b.x1 <= a.x0 and b.y0 < a.y0 for a, b in pairwise(rows)):
        return rows
    if any(RIGHT_TO_LEFT.search(word.text) for row in rows for word in row.words):
        return rows
    out: list[_Region] = []
    for region in _regions(with_columns_whole(rows)):
        at = place = len(out)
        while at and out[at - 1].x0 >= region.x1:
            at -= 1
            is_beside = out[at].y0 < region.y1 and region.y0 < out[at].y1
            if is_beside or (place == at + 1 < len(out) and out[at].continues_in(out[place])):
                place = at
        out.insert(place, region)
    return [row for region in out for row in region.rows]


def _backwards(a: Row, b: Row) -> bool:
    return goes_up(a, b) and b.x0 < a.x1 - BACK * (a.x1 - a.x0)


def with_margins_outside(lines: list[Line], height: float) -> list[Line]:
    """Return the lines so that a footer that was written first comes last, and a header that was written last first."""

    def is_outside(line: Line) -> bool:
        return is_in_margin(line.y0, line.y1, height)

    first, last = list(takewhile(is_outside, lines)), list(takewhile(is_outside, reversed(lines)))
    early = [line for line in first if line.y1 >= MARGIN * height]
    late = [line for line in reversed(last) if line.y1 < MARGIN * height]
    if not (early or late) or len(first) == len(lines):
        return lines
    moved = {id(line) for line in (*early, *late)}
    inner = [line for line in lines if id(line) not in moved]
    at = next((at for at, line in enumerate(inner) if late and line.y0 > late[0].y0), 0)
    behind = next((at for at in range(len(inner), 0, -1) if early and inner[at - 1].y0 < early[0].y0), len(inner))
    return [*inner[:at], *late, *inner[at:behind], *early, *inner[behind:]]
