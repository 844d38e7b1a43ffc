"""Repairs what a crash at the wrong moment can leave: vectors nobody knows of, and documents nobody works on.

Safe beside running ingests: a generation is entered in the registry before its first vector is written, and the index
is listed before the registry is read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from functions.ingest.deadline import Deadline
from functions.ingest.events import hint_body
from functions.ingest.views import Workshop
from shared.ports import DocumentFence, DocumentScan, HintQueue, VectorWriter

QUIET_S = 3_600.0
"""Seconds without a worker after which a document counts as forgotten: its message was hidden for 2,160 at most."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep saw and did: vectors looked at, orphans deleted, tenants it could not come to the end of."""

    vectors: int = 0
    orphans: int = 0
    unfinished: tuple[str, ...] = ()


def sweep_tenants(tenants: Iterable[str], *, fence: DocumentFence, workshop: Workshop, deadline: Deadline) -> Swept:
    """Sweep the orphans of these tenants, in every view they have, for as long as there is time."""
    swept = [
        sweep_orphans(
            tenant,
            fence=fence,
            vectors=workshop.tools_of(view).vectors,
            namespace=view.namespace,
            deadline=deadline,
        )
        for tenant in tenants
        for view in workshop.registry.of(tenant).live
    ]
    unfinished = tuple(dict.fromkeys(tenant for each in swept for tenant in each.unfinished))
    return Swept(sum(each.vectors for each in swept), sum(each.orphans for each in swept), unfinished)


def hint_forgotten(scan: DocumentScan, queue: HintQueue) -> int:
    """Send a hint for every forgotten document; return how many."""
    count = 0
    for document in scan.forgotten(quiet_s=QUIET_S):
        queue.send(hint_body(document.key))
        count += 1
    return count


def sweep_orphans(
    tenant: str, *, fence: DocumentFence, vectors: VectorWriter, deadline: Deadline, namespace: str = ""
) -> Swept:
    """Delete the vectors of a tenant whose generation the registry does not know, or beyond its known bound.

    `namespace` is that of one of the tenant's views, the first one's if empty.

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
