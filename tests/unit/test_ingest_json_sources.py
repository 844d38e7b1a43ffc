"""FAQ pairs, resolved questions and knowledge files: what is right is taken, what is wrong is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.ingest.events import subject_of
from functions.ingest.json_sources import open_json
from functions.ingest.passages import Source
from shared.errors import DocumentRejected
from shared.models import DocumentStatus


def read(tmp_path: Path, key: str, value: object) -> Source:
    path = tmp_path / "object"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    subject = subject_of(key)
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
    (passage,) = source.passages()
    assert passage.chunk.text == "Question: How long?\nAnswer: Two days."
    assert passage.metadata == {"phase": "2", "source_id": "q7", "department_id": "hr"}
    assert (source.title, source.findings().status) == ("How long?", DocumentStatus.READY)


def test_a_resolved_question_keeps_the_conversation_it_came_from(tmp_path: Path) -> None:
    pair = {"question": "Q", "answer": "A", "conversation_id": "01J"}
    (passage,) = read(tmp_path, "resolved/acme/r1.json", pair).passages()
    assert passage.metadata["conversation_id"] == "01J"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ([], "the object"),
        ({"question": "Q"}, "answer: Field required"),
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
    first, second = source.passages()
    assert (first.chunk.text, first.chunk.embedded_text) == ("Text of a.", "meaning of a")
    assert first.metadata == {
        "phase": "1", "goal": "comfort", "type": "advice", "source_id": "a", "title": "a", "chapter": "3"
    }  # fmt: skip
    joined = "\n\n".join(passage.chunk.text for passage in (first, second))
    assert joined[second.chunk.char_start : second.chunk.char_end] == second.chunk.text


def test_every_language_of_a_chunk_can_be_found(tmp_path: Path) -> None:
    chunk = knowledge_chunk("a", languageVariants={"en": {"text": "Yes."}, "lt": {"text": "Taip."}})
    passages = list(read(tmp_path, "knowledge/acme/k.json", [chunk]).passages())
    assert [(p.chunk.language, p.chunk.text, p.chunk.index) for p in passages] == [
        ("en", "Yes.", 0),
        ("lt", "Taip.", 1),
    ]


def test_bad_chunks_are_left_out_and_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    value = [
        knowledge_chunk("good"),
        knowledge_chunk("no text", languageVariants={"en": {}}),
        knowledge_chunk("good"),
        {"languageVariants": {"en": {"text": "nameless"}}},
        "not even an object",
    ]
    source = read(tmp_path, "knowledge/acme/k.json", value)
    findings = source.findings()
    assert len(list(source.passages())) == 1
    assert findings.status is DocumentStatus.PARTIAL
    assert [page.state for page in findings.report] == ["text", "failed", "failed", "failed", "failed"]
    assert "'no text' (number 2): languageVariants.en.text: Field required" in findings.report[1].detail
    assert "metadata.chunk_id" in findings.report[2].detail
    assert "number 4: metadata" in findings.report[3].detail
    assert findings.error is not None
    assert "4 of 5 chunks of k.json" in findings.error.message


@pytest.mark.parametrize("where", ["top", "metadata"])
def test_an_inactive_chunk_is_no_passage_and_no_error(tmp_path: Path, where: str) -> None:
    chunk = knowledge_chunk("a")
    (chunk if where == "top" else chunk["metadata"])["is_active"] = False
    source = read(tmp_path, "knowledge/acme/k.json", [chunk])
    assert (list(source.passages()), source.findings().status) == ([], DocumentStatus.READY)


def test_a_file_with_nothing_but_errors_has_failed(tmp_path: Path) -> None:
    assert read(tmp_path, "knowledge/acme/k.json", [{}]).findings().status is DocumentStatus.FAILED
    with pytest.raises(DocumentRejected, match="list of chunks"):
        read(tmp_path, "knowledge/acme/k.json", {})
