"""What the engines read of made files stays as it is stored; `make snapshots` rewrites it (decision 76)."""

from pathlib import Path
from zlib import crc32

import pytest

from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.engine_pypdf import PypdfEngine
from tests.support.retold import boxed, lines_told, parsed, retold
from tests.support.snapshots import check, check_names
from tests.support.varied_pdfs import PDFS, pdf_of

FOLDER = Path(__file__).parent / "snapshots"


def told(path: Path) -> str:
    """Return what pdfium's engine and pypdf's find in a file, and what is read of it."""
    engine = PdfiumEngine(str(path))
    header = engine.header()
    pages = [engine.page(number) for number in range(1, header.page_count + 1)]
    found = [f"title {header.title!r}, outline {header.outline}, attached {header.has_attached_pdfs}"]
    for page in pages:
        found.append(
            f"-- page {page.number} {page.label!r}: {page.width:g} x {page.height:g}, turned {page.rotation}, "
            f"pictures {page.images:.2f}, paths {page.paths}, hidden {page.hidden}, layer {page.ocr}, "
            f"figures {[(boxed(figure[:4]), figure[4]) for figure in page.figures]}"
        )
        found.append(lines_told(page.lines))
    other = PypdfEngine(str(path)).page(1)
    found.append("-- by pypdf: " + " / ".join(line.text for line in other.lines)[:200])
    if len(pages) > 1:
        found.append(retold(*parsed(pages, header), exactly=False))
    return "\n".join(found)


def read(kind: str, number: int, folder: Path) -> str:
    """Return what the engines find in a file of a kind."""
    path = folder / "made.pdf"
    path.write_bytes(pdf_of(kind, number))
    return told(path)


@pytest.mark.parametrize("kind", PDFS)
def test_what_the_engines_read_is_what_they_read_before(kind: str, tmp_path: Path) -> None:
    _, count, _ = PDFS[kind]
    texts = [text for number in range(count) for text in (f"=== {kind} {number}", read(kind, number, tmp_path))]
    check(FOLDER / "engines" / f"{kind}.txt", "\n".join(texts))


@pytest.mark.parametrize("kind", PDFS)
def test_as_much_is_read_of_many_files_as_before(kind: str, tmp_path: Path) -> None:
    _, count, more = PDFS[kind]
    texts = [(number, read(kind, number, tmp_path)) for number in range(count, count + more)]
    sums = [f"{number}: {text.count('\n')} lines, {crc32(text.encode()):08x}" for number, text in texts]
    check(FOLDER / "engines-counted" / f"{kind}.txt", "\n".join(sums))


def test_every_stored_text_is_compared() -> None:
    for folder in ("engines", "engines-counted"):
        check_names(FOLDER / folder, PDFS)
