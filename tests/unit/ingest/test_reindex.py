"""The steps of a re-index, and the automatic one: what is waited for, what is sent, and what is refused."""

import json
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from functions.ingest.reindex import (
    BUSY_QUEUE,
    LONGEST_PAUSE_S,
    MAX_CLOCK_SKEW,
    RUN_EVERY_S,
    AutomaticReindex,
    Reindexer,
    is_done,
    take_step,
)
from shared.errors import Conflict, DependencyUnavailable, InvalidRequest
from shared.models import DocumentError, DocumentStatus, EmbeddingSpace, IndexVersion
from shared.ports import ReindexProgress, ScannedDocument, TenantIndexVersions
from tests.support.clock import FakeClock

SPACE = EmbeddingSpace("small", 512)


def version(number: int, index: str = "index") -> IndexVersion:
    return IndexVersion(number, f"acme~{number}", index, SPACE)


def published(generation: str, version_id: str = "v", settings: str = "now") -> Any:
    return SimpleNamespace(generation=generation, version_id=version_id, settings_hash=settings)


QUOTA = DocumentError("QUOTA_EXHAUSTED", "Raise the quota.")


def scanned(name: str = "a", *, leased: bool = False, **fields: Any) -> ScannedDocument:
    known = {
        **{"key": f"uploads/acme/{name}.pdf", "status": DocumentStatus.READY, "error": None},
        **{"created_at": "", "settings_hash": ""},
    }
    document: Any = SimpleNamespace(**(known | {"index_versions": fields.pop("in_", {})} | fields))
    return ScannedDocument(document, leased)


class World:
    """One tenant's pointer, its documents, and what a re-index does with them."""

    def __init__(self, *documents: ScannedDocument, other: IndexVersion | None = None, current: int = 1) -> None:
        self.clock = FakeClock()
        self.documents = list(documents)
        self.pointer = TenantIndexVersions("acme", version(current), other, self.clock.now().isoformat())
        self.wanted = "index"
        self.emptied: list[str] = []
        self.queue = Mock()
        self.queue.waiting.return_value = 0
        self.is_beaten = False
        namespaces: Any = lambda _: SimpleNamespace(drop=lambda namespace: self.emptied.append(namespace))  # noqa: E731
        registry: Any = self
        self.reindexer = Reindexer(
            registry,
            SimpleNamespace(of=self.scan),
            self.queue,
            self.clock,
            lambda _, number: version(number, self.wanted),
            "now",
            namespaces,
        )

    def scan(self, _: str) -> Iterator[ScannedDocument]:
        return iter(self.documents)

    def of(self, _: str) -> TenantIndexVersions:
        return self.pointer

    def save(self, pointer: TenantIndexVersions) -> bool:
        if not self.is_beaten:
            self.pointer = pointer
        return not self.is_beaten

    @property
    def sent(self) -> int:
        return int(self.queue.send.call_count)


NOWHERE = scanned("nowhere")
IN_ONE = scanned("one", in_={1: published("g1")})
IN_BOTH = scanned("both", in_={1: published("g1"), 2: published("g1~2")})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (NOWHERE, True),
        (scanned(leased=True), False),  # its worker may not know of the second one
        (IN_ONE, False),
        (IN_BOTH, True),
        (scanned(in_={2: published("g1~2")}), True),
        (scanned(in_={1: published("g1", "v1"), 2: published("g0~2", "v0")}), False),  # an older state
        (scanned(in_={1: published("g1", "v1"), 2: published("g2~2", "v2")}), True),
    ],
)
def test_a_document_is_done_where_a_switch_loses_nothing_of_it(document: ScannedDocument, expected: bool) -> None:
    assert is_done(document, World(other=version(2)).pointer) is expected


def test_a_start_adds_an_index_version_and_sends_what_is_not_in_it() -> None:
    failed = scanned("failed", status=DocumentStatus.FAILED, in_=IN_BOTH.document.index_versions)
    world = World(IN_ONE, IN_BOTH, failed, scanned("gone", status=DocumentStatus.DELETED, in_={1: published("g1")}))
    status = world.reindexer.start("acme")
    assert (status.phase, status.current.number, status.other) == ("building", 1, version(2))
    assert world.sent == 2
    world.reindexer.start("acme")
    assert world.pointer.other == version(2), "it goes on with the one that was begun"


def test_one_that_was_begun_for_another_index_is_dropped() -> None:
    world = World(other=version(2))
    world.wanted = "elsewhere"
    assert world.reindexer.begin("acme").other == version(3, "elsewhere")
    assert world.emptied == ["acme~2"]


def test_the_status_counts_what_is_done_waiting_and_failed() -> None:
    failed = scanned("failed", status=DocumentStatus.FAILED, error=QUOTA, in_={1: published("g1")})
    held = scanned("held", leased=True, status=DocumentStatus.FAILED, in_={1: published("g1")})
    world = World(IN_ONE, IN_BOTH, NOWHERE, failed, held, other=version(2))
    status = world.reindexer.status("acme")
    assert (status.documents, status.done, status.waiting) == (5, 2, 2)
    assert status.failed == {"uploads/acme/failed.pdf": QUOTA}
    assert World(IN_ONE).reindexer.status("acme").phase == "idle"


def test_a_switch_waits_for_every_document_and_can_be_taken_back_and_confirmed() -> None:
    world = World(IN_ONE, other=version(2))
    with pytest.raises(Conflict, match="1 document of tenant acme is not in"):
        world.reindexer.switch("acme")
    world.documents = [IN_BOTH]
    assert world.reindexer.switch("acme").phase == "switched"
    assert world.reindexer.switch("acme").current == version(2), "repeated, it does no harm"
    assert world.reindexer.rollback("acme").declined
    assert world.reindexer.rollback("acme").current == version(1)
    with pytest.raises(Conflict, match="try again in 60 s"):
        world.reindexer.confirm("acme")
    world.clock.advance(60)
    assert world.reindexer.confirm("acme").phase == "idle"
    assert world.emptied == ["acme~2"]
    assert world.pointer.dropped == [version(2)]


def test_without_a_second_index_version_nothing_is_switched_or_rolled_back() -> None:
    for step in (World().reindexer.switch, World().reindexer.rollback):
        with pytest.raises(Conflict):
            step("acme")


def test_while_an_older_index_version_is_kept_none_is_begun() -> None:
    with pytest.raises(Conflict, match="still keeps"):
        World(other=version(1), current=2).reindexer.begin("acme")


def test_a_change_of_the_pointer_that_was_beaten_is_a_conflict() -> None:
    world = World()
    world.is_beaten = True
    with pytest.raises(Conflict, match="changed meanwhile"):
        world.reindexer.start("acme")


@pytest.mark.parametrize(("hours", "left"), [(1, [1, 2]), (25, [2])])
def test_dropped_index_versions_are_emptied_again_for_a_day(hours: int, left: list[int]) -> None:
    world = World(current=1)
    world.pointer = world.pointer._replace(dropped=[version(1), version(2)])
    world.clock.advance(3_600.0 * hours)
    assert world.reindexer.purge_dropped("acme") == len(left)
    assert world.emptied == ["acme~1", "acme~2"]
    assert [each.number for each in world.pointer.dropped] == left


@pytest.mark.parametrize(
    ("age", "leased", "waited_for"),
    [
        (timedelta(hours=-1), True, True),
        (MAX_CLOCK_SKEW / 2, True, True),  # the worker's clock may be ahead
        (timedelta(hours=2), True, False),
        (timedelta(hours=2), False, True),
    ],
)
def test_a_switch_does_not_wait_for_uploads_that_came_after_it_was_known(
    age: timedelta, leased: bool, waited_for: bool
) -> None:
    world = World(other=version(2))
    created = (world.clock.now() + age).isoformat()
    world.documents = [scanned(created_at=created, leased=leased)]
    assert bool(list(world.reindexer.documents_to_check(world.pointer))) is waited_for


def test_a_tombstone_is_waited_for_only_while_a_worker_holds_it() -> None:
    tombstones = [scanned(status=DocumentStatus.DELETED, leased=leased) for leased in (True, False)]
    world = World(*tombstones, other=version(2))
    assert list(world.reindexer.documents_to_check(world.pointer)) == tombstones[:1]


def test_a_step_on_request_tells_its_conflict_and_only_known_steps_are_taken() -> None:
    told = take_step(World(IN_ONE, other=version(2)).reindexer, "switch", "acme")
    assert "not in the other index version" in told["conflict"]
    assert (told["phase"], told["other"]["number"], told["current"]["space"]) == ("building", 2, "small@512")
    assert take_step(World().reindexer, "status", "acme")["other"] is None
    for action, tenant in (("jump", "acme"), ("status", "")):
        with pytest.raises(InvalidRequest):
            take_step(World().reindexer, action, tenant)


class Kept:
    """Keeps the progress of the automatic re-index."""

    def __init__(self) -> None:
        self.progress: ReindexProgress | None = None

    def read(self) -> ReindexProgress | None:
        return self.progress

    def write(self, progress: ReindexProgress) -> None:
        self.progress = progress


def automatic(world: World, kept: Kept, probe: Any = lambda: None) -> dict[str, Any]:
    near: Any = SimpleNamespace(is_near=False)
    return AutomaticReindex(world.reindexer, kept, lambda: ["acme"], probe).run(near)


def test_the_automatic_re_index_begins_sends_and_switches_in_turn() -> None:
    world, kept = World(IN_ONE), Kept()
    world.wanted = "elsewhere"
    first = automatic(world, kept)
    assert (first["waiting"], first["changes"]) == (["acme"], 1)
    assert world.pointer.other == version(2, "elsewhere")
    world.documents = [IN_BOTH]
    assert automatic(world, kept) == {"waiting": [], "done": 1, "changes": 0, "problem": ""}
    assert world.pointer.current.number == 2
    assert automatic(world, kept)["done"] == 1
    assert world.sent == 1


def test_uploads_go_first_while_the_queue_is_busy() -> None:
    world, kept = World(IN_ONE, other=version(2)), Kept()
    automatic(world, kept)
    for waiting, sent in ((BUSY_QUEUE + 1, 0), (BUSY_QUEUE, 1)):
        world.clock.advance(RUN_EVERY_S * 2)
        world.queue.waiting.return_value = waiting
        assert automatic(world, kept)["changes"] == sent


def test_without_progress_it_looks_ever_less_often() -> None:
    world, kept = World(scanned(leased=True, in_={1: published("g1")}), other=version(2)), Kept()
    pauses: list[float] = []
    for _ in range(12):
        automatic(world, kept)
        assert kept.progress is not None
        pauses.append(kept.progress.next_at - world.clock.now().timestamp())
        world.clock.advance(pauses[-1])
    assert pauses[:4] == [0.0, RUN_EVERY_S, 2 * RUN_EVERY_S, 4 * RUN_EVERY_S]
    assert pauses[-1] == LONGEST_PAUSE_S


def test_what_blocks_a_tenant_is_told_and_settings_that_were_declined_are_left_alone() -> None:
    world, kept = World(IN_ONE), Kept()
    world.wanted = "elsewhere"
    told = automatic(world, kept, probe=Mock(side_effect=DependencyUnavailable("vectors", "down")))
    assert "down" in told["problem"]
    assert told["waiting"] == ["acme"]
    world.pointer = world.pointer._replace(declined=world.reindexer.goal("acme"))
    assert automatic(world, Kept())["waiting"] == []
    assert world.pointer.other is None


def test_a_tenant_whose_pointer_was_changed_meanwhile_waits_for_the_next_run() -> None:
    world = World(IN_ONE)
    world.wanted, world.is_beaten = "elsewhere", True
    told = automatic(world, Kept())
    assert told["waiting"] == ["acme"]
    assert not told.get("problem")
    assert not world.sent


def test_a_document_of_old_settings_is_built_anew_and_one_that_was_rejected_under_them_is_tried_again() -> None:
    old = scanned("old", in_={1: published("g1", settings="then")})
    rejected = scanned("rejected", status=DocumentStatus.FAILED, settings_hash="then")
    world, kept = World(old, rejected, scanned("same", settings_hash="now")), Kept()
    assert automatic(world, kept)["changes"] == 2
    assert world.pointer.other == version(2)
    assert {json.loads(call.args[0])["key"] for call in world.queue.send.call_args_list} == {
        "uploads/acme/old.pdf", "uploads/acme/rejected.pdf"
    }  # fmt: skip


def test_a_re_index_drops_the_index_version_before_the_last_first() -> None:
    world = World(scanned("one", in_={2: published("g1~2")}), other=version(1), current=2)
    world.wanted = "elsewhere"
    world.clock.advance(60)
    assert automatic(world, Kept())["problem"] == ""
    assert (world.pointer.current, world.pointer.other) == (version(2), version(3, "elsewhere"))
    assert world.emptied == ["acme~1"]
