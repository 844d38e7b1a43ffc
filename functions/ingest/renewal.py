"""Re-indexing by itself: when the settings of a new deployment differ from what a tenant's documents were built with.

Every few minutes: is there a note that all tenants have come to the settings of the day? If not, for each of them:
put a view beside (or go on with it), send hints for what it lacks, a thousand at a time so that uploads do not wait
behind them, and switch when nothing is lacking. The old view is kept for going back until it is confirmed, or until the
settings change again. What an operator rolled back from is left alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from functions.ingest.deadline import Deadline
from functions.ingest.events import hint_body
from functions.ingest.reindex import Reindexer, is_done, same_place
from functions.ingest.views import FINAL
from shared.errors import ConfigurationError, Conflict, DependencyError
from shared.models import Published
from shared.ports import RenewalNote, RenewalNotes, TenantViews, Watched
from shared.telemetry import MetricUnit, logger, metrics

HINTS = 1_000
"""Sent in one look at most."""
FEW = 100
"""More messages than these on the queue, and none are added: what comes from people goes first."""
LOOK_S = 300.0
"""Between two looks, as the schedule in template.yaml has it."""
LONGEST_PAUSE_S = 6 * 3_600.0


class Step(NamedTuple):
    """What one look at one tenant came to: whether it is there, documents done, hints sent, what is in the way."""

    is_there: bool
    done: int = 0
    sent: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Renewal:
    """Brings tenants to the settings of the day. `tenants` lists all; `probe` raises if those settings cannot work."""

    reindexer: Reindexer
    notes: RenewalNotes
    tenants: Callable[[], Sequence[str]]
    probe: Callable[[], None]

    def look(self, deadline: Deadline) -> dict[str, Any]:
        """Take every tenant as far as it goes now; say which are not there yet. Raises `DependencyError`."""
        now = self.reindexer.clock.now().timestamp()
        note, goal = self.notes.read(), self.reindexer.goal("")
        if note is None or note.goal != goal:
            note = RenewalNote(goal, list(self.tenants()), idle=-1)  # the first look can only begin
        elif not note.waiting or now < note.next_at:
            return _told(note)
        budget = HINTS if note.waiting and self.reindexer.queue.waiting() <= FEW else 0
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
        note = RenewalNote(goal, waiting, done, idle, now + pause_s)
        self.notes.write(note)
        metrics.add_metric("RenewalHints", MetricUnit.Count, sent)
        return _told(note, sent, problem)

    def _step(self, tenant: str, budget: int, deadline: Deadline) -> Step:
        try:
            return self._renew(tenant, budget, deadline)
        except Conflict as error:
            logger.info("renewal waits", extra={"tenant": tenant, "reason": error.message})
            return Step(False)
        except (ConfigurationError, DependencyError) as error:
            logger.error("renewal held up", extra={"tenant": tenant, "code": error.code, "reason": error.message})
            metrics.add_metric("RenewalsHeldUp", MetricUnit.Count, 1)
            return Step(False, problem=error.message)

    def _renew(self, tenant: str, budget: int, deadline: Deadline) -> Step:
        reindexer = self.reindexer
        views = reindexer.views.of(tenant)
        if views.declined == reindexer.goal(tenant):
            return Step(True)
        is_building = views.other is not None and views.other.number > views.current.number
        if not is_building and not self._is_outdated(views):
            return Step(True)
        if not is_building or not same_place(views.newest, reindexer.wanted(tenant, 0)):
            self.probe()  # a view that nothing can be written to would hold up every upload
            if views.other is not None and not is_building:
                reindexer.confirm(tenant)  # there are two at most: the one before the last is given up
            views = reindexer.begin(tenant)
        done, lacking = 0, []
        unreadable = []
        for watched in reindexer.of_interest(views):
            if not is_done(watched, views) or self._is_old(_shown(watched, views)):
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
            if not watched.held:
                reindexer.queue.send(hint_body(watched.document.key))
                sent += 1
        return Step(not lacking, done, sent)

    def _is_outdated(self, views: TenantViews) -> bool:
        if not same_place(views.newest, self.reindexer.wanted(views.tenant, 0)):
            return True
        return any(self._is_old(_shown(watched, views)) for watched in self.reindexer.scan.of(views.tenant))

    def _is_old(self, shown: Published | None) -> bool:
        return shown is not None and shown.settings_hash != self.reindexer.settings_hash

    def _may_be_readable_now(self, watched: Watched) -> bool:
        """Whether what no view shows was judged by other settings; worth a try, and nothing waits for it."""
        document = watched.document
        return (
            document.status in FINAL
            and not document.views
            and document.settings_hash not in {"", self.reindexer.settings_hash}
        )


def _shown(watched: Watched, views: TenantViews) -> Published | None:
    return watched.document.views.get(views.newest.number)


def _told(note: RenewalNote, sent: int = 0, problem: str = "") -> dict[str, Any]:
    metrics.add_metric("TenantsToRenew", MetricUnit.Count, len(note.waiting))
    return {"waiting": list(note.waiting), "done": note.done, "hints": sent, "problem": problem}
