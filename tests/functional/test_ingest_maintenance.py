"""What a crash can leave is found and mended; nothing else is touched."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from functions.ingest import bootstrap, maintenance
from functions.ingest.changes import change_body
from functions.ingest.delivery import MAX_RECEIVES
from shared.adapters.document_registry import DynamoDocumentRegistry
from shared.models import DocumentStatus, VectorRecord, document_id_of, vector_id_of
from tests.support.ingest import Context, Stack, close_clients, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, world_of


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running


def run(event: dict[str, Any] | None = None, *, remaining_s: float = 900) -> dict[str, Any]:
    return dict(maintenance.handler(event or {}, cast("Any", Context(remaining_ms=int(remaining_s * 1_000)))))


def test_orphans_are_deleted_and_everything_published_stays(stack: Stack) -> None:
    key = "uploads/sweep/kept.pdf"
    stack.put(key, pdf_of([prose("Kept", sentences=5, seed=1)]))
    stack.deliver(key)
    document = stack.document(key)
    kept = stack.vectors("sweep", key)
    vectors = bootstrap.batch().reconciler.access.configured.vectors
    lost = [
        vector_id_of(document.document_id, "01OLDGENERATION", 0),
        vector_id_of(document.document_id, document.generation, document.chunk_count),
        vector_id_of(document_id_of("sweep", "uploads/sweep/never.pdf"), "G", 3),
        "not one of ours",
    ]
    unit = [1.0] + [0.0] * 383
    vectors.upsert(namespace="sweep", records=[VectorRecord(vector_id, unit, {"text": "x"}) for vector_id in lost])
    result = run()
    assert result["orphans"] == len(lost)
    assert stack.vectors("sweep") == kept
    assert run()["orphans"] == 0


def test_a_sweep_goes_tenant_by_tenant_and_says_which_it_could_not_finish(stack: Stack) -> None:
    for tenant in ("east", "west"):
        stack.put(f"uploads/{tenant}/doc.pdf", pdf_of([prose("Step", sentences=5, seed=1)]))
        stack.deliver(f"uploads/{tenant}/doc.pdf")
        vectors = bootstrap.batch().reconciler.access.configured.vectors
        unit = [1.0] + [0.0] * 383
        vectors.upsert(namespace=tenant, records=[VectorRecord("lost#G#0", unit, {"text": "x"})])
    assert {"east", "west"} <= set(run({"recto": "tenants"})["tenants"])
    late = run({"recto": "sweep", "tenant": "east"}, remaining_s=10)
    assert (late["orphans"], late["unfinished"]) == (0, ["east"])
    done = run({"recto": "sweep", "tenant": "east"})
    assert (done["orphans"], done["unfinished"]) == (1, [])
    assert "lost#G#0" not in stack.vectors("east")
    assert "lost#G#0" in stack.vectors("west")
    assert run()["orphans"] == 1


def test_a_stalled_document_gets_a_change_and_is_finished(stack: Stack) -> None:
    key = "uploads/stalled/doc.pdf"
    with world_of(stack) as world:
        world.clock.advance(-100_000)
        world.put(key, pdf_of([prose("Lost", sentences=5, seed=1)]))
        world.wire.set(3)
        with pytest.raises(Killed):
            world.deliver(world.message_for(key))  # and the message is lost as well
    assert stack.document(key).status is DocumentStatus.PROCESSING
    assert run()["changes"] == 1
    change = stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url)["Messages"][0]["Body"]
    assert stack.invoke({"Records": [stack.message(change)]}) == {"batchItemFailures": []}
    assert stack.document(key).status is DocumentStatus.READY
    assert run()["changes"] == 0


def test_a_change_delegated_to_a_worker_that_died_on_its_last_try_is_resumed(stack: Stack) -> None:
    key = "uploads/stalled/replaced.pdf"
    with world_of(stack) as world:
        world.clock.advance(-100_000)
        world.put(key, pdf_of([prose("Before", sentences=5, seed=1)]))
        first = world.message_for(key)
        world.receives[first["messageId"]] = MAX_RECEIVES - 1

        def replace_it(name: str) -> None:
            if name == "embedder.embed":
                world.wire.fault = lambda _name: None
                world.put(key, pdf_of([prose("After", sentences=5, seed=1)]))
                assert world.deliver(world.message_for(key)), "its message is not consumed"
                world.wire.set(0)  # and now the first worker dies

        world.wire.fault = replace_it
        with pytest.raises(Killed):
            world.deliver(first)
    assert stack.document(key).status is DocumentStatus.FAILED
    assert resume_stalled_documents(stack) == 1
    assert stack.document(key).status is DocumentStatus.READY
    assert all("After" in vector["text"] for vector in stack.vectors("stalled", key).values())


def test_a_deletion_that_never_reached_the_bucket_is_no_deletion(stack: Stack) -> None:
    key = "uploads/stalled/undeleted.pdf"
    with world_of(stack) as world:
        world.clock.advance(-100_000)
        world.put(key, pdf_of([prose("Still", sentences=5, seed=1)]))
        world.deliver(world.message_for(key))
        registry = DynamoDocumentRegistry(stack.aws.dynamodb, stack.aws.documents_table, world.clock)
        registry.unpublish("stalled", stack.document(key).document_id)  # and then the API dies
    assert stack.document(key).status is DocumentStatus.DELETING
    assert resume_stalled_documents(stack) == 1
    assert stack.document(key).status is DocumentStatus.READY
    assert resume_stalled_documents(stack) == 0


@pytest.mark.parametrize("then", ["", "Newer"])
def test_vectors_that_a_worker_died_before_sweeping_are_swept_though_its_message_was_lost(
    stack: Stack, then: str
) -> None:
    key = f"uploads/stalled/unswept{then}.pdf"
    with world_of(stack) as world:
        world.clock.advance(-100_000)
        world.put(key, pdf_of([prose("Older", sentences=5, seed=1)]))
        world.deliver(world.message_for(key))
        if then:
            world.put(key, pdf_of([prose(then, sentences=5, seed=1)]))
        else:
            stack.aws.s3.delete_object(Bucket=stack.aws.bucket, Key=key)

        def die(name: str) -> None:
            if name == "vectors.delete":
                raise Killed

        world.wire.fault = die
        with pytest.raises(Killed):
            world.deliver(world.message_for(key))
    assert any("Older" in vector["text"] for vector in stack.vectors("stalled", key).values())
    assert resume_stalled_documents(stack) == 1
    assert not any("Older" in vector["text"] for vector in stack.vectors("stalled", key).values())
    assert bool(stack.vectors("stalled", key)) == bool(then)
    assert resume_stalled_documents(stack) == 0


def resume_stalled_documents(stack: Stack) -> int:
    """Send change notifications for stalled documents and deliver them until they are consumed; return how many there
    were.
    """
    changes = int(run({"recto": "resume_stalled"})["changes"])
    for _ in range(changes):
        body = stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url)["Messages"][0]["Body"]
        tries = (stack.invoke({"Records": [stack.message(body, receives=n)]}) for n in range(1, MAX_RECEIVES + 1))
        assert any(not answer["batchItemFailures"] for answer in tries), (
            "the change notification went to the dead-letter queue"
        )
    return changes


def test_a_change_rebuilds_only_what_the_settings_changed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "uploads/anew/doc.pdf"
    stack.put(key, pdf_of([prose("Again", sentences=30, seed=1)]))
    stack.deliver(key)
    first = stack.document(key)
    for chunk_size, changes in ((512, False), (64, True)):
        monkeypatch.setenv("RECTO_CHUNK_SIZE_TOKENS", str(chunk_size))
        close_clients(bootstrap.batch())
        bootstrap.batch.cache_clear()
        assert stack.invoke({"Records": [stack.message(change_body(key))]}) == {"batchItemFailures": []}
        document = stack.document(key)
        assert (document.generation != first.generation) is changes
        assert len(stack.vectors("anew", key)) == document.chunk_count
