"""One deadline for the whole request; every client's timeout is cut from what is left of it."""

from shared.errors import DependencyTimeout
from shared.ports import Clock


class Deadline:
    """Counts down from `seconds` on a monotonic clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, never negative."""
        return max(0.0, self._end - self._clock.monotonic())

    def cut(self, dependency: str, at_most_s: float, *, reserve_s: float = 0.0) -> float:
        """Return a timeout for one call: at most `at_most_s`, and `reserve_s` kept for what comes after it.

        Raises `DependencyTimeout` naming `dependency` when there is no time to begin the call at all.
        """
        timeout_s = min(at_most_s, self.left() - reserve_s)
        if timeout_s <= 0.05:
            raise DependencyTimeout(dependency, "no time is left for this call within the request's deadline")
        return timeout_s
