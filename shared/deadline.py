"""One deadline for a whole request, and the one way to wait for a call to another service.

A vendor's timeout bounds each read, so a server that sends a byte now and then outlasts it; DNS lookups have no
timeout. So every call runs in its own thread. Its caller waits until the call's timeout, the request's deadline or the
client's disconnect. Then the call is abandoned: its thread is a daemon, its client is closed, which ends the
connection, and the next call gets a new client (`Replaceable`).
"""

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol

from shared.errors import DependencyTimeout
from shared.ports import Clock

SHORTEST_CALL_S = 0.05
"""With less time left, a call is not started."""


class RequestTimedOut(DependencyTimeout):
    """The request's deadline has passed."""

    def __init__(self) -> None:
        super().__init__("request", "timed out, because a dependency hangs")


class CallAbandoned(DependencyTimeout):
    """A call did not end in time; it may still be running in its thread."""


class ClientDisconnected(Exception):
    """The client has disconnected: stop, and write nothing."""


class Deadline:
    """Expires after `seconds`, or at once when the client disconnects."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds
        self._cancelled = False
        self._waiting: set[SimpleQueue[Any]] = set()

    def cancel(self) -> None:
        """End now, because the client has disconnected, and wake the threads that wait for a call. Thread-safe."""
        self._cancelled = True
        for replies in tuple(self._waiting):  # a copy, because other threads change the set
            replies.put(self.check)

    @property
    def cancelled(self) -> bool:
        """Whether the client has disconnected."""
        return self._cancelled

    def check(self) -> None:
        """Raise `ClientDisconnected` if the client has disconnected."""
        if self._cancelled:
            raise ClientDisconnected

    def left(self) -> float:
        """Return the seconds left, never negative. Raises `ClientDisconnected`."""
        self.check()
        return max(0.0, self._end - self._clock.monotonic())

    def cut(self, dependency: str, at_most_s: float, *, reserve_s: float = 0.0) -> float:
        """Return a timeout for one call: at most `at_most_s`, with `reserve_s` kept for what follows.

        Raises `DependencyTimeout` for `dependency` if there is too little time to start the call.
        """
        timeout_s = min(at_most_s, self.left() - reserve_s)
        if timeout_s <= SHORTEST_CALL_S:
            raise DependencyTimeout(dependency, "the request's deadline leaves no time for this call")
        return timeout_s

    @contextmanager
    def waking(self, replies: SimpleQueue[Any]) -> Iterator[None]:
        """Inside, a client's disconnect puts a reply on the queue that raises `ClientDisconnected`."""
        self._waiting.add(replies)
        try:
            self.check()
            yield
        finally:
            self._waiting.discard(replies)


class StageTimer:
    """Measures the milliseconds of each stage."""

    def __init__(self, clock: Clock, deadline: Deadline) -> None:
        self._clock = clock
        self._deadline = deadline
        self.timings_ms: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block, errors included. Raises `ClientDisconnected` before it if the client has disconnected."""
        self._deadline.check()
        started = self._clock.monotonic()
        try:
            yield
        finally:
            elapsed_ms = (self._clock.monotonic() - started) * 1_000
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + elapsed_ms, 2)


CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
"""The deadline of the request being answered. Threads of `Workers` see that of the caller who submitted the work."""


class Workers:
    """Runs each task at once, in its caller's context: in an idle daemon thread, or else in a new one.

    A task that hangs blocks only its own thread, never another task or the end of the process. The number of threads is
    the highest number of concurrent tasks so far, which is small: a Lambda container serves one request at a time.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: list[SimpleQueue[Callable[[], Callable[[], None]]]] = []

    def submit[**P, R](self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Start `work`; the future holds what it returns or raises."""
        future: Future[R] = Future()
        context = copy_context()

        def run() -> Callable[[], None]:
            try:
                result = context.run(work, *args, **kwargs)
            except BaseException as error:  # noqa: BLE001  the waiter raises it
                return partial(future.set_exception, error)
            return partial(future.set_result, result)

        try:
            waiting = self._idle.pop()  # atomic: two callers never get the same thread
        except IndexError:
            waiting = SimpleQueue()
            Thread(target=self._serve, args=(waiting,), name=self._name, daemon=True).start()
        waiting.put(run)
        return future

    def _serve(self, waiting: SimpleQueue[Callable[[], Callable[[], None]]]) -> None:
        while True:
            settle = waiting.get()()
            self._idle.append(waiting)  # before settling, so that the waiter's next call finds this thread idle
            settle()
            del settle  # an idle thread must not keep a result, which may be a client with its key


_CALLS = Workers("call")


class _Replies[T]:
    """The replies of a call, and until when to wait for them."""

    def __init__(self, dependency: str, timeout_s: float) -> None:
        self._dependency = dependency
        self._end = time.monotonic() + timeout_s
        self._deadline = CURRENT.get()
        if self._deadline is not None:
            self._deadline.check()  # no call starts after the client has disconnected
        self.queue: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def next(self) -> T:
        """Return or raise the next reply. Also raises `CallAbandoned` and `ClientDisconnected`."""
        left_s = self._end - time.monotonic()
        if self._deadline is None:
            return self._take(left_s)
        with self._deadline.waking(self.queue):
            return self._take(min(left_s, self._deadline.left()))

    def _take(self, left_s: float) -> T:
        try:
            reply = self.queue.get(timeout=max(left_s, 0.0))
        except Empty:
            raise CallAbandoned(self._dependency, "it did not answer in time.") from None
        return reply()


def call_within[T](timeout_s: float, dependency: str, call: Callable[[], T]) -> T:
    """Return what `call` returns, waiting at most `timeout_s` and what is left of the current request.

    Raises the call's error, `CallAbandoned` (for `dependency`), or `ClientDisconnected`.
    """
    replies = _Replies[T](dependency, timeout_s)
    _CALLS.submit(call).add_done_callback(lambda done: replies.queue.put(done.result))
    return replies.next()


def stream_within[T](timeout_s: float, dependency: str, call: Callable[[], Iterator[T]]) -> Generator[T]:
    """Yield what `call` yields, all of it within `timeout_s`. Raises as `call_within` does.

    If the reader stops, the call does too: before its next piece, or when its client is closed.
    """
    replies = _Replies[T | None](dependency, timeout_s)
    stopped = False

    def produce() -> None:
        pieces = call()
        for piece in pieces:
            if stopped:
                break
            replies.queue.put(lambda piece=piece: piece)  # type: ignore[misc]
        if isinstance(pieces, Generator):
            pieces.close()

    _CALLS.submit(produce).add_done_callback(lambda done: replies.queue.put(done.result))
    try:
        while (reply := replies.next()) is not None:
            yield reply
    finally:
        stopped = True


def pause(seconds: float) -> None:
    """Sleep. Raises `ClientDisconnected` as soon as the client of the current request disconnects."""
    deadline = CURRENT.get()
    if deadline is None:
        time.sleep(seconds)
        return
    replies: SimpleQueue[Callable[[], object]] = SimpleQueue()
    with deadline.waking(replies):
        try:
            replies.get(timeout=seconds)()
        except Empty:
            return


class Closable(Protocol):
    """A vendor's client."""

    def close(self) -> None:
        """Close all connections, also those in use."""


class _SharedClient[C: Closable]:
    """A client, the number of calls that use it, and whether it accepts new ones."""

    def __init__(self, client: C) -> None:
        self.client = client
        self.calls = 0
        self.retired = False


class Replaceable[C: Closable]:
    """A vendor's client that is replaced after one of its calls was abandoned. Thread-safe.

    The old client is closed as soon as no other call uses it, which ends the abandoned call's connection.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._lock = Lock()
        self._current: _SharedClient[C] | None = _SharedClient(make())

    def call[T](self, timeout_s: float, dependency: str, use: Callable[[C], T]) -> T:
        """Return `use(client)` as `call_within` does."""
        with self._borrowed() as client:
            return call_within(timeout_s, dependency, partial(use, client))

    def stream[T](self, timeout_s: float, dependency: str, use: Callable[[C], Iterator[T]]) -> Generator[T]:
        """Yield `use(client)` as `stream_within` does."""
        with self._borrowed() as client:
            yield from stream_within(timeout_s, dependency, partial(use, client))

    def retire(self) -> None:
        """Let later calls use a new client; this one is closed when its last call has ended."""
        with self._lock:
            shared, self._current = self._current, None
            if shared is None:
                return
            shared.retired = True
            is_unused = not shared.calls
        if is_unused:
            _CALLS.submit(shared.client.close)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            shared, self._current = self._current, None
        if shared is not None:
            shared.client.close()

    @contextmanager
    def _borrowed(self) -> Iterator[C]:
        with self._lock:
            if self._current is None or self._current.retired:
                self._current = _SharedClient(self._make())
            shared = self._current
            shared.calls += 1
        abandoned = False
        try:
            yield shared.client
        except (CallAbandoned, ClientDisconnected, GeneratorExit):
            abandoned = True
            raise
        finally:
            with self._lock:
                shared.calls -= 1
                shared.retired |= abandoned
                is_unused = shared.retired and not shared.calls
            if is_unused:
                _CALLS.submit(shared.client.close)  # in a thread, because closing may block too
