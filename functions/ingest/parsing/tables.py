"""Finds tables: rows whose words form separate cells, also where a cell has several lines.

Producers write a table in one of two orders: line by line across the cells, or cell by cell with all lines of a cell
together. In both, a cell stacks downwards and the next one begins further right beside it. `Group` follows that.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from functions.ingest.parsing.words import CUT, SOFT_HYPHEN, Row, Word, box_of
from shared.text import BULLET_SIGNS

CELL_GAP_EM = 1.15
"""Room between two words that makes them two cells, in font sizes; justified prose stays under it."""
PROSE_GAP_EM = 2.5
"""Gaps in spread prose are under it; columns of text are further apart, or begin below each other."""
MIN_SPACED_OUT = 4
"""Letters of a word from which on its width tells whether they are set apart; a capital is less than 0.9 wide."""
CLOSE_EM = 0.4
"""Room between two words over different columns that makes them two cells, in font sizes; a space is about 0.25."""
WIDER = 1.3
"""How much wider than any space of a line the room between its two cells is."""
GUTTER_ROWS = 2
GUTTER_SHARE = 0.3
CROSSED = 0.2
"""Rows of a table, and share of them, whose cells leave room at one place, so that it is between two columns; and the
share of them that may have a word there."""
LARGER = 1.15
"""Print that is larger by this factor is a title's."""
SMALLER = 0.93
"""Print that is smaller than its table's by this factor."""
LONGEST_KIND = 30
"""Characters of what a manual calls the kind of a thing that it defines: "[Config Command]"."""
MAX_BETWEEN = 2
MAX_BETWEEN_FIGURES = 3
"""Groups of one cell (titles inside a table, wrapped labels) allowed between rows of several; and below figures."""
MAX_CELL_LINES = 24
MAX_CELL_CHARACTERS = 500
MAX_ROWS = 300
"""Lines in one row of a table; also keeps the cost of a page linear."""
NUMBER = re.compile(r"[\s$€£¥(+\-–—−]*\d[\d.,:/%)\s–—-]*|[-–—−]+|n/?a|[$€£¥]\s*[-–—]", re.IGNORECASE)
SIGN_BEFORE = {"$", "€", "£", "¥", "(", "$(", "US$"}
SIGN_AFTER = {")", "%", ")%", "%)", "pts", "bp"}
CURRENCIES = "$€£¥"
BEGINS_FIGURE = frozenset("0123456789(" + CURRENCIES)
ENDS_FIGURE = frozenset("0123456789)%-–—−")
FIGURES_GAP_EM = 0.7
"""Room between two figures that makes them two cells; a figure and a currency sign after it always are."""
_SCALE = r"(?:[$€£] ?)?(?:thousands?|millions?|billions?|percent|000s?|tūkst|mln)\b[^|]{0,60}"
UNIT = re.compile(rf"(?i:\((?:[^()|]{{0,30}}\s)?(?:in )?{_SCALE})|(?:[A-Z][\w.,]* ){{0,3}}[Ii]n (?i:{_SCALE})")
"""What a table says of its unit and scale: "(in millions, except per share data)"."""
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
MEASURED = re.compile(r"[$€£¥(]*\d[\d.,]*\)?\s?[^\W\d]{1,8}\)?")
MAX_HEADER_CHARACTERS = 60
"""Of one line of a header's cell."""
BULLETS = frozenset(f"{BULLET_SIGNS}‣▸❯◇⁃⦁◾◼◉❑❒\uf0b7\uf0a7")
ITEM_NUMBER = re.compile(r"\d{1,2}[A-C]?\.?")
MARK = re.compile(r"[^\w\s]|o|\(?\w{1,3}[.)]|\[\d+\]|\d{1,2}(?:\.\d{1,2})*\.?")
"""A bullet or a number at the start of a line: the room behind it makes no cell."""
SMALLEST_HEIGHT = 4.0
"""Height in points that is used for lines without one, or in smaller print."""
CELL_OVERLAP = 0.35
CELL_ROOM = 0.7
"""How far two lines of one cell may overlap or be apart, in heights of a line."""
ALIGNED_LEFT = 4
ALIGNED = 3
"""Points by which the left edges of two lines of one cell may differ, and the edges of cells in one column."""
SHORTEST_CUT = 3
NEARLY_AS_WIDE_EM = 0.9
"""Letters of a word alone on its line that may go on below, more than that, and how far it may end before the cell
does, in font sizes."""
IN_BAND = 0.6
TOUCHING = 0.3
"""How far a cell may stand above or below its row, and overlap the cell before it, in heights of a line."""
SPACED_OUT_EM = 0.9
"""Width of each letter of a word set apart, in font sizes."""
IN_GUTTER = 0.5
"""Share of the room between two words that lies between two columns."""
ROW_ROOM = 3
ROW_OVERLAP = 0.8
"""How far two rows of a table may be apart or overlap, in heights of a line."""
LONGEST_SINGLE_ROWS = 3
LONGEST_SINGLE = 160
"""Lines, and characters, of a table's row with a single cell, at most."""
FIGURES_SHARE = 0.4
"""Share of the cells behind the labels that are figures, if these alone tell that it is a table."""
NARROW_SHARE = 0.6
PROSE_ALIGNED = 0.3
ALIGNED_SHARE = 0.6
"""Share of narrow gaps in justified prose at least, share of its lines whose gaps are at one place at most, and share
of a table's rows that line up at least."""


def is_number(cell: str) -> bool:
    """Whether a cell holds a figure: "1,234", "(56)", "$ 7.8", "12 %", a dash for nothing."""
    return NUMBER.fullmatch(cell.strip()) is not None


@dataclass(slots=True)
class Cell:
    """Words of one cell, line after line."""

    lines: list[list[Word]]
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def text(self) -> str:
        """The cell's text in one line; nothing for an empty cell, which has no lines."""
        if len(self.lines) == 1:  # nearly always
            (words,) = self.lines
            text = " ".join([word.text for word in words])
            return (f"{text}-" if words[-1].ends == "-" else text).strip()
        text = ""
        edge = max((words[-1].x1 for words in self.lines), default=0.0)
        for words, below in zip(self.lines, [*self.lines, None][1:], strict=True):
            text += " ".join(word.text for word in words)
            if words[-1].ends == "-":
                text += "-" if below is None else SOFT_HYPHEN + CUT
            elif below is not None:
                text += CUT if len(words) == 1 and _may_be_cut(words[0], below[0], edge) else " "
        return text.strip()

    def continues_in(self, other: "Cell") -> bool:
        """Whether `other`, one line, continues this cell below: near, and left, right or centre aligned."""
        height = max(SMALLEST_HEIGHT, other.y1 - other.y0)
        near = -CELL_OVERLAP * height < other.y0 - self.y1 < CELL_ROOM * height and other.y0 > self.lines[-1][0].y0
        aligned = (
            abs(self.x0 - other.x0) < ALIGNED_LEFT
            or abs(self.x1 - other.x1) < ALIGNED
            or abs(self.x0 + self.x1 - other.x0 - other.x1) < 2 * ALIGNED
            or (self.x0 < other.x0 and other.x1 < self.x1 + height)
        )
        return near and aligned and other.x0 < self.x1 and other.x1 > self.x0


def _may_be_cut(word: Word, below: Word, edge: float) -> bool:
    """Whether a word alone on its line, as wide as the cell, may continue below."""
    letters = word.text[-1].islower() and below.text[0].islower()
    return letters and len(word.text) > SHORTEST_CUT and word.x1 > edge - NEARLY_AS_WIDE_EM * word.style.size


@dataclass(slots=True)
class Group:
    """Rows that may make one row of a table, with its cells; `rows` is used if it makes none."""

    rows: list[Row]
    cells: list[Cell] = field(default_factory=list)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return box_of(self.rows)

    def try_add(self, row: Row, cells: list[Cell]) -> bool:
        """Add a row that continues below the last cell or beside it; return whether it did."""
        last = self.cells[-1]
        if len(self.rows) >= MAX_ROWS:
            return False
        if (
            len(cells) == 1
            and len(last.lines) < MAX_CELL_LINES
            and last.continues_in(cells[0])
            and not _is_sum_of(cells[0], last)
            and (len(self.cells) == 1 or row.x0 > self._left(last))
            and not (
                len(self.cells) == 1 and (_is_title_of(last, cells[0]) or _is_field(last) or _is_led(last.lines[-1]))
            )
        ):
            last.lines += cells[0].lines
            last.x0, last.x1, last.y1 = min(last.x0, row.x0), max(last.x1, row.x1), row.y1
        elif self._beside(row):
            self.cells += cells
        else:
            return False
        self.rows.append(row)
        return True

    def _left(self, last: Cell) -> float:
        """Return the edge right of which a line may go on in the last of several cells; hardly any does in a figure."""
        before = self.cells[-2]
        return (before.x0 + before.x1) / 2 if is_number(last.text) else before.x0

    def _beside(self, row: Row) -> bool:
        _, top, _, bottom = self.box
        height = max(SMALLEST_HEIGHT, row.y1 - row.y0)
        last = self.cells[-1]
        in_band = top - IN_BAND * height <= row.y0 and row.y1 <= bottom + IN_BAND * height
        # A cell written after a taller one begins higher; beside a single line it is on the same line.
        return in_band and row.x0 >= last.x1 - TOUCHING * height and row.y0 < last.y1


def _is_title_of(above: Cell, below: Cell) -> bool:
    """Whether a cell in bold or larger print is the title of one that is not, and no part of it."""
    first, below_it = above.lines[0][0].style, below.lines[0][0].style
    if first.size > LARGER * below_it.size:
        return True
    return not below_it.bold and all(word.style.bold for words in above.lines for word in words)


def _is_field(label: Cell) -> bool:
    """Whether a label is that of a form's field, which ends with a colon: what stands below is the next one."""
    return label.lines[-1][-1].text[-1] == ":"


def _is_led(words: Sequence[Word]) -> bool:
    """Whether dots lead to the number that a line ends with: what stands below is the next entry of the contents."""
    return len(words) > 1 and words[-1].text.isdecimal() and _is_leader(words[-2])


def _is_leader(word: Word) -> bool:
    return word.text.strip(".…") == ""


def _is_sum_of(cell: Cell, above: Cell) -> bool:
    """Whether a cell without a label holds a figure of its own: a sum, which has as many digits as what it is of."""
    if cell.lines[0][0].text[0] not in BEGINS_FIGURE:  # nearly always
        return False
    return is_number(cell.text) and is_number(above.text) and len(cell.text) >= len(above.text)


def cells_of(row: Row) -> list[Cell]:
    """Cut a row into cells at wide gaps; a currency sign stays with its figure, a bullet with its text.

    An entry of a table of contents is one cell.
    """
    if _is_led(row.words) and not any(_is_leader(a) and not _is_leader(b) for a, b in pairwise(row.words[:-1])):
        return [Cell([row.words], row.x0, row.y0, row.x1, row.y1)]
    first = before = row.words[0]
    current = [first]
    cut: list[list[Word]] = [current]
    for word in row.words[1:]:
        room = word.x0 - before.x1
        # Most words are near: no further check is needed.
        if room > CELL_GAP_EM and room > CELL_GAP_EM * min(before.style.size, word.style.size):
            if (
                not (before is first and _marks(before, word))
                and not (before is row.words[1] and _names_item(first, before, word))
                and not (_is_spaced_out(before) and _is_spaced_out(word))
                and before.text not in SIGN_BEFORE
                and not is_sign_of(before, word)
            ):
                current = []
                cut.append(current)
        elif word.text[0] in BEGINS_FIGURE and before.text[-1] in ENDS_FIGURE and _are_figures(before, word, room):
            current = []
            cut.append(current)
        current.append(word)
        before = word
    if len(cut) == 2 and _is_kind(cut[1]):
        return [Cell([row.words], row.x0, row.y0, row.x1, row.y1)]
    return [Cell([words], words[0].x0, row.y0, words[-1].x1, row.y1) for words in cut]


def is_definition(row: Row) -> bool:
    """Whether a row is the line of a manual that defines a name, and says at its end what that is: "[Command]"."""
    return (
        row.words[-1].text[-1] == "]"
        and len(cells_of(row)) == 1
        and any(
            _is_kind(row.words[at:]) and word.x0 - before.x1 > CELL_GAP_EM * word.style.size
            for at, (before, word) in enumerate(pairwise(row.words), 1)
        )
    )


def _is_kind(words: Sequence[Word]) -> bool:
    """Whether words in square brackets say what kind of thing a manual defines on their line."""
    if words[0].text[0] != "[" or words[-1].text[-1] != "]":
        return False
    text = " ".join([word.text for word in words])[1:-1]
    return len(text) <= LONGEST_KIND and all(part.isalpha() for part in text.split())


def _is_spaced_out(word: Word) -> bool:
    """Whether the letters of a word are set apart, so that the room behind it says little."""
    return len(word.text) >= MIN_SPACED_OUT and word.x1 - word.x0 > SPACED_OUT_EM * word.style.size * len(word.text)


def _marks(before: Word, word: Word) -> bool:
    """Whether a row's first word is the bullet or number of the words behind it; behind a bullet may be a figure."""
    return before.text in BULLETS or (MARK.fullmatch(before.text) is not None and word.text[0].isalpha())


def _names_item(first: Word, before: Word, word: Word) -> bool:
    """Whether a row begins as a section of a filing, with room before its name: "ITEM 7.   Management's Discussion"."""
    return first.text.lower() == "item" and ITEM_NUMBER.fullmatch(before.text) is not None and word.text[0].isalpha()


def is_sign_of(before: Word, word: Word) -> bool:
    """Whether a word is the sign of the figure before it; after a year begins another header's cell ("% change")."""
    return word.text in SIGN_AFTER and not YEAR.fullmatch(before.text)


def _are_figures(before: Word, word: Word, room: float) -> bool:
    """Whether two words that stand near each other are figures of two columns."""
    if word.text[0] in CURRENCIES:
        return room > 0 and before.text not in SIGN_BEFORE
    apart = room > FIGURES_GAP_EM * min(before.style.size, word.style.size)
    return apart and is_number(before.text) and is_number(word.text) and word.text not in SIGN_AFTER | SIGN_BEFORE


def grouped(rows: list[Row]) -> list[Group]:
    """Group rows, in order, that stack or lie beside each other."""
    return _grouped((row, cells_of(row)) for row in rows)


def _grouped(rows: Iterable[tuple[Row, list[Cell]]]) -> list[Group]:
    groups: list[Group] = []
    for row, cells in rows:
        if not groups or row.mono or groups[-1].rows[-1].mono or not groups[-1].try_add(row, cells):
            groups.append(Group([row], cells))
    return groups


def regrouped(run: list[Group]) -> list[Group]:
    """Return a table's groups with cells that stand too near each other cut where the other rows have columns."""
    gutters = _gutters(run)
    if not any(len(_cut_at(group.cells, gutters)) > len(group.cells) for group in run):
        return run
    rows: list[tuple[Row, list[Cell]]] = []
    for group in run:
        for row in group.rows:
            cells = cells_of(row)
            cut = _cut_at(cells, gutters)
            # A title or a sentence may have some room there by chance.
            is_row = len(group.cells) > 1 or all(is_number(cell.text) for cell in cut[1:]) or _is_cut_in_two(row.words)
            rows.append((row, cut if is_row else cells))
    return _grouped(rows)


def _gutters(run: list[Group]) -> list[tuple[float, float]]:
    """Return the places between columns: room that several rows have at one place, and hardly any row a word."""
    rows = [group.cells for group in run if len(group.cells) > 1]
    gaps = [(a.x1, b.x0) for cells in rows for a, b in pairwise(cells) if a.x1 < b.x0]
    gaps.sort(key=lambda gap: gap[1] - gap[0])
    found: list[tuple[float, float, int]] = []
    for left, right in gaps:  # narrow ones first: a wide one may have an empty column in it
        over = [at for at, (x0, x1, _) in enumerate(found) if min(right, x1) > max(left, x0)]
        if not over:
            found.append((left, right, 1))
        elif len(over) == 1:
            x0, x1, count = found[over[0]]
            found[over[0]] = max(left, x0), min(right, x1), count + 1
    enough = max(GUTTER_ROWS, GUTTER_SHARE * len(rows))
    lines = [words for cells in rows for cell in cells for words in cell.lines]
    return [
        (x0, x1)
        for x0, x1, count in sorted(found)
        if count >= enough and sum([_crosses(words, (x0, x1)) for words in lines]) <= CROSSED * len(rows)
    ]


def _crosses(words: Sequence[Word], gutter: tuple[float, float]) -> bool:
    """Whether the words of a cell run across a gutter without more room there than a space."""
    x0, x1 = gutter
    if words[0].x0 >= x1 or words[-1].x1 <= x0 or not any(word.x0 < x1 and x0 < word.x1 for word in words):
        return False
    return words[0].x0 < x0 and words[-1].x1 > x1 and not any(_is_between(a, b, [gutter]) for a, b in pairwise(words))


def _cut_at(cells: list[Cell], gutters: Sequence[tuple[float, float]]) -> list[Cell]:
    """Cut cells of one line at the gutters that they run across."""
    out: list[Cell] = []
    for cell in cells:
        parts = [cell]
        if len(cell.lines) == 1 and len(cell.lines[0]) > 1:
            words = cell.lines[0]
            cuts = [at for at in range(1, len(words)) if _is_between(words[at - 1], words[at], gutters)]
            parts = [
                Cell([words[a:b]], words[a].x0, cell.y0, words[b - 1].x1, cell.y1)
                for a, b in pairwise([0, *cuts, len(words)])
            ]
        out += parts
    return out


def _is_between(before: Word, word: Word, gutters: Sequence[tuple[float, float]]) -> bool:
    room = word.x0 - before.x1
    if room < CLOSE_EM * min(before.style.size, word.style.size):
        return False
    if before.text in SIGN_BEFORE or is_sign_of(before, word) or before.text == word.text == ".":
        return False
    return any(min(word.x0, x1) - max(before.x1, x0) > IN_GUTTER * min(room, x1 - x0) for x0, x1 in gutters)


def tables_in(groups: list[Group]) -> list[tuple[int, int]]:
    """Return the runs of groups (start, end) that are tables."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(groups):
        if not _has_several_cells(groups[at]):
            at += 1
            continue
        end = _end_of_run(groups, at)
        found += [(start, stop) for start, stop in _apart(groups, at, end) if _is_table(groups[start:stop])]
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
            gutters = _gutters(groups[start:after])
        labelled = [row for row, is_narrow in zip(group.rows, narrow, strict=True) if is_narrow]
        if not all(len(_cut_at(cells_of(row), gutters)) > 1 for row in labelled):
            break
        if len(group.cells) == 1:
            groups[end : end + 1] = [Group([row], cells_of(row)) for row in group.rows]  # each is cut by itself
        end += len(group.rows) if len(group.cells) == 1 else 1
    return end


def _is_narrow_row(row: Row, left: float, right: float) -> bool:
    """Whether a row begins at `left`, not with a note's number, and has its widest gap before a word at `right`."""
    if abs(row.x0 - left) > 1 or not _is_cut_in_two(row.words) or MARK.fullmatch(row.words[0].text):
        return False
    rooms = [word.x0 - before.x1 for before, word in pairwise(row.words)]
    return abs(row.words[rooms.index(max(rooms)) + 1].x0 - right) <= 1


def _apart(groups: list[Group], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a run where another table begins: at a header below rows with figures."""
    last = None
    for at in range(start, end):
        if last is not None and (begins_table(groups[at]) or _is_over_figures(groups[at], groups[last])):
            yield start, last + 1
            start = next(begin for begin in range(last + 1, end) if len(groups[begin].cells) > 1)
            last = None
        if has_figure(groups[at]):
            last = at
    yield start, end


def _is_over_figures(group: Group, above: Group) -> bool:
    """Whether a row of one cell tells the period of the figures below it: it stands where those above it stand."""
    (cell, *others) = group.cells
    if others or is_number(cell.text) or not YEAR.search(cell.text) or len(cell.text) > MAX_HEADER_CHARACTERS:
        return False
    return above.cells[0].x1 < cell.x0 and above.cells[1].x0 < cell.x1 and cell.x0 < above.cells[-1].x1


def begins_table(group: Group) -> bool:
    """Whether a row with several cells is the header of a table: years, dates or a unit, and no figures."""
    later = [cell.text for cell in group.cells[1:]]
    if not later or has_figure(group) or any(len(text) > MAX_HEADER_CHARACTERS for text in later):
        return False
    return any(YEAR.search(text) for text in later) or any(UNIT.fullmatch(cell.text) for cell in group.cells)


def has_figure(group: Group) -> bool:
    """Whether a row of several cells holds a figure."""
    return len(group.cells) > 1 and any(is_figure(cell.text) for cell in group.cells)


def is_figure(cell: str) -> bool:
    """Whether a cell holds a figure that is no year, perhaps with its unit ("11.6 years")."""
    return (is_number(cell) or MEASURED.fullmatch(cell) is not None) and not YEAR.match(cell)


def _has_several_cells(group: Group) -> bool:
    if len(group.cells) < 2 or group.rows[0].mono:
        return False
    return all(sum(len(w.text) for line in cell.lines for w in line) <= MAX_CELL_CHARACTERS for cell in group.cells)


def _end_of_run(groups: list[Group], start: int) -> int:
    end = last = start + 1
    between = 0
    is_one_row = sum(is_figure(cell.text) for cell in groups[start].cells) > 1  # which would be no table without others
    while end < len(groups):
        above, group = groups[end - 1], groups[end]
        between += not (end > last and _is_title_of(above.cells[0], group.cells[0]))  # the two count as one
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
    return not any(_is_cut_in_two(words) for words in first.lines)


def _is_cut_in_two(words: Sequence[Word]) -> bool:
    """Whether two cells stand so near each other that they were taken for one: one gap is wider than all others."""
    rooms = sorted(word.x0 - before.x1 for before, word in pairwise(words))
    return len(rooms) > 1 and rooms[-1] > max(CLOSE_EM * words[0].style.size, WIDER * rooms[-2])


def _is_last_sum(group: Group, above: Group) -> bool:
    """Whether a row is a sum without a label, below the figures of the last column."""
    (cell, *others), last = group.cells, above.cells[-1]
    return not others and is_number(cell.text) and is_number(last.text) and abs(cell.x1 - last.x1) < ALIGNED


def _is_table(run: list[Group]) -> bool:
    """Two rows with cells that line up, or with figures in them; prose with stray gaps is neither."""
    several = [group for group in run if len(group.cells) >= 2]
    if len(several) < 2:
        return False
    figures = sum(is_number(cell.text) for group in several for cell in group.cells[1:])
    others = sum(len(group.cells) - 1 for group in several)
    return figures >= FIGURES_SHARE * others or (_aligned(several) and not _is_spread_prose(several))


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
