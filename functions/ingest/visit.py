"""One document, one lease: look at the object and make the index agree.

    look → (gone: tombstone | same: nothing | else: build → publish) → sweep → let go

Everything is done under the lease; whatever arrives meanwhile is noted on the item, and makes this worker look again
before it publishes or lets go. A crash anywhere leaves notes (`written`, `draft`) from which the next hint goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from functions.ingest import pipeline
from functions.ingest.deadline import Deadline, OutOfTime
from functions.ingest.events import Hint, Subject, hint_body
from functions.ingest.lease import Lease
from functions.ingest.parsing import status_of_rejection
from functions.ingest.views import Standing, Workshop, sweep
from shared.errors import (
    DependencyError,
    DependencyTimeout,
    DependencyUnavailable,
    DocumentRejected,
    LeaseLost,
    NotFound,
)
from shared.models import Document, DocumentError, DocumentStatus, ObjectHead, SourceType, View
from shared.ports import Claim, Draft, HintQueue
from shared.telemetry import logger

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


@dataclass(slots=True)
class Visit:
    """One document, one lease."""

    lease: Lease
    queue: HintQueue
    workshop: Workshop
    new_id: Callable[[], str]
    hint: Hint
    deadline: Deadline
    last_try: bool
    wrote: dict[str, int] = field(default_factory=dict)
    published_one: bool = False

    def run(self, claim: Claim) -> Outcome:
        """Look until there is nothing newer; then let go."""
        try:
            if self.last_try:
                # A worker that is killed (out of memory, out of time) writes nothing afterwards, so it is written now.
                self.lease.forewarn(CRASHED)
            for _ in range(LOOKS):
                outcome = self._settle(claim)
                if outcome is not None and self.lease.settle():
                    return outcome
                claim = self.lease.look_again()
            return self._continue_later(self.hint.chunks_done)
        except LeaseLost:
            self._clean_up_after_takeover()
            raise TryLater("the lease was lost to another worker", after_s=self.lease.seconds) from None
        except OutOfTime as stop:
            if self.published_one or stop.chunks_done > self.hint.chunks_done:
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

    def _settle(self, claim: Claim) -> Outcome | None:
        """Look at the object and make every view agree; None when something newer was noted meanwhile."""
        head = self.workshop.tools.objects.head(self.lease.subject.key)
        if head is not None and self._is_being_deleted(claim, head):
            raise TryLater("the API is deleting it", after_s=DELETION_RETRY_S, status=DocumentStatus.DELETING)
        # Read under the lease, at every look: a re-index that begins now sends a hint that makes us look again.
        views = self.workshop.registry.of(self.lease.subject.tenant)
        standing = Standing(self.lease.subject, head, claim, views, self.workshop)
        if head is None:
            return self._remove(standing)
        outcome: Outcome | None = Outcome.UNCHANGED
        for view in views.live:
            if not standing.is_up_to_date(view):
                outcome = self._bring_up_to_date(view, head, standing)
                if outcome is not Outcome.PUBLISHED:
                    return outcome
        self._sweep(standing)
        return outcome

    def _bring_up_to_date(self, view: View, head: ObjectHead, standing: Standing) -> Outcome | None:
        draft = standing.draft_for(view, head.version_id, self.new_id)
        document = self._document_of(view, head, standing)
        try:
            built = self._build(view, draft, head, document, standing)
        except NotFound:
            return None  # replaced or deleted between HEAD and GET: look again
        except DocumentRejected as rejected:
            status, _ = status_of_rejection(rejected)
            return self._reject(document, DocumentError(rejected.reason_code, rejected.message), status, standing)
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
        if not _can_be_published(built, self.lease.subject):
            reason = built.error or DocumentError("NO_TEXT", "No text was found in this document.")
            status = DocumentStatus.FAILED if built.status is DocumentStatus.READY else built.status
            return self._reject(document, reason, status, standing)
        standing.note_published(view, document)
        document = replace(document, views=standing.published)
        is_searched = view == standing.views.current
        if not (self.lease.publish(document) if is_searched else self.lease.publish_beside(document)):
            return None
        self.published_one = True
        self._log("published" if is_searched else "published beside", document, built)
        return Outcome.PUBLISHED

    def _build(
        self, view: View, draft: Draft, head: ObjectHead, document: Document, standing: Standing
    ) -> pipeline.Built:
        written = standing.written

        def save_progress(chunks_done: int, upper_bound: int) -> None:
            # A resumed draft may have been written further than its progress says: never forget an id.
            written[draft.generation] = max(upper_bound, written.get(draft.generation, 0))
            self.wrote[draft.generation] = written[draft.generation]
            self.lease.save_progress(draft._replace(chunks_done=chunks_done), upper_bound=written[draft.generation])

        former = standing.former_of(view)
        job = pipeline.Job(
            self.lease.subject, view.namespace, head, draft, document.labels, former, save_progress, self.deadline
        )
        return pipeline.build(job, self.workshop.tools_of(view))

    def _remove(self, standing: Standing) -> Outcome | None:
        if not self.lease.tombstone():
            return None
        standing.published.clear()
        self._sweep(standing)
        return Outcome.REMOVED

    def _reject(
        self, document: Document, error: DocumentError, status: DocumentStatus, standing: Standing
    ) -> Outcome | None:
        newest = standing.settings_hash(standing.views.newest)
        document = replace(document, generation="", views={}, settings_hash=newest, chunk_count=0, token_count=0)
        if not self.lease.fail(document, error, status):
            return None
        self._log("rejected", replace(document, status=status, error=error), None)
        standing.published.clear()
        self._sweep(standing)
        return Outcome.REJECTED

    def _sweep(self, standing: Standing) -> None:
        """Delete every generation but the published ones, and what those have beyond their chunks."""
        keep = {each.generation: each.chunk_count for each in standing.published.values()}
        subject, views = self.lease.subject, standing.views
        for generation in sweep(standing.written, keep=keep, subject=subject, views=views, workshop=self.workshop):
            self.lease.swept(generation)

    def _clean_up_after_takeover(self) -> None:
        """Delete what this worker wrote after the new holder had swept it; a draft that was taken over stays."""
        subject = self.lease.subject
        written = self.lease.fence.written(subject.tenant, subject.document_id)
        lost = {generation: bound for generation, bound in self.wrote.items() if generation not in written}
        if lost:
            views = self.workshop.registry.of(subject.tenant)
            sweep(lost, keep={}, subject=subject, views=views, workshop=self.workshop)

    def _is_being_deleted(self, claim: Claim, head: ObjectHead) -> bool:
        """Whether the API unpublished this very object and has not removed it yet.

        If it never does, the deletion has failed, and at the last try the bucket is right again.
        """
        if not claim.unpublished_at or head.last_modified is None or self.last_try:
            return False
        return head.last_modified <= datetime.fromisoformat(claim.unpublished_at) + DELETION_GRACE

    def _document_of(self, view: View, head: ObjectHead, standing: Standing) -> Document:
        before = standing.claim.document
        return Document(
            tenant=self.lease.subject.tenant,
            document_id=self.lease.subject.document_id,
            key=self.lease.subject.key,
            status=DocumentStatus.PROCESSING,
            title=self.lease.subject.file_name,
            version_id=head.version_id,
            etag=head.etag,
            size_bytes=head.size_bytes,
            source_type=self.lease.subject.source_type,
            embedding_space=str(view.space),
            settings_hash=standing.settings_hash(view),
            labels=before.labels if before is not None else {},
        )

    def _continue_later(self, chunks_done: int) -> Outcome:
        """Put a continuation on the queue; the message at hand has done its part."""
        # Let go first: a continuation that finds the lease held would be noted and consumed.
        self.lease.let_go(DocumentStatus.PROCESSING)
        self.queue.send(hint_body(self.lease.subject.key, chunks_done=chunks_done))
        return Outcome.CONTINUED

    def _note_failure(self, error: DependencyError) -> None:
        """Say truthfully what is in the way; what was published stays so."""
        if error.retriable and not self.last_try:
            note = DocumentError(error.code.upper(), f"{error.message} It is tried again by itself.")
            self.lease.let_go(DocumentStatus.PROCESSING, note)
            return
        code = "RETRIES_EXHAUSTED" if error.retriable else error.code.upper()
        mend = "An operator has to mend this and run `make redrive`, or upload the file again."
        nothing_newer = self.lease.let_go(DocumentStatus.FAILED, DocumentError(code, f"{error.message} {mend}"))
        if self.last_try and not nothing_newer:
            # This message goes to the dead-letter queue; the newer hint noted with it was consumed, so send it again.
            self.queue.send(hint_body(self.lease.subject.key))

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
                "chunks_reused": built.reused if built else 0,
                **({name: round(value, 3) for name, value in built.seconds.items()} if built else {}),
            },
        )


def _can_be_published(built: pipeline.Built, subject: Subject) -> bool:
    """Only a knowledge file may rightly hold nothing: all its chunks can be inactive."""
    if built.status not in {DocumentStatus.READY, DocumentStatus.PARTIAL}:
        return False
    return built.chunk_count > 0 or subject.source_type is SourceType.KNOWLEDGE
