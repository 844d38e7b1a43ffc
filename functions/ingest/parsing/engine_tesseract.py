"""Reads the pictures of pages with Tesseract: pdfium draws a page, Tesseract finds its words.

A page takes 1 to 4 CPU seconds and 300 MiB, so only pages that hold no usable text are read this way, by a function of
its own (`functions.ingest.ocr`). Words come with boxes, as from the other engines, so that a quote can be marked.
"""

import ctypes
import os
from collections.abc import Iterator
from ctypes import addressof
from statistics import median

os.environ["OMP_THREAD_LIMIT"] = "1"  # before the library is loaded: its threads cost more than they bring

from tesserocr import OEM, PSM, RIL, PyTessBaseAPI, iterate_level

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.wire import OCR_ENGINE, Header, RawPage
from functions.ingest.parsing.words import Style, Word

RESOLUTION_DPI = 200
"""Tesseract's advice is 300; on print of 8 points and more 200 reads as well, in half the time."""
SMALL_PRINT_DPI = 300
SMALL_LINE = 22
"""Pixels; where most words stand in lines that are lower, the page is drawn larger and read again.

Letters like x are half as high, and Tesseract's FAQ gives those below ten pixels "very little chance". Lines of five
points and less are measured as about 21 pixels, however low they are.
"""
MAX_PIXELS = 25_000_000
"""A poster is drawn smaller: 25 MB of grey values, five times A4 at `RESOLUTION_DPI`."""
MIN_CONFIDENCE = 30.0
"""Percent; words below it are mostly specks and strokes of pictures, unless they stand in a sure line."""
SURE_LINE = 60.0
"""Mean confidence of a line all of whose words are kept: small print, formulas, names."""
MIN_PAGE_CONFIDENCE = 55.0
"""Mean confidence of the words below which a page may lie on its side, or on its head: it is read in other ways."""
ALIKE = 0.15
"""Lines whose height differs less from the page's usual one are of its usual size: boxes of print vary so much."""
SIZE_OF_HEIGHT = 1.08
"""Font size as a share of a line's height from the lowest descender to the highest ascender."""
SMALL_PRINT = SIZE_OF_HEIGHT * SMALL_LINE * 72 / RESOLUTION_DPI
"""Font size in points of lines of `SMALL_LINE`."""


class TesseractEngine:
    """One open document, of which each page is drawn and read. Raises `CannotOpen`.

    The environment's `TESSDATA_PREFIX` names the folder of the languages' data.
    """

    def __init__(self, path: str, languages: str) -> None:
        self._pdfium = PdfiumEngine(path)
        self._api = PyTessBaseAPI(
            path=f"{os.environ['TESSDATA_PREFIX']}/", lang=languages, psm=PSM.AUTO, oem=OEM.LSTM_ONLY
        )

    def header(self) -> Header:
        """Count pages, read title and outline."""
        return self._pdfium.header()

    def page(self, number: int) -> RawPage:
        """Draw and read one page (from 1). Raises `RuntimeError` when it cannot be drawn."""
        with self._pdfium.loaded(number) as page:
            width, height = pdfium.page_width(page), pdfium.page_height(page)
            words, confidence = self._read(page, width, height, turn=0)
            for turn in (3, 2, 1):
                if not words or (confidence >= MIN_PAGE_CONFIDENCE and not _run_upwards(words)):
                    break
                turned = self._read(page, width, height, turn=turn)
                words, confidence = max(
                    (words, confidence), turned, key=lambda read: (not _run_upwards(read[0]), read[1])
                )
            if words and median(word.style.size for word in words) < SMALL_PRINT:
                turn = words[0].style.turn
                larger = self._read(page, width, height, turn=turn, dpi=SMALL_PRINT_DPI)
                words, confidence = max((words, confidence), larger, key=lambda read: read[1])
        found = RawPage(number, width=width, height=height, engine=OCR_ENGINE)
        found.confidence = round(confidence / 100, 3)
        found.lines = lay_out(words, (0.0, 0.0, width, height), ocr=True)
        return found

    def _read(
        self, page: int, width: float, height: float, *, turn: int, dpi: int = RESOLUTION_DPI
    ) -> tuple[list[Word], float]:
        """Return the words of the page drawn with `turn` quarter turns to the right, and their mean confidence."""
        across, down = (height, width) if turn & 1 else (width, height)
        scale = min(dpi / 72, (MAX_PIXELS / max(1.0, across * down)) ** 0.5)
        columns, rows = max(1, round(across * scale)), max(1, round(down * scale))
        self._api.SetImageBytes(_drawn(page, columns, rows, turn), columns, rows, 1, columns)
        self._api.SetSourceResolution(round(72 * scale))
        self._api.Recognize()
        found = list(self._words(scale, across, down, turn))
        letters = sum(len(word.text) for word, _ in found)
        confidence = sum(len(word.text) * sure for word, sure in found) / max(1, letters)
        words = kept(found)
        _even_out(words)
        return words, confidence

    def _words(self, scale: float, across: float, down: float, turn: int) -> Iterator[tuple[Word, float]]:
        """Yield words in page space with their confidence; the last of a line ends it."""
        iterator = self._api.GetIterator()
        if iterator is None:
            return
        style = Style()
        for at in iterate_level(iterator, RIL.WORD):
            if at.Empty(RIL.WORD):  # a page without words has one that is empty
                continue
            box, text = at.BoundingBox(RIL.WORD), at.GetUTF8Text(RIL.WORD).strip()
            if box is None or not text:
                continue
            if at.IsAtBeginningOf(RIL.TEXTLINE) or not style.size:
                height = at.RowAttributes()["row_height"]
                style = Style(size=SIZE_OF_HEIGHT * height / scale, turn=turn)
            x0, y0, x1, y1 = (edge / scale for edge in box)
            word = Word(text, *_on_page((x0, y0, x1, y1), across, down, turn), style)
            word.ends = "\n" if at.IsAtFinalElement(RIL.TEXTLINE, RIL.WORD) else ""
            yield word, at.Confidence(RIL.WORD)


def _drawn(page: int, columns: int, rows: int, turn: int) -> bytes:
    """Draw a page in grey on white."""
    pixels = (ctypes.c_uint8 * (columns * rows))()
    bitmap = pdfium.create_bitmap(columns, rows, pdfium.GREY, addressof(pixels), columns)
    if not bitmap:
        raise RuntimeError("the page cannot be drawn")
    try:
        pdfium.fill_bitmap(bitmap, 0, 0, columns, rows, 0xFFFFFFFF)
        pdfium.draw_page(bitmap, page, 0, 0, columns, rows, turn, pdfium.WITH_ANNOTATIONS)
    finally:
        pdfium.destroy_bitmap(bitmap)
    return bytes(pixels)


def _on_page(
    box: tuple[float, float, float, float], across: float, down: float, turn: int
) -> tuple[float, float, float, float]:
    """Turn a box of the drawn page (y downwards) back into page space (y upwards)."""
    x0, y0, x1, y1 = box
    return (
        (x0, down - y1, x1, down - y0),
        (y0, x0, y1, x1),
        (across - x1, y0, across - x0, y1),
        (down - y1, across - x1, down - y0, across - x0),
    )[turn]


def _run_upwards(words: list[Word]) -> bool:
    """Whether most words run upwards on the page as it was drawn, which Tesseract reads, too."""
    long = [word for word in words if len(word.text) >= 4]
    tall = sum((word.y1 - word.y0 > word.x1 - word.x0) != bool(word.style.turn & 1) for word in long)
    return tall > 0.5 * len(long)


def kept(found: list[tuple[Word, float]]) -> list[Word]:
    """Return the words that are sure or stand in a sure line; the last one of a line ends it."""
    words: list[Word] = []
    line: list[tuple[Word, float]] = []
    for at, (word, sure) in enumerate(found, 1):
        line.append((word, sure))
        if not word.ends and at < len(found):
            continue
        letters = sum(len(each.text) for each, _ in line)
        least = 0.0 if sum(len(each.text) * sure for each, sure in line) >= SURE_LINE * letters else MIN_CONFIDENCE
        if sure_ones := [each for each, sure in line if sure >= least]:
            sure_ones[-1].ends = word.ends
        words += sure_ones
        line = []
    return words


def _even_out(words: list[Word]) -> None:
    """Give lines of about the usual height the usual size, so that only what is really larger counts as a heading."""
    if not words:
        return
    usual = median(word.style.size for word in words)
    even = Style(size=round(usual, 1), turn=words[0].style.turn)
    for word in words:
        if abs(word.style.size - usual) <= ALIKE * usual:
            word.style = even
