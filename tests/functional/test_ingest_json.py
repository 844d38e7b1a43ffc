"""FAQs, resolved questions and knowledge files go the way of every object."""

import json
from collections.abc import Iterator

import pytest

from shared.models import DocumentStatus
from tests.support.ingest import Stack, ingest_stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


def put(stack: Stack, key: str, value: object) -> None:
    stack.put(key, json.dumps(value).encode())
    assert stack.deliver(key) == []


def test_a_faq_is_found_changed_and_deleted(stack: Stack) -> None:
    key = "faq/acme/leave.json"
    put(stack, key, {"question": "How much leave?", "answer": "25 days."})
    (metadata,) = stack.vectors("acme", key).values()
    assert (metadata["source_type"], metadata["source_id"], metadata["title"]) == ("faq", "leave", "How much leave?")
    put(stack, key, {"question": "How much leave?", "answer": "27 days."})
    (metadata,) = stack.vectors("acme", key).values()
    assert "27 days" in metadata["text"]
    stack.delete(key)
    stack.deliver(key, event="ObjectRemoved:Delete")
    assert stack.vectors("acme", key) == {}


def test_a_chunk_made_inactive_disappears_also_when_it_was_the_only_one(stack: Stack) -> None:
    key = "knowledge/acme/k.json"
    chunk = {"metadata": {"chunk_id": "c1"}, "languageVariants": {"en": {"text": "Be kind."}}}
    put(stack, key, [chunk])
    (metadata,) = stack.vectors("acme", key).values()
    assert (metadata["source_type"], metadata["source_id"]) == ("knowledge", "c1")
    put(stack, key, [{**chunk, "is_active": False}])
    assert stack.vectors("acme", key) == {}
    assert stack.document(key).status is DocumentStatus.READY


def test_one_chunk_the_index_refuses_costs_no_other(stack: Stack) -> None:
    key = "knowledge/acme/half.json"
    good = {"metadata": {"chunk_id": "good"}, "languageVariants": {"en": {"text": "Be kind."}}, "tags": None}
    bad = {"metadata": {"chunk_id": "bad"}, "languageVariants": {"\ud800": {"text": "Be kind."}}}
    put(stack, key, [bad, good])
    document = stack.document(key)
    assert document.status is DocumentStatus.PARTIAL
    assert document.error is not None
    assert (document.error.code, "'bad' (number 1)" in document.error.message) == ("INVALID_CHUNKS", True)
    assert [metadata["source_id"] for metadata in stack.vectors("acme", key).values()] == ["good"]


def test_a_resolved_question_with_a_missing_field_fails_with_its_name(stack: Stack) -> None:
    key = "resolved/acme/r.json"
    put(stack, key, {"question": "Why?"})
    error = stack.document(key).error
    assert error is not None
    assert error.code == "INVALID_FIELDS"
    assert "r.json: answer" in error.message
