"""An ingest function that can be killed at any external call, and what must hold of the index at any moment."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from functions.ingest import bootstrap
from functions.ingest.deadline import Deadline
from functions.ingest.delivery import Batch
from functions.ingest.events import unpack
from shared.adapters.document_fence import DynamoDocumentFence
from shared.models import DocumentStatus
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.ingest import Stack, close_clients


class Killed(BaseException):
    """The process is gone: no handler of the code under test may run."""


@dataclass
class Tripwire:
    """Counts external calls, and kills right after the one it is set to."""

    calls: list[str] = field(default_factory=list)
    at: int = -1
    fault: Callable[[str], None] = lambda name: None

    def guard(self, port: Any, name: str) -> Any:
        return _Guarded(self, port, name)

    def set(self, at: int) -> None:
        self.calls.clear()
        self.at = at

    def clear(self) -> None:
        self.set(-1)


class _Guarded:
    def __init__(self, wire: Tripwire, port: Any, name: str) -> None:
        self._wire, self._port, self._name = wire, port, name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._port, attribute)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            wire = self._wire
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


@dataclass
class World:
    """One worker over the stack, with a clock of its own and a tripwire around everything it calls."""

    stack: Stack
    batch: Batch
    clock: FakeClock
    wire: Tripwire
    remaining_s: float = 900.0
    receives: dict[str, int] = field(default_factory=dict)

    def deliver(self, record: dict[str, Any]) -> bool:
        """Deliver one message; True when it was consumed. Raises `Killed`."""
        count = self.receives[record["messageId"]] = self.receives.get(record["messageId"], 0) + 1
        again = {**record, "attributes": {"ApproximateReceiveCount": str(count)}}
        deliveries = unpack({"Records": [again]}, request_id="")
        return not self.batch.handle(deliveries, Deadline(lambda: self.remaining_s))

    def deliver_until_consumed(self, record: dict[str, Any], *, most: int = 4) -> None:
        """Deliver again and again, each time after leases have run out."""
        for _ in range(most):
            if self.deliver(record):
                return
            self.clock.advance(1_000)
        raise AssertionError(f"the message was not consumed in {most} deliveries")

    def published(self, key: str) -> dict[str, str]:
        """Return id → text of what may be answered from: the vectors of the published generation."""
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
        """What can be found is what lies in the bucket: no orphan, no gap."""
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
    wired = bootstrap.wire(Settings(**settings))
    tools = wired.reconciler.tools

    def still(beat: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()

    fence = DynamoDocumentFence(stack.aws.dynamodb, stack.aws.documents_table, clock)
    queue = wire.guard(wired.queue, "queue")
    embedder = replace(tools.embedder, embedder=wire.guard(tools.embedder.embedder, "embedder"), sleep=lambda _: None)
    reconciler = replace(
        wired.reconciler,
        fence=wire.guard(fence, "fence"),
        queue=queue,
        tools=replace(
            tools,
            objects=wire.guard(tools.objects, "objects"),
            vectors=wire.guard(tools.vectors, "vectors"),
            embedder=embedder,
            clock=clock,
        ),
        beating=still,
    )
    try:
        yield World(stack, replace(wired, reconciler=reconciler, queue=queue, beating=still), clock, wire)
    finally:
        close_clients(wired)
