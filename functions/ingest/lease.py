"""One worker's lease on a document, the heartbeat that renews it, and the time left to the invocation."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from functions.ingest.changes import DocumentRef
from functions.ingest.ports import DocumentFence
from shared.errors import DependencyError, LeaseLost, RectoError
from shared.models import Document, DocumentError, DocumentStatus
from shared.ports import LeaseClaim, UnfinishedIngest
from shared.telemetry import logger

KEEP_BACK_S = 45.0
"""Seconds kept back at the end of an invocation: one slow batch (embed 30 s, upsert) and the writes that record it."""
Heartbeat = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Calls a function periodically until its block ends; see `heartbeat`."""


@dataclass(frozen=True, slots=True)
class InvocationTime:
    """The time left to the invocation; nothing new is started in its last `keep_back_s` seconds."""

    remaining_s: Callable[[], float]
    keep_back_s: float = KEEP_BACK_S

    @property
    def is_near(self) -> bool:
        """Whether it is time to save progress and stop."""
        return self.remaining_s() < self.keep_back_s


class OutOfTime(Exception):
    """The invocation ends before the document does; everything under `chunks_done` is in the index."""

    def __init__(self, chunks_done: int) -> None:
        super().__init__(f"{chunks_done} chunks done")
        self.chunks_done = chunks_done


@contextmanager
def heartbeat(beat: Callable[[], None], *, every_s: float) -> Iterator[None]:
    """Call `beat` from a thread every so many seconds until the block ends, or until the lease is lost.

    Other failures are logged and the next beat tries again; every write checks the lease anyway.
    """
    done = threading.Event()

    def run() -> None:
        while not done.wait(every_s):
            try:
                beat()
            except LeaseLost:
                return
            except RectoError as error:
                logger.warning("heartbeat failed", extra={"code": error.code})

    thread = threading.Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@dataclass(frozen=True, slots=True)
class Lease:
    """The fence, with document and owner filled in. Every method raises `LeaseLost` once another worker holds it.

    `publish`, `publish_other`, `fail`, `tombstone` and `finish` return False, with nothing changed, when a newer change
    is pending.
    """

    fence: DocumentFence
    ref: DocumentRef
    owner: str
    duration_s: float

    @property
    def _name(self) -> tuple[str, str]:
        return self.ref.tenant, self.ref.document_id

    def claim(self, sequencer: str) -> LeaseClaim:
        """Try to take the lease."""
        return self.fence.claim(
            *self._name, self.ref.key, sequencer=sequencer, owner=self.owner, lease_s=self.duration_s
        )

    def renew(self) -> None:
        """Extend the lease."""
        self.fence.renew(*self._name, owner=self.owner, lease_s=self.duration_s)

    def take_pending_change(self) -> LeaseClaim:
        """Clear the change that arrived during the lease, before the object is read again."""
        return self.fence.take_pending_change(*self._name, owner=self.owner, lease_s=self.duration_s)

    def save_progress(self, unfinished: UnfinishedIngest, *, upper_bound: int) -> None:
        """Record how many chunks are done and which vector ids may be written; extend the lease."""
        self.fence.save_progress(
            *self._name, unfinished, upper_bound=upper_bound, owner=self.owner, lease_s=self.duration_s
        )

    def publish(self, document: Document) -> bool:
        """Move the generation pointer."""
        return self.fence.publish(document, owner=self.owner)

    def publish_other(self, document: Document) -> bool:
        """Move the pointer of the index version that is not searched."""
        return self.fence.publish_other(document, owner=self.owner)

    def fail(self, document: Document, error: DocumentError, status: DocumentStatus) -> bool:
        """Record a final failure."""
        return self.fence.fail(document, error, owner=self.owner, status=status)

    def tombstone(self) -> bool:
        """Turn the item into a tombstone."""
        return self.fence.tombstone(*self._name, owner=self.owner)

    def forget_generation(self, generation: str) -> None:
        """Forget a generation whose vectors are deleted."""
        self.fence.forget_generation(*self._name, generation, owner=self.owner)

    def presume_failed(self, error: DocumentError) -> None:
        """Record FAILED in advance: a killed worker cannot write it later."""
        self.fence.presume_failed(*self._name, error, owner=self.owner)

    def finish(self) -> bool:
        """Release the lease with everything done; it is kept when a newer change is pending."""
        return self.fence.release(*self._name, owner=self.owner)

    def release(self, status: DocumentStatus, error: DocumentError | None = None) -> bool:
        """Release the lease with work left; False when a newer change was pending. If the write fails, it expires."""
        try:
            return self.fence.release(*self._name, owner=self.owner, error=error, status=status)
        except (DependencyError, LeaseLost):
            logger.warning("the lease could not be released", extra={"document_id": self.ref.document_id})
            return True
