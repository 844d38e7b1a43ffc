"""Where a page has figures, told by what is drawn there and by its caption, and which lines belong to each.

A figure is taken for one only where both agree: a caption ("Figure 3: …") with drawings directly above or below it and
no running text in between. Pictures without a caption count for `pictures_of` alone, where a model describes them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import Box
from shared.rects import CORNERS, STEPS, number_at

CAPTION = re.compile(
    r"(?:figure|fig\.?|chart|graph|diagram|illustration|abbildung|abb\.|figura|pav\.|grafik)\s*"
    r"(?:[A-Z]\.?)?\d+(?:[.\-–]\d+)*[a-z]?(?:\s*[:.|–—]|\s+-)?\s+(?=\S)",
    re.IGNORECASE,
)
CELL = 6.0
"""Points between two drawings up to which they are one, and the side of the grid they are found with."""
MIN_WIDTH, MIN_HEIGHT, MIN_SHARE = 50.0, 30.0, 0.012
"""What is smaller, in points or as a share of the page, is a rule, an icon or a logo."""
MAX_SHARE = 0.85
"""What covers more of the page is its background, or a scan."""
NEAR = 42.0
"""Points between a figure and its caption: three lines, for a legend."""
PANELS = 30.0
"""Points between two panels of one figure, one above the other."""
SIDE_BY_SIDE = 60.0
"""Points between two panels beside each other, for the labels of an axis."""
BESIDE = 14.0
"""Points that labels of axes stand outside of what is drawn."""
PROSE_WORDS, PROSE_LETTERS = 7, 5
"""Words of a line, and those with letters, from which it may be running text rather than labels or numbers."""
CAPTION_LINES = 12
MIN_PICTURE_SHARE = 0.05
"""Share of the page of a picture without a caption; smaller ones are mostly decoration."""
MAX_BOXES = 5_000
MAX_ON_PAGE = 9
KNOWN_SHARE = 0.3
"""Share of a picture above which a figure that covers it has it already."""
SAME_SIZE = 0.4
"""How much the print of two lines of one caption or paragraph may differ, in points."""
OVERLAPPING = 2
"""Points that a line of a caption or paragraph may reach into the one above it."""
NEXT_LINE = 0.5
"""Room between two lines of one caption or paragraph, in heights of a line, at most."""
SIDE_SHARE = 0.6
"""Share of a panel's height that lies beside another one, if they are panels side by side."""
FACING_SHARE = 0.5
"""Share of the narrower one's width that a drawing and its caption have in common."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Where a figure is on its page, and its caption (empty for a picture without one)."""

    box: Box
    caption: str = ""


def has_caption(line: Line) -> bool:
    """Whether a line begins a caption: "Figure 2: …", "Fig. 1-1 Product"; "Figure 2 shows …" is a sentence."""
    found = CAPTION.match(line.text)
    if not found or line.column:
        return False
    return found.group().rstrip()[-1] in ":.|–—-" or not line.text[found.end()].islower()


def figures_of(
    lines: Sequence[Line], boxes: Iterable[Box], bounds: tuple[float, float, float, float]
) -> tuple[list[Line], list[Figure]]:
    """Return the page's lines, each figure's together before its caption and numbered, and the figures.

    `boxes` are what is drawn, `bounds` is the page's box (left, bottom, right, top). Lines come back as they are where
    nothing is certain.
    """
    width, height = bounds[2] - bounds[0], bounds[3] - bounds[1]
    unit = max(1.0, width, height) / STEPS
    written, lines = lines, [_upright(line, bounds[0], unit) for line in lines]
    starts = [at for at, line in enumerate(lines) if has_caption(line)]
    if not starts:
        return list(written), []
    captions = [lines[at] for at in starts]  # a drawing that holds one is the page that a figure was cut from
    boxes = [box for box in boxes if not any(_is_in(caption, box, 0.0) for caption in captions)]
    drawn = [each for each in clusters(boxes, width, height) if _is_large(each, width, height)]
    claims: list[tuple[int, int, Box, set[int]]] = []
    taken: list[set[int]] = []
    for at in starts:
        end = _caption_end(lines, at)
        used = _beside(_around(lines[at:end]), drawn, lines, range(at, end))
        taken.append(used)
        if used:
            claims.append((at, end, _union([drawn[number] for number in used]), used))
    figures: list[Figure] = []
    moved: dict[int, list[int]] = {}
    for at, end, box, used in claims:
        is_shared = sum(bool(used & others) for others in taken) > 1
        holds_caption = any(_is_in(lines[other], box, 0.0) for other in starts if other != at)
        if is_shared or holds_caption or _share(box, width, height) > MAX_SHARE or len(figures) == MAX_ON_PAGE:
            continue
        inside = _inside(lines, box, range(at, end), moved)
        if inside is None:
            continue
        moved[at] = inside
        figures.append(Figure(box, " ".join(line.text for line in lines[at:end])))
    numbers = {at: number for number, at in enumerate(moved, 1)}
    gone = {within for each in moved.values() for within in each}
    kept: list[Line] = []
    for at, line in enumerate(written):
        kept += [replace(written[within], figure=numbers[at]) for within in moved.get(at, ())]
        if at not in gone:
            kept.append(line)
    return kept, figures


def pictures_of(pictures: Iterable[Box], figures: Sequence[Figure], width: float, height: float) -> list[Figure]:
    """Return the pictures that are large enough to tell something and belong to no figure, each with some margin."""
    found: list[Figure] = []
    for box in pictures:
        is_known = any(_overlap(box, each.box) > KNOWN_SHARE * _area(box) for each in [*figures, *found])
        if MIN_PICTURE_SHARE <= _share(box, width, height) <= MAX_SHARE and not is_known:
            found.append(Figure(box))
    return found


def clusters(boxes: Iterable[Box], width: float, height: float) -> list[Box]:
    """Join what is drawn near each other, found on a grid; what covers the whole page joins nothing."""
    columns, rows = int(max(0.0, width) / CELL) + 3, int(max(0.0, height) / CELL) + 3
    parts = [box for box in boxes if _share(box, width, height) <= MAX_SHARE][:MAX_BOXES]
    grid = [bytearray(columns) for _ in range(rows)]

    def cells(box: Box) -> tuple[int, int, int, int]:
        left, top = max(0, int(box[0] / CELL)), max(0, int(box[1] / CELL))
        return left, top, min(columns, int(box[2] / CELL) + 2), min(rows, int(box[3] / CELL) + 2)

    for box in parts:
        left, top, right, bottom = cells(box)
        for row in grid[top:bottom]:
            row[left:right] = b"\1" * max(0, right - left)
    parents: list[int] = []

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = number = parents[parents[number]]
        return number

    runs_above: list[tuple[int, int, int]] = []
    labels: list[list[tuple[int, int, int]]] = []
    for row in grid:
        runs: list[tuple[int, int, int]] = []
        for found in re.finditer(b"\1+", row):
            number = len(parents)
            parents.append(number)
            for start, end, above in runs_above:
                if start < found.end() and end > found.start():
                    parents[root(above)] = root(number)
            runs.append((found.start(), found.end(), number))
        labels.append(runs)
        runs_above = runs
    joined: dict[int, Box] = {}
    for box in parts:
        left, top, right, bottom = cells(box)
        if left >= right or top >= bottom:
            continue  # beyond the page
        number = next(root(label) for start, end, label in labels[top] if start <= left < end)
        joined[number] = _union([joined[number], box]) if number in joined else box
    return list(joined.values())


def _upright(line: Line, left: float, unit: float) -> Line:
    """Return a line with its box as it is seen: words that run upwards have that of the page turned to them."""
    if line.cells or len(line.place) < CORNERS:
        return line
    x0, y0, x1, y1 = (number_at(line.place, at) * unit for at in range(0, CORNERS, 2))
    return replace(line, x0=x0 + left, y0=y0, x1=x1 + left, y1=y1)


def _caption_end(lines: Sequence[Line], at: int) -> int:
    """Return the index behind the caption's last line: those below it, as near and as large as print of one text."""
    end = at + 1
    while end < len(lines) and end - at < CAPTION_LINES:
        above, line = lines[end - 1], lines[end]
        drop = line.y0 - above.y1
        alike = abs(line.size - above.size) < SAME_SIZE and not line.column and line.cells and not has_caption(line)
        if (
            not alike
            or not -OVERLAPPING <= drop < NEXT_LINE * (above.y1 - above.y0)
            or line.x0 > above.x1
            or line.x1 < above.x0
        ):
            break
        end += 1
    return end


def _beside(caption: Box, drawn: Sequence[Box], lines: Sequence[Line], own: range) -> set[int]:
    """Return which drawings a caption is about: those directly above it, else those directly below."""
    for is_above in (True, False):
        used: set[int] = set()
        edge, room = caption, NEAR
        while True:
            near = {
                number
                for number, box in enumerate(drawn)
                if number not in used
                and -CELL <= (edge[1] - box[3] if is_above else box[1] - edge[3]) <= room
                and _faces(box, edge)
                and not _is_text_between(box, edge, lines, own, drawn)
            }
            if not near:
                break
            used |= near
            edge, room = _union([drawn[number] for number in used]), PANELS
        # Panels side by side, of which the caption stands below one.
        while used:
            box = _union([drawn[number] for number in used])
            beside = {
                number
                for number, other in enumerate(drawn)
                if number not in used
                and min(box[3], other[3]) - max(box[1], other[1]) > SIDE_SHARE * (other[3] - other[1])
                and max(other[0] - box[2], box[0] - other[2]) <= SIDE_BY_SIDE
                and caption[0] - PANELS <= (other[0] + other[2]) / 2 <= caption[2] + PANELS
            }
            if not beside:
                return used
            used |= beside
    return set()


def _is_text_between(box: Box, edge: Box, lines: Sequence[Line], own: range, drawn: Sequence[Box]) -> bool:
    top, bottom = min(box[3], edge[3]), max(box[1], edge[1])
    return any(
        number not in own
        and top - 2 <= (line.y0 + line.y1) / 2 <= bottom + 2
        and line.x0 < min(box[2], edge[2])
        and line.x1 > max(box[0], edge[0])
        and (_is_prose(line) or has_caption(line))
        and not any(_is_in(line, each, 0.0) for each in drawn)
        for number, line in enumerate(lines)
    )


def _inside(lines: Sequence[Line], box: Box, own: range, moved: dict[int, list[int]]) -> list[int] | None:
    """Return which lines belong to a figure, None if they cannot be told from the page's text."""
    caption = _around([lines[number] for number in own])
    gone = {number for inside in moved.values() for number in inside}
    inside: list[int] = []
    for number, line in enumerate(lines):
        if number in own or number in gone:
            continue
        legend = _union([box, caption])
        ends_prose = (
            bool(number)
            and number - 1 not in inside
            and _is_prose(lines[number - 1])
            and _follows(line, lines[number - 1])
        )
        is_label = not _is_prose(line) and not ends_prose and (_is_in(line, box, BESIDE) or _is_in(line, legend, 0.0))
        is_beside = len(own) > 1 and _is_prose(line) and (line.x0 > caption[2] or line.x1 < caption[0])
        if is_label or (_is_in(line, box, 0.0) and not is_beside):  # over a picture's margin is the next column's text
            inside.append(number)
    tables = {lines[number].column for number in inside} - {0}
    if any(line.column in tables for number, line in enumerate(lines) if number not in inside):
        return None  # half of a table
    return inside


def _is_prose(line: Line) -> bool:
    words = line.text.split()
    is_long = len(words) >= PROSE_WORDS and sum(word[:2].isalpha() for word in words) >= PROSE_LETTERS
    return is_long and line.cells == 1 and not line.column


def _follows(line: Line, above: Line) -> bool:
    """Whether a line may be the last of the paragraph above it."""
    return abs(line.size - above.size) < SAME_SIZE and -OVERLAPPING <= line.y0 - above.y1 < NEXT_LINE * (
        above.y1 - above.y0
    )


def _faces(box: Box, other: Box) -> bool:
    shared = min(box[2], other[2]) - max(box[0], other[0])
    return shared > FACING_SHARE * min(box[2] - box[0], other[2] - other[0])


def _is_in(line: Line, box: Box, margin: float) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box[0] - margin <= x <= box[2] + margin and box[1] - margin <= y <= box[3] + margin


def _around(lines: Sequence[Line]) -> Box:
    return _union([(line.x0, line.y0, line.x1, line.y1) for line in lines])


def _union(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _overlap(box: Box, other: Box) -> float:
    return _area((max(box[0], other[0]), max(box[1], other[1]), min(box[2], other[2]), min(box[3], other[3])))


def _share(box: Box, width: float, height: float) -> float:
    return _area(box) / max(1.0, width * height)


def _is_large(box: Box, width: float, height: float) -> bool:
    wide, high = box[2] - box[0], box[3] - box[1]
    return wide >= MIN_WIDTH and high >= MIN_HEIGHT and _share(box, width, height) >= MIN_SHARE
