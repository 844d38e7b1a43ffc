"""How fast to ask a provider, learnt from what it says; shared by all requests of a process."""

import time
from collections.abc import Callable
from threading import Lock

SMALLEST_SHARE = 1 / 64
"""Of a full batch. An account that is allowed 40,000 tokens a minute takes a sixteenth of 300,000."""
RECOVERY = 1.1
"""Growth with each request that went well: some six pass before one is too large again."""


class Pace:
    """Pauses everyone when one is told to slow down, and makes requests smaller until they pass. Thread-safe.

    Parallel Lambdas do not know of each other: each is told by the provider itself, and halves what it asks for, so
    together they come to what the provider takes. `sleep` takes seconds; `jitter` gives a factor between 0 and 1.
    """

    def __init__(
        self,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep = sleep
        self._jitter = jitter
        self._monotonic = monotonic
        self._lock = Lock()
        self._resume_at = 0.0
        self._share = 1.0

    def wait_for_turn(self) -> None:
        """Sleep until nobody has to wait any more, and a little longer, so that not all come back at once."""
        with self._lock:
            pause_s = self._resume_at - self._monotonic()
        if pause_s > 0:
            self._sleep(pause_s * (1 + self._jitter() / 4))

    def size(self, full: int) -> int:
        """Return how many of `full` inputs a request may hold now, at least one."""
        with self._lock:
            return max(1, int(full * self._share))

    def pause(self, wait_s: float) -> None:
        """Nobody asks for `wait_s` seconds from now."""
        with self._lock:
            self._resume_at = max(self._resume_at, self._monotonic() + wait_s)

    def slow_down(self, wait_s: float) -> None:
        """Pause, and make requests half as large from then on.

        What is told of requests that were sent before such a pause does not count twice.
        """
        with self._lock:
            if self._monotonic() >= self._resume_at:
                self._share = max(SMALLEST_SHARE, self._share / 2)
        self.pause(wait_s)

    def speed_up(self) -> None:
        """A request went well: the next may be larger."""
        with self._lock:
            self._share = min(1.0, self._share * RECOVERY)
