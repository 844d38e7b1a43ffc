"""FAQ pairs, resolved questions and knowledge files: what is right is taken, what is wrong is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.ingest.changes import document_ref_of
from functions.ingest.sources import ChunkSource, open_json
from shared.errors import DocumentRejected
from shared.models import DocumentStatus


def read(tmp_path: Path, key: str, value: object) -> ChunkSource:
    path = tmp_path / "object"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    subject = document_ref_of(key)
    assert subject is not None
    return open_json(subject, path)


def knowledge_chunk(chunk_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "metadata": {"chunk_id": chunk_id, "chapter": "3"},
        "languageVariants": {"en": {"text": f"Text of {chunk_id}."}},
        "embeddingStrings": {"semantic": f"meaning of {chunk_id}"},
        "tags": {"phase": "1", "goal": "comfort", "type": "advice"},
        **changes,
    }


def test_a_faq_is_one_chunk_of_question_and_answer(tmp_path: Path) -> None:
    pair = {"question": " How long? ", "answer": "Two days.", "department_id": "hr", "tags": {"phase": "2"}}
    source = read(tmp_path, "faq/acme/q7.json", pair)
    (chunk,) = source.chunks
    assert chunk.chunk.text == "Question: How long?\nAnswer: Two days."
    assert chunk.metadata == {"phase": "2", "source_id": "q7", "department_id": "hr"}
    assert (source.title, source.result().status) == ("How long?", DocumentStatus.READY)


@pytest.mark.parametrize(
    ("pair", "language"),
    [
        ({"question": "How much leave is there?", "answer": "There are 25 days of leave in the year."}, "en"),
        ({"question": "Kiek yra atostogų?", "answer": "Per metus yra 25 dienos, ir jas galima dalyti."}, "lt"),
        ({"question": "How much leave is there?", "answer": "There are 25 days.", "language": "de"}, "de"),
    ],
)
def test_a_pair_that_names_no_language_has_it_detected(tmp_path: Path, pair: dict[str, str], language: str) -> None:
    (chunk,) = read(tmp_path, "faq/acme/q.json", pair).chunks
    assert chunk.chunk.language == language


def test_a_resolved_question_keeps_the_conversation_it_came_from(tmp_path: Path) -> None:
    pair = {"question": "Q", "answer": "A", "conversation_id": "01J"}
    (chunk,) = read(tmp_path, "resolved/acme/r1.json", pair).chunks
    assert chunk.metadata["conversation_id"] == "01J"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ([], "the object"),
        ({"question": "Q"}, "answer: this field is missing"),
        ({"question": "Q", "answer": "  "}, "answer"),
        ({"question": "Q", "answer": 7}, "answer"),
        ({"question": "Q", "answer": "long " * 9_000}, "split it"),
    ],
)
def test_a_pair_that_cannot_be_used_says_which_field_of_which_file(tmp_path: Path, value: object, words: str) -> None:
    with pytest.raises(DocumentRejected, match="q7") as caught:
        read(tmp_path, "faq/acme/q7.json", value)
    assert words in caught.value.message


def test_a_knowledge_chunk_shows_its_text_and_embeds_its_meaning(tmp_path: Path) -> None:
    source = read(tmp_path, "knowledge/acme/deep/k.json", [knowledge_chunk("a"), knowledge_chunk("b")])
    first, second = source.chunks
    assert (first.chunk.text, first.chunk.embedded_text) == ("Text of a.", "meaning of a")
    assert first.metadata == {
        "phase": "1", "goal": "comfort", "type": "advice", "source_id": "a", "title": "a", "chapter": "3"
    }  # fmt: skip
    joined = "\n\n".join(chunk.chunk.text for chunk in (first, second))
    assert joined[second.chunk.char_start : second.chunk.char_end] == second.chunk.text


def test_every_language_of_a_chunk_can_be_found(tmp_path: Path) -> None:
    chunk = knowledge_chunk("a", languageVariants={"en": {"text": "Yes."}, "lt": {"text": "Taip."}})
    chunks = list(read(tmp_path, "knowledge/acme/k.json", [chunk]).chunks)
    assert [(p.chunk.language, p.chunk.text, p.chunk.index) for p in chunks] == [
        ("en", "Yes.", 0),
        ("lt", "Taip.", 1),
    ]


def test_bad_chunks_are_left_out_and_named_and_the_rest_is_read(tmp_path: Path) -> None:
    value = [
        knowledge_chunk("good"),
        knowledge_chunk("no text", languageVariants={"en": {}}),
        knowledge_chunk("good"),
        {"languageVariants": {"en": {"text": "nameless"}}},
        "not even an object",
    ]
    source = read(tmp_path, "knowledge/acme/k.json", value)
    result = source.result()
    assert len(list(source.chunks)) == 1
    assert result.status is DocumentStatus.PARTIAL
    assert [page.state for page in result.report] == ["text", "failed", "failed", "failed", "failed"]
    assert "'no text' (number 2): languageVariants.en.text: this field is missing" in result.report[1].detail
    assert "metadata.chunk_id" in result.report[2].detail
    assert "number 4: metadata" in result.report[3].detail
    assert result.error is not None
    assert "4 of 5 chunks of k.json" in result.error.message


WORDED = [
    ({"tags": {"phase": 7}}, "tags.phase: a text of at most 200 characters is expected, or a list of such texts"),
    ({"tags": {"phase": ["a", 7]}}, "tags.phase: a text of at most 200 characters"),
    ({"tags": {"phase": "x" * 201}}, "tags.phase: a text of at most 200 characters"),
    ({"tags": "summer"}, "tags: an object is expected"),
    ({"tags": {"": "x"}}, "tags.: it is empty"),
    ({"languageVariants": {}}, "languageVariants: it is empty"),
    ({"languageVariants": None}, "languageVariants: this field is missing"),
    ({"languageVariants": {"en": "words"}}, "languageVariants.en: an object is expected"),
    ({"languageVariants": {"en": {"text": 7}}}, "languageVariants.en.text: a text is expected"),
    ({"languageVariants": {"\ud800": {"text": "x"}}}, ": it holds half of a character"),
    ({"languageVariants": {"plain English": {"text": "x"}}}, "languageVariants.plain English: a language tag is"),
    ({"languageVariants": {"": {"text": "x"}}}, "languageVariants.: a language tag is expected, such as en or pt-BR"),
    ({"languageVariants": {"en": {"text": "\ud800"}}}, "languageVariants.en.text: it holds half of a character"),
    ({"tags": {"\ud800": "x"}}, ": it holds half of a character"),
    ({"is_active": "perhaps"}, "is_active: true or false is expected"),
    ({"metadata": {"chunk_id": "\ud800"}}, "metadata.chunk_id: it holds half of a character"),
    ({"metadata": {"chunk_id": "a", "title": "x" * 201}}, "metadata.title: at most 200 characters are accepted"),
]


@pytest.mark.parametrize(("changes", "words"), WORDED)
def test_the_reason_for_leaving_out_a_chunk_names_field_and_fault(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    source = read(tmp_path, "knowledge/acme/k.json", [knowledge_chunk("bad", **changes), knowledge_chunk("good")])
    assert [chunk.metadata["source_id"] for chunk in source.chunks] == ["good"]
    failed, taken = source.result().report
    assert words in failed.detail
    assert taken.state == "text"
    assert not any(word in failed.detail for word in ("constrained", "instance", "Input", "[key]", "pydantic"))
    failed.detail.encode()


def test_null_is_the_same_as_a_field_left_out(tmp_path: Path) -> None:
    about = {"chunk_id": "a", "title": None, "chapter": None, "department_id": None, "is_active": None}
    nulls = {"metadata": about, "tags": None, "embeddingStrings": None, "is_active": None}
    chunks = [
        knowledge_chunk("x", **nulls),
        knowledge_chunk("b", embeddingStrings={"semantic": None}, tags={"phase": None, "goal": "comfort"}),
    ]
    source = read(tmp_path, "knowledge/acme/k.json", chunks)
    first, second = source.chunks
    assert source.result().status is DocumentStatus.READY
    assert first.metadata == {"source_id": "a", "title": "a"}
    assert first.chunk.embedded_text == "Text of x."
    assert (second.metadata["goal"], second.chunk.embedded_text) == ("comfort", "Text of b.")
    assert "phase" not in second.metadata
    pair = {"question": "Q", "answer": "A", "tags": None, "language": None, "department_id": None}
    assert len(list(read(tmp_path, "faq/acme/q.json", pair).chunks)) == 1


@pytest.mark.parametrize("language", ["en", "lt", "pt-BR", "zh-Hans-CN", "en_US", "EN"])
def test_language_tags_are_normalized(tmp_path: Path, language: str) -> None:
    chunk = knowledge_chunk("a", languageVariants={language: {"text": "Yes."}})
    (chunk,) = read(tmp_path, "knowledge/acme/k.json", [chunk]).chunks
    assert chunk.chunk.language == language


@pytest.mark.parametrize("where", ["top", "metadata"])
def test_an_inactive_chunk_is_left_out_without_an_error(tmp_path: Path, where: str) -> None:
    chunk = knowledge_chunk("a")
    (chunk if where == "top" else chunk["metadata"])["is_active"] = False
    source = read(tmp_path, "knowledge/acme/k.json", [chunk])
    assert (list(source.chunks), source.result().status) == ([], DocumentStatus.READY)


def test_a_file_with_nothing_but_errors_has_failed(tmp_path: Path) -> None:
    assert read(tmp_path, "knowledge/acme/k.json", [{}]).result().status is DocumentStatus.FAILED
    with pytest.raises(DocumentRejected, match="list of chunks"):
        read(tmp_path, "knowledge/acme/k.json", {})
