"""The retry policy, its budget and its breaker, on a clock that is turned by hand."""

import random
from collections.abc import Callable, Iterator

import pytest

from shared.adapters.retry import CircuitBreaker, CircuitOpen, Guard, Retry, RetryBudget
from shared.deadline import ClientDisconnected
from shared.errors import (
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)
from tests.support.clock import FakeClock


def breaker(clock: FakeClock, *, failures_to_open: int = 3) -> CircuitBreaker:
    return CircuitBreaker(
        "chat", failures_to_open=failures_to_open, open_s=10.0, monotonic=clock.monotonic, jitter=lambda: 1.0
    )


def fail(tested: CircuitBreaker, error: Exception | None = None, *, timeout_s: float = 8.0) -> None:
    with pytest.raises(type(error or DependencyUnavailable("chat"))), tested.attempt(timeout_s):
        raise error or DependencyUnavailable("chat")


def is_open(tested: CircuitBreaker) -> bool:
    called = False
    try:
        with tested.attempt(8.0):
            called = True
            raise KeyError  # says nothing of the provider either way
    except DependencyUnavailable:
        pass
    except KeyError:
        pass
    return not called


def calls_in_a_storm(budget: RetryBudget, requests: int, *, busy: bool, attempts: int = 3) -> int:
    """Every try fails; a client tries so often at most."""
    calls = 0
    for _ in range(requests):
        budget.earn()
        calls += 1
        for _ in range(attempts - 1):
            calls += budget.spend(busy=busy)
    return calls


@pytest.mark.parametrize("quiet", [0, 1, 3, 100])
def test_a_storm_of_429_never_gets_over_one_and_a_half_calls_a_request(quiet: int):
    for requests in range(2, 200):
        budget = RetryBudget()
        for _ in range(quiet):
            budget.earn()
        assert calls_in_a_storm(budget, requests, busy=True) <= 1.5 * requests, requests


def test_nor_does_one_where_some_requests_get_through():
    for seed in range(50):
        draws = random.Random(seed)
        budget, calls, retried = RetryBudget(), 0, 0
        for requests in range(1, 60):
            budget.earn()
            calls += 1
            for _ in range(2):
                if draws.random() < 0.5 or not budget.spend(busy=True):
                    break
                calls, retried = calls + 1, retried + 1
            assert calls <= 1.5 * requests
        assert retried


@pytest.mark.parametrize("requests", [[1, 1, 1, 1], [1, 2, 3], [2, 2], [1] * 50 + [5]])
def test_nor_do_many_new_containers_together(requests: list[int]):
    calls = sum(calls_in_a_storm(RetryBudget(), each, busy=True) for each in requests)
    assert calls <= 1.5 * sum(requests)


def test_a_container_asks_a_busy_provider_once_for_its_first_request():
    assert calls_in_a_storm(RetryBudget(), 1, busy=True) == 1


def test_another_failure_may_be_tried_again_even_at_the_start():
    budget = RetryBudget()
    budget.earn()
    assert budget.spend(busy=False)
    assert calls_in_a_storm(RetryBudget(), 100, busy=False) <= 150


def test_what_is_saved_in_quiet_times_is_bounded():
    budget = RetryBudget()
    for _ in range(10_000):
        budget.earn()
    assert sum(budget.spend(busy=True) for _ in range(100)) == 1
    assert sum(budget.spend(busy=False) for _ in range(100)) == 9


def test_it_opens_after_failures_in_a_row_and_says_when_to_come_back():
    tested = breaker(clock := FakeClock())
    for _ in range(3):
        fail(tested)
    with pytest.raises(DependencyUnavailable) as refused, tested.attempt(8.0):
        pytest.fail("it was asked")
    assert refused.value.retry_after_s == pytest.approx(10.0)
    clock.advance(4)
    with pytest.raises(DependencyUnavailable) as refused, tested.attempt(8.0):
        pytest.fail("it was asked")
    assert refused.value.retry_after_s == pytest.approx(6.0)


def test_a_success_in_between_starts_the_count_anew():
    tested = breaker(FakeClock())
    fail(tested)
    fail(tested)
    with tested.attempt(8.0):
        pass
    fail(tested)
    fail(tested)
    assert not is_open(tested)


def test_after_the_pause_one_call_probes_and_the_others_wait_for_it():
    tested = breaker(clock := FakeClock())
    for _ in range(3):
        fail(tested)
    clock.advance(11)
    with tested.attempt(8.0):
        assert is_open(tested)
    assert not is_open(tested)


def test_a_probe_that_fails_opens_it_again_at_once():
    tested = breaker(clock := FakeClock())
    for _ in range(3):
        fail(tested)
    clock.advance(11)
    fail(tested)
    assert is_open(tested)
    clock.advance(11)
    assert not is_open(tested)


def test_a_probe_that_never_comes_back_is_given_up():
    tested = breaker(clock := FakeClock())
    for _ in range(3):
        fail(tested)
    clock.advance(11)
    lost = tested.attempt(8.0)
    lost.__enter__()
    assert is_open(tested)
    clock.advance(31)
    assert not is_open(tested)


def test_it_stays_open_for_as_long_as_the_provider_asks_a_minute_at_most():
    for asked, wait in ((30.0, 30.0), (3_600.0, 60.0)):
        tested = breaker(clock := FakeClock())
        for _ in range(3):
            fail(tested, RateLimited("chat", retry_after_s=asked))
        clock.advance(wait - 1)
        assert is_open(tested)
        clock.advance(2)
        assert not is_open(tested)


def test_without_a_wait_that_is_asked_it_stays_open_for_half_of_its_pause_at_least():
    clock = FakeClock()
    tested = CircuitBreaker("chat", failures_to_open=1, open_s=0.4, monotonic=clock.monotonic, jitter=lambda: 0.0)
    fail(tested)
    clock.advance(0.19)
    assert is_open(tested)
    clock.advance(0.02)
    assert not is_open(tested)


@pytest.mark.parametrize("error", [RateLimited("chat"), DependencyTimeout("chat"), QuotaExhausted("chat")])
def test_trouble_of_the_provider_counts(error: DependencyError):
    tested = breaker(FakeClock(), failures_to_open=1)
    fail(tested, error)
    assert is_open(tested)


@pytest.mark.parametrize(
    ("error", "timeout_s"),
    [
        (DependencyRefused("chat"), 8.0),
        (ClientDisconnected(), 8.0),
        (DependencyTimeout("chat"), 0.5),
        (KeyError(), 8.0),
    ],
)
def test_our_own_mistakes_and_too_little_time_do_not(error: Exception, timeout_s: float):
    tested = breaker(FakeClock(), failures_to_open=1)
    fail(tested, error, timeout_s=timeout_s)
    assert not is_open(tested)


def test_containers_do_not_come_back_together():
    pauses = []
    for drawn in (0.0, 0.5, 1.0):
        clock = FakeClock()
        jitter: Callable[[], float] = lambda drawn=drawn: drawn  # type: ignore[misc]  # noqa: E731
        tested = CircuitBreaker("chat", failures_to_open=1, monotonic=clock.monotonic, jitter=jitter)
        fail(tested)
        with pytest.raises(DependencyUnavailable) as refused, tested.attempt(8.0):
            pass
        pauses.append(refused.value.retry_after_s)
    assert pauses == pytest.approx([5.0, 7.5, 10.0])


# --- the loop ----------------------------------------------------------------------------------------------------


class Provider:
    """Raises the errors of its script, then answers; every call takes `takes_s` of a clock that only waiting moves."""

    def __init__(self, *script: Exception, takes_s: float = 0.0) -> None:
        self.script = list(script)
        self.takes_s = takes_s
        self.clock = FakeClock()
        self.waits: list[float] = []
        self.calls: list[float] = []

    def __call__(self, left_s: float) -> str:
        self.calls.append(left_s)
        self.clock.advance(self.takes_s)
        if self.script:
            raise self.script.pop(0)
        return "answer"

    def retry(self, *, attempts: int = 3, guard: Guard | None = None) -> Retry:
        return Retry(
            "chat",
            attempts=attempts,
            guard=guard,
            sleep=self.sleep,
            jitter=lambda: 1.0,
            monotonic=self.clock.monotonic,
        )

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.advance(seconds)


def test_passing_failures_are_tried_again_with_growing_waits():
    provider = Provider(DependencyUnavailable("chat"), DependencyTimeout("chat"))
    assert provider.retry().run(provider) == "answer"
    assert provider.waits == [0.25, 0.5]


def test_the_provider_s_own_wait_comes_first():
    provider = Provider(RateLimited("chat", retry_after_s=3.0))
    assert provider.retry().run(provider) == "answer"
    assert provider.waits == [3.25]


@pytest.mark.parametrize(
    "error",
    [
        DependencyRefused("chat"),
        QuotaExhausted("chat"),
        RateLimited("chat", retry_after_s=60.0),
        KeyError(),
        ClientDisconnected(),
    ],
)
def test_what_will_not_pass_soon_is_not_tried_again(error: Exception):
    provider = Provider(error)
    with pytest.raises(type(error)):
        provider.retry().run(provider)
    assert (len(provider.calls), provider.waits) == (1, [])


def test_a_try_that_could_not_finish_is_not_begun():
    provider = Provider(DependencyUnavailable("chat"), takes_s=3.0)
    with pytest.raises(DependencyUnavailable):
        provider.retry().run(provider, timeout_s=5.0)
    assert provider.calls == [5.0]


def test_each_try_has_what_is_left():
    provider = Provider(DependencyUnavailable("chat"), takes_s=1.0)
    provider.retry().run(provider, timeout_s=5.0)
    assert provider.calls == [5.0, 3.75]


@pytest.mark.parametrize("timeout_s", [0.0, -1.0])
def test_without_any_time_nothing_is_asked(timeout_s: float):
    provider = Provider()
    with pytest.raises(DependencyTimeout, match="no time was left"):
        provider.retry(attempts=1).run(provider, timeout_s=timeout_s)
    assert provider.calls == []


def test_a_stream_that_has_begun_is_not_begun_anew():
    begun = []

    def pieces(left_s: float) -> Iterator[str]:
        begun.append(left_s)
        yield "a piece"
        raise DependencyUnavailable("chat")

    came = Retry("chat", sleep=lambda _: None).stream(pieces)
    assert next(came) == "a piece"
    with pytest.raises(DependencyUnavailable):
        next(came)
    assert len(begun) == 1


def test_the_budget_and_the_breaker_have_the_last_word():
    guard = Guard(RetryBudget(), breaker(FakeClock(), failures_to_open=2))
    provider = Provider(*[RateLimited("chat")] * 9)
    for _ in range(3):
        with pytest.raises(DependencyError):
            provider.retry(guard=guard).run(provider)
    assert len(provider.calls) == 2  # a first request is never repeated after a 429; then it is open


def test_nobody_waits_until_an_open_breaker_closes():
    provider = Provider(*[DependencyUnavailable("chat")] * 9)
    guard = Guard(RetryBudget(), breaker(provider.clock, failures_to_open=2))
    retry = provider.retry(guard=guard)
    with pytest.raises(CircuitOpen):
        retry.run(provider)
    waited = list(provider.waits)
    with pytest.raises(CircuitOpen) as refused:
        retry.run(provider)
    assert provider.waits == waited == [0.25, 0.5]
    assert len(provider.calls) == 2
    assert refused.value.retry_after_s == pytest.approx(9.5)
