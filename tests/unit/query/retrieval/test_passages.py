"""What a passage is read from its vector's metadata: all of it, and an empty value for what is missing or odd."""

from typing import Any

import pytest

from functions.query.retrieval.passages import Boost, Passage
from shared.models import Match, PageStart, SectionStart, SourceType

FULL: dict[str, Any] = {
    "document_id": "d1",
    "generation": "g1",
    "source_type": "pdf",
    "title": "Handbook",
    "section": "Lamp > Care",
    "text": "The lamp is lit.",
    "chunk_index": 3,
    "token_count": 5,
    "page_start": 7,
    "page_end": 8,
    "page_label": "vii",
    "char_start": 100,
    "content_hash": "h",
    "source_id": "uploads/acme/lamp.pdf",
    "version_id": "v1",
    "rects": "r",
    "language": "en",
    "cover": "Lamps",
    "organisation": ["Orbico", "Tebrun"],
    "kind": "handbook",
    "period": ["FY2022", "2022", "Q3 2021"],
    "pages": ["7|100|vii", "8|110|viii"],
    "sections": ["100|Lamp > Care", "112|Lamp > Oil"],
    "ocr": True,
    "table": "Fuel | Unit",
    "described_by": "seer",
}


def read(score: float = 0.5, boosts: tuple[Boost, ...] = (), **metadata: Any) -> Passage:
    return Passage.of(Match("c1", score, metadata), boosts)


def test_a_passage_without_metadata_is_empty_and_of_a_pdf() -> None:
    assert read() == Passage(
        "c1", "", "", SourceType.PDF, "", "", "", 0.5, 0, 0, 0, 0, "", 0, "",
    )  # fmt: skip
    empty = read()
    assert (empty.rank_score, empty.boost, empty.has_similarity, empty.ocr) == (0.0, 0.0, True, False)
    assert not empty.corrected
    assert (empty.similarity, empty.char_end) == (0.5, 0)
    assert empty._replace(has_similarity=False).similarity is None


def test_a_passage_has_all_that_was_stored() -> None:
    found = read(**FULL)
    assert (found.document_id, found.generation, found.source_type) == ("d1", "g1", SourceType.PDF)
    assert (found.chunk_index, found.token_count, found.page_start, found.page_end) == (3, 5, 7, 8)
    assert (found.page_label, found.char_start, found.char_end, found.content_hash) == ("vii", 100, 116, "h")
    assert (found.key, found.object_key) == (FULL["source_id"], FULL["source_id"])
    assert (found.version_id, found.rects) == ("v1", "r")
    assert (found.language, found.cover, found.kind, found.table, found.described_by) == (
        "en", "Lamps", "handbook", "Fuel | Unit", "seer"
    )  # fmt: skip
    assert (found.organisations, found.periods, found.ocr) == (("Orbico", "Tebrun"), ("2022", "Q3 2021"), True)
    assert found.pages == (PageStart(7, 100, "vii"), PageStart(8, 110, "viii"))
    assert found.sections == (SectionStart(100, "Lamp > Care"), SectionStart(112, "Lamp > Oil"))


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("chunk_index", 3.0, "chunk_index", 3),
        ("chunk_index", "3", "chunk_index", 0),
        ("title", 5, "title", ""),
        ("organisation", "Orbico", "organisations", ("Orbico",)),
        ("organisation", "", "organisations", ()),
        ("organisation", 5, "organisations", ()),
        ("organisation", [5], "organisations", ("5",)),
        ("ocr", "yes", "ocr", False),
        ("pages", "7", "pages", ()),
        ("object_key", "k", "object_key", "k"),
        ("source_type", "faq", "object_key", ""),  # a key in the bucket only where it is a PDF
    ],
)
def test_what_is_of_another_type_is_empty(name: str, value: object, field: str, expected: object) -> None:
    assert getattr(read(**{**FULL, name: value}), field) == expected


def test_positions_of_a_corrected_passage_count_in_the_correction() -> None:
    found = read(**FULL, edit="e1")
    assert (found.corrected, found.char_start, found.table, found.pages, found.sections) == (True, 0, "", (), ())


def test_a_passage_names_the_page_and_the_section_that_hold_a_position() -> None:
    found = read(**FULL)
    assert [found.page_at(at).number for at in (100, 109, 110, 115)] == [7, 7, 8, 8]
    assert [found.section_at(at) for at in (99, 100, 111, 112)] == ["", "Lamp > Care", "Lamp > Care", "Lamp > Oil"]
    assert found.page_at(99) == PageStart(7, 100, "vii")


def test_boosts_that_match_are_added() -> None:
    boosts = (Boost({"kind": "handbook"}, 0.2), Boost({"kind": "letter"}, 0.3), Boost({"language": "en"}, 0.1))
    assert read(boosts=boosts, kind="handbook", language="en").boost == pytest.approx(0.3)
    assert read(boosts=boosts).boost == 0.0
