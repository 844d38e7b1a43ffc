"""What stands above and below the text of made pages: headers, footers, notes."""

import random

from functions.ingest.parsing.words import Word
from tests.support.made_pages import PAGE, in_one_line, width_of, written
from tests.support.varied_pages import Press


def small_print(page: Press, note: str, *, at: float = 60) -> None:
    """Set a footnote at the bottom of the page."""
    style, page.y = page.style, at
    page.style = page.small(page.pick.choice((0.7, 0.8, 0.9, 0.94)))
    page.prose(note, cut=False)
    page.style = style


class Running:
    """The headers and footers of one document: what they say, where they stand, and on which pages."""

    def __init__(self, pick: random.Random, title: str) -> None:
        self._pick, self._title = pick, title
        self._says = pick.choice(HEADERS), pick.choice(FOOTERS)
        self._heights = pick.choice((30.0, 36.0, 48.0)), pick.choice((24.0, 36.0))
        self._sides = pick.choice((0, 1, 2)), pick.choice((0, 1, 2))
        self._size = pick.choice((0.8, 0.8, 0.95, 1.0))
        self._alternates, self._share = pick.random() < 0.3, pick.choice((1, 1, 0.8, 0.5))
        self._first, self._labels = pick.choice((0, 0, 0, 2, 100)), pick.choice(("", "", "number", "roman"))
        self._is_before = pick.random() < 0.5

    def label_of(self, number: int) -> str:
        """Return the printed label of a page."""
        roman = "x" * (number // 10) + ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")[number % 10]
        return {"": "", "number": str(number + self._first), "roman": roman}[self._labels]

    def on(self, page: Press, number: int) -> list[Word]:
        """Return the words of a page with its header and footer, written first or last."""
        made: list[Word] = []
        style, left, right = page.small(self._size), page.x, page.x + page.width
        printed = self.label_of(number) if self._labels == "roman" else str(number + self._first)
        chapter = f"{1 + number // 4}"
        heights = PAGE[3] - self._heights[0], self._heights[1]
        for text, y, side in zip(self._says, heights, self._sides, strict=True):
            says = text.format(n=printed, title=self._title, upper=self._title.upper(), chapter=chapter)
            if not says or self._pick.random() > self._share:
                continue
            place = 1 - side if self._alternates and side < 2 and number % 2 else side
            width = width_of(says, style)
            x = (left, right - width, (PAGE[2] - width) / 2)[place]
            parts = says.split(" | ")
            if len(parts) > 1:
                made += in_one_line(y, (left, parts[0]), (right - width_of(parts[1], style), parts[1]), style=style)
            else:
                made += written(x, y - self._pick.choice((0, 0, 0, 1, 3)), says, style)
        return [*made, *page.words] if self._is_before else [*page.words, *made]


HEADERS = (
    "", "{title}", "{title} | {n}", "{n} {title}", "{title} {n}", "{upper}", "{n} {upper}", "Chapter {chapter} {title}",
    "Acme Ltd.", "Chapter {chapter} | {title}", "{chapter}. {title} | {n}",
)  # fmt: skip
FOOTERS = (
    "", "{n}", "- {n} -", "Page {n} of 12", "{n} | Acme Ltd. Confidential", "https://example.org/a {n}/12", "A-{n}",
    "Acme Ltd. 2021 Annual Report", "page {n}", "{title} | {n}", "Source: Acme Ltd.", "* unaudited",
)  # fmt: skip
"""What is printed above and below the text of pages."""
