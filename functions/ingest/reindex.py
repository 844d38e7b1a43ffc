"""Re-index a tenant without a gap: build an index version beside the one that is searched, switch, and keep the old for
a while.

    start → (documents are built in both index versions) → switch → rollback, or confirm

The tenant's pointer says which index version is searched and which stands beside it. As long as there are two, ingest
publishes every document in both, first in the one that is not searched: whatever can be found before a switch can be
found after it, whichever way it goes. Everything here is one read, one check and one conditional write, so that it can
be killed anywhere and asked again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import change_body
from functions.ingest.deadline import Deadline
from functions.ingest.index_versions import FINAL
from functions.ingest.ports import ChangeQueue, IndexVersionRegistry, ReindexProgressStore, TenantScan, VectorNamespaces
from shared.errors import ConfigurationError, Conflict, DependencyError, InvalidRequest
from shared.models import DocumentStatus, IndexVersion, Published
from shared.ports import Clock, ReindexProgress, ScannedDocument, TenantIndexVersions
from shared.telemetry import logger, metrics

READERS_S = 60.0
"""Seconds an index version that was searched until now is kept whole: a request takes 28 at most, and its pointer was 5
old.
"""
WRITERS = timedelta(days=1)
"""How long a worker that knew a dropped index version might still write to it: invocations end after 15 minutes."""
SKEW = timedelta(hours=1)
"""More than two machines' clocks are ever apart."""


class ReindexStatus(NamedTuple):
    """How far a re-index is.

    `phase`: "idle" (one index version), "building" (a newer one beside it), "switched" (an older one is kept beside
    it). `done` of `documents` are as findable in the index version beside as in the one that is searched; `failed`
    names those that ingest has given up on (their keys), `waiting` how many are still to come. `declined`: an operator
    went back from what the settings of the day ask for, so nothing goes there by itself.
    """

    tenant: str
    phase: Literal["idle", "building", "switched"]
    current: IndexVersion
    other: IndexVersion | None
    documents: int = 0
    done: int = 0
    waiting: int = 0
    failed: Sequence[str] = ()
    declined: bool = False


@dataclass(frozen=True, slots=True)
class Reindexer:
    """Takes the steps. `wanted` gives a tenant's index version of some number as the settings of the day have it, which
    are called `settings_hash`; `namespaces` gives the index of an index version.
    """

    index_versions: IndexVersionRegistry
    scan: TenantScan
    queue: ChangeQueue
    clock: Clock
    wanted: Callable[[str, int], IndexVersion]
    settings_hash: str
    namespaces: Callable[[IndexVersion], VectorNamespaces]

    def start(self, tenant: str) -> ReindexStatus:
        """Begin to build an index version as the settings of the day have it, or go on with it; send a change
        notification for every document.

        One that failed is tried again, although nothing waits for it. Raises `Conflict` while an older index version is
        kept.
        """
        index_versions = self.begin(tenant)
        for watched in self.scan.of(tenant):
            status = watched.document.status
            if status is DocumentStatus.FAILED or (
                status is not DocumentStatus.DELETED and not is_done(watched, index_versions)
            ):
                self.queue.send(change_body(watched.document.key))
        return self.status(tenant)

    def begin(self, tenant: str) -> TenantIndexVersions:
        """Put an empty index version beside the one that is searched, unless there is one, and return the pointer.

        An index version that was begun for another index or embedding space is given up. Raises `Conflict` while an
        older index version is kept.
        """
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is not None and index_versions.other.number < index_versions.current.number:
            raise Conflict(
                f"Tenant {tenant} still keeps the index version before the last re-index: confirm that one (the old is "
                "deleted) or roll it back first."
            )
        last = max(index_version.number for index_version in (*index_versions.live, *index_versions.dropped))
        if index_versions.other is not None and not same_place(
            index_versions.other, self.wanted(tenant, index_versions.other.number)
        ):
            index_versions = self._drop_other(index_versions)
        if index_versions.other is None or index_versions.declined:
            other = index_versions.other or self.wanted(tenant, last + 1)
            index_versions = self._save(index_versions._replace(other=other, declined=""))
        return index_versions

    def goal(self, tenant: str) -> str:
        """Say in a word what the settings of the day ask for."""
        index_version = self.wanted(tenant, 0)
        return f"{index_version.index}/{index_version.space}/{self.settings_hash}"

    def status(self, tenant: str) -> ReindexStatus:
        """Count what is done. Reads all of the tenant's registry."""
        index_versions = self.index_versions.of(tenant)
        declined = index_versions.declined == self.goal(tenant)
        if index_versions.other is None:
            return ReindexStatus(tenant, "idle", index_versions.current, None, declined=declined)
        phase: Literal["building", "switched"] = (
            "building" if index_versions.other.number > index_versions.current.number else "switched"
        )
        documents = done = waiting = 0
        failed = []
        for watched in self.of_interest(index_versions):
            documents += 1
            if is_done(watched, index_versions):
                done += 1
            elif watched.document.status is DocumentStatus.FAILED and not watched.leased:
                failed.append(watched.document.key)
            else:
                waiting += 1
        return ReindexStatus(
            tenant, phase, index_versions.current, index_versions.other, documents, done, waiting, failed, declined
        )

    def switch(self, tenant: str) -> ReindexStatus:
        """Search the newer index version from now on. Raises `Conflict` while it is incomplete or missing."""
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is None:
            raise Conflict(f"Tenant {tenant} has no index version to switch to: start a re-index first.")
        if index_versions.other.number < index_versions.current.number:
            return self.status(tenant)  # it has been switched already: a repeated request does no harm
        return self._swap(index_versions._replace(declined=""))

    def rollback(self, tenant: str) -> ReindexStatus:
        """Search the older index version again, and decline what the settings ask for. Raises `Conflict` when none is
        kept.
        """
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is None:
            raise Conflict(
                f"Tenant {tenant} keeps no former index version: it was confirmed, or nothing was re-indexed."
            )
        if index_versions.other.number > index_versions.current.number:
            return self.status(tenant)
        return self._swap(index_versions._replace(declined=self.goal(tenant)))

    def confirm(self, tenant: str) -> ReindexStatus:
        """Give up the index version that is not searched, and delete its vectors.

        After a switch this is the old one; before a switch, or after a rollback, the new one. Raises `Conflict` within
        a minute after a switch, because answers that began before may still read the old one.
        """
        index_versions = self.index_versions.of(tenant)
        if index_versions.other is None:
            self.tidy(tenant)
            return self.status(tenant)
        since_s = (self.clock.now() - datetime.fromisoformat(index_versions.changed_at)).total_seconds()
        if since_s < READERS_S:
            raise Conflict(
                f"The index versions of tenant {tenant} changed {since_s:.0f} s ago, and running requests may still "
                f"read the former one: try again in {READERS_S - since_s:.0f} s."
            )
        self._drop_other(index_versions)
        return self.status(tenant)

    def tidy(self, tenant: str) -> int:
        """Delete what late workers wrote into index versions that were dropped; return how many index versions are
        still watched.
        """
        index_versions = self.index_versions.of(tenant)
        for index_version in index_versions.dropped:
            self.namespaces(index_version).drop(namespace=index_version.namespace)
        if index_versions.dropped and self.clock.now() - datetime.fromisoformat(index_versions.changed_at) > WRITERS:
            # Their numbers are not used again as long as the newest one is known.
            kept = [
                index_version
                for index_version in index_versions.dropped
                if index_version.number > index_versions.newest.number
            ]
            if len(kept) < len(index_versions.dropped):
                self.index_versions.save(index_versions._replace(dropped=kept))
            return len(kept)
        return len(index_versions.dropped)

    def _swap(self, index_versions: TenantIndexVersions) -> ReindexStatus:
        assert index_versions.other is not None  # noqa: S101 - both callers looked
        lacking = [
            watched.document.key for watched in self.of_interest(index_versions) if not is_done(watched, index_versions)
        ]
        if lacking:
            raise Conflict(
                f"{len(lacking)} documents of tenant {index_versions.tenant} are not in the other index version yet, "
                f"{lacking[0]!r} for one: wait, or look at their status, and try again."
            )
        self._save(index_versions._replace(current=index_versions.other, other=index_versions.current))
        return self.status(index_versions.tenant)

    def of_interest(self, index_versions: TenantIndexVersions) -> Iterator[ScannedDocument]:
        """Yield all documents but those that a worker began with when the second index version was known to every
        worker.

        Such a worker publishes in both, so a stream of uploads holds up nothing.
        """
        later = datetime.fromisoformat(index_versions.changed_at) + SKEW
        for watched in self.scan.of(index_versions.tenant):
            created_at = watched.document.created_at
            if watched.document.status is DocumentStatus.DELETED and not watched.leased:
                continue
            if not created_at or datetime.fromisoformat(created_at) <= later or not watched.leased:
                yield watched

    def _drop_other(self, index_versions: TenantIndexVersions) -> TenantIndexVersions:
        assert index_versions.other is not None  # noqa: S101 - the caller looked
        given_up = index_versions.other
        index_versions = self._save(index_versions._replace(other=None, dropped=[*index_versions.dropped, given_up]))
        self.namespaces(given_up).drop(namespace=given_up.namespace)
        return index_versions

    def _save(self, index_versions: TenantIndexVersions) -> TenantIndexVersions:
        index_versions = index_versions._replace(changed_at=self.clock.now().isoformat())
        if not self.index_versions.save(index_versions):
            raise Conflict(
                f"Someone else changed the index versions of tenant {index_versions.tenant} just now: "
                "look, and try again."
            )
        numbers = {
            "current": index_versions.current.number,
            "other": index_versions.other.number if index_versions.other else 0,
        }
        logger.info("index versions changed", extra={"tenant": index_versions.tenant, **numbers})
        return index_versions._replace(revision=index_versions.revision + 1)


def same_place(one: IndexVersion, other: IndexVersion) -> bool:
    """Whether two index versions lie in one index and one embedding space."""
    return (one.index, one.space) == (other.index, other.space)


def is_done(watched: ScannedDocument, index_versions: TenantIndexVersions) -> bool:
    """Whether a switch would lose nothing of this document, and go back to nothing older.

    Generations are named by ULIDs, so the name of a later one is the greater. What is published nowhere is done, unless
    a worker holds it who may have begun before there was the other index version.
    """
    assert index_versions.other is not None  # noqa: S101 - the callers looked
    published = watched.document.index_versions
    there, here = published.get(index_versions.other.number), published.get(index_versions.current.number)
    if there is None:
        return here is None and not watched.leased
    return here is None or there.version_id == here.version_id or there.generation > here.generation


# --- A re-index from outside: one step in, its outcome out, as JSON ---


def take_step(reindexer: Reindexer, action: str, tenant: str) -> dict[str, Any]:
    """Take one step for one tenant. A step that cannot be taken now says why in `conflict`.

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
        progress = steps[action](tenant)
    except Conflict as error:
        conflict, progress = error.message, reindexer.status(tenant)
    return {
        "tenant": tenant,
        "phase": progress.phase,
        "current": _shown(progress.current),
        "other": _shown(progress.other),
        "documents": progress.documents,
        "done": progress.done,
        "waiting": progress.waiting,
        "failed": list(progress.failed),
        "declined": progress.declined,
        "conflict": conflict,
    }


def _shown(index_version: IndexVersion | None) -> dict[str, Any] | None:
    if index_version is None:
        return None
    return {
        "number": index_version.number,
        "namespace": index_version.namespace,
        "index": index_version.index,
        "space": str(index_version.space),
    }


# --- automatic re-indexing, when the settings differ from those the documents were built with ---

CHANGES = 1_000
"""Sent in one look at most."""
FEW = 100
"""More messages than these on the queue, and none are added: what comes from people goes first."""
LOOK_S = 300.0
"""Between two looks, as the schedule in template.yaml has it."""
LONGEST_PAUSE_S = 6 * 3_600.0


class Step(NamedTuple):
    """What one look at one tenant came to: whether it is there, documents done, change notifications sent, what is in
    the way.
    """

    is_there: bool
    done: int = 0
    sent: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AutomaticReindex:
    """Brings tenants to the settings of the day. `tenants` lists all; `probe` raises if those settings cannot work."""

    reindexer: Reindexer
    notes: ReindexProgressStore
    tenants: Callable[[], Sequence[str]]
    probe: Callable[[], None]

    def look(self, deadline: Deadline) -> dict[str, Any]:
        """Take every tenant as far as it goes now; say which are not there yet. Raises `DependencyError`."""
        now = self.reindexer.clock.now().timestamp()
        note, goal = self.notes.read(), self.reindexer.goal("")
        if note is None or note.goal != goal:
            note = ReindexProgress(goal, list(self.tenants()), idle=-1)  # the first look can only begin
        elif not note.waiting or now < note.next_at:
            return _told(note)
        budget = CHANGES if note.waiting and self.reindexer.queue.waiting() <= FEW else 0
        waiting, done, sent, problem = [], 0, 0, ""
        for tenant in note.waiting:
            step = Step(False) if deadline.is_near else self._step(tenant, budget - sent, deadline)
            done, sent, problem = done + step.done, sent + step.sent, problem or step.problem
            if not step.is_there:
                waiting.append(tenant)
        moved = done != note.done or len(waiting) < len(note.waiting)
        idle = 0 if moved else note.idle + 1
        # What does not move is looked at less and less often: each look reads all of a tenant's registry.
        pause_s = min(LOOK_S * 2 ** (idle - 1), LONGEST_PAUSE_S) if idle else 0.0
        note = ReindexProgress(goal, waiting, done, idle, now + pause_s)
        self.notes.write(note)
        metrics.add_metric("ReindexChanges", MetricUnit.Count, sent)
        return _told(note, sent, problem)

    def _step(self, tenant: str, budget: int, deadline: Deadline) -> Step:
        try:
            return self._renew(tenant, budget, deadline)
        except Conflict as error:
            logger.info("renewal waits", extra={"tenant": tenant, "reason": error.message})
            return Step(False)
        except (ConfigurationError, DependencyError) as error:
            logger.error("renewal held up", extra={"tenant": tenant, "code": error.code, "reason": error.message})
            metrics.add_metric("ReindexesBlocked", MetricUnit.Count, 1)
            return Step(False, problem=error.message)

    def _renew(self, tenant: str, budget: int, deadline: Deadline) -> Step:
        reindexer = self.reindexer
        index_versions = reindexer.index_versions.of(tenant)
        if index_versions.declined == reindexer.goal(tenant):
            return Step(True)
        is_building = index_versions.other is not None and index_versions.other.number > index_versions.current.number
        if not is_building and not self._is_outdated(index_versions):
            return Step(True)
        if not is_building or not same_place(index_versions.newest, reindexer.wanted(tenant, 0)):
            self.probe()  # an index version that nothing can be written to would hold up every upload
            if index_versions.other is not None and not is_building:
                reindexer.confirm(tenant)  # there are two at most: the one before the last is given up
            index_versions = reindexer.begin(tenant)
        done, lacking = 0, []
        unreadable = []
        for watched in reindexer.of_interest(index_versions):
            if not is_done(watched, index_versions) or self._is_old(_shown_renewal(watched, index_versions)):
                lacking.append(watched)
            else:
                done += 1
                if self._may_be_readable_now(watched):
                    unreadable.append(watched)
        if not lacking:
            reindexer.switch(tenant)
        sent = 0
        for watched in (*lacking, *unreadable):
            if sent >= budget or deadline.is_near:
                break
            if not watched.leased:
                reindexer.queue.send(change_body(watched.document.key))
                sent += 1
        return Step(not lacking, done, sent)

    def _is_outdated(self, index_versions: TenantIndexVersions) -> bool:
        if not same_place(index_versions.newest, self.reindexer.wanted(index_versions.tenant, 0)):
            return True
        return any(
            self._is_old(_shown_renewal(watched, index_versions))
            for watched in self.reindexer.scan.of(index_versions.tenant)
        )

    def _is_old(self, shown: Published | None) -> bool:
        return shown is not None and shown.settings_hash != self.reindexer.settings_hash

    def _may_be_readable_now(self, watched: ScannedDocument) -> bool:
        """Whether what no index version shows was judged by other settings; worth a try, and nothing waits for it."""
        document = watched.document
        return (
            document.status in FINAL
            and not document.index_versions
            and document.settings_hash not in {"", self.reindexer.settings_hash}
        )


def _shown_renewal(watched: ScannedDocument, index_versions: TenantIndexVersions) -> Published | None:
    return watched.document.index_versions.get(index_versions.newest.number)


def _told(note: ReindexProgress, sent: int = 0, problem: str = "") -> dict[str, Any]:
    metrics.add_metric("TenantsToReindex", MetricUnit.Count, len(note.waiting))
    return {"waiting": list(note.waiting), "done": note.done, "changes": sent, "problem": problem}
