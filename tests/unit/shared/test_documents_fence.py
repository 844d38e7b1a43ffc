"""The fence: at most one worker at a time, no change notification lost, nothing written without the lease."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.adapters.document_fence import TOMBSTONE_S, DynamoDocumentFence, DynamoDocumentLease
from shared.adapters.document_registry import DynamoDocumentRegistry, key_of, normal_sequencer
from shared.adapters.passage_edits import DynamoPassageEdits
from shared.errors import LeaseLost
from shared.models import (
    EXCLUDED,
    FIRST_INDEX_VERSION,
    ORIGINAL,
    Document,
    DocumentError,
    DocumentStatus,
    PageReport,
    PagesRead,
    PassageChange,
    PassageEdit,
    Published,
    content_hash_of,
)
from shared.ports import DocumentRemains, LeaseClaim, LeaseOutcome, UnfinishedIngest
from tests.support.clock import FakeClock
from tests.support.generations import generations
from tests.support.moto_aws import MockedAws

KEY = "uploads/acme/a.pdf"
DOCUMENT = Document(
    tenant="acme",
    document_id="d1",
    key=KEY,
    status=DocumentStatus.READY,
    title="A",
    version_id="v1",
    generation="G1",
    chunk_count=3,
    page_count=2,
    settings_hash="s1",
    report=(PageReport(1, 100), PageReport(2, 0, "scanned", "an image covers the page", 0.25, 0.0, 0.97, False)),
    labels={"department": "law"},
)


class Bench:
    """One fence and one registry over an empty item."""

    def __init__(self, aws: MockedAws) -> None:
        self.clock = FakeClock()
        self.fence = DynamoDocumentFence(aws.dynamodb, aws.documents_table, self.clock)
        self.registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, self.clock)
        self.aws = aws
        aws.dynamodb.delete_item(TableName=aws.documents_table, Key=key_of("acme", "d1"))

    def lease(self, owner: str = "m1/a") -> DynamoDocumentLease:
        return self.fence.lease("acme", "d1", owner=owner, lease_s=60)

    def claim(self, sequencer: str = "0A", owner: str = "m1/a") -> LeaseClaim:
        return self.lease(owner).claim(KEY, sequencer=sequencer)

    def take_pending_change(self, owner: str = "m1/a") -> LeaseClaim:
        return self.lease(owner).take_pending_change()

    def publish(self, owner: str = "m1/a", generation: str = "G1") -> bool:
        return self.lease(owner).publish(replace(DOCUMENT, generation=generation))

    def release(self, owner: str = "m1/a", error: DocumentError | None = None) -> bool:
        return self.lease(owner).release(error=error)

    def get(self) -> Document:
        document = self.registry.get("acme", "d1")
        assert document is not None
        return document

    def published(self) -> str | None:
        """Return what a reader sees who remembers nothing: nobody counts the changes here."""
        cold = DynamoDocumentRegistry(self.aws.dynamodb, self.aws.documents_table, self.clock)
        return generations(cold, "acme", ["d1"]).get("d1")


@pytest.fixture
def bench(aws: MockedAws) -> Bench:
    return Bench(aws)


def test_the_first_claim_creates_the_item_and_shows_that_work_is_under_way(bench: Bench) -> None:
    claim = bench.claim()
    assert claim == LeaseClaim(LeaseOutcome.CLAIMED)
    document = bench.get()
    assert (document.status, document.key, document.tenant) == (DocumentStatus.PROCESSING, KEY, "acme")
    assert document.created_at == bench.clock.now().isoformat()


def test_what_is_published_is_read_back_whole(bench: Bench) -> None:
    bench.claim()
    assert bench.publish()
    assert bench.release()
    document = bench.get()
    expected = replace(
        DOCUMENT,
        sequencer=normal_sequencer("0A"),
        created_at=bench.clock.now().isoformat(),
        updated_at=bench.clock.now().isoformat(),
        index_versions={FIRST_INDEX_VERSION: Published("G1", "v1", "s1", "", 3)},
        labels={},  # the editors': a worker would write back those that it read when it began
    )
    assert document == expected
    assert bench.published() == "G1"


@pytest.mark.parametrize(("late", "outcome"), [("09", "stale"), ("0A", "claimed"), ("0B", "claimed"), ("", "claimed")])
def test_a_change_older_than_the_last_one_taken_up_is_stale(bench: Bench, late: str, outcome: str) -> None:
    bench.claim("0A")
    bench.publish()
    bench.release()
    assert bench.claim(late, "m2/b").outcome == outcome


@pytest.mark.parametrize(
    ("earlier", "later"), [("0055AED6DCD90281E5", "0055AED6DCD90281E51"), ("0A", "0a1"), ("0a", "0B")]
)
def test_sequencers_of_differing_length_and_case_are_ordered_as_s3_says(earlier: str, later: str) -> None:
    assert normal_sequencer(earlier) < normal_sequencer(later)
    assert normal_sequencer("0A") == normal_sequencer("0A00")


def test_a_newer_change_is_noted_with_the_holder_who_then_cannot_publish_before_looking_again(bench: Bench) -> None:
    bench.claim("0A")
    assert bench.claim("0B", "m2/b").outcome is LeaseOutcome.DELEGATED
    assert not bench.publish()
    assert bench.published() is None
    assert not bench.release()
    assert bench.take_pending_change().outcome is LeaseOutcome.CLAIMED
    assert bench.publish()
    assert bench.release()


def test_a_redelivery_of_the_event_being_worked_on_comes_back_later_instead_of_being_consumed(bench: Bench) -> None:
    bench.claim("0A", "m1/a")
    bench.clock.advance(20)
    busy = bench.claim("0A", "m1/b")
    assert (busy.outcome, busy.retry_after_s) == (LeaseOutcome.BUSY, pytest.approx(40))
    assert bench.claim("0A", "m9/b").outcome is LeaseOutcome.BUSY  # the same event in another message
    assert bench.publish()  # and is no uncounted_change


def test_a_change_without_sequencer_redelivered_while_its_first_delivery_is_at_work_is_busy_too(bench: Bench) -> None:
    bench.claim("", "m1/a")
    assert bench.claim("", "m1/b").outcome is LeaseOutcome.BUSY
    assert bench.claim("", "m2/a").outcome is LeaseOutcome.DELEGATED


def test_up_to_which_page_a_document_has_been_read_is_told_until_it_is_published(bench: Bench) -> None:
    bench.claim()
    bench.lease().save_progress(UnfinishedIngest("G1", "v1", "s1", 0), upper_bound=5, progress=PagesRead(40, 300))
    assert bench.get().progress == PagesRead(40, 300)
    bench.lease().save_progress(UnfinishedIngest("G2", "v2", "s1", 0), upper_bound=5)
    assert bench.get().progress is None, "another version is being read"
    bench.lease().save_progress(UnfinishedIngest("G2", "v2", "s1", 5), upper_bound=9, progress=PagesRead(80, 300))
    assert bench.publish(generation="G2")
    assert bench.get().progress is None


def test_an_expired_lease_is_taken_over_and_its_holder_can_write_nothing_more(bench: Bench) -> None:
    bench.claim("0A", "m1/a")
    unfinished = UnfinishedIngest("G1", "v1", "s1", 7)
    bench.lease().save_progress(unfinished, upper_bound=9)
    bench.clock.advance(61)
    taken = bench.claim("0A", "m1/b")
    assert (taken.outcome, taken.unfinished, dict(taken.written)) == (LeaseOutcome.CLAIMED, unfinished, {"G1": 9})
    calls = [
        lambda: bench.publish("m1/a"),
        lambda: bench.release("m1/a"),
        lambda: bench.release("m1/a", DocumentError("X", "x")),
        lambda: bench.take_pending_change("m1/a"),
        lambda: bench.lease().renew(),
        lambda: bench.lease().tombstone(),
        lambda: bench.lease().forget_generation("G1"),
        lambda: bench.lease().save_progress(unfinished, upper_bound=9),
        lambda: bench.lease().fail(DOCUMENT, DocumentError("X", "x"), DocumentStatus.FAILED),
    ]
    for call in calls:
        with pytest.raises(LeaseLost):
            call()
    assert bench.publish("m1/b")


def test_a_renewed_lease_is_not_taken_over(bench: Bench) -> None:
    bench.claim("0A", "m1/a")
    bench.clock.advance(50)
    bench.lease().renew()
    bench.clock.advance(50)
    assert bench.claim("0A", "m1/b").outcome is LeaseOutcome.BUSY


def test_claiming_again_as_the_same_owner_is_harmless(bench: Bench) -> None:
    bench.claim("0A", "m1/a")  # a retried request whose first answer was lost
    assert bench.claim("0A", "m1/a").outcome is LeaseOutcome.CLAIMED


def test_the_former_generation_is_answered_from_until_the_next_is_published(bench: Bench) -> None:
    bench.claim("0A")
    bench.publish(generation="G1")
    bench.release()
    claim = bench.claim("0B", "m2/b")
    assert claim.document is not None
    assert claim.document.status is DocumentStatus.READY
    assert bench.published() == "G1"
    assert bench.get().status is DocumentStatus.PROCESSING
    bench.publish("m2/b", "G2")
    assert bench.published() == "G2"


def test_letting_go_with_nothing_changed_shows_the_last_final_status_again(bench: Bench) -> None:
    bench.claim("0A")
    bench.publish()
    bench.release()
    bench.claim("0B", "m2/b")
    bench.clock.advance(61)
    taken = bench.claim("0B", "m2/c")
    assert taken.document is not None
    assert taken.document.status is DocumentStatus.READY  # not the PROCESSING of the worker that died
    assert bench.release("m2/c")
    assert bench.get().status is DocumentStatus.READY


def test_a_retriable_failure_says_so_and_keeps_what_was_published(bench: Bench) -> None:
    bench.claim("0A")
    bench.publish()
    bench.release()
    bench.claim("0B", "m2/b")
    assert bench.release("m2/b", DocumentError("RETRYING", "The embeddings API is busy; it is tried again."))
    document = bench.get()
    assert (document.status, document.generation) == (DocumentStatus.PROCESSING, "G1")
    assert document.error == DocumentError("RETRYING", "The embeddings API is busy; it is tried again.")
    bench.claim("0B", "m2/c")
    bench.publish("m2/c", "G2")
    assert bench.get().error is None


def test_a_final_failure_is_answered_from_no_more(bench: Bench) -> None:
    bench.claim("0A")
    bench.publish()
    bench.release()
    bench.claim("0B", "m2/b")
    failed = replace(DOCUMENT, version_id="v2", chunk_count=0)
    reason = DocumentError("NOT_A_PDF", "This is not a PDF.")
    assert bench.lease("m2/b").fail(failed, reason, DocumentStatus.FAILED)
    document = bench.get()
    assert (document.status, document.error, document.generation) == (DocumentStatus.FAILED, reason, "")
    assert bench.published() is None


def test_a_tombstone_outlives_the_queue_and_still_orders_late_changes(bench: Bench, aws: MockedAws) -> None:
    bench.claim("0A")
    bench.publish()
    bench.release()
    bench.claim("0C", "m2/b")
    assert bench.lease("m2/b").tombstone()
    assert bench.release("m2/b")
    assert bench.get().status is DocumentStatus.DELETED
    assert bench.published() is None
    item = aws.dynamodb.get_item(TableName=aws.documents_table, Key=key_of("acme", "d1"))["Item"]
    assert int(item["expires_at"]["N"]) == int(bench.clock.now().timestamp()) + TOMBSTONE_S
    assert bench.claim("0B", "m3/c").outcome is LeaseOutcome.STALE
    assert bench.claim("0D", "m4/d").outcome is LeaseOutcome.CLAIMED
    item = aws.dynamodb.get_item(TableName=aws.documents_table, Key=key_of("acme", "d1"))["Item"]
    assert "expires_at" not in item  # a document being worked on is not swept away by TTL


def test_generations_that_may_have_vectors_are_known_until_they_are_swept(bench: Bench) -> None:
    bench.claim("0A")
    bench.lease().save_progress(UnfinishedIngest("G1", "v1", "s1", 0), upper_bound=5)
    bench.lease().save_progress(UnfinishedIngest("G2", "v2", "s1", 0), upper_bound=4)
    assert dict(bench.take_pending_change().written) == {"G1": 5, "G2": 4}
    bench.lease().forget_generation("G1")
    assert dict(bench.take_pending_change().written) == {"G2": 4}


def test_an_api_deletion_stops_a_publication_that_is_under_way(bench: Bench) -> None:
    bench.claim("0A")
    assert bench.registry.unpublish("acme", "d1") is not None
    assert not bench.publish()
    again = bench.take_pending_change()
    assert again.document is not None
    assert again.document.status is DocumentStatus.DELETING
    assert again.unpublished_at == bench.clock.now().isoformat()


def test_a_report_of_5000_pages_fits_an_item(bench: Bench) -> None:
    report = tuple(
        PageReport(n, n * 7919 % 5000, "garbled" if n % 3 else "text", f"page {n}: {n * 104729 % 99991} " * 8, n / 997)
        for n in range(1, 5001)
    )
    bench.claim("0A")
    assert bench.lease().publish(replace(DOCUMENT, report=report))
    found = bench.get().report
    assert len(found) == 5000
    assert [(page.number, page.characters, page.state) for page in found] == [
        (page.number, page.characters, page.state) for page in report
    ]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(6)), duplicates=st.lists(st.integers(0, 5), max_size=4))
def test_in_any_order_of_events_the_bucket_is_looked_at_after_the_last_one(
    aws: MockedAws, order: list[int], duplicates: list[int]
) -> None:
    """The bucket's state is the newest event's; whoever is let in sees the bucket as it is then."""
    bench = Bench(aws)
    newest = max(order)
    seen_after_newest = False
    for position, event in enumerate([*order, *duplicates]):
        claim = bench.claim(f"{event:02X}", f"m{position}/x")
        if claim.outcome is LeaseOutcome.CLAIMED:
            seen_after_newest |= newest in [*order, *duplicates][: position + 1]
            assert bench.publish(f"m{position}/x")
            assert bench.release(f"m{position}/x")
        else:
            assert claim.outcome is LeaseOutcome.STALE
            assert event < newest
    assert seen_after_newest


def test_what_remains_of_a_document_is_told_and_forgotten_when_nobody_has_it(bench: Bench) -> None:
    assert bench.fence.remains("acme", "d1") == DocumentRemains(None)
    bench.claim()
    bench.publish()
    assert bench.fence.remains("acme", "d1") == DocumentRemains(DocumentStatus.READY, is_held=True, has_name=True)
    assert not bench.fence.forget("acme", "d1"), "it is not deleted"
    bench.lease().tombstone()
    assert not bench.fence.forget("acme", "d1"), "a worker has it"
    bench.release()
    assert bench.fence.remains("acme", "d1") == DocumentRemains(DocumentStatus.DELETED, is_held=False, has_name=True)
    assert bench.fence.forget("acme", "d1")
    assert bench.fence.remains("acme", "d1") == DocumentRemains(DocumentStatus.DELETED, is_held=False, has_name=False)
    assert bench.get().key == ""


@pytest.mark.parametrize(("after_s", "is_held"), [(0, True), (60, True), (61, False)])
def test_a_document_is_held_until_its_lease_has_run_out(bench: Bench, after_s: float, is_held: bool) -> None:
    bench.claim()
    bench.clock.advance(after_s)
    assert bench.fence.remains("acme", "d1").is_held is is_held


def test_a_change_that_waits_holds_a_document_too(bench: Bench) -> None:
    bench.claim("0A")
    assert bench.claim("0B", owner="m2/b").outcome is LeaseOutcome.DELEGATED
    bench.clock.advance(61)
    assert bench.fence.remains("acme", "d1").is_held


def test_a_document_that_is_partly_searchable_says_why_until_it_is_published_again(bench: Bench) -> None:
    bench.claim()
    error = DocumentError("PAGES_NEED_OCR", "1 of 2 pages is a picture.")
    assert bench.lease().publish(replace(DOCUMENT, status=DocumentStatus.PARTIAL, error=error))
    assert (bench.get().status, bench.get().error) == (DocumentStatus.PARTIAL, error)
    bench.release()
    bench.claim("0B")
    bench.publish(generation="G2")
    assert (bench.get().status, bench.get().error) == (DocumentStatus.READY, None)


def edit(original: str, text: str, *, excluded: bool = False) -> PassageEdit:
    change = PassageChange("ann", "2026-01-01T00:00:00+00:00", excluded, text, "")
    return PassageEdit(
        "d1", content_hash_of(original), original, text, excluded, "", "G1", 0, 1, 1, "1", "", 0, (change,)
    )


def test_corrections_in_force_are_read_and_edits_erased(bench: Bench) -> None:
    bench.claim()
    bench.publish()
    bench.release()
    edits = DynamoPassageEdits(bench.aws.dynamodb, bench.aws.documents_table, bench.clock)
    for each in (edit("one", "uno"), edit("two", "", excluded=True), edit("three", "")):
        assert edits.save(bench.get(), each, before=None)
    said = bench.get().edits
    one = content_hash_of("one")
    assert said == {one: content_hash_of("uno"), content_hash_of("two"): EXCLUDED, content_hash_of("three"): ORIGINAL}
    assert bench.fence.corrections("acme", "d1", said) == {one: "uno"}
    assert bench.fence.corrections("acme", "d1", {one: "of an older correction"}) == {}
    bench.claim("0B")
    bench.lease().erase_edits(said)
    assert (bench.get().edits, edits.of("acme", "d1")) == ({}, [])
