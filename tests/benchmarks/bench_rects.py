"""Whether the rectangles of a quote hold that quote: read back by a way of its own, over the PDFs that are given.

    python -m tests.benchmarks.bench_rects [--quotes N] [--show K] PDF|FOLDER ...

Of each document N quotes are cut at random out of its chunks, at words. The characters whose middle lies in a quote's
rectangles are asked of pdfium one by one and turned by its own `FPDF_PageToDevice`; the parser asks for boxes of whole
words and turns them itself. Printed are, for each document: quotes with rectangles, the share of them read back equal
(white space, hyphens, leaders and typography aside), and how many of their characters were missed (recall) or are of
something else (precision). Exits with 1 if fewer than 97 % of all are equal.
"""

import argparse
import ctypes
import random
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

from functions.ingest.chunking.chunker import chunk_pages
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.text import cleaned
from shared.errors import DocumentRejected
from shared.models import Chunk
from shared.rects import Rect, rects_between

WANTED = 0.97
SEED = 14
PRECISE = 100
"""Device units of a point: `FPDF_PageToDevice` gives whole numbers."""
_WORD = re.compile(r"\S+")
_ASIDE = re.compile(r"[\s|\-\u2010-\u2015\u00ad\ufffe\x02\u2212._\u2026]+")


class Glyph(NamedTuple):
    """A character of a page, and the middle of its box as the page is shown."""

    text: str
    x: float
    y: float


class Reader:
    """Reads back what stands in rectangles."""

    def __init__(self, path: Path) -> None:
        self._document = pdfium.PdfDocument(path)
        self.glyphs = lru_cache(maxsize=4)(self._glyphs)

    def size(self, number: int) -> tuple[float, float]:
        """Return width and height of a page as it is shown, in points."""
        width, height = self._document[number - 1].get_size()
        return width, height

    def read(self, rects: Sequence[Rect]) -> str:
        """Return the characters in the rectangles, in their order, each once."""
        seen: set[tuple[int, int]] = set()
        found: list[str] = []
        for page, x0, y0, x1, y1 in rects:
            for at, glyph in enumerate(self.glyphs(page)):
                if x0 <= glyph.x <= x1 and y0 <= glyph.y <= y1 and (page, at) not in seen:
                    seen.add((page, at))
                    found.append(glyph.text)
        return "".join(found)

    def _glyphs(self, number: int) -> list[Glyph]:
        page = self._document[number - 1]
        text = page.get_textpage()
        width, height = page.get_size()
        x, y = ctypes.c_int(), ctypes.c_int()
        found: list[Glyph] = []
        printed: dict[tuple[str, int, int], int] = {}
        for at in range(text.count_chars()):
            character = chr(raw.FPDFText_GetUnicode(text, at))
            if raw.FPDFText_IsGenerated(text, at) or character.isspace():
                continue
            left, bottom, right, top = text.get_charbox(at, loose=True)
            middle = (left + right) / 2, (bottom + top) / 2
            size = int(width * PRECISE), int(height * PRECISE)
            raw.FPDF_PageToDevice(page, 0, 0, *size, 0, *middle, x, y)
            glyph = Glyph(character, x.value / PRECISE, y.value / PRECISE)
            # What is printed twice, to look bold, is read once; the letters of a ligature share one box.
            before = printed.setdefault((character, round(glyph.x), round(glyph.y)), at)
            if at - before <= 1:
                found.append(glyph)
        return found


def say(line: str) -> None:
    """Write a line at once: a long run shows how far it is."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def plain(text: str) -> str:
    """Return a text without what reading may change."""
    return _ASIDE.sub("", unicodedata.normalize("NFKC", cleaned(text)).casefold())


def quotes_of(chunks: Sequence[Chunk], count: int, draw: random.Random) -> Iterator[tuple[Chunk, int, int]]:
    """Yield chunks with a span of one to sixty of their words."""
    usable = [chunk for chunk in chunks if chunk.text.strip()]
    for _ in range(count if usable else 0):
        chunk = draw.choice(usable)
        words = [word.span() for word in _WORD.finditer(chunk.text)]
        first = draw.randrange(len(words))
        last = min(len(words) - 1, first + draw.choice((0, 2, 5, 10, 20, 40, 59)))
        yield chunk, words[first][0], words[last][1]


class Score(NamedTuple):
    """Of one document: quotes, those with rectangles, those read back equal; characters wanted, read, and both."""

    quotes: int
    placed: int
    equal: int
    wanted: int
    read: int
    shared: int

    def __add__(self, other: "Score") -> "Score":  # type: ignore[override]
        return Score(*(a + b for a, b in zip(self, other, strict=True)))

    def row(self, name: str) -> str:
        """Return the shares of this score in one line."""
        equal, precision = self.equal / max(1, self.placed), self.shared / max(1, self.read)
        recall = self.shared / max(1, self.wanted)
        return f"{name[:48]:48} {self.quotes:7} {self.placed:7} {equal:7.3f} {precision:9.4f} {recall:7.4f}"


def score(path: Path, count: int, show: int) -> Score:
    """Cut quotes out of a document and read them back; print the first `show` that differ."""
    with open_pdf(path, file_name=path.name, limits=Limits()) as pdf:
        chunks = list(chunk_pages(pdf.pages(), title=pdf.title, language=pdf.language))
    total = Score(0, 0, 0, 0, 0, 0)
    reader = Reader(path) if chunks else None
    for chunk, start, end in quotes_of(chunks, count, random.Random(SEED)):
        at = chunk.char_start
        rects, _ = rects_between(chunk.rects, chunk.text, at, at + start, at + end)
        if not rects or reader is None:
            total += Score(1, 0, 0, 0, 0, 0)
            continue
        wanted, read = plain(chunk.text[start:end]), plain(reader.read(rects))
        both = (Counter(wanted) & Counter(read)).total()
        equal = Counter(wanted) == Counter(read)
        if not equal and show > 0:
            show -= 1
            say(f"  wanted: {wanted!r}\n  read:   {read!r}\n  {rects}")
        total += Score(1, 1, equal, len(wanted), len(read), both)
    return total


def main(arguments: Sequence[str]) -> int:
    """Score each PDF; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--quotes", type=int, default=60)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args(arguments)
    files = [file for path in options.paths for file in (sorted(path.rglob("*.pdf")) if path.is_dir() else [path])]
    say(f"{'document':48} {'quotes':>7} {'placed':>7} {'equal':>7} {'precision':>9} {'recall':>7}")
    total = Score(0, 0, 0, 0, 0, 0)
    for file in files:
        try:
            found = score(file, options.quotes, options.show)
        except (DocumentRejected, pdfium.PdfiumError) as error:
            say(f"{file.name[:48]:48} {error}")
            continue
        total += found
        say(found.row(file.name))
    say(total.row("all"))
    return 0 if total.equal >= WANTED * total.placed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
