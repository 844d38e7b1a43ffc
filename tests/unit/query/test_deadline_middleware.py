"""The last bound on a request."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from functions.query import bootstrap
from functions.query.api.middleware import (
    DEADLINE,
    LAMBDA_MARGIN_S,
    REPLY_MARGIN_S,
    STREAMED,
    DeadlineMiddleware,
    in_a_thread,
)
from shared.deadline import ClientDisconnected

SECONDS = 0.4


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RECTO_REQUEST_DEADLINE_S", str(SECONDS))
    bootstrap.configured.cache_clear()
    yield
    bootstrap.configured.cache_clear()


def served(work: Callable[[Any], Any], **more: Any) -> tuple[list[dict[str, Any]], float]:
    """Serve one request by `work(deadline)`; return what was sent and after how many seconds."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = await in_a_thread(lambda: work(scope[DEADLINE]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nobody reads the request")

    scope = {"type": "http", "method": "POST", "path": "/query", "headers": [(b"accept-language", b"lt")], **more}
    begun = time.monotonic()
    loop = asyncio.new_event_loop()  # asyncio.run would leave Mangum, in later tests of this thread, without one
    try:
        loop.run_until_complete(DeadlineMiddleware(app)(scope, receive, send))
    finally:
        loop.close()
    return sent, time.monotonic() - begun


def test_a_response_in_time_passes_unchanged():
    sent, _ = served(lambda _: b"here")
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert (sent[0]["status"], sent[1]["body"]) == (200, b"here")


def test_work_that_hangs_is_abandoned_and_the_client_gets_a_504_with_retry_after():
    let_go, gone = threading.Event(), threading.Event()

    def hang(deadline: Any) -> bytes:
        let_go.wait(10)
        try:
            deadline.check()
        except ClientDisconnected:
            gone.set()
        return b"too late"

    sent, took_s = served(hang)
    assert SECONDS <= took_s < SECONDS + 1
    assert sent[0]["status"] == 504
    headers = dict(sent[0]["headers"])
    assert (headers[b"content-type"], headers[b"retry-after"]) == (b"application/problem+json", b"1")
    assert "užklausai" in sent[1]["body"].decode()
    let_go.set()
    assert gone.wait(5)  # it goes no further than its next step
    assert len(sent) == 2


def test_abandoned_work_does_nothing_in_the_loop_of_the_next_request():
    let_go, went_on = threading.Event(), list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await in_a_thread(lambda: let_go.wait(10))
        went_on.append(scope["path"])  # as it would here, were it to fail, to tell of the error and to log it

    async def send(message: Any) -> None:
        pass

    async def receive() -> Any:
        raise AssertionError("nobody reads the request")

    async def left_behind() -> None:
        let_go.set()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)

    loop = asyncio.new_event_loop()
    try:
        scope = {"type": "http", "method": "POST", "path": "/query", "headers": []}
        loop.run_until_complete(DeadlineMiddleware(app)(scope, receive, send))
        loop.run_until_complete(left_behind())
    finally:
        loop.close()
    assert went_on == []


def test_the_time_that_the_lambda_has_left_is_less_time():
    class Context:
        @staticmethod
        def get_remaining_time_in_millis() -> int:
            return 1_100

    let_go = threading.Event()
    sent, took_s = served(lambda _: let_go.wait(10), **{"aws.context": Context()})
    let_go.set()
    assert sent[0]["status"] == 504
    assert took_s < SECONDS


def seconds_left(**more: Any) -> float:
    """Return the seconds that a request's deadline leaves at its start."""
    left: list[float] = []

    def work(deadline: Any) -> bytes:
        left.append(deadline.left())
        return b""

    served(work, **more)
    return left[0]


@pytest.mark.parametrize(
    ("waited_s", "left_s"),
    [(0.0, 26.0), (1.5, 26.0), (5.0, 23.0), (27.0, 1.0), (40.0, 26.0), (-5.0, 26.0)],
    ids=["at once", "short start", "cold start", "nearly given up", "a replayed event", "another clock"],
)
def test_a_cold_start_is_counted_from_the_gateways_clock(
    monkeypatch: pytest.MonkeyPatch, waited_s: float, left_s: float
) -> None:
    monkeypatch.setenv("RECTO_REQUEST_DEADLINE_S", "26")
    begun_ms = round((time.time() - waited_s) * 1_000)
    left = seconds_left(**{"aws.event": {"requestContext": {"requestTimeEpoch": begun_ms}}})
    assert left == pytest.approx(left_s - REPLY_MARGIN_S, abs=0.5)


def test_a_streamed_response_has_the_time_of_its_function() -> None:
    class Context:
        @staticmethod
        def get_remaining_time_in_millis() -> int:
            return 100_000

    event = {"requestContext": {"requestTimeEpoch": round((time.time() - 5) * 1_000)}}
    left = seconds_left(**{"aws.context": Context(), "aws.event": event, STREAMED: True})
    assert left == pytest.approx(100 - LAMBDA_MARGIN_S - REPLY_MARGIN_S, abs=0.5)


def test_an_error_is_passed_on():
    with pytest.raises(KeyError, match="here"):
        served(lambda _: {}["here"])
