"""Objects are made searchable, replaced, taken back and given up: over the real registry, with an index in memory."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from functions.ingest import pipeline, reconcile
from functions.ingest.changes import ChangeNotification
from functions.ingest.embedding import BatchEmbedder
from functions.ingest.figures import Figures
from functions.ingest.index_versions import IndexVersionAccess
from functions.ingest.lease import InvocationTime
from functions.ingest.pipeline import (
    FIRST_VISIBILITY_WAIT_S,
    LONGEST_VISIBILITY_WAIT_S,
    VISIBLE_WITHIN_S,
    IngestDependencies,
)
from functions.ingest.reading import Ocr
from functions.ingest.reconcile import ReconcileOutcome, Reconciler, TryLater
from functions.ingest.sources import ChunkSource
from shared.access import AccessRule, AccessRulesInvalid
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.adapters.index_versions import DynamoIndexVersions, configured_index_version
from shared.adapters.passage_edits import DynamoPassageEdits
from shared.adapters.read_pages import DynamoReadPages
from shared.adapters.s3 import S3Objects
from shared.errors import DependencyError, DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited
from shared.models import (
    Document,
    DocumentStatus,
    Embeddings,
    EmbeddingSpace,
    IndexVersion,
    PagesRead,
    PassageChange,
    PassageEdit,
    Usage,
    VectorRecord,
    content_hash_of,
    document_id_of,
    editorial_hash,
)
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.moto_aws import MockedAws, mocked_aws, stale_reads

SPACE = EmbeddingSpace("all-MiniLM-L6-v2", 2)
KEY = "knowledge/acme/harbour.json"
DOC = document_id_of("acme", KEY)


@dataclass
class Index:
    """Vectors by namespace and id."""

    held: dict[str, dict[str, VectorRecord]] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    fetches_in_vain: int = 0

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        self.held.setdefault(namespace, {}).update({each.id: each for each in records})

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        self.deleted += ids
        for each in ids:
            self.held.get(namespace, {}).pop(each, None)

    def fetch(self, *, namespace: str, ids: Sequence[str]) -> Mapping[str, VectorRecord]:
        if self.fetches_in_vain:
            self.fetches_in_vain -= 1
            return {}
        return {each: self.held[namespace][each] for each in ids if each in self.held.get(namespace, {})}


@dataclass
class Embedder:
    """Embeds everything as one unit vector, or fails."""

    space: EmbeddingSpace = SPACE
    asked: list[str] = field(default_factory=list)
    error: Exception | None = None
    meanwhile: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        if self.meanwhile:
            self.meanwhile()
        if self.error:
            raise self.error
        self.asked += texts
        return Embeddings([[1.0, 0.0] for _ in texts], Usage(input_tokens=len(texts)))


class World:
    """One worker and what it works on."""

    def __init__(self, aws: MockedAws, **settings: Any) -> None:
        self.aws, self.clock, self.index, self.embedder = aws, FakeClock(), Index(), Embedder()
        self.sent: list[dict[str, Any]] = []
        self.rules: list[str] = []
        self.rules_error: Exception | None = None
        self.spent: list[tuple[str, str, Mapping[str, Usage]]] = []
        table = aws.documents_table
        made = Settings(embedding_model=SPACE.model, embedding_dimensions=2, documents_table=table, **settings)
        self.registry = DynamoDocumentRegistry(aws.dynamodb, table, self.clock)
        ids = iter(range(1, 1_000))
        ports: Any = self
        index: Any = self.index
        configured = IngestDependencies(
            objects=S3Objects(aws.s3, aws.bucket),
            embedder=BatchEmbedder(self.embedder, self.clock.advance, lambda: 0.0),
            vectors=index,
            reader=index,
            sleep=self.clock.advance,
            clock=self.clock,
            settings=made,
            usage=ports,
        )
        versions = DynamoIndexVersions(
            aws.dynamodb, table, self.clock, lambda tenant: configured_index_version(made, tenant)
        )
        pages = DynamoReadPages(aws.dynamodb, table, self.clock)
        self.reconciler = Reconciler(
            fence=DynamoDocumentFence(aws.dynamodb, table, self.clock),
            queue=ports,
            access=IndexVersionAccess(versions, configured, lambda _: configured),
            new_id=lambda: f"G{next(ids)}",
            heartbeat=lambda _: nullcontext(),
            apply_rules=self.apply_rules,
            ocr=Ocr(pages),
            figures=Figures(pages),
        )

    def send(self, body: str, *, delay_s: int = 0) -> None:
        self.sent.append(json.loads(body))

    def record(self, tenant: str, user: str, spent: Mapping[str, Usage], *, questions: int, now: object) -> None:
        assert questions == 0
        self.spent.append((tenant, user, spent))

    def apply_rules(self, tenant: str) -> None:
        if self.rules_error:
            raise self.rules_error
        self.rules.append(tenant)

    def put(self, *texts: str, key: str = KEY, metadata: Mapping[str, str] | None = None) -> None:
        entries = [
            {"metadata": {"chunk_id": f"c{at}"}, "languageVariants": {"en": {"text": text}}}
            for at, text in enumerate(texts)
        ]
        body = json.dumps(entries).encode() if texts else b"no JSON"
        self.aws.s3.put_object(Bucket=self.aws.bucket, Key=key, Body=body, Metadata=dict(metadata or {}))

    def run(self, key: str = KEY, *, left_s: float = 900, last_try: bool = False, **change: Any) -> ReconcileOutcome:
        return self.reconciler.reconcile(
            ChangeNotification(key, **change),
            message_id="m",
            deadline=InvocationTime(lambda: left_s, 60),
            last_try=last_try,
        )

    @property
    def document(self) -> Document:
        found = self.registry.get("acme", DOC)
        assert found is not None
        return found

    @property
    def texts(self) -> dict[str, str]:
        return {name: str(each.metadata["text"]) for name, each in self.index.held.get("acme", {}).items()}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockedAws]:
    with mocked_aws(monkeypatch) as made:
        stale_reads(monkeypatch)
        yield made


@pytest.fixture
def world(aws: MockedAws) -> World:
    return World(aws)


def test_an_object_becomes_searchable_and_stays_so_without_work(world: World):
    world.put("The ferry sails at seven.", "The office is closed.")
    assert world.run() is ReconcileOutcome.PUBLISHED
    head = world.aws.s3.head_object(Bucket=world.aws.bucket, Key=KEY)
    document = world.document
    assert (document.status, document.generation, document.chunk_count, document.error) == (
        DocumentStatus.READY,
        "G2",
        2,
        None,
    )
    assert (document.version_id, document.etag, document.size_bytes, document.language) == (
        head["VersionId"],
        head["ETag"].strip('"'),
        head["ContentLength"],
        "en",
    )
    assert (document.embedding_space, document.key) == (str(SPACE), KEY)
    published = document.index_versions[1]
    assert (published.generation, published.chunk_count, published.version_id) == ("G2", 2, document.version_id)
    assert world.texts == {f"{DOC}#G2#0": "The ferry sails at seven.", f"{DOC}#G2#1": "The office is closed."}
    metadata = world.index.held["acme"][f"{DOC}#G2#1"].metadata
    assert (metadata["document_id"], metadata["generation"], metadata["chunk_index"], metadata["language"]) == (
        *(DOC, "G2", 1, "en"),
    )
    assert world.spent == [("acme", "", {SPACE.model: Usage(input_tokens=2)})]
    assert world.run() is ReconcileOutcome.UNCHANGED
    assert (len(world.embedder.asked), world.index.deleted) == (2, [])


def test_a_replacement_reuses_what_it_knows_and_sweeps_the_rest(world: World):
    world.put("The ferry sails at seven.", "The office is closed.", "Gulls cry.")
    world.run()
    world.put("The ferry sails at nine.", "The office is closed.")
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert [text.splitlines()[-1] for text in world.embedder.asked[3:]] == ["The ferry sails at nine."]
    generation = world.document.generation
    assert world.texts == {
        f"{DOC}#{generation}#0": "The ferry sails at nine.",
        f"{DOC}#{generation}#1": "The office is closed.",
    }
    assert sorted(world.index.deleted) == [f"{DOC}#G2#{n}" for n in range(3)]
    assert world.reconciler.fence.written("acme", DOC) == {generation: 2}


def test_a_deleted_object_leaves_a_tombstone_and_no_vectors(world: World):
    world.put("The ferry sails at seven.")
    world.run()
    world.aws.s3.delete_object(Bucket=world.aws.bucket, Key=KEY)
    assert world.run() is ReconcileOutcome.REMOVED
    assert (world.document.status, world.document.generation, world.texts) == (DocumentStatus.DELETED, "", {})
    assert world.run() is ReconcileOutcome.REMOVED
    world.put("The ferry sails at nine.")
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert list(world.texts.values()) == ["The ferry sails at nine."]


def test_what_cannot_be_read_is_rejected_once_and_takes_nothing_along(world: World):
    world.put("The ferry sails at seven.")
    world.run()
    world.put()
    assert world.run() is ReconcileOutcome.REJECTED
    document = world.document
    assert (document.status, document.generation, document.chunk_count, world.texts) == (
        DocumentStatus.FAILED,
        "",
        0,
        {},
    )
    assert document.error is not None
    assert world.run() is ReconcileOutcome.UNCHANGED


def test_a_file_that_is_too_large_says_so(aws: MockedAws):
    world = World(aws, max_file_bytes=100)
    world.put("x" * 200)
    assert world.run() is ReconcileOutcome.REJECTED
    error = world.document.error
    assert error is not None
    assert (error.code, "at most 100 are accepted" in error.message) == ("TOO_LARGE", True)


def test_text_that_the_provider_refuses_leaves_a_part_searchable(world: World):
    world.put("The ferry sails at seven.")
    world.embedder.error = DependencyRefused("embeddings", "bad input")
    with pytest.raises(DependencyError):
        world.run()
    failed = world.document
    assert (failed.status, failed.generation) == (DocumentStatus.FAILED, "")
    assert failed.error is not None
    assert "make redrive" in failed.error.message


@pytest.mark.parametrize(
    ("error", "last_try", "waits", "status", "code"),
    [
        (DependencyUnavailable("embeddings", "down"), False, 0, DocumentStatus.PROCESSING, "UNAVAILABLE"),
        (DependencyUnavailable("embeddings", "down"), True, 0, DocumentStatus.FAILED, "RETRIES_EXHAUSTED"),
        (RateLimited("embeddings", retry_after_s=1), True, 0, DocumentStatus.PROCESSING, None),
        (RateLimited("embeddings", retry_after_s=1), True, 10_000, DocumentStatus.FAILED, "RETRIES_EXHAUSTED"),
    ],
)
def test_a_failure_is_told_with_what_will_happen(
    world: World, error: DependencyError, last_try: bool, waits: int, status: DocumentStatus, code: str | None
):
    world.put("The ferry sails at seven.")
    world.embedder.error = error
    with pytest.raises(type(error)):
        world.run(last_try=last_try, waits=waits)
    document = world.document
    assert document.status is status
    assert document.error is not None
    assert code in {None, document.error.code}
    assert ("It is retried automatically." in document.error.message) is (status is DocumentStatus.PROCESSING)
    world.embedder.error = None
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert world.document.error is None


def test_a_long_document_is_continued_where_its_worker_stopped(aws: MockedAws):
    world = World(aws, embedding_batch_inputs=1)
    world.put(*(f"Sentence {n} of it." for n in range(5)))
    left = iter([900.0] * 3 + [1.0] * 50)
    outcome = world.reconciler.reconcile(
        ChangeNotification(KEY), message_id="m", deadline=InvocationTime(lambda: next(left), 60)
    )
    assert outcome is ReconcileOutcome.CONTINUED
    (body,) = world.sent
    done = body["chunks_done"]
    assert (body["key"], 0 < done < 5, world.document.status) == (KEY, True, DocumentStatus.PROCESSING)
    assert world.run(chunks_done=done) is ReconcileOutcome.PUBLISHED
    assert world.embedder.asked[0] == "Sentence 0 of it."
    assert world.embedder.asked.count("Sentence 0 of it.") == 1, "what is in the index is not embedded again"
    assert (world.document.chunk_count, len(world.texts)) == (5, 5)


def test_up_to_which_page_a_long_document_is_read_is_told_meanwhile(aws: MockedAws, monkeypatch: pytest.MonkeyPatch):
    opened, told = pipeline.open_source, []

    @contextmanager
    def of_nine_pages(*what: Any) -> Iterator[ChunkSource]:
        with opened(*what) as source:
            pages = zip(source.chunks, (1, 4, 9, 2, 5), strict=True)  # the last two are described figures
            chunks = (replace(each, chunk=replace(each.chunk, page_end=page)) for each, page in pages)
            yield replace(source, page_count=9, chunks=chunks)

    monkeypatch.setattr(pipeline, "open_source", of_nine_pages)
    world = World(aws, embedding_batch_inputs=1)
    written = world.index.upsert

    def upsert(**what: Any) -> None:
        told.append(world.document.progress)
        written(**what)

    monkeypatch.setattr(world.index, "upsert", upsert)
    world.put(*(f"Sentence {n} of it." for n in range(5)))
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert told == [PagesRead(page, 9) for page in (1, 4, 9, 9, 9)], "it never goes back"
    assert world.document.progress is None


def test_a_worker_that_gets_nothing_done_twice_gives_up(world: World):
    world.put("The ferry sails at seven.")
    assert world.run(left_s=1) is ReconcileOutcome.CONTINUED
    assert world.sent == [{"recto": "change", "key": KEY, "chunks_done": 0}]
    with pytest.raises(DependencyTimeout):
        world.run(left_s=1, chunks_done=0)
    assert len(world.sent) == 1


def test_while_another_worker_has_the_document_its_change_is_left_to_that_one(world: World):
    world.put("The ferry sails at seven.")
    other = world.reconciler.fence.lease("acme", DOC, owner="n/1", lease_s=60)
    other.claim(KEY, sequencer="")
    assert world.run(sequencer="2") is ReconcileOutcome.DELEGATED
    assert other.release() is False, "a newer change is pending"
    world.clock.advance(200)
    assert world.run() is ReconcileOutcome.PUBLISHED
    same = world.reconciler.fence.lease("acme", DOC, owner="m/9", lease_s=60)
    same.claim(KEY, sequencer="")
    with pytest.raises(TryLater) as later:
        world.run()
    assert later.value.after_s == 60


def test_an_object_that_the_api_is_deleting_is_left_to_it_until_the_last_try(world: World):
    world.put("The ferry sails at seven.")
    world.run()
    world.clock.advance(100 * 365 * 86_400)
    assert world.registry.unpublish("acme", DOC) is not None
    with pytest.raises(TryLater) as later:
        world.run()
    assert (later.value.after_s, world.document.status) == (5, DocumentStatus.DELETING)
    assert world.run(last_try=True) is ReconcileOutcome.PUBLISHED
    assert world.document.status is DocumentStatus.READY


def test_an_object_that_came_after_it_was_taken_back_is_ingested(world: World):
    world.put("The ferry sails at seven.")
    world.run()
    world.registry.unpublish("acme", DOC)  # the clock is behind that of the bucket
    assert world.run() is ReconcileOutcome.PUBLISHED


def test_what_a_worker_wrote_after_it_lost_the_document_is_deleted(world: World):
    world.put("The ferry sails at seven.")

    def taken_over() -> None:
        world.embedder.meanwhile = None
        world.clock.advance(10_000)
        other = world.reconciler.fence.lease("acme", DOC, owner="n/1", lease_s=60)
        assert other.claim(KEY, sequencer="").outcome.value == "claimed"

    world.embedder.meanwhile = taken_over
    with pytest.raises(TryLater, match="lost to another worker") as later:
        world.run()
    assert later.value.after_s == world.reconciler.access.configured.settings.lease_s
    assert world.texts == {}
    world.clock.advance(10_000)
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert list(world.texts.values()) == ["The ferry sails at seven."]


def test_a_document_that_changes_at_every_look_is_continued_by_another_message(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reconcile, "MAX_LOOKS", 3)
    looks = 0

    def changed() -> None:
        nonlocal looks
        looks += 1
        world.put(f"The ferry sails at {looks}.")
        other = world.reconciler.fence.lease("acme", DOC, owner="n/1", lease_s=60)
        assert other.claim(KEY, sequencer=f"{looks:03}").outcome.value == "delegated"

    world.embedder.meanwhile = changed
    world.put("The ferry sails at noon.")
    assert world.run() is ReconcileOutcome.CONTINUED
    assert (looks, world.sent) == (3, [{"recto": "change", "key": KEY}])
    world.embedder.meanwhile = None
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert list(world.texts.values()) == ["The ferry sails at 3."]


def test_an_error_that_nobody_expected_is_told_and_tried_again(world: World):
    world.put("The ferry sails at seven.")
    world.embedder.error = ValueError("secret detail")
    with pytest.raises(ValueError, match="secret detail"):
        world.run()
    error = world.document.error
    assert error is not None
    assert (world.document.status, "secret" in error.message) == (DocumentStatus.PROCESSING, False)
    assert "It is retried automatically." in error.message


def test_at_the_last_try_a_change_that_waits_is_sent_again(world: World):
    world.put("The ferry sails at seven.")

    def changed() -> None:
        other = world.reconciler.fence.lease("acme", DOC, owner="n/1", lease_s=60)
        other.claim(KEY, sequencer="9")

    world.embedder.meanwhile, world.embedder.error = changed, DependencyRefused("embeddings", "bad key")
    with pytest.raises(DependencyRefused):
        world.run(last_try=True)
    assert world.sent == [{"recto": "change", "key": KEY}]


@pytest.mark.parametrize(("in_vain", "waited_s"), [(0, 0), (1, 0.2), (2, 0.6), (10**6, None)])
def test_a_document_is_published_when_its_last_vector_can_be_read_or_late(
    world: World, in_vain: int, waited_s: float | None
):
    world.put("The ferry sails at seven.")
    world.index.fetches_in_vain = in_vain
    before = world.clock.now()
    assert world.run() is ReconcileOutcome.PUBLISHED
    waited = (world.clock.now() - before).total_seconds()
    if waited_s is None:
        assert VISIBLE_WITHIN_S <= waited <= VISIBLE_WITHIN_S + LONGEST_VISIBILITY_WAIT_S
    else:
        assert waited == pytest.approx(waited_s / 0.2 * FIRST_VISIBILITY_WAIT_S)


def test_while_a_reindex_runs_both_index_versions_get_the_document(world: World):
    versions = world.reconciler.access.registry
    first = versions.of("acme")
    second = IndexVersion(2, "acme~2", first.current.index, first.current.space)
    assert versions.save(first._replace(other=second))
    world.put("The ferry sails at seven.")
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert sorted(world.index.held) == ["acme", "acme~2"]
    document = world.document
    assert {number: each.generation for number, each in document.index_versions.items()} == {
        1: document.generation,
        2: document.in_index_version(2).generation,
    }
    assert document.in_index_version(2).generation.endswith("~2")
    assert len(world.embedder.asked) == 1, "the other index version takes the vectors over"
    assert world.run() is ReconcileOutcome.UNCHANGED


def test_a_passage_that_an_editor_corrected_is_embedded_as_corrected(world: World):
    world.put("The ferry sails at seven.", "The office is closed.")
    world.run()
    document, original = world.document, "The ferry sails at seven."
    edit = PassageEdit(
        DOC, content_hash_of(original), original, "The ferry sails at nine.", False, "", document.generation, 0, 1, 1,
        *("1", "", 0, (PassageChange("ann", "2026-01-01T00:00:00+00:00", False, "The ferry sails at nine.", ""),)),
    )  # fmt: skip
    edits = DynamoPassageEdits(world.aws.dynamodb, world.aws.documents_table, world.clock)
    assert edits.save(document, edit, before=None)
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert sorted(world.texts.values()) == ["The ferry sails at nine.", "The office is closed."]
    assert [text.splitlines()[-1] for text in world.embedder.asked[2:]] == ["The ferry sails at nine."]
    corrected = world.index.held["acme"][f"{DOC}#{world.document.generation}#0"].metadata
    assert (corrected["edit"], corrected["original_hash"]) == (content_hash_of(edit.text), edit.original_hash)
    assert world.document.index_versions[1].edited == {edit.original_hash: 0}


def test_an_older_event_changes_nothing(world: World):
    world.put("The ferry sails at seven.")
    assert world.run(sequencer="5") is ReconcileOutcome.PUBLISHED
    assert world.run(sequencer="4") is ReconcileOutcome.STALE
    assert world.run(sequencer="6") is ReconcileOutcome.UNCHANGED


def test_the_rule_that_an_upload_states_is_taken(world: World):
    world.put("The ferry sails at seven.", metadata={"allowed-groups": "hr", "allowed-users": "ann,bo"})
    world.run()
    assert world.document.access == AccessRule(frozenset({"hr"}), frozenset({"ann", "bo"}))


def test_labels_and_corrections_make_a_document_anew(world: World):
    world.put("The ferry sails at seven.", "The office is closed.")
    world.run()
    assert world.registry.label("acme", DOC, {"chapter": "1"}, before={})
    assert world.run() is ReconcileOutcome.PUBLISHED
    assert len(world.embedder.asked) == 2, "labels need no new embeddings"
    assert {each.metadata["chapter"] for each in world.index.held["acme"].values()} == {"1"}
    assert world.document.index_versions[1].editorial == editorial_hash({"chapter": "1"}, {})


def test_folder_rules_are_put_in_force_and_bad_ones_are_not(world: World):
    assert world.run("access/acme.json") is ReconcileOutcome.RULES
    world.rules_error = AccessRulesInvalid(["bad"])
    assert world.run("access/acme.json") is ReconcileOutcome.IGNORED
    assert world.rules == ["acme"]


@pytest.mark.parametrize("key", ["other/acme/a.pdf", "uploads/acme/", "uploads/a~1/a.pdf", "uploads/acme"])
def test_what_is_no_document_is_ignored(world: World, key: str):
    assert world.run(key) is ReconcileOutcome.IGNORED
