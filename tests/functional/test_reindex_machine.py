"""Whatever happens during a re-index, a switch loses nothing; in the end both index versions show what lies in the
bucket.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from functions.ingest.lease import InvocationTime
from functions.ingest.reindex import READERS_DONE_S
from functions.ingest.repair import sweep_orphans
from shared.errors import Conflict
from tests.support.ingest_kills import Killed, World
from tests.support.ingest_machine import RUBBISH, IngestMachine, machine_world, run_machine
from tests.support.reindex import IndexVersions

EXAMPLES = 5
STEPS = 30
KILL_AT = st.one_of(st.none(), st.integers(0, 6))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with machine_world(tmp_path_factory.mktemp("stack")) as made:
        yield made


class ReindexMachine(IngestMachine):
    """All that can happen to documents, and a re-index whose steps come at any time, twice, and die halfway."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.index_versions = IndexVersions(world, self.tenant)
        for which in range(len(self.keys)):
            self.put(which, "Alpha", 2, unique=False)
            self._deliver(self.messages[-1])
        self.start(None)

    @rule(step=st.sampled_from(["start", "switch", "switch", "rollback"]))
    def take_a_step(self, step: str) -> None:
        self._swap(step, None)

    @rule(step=st.sampled_from(["switch", "rollback"]))
    def swap(self, step: str) -> None:
        self._swap(step, None)

    @rule(kill_at=KILL_AT)
    def start(self, kill_at: int | None) -> None:
        self._step("start", kill_at)

    @rule(kill_at=KILL_AT)
    def switch(self, kill_at: int | None) -> None:
        self._swap("switch", kill_at)

    @rule(kill_at=KILL_AT)
    def roll_back(self, kill_at: int | None) -> None:
        self._swap("rollback", kill_at)

    @rule(kill_at=KILL_AT)
    def confirm(self, kill_at: int | None) -> None:
        self.world.clock.advance(READERS_DONE_S)
        self._step("confirm", kill_at)

    @rule(data=st.data(), at=st.integers(0, 20), step=st.sampled_from(["start", "switch", "rollback", "confirm"]))
    def take_a_step_while_a_worker_delivers(self, data: st.DataObject, at: int, step: str) -> None:
        if self.messages:
            self._deliver_and(self._draw(data), at, lambda: self._swap(step, None))

    @rule()
    def sweep(self) -> None:
        reconciler: Any = self.world.batch.reconciler
        for index_version in self.index_versions.now().live:
            sweep_orphans(
                self.tenant,
                fence=reconciler.fence._port,
                vectors=self.index_versions.vectors(index_version),
                deadline=InvocationTime(lambda: 900.0),
                namespace=index_version.namespace,
            )

    @invariant()
    def check_readers_see_one_whole_version(self) -> None:
        for key in self.keys:
            texts = self.index_versions.seen(key)
            assert self.index_versions.is_whole(key), f"chunks are missing: {texts}"
            assert len({text.split()[0] for text in texts.values()}) <= 1, f"a mixture: {texts}"
            assert not (texts and key in self.erased), "what the API deleted is answered from"

    def teardown(self) -> None:
        self._come_to_rest()
        self._step("start", None)  # goes on with one that was begun, or begins another
        if not self.index_versions.now().is_building:
            self.world.clock.advance(READERS_DONE_S)
            self._step("confirm", None)
            self._step("start", None)
        self._come_to_rest()
        old = self.index_versions.now().current
        for step in ("switch", "rollback", "switch"):
            getattr(self.index_versions.steps, step)(self.tenant)
            self._check_bucket()
        self.world.clock.advance(READERS_DONE_S)
        self.index_versions.steps.confirm(self.tenant)
        self.index_versions.steps.purge_dropped(self.tenant)
        self.sweep()
        index_versions = self.index_versions.now()
        assert index_versions.other is None
        assert index_versions.current.number > old.number
        assert all(self.index_versions.everything(index_version) == {} for index_version in index_versions.dropped), (
            "a dropped index version holds vectors"
        )
        self._check_bucket()
        published = {name for key in self.keys for name in self.index_versions.seen(key)}
        assert set(self.index_versions.everything(index_versions.current)) == published, "orphans are left"

    # --- helpers -------------------------------------------------------------------------------------------------

    def _step(self, step: str, kill_at: int | None) -> None:
        wire = self.world.wire
        before, calls = wire.at, list(wire.calls)
        wire.set(-1 if kill_at is None else kill_at)
        with suppress(Conflict, Killed):
            getattr(self.index_versions.steps, step)(self.tenant)
        wire.at, wire.calls[:] = before, calls
        self._collect()

    def _swap(self, step: str, kill_at: int | None) -> None:
        seen = {key: self.index_versions.seen(key) for key in self.keys}
        self._step(step, kill_at)
        for key, texts in seen.items():
            found = self.index_versions.seen(key)
            assert not texts or found, f"{step} lost {key}"
            marker = self.bucket[key]
            if texts and all(marker in text for text in texts.values()):
                assert all(marker in text for text in found.values()), f"{step} went back to an older {key}"

    def _state(self) -> tuple[str, ...]:
        return tuple(sorted(name for key in self.keys for name in self.index_versions.seen(key)))

    def _check_bucket(self) -> None:
        for key, marker in self.bucket.items():
            texts = self.index_versions.seen(key)
            assert self.index_versions.is_whole(key)
            if marker in {"", RUBBISH}:
                assert texts == {}, f"{key} holds {marker!r}, and is found"
            else:
                assert texts, f"{key} is not found"
                assert all(marker in text for text in texts.values()), f"{key} holds {marker}, found is {texts}"


def test_a_reindex_loses_nothing_and_mixes_nothing_whatever_happens(world: World) -> None:
    run_machine(lambda: ReindexMachine(world), examples=EXAMPLES, steps=STEPS, shrink=False)
