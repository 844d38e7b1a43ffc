"""Finds tables whose cells are ruled: lines drawn between them say where each begins and ends, whatever is in it.

So cells of several lines, of words only, or merged with others need no guess. Tables ruled in one direction only, and
those with several rows between two rules, are found by their text (`tables`).
"""

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from math import inf

from functions.ingest.parsing.table_cells import Cell, Group, cells_of, is_number
from functions.ingest.parsing.wire import Line
from functions.ingest.parsing.words import Box, Row, Word, box_of, shared_height

THIN = 2.5
"""Points: a rule is no thicker."""
SHORTEST = 5.0
"""Points: a rule is no shorter."""
NEAR = 3.0
"""Points between rules that are one, or that meet."""
FRAME = 6.0
"""Points between a table's outermost rules and a frame around it, at most."""
NO_LINE = 8.0
"""Points between rules down the page in which no line of text has room, so that they are of one table."""
BORDER = 0.7
"""Share of a cell's side that is ruled."""
MAX_COLUMNS = 30
MAX_ROWS = 150
MAX_RULES = 3_000
MIN_CELLS = 4
"""Cells with text of a table, in two rows or more."""
MANY_ROWS = 6
"""Lines of a cell from which on they may be rows without a rule between them."""
MIN_CENTRED = 3
OVERLAP = 0.1
"""Rows without a rule between them, at least, if lines are set in their middle; and share of a line's height from which
on it overlaps another one."""
MIN_SIDES = 3
"""Sides of a field that are ruled, at least."""
MOST_EMPTY = 0.6
"""Share of cells without text from which on the rules are those of a drawing."""
LEAST_FULL = 0.5
"""Share of the rows with text that have several cells with text."""
MOST_PARTED = 0.1
"""Share of lines with as much room in them as columns have."""
FAR = 3.0
"""Room behind a number from which on it marks no item, in font sizes."""
LEVEL = 0.3
"""How much higher one of two parts of a line may be, in font sizes."""
ROOM = 1.0
"""Room beside a word in a cell, in font sizes: a space, and what is kept free at the rule."""
SPACE, MOST_CUT = 0.6, 2
"""Room between two words of a line, in font sizes, and lines that a table's outermost rules may go through, at most."""
LONGEST, LONGEST_FIELD = 800, 300
"""Characters of a cell; where one is longer, the rules are the frames of texts; and of a field of a form."""

Rule = tuple[float, float, float]
"""Where a rule is (its x or its y), and from where to where it goes."""
Rows = Callable[[list[Word]], list[Row]]
Held = Mapping[int, Sequence[int]]
MIN_EDGES = 3
"""Lines of a ruled table in each direction, at least: those around two columns and two rows."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a page, in points from its top left: `across` by y, `down` by x."""

    across: Sequence[Rule]
    down: Sequence[Rule]

    @classmethod
    def of(cls, boxes: Iterable[Box], frames: Iterable[Box]) -> "Rules":
        """Tell rules from other drawings; `frames` are drawn with a line along their four sides."""
        across: list[Rule] = []
        down: list[Rule] = []
        for x0, y0, x1, y1 in boxes:
            if x1 - x0 <= THIN:
                if y1 - y0 >= SHORTEST:
                    down.append(((x0 + x1) / 2, y0, y1))
            elif y1 - y0 <= THIN and x1 - x0 >= SHORTEST:
                across.append(((y0 + y1) / 2, x0, x1))
        for x0, y0, x1, y1 in frames:
            across += [(y0, x0, x1), (y1, x0, x1)]
            down += [(x0, y0, y1), (x1, y0, y1)]
        return cls(across, down)

    def turned(self, turn: int, width: float, height: float) -> "Rules":
        """Return the rules as text sees them that is `turn` quarter turns to the left on a page of that size."""
        if turn == 1:
            across = [(x, height - b, height - a) for x, a, b in self.down]
            return Rules(across, [(height - y, a, b) for y, a, b in self.across])
        if turn == 2:
            across = [(height - y, width - b, width - a) for y, a, b in self.across]
            return Rules(across, [(width - x, height - b, height - a) for x, a, b in self.down])
        return Rules(
            [(width - x, a, b) for x, a, b in self.down], [(y, width - b, width - a) for y, a, b in self.across]
        )


@dataclass(frozen=True, slots=True)
class Grid:
    """Where rules divide a part of the page: `columns` and `rows` are the places of rules, `cells` tells each cell.

    A cell that goes over several columns or rows has the same number in all of them.
    """

    columns: Sequence[float]
    rows: Sequence[float]
    cells: Sequence[Sequence[int]]


def grids_of(rules: Rules) -> Iterator[Grid]:
    """Yield the grids that the rules of a page make, of at least two columns and two rows."""
    if not rules.down or not rules.across or len(rules.across) + len(rules.down) > MAX_RULES:
        return
    for across, down in _meeting(rules.across, rules.down, NEAR):
        # Again, since a table beside them may have filled the room between two.
        for beside, within in _meeting(across, down, NO_LINE):
            if grid := _grid(beside, within):
                yield grid


def _meeting(across: Sequence[Rule], down: Sequence[Rule], room: float) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield the rules of each part of the page that has no gap across it, and none of more than `room` down it."""
    by_height = sorted(across)
    for top, bottom, part in _joined(((rule[1], rule[2], rule) for rule in down), room):
        near = by_height[bisect(by_height, (top - NEAR,)) : bisect(by_height, (bottom + NEAR, inf))]
        for left, right, beside in _joined((rule[1], rule[2], rule) for rule in near):
            yield beside, [rule for rule in part if left - NEAR <= rule[0] <= right + NEAR]


def _joined(spans: Iterable[tuple[float, float, Rule]], room: float = NEAR) -> list[tuple[float, float, list[Rule]]]:
    """Join spans that meet, or are no further apart than `room`, with what each is of."""
    found: list[tuple[float, float, list[Rule]]] = []
    for start, end, rule in sorted(spans):
        if found and start <= found[-1][1] + room:
            begin, last, rules = found[-1]
            rules.append(rule)
            found[-1] = begin, max(end, last), rules
        else:
            found.append((start, end, [rule]))
    return found


def _grid(across: Sequence[Rule], down: Sequence[Rule]) -> Grid | None:
    if not across or not down:
        return None
    # Where the outermost rules are left out, the others end there.
    columns = _places([*(x for x, _, _ in down), min(x0 for _, x0, _ in across), max(x1 for _, _, x1 in across)])
    columns = _without_frame(columns)
    rows = _places([*(y for y, _, _ in across), min(y0 for _, y0, _ in down), max(y1 for _, _, y1 in down)])
    if not MIN_EDGES <= len(columns) <= MAX_COLUMNS + 1 or not MIN_EDGES <= len(rows) <= MAX_ROWS + 1:
        return None
    rows = _borders(rows, across, columns)
    columns = _borders(columns, down, rows)
    if len(columns) < MIN_EDGES or len(rows) < MIN_EDGES:
        return None
    between_columns = [_rules_at(place, down) for place in columns]
    between_rows = [_rules_at(place, across) for place in rows]
    cells: list[list[int]] = []
    parents: list[int] = []

    def root(number: int) -> int:
        while parents[number] != number:
            number = parents[number]
        return number

    for row, (top, bottom) in enumerate(pairwise(rows)):
        cells.append([])
        for column, (left, right) in enumerate(pairwise(columns)):
            number = len(parents)
            parents.append(number)
            cells[row].append(number)
            if column and not _is_ruled(top, bottom, between_columns[column]):
                parents[number] = root(cells[row][column - 1])
            if row and not _is_ruled(left, right, between_rows[row]):
                parents[root(number)] = root(cells[row - 1][column])
    return Grid(columns, rows, [[root(number) for number in row] for row in cells])


def _without_frame(columns: list[float]) -> list[float]:
    """Return where columns are ruled, without the frame around a table, which is as near as no column is wide."""
    while len(columns) > MIN_EDGES and columns[1] - columns[0] < FRAME:
        del columns[0]
    while len(columns) > MIN_EDGES and columns[-1] - columns[-2] < FRAME:
        del columns[-1]
    return columns


def _rules_at(place: float, rules: Sequence[Rule]) -> list[tuple[float, float]]:
    return [(a, b) for at, a, b in rules if abs(at - place) <= NEAR]


def _borders(places: Sequence[float], rules: Sequence[Rule], sides: Sequence[float]) -> list[float]:
    """Return those of the places with rules at which there is the border of a cell, and the outermost."""
    inner = [
        place
        for place in places[1:-1]
        if (found := _rules_at(place, rules)) and any(_is_ruled(a, b, found) for a, b in pairwise(sides))
    ]
    return [places[0], *inner, places[-1]]


def _is_ruled(start: float, end: float, rules: Sequence[tuple[float, float]]) -> bool:
    """Whether there are rules along most of an edge; one under a few words is no border."""
    return sum([max(0.0, min(b, end) - max(a, start)) for a, b in rules]) > BORDER * (end - start)


def _places(numbers: Iterable[float]) -> list[float]:
    """Return places, those near each other as one."""
    found: list[float] = []
    for number in sorted(numbers):
        if not found or number - found[-1] > NEAR:
            found.append(number)
    return found


def table_in(
    grid: Grid, held: Held, words: Sequence[Word], rows_of: Rows, *, names: int | None = None
) -> tuple[list[Group], set[int]]:
    """Return the rows of a ruled table, and the ids of the words in it; nothing if the rules make no table of text.

    `held` are the words in its cells (`words_in`); `rows_of` makes lines of a cell's words, from the top downwards.
    If tags tell the cells (`names` is not None), each row is one, and the first `names` rows name columns.
    """
    spans = _spans(grid)
    in_row = [held.keys() & set(numbers) for numbers in grid.cells]
    several = [row for row, numbers in enumerate(in_row) if len(numbers) > 1]
    if len({spans[number][0] for row in several for number in in_row[row]}) < 2:
        return [], set()
    if len(several) < LEAST_FULL * sum(map(bool, in_row)):
        return [], set()
    # What stands above or below in a frame of the table's width is its title or a note.
    inner = range(several[0], several[-1] + 1) if names is None else range(len(grid.cells))
    all_cells = {number for row in inner for number in grid.cells[row]}
    texts = {number: held[number] for number in sorted(all_cells) if number in held}
    if len(texts) < MIN_CELLS or len(texts) < (1 - MOST_EMPTY) * len(all_cells):
        return [], set()
    if max(sum(len(words[index].text) for index in each) for each in texts.values()) > LONGEST:
        return [], set()
    if names is None and _cuts_lines(words, {index for each in texts.values() for index in each}):
        return [], set()
    if not all(_is_rectangle(grid, number, *spans[number]) for number in texts):
        return [], set()
    cells = {number: _cell(rows_of(_copies(words, each))) for number, each in texts.items()}
    if not _are_columns_ruled(cells.values()):
        return [], set()
    if all(is_number(_text(words)) for cell in cells.values() for words in cell.lines):
        return [], set()  # the labels of these figures stand beside them
    placed: dict[tuple[int, int], Cell] = {}
    for number, cell in cells.items():
        first, left, last, right = spans[number]
        cell.x0, cell.x1 = grid.columns[left], grid.columns[right + 1]
        placed.update(((row, number), part) for row, part in _by_row(grid.rows, first, last, cell))
    columns = sorted({spans[number][1] for number in texts})
    if names is None:
        head = _header(grid, inner, columns, cells, spans)
        below = inner[head[0] :] if head else inner
        groups = [each for row in below for each in _without_rule(_group(grid, row, columns, placed))]
        groups = [*head[1], *groups] if head else groups
    else:
        groups = [_group(grid, row, columns, placed, names=names) for row in inner]
        groups = [group for group in groups if group.cells]
    return groups, {id(words[index]) for each in texts.values() for index in each}


def words_in(grid: Grid, words: Sequence[Word], top: float) -> dict[int, list[int]]:
    """Return the places of the words in each cell, by its number; words are in page space, `top` is the page's."""
    held: dict[int, list[int]] = {}
    left, right, upper, lower = grid.columns[0], grid.columns[-1], grid.rows[0], grid.rows[-1]
    for index, word in enumerate(words):
        x = (word.x0 + word.x1) / 2
        if left <= x < right and upper <= (y := top - (word.y0 + word.y1) / 2) < lower:
            number = grid.cells[bisect(grid.rows, y) - 1][bisect(grid.columns, x) - 1]
            held.setdefault(number, []).append(index)
    return held


def _cuts_lines(words: Sequence[Word], inside: Collection[int]) -> bool:
    """Whether the outermost rules go through several lines of text, as a drawing does that stands behind it."""
    cuts = 0
    for index, (word, following) in enumerate(pairwise(words)):
        if (index in inside) != (index + 1 in inside) and not word.ends:
            is_level = shared_height(word, following) > LEVEL * word.style.size
            cuts += is_level and -SPACE < (following.x0 - word.x1) / max(1.0, word.style.size) < SPACE
    return cuts > MOST_CUT


def _spans(grid: Grid) -> dict[int, tuple[int, int, int, int]]:
    """Return the first row, the first column, the last row and the last column of each cell."""
    spans: dict[int, tuple[int, int, int, int]] = {}
    for row, numbers in enumerate(grid.cells):
        for column, number in enumerate(numbers):
            top_row, left, _, right = spans.get(number, (row, column, row, column))
            spans[number] = top_row, min(left, column), row, max(right, column)
    return spans


def fields_in(grid: Grid, held: Held, rules: Rules, words: Sequence[Word], bounds: Box) -> list[Box]:
    """Return where the cells are, in points from the page's top left, that hold short texts and have others beside.

    `held` are the words in the cells. They are ruled on three sides at least, several together, and within the page,
    `bounds`; shades may go beyond it.
    """
    left_edge, foot, right_edge, top = bounds
    is_within = left_edge - NO_LINE < grid.columns[0] and grid.columns[-1] < right_edge + NO_LINE
    if not is_within or grid.rows[0] < -NO_LINE or grid.rows[-1] > top - foot + NO_LINE:
        return []
    spans = _spans(grid)
    down, across = cache(partial(_rules_at, rules=rules.down)), cache(partial(_rules_at, rules=rules.across))
    boxes: list[Box] = []
    for number, indices in held.items():
        first, left, last, right = spans[number]
        is_short = sum([len(words[index].text) for index in indices]) <= LONGEST_FIELD
        if not is_short or right - left >= len(grid.columns) - 2:
            continue
        x0, y0, x1, y1 = grid.columns[left], grid.rows[first], grid.columns[right + 1], grid.rows[last + 1]
        sides = [_is_ruled(y0, y1, down(x)) for x in (x0, x1)] + [_is_ruled(x0, x1, across(y)) for y in (y0, y1)]
        if sum(sides) >= MIN_SIDES:
            boxes.append((x0, y0, x1, y1))
    return boxes if len(boxes) >= MIN_CELLS else []


def with_fields(lines: list[Line], boxes: Sequence[Box]) -> list[Line]:
    """Give the lines that stand in one of the boxes its number."""
    for line in lines if boxes else ():
        x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
        within = [at for at, (x0, y0, x1, y1) in enumerate(boxes, start=1) if x0 < x < x1 and y0 < y < y1]
        line.boxed = within[0] if within and not line.column else 0
    return lines


def _header(
    grid: Grid,
    rows: Sequence[int],
    columns: Sequence[int],
    cells: Mapping[int, Cell],
    spans: Mapping[int, tuple[int, int, int, int]],
) -> tuple[int, list[Group]] | None:
    """Return how many rows a header takes whose names go over several rows beside those over several columns.

    The latter make rows of their own, then comes one row with a name for each column.
    """
    first = rows[0]
    last = max((spans[number][2] for number in grid.cells[first] if number in cells), default=first)
    inside = [number for row in range(first, last + 1) for number in dict.fromkeys(grid.cells[row]) if number in cells]
    numbers = list(dict.fromkeys(inside))
    wide = [number for number in numbers if spans[number][1] < spans[number][3]]
    if last == first or last >= rows[-1] or not wide or any(spans[number][2] > last for number in numbers):
        return None
    if any(is_number(cells[number].text) for number in numbers):
        return None
    groups: list[Group] = []
    for row in range(first, last + 1):
        over = [cells[number] for number in wide if spans[number][0] == row]
        if over:
            groups.append(Group([Row.of(words) for cell in over for words in cell.lines], over))
    stacked = [(number, cells[number]) for number in numbers if number not in wide]
    names = [cell for _, cell in stacked]
    if not names:
        return None
    lines = [Row.of(words) for cell in names for words in cell.lines]
    box = box_of(lines)
    made: list[Cell] = []
    for column in columns:
        stack = [cell for number, cell in stacked if spans[number][1] == column]
        words = [words for cell in stack for words in cell.lines]
        made.append(Cell(words, stack[0].x0, box[1], stack[0].x1, box[3]) if stack else Cell([], *box))
    return last - first + 1, [*groups, Group(lines, made)]


def _is_rectangle(grid: Grid, number: int, top: int, left: int, bottom: int, right: int) -> bool:
    """Whether a cell is one; what is left of frames that lie over or within each other is none."""
    return all(numbers[left : right + 1] == [number] * (right + 1 - left) for numbers in grid.cells[top : bottom + 1])


def _copies(words: Sequence[Word], indices: Sequence[int]) -> list[Word]:
    """Return copies of a cell's words; a line ends where the next word is in another cell."""
    copies: list[Word] = []
    for index, following in zip(indices, [*indices[1:], None], strict=True):
        word = words[index]
        ends = word.ends if following == index + 1 else word.ends or "\n"
        copies.append(Word(word.text, word.x0, word.y0, word.x1, word.y1, word.style, ends, word.mark))
    return copies


def _cell(rows: Iterable[Row]) -> Cell:
    """Make a cell of rows, from the top; those side by side are one line."""
    lines: list[Row] = []
    for row in sorted(rows, key=lambda row: row.y0):
        if lines and abs(_middle(row.words) - _middle(lines[-1].words)) < LEVEL * row.words[0].style.size:
            lines[-1] = Row.of(sorted(lines[-1].words + row.words, key=lambda word: word.x0))
        else:
            lines.append(row)
    return Cell([line.words for line in lines], *box_of(lines))


def _are_columns_ruled(cells: Collection[Cell]) -> bool:
    """Whether a rule is between all columns: hardly any line has the room of one, and none has it beside a figure."""
    lines = [cells_of(Row.of(words)) for cell in cells for words in cell.lines]
    parted = [parts for parts in lines if len(parts) > 1]
    numbered = [words for cell in cells for words in cell.lines if _is_after_number(words)]
    if len(parted) + len(numbered) > MOST_PARTED * len(lines):
        return False
    return not any(is_number(part.text) for parts in parted for part in parts)


def _is_after_number(words: Sequence[Word]) -> bool:
    """Whether a line's text stands far behind the number that it begins with, as in the next column."""
    is_number = len(words) > 1 and words[0].text.isdecimal()
    return is_number and words[1].x0 - words[0].x1 > FAR * max(1.0, words[0].style.size)


def _by_row(edges: Sequence[float], first: int, last: int, cell: Cell) -> Iterator[tuple[int, Cell]]:
    """Yield a cell with its first row; each of its lines with its own, if it goes over as many rows as it has lines."""
    boxes = [box_of(words) for words in cell.lines] if last > first else []
    if [bisect(edges, (y0 + y1) / 2) - 1 for _, y0, _, y1 in boxes] != list(range(first, last + 1)):
        yield first, cell
        return
    for row, (words, (_, y0, _, y1)) in enumerate(zip(cell.lines, boxes, strict=True), first):
        yield row, Cell([words], cell.x0, y0, cell.x1, y1)


def _without_rule(group: Group) -> list[Group]:
    """Return a row, or the rows in it that have no rule between them: lines at the heights of the fullest cell's.

    In the first cell there may be other lines. Those of wrapped text had no room for the next word.
    """
    later = [cell for cell in group.cells[1:] if cell.lines]
    if not later:
        return [group] if group.cells else []
    fullest = max([*later, group.cells[0]], key=lambda cell: len(cell.lines))
    heights = [_middle(words) for words in fullest.lines]
    lines = [words for cell in later for words in cell.lines]
    are_level = all(min(abs(_middle(words) - height) for height in heights) < NEAR for words in lines)
    if not are_level:
        heights = _labels_centred(group.cells)
    elif not _are_rows(group.cells, fullest, heights):
        return [group]
    if len(heights) < 2:
        return [group]
    parts: list[Group] = []
    for at in range(len(heights)):
        made: list[Cell] = []
        for cell in group.cells:
            words_of = [words for words in cell.lines if _nearest(_middle(words), heights) == at]
            made.append(Cell(words_of, *group.box))
        parts.append(Group([Row.of(words) for cell in made for words in cell.lines], made))
    return parts


def _labels_centred(cells: Sequence[Cell]) -> list[float]:
    """Return the heights of labels of one line each beside which the lines of each row stand in its middle; else none.

    A row's lines overlap each other; none reaches into the next row.
    """
    label = cells[0]
    if len(label.lines) < MIN_CENTRED or not _has_room(label):
        return []
    spans = sorted((box_of(words)[1], box_of(words)[3]) for cell in cells for words in cell.lines)
    bands: list[tuple[float, float]] = []
    for top, bottom in spans:
        if bands and top < bands[-1][1] - OVERLAP * (bottom - top):
            bands[-1] = bands[-1][0], max(bottom, bands[-1][1])
        else:
            bands.append((top, bottom))
    heights = [_middle(words) for words in label.lines]
    are_rows = len(bands) == len(heights) and all(
        top < height < bottom for (top, bottom), height in zip(bands, heights, strict=True)
    )
    return heights if are_rows else []


def _are_rows(cells: Sequence[Cell], fullest: Cell, heights: Sequence[float]) -> bool:
    """Whether lines at the same heights are rows: most begin anew, or are figures, or marks with rows between them."""
    later = [cell for cell in cells[1:] if cell.lines]
    whole = [cell for cell in later if len(cell.lines) == len(heights)]
    figures = [cell for cell in whole if all(is_number(_text(words)) for words in cell.lines)]
    if len(whole) == len(later):
        if figures:
            return len(heights) > 2 or any(map(_has_room, cells))  # else a figure cut in two
        return sum(map(_has_room, cells)) > 1
    if len(heights) > 2 and len(figures) > 1:
        return True
    marks = [cell for cell in later if all(len(words) == 1 for words in cell.lines) and _skips(cell, heights)]
    if len(marks) > 1:
        return True
    # Where only some cells have a line in a row, many that begin anew tell the rows.
    is_list = fullest is cells[0] and len(heights) >= MANY_ROWS and _has_room(fullest)
    return is_list and sum([len(cell.lines) for cell in later]) >= MANY_ROWS


def _skips(cell: Cell, heights: Sequence[float]) -> bool:
    """Whether there is a row between two lines of a cell, in which it has none."""
    rows = [_nearest(_middle(words), heights) for words in cell.lines]
    return any(below > above + 1 for above, below in pairwise(rows))


def _has_room(cell: Cell) -> bool:
    """Whether most lines of a cell had room for the word that begins the next one, which may begin a line itself.

    One in small letters may do so only if the first line begins in them.
    """
    begins_small = bool(cell.lines) and cell.lines[0][0].text[0].islower()
    rooms = [
        words[-1].x1 + below[0].x1 - below[0].x0 + ROOM * below[0].style.size < cell.x1
        and (begins_small or not below[0].text[0].islower())
        for words, below in pairwise(cell.lines)
    ]
    return sum(rooms) > len(rooms) / 2


def _middle(words: Sequence[Word]) -> float:
    return (min(word.y0 for word in words) + max(word.y1 for word in words)) / 2


def _nearest(number: float, others: Sequence[float]) -> int:
    return min(range(len(others)), key=lambda at: abs(others[at] - number))


def _text(words: Sequence[Word]) -> str:
    return " ".join([word.text for word in words])


def _group(
    grid: Grid, row: int, columns: Sequence[int], placed: Mapping[tuple[int, int], Cell], *, names: int | None = None
) -> Group:
    """Return a row with a cell for each column; a cell over several is followed by empty ones.

    In the rows above the first that has no such cell it is not, as in all headers over groups of columns; where tags
    tell which columns those are, it is told for each of them. `names` as in `table_in`.
    """
    numbers = [grid.cells[row][column] for column in columns]
    new = [number for number in dict.fromkeys(numbers) if (row, number) in placed]
    rows = [Row.of(words) for number in new for words in placed[row, number].lines]
    is_title = len(new) == 1 and (numbers[0] == new[0] or (names is not None and numbers.count(new[0]) > 1))
    if is_title:
        return Group(rows, [placed[row, number] for number in new], names=row < (names or 0))
    if not new:
        return Group([], [])
    is_header = all(len({above[column] for column in columns}) < len(columns) for above in grid.cells[: row + 1])
    is_header = is_header or row < (names or 0)
    box = box_of(rows)
    made: list[Cell] = []
    for number, before in zip(numbers, [None, *numbers], strict=False):
        is_first = number != before
        if number in new and (is_first or (is_header and names is not None)):
            made.append(placed[row, number])
        elif is_first or not is_header or names is not None:
            made.append(Cell([], *box))
    return Group(rows, made, names=row < (names or 0))
