"""A re-index: built beside, switched without a gap, kept for going back, dropped when confirmed."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from functions.ingest import bootstrap, maintenance
from functions.ingest.reindex import READERS_DONE_S
from shared.adapters.index_versions import MAX_AGE_S
from shared.errors import Conflict
from shared.models import EmbeddingSpace, IndexVersion, namespace_of
from tests.support.embeddings import count_embeddings
from tests.support.ingest import Context, Stack, close_clients, forget_built, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, World, world_of
from tests.support.reindex import IndexVersions, lost_by_a_reindex_during_a_first_upload


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as running:
        count_embeddings(patch)
        yield running


@pytest.fixture(scope="module")
def world(stack: Stack) -> Iterator[World]:
    with world_of(stack, chunk_size_tokens=64, chunk_overlap_tokens=0, embedding_batch_inputs=4) as made:
        yield made


@pytest.fixture(autouse=True)
def _empty_queue(world: World) -> None:
    """What an earlier test left on the queue is not delivered in this one: tests are shared out in any order."""
    world.queue.sent.clear()


def upload(world: World, key: str, marker: str, *, pages: int = 2) -> None:
    world.put(key, pdf_of([prose(marker, sentences=4, seed=n) for n in range(pages)]))
    assert world.deliver(world.message_for(key))


def faq(marker: str) -> bytes:
    """Make a source that takes no time to read."""
    return json.dumps({"question": f"{marker} question?", "answer": f"{marker} answer."}).encode()


def words(texts: dict[str, str]) -> set[str]:
    return {text.removeprefix("Question: ").split()[0] for text in texts.values()}


def test_a_reindex_from_start_to_confirmation(world: World) -> None:
    index_versions, keys = IndexVersions(world, "whole"), [f"uploads/whole/{n}.pdf" for n in range(3)]
    for key in keys:
        upload(world, key, "Kept")
    first = index_versions.now().current
    assert first == IndexVersion(1, "whole", "recto", EmbeddingSpace("all-MiniLM-L6-v2", 384))
    begun = index_versions.steps.start("whole")
    assert (begun.phase, begun.documents, begun.done, begun.waiting) == ("building", 3, 0, 3)
    with pytest.raises(Conflict, match="3 documents"):
        index_versions.steps.switch("whole")
    before = {key: index_versions.seen(key) for key in keys}
    assert world.deliver_all() == 3
    assert {key: index_versions.seen(key) for key in keys} == before, "what is searched changed before the switch"
    assert index_versions.steps.status("whole").done == 3
    switched = index_versions.steps.switch("whole")
    assert (switched.phase, switched.current.namespace) == ("switched", "whole~2")
    for key in keys:
        assert list(index_versions.seen(key).values()) == list(before[key].values())
        assert set(index_versions.seen(key)).isdisjoint(before[key])
    with pytest.raises(Conflict, match="try again in"):
        index_versions.steps.confirm("whole")
    with pytest.raises(Conflict, match="confirm"):
        index_versions.steps.start("whole")
    world.clock.advance(READERS_DONE_S)
    confirmed = index_versions.steps.confirm("whole")
    assert (confirmed.phase, confirmed.current.number) == ("idle", 2)
    assert index_versions.everything(first) == {}
    with pytest.raises(Conflict, match="keeps no former index version"):
        index_versions.steps.rollback("whole")
    upload(world, keys[0], "Later")
    assert words(index_versions.seen(keys[0])) == {"Later"}
    assert index_versions.everything(first) == {}
    assert index_versions.steps.start("whole").other == replace(first, number=3, namespace="whole~3")


def test_uploads_and_deletions_during_the_building_are_right_after_switch_and_rollback(
    world: World,
) -> None:
    index_versions = IndexVersions(world, "busy")
    kept, replaced, erased, added, late = (f"uploads/busy/{name}.pdf" for name in "abcde")
    for key in (kept, replaced, erased):
        upload(world, key, "Old")
    index_versions.steps.start("busy")
    upload(world, replaced, "New")
    upload(world, added, "New")
    world.stack.delete(erased)
    assert world.deliver(world.message_for(erased, event="ObjectRemoved:Delete"))
    world.deliver_all()
    index_versions.steps.switch("busy")
    upload(world, late, "New")
    for _ in range(2):
        found = {key: words(index_versions.seen(key)) for key in (kept, replaced, erased, added, late)}
        assert found == {kept: {"Old"}, replaced: {"New"}, erased: set(), added: {"New"}, late: {"New"}}
        index_versions.steps.rollback("busy")


def test_what_the_api_deletes_is_gone_from_both_index_versions_at_once(world: World) -> None:
    index_versions, key = IndexVersions(world, "erase"), "uploads/erase/a.pdf"
    upload(world, key, "Secret")
    index_versions.steps.start("erase")
    world.deliver_all()
    document = world.stack.document(key)
    index_versions.documents.unpublish("erase", document.document_id)
    assert index_versions.seen(key) == {}
    index_versions.steps.switch("erase")
    assert index_versions.seen(key) == {}


def test_a_worker_that_dies_between_the_check_and_the_switch_loses_nothing(world: World) -> None:
    """At whatever call of whatever upload: what was found before the switch is found after it, and is no older."""
    for number, kill_at in enumerate(range(3, 60)):  # its first three calls change nothing
        tenant = f"narrow{number}"
        index_versions, old, new = IndexVersions(world, tenant), f"faq/{tenant}/old.json", f"faq/{tenant}/new.json"
        world.put(old, faq("Old"))
        assert world.deliver(world.message_for(old))
        index_versions.steps.start(tenant)
        world.deliver_all()
        seen: dict[str, set[str]] = {}

        def interfere(index_versions=index_versions, kill_at=kill_at, old=old, new=new, seen=seen) -> int:  # type: ignore[no-untyped-def]
            alive = 0
            for key in (old, new):
                world.put(key, faq("New"))
                record = world.message_for(key)
                world.wire.set(kill_at)
                try:
                    world.deliver(record)
                    alive += 1
                except Killed:
                    pass
                world.wire.clear()
            seen.update({key: words(index_versions.seen(key)) for key in (old, new)})
            return alive

        survivors = switch_with(index_versions, tenant, interfere)
        for key, before in seen.items():
            after = words(index_versions.seen(key))
            assert after == before or after == {"New"}, f"killed at {kill_at}: {key} was {before}, is {after}"
        if survivors == 2:
            assert kill_at > 15, "the calls of an upload were not reached"
            return
    pytest.fail("an upload makes more calls than were tried")


def test_a_first_upload_that_began_before_the_reindex_did_is_found_after_the_switch(world: World) -> None:
    for at in itertools.count():
        try:
            fault = lost_by_a_reindex_during_a_first_upload(world, at)
        except IndexError:
            assert at >= 10, "the calls of an upload were not reached"
            return
        assert not fault, f"at call {at}: {fault}"


def switch_with(index_versions: IndexVersions, tenant: str, interfere: Any) -> int:
    """Switch, and do something after the check and before the pointer is written."""
    done = []
    guarded = index_versions.steps.index_versions

    class Late:
        def __getattr__(self, name: str) -> Any:
            return getattr(guarded, name)

        def save(self, pointer: Any) -> bool:
            done.append(interfere())
            return guarded.save(pointer)

    replace(index_versions.steps, index_versions=cast("Any", Late())).switch(tenant)
    return int(done[0])


def test_a_start_that_died_is_continued_and_sends_no_change_for_what_is_done(world: World) -> None:
    index_versions, keys = IndexVersions(world, "resume"), [f"uploads/resume/{n}.pdf" for n in range(4)]
    for key in keys:
        upload(world, key, "Kept", pages=1)
    world.deliver_all()  # what an earlier test left on the queue
    world.wire.set(4)  # pointer read, pointer written, registry read, two change notifications
    with pytest.raises(Killed):
        index_versions.steps.start("resume")
    world.wire.clear()
    sent = world.deliver_all()
    assert 0 < sent < 4
    assert index_versions.steps.status("resume").done == sent
    assert index_versions.steps.start("resume").other == index_versions.now().other
    assert index_versions.now().other == IndexVersion(2, "resume~2", "recto", EmbeddingSpace("all-MiniLM-L6-v2", 384))
    assert world.deliver_all() == 4 - sent
    assert index_versions.steps.switch("resume").phase == "switched"


def test_two_who_switch_at_once_do_it_once(world: World) -> None:
    index_versions, key = IndexVersions(world, "twice"), "uploads/twice/a.pdf"
    upload(world, key, "Kept")
    index_versions.steps.start("twice")
    world.deliver_all()
    with pytest.raises(Conflict, match="changed meanwhile"):
        switch_with(index_versions, "twice", lambda: bool(index_versions.steps.switch("twice")))
    assert index_versions.steps.switch("twice").current.number == 2, "asking again changes nothing"


def test_a_document_that_cannot_be_built_is_named_and_holds_up_the_switch(world: World) -> None:
    index_versions, key = IndexVersions(world, "stuck"), "uploads/stuck/a.pdf"
    upload(world, key, "Kept")
    index_versions.steps.start("stuck")
    record = world.queue.receive()
    assert record is not None
    world.stack.faults(world.stack.pinecone_url, route="/vectors/upsert", kind="status", status=400, count=1)
    assert not world.deliver(record)
    assert list(index_versions.steps.status("stuck").failed) == [key]
    with pytest.raises(Conflict, match=r"a\.pdf"):
        index_versions.steps.switch("stuck")
    assert words(index_versions.seen(key)) == {"Kept"}
    assert world.deliver(record)
    assert index_versions.steps.switch("stuck").phase == "switched"


def test_unchanged_chunks_are_not_embedded_again_for_another_index_version_of_the_same_space(world: World) -> None:
    index_versions, key = IndexVersions(world, "thrifty"), "uploads/thrifty/a.pdf"
    upload(world, key, "Kept", pages=6)
    index_versions.steps.start("thrifty")
    world.wire.clear()
    world.deliver_all()
    assert "embedder.embed" not in world.wire.calls
    assert index_versions.steps.switch("thrifty").phase == "switched"


def test_a_new_version_is_embedded_once_for_both_index_versions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    index_versions, key = IndexVersions(world, "once"), "uploads/once/a.pdf"
    upload(world, key, "Old")
    index_versions.steps.start("once")
    world.deliver_all()
    embedded = count_embeddings(monkeypatch)
    upload(world, key, "New", pages=6)
    assert len(embedded) == world.stack.document(key).chunk_count
    assert set(embedded.values()) == {1}


def test_a_reader_follows_a_switch_within_seconds(world: World) -> None:
    index_versions, key = IndexVersions(world, "readers"), "uploads/readers/a.pdf"
    upload(world, key, "Kept")
    index_versions.steps.start("readers")
    world.deliver_all()
    assert index_versions.registry.current("readers").number == 1
    index_versions.steps.switch("readers")
    world.clock.advance(MAX_AGE_S - 1)
    assert index_versions.registry.current("readers").number == 1, "the pointer is read again for every question"
    world.clock.advance(1)
    assert index_versions.registry.current("readers").number == 2


def test_a_new_embedding_space_gets_an_index_of_its_own_and_questions_stay_with_the_old_until_the_switch(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the maintenance function, with the settings of a new deployment."""

    def run(action: str) -> dict[str, Any]:
        event = {"recto": "reindex", "action": action, "tenant": "space"}
        return dict(maintenance.handler(event, cast("Any", Context())))

    key = "uploads/space/a.pdf"
    stack.put(key, pdf_of([prose("Kept", sentences=8, seed=1)]))
    assert stack.deliver(key) == []
    spec = {"serverless": {"cloud": "aws", "region": "us-east-1"}}
    wider = {"name": "recto-wide", "dimension": 512, "metric": "dotproduct", "spec": spec}
    stack.http.post(f"{stack.pinecone_url}/indexes", json=wider, headers={"Api-Key": "pc-test"}).raise_for_status()
    monkeypatch.setenv("RECTO_EMBEDDING_MODEL", "text-embedding-3-small")
    monkeypatch.setenv("RECTO_EMBEDDING_DIMENSIONS", "512")
    monkeypatch.setenv("RECTO_PINECONE_INDEX", "recto-wide")
    close_clients(bootstrap.batch())
    forget_built()
    reconciler = bootstrap.batch().reconciler
    later = "uploads/space/b.pdf"
    stack.put(later, pdf_of([prose("Later", sentences=8, seed=1)]))
    assert stack.deliver(later) == []
    assert stack.document(later).embedding_space == "all-MiniLM-L6-v2@384", "mixed with what is searched"
    begun = run("start")
    assert begun["other"] == {
        "number": 2,
        "namespace": namespace_of("space", 2),
        "index": "recto-wide",
        "space": "text-embedding-3-small@512",
    }
    assert run("switch")["conflict"]
    messages = stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url, MaxNumberOfMessages=10)["Messages"]
    for message in messages:
        assert stack.invoke({"Records": [stack.message(message["Body"])]}) == {"batchItemFailures": []}
    switched = run("switch")
    assert (switched["phase"], switched["conflict"], switched["done"]) == ("switched", "", 2)
    index_version = reconciler.access.registry.of("space").current
    document = stack.document(key)
    vector_id = f"{document.document_id}#{document.index_versions[2].generation}#0"
    reader = reconciler.access.dependencies_of(index_version).reader
    found = reader.fetch(namespace=index_version.namespace, ids=[vector_id])
    assert len(found[vector_id].values) == 512
    assert run("rollback")["current"]["number"] == 1
    assert run("confirm")["conflict"]
    old: Any = reconciler.access.dependencies_of(reconciler.access.registry.of("space").current).vectors
    old.close()  # the other one is closed with the batch
