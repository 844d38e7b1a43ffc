"""After a deployment with other settings the documents are built anew by themselves, without a gap."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest

from functions.ingest import bootstrap, maintenance
from functions.ingest.deadline import Deadline
from functions.ingest.reindex import READERS_S
from functions.ingest.renewal import FEW, LONGEST_PAUSE_S, LOOK_S, Renewal
from shared.adapters.index_versions import DynamoRenewalNotes
from shared.errors import ConfigurationError
from shared.models import DocumentStatus
from tests.support.embeddings import count_embeddings
from tests.support.ingest import Context, Stack, close_clients, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, World, world_of
from tests.support.reindex import Views

Deploy = Callable[..., World]
PLENTY = Deadline(lambda: 900.0)
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
        TableName=running.aws.documents_table, Key={"pk": {"S": "STACK"}, "sk": {"S": "RENEWAL"}}
    )


@pytest.fixture
def deploy(stack: Stack) -> Iterator[Deploy]:
    """Return what deploys the ingest function with other settings over the same bucket, tables and index."""
    with ExitStack() as deployed:
        yield lambda **settings: deployed.enter_context(world_of(stack, **settings))


def fine() -> None:
    """Settings that work."""


def renewal_of(views: Views, *, probe: Callable[[], None] = fine) -> Renewal:
    aws, guard = views.world.stack.aws, views.world.wire.guard
    notes = guard(DynamoRenewalNotes(aws.dynamodb, aws.documents_table), "notes")
    return Renewal(views.steps, notes, lambda: [views.tenant], probe)


def upload(world: World, tenant: str, count: int, *, marker: str = "Kept") -> list[str]:
    keys = [f"uploads/{tenant}/{marker}{n}.pdf" for n in range(count)]
    for key in keys:
        world.put(key, pdf_of([prose(marker, sentences=6, seed=n) for n in range(2)]))
        assert world.deliver(world.message_for(key))
    return keys


def deliver_all(world: World) -> int:
    count = 0
    while (record := world.queue.receive()) is not None:
        assert world.deliver(record)
        count += 1
    return count


def test_the_maintenance_function_does_it_unless_it_is_switched_off(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> dict[str, Any]:
        for cached in (bootstrap.batch, bootstrap.scan, bootstrap.comparison, bootstrap.reindexer, bootstrap.renewal):
            if cached is bootstrap.batch and cached.cache_info().currsize:
                close_clients(bootstrap.batch())
            cached.cache_clear()
        return dict(maintenance.handler({"recto": "renew"}, cast("Any", Context())))

    key = "uploads/handler/doc.pdf"
    stack.put(key, pdf_of([prose("Kept", sentences=6, seed=1)]))
    assert stack.deliver(key) == []
    monkeypatch.setenv("RECTO_CHUNK_SIZE_TOKENS", "64")
    monkeypatch.setenv("RECTO_REINDEX_AUTOMATICALLY", "false")
    assert run() == {"automatic": False}
    monkeypatch.setenv("RECTO_REINDEX_AUTOMATICALLY", "true")
    told = run()
    assert "handler" in told["waiting"]
    assert told["hints"] >= 1
    hints = []
    while messages := stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url, MaxNumberOfMessages=10).get(
        "Messages"
    ):
        for message in messages:
            hints.append(message["Body"])
            stack.aws.sqs.delete_message(QueueUrl=stack.aws.queue_url, ReceiptHandle=message["ReceiptHandle"])
    for body in hints:
        assert stack.invoke({"Records": [stack.message(body)]}) == {"batchItemFailures": []}
    assert "handler" not in run()["waiting"]
    assert bootstrap.reindexer().views.of("handler").current.number == 2


def test_documents_are_built_beside_and_switched_to_when_all_are_there(deploy: Deploy) -> None:
    keys = upload(deploy(**FIRST), "change", 3)
    world = deploy(**SECOND)
    views = Views(world, "change")
    renewal, before = renewal_of(views), {key: views.seen(key) for key in keys}
    assert renewal.look(PLENTY) == {"waiting": ["change"], "done": 0, "hints": 3, "problem": ""}
    assert {key: views.seen(key) for key in keys} == before, "what is searched changed before the switch"
    assert deliver_all(world) == 3
    assert renewal.look(PLENTY)["waiting"] == []
    now = views.now()
    assert (now.current.number, now.other and now.other.number) == (2, 1)
    for key in keys:
        assert views.is_whole(key)
        assert views.seen(key).keys().isdisjoint(before[key])
        assert world.stack.document(key).views[2].settings_hash == renewal.reindexer.settings_hash


def test_when_nothing_changed_a_look_is_one_read(deploy: Deploy) -> None:
    world = deploy(**FIRST)
    upload(world, "same", 2)
    views = Views(world, "same")
    renewal = renewal_of(views)
    assert renewal.look(PLENTY)["waiting"] == []
    assert views.now().other is None
    world.wire.clear()
    renewal.look(PLENTY)
    assert world.wire.calls == ["notes.read"]


def test_a_look_that_dies_anywhere_is_made_up_for_by_the_next(deploy: Deploy) -> None:
    old, new = deploy(**FIRST), deploy(**SECOND)
    for kill_at in range(60):
        tenant = f"killed{kill_at}"
        (key,) = upload(old, tenant, 1)
        views = Views(new, tenant)
        renewal = renewal_of(views)
        new.stack.aws.dynamodb.delete_item(
            TableName=new.stack.aws.documents_table, Key={"pk": {"S": "STACK"}, "sk": {"S": "RENEWAL"}}
        )
        alive = 0
        for _ in range(2):
            new.wire.set(kill_at)
            try:
                renewal.look(PLENTY)
                alive += 1
            except Killed:
                pass
            new.wire.clear()
            deliver_all(new)
            assert views.is_whole(key)
            assert views.seen(key)
        for _ in range(3):
            new.clock.advance(LOOK_S)
            waiting = renewal.look(PLENTY)["waiting"]
            deliver_all(new)
        assert waiting == [], f"killed at {kill_at}"
        assert views.now().current.number == 2
        if alive == 2:
            assert kill_at > 5, "the calls of a look were not reached"
            return
    pytest.fail("a look makes more calls than were tried")


def test_what_people_upload_goes_first(deploy: Deploy) -> None:
    upload(deploy(**FIRST), "polite", 1)
    world = deploy(**SECOND)
    renewal = renewal_of(Views(world, "polite"))
    world.queue.sent.extend(["upload"] * (FEW + 1))
    assert renewal.look(PLENTY)["hints"] == 0
    world.queue.sent.clear()
    assert renewal.look(PLENTY)["hints"] == 1


def test_settings_that_cannot_work_begin_nothing_and_are_told_about(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "broken", 1)
    world = deploy(**SECOND)
    views = Views(world, "broken")

    def refuse() -> None:
        raise ConfigurationError("There is no Pinecone index 'wide'.")

    told = renewal_of(views, probe=refuse).look(PLENTY)
    assert (told["waiting"], told["hints"], told["problem"]) == (["broken"], 0, "There is no Pinecone index 'wide'.")
    assert views.now().other is None
    upload(world, "broken", 1)
    assert views.is_whole(key)
    world.clock.advance(LOOK_S)
    assert renewal_of(views).look(PLENTY)["problem"] == ""


def test_what_an_operator_rolled_back_from_is_left_alone_until_the_settings_change_again(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "declined", 1)
    world = deploy(**SECOND)
    views = Views(world, "declined")
    renewal = renewal_of(views)
    renewal.look(PLENTY)
    deliver_all(world)
    renewal.look(PLENTY)
    assert views.steps.rollback("declined").declined
    renewal.notes.write(renewal.notes.read()._replace(waiting=["declined"]))  # type: ignore[union-attr]
    assert renewal.look(PLENTY)["waiting"] == []
    assert views.now().current.number == 1
    third = deploy(**THIRD)
    third.clock.advance(READERS_S)
    views = Views(third, "declined")
    renewal = renewal_of(views)
    assert renewal.look(PLENTY)["hints"] == 1
    deliver_all(third)
    assert renewal.look(PLENTY)["waiting"] == []
    assert third.stack.document(key).views[views.now().current.number].settings_hash == renewal.reindexer.settings_hash


def test_settings_that_change_while_the_view_before_is_kept_replace_it(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "twice", 1)
    second = deploy(**SECOND)
    renewal = renewal_of(Views(second, "twice"))
    renewal.look(PLENTY)
    deliver_all(second)
    renewal.look(PLENTY)
    third = deploy(**THIRD)
    views = Views(third, "twice")
    renewal = renewal_of(views)
    assert renewal.look(PLENTY)["hints"] == 0, "readers of the view before may still be at it"
    third.clock.advance(READERS_S)
    assert renewal.look(PLENTY)["hints"] == 1
    assert [view.number for view in views.now().live] == [3, 2]
    assert views.is_whole(key)
    deliver_all(third)
    third.clock.advance(LOOK_S)
    assert renewal.look(PLENTY)["waiting"] == []
    assert views.now().current.number == 3


def test_settings_that_change_while_a_view_is_built_are_those_it_ends_with(deploy: Deploy) -> None:
    (key,) = upload(deploy(**FIRST), "midway", 1)
    second = deploy(**SECOND)
    renewal_of(Views(second, "midway")).look(PLENTY)
    deliver_all(second)  # built with the second settings, and not switched to yet
    third = deploy(**THIRD)
    views = Views(third, "midway")
    renewal = renewal_of(views)
    assert renewal.look(PLENTY)["hints"] == 1
    assert views.now().current.number == 1
    deliver_all(third)
    assert renewal.look(PLENTY)["waiting"] == []
    assert third.stack.document(key).views[2].settings_hash == renewal.reindexer.settings_hash


def test_what_does_not_move_is_looked_at_less_and_less_often(deploy: Deploy) -> None:
    upload(deploy(**FIRST), "stuck", 1)
    world = deploy(**SECOND)
    renewal = renewal_of(Views(world, "stuck"))
    pauses = []
    for _ in range(11):
        renewal.look(PLENTY)
        note = renewal.notes.read()
        assert note is not None
        pauses.append(note.next_at - world.clock.now().timestamp())
        world.clock.advance(max(pauses[-1], 0.0))
    assert pauses[:5] == pytest.approx([0.0, LOOK_S, 2 * LOOK_S, 4 * LOOK_S, 8 * LOOK_S], abs=1)
    assert pauses[-1] == pytest.approx(LONGEST_PAUSE_S, abs=1)
    world.wire.clear()
    renewal.look(PLENTY)
    renewal.look(PLENTY)
    assert world.wire.calls.count("notes.read") == 2
    deliver_all(world)
    world.clock.advance(LONGEST_PAUSE_S)
    assert renewal.look(PLENTY)["waiting"] == []


def test_what_could_not_be_read_with_the_former_settings_is_tried_with_the_new(deploy: Deploy) -> None:
    first = deploy(**FIRST)
    upload(first, "unread", 1)
    key = "uploads/unread/broken.pdf"
    first.put(key, b"no PDF")
    assert first.deliver(first.message_for(key))
    world = deploy(**SECOND)
    renewal = renewal_of(Views(world, "unread"))
    assert renewal.look(PLENTY)["hints"] == 2
    deliver_all(world)
    document = world.stack.document(key)
    assert (document.status, document.settings_hash) == (DocumentStatus.FAILED, renewal.reindexer.settings_hash)
    assert renewal.look(PLENTY) == {"waiting": [], "done": 2, "hints": 0, "problem": ""}
