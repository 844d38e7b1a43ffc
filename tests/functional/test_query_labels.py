"""Labels of documents: set by editors, found by filters, kept when the document is replaced or indexed again."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from functions.ingest import bootstrap as ingest_bootstrap
from functions.ingest.changes import ChangeNotification, unpack
from functions.query import bootstrap
from functions.query.api.documents import LabelsIn
from shared.adapters.aws import SystemClock
from shared.adapters.document_registry import DynamoDocumentScan
from shared.models import DocumentStatus
from tests.support.ingest import Stack, lambda_record, pdf_of
from tests.support.query_stack import call, calls_of, forget_calls, query_stack

QUESTION = "What colour is the door of the boat shed?"
numbers = itertools.count()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("labels")) as made:
        yield made


@pytest.fixture
def key(stack: Stack) -> str:
    """A document of its own."""
    key = f"uploads/acme/shed-{next(numbers)}.pdf"
    stack.put(key, pdf_of([f"The door of the boat shed is green. {key}"], title="Boat shed"))
    stack.deliver(key)
    return key


def label(stack: Stack, key: str, **labels: Any) -> dict[str, Any]:
    status, body, _ = call("PATCH", f"/documents/{stack.document(key).document_id}", {"labels": labels})
    assert status == 200, body
    return dict(body["labels"])


def deliver_changes(stack: Stack) -> list[ChangeNotification]:
    """Deliver what the API has sent to the queue; return the changes."""
    changes: list[ChangeNotification] = []
    while messages := stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url).get("Messages"):
        event = {"Records": [lambda_record(messages[0])]}
        changes += [change for delivery in unpack(event, request_id="r") for change in delivery.changes]
        assert stack.invoke(event)["batchItemFailures"] == []
        stack.aws.sqs.delete_message(QueueUrl=stack.aws.queue_url, ReceiptHandle=messages[0]["ReceiptHandle"])
    return changes


def found_by(**wanted: Any) -> set[str]:
    status, found, _ = call("POST", "/search", {"question": QUESTION, "filter": wanted, "limit": 50})
    assert status == 200, found
    return {each["document_id"] for each in found["passages"]}


def test_a_label_is_found_by_filters_and_costs_no_embedding(stack: Stack, key: str):
    document = stack.document(key)
    forget_calls(stack)
    tag = f"tag-{document.document_id}"
    labels = label(stack, key, chapter="Boats", tags=[tag, "harbour"])
    assert set(labels) == set(LabelsIn.model_fields)
    assert {name: value for name, value in labels.items() if value} == {"chapter": "Boats", "tags": [tag, "harbour"]}
    assert found_by(tags=tag) == set(), "the vectors are made anew by ingest"
    calls = calls_of(stack, stack.openai_url, "/v1/embeddings")
    assert [change.key for change in deliver_changes(stack)] == [key]
    assert calls_of(stack, stack.openai_url, "/v1/embeddings") == calls
    assert found_by(tags=tag) == found_by(**{"$and": [{"tags": tag}, {"chapter": "Boats"}]}) == {document.document_id}
    after = stack.document(key)
    assert after.generation != document.generation
    assert (after.status, after.version_id) == (DocumentStatus.READY, document.version_id)
    assert label(stack, key, chapter=None, phase="planned")["tags"] == [tag, "harbour"]
    deliver_changes(stack)
    assert found_by(tags=tag, chapter="Boats") == set()
    assert found_by(tags=tag, phase="planned") == {document.document_id}


def test_labels_stay_when_the_document_is_replaced_and_go_with_it(stack: Stack, key: str):
    document_id = stack.document(key).document_id
    label(stack, key, goal=key)
    deliver_changes(stack)
    stack.put(key, pdf_of(["The door of the boat shed is blue now."], title="Boat shed"))
    stack.deliver(key)
    assert found_by(goal=key) == {document_id}
    stack.delete(key)
    stack.deliver(key, event="ObjectRemoved:Delete")
    stack.put(key, pdf_of(["The door of the boat shed is red."], title="Boat shed"))
    stack.deliver(key)
    assert stack.document(key).labels == {}
    assert found_by(goal={"$in": [key]}) == set()


def test_labels_are_in_the_new_index_version_of_a_reindex_too(stack: Stack):
    key = "uploads/again/shed.pdf"
    stack.put(key, pdf_of(["The door of the boat shed is white."], title="Boat shed"))
    stack.deliver(key)
    document_id = stack.document(key).document_id
    path = f"/documents/{document_id}"
    assert call("PATCH", path, {"labels": {"type": "shed"}}, tenant="again")[0] == 200
    deliver_changes(stack)
    steps = ingest_bootstrap.reindexer()
    steps.start("again")
    deliver_changes(stack)
    assert call("PATCH", path, {"labels": {"phase": "two"}}, tenant="again")[0] == 200
    deliver_changes(stack)
    steps.switch("again")
    bootstrap.reset()  # a container remembers the pointer for five seconds
    wanted = {"question": QUESTION, "filter": {"type": "shed", "phase": "two"}}
    found = call("POST", "/search", wanted, tenant="again")[1]
    assert {each["document_id"] for each in found["passages"]} == {document_id}


def test_a_label_set_while_the_document_is_ingested_is_not_lost(stack: Stack, key: str):
    """The worker has read the old labels; the change that is pending makes it look again."""
    label(stack, key, type="first")
    assert "pending_sequencer" in item_of(stack, key), "maintenance would find it, were the notification lost"
    stalled = DynamoDocumentScan(stack.aws.dynamodb, stack.aws.documents_table, SystemClock()).stalled(quiet_s=-3_600)
    assert key in {each.key for each in stalled}
    deliver_changes(stack)
    assert "pending_sequencer" not in item_of(stack, key)
    assert deliver_changes(stack) == []


def item_of(stack: Stack, key: str) -> dict[str, Any]:
    name = {"pk": {"S": "TENANT#acme"}, "sk": {"S": f"DOC#{stack.document(key).document_id}"}}
    return dict(stack.aws.dynamodb.get_item(TableName=stack.aws.documents_table, Key=name)["Item"])


def test_an_announced_upload_is_labelled_before_it_arrives(stack: Stack):
    announced = call("POST", "/documents", {"filename": "coming.pdf"})[1]
    path, key = f"/documents/{announced['document_id']}", announced["key"]
    assert call("PATCH", path, {"labels": {"type": "coming"}})[0] == 200
    assert deliver_changes(stack) == []
    assert call("GET", path)[1]["status"] == "PENDING"
    stack.put(key, pdf_of(["The door of the boat shed is coming."]))
    stack.deliver(key)
    assert found_by(type="coming") == {announced["document_id"]}


@pytest.mark.parametrize(
    "labels", [{"colour": "red"}, {"type": 7}, {"type": "x" * 201}, {"tags": [""]}, {"tags": ["x"] * 21}, "none"]
)
def test_what_is_no_label_is_refused(stack: Stack, key: str, labels: Any):
    path = f"/documents/{stack.document(key).document_id}"
    assert call("PATCH", path, json.dumps({"labels": labels}))[0] == 400
    assert call("PATCH", path, {"labels": {"type": "x"}}, groups="reader")[0] == 403
    assert call("PATCH", path, {"labels": {"type": "x"}}, tenant="other")[0] == 404


def test_an_identity_card_is_found_shown_filtered_and_corrected_by_labels(stack: Stack) -> None:
    key = "uploads/acme/p70.pdf"
    stack.put(key, pdf_of(["The door of the boat shed is green."], title="Plum press P70 user manual 2021"))
    stack.deliver(key)
    document_id = stack.document(key).document_id

    def listed(**wanted: str) -> list[str]:
        status, page, _ = call("GET", "/documents", params=wanted)
        assert status == 200, page
        return [each["document_id"] for each in page["documents"]]

    def card() -> dict[str, Any]:
        return dict(call("GET", f"/documents/{document_id}")[1]["identity"])

    shown = {"organisation": [], "author": [], "kind": "user manual", "period": ["2021"], "date": "", "version": ""}
    assert card() == shown | {"product": "Plum press P70 2021"}
    assert found_by(kind="user manual", period="2021") == {document_id}
    assert listed(kind="Manual", period="2021", language="en") == [document_id]
    assert listed(kind="brochure") == listed(organisation="plum") == []

    label(stack, key, kind="handbook", organisation=["Plum Presses UAB"])
    deliver_changes(stack)
    assert card()["kind"] == "handbook"
    assert found_by(kind="handbook", organisation="Plum Presses UAB") == {document_id}
    assert found_by(kind="user manual") == set()
    assert listed(kind="handbook", organisation="plum presses") == [document_id]

    label(stack, key, kind=None)
    deliver_changes(stack)
    assert card()["kind"] == "user manual"
    assert found_by(kind="user manual") == {document_id}
