"""Pages set in type with everything that real ones have, each time at other sizes, gaps and offsets.

Half of all measures come from a range, the other half from its multiples of half a point, so that limits in the code
have examples on both sides and exactly on them. Positions are as pdfium gives them: `Word`s with the base line counted
from the bottom.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from functions.ingest.parsing.words import Style, Word
from tests.support.made_documents import Setter
from tests.support.made_pages import in_one_line, width_of, written
from tests.support.varied_text import LONG, NOUNS, PLACES, Author

BULLETS = "•▪–-o*●"
NUMBERINGS = ("{}.", "{})", "({})", "[{}]", "{}")
OVER = ("Year Ended December 31,", "Three Months Ended", "Group", "Assets")
FONT = "Serif"
BROKEN = (
    ("on pages 430–", "440 of"), ("see https:", "//example.org/a"), ("at https://example.org/", "reports/2020"),
    ("on Form 10-", "K filed"), ("in 30-", "day terms"), ("the three-", "and six-month"), ("the pump", "(valve) and"),
    ("the pump", "(Valve) and"), ("by e-", "mail to"), ("l'a-", "mi de"), ("製品の", "安全な"), ("at ftp:", "// or"),
    ("which is", "2. the"), ("as in", "R. Lee"), ("payment,", "(A) such"), ("the non-", "Local"), ("Note:", "see"),
    ("Tax code: 1257L", "Ordered by: Ann Lee"), ("By: /s/ Ann Lee", "Ann Lee"), ("views of", "Paid: 12 May"),
)  # fmt: skip
"""How lines end and how the next ones begin."""


class Press(Setter):
    """Sets what an author writes on one page, from the top of a column downwards."""

    def __init__(self, pick: random.Random, *, size: float = 10, leading: float = 1.2) -> None:
        super().__init__(style=Style(size, face=FONT), leading=leading)
        self.pick, self.author = pick, Author(pick)
        self.can_be_cut = frozenset(LONG)
        self.late: list[Word] | None = None
        self.bottom = 60.0
        self.on_grid = True

    def some(self, least: float, most: float) -> float:
        """Return a measure from a range: any, or a multiple of a half."""
        if self.pick.random() < 0.5 or not self.on_grid:
            return round(self.pick.uniform(least, most), 2)
        return self.pick.randint(round(2 * least), round(2 * most)) / 2

    @property
    def em(self) -> float:
        """The size of the text, in points."""
        return self.style.size

    @property
    def is_full(self) -> bool:
        """Whether the column has no room for three more lines."""
        return self.y < self.bottom + 3 * self.leading * self.em

    def gap(self, least: float, most: float) -> None:
        """Leave room, in font sizes."""
        self.y -= self.some(least * self.em, most * self.em)

    def bold(self, factor: float = 1) -> Style:
        """Return bold print, larger by a factor."""
        return replace(self.style, size=round(factor * self.em, 2), bold=True, face="Serif-Bold")

    def small(self, factor: float = 0.8) -> Style:
        """Return print that is smaller by a factor."""
        return replace(self.style, size=round(factor * self.em, 2))

    def prose(
        self, text: str, *, indent: float = 0, hang: float = 0, cut: bool = True, justified: bool = False
    ) -> None:
        """Set a paragraph; long words are cut at lines' ends, and justified lines end at the right edge."""
        line: list[str] = []
        x, last = self.x + indent, text.split()
        while last:
            word = last.pop(0)
            longer = " ".join([*line, word])
            room = self.x + self.width - x - width_of(longer, self.style)
            if line and room < 0:
                stem = self._stem(word, self.x + self.width - x - width_of(" ".join(line) + " ", self.style))
                ends = "\n"
                if cut and stem:
                    line.append(stem + "-")
                    word, ends = word[len(stem) :], self.pick.choice(("\n", "-"))
                self._set(line, x, ends, stretch=justified)
                line, x = [], self.x + hang
            line.append(word)
        self._set(line, x, "\n", stretch=False)

    def _stem(self, word: str, room: float) -> str:
        letters = int(room / (0.5 * self.em)) - 1
        if word.lower().strip(".,;:()") not in self.can_be_cut or letters < 3 or letters > len(word) - 4:
            return ""
        return word[:letters]

    def _set(self, line: list[str], x: float, ends: str, *, stretch: bool) -> None:
        text = " ".join(line)
        made = written(x, self.y, text.removesuffix("-") if ends == "-" else text, self.style)
        more = (self.x + self.width - made[-1].x1) / max(1, len(made) - 1) if stretch else 0.0
        for at, word in enumerate(made):
            word.x0, word.x1 = word.x0 + at * more, word.x1 + at * more
        made[-1].ends = ends
        self.words += made
        self.y -= self.leading * self.em

    # --- elements ---

    def paragraph(self) -> None:
        """Set a paragraph, indented, hanging or neither, and room behind it."""
        pick = self.pick
        indent = self.some(0.2 * self.em, 7 * self.em) if pick.random() < 0.35 else 0.0
        hang = self.some(0.2 * self.em, 3 * self.em) if not indent and pick.random() < 0.2 else 0.0
        self.prose(self.author.paragraph(), indent=indent, hang=hang, justified=pick.random() < 0.3)
        if pick.random() < 0.8:
            self.gap(0, 1.3)

    def heading(self, number: str = "") -> None:
        """Set a heading: large, bold, in another face, in capitals, numbered, or several of these."""
        pick, text = self.pick, self.author.topic()
        factor = pick.choice((1.0, 1.05, 1.1, 1.12, 1.15, 1.2, 1.4, 1.8))
        style = replace(self.style, size=round(factor * self.em, 2))
        style = pick.choice((style, self.bold(factor), self.bold(factor), replace(style, face="Serif-Italic")))
        text = text.upper() if pick.random() < 0.2 else text
        if number or pick.random() < 0.4:
            number = number or pick.choice(("1", "2.1", "A.", "Part II", "ITEM 7.", "Note 4", "3.1.2", "IV."))
            text = f"{number} {text}"
        if pick.random() < 0.15:
            text += " " + pick.choice(("and", "of the", "for")) + " " + self.author.words(3, 8)
        text += pick.choice(("", "", "", "", ":", "."))
        self.gap(0, 1.5)
        self.text(text, style=style)
        self.gap(0, 1)

    def items(self, depth: int = 0) -> None:
        """Set a list: bullets or numbers of one kind, set apart from their text, perhaps with a list within."""
        pick = self.pick
        mark = pick.choice((*BULLETS, *NUMBERINGS))
        step = self.some(0.6 * self.em, 4 * self.em)
        shift = depth * self.some(0.5 * self.em, 3 * self.em)
        is_apart, room = pick.random() < 0.3, self.some(0, 0.8 * self.em)
        first, column = pick.randint(1, 9), (self.x, self.width)
        for at in range(pick.randint(2, 5)):
            sign = mark.format(first + at) if "{" in mark else mark
            top, begin = self.y, len(self.words)
            self.x, self.width = column[0] + shift + step, column[1] - shift - step
            self.prose(self.author.sentence() if pick.random() < 0.6 else self.author.words(2, 7))
            self.x, self.width = column
            made = written(column[0] + shift, top, sign, self.style)
            made[-1].ends = "\n" if is_apart else ""
            if is_apart and self.late is not None:
                self.late += made
            else:
                at = len(self.words) if is_apart and pick.random() < 0.5 else begin
                self.words[at:at] = made
            self.y -= room
            if depth < 2 and pick.random() < 0.15:
                self.items(depth + 1)
        self.gap(0, 1)

    def table(self) -> None:
        """Set a table of figures or words, with a header of one row or two, titles, sums and labels that wrap."""
        pick, author = self.pick, self.author
        columns, rows = pick.randint(1, 5), pick.randint(2, 7)
        label = self.some(8 * self.em, 16 * self.em)
        columns = max(1, min(columns, int((self.width - label) / (4.5 * self.em))))
        step = (self.width - label) / columns
        edges = [self.x + label + step * (at + 1) - self.some(0, 0.8 * self.em) for at in range(columns)]
        style = self.style if pick.random() < 0.7 else self.small(pick.choice((0.95, 0.9, 0.8)))
        if pick.random() < 0.4:
            self.line(pick.choice(("Table 3: ", "", "Exhibit 2 ")) + author.topic(), style=self.bold())
            self.gap(0, 0.8)
        unit = author.chosen(("(in millions)", "(in thousands, except per share data)", "In millions"), 0.4)
        if unit:
            self.line(unit, style=style)
        self._header(edges, style, step)
        is_words, has_years = pick.random() < 0.2, pick.random() < 0.12
        order = pick.choice(("rows", "rows", "cells", "columns"))
        cells: list[tuple[int, list[Word]]] = []
        for at in range(rows):
            if pick.random() < 0.12:
                self.line(
                    pick.choice(NOUNS) + pick.choice((":", "")), style=self.bold() if pick.random() < 0.5 else style
                )
            name = pick.choice(NOUNS) if at < rows - 1 or pick.random() < 0.7 else pick.choice(("Total", ""))
            if pick.random() < 0.2:
                name = f"{name} {author.words(3, 7)}"
            name = str(2015 + at) if has_years else name
            if pick.random() < 0.15:
                name = name + " ." * pick.randint(2, 12)
            lines = self._wrapped(name, label, style)
            for above in lines[:-1]:
                self.line(above, style=style)
            values = [pick.choice(PLACES) if is_words else author.figure() for _ in edges]
            values = ["" if pick.random() < 0.12 else value for value in values]
            row = self._row(lines[-1] if lines else "", values, edges, style)
            cells += [(number, part) for number, part in enumerate(row)]
            if order == "rows":
                self.words += _one_line([part for part in row if part])
            elif order == "cells":
                self.words += [word for part in row for word in part]
            self.y -= self.leading * style.size + (self.some(0, 0.6 * self.em) if pick.random() < 0.2 else 0)
        if order == "columns":
            self.words += [word for _, part in sorted(cells, key=lambda each: each[0]) for word in part]
        if pick.random() < 0.25:
            self.line(pick.choice(("(1) ", "* ", "1 ", "")) + author.sentence()[:60], style=self.small())
        self.gap(0, 1.5)

    def _header(self, edges: Sequence[float], style: Style, step: float) -> None:
        pick = self.pick
        kind = pick.choice(("none", "years", "dates", "words", "two rows"))
        if kind == "none":
            return
        style = replace(style, bold=True, face="Serif-Bold") if pick.random() < 0.5 else style
        if kind == "two rows" and len(edges) > 1:
            half = max(1, len(edges) // 2)
            for first, last in ((0, half), (half, len(edges))):
                room = edges[last - 1] - edges[first] + step
                long = [each for each in OVER if width_of(each, style) < room - self.em]
                over = pick.choice(long or ["Group"])
                middle = (edges[first] - step + edges[last - 1]) / 2 + self.some(-0.5 * self.em, self.em)
                x = middle - width_of(over, style) / 2
                self.words += in_one_line(self.y, (x, over), style=style)
            self.y -= self.leading * style.size
        names = [
            (str(2018 + at), "March 31, 2020", pick.choice(PLACES), pick.choice(("Change", "2019", "% change")))[
                ("years", "dates", "words", "two rows").index(kind)
            ]
            for at in range(len(edges))
        ]
        for line in range(2 if kind == "dates" else 1):
            parts = [name.rsplit(" ", 1)[line] if kind == "dates" else name for name in names]
            head = author if (author := self.author.chosen(("Item", "Description"), 0.3)) and not line else ""
            row = self._row(head, parts, edges, style)
            self.words += _one_line([part for part in row if part])
            self.y -= self.leading * style.size

    def _row(self, label: str, values: Sequence[str], edges: Sequence[float], style: Style) -> list[list[Word]]:
        cells = [written(self.x, self.y, label, style)] if label else [[]]
        for value, edge in zip(values, edges, strict=True):
            cells.append(written(edge - width_of(value, style), self.y, value, style) if value else [])
        return cells

    def _wrapped(self, text: str, width: float, style: Style) -> list[str]:
        lines: list[str] = []
        for word in text.split():
            if lines and width_of(f"{lines[-1]} {word}", style) <= width:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        return lines

    def wordy_table(self) -> None:
        """Set a table of words: cells of several lines, narrow ones that cut words, written cell by cell or by line."""
        pick, author = self.pick, self.author
        count = pick.randint(2, 4)
        gap = self.some(0.5 * self.em, 3 * self.em)
        width = (self.width - gap * (count - 1)) / count
        is_by_line = pick.random() < 0.4
        for at in range(pick.randint(2, 4)):
            top, lowest, parts = self.y, self.y, list[Word]()
            for column in range(count):
                cell = Press(pick, size=self.em, leading=1.1)
                cell.x, cell.width, cell.y = self.x + column * (width + gap), width, top
                cell.style = self.bold() if not at else self.style
                text = author.words(1, 2) if not at or not column else author.words(1, 9)
                text = author.figure() if at and column == count - 1 and pick.random() < 0.5 else text
                for line in self._wrapped(text, width, cell.style):
                    head = pick.randint(4, 9) if width_of(line, cell.style) > width else len(line)
                    for part in filter(None, (line[:head], line[head:])):
                        cell.line(part)
                parts += cell.words
                lowest = min(lowest, cell.y)
            if is_by_line:
                parts.sort(key=lambda word: (-word.y0, word.x0))
                for before, word in pairwise(parts):
                    before.ends = "" if before.y0 == word.y0 else "\n"
            self.words += parts
            self.y = lowest - self.some(0, self.em)
        self.gap(0, 1)

    def broken(self) -> None:
        """Set lines that end within a range, a code, an address, a compound or a remark."""
        for _ in range(self.pick.randint(1, 3)):
            before, after = self.pick.choice(BROKEN)
            line = self.author.words(3, 9)
            self.line(f"{line[0].upper()}{line[1:]} {before}", x=self.x + self.pick.choice((0, 0, self.em)))
            self.line(f"{after} {self.author.words(1, 8)}{self.pick.choice(('', '.'))}")
        self.gap(0, 1)

    def sections(self) -> None:
        """Set what sections of a filing are called, with room behind their numbers, and where they begin."""
        gap, edge = self.some(0.3 * self.em, 4 * self.em), self.x + self.width
        for number in range(self.pick.randint(1, 4)):
            sign = self.pick.choice(("Item 7", "ITEM 7A.", "Item 1.", "Note 4.", "3.")).replace("7", str(number + 1))
            parts = [(self.x, sign), (self.x + width_of(sign, self.style) + gap, self.author.topic())]
            parts += [(edge - 2 * self.em, str(number * 9 + 3))] if self.pick.random() < 0.6 else []
            self.words += in_one_line(self.y, *parts, style=self.style)
            self.y -= self.leading * self.em
        self.gap(0, 1)

    def late_compound(self, word: str) -> None:
        """Set a long line that ends with a hyphen, and what follows it."""
        self.line(
            f"The {self.author.words(6, 7)} of the {self.pick.choice(('well', 'long', 'non', word[:4], 'e', 'half'))}-"
        )
        self.line(
            f"{self.pick.choice(('known', 'term', word, word[4:], 'mail', '10', 'and'))} {self.author.words(2, 4)}."
        )

    def mixed(self) -> None:
        """Set a line whose words are bold, in fixed pitch or in italics, each a few."""
        line = written(self.x, self.y, self.author.words(4, 9) + self.pick.choice(("", ":", ".")), self.style)
        faces = (self.style, self.bold(), self.bold(), replace(self.style, mono=True, face="Mono"))
        face = self.pick.choice(faces)
        for word in line:
            face = self.pick.choice(faces) if self.pick.random() < 0.3 else face
            word.style = face
        self.words += line
        self.y -= self.leading * self.em
        self.gap(0, 0.7)

    def spread(self) -> None:
        """Set justified lines with as much room between some words as scans have."""
        for _ in range(self.pick.randint(3, 7)):
            line = written(self.x, self.y, self.author.words(5, 9), self.style)
            more = 0.0
            for word in line:
                word.x0, word.x1 = word.x0 + more, word.x1 + more
                more += self.some(0.7 * self.em, 3 * self.em) if self.pick.random() < 0.25 else 0
            self.words += line
            self.y -= self.leading * self.em
        self.gap(0, 1)

    def form(self) -> None:
        """Set the fields of a form, beside each other or below."""
        names = ("Name", "Date of birth", "Tax code", "Ordered by", "Account no.", "Address", "E-mail")
        gap = self.some(0.3 * self.em, 4 * self.em)
        for name in self.pick.sample(names, self.pick.randint(2, 5)):
            value = self.pick.choice(("Ann Lee", "1257L", "12 Main Street", "3 May 2021", "", "ann@example.org"))
            parts = [(self.x, f"{name}:")]
            if value:
                parts.append((self.x + width_of(f"{name}:", self.style) + gap, value))
            self.words += in_one_line(self.y, *parts, style=self.style)
            self.y -= self.leading * self.em + self.some(0, 0.8 * self.em)
        self.gap(0, 1)

    def code(self) -> None:
        """Set a listing in fixed pitch, perhaps with numbered lines, or a single line of it."""
        mono = replace(self.style, mono=True, face="Mono", size=self.pick.choice((0.9, 1.0)) * self.em)
        is_numbered, is_apart = self.pick.random() < 0.4, self.pick.random() < 0.5
        lines = (
            "def main(path):",
            "    with open(path) as file:",
            "        return file.read()",
            "",
            "main('a.txt')  # run",
        )
        self.gap(0, 1)
        start = self.pick.choice((0, 0, 1, 2))
        for number, text in enumerate(lines[start : start + self.pick.choice((1, 2, 5))], 1):
            indent = len(text) - len(text.lstrip())
            if text and is_numbered and number == 1 and self.pick.random() < 0.5:
                self.words += in_one_line(self.y, (self.x, "7"), (self.x + 20, "https://example.org"), style=mono)
                self.words[-2].style = self.style
            elif text:
                parts = [(self.x + (20 if is_numbered else 0) + 0.5 * mono.size * indent, text.strip())]
                parts = [(self.x, str(number)), *parts] if is_numbered else parts
                self.words += in_one_line(self.y, *parts, style=mono)
                if is_numbered and is_apart:
                    self.words[-len(text.split()) - 1].style = self.style
            self.y -= self.leading * mono.size
        self.gap(0, 1)

    def centred_lines(self) -> None:
        """Set some lines in the middle, tight or apart."""
        room = self.some(0, self.em)
        for _ in range(self.pick.randint(1, 4)):
            self.centred(self.author.words(2, 6))
            self.y -= room
        self.gap(0, 1)

    def contents(self) -> None:
        """Set entries of a table of contents, with leaders or room before the page."""
        leader = self.pick.choice((".", " . ", "…", "_", ""))
        for number in range(self.pick.randint(3, 6)):
            name = f"{number + 1} {self.author.topic()}"
            if leader:
                dots = leader * max(5, int((self.width - width_of(name, self.style)) / (self.em * len(leader)) - 3))
                self.line(f"{name} {' '.join(dots.split())} {number * 7 + 1}")
            else:
                edge = self.x + self.width
                page = str(number * 7 + 1)
                self.words += in_one_line(
                    self.y, (self.x, name), (edge - width_of(page, self.style), page), style=self.style
                )
                self.y -= self.leading * self.em
        self.gap(0, 1)

    def index(self) -> None:
        """Set entries of an index, with entries below some."""
        for name in sorted(self.pick.sample(NOUNS, 6)):
            self.line(f"{name.lower()}, {self.pick.randint(1, 300)}" if self.pick.random() < 0.8 else name)
            for _ in range(self.pick.choice((0, 0, 1, 2))):
                text = f"{self.author.words(1, 3)}, {self.pick.randint(1, 99)}-{self.pick.randint(100, 199)}"
                self.line(text, x=self.x + self.some(0.5 * self.em, 3 * self.em))

    def references(self) -> None:
        """Set a list of references, hanging, each perhaps with an address."""
        hang = self.some(0.3 * self.em, 4 * self.em)
        room = self.some(0, 0.6 * self.em)
        for number in range(1, self.pick.randint(3, 5)):
            text = (
                f"Lee, A., {2000 + number}. {self.author.clause().capitalize()}. https://example.org/reports/{number}/"
            )
            self.prose(self.pick.choice(("", f"{number}. ", f"{number}")) + text, hang=hang)
            self.y -= room

    def marked(self) -> None:
        """Set a line with raised marks, written where they stand, or as lines of their own."""
        words = self.author.sentence().split()[:8]
        made = written(self.x, self.y, " ".join(words), self.style)
        at = self.pick.randrange(1, len(made))
        size = self.pick.choice((0.5, 0.6, 0.7, 0.9)) * self.em
        raised = self.y + self.some(-0.3 * self.em, 0.7 * self.em)
        (mark,) = written(
            made[at - 1].x1 + self.some(-1, 3), raised, self.pick.choice(("1", "2)", "th", "*")), Style(size)
        )
        for word in made[at:]:
            word.x0, word.x1 = word.x0 + 1.2 * size, word.x1 + 1.2 * size
        mark.ends = self.pick.choice(("", "\n"))
        made[at - 1].ends = self.pick.choice(("", "\n"))
        self.words += [*made, mark] if self.pick.random() < 0.3 else [*made[:at], mark, *made[at:]]
        self.y -= self.leading * self.em

    def spaced_out(self) -> None:
        """Set a line whose letters stand apart, or are drawn one by one."""
        text, x = self.author.topic(), self.x
        step = self.some(0.5 * self.em, 0.8 * self.em)
        for word in text.split():
            for letter in word:
                self.words.append(Word(letter, x, self.y - 2, x + 0.5 * self.em, self.y + 8, self.style))
                x += step
            x += self.some(0.1 * self.em, 0.6 * self.em)
        self.words[-1].ends = "\n"
        self.y -= self.leading * self.em


def _one_line(parts: Sequence[list[Word]]) -> list[Word]:
    words = [word for part in parts for word in part]
    for word in words[:-1]:
        word.ends = ""
    return words
