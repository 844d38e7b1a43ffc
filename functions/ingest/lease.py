"""Keep a document's lease while a long job runs, and know how much of the invocation is left."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from shared.errors import LeaseLost, RectoError
from shared.telemetry import logger

KEEP_BACK_S = 45.0
"""Seconds reserved at the end of an invocation: one slow batch (embed 30 s, upsert) and the writes that record it."""
Heartbeat = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Calls a function periodically until its block ends; see `heartbeat`."""


@dataclass(frozen=True, slots=True)
class InvocationTime:
    """The time left to the invocation; nothing new starts in its last `keep_back_s` seconds."""

    remaining_s: Callable[[], float]
    keep_back_s: float = KEEP_BACK_S

    @property
    def is_near(self) -> bool:
        """Whether it is time to save progress and stop."""
        return self.remaining_s() < self.keep_back_s


class OutOfTime(Exception):
    """The invocation ends before the document does; everything under `chunks_done` is in the index."""

    def __init__(self, chunks_done: int) -> None:
        super().__init__(f"{chunks_done} chunks done")
        self.chunks_done = chunks_done


@contextmanager
def heartbeat(beat: Callable[[], None], *, every_s: float) -> Iterator[None]:
    """Call `beat` from a thread every so many seconds until the block ends, or until the lease is lost.

    Other failures are logged and the next beat tries again; every write checks the lease anyway.
    """
    done = threading.Event()

    def run() -> None:
        while not done.wait(every_s):
            try:
                beat()
            except LeaseLost:
                return
            except RectoError as error:
                logger.warning("heartbeat failed", extra={"code": error.code})

    thread = threading.Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
