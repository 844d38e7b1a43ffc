"""The state machine can fail: each of these well-meant mistakes is found by it."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from functions.ingest import pipeline, publish, reindex
from functions.ingest.embedding import BatchEmbedder
from functions.ingest.index_versions import DocumentState
from functions.ingest.reconcile import ReconcileOutcome, ReconcileRun
from shared.adapters import document_fence
from shared.adapters.document_fence import DynamoDocumentLease
from shared.errors import LeaseLost, NotFound
from shared.ports import ScannedDocument, TenantIndexVersions, UnfinishedIngest
from tests.faults import test_ingest_crashes as crashes
from tests.support.ingest_kills import World
from tests.support.ingest_machine import IngestMachine, machine_world, run_machine
from tests.support.killed_anywhere import check_kills_at_every_call
from tests.support.reindex import lost_by_a_reindex_during_a_first_upload

Patch = pytest.MonkeyPatch
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with machine_world(tmp_path_factory.mktemp("stack")) as made:
        yield made


def publish_in_spite_of_newer_changes(patch: Patch, world: World) -> None:
    patch.setattr(document_fence, "_NO_CHANGE_PENDING", "lease_owner = :owner")


def sweep_nothing(patch: Patch, world: World) -> None:
    patch.setattr(publish, "sweep", lambda **how: None)


def publish_before_the_last_upsert(patch: Patch, world: World) -> None:
    """Hold each upsert back until the next call to the index."""
    vectors: Any = world.batch.reconciler.access.configured.vectors
    inner = vectors._port

    class Lazy:
        held: Callable[[], Any] = staticmethod(lambda: None)

        def upsert(self, **kwargs: Any) -> None:
            self.flush()
            self.held = lambda: inner.upsert(**kwargs)

        def flush(self) -> None:
            held, self.held = self.held, lambda: None
            held()

        def __getattr__(self, name: str) -> Any:
            self.flush()
            return getattr(inner, name)

    patch.setattr(vectors, "_port", Lazy())


def ignore_the_sequencer(patch: Patch, world: World) -> None:
    patch.setattr(document_fence, "normal_sequencer", lambda sequencer: "")


def publish_without_the_lease(patch: Patch, world: World) -> None:
    patch.setattr(document_fence, "_NO_CHANGE_PENDING", "attribute_exists(pk)")


def take_a_lease_that_is_held(patch: Patch, world: World) -> None:
    real = DynamoDocumentLease._try_claim

    def claim(self: Any, key: str, order: str) -> Any:
        return real(replace(self, _lease_s=-1_000.0), key, order)

    patch.setattr(DynamoDocumentLease, "_try_claim", claim)
    patch.setattr(document_fence, "_LEASE_HELD", "attribute_exists(pk) OR lease_owner = :owner")
    patch.setattr(document_fence, "_NO_CHANGE_PENDING", "attribute_exists(pk) OR lease_owner = :owner")


def forget_to_count_changes(patch: Patch, world: World) -> None:
    patch.setattr(DocumentState, "count_change", lambda self: None)
    patch.setattr(DocumentState, "change", lambda self: nullcontext())


def ignore_changes_a_dead_worker_did_not_count(patch: Patch, world: World) -> None:
    real = document_fence._claim_of
    patch.setattr(document_fence, "_claim_of", lambda item: real(item)._replace(uncounted_change=False))


def embed_what_is_written_already(patch: Patch, world: World) -> None:
    """Ask for every batch twice."""
    real = BatchEmbedder.embed

    def twice(self: BatchEmbedder, batch: Any) -> Any:
        real(self, batch)
        return real(self, batch)

    patch.setattr(BatchEmbedder, "embed", twice)


def go_on_where_it_was_not(patch: Patch, world: World) -> None:
    """Take what is about to be written for written already."""
    real = DynamoDocumentLease.save_progress

    def ahead(self: Any, unfinished: UnfinishedIngest, *, upper_bound: int) -> None:
        real(self, unfinished._replace(chunks_done=upper_bound), upper_bound=upper_bound)

    patch.setattr(DynamoDocumentLease, "save_progress", ahead)


def take_an_object_that_is_gone_for_ingested(patch: Patch, world: World) -> None:
    """S3 says NoSuchKey between HEAD and GET."""
    real = ReconcileRun._build_and_publish

    def build(self: ReconcileRun, *what: Any) -> Any:
        gone = []
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(pipeline, "build", lambda *how: _noted(gone, pipeline_build, *how))
            outcome = real(self, *what)
        return ReconcileOutcome.PUBLISHED if gone else outcome

    pipeline_build = pipeline.build
    patch.setattr(ReconcileRun, "_build_and_publish", build)


def _noted(gone: list[NotFound], build: Callable[..., Any], *how: Any) -> Any:
    try:
        return build(*how)
    except NotFound as error:
        gone.append(error)
        raise


def leave_the_vectors_of_a_lost_lease(patch: Patch, world: World) -> None:
    patch.setattr(ReconcileRun, "_clean_up_after_takeover", lambda self: None)


def ingest_what_the_api_is_deleting(patch: Patch, world: World) -> None:
    patch.setattr(ReconcileRun, "_is_being_deleted", lambda self, claim, head: False)


@pytest.mark.parametrize(
    "mutate",
    [
        ingest_what_the_api_is_deleting,
        forget_to_count_changes,
        embed_what_is_written_already,
        publish_in_spite_of_newer_changes,
        sweep_nothing,
        publish_before_the_last_upsert,
        ignore_the_sequencer,
        publish_without_the_lease,
        take_a_lease_that_is_held,
    ],
)
def test_the_machine_finds(mutate: Callable[[Patch, World], None], world: World) -> None:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    with pytest.MonkeyPatch.context() as patch:
        mutate(patch, world)
        with pytest.raises((AssertionError, ExceptionGroup)):
            run_machine(lambda: IngestMachine(world, count), examples=40, steps=50, seeded=7, shrink=False)
    print(f"found after {steps} steps")  # noqa: T201


@pytest.mark.parametrize("mutate", [go_on_where_it_was_not, ignore_changes_a_dead_worker_did_not_count])
def test_kills_at_every_call_find(mutate: Callable[[Patch, World], None], world: World) -> None:
    with pytest.MonkeyPatch.context() as patch:
        mutate(patch, world)
        with pytest.raises(AssertionError):
            check_kills_at_every_call(world)


def test_takeovers_find_vectors_that_are_left(world: World) -> None:
    """The state machine needs thousands of steps for a worker that writes after its lease was taken."""
    with pytest.MonkeyPatch.context() as patch:
        leave_the_vectors_of_a_lost_lease(patch, world)
        with pytest.raises(AssertionError):
            crashes.test_what_a_worker_writes_after_a_takeover_is_deleted_however_it_ends(world, LeaseLost)


def test_vanishing_objects_find_a_success_that_is_none(world: World) -> None:
    """The state machine needs thousands of steps for an object that goes between HEAD and GET, unheard of."""
    with pytest.MonkeyPatch.context() as patch:
        take_an_object_that_is_gone_for_ingested(patch, world)
        with pytest.raises(AssertionError):
            crashes.test_an_object_that_goes_between_the_look_and_the_download_is_looked_for_again(world, "Old")


def test_a_reindex_that_overlooks_documents_under_way_loses_one(world: World) -> None:
    """Without `not scanned.leased` a first upload that began before the re-index counts as in both index versions."""
    real = reindex.is_done

    def overlooking(scanned: ScannedDocument, index_versions: TenantIndexVersions) -> bool:
        return real(scanned._replace(leased=False), index_versions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reindex, "is_done", overlooking)
        assert "it is not found" in [lost_by_a_reindex_during_a_first_upload(world, at) for at in range(12)]
