"""One batch of messages: each is processed separately, and a failed one is retried after a back-off."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import ChangeNotification, Delivery, PagesRequest, change_body, document_ref_of
from functions.ingest.figures import FigureDescriber
from functions.ingest.lease import Heartbeat, InvocationTime
from functions.ingest.ports import ChangeQueue
from functions.ingest.reconcile import ReconcileOutcome, Reconciler, TryLater
from shared.errors import DependencyError, RateLimited, RectoError
from shared.telemetry import logger, metrics

MAX_RECEIVES = 5
"""`maxReceiveCount` of the queue in template.yaml: after so many deliveries SQS moves a message to the dead-letter
queue.
"""
FIRST_BACKOFF_S = 5.0
FINAL_BACKOFF_S = 60.0
LONGEST_BACKOFF_S = 900.0
FIRST_WAIT_S = 15.0
MOST_DOUBLINGS = 6
"""Times that the wait before a change is looked at again is doubled."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Processes a batch. `jitter` gives a factor between 0 and 1.

    `build_describer` gives None where no model describes figures.
    `build_reconciler` is called for the first change: a message without a change needs no provider, and when a provider
    is down the message is retried as after any other failure.

    A heartbeat keeps the batch's messages hidden for `visibility_s`: those of a killed worker reappear after that, not
    after the queue's own visibility timeout (6 × the function's timeout, as AWS advises).
    """

    build_reconciler: Callable[[], Reconciler]
    queue: ChangeQueue
    jitter: Callable[[], float]
    heartbeat: Heartbeat
    visibility_s: float
    build_describer: Callable[[], FigureDescriber | None] = lambda: None

    @property
    def reconciler(self) -> Reconciler:
        """The reconciler. Raises `ConfigurationError` or `DependencyError` when it cannot be built."""
        return self.build_reconciler()

    def handle(self, deliveries: Sequence[Delivery], deadline: InvocationTime) -> list[str]:
        """Process every delivery; return the ids of the messages to retry."""
        processed: dict[str, float | None] = {}  # message id → seconds until its retry, None if consumed

        def keep_hidden() -> None:
            for delivery in deliveries:
                if delivery.message_id in processed:
                    continue
                self._hide(delivery, self.visibility_s)
                after_s = processed.get(delivery.message_id)
                if after_s is not None:  # it failed meanwhile, and this beat has overwritten its back-off: set it again
                    self._hide(delivery, after_s)

        keep_hidden()
        with self.heartbeat(keep_hidden):
            for delivery in deliveries:
                after_s = self._process(delivery, deadline)
                if after_s is not None and delivery.receives >= MAX_RECEIVES:
                    after_s = 0.0  # no back-off: SQS moves it to the dead-letter queue at the next receive
                processed[delivery.message_id] = after_s
                if after_s is not None:
                    self._hide(delivery, after_s)
        return [message_id for message_id, after_s in processed.items() if after_s is not None]

    def _process(self, delivery: Delivery, deadline: InvocationTime) -> float | None:
        """Return None when the message is consumed, else the seconds until its retry."""
        about: dict[str, object] = {"message_id": delivery.message_id, "receives": delivery.receives}
        if delivery.problem:
            # Consumed: more deliveries would not make it readable.
            logger.error("unreadable message dropped", extra={**about, "problem": delivery.problem})
            metrics.add_metric("UnreadableMessages", MetricUnit.Count, 1)
            return None
        if deadline.is_near:
            return 0.0  # this invocation has no time left for it, the next one has
        try:
            if delivery.figures:
                return self._describe(delivery.figures, delivery, deadline)
            for change in delivery.changes:
                about |= named(change)
                outcome = self._reconcile(change, delivery, deadline)
                metrics.add_metric(f"Ingest{outcome.value.capitalize()}", MetricUnit.Count, 1)
        except TryLater as later:
            logger.info("message retried later", extra={**about, "reason": str(later), "after_s": later.after_s})
            return later.after_s
        except RectoError as error:
            backoff_s = self._backoff_s(error, delivery.receives)
            failed = {"dependency": error.dependency} if isinstance(error, DependencyError) else {}
            about |= {"code": error.code, "after_s": round(backoff_s, 1)}
            logger.warning("message failed", extra={**about, **failed})
        except Exception:  # noqa: BLE001 - a bug must fail this message alone
            backoff_s = self._doubled(FIRST_BACKOFF_S, delivery.receives)
            logger.exception("message failed unexpectedly", extra=about)
        else:
            return None
        metrics.add_metric("FailedMessages", MetricUnit.Count, 1)
        return backoff_s

    def _describe(self, request: PagesRequest, delivery: Delivery, deadline: InvocationTime) -> float | None:
        """Have figures described; return the seconds until the message's retry. It is dropped if there is no model."""
        describer = self.build_describer()
        if describer is None:
            return None
        return describer.describe(request, deadline, last_try=delivery.receives >= MAX_RECEIVES)

    def _reconcile(self, change: ChangeNotification, delivery: Delivery, deadline: InvocationTime) -> ReconcileOutcome:
        is_last = delivery.receives >= MAX_RECEIVES
        try:
            return self.reconciler.reconcile(
                change, message_id=delivery.message_id, deadline=deadline, last_try=is_last
            )
        except RateLimited as busy:
            return self._postpone(change, busy)

    def _postpone(self, change: ChangeNotification, busy: RateLimited) -> ReconcileOutcome:
        """Send a delayed continuation: a rate limit is no failure, and must not use up the message's receives.

        Raises `busy` when the change has been postponed `MAX_WAITS` times.
        """
        if not change.may_wait:
            raise busy
        wait_s = max(busy.retry_after_s or 0.0, FIRST_WAIT_S * 2 ** min(change.waits, MOST_DOUBLINGS)) * (
            1 + self.jitter() / 2
        )
        # No sequencer: this means "look now", and cannot be mistaken for the event of a worker that died.
        body = change_body(change.key, chunks_done=change.chunks_done, waits=change.waits + 1)
        self.queue.send(body, delay_s=round(min(wait_s, LONGEST_BACKOFF_S)))
        logger.info(
            "change postponed",
            extra={"dependency": busy.dependency, "waits": change.waits + 1, "after_s": round(wait_s)},
        )
        metrics.add_metric("Postponed", MetricUnit.Count, 1)
        return ReconcileOutcome.CONTINUED

    def _backoff_s(self, error: RectoError, receives: int) -> float:
        if isinstance(error, DependencyError) and error.retry_after_s:
            return min(max(error.retry_after_s, FIRST_BACKOFF_S) * (1 + self.jitter()), LONGEST_BACKOFF_S)
        # Errors that an operator has to fix are retried less often; after the last try the message is a dead letter.
        return self._doubled(FIRST_BACKOFF_S if error.retriable else FINAL_BACKOFF_S, receives)

    def _doubled(self, first_s: float, receives: int) -> float:
        return float(min(first_s * 2 ** (receives - 1) * (1 + self.jitter()), LONGEST_BACKOFF_S))

    def _hide(self, delivery: Delivery, seconds: float) -> None:
        if not delivery.receipt_handle:
            return
        try:
            self.queue.extend(delivery.receipt_handle, visibility_s=round(seconds))
        except DependencyError as error:
            # The queue's own visibility timeout applies: the message is retried later, not lost.
            logger.warning("visibility not changed", extra={"message_id": delivery.message_id, "code": error.code})


def named(change: ChangeNotification) -> dict[str, str]:
    """Return the ids of a change's document for the log; none for a key that is no document's."""
    ref = document_ref_of(change.key)
    return {} if ref is None else {"tenant": ref.tenant, "document_id": ref.document_id}
