"""Whatever happens and in whatever order, what can be found is what lies in the bucket."""

import itertools
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from functions.ingest.sweeper import sweep_orphans
from shared.adapters.documents import DynamoDocumentRegistry
from shared.adapters.s3 import S3Objects
from shared.errors import DependencyUnavailable, RateLimited
from shared.models import DocumentStatus, document_id_of
from tests.support.ingest import ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, World, world_of

EXAMPLES = int(os.environ.get("RECTO_SOAK_EXAMPLES", "10"))
STEPS = int(os.environ.get("RECTO_SOAK_STEPS", "30"))
RUBBISH = "rubbish"
_tenants = itertools.count()
_contents: dict[tuple[str, int], bytes] = {}


def content(marker: str, pages: int) -> bytes:
    """Return the same bytes for the same marker and length; rendering once saves the time."""
    if (marker, pages) not in _contents:
        made = pdf_of([prose(marker, sentences=4, seed=n) for n in range(pages)])
        _contents[marker, pages] = b"no PDF" if marker == RUBBISH else made
    return _contents[marker, pages]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("stack")
    with (
        pytest.MonkeyPatch.context() as patch,
        ingest_stack(patch, folder) as running,
        world_of(running, chunk_size_tokens=64, chunk_overlap_tokens=0, embedding_batch_inputs=2) as made,
    ):
        yield made


class IngestMachine(RuleBasedStateMachine):
    """Two keys of one tenant, a queue that repeats and reorders, and workers that die or stall at any call."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.tenant = f"machine{next(_tenants)}"
        self.keys = [f"uploads/{self.tenant}/{name}.pdf" for name in ("a", "b")]
        self.bucket: dict[str, str] = dict.fromkeys(self.keys, "")
        self.erased: set[str] = set()
        self.messages: list[dict[str, Any]] = []
        world.queue.sent.clear()
        world.wire.clear()

    # --- what happens to the bucket ------------------------------------------------------------------------------

    @rule(which=st.integers(0, 1), marker=st.sampled_from(["Alpha", "Beta", "Gamma"]), pages=st.integers(1, 3))
    def put(self, which: int, marker: str, pages: int) -> None:
        self._put(self.keys[which], marker, pages)

    @rule(which=st.integers(0, 1))
    def put_rubbish(self, which: int) -> None:
        self._put(self.keys[which], RUBBISH, 1)

    @rule(which=st.integers(0, 1))
    def delete(self, which: int) -> None:
        key = self.keys[which]
        self.world.stack.delete(key)
        self.bucket[key] = ""
        self.messages.append(self.world.message_for(key, event="ObjectRemoved:DeleteMarkerCreated"))

    @rule(which=st.integers(0, 1))
    def delete_through_the_api(self, which: int) -> None:
        key, aws = self.keys[which], self.world.stack.aws
        registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, self.world.clock)
        registry.unpublish(self.tenant, document_id_of(self.tenant, key))
        S3Objects(aws.s3, aws.bucket).delete_all_versions(key)
        self.bucket[key] = ""
        self.erased.add(key)
        self.messages.append(self.world.message_for(key, event="ObjectRemoved:Delete"))

    # --- what happens to messages and workers --------------------------------------------------------------------

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), kill_at=st.one_of(st.none(), st.integers(0, 20)))
    def deliver(self, data: st.DataObject, kill_at: int | None) -> None:
        record = self._draw(data)
        self.world.wire.set(-1 if kill_at is None else kill_at)
        self._deliver(record)

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), at=st.integers(0, 15), expired=st.booleans())
    def deliver_while_another_worker_delivers(self, data: st.DataObject, at: int, expired: bool) -> None:
        """At its `at`-th call the first worker stalls, possibly past its lease, and a second one has its turn."""
        first = self._draw(data)
        second = self._draw(data)

        def stall(name: str) -> None:
            if len(self.world.wire.calls) - 1 == at:
                self.world.wire.fault = lambda name: None
                if expired:
                    self.world.clock.advance(1_000)
                self._deliver(second)
                self.check_readers_see_one_whole_version()

        self.world.wire.clear()
        self.world.wire.fault = stall
        self._deliver(first)
        self.world.wire.fault = lambda name: None

    @rule(
        which=st.integers(0, 1),
        first=st.sampled_from(["Alpha", "Beta"]),
        at=st.integers(1, 12),
        then=st.sampled_from(["Delta", ""]),
        at_once=st.booleans(),
    )
    def put_and_change_while_it_is_ingested(self, which: int, first: str, at: int, then: str, at_once: bool) -> None:
        """At the worker's `at`-th call its object changes, and a second worker may hear of it at once."""
        self._put(self.keys[which], first, 2)
        record = self.messages[-1]

        def change(name: str) -> None:
            if len(self.world.wire.calls) - 1 == at:
                self.world.wire.fault = lambda name: None
                if then:
                    self._put(self.keys[which], then, 2)
                else:
                    self.delete_through_the_api(which)
                if at_once:
                    self._deliver(self.messages[-1])

        self.world.wire.clear()
        self.world.wire.fault = change
        self._deliver(record)
        self.world.wire.fault = lambda name: None

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), at=st.integers(0, 15), times=st.integers(1, 6))
    def deliver_while_a_dependency_fails(self, data: st.DataObject, at: int, times: int) -> None:
        record = self._draw(data)

        def fail(name: str) -> None:
            if at <= len(self.world.wire.calls) - 1 < at + times:
                raise RateLimited("x", retry_after_s=1) if times % 2 else DependencyUnavailable("x")

        self.world.wire.clear()
        self.world.wire.fault = fail
        self._deliver(record)
        self.world.wire.fault = lambda name: None

    @precondition(lambda self: self.messages)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        record = self._draw(data)
        self.messages.append(self.world.queue.record(record["body"]))

    @rule(seconds=st.integers(-30, 200))
    def turn_the_clock(self, seconds: int) -> None:
        self.world.clock.advance(seconds)

    # --- what must hold ------------------------------------------------------------------------------------------

    @invariant()
    def check_readers_see_one_whole_version(self) -> None:
        for key in self.keys:
            document = self.world.stack.find(key)
            if document is None or not document.generation:
                continue
            texts = self.world.published(key)
            assert len(texts) == document.chunk_count, f"{document.chunk_count - len(texts)} passages are missing"
            assert len({text.split()[0] for text in texts.values()}) == 1, f"a mixture: {texts}"
            assert key not in self.erased, "what the API deleted is answered from"

    def teardown(self) -> None:
        """Let the queue run dry; then index and bucket agree."""
        world = self.world
        world.wire.fault = lambda name: None
        for _ in range(60):
            world.wire.clear()
            world.clock.advance(1_000)
            self._collect()
            if not self.messages:
                break
            self._deliver(self.messages[0])
            self.check_readers_see_one_whole_version()
        assert not self.messages, "the queue does not run dry"
        sweep_orphans(self.tenant, fence=world.batch.reconciler.fence, vectors=world.batch.reconciler.tools.vectors)
        for key, marker in self.bucket.items():
            document = world.stack.find(key)
            if marker == RUBBISH:
                assert document is not None
                assert document.status is DocumentStatus.FAILED
                assert world.stack.vectors(self.tenant, key) == {}
            elif marker or document is not None:
                world.check_converged(key, marker)

    # --- helpers -------------------------------------------------------------------------------------------------

    def _put(self, key: str, marker: str, pages: int) -> None:
        self.world.put(key, content(marker, pages))
        self.bucket[key] = marker
        self.erased.discard(key)
        self.messages.append(self.world.message_for(key))

    def _draw(self, data: st.DataObject) -> dict[str, Any]:
        # The newest as often as all others together: the older ones are mostly stale.
        number = data.draw(st.integers(0, 99))
        return self.messages[-1 if number % 2 else number // 2 % len(self.messages)]

    def _deliver(self, record: dict[str, Any]) -> None:
        try:
            consumed = self.world.deliver(record)
        except Killed:
            consumed = False
        self.world.wire.at = -1
        if consumed and record in self.messages:
            self.messages.remove(record)
        self._collect()

    def _collect(self) -> None:
        while (sent := self.world.queue.receive()) is not None:
            self.messages.append(sent)


def test_what_can_be_found_is_what_lies_in_the_bucket(world: World) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        lambda: IngestMachine(world),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
