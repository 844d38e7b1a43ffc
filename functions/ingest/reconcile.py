"""Make the index agree with the bucket, for one key.

An event only says that the object may have changed: the worker looks at the object as it is now.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from functions.ingest import pipeline, publish
from functions.ingest.changes import ChangeNotification, DocumentRef, change_body, document_ref_of
from functions.ingest.figures import Figures
from functions.ingest.index_versions import DocumentState, IndexVersionAccess, Readings
from functions.ingest.lease import Heartbeat, InvocationTime, OutOfTime
from functions.ingest.parsing.report import status_of_rejection
from functions.ingest.ports import ChangeQueue, DocumentFence, DocumentLease
from functions.ingest.reading import Ocr
from shared.access import AccessRulesInvalid, tenant_of_rules_key
from shared.errors import (
    DependencyError,
    DependencyTimeout,
    DependencyUnavailable,
    DocumentRejected,
    LeaseLost,
    NotFound,
    RateLimited,
)
from shared.models import Document, DocumentError, DocumentStatus, IndexVersion, ObjectHead, PagesRead
from shared.ports import LeaseClaim, LeaseOutcome
from shared.telemetry import logger

MAX_LOOKS = 20
"""Looks at the object in one run; a key that changes faster than it can be ingested goes back to the queue."""
DELETION_GRACE = timedelta(seconds=1)
"""S3 gives `LastModified` in whole seconds."""
DELETION_RETRY_S = 5.0
CRASHED = DocumentError(
    "CRASHED",
    "Every attempt to read this document crashed the worker. If the file is an ordinary one, an operator should "
    "look into the log and run `make redrive`.",
)


class ReconcileOutcome(StrEnum):
    """How a change ended; each of these consumes its message. STALE and DELEGATED are those of `LeaseOutcome`."""

    PUBLISHED = "published"
    REJECTED = "rejected"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    STALE = "stale"
    DELEGATED = "delegated"
    IGNORED = "ignored"
    RULES = "rules"
    CONTINUED = "continued"


class TryLater(Exception):
    """Nothing is wrong, but this message must come back after `after_s` seconds."""

    def __init__(self, reason: str, *, after_s: float, status: DocumentStatus = DocumentStatus.PROCESSING) -> None:
        super().__init__(reason)
        self.after_s = after_s
        self.status = status


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Reconciles keys. `new_id` gives sortable unique ids; `heartbeat` keeps renewing the lease.

    `apply_rules` puts a tenant's folder rules in force.
    """

    fence: DocumentFence
    queue: ChangeQueue
    access: IndexVersionAccess
    new_id: Callable[[], str]
    heartbeat: Heartbeat
    apply_rules: Callable[[str], object]
    ocr: Ocr
    figures: Figures

    def reconcile(
        self, change: ChangeNotification, *, message_id: str, deadline: InvocationTime, last_try: bool = False
    ) -> ReconcileOutcome:
        """Reconcile one key under its lease. Raises `TryLater`, `DependencyError`; the lease is always released."""
        if tenant := tenant_of_rules_key(change.key):
            return self._apply_rules(tenant)
        ref = document_ref_of(change.key)
        if ref is None:
            logger.info("key ignored: not under a prefix that is ingested", extra={"message_id": message_id})
            return ReconcileOutcome.IGNORED
        owner = f"{message_id}/{self.new_id()}"
        lease_s = self.access.configured.settings.lease_s
        lease = self.fence.lease(ref.tenant, ref.document_id, owner=owner, lease_s=lease_s)
        claim = lease.claim(ref.key, sequencer=change.sequencer)
        if claim.outcome is LeaseOutcome.BUSY:
            raise TryLater("another worker holds the lease", after_s=claim.retry_after_s)
        if claim.outcome is not LeaseOutcome.CLAIMED:
            return ReconcileOutcome(claim.outcome.value)
        run = ReconcileRun(
            ref,
            lease,
            self.fence,
            self.queue,
            self.access,
            self.ocr,
            self.figures,
            self.new_id,
            change,
            deadline,
            last_try,
        )
        with self.heartbeat(lease.renew):
            return run.run(claim)

    def _apply_rules(self, tenant: str) -> ReconcileOutcome:
        """Put folder rules in force. If they are malformed, the former ones stay in force."""
        try:
            self.apply_rules(tenant)
        except AccessRulesInvalid as error:
            logger.error("folder rules not in force", extra={"tenant": tenant, "errors": len(error.errors)})
            return ReconcileOutcome.IGNORED
        return ReconcileOutcome.RULES


@dataclass(slots=True)
class ReconcileRun:
    """One document under one lease. `wrote`: generation → upper bound of the chunks this run may have written."""

    ref: DocumentRef
    lease: DocumentLease
    fence: DocumentFence
    queue: ChangeQueue
    access: IndexVersionAccess
    ocr: Ocr
    figures: Figures
    new_id: Callable[[], str]
    change: ChangeNotification
    deadline: InvocationTime
    last_try: bool
    wrote: dict[str, int] = field(default_factory=dict)
    has_published: bool = False

    def run(self, claim: LeaseClaim) -> ReconcileOutcome:
        """Look at the object until no newer change is pending; then release the lease."""
        try:
            if self.last_try:
                # A worker that is killed (out of memory, out of time) writes nothing afterwards, so it is written now.
                self.lease.presume_failed(CRASHED)
            for _ in range(MAX_LOOKS):
                outcome = self._look(claim)
                if outcome is not None and self.lease.release():
                    return outcome
                claim = self.lease.take_pending_change()
            return self._continue_later(self.change.chunks_done)
        except LeaseLost:
            self._clean_up_after_takeover()
            raise TryLater(
                "the lease was lost to another worker", after_s=self.access.configured.settings.lease_s
            ) from None
        except OutOfTime as stop:
            if self.has_published or stop.chunks_done > self.change.chunks_done:
                return self._continue_later(stop.chunks_done)
            late = DependencyTimeout("ingest", "no batch could be finished within one invocation.")
            self._record_failure(late)
            raise late from None
        except TryLater as later:
            self._release(later.status)
            raise
        except DependencyError as error:
            self._record_failure(error)
            raise
        except Exception:
            self._record_failure(DependencyUnavailable("ingest", "an unexpected error; the log has the details."))
            raise

    def _look(self, claim: LeaseClaim) -> ReconcileOutcome | None:
        """Make every index version agree with the object as it is now; None when a newer change is pending."""
        # 1. Look at the bucket.
        head = self.access.configured.objects.head(self.ref.key)
        if head is not None and self._is_being_deleted(claim, head):
            raise TryLater("the API is deleting it", after_s=DELETION_RETRY_S, status=DocumentStatus.DELETING)
        # 2. Read the tenant's index versions, under the lease and at every look: a re-index that begins later sends a
        #    change, after which we look again.
        index_versions = self.access.registry.of(self.ref.tenant)
        was_read = claim.document is not None and bool(claim.document.ocr)
        readings = Readings(
            self.ocr.reading(self.ref, head, was_read=was_read), self.figures.reading(self.ref, head, was_read=was_read)
        )
        state = DocumentState(self.ref, claim, index_versions, self.access, readings)
        if claim.uncounted_change:
            state.count_change()  # the worker that made the change may have died before it counted it
        if head is not None:
            state.take_rule(head, self.lease)
        # 3. Remove the document, or build and publish what index versions lack.
        if head is None:
            outcome = ReconcileOutcome.REMOVED if publish.remove(state=state, lease=self.lease) else None
            self.ocr.forget(self.ref)
        else:
            outcome = self._bring_up_to_date(index_versions.live, head, state)
            if outcome is ReconcileOutcome.UNCHANGED and not readings.ocr and claim.document is not None:
                self.ocr.request(self.ref, head, claim.document.report)
        # 4. Sweep the vectors that are no longer published, and what was read of other versions' pictures.
        if outcome is not None:
            publish.sweep(state=state, lease=self.lease)
            if head is not None and was_read:
                self.ocr.forget(self.ref, keep_version=head.version_id)
        return outcome

    def _bring_up_to_date(
        self, index_versions: Sequence[IndexVersion], head: ObjectHead, state: DocumentState
    ) -> ReconcileOutcome | None:
        """Publish in each index version that lacks the object, up to the first where that does not succeed."""
        outcome: ReconcileOutcome | None = ReconcileOutcome.UNCHANGED
        for index_version in index_versions:
            if not state.is_up_to_date(index_version, head):
                outcome = self._build_and_publish(index_version, head, state)
                if outcome is not ReconcileOutcome.PUBLISHED:
                    break
        return outcome

    def _build_and_publish(
        self, index_version: IndexVersion, head: ObjectHead, state: DocumentState
    ) -> ReconcileOutcome | None:
        """Build a generation for one index version and publish it, or record why it cannot be; None: look again."""
        document = state.new_document(index_version, head)
        unfinished = state.unfinished_for(index_version, head.version_id, self.new_id)
        generation = unfinished.generation

        def save_progress(chunks_done: int, upper_bound: int, progress: PagesRead | None = None) -> None:
            # A resumed generation may have been written further than its progress says: never forget an id.
            bound = max(upper_bound, state.written.get(generation, 0))
            state.written[generation] = self.wrote[generation] = bound
            saved = unfinished._replace(chunks_done=chunks_done)
            self.lease.save_progress(saved, upper_bound=bound, progress=progress)

        job = pipeline.BuildJob(
            ref=self.ref,
            namespace=index_version.namespace,
            head=head,
            unfinished=unfinished,
            labels=document.labels,
            edits=state.edits,
            corrections=self.fence.corrections(self.ref.tenant, self.ref.document_id, state.edits),
            known=state.known_vectors(index_version, unfinished),
            read_pages=self.ocr.pages(self.ref, head) if state.readings.ocr else {},
            figures=self.figures.described(self.ref, head) if state.readings.figures else (),
            save_progress=save_progress,
            deadline=self.deadline,
        )
        try:
            built = pipeline.build(job, self.access.dependencies_of(index_version))
            pending = None if state.readings.ocr else self.ocr.request(self.ref, head, built.extracted.report)
            if not state.readings.figures:
                self.figures.request(self.ref, head, built.extracted.figures)
        except NotFound:
            return None  # replaced or deleted between HEAD and GET: look again
        except DocumentRejected as rejected:
            status, _ = status_of_rejection(rejected)
            return self._reject(document, DocumentError(rejected.reason_code, rejected.message), status, state)
        document = replace(
            document,
            status=built.status,
            title=built.title,
            card=built.card,
            language=built.language,
            error=pending or built.error,
            page_count=built.extracted.page_count,
            chunk_count=built.chunk_count,
            token_count=built.token_count,
            report=built.extracted.report,
            generation=generation,
            edited=built.edited,
        )
        if not publish.can_be_published(document):
            error = document.error or DocumentError("NO_TEXT", "No text was found in this document.")
            status = DocumentStatus.FAILED if document.status is DocumentStatus.READY else document.status
            return self._reject(document, error, status, state)
        if not publish.publish(document, index_version, built, state=state, lease=self.lease):
            return None
        self.has_published = True
        return ReconcileOutcome.PUBLISHED

    def _reject(
        self, document: Document, error: DocumentError, status: DocumentStatus, state: DocumentState
    ) -> ReconcileOutcome | None:
        rejected = publish.reject(document, error, status, state=state, lease=self.lease)
        return ReconcileOutcome.REJECTED if rejected else None

    def _is_being_deleted(self, claim: LeaseClaim, head: ObjectHead) -> bool:
        """Whether the API has unpublished this object and not deleted it yet.

        At the last try the deletion counts as failed, and the object is ingested again.
        """
        if not claim.unpublished_at or head.last_modified is None or self.last_try:
            return False
        return head.last_modified <= datetime.fromisoformat(claim.unpublished_at) + DELETION_GRACE

    def _clean_up_after_takeover(self) -> None:
        """Delete what this run wrote after the new holder's sweep; a generation that the new holder resumed stays."""
        ref = self.ref
        known = self.fence.written(ref.tenant, ref.document_id)
        orphaned = {generation: bound for generation, bound in self.wrote.items() if generation not in known}
        if orphaned:
            index_versions = self.access.registry.of(ref.tenant)
            publish.delete_vectors(orphaned, keep={}, ref=ref, index_versions=index_versions, access=self.access)

    def _release(self, status: DocumentStatus, error: DocumentError | None = None) -> bool:
        """Release the lease with work left; False when a newer change was pending.

        If the write fails, the lease runs out by itself. If another worker has it, what this run wrote is deleted.
        """
        try:
            try:
                return self.lease.release(status, error)
            except LeaseLost:
                self._clean_up_after_takeover()
        except DependencyError:
            logger.warning("the lease could not be released", extra={"document_id": self.ref.document_id})
        return True

    def _continue_later(self, chunks_done: int) -> ReconcileOutcome:
        """Release the lease and send a continuation of this change."""
        # Release first: a continuation that finds the lease held would be delegated to this run, and lost.
        self._release(DocumentStatus.PROCESSING)
        self.queue.send(change_body(self.ref.key, chunks_done=chunks_done))
        return ReconcileOutcome.CONTINUED

    def _record_failure(self, error: DependencyError) -> None:
        """Record why the ingest stopped; what was published stays published."""
        is_postponed = isinstance(error, RateLimited) and self.change.may_wait
        if error.retriable and (is_postponed or not self.last_try):
            retried = DocumentError(error.code.upper(), f"{error.message} It is retried automatically.")
            self._release(DocumentStatus.PROCESSING, retried)
            return
        code = "RETRIES_EXHAUSTED" if error.retriable else error.code.upper()
        remedy = "An operator has to fix this and run `make redrive`, or upload the file again."
        nothing_newer = self._release(DocumentStatus.FAILED, DocumentError(code, f"{error.message} {remedy}"))
        if self.last_try and not nothing_newer:
            # This message goes to the dead-letter queue; the message of the pending change is consumed already, so
            # send the change again.
            self.queue.send(change_body(self.ref.key))
