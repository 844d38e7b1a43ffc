"""Pages made of lines instead of words: each edge, size and gap is exactly what it was drawn as.

The layout puts lines where their words are, which is seldom exactly on a limit of what is told from lines later.
"""

import random
from collections.abc import Sequence

from functions.ingest.parsing.wire import Header, Line, RawPage
from tests.support.made_pages import PAGE
from tests.support.varied_layouts import Made
from tests.support.varied_text import NOUNS, PLACES, TOPICS, Author

EDGE, RIGHT = 60.0, 540.0
NEAR = tuple(half / 2 for half in range(-8, 9))
FAR = tuple(half / 2 for half in range(-60, 121))
"""Points by which a line begins or ends beside the text's edge, in halves."""
GAPS = (0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, -2.0, -10.0, -12.0, -14.0, 0.0)
SHARES = (-1.5, -0.8, -0.4, -0.3, 0.05, 0.15, 0.25, 0.3, 0.4, 0.5, 0.75, 0.8, 1.0, 1.5, 2.0, 3.0)
"""Room between lines, in points; and by what a line is out of place, in sizes of the text."""
BODY = (10.0, 8.0, 12.0)
SIZES = (1.04, 1.12, 0.93, 0.97, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.5, 2.0)
"""Sizes of lines, in those of the text."""
MARKS = ("• ", "- ", "– ", "o ", "1. ", "2. ", "a) ", "(b) ", "i. ", "* ", "1 ", "§ 2 ", "A. ", "12) ", "→ ", "1.1 ")


def lines(pick: random.Random) -> Made:
    """Some pages of lines of every kind, with the same lines above and below the text of each."""
    body, author = pick.choice(BODY), Author(pick)
    running = _Running(pick, author.topic(), body)
    count = pick.choice((1, 2, 3, 3, 4, 6))
    pages = [_page(pick, author, number, body, running) for number in range(1, count + 1)]
    return Made(pages, Header(count, pick.choice(("", author.topic()))))


def _page(pick: random.Random, author: Author, number: int, body: float, running: "_Running") -> RawPage:
    set_ = _Setter(pick, author, body)
    for _ in range(pick.randrange(2, 6)):
        pick.choice((set_.paragraph, set_.paragraph, set_.items, set_.index, set_.headings, set_.ragged))()
    page = RawPage(number, "", PAGE[2], PAGE[3], running.around(set_.lines, number))
    page.images = pick.choice((0.0, 0.0, 0.0, 0.1, 0.6))
    return page


class _Setter:
    """Sets a page's lines from top to bottom: blocks in which one line or another is a little out of place."""

    def __init__(self, pick: random.Random, author: Author, body: float) -> None:
        self._pick, self._author, self._body = pick, author, body
        self._top, self._gap = pick.choice((60.0, 72.0, 100.0)), pick.choice((2.0, 2.0, 3.0, 4.0))
        self.lines: list[Line] = []

    def paragraph(self) -> None:
        """Set some sentences, line by line; the last one may be open."""
        words = " ".join(self._author.sentence() for _ in range(self._pick.choice((1, 2, 3)))).split()
        indent = self._pick.choice((0.0, 0.0, *FAR))
        while words:
            part, words = words[:12], words[12:]
            text = " ".join(part) + self._pick.choice(("", "", "", "", "", "-", ":", ","))
            self._line(text, indent, is_full=bool(words))
            indent = 0.0
        self._room()

    def items(self) -> None:
        """Set a list whose items go on below their marks or their texts."""
        mark, hanging = self._pick.choice(MARKS), self._pick.choice((0.0, 10.0, 12.0, 4.0, 8.0))
        for at in range(self._pick.randrange(2, 5)):
            marked = mark.replace("1", str(at + 1)).replace("a", "abcde"[at])
            self._line(marked + self._author.sentence(), 0.0, is_full=self._pick.random() < 0.4)
            for _ in range(self._pick.choice((0, 0, 1, 2))):
                self._line(self._author.words(3, 9) + self._pick.choice(("", ".", ";")), hanging)
            if self._pick.random() < 0.2:
                self._line(f"– {self._author.words(1, 5)}", hanging)
        self._room()

    def index(self) -> None:
        """Set entries with the numbers of their pages, and others below them."""
        step = self._pick.choice((10.0, 25.0, 8.0))
        for _ in range(self._pick.choice((4, 6, 9, 14))):
            noun, numbers = self._pick.choice(NOUNS).lower(), f"{self._pick.randrange(1, 90)}, {90 + len(self.lines)}"
            self._line(self._pick.choice((noun, noun.title(), f"{noun}, {numbers}", f"{noun}, {numbers}", f"{noun}-")))
            if self._pick.random() < 0.3:
                self._line(self._pick.choice((numbers, f"of the {noun}, {numbers}", f"see {noun}")), step)

    def headings(self) -> None:
        """Set lines that look like headings more or less."""
        for at in range(self._pick.choice((1, 1, 2))):
            topic, number = self._pick.choice(TOPICS), f"{self._pick.randrange(1, 9)}.{at + 1}"
            text = self._pick.choice((topic, f"{number} {topic}", f"{number[0]} {topic}", topic.upper(), f"{topic}:"))
            size = round(self._body * self._pick.choice(SIZES), 1)
            is_bold = self._pick.random() < 0.5
            self._line(text, self._pick.choice((0.0, 0.0, *FAR)), size=size, is_bold=is_bold)
            self._top += self._pick.choice((0.0, *GAPS))

    def ragged(self) -> None:
        """Set short lines of any kind."""
        for at in range(self._pick.randrange(1, 6)):
            short = self._pick.choice(NOUNS), f"{self._pick.choice(PLACES)}, 2021", "12.5", "a", "See p. 7", "X-1"
            long = f"[{at}] {self._author.sentence()}", f"Figure {at}: {self._author.words(2, 5)}", f"{at} See below."
            self._line(self._pick.choice((*short, *long)), self._pick.choice((0.0, 0.0, *NEAR)))
        self._room()

    def _line(
        self, text: str, indent: float = 0.0, *, is_full: bool = False, size: float = 0.0, is_bold: bool = False
    ) -> None:
        """Set a line; one of eight begins, ends, stands or looks a little otherwise."""
        pick, size = self._pick, size or self._body
        left, right = EDGE + indent, RIGHT if is_full else min(RIGHT, EDGE + indent + size * len(text) / 2)
        if pick.random() < 0.12:
            left += pick.choice((*NEAR, *(share * self._body for share in SHARES)))
        if pick.random() < 0.12:
            right -= abs(pick.choice((*NEAR, *FAR)))
        if pick.random() < 0.08:
            self._top += pick.choice((*GAPS, *(share * self._body for share in SHARES)))
        if pick.random() < 0.06:
            size = round(size * pick.choice(SIZES), 1)
        line = Line(text, left, self._top, max(left + 4.0, right), self._top + size, size, bold=is_bold)
        if pick.random() < 0.05:
            name = pick.choice(("bold", "mono", "apart", "leads"))
            setattr(line, name, True)
        if pick.random() < 0.03:
            line.text, line.cells = " | ".join(self._author.words(1, 2) for _ in range(3)), 3
        self.lines.append(line)
        self._top += size + self._gap

    def _room(self) -> None:
        self._top += self._pick.choice((0.0, 0.0, 4.0, 8.0, *GAPS))


class _Running:
    """The lines above and below the text of a document's pages: the same ones, moved or changed a little."""

    def __init__(self, pick: random.Random, title: str, body: float) -> None:
        self._pick, self._body = pick, body
        self._above = pick.choice(("", title, f"{title} #", "# Acme Ltd.", "Chapter # of the report", title.upper()))
        self._below = pick.choice(
            ("", "#", "Page # of 9", "Acme Ltd. | #", "- # -", f"{title}, revised", "* unaudited")
        )
        self._size = body * pick.choice((0.8, 0.9, 1.0, 1.0, 1.2))
        self._left = pick.choice((EDGE, 300.0, 450.0))
        self._parts = pick.choice((1, 1, 1, 2))

    def around(self, made: Sequence[Line], number: int) -> list[Line]:
        """Return the page's lines with those above and below."""
        lowest = max(line.y1 for line in made)
        above = self._lines(self._above, number, 30.0)
        below = self._lines(self._below, number, max(lowest + self._pick.choice((6.0, 10.0, 20.0)), 770.0))
        return [*above, *made, *below] if self._pick.random() < 0.8 else [*made, *above, *below]

    def _lines(self, says: str, number: int, top: float) -> list[Line]:
        if not says or self._pick.random() < 0.12:
            return []
        text = says.replace("#", str(number + (self._pick.random() < 0.05)))
        left = self._left + (0.0 if self._pick.random() < 0.7 else self._pick.choice(NEAR))
        top += 0.0 if self._pick.random() < 0.7 else self._pick.choice(NEAR)
        size = self._size if self._pick.random() < 0.85 else self._size + self._pick.choice((0.25, 0.5, 1.0))
        parts = text.split(" ", 1) if self._parts == 2 else [text]
        lines = []
        for part in parts:
            lines.append(Line(part, left, top, left + 5.0 * len(part), top + size, size))
            left += 5.0 * len(part) + self._pick.choice((5.0, 100.0))
        return lines
