"""What keeps a provider in trouble from being asked ever more: a budget for retries, and a breaker.

Both live as long as the container, one pair for each provider.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from shared.errors import DependencyError, DependencyTimeout, DependencyUnavailable, QuotaExhausted

RETRIES_PER_REQUEST = 0.4
"""Retries that each request earns: under a storm of failures the provider gets 1.4 calls a request, and no more."""
RETRIES_AT_START = 2.0
MOST_RETRIES_SAVED = 10.0
RETRIES_WHEN_BUSY_AT_START = 0.4
"""Less than one with what the first request earns: a container's first request is never repeated after a 429, because
many containers are started just when a provider is busy. A passing fault of another kind is tried again even then."""
MOST_RETRIES_WHEN_BUSY = 1.0
"""Quiet times save no more than one retry after a 429: so two requests or more never make over 1.5 calls a request."""

FAILURES_TO_OPEN = 5
OPEN_S = 10.0
LONGEST_OPEN_S = 60.0
PROBE_S = 30.0
"""Seconds after which a probe that never reported back is given up."""
FAIR_TIMEOUT_S = 1.0
"""A call that was given less time than this and ran out of it says nothing about the provider."""


class CallAbandoned(DependencyTimeout):
    """A call was broken off by us, because nobody waits for its answer; it says nothing about the provider."""


class RetryBudget:
    """Token buckets: every request puts a fraction of a retry in, every retry takes a whole one out. Thread-safe.

    Retries of a provider that says it is busy (429) come out of a smaller bucket besides.
    """

    def __init__(self) -> None:
        self._saved = RETRIES_AT_START
        self._when_busy = RETRIES_WHEN_BUSY_AT_START
        self._lock = Lock()

    def earn(self) -> None:
        """Count one request."""
        with self._lock:
            self._saved = min(MOST_RETRIES_SAVED, self._saved + RETRIES_PER_REQUEST)
            self._when_busy = min(MOST_RETRIES_WHEN_BUSY, self._when_busy + RETRIES_PER_REQUEST)

    def spend(self, *, busy: bool) -> bool:
        """Take one retry out; False when there is none left. `busy` says that the provider asked to slow down."""
        with self._lock:
            if min(self._saved, self._when_busy if busy else self._saved) < 1.0:
                return False
            self._saved -= 1.0
            if busy:
                self._when_busy -= 1.0
            return True


class CircuitBreaker:
    """Stops asking a provider that failed `failures_to_open` times in a row; later one call probes whether it is back.

    It stays open for half of `open_s` to all of it (drawn, so that containers do not come back together), or for as
    long as the provider asked. Thread-safe.
    """

    def __init__(
        self,
        dependency: str,
        *,
        failures_to_open: int = FAILURES_TO_OPEN,
        open_s: float = OPEN_S,
        monotonic: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._dependency = dependency
        self._failures_to_open = failures_to_open
        self._open_s = open_s
        self._monotonic = monotonic
        self._jitter = jitter
        self._failures = 0
        self._open_until = 0.0
        self._probe_until = 0.0
        self._lock = Lock()

    @contextmanager
    def attempt(self, timeout_s: float) -> Iterator[None]:
        """Watch one call that has `timeout_s`. Raises `DependencyUnavailable`, without calling, while it is open."""
        self._enter()
        try:
            yield
        except DependencyError as error:
            starved = isinstance(error, DependencyTimeout) and timeout_s < FAIR_TIMEOUT_S
            starved = starved or isinstance(error, CallAbandoned)
            troubled = (error.retriable or isinstance(error, QuotaExhausted)) and not starved
            self._leave(failed=troubled, known=not starved, asked_s=error.retry_after_s or 0.0)
            raise
        except BaseException:
            self._leave(failed=False, known=False, asked_s=0.0)
            raise
        self._leave(failed=False, known=True, asked_s=0.0)

    def _enter(self) -> None:
        with self._lock:
            if self._failures < self._failures_to_open:
                return
            now = self._monotonic()
            closed_s = max(self._open_until, self._probe_until) - now
            if closed_s > 0:
                raise DependencyUnavailable(
                    self._dependency,
                    f"not asked, because it failed {self._failures} times in a row; it is tried again soon.",
                    retry_after_s=max(1.0, closed_s if self._open_until > now else 1.0),
                )
            self._probe_until = now + PROBE_S

    def _leave(self, *, failed: bool, known: bool, asked_s: float) -> None:
        with self._lock:
            self._probe_until = 0.0
            if failed:
                self._failures += 1
                wait_s = max(min(asked_s, LONGEST_OPEN_S), self._open_s * (0.5 + 0.5 * self._jitter()))
                self._open_until = self._monotonic() + wait_s
            elif known:
                self._failures = 0


@dataclass(frozen=True, slots=True)
class Guard:
    """The budget and the breaker of one provider."""

    budget: RetryBudget
    breaker: CircuitBreaker

    @classmethod
    def of(cls, dependency: str) -> "Guard":
        """Build both as they are in production."""
        return cls(RetryBudget(), CircuitBreaker(dependency))
