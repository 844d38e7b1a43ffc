"""The registry read whole: every tenant and document, and those that nobody finishes."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentRegistry, DynamoDocumentScan
from shared.models import Document, DocumentError, DocumentStatus, document_id_of
from tests.support.clock import FakeClock
from tests.support.moto_aws import MockedAws, mocked_aws

BEGAN = 1_767_225_600.0


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockedAws]:
    with mocked_aws(monkeypatch) as made:
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def ingest(aws: MockedAws, clock: FakeClock, key: str) -> None:
    tenant = key.split("/")[1]
    document_id = document_id_of(tenant, key)
    document = Document(
        tenant, document_id, key, DocumentStatus.READY, title="T", etag="e", generation="G1", chunk_count=1
    )
    lease = DynamoDocumentFence(aws.dynamodb, aws.documents_table, clock).lease(
        tenant, document_id, owner="m/1", lease_s=60
    )
    lease.claim(key, sequencer="")
    assert lease.publish(replace(document, updated_at="2026-01-01T00:00:00+00:00"))
    assert lease.release()


def test_tenants_and_documents_are_read_whole(aws: MockedAws, clock: FakeClock):
    scan = DynamoDocumentScan(aws.dynamodb, aws.documents_table, clock)
    assert scan.tenants() == set()
    for key in ("uploads/acme/a.pdf", "uploads/acme/b.pdf", "faq/rival/q.json"):
        ingest(aws, clock, key)
    assert scan.tenants() == {"acme", "rival"}
    assert {(each.document.key, each.leased) for each in scan.of("acme")} == {
        ("uploads/acme/a.pdf", False),
        ("uploads/acme/b.pdf", False),
    }
    entries = {each.key: each for each in scan.entries("acme")}
    first = entries["uploads/acme/a.pdf"]
    assert (first.status, first.etag, first.leased_until, first.change_pending, first.attempt_error) == (
        *(DocumentStatus.READY, "e", 0.0, False, ""),
    )
    assert first.updated_at == BEGAN
    assert list(scan.entries("nobody")) == []


def test_what_a_worker_has_or_left_is_told(aws: MockedAws, clock: FakeClock):
    key = "uploads/acme/a.pdf"
    fence = DynamoDocumentFence(aws.dynamodb, aws.documents_table, clock)
    lease = fence.lease("acme", document_id_of("acme", key), owner="m/1", lease_s=60)
    lease.claim(key, sequencer="")
    scan = DynamoDocumentScan(aws.dynamodb, aws.documents_table, clock)
    (entry,) = scan.entries("acme")
    assert (entry.status, entry.leased_until) == (DocumentStatus.PROCESSING, BEGAN + 60)
    fence.lease("acme", document_id_of("acme", key), owner="n/1", lease_s=60).claim(key, sequencer="")
    (entry,) = scan.entries("acme")
    assert entry.change_pending is True
    lease.release(DocumentStatus.PROCESSING, DocumentError("BUSY", "x"))
    (entry,) = scan.entries("acme")
    assert (entry.leased_until, entry.attempt_error) == (0.0, "BUSY")


def test_unfinished_documents_are_found_once_nobody_has_been_at_them_for_long(aws: MockedAws, clock: FakeClock):
    scan = DynamoDocumentScan(aws.dynamodb, aws.documents_table, clock)
    ingest(aws, clock, "uploads/acme/done.pdf")
    ingest(aws, clock, "uploads/acme/pending.pdf")
    ingest(aws, clock, "uploads/acme/reading.pdf")
    registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, clock)
    assert registry.unpublish("acme", document_id_of("acme", "uploads/acme/pending.pdf"))
    fence = DynamoDocumentFence(aws.dynamodb, aws.documents_table, clock)
    document_id = document_id_of("acme", "uploads/acme/reading.pdf")
    fence.lease("acme", document_id, owner="m/2", lease_s=60).claim("uploads/acme/reading.pdf", sequencer="")

    def stalled() -> list[str]:
        return sorted(each.key.rpartition("/")[2] for each in scan.stalled(quiet_s=100))

    clock.advance(100)
    assert stalled() == []
    clock.advance(1)
    assert stalled() == ["pending.pdf"]
    clock.advance(60)
    assert stalled() == ["pending.pdf", "reading.pdf"]


@pytest.mark.parametrize(("written", "is_stalled"), [({}, False), ({"G1": 1}, False), ({"G1": 1, "G0": 4}, True)])
def test_vectors_of_a_generation_that_is_not_published_are_left_to_sweep(
    aws: MockedAws, clock: FakeClock, written: dict[str, int], *, is_stalled: bool
):
    ingest(aws, clock, "uploads/acme/a.pdf")
    aws.dynamodb.update_item(
        TableName=aws.documents_table,
        Key={"pk": {"S": "TENANT#acme"}, "sk": {"S": f"DOC#{document_id_of('acme', 'uploads/acme/a.pdf')}"}},
        UpdateExpression="SET generations = :written",
        ExpressionAttributeValues={":written": {"M": {name: {"N": str(count)} for name, count in written.items()}}},
    )
    clock.advance(1_000)
    scan = DynamoDocumentScan(aws.dynamodb, aws.documents_table, clock)
    assert bool(list(scan.stalled(quiet_s=100))) is is_stalled
