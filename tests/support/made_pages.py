"""Pages made of words as pdfium gives them, to try what the layout makes of them."""

import random
from collections.abc import Iterable
from string import ascii_letters, ascii_lowercase

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.reflow import reflow
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import Style, Word

PAGE = (0.0, 0.0, 600.0, 800.0)
BODY = Style(size=10)
SMALL = Style(size=6)

Piece = tuple[float, float, str] | tuple[float, float, str, Style]
"""Left edge, base line counted from the bottom, text and perhaps style of what is written in one go."""
FRUIT = [
    "apples",
    "pears",
    "plums",
    "grapes",
    "cherries",
    "figs",
    "dates",
    "nuts",
    "limes",
    "quinces",
    "berries",
    "medlars",
]
"""What the pages of a made document are about."""


def width_of(text: str, style: Style = BODY) -> float:
    """Return how wide a text is: a letter half as wide as the font's size, a space a quarter."""
    letters = sum(len(token) for token in text.split())
    return style.size * (0.5 * letters + 0.25 * (len(text.split()) - 1))


def written(x: float, y: float, text: str, style: Style = BODY) -> list[Word]:
    """Return the words of one line as pdfium gives them: `y` is the base line, counted from the bottom."""
    words: list[Word] = []
    for token in text.split():
        width = 0.5 * style.size * len(token)
        words.append(Word(token, x, y - 0.2 * style.size, x + width, y + 0.8 * style.size, style))
        x += width + 0.25 * style.size
    words[-1].ends = "\n"
    return words


def in_one_line(y: float, *parts: tuple[float, str], style: Style = BODY) -> list[Word]:
    """Return the words of parts side by side that pdfium takes for one line."""
    words = [word for x, text in parts for word in written(x, y, text, style)]
    for word in words[:-1]:
        word.ends = ""
    return words


def words_of(pieces: Iterable[Piece]) -> list[Word]:
    """Return the words of pieces in the order in which they are written."""
    return [word for piece in pieces for word in written(*piece)]


def laid_out(*pieces: Piece) -> list[Line]:
    """Return the lines of a page that has these pieces, written in this order."""
    return lay_out(words_of(pieces), PAGE)


def read(*pieces: Piece) -> list[str]:
    """Return the texts of these lines."""
    return [line.text for line in laid_out(*pieces)]


def moved(words: Iterable[Word], *, by: tuple[float, float] = (0, 0), scale: float = 1) -> list[Word]:
    """Return words on a page that is larger by a factor, or shifted (to the right, upwards)."""
    return [
        Word(
            word.text,
            scale * word.x0 + by[0],
            scale * word.y0 + by[1],
            scale * word.x1 + by[0],
            scale * word.y1 + by[1],
            Style(scale * word.style.size, word.style.bold, word.style.mono, word.style.turn, face=word.style.face),
            word.ends,
        )
        for word in words
    ]


def exchanged(text: str, seed: int | str) -> str:
    """Exchange the letters of a text for each other, as a font without a table of its letters does."""
    small = "".join(random.Random(seed).sample(ascii_lowercase, 26))
    return text.translate(str.maketrans(ascii_letters, small + small.upper()))


# --- Lines as the layout gives them, and what is told of them ---

PROSE = "The line of quite ordinary words that fills the page"


def line(text: str, y: float, *, x0: float = 50, x1: float = 400, size: float = 10, **style: bool) -> Line:
    """Return a line with its upper edge at `y`, counted from the top."""
    return Line(text, x0, y, x1, y + size, size, **style)


def prose(y: float, count: int = 4) -> list[Line]:
    """Return lines of a text that fill the page."""
    return [line(PROSE, y + 12 * at) for at in range(count)]


def parts_of(*lines: Line) -> list[tuple[str, str]]:
    """Return the kinds and texts of the blocks that lines are put together to."""
    return [(part.kind, part.text) for part in reflow(RawPage(1, "", 600, 800, list(lines)), [], Vocabulary())]


def texts(*lines: Line) -> list[str]:
    """Return the texts of these blocks."""
    return [text for _, text in parts_of(*lines)]


# --- Rows of tables ---


def figures(y: float, label: str, *cells: str, x: float = 50) -> list[Piece]:
    """Return a row of a table: its label, and figures in columns that end at 300, 400, 500 …"""
    return [(x, y, label), *((300.0 + 100 * at - width_of(cell), y, cell) for at, cell in enumerate(cells))]


def balance(top: float = 700) -> list[Piece]:
    """Return two rows of a table, so that what follows stands below one."""
    return [*figures(top, "Cash", "1,204", "998"), *figures(top - 12, "Loans", "1,617", "163")]
