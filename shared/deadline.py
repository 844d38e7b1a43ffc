"""Threads that are kept for the next piece of work, and never waited for when the process ends."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread

from shared.errors import DependencyTimeout
from shared.ports import Clock

# --- One deadline for the whole request; every client's timeout is cut from what is left of it ---

SHORTEST_CALL_S = 0.05
"""With less than this left, a call is not begun."""


class TimeIsUp(DependencyTimeout):
    """Something hangs, and the request's time is over."""

    def __init__(self) -> None:
        super().__init__("request", "not done in time, because something that it waits for hangs")


class AskerGone(Exception):
    """Nobody waits for the answer any more: stop, write nothing."""


class Deadline:
    """Counts down from `seconds` on a monotonic clock, or ends at once when nobody waits any more."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds
        self._cancelled = False

    def cancel(self) -> None:
        """Say that nobody waits any more. May be called from another thread."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits any more."""
        return self._cancelled

    def check(self) -> None:
        """Raise `AskerGone` when nobody waits any more."""
        if self._cancelled:
            raise AskerGone

    def left(self) -> float:
        """Return the seconds that are left, never negative. Raises `AskerGone`."""
        self.check()
        return max(0.0, self._end - self._clock.monotonic())

    def cut(self, dependency: str, at_most_s: float, *, reserve_s: float = 0.0) -> float:
        """Return a timeout for one call: at most `at_most_s`, and `reserve_s` kept for what comes after it.

        Raises `DependencyTimeout` naming `dependency` when there is no time to begin the call at all.
        """
        timeout_s = min(at_most_s, self.left() - reserve_s)
        if timeout_s <= SHORTEST_CALL_S:
            raise DependencyTimeout(dependency, "no time is left for this call within the request's deadline")
        return timeout_s


class Workers:
    """Runs each piece of work at once: in a thread that is idle, else in a new one.

    What hangs keeps its thread and nothing else, so nothing waits behind it. There are as many threads as pieces of
    work were ever under way together: a Lambda's container serves one request at a time.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: list[SimpleQueue[Callable[[], Callable[[], None]]]] = []

    def submit[**P, R](self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Begin `work`; what it returns or raises is in the future."""
        future: Future[R] = Future()

        def run() -> Callable[[], None]:
            try:
                result = work(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001  whoever waits raises it
                return lambda error=error: future.set_exception(error)  # type: ignore[misc]
            return lambda: future.set_result(result)

        try:
            waiting = self._idle.pop()  # one step: two callers never get the same
        except IndexError:
            waiting = SimpleQueue()
            Thread(target=self._serve, args=(waiting,), name=self._name, daemon=True).start()
        waiting.put(run)
        return future

    def _serve(self, waiting: SimpleQueue[Callable[[], Callable[[], None]]]) -> None:
        while True:
            tell = waiting.get()()
            self._idle.append(waiting)  # before it is told, so that who waited for it finds a thread
            tell()
