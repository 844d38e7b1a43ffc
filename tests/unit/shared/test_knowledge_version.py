"""A tenant's knowledge version changes with all that changes what is found, and with nothing else of the tenant's."""

from collections.abc import Iterator
from functools import partial

import pytest

from shared.adapters.document_fence import DynamoDocumentFence, DynamoDocumentLease
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.index_versions import MARK_S, DynamoIndexVersions, configured_index_version, read_knowledge
from shared.models import Document, DocumentError, DocumentStatus
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.moto_aws import MockedAws, mocked_aws


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockedAws]:
    with mocked_aws(monkeypatch) as mocked:
        yield mocked


@pytest.fixture
def index_versions(aws: MockedAws) -> DynamoIndexVersions:
    return DynamoIndexVersions(
        aws.dynamodb, aws.documents_table, FakeClock(), partial(configured_index_version, Settings())
    )


@pytest.fixture
def lease(aws: MockedAws) -> DynamoDocumentLease:
    fence = DynamoDocumentFence(aws.dynamodb, aws.documents_table, FakeClock())
    return fence.lease("acme", "d", owner="message/1", lease_s=60)


def document(generation: str = "G1") -> Document:
    return Document("acme", "d", "uploads/acme/d.pdf", DocumentStatus.READY, generation=generation)


def claim(lease: DynamoDocumentLease) -> bool:
    """Take the document; return whether a change of it is not counted yet."""
    return lease.claim("uploads/acme/d.pdf", sequencer="").uncounted_change


def test_every_change_makes_a_version_that_was_never_there(index_versions: DynamoIndexVersions) -> None:
    seen = [index_versions.knowledge("acme").version]
    for _ in range(3):
        index_versions.count_change("acme")
        seen.append(index_versions.knowledge("acme").version)
    before = index_versions.of("acme")
    seen.append(index_versions.knowledge("acme").version)
    assert index_versions.save(before._replace(other=configured_index_version(Settings(), "acme", 2)))
    seen.append(index_versions.knowledge("acme").version)
    index_versions.count_change("acme")
    seen.append(index_versions.knowledge("acme").version)
    assert index_versions.save(index_versions.of("acme")._replace(other=None))
    seen.append(index_versions.knowledge("acme").version)
    assert len(set(seen)) == len(seen)


def test_a_change_that_is_counted_before_there_is_a_pointer_keeps_none_from_being_made(
    index_versions: DynamoIndexVersions,
) -> None:
    index_versions.count_change("acme")
    assert index_versions.current("acme").number == 1
    assert index_versions.of("acme").revision == 1
    assert index_versions.of("acme").other is None


def test_tenants_count_for_themselves(index_versions: DynamoIndexVersions) -> None:
    index_versions.count_change("acme")
    assert index_versions.knowledge("beta").version == "0.0"


def test_what_is_read_is_never_an_old_version(aws: MockedAws, index_versions: DynamoIndexVersions) -> None:
    asked = []
    aws.dynamodb.meta.events.register(
        "before-parameter-build.dynamodb.GetItem", lambda params, **_: asked.append(params["ConsistentRead"])
    )
    index_versions.knowledge("acme")
    index_versions.knowledge("acme")
    assert asked == [True, True]


def test_a_document_is_marked_from_before_its_change_until_it_is_counted(
    aws: MockedAws, index_versions: DynamoIndexVersions
) -> None:
    def changing() -> frozenset[str]:
        return read_knowledge(aws.dynamodb, aws.documents_table, "acme").changing

    one, other = index_versions.begin_change("acme", "d1"), index_versions.begin_change("acme", "d2")
    again = index_versions.begin_change("acme", "d1")
    assert changing() == {"d1", "d2"}
    index_versions.end_change("acme", one)
    assert changing() == {"d1", "d2"}, "another change of the same document is under way"
    index_versions.end_change("acme", again)
    assert changing() == {"d2"}
    index_versions.end_change("acme", other)
    assert changing() == set()


def test_the_mark_of_a_worker_that_died_a_day_ago_is_removed_with_the_next(aws: MockedAws) -> None:
    clock = FakeClock()
    versions = DynamoIndexVersions(
        aws.dynamodb, aws.documents_table, clock, partial(configured_index_version, Settings())
    )
    versions.begin_change("acme", "dead")
    clock.advance(MARK_S)
    young = versions.begin_change("acme", "young")
    assert len(young) == 1
    clock.advance(1)
    versions.end_change("acme", versions.begin_change("acme", "d"))
    assert read_knowledge(aws.dynamodb, aws.documents_table, "acme").changing == {"young"}


def test_unpublishing_is_counted_at_once(
    aws: MockedAws, index_versions: DynamoIndexVersions, lease: DynamoDocumentLease
) -> None:
    claim(lease)
    lease.publish(document())
    before = index_versions.knowledge("acme").version
    DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, FakeClock()).unpublish("acme", "d")
    assert index_versions.knowledge("acme").version != before


@pytest.mark.parametrize("change", ["publish", "publish_other", "fail", "tombstone", "unpublish"])
def test_a_change_whose_worker_died_is_news_for_the_next_until_one_has_settled_it(
    change: str, aws: MockedAws, lease: DynamoDocumentLease
) -> None:
    assert not claim(lease)
    match change:
        case "publish":
            lease.publish(document())
        case "publish_other":
            lease.publish_other(document())
        case "fail":
            lease.fail(document(), DocumentError("X", "x"), DocumentStatus.FAILED)
        case "tombstone":
            lease.tombstone()
        case _:
            DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, FakeClock()).unpublish("acme", "d")
            lease.take_pending_change()
    assert claim(lease)
    lease.release(DocumentStatus.PROCESSING)
    assert claim(lease), "a worker that let go after trouble does not show that it was counted"
    assert lease.release()
    assert not claim(lease)
