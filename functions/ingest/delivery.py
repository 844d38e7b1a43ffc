"""One batch of messages: each dealt with by itself, and what could not be done back on the queue with patience."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import ChangeNotification, Delivery, ReconcileOutcome, TryLater, change_body
from functions.ingest.deadline import Deadline
from functions.ingest.ports import ChangeQueue
from functions.ingest.reconcile import Reconciler
from shared.errors import DependencyError, RateLimited, RectoError
from shared.telemetry import logger, metrics

MAX_RECEIVES = 5
"""`maxReceiveCount` of the queue in template.yaml: after so many deliveries SQS moves a message to the dead letters."""
FIRST_BACKOFF_S = 5.0
FINAL_BACKOFF_S = 60.0
LONGEST_BACKOFF_S = 900.0
FIRST_WAIT_S = 15.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Deals with a batch. `jitter` gives a factor between 0 and 1; `heartbeat` calls something now and then.

    `wired` builds the reconciler when the first change notification asks for it: a message without one needs no
    provider, and where a provider is down a message comes back like after any other fault.

    While the batch is worked on, its messages stay hidden for `visibility_s`, renewed together: a worker that is killed
    gives them back after that, not after the queue's own visibility timeout (6 × the function's, as AWS advises).
    """

    wired: Callable[[], Reconciler]
    queue: ChangeQueue
    jitter: Callable[[], float]
    heartbeat: Callable[[Callable[[], None]], AbstractContextManager[None]]
    visibility_s: float

    @property
    def reconciler(self) -> Reconciler:
        """What deals with a change notification. Raises `ConfigurationError` or `DependencyError` when it cannot be
        built.
        """
        return self.wired()

    def handle(self, deliveries: Sequence[Delivery], deadline: Deadline) -> list[str]:
        """Deal with every delivery; return the ids of those that have to come back."""
        failed: list[str] = []
        dealt_with: dict[str, float | None] = {}

        def keep_hidden() -> None:
            for delivery in deliveries:
                if delivery.message_id in dealt_with:
                    continue
                self._hide(delivery, self.visibility_s)
                after_s = dealt_with.get(delivery.message_id)
                if after_s is not None:  # it failed meanwhile, and what it was told then is undone: say it again
                    self._hide(delivery, after_s)

        keep_hidden()
        with self.heartbeat(keep_hidden):
            for delivery in deliveries:
                retry_after_s = self._deal_with(delivery, deadline)
                if retry_after_s is not None:
                    failed.append(delivery.message_id)
                    # After the last try nothing is waited for: SQS moves it to the dead letters at the next receive.
                    retry_after_s = retry_after_s if delivery.receives < MAX_RECEIVES else 0.0
                dealt_with[delivery.message_id] = retry_after_s
                if retry_after_s is not None:
                    self._hide(delivery, retry_after_s)
        return failed

    def _deal_with(self, delivery: Delivery, deadline: Deadline) -> float | None:
        """Return None when the message is done with, else the seconds after which it shall come back."""
        about = {"message_id": delivery.message_id, "receives": delivery.receives}
        if delivery.problem:
            # It can never be read, so it is consumed: five more deliveries would not make it readable.
            logger.error("unreadable message dropped", extra={**about, "problem": delivery.problem})
            metrics.add_metric("UnreadableMessages", MetricUnit.Count, 1)
            return None
        if deadline.is_near:
            return 0.0  # this invocation has no time left for it, the next one has
        try:
            for change in delivery.changes:
                last_try = delivery.receives >= MAX_RECEIVES
                try:
                    outcome = self.reconciler.reconcile(
                        change, message_id=delivery.message_id, deadline=deadline, last_try=last_try
                    )
                except RateLimited as busy:
                    outcome = self._put_off(change, busy)
                _count(outcome)
        except TryLater as later:
            logger.info("message comes back", extra={**about, "reason": str(later), "after_s": later.after_s})
            return later.after_s
        except RectoError as error:
            backoff_s = self._backoff_s(error, delivery.receives)
            logger.warning("message failed", extra={**about, "code": error.code, "after_s": round(backoff_s, 1)})
            metrics.add_metric("FailedMessages", MetricUnit.Count, 1)
            return backoff_s
        except Exception:  # noqa: BLE001 - a bug must fail this message alone
            logger.exception("message failed unexpectedly", extra=about)
            metrics.add_metric("FailedMessages", MetricUnit.Count, 1)
            return self._doubled(FIRST_BACKOFF_S, delivery.receives)
        return None

    def _put_off(self, change: ChangeNotification, busy: RateLimited) -> ReconcileOutcome:
        """Go on later in a message of its own: to be slowed down is no failure, and must not use up a message's tries.

        Raises `busy` when it has been put off often enough.
        """
        if not change.may_wait:
            raise busy
        wait_s = max(busy.retry_after_s or 0.0, FIRST_WAIT_S * 2 ** min(change.waits, 6)) * (1 + self.jitter() / 2)
        # Without the sequencer: it means "look now", and is not taken for the event of a worker that died.
        body = change_body(change.key, chunks_done=change.chunks_done, waits=change.waits + 1)
        self.queue.send(body, delay_s=round(min(wait_s, LONGEST_BACKOFF_S)))
        logger.info(
            "put off", extra={"dependency": busy.dependency, "waits": change.waits + 1, "after_s": round(wait_s)}
        )
        metrics.add_metric("Postponed", MetricUnit.Count, 1)
        return ReconcileOutcome.CONTINUED

    def _backoff_s(self, error: RectoError, receives: int) -> float:
        if isinstance(error, DependencyError) and error.retry_after_s:
            return min(max(error.retry_after_s, FIRST_BACKOFF_S) * (1 + self.jitter()), LONGEST_BACKOFF_S)
        # What an operator has to mend is not tried as often; after the last try it lies with the dead letters.
        return self._doubled(FIRST_BACKOFF_S if error.retriable else FINAL_BACKOFF_S, receives)

    def _doubled(self, first_s: float, receives: int) -> float:
        return float(min(first_s * 2 ** (receives - 1) * (1 + self.jitter()), LONGEST_BACKOFF_S))

    def _hide(self, delivery: Delivery, seconds: float) -> None:
        if not delivery.receipt_handle:
            return
        try:
            self.queue.extend(delivery.receipt_handle, visibility_s=round(seconds))
        except DependencyError as error:
            # The queue's own visibility timeout holds then: later, but not lost.
            logger.warning("visibility not changed", extra={"message_id": delivery.message_id, "code": error.code})


def _count(outcome: ReconcileOutcome) -> None:
    metrics.add_metric(f"Ingest{outcome.value.capitalize()}", MetricUnit.Count, 1)
