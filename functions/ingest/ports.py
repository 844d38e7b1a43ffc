"""What ingest needs from outside, as narrow protocols: one for each need, not one for each vendor."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from shared.access import AccessRule
from shared.erasures import Erasure, ScanPosition, SoughtErasure
from shared.models import (
    Completion,
    Document,
    DocumentError,
    DocumentStatus,
    Edits,
    EmbeddingSpace,
    ObjectHead,
    PagesRead,
    VectorRecord,
)
from shared.ports import (
    DocumentEntry,
    DocumentRemains,
    LeaseClaim,
    ListedObject,
    ReindexProgress,
    ScannedDocument,
    SmallObject,
    TenantIndexVersions,
    UnfinishedIngest,
)


class VectorWriter(Protocol):
    """Writes the index."""

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        """Write records of any number; split under the vendor's limits (1,000 vectors, 2 MB a request)."""

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        """Delete by id, any number; unknown ids are no error."""

    def list_ids(self, *, namespace: str, prefix: str) -> Iterator[Sequence[str]]:
        """Yield pages of the ids that start with `prefix`."""


class VectorNamespaces(Protocol):
    """Removes what a whole index version has written."""

    def drop(self, *, namespace: str) -> None:
        """Delete a namespace with all its vectors; one that is not there is no error. Raises `DependencyError`."""


class VectorReader(Protocol):
    """Reads vectors back by id."""

    def fetch(self, *, namespace: str, ids: Sequence[str]) -> Mapping[str, VectorRecord]:
        """Return those of the vectors that are visible by now, any number; missing ones are left out."""


class ObjectVersions(Protocol):
    """Deletes what the bucket holds under a key."""

    def delete_versions(self, key: str, *, until: datetime | None = None) -> tuple[int, int]:
        """Remove versions and delete markers up to a time; return how many, and how many newer there are."""


class ObjectReader(Protocol):
    """Looks at the bucket."""

    def head(self, key: str) -> ObjectHead | None:
        """Return what the bucket holds now under `key`, or None."""

    def download(self, head: ObjectHead, path: Path) -> None:
        """Write exactly this version's bytes to `path`. Raises `NotFound` if the version is gone."""


class SmallObjects(Protocol):
    """Reads small objects whole."""

    def read(self, key: str, *, max_bytes: int) -> SmallObject | None:
        """Return the object, or None; of one that is larger, its first `max_bytes` + 1 bytes."""


class ObjectListing(Protocol):
    """Lists the bucket, a thousand entries a request."""

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the part of each key between `prefix` and the next `/`, each once."""

    def under(self, prefix: str, *, after: str = "") -> Iterator[ListedObject]:
        """Yield the objects under `prefix` whose keys come after `after`, in the order of their keys (code points)."""


class DocumentLease(Protocol):
    """One document's lease for one worker: every write is conditional on holding it.

    All methods but `claim` raise `LeaseLost` once another worker holds the lease. `publish`, `publish_other`, `fail`
    and `tombstone` return False, with nothing changed, when a newer change is pending: call `take_pending_change`
    then. The lease is kept until `release`, because sweeping needs it.
    """

    def claim(self, key: str, *, sequencer: str) -> LeaseClaim:
        """Take the lease, ordered by S3 sequencer, in one conditional write. An empty sequencer means "look now"."""

    def take_pending_change(self) -> LeaseClaim:
        """Clear the pending change, before the object is read again."""

    def renew(self) -> None:
        """Extend the lease."""

    def save_progress(
        self, unfinished: UnfinishedIngest, *, upper_bound: int, progress: PagesRead | None = None
    ) -> None:
        """Record that the chunks under `upper_bound` may be in the index, before they are written; renew the lease.

        `progress` says how far it is, for people.
        """

    def take_rule(self, rule: AccessRule, version_id: str) -> None:
        """Give the document the rule of access that this object version states."""

    def publish(self, document: Document) -> bool:
        """Move the generation pointer and set the final status in one conditional write."""

    def publish_other(self, document: Document) -> bool:
        """Move the pointers in `document.index_versions` alone: those of an index version that is not searched."""

    def fail(self, document: Document, error: DocumentError, status: DocumentStatus) -> bool:
        """Record a final failure and remove the generation pointer."""

    def tombstone(self) -> bool:
        """Turn the item into a tombstone that outlives the queue's retention."""

    def forget_name(self) -> None:
        """Remove the name from the tombstone of an erased document again, after a late event has claimed it."""

    def erase_edits(self, edits: Edits) -> None:
        """Erase the edits of passages, after `tombstone`: they hold texts of the document."""

    def forget_generation(self, generation: str) -> None:
        """Forget a generation whose vectors are deleted."""

    def presume_failed(self, error: DocumentError) -> None:
        """Record FAILED with `error` in advance, because a worker killed in its last try cannot; keep the lease."""

    def release(self, status: DocumentStatus | None = None, error: DocumentError | None = None) -> bool:
        """Release the lease.

        Without `status` and `error` the work is done: the last final status is shown again; returns False, with nothing
        changed, when a newer change is pending. With either, work is left: they are shown (PROCESSING if no status is
        given), and what was published stays published; returns False if a newer change was pending.
        """


class DocumentFence(Protocol):
    """The registry as ingest needs it: a lease per document, and what may be in the index."""

    def lease(self, tenant: str, document_id: str, *, owner: str, lease_s: float) -> DocumentLease:
        """Return the lease, not yet claimed. `owner` names one attempt as `{message id}/{anything unique}`."""

    def corrections(self, tenant: str, document_id: str, edits: Edits) -> Mapping[str, str]:
        """Return the corrected text of each passage that is corrected, by the hash of its original text."""

    def written(self, tenant: str, document_id: str) -> Mapping[str, int]:
        """Return generation → upper bound of its chunks, for all that may have vectors. Consistent; needs no lease.

        A generation is recorded before its first vector is written, so vectors of others are orphaned.
        """


class DocumentScan(Protocol):
    """The whole registry, read for maintenance: slow, never part of a request."""

    def tenants(self) -> set[str]:
        """Return every tenant that has, or ever had, a document."""

    def entries(self, tenant: str) -> Iterator[DocumentEntry]:
        """Yield every document of one tenant, tombstones included, in no order. Consistent read."""

    def stalled(self, *, quiet_s: float) -> Iterator[Document]:
        """Yield the documents with work left (see the adapter) whose lease has been free for `quiet_s` seconds."""


class TenantScan(Protocol):
    """One tenant's whole registry, read for re-indexing."""

    def of(self, tenant: str) -> Iterator[ScannedDocument]:
        """Yield every document of the tenant, tombstones included, without its report. Consistent read."""


class ReindexProgressStore(Protocol):
    """Where the progress of the automatic re-index is kept: one item for the whole stack."""

    def read(self) -> ReindexProgress | None:
        """Return the stored progress, or None before the first write. Raises `DependencyError`."""

    def write(self, progress: ReindexProgress) -> None:
        """Replace the stored progress. Raises `DependencyError`."""


class IndexVersionRegistry(Protocol):
    """Which index versions tenants have, as ingest needs it."""

    def count_change(self, tenant: str) -> None:
        """Give the tenant a new knowledge version. Raises `DependencyError`."""

    def begin_change(self, tenant: str, document_id: str, *, restricts: Set[str] = frozenset()) -> Set[str]:
        """Give the tenant a new knowledge version, and mark the document as changing; return the marks to remove.

        Whoever reads a marked document's generation does not remember it. Raises `DependencyError`.
        """

    def end_change(self, tenant: str, marks: Set[str]) -> None:
        """Give the tenant a new knowledge version, and remove the marks. Raises `DependencyError`."""

    def of(self, tenant: str) -> TenantIndexVersions:
        """Return the tenant's pointer, creating it as the settings say if there is none. Consistent read."""

    def save(self, index_versions: TenantIndexVersions) -> bool:
        """Write the pointer unless it changed since `index_versions.revision` was read; False if it did."""


class ErasureStore(Protocol):
    """The erasures that are not finished, and the round that works on them. Every method raises `DependencyError`."""

    def unfinished(self) -> Sequence[Erasure]:
        """Return those of all tenants."""

    def save(self, erasure: Erasure) -> None:
        """Replace an erasure; a finished one is not among the unfinished any more."""

    def hold(self, now: float, until: float) -> Mapping[str, Any] | None:
        """Begin a round; return what the last one left to continue, or None if another one is going on."""

    def let_go(self, scan: Mapping[str, Any]) -> None:
        """End a round, with what the next one has to continue."""


class TraceScan(Protocol):
    """Reads the tables of conversations and caches, and removes what erasures have left there."""

    def remove(
        self, sought: Sequence[SoughtErasure], position: ScanPosition
    ) -> tuple[Mapping[str, Mapping[str, int]], ScanPosition | None]:
        """Remove what one page holds; return counts by erasure and store, and the next place (None at the end)."""


class ErasableEdits(Protocol):
    """The edits of passages, as erasures need them."""

    def erase_document(self, tenant: str, document_id: str) -> int:
        """Remove all that a document's edits say; return how many there were."""

    def forget_editor(self, tenant: str, user: str) -> int:
        """Take a user's id out of the changes they made; return how many edits named them."""


class ErasableRegistry(Protocol):
    """The registry, as erasures need it."""

    def remains(self, tenant: str, document_id: str) -> DocumentRemains:
        """Return what is left of a document. Consistent read."""

    def written(self, tenant: str, document_id: str) -> Mapping[str, int]:
        """Return generation → upper bound of its chunks, for all that may have vectors."""

    def forget(self, tenant: str, document_id: str) -> bool:
        """Remove all of a deleted document except its id; False if a worker has it, or it is back."""


class FigureReader(Protocol):
    """A model that sees pictures."""

    @property
    def model(self) -> str:
        """The model's name."""

    def describe(self, picture: bytes, *, caption: str, timeout_s: float) -> Completion:
        """Say what a figure (a PNG file) shows; `timeout_s` bounds all attempts together. Raises `DependencyError`."""


class ReadPages(Protocol):
    """What was read of one object version's pages or figures, and who is reading. All raise `DependencyError`."""

    def reading(self, tenant: str, document_id: str, version_id: str) -> str:
        """Return the name of the finished reading, empty if there is none. Consistent read."""

    def pages(self, tenant: str, document_id: str, version_id: str) -> Mapping[int, bytes]:
        """Return the pages read so far, by number, each as a frame of `parsing.wire`."""

    def numbers(self, tenant: str, document_id: str, version_id: str) -> Set[int]:
        """Return the numbers of the pages read so far."""

    def begin(self, tenant: str, document_id: str, version_id: str, *, seconds: float) -> bool:
        """Take the reading for so long; False if another worker has it."""

    def end(self, tenant: str, document_id: str, version_id: str) -> None:
        """Give the reading back."""

    def save(self, tenant: str, document_id: str, version_id: str, number: int, page: bytes) -> bool:
        """Store one page; False if it is too large to be stored."""

    def finish(self, tenant: str, document_id: str, version_id: str, reading: str) -> None:
        """Name the finished reading."""

    def erase(self, tenant: str, document_id: str, *, keep_version: str = "") -> None:
        """Delete the pages of every object version but one."""


class ChangeQueue(Protocol):
    """The queue that change notifications come from."""

    def send(self, body: str, *, delay_s: int = 0) -> None:
        """Send a change notification, visible after `delay_s` seconds (900 at most, SQS's limit)."""

    def extend(self, receipt_handle: str, *, visibility_s: int) -> None:
        """Hide a message for `visibility_s` seconds from now."""

    def waiting(self) -> int:
        """Return the approximate number of messages, hidden ones included."""


class ChunkVectorCache(Protocol):
    """Vectors of chunks embedded before, in any document. A cache that is down is a miss, never an error."""

    def get_many(self, space: EmbeddingSpace, content_hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Return content hash → vector for the hashes known in that embedding space."""

    def put_many(self, space: EmbeddingSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Remember vectors by content hash."""
