"""Repairs what a crash at the wrong moment can leave: vectors nobody knows of, and documents nobody works on.

Safe beside running ingests: a generation is entered in the registry before its first vector is written, and the index
is listed before the registry is read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from functions.ingest.events import hint_body
from shared.models import DocumentStatus
from shared.ports import DocumentFence, DocumentScan, HintQueue, VectorWriter

QUIET_S = 7_200.0
"""Seconds without a worker after which a document is taken to be forgotten: the queue's visibility timeout is 5,400."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep saw and did: vectors looked at, orphans deleted, hints sent for forgotten documents."""

    vectors: int = 0
    orphans: int = 0
    hints: int = 0


def sweep_everything(scan: DocumentScan, fence: DocumentFence, vectors: VectorWriter, queue: HintQueue) -> Swept:
    """Sweep the orphans of every tenant in the registry, and send a hint for every forgotten document."""
    swept = [sweep_orphans(tenant, fence=fence, vectors=vectors) for tenant in sorted({d.tenant for d in scan.all()})]
    hints = send_hints((document.key for document in scan.forgotten(quiet_s=QUIET_S)), queue)
    return Swept(sum(s.vectors for s in swept), sum(s.orphans for s in swept), hints)


def reindex(scan: DocumentScan, queue: HintQueue, *, tenant: str = "") -> int:
    """Send a hint for every document (of one tenant, if given); return how many.

    What is up to date is left alone, so it does no harm to do this again; after a change of settings or model every
    document is built anew beside its published generation.
    """
    documents = (d for d in scan.all() if d.status is not DocumentStatus.DELETED and tenant in {"", d.tenant})
    return send_hints((document.key for document in documents), queue)


def send_hints(keys: Iterable[str], queue: HintQueue) -> int:
    """Put a hint for each key on the queue; return how many."""
    count = 0
    for key in keys:
        queue.send(hint_body(key))
        count += 1
    return count


def sweep_orphans(tenant: str, *, fence: DocumentFence, vectors: VectorWriter) -> Swept:
    """Delete the vectors of a tenant whose generation the registry does not know, or beyond its known bound.

    Holds one page of ids at a time, and asks the registry once for each document on it. Raises `DependencyError`.
    """
    seen = orphans = 0
    for page in vectors.list_ids(namespace=tenant, prefix=""):
        seen += len(page)
        by_document: dict[str, list[str]] = defaultdict(list)
        for vector_id in page:
            by_document[vector_id.partition("#")[0]].append(vector_id)
        for document_id, ids in by_document.items():
            written = fence.written(tenant, document_id)
            lost = [vector_id for vector_id in ids if not _is_known(vector_id, written)]
            if lost:
                vectors.delete(namespace=tenant, ids=lost)
                orphans += len(lost)
    return Swept(seen, orphans)


def _is_known(vector_id: str, written: Mapping[str, int]) -> bool:
    _, _, rest = vector_id.partition("#")
    generation, _, index = rest.partition("#")
    return index.isdecimal() and int(index) < written.get(generation, 0)
