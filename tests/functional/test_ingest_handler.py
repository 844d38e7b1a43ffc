"""The real handler on real-shaped events: AWS on moto, both emulators on the wire."""

import json
from collections.abc import Iterator

import pytest

from functions.ingest import pipeline
from shared.models import DocumentStatus
from tests.support.ingest import Stack, ingest_stack, pdf_of


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


FERMENTATION = "Sourdough rises because wild yeast and lactic acid bacteria ferment the flour over night."
GLACIERS = "Glaciers move downhill under their own weight and carve valleys shaped like the letter U."


def test_a_pdf_put_into_the_bucket_becomes_ready_with_page_and_title(stack: Stack) -> None:
    key = "uploads/acme/bread and butter.pdf"
    stack.put(key, pdf_of([FERMENTATION, GLACIERS], title="On Bread"))
    assert stack.deliver(key) == []
    document = stack.document(key)
    assert (document.status, document.title, document.page_count) == (DocumentStatus.READY, "On Bread", 2)
    assert document.error is None
    vectors = stack.vectors("acme", key)
    assert len(vectors) == document.chunk_count > 0
    metadata = vectors[f"{document.document_id}#{document.generation}#0"]
    assert metadata["title"] == "On Bread"
    assert "wild yeast" in metadata["text"]
    assert (metadata["page_start"], metadata["source_type"]) == (1, "pdf")


def test_what_an_ingest_cost_is_counted(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    key = "uploads/acme/counted.pdf"
    stack.put(key, pdf_of([FERMENTATION]))
    capsys.readouterr()
    assert stack.deliver(key) == []
    (told,) = (json.loads(line) for line in capsys.readouterr().out.splitlines() if "EmbeddedTokens" in line)
    assert told["EmbeddedTokens"][0] > 10
    assert (told["CostUsd"], told["IngestPublished"]) == ([0.0], [1.0])  # the emulator's model has no price


def test_a_document_has_the_language_of_most_of_it_and_each_chunk_its_own(stack: Stack) -> None:
    key = "uploads/acme/two tongues.pdf"
    german = "Der Hund ist in dem Garten, und die Katze liegt auf dem Sofa, weil das Wetter nicht gut ist. " * 3
    english = "The dog is in the garden, and the cat is on the sofa, because the weather is not good. " * 9
    stack.put(key, pdf_of([english, german]))
    assert stack.deliver(key) == []
    assert stack.document(key).language == "en"
    chunks = stack.vectors("acme", key).values()
    assert {chunk["page_start"]: chunk["language"] for chunk in chunks} == {1: "en", 2: "de"}


def test_a_replaced_pdf_leaves_nothing_of_the_old_one(stack: Stack) -> None:
    key = "uploads/acme/replaced.pdf"
    stack.put(key, pdf_of([FERMENTATION]))
    stack.deliver(key)
    before = stack.document(key)
    stack.put(key, pdf_of([GLACIERS]))
    stack.deliver(key)
    after = stack.document(key)
    assert after.generation > before.generation
    texts = [metadata["text"] for metadata in stack.vectors("acme", key).values()]
    assert any("Glaciers" in text for text in texts)
    assert not any("Sourdough" in text for text in texts)


def test_a_deleted_object_leaves_a_tombstone_and_no_vectors(stack: Stack) -> None:
    key = "uploads/acme/deleted.pdf"
    stack.put(key, pdf_of([FERMENTATION]))
    stack.deliver(key)
    assert stack.vectors("acme", key)
    stack.delete(key)
    assert stack.deliver(key, event="ObjectRemoved:DeleteMarkerCreated") == []
    assert stack.document(key).status is DocumentStatus.DELETED
    assert stack.vectors("acme", key) == {}


def test_a_duplicate_event_embeds_nothing_again(stack: Stack) -> None:
    key = "uploads/acme/twice.pdf"
    stack.put(key, pdf_of([FERMENTATION]))
    stack.deliver(key)
    first = stack.document(key)
    stack.deliver(key)
    assert stack.document(key).generation == first.generation
    assert stack.document(key).status is DocumentStatus.READY


def test_a_text_file_named_pdf_fails_with_a_reason_alone_in_its_batch(stack: Stack) -> None:
    bad, good = "uploads/acme/notes.pdf", "uploads/acme/beside.pdf"
    stack.put(bad, b"just some notes, no PDF at all")
    stack.put(good, pdf_of([GLACIERS]))
    assert stack.deliver(bad, good) == []
    failed = stack.document(bad)
    assert failed.status is DocumentStatus.FAILED
    assert failed.error is not None
    assert failed.error.message
    assert stack.document(good).status is DocumentStatus.READY


def test_replacing_a_good_pdf_by_rubbish_unpublishes_it(stack: Stack) -> None:
    key = "uploads/acme/broken-later.pdf"
    stack.put(key, pdf_of([FERMENTATION]))
    stack.deliver(key)
    stack.put(key, b"rubbish")
    stack.deliver(key)
    document = stack.document(key)
    assert (document.status, document.generation) == (DocumentStatus.FAILED, "")
    assert stack.vectors("acme", key) == {}


def test_another_kind_of_file_is_refused_with_what_to_do(stack: Stack) -> None:
    key = "uploads/acme/slides.pptx"
    stack.put(key, b"PK")
    stack.deliver(key)
    document = stack.document(key)
    assert document.error is not None
    assert (document.status, document.error.code) == (DocumentStatus.FAILED, "UNSUPPORTED_TYPE")


def test_the_bare_s3_event_of_sam_local_invoke_does_the_same(stack: Stack) -> None:
    key = "uploads/acme/bare.pdf"
    stack.put(key, pdf_of([GLACIERS]))
    assert stack.invoke(stack.s3_event(key)) == {"batchItemFailures": []}
    assert stack.document(key).status is DocumentStatus.READY


def test_the_same_path_of_two_tenants_is_two_documents(stack: Stack) -> None:
    for tenant, text in (("red", FERMENTATION), ("blue", GLACIERS)):
        stack.put(f"uploads/{tenant}/same.pdf", pdf_of([text]))
        stack.deliver(f"uploads/{tenant}/same.pdf")
    red = [m["text"] for m in stack.vectors("red", "uploads/red/same.pdf").values()]
    blue = [m["text"] for m in stack.vectors("blue", "uploads/blue/same.pdf").values()]
    assert len(red) == len(blue) == 1
    assert "Sourdough" in red[0]
    assert "Glaciers" in blue[0]
    assert stack.vectors("red", "uploads/blue/same.pdf") == {}


def test_unreadable_messages_are_consumed_and_the_others_processed(stack: Stack) -> None:
    key = "uploads/acme/after-rubbish.pdf"
    stack.put(key, pdf_of([GLACIERS]))
    records = [stack.message("not json"), stack.message(json.dumps({"Event": "s3:TestEvent"})), stack.message_for(key)]
    assert stack.invoke({"Records": records}) == {"batchItemFailures": []}
    assert stack.document(key).status is DocumentStatus.READY


def test_a_glossary_is_never_ingested(stack: Stack) -> None:
    key = "glossary/acme/terms.json"
    stack.put(key, b'[{"term": "PTO", "means": "leave"}]')
    assert stack.deliver(key) == []
    assert stack.find(key) is None
    assert stack.vectors("acme", key) == {}


def test_what_is_too_large_for_the_index_loses_its_rectangles_and_not_its_text(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "uploads/acme/rects-1.pdf", "uploads/acme/rects-2.pdf"
    data = pdf_of(["The ferry to the island leaves at seven, nine and eleven o'clock."])
    stack.put(first, data)
    stack.deliver(first)
    (whole,) = stack.vectors("acme", first).values()
    assert whole["rects"].startswith("1|")
    size = len(json.dumps(whole, ensure_ascii=False).encode())
    monkeypatch.setattr(pipeline, "MAX_METADATA_BYTES", size - len(whole["rects"]) // 2)
    stack.put(second, data)
    stack.deliver(second)
    (cut,) = stack.vectors("acme", second).values()
    assert "rects" not in cut
    assert cut["text"] == whole["text"]
