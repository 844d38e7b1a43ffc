"""Make the index agree with the bucket, for one key.

    claim → look → (gone: tombstone | same: nothing | else: build → publish) → sweep → release

An event is only a hint: what counts is the object as it is now. Everything from claim to release is done under the
lease; whatever arrives meanwhile is noted on the item, and makes this worker look again before it publishes or lets go.
A crash anywhere leaves notes (`written`, `draft`) from which the next hint goes on.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from functions.ingest import pipeline
from functions.ingest.deadline import Deadline, OutOfTime
from functions.ingest.events import Hint, Subject, hint_body, subject_of
from functions.ingest.parsing import status_of_rejection
from shared.errors import (
    DependencyError,
    DependencyTimeout,
    DependencyUnavailable,
    DocumentRejected,
    LeaseLost,
    NotFound,
)
from shared.models import Document, DocumentError, DocumentStatus, ObjectHead
from shared.ports import Claim, ClaimOutcome, DocumentFence, Draft, HintQueue
from shared.telemetry import logger

LOOKS = 20
"""Looks in one go; a key that changes faster than it can be ingested goes back to the queue."""
DELETION_GRACE = timedelta(seconds=1)
"""S3 gives `LastModified` in whole seconds."""
DELETION_RETRY_S = 5.0
_FINAL = {
    DocumentStatus.READY,
    DocumentStatus.PARTIAL,
    DocumentStatus.NEEDS_OCR,
    DocumentStatus.ENCRYPTED,
    DocumentStatus.FAILED,
}


class Outcome(StrEnum):
    """How a hint was dealt with; every one of these consumes the message."""

    PUBLISHED = "published"
    REJECTED = "rejected"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    STALE = "stale"
    NOTED = "noted"
    IGNORED = "ignored"
    CONTINUED = "continued"


class TryLater(Exception):
    """Nothing is wrong, but this message must come back after `after_s` seconds."""

    def __init__(self, reason: str, *, after_s: float, status: DocumentStatus = DocumentStatus.PROCESSING) -> None:
        super().__init__(reason)
        self.after_s = after_s
        self.status = status


@dataclass(frozen=True, slots=True)
class Reconciler:
    """The tools of the trade. `new_id` gives sortable unique ids; `beating` keeps calling the lease's renewal."""

    fence: DocumentFence
    queue: HintQueue
    tools: pipeline.Tools
    new_id: Callable[[], str]
    beating: Callable[[Callable[[], None]], AbstractContextManager[None]]

    def reconcile(self, hint: Hint, *, message_id: str, deadline: Deadline, last_try: bool = False) -> Outcome:
        """Deal with one hint. Raises `TryLater`, `DependencyError`; the lease is let go of in any case."""
        subject = subject_of(hint.key)
        if subject is None:
            logger.info("key ignored: not under a prefix that is ingested", extra={"message_id": message_id})
            return Outcome.IGNORED
        owner = f"{message_id}/{self.new_id()}"
        lease_s = float(self.tools.settings.lease_s)
        claim = self.fence.claim(
            subject.tenant, subject.document_id, hint.key, sequencer=hint.sequencer, owner=owner, lease_s=lease_s
        )
        if claim.outcome is ClaimOutcome.BUSY:
            raise TryLater("another worker is at it", after_s=claim.retry_after_s)
        if claim.outcome is not ClaimOutcome.CLAIMED:
            return Outcome(claim.outcome.value)
        return Visit(self, subject, hint, owner, lease_s, deadline, last_try).run(claim)


@dataclass(slots=True)
class Visit:
    """One document, one lease."""

    reconciler: Reconciler
    subject: Subject
    hint: Hint
    owner: str
    lease_s: float
    deadline: Deadline
    last_try: bool

    def run(self, claim: Claim) -> Outcome:
        """Look until there is nothing newer; then let go."""
        fence, tenant, document_id = self.reconciler.fence, self.subject.tenant, self.subject.document_id
        try:
            with self.reconciler.beating(self._renew):
                for _ in range(LOOKS):
                    outcome = self._settle(claim)
                    if outcome is not None and fence.release(tenant, document_id, owner=self.owner):
                        return outcome
                    claim = fence.look_again(tenant, document_id, owner=self.owner, lease_s=self.lease_s)
            return self._continue_later(self.hint.chunks_done)
        except LeaseLost:
            raise TryLater("the lease was lost to another worker", after_s=self.lease_s) from None
        except OutOfTime as stop:
            if stop.chunks_done > self.hint.chunks_done:
                return self._continue_later(stop.chunks_done)
            late = DependencyTimeout("ingest", "not one batch could be finished in the time of an invocation.")
            self._note_failure(late)
            raise late from None
        except TryLater as later:
            self._release(None, later.status)
            raise
        except DependencyError as error:
            self._note_failure(error)
            raise
        except Exception:
            self._note_failure(DependencyUnavailable("ingest", "an unforeseen fault; the log has the details."))
            raise

    def _settle(self, claim: Claim) -> Outcome | None:
        """Look at the object and make the index agree; None when something newer was noted meanwhile."""
        head = self.reconciler.tools.objects.head(self.subject.key)
        if head is None:
            return self._remove(claim)
        if self._is_being_deleted(claim, head):
            raise TryLater("the API is deleting it", after_s=DELETION_RETRY_S, status=DocumentStatus.DELETING)
        if self._is_up_to_date(claim.document, head):
            self._sweep(claim.written, keep=claim.document)
            return Outcome.UNCHANGED
        draft = self._draft_for(claim, head)
        document = self._document_of(claim, head)
        written = dict(claim.written)
        try:
            built = self._build(draft, head, document, written)
        except NotFound:
            return None  # replaced or deleted between HEAD and GET: look again
        except DocumentRejected as rejected:
            status, _ = status_of_rejection(rejected)
            return self._reject(document, DocumentError(rejected.reason_code, rejected.message), status, written)
        document = replace(
            document,
            status=built.status,
            title=built.title,
            error=built.error,
            page_count=built.findings.page_count,
            chunk_count=built.chunk_count,
            token_count=built.token_count,
            report=built.findings.report,
            generation=draft.generation,
        )
        if built.status not in {DocumentStatus.READY, DocumentStatus.PARTIAL} or not built.chunk_count:
            reason = built.error or DocumentError("NO_TEXT", "No text was found in this document.")
            status = DocumentStatus.FAILED if built.status is DocumentStatus.READY else built.status
            return self._reject(document, reason, status, written)
        if not self.reconciler.fence.publish(document, owner=self.owner):
            return None
        self._log("published", document, built)
        self._sweep(written, keep=document)
        return Outcome.PUBLISHED

    def _build(self, draft: Draft, head: ObjectHead, document: Document, written: dict[str, int]) -> pipeline.Built:
        def save_progress(chunks_done: int, upper_bound: int) -> None:
            # A resumed draft may have been written further than its progress says: never forget an id.
            written[draft.generation] = max(upper_bound, written.get(draft.generation, 0))
            self.reconciler.fence.save_progress(
                self.subject.tenant,
                self.subject.document_id,
                draft._replace(chunks_done=chunks_done),
                upper_bound=written[draft.generation],
                owner=self.owner,
                lease_s=self.lease_s,
            )

        labels = document.labels
        job = pipeline.Job(self.subject, head, draft, labels, save_progress, self.deadline)
        return pipeline.build(job, self.reconciler.tools)

    def _remove(self, claim: Claim) -> Outcome | None:
        if not self.reconciler.fence.tombstone(self.subject.tenant, self.subject.document_id, owner=self.owner):
            return None
        self._sweep(claim.written, keep=None)
        return Outcome.REMOVED

    def _reject(
        self, document: Document, error: DocumentError, status: DocumentStatus, written: Mapping[str, int]
    ) -> Outcome | None:
        document = replace(document, generation="", chunk_count=0, token_count=0)
        if not self.reconciler.fence.fail(document, error, owner=self.owner, status=status):
            return None
        self._log("rejected", replace(document, status=status, error=error), None)
        self._sweep(written, keep=None)
        return Outcome.REJECTED

    def _sweep(self, written: Mapping[str, int], *, keep: Document | None) -> None:
        """Delete every generation but the published one, and what that one has beyond its chunks."""
        vectors, tenant, document_id = self.reconciler.tools.vectors, self.subject.tenant, self.subject.document_id
        for generation, upper_bound in written.items():
            if keep is not None and generation == keep.generation:
                pipeline.sweep(vectors, tenant, document_id, generation, start=keep.chunk_count, end=upper_bound)
                continue
            pipeline.sweep(vectors, tenant, document_id, generation, start=0, end=upper_bound)
            self.reconciler.fence.swept(tenant, document_id, generation, owner=self.owner)

    def _is_up_to_date(self, document: Document | None, head: ObjectHead) -> bool:
        return (
            document is not None
            and document.status in _FINAL
            and document.version_id == head.version_id
            and document.settings_hash == self.reconciler.tools.settings.ingest_settings_hash
        )

    def _is_being_deleted(self, claim: Claim, head: ObjectHead) -> bool:
        """Whether the API unpublished this very object and has not removed it yet.

        If it never does, the deletion has failed, and at the last try the bucket is right again.
        """
        if not claim.unpublished_at or head.last_modified is None or self.last_try:
            return False
        return head.last_modified <= datetime.fromisoformat(claim.unpublished_at) + DELETION_GRACE

    def _draft_for(self, claim: Claim, head: ObjectHead) -> Draft:
        settings_hash = self.reconciler.tools.settings.ingest_settings_hash
        draft = claim.draft
        if draft is not None and (draft.version_id, draft.settings_hash) == (head.version_id, settings_hash):
            return draft
        return Draft(self.reconciler.new_id(), head.version_id, settings_hash, 0)

    def _document_of(self, claim: Claim, head: ObjectHead) -> Document:
        before = claim.document
        settings = self.reconciler.tools.settings
        return Document(
            tenant=self.subject.tenant,
            document_id=self.subject.document_id,
            key=self.subject.key,
            status=DocumentStatus.PROCESSING,
            title=self.subject.file_name,
            version_id=head.version_id,
            etag=head.etag,
            size_bytes=head.size_bytes,
            source_type=self.subject.source_type,
            embedding_space=str(settings.embedding_space),
            settings_hash=settings.ingest_settings_hash,
            labels=before.labels if before is not None else {},
        )

    def _continue_later(self, chunks_done: int) -> Outcome:
        """Put a continuation on the queue; the message at hand has done its part."""
        # Let go first: a continuation that finds the lease held would be noted and consumed.
        self._release(None, DocumentStatus.PROCESSING)
        self.reconciler.queue.send(hint_body(self.subject.key, chunks_done=chunks_done))
        return Outcome.CONTINUED

    def _note_failure(self, error: DependencyError) -> None:
        """Say truthfully what is in the way; what was published stays so."""
        if error.retriable and not self.last_try:
            note = DocumentError(error.code.upper(), f"{error.message} It is tried again by itself.")
            self._release(note, DocumentStatus.PROCESSING)
            return
        code = "RETRIES_EXHAUSTED" if error.retriable else error.code.upper()
        mend = "An operator has to mend this and run `make redrive`, or upload the file again."
        nothing_newer = self._release(DocumentError(code, f"{error.message} {mend}"), DocumentStatus.FAILED)
        if self.last_try and not nothing_newer:
            # This message goes to the dead-letter queue; the newer hint noted with it was consumed, so send it again.
            self.reconciler.queue.send(hint_body(self.subject.key))

    def _release(self, error: DocumentError | None, status: DocumentStatus) -> bool:
        """Let go after trouble; if even that fails, the lease runs out by itself."""
        try:
            return self.reconciler.fence.release(
                self.subject.tenant, self.subject.document_id, owner=self.owner, error=error, status=status
            )
        except (DependencyError, LeaseLost):
            logger.warning("the lease could not be released", extra={"document_id": self.subject.document_id})
            return True

    def _renew(self) -> None:
        self.reconciler.fence.renew(
            self.subject.tenant, self.subject.document_id, owner=self.owner, lease_s=self.lease_s
        )

    def _log(self, outcome: str, document: Document, built: pipeline.Built | None) -> None:
        logger.info(
            f"document {outcome}",
            extra={
                "tenant": document.tenant,
                "document_id": document.document_id,
                "document_status": document.status.value,
                "reason": document.error.code if document.error else "",
                "size_bytes": document.size_bytes,
                "pages": document.page_count,
                "chunks": document.chunk_count,
                "tokens": document.token_count,
                "embedded_tokens": built.embedded_tokens if built else 0,
                **({name: round(value, 3) for name, value in built.seconds.items()} if built else {}),
            },
        )
