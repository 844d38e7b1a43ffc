"""The one retry policy: attempts, back-off with jitter, Retry-After, a budget for retries, and a circuit breaker.

Budget and breaker live as long as the container, one pair per provider. botocore makes its own retries, up to
`AWS_ATTEMPTS` attempts, because only it knows which of AWS's errors are transient.
"""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from threading import Lock

from shared.adapters.provider_health import HEALTH
from shared.deadline import CURRENT, pause
from shared.errors import (
    ConfigurationError,
    DependencyError,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)

AWS_ATTEMPTS = 3
FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 8.0
LONGEST_RETRY_AFTER_S = 20.0
"""A longer `Retry-After` is left to the caller: waiting in a queue is cheaper than in a running function."""
SHORTEST_ATTEMPT_S = 0.1
"""Seconds that any provider takes at least: a retry with less time left cannot finish."""

RETRIES_PER_REQUEST = 0.4
"""Retries that each request earns: while everything fails, the provider gets at most 1.4 calls per request."""
RETRIES_AT_START = 2.0
MAX_RETRIES_SAVED = 10.0
RETRIES_WHEN_BUSY_AT_START = 0.4
"""Below one, even after the first request's share: so a container's first request is never retried after a 429,
because many containers start just when a provider is busy. Other transient faults are retried even then."""
MAX_RETRIES_WHEN_BUSY = 1.0
"""Quiet times save at most one retry after a 429, so two or more requests never make over 1.5 calls each."""

FAILURES_TO_OPEN = 5
OPEN_S = 10.0
LONGEST_OPEN_S = 60.0
PROBE_S = 30.0
"""Seconds after which a probe that never returned no longer blocks other probes."""
FAIR_TIMEOUT_S = 1.0
"""A timeout shorter than this says nothing about the provider."""


draw = random.SystemRandom().random
"""Jitter, 0 to 1, from the operating system: containers restored from one snapshot would share a seed."""


class RetryBudget:
    """Token buckets: each request adds a fraction of a retry, each retry takes a whole one. Thread-safe.

    Retries after a 429 are also taken from a second, smaller bucket.
    """

    def __init__(self) -> None:
        self._saved = RETRIES_AT_START
        self._when_busy = RETRIES_WHEN_BUSY_AT_START
        self._lock = Lock()

    def earn(self) -> None:
        """Count one request."""
        with self._lock:
            self._saved = min(MAX_RETRIES_SAVED, self._saved + RETRIES_PER_REQUEST)
            self._when_busy = min(MAX_RETRIES_WHEN_BUSY, self._when_busy + RETRIES_PER_REQUEST)

    def spend(self, *, busy: bool) -> bool:
        """Take one retry; False if none is left. `busy` says that the provider answered 429."""
        with self._lock:
            if min(self._saved, self._when_busy if busy else self._saved) < 1.0:
                return False
            self._saved -= 1.0
            if busy:
                self._when_busy -= 1.0
            return True


class CircuitOpen(DependencyUnavailable):
    """A breaker refused the call; `retry_after_s` says when it lets one through again."""


class CircuitBreaker:
    """Refuses calls after `failures_to_open` failures in a row; after a while one call probes the provider.

    It stays open between half of `open_s` and all of it (random, so that containers do not come back together), or for
    as long as the provider asked. A call that ended because the client disconnected does not count. Thread-safe.
    """

    def __init__(
        self,
        dependency: str,
        *,
        failures_to_open: int = FAILURES_TO_OPEN,
        open_s: float = OPEN_S,
        monotonic: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = draw,
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
        """Watch one call that has `timeout_s`. While open, raises `CircuitOpen` before the call."""
        self._enter()
        try:
            yield
        except DependencyError as error:
            too_short = _is_hasty(error, timeout_s)
            failed = (error.retriable or isinstance(error, QuotaExhausted)) and not too_short
            self._record(failed=failed, conclusive=not too_short, asked_s=error.retry_after_s or 0.0)
            raise
        except BaseException:
            self._record(failed=False, conclusive=False)
            raise
        self._record(failed=False, conclusive=True)

    def _enter(self) -> None:
        with self._lock:
            if self._failures < self._failures_to_open:
                return
            now = self._monotonic()
            left_s = max(self._open_until, self._probe_until) - now
            if left_s > 0:
                raise CircuitOpen(
                    self._dependency,
                    f"not called, because it failed {self._failures} times in a row; try again later.",
                    retry_after_s=max(1.0, left_s if self._open_until > now else 1.0),
                )
            self._probe_until = now + PROBE_S

    def _record(self, *, failed: bool, conclusive: bool, asked_s: float = 0.0) -> None:
        with self._lock:
            self._probe_until = 0.0
            if failed:
                self._failures += 1
                wait_s = max(min(asked_s, LONGEST_OPEN_S), self._open_s * (0.5 + 0.5 * self._jitter()))
                self._open_until = self._monotonic() + wait_s
            elif conclusive:
                self._failures = 0


@dataclass(frozen=True, slots=True)
class Guard:
    """The budget and the breaker of one provider."""

    budget: RetryBudget
    breaker: CircuitBreaker

    @classmethod
    def of(cls, dependency: str) -> "Guard":
        """Return a budget and a breaker with the default limits."""
        return cls(RetryBudget(), CircuitBreaker(dependency))


class Retry:
    """How calls to one provider are retried. Thread-safe.

    At most `attempts` attempts; a `guard` also limits them by its budget, and refuses them while its breaker is open,
    which nobody waits for. Between two attempts it waits as long as the provider asked plus full jitter: `jitter` (0 to
    1) times `first_wait_s`, doubled each time up to `longest_wait_s`. `sleep` takes seconds.
    """

    def __init__(
        self,
        dependency: str,
        *,
        attempts: int = 3,
        first_wait_s: float = FIRST_WAIT_S,
        longest_wait_s: float = LONGEST_WAIT_S,
        guard: Guard | None = None,
        sleep: Callable[[float], None] = pause,
        jitter: Callable[[], float] = draw,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if attempts < 1:
            raise ConfigurationError("attempts must be at least 1.")
        self.dependency = dependency
        self._attempts = attempts
        self._first_wait_s = first_wait_s
        self._longest_wait_s = longest_wait_s
        self._guard = guard
        self._sleep = sleep
        self._jitter = jitter
        self._monotonic = monotonic

    def run[T](self, call: Callable[[float], T], *, timeout_s: float = math.inf, is_retry: bool = False) -> T:
        """Return what `call(seconds left)` returns; `timeout_s` bounds all attempts and waits together.

        `is_retry` marks a call that repeats a failed one, and so is taken from the budget. Raises `DependencyError`.
        """
        [answer] = self.stream(lambda left_s: iter([call(left_s)]), timeout_s=timeout_s, is_retry=is_retry)
        return answer

    def stream[T](
        self, call: Callable[[float], Iterator[T]], *, timeout_s: float = math.inf, is_retry: bool = False
    ) -> Iterator[T]:
        """Yield what `call(seconds left)` yields; as `run`. An attempt that has yielded something is not retried."""
        end = self._monotonic() + timeout_s
        if self._guard is not None and not is_retry:
            self._guard.budget.earn()
        elif self._guard is not None and not self._guard.budget.spend(busy=True):
            raise DependencyUnavailable(self.dependency, "the retry budget is used up")
        tried = 0
        while True:
            started = self._monotonic()
            begun = False
            try:
                for piece in self._watched(call, end - started):
                    begun = True
                    yield piece
            except DependencyError as error:
                tried += 1
                wait_s = None if begun else self.wait_s(error, tried)
                # A retry takes about as long as the attempt before it: with less time left, it could not finish.
                now = self._monotonic()
                if wait_s is None or now + wait_s + max(SHORTEST_ATTEMPT_S, now - started) > end:
                    raise
                if self._guard is not None and not self._guard.budget.spend(busy=isinstance(error, RateLimited)):
                    raise
            else:
                return
            self._sleep(wait_s)

    def wait_s(self, error: DependencyError, tried: int) -> float | None:
        """Return the seconds to wait after the `tried`-th attempt failed with `error`; None if it is not retried."""
        asked_s = error.retry_after_s or 0.0
        is_refused = not error.retriable or isinstance(error, CircuitOpen)
        if is_refused or tried >= self._attempts or asked_s > LONGEST_RETRY_AFTER_S:
            return None
        # Full jitter: workers that were refused together do not come back together.
        longest_s: float = min(self._longest_wait_s, self._first_wait_s * 2 ** (tried - 1))
        return asked_s + longest_s * self._jitter()

    def wait(self, error: DependencyError, tried: int) -> None:
        """Wait after the `tried`-th attempt failed with `error`.

        Raises the error if it is not retried, or if the current request's deadline leaves no time for it.
        """
        wait_s, deadline = self.wait_s(error, tried), CURRENT.get()
        if wait_s is None or (deadline is not None and wait_s + SHORTEST_ATTEMPT_S > deadline.left()):
            raise error
        self._sleep(wait_s)

    def _watched[T](self, call: Callable[[float], Iterator[T]], left_s: float) -> Iterator[T]:
        if left_s <= 0:
            raise DependencyTimeout(self.dependency, "no time was left for the request.")
        watched: AbstractContextManager[None] = self._guard.breaker.attempt(left_s) if self._guard else nullcontext()
        with watched:
            try:
                yield from call(left_s)
            except DependencyError as error:
                if not _is_hasty(error, left_s):
                    HEALTH.failed(error)
                raise
        HEALTH.answered(self.dependency)


def _is_hasty(error: DependencyError, timeout_s: float) -> bool:
    """Say whether the timeout was too short to say anything about the provider."""
    return isinstance(error, DependencyTimeout) and timeout_s < FAIR_TIMEOUT_S
