"""What a crash can leave is found and mended; nothing else is touched."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from functions.ingest import bootstrap, maintenance
from functions.ingest.events import hint_body
from shared.models import DocumentStatus, VectorRecord, document_id_of, vector_id_of
from tests.support.ingest import Context, Stack, close_clients, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, world_of


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        yield running
        bootstrap.scan.cache_clear()
        bootstrap.reindexer.cache_clear()


def run(event: dict[str, Any] | None = None, *, remaining_s: float = 900) -> dict[str, Any]:
    return dict(maintenance.handler(event or {}, cast("Any", Context(remaining_ms=int(remaining_s * 1_000)))))


def test_orphans_are_deleted_and_everything_published_stays(stack: Stack) -> None:
    key = "uploads/sweep/kept.pdf"
    stack.put(key, pdf_of([prose("Kept", sentences=5, seed=1)]))
    stack.deliver(key)
    document = stack.document(key)
    kept = stack.vectors("sweep", key)
    vectors = bootstrap.batch().reconciler.tools.vectors
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
        vectors = bootstrap.batch().reconciler.tools.vectors
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


def test_a_document_nobody_works_on_any_more_gets_a_hint_and_is_finished(stack: Stack) -> None:
    key = "uploads/forgotten/doc.pdf"
    with world_of(stack) as world:
        world.clock.advance(-100_000)
        world.put(key, pdf_of([prose("Lost", sentences=5, seed=1)]))
        world.wire.set(3)
        with pytest.raises(Killed):
            world.deliver(world.message_for(key))  # and the message is lost as well
    assert stack.document(key).status is DocumentStatus.PROCESSING
    assert run()["hints"] == 1
    hint = stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url)["Messages"][0]["Body"]
    assert stack.invoke({"Records": [stack.message(hint)]}) == {"batchItemFailures": []}
    assert stack.document(key).status is DocumentStatus.READY
    assert run()["hints"] == 0


def test_a_hint_builds_anew_only_what_the_settings_changed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "uploads/anew/doc.pdf"
    stack.put(key, pdf_of([prose("Again", sentences=30, seed=1)]))
    stack.deliver(key)
    first = stack.document(key)
    for chunk_size, changes in ((512, False), (64, True)):
        monkeypatch.setenv("RECTO_CHUNK_SIZE_TOKENS", str(chunk_size))
        close_clients(bootstrap.batch())
        bootstrap.batch.cache_clear()
        assert stack.invoke({"Records": [stack.message(hint_body(key))]}) == {"batchItemFailures": []}
        document = stack.document(key)
        assert (document.generation != first.generation) is changes
        assert len(stack.vectors("anew", key)) == document.chunk_count
