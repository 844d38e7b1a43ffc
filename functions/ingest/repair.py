"""Repair what events and crashes left undone: missed events, stalled documents, orphaned vectors.

A tenant's objects in the bucket are merged, in key order, with its documents in the registry; where the two differ and
no worker holds the document, a change notification is sent. A needless one does no harm: whoever processes it looks at
the object as it is then. Folder rules are compared by their ETag.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from functions.ingest.changes import PREFIXES, change_body, document_ref_of
from functions.ingest.index_versions import IndexVersionAccess
from functions.ingest.lease import InvocationTime
from functions.ingest.ports import ChangeQueue, DocumentFence, DocumentScan, ObjectListing, VectorWriter
from functions.ingest.reconcile import CRASHED
from shared.access import RULES_FOLDER, rules_key, tenant_of_rules_key
from shared.models import DocumentStatus
from shared.ports import Clock, DocumentEntry, ListedObject

STALLED_AFTER_S = 3_600.0
"""Seconds without a worker after which a document counts as stalled: its message was hidden for 2,160 at most."""
GRACE_S = 180.0
"""Seconds for which a difference is left to its own S3 event, which comes within seconds; waiting does no harm."""
MAX_CHANGES = 10_000
"""Most changes sent in one round: some hours of work for the ingest function, as template.yaml limits it."""
LONGEST_RETRY_PAUSE_S = 7 * 86_400.0
"""A failed document is retried when its object is twice as old as at the failure, but at least weekly."""


class Reason(StrEnum):
    """Why a document must be looked at again.

    NEW: an object the registry does not know, or knows as deleted. REPLACED: an object other than the one that was
    read. GONE: a document without its object. FAILED: the last try ended without any outcome. RULES: not a document,
    but the tenant's folder rules in the bucket are not in force.
    """

    NEW = "new"
    REPLACED = "replaced"
    GONE = "gone"
    FAILED = "failed"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison saw and did: objects seen, changes sent by reason, differences too young to act on.

    If not `finished`, it continues after the key `last`. `oldest_s` is the age of the oldest object in it that has no
    result yet, 0 if all have.
    """

    objects: int
    changes: Mapping[Reason, int]
    young: int
    finished: bool
    last: str
    oldest_s: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares the bucket with the registry. Holds some 300 bytes of memory for each document of one tenant.

    `rules_in_force` returns the ETag of the folder rules that are in force for a tenant.
    """

    scan: DocumentScan
    listing: ObjectListing
    queue: ChangeQueue
    clock: Clock
    rules_in_force: Callable[[str], str]

    def tenants(self) -> list[str]:
        """Return every tenant of the registry or the bucket, sorted. Raises `DependencyError`."""
        listed = {name for prefix in PREFIXES for name in self.listing.folders(f"{prefix}/")}
        return sorted(self.scan.tenants() | {name for name in listed if document_ref_of(f"uploads/{name}/any")})

    def compare(
        self, tenant: str, deadline: InvocationTime, *, after: str = "", most: int = MAX_CHANGES, at_once: bool = False
    ) -> Compared:
        """Send a change for every document after the key `after` that does not agree with its object.

        Stops after `most` changes, or when time is short. `at_once`: failed documents are retried now, however
        often they failed before. The tenant's folder rules come first. Raises `DependencyError`.
        """
        now = self.clock.now().timestamp()
        entries = sorted(entry for entry in self.scan.entries(tenant) if entry.key > after)
        changes: Counter[Reason] = Counter()
        objects = young = 0
        if not after and self._rules_were_missed(tenant):
            changes[Reason.RULES] += 1
        oldest_s = 0.0
        last = after
        for key, entry, listed in _merged(entries, self._objects(tenant, after)):
            if deadline.is_near or changes.total() >= most:
                return Compared(objects, changes, young, False, last, oldest_s)
            last = key
            objects += listed is not None
            reason = _difference(entry, listed, now, at_once=at_once)
            if listed is not None and (reason in {Reason.NEW, Reason.REPLACED} or _is_in_work(entry)):
                oldest_s = max(oldest_s, now - listed.last_modified.timestamp())
            if reason is None:
                continue
            if now - _changed_at(entry, listed) < GRACE_S:
                young += 1
                continue
            self.queue.send(change_body(key))
            changes[reason] += 1
        return Compared(objects, changes, young, True, last, oldest_s)

    def compare_rules(self) -> int:
        """Send a change for all folder rules of the bucket that are not in force; return how many.

        It takes one request per thousand tenants that have rules, and a small read for each. Only `compare` sees that
        rules were deleted, because it knows the tenants without any. Raises `DependencyError`.
        """
        listed = self.listing.under(RULES_FOLDER)
        return sum(self._send_missed(tenant, each) for each in listed if (tenant := tenant_of_rules_key(each.key)))

    def _rules_were_missed(self, tenant: str) -> bool:
        key = rules_key(tenant)
        return self._send_missed(tenant, next((each for each in self.listing.under(key) if each.key == key), None))

    def _send_missed(self, tenant: str, listed: ListedObject | None) -> bool:
        """Send a change for folder rules that are not in force, unless they are young; say whether it was sent."""
        if self.rules_in_force(tenant) == (listed.etag if listed else ""):
            return False
        if listed is not None and self.clock.now().timestamp() - listed.last_modified.timestamp() < GRACE_S:
            return False
        self.queue.send(change_body(rules_key(tenant)))
        return True

    def _objects(self, tenant: str, after: str) -> Iterator[ListedObject]:
        for prefix in sorted(PREFIXES):
            for listed in self.listing.under(f"{prefix}/{tenant}/", after=after):
                if document_ref_of(listed.key) is not None:
                    yield listed


def _merged(
    entries: Iterable[DocumentEntry], objects: Iterable[ListedObject]
) -> Iterator[tuple[str, DocumentEntry | None, ListedObject | None]]:
    """Yield each key once, in order, with its entry and its object; both sides come in the order of their keys."""
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
    if _is_in_work(entry) or entry.leased_until >= now:
        return None  # a worker holds it; if that worker died, the document counts as stalled an hour later
    if listed is None:
        expected = entry.status in {DocumentStatus.DELETED, DocumentStatus.PENDING}
        return None if expected else Reason.GONE
    if entry.status is DocumentStatus.DELETED:
        return Reason.NEW
    if entry.status is DocumentStatus.DELETING:
        return Reason.FAILED if now - entry.updated_at >= STALLED_AFTER_S else None
    if listed.last_modified.timestamp() > entry.updated_at:
        return Reason.REPLACED if entry.etag else Reason.NEW
    if entry.attempt_error:
        return Reason.FAILED if at_once or _is_retry_due(entry, listed, now) else None
    if entry.etag != listed.etag:
        return Reason.REPLACED if entry.etag else Reason.NEW
    return None


def _is_in_work(entry: DocumentEntry | None) -> bool:
    return entry is not None and (entry.status is DocumentStatus.PROCESSING or entry.change_pending)


def _is_retry_due(entry: DocumentEntry, listed: ListedObject, now: float) -> bool:
    """Whether a failed document is due for a retry; one that crashed workers is retried only on request."""
    age_s = entry.updated_at - listed.last_modified.timestamp()
    return entry.attempt_error != CRASHED.code and now - entry.updated_at >= min(age_s, LONGEST_RETRY_PAUSE_S)


def _changed_at(entry: DocumentEntry | None, listed: ListedObject | None) -> float:
    """Return when the object came or, where it is gone, when a worker last finished the document."""
    if listed is not None:
        return listed.last_modified.timestamp()
    return 0.0 if entry is None else entry.updated_at


def resume_stalled(scan: DocumentScan, queue: ChangeQueue) -> int:
    """Send a change for every stalled document; return how many."""
    count = 0
    for document in scan.stalled(quiet_s=STALLED_AFTER_S):
        queue.send(change_body(document.key))
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep saw and did: vectors seen, orphans deleted, tenants it ran out of time for."""

    vectors: int
    orphans: int
    unfinished: tuple[str, ...] = ()


def sweep_tenants(
    tenants: Iterable[str], *, fence: DocumentFence, access: IndexVersionAccess, deadline: InvocationTime
) -> Swept:
    """Sweep the orphans of these tenants, in every index version they have, for as long as there is time."""
    swept = [
        sweep_orphans(
            tenant,
            fence=fence,
            vectors=access.dependencies_of(index_version).vectors,
            namespace=index_version.namespace,
            deadline=deadline,
        )
        for tenant in tenants
        for index_version in access.registry.of(tenant).live
    ]
    unfinished = tuple(dict.fromkeys(tenant for each in swept for tenant in each.unfinished))
    return Swept(sum(each.vectors for each in swept), sum(each.orphans for each in swept), unfinished)


def sweep_orphans(
    tenant: str, *, fence: DocumentFence, vectors: VectorWriter, namespace: str, deadline: InvocationTime
) -> Swept:
    """Delete the vectors of a namespace whose generation the registry does not know, or beyond its known bound.

    Holds one page of ids at a time, and asks the registry once for each document on it. Raises `DependencyError`.
    """
    seen = orphans = 0
    for page in vectors.list_ids(namespace=namespace, prefix=""):
        if deadline.is_near:
            return Swept(seen, orphans, (tenant,))
        seen += len(page)
        by_document: dict[str, list[str]] = defaultdict(list)
        for vector_id in page:
            by_document[vector_id.partition("#")[0]].append(vector_id)
        for document_id, ids in by_document.items():
            written = fence.written(tenant, document_id)
            orphaned = [vector_id for vector_id in ids if not _is_known(vector_id, written)]
            if orphaned:
                vectors.delete(namespace=namespace, ids=orphaned)
                orphans += len(orphaned)
    return Swept(seen, orphans)


def _is_known(vector_id: str, written: Mapping[str, int]) -> bool:
    _, _, rest = vector_id.partition("#")
    generation, _, index = rest.partition("#")
    return index.isdecimal() and int(index) < written.get(generation, 0)
