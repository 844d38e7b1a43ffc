"""Make the index agree with the bucket, for one key: take the lease, and visit the document under it.

An event is only a change notification: what counts is the object as it is now.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from functions.ingest import pipeline
from functions.ingest.changes import ChangeNotification, ReconcileOutcome, TryLater, change_body, document_ref_of
from functions.ingest.deadline import Deadline, OutOfTime
from functions.ingest.index_versions import DocumentState, Workshop, sweep
from functions.ingest.lease import Lease
from functions.ingest.ports import ChangeQueue, DocumentFence, IndexVersionRegistry
from functions.ingest.publish import Builder, sweep_rest
from shared.errors import DependencyError, DependencyTimeout, DependencyUnavailable, LeaseLost, RateLimited
from shared.models import DocumentError, DocumentStatus, IndexVersion, ObjectHead
from shared.ports import LeaseClaim, LeaseOutcome
from shared.telemetry import logger

# --- One document, one lease: look at the object and make the index agree ---

LOOKS = 20
"""Looks in one go; a key that changes faster than it can be ingested goes back to the queue."""
DELETION_GRACE = timedelta(seconds=1)
"""S3 gives `LastModified` in whole seconds."""
DELETION_RETRY_S = 5.0
CRASHED = DocumentError(
    "CRASHED",
    "Reading this document ended the worker again and again. If it is no larger or stranger than others, an operator "
    "should look into the log and run `make redrive`.",
)


@dataclass(slots=True)
class ReconcileRun:
    """One document, one lease."""

    lease: Lease
    queue: ChangeQueue
    workshop: Workshop
    new_id: Callable[[], str]
    change: ChangeNotification
    deadline: Deadline
    last_try: bool
    builder: Builder = field(init=False)

    def __post_init__(self) -> None:
        self.builder = Builder(self.lease, self.new_id, self.deadline)

    def run(self, claim: LeaseClaim) -> ReconcileOutcome:
        """Look until there is nothing newer; then let go."""
        try:
            if self.last_try:
                # A worker that is killed (out of memory, out of time) writes nothing afterwards, so it is written now.
                self.lease.presume_failed(CRASHED)
            for _ in range(LOOKS):
                outcome = self._settle(claim)
                if outcome is not None and self.lease.settle():
                    return outcome
                claim = self.lease.look_again()
            return self._continue_later(self.change.chunks_done)
        except LeaseLost:
            self._clean_up_after_takeover()
            raise TryLater("the lease was lost to another worker", after_s=self.lease.seconds) from None
        except OutOfTime as stop:
            if self.builder.published_one or stop.chunks_done > self.change.chunks_done:
                return self._continue_later(stop.chunks_done)
            late = DependencyTimeout("ingest", "not one batch could be finished in the time of an invocation.")
            self._note_failure(late)
            raise late from None
        except TryLater as later:
            self.lease.let_go(later.status)
            raise
        except DependencyError as error:
            self._note_failure(error)
            raise
        except Exception:
            self._note_failure(DependencyUnavailable("ingest", "an unforeseen fault; the log has the details."))
            raise

    def _settle(self, claim: LeaseClaim) -> ReconcileOutcome | None:
        """Look at the object and make every index version agree; None when something newer was noted meanwhile."""
        head = self.workshop.tools.objects.head(self.lease.subject.key)
        if head is not None and self._is_being_deleted(claim, head):
            raise TryLater("the API is deleting it", after_s=DELETION_RETRY_S, status=DocumentStatus.DELETING)
        # Read under the lease, at every look: a re-index that begins now sends a change notification that makes us look
        # again.
        index_versions = self.workshop.registry.of(self.lease.subject.tenant)
        standing = DocumentState(self.lease.subject, head, claim, index_versions, self.workshop)
        if claim.uncounted_change:
            standing.count_change()  # whoever made the change may have died before that
        if head is None:
            return self._remove(standing)
        outcome: ReconcileOutcome | None = ReconcileOutcome.UNCHANGED
        for index_version in index_versions.live:
            if not standing.is_up_to_date(index_version):
                outcome = self.builder.bring_up_to_date(index_version, head, standing)
                if outcome is not ReconcileOutcome.PUBLISHED:
                    return outcome
        sweep_rest(self.lease, standing)
        return outcome

    def _remove(self, standing: DocumentState) -> ReconcileOutcome | None:
        if not self.lease.tombstone():
            return None
        standing.count_change()
        standing.published.clear()
        sweep_rest(self.lease, standing)
        return ReconcileOutcome.REMOVED

    def _clean_up_after_takeover(self) -> None:
        """Delete what this worker wrote after the new holder had swept it; a unfinished that was taken over stays."""
        subject = self.lease.subject
        written = self.lease.fence.written(subject.tenant, subject.document_id)
        lost = {generation: bound for generation, bound in self.builder.wrote.items() if generation not in written}
        if lost:
            index_versions = self.workshop.registry.of(subject.tenant)
            sweep(lost, keep={}, subject=subject, index_versions=index_versions, workshop=self.workshop)

    def _is_being_deleted(self, claim: LeaseClaim, head: ObjectHead) -> bool:
        """Whether the API unpublished this very object and has not removed it yet.

        If it never does, the deletion has failed, and at the last try the bucket is right again.
        """
        if not claim.unpublished_at or head.last_modified is None or self.last_try:
            return False
        return head.last_modified <= datetime.fromisoformat(claim.unpublished_at) + DELETION_GRACE

    def _continue_later(self, chunks_done: int) -> ReconcileOutcome:
        """Put a continuation on the queue; the message at hand has done its part."""
        # Let go first: a continuation that finds the lease held would be noted and consumed.
        self.lease.let_go(DocumentStatus.PROCESSING)
        self.queue.send(change_body(self.lease.subject.key, chunks_done=chunks_done))
        return ReconcileOutcome.CONTINUED

    def _note_failure(self, error: DependencyError) -> None:
        """Say truthfully what is in the way; what was published stays so."""
        waits_on = isinstance(error, RateLimited) and self.change.may_wait
        if error.retriable and (waits_on or not self.last_try):
            note = DocumentError(error.code.upper(), f"{error.message} It is tried again by itself.")
            self.lease.let_go(DocumentStatus.PROCESSING, note)
            return
        code = "RETRIES_EXHAUSTED" if error.retriable else error.code.upper()
        mend = "An operator has to mend this and run `make redrive`, or upload the file again."
        nothing_newer = self.lease.let_go(DocumentStatus.FAILED, DocumentError(code, f"{error.message} {mend}"))
        if self.last_try and not nothing_newer:
            # This message goes to the dead-letter queue; the newer change notification noted with it was consumed, so
            # send it again.
            self.queue.send(change_body(self.lease.subject.key))


@dataclass(frozen=True, slots=True)
class Reconciler:
    """The tools of the trade.

    `tools` are for index versions as the settings have them, `tools_for` makes those for another index version.
    `new_id` gives sortable unique ids; `heartbeat` keeps calling the lease's renewal.
    """

    fence: DocumentFence
    queue: ChangeQueue
    tools: pipeline.IngestDependencies
    index_versions: IndexVersionRegistry
    tools_for: Callable[[IndexVersion], pipeline.IngestDependencies]
    new_id: Callable[[], str]
    heartbeat: Callable[[Callable[[], None]], AbstractContextManager[None]]

    @property
    def workshop(self) -> Workshop:
        """The index versions of tenants, and the tools for each."""
        return Workshop(self.index_versions, self.tools, self.tools_for)

    def reconcile(
        self, change: ChangeNotification, *, message_id: str, deadline: Deadline, last_try: bool = False
    ) -> ReconcileOutcome:
        """Reconcile one key. Raises `TryLater`, `DependencyError`; the lease is released in any case."""
        subject = document_ref_of(change.key)
        if subject is None:
            logger.info("key ignored: not under a prefix that is ingested", extra={"message_id": message_id})
            return ReconcileOutcome.IGNORED
        owner = f"{message_id}/{self.new_id()}"
        lease = Lease(self.fence, subject, owner, float(self.tools.settings.lease_s))
        claim = lease.claim(change.sequencer)
        if claim.outcome is LeaseOutcome.BUSY:
            raise TryLater("another worker is at it", after_s=claim.retry_after_s)
        if claim.outcome is not LeaseOutcome.CLAIMED:
            return ReconcileOutcome(claim.outcome.value)
        visit = ReconcileRun(lease, self.queue, self.workshop, self.new_id, change, deadline, last_try)
        with self.heartbeat(lease.renew):
            return visit.run(claim)
