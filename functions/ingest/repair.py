"""What events would have told that never came: the bucket is the truth, and here it is looked over as a whole.

A tenant's objects, listed in the order of their keys, are merged with its documents in the registry. Where the two do
not agree, and nobody is at work on it, a change notification is sent. What the change notification comes to is decided
by the object as it is then, so a change notification too many does no harm.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from functions.ingest.changes import PREFIXES, change_body, document_ref_of
from functions.ingest.deadline import Deadline
from functions.ingest.index_versions import Workshop
from functions.ingest.ports import ChangeQueue, DocumentFence, DocumentScan, ObjectListing, VectorWriter
from shared.models import DocumentStatus
from shared.ports import Clock, DocumentEntry, ListedObject

# --- Repairs what a crash at the wrong moment can leave: vectors nobody knows of, and documents nobody works on ---

QUIET_S = 3_600.0
"""Seconds without a worker after which a document counts as forgotten: its message was hidden for 2,160 at most."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep saw and did: vectors looked at, orphans deleted, tenants it could not come to the end of."""

    vectors: int = 0
    orphans: int = 0
    unfinished: tuple[str, ...] = ()


def sweep_tenants(tenants: Iterable[str], *, fence: DocumentFence, workshop: Workshop, deadline: Deadline) -> Swept:
    """Sweep the orphans of these tenants, in every index version they have, for as long as there is time."""
    swept = [
        sweep_orphans(
            tenant,
            fence=fence,
            vectors=workshop.tools_of(index_version).vectors,
            namespace=index_version.namespace,
            deadline=deadline,
        )
        for tenant in tenants
        for index_version in workshop.registry.of(tenant).live
    ]
    unfinished = tuple(dict.fromkeys(tenant for each in swept for tenant in each.unfinished))
    return Swept(sum(each.vectors for each in swept), sum(each.orphans for each in swept), unfinished)


def resume_stalled(scan: DocumentScan, queue: ChangeQueue) -> int:
    """Send a change notification for every forgotten document; return how many."""
    count = 0
    for document in scan.stalled(quiet_s=QUIET_S):
        queue.send(change_body(document.key))
        count += 1
    return count


def sweep_orphans(
    tenant: str, *, fence: DocumentFence, vectors: VectorWriter, deadline: Deadline, namespace: str = ""
) -> Swept:
    """Delete the vectors of a tenant whose generation the registry does not know, or beyond its known bound.

    `namespace` is that of one of the tenant's index versions, the first one's if empty.

    Holds one page of ids at a time, and asks the registry once for each document on it. Raises `DependencyError`.
    """
    seen = orphans = 0
    namespace = namespace or tenant
    for page in vectors.list_ids(namespace=namespace, prefix=""):
        if deadline.is_near:
            return Swept(seen, orphans, (tenant,))
        seen += len(page)
        by_document: dict[str, list[str]] = defaultdict(list)
        for vector_id in page:
            by_document[vector_id.partition("#")[0]].append(vector_id)
        for document_id, ids in by_document.items():
            written = fence.written(tenant, document_id)
            lost = [vector_id for vector_id in ids if not _is_known(vector_id, written)]
            if lost:
                vectors.delete(namespace=namespace, ids=lost)
                orphans += len(lost)
    return Swept(seen, orphans)


def _is_known(vector_id: str, written: Mapping[str, int]) -> bool:
    _, _, rest = vector_id.partition("#")
    generation, _, index = rest.partition("#")
    return index.isdecimal() and int(index) < written.get(generation, 0)


GRACE_S = 180.0
"""Seconds an object, or a document, is left to its own events: S3 takes seconds, and what is late does no harm."""
CHANGES = 10_000
"""Sent in one round at most: some hours of work for the ingest function as it is limited in template.yaml."""
LONGEST_PAUSE_S = 7 * 86_400.0
"""What failed is tried again when as much time has passed as it had lain there, so less and less often; yet weekly."""
_CRASHED = "CRASHED"


class Reason(StrEnum):
    """Why a document is to be looked at again.

    NEW: an object the registry does not know, or knows as deleted. REPLACED: an object other than the one that was
    read. GONE: a document without its object. FAILED: the last try was given up before it came to any outcome.
    """

    NEW = "new"
    REPLACED = "replaced"
    GONE = "gone"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison saw and did: objects seen, change notifications sent and why, differences too young to be taken
    up.

    Not `finished`, it goes on behind the key `last`.
    """

    objects: int
    changes: Mapping[Reason, int]
    young: int
    finished: bool
    last: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares the bucket with the registry. Holds some 300 bytes of memory for each document of one tenant."""

    scan: DocumentScan
    listing: ObjectListing
    queue: ChangeQueue
    clock: Clock

    def tenants(self) -> list[str]:
        """Return every tenant of the registry or the bucket, sorted. Raises `DependencyError`."""
        listed = {name for prefix in PREFIXES for name in self.listing.folders(f"{prefix}/")}
        return sorted(self.scan.tenants() | {name for name in listed if document_ref_of(f"uploads/{name}/any")})

    def compare(
        self, tenant: str, deadline: Deadline, *, after: str = "", most: int = CHANGES, at_once: bool = False
    ) -> Compared:
        """Send a change notification for every document that does not agree with its object, from behind the key
        `after` on.

        Stops after `most` change notifications, or when the time is short. `at_once`: what was given up is tried again
        however often that was in vain. Raises `DependencyError`.
        """
        now = self.clock.now().timestamp()
        entries = sorted(entry for entry in self.scan.entries(tenant) if entry.key > after)
        changes: Counter[Reason] = Counter()
        objects = young = 0
        last = after
        for key, entry, listed in _merged(entries, self._objects(tenant, after)):
            if deadline.is_near or changes.total() >= most:
                return Compared(objects, changes, young, False, last)
            last = key
            objects += listed is not None
            reason = _difference(entry, listed, now, at_once=at_once)
            if reason is None:
                continue
            if now - _changed_at(entry, listed) < GRACE_S:
                young += 1
                continue
            self.queue.send(change_body(key))
            changes[reason] += 1
        return Compared(objects, changes, young, True, last)

    def _objects(self, tenant: str, after: str) -> Iterator[ListedObject]:
        for prefix in sorted(PREFIXES):
            for listed in self.listing.under(f"{prefix}/{tenant}/", after=after):
                if document_ref_of(listed.key) is not None:
                    yield listed


def _merged(
    entries: Iterable[DocumentEntry], objects: Iterable[ListedObject]
) -> Iterator[tuple[str, DocumentEntry | None, ListedObject | None]]:
    """Yield each key once, in order, with what there is of it; both sides come in the order of their keys."""
    left, right = iter(entries), iter(objects)
    entry, listed = next(left, None), next(right, None)
    while entry is not None or listed is not None:
        key = min(each.key for each in (entry, listed) if each is not None)
        here = entry if entry is not None and entry.key == key else None
        there = listed if listed is not None and listed.key == key else None
        yield key, here, there
        entry = entry if here is None else next(left, None)
        listed = listed if there is None else next(right, None)


def _difference(
    entry: DocumentEntry | None, listed: ListedObject | None, now: float, *, at_once: bool
) -> Reason | None:
    if entry is None:
        return Reason.NEW
    if entry.status is DocumentStatus.PROCESSING or entry.change_pending or entry.leased_until >= now:
        return None  # somebody is at it; if that worker died, the document is a forgotten one an hour later
    if listed is None:
        expected = entry.status in {DocumentStatus.DELETED, DocumentStatus.PENDING}
        return None if expected else Reason.GONE
    if entry.status is DocumentStatus.DELETED:
        return Reason.NEW
    if entry.status is DocumentStatus.DELETING:
        return Reason.FAILED if now - entry.updated_at >= QUIET_S else None
    if listed.last_modified.timestamp() > entry.updated_at:
        return Reason.REPLACED if entry.etag else Reason.NEW
    if entry.attempt_error:
        return Reason.FAILED if _is_due(entry, listed, now, at_once=at_once) else None
    if entry.etag != listed.etag:
        return Reason.REPLACED if entry.etag else Reason.NEW
    return None


def _is_due(entry: DocumentEntry, listed: ListedObject, now: float, *, at_once: bool) -> bool:
    """Whether what was given up is worth another try by now; one that ended workers is only when somebody asks."""
    lain_s = entry.updated_at - listed.last_modified.timestamp()
    by_itself = entry.attempt_error != _CRASHED and now - entry.updated_at >= min(lain_s, LONGEST_PAUSE_S)
    return at_once or by_itself


def _changed_at(entry: DocumentEntry | None, listed: ListedObject | None) -> float:
    """Return when the object came or, where it is gone, when the document was last seen to."""
    if listed is not None:
        return listed.last_modified.timestamp()
    return 0.0 if entry is None else entry.updated_at
