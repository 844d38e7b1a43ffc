"""Which of the words that Tesseract finds are kept."""

import sys
from pathlib import Path

import pytest

from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.engine_tesseract import TesseractEngine, kept
from functions.ingest.parsing.words import Style, Word
from tests.support.ingest import pdf_of, scan_of


def line(*found: tuple[str, float]) -> list[tuple[Word, float]]:
    words = [(Word(text, 0.0, 0.0, 1.0, 1.0, Style()), sure) for text, sure in found]
    words[-1][0].ends = "\n"
    return words


def texts(words: list[Word]) -> str:
    return "".join(f"{word.text}{word.ends or ' '}" for word in words)


def test_specks_and_strokes_are_left_out() -> None:
    assert texts(kept(line(("—", 12), ("il", 8), ("Chart", 45)))) == "Chart\n"


def test_an_unsure_word_of_a_sure_line_is_kept() -> None:
    assert texts(kept(line(("management", 93), ("of", 21), ("software", 91)))) == "management of software\n"


def test_a_line_is_as_sure_as_its_letters() -> None:
    assert texts(kept(line(("a", 95), ("scratches", 20)))) == "a\n"
    assert texts(kept(line(("legible", 60), ("i", 20)))) == "legible\n"


def test_the_last_word_that_is_kept_ends_its_line() -> None:
    found = [*line(("Total", 58), ("~", 3)), *line(("~", 3), ("'", 9)), *line(("Sum", 50))]
    assert texts(kept(found)) == "Total\nSum\n"


def test_words_after_the_last_end_of_a_line_are_a_line() -> None:
    found = [*line(("Total", 90)), (Word("rest", 0.0, 0.0, 1.0, 1.0, Style()), 40.0)]
    assert texts(kept(found)) == "Total\nrest "


TEXT = "The station stores diesel fuel for one winter.\nThe lens of the lamp is cleaned on Mondays."


@pytest.mark.parametrize(("turn", "size"), [(0, 11.0), (0, 6.0), (1, 11.0), (2, 11.0), (3, 11.0)])
def test_a_picture_of_a_page_is_read_where_its_text_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int, size: float
) -> None:
    """Whichever way the page was laid on the scanner: as pdfium reads the same text."""
    monkeypatch.setenv("TESSDATA_PREFIX", str(Path(sys.prefix) / "share" / "tessdata"))
    scan, printed = tmp_path / "scan.pdf", tmp_path / "printed.pdf"
    scan.write_bytes(scan_of([TEXT], turn=turn, size=size))
    printed.write_bytes(pdf_of([TEXT], size=size))
    read, expected = TesseractEngine(str(scan), "eng").page(1), PdfiumEngine(str(printed)).page(1)
    assert [line.text for line in read.lines] == [line.text for line in expected.lines]
    shown = (expected.width, expected.height) if turn % 2 == 0 else (expected.height, expected.width)
    assert (read.width, read.height) == pytest.approx(shown, abs=1)
    assert 0.9 < read.confidence <= 1
    for line, printed_line in zip(read.lines, expected.lines, strict=True):
        assert (line.x0, line.x1) == pytest.approx((printed_line.x0, printed_line.x1), abs=1.5)
        assert printed_line.y0 - 1 < line.y0 < line.y1 < printed_line.y1 + 1
        assert size < 8 or line.size == pytest.approx(size, abs=0.5)  # small print is measured too large
