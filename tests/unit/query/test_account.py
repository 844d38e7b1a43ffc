"""Limits of questions and tokens: which counters a question has, how long they last, and what a user is told."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from functions.query.limits import Account, LimitReached, limits_of
from shared.errors import ConfigurationError, DependencyUnavailable
from shared.models import Principal, Usage
from shared.settings import Settings
from tests.support.clock import FakeClock

NOON = datetime(2026, 11, 26, 12, 0, 20, tzinfo=UTC)
USER, TENANT = "LIMIT#acme#USER#ann", "LIMIT#acme"


class Counters:
    """Counts in a dict; `full` names what is used up."""

    def __init__(self, full: Mapping[str, str] | None = None, error: Exception | None = None) -> None:
        self.full = full or {}
        self.error = error
        self.counted: list[tuple[str, int, int, int]] = []
        self.added: dict[str, tuple[int, int]] = {}
        self.recorded: list[tuple[str, str, int]] = []

    def count(self, key: str, *, questions: int, tokens: int, expires_at: int) -> str:
        if self.error:
            raise self.error
        self.counted.append((key, questions, tokens, expires_at - int(NOON.timestamp())))
        return self.full.get(key, "")

    def add_tokens(self, key: str, tokens: int, *, expires_at: int) -> None:
        if self.error:
            raise self.error
        self.added[key] = (tokens, expires_at - int(NOON.timestamp()))

    def record(self, tenant: str, user: str, spent: object, *, questions: int, now: datetime) -> None:
        if self.error:
            raise self.error
        self.recorded.append((tenant, user, questions))


def account(counters: Counters, **limits: object) -> Account:
    return Account(Principal("acme", "ann"), Settings(**limits), counters, FakeClock(NOON))  # type: ignore[arg-type]


ALL = {
    "user_questions_per_minute": 3,
    "conversation_questions_per_minute": 2,
    "user_questions_per_day": 50,
    "user_tokens_per_day": 900,
    "tenant_questions_per_day": 500,
    "tenant_tokens_per_day": 9_000,
}
MINUTE, DAY = f"{USER}#2026-11-26T12:00", f"{USER}#2026-11-26"
OF_TENANT = f"{TENANT}#2026-11-26"


def test_a_question_is_counted_for_the_minute_and_the_day_an_hour_longer_than_they_last() -> None:
    counters = Counters()
    account(counters, **ALL).admit("c1")
    to_midnight = 12 * 3_600 - 20
    assert counters.counted == [
        (MINUTE, 3, 0, 40 + 3_600),
        (f"{USER}#CONV#c1#2026-11-26T12:00", 2, 0, 40 + 3_600),
        (DAY, 50, 900, to_midnight + 3_600),
        (OF_TENANT, 500, 9_000, to_midnight + 3_600),
    ]


@pytest.mark.parametrize(
    ("limits", "counted"),
    [
        ({}, []),
        ({"user_tokens_per_day": 9}, [DAY]),
        ({"tenant_questions_per_day": 1}, [OF_TENANT]),
        ({"conversation_questions_per_minute": 1}, []),  # without a conversation
        ({"limit_overrides": '{"acme": {"user_questions_per_minute": 5}}'}, [MINUTE]),
        ({"limit_overrides": '{"other": {"user_questions_per_minute": 5}}'}, []),
        ({"user_questions_per_minute": 9, "limit_overrides": '{"acme": {"user_questions_per_minute": 0}}'}, []),
    ],
)
def test_what_has_no_limit_is_not_counted(limits: dict[str, object], counted: list[str]) -> None:
    counters = Counters()
    account(counters, **limits).admit("")
    assert [key for key, *_ in counters.counted] == counted


@pytest.mark.parametrize(
    ("full", "limit", "message", "resets_at", "retry_after_s"),
    [
        ({MINUTE: "questions"}, "user_questions_per_minute", "You may ask 3 questions a minute.", "12:01", 40),
        ({DAY: "tokens"}, "user_tokens_per_day", "You may use 900 tokens a day.", "00:00", 43_180),
        ({DAY: "questions"}, "user_questions_per_day", "You may ask 50 questions a day.", "00:00", 43_180),
        (
            {OF_TENANT: "tokens"},
            "tenant_tokens_per_day",
            "Your organisation may use 9000 tokens a day.",
            "00:00",
            43_180,
        ),
    ],
)
def test_a_question_over_a_limit_is_told_which_and_when_to_try_again(
    full: dict[str, str], limit: str, message: str, resets_at: str, retry_after_s: int
) -> None:
    with pytest.raises(LimitReached) as refused:
        account(Counters(full), **ALL).admit("c1")
    assert (refused.value.limit, refused.value.retry_after_s) == (limit, retry_after_s)
    assert str(refused.value).startswith(f"{message} Try again after 2026-11-2")
    assert str(refused.value).endswith(f"{resets_at} UTC.")
    assert f"{refused.value.resets_at:%H:%M}" == resets_at


def test_tokens_are_added_to_the_budgets_of_the_day_and_questions_recorded() -> None:
    counters = Counters()
    account(counters, **ALL).settle({"one": Usage(10, 5), "two": Usage(1, 0)})
    assert counters.added == {
        DAY: (16, 12 * 3_600 - 20 + 3_600),
        OF_TENANT: (16, 12 * 3_600 - 20 + 3_600),
    }
    assert counters.recorded == [("acme", "ann", 1)]
    unlimited = Counters()
    account(unlimited).settle({"one": Usage(10, 5)})
    assert (unlimited.added, len(unlimited.recorded)) == ({}, 1)
    free = Counters()
    account(free, **ALL).settle({})
    assert (free.added, len(free.recorded)) == ({}, 1)


def test_a_table_that_is_down_stops_no_answer() -> None:
    counters = Counters(error=DependencyUnavailable("usage", "down"))
    account(counters, **ALL).admit("c1")
    account(counters, **ALL).settle({"one": Usage(10, 5)})


@pytest.mark.parametrize(
    "text", ["{", '{"acme": 5}', '{"acme": {"questions": 5}}', '{"acme": {"user_tokens_per_day": -1}}']
)
def test_wrong_overrides_say_what_they_must_look_like(text: str) -> None:
    with pytest.raises(ConfigurationError, match="must look like"):
        limits_of(Settings(limit_overrides=text), "acme")
