"""Threads that are kept for the next piece of work, and never waited for when the process ends."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread


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
