"""Limits: how many questions a user, a conversation and a tenant may ask, and how many tokens they may use a day.

Each limit is a counter in DynamoDB for one window of time (a UTC minute or day, so twice the rate is possible around
its border). A question is admitted if every counter that applies to it is below its limit; the check and the count are
one conditional write, so parallel requests cannot exceed it together. Tokens are known only afterwards: they are added
then, and the first question after the budget is spent is refused.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from math import ceil
from typing import Literal

from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from functions.query.ports import UsageLog
from shared.deadline import Workers
from shared.errors import ClientError, ConfigurationError, DependencyError
from shared.models import NO_USAGE, Principal, Usage
from shared.ports import Clock
from shared.settings import Settings
from shared.telemetry import logger

MINUTE_S = 60
DAY_S = 86_400
KEPT_S = 3_600
"""Seconds that a counter outlives its window: DynamoDB deletes expired items late, never early."""

LimitName = Literal[
    "user_questions_per_minute",
    "conversation_questions_per_minute",
    "user_questions_per_day",
    "user_tokens_per_day",
    "tenant_questions_per_day",
    "tenant_tokens_per_day",
]
"""The settings that limit questions; of each, 0 means no limit."""
_WORKERS = Workers("usage")
_OVERRIDES = TypeAdapter(dict[str, dict[LimitName, NonNegativeInt]])
_WORDS: dict[LimitName, str] = {
    "user_questions_per_minute": "You may ask {allowed} questions a minute.",
    "conversation_questions_per_minute": "A conversation may have {allowed} questions a minute.",
    "user_questions_per_day": "You may ask {allowed} questions a day.",
    "user_tokens_per_day": "You may use {allowed} tokens a day.",
    "tenant_questions_per_day": "Your organisation may ask {allowed} questions a day.",
    "tenant_tokens_per_day": "Your organisation may use {allowed} tokens a day.",
}


class LimitReached(ClientError):
    """Too many questions, or too many tokens. `limit` names the limit, `resets_at` says when its window ends."""

    code, status = "limit_reached", 429

    def __init__(self, limit: LimitName, allowed: int, resets_at: datetime, retry_after_s: int) -> None:
        super().__init__(f"{_WORDS[limit].format(allowed=allowed)} Try again after {resets_at:%Y-%m-%d %H:%M} UTC.")
        self.limit, self.resets_at, self.retry_after_s = limit, resets_at, retry_after_s


@dataclass(frozen=True, slots=True)
class _Window:
    """One counter of a request: its key, its length, and the names of its two limits."""

    key: str
    seconds: int
    questions: LimitName
    tokens: LimitName | None = None

    def ends_at(self, now: datetime) -> int:
        """Return the end of the current window in epoch seconds."""
        return (int(now.timestamp()) // self.seconds + 1) * self.seconds


def limits_of(settings: Settings, tenant: str) -> Mapping[LimitName, int]:
    """Return the tenant's limits: those of the settings, changed by `limit_overrides` for this tenant."""
    overrides = overrides_in(settings.limit_overrides).get(tenant, {})
    return {name: overrides.get(name, getattr(settings, name)) for name in _WORDS}


@cache
def overrides_in(text: str) -> Mapping[str, Mapping[LimitName, int]]:
    """Read the setting `limit_overrides`: limits by tenant. Raises `ConfigurationError`."""
    try:
        return _OVERRIDES.validate_json(text or "{}")
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])).removesuffix(".[key]")
        raise ConfigurationError(
            "RECTO_LIMIT_OVERRIDES (template parameter LimitOverrides) must look like "
            f'{{"acme": {{"user_questions_per_day": 500}}}}: {place}: {first["msg"]}.'
        ) from error


@dataclass(frozen=True, slots=True)
class Account:
    """One user's account: questions are admitted and counted, and what they cost is recorded.

    If the table is down, questions are admitted and nothing is recorded: that must not stop answers.
    """

    principal: Principal
    settings: Settings
    usage: UsageLog
    clock: Clock

    def admit(self, conversation_id: str) -> None:
        """Count a question before it is answered. Raises `LimitReached`."""
        limits, now = limits_of(self.settings, self.principal.tenant), self.clock.now()
        for window in _windows(self.principal, conversation_id, now):
            questions = limits[window.questions]
            tokens = limits[window.tokens] if window.tokens else 0
            if not questions and not tokens:
                continue
            ends_at = window.ends_at(now)
            try:
                used_up = self.usage.count(window.key, questions=questions, tokens=tokens, expires_at=ends_at + KEPT_S)
            except DependencyError as error:
                logger.error("usage not counted", extra={"error": error.message})
                return
            if used_up:
                name = window.tokens if used_up == "tokens" and window.tokens else window.questions
                resets_at = datetime.fromtimestamp(ends_at, UTC)
                raise LimitReached(name, limits[name], resets_at, max(1, ceil(ends_at - now.timestamp())))

    def settle(self, spent: Mapping[str, Usage]) -> None:
        """Record an answered question and its tokens by model, and add the tokens to the budgets of the day."""
        tenant, user, now = self.principal.tenant, self.principal.user, self.clock.now()
        limits = limits_of(self.settings, tenant)
        used = sum(spent.values(), NO_USAGE)
        tokens = used.input_tokens + used.output_tokens
        # The answer is sent after this, so the writes are done side by side.
        writes = [
            _WORKERS.submit(self.usage.add_tokens, window.key, tokens, expires_at=window.ends_at(now) + KEPT_S)
            for window in _windows(self.principal, "", now)
            if tokens and window.tokens and limits[window.tokens]
        ]
        with _logged():
            self.usage.record(tenant, user, spent, questions=1, now=now)
        for write in writes:
            with _logged():
                write.result()


@contextmanager
def _logged() -> Iterator[None]:
    """Log the failure of a write, which must not stop an answer."""
    try:
        yield
    except DependencyError as error:
        logger.error("usage not counted", extra={"error": error.message})


def _windows(principal: Principal, conversation_id: str, now: datetime) -> list[_Window]:
    """Return the counters of a request, the narrowest first, so that a refused question uses up no wider one."""
    minute, day = f"{now:%Y-%m-%dT%H:%M}", f"{now:%Y-%m-%d}"
    tenant, user = f"LIMIT#{principal.tenant}", f"LIMIT#{principal.tenant}#USER#{principal.user}"
    windows = [_Window(f"{user}#{minute}", MINUTE_S, "user_questions_per_minute")]
    if conversation_id:
        key = f"{user}#CONV#{conversation_id}#{minute}"
        windows.append(_Window(key, MINUTE_S, "conversation_questions_per_minute"))
    windows.append(_Window(f"{user}#{day}", DAY_S, "user_questions_per_day", "user_tokens_per_day"))
    windows.append(_Window(f"{tenant}#{day}", DAY_S, "tenant_questions_per_day", "tenant_tokens_per_day"))
    return windows
