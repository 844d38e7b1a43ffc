"""Where a quote stands on its page: its rectangles hold that text and no other, read back by another way."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from functions.ingest.chunking.chunker import ChunkSettings, chunk_pages
from functions.ingest.parsing.engine_pypdf import PypdfEngine
from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.reflow import page_of, reflow
from functions.ingest.parsing.vocabulary import Vocabulary
from shared.models import Chunk
from shared.rects import Rect, rects_between
from tests.benchmarks.bench_rects import Reader, plain, quotes_of
from tests.functional.test_parsing_pdfs import PROSE
from tests.support.pdfs import document, lines, text

TURNS = {0: "1 0 0 1 0 0", 90: "0 1 -1 0 600 0", 180: "-1 0 0 -1 600 800", 270: "0 -1 1 0 0 800"}
SMALL = ChunkSettings(16, 4)


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return tmp_path / "some.pdf"


def chunks_of(path: Path, data: bytes, settings: ChunkSettings | None = None) -> list[Chunk]:
    path.write_bytes(data)
    with open_pdf(path, file_name=path.name, limits=Limits()) as parse:
        return list(chunk_pages(parse.pages(), title=parse.title, settings=settings))


def rects_of(chunks: Sequence[Chunk], quote: str) -> Sequence[Rect]:
    chunk = next(chunk for chunk in chunks if quote in chunk.text)
    start = chunk.char_start + chunk.text.index(quote)
    return rects_between(chunk.rects, chunk.text, chunk.char_start, start, start + len(quote))[0]


def assert_read_back(path: Path, chunks: Sequence[Chunk], count: int = 25) -> None:
    reader = Reader(path)
    for chunk, start, end in quotes_of(chunks, count, random.Random(1)):
        at = chunk.char_start
        rects, sizes = rects_between(chunk.rects, chunk.text, at, at + start, at + end)
        assert plain(reader.read(rects)) == plain(chunk.text[start:end]) != ""
        assert {rect.page for rect in rects} == {size.page for size in sizes}


@pytest.mark.parametrize("box", [b"", b"/CropBox[40 30 580 790]"], ids=["whole", "cropped"])
@pytest.mark.parametrize("rotation", TURNS)
def test_a_quote_is_found_on_a_turned_and_cropped_page(rotation: int, box: bytes, pdf: Path) -> None:
    content = b"q %b cm %b Q" % (TURNS[rotation].encode(), lines(*PROSE, y=300, x=100))
    chunks = chunks_of(pdf, document([content], page=b"/Rotate %d" % rotation + box), SMALL)
    assert len(chunks) > 2, "chunks begin within lines"
    assert_read_back(pdf, chunks)


@pytest.mark.parametrize("rotation", TURNS)
def test_a_note_along_the_margin_is_found_whole_unless_the_page_is_shown_turned_its_way(
    rotation: int, pdf: Path
) -> None:
    note = b"q 0 1 -1 0 590 0 cm %b Q" % text(100, 5, "Printed on recycled paper")
    content = lines(*PROSE, y=600, x=60) + note
    chunks = chunks_of(pdf, document([content], page=b"/Rotate %d" % rotation))
    (rect,) = rects_of(chunks, "recycled")
    assert plain(Reader(pdf).read([rect])) == ("recycled" if rotation == 90 else "printedonrecycledpaper")


def test_words_cut_at_the_end_of_a_line_or_page_keep_their_places(pdf: Path) -> None:
    pages = [
        lines("Nobody knows how much informa-", "tion such a plan holds for the consid-"),
        lines("erate few of us."),
    ]
    chunks = chunks_of(pdf, document(pages))
    reader = Reader(pdf)
    assert "information such a plan holds for the considerate\nfew" in chunks[0].text
    assert plain(reader.read(rects_of(chunks, "information such"))) == "informationsuch"
    assert plain(reader.read(rects_of(chunks, "few of"))) == "fewof"
    # The word that moved to the page before is shown as far as it stands there.
    assert plain(reader.read(rects_of(chunks, "the considerate\nfew"))) == "theconsidfew"


def test_each_cell_of_a_table_has_its_place(pdf: Path) -> None:
    rows = [("", "2024", "2023"), ("Revenue from contracts", "$ 1,204", "$ 998"), ("Net income", "(56)", "112")]
    content = b"".join(
        text(x, 700 - 14 * i, cell) for i, row in enumerate(rows) for x, cell in zip((72, 300, 400), row, strict=True)
    )
    chunks = chunks_of(pdf, document([lines(*PROSE, y=780) + content]))
    reader = Reader(pdf)
    assert [plain(reader.read([rect])) for rect in rects_of(chunks, "Net income | (56) | 112")] == [
        "netincome",
        "(56)",
        "112",
    ]
    assert [plain(reader.read([rect])) for rect in rects_of(chunks, "998\nNet")] == ["998", "net"]
    assert_read_back(pdf, chunks)


def test_columns_headings_lists_and_leaders_are_read_back(pdf: Path) -> None:
    left = [f"left column line {i} goes on and on to its" for i in range(12)]
    right = [f"right column line {i} follows after all of" for i in range(12)]
    columns = b"".join(
        text(50, 500 - 12 * i, a) + text(320, 500 - 12 * i, b) for i, (a, b) in enumerate(zip(left, right, strict=True))
    )
    top = text(72, 740, "1 Scope of the work", size=18) + lines("- the first of them", "- the second", y=700)
    contents = lines("Introduction . . . . . . . . . . . . 4", "Results ............................ 12", y=600)
    chunks = chunks_of(pdf, document([top + contents + columns]), SMALL)
    assert_read_back(pdf, chunks, 40)


def test_a_page_read_without_positions_has_no_rectangles_and_its_neighbours_keep_theirs(pdf: Path) -> None:
    chunks_of(pdf, document([lines("It began here."), lines("It went on."), lines("It ended.")]))
    with open_pdf(pdf, file_name=pdf.name, limits=Limits()) as parse:
        pages = list(parse.pages())
    raw = PypdfEngine(str(pdf)).page(2)
    pages[1] = page_of(raw, reflow(raw, [], Vocabulary()), continues=False)
    assert (pages[1].text, pages[1].lines) == ("It went on.", ())
    (chunk,) = chunk_pages(pages, title="")
    assert [bool(rects_of([chunk], page.text)) for page in pages] == [True, False, True]
    assert plain(Reader(pdf).read(rects_of([chunk], chunk.text))) == plain("It began here. It ended.")
    (unplaced,) = chunk_pages([pages[1]], title="")
    assert unplaced.rects == ""
