"""Events and change notifications, read whatever their form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.changes import MAX_WAITS, ChangeNotification, PagesRequest, change_body, document_ref_of, unpack
from shared.models import SourceType, document_id_of


def s3_event(key: str) -> dict[str, Any]:
    return {"Records": [{"eventSource": "aws:s3", "s3": {"object": {"key": key, "sequencer": "0A"}}}]}


def sqs_record(body: str, **attributes: str) -> dict[str, Any]:
    return {
        "eventSource": "aws:sqs", "messageId": "m1", "receiptHandle": "r1", "body": body, "attributes": attributes
    }  # fmt: skip


def test_keys_are_decoded_as_s3_encodes_them() -> None:
    (delivery,) = unpack(s3_event("uploads/t/a+b%2Bc+%C3%BC.pdf"), request_id="q")
    assert delivery.changes == [ChangeNotification("uploads/t/a b+c ü.pdf", "0A")]
    assert (delivery.message_id, delivery.receipt_handle, delivery.problem) == ("q", "", "")


def test_an_sqs_record_brings_its_message_with_it() -> None:
    event = {"Records": [sqs_record(json.dumps(s3_event("uploads/t/a.pdf")), ApproximateReceiveCount="3")]}
    (delivery,) = unpack(event, request_id="q")
    assert (delivery.message_id, delivery.receipt_handle, delivery.receives) == ("m1", "r1", 3)
    assert [change.key for change in delivery.changes] == ["uploads/t/a.pdf"]


def test_s3s_test_event_is_nothing_to_do() -> None:
    body = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b"})
    (delivery,) = unpack({"Records": [sqs_record(body)]}, request_id="q")
    assert (list(delivery.changes), delivery.problem) == ([], "")


@given(key=st.text(min_size=1), done=st.integers(-1, 10**6), waits=st.integers(0, MAX_WAITS))
def test_our_own_changes_come_back_as_they_were_sent(key: str, done: int, waits: int) -> None:
    (delivery,) = unpack({"Records": [sqs_record(change_body(key, chunks_done=done, waits=waits))]}, request_id="q")
    assert delivery.changes == [ChangeNotification(key, chunks_done=done, waits=waits)]
    assert delivery.changes[0].may_wait is (waits < MAX_WAITS)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no json",
        "[]",
        "null",
        "7",
        "{}",
        '{"Records": [{}]}',
        '{"recto": "change"}',
        '{"Records": 3}',
        "[" * 200_000,
    ],
    ids=lambda body: body[:20],
)
def test_an_unreadable_body_fails_alone(body: str) -> None:
    good = sqs_record(change_body("uploads/t/a.pdf"))
    bad, after = unpack({"Records": [sqs_record(body), good]}, request_id="q")
    assert bad.problem
    assert not bad.changes
    assert not after.problem


def test_a_key_gives_tenant_document_and_source_type() -> None:
    subject = document_ref_of("uploads/acme/reports/2026/a.pdf")
    assert subject is not None
    assert (subject.tenant, subject.source_type, subject.file_name) == ("acme", SourceType.PDF, "a.pdf")
    assert subject.document_id == document_id_of("acme", "uploads/acme/reports/2026/a.pdf")


@pytest.mark.parametrize(
    "key",
    [
        "a.pdf",
        "uploads/a.pdf",
        "uploads//a.pdf",
        "uploads/acme/",
        "uploads/acme/folder/",
        "logs/acme/a.pdf",
        "glossary/acme.json",
        "glossary/acme/terms.json",
        "",
    ],
)
def test_other_keys_are_no_documents(key: str) -> None:
    assert document_ref_of(key) is None


@pytest.mark.parametrize(
    ("changed", "pages"),
    [
        ({}, (1, 12)),
        ({"pages": []}, ()),
        ({"pages": [0]}, None),
        ({"pages": [1, -1]}, None),
        ({"pages": [1, "2"]}, None),
        ({"recto": "describe"}, None),
        ({"version_id": None}, None),
    ],
)
def test_pages_are_asked_for_by_their_numbers_from_one(changed: dict[str, Any], pages: tuple[int, ...] | None) -> None:
    sent = json.loads(PagesRequest("read", "uploads/acme/a.pdf", "v1", (1, 12)).body)
    read = PagesRequest.of("read", sent | changed)
    assert (read and read.pages) == pages
