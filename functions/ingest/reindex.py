"""Re-index a tenant without a gap: build a second index version, switch to it, and keep the old one for a while.

    start → (documents are built in both index versions) → switch → rollback, or confirm

The tenant's pointer says which index version is searched and which other one there is. While there are two, ingest
publishes every document in both, first in the one that is not searched: what can be found before a switch can be found
after it, in either direction. Every step is one read, one check and one conditional write, so it can be killed anywhere
and repeated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import change_body
from functions.ingest.lease import InvocationTime
from functions.ingest.ports import ChangeQueue, IndexVersionRegistry, ReindexProgressStore, TenantScan, VectorNamespaces
from shared.errors import ConfigurationError, Conflict, DependencyError, InvalidRequest
from shared.models import DocumentError, DocumentStatus, IndexVersion, Published
from shared.ports import Clock, ReindexProgress, ScannedDocument, TenantIndexVersions
from shared.telemetry import logger, metrics
from shared.text import counted

READERS_DONE_S = 60.0
"""Seconds after a switch until no request reads the former index version: it takes 28 at most, with a pointer 5 old."""
WRITERS_DONE = timedelta(days=1)
"""How long a worker that knew a dropped index version might still write to it: invocations end after 15 minutes."""
MAX_CLOCK_SKEW = timedelta(hours=1)
"""More than the clocks of any two machines differ."""


class ReindexStatus(NamedTuple):
    """The progress of a tenant's re-index.

    `phase`: "idle" (one index version), "building" (the other one is newer), "switched" (the other one is older).
    `done` of `documents` can be found in the other index version as well as in the searched one; `failed` holds the
    keys of those whose ingest failed, each with the reason, `waiting` counts the rest. `declined`: an operator rolled
    back from the current settings, so nothing is re-indexed automatically.
    """

    tenant: str
    phase: Literal["idle", "building", "switched"]
    current: IndexVersion
    other: IndexVersion | None
    documents: int = 0
    done: int = 0
    waiting: int = 0
    failed: Mapping[str, DocumentError | None] = MappingProxyType({})
    declined: bool = False


@dataclass(frozen=True, slots=True)
class Reindexer:
    """Takes the steps.

    `configured(tenant, number)` gives the index version that the current settings describe; `settings_hash` is their
    hash; `namespaces` gives the index of an index version. All methods raise `DependencyError`.
    """

    index_versions: IndexVersionRegistry
    scan: TenantScan
    queue: ChangeQueue
    clock: Clock
    configured: Callable[[str, int], IndexVersion]
    settings_hash: str
    namespaces: Callable[[IndexVersion], VectorNamespaces]

    def start(self, tenant: str) -> ReindexStatus:
        """Begin or continue to build an index version with the current settings; send a change for every document.

        Failed documents are retried, although the switch does not wait for them. Raises `Conflict` while an older index
        version is kept.
        """
        index_versions = self.begin(tenant)
        for scanned in self.scan.of(tenant):
            status = scanned.document.status
            if status is DocumentStatus.FAILED or (
                status is not DocumentStatus.DELETED and not is_done(scanned, index_versions)
            ):
                self.queue.send(change_body(scanned.document.key))
        return self.status(tenant)

    def begin(self, tenant: str) -> TenantIndexVersions:
        """Add an empty index version beside the searched one, if there is none, and return the pointer.

        If one was begun for another index or embedding space, it is dropped. Raises `Conflict` while an older index
        version is kept.
        """
        index_versions = self.index_versions.of(tenant)
        other = index_versions.other
        if other is not None and not index_versions.is_building:
            raise Conflict(
                f"Tenant {tenant} still keeps the index version before the last re-index: confirm that one (the old is "
                "deleted) or roll it back first."
            )
        last = max(each.number for each in (*index_versions.live, *index_versions.dropped))
        if other is not None and other.location != self.configured(tenant, 0).location:
            index_versions, other = self._drop(other, index_versions), None
        if other is None or index_versions.declined:
            other = other or self.configured(tenant, last + 1)
            index_versions = self._save(index_versions._replace(other=other, declined=""))
        return index_versions

    def goal(self, tenant: str) -> str:
        """Name what the current settings ask for: index, embedding space and settings hash."""
        index_version = self.configured(tenant, 0)
        return f"{index_version.index}/{index_version.space}/{self.settings_hash}"

    def status(self, tenant: str) -> ReindexStatus:
        """Count what is done. Reads all of the tenant's registry."""
        index_versions = self.index_versions.of(tenant)
        status = ReindexStatus(
            tenant,
            "idle",
            index_versions.current,
            index_versions.other,
            declined=index_versions.declined == self.goal(tenant),
        )
        if index_versions.other is None:
            return status
        done = waiting = 0
        failed: dict[str, DocumentError | None] = {}
        for scanned in self.documents_to_check(index_versions):
            if is_done(scanned, index_versions):
                done += 1
            elif scanned.document.status is DocumentStatus.FAILED and not scanned.leased:
                failed[scanned.document.key] = scanned.document.error
            else:
                waiting += 1
        return status._replace(
            phase="building" if index_versions.is_building else "switched",
            documents=done + waiting + len(failed),
            done=done,
            waiting=waiting,
            failed=failed,
        )

    def switch(self, tenant: str) -> ReindexStatus:
        """Search the newer index version from now on. Raises `Conflict` while it is incomplete or missing."""
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is None:
            raise Conflict(f"Tenant {tenant} has no index version to switch to: start a re-index first.")
        if not index_versions.is_building:
            return self.status(tenant)  # it has been switched already: a repeated request does no harm
        return self._swap(index_versions._replace(declined=""))

    def rollback(self, tenant: str) -> ReindexStatus:
        """Search the older index version again, and decline the current settings. Raises `Conflict` without one."""
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is None:
            raise Conflict(
                f"Tenant {tenant} keeps no former index version: it was confirmed, or nothing was re-indexed."
            )
        if index_versions.is_building:
            return self.status(tenant)
        return self._swap(index_versions._replace(declined=self.goal(tenant)))

    def confirm(self, tenant: str) -> ReindexStatus:
        """Drop the index version that is not searched, and delete its vectors.

        After a switch this is the old one; before a switch, or after a rollback, the new one. Raises `Conflict` within
        a minute after a switch, because answers that began before may still read the old one.
        """
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is None:
            self.purge_dropped(tenant)
            return self.status(tenant)
        since_s = (self.clock.now() - datetime.fromisoformat(index_versions.changed_at)).total_seconds()
        if since_s < READERS_DONE_S:
            raise Conflict(
                f"The index versions of tenant {tenant} changed {since_s:.0f} s ago, and running requests may still "
                f"read the former one: try again in {READERS_DONE_S - since_s:.0f} s."
            )
        self._drop(index_versions.other, index_versions)
        return self.status(tenant)

    def purge_dropped(self, tenant: str) -> int:
        """Delete what late workers wrote into dropped index versions; return how many must still be watched."""
        index_versions = self.index_versions.of(tenant)
        dropped = index_versions.dropped
        for index_version in dropped:
            self.namespaces(index_version).drop(namespace=index_version.namespace)
        if dropped and self.clock.now() - datetime.fromisoformat(index_versions.changed_at) > WRITERS_DONE:
            # Numbers are not used again as long as the newest one is known.
            dropped = [each for each in dropped if each.number > index_versions.newest.number]
            if len(dropped) < len(index_versions.dropped):
                self.index_versions.save(index_versions._replace(dropped=dropped))
        return len(dropped)

    def documents_to_check(self, index_versions: TenantIndexVersions) -> Iterator[ScannedDocument]:
        """Yield the documents a switch has to wait for.

        Those whose ingest began when every worker knew of the second index version are left out: they are published in
        both, so a stream of uploads does not delay the switch.
        """
        known_to_all = datetime.fromisoformat(index_versions.changed_at) + MAX_CLOCK_SKEW
        for scanned in self.scan.of(index_versions.tenant):
            created_at = scanned.document.created_at
            if scanned.document.status is DocumentStatus.DELETED and not scanned.leased:
                continue
            if not created_at or datetime.fromisoformat(created_at) <= known_to_all or not scanned.leased:
                yield scanned

    def _swap(self, index_versions: TenantIndexVersions) -> ReindexStatus:
        assert index_versions.other is not None  # noqa: S101 - both callers check it
        missing = [
            scanned.document.key
            for scanned in self.documents_to_check(index_versions)
            if not is_done(scanned, index_versions)
        ]
        if missing:
            raise Conflict(
                f"{counted(len(missing), 'document')} of tenant {index_versions.tenant} "
                f"{'is' if len(missing) == 1 else 'are'} not in the other index version yet, "
                f"for example {missing[0]!r}: wait, or check their status, and try again."
            )
        self._save(index_versions._replace(current=index_versions.other, other=index_versions.current))
        return self.status(index_versions.tenant)

    def _drop(self, other: IndexVersion, index_versions: TenantIndexVersions) -> TenantIndexVersions:
        index_versions = self._save(index_versions._replace(other=None, dropped=[*index_versions.dropped, other]))
        self.namespaces(other).drop(namespace=other.namespace)
        return index_versions

    def _save(self, index_versions: TenantIndexVersions) -> TenantIndexVersions:
        tenant, other = index_versions.tenant, index_versions.other
        index_versions = index_versions._replace(changed_at=self.clock.now().isoformat())
        if not self.index_versions.save(index_versions):
            raise Conflict(
                f"The index versions of tenant {tenant} were changed meanwhile: check the status and try again."
            )
        numbers = {"current": index_versions.current.number, "other": other.number if other else 0}
        logger.info("index versions changed", extra={"tenant": tenant, **numbers})
        return index_versions._replace(revision=index_versions.revision + 1)


def is_done(scanned: ScannedDocument, index_versions: TenantIndexVersions) -> bool:
    """Whether a switch would neither lose this document nor show an older state of it.

    Generations are named by ULIDs, so the name of a later one is the greater. A document published nowhere is
    done, unless a worker holds it that may have begun before the other index version existed.
    """
    assert index_versions.other is not None  # noqa: S101 - the callers check it
    published = scanned.document.index_versions
    other, current = published.get(index_versions.other.number), published.get(index_versions.current.number)
    if other is None:
        return current is None and not scanned.leased
    return current is None or other.version_id == current.version_id or other.generation > current.generation


def take_step(reindexer: Reindexer, action: str, tenant: str) -> dict[str, Any]:
    """Take one step for one tenant, on request; return its status as JSON. A step that is refused names the `conflict`.

    Raises `InvalidRequest` for an unknown step or no tenant, `DependencyError`.
    """
    steps: dict[str, Callable[[str], ReindexStatus]] = {
        "start": reindexer.start,
        "status": reindexer.status,
        "switch": reindexer.switch,
        "rollback": reindexer.rollback,
        "confirm": reindexer.confirm,
    }
    if action not in steps or not tenant:
        raise InvalidRequest(f"A re-index takes a tenant and one of these actions: {', '.join(steps)}.")
    conflict = ""
    try:
        status = steps[action](tenant)
    except Conflict as error:
        conflict, status = error.message, reindexer.status(tenant)
    return status._asdict() | {
        "current": _as_json(status.current),
        "other": None if status.other is None else _as_json(status.other),
        "failed": [{"key": key} | (asdict(error) if error else {}) for key, error in status.failed.items()],
        "conflict": conflict,
    }


def _as_json(index_version: IndexVersion) -> dict[str, Any]:
    return {
        "number": index_version.number,
        "namespace": index_version.namespace,
        "index": index_version.index,
        "space": str(index_version.space),
    }


MAX_CHANGES_PER_RUN = 1_000
BUSY_QUEUE = 100
"""If the queue holds more messages than this, no changes are added: uploads go first."""
RUN_EVERY_S = 300.0
"""The schedule in template.yaml."""
LONGEST_PAUSE_S = 6 * 3_600.0


class TenantStep(NamedTuple):
    """What one run did for one tenant: whether it is re-indexed, documents done, changes sent, what blocks it."""

    finished: bool
    done: int = 0
    sent: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AutomaticReindex:
    """Re-indexes tenants to the current settings. `tenants` lists all; `probe` raises if those settings cannot work."""

    reindexer: Reindexer
    store: ReindexProgressStore
    tenants: Callable[[], Sequence[str]]
    probe: Callable[[], None]

    def run(self, deadline: InvocationTime) -> dict[str, Any]:
        """Advance every tenant as far as possible; name those that are not re-indexed yet. Raises `DependencyError`."""
        now = self.reindexer.clock.now().timestamp()
        before, goal = self.store.read(), self.reindexer.goal("")
        if before is None or before.goal != goal:
            before = ReindexProgress(goal, list(self.tenants()), idle=-1)  # the first run can only begin
        elif not before.waiting or now < before.next_at:
            return _report(before)
        budget = MAX_CHANGES_PER_RUN if before.waiting and self.reindexer.queue.waiting() <= BUSY_QUEUE else 0
        waiting, done, sent, problem = [], 0, 0, ""
        for tenant in before.waiting:
            step = TenantStep(False) if deadline.is_near else self._try_advance(tenant, budget - sent, deadline)
            done, sent, problem = done + step.done, sent + step.sent, problem or step.problem
            if not step.finished:
                waiting.append(tenant)
        has_moved = done != before.done or len(waiting) < len(before.waiting)
        idle = 0 if has_moved else before.idle + 1
        # A re-index without progress is checked ever less often: each run reads all of a tenant's registry.
        pause_s = min(RUN_EVERY_S * 2 ** (idle - 1), LONGEST_PAUSE_S) if idle else 0.0
        progress = ReindexProgress(goal, waiting, done, idle, now + pause_s)
        self.store.write(progress)
        metrics.add_metric("ReindexChanges", MetricUnit.Count, sent)
        return _report(progress, sent, problem)

    def _try_advance(self, tenant: str, budget: int, deadline: InvocationTime) -> TenantStep:
        try:
            return self._advance(tenant, budget, deadline)
        except Conflict as error:
            logger.info("automatic re-index waits", extra={"tenant": tenant, "reason": error.message})
            return TenantStep(False)
        except (ConfigurationError, DependencyError) as error:
            about = {"tenant": tenant, "code": error.code, "reason": error.message}
            logger.error("automatic re-index blocked", extra=about)
            metrics.add_metric("ReindexesBlocked", MetricUnit.Count, 1)
            return TenantStep(False, problem=error.message)

    def _advance(self, tenant: str, budget: int, deadline: InvocationTime) -> TenantStep:
        """Begin, send up to `budget` changes, or switch, whichever comes next for this tenant."""
        reindexer = self.reindexer
        index_versions = reindexer.index_versions.of(tenant)
        if index_versions.declined == reindexer.goal(tenant):
            return TenantStep(True)
        if not index_versions.is_building and not self._is_outdated(index_versions):
            return TenantStep(True)
        if not index_versions.is_building or self._is_elsewhere(index_versions):
            self.probe()  # an index version that cannot be written to would hold up every upload
            if index_versions.other is not None and not index_versions.is_building:
                reindexer.confirm(tenant)  # there are two at most: the one before the last is dropped
            index_versions = reindexer.begin(tenant)
        done = 0
        missing, perhaps_readable = [], []
        for scanned in reindexer.documents_to_check(index_versions):
            if not is_done(scanned, index_versions) or self._has_old_settings(scanned, index_versions):
                missing.append(scanned)
                continue
            done += 1
            if self._may_be_readable_now(scanned):
                perhaps_readable.append(scanned)
        if not missing:
            reindexer.switch(tenant)
        sent = 0
        for scanned in (*missing, *perhaps_readable):
            if sent >= budget or deadline.is_near:
                break
            if not scanned.leased:
                reindexer.queue.send(change_body(scanned.document.key))
                sent += 1
        return TenantStep(not missing, done, sent)

    def _is_outdated(self, index_versions: TenantIndexVersions) -> bool:
        return self._is_elsewhere(index_versions) or any(
            self._has_old_settings(scanned, index_versions) for scanned in self.reindexer.scan.of(index_versions.tenant)
        )

    def _is_elsewhere(self, index_versions: TenantIndexVersions) -> bool:
        """Whether the newest index version is in another index or embedding space than the settings name."""
        return index_versions.newest.location != self.reindexer.configured(index_versions.tenant, 0).location

    def _has_old_settings(self, scanned: ScannedDocument, index_versions: TenantIndexVersions) -> bool:
        published: Published | None = scanned.document.index_versions.get(index_versions.newest.number)
        return published is not None and published.settings_hash != self.reindexer.settings_hash

    def _may_be_readable_now(self, scanned: ScannedDocument) -> bool:
        """Whether a rejected document was read under other settings: it is retried, but a switch does not wait."""
        document = scanned.document
        return (
            document.status.is_final
            and not document.index_versions
            and document.settings_hash not in {"", self.reindexer.settings_hash}
        )


def _report(progress: ReindexProgress, sent: int = 0, problem: str = "") -> dict[str, Any]:
    metrics.add_metric("TenantsToReindex", MetricUnit.Count, len(progress.waiting))
    return {"waiting": list(progress.waiting), "done": progress.done, "changes": sent, "problem": problem}
