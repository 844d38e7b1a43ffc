"""The one deadline: calls that are waited for no longer than they may take, and the clients they leave behind."""

import threading
import time
from collections.abc import Iterator
from contextvars import copy_context

import pytest

from shared.adapters.aws import SystemClock
from shared.deadline import (
    CURRENT,
    CallAbandoned,
    ClientDisconnected,
    Deadline,
    Replaceable,
    RequestTimedOut,
    StageTimer,
    Workers,
    call_within,
    pause,
    stream_within,
)
from shared.errors import DependencyTimeout
from tests.support.clock import FakeClock


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """What hangs in a test hangs at this event."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def deadline() -> Iterator[Deadline]:
    """A request with 30 seconds is being answered."""
    made = Deadline(SystemClock(), 30.0)
    token = CURRENT.set(made)
    yield made
    CURRENT.reset(token)


def seconds_of(begun: float) -> float:
    return time.monotonic() - begun


# --- one call ----------------------------------------------------------------------------------------------------


def test_a_call_returns_what_it_returns_and_raises_what_it_raises() -> None:
    assert call_within(5, "chat", lambda: 7) == 7
    with pytest.raises(KeyError, match="here"):
        call_within(5, "chat", lambda: {}["here"])


def test_a_call_that_hangs_is_left_behind_in_time(let_go: threading.Event) -> None:
    begun = time.monotonic()
    with pytest.raises(CallAbandoned, match="chat: it did not answer in time") as raised:
        call_within(0.2, "chat", let_go.wait)
    assert 0.2 <= seconds_of(begun) < 2
    assert isinstance(raised.value, DependencyTimeout)


def test_a_call_has_no_more_time_than_the_request(let_go: threading.Event) -> None:
    token = CURRENT.set(Deadline(SystemClock(), 0.2))
    begun = time.monotonic()
    with pytest.raises(CallAbandoned):
        call_within(30, "chat", let_go.wait)
    assert seconds_of(begun) < 2
    CURRENT.reset(token)


@pytest.mark.parametrize("waiting", ["call", "stream", "pause"])
def test_whoever_waits_is_woken_when_the_client_disconnects(
    waiting: str, let_go: threading.Event, deadline: Deadline
) -> None:
    def hang() -> Iterator[int]:
        let_go.wait()
        yield 1

    waits = {
        "call": lambda: call_within(30, "chat", let_go.wait),
        "stream": lambda: next(stream_within(30, "chat", hang)),
        "pause": lambda: pause(30),
    }
    threading.Timer(0.1, deadline.cancel).start()
    begun = time.monotonic()
    with pytest.raises(ClientDisconnected):
        waits[waiting]()
    assert seconds_of(begun) < 2


def test_no_call_is_waited_for_after_the_client_has_disconnected(deadline: Deadline) -> None:
    deadline.cancel()
    with pytest.raises(ClientDisconnected):
        call_within(30, "chat", lambda: 7)


def test_a_call_within_a_call_keeps_to_the_same_deadline(deadline: Deadline) -> None:
    assert call_within(5, "chat", lambda: call_within(5, "chat", CURRENT.get)) is deadline


def test_late_failures_of_abandoned_calls_reach_nobody(let_go: threading.Event) -> None:
    ended = threading.Event()

    def fail() -> None:
        let_go.wait()
        ended.set()
        raise RuntimeError("too late")

    with pytest.raises(CallAbandoned):
        call_within(0.05, "chat", fail)
    let_go.set()
    assert ended.wait(5)
    assert call_within(5, "chat", lambda: 7) == 7


# --- pieces ------------------------------------------------------------------------------------------------------


def test_pieces_come_as_they_are_made_and_then_the_failure() -> None:
    def pieces() -> Iterator[int]:
        yield 1
        yield 2
        raise KeyError("here")

    came = stream_within(5, "chat", pieces)
    assert [next(came), next(came)] == [1, 2]
    with pytest.raises(KeyError):
        next(came)


def test_pieces_that_hold_nothing_open_end_without_an_error() -> None:
    assert list(stream_within(5, "chat", lambda: iter(["a", "b"]))) == ["a", "b"]


def test_all_pieces_together_have_one_time(let_go: threading.Event) -> None:
    def drip() -> Iterator[int]:
        while not let_go.wait(0.05):
            yield 1

    begun = time.monotonic()
    with pytest.raises(CallAbandoned):
        list(stream_within(0.3, "chat", drip))
    assert seconds_of(begun) < 2


def test_when_the_reader_stops_no_more_pieces_are_made() -> None:
    made, closed = [], threading.Event()

    def pieces() -> Iterator[int]:
        try:
            for n in range(1_000_000):
                made.append(n)
                yield n
                time.sleep(0.001)
        finally:
            closed.set()

    came = stream_within(5, "chat", pieces)
    next(came)
    came.close()
    assert closed.wait(5)
    assert len(made) < 1_000


# --- clients -----------------------------------------------------------------------------------------------------


class Client:
    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


def test_a_client_is_kept_while_its_calls_end(let_go: threading.Event) -> None:
    clients = Replaceable(Client)
    first = clients.call(5, "chat", lambda client: client)
    with pytest.raises(KeyError):
        clients.call(5, "chat", lambda _: {}["here"])
    assert clients.call(5, "chat", lambda client: client) is first
    assert not first.closed.is_set()


def test_a_client_with_an_abandoned_call_is_closed_and_replaced(let_go: threading.Event) -> None:
    clients = Replaceable(Client)
    first = clients.call(5, "chat", lambda client: client)
    with pytest.raises(CallAbandoned):
        clients.call(0.05, "chat", lambda _: let_go.wait())
    assert first.closed.wait(5)
    second = clients.call(5, "chat", lambda client: client)
    assert second is not first
    assert not second.closed.is_set()


def test_a_client_is_closed_only_when_no_other_call_uses_it(let_go: threading.Event) -> None:
    clients = Replaceable(Client)
    first = clients.call(5, "chat", lambda client: client)
    used = threading.Event()

    def use(client: Client) -> Client:
        used.set()
        let_go.wait(5)
        assert not client.closed.is_set()
        return client

    other = Workers("test").submit(clients.call, 5, "chat", use)
    assert used.wait(5)
    with pytest.raises(CallAbandoned):
        clients.call(0.05, "chat", lambda _: threading.Event().wait(5))
    assert not first.closed.wait(0.1)
    let_go.set()
    assert other.result(5) is first
    assert first.closed.wait(5)


def test_a_stream_that_is_not_read_to_its_end_closes_its_client() -> None:
    clients = Replaceable(Client)
    came = clients.stream(5, "chat", lambda client: iter([client, client]))
    client = next(came)
    came.close()
    assert client.closed.wait(5)


# --- threads -----------------------------------------------------------------------------------------------------


def test_threads_are_kept_and_what_hangs_holds_nobody_up():
    workers, let_go = Workers("test"), threading.Event()
    first = workers.submit(threading.get_ident).result(5)
    assert workers.submit(threading.get_ident).result(5) == first
    hung = [workers.submit(let_go.wait) for _ in range(20)]
    assert workers.submit(int, "7").result(5) == 7
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "test")
    assert not any(each.done() for each in hung)
    let_go.set()
    assert all(each.result(5) for each in hung)


def test_a_thread_works_in_the_context_of_whoever_gave_it_the_work(deadline: Deadline) -> None:
    workers = Workers("test")
    assert workers.submit(CURRENT.get).result(5) is deadline
    outside = copy_context()
    outside.run(CURRENT.set, None)
    assert outside.run(workers.submit, CURRENT.get).result(5) is None


# --- what is left of the time ------------------------------------------------------------------------------------


def test_the_time_left_runs_down_to_nothing_and_no_further() -> None:
    clock = FakeClock()
    request = Deadline(clock, 10.0)
    assert request.left() == 10.0
    clock.advance(4.0)
    assert request.left() == 6.0
    clock.advance(7.0)
    assert request.left() == 0.0


@pytest.mark.parametrize(
    ("at_most_s", "reserve_s", "timeout_s"), [(4.0, 0.0, 4.0), (30.0, 0.0, 10.0), (30.0, 3.0, 7.0), (4.0, 3.0, 4.0)]
)
def test_a_call_may_take_what_is_left_and_not_kept(at_most_s: float, reserve_s: float, timeout_s: float) -> None:
    assert Deadline(FakeClock(), 10.0).cut("chat", at_most_s, reserve_s=reserve_s) == timeout_s


@pytest.mark.parametrize(("left_s", "reserve_s"), [(0.0, 0.0), (0.04, 0.0), (3.0, 2.97), (3.0, 5.0)])
def test_a_call_that_has_no_time_is_not_started(left_s: float, reserve_s: float) -> None:
    with pytest.raises(DependencyTimeout, match="chat: the request's deadline leaves no time"):
        Deadline(FakeClock(), left_s).cut("chat", 30.0, reserve_s=reserve_s)
    assert Deadline(FakeClock(), 0.2).cut("chat", 30.0) == pytest.approx(0.2)


def test_after_the_client_has_disconnected_nothing_is_begun(deadline: Deadline) -> None:
    assert not deadline.cancelled
    deadline.check()
    deadline.cancel()
    assert deadline.cancelled
    for ask in (deadline.check, deadline.left, lambda: deadline.cut("chat", 1.0)):
        with pytest.raises(ClientDisconnected):
            ask()


def test_a_stage_is_timed_also_when_it_fails_and_comes_again() -> None:
    clock = FakeClock()
    timer = StageTimer(clock, Deadline(clock, 10.0))
    with timer.stage("search"):
        clock.advance(0.25)

    def fail() -> None:
        clock.advance(0.5)
        raise KeyError

    with pytest.raises(KeyError), timer.stage("search"):
        fail()
    with timer.stage("write"):
        clock.advance(0.0123)
    assert timer.timings_ms == {"search": 750.0, "write": 12.3}


def test_no_stage_begins_after_the_client_has_disconnected() -> None:
    request = Deadline(FakeClock(), 10.0)
    timer = StageTimer(FakeClock(), request)
    request.cancel()
    with pytest.raises(ClientDisconnected), timer.stage("search"):
        raise AssertionError("it has begun")
    assert timer.timings_ms == {}


def test_a_request_that_timed_out_says_so() -> None:
    assert str(RequestTimedOut()).startswith("request: timed out")
