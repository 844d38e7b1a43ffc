"""Rounds of erasures: what is looked for, what is left, and when one ends; with stores in memory."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

import pytest

from functions.ingest import erasing
from functions.ingest.erasing import HELD_S, Eraser
from functions.ingest.lease import InvocationTime
from shared.erasures import Erasure, ScanPosition, SoughtErasure
from shared.errors import DependencyUnavailable
from shared.models import DocumentStatus, EmbeddingSpace, IndexVersion, document_id_of
from shared.ports import DocumentRemains, TenantIndexVersions
from tests.support.clock import FakeClock

AT = "2026-01-01T00:00:00.000+00:00"
BEGAN = 1_767_225_600.0
DOC = document_id_of("acme", "uploads/acme/lamp.pdf")
DOCUMENT = Erasure("acme", "E1", "document", DOC, "ann", AT, key="uploads/acme/lamp.pdf", title="Lamp")
USER = Erasure("acme", "E2", "user", "bob", "root", AT)
GONE = DocumentRemains(DocumentStatus.DELETED)


@dataclass
class World:
    """All that an eraser works on, and what it did."""

    erasures: dict[str, Erasure] = field(default_factory=dict)
    held: Mapping[str, Any] | None = field(default_factory=dict)
    let: list[Mapping[str, Any]] = field(default_factory=list)
    until: list[tuple[float, float]] = field(default_factory=list)
    scans: list[tuple[Sequence[SoughtErasure], ScanPosition]] = field(default_factory=list)
    traces: list[dict[str, Counter[str]]] = field(default_factory=list)
    versions: tuple[int, int] = (0, 0)
    remains_: DocumentRemains = GONE
    written_: dict[str, int] = field(default_factory=dict)
    forgets: bool = True
    edits: int = 0
    ids: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    unpublished: list[tuple[str, str]] = field(default_factory=list)
    error: Exception | None = None

    # the store of erasures
    def unfinished(self) -> Sequence[Erasure]:
        return [each for each in self.erasures.values() if each.state == "running"]

    def save(self, erasure: Erasure) -> None:
        self.erasures[erasure.erasure_id] = erasure

    def hold(self, now: float, until: float) -> Mapping[str, Any] | None:
        self.until.append((now, until))
        return self.held

    def let_go(self, scan: Mapping[str, Any]) -> None:
        self.let.append(scan)

    # the scan: two pages of the first table, one of the second
    def remove(
        self, sought: Sequence[SoughtErasure], position: ScanPosition
    ) -> tuple[Mapping[str, Counter[str]], ScanPosition | None]:
        self.scans.append((sought, position))
        found = self.traces.pop(0) if self.traces else {}
        following = {
            ("conversations", ""): ScanPosition("conversations", {"pk": "x"}),
            ("conversations", "x"): ScanPosition("cache"),
            ("cache", ""): None,
        }
        return found, following[position.table, position.key.get("pk", "")]

    # bucket, registry, edits
    def delete_versions(self, key: str, *, until: datetime | None = None) -> tuple[int, int]:
        assert (key, until) == (DOCUMENT.key, datetime.fromisoformat(AT))
        return self.versions

    def remains(self, tenant: str, document_id: str) -> DocumentRemains:
        if self.error:
            raise self.error
        return self.remains_

    def written(self, tenant: str, document_id: str) -> Mapping[str, int]:
        return self.written_

    def forget(self, tenant: str, document_id: str) -> bool:
        return self.forgets

    def erase_document(self, tenant: str, document_id: str) -> int:
        return self.edits

    def forget_editor(self, tenant: str, user: str) -> int:
        return self.edits

    # vectors
    def list_ids(self, *, namespace: str, prefix: str) -> Sequence[list[str]]:
        assert prefix == f"{DOC}#"
        return [self.ids[:2], self.ids[2:]] if namespace == "acme" else []

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        self.deleted += ids

    # the queue
    def send(self, body: str) -> None:
        self.sent.append(body)


class Access:
    """One live index version of every tenant."""

    def __init__(self, world: World) -> None:
        self.vectors = world
        self.registry = self

    def of(self, tenant: str) -> TenantIndexVersions:
        live = IndexVersion(1, tenant, "recto", EmbeddingSpace("m", 2))
        return cast(
            "TenantIndexVersions", type("Versions", (), {"live": [live], "dropped": [replace(live, namespace="old")]})
        )

    def dependencies_of(self, _: IndexVersion) -> "Access":
        return self


def eraser(world: World, clock: FakeClock) -> Eraser:
    ports = cast("Any", world)
    return Eraser(
        *(ports, ports, ports, ports, ports),
        access=lambda: cast("Any", Access(world)),
        queue=ports,
        unpublish=lambda tenant, document_id: world.unpublished.append((tenant, document_id)),
        sign=lambda receipt: {**receipt, "signature": "S"},
        clock=clock,
        settle_s=100,
    )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def world_of(*erasures: Erasure, **more: Any) -> World:
    return World({each.erasure_id: each for each in erasures}, **more)


def run(world: World, clock: FakeClock, *, left_s: float = 900) -> dict[str, int]:
    return eraser(world, clock).run(InvocationTime(lambda: left_s, 60))


def test_an_erasure_ends_with_a_receipt_once_nothing_is_found_and_nobody_can_write(clock: FakeClock):
    world = world_of(DOCUMENT, USER)
    clock.advance(99)
    assert run(world, clock) == {"finished": 0, "unfinished": 2}
    assert world.erasures["E1"].left == ["requests that began before it may write until 2026-01-01T00:01:40+00:00"]
    assert (world.erasures["E1"].rounds, world.erasures["E1"].finished_at, world.erasures["E1"].title) == (
        1,
        "",
        "Lamp",
    )
    clock.advance(1)
    assert run(world, clock) == {"finished": 2, "unfinished": 0}
    done = world.erasures["E1"]
    now = "2026-01-01T00:01:40.000+00:00"
    assert (done.state, done.finished_at, done.left, done.rounds, done.key, done.title) == (
        "erased",
        now,
        [],
        2,
        "",
        "",
    )
    assert (
        done.receipt["signature"],
        done.receipt["re_read_at"],
        done.receipt["settled_s"],
        done.receipt["state"],
    ) == (
        "S",
        now,
        100,
        "erased",
    )
    assert world.until == [(BEGAN + 99, BEGAN + 99 + HELD_S), (BEGAN + 100, BEGAN + 100 + HELD_S)]
    assert world.let == [{}, {}]
    assert run(world, clock) == {"finished": 0, "unfinished": 0}
    assert len(world.until) == 2, "without erasures there is no round"


def test_what_was_found_is_looked_for_again_and_the_vector_store_gets_time(clock: FakeClock):
    clock.advance(200)
    world = world_of(
        DOCUMENT,
        versions=(2, 0),
        edits=3,
        written_={"G1": 2},
        remains_=DocumentRemains(DocumentStatus.DELETED, has_name=True),
        ids=[f"{DOC}#G1#{n}" for n in range(3)],
        traces=[{"E1": Counter(answers=1)}, {"E1": Counter(answers=2, feedback=1)}, {"E1": Counter(cached_answers=1)}],
    )
    assert run(world, clock) == {"finished": 0, "unfinished": 1}
    found = {
        "object_versions": 2,
        "passage_edits": 3,
        "vectors": 3,
        "answers": 3,
        "feedback": 1,
        "cached_answers": 1,
        "registry": 1,
    }
    kept = world.erasures["E1"]
    assert (kept.found, kept.left) == (found, ["after something was found, another look is needed"])
    assert kept.last_found_at == "2026-01-01T00:03:20.000+00:00"
    assert {each["store"]: each["after"] for each in kept.receipt["stores"]} == found
    assert world.deleted == [*(f"{DOC}#G1#{n}" for n in range(2)), *(f"{DOC}#G1#{n}" for n in range(3))]
    assert [(position.table, dict(position.key)) for _, position in world.scans] == [
        ("conversations", {}),
        ("conversations", {"pk": "x"}),
        ("cache", {}),
    ]
    ((sought, *_), _) = world.scans[0]
    assert (sought.settled, sought.until) == (BEGAN + 100, math.inf)

    world.versions, world.edits, world.written_, world.remains_, world.ids = (0, 0), 0, {}, GONE, []
    clock.advance(59.9)
    run(world, clock)
    assert world.erasures["E1"].left == ["the vector store may not show yet what was deleted"]
    assert world.erasures["E1"].found == found
    clock.advance(0.1)
    assert run(world, clock) == {"finished": 1, "unfinished": 0}
    assert {each["store"]: (each["before"], each["after"]) for each in world.erasures["E1"].receipt["stores"]} == {
        store: (count, 0) for store, count in found.items()
    }


@pytest.mark.parametrize(
    ("remains", "is_unpublished"),
    [
        (DocumentRemains(DocumentStatus.READY), True),
        (DocumentRemains(DocumentStatus.PROCESSING), True),
        (DocumentRemains(DocumentStatus.DELETING), False),
        (DocumentRemains(DocumentStatus.DELETED, is_held=True), False),
        (DocumentRemains(None, is_held=True), False),
    ],
)
def test_a_document_that_a_worker_has_is_left_to_it(clock: FakeClock, remains: DocumentRemains, is_unpublished: bool):
    clock.advance(200)
    world = world_of(DOCUMENT, remains_=remains, edits=3)
    assert run(world, clock) == {"finished": 0, "unfinished": 1}
    assert world.erasures["E1"].left == ["a worker is handling the document, and removes it next"]
    assert world.unpublished == ([("acme", DOC)] if is_unpublished else [])
    assert [json.loads(body) for body in world.sent] == [{"recto": "change", "key": DOCUMENT.key}]


def test_a_document_that_was_never_ingested_ends_at_once(clock: FakeClock):
    clock.advance(200)
    assert run(world_of(DOCUMENT, remains_=DocumentRemains(None)), clock)["finished"] == 1


def test_the_vectors_and_later_answers_of_a_new_upload_of_the_same_name_stay(clock: FakeClock):
    clock.advance(200)
    ids = [f"{DOC}#G1#0", f"{DOC}#G2#0", f"{DOC}#G2#1"]
    world = world_of(
        DOCUMENT, versions=(1, 1), remains_=DocumentRemains(DocumentStatus.READY), written_={"G2": 2}, ids=ids
    )
    run(world, clock)
    assert world.deleted == ids[:1]
    assert (world.sent, world.unpublished) == ([], [])
    ((sought, *_), _) = world.scans[0]
    assert sought.until == sought.settled == BEGAN + 100
    assert world.erasures["E1"].found == {"object_versions": 1, "vectors": 1}


def test_a_name_that_cannot_be_removed_keeps_the_erasure_open(clock: FakeClock):
    clock.advance(200)
    world = world_of(DOCUMENT, remains_=DocumentRemains(DocumentStatus.DELETED, has_name=True), forgets=False)
    run(world, clock)
    assert world.erasures["E1"].left[0] == "a worker is handling the document, and removes it next"
    assert world.erasures["E1"].found == {"registry": 1}


def test_a_store_that_is_down_leaves_its_erasure_open_and_no_other(clock: FakeClock, monkeypatch: pytest.MonkeyPatch):
    clock.advance(200)
    world = world_of(DOCUMENT, USER, error=DependencyUnavailable("registry", "down"))
    told: dict[str, Any] = {}
    monkeypatch.setattr(erasing.logger, "info", lambda message, extra: told.update({message: extra}))
    assert run(world, clock) == {"finished": 1, "unfinished": 1}
    assert told["erasure not finished yet"] == {
        "tenant": "acme",
        "erasure_id": "E1",
        "found": 0,
        "left": ["some of it could not be read: unavailable"],
    }
    assert world.erasures["E1"].left == ["some of it could not be read: unavailable"]
    assert world.erasures["E2"].state == "erased"


def test_a_round_without_time_is_gone_on_with_by_the_next_and_counts_from_its_beginning(clock: FakeClock):
    clock.advance(200)
    world = world_of(DOCUMENT, traces=[{"E1": Counter(answers=1)}])
    assert run(world, clock, left_s=59) == {"finished": 0, "unfinished": 1}
    unread = "the tables of conversations and caches have not been read completely yet"
    assert world.erasures["E1"].left == [unread]
    assert world.let[-1] == {"position": ["conversations", {}], "found": {"E1": {}}, "at": BEGAN + 200}

    clock.advance(50)
    world.held = {
        "position": ["conversations", {"pk": "x"}],
        "found": {"E1": {"answers": 4}, "E9": {"x": 1}},
        "at": BEGAN + 200,
    }
    world.erasures["E2"] = USER
    assert run(world, clock) == {"finished": 0, "unfinished": 2}
    assert [(position.table, dict(position.key)) for _, position in world.scans] == [
        ("conversations", {"pk": "x"}),
        ("cache", {}),
    ]
    assert [[each.erasure.erasure_id for each in sought] for sought, _ in world.scans] == [["E1"], ["E1"]]
    assert world.erasures["E1"].found == {"answers": 5}
    assert world.erasures["E2"].left == [unread], "it was not there when this reading began"
    assert world.let[-1] == {}

    world.held = {"position": ["cache", {}], "found": {"E9": {}}, "at": BEGAN}
    world.scans.clear()
    run(world, clock)
    assert [position.table for _, position in world.scans] == ["conversations", "conversations", "cache"]


def test_one_round_at_a_time(clock: FakeClock):
    world = world_of(DOCUMENT, held=None)
    assert run(world, clock) == {"finished": 0, "unfinished": 1}
    assert (world.scans, world.let, world.erasures["E1"]) == ([], [], DOCUMENT)
