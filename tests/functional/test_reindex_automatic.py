"""After a deployment with other settings the documents are re-indexed automatically, without a gap."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest

from functions.ingest import bootstrap, maintenance
from functions.ingest.lease import InvocationTime
from functions.ingest.reindex import BUSY_QUEUE, LONGEST_PAUSE_S, READERS_DONE_S, RUN_EVERY_S, AutomaticReindex
from shared.adapters.index_versions import DynamoReindexProgress
from shared.errors import ConfigurationError
from shared.models import DocumentStatus
from tests.support.embeddings import count_embeddings
from tests.support.ingest import Context, Stack, close_clients, forget_built, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, World, world_of
from tests.support.reindex import IndexVersions

Deploy = Callable[..., World]
PLENTY = InvocationTime(lambda: 900.0)
FIRST = {"chunk_size_tokens": 64, "chunk_overlap_tokens": 0}
SECOND = {"chunk_size_tokens": 96, "chunk_overlap_tokens": 0}
THIRD = {"chunk_size_tokens": 128, "chunk_overlap_tokens": 0}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path_factory.mktemp("stack")) as made:
        count_embeddings(patch)
        yield made


@pytest.fixture
def stack(running: Stack) -> Iterator[Stack]:
    yield running
    running.aws.dynamodb.delete_item(
        TableName=running.aws.documents_table, Key={"pk": {"S": "STACK"}, "sk": {"S": "REINDEX"}}
    )


@pytest.fixture
def deploy(stack: Stack) -> Iterator[Deploy]:
    """Return what deploys the ingest function with other settings over the same bucket, tables and index."""
    with ExitStack() as deployed:
        yield lambda **settings: deployed.enter_context(world_of(stack, **settings))


def fine() -> None:
    """Settings that work."""


def automatic_reindex_of(index_versions: IndexVersions, *, probe: Callable[[], None] = fine) -> AutomaticReindex:
    aws, guard = index_versions.world.stack.aws, index_versions.world.wire.guard
    store = guard(DynamoReindexProgress(aws.dynamodb, aws.documents_table), "store")
    return AutomaticReindex(index_versions.steps, store, lambda: [index_versions.tenant], probe)


def upload(world: World, tenant: str, count: int, *, marker: str = "Kept") -> list[str]:
    keys = [f"uploads/{tenant}/{marker}{n}.pdf" for n in range(count)]
    for key in keys:
        world.put(key, pdf_of([prose(marker, sentences=6, seed=n) for n in range(2)]))
        assert world.deliver(world.message_for(key))
    return keys


def test_the_maintenance_function_reindexes_unless_that_is_switched_off(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> dict[str, Any]:
        if bootstrap.batch.cache_info().currsize:
            close_clients(bootstrap.batch())
        forget_built()
        return dict(maintenance.handler({"recto": "reindex_automatically"}, cast("Any", Context())))

    key = "uploads/handler/doc.pdf"
    stack.put(key, pdf_of([prose("Kept", sentences=6, seed=1)]))
    assert stack.deliver(key) == []
    monkeypatch.setenv("RECTO_CHUNK_SIZE_TOKENS", "64")
    monkeypatch.setenv("RECTO_REINDEX_AUTOMATICALLY", "false")
    assert run() == {"automatic": False}
    monkeypatch.setenv("RECTO_REINDEX_AUTOMATICALLY", "true")
    report = run()
    assert "handler" in report["waiting"]
    assert report["changes"] >= 1
    changes = []
    while messages := stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url, MaxNumberOfMessages=10).get(
        "Messages"
    ):
        for message in messages:
            changes.append(message["Body"])
            stack.aws.sqs.delete_message(QueueUrl=stack.aws.queue_url, ReceiptHandle=message["ReceiptHandle"])
    for body in changes:
        assert stack.invoke({"Records": [stack.message(body)]}) == {"batchItemFailures": []}
    assert "handler" not in run()["waiting"]
    assert bootstrap.reindexer().index_versions.of("handler").current.number == 2


def test_documents_are_built_in_a_second_index_version_and_switched_to_when_all_are_there(deploy: Deploy) -> None:
    keys = upload(deploy(**FIRST), "change", 3)
    world = deploy(**SECOND)
    index_versions = IndexVersions(world, "change")
    automatic, before = automatic_reindex_of(index_versions), {key: index_versions.seen(key) for key in keys}
    assert automatic.run(PLENTY) == {"waiting": ["change"], "done": 0, "changes": 3, "problem": ""}
    assert {key: index_versions.seen(key) for key in keys} == before, "what is searched changed before the switch"
    assert world.deliver_all() == 3
    assert automatic.run(PLENTY)["waiting"] == []
    now = index_versions.now()
    assert (now.current.number, now.other and now.other.number) == (2, 1)
    for key in keys:
        assert index_versions.is_whole(key)
        assert index_versions.seen(key).keys().isdisjoint(before[key])
        assert world.stack.document(key).index_versions[2].settings_hash == automatic.reindexer.settings_hash


def test_when_nothing_changed_a_run_is_one_read(deploy: Deploy) -> None:
    world = deploy(**FIRST)
    upload(world, "same", 2)
    index_versions = IndexVersions(world, "same")
    automatic = automatic_reindex_of(index_versions)
    assert automatic.run(PLENTY)["waiting"] == []
    assert index_versions.now().other is None
    world.wire.clear()
    automatic.run(PLENTY)
    assert world.wire.calls == ["store.read"]


def test_a_run_that_dies_anywhere_is_made_up_for_by_the_next(deploy: Deploy) -> None:
    old, new = deploy(**FIRST), deploy(**SECOND)
    for kill_at in range(60):
        tenant = f"killed{kill_at}"
        (key,) = upload(old, tenant, 1)
        index_versions = IndexVersions(new, tenant)
        automatic = automatic_reindex_of(index_versions)
        new.stack.aws.dynamodb.delete_item(
            TableName=new.stack.aws.documents_table, Key={"pk": {"S": "STACK"}, "sk": {"S": "REINDEX"}}
        )
        alive = 0
        for _ in range(2):
            new.wire.set(kill_at)
            try:
                automatic.run(PLENTY)
                alive += 1
            except Killed:
                pass
            new.wire.clear()
            new.deliver_all()
            assert index_versions.is_whole(key)
            assert index_versions.seen(key)
        for _ in range(3):
            new.clock.advance(RUN_EVERY_S)
            waiting = automatic.run(PLENTY)["waiting"]
            new.deliver_all()
        assert waiting == [], f"killed at {kill_at}"
        assert index_versions.now().current.number == 2
        if alive == 2:
            assert kill_at > 5, "the calls of a run were not reached"
            return
    pytest.fail("a run makes more calls than were tried")


def test_uploads_go_first(deploy: Deploy) -> None:
    upload(deploy(**FIRST), "polite", 1)
    world = deploy(**SECOND)
    automatic = automatic_reindex_of(IndexVersions(world, "polite"))
    world.queue.sent.extend(["upload"] * (BUSY_QUEUE + 1))
    assert automatic.run(PLENTY)["changes"] == 0
    world.queue.sent.clear()
    assert automatic.run(PLENTY)["changes"] == 1


def test_settings_that_cannot_work_start_nothing_and_are_reported(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "broken", 1)
    world = deploy(**SECOND)
    index_versions = IndexVersions(world, "broken")

    def refuse() -> None:
        raise ConfigurationError("There is no Pinecone index 'wide'.")

    report = automatic_reindex_of(index_versions, probe=refuse).run(PLENTY)
    assert (report["waiting"], report["changes"], report["problem"]) == (
        ["broken"],
        0,
        "There is no Pinecone index 'wide'.",
    )
    assert index_versions.now().other is None
    upload(world, "broken", 1)
    assert index_versions.is_whole(key)
    world.clock.advance(RUN_EVERY_S)
    assert automatic_reindex_of(index_versions).run(PLENTY)["problem"] == ""


def test_a_rollback_holds_until_the_settings_change_again(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "declined", 1)
    world = deploy(**SECOND)
    index_versions = IndexVersions(world, "declined")
    automatic = automatic_reindex_of(index_versions)
    automatic.run(PLENTY)
    world.deliver_all()
    automatic.run(PLENTY)
    assert index_versions.steps.rollback("declined").declined
    automatic.store.write(automatic.store.read()._replace(waiting=["declined"]))  # type: ignore[union-attr]
    assert automatic.run(PLENTY)["waiting"] == []
    assert index_versions.now().current.number == 1
    third = deploy(**THIRD)
    third.clock.advance(READERS_DONE_S)
    index_versions = IndexVersions(third, "declined")
    automatic = automatic_reindex_of(index_versions)
    assert automatic.run(PLENTY)["changes"] == 1
    third.deliver_all()
    assert automatic.run(PLENTY)["waiting"] == []
    assert (
        third.stack.document(key).index_versions[index_versions.now().current.number].settings_hash
        == automatic.reindexer.settings_hash
    )


def test_a_change_of_settings_drops_the_index_version_that_was_kept(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "twice", 1)
    second = deploy(**SECOND)
    automatic = automatic_reindex_of(IndexVersions(second, "twice"))
    automatic.run(PLENTY)
    second.deliver_all()
    automatic.run(PLENTY)
    third = deploy(**THIRD)
    index_versions = IndexVersions(third, "twice")
    automatic = automatic_reindex_of(index_versions)
    assert automatic.run(PLENTY)["changes"] == 0, "requests may still read the index version before"
    third.clock.advance(READERS_DONE_S)
    assert automatic.run(PLENTY)["changes"] == 1
    assert [index_version.number for index_version in index_versions.now().live] == [3, 2]
    assert index_versions.is_whole(key)
    third.deliver_all()
    third.clock.advance(RUN_EVERY_S)
    assert automatic.run(PLENTY)["waiting"] == []
    assert index_versions.now().current.number == 3


def test_an_index_version_follows_settings_that_change_while_it_is_built(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "midway", 1)
    second = deploy(**SECOND)
    automatic_reindex_of(IndexVersions(second, "midway")).run(PLENTY)
    second.deliver_all()  # built with the second settings, and not switched to yet
    third = deploy(**THIRD)
    index_versions = IndexVersions(third, "midway")
    automatic = automatic_reindex_of(index_versions)
    assert automatic.run(PLENTY)["changes"] == 1
    assert index_versions.now().current.number == 1
    third.deliver_all()
    assert automatic.run(PLENTY)["waiting"] == []
    assert third.stack.document(key).index_versions[2].settings_hash == automatic.reindexer.settings_hash


def test_a_reindex_without_progress_is_checked_less_and_less_often(deploy: Deploy) -> None:
    upload(deploy(**FIRST), "stuck", 1)
    world = deploy(**SECOND)
    automatic = automatic_reindex_of(IndexVersions(world, "stuck"))
    pauses = []
    for _ in range(11):
        automatic.run(PLENTY)
        note = automatic.store.read()
        assert note is not None
        pauses.append(note.next_at - world.clock.now().timestamp())
        world.clock.advance(max(pauses[-1], 0.0))
    assert pauses[:5] == pytest.approx([0.0, RUN_EVERY_S, 2 * RUN_EVERY_S, 4 * RUN_EVERY_S, 8 * RUN_EVERY_S], abs=1)
    assert pauses[-1] == pytest.approx(LONGEST_PAUSE_S, abs=1)
    world.wire.clear()
    automatic.run(PLENTY)
    automatic.run(PLENTY)
    assert world.wire.calls.count("store.read") == 2
    world.deliver_all()
    world.clock.advance(LONGEST_PAUSE_S)
    assert automatic.run(PLENTY)["waiting"] == []


def test_documents_unreadable_with_the_former_settings_are_tried_with_the_new(deploy: Deploy) -> None:
    first = deploy(**FIRST)
    upload(first, "unread", 1)
    key = "uploads/unread/broken.pdf"
    first.put(key, b"no PDF")
    assert first.deliver(first.message_for(key))
    world = deploy(**SECOND)
    automatic = automatic_reindex_of(IndexVersions(world, "unread"))
    assert automatic.run(PLENTY)["changes"] == 2
    world.deliver_all()
    document = world.stack.document(key)
    assert (document.status, document.settings_hash) == (DocumentStatus.FAILED, automatic.reindexer.settings_hash)
    assert automatic.run(PLENTY) == {"waiting": [], "done": 2, "changes": 0, "problem": ""}
