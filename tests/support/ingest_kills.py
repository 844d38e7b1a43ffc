"""An ingest function that can be killed at any external call, and what must be true of the index at any moment."""

import itertools
import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from weakref import WeakSet

from functions.ingest import bootstrap
from functions.ingest.changes import ChangeNotification, unpack
from functions.ingest.delivery import Batch
from functions.ingest.lease import InvocationTime
from functions.ingest.reconcile import ReconcileOutcome, Reconciler
from shared.adapters.document_fence import DynamoDocumentFence
from shared.adapters.index_versions import DynamoIndexVersions, configured_index_version
from shared.adapters.s3 import S3Objects
from shared.models import DocumentStatus, ObjectHead
from shared.ports import ListedObject
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.ingest import Stack, close_clients, lambda_record


class Killed(BaseException):
    """Simulates a killed process: no handler of the code under test may run."""


@dataclass
class Tripwire:
    """Counts external calls, and kills right after the one it is set to."""

    calls: list[str] = field(default_factory=list)
    at: int = -1
    dead: WeakSet[threading.Thread] = field(default_factory=WeakSet)
    fault: Callable[[str], None] = lambda name: None

    def guard(self, port: Any, name: str) -> Any:
        return _Guarded(self, port, name)

    def set(self, at: int) -> None:
        self.calls.clear()
        self.at = at

    def clear(self) -> None:
        self.set(-1)

    @contextmanager
    def faulty(self, fault: Callable[[str], None]) -> Iterator[None]:
        """For the length of the block, call `fault` with the name of each call before it is made."""
        self.clear()
        self.fault = fault
        try:
            yield
        finally:
            self.fault = lambda name: None


class _Guarded:
    def __init__(self, wire: Tripwire, port: Any, name: str) -> None:
        self._wire, self._port, self._name = wire, port, name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._port, attribute)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            wire = self._wire
            if threading.current_thread() in wire.dead:
                raise Killed
            if wire.at >= 0 and len(wire.calls) > wire.at:
                raise Killed  # the dead make no calls
            wire.calls.append(f"{self._name}.{attribute}")
            name = wire.calls[-1]
            hit = len(wire.calls) - 1 == wire.at
            wire.fault(name)
            result = value(*args, **kwargs)
            if hit:
                raise Killed(name)
            return result

        return call


class ToldReconciler:
    """A reconciler that keeps how each message's last change ended."""

    def __init__(self, reconciler: Reconciler) -> None:
        self._reconciler = reconciler
        self.outcomes: dict[str, ReconcileOutcome] = {}

    def reconcile(self, change: ChangeNotification, *, message_id: str, **how: Any) -> ReconcileOutcome:
        self.outcomes.pop(message_id, None)
        outcome = self._reconciler.reconcile(change, message_id=message_id, **how)
        self.outcomes[message_id] = outcome
        return outcome

    def change(self, **fields: Any) -> None:
        """Continue with other ports."""
        self._reconciler = replace(self._reconciler, **fields)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reconciler, name)


class _GuardedFence(_Guarded):
    def lease(self, *args: Any, **kwargs: Any) -> Any:
        """Guard the operations under the lease; making one is not an external call."""
        return self._wire.guard(self._port.lease(*args, **kwargs), self._name)


@dataclass
class LocalQueue:
    """A queue in memory: the test delivers each message itself, and moto would redeliver by the machine's clock."""

    sent: deque[str] = field(default_factory=deque)
    messages: Iterator[int] = field(default_factory=itertools.count)

    def send(self, body: str, *, delay_s: int = 0) -> None:
        self.sent.append(body)

    def extend(self, receipt_handle: str, *, visibility_s: int) -> None:
        assert visibility_s >= 0

    def waiting(self) -> int:
        return len(self.sent)

    def record(self, body: str) -> dict[str, Any]:
        number = next(self.messages)
        message = {"MessageId": f"message-{number}", "ReceiptHandle": f"handle-{number}", "Body": body}
        return lambda_record(message)

    def receive(self) -> dict[str, Any] | None:
        return self.record(self.sent.popleft()) if self.sent else None


class ClockedObjects(S3Objects):
    """The bucket, with the test's clock in place of the machine's."""

    def __init__(self, stack: Stack, clock: FakeClock) -> None:
        super().__init__(stack.aws.s3, stack.aws.bucket)
        self._clock = clock
        self._times: dict[str, datetime] = {}
        self._newest: dict[str, datetime] = {}
        self.on_head: Callable[[str], None] = lambda key: None

    def put(self, key: str, data: bytes) -> None:
        answer = self._client.put_object(Bucket=self._bucket, Key=key, Body=data)
        self._newest[key] = self._times[answer["VersionId"]] = self._clock.now().replace(microsecond=0)

    def head(self, key: str) -> ObjectHead | None:
        self.on_head(key)
        return self.current(key)

    def current(self, key: str) -> ObjectHead | None:
        """Look without counting as a call."""
        found = super().head(key)
        return found and replace(found, last_modified=self._times.get(found.version_id, found.last_modified))

    def under(self, prefix: str, *, after: str = "") -> Iterator[ListedObject]:
        for listed in super().under(prefix, after=after):
            yield listed._replace(last_modified=self._newest.get(listed.key, listed.last_modified))


@dataclass
class World:
    """One worker over the stack, with a clock of its own and a tripwire around everything it calls."""

    stack: Stack
    batch: Batch
    clock: FakeClock
    wire: Tripwire
    queue: LocalQueue
    objects: ClockedObjects
    told: ToldReconciler
    remaining_s: float = 900.0
    receives: dict[str, int] = field(default_factory=dict)
    embedded: Counter[str] = field(default_factory=Counter)

    def put(self, key: str, data: bytes) -> None:
        self.objects.put(key, data)

    def message_for(self, key: str, *, event: str = "ObjectCreated:Put") -> dict[str, Any]:
        return self.queue.record(json.dumps(self.stack.s3_event(key, event=event)))

    def deliver(self, record: dict[str, Any]) -> bool:
        """Deliver one message; True when it was consumed. Raises `Killed`."""
        count = self.receives[record["messageId"]] = self.receives.get(record["messageId"], 0) + 1
        again = {**record, "attributes": {"ApproximateReceiveCount": str(count)}}
        deliveries = unpack({"Records": [again]}, request_id="")
        try:
            return not self.batch.handle(deliveries, InvocationTime(lambda: self.remaining_s))
        except Killed:
            # A process that is killed takes its threads with it: they make no more calls.
            self.wire.dead.update(thread for thread in threading.enumerate() if thread.name.startswith("embed"))
            raise

    def deliver_all(self) -> int:
        """Deliver what is on the queue until it is empty; return the number of messages."""
        count = 0
        while (record := self.queue.receive()) is not None:
            assert self.deliver(record)
            count += 1
        return count

    def published(self, key: str) -> dict[str, str]:
        """Return id → text of the passages that answers may use: the vectors of the published generation."""
        document = self.stack.find(key)
        if document is None or not document.generation:
            return {}
        vectors = self.stack.vectors(document.tenant, key)
        return {
            name: metadata["text"]
            for name, metadata in vectors.items()
            if metadata["generation"] == document.generation
        }

    def check_whole(self, key: str, *expected: str) -> None:
        """What is published now is one of the expected texts, whole, and nothing else."""
        document = self.stack.find(key)
        found = self.published(key)
        if document is None or not document.generation:
            assert "" in expected, f"nothing is published, expected one of {expected}"
            return
        assert len(found) == document.chunk_count, "some of the published vectors are missing"
        assert any(all(word in text for text in found.values()) for word in expected if word), (found, expected)

    def check_converged(self, key: str, expected: str) -> None:
        """The index holds exactly what is in the bucket: no orphan, no gap."""
        document = self.stack.find(key)
        assert document is not None
        vectors = self.stack.vectors(document.tenant, key)
        if not expected:
            assert document.status is DocumentStatus.DELETED
            assert vectors == {}
            return
        assert document.status is DocumentStatus.READY, document
        assert document.error is None
        ids = {f"{document.document_id}#{document.generation}#{n}" for n in range(document.chunk_count)}
        assert set(vectors) == ids
        assert all(expected in metadata["text"] for metadata in vectors.values())


@contextmanager
def world_of(stack: Stack, **settings: Any) -> Iterator[World]:
    """Wire a worker whose every external call can be the last."""
    clock, wire = FakeClock(datetime.now(UTC)), Tripwire()
    real = bootstrap.build_batch(Settings(**settings))
    dependencies = real.reconciler.access.configured

    def still(beat: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()

    fence = DynamoDocumentFence(stack.aws.dynamodb, stack.aws.documents_table, clock)
    wanted = partial(configured_index_version, dependencies.settings)
    index_versions = DynamoIndexVersions(stack.aws.dynamodb, stack.aws.documents_table, clock, wanted)
    local, objects = LocalQueue(), ClockedObjects(stack, clock)
    queue = wire.guard(local, "queue")
    model = wire.guard(dependencies.embedder.embedder, "embedder")
    guarded = replace(
        dependencies,
        objects=wire.guard(objects, "objects"),
        vectors=wire.guard(dependencies.vectors, "vectors"),
        reader=wire.guard(dependencies.vectors, "reader"),
        sleep=lambda _: None,
        embedder=replace(dependencies.embedder, embedder=model, sleep=lambda _: None),
        clock=clock,
    )
    access = replace(real.reconciler.access, registry=wire.guard(index_versions, "index_versions"), configured=guarded)
    reconciler = replace(
        real.reconciler, fence=_GuardedFence(wire, fence, "fence"), queue=queue, access=access, heartbeat=still
    )
    told: Any = ToldReconciler(reconciler)
    try:
        batch = replace(real, build_reconciler=lambda: told, queue=queue, heartbeat=still)
        yield World(stack, batch, clock, wire, local, objects, told)
    finally:
        close_clients(real)
