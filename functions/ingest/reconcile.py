"""Make the index agree with the bucket, for one key: take the lease, and visit the document under it.

An event is only a hint: what counts is the object as it is now.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from functions.ingest import pipeline
from functions.ingest.deadline import Deadline
from functions.ingest.events import Hint, subject_of
from functions.ingest.lease import Lease
from functions.ingest.outcome import Outcome, TryLater
from functions.ingest.views import Workshop
from functions.ingest.visit import Visit
from shared.models import View
from shared.ports import ClaimOutcome, DocumentFence, HintQueue, ViewRegistry
from shared.telemetry import logger


@dataclass(frozen=True, slots=True)
class Reconciler:
    """The tools of the trade.

    `tools` are for views as the settings have them, `tools_for` makes those for another view. `new_id` gives sortable
    unique ids; `beating` keeps calling the lease's renewal.
    """

    fence: DocumentFence
    queue: HintQueue
    tools: pipeline.Tools
    views: ViewRegistry
    tools_for: Callable[[View], pipeline.Tools]
    new_id: Callable[[], str]
    beating: Callable[[Callable[[], None]], AbstractContextManager[None]]

    @property
    def workshop(self) -> Workshop:
        """The views of tenants, and the tools for each."""
        return Workshop(self.views, self.tools, self.tools_for)

    def reconcile(self, hint: Hint, *, message_id: str, deadline: Deadline, last_try: bool = False) -> Outcome:
        """Deal with one hint. Raises `TryLater`, `DependencyError`; the lease is let go of in any case."""
        subject = subject_of(hint.key)
        if subject is None:
            logger.info("key ignored: not under a prefix that is ingested", extra={"message_id": message_id})
            return Outcome.IGNORED
        owner = f"{message_id}/{self.new_id()}"
        lease = Lease(self.fence, subject, owner, float(self.tools.settings.lease_s))
        claim = lease.claim(hint.sequencer)
        if claim.outcome is ClaimOutcome.BUSY:
            raise TryLater("another worker is at it", after_s=claim.retry_after_s)
        if claim.outcome is not ClaimOutcome.CLAIMED:
            return Outcome(claim.outcome.value)
        visit = Visit(lease, self.queue, self.workshop, self.new_id, hint, deadline, last_try)
        with self.beating(lease.renew):
            return visit.run(claim)
