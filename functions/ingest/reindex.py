"""Re-index a tenant without a gap: build a view beside the one that is searched, switch, and keep the old for a while.

    start → (documents are built in both views) → switch → rollback, or confirm

The tenant's pointer says which view is searched and which stands beside it. As long as there are two, ingest publishes
every document in both, first in the one that is not searched: whatever can be found before a switch can be found after
it, whichever way it goes. Everything here is one read, one check and one conditional write, so that it can be killed
anywhere and asked again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from functions.ingest.events import hint_body
from shared.errors import Conflict
from shared.models import DocumentStatus, View
from shared.ports import Clock, HintQueue, TenantScan, TenantViews, VectorNamespaces, ViewRegistry, Watched
from shared.telemetry import logger

READERS_S = 60.0
"""Seconds a view that was searched until now is kept whole: a request takes 28 at most, and its pointer was 5 old."""
WRITERS = timedelta(days=1)
"""How long a worker that knew a dropped view might still write to it: invocations end after 15 minutes."""
SKEW = timedelta(hours=1)
"""More than two machines' clocks are ever apart."""


class Progress(NamedTuple):
    """How far a re-index is.

    `phase`: "settled" (one view), "building" (a newer one beside it), "switched" (an older one is kept beside it).
    `done` of `documents` are as findable in the view beside as in the one that is searched; `failed` names those that
    ingest has given up on (their keys), `waiting` how many are still to come. `declined`: an operator went back from
    what the settings of the day ask for, so nothing goes there by itself.
    """

    tenant: str
    phase: Literal["settled", "building", "switched"]
    current: View
    other: View | None
    documents: int = 0
    done: int = 0
    waiting: int = 0
    failed: Sequence[str] = ()
    declined: bool = False


@dataclass(frozen=True, slots=True)
class Reindexer:
    """Takes the steps. `wanted` gives a tenant's view of some number as the settings of the day have it, which are
    called `settings_hash`; `namespaces` gives the index of a view.
    """

    views: ViewRegistry
    scan: TenantScan
    queue: HintQueue
    clock: Clock
    wanted: Callable[[str, int], View]
    settings_hash: str
    namespaces: Callable[[View], VectorNamespaces]

    def start(self, tenant: str) -> Progress:
        """Begin to build a view as the settings of the day have it, or go on with it; send a hint for every document.

        One that failed is tried again, although nothing waits for it. Raises `Conflict` while an older view is kept.
        """
        views = self.begin(tenant)
        for watched in self.scan.of(tenant):
            status = watched.document.status
            if status is DocumentStatus.FAILED or (
                status is not DocumentStatus.DELETED and not is_done(watched, views)
            ):
                self.queue.send(hint_body(watched.document.key))
        return self.progress(tenant)

    def begin(self, tenant: str) -> TenantViews:
        """Put an empty view beside the one that is searched, unless there is one, and return the pointer.

        A view that was begun for another index or embedding space is given up. Raises `Conflict` while an older view is
        kept.
        """
        views = self.views.of(tenant)
        if views.other is not None and views.other.number < views.current.number:
            raise Conflict(
                f"Tenant {tenant} still keeps the view before the last re-index: confirm that one (the old view is "
                "deleted) or roll it back first."
            )
        last = max(view.number for view in (*views.live, *views.dropped))
        if views.other is not None and not same_place(views.other, self.wanted(tenant, views.other.number)):
            views = self._drop_other(views)
        if views.other is None or views.declined:
            other = views.other or self.wanted(tenant, last + 1)
            views = self._save(views._replace(other=other, declined=""))
        return views

    def goal(self, tenant: str) -> str:
        """Say in a word what the settings of the day ask for."""
        view = self.wanted(tenant, 0)
        return f"{view.index}/{view.space}/{self.settings_hash}"

    def progress(self, tenant: str) -> Progress:
        """Count what is done. Reads all of the tenant's registry."""
        views = self.views.of(tenant)
        declined = views.declined == self.goal(tenant)
        if views.other is None:
            return Progress(tenant, "settled", views.current, None, declined=declined)
        phase: Literal["building", "switched"] = "building" if views.other.number > views.current.number else "switched"
        documents = done = waiting = 0
        failed = []
        for watched in self.of_interest(views):
            documents += 1
            if is_done(watched, views):
                done += 1
            elif watched.document.status is DocumentStatus.FAILED and not watched.held:
                failed.append(watched.document.key)
            else:
                waiting += 1
        return Progress(tenant, phase, views.current, views.other, documents, done, waiting, failed, declined)

    def switch(self, tenant: str) -> Progress:
        """Search the newer view from now on. Raises `Conflict` while it lacks anything, or when there is none."""
        views = self.views.of(tenant)
        if views.other is None:
            raise Conflict(f"Tenant {tenant} has no view to switch to: start a re-index first.")
        if views.other.number < views.current.number:
            return self.progress(tenant)  # it has been switched already: a repeated request does no harm
        return self._swap(views._replace(declined=""))

    def rollback(self, tenant: str) -> Progress:
        """Search the older view again, and decline what the settings ask for. Raises `Conflict` when none is kept."""
        views = self.views.of(tenant)
        if views.other is None:
            raise Conflict(f"Tenant {tenant} keeps no former view: it was confirmed, or nothing was re-indexed.")
        if views.other.number > views.current.number:
            return self.progress(tenant)
        return self._swap(views._replace(declined=self.goal(tenant)))

    def confirm(self, tenant: str) -> Progress:
        """Give up the view that is not searched, and delete its vectors.

        After a switch this is the old one; before a switch, or after a rollback, the new one. Raises `Conflict` within
        a minute after a switch, because answers that began before may still read the old one.
        """
        views = self.views.of(tenant)
        if views.other is None:
            self.tidy(tenant)
            return self.progress(tenant)
        since_s = (self.clock.now() - datetime.fromisoformat(views.changed_at)).total_seconds()
        if since_s < READERS_S:
            raise Conflict(
                f"The views of tenant {tenant} changed {since_s:.0f} s ago, and running requests may still read the "
                f"former one: try again in {READERS_S - since_s:.0f} s."
            )
        self._drop_other(views)
        return self.progress(tenant)

    def tidy(self, tenant: str) -> int:
        """Delete what late workers wrote into views that were dropped; return how many views are still watched."""
        views = self.views.of(tenant)
        for view in views.dropped:
            self.namespaces(view).drop(namespace=view.namespace)
        if views.dropped and self.clock.now() - datetime.fromisoformat(views.changed_at) > WRITERS:
            # Their numbers are not used again as long as the newest one is known.
            kept = [view for view in views.dropped if view.number > views.newest.number]
            if len(kept) < len(views.dropped):
                self.views.save(views._replace(dropped=kept))
            return len(kept)
        return len(views.dropped)

    def _swap(self, views: TenantViews) -> Progress:
        assert views.other is not None  # noqa: S101 - both callers looked
        lacking = [watched.document.key for watched in self.of_interest(views) if not is_done(watched, views)]
        if lacking:
            raise Conflict(
                f"{len(lacking)} documents of tenant {views.tenant} are not in the other view yet, {lacking[0]!r} for "
                "one: wait, or look at their status, and try again."
            )
        self._save(views._replace(current=views.other, other=views.current))
        return self.progress(views.tenant)

    def of_interest(self, views: TenantViews) -> Iterator[Watched]:
        """Yield all documents but those that a worker began with when the second view was known to every worker.

        Such a worker publishes in both, so a stream of uploads holds up nothing.
        """
        later = datetime.fromisoformat(views.changed_at) + SKEW
        for watched in self.scan.of(views.tenant):
            created_at = watched.document.created_at
            if watched.document.status is DocumentStatus.DELETED and not watched.held:
                continue
            if not created_at or datetime.fromisoformat(created_at) <= later or not watched.held:
                yield watched

    def _drop_other(self, views: TenantViews) -> TenantViews:
        assert views.other is not None  # noqa: S101 - the caller looked
        given_up = views.other
        views = self._save(views._replace(other=None, dropped=[*views.dropped, given_up]))
        self.namespaces(given_up).drop(namespace=given_up.namespace)
        return views

    def _save(self, views: TenantViews) -> TenantViews:
        views = views._replace(changed_at=self.clock.now().isoformat())
        if not self.views.save(views):
            raise Conflict(f"Someone else changed the views of tenant {views.tenant} just now: look, and try again.")
        numbers = {"current": views.current.number, "other": views.other.number if views.other else 0}
        logger.info("views changed", extra={"tenant": views.tenant, **numbers})
        return views._replace(revision=views.revision + 1)


def same_place(one: View, other: View) -> bool:
    """Whether two views lie in one index and one embedding space."""
    return (one.index, one.space) == (other.index, other.space)


def is_done(watched: Watched, views: TenantViews) -> bool:
    """Whether a switch would lose nothing of this document, and go back to nothing older.

    Generations are named by ULIDs, so the name of a later one is the greater. What is published nowhere is done, unless
    a worker holds it who may have begun before there was the other view.
    """
    assert views.other is not None  # noqa: S101 - the callers looked
    published = watched.document.views
    there, here = published.get(views.other.number), published.get(views.current.number)
    if there is None:
        return here is None and not watched.held
    return here is None or there.version_id == here.version_id or there.generation > here.generation
