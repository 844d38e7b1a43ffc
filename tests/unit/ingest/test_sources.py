"""A PDF becomes chunks with what is known of their place; a model's words about its figures come after its own."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from functions.ingest.changes import document_ref_of
from functions.ingest.figures import DescribedFigure
from functions.ingest.parsing.wire import OCR_ENGINE, Line, RawPage
from functions.ingest.sources import FIGURE_GAP, ExtractionResult, SourceChunk, open_source
from shared.errors import DocumentRejected
from shared.identity import cover_of
from shared.models import DocumentStatus, Labels
from shared.settings import Settings
from tests.support.made_pages import exchanged
from tests.support.pdfs import document, lines

FERRY = (
    "The ferry leaves the harbour at seven in the morning.",
    "It comes back before it is dark, except when the wind is strong.",
    "Nobody may stay on the islands of the Northern Lights Company at night.",
    "Those who miss the ferry wait in the old lighthouse until it comes again.",
)
OFFICE = (
    "The office sells tickets for the islands and for the museum.",
    "It is closed on all of the public holidays, and in January.",
    "Children travel without a ticket when somebody looks after them.",
    "Bicycles and dogs need a ticket of their own, which costs half as much.",
)
SMALL = {"chunk_size_tokens": 64, "chunk_overlap_tokens": 0}
LABELS = b"/PageLabels<</Nums[0<</S/r/St 4>>]>>"


class Read:
    """What was read of an object."""

    def __init__(self, key: str, path: Path, **given: Any) -> None:
        ref = document_ref_of(key)
        assert ref is not None
        settings = given.pop("settings", {})
        with open_source(ref, path, Settings(**settings), **given) as source:
            self.title: str = source.title
            self.card: Labels = source.card
            self.chunks: list[SourceChunk] = list(source.chunks)
            self.result: ExtractionResult = source.result()


@pytest.fixture(scope="module")
def timetable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pdfs") / "object"
    path.write_bytes(document([lines(*FERRY), lines(*OFFICE)], title="Ferries of the islands", catalog=LABELS))
    return path


def test_a_pdfs_chunks_say_where_they_stand_and_what_its_cover_says(timetable: Path):
    read = Read("uploads/acme/ferries.pdf", timetable, settings=SMALL)
    assert (read.title, read.result.status, read.result.error, read.result.page_count) == (
        *("Ferries of the islands", DocumentStatus.READY, None, 2),
    )
    texts = [each.chunk.text for each in read.chunks]
    assert texts == ["\n\n".join(FERRY), "\n\n".join(OFFICE)]
    assert [(each.chunk.page_start, each.chunk.page_end, each.chunk.page_label) for each in read.chunks] == [
        (1, 1, "iv"),
        (2, 2, "v"),
    ]
    assert {each.chunk.language for each in read.chunks} == {"en"}
    cover = cover_of(texts[0])
    assert cover
    assert [each.metadata for each in read.chunks] == [{"cover": cover}, {"cover": cover}]
    assert [(each.number, each.state, each.detail) for each in read.result.report] == [(1, "text", ""), (2, "text", "")]


def test_a_models_words_about_figures_come_after_the_document_each_with_a_place_of_its_own(timetable: Path):
    figures = [
        DescribedFigure(2, "Figure 1: Routes", "gpt-5-mini", text="The map shows two routes between the islands."),
        DescribedFigure(2, "", "gpt-5-mini", problem="too blurred"),
        DescribedFigure(1, "", "gpt-5-mini", text="A ferry lies at the quay of the harbour in the morning."),
        DescribedFigure(1, "", "gpt-5-mini"),
    ]
    read = Read("uploads/acme/ferries.pdf", timetable, figures=figures, settings=SMALL)
    own, described = read.chunks[:2], read.chunks[2:]
    assert [each.chunk.text for each in own] == ["\n\n".join(FERRY), "\n\n".join(OFFICE)]
    assert [each.chunk.text for each in described] == [figures[0].passage, figures[2].passage]
    assert [each.chunk.index for each in read.chunks] == [0, 1, 2, 3]
    assert [(each.chunk.page_start, each.chunk.page_end, each.chunk.page_label) for each in described] == [
        (2, 2, "v"),
        (1, 1, "iv"),
    ]
    assert described[0].chunk.embedded_text == f"{read.title}\n\nFigure 1: Routes\n\n{figures[0].text}"
    assert described[1].chunk.embedded_text == f"{read.title}\n\n{figures[2].text}"
    spans = [(each.chunk.char_start, each.chunk.char_end) for each in read.chunks]
    assert spans[2][0] == spans[1][1] + FIGURE_GAP
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
    assert [end - start for start, end in spans] == [len(each.chunk.text) for each in read.chunks]
    assert all(each.chunk.token_count > 10 and each.chunk.language == "en" for each in described)
    assert [each.metadata for each in described] == [
        {"cover": own[0].metadata["cover"], "described_by": "gpt-5-mini"},
        {"cover": own[0].metadata["cover"], "described_by": "gpt-5-mini"},
    ]
    assert [each.detail for each in read.result.report] == [
        "figures described by a model: 1",
        "figures described by a model: 1; figures not described: 1 (too blurred)",
    ]


def test_limits_of_the_settings_hold_for_pdfs(timetable: Path):
    size = timetable.stat().st_size
    assert Read("uploads/acme/a.pdf", timetable, settings={"max_file_bytes": size, "max_pages": 2}).result.page_count
    for settings, code in (({"max_file_bytes": size - 1}, "TOO_LARGE"), ({"max_pages": 1}, "TOO_MANY_PAGES")):
        with pytest.raises(DocumentRejected) as rejected:
            Read("uploads/acme/a.pdf", timetable, settings=settings)
        assert rejected.value.reason_code == code


def test_chunks_are_as_large_as_the_settings_say(tmp_path: Path):
    (tmp_path / "object").write_bytes(document([lines(*FERRY, *OFFICE)]))
    large, small = (
        [each.chunk.token_count for each in Read("uploads/acme/a.pdf", tmp_path / "object", settings=settings).chunks]
        for settings in ({"chunk_size_tokens": 128, "chunk_overlap_tokens": 0}, SMALL)
    )
    assert max(small) <= 64 < max(large) <= 128


def unread(line: str) -> str:
    """Return a line as a wrong code page shows it."""
    return exchanged(line, 3)


def test_chunks_with_a_page_that_ocr_has_read_say_so(tmp_path: Path):
    (tmp_path / "object").write_bytes(document([lines(*FERRY), *[lines(*map(unread, OFFICE))] * 2]))
    read_pages = {2: RawPage(2, lines=[Line(line) for line in OFFICE], engine=OCR_ENGINE, confidence=0.9)}
    made = Read("uploads/acme/a.pdf", tmp_path / "object", read_pages=read_pages, settings=SMALL)
    own, read = made.chunks
    assert "ocr" not in own.metadata
    assert [each.state for each in made.result.report] == ["text", "text", "garbled"]
    assert (read.chunk.text, read.metadata["ocr"]) == (" ".join(OFFICE), True)


@pytest.mark.parametrize(
    ("key", "kind"),
    [("uploads/acme/a.docx", "PDF"), ("uploads/acme/pdf", "PDF"), ("faq/acme/a.pdf", "JSON")],
)
def test_a_file_of_another_type_is_rejected_by_its_name(tmp_path: Path, key: str, kind: str):
    (tmp_path / "object").write_bytes(b"anything")
    with pytest.raises(DocumentRejected, match=f"is not a {kind} file") as rejected:
        Read(key, tmp_path / "object")
    assert rejected.value.reason_code == "UNSUPPORTED_TYPE"
    assert f"under {key.split('/')[0]}/" in rejected.value.message


@pytest.mark.parametrize("key", ["uploads/acme/A.PDF", "uploads/acme/b.Pdf"])
def test_a_files_type_may_be_written_in_capitals(timetable: Path, key: str):
    assert Read(key, timetable).result.page_count == 2
