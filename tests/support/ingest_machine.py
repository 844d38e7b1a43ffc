"""A state machine of everything that can happen to two objects, their messages and the workers that hear of them."""

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, invariant, precondition, rule

from functions.ingest.changes import change_body, unpack
from functions.ingest.delivery import MAX_RECEIVES
from functions.ingest.lease import InvocationTime
from functions.ingest.reconcile import ReconcileOutcome
from functions.ingest.repair import STALLED_AFTER_S, Comparison, sweep_orphans
from functions.query.api.documents import erase
from shared.adapters.document_registry import DynamoDocumentRegistry, DynamoDocumentScan, normal_sequencer
from shared.adapters.index_versions import DynamoIndexVersions
from shared.adapters.s3 import S3Objects
from shared.errors import DependencyUnavailable, RateLimited
from shared.models import DocumentStatus, document_id_of
from tests.support.embeddings import count_embeddings
from tests.support.generations import generations
from tests.support.ingest import ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, World, world_of

RUBBISH = "rubbish"
WHICH = st.integers(0, 1)
KILL_AT = st.one_of(st.none(), st.integers(0, 26))
SKEW_S = st.sampled_from([-60, -5, 0, 5, 60, 130, 1_000])
"""How far a worker's clock is off; a lease lasts 120 seconds."""
FINISHED = {
    ReconcileOutcome.PUBLISHED,
    ReconcileOutcome.UNCHANGED,
    ReconcileOutcome.REMOVED,
    ReconcileOutcome.REJECTED,
}
"""What a worker says when nothing is left to do."""
_tenants = itertools.count()
_UNIQUE = re.compile(r"\b[A-Z][a-z]+\d+\b")


@lru_cache(maxsize=64)
def content(marker: str, pages: int) -> bytes:
    """Return a PDF whose every sentence begins with the marker; the same bytes for the same marker and length."""
    return b"no PDF" if marker == RUBBISH else pdf_of([prose(marker, sentences=4, seed=n) for n in range(pages)])


@contextmanager
def machine_world(folder: Path) -> Iterator[World]:
    """Run the emulators and one worker with chunks so small that a document takes several batches."""
    with (
        pytest.MonkeyPatch.context() as patch,
        ingest_stack(patch, folder) as running,
        world_of(running, chunk_size_tokens=64, chunk_overlap_tokens=0, embedding_batch_inputs=2) as made,
    ):
        made.embedded = count_embeddings(patch)
        yield made


class IngestMachine(RuleBasedStateMachine):
    """Two keys of one tenant, a queue that repeats, reorders and gives up, and workers that die or stall at any call.

    `on_step` is called after every step.
    """

    def __init__(self, world: World, on_step: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.world = world
        self.on_step = on_step
        self.begun = False
        self.delivering = 0
        self.tenant = f"machine{next(_tenants)}"
        self.keys = [f"uploads/{self.tenant}/{name}.pdf" for name in ("a", "b")]
        self.bucket: dict[str, str] = dict.fromkeys(self.keys, "")
        self.erased: set[str] = set()
        self.messages: list[dict[str, Any]] = []
        self.dead: list[dict[str, Any]] = []
        self.done: dict[str, str] = {}
        self.setbacks: Counter[str] = Counter()
        self.unique: dict[str, tuple[str, int]] = {}
        self.states: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.unpublished: set[str] = set()
        self.seen: dict[str, set[str]] = {}
        world.objects.on_head = self._look
        self.versions = DynamoIndexVersions(
            world.stack.aws.dynamodb, world.stack.aws.documents_table, world.clock, lambda _tenant: NotImplemented
        )
        self.warm = DynamoDocumentRegistry(world.stack.aws.dynamodb, world.stack.aws.documents_table, world.clock)
        world.embedded.clear()
        world.queue.sent.clear()
        world.wire.clear()
        self._heal()

    # --- what happens to the bucket ------------------------------------------------------------------------------

    @rule(
        which=WHICH,
        marker=st.sampled_from(["Alpha", "Beta", "Gamma"]),
        pages=st.integers(1, 3),
        unique=st.booleans(),
    )
    def put(self, which: int, marker: str, pages: int, unique: bool) -> None:
        """The same as something before it, or what never was there."""
        self._put(self.keys[which], marker, pages, unique=unique)

    @rule(which=WHICH)
    def put_twice_and_deliver_the_newer_event_first(self, which: int) -> None:
        for marker in ("Alpha", "Beta"):
            self._put(self.keys[which], marker, 1)
        older, newer = self.messages[-2:]
        self._deliver_in_peace(newer)
        self._deliver_in_peace(older)

    @rule(which=WHICH)
    def put_rubbish(self, which: int) -> None:
        self._put(self.keys[which], RUBBISH, 1)

    @rule(which=WHICH)
    def delete(self, which: int) -> None:
        key = self.keys[which]
        self.world.stack.delete(key)
        self._now_holds(key, "")
        self.messages.append(self.world.message_for(key, event="ObjectRemoved:DeleteMarkerCreated"))

    @rule(which=WHICH)
    def delete_through_the_api(self, which: int) -> None:
        key, aws = self.keys[which], self.world.stack.aws
        registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, self.world.clock)
        before = self.world.stack.find(key)
        erased = erase(self.tenant, document_id_of(self.tenant, key), registry, S3Objects(aws.s3, aws.bucket))
        if before is None:
            return  # the API does not know yet what lies there
        assert erased or not self.bucket[key], "what lies in the bucket was not deleted"
        self._now_holds(key, "")
        self.erased.add(key)
        self.messages.append(self.world.message_for(key, event="ObjectRemoved:Delete"))

    @rule(which=WHICH)
    def ask_the_api_to_delete_and_it_dies(self, which: int) -> None:
        """The document is unpublished, and its object stays: nobody hears of it."""
        self._unpublish(self.keys[which])

    @rule(which=WHICH)
    def a_worker_looks_while_the_api_deletes(self, which: int) -> None:
        """Between the API's two steps: what it unpublished must not come back, though its object still lies there."""
        key = self.keys[which]
        self._unpublish(key)
        self.messages.append(self.world.message_for(key))
        self._deliver(self.messages[-1])
        self.check_readers_see_one_whole_version()
        self.delete_through_the_api(which)

    @rule(which=WHICH)
    def delete_for_good(self, which: int) -> None:
        """Every version at once, as a person does in the console: a worker may stand between HEAD and GET."""
        key, aws = self.keys[which], self.world.stack.aws
        S3Objects(aws.s3, aws.bucket).delete_all_versions(key)
        self._now_holds(key, "")
        self.messages.append(self.world.message_for(key, event="ObjectRemoved:Delete"))

    # --- what happens to messages and workers --------------------------------------------------------------------

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), kill_at=KILL_AT)
    def deliver(self, data: st.DataObject, kill_at: int | None) -> None:
        record = self._draw(data)
        if kill_at is None:
            self._deliver_in_peace(record)
        else:
            self.world.wire.set(kill_at)
            self._deliver(record)

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), at=st.integers(0, 15), lag_s=st.sampled_from([0, 0, 1_000]), skew_s=SKEW_S)
    def deliver_while_another_worker_delivers(self, data: st.DataObject, at: int, lag_s: int, skew_s: int) -> None:
        """At its `at`-th call the first worker stalls, possibly past its lease, and a second one has its turn."""
        first = self._draw(data)
        second = self._draw(data)

        def stall() -> None:
            self.world.clock.advance(lag_s)
            self._with_clock_off_by(skew_s, second)

        self._deliver_and(first, at, stall)

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), skew_s=SKEW_S, kill_at=KILL_AT)
    def deliver_to_a_worker_whose_clock_is_wrong(self, data: st.DataObject, skew_s: int, kill_at: int | None) -> None:
        self.world.wire.set(-1 if kill_at is None else kill_at)
        self._with_clock_off_by(skew_s, self._draw(data))

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), at=st.integers(3, 20))
    def deliver_with_little_time(self, data: st.DataObject, at: int) -> None:
        """From its `at`-th call on the worker has no time for anything new."""

        def hurry(_name: str) -> None:
            if len(self.world.wire.calls) - 1 >= at:
                self.world.remaining_s = 10.0

        self.world.wire.clear()
        self.world.wire.fault = hurry
        self._deliver(self._draw(data))
        self._heal()

    @rule(
        which=WHICH,
        first=st.sampled_from(["Alpha", "Beta"]),
        at=st.integers(1, 12),
        then=st.sampled_from(["Delta", "", "for good"]),
        at_once=st.booleans(),
    )
    def put_and_change_while_it_is_ingested(self, which: int, first: str, at: int, then: str, at_once: bool) -> None:
        """At the worker's `at`-th call its object changes, and a second worker may hear of it at once."""
        self._put(self.keys[which], first, 2, unique=True)

        def change() -> None:
            if then == "for good":
                self.delete_for_good(which)
            elif then:
                self._put(self.keys[which], then, 2)
            else:
                self.delete_through_the_api(which)
            if at_once:
                self._deliver(self.messages[-1])

        self._deliver_and(self.messages[-1], at, change)

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), at=st.integers(0, 15), times=st.integers(1, 6))
    def deliver_while_a_dependency_fails(self, data: st.DataObject, at: int, times: int) -> None:
        """Throttled or down for `times` calls in a row."""
        record = self._draw(data)

        def fail(_name: str) -> None:
            if at <= len(self.world.wire.calls) - 1 < at + times:
                raise RateLimited("x", retry_after_s=1) if times % 2 else DependencyUnavailable("x")

        self.world.wire.clear()
        self.world.wire.fault = fail
        self._deliver(record)
        self._heal()

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), at=st.integers(0, 15))
    def sweep_while_a_worker_delivers(self, data: st.DataObject, at: int) -> None:
        self._deliver_and(self._draw(data), at, self.sweep)

    @precondition(lambda self: self.messages)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        record = self._draw(data)
        self.messages.append(self.world.queue.record(record["body"]))

    @precondition(lambda self: self.messages)
    @rule()
    def purge_the_queue(self) -> None:
        """Nobody hears any more of what happened; the comparison with the bucket must find it."""
        self.messages.clear()

    @rule()
    def sweep(self) -> None:
        # A process of its own: it passes by the worker's tripwire.
        reconciler: Any = self.world.batch.reconciler
        fence, vectors = reconciler.fence._port, reconciler.access.configured.vectors._port
        deadline = InvocationTime(lambda: 900.0)
        if not self.delivering:
            self.check_no_vector_is_forgotten()
        sweep_orphans(self.tenant, fence=fence, vectors=vectors, namespace=self.tenant, deadline=deadline)
        self._compare()

    @precondition(lambda self: self.dead)
    @rule()
    def redrive(self) -> None:
        self.messages += [self.world.queue.record(record["body"]) for record in self.dead]
        self.dead.clear()

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
            assert len(texts) == document.chunk_count, f"{document.chunk_count - len(texts)} chunks are missing"
            assert len({text.split()[0] for text in texts.values()}) == 1, f"a mixture: {texts}"
            assert key not in self.erased, "what the API deleted is answered from"
            assert key not in self.unpublished, "what the API is deleting is answered from"
        aws, ids = self.world.stack.aws, [document_id_of(self.tenant, key) for key in self.keys]
        cold = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, self.world.clock)
        true = generations(cold, self.tenant, ids)
        assert generations(self.warm, self.tenant, ids) == true, "a warm container remembers what is gone"

    def check_no_vector_is_forgotten(self) -> None:
        """Nobody is at work: the registry knows of every vector, before a sweep deletes those of which it does not."""
        fence: Any = self.world.batch.reconciler.fence._port
        for key in self.keys:
            written = fence.written(self.tenant, document_id_of(self.tenant, key))
            generations = {name.split("#")[1] for name in self.world.stack.vectors(self.tenant, key)}
            assert generations <= set(written), f"vectors that nobody will delete: {generations - set(written)}"

    def check_what_a_worker_says_it_did(self, key: str, outcome: ReconcileOutcome | None) -> None:
        """What is found is what lay in the bucket at the worker's last look or since."""
        if outcome not in FINISHED:
            return
        document, allowed = self.world.stack.find(key), self.seen[key]
        assert document is not None
        if document.generation:
            texts = self.world.published(key).values()
            is_true = any(marker and all(text.startswith(f"{marker} ") for text in texts) for marker in allowed)
        else:
            empty = {DocumentStatus.DELETED: "", DocumentStatus.FAILED: RUBBISH}
            is_true = empty.get(document.status, "nothing") in allowed
        assert is_true, f"{outcome} was said, but {document.status} is no outcome of {sorted(allowed)}"

    @invariant()
    def check_a_setback_costs_one_embedding_of_a_chunk_at_most(self) -> None:
        """One of each chunk, and one more for each delivery that was killed, failed, postponed or ran out of time."""
        for text, count in self.world.embedded.items():
            found = _UNIQUE.search(text)
            if found is not None and count > 1:
                key, setbacks = self.unique[found[0]]
                allowed = 1 + self.setbacks[key] - setbacks
                assert count <= allowed, f"embedded {count} times where {allowed} are allowed: {text}"

    @invariant()
    def note_what_is_seen_under_which_version(self) -> None:
        self.states[self.versions.knowledge(self.tenant).version].add(self._state())

    @invariant()
    def count(self) -> None:
        if self.begun:  # the first look is before the first step
            self.on_step()
        self.begun = True

    def teardown(self) -> None:
        """Let the queue run dry and redrive; then index and bucket agree, before a sweep and after it."""
        self._come_to_rest()
        self.check_index_and_bucket_agree()
        self.sweep()
        self.check_index_and_bucket_agree()

    # --- helpers -------------------------------------------------------------------------------------------------

    def check_index_and_bucket_agree(self) -> None:
        for key, marker in self.bucket.items():
            document = self.world.stack.find(key)
            if marker == RUBBISH:
                assert document is not None
                assert document.status is DocumentStatus.FAILED
                assert self.world.stack.vectors(self.tenant, key) == {}
            elif marker or document is not None:
                self.world.check_converged(key, marker)

    def _come_to_rest(self) -> None:
        """Deliver all there is, dead letters and stalled documents too."""
        world = self.world
        self._run_dry()
        self.redrive()
        self._run_dry()
        world.clock.advance(STALLED_AFTER_S + 1_000)
        stalled = list(self._scan().stalled(quiet_s=STALLED_AFTER_S))
        ours = [document for document in stalled if document.tenant == self.tenant]
        self.messages += [world.queue.record(change_body(document.key)) for document in ours]
        self._run_dry()
        self._compare()
        self._run_dry()
        assert not self._compare(), "bucket and registry do not agree"
        assert not self.dead, "a message died although nothing was in its way"
        self.check_a_setback_costs_one_embedding_of_a_chunk_at_most()
        others = self.states[self.versions.knowledge(self.tenant).version] - {self._state()}
        assert not others, "something else was found under the same knowledge version"

    def _scan(self) -> DynamoDocumentScan:
        aws = self.world.stack.aws
        return DynamoDocumentScan(aws.dynamodb, aws.documents_table, self.world.clock)

    def _compare(self) -> int:
        """Compare bucket and registry as `make sweep` does; return how many change notifications were sent."""
        world = self.world
        comparison = Comparison(self._scan(), world.objects, world.queue, world.clock, lambda _tenant: "")
        compared = comparison.compare(self.tenant, InvocationTime(lambda: 900.0), at_once=True)
        self._collect()
        return sum(compared.changes.values())

    def _state(self) -> tuple[str, ...]:
        found = [self.world.stack.find(key) for key in self.keys]
        return tuple(document.generation if document is not None else "" for document in found)

    def _run_dry(self) -> None:
        self._heal()
        for _ in range(100):
            self.world.wire.clear()
            self.world.clock.advance(1_000)
            self._collect()
            if not self.messages:
                return
            self._deliver(self.messages[0])
            self.check_readers_see_one_whole_version()
        raise AssertionError("the queue does not run dry")

    def _heal(self) -> None:
        self.world.wire.fault = lambda _name: None
        self.world.remaining_s = 900.0

    def _put(self, key: str, marker: str, pages: int, *, unique: bool = False) -> None:
        if unique:
            marker += str(len(self.unique))
            self.unique[marker] = key, self.setbacks[key]
        self.world.put(key, content(marker, pages))
        self._now_holds(key, marker)
        self.erased.discard(key)
        self.unpublished.discard(key)
        self.messages.append(self.world.message_for(key))

    def _now_holds(self, key: str, marker: str) -> None:
        self.bucket[key] = marker
        self.seen.setdefault(key, set()).add(marker)

    def _look(self, key: str) -> None:
        """A worker looks at the bucket: what lay there before counts no more."""
        if key in self.bucket:
            self.seen[key] = {self.bucket[key]}

    def _unpublish(self, key: str) -> None:
        """Do the first step of the API's deletion."""
        aws, head = self.world.stack.aws, self.world.objects.current(key)
        registry = DynamoDocumentRegistry(aws.dynamodb, aws.documents_table, self.world.clock)
        unpublished = registry.unpublish(self.tenant, document_id_of(self.tenant, key))
        # An object that is younger than its deletion, by a clock that was turned back, is another upload.
        younger = head is not None and head.last_modified is not None and head.last_modified > self.world.clock.now()
        if unpublished is not None and not younger:
            self.unpublished.add(key)

    def _draw(self, data: st.DataObject) -> dict[str, Any]:
        # The newest as often as all others together: the older ones are mostly stale.
        number = data.draw(st.integers(0, 99))
        return self.messages[-1 if number % 2 else number // 2 % len(self.messages)]

    def _with_clock_off_by(self, seconds: int, record: dict[str, Any]) -> None:
        self.world.clock.advance(seconds)
        self._deliver(record)
        self.world.clock.advance(-seconds)

    def _deliver_and(self, record: dict[str, Any], at: int, something: Callable[[], None]) -> None:
        """Deliver; before the worker's `at`-th call something else happens."""

        def interfere(_name: str) -> None:
            if len(self.world.wire.calls) - 1 == at:
                self._heal()
                something()
                self.check_readers_see_one_whole_version()

        self.world.wire.clear()
        self.world.wire.fault = interfere
        self._deliver(record)
        self._heal()

    def _deliver(self, record: dict[str, Any]) -> None:
        if record not in self.messages:
            return  # consumed, or given up, by a delivery within this one
        changes = unpack({"Records": [record]}, request_id="")[0].changes
        if self.world.receives.get(record["messageId"], 0) + 1 >= MAX_RECEIVES:
            # At the last try a deletion that the API has not finished counts as failed.
            self.unpublished -= {change.key for change in changes}
        self.delivering += 1
        try:
            consumed = self.world.deliver(record)
        except Killed:
            consumed = False
        finally:
            self.delivering -= 1
        self.world.wire.at = -1
        if consumed:
            self.check_what_a_worker_says_it_did(changes[0].key, self.world.told.outcomes.get(record["messageId"]))
        for change in changes:
            goes_on = any(json.loads(body)["key"] == change.key for body in self.world.queue.sent)
            self.setbacks[change.key] += not consumed or goes_on
        given_up = not consumed and self.world.receives[record["messageId"]] >= MAX_RECEIVES
        if given_up:
            self.dead.append(record)
        if (consumed or given_up) and record in self.messages:
            self.messages.remove(record)
        self._collect()

    def _deliver_in_peace(self, record: dict[str, Any]) -> None:
        """A change notification that is older than one that was processed costs a look into the registry, and nothing
        else.
        """
        (change,) = unpack({"Records": [record]}, request_id="")[0].changes
        order = normal_sequencer(change.sequencer)
        self.world.wire.clear()
        self._deliver(record)
        worked = "objects.head" in self.world.wire.calls
        if order and order < self.done.get(change.key, ""):
            assert not worked, f"a stale change notification was worked on: {self.world.wire.calls}"
        if worked and record not in self.messages and record not in self.dead:
            self.done[change.key] = max(order, self.done.get(change.key, ""))

    def _collect(self) -> None:
        while (sent := self.world.queue.receive()) is not None:
            self.messages.append(sent)


def run_machine(
    make: Callable[[], RuleBasedStateMachine],
    *,
    examples: int,
    steps: int,
    seeded: int | None = None,
    shrink: bool = True,
) -> None:
    """Run a machine `examples` times for `steps` steps. Raises what a violation raises, with how to repeat it."""
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    test: Any = get_state_machine_test(
        make,  # type: ignore[arg-type]
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    (test if seeded is None else seed(seeded)(test))()
