"""One document in one index version: build what it does not show yet, and publish it or say why it cannot be shown."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from functions.ingest import pipeline
from functions.ingest.changes import DocumentRef, ReconcileOutcome
from functions.ingest.deadline import Deadline
from functions.ingest.index_versions import DocumentState, sweep
from functions.ingest.lease import Lease
from functions.ingest.parsing.parse import status_of_rejection
from shared.errors import DocumentRejected, NotFound
from shared.models import Document, DocumentError, DocumentStatus, IndexVersion, ObjectHead, SourceType
from shared.ports import UnfinishedIngest
from shared.telemetry import logger


@dataclass(slots=True)
class Builder:
    """Builds under one lease. `wrote` is what it may have written: generation → upper bound of its chunks."""

    lease: Lease
    new_id: Callable[[], str]
    deadline: Deadline
    wrote: dict[str, int] = field(default_factory=dict)
    published_one: bool = False

    def bring_up_to_date(
        self, index_version: IndexVersion, head: ObjectHead, standing: DocumentState
    ) -> ReconcileOutcome | None:
        """Make the index version show the object; None when something newer was noted meanwhile.

        Raises `DependencyError`, `LeaseLost`, `OutOfTime`.
        """
        unfinished = standing.draft_for(index_version, head.version_id, self.new_id)
        document = _document_of(index_version, head, standing)
        try:
            built = self._build(index_version, unfinished, head, document, standing)
        except NotFound:
            return None  # replaced or deleted between HEAD and GET: look again
        except DocumentRejected as rejected:
            status, _ = status_of_rejection(rejected)
            return self._reject(document, DocumentError(rejected.reason_code, rejected.message), status, standing)
        document = replace(
            document,
            status=built.status,
            title=built.title,
            language=built.language,
            error=built.error,
            page_count=built.findings.page_count,
            chunk_count=built.chunk_count,
            token_count=built.token_count,
            report=built.findings.report,
            generation=unfinished.generation,
        )
        if not _can_be_published(built, self.lease.subject):
            reason = built.error or DocumentError("NO_TEXT", "No text was found in this document.")
            status = DocumentStatus.FAILED if built.status is DocumentStatus.READY else built.status
            return self._reject(document, reason, status, standing)
        standing.note_published(index_version, document)
        document = replace(document, index_versions=standing.published)
        is_searched = index_version == standing.index_versions.current
        if not (self.lease.publish(document) if is_searched else self.lease.publish_other(document)):
            return None
        self.published_one = True
        if is_searched or standing.is_searched_by_now(index_version):
            standing.count_change()
        _log("published" if is_searched else "published beside", document, built)
        return ReconcileOutcome.PUBLISHED

    def _build(
        self,
        index_version: IndexVersion,
        unfinished: UnfinishedIngest,
        head: ObjectHead,
        document: Document,
        standing: DocumentState,
    ) -> pipeline.Built:
        known = standing.known_of(index_version, unfinished)
        written = standing.written

        def save_progress(chunks_done: int, upper_bound: int) -> None:
            # A resumed unfinished may have been written further than its progress says: never forget an id.
            written[unfinished.generation] = max(upper_bound, written.get(unfinished.generation, 0))
            self.wrote[unfinished.generation] = written[unfinished.generation]
            self.lease.save_progress(
                unfinished._replace(chunks_done=chunks_done), upper_bound=written[unfinished.generation]
            )

        job = pipeline.Job(
            self.lease.subject,
            index_version.namespace,
            head,
            unfinished,
            document.labels,
            known,
            save_progress,
            self.deadline,
        )
        return pipeline.build(job, standing.workshop.tools_of(index_version))

    def _reject(
        self, document: Document, error: DocumentError, status: DocumentStatus, standing: DocumentState
    ) -> ReconcileOutcome | None:
        newest = standing.settings_hash(standing.index_versions.newest)
        document = replace(
            document, generation="", index_versions={}, settings_hash=newest, chunk_count=0, token_count=0
        )
        if not self.lease.fail(document, error, status):
            return None
        standing.count_change()
        _log("rejected", replace(document, status=status, error=error), None)
        standing.published.clear()
        sweep_rest(self.lease, standing)
        return ReconcileOutcome.REJECTED


def sweep_rest(lease: Lease, standing: DocumentState) -> None:
    """Delete every generation but the published ones, and what those have beyond their chunks."""
    keep = {each.generation: each.chunk_count for each in standing.published.values()}
    subject, index_versions = lease.subject, standing.index_versions
    for generation in sweep(
        standing.written, keep=keep, subject=subject, index_versions=index_versions, workshop=standing.workshop
    ):
        lease.forget_generation(generation)


def _document_of(index_version: IndexVersion, head: ObjectHead, standing: DocumentState) -> Document:
    subject, before = standing.subject, standing.claim.document
    return Document(
        tenant=subject.tenant,
        document_id=subject.document_id,
        key=subject.key,
        status=DocumentStatus.PROCESSING,
        title=subject.file_name,
        version_id=head.version_id,
        etag=head.etag,
        size_bytes=head.size_bytes,
        source_type=subject.source_type,
        embedding_space=str(index_version.space),
        settings_hash=standing.settings_hash(index_version),
        labels=before.labels if before is not None else {},
    )


def _can_be_published(built: pipeline.Built, subject: DocumentRef) -> bool:
    """Only a knowledge file may rightly hold nothing: all its chunks can be inactive."""
    if built.status not in {DocumentStatus.READY, DocumentStatus.PARTIAL}:
        return False
    return built.chunk_count > 0 or subject.source_type is SourceType.KNOWLEDGE


def _log(outcome: str, document: Document, built: pipeline.Built | None) -> None:
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
