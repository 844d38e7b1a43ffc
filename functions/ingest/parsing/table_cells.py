"""What tables are made of: cells, and the rows whose words form them, also where a cell has several lines.

Producers write a table in one of two orders: line by line across the cells, or cell by cell with all lines of a cell
together. In both, a cell stacks downwards and the next one begins further right beside it. `Group` follows that.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from functions.ingest.parsing.words import CUT, SOFT_HYPHEN, Row, Word, box_of
from shared.text import BOX_SIGNS, BULLET_SIGNS

CELL_GAP_EM = 1.15
"""Room between two words that makes them two cells, in font sizes; justified prose stays under it."""
MIN_SPACED_OUT = 4
"""Letters of a word from which on its width tells whether they are set apart; a capital is less than 0.9 wide."""
CLOSE_EM = 0.4
"""Room between two words over different columns that makes them two cells, in font sizes; a space is about 0.25."""
LARGER = 1.15
"""Print that is larger by this factor is a title's."""
LONGEST_KIND = 30
"""Characters of what a manual calls the kind of a thing that it defines: "[Config Command]"."""
LEAST_WORDS = 3
"""Words of an item that begins with no letter, at least: "3. 12 km" is a row with a rank."""
MIN_BELOW = 2
"""Rows below a header that show, at least, that figures with words are names of columns."""
LEVEL = 0.3
"""How far the middles of two cells of a row may be apart, in heights of a line, if their lines are centred in it."""
MAX_CELL_LINES = 24
MAX_ROWS = 300
"""Lines in one row of a table; also keeps the cost of a page linear."""
NUMBER = re.compile(r"[\s$€£¥(+\-–—−]*\d[\d.,:/%)\s–—-]*[$€£¥]?|[-–—−]+|n/?a|[$€£¥]\s*[-–—]", re.IGNORECASE)
SIGN_BEFORE = {"$", "€", "£", "¥", "(", "$(", "US$"}
SIGN_AFTER = {")", "%", ")%", "%)", "pts", "bp"}
CURRENCIES = "$€£¥"
SIGNS = frozenset(CURRENCIES)
BEGINS_FIGURE = frozenset("0123456789(" + CURRENCIES)
BEGINS_SIGNED = frozenset("(.-–—−n$€£")
NOTE_NUMBERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""The raised numbers of notes."""
ENDS_FIGURE = frozenset(f"0123456789)%-–—−{NOTE_NUMBERS}")
FIGURES_GAP_EM = 0.7
"""Room between two figures that makes them two cells; a figure and a currency sign after it always are."""
_SCALE = r"(?:[$€£] ?)?(?:thousands?|millions?|billions?|percent|000s?|tūkst|mln)\b[^|]{0,60}"
UNIT = re.compile(rf"(?i:\((?:[^()|]{{0,30}}\s)?(?:in )?{_SCALE})|(?:[A-Z][\w.,]* ){{0,3}}[Ii]n (?i:{_SCALE})")
"""What a table says of its unit and scale: "(in millions, except per share data)"."""
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
MEASURED = re.compile(r"[$€£¥(]*\d[\d.,]*\)?\s?(?:[$€£¥]/)?[^\W\d]{1,8}\)?")
WITH_ANOTHER = re.compile(r"[-–−+]?\d[\d.,]*%? ?\(\d[\d.,]* ?%?\)")
BULLETS = frozenset(f"{BULLET_SIGNS}‣▸❯◇⁃⦁◾◼◉❑❒\uf0b7\uf0a7") - frozenset(BOX_SIGNS)
"""The signs of items; boxes to tick are none, because in many forms they stand behind what they are of."""
ITEM_NUMBER = re.compile(r"\d{1,2}[A-C]?\.?")
MARK = re.compile(r"[^\w\s]|o|\(?\w{1,3}[.)]|\[\d+\]|\d{1,2}(?:\.\d{1,2})*\.?")
"""A bullet or a number at the start of a line: the room behind it makes no cell."""
SMALLEST_HEIGHT = 4.0
"""Height in points that is used for lines without one, or in smaller print."""
CELL_OVERLAP = 0.35
CELL_ROOM = 0.7
"""How far two lines of one cell may overlap or be apart, in heights of a line."""
SAME_EDGE = 1
"""Points by which the edges of two lines may differ that fill one cell."""
ALIGNED_LEFT = 4
ALIGNED = 3
"""Points by which the left edges of two lines of one cell may differ, and the edges of cells in one column."""
CUT_ROOM = 0.4
"""Room between the lines of one cell, in their heights, from which on they are cells below each other."""
SHORTEST_CUT = 3
NEARLY_AS_WIDE_EM = 0.9
"""Letters of a word alone on its line that may go on below, more than that, and how far it may end before the cell
does, in font sizes."""
IN_BAND = 0.6
TOUCHING = 0.3
"""How far a cell may stand above or below its row, and overlap the cell before it, in heights of a line."""
KEPT = 4_096
"""Texts of cells of which it is remembered whether they are figures: each is asked several times."""
SPACED_OUT_EM = 0.9
"""Width of each letter of a word set apart, in font sizes."""


@lru_cache(maxsize=KEPT)
def is_number(cell: str) -> bool:
    """Whether a cell holds a figure: "1,234", "(56)", "$ 7.8", "12 %", "410¹", a dash for nothing."""
    return NUMBER.fullmatch(cell.strip().rstrip(NOTE_NUMBERS)) is not None


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
            text = words[0].text if len(words) == 1 else " ".join([word.text for word in words])
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

    def has_edges_of(self, row: Row) -> bool:
        """Whether a row begins and ends where this cell of several words does."""
        has_edges = abs(self.x0 - row.x0) < SAME_EDGE and abs(self.x1 - row.x1) < SAME_EDGE
        return has_edges and len(self.lines[-1]) > 1

    def goes_on_beside(self, cells: "Sequence[Cell]") -> bool:
        """Whether the first of several cells of a line goes on with the word that this one's last line cuts."""
        is_cut = self.lines[-1][-1].ends == "-" and abs(self.x0 - cells[0].x0) < ALIGNED_LEFT
        return is_cut and self.continues_in(cells[0]) and cells[1].x0 > self.x1

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
    is_near = below.y0 - word.y1 < CUT_ROOM * (word.y1 - word.y0)
    letters = is_near and word.text[-1].islower() and below.text[0].islower()
    return letters and len(word.text) > SHORTEST_CUT and word.x1 > edge - NEARLY_AS_WIDE_EM * word.style.size


@dataclass(slots=True)
class Group:
    """Rows that may make one row of a table, with its cells; `rows` is used if it makes none.

    It `names` columns if tags say so.
    """

    rows: list[Row]
    cells: list[Cell] = field(default_factory=list)
    at: int = -1
    """Which cell the last line went to."""
    names: bool = False

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return box_of(self.rows)

    def try_add(self, row: Row, cells: list[Cell]) -> bool:
        """Add a row that continues below the last cell or beside it; return whether it did."""
        last = self.cells[self.at]
        if len(self.rows) >= MAX_ROWS:
            return False
        if len(cells) > 1 and len(self.cells) > 1 and last.has_edges_of(row):
            cells = [Cell([row.words], row.x0, row.y0, row.x1, row.y1)]  # a stretched line
        if (
            len(cells) == 1
            and len(last.lines) < MAX_CELL_LINES
            and last.continues_in(cells[0])
            and not _is_sum_of(cells[0], last)
            and not (self.at >= 0 and is_number(last.text))
            and (len(self.cells) == 1 or row.x0 > self._left(last))
            and not (
                len(self.cells) == 1 and (is_title_of(last, cells[0]) or _is_field(last) or is_led(last.lines[-1]))
            )
        ):
            last.lines += cells[0].lines
            last.x0, last.x1, last.y1 = min(last.x0, row.x0), max(last.x1, row.x1), row.y1
        elif self._beside(row):
            self.cells += cells
            self.at = -1
        elif len(cells) > 1 and len(self.cells) > 1 and last.goes_on_beside(cells):
            last.lines += cells[0].lines
            last.x0, last.x1, last.y1 = min(last.x0, row.x0), max(last.x1, cells[0].x1), row.y1
            at = self.at % len(self.cells) + 1
            self.cells[at:at] = cells[1:]
            self.at = at + len(cells) - 2
        elif (at := self._gap_for(row)) >= 0:
            self.cells[at:at] = cells
            self.at = at + len(cells) - 1
        else:
            return False
        self.rows.append(row)
        return True

    def try_add_above(self, rows: Sequence[Row], cells: Sequence[list[Cell]]) -> int:
        """Add a cell that begins above this row, and ends at its height or has the same middle.

        Return how many of the rows it takes.
        """
        _, top, right, bottom = self.box
        first = self.rows[0]
        height = max(SMALLEST_HEIGHT, first.y1 - first.y0)
        is_line = len(self.cells) > 1 and all(is_beside(first, other) for other in self.rows)
        stack: Cell | None = None
        taken = 0
        for count, (line, (cell, *behind)) in enumerate(zip(rows, cells, strict=True), 1):
            if line.mono or line.x0 < right + TOUCHING * height or is_number(cell.text):
                break
            if stack is None:
                stack = Cell(list(cell.lines), cell.x0, line.y0, cell.x1, line.y1)
            elif stack.continues_in(cell):
                stack.lines += cell.lines
                stack.x0, stack.x1, stack.y1 = min(stack.x0, cell.x0), max(stack.x1, cell.x1), line.y1
            else:
                break
            taken = count
            if behind or (is_line and count > 1 and is_beside(first, line)):
                break
        if stack is None or taken < 2:
            return 0
        is_centred = abs(stack.y0 + stack.y1 - top - bottom) < 2 * LEVEL * height
        if not is_centred and abs(stack.y1 - bottom) > TOUCHING * height:
            return 0
        self.rows += rows[:taken]
        self.cells += [stack, *(cells[taken - 1][1:])]
        self.at = -1
        return taken

    def _left(self, last: Cell) -> float:
        """Return the edge right of which a line may go on in the last of several cells; hardly any does in a figure."""
        before = self.cells[self.at - 1]
        return (before.x0 + before.x1) / 2 if is_number(last.text) else before.x0

    def _is_in_band(self, row: Row) -> bool:
        _, top, _, bottom = self.box
        height = max(SMALLEST_HEIGHT, row.y1 - row.y0)
        return top - IN_BAND * height <= row.y0 and row.y1 <= bottom + IN_BAND * height

    def _gap_for(self, row: Row) -> int:
        """Return before which cell a line stands that was written after the cells on both its sides; -1 for none."""
        gaps = pairwise(self.cells)
        at = next((n for n, (a, b) in enumerate(gaps, 1) if a.x1 < row.x0 and row.x1 < b.x0), -1)
        return at if at > 0 and self._is_in_band(row) else -1

    def _beside(self, row: Row) -> bool:
        height = max(SMALLEST_HEIGHT, row.y1 - row.y0)
        last = self.cells[-1]
        # A cell written after a taller one begins higher; beside a single line it is on the same line.
        return self._is_in_band(row) and row.x0 >= last.x1 - TOUCHING * height and row.y0 < last.y1


def is_title_of(above: Cell, below: Cell) -> bool:
    """Whether a cell in bold or larger print is the title of one that is not, and no part of it."""
    first, below_it = above.lines[0][0].style, below.lines[0][0].style
    if first.size > LARGER * below_it.size:
        return True
    return not below_it.bold and all(word.style.bold for words in above.lines for word in words)


def _is_field(label: Cell) -> bool:
    """Whether a label is that of a form's field, which ends with a colon: what stands below is the next one."""
    return label.lines[-1][-1].text[-1] == ":"


def is_led(words: Sequence[Word]) -> bool:
    """Whether dots lead to the number that a line ends with: what stands below is the next entry of the contents."""
    return len(words) > 1 and words[-1].text.isdecimal() and _is_leader(words[-2])


def is_beside(row: Row, other: Row) -> bool:
    """Whether two rows stand at one height."""
    least = TOUCHING * max(SMALLEST_HEIGHT, other.y1 - other.y0)
    return abs(row.y0 - other.y0) < least and abs(row.y1 - other.y1) < least


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
    if is_led(row.words) and not any(_is_leader(a) and not _is_leader(b) for a, b in pairwise(row.words[:-1])):
        return [Cell([row.words], row.x0, row.y0, row.x1, row.y1)]
    first = before = row.words[0]
    current = [first]
    cut: list[list[Word]] = [current]
    signs_follow = _signs_follow(row.words)
    for at, word in enumerate(row.words[1:], 2):
        room = word.x0 - before.x1
        # Most words are near: no further check is needed.
        if room > CELL_GAP_EM and (room > CELL_GAP_EM * word.style.size or room > CELL_GAP_EM * before.style.size):
            if (
                not (before is first and (_marks(before, word) or _numbers_sentence(row.words)))
                and not (before is row.words[1] and _names_item(first, before, word))
                and not (_is_spaced_out(before) and _is_spaced_out(word))
                and (signs_follow or not is_signed_by(before, word))
                and not is_sign_of(before, word)
            ):
                current = []
                cut.append(current)
        elif (
            word.text[0] in BEGINS_FIGURE
            and before.text[-1] in ENDS_FIGURE
            and _are_figures(before, word, room)
            and not (word.text in CURRENCIES and (signs_follow or _is_unit_before(row.words[at:])))
        ):
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


def _numbers_sentence(words: Sequence[Word]) -> bool:
    """Whether a row's first word is the number of an item that begins with no letter: "7. 24-hour access is …"."""
    if words[0].text[-1] not in ".)" or MARK.fullmatch(words[0].text) is None:
        return False
    behind = [words[1]]
    for before, word in pairwise(words[1:]):
        if word.x0 - before.x1 > CELL_GAP_EM * word.style.size:
            break
        behind.append(word)
    return len(behind) >= LEAST_WORDS and any(word.text.isalpha() for word in behind)


def unparted(words: Sequence[Word]) -> int:
    """Return how many words a row begins with behind which no cell ends: its number, or that of an item of a filing."""
    if len(words) > 2 and _names_item(*words[:3]):
        return 2
    return 1 if MARK.fullmatch(words[0].text) else 0


def _names_item(first: Word, before: Word, word: Word) -> bool:
    """Whether a row begins as a section of a filing, with room before its name: "ITEM 7.   Management's Discussion"."""
    return first.text.lower() == "item" and ITEM_NUMBER.fullmatch(before.text) is not None and word.text[0].isalpha()


def is_signed_by(before: Word, word: Word) -> bool:
    """Whether a word is the sign of the figure behind it; a currency before words or signs is the name of a unit."""
    return before.text in SIGN_BEFORE and (word.text[0] in BEGINS_SIGNED or any(map(str.isdecimal, word.text)))


def is_note_of(before: Word, word: Word) -> bool:
    """Whether a word is the mark of a note to the word before it, in smaller print."""
    return before.style.size > LARGER * word.style.size and MARK.fullmatch(word.text) is not None


def is_sign_of(before: Word, word: Word) -> bool:
    """Whether a word is the sign of the figure before it; after a year or a word begins another header's cell ("%")."""
    if word.text not in SIGN_AFTER or YEAR.fullmatch(before.text) or is_note_of(word, before):
        return False
    return word.text[0] == ")" or (before.text[-1] in ENDS_FIGURE and before.text != word.text)


def _are_figures(before: Word, word: Word, room: float) -> bool:
    """Whether two words that stand near each other are figures of two columns."""
    if word.text[0] in CURRENCIES and "/" not in word.text:  # "€/MWh" is the unit of the figure before it
        return room > 0 and before.text not in SIGN_BEFORE
    apart = room > FIGURES_GAP_EM * min(before.style.size, word.style.size)
    return apart and is_number(before.text) and is_number(word.text) and word.text not in SIGN_AFTER | SIGN_BEFORE


def _signs_follow(words: Sequence[Word]) -> bool:
    """Whether signs of currency stand behind the figures of a row, as behind its last one: "0,75 € … 3,50 €"."""
    if words[-1].text not in SIGNS:
        return False
    first = next((at for at, word in enumerate(words) if word.text[-1].isdecimal()), 0)
    return first > 0 and words[first - 1].text not in SIGN_BEFORE


def _is_unit_before(behind: Sequence[Word]) -> bool:
    """Whether a currency sign before these words has no figure there, and is of the one before it: "72 € a month"."""
    return not behind or behind[0].text[0].isalpha()


def has_figure(group: Group) -> bool:
    """Whether a row of several cells holds a figure."""
    return len(group.cells) > 1 and any(is_figure(cell.text) for cell in group.cells)


@lru_cache(maxsize=KEPT)
def is_figure(cell: str) -> bool:
    """Whether a cell holds a figure that is no year, perhaps with its unit ("11.6 years") or another one ("1 (2%)")."""
    is_one = is_number(cell) or MEASURED.fullmatch(cell) is not None or WITH_ANOTHER.fullmatch(cell) is not None
    return is_one and not YEAR.match(cell)


def printed_as_rows(table: Sequence[Group]) -> Group | None:
    """Return a table's first row if it has some cells in bold and some not, and most others have them as it does."""
    first = next((group for group in table if len(group.cells) > 1), None)
    print_of = _bold_cells(first) if first and all(cell.lines for cell in first.cells) else []
    if first is None or len(set(print_of)) < 2:  # nearly always
        return None
    alike = [_bold_cells(group) == print_of for group in table if len(group.cells) == len(first.cells)]
    return first if len(alike) > 2 and 2 * sum(alike) > len(alike) else None


def _bold_cells(group: Group) -> list[bool]:
    return [all(word.style.bold for words in cell.lines for word in words) for cell in group.cells]


def header_of(run: Sequence[Group]) -> Sequence[Group]:
    """Return the groups that stand above the first row of a table's body."""
    return run[: body_of([[cell.text for cell in group.cells] for group in run])]


def body_of(rows: Sequence[Sequence[str]]) -> int:
    """Return which row of cells is the first below a table's header, 0 if none holds a figure.

    A row with a figure and words ("40 mg", "Placebo") is the header if those below it have figures alone there. Where
    there is a header above it, or each of its words comes with a figure, it is a row with units ("40 miles", "50 min").
    """
    at = _first_with_figure(rows, 0)
    if at < 0:
        return 0
    if any(len(row) > 1 for row in rows[:at]) or all(any(map(str.isdecimal, cell)) for cell in rows[at][1:] if cell):
        return at
    below = [row for row in rows[at + 1 :] if len(row) == len(rows[at])]
    later = [cell for row in below for cell in row[1:] if cell]
    if len(below) >= MIN_BELOW and all(map(_has_letter, filter(None, rows[at][1:]))):
        columns = [[row[n] for row in below if row[n]] for n in range(1, len(rows[at])) if rows[at][n]]
        if not any(map(_has_letter, later)) and all(columns):
            return max(at + 1, _first_with_figure(rows, at + 1))
    return at


def _first_with_figure(rows: Sequence[Sequence[str]], start: int) -> int:
    return next((at for at in range(start, len(rows)) if any(map(is_figure, rows[at][1:]))), -1)


def _has_letter(cell: str) -> bool:
    return any(map(str.isalpha, cell)) and not is_number(cell)


def grouped(rows: Iterable[tuple[Row, list[Cell]]]) -> list[Group]:
    """Group rows with their cells, in order, that stack or lie beside each other."""
    groups: list[Group] = []
    all_rows = list(rows)
    at = 0
    while at < len(all_rows):
        row, cells = all_rows[at]
        at += 1
        if not groups or row.mono or groups[-1].rows[-1].mono:
            groups.append(Group([row], cells))
        elif not groups[-1].try_add(row, cells):
            near = all_rows[at - 1 : at - 1 + MAX_CELL_LINES]
            taken = groups[-1].try_add_above(*zip(*near, strict=True)) if row.y0 < groups[-1].rows[0].y0 else 0
            if taken:
                at += taken - 1
            else:
                groups.append(Group([row], cells))
    return groups
