"""The registry as the API uses it."""

import gzip
import json
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

from functions.query.api.documents import erase
from functions.query.ports import ObjectStore
from shared.access import AccessRule, FolderRules, folder_rules_json, rules_key
from shared.adapters import document_registry, folder_rules
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.folder_rules import DynamoFolderRules
from shared.adapters.index_versions import begin_change
from shared.adapters.retry import Retry
from shared.adapters.s3 import S3Objects
from shared.deadline import CURRENT, Deadline
from shared.errors import DependencyRefused, DependencyUnavailable, InvalidRequest, RateLimited
from shared.models import Document, DocumentError, DocumentStatus
from shared.ports import DocumentFilter
from tests.support.clock import FakeClock
from tests.support.generations import generations
from tests.support.moto_aws import MockedAws


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def registry(aws: MockedAws, clock: FakeClock) -> DynamoDocumentRegistry:
    return DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, clock)


@pytest.fixture
def fence(aws: MockedAws, clock: FakeClock) -> DynamoDocumentFence:
    return DynamoDocumentFence(aws.dynamodb, aws.documents_table, clock)


def promised(tenant: str, document_id: str) -> Document:
    key = f"uploads/{tenant}/{document_id}.pdf"
    return Document(tenant, document_id, key, DocumentStatus.PENDING, title="T", labels={"department_id": "7"})


def ingest(
    fence: DynamoDocumentFence, tenant: str, document_id: str, generation: str = "G1", version_id: str = "v1"
) -> None:
    document = replace(promised(tenant, document_id), version_id=version_id)
    lease = fence.lease(tenant, document_id, owner="m/1", lease_s=60)
    lease.claim(document.key, sequencer="")
    ready = replace(document, status=DocumentStatus.READY, generation=generation, chunk_count=1)
    assert lease.publish(ready)
    assert lease.release()


def delete(fence: DynamoDocumentFence, tenant: str, document_id: str) -> None:
    lease = fence.lease(tenant, document_id, owner="m/1", lease_s=60)
    lease.claim(promised(tenant, document_id).key, sequencer="")
    lease.tombstone()
    lease.release()


def test_an_unknown_document_is_none(registry: DynamoDocumentRegistry) -> None:
    assert registry.get("acme", "nobody") is None
    assert registry.unpublish("acme", "nobody") is None


def test_an_announcement_shows_as_pending_until_it_runs_out(registry: DynamoDocumentRegistry, clock: FakeClock) -> None:
    registry.announce(promised("t1", "a"), expires_s=900)
    found = registry.get("t1", "a")
    assert found is not None
    assert (found.status, found.title, found.labels) == (DocumentStatus.PENDING, "T", {"department_id": "7"})
    clock.advance(901)
    assert registry.get("t1", "a") is None
    assert registry.list("t1", limit=10).documents == []
    assert registry.announce(promised("t1", "a"), expires_s=900).status is DocumentStatus.PENDING


def test_announcing_a_document_that_is_there_leaves_it_as_it_is(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    ingest(fence, "t2", "a")
    assert registry.announce(promised("t2", "a"), expires_s=900).status is DocumentStatus.READY
    assert generations(registry, "t2", ["a"]) == {"a": "G1"}


def test_a_tombstone_makes_room_for_a_new_announcement(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    ingest(fence, "t3", "a")
    delete(fence, "t3", "a")
    assert registry.unpublish("t3", "a") is None
    assert registry.announce(promised("t3", "a"), expires_s=900).status is DocumentStatus.PENDING


def test_what_is_ingested_while_it_is_erased_is_answered_from_no_more(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    ingest(fence, "t11", "a")
    delete(fence, "t11", "a")

    class UploadedAgain:
        """The bucket, in which the object has come back; ingest publishes it a moment before it is gone."""

        def delete_all_versions(self, key: str) -> int:
            assert key == "uploads/t11/a.pdf"
            ingest(fence, "t11", "a", "G2")
            return 1

    assert erase("t11", "a", registry, cast("ObjectStore", UploadedAgain())) is DocumentStatus.DELETING
    assert generations(registry, "t11", ["a"]) == {}


def test_an_announced_upload_that_arrives_is_no_longer_removed_by_ttl(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence, clock: FakeClock
) -> None:
    registry.announce(promised("t4", "a"), expires_s=900)
    fence.lease("t4", "a", owner="m/1", lease_s=5_000).claim("uploads/t4/a.pdf", sequencer="01")
    clock.advance(901)
    found = registry.get("t4", "a")
    assert found is not None
    assert (found.status, found.labels) == (DocumentStatus.PROCESSING, {"department_id": "7"})


def test_an_unpublished_document_is_answered_from_no_more(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    ingest(fence, "t5", "a")
    ingest(fence, "t5", "b", "G2")
    assert generations(registry, "t5", ["a", "b", "c"]) == {"a": "G1", "b": "G2"}
    gone = registry.unpublish("t5", "a")
    assert gone is not None
    assert (gone.status, gone.generation) == (DocumentStatus.DELETING, "")
    assert generations(registry, "t5", ["a", "b"]) == {"b": "G2"}


def test_the_versions_of_documents_are_read_at_once_and_the_deleted_are_missing(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    for document_id in ("kept", "replaced", "deleting", "deleted", "back"):
        ingest(fence, "t22", document_id)
    ingest(fence, "t22", "replaced", "G2", "v2")
    registry.unpublish("t22", "deleting")
    for document_id in ("deleted", "back"):
        delete(fence, "t22", document_id)
    registry.announce(promised("t22", "back"), expires_s=900)  # announced, not uploaded yet
    assert registry.versions("t22", ["kept", "replaced", "deleting", "deleted", "back", "nobody", "kept"]) == {
        "kept": {"v1"},
        "replaced": {"v2"},
    }
    assert registry.versions("t22", []) == {}


def test_a_document_whose_new_version_is_rejected_has_that_version(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    ingest(fence, "t23", "a")
    lease = fence.lease("t23", "a", owner="m/2", lease_s=60)
    lease.claim("uploads/t23/a.pdf", sequencer="")
    rejected = replace(promised("t23", "a"), version_id="v2")
    assert lease.fail(rejected, DocumentError("DAMAGED", "It is damaged."), DocumentStatus.FAILED)
    assert lease.release()
    assert registry.versions("t23", ["a"]) == {"a": {"v2"}}


def test_more_ids_than_one_batch_read_takes_are_all_answered(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    ids = [f"d{n:03}" for n in range(5)]
    for document_id in ids:
        ingest(fence, "t6", document_id)
    unknown = [f"u{n}" for n in range(200)]
    found = generations(registry, "t6", [*ids, *unknown, *ids])
    assert found == dict.fromkeys(ids, "G1")


def test_a_listing_pages_through_every_document_of_the_tenant_once_the_newest_first(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence, clock: FakeClock
) -> None:
    ids = sorted((f"{n:02}" for n in range(7)), reverse=True)
    for document_id in reversed(ids):
        ingest(fence, "t7", document_id)
        clock.advance(1)
    ingest(fence, "t8", "other")
    seen: list[str] = []
    cursor, pages = "", 0
    while True:
        page = registry.list("t7", limit=3, cursor=cursor)
        seen += [document.document_id for document in page.documents]
        pages += 1
        cursor = page.cursor
        if not cursor:
            break
    assert (seen, pages) == (ids, 3)


def test_a_listing_can_be_narrowed_to_a_status_and_shows_no_tombstones(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    for document_id in ("a", "b", "c"):
        ingest(fence, "t9", document_id)
    registry.unpublish("t9", "b")
    delete(fence, "t9", "c")
    assert {d.document_id for d in registry.list("t9", limit=9).documents} == {"a", "b"}
    deleting = registry.list("t9", DocumentFilter(DocumentStatus.DELETING), limit=1)
    assert [d.document_id for d in deleting.documents] == ["b"]


def test_a_listing_finds_words_of_title_and_file_name_and_nothing_of_the_folders(
    registry: DynamoDocumentRegistry,
) -> None:
    for name, title in (("zasis", "Žąsų ūkio ataskaita 2024"), ("pump", "The Pump: manual")):
        promise = replace(promised("t22", name), title=title, key=f"uploads/t22/secret-folder/{name}-2024.pdf")
        registry.announce(promise, expires_s=900)

    def found(q: str) -> set[str]:
        return {document.document_id for document in registry.list("t22", DocumentFilter(q=q), limit=9).documents}

    assert found("zasu ATASK") == {"zasis"}
    assert found("2024") == {"zasis", "pump"}
    assert found("pump 2024") == {"pump"}
    assert found("secret") == found("pump ataskaita") == set()


def test_a_listing_that_finds_nothing_for_long_goes_on_with_a_cursor(
    aws: MockedAws, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, clock)
    for n in range(6):
        registry.announce(promised("t23", f"d{n}"), expires_s=900)
        clock.advance(1)
    query = aws.dynamodb.query
    monkeypatch.setattr(aws.dynamodb, "query", lambda **asked: query(**{**asked, "Limit": 1}))  # as if items were large
    first = registry.list("t23", DocumentFilter(q="d0"), limit=3)
    assert (first.documents, first.cursor != "") == ([], True)
    second = registry.list("t23", DocumentFilter(q="d0"), limit=3, cursor=first.cursor)
    assert ([each.document_id for each in second.documents], second.cursor) == (["d0"], "")


@pytest.mark.parametrize("cursor", ["###", "Li4vLi4v", "RE9DIw", "é", "YWFh" * 700])
def test_a_made_up_cursor_is_refused(registry: DynamoDocumentRegistry, cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        registry.list("t7", limit=3, cursor=cursor)


def test_a_missing_table_is_the_registrys_fault_by_name(aws: MockedAws, clock: FakeClock) -> None:
    with pytest.raises(DependencyRefused, match="registry"):
        DynamoDocumentRegistry(aws.dynamodb, "no-such-table", clock).get("a", "b")


def test_the_catalogue_names_every_published_document_of_the_tenant_and_no_other(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    for document_id in ("a", "b", "c"):
        ingest(fence, "t12", document_id)
    ingest(fence, "t13", "x")
    registry.announce(promised("t12", "announced"), expires_s=900)
    registry.unpublish("t12", "b")
    delete(fence, "t12", "c")
    (entry,) = registry.catalogue("t12")
    assert (entry.document_id, entry.key, entry.generation) == ("a", "uploads/t12/a.pdf", "G1")
    kept = registry.get("t12", "a")
    assert kept is not None
    assert (entry.page_count, entry.created_at) == (kept.page_count, kept.created_at)
    assert entry.created_at
    assert list(registry.catalogue("t12", index_version=2)) == []


def test_the_catalogue_is_read_page_by_page_to_its_end(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"{n:02}" for n in range(7)]
    for document_id in ids:
        ingest(fence, "t14", document_id)
    read = registry._client.query
    monkeypatch.setattr(registry._client, "query", lambda **request: read(**request, Limit=2))
    assert [entry.document_id for entry in registry.catalogue("t14")] == ids


class Counting:
    """The table, which notes the keys of each batch read; from `busy` of them it leaves the last key unread."""

    def __init__(self, aws: MockedAws, *, busy: int = 0) -> None:
        self.aws = aws
        self.busy = busy
        self.batches: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.aws.dynamodb, name)

    def batch_get_item(self, **request: Any) -> Any:
        (batch,) = request["RequestItems"].values()
        self.batches.append(len(batch["Keys"]))
        if not self.busy:
            return self.aws.dynamodb.batch_get_item(**request)
        self.busy -= 1
        *keys, left = batch["Keys"]
        answer: Any = {"Responses": {}}
        if keys:
            answer = self.aws.dynamodb.batch_get_item(RequestItems={self.aws.documents_table: {**batch, "Keys": keys}})
        return {**answer, "UnprocessedKeys": {self.aws.documents_table: {**batch, "Keys": [left]}}}


def counting(aws: MockedAws, **how: int) -> tuple[Counting, DynamoDocumentRegistry]:
    client = Counting(aws, busy=how.pop("busy", 0))
    return client, DynamoDocumentRegistry(cast("Any", client), aws.documents_table, FakeClock(), **how)


def test_what_was_read_is_not_read_again_until_the_knowledge_version_changes(
    aws: MockedAws, fence: DynamoDocumentFence, clock: FakeClock
) -> None:
    ids = [f"r{n:03}" for n in range(150)]
    ingest(fence, "t15", "r000")
    client, registry = counting(aws)
    for _ in range(3):
        assert generations(registry, "t15", ids) == {"r000": "G1"}
    assert client.batches == [100, 50]
    generations(registry, "t15", ["r000", "new"])
    assert client.batches == [100, 50, 1]
    registry.unpublish("t15", "r149")  # there is none, but it may have been about to be
    generations(registry, "t15", ids)
    assert client.batches == [100, 50, 1, 100, 50]


def test_a_document_that_is_being_changed_is_read_each_time(aws: MockedAws, fence: DynamoDocumentFence) -> None:
    ingest(fence, "t16", "a")
    client, registry = counting(aws)
    begin_change(aws.dynamodb, aws.documents_table, "t16", "a", FakeClock().now())
    for _ in range(3):
        generations(registry, "t16", ["a", "b"])
    assert client.batches == [2, 1, 1]


def test_of_an_index_version_that_is_not_the_searched_one_nothing_is_remembered(aws: MockedAws) -> None:
    client, registry = counting(aws)
    for _ in range(2):
        generations(registry, "t17", ["a"], index_version=2)
    assert client.batches == [1, 1]


def test_only_so_many_documents_are_remembered(aws: MockedAws) -> None:
    client, registry = counting(aws, remembered=3)
    for _ in range(2):
        generations(registry, "t18", ["a", "b", "c", "d"])
    assert client.batches == [4, 1]
    assert len(registry._remembered) == 3


def test_keys_that_a_busy_table_leaves_are_read_after_a_wait_that_grows(
    aws: MockedAws, fence: DynamoDocumentFence, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(fence, "t19", "a")
    ingest(fence, "t19", "b")
    waits: list[float] = []
    monkeypatch.setattr(document_registry, "Retry", partial(Retry, sleep=waits.append, jitter=lambda: 1.0))
    client, registry = counting(aws, busy=3)  # the first read makes progress
    assert generations(registry, "t19", ["a", "b"]) == {"a": "G1", "b": "G1"}
    assert client.batches == [2, 1, 1, 1]
    assert waits == [0.05, 0.1, 0.2]


def test_a_table_that_stays_busy_is_an_error_within_the_deadline(aws: MockedAws) -> None:
    _, registry = counting(aws, busy=1_000)
    clock = FakeClock()
    left = Deadline(clock, 0.05)
    token = CURRENT.set(left)
    try:
        with pytest.raises(RateLimited):
            generations(registry, "t20", ["a"])
    finally:
        CURRENT.reset(token)


def test_a_partition_that_gives_a_little_each_time_is_read_to_its_end(
    aws: MockedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB reads 1 MB of a partition for one batch: long reports may take more rounds than there are attempts."""
    monkeypatch.setattr(document_registry, "Retry", partial(Retry, sleep=lambda _: None))
    client, registry = counting(aws)
    monkeypatch.setattr(client, "batch_get_item", partial(one_at_a_time, client))
    assert generations(registry, "t21", [f"d{n}" for n in range(9)]) == {}
    assert client.batches == [9, 8, 7, 6, 5, 4, 3, 2, 1]


def one_at_a_time(client: Counting, **request: Any) -> Any:
    (batch,) = request["RequestItems"].values()
    client.batches.append(len(batch["Keys"]))
    left = {**batch, "Keys": batch["Keys"][1:]}
    return {"Responses": {}, "UnprocessedKeys": {client.aws.documents_table: left} if left["Keys"] else {}}


# --- rules ---


def test_rules_of_a_document_and_of_its_folder_are_read_together_and_none_where_there_are_none(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence, aws: MockedAws
) -> None:
    tenant = "ruled"
    hr, ann = AccessRule(frozenset({"hr"})), AccessRule(frozenset(), frozenset({"ann"}))
    for name in ("one", "two"):
        ingest(fence, tenant, name)
    assert registry.rules_of(tenant, ["one", "two"]) is None
    assert registry.restrict(tenant, "one", ann, before=None)
    assert not registry.restrict(tenant, "one", hr, before=None), "somebody was faster"
    assert registry.rules_of(tenant, ["one", "two", "never"]) == {"one": (ann,), "two": ()}
    objects = S3Objects(aws.s3, aws.bucket)
    rules = DynamoFolderRules(aws.dynamodb, aws.documents_table)
    folders = {f"uploads/{tenant}/": hr}
    objects.write(rules_key(tenant), folder_rules_json(FolderRules(folders)), content_type="application/json")
    etag = rules.apply(tenant, objects)
    assert registry.rules_of(tenant, ["one", "two"]) == {"one": (ann, hr), "two": (hr,)}
    assert (rules.in_force(tenant), rules.apply(tenant, objects)) == (etag, etag)
    assert rules.of(tenant, etag) is rules.of(tenant, etag), "they are kept"
    assert registry.restrict(tenant, "one", None, before=ann)
    aws.s3.delete_object(Bucket=aws.bucket, Key=rules_key(tenant))
    assert rules.apply(tenant, objects) == ""
    assert registry.rules_of(tenant, ["one", "two"]) == {"one": (), "two": ()}, "there were rules once"


def test_rules_of_few_tenants_are_kept_and_missing_ones_close_everything(
    aws: MockedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_rules, "MAX_TENANTS", 2)
    objects, rules = S3Objects(aws.s3, aws.bucket), DynamoFolderRules(aws.dynamodb, aws.documents_table)
    held = {}
    for tenant in ("k1", "k2", "k3"):
        folders = FolderRules({f"uploads/{tenant}/": AccessRule(frozenset({tenant}))})
        objects.write(rules_key(tenant), folder_rules_json(folders), content_type="application/json")
        held[tenant] = rules.of(tenant, rules.apply(tenant, objects))
        assert held[tenant] == folders
    for tenant, is_kept in (("k3", True), ("k2", True), ("k1", False)):
        assert (rules.of(tenant, rules.in_force(tenant)) is held[tenant]) is is_kept
    with pytest.raises(DependencyUnavailable, match="missing"):
        rules.of("nobody", "some-etag")
    assert rules.of("nobody", "") == FolderRules()


def test_a_document_that_is_announced_with_a_rule_has_it_from_the_start(registry: DynamoDocumentRegistry) -> None:
    rule = AccessRule(frozenset({"hr"}), frozenset({"ann"}))
    made = registry.announce(replace(promised("hidden", "d"), access=rule), expires_s=60)
    assert made.access == rule
    assert registry.rules_of("hidden", ["d"]) == {"d": (rule,)}


def test_a_listing_finds_fields_of_the_identity_card_and_labels_in_their_place(
    registry: DynamoDocumentRegistry, fence: DynamoDocumentFence
) -> None:
    cards = {"a": {"kind": "user manual", "product": "Žiburys X1"}, "b": {"kind": "manual"}, "c": {}}
    for name, card in cards.items():
        document = replace(promised("carded", name), version_id="v", card=card)
        lease = fence.lease("carded", name, owner="m/1", lease_s=60)
        lease.claim(document.key, sequencer="")
        lease.publish(replace(document, status=DocumentStatus.READY, generation="G", chunk_count=1, language="lt"))
        lease.release()
    assert registry.label("carded", "b", {"kind": ["report", "annual report"]}, before={})

    def found(**identity: str) -> set[str]:
        page = registry.list("carded", DocumentFilter(identity=identity), limit=9)
        return {each.document_id for each in page.documents}

    assert found(kind="manual") == {"a"}
    assert found(kind="annual REPORT") == {"b"}
    assert found(product="ziburys") == {"a"}
    assert found(kind="manual", product="x2") == set()
    assert found(language="lt") == {"a", "b", "c"}
    assert found(kind="man") == set(), "words are whole"


@pytest.mark.parametrize(("characters", "text_layer"), [(0, False), (1, True)])
def test_a_report_stored_before_text_layers_were_told_is_read(characters: int, text_layer: bool) -> None:
    row = [1, characters, "text", "", 0.1]
    (page,) = document_registry.unpack_report(gzip.compress(json.dumps([row]).encode()))
    assert (page.doubtful, page.pictured, page.text_layer) == (0.0, 0.0, text_layer)
