"""Faults on the wire, between the real clients and the emulators."""

from collections.abc import Iterator

import pytest

from shared.models import DocumentStatus
from tests.support.ingest import Stack, ingest_stack, pdf_of, prose


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as made:
        yield made


@pytest.fixture
def stack(running: Stack) -> Iterator[Stack]:
    yield running
    for base in (running.openai_url.removesuffix("/v1"), running.pinecone_url):
        running.http.delete(f"{base}/_admin/faults").raise_for_status()


PDF = pdf_of([prose("Fault", sentences=6, seed=n) for n in range(2)])


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("busy", {"route": "/v1/embeddings", "kind": "status", "status": 429, "headers": {"retry-after": "0"}}),
        ("broken", {"route": "/v1/embeddings", "kind": "status", "status": 500}),
        ("reset", {"route": "/v1/embeddings", "kind": "reset"}),
        ("truncated", {"route": "/v1/embeddings", "kind": "truncate"}),
    ],
)
def test_a_passing_fault_of_the_model_api_is_waited_out(stack: Stack, name: str, fault: dict[str, object]) -> None:
    key = f"uploads/wire/{name}.pdf"
    stack.put(key, PDF)
    stack.faults(stack.openai_url, **fault, count=1)
    assert stack.deliver(key) == []
    assert stack.document(key).status is DocumentStatus.READY


@pytest.mark.parametrize("kind", ["status", "reset", "truncate"])
def test_a_passing_fault_of_the_index_is_waited_out(stack: Stack, kind: str) -> None:
    key = f"uploads/wire/index-{kind}.pdf"
    stack.put(key, PDF)
    stack.faults(stack.pinecone_url, route="/vectors/upsert", kind=kind, status=503, count=1)
    assert stack.deliver(key) == []
    document = stack.document(key)
    assert document.status is DocumentStatus.READY
    assert len(stack.vectors("wire", key)) == document.chunk_count


def test_a_provider_out_of_quota_fails_the_document_with_what_to_do_and_spares_the_others(stack: Stack) -> None:
    first, second = "uploads/wire/quota.pdf", "uploads/wire/after-quota.pdf"
    stack.put(first, PDF)
    stack.put(second, PDF)
    body = {
        "error": {
            "message": "You exceeded your current quota",
            "type": "insufficient_quota",
            "code": "insufficient_quota",
        }
    }
    stack.faults(stack.openai_url, route="/v1/embeddings", kind="status", status=429, body=body, count=1)
    assert stack.deliver(first, second) == [first]
    failed = stack.document(first)
    assert failed.error is not None
    assert (failed.status, failed.error.code) == (DocumentStatus.FAILED, "QUOTA_EXHAUSTED")
    assert "make redrive" in failed.error.message
    assert stack.document(second).status is DocumentStatus.READY
    assert stack.deliver(first, receives=2) == []
    assert stack.document(first).status is DocumentStatus.READY
    assert stack.document(first).error is None
