"""Columns of prose that were written line by line across the page: where they part, and the parts of each line.

Whether a page has columns is told by the room that its lines have at the same places, and by what is between these.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter

from functions.ingest.parsing.order import APART, MAX_ROWS, RIGHT_TO_LEFT, is_beside, is_in_margin
from functions.ingest.parsing.words import Box, Row, Word

MIN_ROWS = 6
"""Fewer rows than this never make two columns of prose."""
MIN_SIDE = 18
"""Characters a side must have on average; tables have less."""
MIN_GAPS = 0.5
"""Share of a run's rows that have a wide gap if they are two columns written as one."""
MIN_LETTERS = 0.6
PROSE_SIDE = 1.4
"""Share of letters in two columns of prose, and how much longer their lines are than the shortest ones, on average."""
MIN_LINE = 30
MIN_TALL = 60
MOST_ACROSS = 0.3
"""Characters of a line in a column, height in points of what stands beside the other one, and how much may run over
the room between them, as a share of it."""
MOST_PLACES = 5
"""Places at which columns of prose part, at most."""
MOST_WHOLE = 0.5
"""Share of rows that may run over the room between two columns."""
COLUMN_GAP_EM = 0.9
"""Room between two words that may be between two columns, in font sizes."""


def split_columns(rows: list[Row]) -> list[Row]:
    """Split rows that run across columns of prose, and put the columns from left to right.

    A run of rows counts as columns when most have a wide gap at the same places, or the next one stands behind them,
    and all sides are prose: long, and rarely numbers.
    """
    gaps = [_gaps(row, COLUMN_GAP_EM) for row in rows]
    for row, behind, room in zip(rows, rows[1:], gaps, strict=False):
        if behind.x0 - row.x1 > COLUMN_GAP_EM * row.words[0].style.size and is_beside(row, behind):
            room.append((row.x1, behind.x0))
    found = sum(map(bool, gaps))
    if found < MIN_ROWS or found < MIN_GAPS * len(rows):
        return rows
    places = sorted(_places([gap for each in gaps for gap in each]))
    return _cut_at(rows, gaps, places) if places and _are_prose(rows, gaps, places) else rows


def _places(gaps: Sequence[tuple[float, float]]) -> list[float]:
    """Return the places that many gaps hold; none if they are so many that they part the columns of a table."""
    places: list[float] = []
    place, most = _commonest(gaps)
    count = most
    while count >= max(MIN_ROWS, MIN_GAPS * most):
        if len(places) == MOST_PLACES:
            return []
        places.append(place)
        gaps = [gap for gap in gaps if not gap[0] <= place <= gap[1]]
        place, count = _commonest(gaps)
    return places


def _commonest(gaps: Sequence[tuple[float, float]]) -> tuple[float, int]:
    """Return the place that most gaps hold, and how many do."""
    ends = sorted([(left, 1) for left, _ in gaps] + [(right, 2) for _, right in gaps])
    best, at, count = 0, 0.0, 0
    for number, (place, kind) in enumerate(ends):
        count += 1 if kind == 1 else -1
        if count > best:
            best, at = count, (place + ends[number + 1][0]) / 2
    return at, best


def _parts_at(row: Row, gaps: Sequence[tuple[float, float]], places: Sequence[float]) -> list[tuple[int, Row]] | None:
    """Return the parts of a row with the number of the column of each, None if the row runs on from one to the next."""
    parts: list[tuple[int, Row]] = []
    for number, place in enumerate(places):
        if row.x0 < place < row.x1:
            if not any(left <= place <= right for left, right in gaps):
                return None
            part, row = _cut(row, place)
            parts.append((number, part))
    return [*parts, (sum([place <= row.x0 for place in places]), row)]


def _cut_at(rows: Sequence[Row], gaps: Sequence[Sequence[tuple[float, float]]], places: Sequence[float]) -> list[Row]:
    out: list[Row] = []
    columns: list[list[Row]] = [[] for _ in range(len(places) + 1)]
    for row, room in zip(rows, gaps, strict=True):
        parts = _parts_at(row, room, places)
        for number, part in parts or ():
            columns[number].append(part)
        if parts is None:
            out += [each for column in columns for each in column] + [row]
            columns = [[] for _ in columns]
    return out + [each for column in columns for each in column]


def _are_prose(rows: Sequence[Row], gaps: Sequence[Sequence[tuple[float, float]]], places: Sequence[float]) -> bool:
    """Whether few rows run over these places, and what is between them is prose."""
    cut = [_parts_at(row, room, places) for row, room in zip(rows, gaps, strict=True)]
    beside: set[int] = set()
    for at, room in enumerate(gaps):
        if any(left <= place <= right for left, right in room for place in places):
            beside |= {at, at + 1} if room[-1][0] >= rows[at].x1 else {at}
    sides = [part.text for at in sorted(beside) for _, part in cut[at] or ()]
    if len(sides) < 2 * MIN_ROWS or cut.count(None) > MOST_WHOLE * len(rows):
        return False
    letters = sum([sum(map(str.isalpha, side)) for side in sides])
    total = sum(map(len, sides))
    longest = sorted(map(len, sides))[len(sides) // 4]
    return letters > MIN_LETTERS * total and total >= len(sides) * PROSE_SIDE * MIN_SIDE and longest >= MIN_SIDE


def _gaps(row: Row, least: float) -> list[tuple[float, float]]:
    """Return the gaps between a row's words that are wider than `least` font sizes."""
    size = least * max(1.0, row.words[0].style.size)
    return [(before.x1, word.x0) for before, word in pairwise(row.words) if word.x0 - before.x1 > size]


def cut_between_columns(rows: list[Row], tables: Sequence[Box], height: float) -> list[Row]:
    """Cut rows that run over the room between two columns: headings or captions of both, written in one go.

    There are lines of text, or `tables`, on both sides of that room, and hardly anything runs over it. A row next to
    which another one does is one of a table, or of text over both columns. Headers and footers stay whole.
    """
    gaps_of = [_gaps(row, APART) for row in rows] if len(rows) <= MAX_ROWS else []
    if not any(gaps_of):
        return rows
    lines = [(row.x0, row.y0, row.x1, row.y1) for row in rows if row.length >= MIN_LINE]
    texts = sorted([*lines, *tables], key=itemgetter(1))
    out: list[Row] = []
    for above, row, below, gaps in zip([None, *rows], rows, [*rows[1:], None], gaps_of, strict=False):
        parts = [row]
        if gaps and not is_in_margin(row.y0, row.y1, height):
            near = [other for other in (above, below) if other is not None]
            if all(_is_between_columns(left, right, row, near, texts) for left, right in gaps):
                for _, right in gaps:
                    parts[-1:] = _cut(parts[-1], right)
        out += parts
    return out


def _is_between_columns(left: float, right: float, row: Row, near: Sequence[Row], texts: Sequence[Box]) -> bool:
    """Whether some room in a row has text on both sides, side by side for a few lines, and hardly any runs over it."""
    if any(other.x0 < left and right < other.x1 for other in near) or RIGHT_TO_LEFT.search(row.text):
        return False
    on_left = [box for box in texts if row.x0 < box[2] <= right and box[0] < left]
    on_right = [box for box in texts if left <= box[0] < row.x1 and right < box[2]]
    across = sum([box[0] < left and right < box[2] for box in texts])
    beside = list(_beside(on_left, on_right))
    tall = sum([box[3] - box[1] for box in beside])
    return across < MOST_ACROSS * len(beside) and tall > MIN_TALL


def _beside(boxes: Sequence[Box], others: Sequence[Box]) -> Iterator[Box]:
    """Yield those of some boxes beside which one of the others stands; both come from the top downwards."""
    at = 0
    for box in boxes:
        while at < len(others) and others[at][3] <= box[1]:
            at += 1
        if at < len(others) and others[at][1] < box[3]:
            yield box


def _cut(row: Row, at: float) -> tuple[Row, Row]:
    left: list[Word] = [word for word in row.words if word.x0 < at]
    right: list[Word] = [word for word in row.words if word.x0 >= at]
    left[-1].ends = left[-1].ends or "\n"
    return type(row).of(left), type(row).of(right)
