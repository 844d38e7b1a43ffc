"""Documents set in type on made pages, block by block, and read as PDFs are: what was set is what must come out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.headings import Headings
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.reflow import page_of, reflow
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Header, RawPage
from functions.ingest.parsing.words import Style, Word
from shared.models import Page
from tests.support.made_pages import BODY, PAGE, in_one_line, width_of, written

type Told = tuple[str, str, str]
"""Kind, section and text of a block."""


@dataclass
class Setter:
    """Sets text from the top of a column downwards; rows of tables line by line."""

    x: float = 60
    y: float = 740
    width: float = 480
    style: Style = BODY
    leading: float = 1.2
    words: list[Word] = field(default_factory=list)

    def line(self, text: str, *, x: float | None = None, style: Style | None = None) -> None:
        """Set one line."""
        self.words += written(self.x if x is None else x, self.y, text, style or self.style)
        self.y -= self.leading * (style or self.style).size

    def room(self, lines: float = 0.75) -> None:
        """Leave so many lines free."""
        self.y -= lines * self.leading * self.style.size

    def text(self, text: str, *, indent: float = 0, hang: float = 0, style: Style | None = None) -> None:
        """Set a paragraph: its first line is indented, or the others hang."""
        style = style or self.style
        line, x = "", self.x + indent
        for word in text.split():
            longer = f"{line} {word}".strip()
            if line and x + width_of(longer, style) > self.x + self.width:
                self.line(line, x=x, style=style)
                line, x = word, self.x + hang
            else:
                line = longer
        self.line(line, x=x, style=style)

    def centred(self, text: str, style: Style | None = None) -> None:
        """Set a line in the middle of the column."""
        self.line(text, x=self.x + (self.width - width_of(text, style or self.style)) / 2, style=style)

    def row(self, *cells: str, edges: Sequence[float], style: Style | None = None) -> None:
        """Set a row of a table: a label on the left, and cells that end at these edges; empty ones are left out."""
        style = style or self.style
        label, *figures = cells
        parts = [(self.x, label)] if label else []
        parts += [(edge - width_of(cell, style), cell) for edge, cell in zip(edges, figures, strict=True) if cell]
        self.words += in_one_line(self.y, *parts, style=style)
        self.y -= self.leading * style.size


def raw(number: int, words: list[Word], label: str = "") -> RawPage:
    """Return a page as an engine gives it."""
    return RawPage(number, label, PAGE[2], PAGE[3], lay_out(words, PAGE))


def read_document(*pages: list[Word], title: str = "") -> list[Page]:
    """Read pages as `parse` does: running lines out, headings, footnotes, blocks."""
    headings, words = Headings(Header(len(pages))), Vocabulary()
    headings.title = title
    found = [page for page, _ in remove_running_lines(iter([raw(at, each) for at, each in enumerate(pages, 1)]))]
    for page in found:
        headings.learn(page)
        words.add_all([line.text for line in page.lines])
    made = []
    for page in found:
        page.lines = footnotes_last(page.lines, headings.body_size, page.height)
        made.append(page_of(page, reflow(page, headings.of(page), words), continues=False))
    return made


def told(page: Page) -> list[Told]:
    """Return the blocks of a page."""
    return [(each.kind, each.section, page.text[each.char_start : each.char_end]) for each in page.blocks]
