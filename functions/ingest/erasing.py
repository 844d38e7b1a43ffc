"""Verified erasures: finishes what the API has begun, looks for traces again, and signs a receipt.

A round looks everywhere for every unfinished erasure. If it finds nothing of one, that erasure ends with a signed
receipt; if it finds something, it removes that, and the next round looks again. No erasure ends before all requests
that began earlier must have ended (`settle_s`), nor before the vector store shows the deletions (`VISIBLE_S`). If a
round is killed, the next one begins anew (docs/decisions/0036).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from functions.ingest.changes import change_body, document_ref_of
from functions.ingest.index_versions import IndexVersionAccess
from functions.ingest.lease import InvocationTime
from functions.ingest.ports import (
    ChangeQueue,
    ErasableEdits,
    ErasableRegistry,
    ErasureStore,
    ObjectVersions,
    TraceScan,
)
from functions.ingest.publish import delete_vectors
from shared.erasures import Erasure, ScanPosition, SoughtErasure, receipt_of
from shared.errors import RectoError
from shared.models import DocumentStatus
from shared.ports import Clock
from shared.telemetry import logger

WRITERS_S = 360.0
"""Seconds that an ingest worker runs at most (template.yaml)."""
MARGIN_S = 60.0
"""Seconds added to the longest request, for clocks that differ."""
VISIBLE_S = 60.0
"""Seconds after a deletion before a reading counts. Pinecone is eventually consistent and names no bound ("there
can be a slight delay", docs.pinecone.io/guides/index-data/check-data-freshness, read 2026-11-23)."""
HELD_S = 900.0
"""Seconds for which a round counts as running: Lambda ends it then."""


@dataclass(slots=True)
class LookResult:
    """What one look found and removed of an erasure, by store; and what it could not remove, in words.

    `is_back`: the document's name was uploaded again since; what came after that must not be erased. `has_name`: its
    tombstone still has a name and an access rule, which stay until nothing is left that the rule protects.
    """

    found: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    is_back: bool = False
    has_name: bool = False


@dataclass(frozen=True, slots=True)
class Eraser:
    """Finishes erasures. `unpublish` stops answers from a document; `sign` signs a receipt."""

    store: ErasureStore
    traces: TraceScan
    objects: ObjectVersions
    registry: ErasableRegistry
    edits: ErasableEdits
    access: Callable[[], IndexVersionAccess]
    queue: ChangeQueue
    unpublish: Callable[[str, str], object]
    sign: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    clock: Clock
    settle_s: float
    visible_s: float = VISIBLE_S

    def run(self, deadline: InvocationTime) -> dict[str, int]:
        """Do one round; return how many erasures it finished and how many are left. Raises `DependencyError`."""
        unfinished = self.store.unfinished()
        if not unfinished:
            return {"finished": 0, "unfinished": 0}
        now = self.clock.now().timestamp()
        begun = self.store.hold(now, now + HELD_S)
        if begun is None:
            return {"finished": 0, "unfinished": len(unfinished)}
        scan: Mapping[str, Any] = begun
        finished = 0
        try:
            looked = {each.erasure_id: self._look(each) for each in unfinished}
            scan, scanned = self._scan(unfinished, looked, begun, deadline)
            looked_at = min(now, float(begun.get("at", now)))
            for each in unfinished:
                result = looked[each.erasure_id]
                found_by_scan = scanned.get(each.erasure_id)
                if found_by_scan is None:
                    result.left.append("the tables of conversations and caches have not been read completely yet")
                else:
                    result.found.update(found_by_scan)
                    self._forget(each, result)
                finished += self._conclude(each, result, looked_at)
        finally:
            self.store.let_go(scan)
        return {"finished": finished, "unfinished": len(unfinished) - finished}

    # --- the tables, which are read whole for all erasures together ---

    def _scan(
        self,
        unfinished: Sequence[Erasure],
        looked: Mapping[str, LookResult],
        begun: Mapping[str, Any],
        deadline: InvocationTime,
    ) -> tuple[Mapping[str, Any], Mapping[str, Counter[str]]]:
        """Read the tables from where the last round stopped; return where to continue, and what each erasure found."""
        open_ids = {each.erasure_id for each in unfinished}
        known = {name: Counter(counts) for name, counts in begun.get("found", {}).items() if name in open_ids}
        position = ScanPosition(*begun["position"]) if known else ScanPosition()
        found = known or {each.erasure_id: Counter[str]() for each in unfinished}
        sought = [
            SoughtErasure(each, settled, settled if looked[each.erasure_id].is_back else math.inf)
            for each in unfinished
            if each.erasure_id in found and (settled := each.began + self.settle_s)
        ]
        following: ScanPosition | None = position
        started = self.clock.now().timestamp()
        while following is not None:
            if deadline.is_near:
                held = {name: dict(counts) for name, counts in found.items()}
                at = begun["at"] if known else started
                return {"position": [following.table, dict(following.key)], "found": held, "at": at}, {}
            counted, following = self.traces.remove(sought, following)
            for erasure_id, counts in counted.items():
                found[erasure_id].update(counts)
        return {}, found

    # --- what has an address ---

    def _look(self, erasure: Erasure) -> LookResult:
        result = LookResult()
        try:
            if erasure.kind == "document":
                self._look_for_document(erasure, result)
            else:
                result.found["passage_edits"] += self.edits.forget_editor(erasure.tenant, erasure.subject)
        except RectoError as error:
            result.left.append(f"some of it could not be read: {error.code}")
        return result

    def _look_for_document(self, erasure: Erasure, result: LookResult) -> None:
        """Look into the bucket, the registry and every index version, in the order in which they are written."""
        tenant, document_id = erasure.tenant, erasure.subject
        removed, newer = self.objects.delete_versions(erasure.key, until=datetime.fromisoformat(erasure.begun_at))
        result.found["object_versions"] += removed
        remains = self.registry.remains(tenant, document_id)
        if newer and remains.status is not DocumentStatus.DELETED:
            # The same name was uploaded again: a new document, whose vectors are known.
            result.is_back = True
            self._look_for_vectors(erasure, result, known=self.registry.written(tenant, document_id))
            return
        if remains.status not in {None, DocumentStatus.DELETED} or remains.is_held:
            if remains.status not in {DocumentStatus.DELETING, DocumentStatus.DELETED, None}:
                self.unpublish(tenant, document_id)
            self.queue.send(change_body(erasure.key))
            result.left.append("a worker is handling the document, and removes it next")
            return
        result.found["passage_edits"] += self.edits.erase_document(tenant, document_id)
        written = self.registry.written(tenant, document_id)
        self._look_for_vectors(erasure, result, written=written)
        result.has_name = remains.has_name or bool(written)

    def _forget(self, erasure: Erasure, result: LookResult) -> None:
        """Remove the name from the tombstone, once everything that its access rule protects has been read."""
        if not result.has_name:
            return
        result.found["registry"] += 1
        if not self.registry.forget(erasure.tenant, erasure.subject):
            result.left.append("a worker is handling the document, and removes it next")

    def _look_for_vectors(
        self,
        erasure: Erasure,
        result: LookResult,
        *,
        written: Mapping[str, int] | None = None,
        known: Mapping[str, int] | None = None,
    ) -> None:
        """Delete the vectors that were `written`, and all that the index lists except those of `known` generations."""
        access = self.access()
        index_versions = access.registry.of(erasure.tenant)
        if written and (ref := document_ref_of(erasure.key)):
            delete_vectors(written, keep={}, ref=ref, index_versions=index_versions, access=access)
        for index_version in (*index_versions.live, *index_versions.dropped):
            vectors = access.dependencies_of(index_version).vectors
            for page in vectors.list_ids(namespace=index_version.namespace, prefix=f"{erasure.subject}#"):
                gone = [each for each in page if each.split("#")[1] not in (known or {})]
                if gone:
                    vectors.delete(namespace=index_version.namespace, ids=gone)
                    result.found["vectors"] += len(gone)

    # --- the end ---

    def _conclude(self, erasure: Erasure, result: LookResult, looked_at: float) -> bool:
        """Save what a look found that began at `looked_at`, with a receipt; return whether the erasure is finished."""
        moment = self.clock.now()
        now = moment.isoformat(timespec="milliseconds")
        found = Counter(erasure.found) + result.found
        last = now if result.found.total() else erasure.last_found_at or erasure.begun_at
        quiet_s = looked_at - datetime.fromisoformat(last).timestamp()
        left = list(result.left)
        if result.found.total():
            left.append("after something was found, another look is needed")
        elif quiet_s < self.visible_s:
            left.append("the vector store may not show yet what was deleted")
        if looked_at < erasure.began + self.settle_s:
            ends = datetime.fromtimestamp(erasure.began + self.settle_s, UTC).isoformat(timespec="seconds")
            left.append(f"requests that began before it may write until {ends}")
        is_finished = not left
        saved = replace(
            erasure,
            found=dict(found),
            left=left,
            rounds=erasure.rounds + 1,
            last_found_at=last,
            state="erased" if is_finished else "running",
            finished_at=now if is_finished else "",
            key="" if is_finished else erasure.key,
            title="" if is_finished else erasure.title,
        )
        receipt = receipt_of(saved, re_read_at=now, settled_s=int(self.settle_s), left=result.found)
        self.store.save(replace(saved, receipt=self.sign(receipt)))
        logger.info(
            "erasure finished" if is_finished else "erasure not finished yet",
            extra={
                "tenant": erasure.tenant,
                "erasure_id": erasure.erasure_id,
                "found": result.found.total(),
                "left": left,
            },
        )
        return is_finished
