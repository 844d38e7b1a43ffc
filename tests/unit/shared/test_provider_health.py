"""What is said of failing providers: one log line a minute, a metric a failure, and since when."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters import provider_health
from shared.adapters.provider_health import HEALTH, METRICS, ProviderHealth
from shared.adapters.retry import CircuitBreaker, Guard, Retry, RetryBudget
from shared.errors import (
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)

START = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


class Watched:
    """A health whose clock is set by hand; `lines` are the metrics, `logs` the (level, message, fields) logged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        self.lines: list[str] = []
        self.logs: list[tuple[str, str, dict[str, object]]] = []
        self.health = ProviderHealth(now=lambda: self.now, emit=self.lines.append)
        for level in ("warning", "error"):
            monkeypatch.setattr(
                provider_health.logger,
                level,
                lambda message, extra, level=level: self.logs.append((level, message, extra)),
            )

    def after(self, seconds: float, error: DependencyError | None = None) -> None:
        self.now += timedelta(seconds=seconds)
        if error is None:
            self.health.answered("chat")
        else:
            self.health.failed(error)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    HEALTH.forget()
    yield
    HEALTH.forget()


REFUSED = DependencyRefused("chat", "the API key was refused")


@pytest.mark.parametrize(
    ("error", "metric", "level"),
    [
        (REFUSED, "ProviderRefused", "error"),
        (QuotaExhausted("chat"), "ProviderQuota", "error"),
        (RateLimited("chat"), "ProviderBusy", "warning"),
        (DependencyTimeout("chat"), "ProviderTimeouts", "warning"),
        (DependencyUnavailable("chat"), "ProviderUnavailable", "warning"),
    ],
    ids=METRICS.values(),
)
def test_a_failure_is_a_log_line_and_a_metric(watched: Watched, error: DependencyError, metric: str, level: str):
    watched.after(0, error)
    [line] = map(json.loads, watched.lines)
    [described] = line["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "Recto"
    assert described["Dimensions"] == [["Dependency"], []]
    assert [each["Name"] for each in described["Metrics"]] == [metric]
    assert (line["Dependency"], line[metric]) == ("chat", 1)
    assert abs(line["_aws"]["Timestamp"] / 1_000 - datetime.now(UTC).timestamp()) < 3_600, "milliseconds since 1970"
    assert [(at, fields["dependency"], fields["error"]) for at, _, fields in watched.logs] == [
        (level, "chat", error.message)
    ]


def test_the_same_failure_is_logged_once_a_minute_and_counted_every_time(watched: Watched):
    for _ in range(20):
        watched.after(5, REFUSED)
    assert [fields["unlogged"] for _, _, fields in watched.logs] == [0, 11]
    assert len(watched.lines) == 20
    watched.after(0, QuotaExhausted("chat"))
    watched.after(0, DependencyRefused("vectors", "no"))
    assert len(watched.logs) == 4, "another kind, and another provider, are told at once"


def test_a_provider_is_degraded_since_its_first_failure_until_it_answers(watched: Watched):
    watched.after(0)
    assert [(state.status, state.since) for state in watched.health.states()] == [("ok", START)]
    watched.after(10, REFUSED)
    watched.after(10, QuotaExhausted("chat"))
    [state] = watched.health.states()
    assert (state.status, state.since, state.kind, state.failures) == (
        "degraded",
        START + timedelta(seconds=10),
        "quota_exhausted",
        2,
    )
    watched.after(10)
    [state] = watched.health.states()
    assert (state.status, state.since, state.kind, state.failures) == (
        "ok",
        START + timedelta(seconds=30),
        "quota_exhausted",
        0,
    )
    watched.after(10)
    assert watched.health.states() == [state]


def test_a_provider_that_answers_when_asked_is_ok_unless_a_call_that_was_needed_failed(watched: Watched):
    down = DependencyUnavailable("chat", "down")
    for _ in range(2):
        watched.health.failed(down, when_asked=True)
    assert [(state.status, state.failures) for state in watched.health.states()] == [("degraded", 2)]
    watched.now += timedelta(seconds=10)
    watched.health.reached("chat")
    assert [(state.status, state.since, state.failures) for state in watched.health.states()] == [
        ("ok", watched.now, 0)
    ]
    watched.health.failed(down, when_asked=True)
    watched.after(10, down)
    watched.health.failed(down, when_asked=True)
    watched.health.reached("chat")
    assert [state.status for state in watched.health.states()] == ["degraded"], (
        "its answers may fail, its list of models not"
    )
    watched.after(10)
    assert [state.status for state in watched.health.states()] == ["ok"]


def failing(error: DependencyError) -> DependencyError:
    raise error


def test_every_attempt_counts_but_not_one_that_was_not_made():
    breaker = CircuitBreaker("chat", failures_to_open=2)
    retry = Retry("chat", attempts=2, guard=Guard(RetryBudget(), breaker), sleep=lambda _: None)
    for _ in range(3):
        with pytest.raises(DependencyUnavailable):
            retry.run(lambda _: failing(DependencyUnavailable("chat", "down")), timeout_s=5)
    [state] = HEALTH.states()
    assert (state.failures, state.message) == (2, "chat: down"), "the third call found the breaker open"


def test_a_timeout_too_short_for_any_provider_says_nothing_about_this_one():
    with pytest.raises(DependencyTimeout):
        Retry("chat", attempts=1).run(lambda _: failing(DependencyTimeout("chat")), timeout_s=0.5)
    assert HEALTH.states() == []


def test_a_success_is_noted():
    Retry("chat").run(lambda _: 1)
    assert [state.status for state in HEALTH.states()] == ["ok"]
