"""One batch: each message alone, back-off by kind of failure, nothing consumed that was not dealt with."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from functions.ingest import delivery as delivery_module
from functions.ingest.changes import MAX_WAITS, ChangeNotification, Delivery, change_body
from functions.ingest.delivery import MAX_RECEIVES, Batch
from functions.ingest.lease import InvocationTime
from functions.ingest.reconcile import ReconcileOutcome, TryLater
from shared.errors import DependencyUnavailable, DocumentRejected, QuotaExhausted, RateLimited
from shared.models import document_id_of


@dataclass
class ScriptedReconciler:
    """Answers by key: raises an error or returns."""

    script: dict[str, Exception] = field(default_factory=dict)
    seen: list[tuple[str, bool]] = field(default_factory=list)

    def reconcile(
        self, change: ChangeNotification, *, message_id: str, deadline: InvocationTime, last_try: bool
    ) -> ReconcileOutcome:
        self.seen.append((change.key, last_try))
        if change.key in self.script:
            raise self.script[change.key]
        return ReconcileOutcome.PUBLISHED


@dataclass
class RecordingQueue:
    hidden: list[tuple[str, int]] = field(default_factory=list)
    error: Exception | None = None
    sent: list[tuple[str, int]] = field(default_factory=list)

    def send(self, body: str, *, delay_s: int = 0) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append((body, delay_s))

    def extend(self, receipt_handle: str, *, visibility_s: int) -> None:
        if self.error is not None:
            raise self.error
        self.hidden.append((receipt_handle, visibility_s))


def still(beat: Callable[[], None]) -> AbstractContextManager[None]:
    return nullcontext()


def batch_of(reconciler: ScriptedReconciler, queue: RecordingQueue) -> Batch:
    return Batch(lambda: cast("Any", reconciler), queue, lambda: 0.0, still, visibility_s=130.0)


def delivery(key: str, *, receives: int = 1) -> Delivery:
    return Delivery(f"m-{key}", [ChangeNotification(key)], f"r-{key}", receives)


PLENTY = InvocationTime(lambda: 900.0)


def test_one_bad_message_fails_alone() -> None:
    reconciler = ScriptedReconciler({"b": DependencyUnavailable("vectors"), "c": RuntimeError("a bug")})
    queue = RecordingQueue()
    failed = batch_of(reconciler, queue).handle([delivery(key) for key in "abcd"], PLENTY)
    assert failed == ["m-b", "m-c"]
    assert [key for key, _ in reconciler.seen] == list("abcd")


def test_a_failed_message_is_logged_with_its_document_and_the_provider_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged: list[dict[str, Any]] = []
    monkeypatch.setattr(delivery_module.logger, "warning", lambda message, extra: logged.append(extra))
    key = "uploads/acme/plan.pdf"
    failing = ScriptedReconciler({key: DependencyUnavailable("embeddings"), "b": DocumentRejected("no_pdf", "No PDF.")})
    batch_of(failing, RecordingQueue()).handle([delivery(key), delivery("b")], PLENTY)
    first, second = logged
    assert (first["tenant"], first["document_id"]) == ("acme", document_id_of("acme", key))
    assert (first["code"], first["dependency"]) == ("unavailable", "embeddings")
    assert second.keys() == {"message_id", "receives", "code", "after_s"}, "no document, no provider"


def test_messages_are_hidden_a_little_longer_than_the_lease_while_they_are_processed() -> None:
    queue = RecordingQueue()
    batch_of(ScriptedReconciler(), queue).handle([delivery("a"), delivery("b")], PLENTY)
    assert queue.hidden == [("r-a", 130), ("r-b", 130)]


def test_a_heartbeat_under_way_does_not_overwrite_the_backoff_of_a_failed_message() -> None:
    beat_is_out, second_begun = threading.Event(), threading.Event()

    class SlowQueue(RecordingQueue):
        def extend(self, receipt_handle: str, *, visibility_s: int) -> None:
            if threading.current_thread() is not threading.main_thread() and not beat_is_out.is_set():
                beat_is_out.set()
                assert second_begun.wait(10)  # on its way while the first message fails
            super().extend(receipt_handle, visibility_s=visibility_s)

    class SlowReconciler(ScriptedReconciler):
        def reconcile(self, change: ChangeNotification, **how: Any) -> ReconcileOutcome:
            if change.key == "a":
                assert beat_is_out.wait(10)
            else:
                second_begun.set()
            return super().reconcile(change, **how)

    @contextmanager
    def one_beat(beat: Callable[[], None]) -> Iterator[None]:
        thread = threading.Thread(target=beat)
        thread.start()
        yield
        thread.join()

    queue = SlowQueue()
    reconciler = SlowReconciler({"a": DependencyUnavailable("vectors")})
    batch = replace(batch_of(reconciler, queue), heartbeat=one_beat)
    assert batch.handle([delivery("a"), delivery("b")], PLENTY) == ["m-a"]
    assert [each for each in queue.hidden if each[0] == "r-a"][-1] == ("r-a", 5)


@pytest.mark.parametrize(
    ("error", "receives", "after_s"),
    [
        (DependencyUnavailable("vectors"), 1, 5),
        (DependencyUnavailable("vectors"), 3, 20),
        (DependencyUnavailable("embeddings", retry_after_s=40.0), 1, 40),
        (QuotaExhausted("embeddings"), 1, 60),
        (QuotaExhausted("embeddings"), MAX_RECEIVES - 1, 480),
        (DependencyUnavailable("embeddings", retry_after_s=8_000.0), 1, 900),
        (QuotaExhausted("embeddings"), MAX_RECEIVES, 0),  # on to the dead-letter queue
        (TryLater("busy", after_s=77.0), MAX_RECEIVES, 0),
        (TryLater("busy", after_s=77.0), 1, 77),
        (RuntimeError("a bug"), 2, 10),
    ],
)
def test_the_backoff_of_a_failed_message_depends_on_the_failure(error: Exception, receives: int, after_s: int) -> None:
    queue = RecordingQueue()
    failed = batch_of(ScriptedReconciler({"a": error}), queue).handle([delivery("a", receives=receives)], PLENTY)
    assert failed == ["m-a"]
    assert queue.hidden[-1] == ("r-a", after_s)


@pytest.mark.parametrize(
    ("waits", "retry_after_s", "after_s"),
    [(0, None, 15), (3, None, 120), (3, 400.0, 400), (0, 9_000.0, 900), (20, 1.0, 900)],
)
def test_a_rate_limit_uses_up_no_try_of_the_message(waits: int, retry_after_s: float | None, after_s: int) -> None:
    queue = RecordingQueue()
    reconciler = ScriptedReconciler({"a": RateLimited("embeddings", retry_after_s=retry_after_s)})
    slowed = Delivery(
        "m",
        [ChangeNotification("a", sequencer="0F", chunks_done=7, waits=waits), ChangeNotification("b")],
        "r",
        MAX_RECEIVES,
    )
    assert batch_of(reconciler, queue).handle([slowed], PLENTY) == []
    assert [key for key, _ in reconciler.seen] == ["a", "b"]
    assert queue.sent == [(change_body("a", chunks_done=7, waits=waits + 1), after_s)]


def test_after_hours_of_rate_limiting_it_is_a_failure_like_any_other() -> None:
    queue = RecordingQueue()
    reconciler = ScriptedReconciler({"a": RateLimited("embeddings")})
    assert batch_of(reconciler, queue).handle(
        [Delivery("m", [ChangeNotification("a", waits=MAX_WAITS)], "r")], PLENTY
    ) == ["m"]
    assert queue.sent == []


def test_a_message_whose_continuation_cannot_be_sent_comes_back() -> None:
    queue = RecordingQueue(error=DependencyUnavailable("queue"))
    reconciler = ScriptedReconciler({"a": RateLimited("embeddings")})
    assert batch_of(reconciler, queue).handle([delivery("a")], PLENTY) == ["m-a"]


def test_the_last_delivery_is_the_last_try() -> None:
    reconciler = ScriptedReconciler()
    deliveries = [delivery("a", receives=MAX_RECEIVES - 1), delivery("b", receives=MAX_RECEIVES)]
    batch_of(reconciler, RecordingQueue()).handle(deliveries, PLENTY)
    assert reconciler.seen == [("a", False), ("b", True)]


def test_an_unreadable_message_is_consumed() -> None:
    reconciler = ScriptedReconciler()
    assert batch_of(reconciler, RecordingQueue()).handle([Delivery("m", problem="no JSON")], PLENTY) == []
    assert reconciler.seen == []


def test_messages_without_time_left_go_back_at_once() -> None:
    reconciler, queue = ScriptedReconciler(), RecordingQueue()
    assert batch_of(reconciler, queue).handle([delivery("a")], InvocationTime(lambda: 10.0)) == ["m-a"]
    assert reconciler.seen == []
    assert queue.hidden[-1] == ("r-a", 0)


def test_a_visibility_that_cannot_be_set_changes_nothing_else() -> None:
    queue = RecordingQueue(error=DependencyUnavailable("queue"))
    reconciler = ScriptedReconciler({"b": DependencyUnavailable("vectors")})
    assert batch_of(reconciler, queue).handle([delivery("a"), delivery("b")], PLENTY) == ["m-b"]
