"""Finds tables without rules: white space runs down between their columns, and they are written row by row.

Rooms between cells may be as narrow as spaces, if one that is wide in some rows is free in all of them, and what stands
behind it has one edge. Where a row ends is told by the order of writing: programs write all lines of a cell, then those
of the next one, so that what was written before a row's end stands above it, and what after it below.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from functions.ingest.parsing.ruled import MAX_COLUMNS, MAX_ROWS, Grid, Rule, words_in
from functions.ingest.parsing.table_cells import (
    BULLETS,
    CELL_GAP_EM,
    CLOSE_EM,
    MAX_CELL_LINES,
    SIGN_AFTER,
    SIGN_BEFORE,
    is_figure,
    is_number,
)
from functions.ingest.parsing.table_headers import CAPTION
from functions.ingest.parsing.tables import LONGEST_NUMBER, MAX_HEADER_CHARACTERS
from functions.ingest.parsing.tagged_tables import ITEM_MARK, TableOnPage
from functions.ingest.parsing.words import Word
from shared.text import BOX_SIGNS

SHRUNK = 0.12
"""How much of a word's height is left out above and below it, since the boxes of close lines overlap."""
NARROW_EM, WIDE_EM = 0.12, 0.6
"""Room between two columns that no row may lack, and that most rows have more than, in font sizes."""
FAR_EM, FURTHEST_EM, ALIKE_EM = 1.5, 3.0, 0.75
"""How far apart rows may be, in font sizes, how far if all are, and how much such rooms may differ: where paragraphs
have room below them, so have those in cells, and cells may be centred in their rows."""
LEAST_ROWS, LEAST_OF_TWO = 3, 4
"""Rows of a table with several cells, at least, and of one with two columns without names."""
WIDE_SHARE, ALIGNED_SHARE = 0.4, 0.7
"""Share of a column's rows that have wide room before it, at least, and share of them that have its edge."""
WIDEST_EM = 1.5
"""Room before one cell at least, in font sizes: stretched lines of prose have less."""
LABELLED = 0.35
"""Share of the rows of a table that have a label, at least."""
SAME_EDGE = 1.0
"""Points by which the edges of cells in one column may differ."""
MOST_FIGURES, MOST_AT_THE_LEFT = 0.4, 0.7
"""Share of figures among the cells behind the labels from which on their places tell the columns (`tables`), and where
none stand at the right edge of their column."""
SPARE = 1.1
"""How much wider than a space in it the room in a row is, at least, where no cell has its column's edge behind it."""
WORDS_OF_LINE, FULL = 3, 0.75
"""Words of a line of prose in a column, at least, and share of the column's width that it fills."""
MAX_ABOVE = 4
"""Lines of a header above the first row with wide room, at most."""
LONGEST_LABEL, LONGEST_CELL = 120, 500
"""Characters of a label, and of another cell."""
SLIGHT, NEXT_LINE = 0.06, 1.3
"""How much nearer a line that goes on in a row is to the one above than rows are to each other, and how far below it,
at most, if rows are no further apart than lines, in font sizes."""
LOWER = 0.8
"""How much lower than the line above the next line of a cell is, at least, in font sizes."""
COVERED = 0.7
"""Share of a table's width that a rule below its header has, at least."""

_COUNTED = re.compile(r"(?:[^\W\d_]+\.? )?(?:\d+(?:\.\d+)*|[A-Z]|[IVX]+)[.)]?|§ ?\d+\.?|\(?(?:\d+|[a-z]|[ivx]+)[.)]")

Gap = tuple[float, float]


@dataclass(slots=True)
class _Band:
    """Words that stand side by side, with their indices from left to right, and the rooms around them."""

    top: float
    bottom: float
    indices: list[int]
    gaps: list[Gap] = field(default_factory=list)
    size: float = 0.0
    is_code: bool = False

    @property
    def height(self) -> float:
        return self.bottom - self.top


def tables_by_room(words: Sequence[Word], top: float, across: Sequence[Rule]) -> Iterator[TableOnPage]:
    """Yield the tables of a page whose columns white space tells.

    `words` are in page space, as they are written; `top` is the page's. `across` are the rules across it.
    """
    bands = _bands(words, top)
    at = last = 0
    while at < len(bands):
        least = WIDE_EM * bands[at].size
        if not any(x1 - x0 > least for x0, x1 in bands[at].gaps[1:-1]):  # nearly always
            at += 1
            continue
        begin, end, strips = _run(words, bands, at, last)
        is_run = bool(strips) and end - begin >= LEAST_ROWS
        if is_run and (found := _grid(words, bands, (begin, end), strips, across)):
            grid, names, last = found
            yield TableOnPage(grid, words_in(grid, words, top), names)
        at = last if last > at else end if is_run and not _distance(bands, at) else at + 1


def _bands(words: Sequence[Word], top: float) -> list[_Band]:
    spans: list[tuple[float, float, int]] = []
    for index, word in enumerate(words):
        y0, y1 = word.y0, word.y1
        spare = SHRUNK * (y1 - y0)
        spans.append((top - y1 + spare, top - y0 - spare, index))
    spans.sort()
    bands: list[_Band] = []
    band, bottom = None, -inf
    for y0, y1, index in spans:
        if band is not None and y0 < bottom:
            band.indices.append(index)
            bottom = band.bottom = max(bottom, y1)
        else:
            band, bottom = _Band(y0, y1, [index]), y1
            bands.append(band)
    for band in bands:
        across = sorted([(words[index].x0, index) for index in band.indices])
        band.indices = [index for _, index in across]
        sizes = sorted([words[index].style.size for index in band.indices])
        band.size = max(1.0, sizes[len(sizes) // 2])
        band.is_code = words[band.indices[0]].style.mono and all(words[index].style.mono for index in band.indices)
        end, sign, gaps = -inf, False, band.gaps
        for x0, index in across:
            word = words[index]
            text, x1 = word.text, word.x1
            if x0 > end and not sign and (text not in SIGN_AFTER or not gaps):
                gaps.append((end, x0))
            sign = text in SIGN_BEFORE
            if x1 > end:
                end = x1
        gaps.append((end, inf))
    return bands


def _is_wide(gap: Gap, band: _Band) -> bool:
    return gap[1] - gap[0] > WIDE_EM * band.size


def _run(words: Sequence[Word], bands: Sequence[_Band], start: int, least: int) -> tuple[int, int, list[Gap]]:
    """Return the bands around one that have room at the same places, and these places."""
    first = bands[start]
    strips = [(gap, int(_is_wide(gap, first))) for gap in first.gaps[1:-1]]
    far = _distance(bands, start)
    end = start + 1
    while end < min(len(bands), start + MAX_ROWS) and _is_near(bands[end - 1], bands[end], far):
        if bands[end].is_code and bands[end].gaps[0][1] < strips[0][0][1]:
            break  # a listing; a cell of code has others before it
        left = _common(strips, bands[end])
        kept = {at for at, _ in left}
        lost = [gap for at, (gap, count) in enumerate(strips) if at not in kept and count > 1]
        if not left or (lost and _are_told(words, bands[start:end], strips, lost)):
            break
        strips = [strip for _, strip in left]
        end += 1
    strips = [strip for strip in strips if strip[1] > 1 or end - start > LEAST_ROWS]
    begin = start
    while strips and begin > least and start - begin < MAX_ABOVE and _is_near(bands[begin - 1], bands[begin], far):
        if bands[begin].is_code and not far:
            break
        left = _common(strips, bands[begin - 1])
        kept = {at for at, _ in left}
        lost = [gap for at, (gap, _) in enumerate(strips) if at not in kept]
        if not left or (lost and _are_told(words, bands[begin:end], strips, lost)):
            break
        strips = [strip for _, strip in left]
        begin -= 1
    return begin, end, [gap for gap, _ in strips]


def _are_told(
    words: Sequence[Word], bands: Sequence[_Band], strips: Sequence[tuple[Gap, int]], lost: Sequence[Gap]
) -> bool:
    """Whether one of some places is between columns of the lines so far, so that the next one is not of them."""
    told, _ = _told(words, [[band] for band in bands], [gap for gap, count in strips if count > 1])
    return any(gap in told for gap in lost)


def _distance(bands: Sequence[_Band], start: int) -> float:
    """Return how far rows are apart from a line on, if they are further than usual and alike; else nothing."""
    rooms: list[float] = []
    for above, below in pairwise(bands[start : start + MAX_CELL_LINES]):
        room, size = below.top - above.bottom, min(above.size, below.size)
        if FAR_EM * size <= room < FURTHEST_EM * size:
            rooms.append(room)
        elif room > FAR_EM * size / 2:
            break
        if len(rooms) == LEAST_ROWS - 1:
            return rooms[0] if abs(rooms[1] - rooms[0]) < ALIKE_EM * size else 0.0
    return 0.0


def _is_near(above: _Band, below: _Band, far: float = 0.0) -> bool:
    """Whether a line may be of the table of the one above: if rows are `far` apart, as the next row, or in its row."""
    room, size = below.top - above.bottom, min(above.size, below.size)
    return room < (FAR_EM * size if not far else far / 2) or (far > 0 and abs(room - far) < ALIKE_EM * size)


def _common(strips: Sequence[tuple[Gap, int]], band: _Band) -> list[tuple[int, tuple[Gap, int]]]:
    """Return what is left of places if the words of another band are there, too, with the number of each."""
    found: list[tuple[int, tuple[Gap, int]]] = []
    least = NARROW_EM * band.size
    for at, ((x0, x1), count) in enumerate(strips):
        first = max(0, bisect(band.gaps, (x0, x0)) - 1)
        for n in range(first, len(band.gaps)):
            gap = band.gaps[n]
            if gap[0] >= x1:
                break
            left, right = max(x0, gap[0]), min(x1, gap[1])
            if right - left >= least:
                wide = gap[0] > -inf and gap[1] < inf and _is_wide(gap, band)
                found.append((at, ((left, right), count + wide)))
    return found


def _grid(
    words: Sequence[Word],
    bands: Sequence[_Band],
    within: tuple[int, int],
    strips: Sequence[Gap],
    across: Sequence[Rule],
) -> tuple[Grid, int, int] | None:
    """Return the cells between places, if they make a table, its rows of names, and before which line it ends.

    It is `within` some of the lines. If others beside it have cells in its columns, their labels are not told by white
    space, and it is none.
    """
    rows = _rows_of(bands[slice(*within)])
    if len(rows) < LEAST_ROWS:
        return None
    strips, edges = _told(words, rows, strips)
    if not strips:
        return None
    rows = _whole_rows(words, rows, strips)
    if any(_are_several(words, row, strips) for row in rows):
        return None
    texts = [_cells(words, row, strips) for row in rows]
    fits = [_fits(cells, edges) for cells in texts]
    wide = next((at for at, cells in enumerate(texts) if _has_room(cells)), len(rows))
    while wide and (
        (fits[wide - 1] and _may_be_names(texts[wide - 1])) or _are_bold_names(*texts[wide - 1 : wide + 1])
    ):
        wide -= 1
        fits[wide] = True
    first = next((at for at in range(wide, len(rows)) if sum(map(bool, texts[at])) > 1), len(rows))
    while 0 < first < len(rows) and not texts[first - 1][0] and _is_next_line(rows[first - 1], rows[first]):
        rows[first - 1 : first + 1] = [rows[first - 1] + rows[first]]  # the upper line of a name
        texts[first - 1 : first + 1] = [_cells(words, rows[first - 1], strips)]
        fits[first - 1 : first + 1] = [True]
        first -= 1
    before = bands[within[0] - 1 : within[0]] if within[0] else []
    is_top = not any(rows[0][0].top - band.bottom < FURTHEST_EM * band.size for band in before)  # of the page
    if is_top and all(_is_rest(cells, edges) for cells in texts[:first]):
        first = 0
    last = next((at for at in range(first, len(rows)) if not fits[at]), len(rows))
    if any(_has_room(cells) for cells in texts[last + 1 :]) or _are_columns_of_prose(texts[first:last]):
        return None
    while last > first and not any(texts[last - 1][1:]):
        last -= 1
    rows, texts = rows[first:last], texts[first:last]
    several = sum(sum(map(bool, cells)) > 1 for cells in texts)
    if several < LEAST_ROWS or 2 * sum(all(band.is_code for band in row) for row in rows) > len(rows):
        return None  # or a listing with columns
    if any(_is_parted(band, strips) for row in rows for band in row):
        return None
    if any(_are_labels(cells[0]) or any(map(_are_figures, cells[1:])) for cells in texts):
        return None
    labels = [_text(cells[0]) for cells in texts if cells[0]]
    later = [_text(cell) for cells in texts for cell in cells[1:] if cell]
    if max(map(len, labels), default=0) > LONGEST_LABEL or max(map(len, later)) > LONGEST_CELL:
        return None
    left = min(band.gaps[0][1] for row in rows for band in row) - 1
    right = max(band.gaps[-1][0] for row in rows for band in row) + 1
    columns = [left, *((x0 + x1) / 2 for x0, x1 in strips), right]
    heights = [rows[0][0].top - 1, *((a[-1].bottom + b[0].top) / 2 for a, b in pairwise(rows)), rows[-1][-1].bottom + 1]
    count = len(strips) + 1
    numbers = [_numbers(cells, edges, at * count) for at, cells in enumerate(texts)]
    names = _names(rows, texts, (left, right), across)
    are_right = any(begin == inf > end for begin, end, _ in edges)
    are_pages = _are_pages([_text(cells[-1]) for cells in texts[names:] if cells[-1]])
    most = MOST_FIGURES if are_right or are_pages else MOST_AT_THE_LEFT
    if sum(map(is_number, later)) >= most * len(later) or len(labels) < LABELLED * len(texts):
        return None
    numbers[:names] = [list(range(at * count, (at + 1) * count)) for at in range(names)]
    if len(strips) == 1 and 2 * sum(map(_is_counted, labels)) >= len(labels):
        return None  # what numbers stand before one text each are pages, items or clauses
    if names and _is_counted(labels[0]):
        return None  # "Item 6. | Exhibits" is a heading
    if len(strips) == 1 and not names and several < LEAST_OF_TWO:
        return None
    begin, end = within
    while bands[begin] is not rows[0][0]:
        begin += 1
    while bands[end - 1] is not rows[-1][-1]:
        end -= 1
    top = rows[0][0]
    above = [band for band in bands[max(0, begin - 1) : begin] if top.top - band.bottom < 2 * FAR_EM * top.size]
    below = bands[end : end + 1]
    if any(_has_cells(band, count if not _is_near(band, rows[0][0]) else 2) for band in above):
        return None
    if any(_has_cells(band, 2) and not band.is_code and _is_near(rows[-1][-1], band) for band in below):
        return None
    further = bands[end + 1 : end + 2]  # behind a line across the columns
    if any(
        _has_cells(b, 2) and not (a.is_code or b.is_code) and _is_near(rows[-1][-1], a) and _is_near(a, b)
        for a, b in zip(below, further, strict=False)
    ):
        return None
    return Grid(columns, heights, numbers), names, end


def _rows_of(bands: Sequence[_Band]) -> list[list[_Band]]:
    """Join lines to rows: what stands above the end of one was written before what stands below it."""
    lasts: list[int] = []
    for band in bands:
        lasts.append(max(lasts[-1] if lasts else -1, *band.indices))
    firsts: list[int] = []
    for band in reversed(bands):
        firsts.append(min(firsts[-1] if firsts else band.indices[0], *band.indices))
    firsts.reverse()
    rows: list[list[_Band]] = []
    for at, band in enumerate(bands):
        if at and lasts[at - 1] > firsts[at]:
            rows[-1].append(band)
        else:
            rows.append([band])
    return rows


def _told(
    words: Sequence[Word], rows: Sequence[Sequence[_Band]], strips: Sequence[Gap]
) -> tuple[list[Gap], list[list[float]]]:
    """Return the places that columns begin behind, and the columns' usual left, right and middle.

    Most rows have wide room there, and most cells behind it one edge.
    """
    kept = list(strips) if len(strips) <= MAX_COLUMNS else []
    while kept:
        cells = [_cells(words, row, kept) for row in rows]
        edges: list[list[float]] = []
        widest = 0.0
        for at in range(len(kept)):
            both = [row for row in cells if row[at] and row[at + 1]]
            rooms = [_room(row[at], row[at + 1]) for row in both]
            marks = _marks([row[0] for row in both]) if at == 0 else 0
            found = [_edges_of(row[at + 1]) for row in cells if row[at + 1]]
            usual = [sorted(sides)[len(sides) // 2] for sides in zip(*found, strict=True)]
            hits = [sum(abs(sides[n] - edge) < SAME_EDGE for sides in found) for n, edge in enumerate(usual)]
            least = max(LEAST_ROWS, ALIGNED_SHARE * len(found))
            usual = [edge if count >= least else inf for edge, count in zip(usual, hits, strict=True)]
            is_wide = sum(room > WIDE_EM for room in rooms) >= max(2, WIDE_SHARE * len(both))
            is_wide = is_wide or (len(both) > LEAST_ROWS and min(rooms) > CLOSE_EM)
            widest = max(widest, *rooms) if is_wide else widest
            if not is_wide or 2 * marks >= len(both) or max(hits, default=0) < least:
                del kept[at]
                break
            edges.append(usual)
        else:
            return (kept, edges) if widest > WIDEST_EM else ([], [])
    return [], []


def _cells(words: Sequence[Word], row: Sequence[_Band], strips: Sequence[Gap]) -> list[list[Word]]:
    places = [(x0 + x1) / 2 for x0, x1 in strips]
    cells: list[list[Word]] = [[] for _ in range(len(places) + 1)]
    for band in row:
        for index in band.indices:
            cells[bisect(places, words[index].x0)].append(words[index])
    return cells


def _edges_of(cell: Sequence[Word]) -> tuple[float, float, float]:
    x0, x1 = min(word.x0 for word in cell), max(word.x1 for word in cell)
    return x0, x1, (x0 + x1) / 2


def _is_parted(band: _Band, strips: Sequence[Gap]) -> bool:
    """Whether a line has as much room within a cell as columns have."""
    apart = [gap for gap in band.gaps[1:-1] if gap[1] - gap[0] > CELL_GAP_EM * band.size]
    return any(not any(gap[0] < x1 and x0 < gap[1] for x0, x1 in strips) for gap in apart)


def _are_several(words: Sequence[Word], row: Sequence[_Band], strips: Sequence[Gap]) -> bool:
    """Whether lines of a row are rows of their own: its cells of several lines were not written one after another.

    What was written before them all goes over them: a label in the middle of its rows.
    """
    places = [(x0 + x1) / 2 for x0, x1 in strips]
    cells: list[list[int]] = [[] for _ in range(len(places) + 1)]
    for band in row:
        for index in band.indices:
            cells[bisect(places, words[index].x0)].append(index)
    spans = sorted([(min(cell), max(cell)) for cell in cells if _has_two_lines([words[index] for index in cell])])
    return any(last > first for (_, last), (first, _) in pairwise(spans))


def _has_two_lines(cell: Sequence[Word]) -> bool:
    heights = [word.y0 for word in cell] or [0.0]
    return max(heights) - min(heights) > LOWER * max([word.style.size for word in cell], default=0.0)


def _is_counted(label: str) -> bool:
    """Whether a label is the number of a page, an item, a clause or a section: "3", "1.2", "(a)", "Item 6."."""
    return _COUNTED.fullmatch(label) is not None


def _are_columns_of_prose(rows: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Whether most cells of the first column are lines of prose: of several words, and nearly as wide as the widest."""
    cells = [row[0] for row in rows if row[0]]
    widths = [x1 - x0 for x0, x1, _ in map(_edges_of, cells)]
    full = [
        len(cell) >= WORDS_OF_LINE and width > FULL * max(widths) for cell, width in zip(cells, widths, strict=True)
    ]
    return sum(full) > len(full) / 2


def _are_pages(cells: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers that never fall, as the pages of contents are."""
    pages = [int(cell) for cell in cells if cell.isdecimal() and len(cell) <= LONGEST_NUMBER]
    return len(pages) == len(cells) and pages == sorted(pages)


def _are_figures(cell: Sequence[Word]) -> bool:
    """Whether the lines of a cell are a figure each, perhaps with a unit, so that they are of several rows."""
    lines = _lines_of(cell)
    return len(lines) > 1 and all(is_number(line[0].text) for line in lines)


def _are_labels(cell: Sequence[Word]) -> bool:
    """Whether the lines of a cell are the labels of a form, so that they are of several rows: "Name:", "Street:"."""
    lines = _lines_of(cell)
    return len(lines) > 1 and all(line[-1].text.endswith(":") for line in lines)


def _lines_of(cell: Sequence[Word]) -> Sequence[Sequence[Word]]:
    """Return the words of a cell line by line, from the left."""
    heights = sorted({word.y0 for word in cell})
    return [sorted((word for word in cell if word.y0 == height), key=lambda word: word.x0) for height in heights]


def _numbers(cells: Sequence[Sequence[Word]], edges: Sequence[Sequence[float]], start: int) -> list[int]:
    """Return the numbers of a row's cells: one that runs on into the next column has that one's, too."""
    numbers = [start]
    for at, (cell, behind, usual) in enumerate(zip(cells, cells[1:], edges, strict=False), start + 1):
        is_whole = bool(cell and behind) and _room(cell, behind) < max(CLOSE_EM, SPARE * _widest_space(cell, behind))
        is_whole = is_whole and not any(abs(a - b) < SAME_EDGE for a, b in zip(_edges_of(behind), usual, strict=True))
        numbers.append(numbers[-1] if is_whole else at)
    return numbers


def _widest_space(*cells: Sequence[Word]) -> float:
    """Return the widest room between two words of one line in cells, in font sizes."""
    rooms = [
        (word.x0 - before.x1) / max(1.0, before.style.size)
        for cell in cells
        for before, word in pairwise(cell)
        if abs(word.y0 - before.y0) < SAME_EDGE
    ]
    return max(rooms, default=0.0)


def _is_rest(cells: Sequence[Sequence[Word]], edges: Sequence[Sequence[float]]) -> bool:
    """Whether a row may be the rest of one on the page before: without a label, its cells where their columns begin."""
    later = zip(cells[1:], edges, strict=True)
    return not cells[0] and all(not cell or abs(_edges_of(cell)[0] - usual[0]) < SAME_EDGE for cell, usual in later)


def _has_cells(band: _Band, count: int) -> bool:
    """Whether a line has as much room in it as columns have, so that it has that many cells or more."""
    return sum(gap[1] - gap[0] > CELL_GAP_EM * band.size for gap in band.gaps[1:-1]) >= count - 1


def _has_room(cells: Sequence[Sequence[Word]], least: float = WIDE_EM) -> bool:
    return any(_room(a, b) > least for a, b in pairwise([cell for cell in cells if cell]))


def _may_be_names(cells: Sequence[Sequence[Word]]) -> bool:
    """Whether a row without wide room may be the names of columns: short, and with more room somewhere than a space."""
    if CAPTION.match(cells[0][0].text if cells[0] else ""):
        return False
    return _has_room(cells, CLOSE_EM) and max(len(_text(cell)) for cell in cells) <= MAX_HEADER_CHARACTERS


def _are_bold_names(cells: Sequence[Sequence[Word]], *below: Sequence[Sequence[Word]]) -> bool:
    """Whether a row in bold above one that is not names three columns or more, which its words fill.

    Those of a title would not end before each of them.
    """
    if len(cells) <= 2 or not all(cells) or CAPTION.match(cells[0][0].text) or not all(map(_are_bold, cells)):
        return False
    return not all(_are_bold(cell) for row in below for cell in row)


def _room(cell: Sequence[Word], behind: Sequence[Word]) -> float:
    """Return the room between two cells, in font sizes."""
    room = min(word.x0 for word in behind) - max(word.x1 for word in cell)
    return room / max(1.0, cell[0].style.size)


def _are_bold(cell: Sequence[Word]) -> bool:
    return all(word.style.bold for word in cell)


def _text(cell: Sequence[Word]) -> str:
    return " ".join([word.text for word in cell])


def _fits(cells: Sequence[Sequence[Word]], edges: Sequence[Sequence[float]]) -> bool:
    """Whether a row has wide room before a cell, or most of its cells an edge of their column.

    Words of a sentence have room there by chance.
    """
    if _has_room(cells):
        return True
    later = [(_edges_of(cell), usual) for cell, usual in zip(cells[1:], edges, strict=True) if cell]
    if len(later) == 1 and len(_text(cells[0])) > MAX_HEADER_CHARACTERS and not _has_room(cells, CLOSE_EM):
        return False
    hits = [any(abs(a - b) < SAME_EDGE for a, b in zip(sides, usual, strict=True)) for sides, usual in later]
    return 2 * sum(hits) >= len(hits)


def _marks(labels: Sequence[Sequence[Word]]) -> int:
    """Return how many labels are marks of items: one that is known as such, or the same sign."""
    single = [label[0] for label in labels if len(label) == 1]
    signs = Counter([word.text for word in single if len(word.text) == 1 and not word.text.isalnum()])
    return max(sum(map(_is_mark, single)), *signs.values(), 0)


def _is_mark(word: Word) -> bool:
    return (
        word.text in BULLETS
        or word.text in BOX_SIGNS
        or word.text in "-–—*o"
        or ITEM_MARK.fullmatch(word.text) is not None
    )


def _whole_rows(words: Sequence[Word], rows: list[list[_Band]], strips: Sequence[Gap]) -> list[list[_Band]]:
    """Join lines without a label to the row above that they go on in, told by the room between them."""
    cells = [_cells(words, row, strips) for row in rows]
    filled = [bool(each[0]) for each in cells]
    rooms = [b[0].top - a[-1].bottom for a, b in pairwise(rows)]
    labelled = sorted(room for room, a, b in zip(rooms, filled[:-1], filled[1:], strict=True) if a and b)
    usual = labelled[len(labelled) // 2] if labelled else 0.0
    inner = max((b.top - a.bottom for row in rows for a, b in pairwise(row)), default=inf)
    out = [rows[0]]
    for row, above, each, room in zip(rows[1:], cells[:-1], cells[1:], rooms, strict=True):
        size = row[0].size
        slight = usual / 2 if usual > FAR_EM * size else SLIGHT * size
        is_part = room < usual - slight
        if not is_part and room < usual + slight and inner > usual - slight:
            is_part = _is_next_line(out[-1], row)
        goes_on = above[0] and each[0] and _are_bold(above[0]) == _are_bold(each[0]) and not any(above[1:])
        begins_above = bool(goes_on) and room < usual - slight and _is_next_line(out[-1], row)
        if begins_above or (is_part and not each[0]):
            out[-1] = [*out[-1], *row]
        else:
            out.append(row)
    return out


def _is_next_line(above: Sequence[_Band], row: Sequence[_Band]) -> bool:
    return row[0].top - above[-1].top < NEXT_LINE * row[0].size


def _names(
    rows: Sequence[Sequence[_Band]],
    texts: Sequence[Sequence[Sequence[Word]]],
    sides: Gap,
    across: Sequence[Rule],
) -> int:
    """Return how many rows name columns: those in bold without figures.

    Or those above a rule, without others below it but the last.
    """
    are_names = [
        all(map(_are_bold, cells)) and not any(is_figure(_text(cell)) for cell in cells[1:]) for cells in texts
    ]
    names = are_names.index(False) if not all(are_names) else 0
    if names:
        return names
    left, right = sides
    wide = [y for y, x0, x1 in across if min(x1, right) - max(x0, left) > COVERED * (right - left)]
    below = [sum(a[-1].bottom - 1 < y < b[0].top + 1 for y in wide) > 0 for a, b in pairwise(rows)]
    return below.index(True) + 1 if sum(below) == 1 and below.index(True) + 1 < len(rows) / 2 else 0
