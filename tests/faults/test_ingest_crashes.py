"""A worker killed at any external call leaves something the next delivery repairs; readers never see a mixture."""

import itertools
from collections.abc import Iterator

import pytest

from functions.ingest.lease import OutOfTime
from functions.ingest.pipeline import WINDOW
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.errors import DependencyRefused, DependencyUnavailable, LeaseLost, RateLimited
from shared.models import DocumentStatus, document_id_of
from tests.support.ingest import Stack, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, World, world_of
from tests.support.killed_anywhere import check_kills_at_every_call

OLD = pdf_of([prose("Old", sentences=5, seed=n) for n in range(2)])
NEW = pdf_of([prose("New", sentences=5, seed=n) for n in range(3)])


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


@pytest.fixture(scope="module")
def world(stack: Stack) -> Iterator[World]:
    # Chunks as small as they come and two a request, so that a document takes several batches.
    with world_of(stack, chunk_size_tokens=64, chunk_overlap_tokens=0, embedding_batch_inputs=2) as made:
        yield made


@pytest.fixture(autouse=True)
def untouched(world: World) -> None:
    """Tests share the world and run in any order: each begins with nobody about to be killed."""
    world.wire.clear()


def prepare(world: World, key: str, scenario: str) -> tuple[dict[str, object], tuple[str, ...], str]:
    """Bring about the state before the event; return the event's message, what may be seen meanwhile, and the end."""
    if scenario == "first upload":
        world.put(key, NEW)
        return world.message_for(key), ("", "New"), "New"
    world.put(key, OLD)
    assert world.deliver(world.message_for(key))
    world.check_converged(key, "Old")
    if scenario == "replacement":
        world.put(key, NEW)
        return world.message_for(key), ("Old", "New"), "New"
    world.stack.delete(key)
    return world.message_for(key, event="ObjectRemoved:Delete"), ("Old", ""), ""


def calls_to(world: World, name: str) -> int:
    return world.wire.calls.count(name)


_numbers = itertools.count()
SCENARIOS = ("first upload", "replacement", "deletion")


def calls_of(world: World, scenario: str) -> list[str]:
    """Run a scenario undisturbed and return its external calls."""
    record, _, _ = prepare(world, f"uploads/count/{next(_numbers)}.pdf", scenario)
    world.wire.clear()
    assert world.deliver(record)
    return list(world.wire.calls)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kill_at_any_call_is_repaired_by_the_next_delivery(world: World, scenario: str) -> None:
    calls = calls_of(world, scenario)
    assert len(calls) >= 6
    # Killed after a call is the same to the world as killed before the next.
    for at, name in enumerate(calls):
        key = f"uploads/kill{SCENARIOS.index(scenario)}{at}/doc.pdf"
        record, meanwhile, end = prepare(world, key, scenario)
        world.wire.set(at)
        with pytest.raises(Killed):
            world.deliver(record)
        embedded, written = calls_to(world, "embedder.embed"), calls_to(world, "vectors.upsert")
        world.wire.clear()
        world.check_whole(key, *meanwhile)
        world.clock.advance(1_000)
        assert world.deliver(record), name
        world.check_converged(key, end)
        again = calls_to(world, "embedder.embed")
        assert again <= calls.count("embedder.embed") - written, f"{name}: what was written is embedded again"
        assert embedded + again <= calls.count("embedder.embed") + WINDOW, f"{name}: more is lost than was under way"


def test_a_kill_at_any_call_leaves_nothing_found_under_an_old_knowledge_version(world: World) -> None:
    assert check_kills_at_every_call(world) >= 12


def test_a_takeover_continues_where_the_dead_worker_stopped(world: World) -> None:
    key = "uploads/resume/doc.pdf"
    calls = calls_of(world, "first upload")
    last_upsert = max(n for n, name in enumerate(calls) if name == "vectors.upsert")
    world.put(key, NEW)
    record = world.message_for(key)
    world.wire.set(last_upsert)
    with pytest.raises(Killed):
        world.deliver(record)
    world.wire.clear()
    world.clock.advance(1_000)
    assert world.deliver(record)
    world.check_converged(key, "New")
    assert calls.count("embedder.embed") >= 3
    assert "embedder.embed" not in world.wire.calls, "what the dead worker had written was embedded again"


def test_a_second_upload_during_a_first_ends_with_the_second_only(world: World) -> None:
    key = "uploads/race/doc.pdf"
    world.put(key, OLD)
    first = world.message_for(key)

    def replace_once(name: str) -> None:
        if name == "fence.publish" and not done:
            done.append(True)
            world.put(key, NEW)
            # The second worker meets the lease of the first, leaves a note, and is done.
            assert world.deliver(world.message_for(key))

    done: list[bool] = []
    with world.wire.faulty(replace_once):
        assert world.deliver(first)
    assert done
    world.check_converged(key, "New")


@pytest.mark.parametrize("before", ["", "Old"])
def test_an_object_that_goes_between_the_look_and_the_download_is_looked_for_again(world: World, before: str) -> None:
    key = f"uploads/vanishing{before}/doc.pdf"
    if before:
        prepare(world, key, "replacement")
    else:
        world.put(key, NEW)

    def vanish(name: str) -> None:
        if name == "objects.download":
            world.objects.delete_all_versions(key)  # and nobody hears of it

    with world.wire.faulty(vanish):
        assert world.deliver(world.message_for(key))
    world.check_converged(key, "")


@pytest.mark.parametrize("end", [LeaseLost, RateLimited, DependencyUnavailable, OutOfTime])
def test_what_a_worker_writes_after_a_takeover_is_deleted_however_it_ends(world: World, end: type[Exception]) -> None:
    """No sweep has to find it."""
    key = f"uploads/overtaken{end.__name__.lower()}/doc.pdf"
    world.put(key, pdf_of([prose("New", sentences=5, seed=n) for n in range(8)]))
    first = world.message_for(key)
    overtaken: list[bool] = []

    def overtake(name: str) -> None:
        if name == "vectors.upsert" and not overtaken:
            overtaken.append(False)
            world.clock.advance(1_000)
            world.put(key, OLD)
            assert world.deliver(world.message_for(key))
            world.check_converged(key, "Old")
            overtaken[0] = True  # the late vectors are being written now
            world.remaining_s = 10.0 if end is OutOfTime else 900.0
        elif name == "embedder.embed" and any(overtaken) and end in {RateLimited, DependencyUnavailable}:
            raise end("embeddings")

    try:
        with world.wire.faulty(overtake):
            world.deliver(first)
    finally:
        world.remaining_s = 900.0
    assert any(overtaken)
    world.check_converged(key, "Old")
    world.deliver_all()


def test_what_the_api_is_deleting_is_not_found_again_before_it_is_deleted(world: World) -> None:
    key = "uploads/deleting/doc.pdf"
    world.put(key, OLD)
    assert world.deliver(world.message_for(key))
    aws = world.stack.aws
    registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, world.clock)
    assert registry.unpublish("deleting", document_id_of("deleting", key)) is not None
    late = world.message_for(key)
    assert not world.deliver(late), "it must come back: the object is still there"
    assert world.stack.document(key).status is DocumentStatus.DELETING
    assert world.published(key) == {}
    world.objects.delete_all_versions(key)
    assert world.deliver(late)
    world.check_converged(key, "")


def test_a_deletion_during_an_ingest_leaves_nothing(world: World) -> None:
    key = "uploads/race/deleted.pdf"
    world.put(key, OLD)
    first = world.message_for(key)

    def delete_once(name: str) -> None:
        if name == "vectors.upsert" and not done:
            done.append(True)
            world.stack.delete(key)
            assert world.deliver(world.message_for(key, event="ObjectRemoved:Delete"))

    done: list[bool] = []
    with world.wire.faulty(delete_once):
        assert world.deliver(first)
    world.check_converged(key, "")


def test_short_invocations_continue_each_other_until_the_document_is_done(world: World) -> None:
    key = "uploads/long/doc.pdf"
    world.put(key, pdf_of([prose("New", sentences=5, seed=n) for n in range(12)]))
    world.wire.clear()

    def run_out(name: str) -> None:
        if name == "vectors.upsert":
            world.remaining_s = 10.0  # there was time for one batch

    world.wire.fault = run_out
    try:
        assert world.deliver(world.message_for(key))
        assert world.stack.document(key).status is DocumentStatus.PROCESSING
        handed_on = 0
        while (continuation := world.queue.receive()) is not None:
            world.remaining_s = 900.0
            assert world.deliver(continuation)
            handed_on += 1
            assert handed_on < 20, "continuations without end"
    finally:
        world.wire.fault = lambda name: None
        world.remaining_s = 900.0
    assert handed_on >= 2
    world.check_converged(key, "New")


def test_a_busy_provider_is_waited_for_and_the_document_is_ready(world: World) -> None:
    key = "uploads/busy/doc.pdf"
    world.put(key, OLD)
    failures = [RateLimited("embeddings", "slow down", retry_after_s=0.01) for _ in range(3)]

    def busy(name: str) -> None:
        if name == "embedder.embed" and failures:
            raise failures.pop()

    with world.wire.faulty(busy):
        assert world.deliver(world.message_for(key))
    world.check_converged(key, "Old")


def test_a_provider_that_stays_down_sends_the_message_back_and_the_registry_says_why(world: World) -> None:
    key = "uploads/down/doc.pdf"
    world.put(key, OLD)
    record = world.message_for(key)

    def down(name: str) -> None:
        if name == "embedder.embed":
            raise DependencyUnavailable("embeddings", "503")

    with world.wire.faulty(down):
        for _ in range(4):
            assert not world.deliver(record)
            document = world.stack.document(key)
            assert document.status is DocumentStatus.PROCESSING
            assert document.error is not None
            assert document.error.code == "UNAVAILABLE"
        assert not world.deliver(record)  # the fifth: to the dead-letter queue
        document = world.stack.document(key)
        assert document.error is not None
        assert (document.status, document.error.code) == (DocumentStatus.FAILED, "RETRIES_EXHAUSTED")
    world.receives.clear()  # `make redrive` gives the message new deliveries
    assert world.deliver(record)
    world.check_converged(key, "Old")


def test_the_published_version_stays_published_while_its_successor_cannot_be_embedded(world: World) -> None:
    key = "uploads/refused/doc.pdf"
    record, _, _ = prepare(world, key, "replacement")

    def refuse(name: str) -> None:
        if name == "embedder.embed":
            raise DependencyRefused("embeddings", "401: the key is wrong")

    with world.wire.faulty(refuse):
        assert not world.deliver(record)
    document = world.stack.document(key)
    assert document.error is not None
    assert (document.status, document.error.code) == (DocumentStatus.FAILED, "UPSTREAM_REFUSED")
    world.check_whole(key, "Old")
    assert world.deliver(record)
    world.check_converged(key, "New")


def test_a_document_that_kills_every_worker_is_shown_as_failed(world: World) -> None:
    key = "uploads/poison/doc.pdf"
    world.put(key, OLD)
    record = world.message_for(key)
    for _ in range(5):
        world.wire.set(4)
        with pytest.raises(Killed):
            world.deliver(record)
        world.clock.advance(1_000)
    world.wire.clear()
    document = world.stack.document(key)
    assert document.error is not None
    assert (document.status, document.error.code) == (DocumentStatus.FAILED, "CRASHED")
    world.receives.clear()  # `make redrive`
    assert world.deliver(record)
    world.check_converged(key, "Old")
