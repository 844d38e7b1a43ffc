"""What the values that all functions share say of themselves: sums, names, what is in force."""

from collections.abc import Mapping
from dataclasses import astuple

import pytest

from shared.models import (
    EXCLUDED,
    NO_USAGE,
    ORIGINAL,
    Citation,
    Document,
    DocumentStatus,
    EmbeddingSpace,
    IndexVersion,
    Page,
    PageStart,
    PassageEdit,
    Published,
    PublishedDocument,
    SectionStart,
    SourceType,
    Usage,
    content_hash_of,
    document_id_of,
    editorial_hash,
    generation_in,
    generation_named_by,
    index_version_number_of,
    namespace_of,
    page_separator,
    ranges_of,
    values_of,
    vector_id_of,
)
from shared.ports import CatalogueEntry, TenantIndexVersions

SPACE = EmbeddingSpace("small", 3)


def test_the_usage_of_two_calls_is_the_sum_of_each_kind_of_tokens():
    both = Usage(1, 20, 300, 4_000, 50_000) + Usage(2, 30, 400, 5_000, 60_000)
    assert astuple(both) == (3, 50, 700, 9_000, 110_000)
    assert both + NO_USAGE == both


def test_ids_and_hashes_are_32_hex_digits_that_differ_with_each_part():
    ids = {document_id_of("a", "b.pdf"), document_id_of("ab", ".pdf"), content_hash_of("a"), content_hash_of("")}
    assert len(ids) == 4
    assert all(len(each) == 32 and int(each, 16) >= 0 for each in ids)


@pytest.mark.parametrize(("number", "suffix"), [(1, ""), (2, "~2"), (10, "~10")])
def test_names_in_all_index_versions_but_the_first_end_with_its_number(number: int, suffix: str):
    assert namespace_of("acme", number) == f"acme{suffix}"
    assert generation_in(number, "01J") == f"01J{suffix}"
    assert index_version_number_of(generation_in(number, "01J")) == number


@pytest.mark.parametrize("generation", ["", "01J", "01J~", "01J~x", "01J~-2"])
def test_a_generation_that_names_no_number_is_of_the_first_index_version(generation: str):
    assert index_version_number_of(generation) == 1


@pytest.mark.parametrize(
    ("vector_id", "named"),
    [
        (vector_id_of("doc", "gen", 7), ("doc", "gen")),
        ("doc#gen#", ("doc", "gen")),
        ("doc#gen", ("", "")),
        ("doc", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_vectors_id_names_document_and_generation_or_is_not_ours(vector_id: str, named: tuple[str, str]):
    assert generation_named_by(vector_id) == named


def test_an_ingest_ends_with_a_status_that_is_neither_of_the_queue_nor_of_a_deletion():
    final = {status.value for status in DocumentStatus if status.is_final}
    assert final == {"READY", "PARTIAL", "NEEDS_OCR", "ENCRYPTED", "FAILED"}


@pytest.mark.parametrize(
    ("numbers", "ranges"),
    [
        ([], []),
        ([4], [(4, 4)]),
        ([7, 2, 1, 3], [(1, 3), (7, 7)]),
        ([1, 3, 4, 6], [(1, 1), (3, 4), (6, 6)]),
    ],
)
def test_consecutive_pages_are_one_range(numbers: list[int], ranges: list[tuple[int, int]]):
    assert ranges_of(numbers) == ranges


def test_a_paragraph_that_goes_on_is_a_line_below_what_was_before_it():
    assert page_separator(Page(2, "and so on", continues=True)) == "\n"
    assert page_separator(Page(2, "A start.")) == "\n\n"


@pytest.mark.parametrize("start", [PageStart(12, 3_400, "A|3"), PageStart(1, 0), SectionStart(7, "2 Scope|x > 2.1")])
def test_starts_are_read_back_as_they_were_written(start: PageStart | SectionStart):
    assert type(start).parse(str(start)) == start


def test_a_label_is_one_value_or_several():
    assert values_of("manual") == ["manual"]
    assert values_of(["manual", "guide"]) == ["manual", "guide"]


def test_what_editors_say_has_a_hash_that_only_labels_and_corrections_change():
    corrected = {"h1": content_hash_of("better")}
    known = [
        editorial_hash({"kind": "manual"}, {}),
        editorial_hash({"kind": "guide"}, {}),
        editorial_hash({}, corrected),
        editorial_hash({"kind": "manual"}, corrected),
    ]
    assert len({*known}) == 4
    assert all(known)
    assert editorial_hash({"kind": "manual", "product": ""}, {"h2": EXCLUDED, "h3": ORIGINAL}) == known[0]
    assert editorial_hash({"product": ""}, {"h2": EXCLUDED, "h3": ORIGINAL}) == ""


def edit(text: str, *, excluded: bool) -> PassageEdit:
    return PassageEdit("d", "h", "as it was", text, excluded, "", "g", 0, 1, 1, "1", "", 0)


def test_an_edit_says_leave_out_before_it_says_a_correction():
    assert edit("better", excluded=True).says == EXCLUDED
    assert edit("better", excluded=False).says == content_hash_of("better")
    assert edit("", excluded=False).says == ORIGINAL


@pytest.mark.parametrize(
    ("edits", "metadata", "is_shown"),
    [
        ({}, {"text": "as it was"}, True),
        ({"other": EXCLUDED}, {"text": "as it was"}, True),
        ({content_hash_of("as it was"): EXCLUDED}, {"text": "as it was"}, False),
        ({content_hash_of("as it was"): ORIGINAL}, {"text": "as it was"}, True),
        ({content_hash_of("as it was"): "h2"}, {"text": "as it was"}, False),
        ({"h1": "h2"}, {"text": "better", "original_hash": "h1", "edit": "h2"}, True),
        ({"h1": "h3"}, {"text": "better", "original_hash": "h1", "edit": "h2"}, False),
        ({}, {"text": "better", "original_hash": "h1", "edit": "h2"}, False),
        ({"h1": EXCLUDED}, {}, True),
    ],
)
def test_a_vector_is_shown_under_the_edit_it_was_made_with(
    edits: Mapping[str, str], metadata: Mapping[str, str], is_shown: bool
):
    assert PublishedDocument("g", edits).shows("g", metadata) is is_shown
    assert not PublishedDocument("g", edits).shows("older", metadata)
    assert not PublishedDocument("", edits).shows("", metadata)


def test_a_document_is_seen_as_it_is_published_in_an_index_version():
    second = Published("g2", "v2", "s2", "small@3", 5, "e2", {"h": 1}, "ocr")
    document = Document(
        "acme", "d", "acme/a.pdf", DocumentStatus.READY, generation="g1", chunk_count=3, index_versions={2: second}
    )
    assert document.in_index_version(1) is document
    assert document.in_index_version(2).as_published() == second
    assert document.in_index_version(2).title == document.title


def test_a_label_takes_the_place_of_what_the_identity_card_says():
    card, labels = {"kind": "manual", "version": "2"}, {"kind": "guide", "colour": "red"}
    document = Document("acme", "d", "acme/a.pdf", DocumentStatus.READY, card=card, labels=labels)
    assert document.identity == {"kind": "guide", "version": "2"}
    entry = CatalogueEntry("d", "acme/a.pdf", "A", "g", labels=labels, card=card, edits={"h": EXCLUDED})
    assert entry.labelled == {"kind": "guide", "version": "2", "colour": "red"}
    assert entry.published == PublishedDocument("g", {"h": EXCLUDED}, ())


def version(number: int) -> IndexVersion:
    return IndexVersion(number, namespace_of("acme", number), "index", SPACE)


@pytest.mark.parametrize(
    ("current", "other", "live", "is_building", "newest"),
    [(1, None, [1], False, 1), (1, 2, [2, 1], True, 2), (2, 1, [1, 2], False, 2)],
)
def test_the_searched_index_version_is_published_last_and_the_higher_number_is_newest(
    current: int, other: int | None, live: list[int], is_building: bool, newest: int
):
    known = TenantIndexVersions("acme", version(current), version(other) if other else None)
    assert [each.number for each in known.live] == live
    assert known.is_building is is_building
    assert known.newest.number == newest


def test_index_versions_that_differ_only_by_namespace_are_in_one_place():
    assert version(1).location == version(2).location == ("index", SPACE)
    assert str(SPACE) == "small@3"


def test_a_cited_file_has_the_last_part_of_its_key_as_its_name():
    cited = Citation(1, "d", "T", SourceType.PDF, 1, 1, "", "", "q", 0, 1, None, key="uploads/acme/a/b.pdf")
    assert cited.file_name == "b.pdf"
