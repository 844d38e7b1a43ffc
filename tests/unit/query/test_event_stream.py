"""A stream is never silent for long, and ends with its own deadline."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.types import Message

from functions.query.api import sse
from functions.query.api.middleware import STREAMED
from functions.query.api.sse import HEARTBEAT, EventStream, ServerSentEvent, encoded
from shared.adapters.aws import SystemClock
from shared.deadline import Deadline
from shared.errors import DependencyUnavailable

SOURCES: ServerSentEvent = ("sources", {"sources": []})
DONE: ServerSentEvent = ("done", {"answer": "Yes."})
WAIT_S = 20.0


@pytest.fixture(autouse=True)
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "QUIET_S", 0.02)
    monkeypatch.setattr(sse, "REPLY_MARGIN_S", 0.02)


def streamed(
    make: Callable[[], Iterator[ServerSentEvent]],
    beats: threading.Event,
    *,
    seconds: float = WAIT_S,
    **scope: Any,
) -> list[Message]:
    """Send a stream; `beats` is set by its third heartbeat. Returns what was sent."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)
        if sent.count(HEARTBEAT) == 3:
            beats.set()

    async def receive() -> Message:
        return await asyncio.Future()

    stream = EventStream(make, Deadline(SystemClock(), seconds), lambda error: {"code": str(error)})
    with asyncio.Runner() as runner:
        runner.run(stream({"type": "http", **scope}, receive, send))
    return sent


def bodies(sent: list[Message]) -> list[bytes]:
    return [each["body"] for each in sent if each["type"] == "http.response.body" and each is not HEARTBEAT]


def test_a_slow_step_is_bridged_by_heartbeats() -> None:
    beats = threading.Event()

    def make() -> Iterator[ServerSentEvent]:
        yield SOURCES
        assert beats.wait(WAIT_S)
        yield DONE

    sent = streamed(make, beats)
    assert [each["type"] for each in sent[:2]] == ["http.response.start", "http.response.body"]
    assert sent.count(HEARTBEAT) >= 3
    more = [each["more_body"] for each in sent[1:]]
    assert more == [*[True] * (len(more) - 1), False]  # a body that says it is whole ends the response
    assert bodies(sent) == [encoded(SOURCES), encoded(DONE), b""]


def test_a_slow_first_step_begins_the_stream_where_it_is_streamed() -> None:
    beats = threading.Event()

    def make() -> Iterator[ServerSentEvent]:
        assert beats.wait(WAIT_S)
        yield SOURCES

    sent = streamed(make, beats, **{STREAMED: True})
    assert (sent[0]["type"], sent[0]["status"]) == ("http.response.start", 200)
    assert sent[1] is HEARTBEAT
    assert bodies(sent) == [encoded(SOURCES), b""]


def test_an_error_after_the_first_heartbeat_is_an_event() -> None:
    beats = threading.Event()

    def make() -> Iterator[ServerSentEvent]:
        assert beats.wait(WAIT_S)
        raise DependencyUnavailable("vectors", "down")
        yield SOURCES

    sent = streamed(make, beats, **{STREAMED: True})
    (event, end) = bodies(sent)
    assert event.startswith(b"event: error\n")
    assert (end, sent[-1]["more_body"]) == (b"", False)


@pytest.mark.parametrize("scope", [{}, {STREAMED: True}])
def test_an_error_before_it_is_an_ordinary_one(scope: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "QUIET_S", WAIT_S)

    def make() -> Iterator[ServerSentEvent]:
        raise DependencyUnavailable("vectors", "down")
        yield SOURCES

    with pytest.raises(DependencyUnavailable):
        streamed(make, threading.Event(), **scope)


def test_a_buffered_stream_waits_for_its_first_event_so_that_a_late_error_keeps_its_status() -> None:
    late = threading.Event()

    def make() -> Iterator[ServerSentEvent]:
        threading.Timer(0.2, late.set).start()  # ten silences
        assert late.wait(WAIT_S)
        raise DependencyUnavailable("vectors", "down")
        yield SOURCES

    with pytest.raises(DependencyUnavailable):
        streamed(make, threading.Event())


def test_a_stream_ends_with_its_deadline() -> None:
    never = threading.Event()

    def make() -> Iterator[ServerSentEvent]:
        never.wait(WAIT_S)
        yield DONE

    sent = streamed(make, threading.Event(), seconds=0.3, **{STREAMED: True})
    never.set()
    assert sent.count(HEARTBEAT) >= 3
    event, end = bodies(sent)
    assert event.startswith(b"event: error\n")
    assert end == b""


def test_an_event_is_one_line_of_data_with_every_letter_as_it_is() -> None:
    assert encoded(("delta", {"text": "é\n“½”"})) == 'event: delta\ndata: {"text":"é\\n“½”"}\n\n'.encode()
    assert encoded(("", "[DONE]")) == b"data: [DONE]\n\n"
