"""Publish, reject or remove a document; then sweep the vectors that are no longer published.

Each change is one conditional write under the lease. A function returns False, with nothing changed, when a newer
change is pending: look at the object again. All raise `DependencyError` and `LeaseLost`.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace

from functions.ingest.changes import DocumentRef
from functions.ingest.index_versions import DocumentState, IndexVersionAccess
from functions.ingest.pipeline import BuiltGeneration
from functions.ingest.ports import DocumentLease
from shared.models import (
    Document,
    DocumentError,
    DocumentStatus,
    IndexVersion,
    SourceType,
    index_version_number_of,
    vector_id_of,
)
from shared.ports import TenantIndexVersions
from shared.telemetry import logger


def can_be_published(document: Document) -> bool:
    """Whether anything of it can be found. Only a knowledge file may rightly be empty: its chunks can be inactive."""
    if document.status not in {DocumentStatus.READY, DocumentStatus.PARTIAL}:
        return False
    return document.chunk_count > 0 or document.source_type is SourceType.KNOWLEDGE


def publish(
    document: Document,
    index_version: IndexVersion,
    built: BuiltGeneration,
    *,
    state: DocumentState,
    lease: DocumentLease,
) -> bool:
    """Move the document's pointer in one index version to `document.generation`."""
    state.published[index_version.number] = document.as_published()
    document = replace(document, index_versions=state.published)
    is_searched = index_version == state.index_versions.current
    with state.change() if is_searched else nullcontext():
        is_published = lease.publish(document) if is_searched else lease.publish_other(document)
    if not is_published:
        return False
    if not is_searched and state.is_searched_by_now(index_version):
        state.count_change()
    _log("document published" if is_searched else "document published in the other index version", document, built)
    return True


def reject(
    document: Document, error: DocumentError, status: DocumentStatus, *, state: DocumentState, lease: DocumentLease
) -> bool:
    """Record why the document cannot be shown, and remove its pointers in every index version."""
    settings_hash = state.settings_hash(state.index_versions.newest)
    document = replace(
        document, generation="", index_versions={}, settings_hash=settings_hash, chunk_count=0, token_count=0
    )
    with state.change():
        is_rejected = lease.fail(document, error, status)
    if not is_rejected:
        return False
    state.published.clear()
    _log("document rejected", replace(document, status=status, error=error))
    return True


def remove(*, state: DocumentState, lease: DocumentLease) -> bool:
    """Turn the document into a tombstone, because its object is gone."""
    with state.change():
        is_removed = lease.tombstone()
    if not is_removed:
        return False
    if state.edits:
        lease.erase_edits(state.edits)
    if state.was_erased:
        lease.forget_name()
    state.published.clear()
    return True


def sweep(*, state: DocumentState, lease: DocumentLease) -> None:
    """Delete every generation except the published ones, and vectors beyond the chunks of those."""
    keep = {each.generation: each.chunk_count for each in state.published.values()}
    delete_vectors(state.written, keep=keep, ref=state.ref, index_versions=state.index_versions, access=state.access)
    for generation in state.written:
        if generation not in keep:
            lease.forget_generation(generation)


def delete_vectors(
    written: Mapping[str, int],
    *,
    keep: Mapping[str, int],
    ref: DocumentRef,
    index_versions: TenantIndexVersions,
    access: IndexVersionAccess,
) -> None:
    """Delete what was `written` (generation → upper bound of its chunks) except the first `keep` chunks of each.

    Ids that were never written are not an error. The vectors of a dropped index version are deleted with its namespace.
    """
    live = {each.number: each for each in index_versions.live}
    for generation, upper_bound in written.items():
        index_version = live.get(index_version_number_of(generation))
        if index_version is None:
            continue
        vectors = access.dependencies_of(index_version).vectors
        ids = [vector_id_of(ref.document_id, generation, n) for n in range(keep.get(generation, 0), upper_bound)]
        if ids:
            vectors.delete(namespace=index_version.namespace, ids=ids)


def _log(message: str, document: Document, built: BuiltGeneration | None = None) -> None:
    logger.info(
        message,
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
