"""What a question reads of the documents table, counted at the wire, and that a warm container forgets in time."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.client import BaseClient

from functions.query.api.documents import erase
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.s3 import S3Objects
from tests.support.clock import FakeClock
from tests.support.ingest import Stack, pdf_of
from tests.support.query_stack import HANDBOOK, LENS, call, query_stack

OTHER = "uploads/acme/harbour.pdf"
TURN = "How often is the harbour crane of Orsk greased?"


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    with query_stack(monkeypatch, tmp_path_factory.mktemp("reads"), ANSWER_CACHE_TTL_S="0") as made:
        yield made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> Counter[str]:
    """Count the reads of the documents table by operation; for a batch, by key too."""
    counted: Counter[str] = Counter()
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call_api(self: BaseClient, operation: str, request: Any) -> Any:
        table = stack.aws.documents_table
        if request.get("TableName") == table or table in request.get("RequestItems", {}):
            counted[operation] += 1
            counted["keys"] += len(request.get("RequestItems", {}).get(table, {}).get("Keys", ()))
        return real(self, operation, request)

    monkeypatch.setattr(BaseClient, "_make_api_call", call_api)
    return counted


def ask(question: str = LENS) -> dict[str, Any]:
    status, answer, _ = call("POST", "/query", {"question": question})
    assert status == 200
    return answer


def test_the_second_question_to_an_unchanged_collection_reads_one_small_item(
    stack: Stack, reads: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask()["citations"]
    assert (reads["GetItem"], reads["BatchGetItem"], reads["keys"]) == (2, 1, 1)  # one is the pointer, held for 5 s
    monkeypatch.setattr("shared.adapters.index_versions.MAX_AGE_S", 60.0)
    reads.clear()
    assert ask()["citations"]
    assert reads == {"GetItem": 1, "keys": 0}


def test_what_another_container_deletes_or_publishes_is_known_at_the_next_question(stack: Stack) -> None:
    assert ask()["citations"]
    assert ask(TURN)["no_relevant_info"]
    stack.put(OTHER, pdf_of(["The harbour crane of Orsk is greased every Monday."], title="Orsk Harbour"))
    assert stack.deliver(OTHER) == []
    assert ask(TURN)["citations"][0]["document_id"] == stack.document(OTHER).document_id
    stack.put(OTHER, pdf_of(["The harbour crane of Orsk is greased every Friday."], title="Orsk Harbour"))
    assert stack.deliver(OTHER) == []
    assert "Friday" in ask(TURN)["answer"]
    elsewhere = DynamoDocumentRegistry(stack.aws.dynamodb, stack.aws.documents_table, FakeClock())
    objects = S3Objects(stack.aws.s3, stack.aws.bucket)
    assert erase("acme", stack.document(HANDBOOK).document_id, elsewhere, objects)
    assert ask()["no_relevant_info"]
