"""What each provider last answered: a refusal is logged, counted and shown by `GET /admin/health`.

Answers degrade when a provider fails, so nobody would notice a dead key. Every attempt that `Retry` makes ends up here.
Each container knows only its own calls; the metrics and the alarm cover all of them.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Literal

from shared.errors import DependencyError
from shared.telemetry import METRICS_NAMESPACE, logger

LOG_EVERY_S = 60.0
"""Seconds between two log lines about the same kind of failure of one provider."""
METRICS = {
    "upstream_refused": "ProviderRefused",
    "quota_exhausted": "ProviderQuota",
    "busy": "ProviderBusy",
    "timeout": "ProviderTimeouts",
    "unavailable": "ProviderUnavailable",
}
"""Metric of each kind of failure, by the error's code; the dimension is `Dependency`.

Each is also counted without a dimension, over all providers, for the alarms."""

MESSAGE_CHARACTERS = 300
"""Characters of a vendor's message that are kept."""
ECHO_CHARACTERS = 24
"""A message that shares a piece of this many characters with what was sent repeats it."""
WITHHELD = "(the message repeats what was sent, and is withheld)"
SHORTEST_ECHO = 8
"""Characters of a text sent that are looked for as a whole in an error."""


def without_echo(message: object, private: Iterable[str]) -> str:
    """Return a vendor's message unless it repeats what was sent: errors are logged and shown, texts must not be."""
    if not isinstance(message, str) or not message:
        return "no message."
    text = message[:MESSAGE_CHARACTERS]
    starts = range(0, max(1, len(text) - ECHO_CHARACTERS), ECHO_CHARACTERS // 3)
    pieces = [text[start : start + ECHO_CHARACTERS] for start in starts if start + ECHO_CHARACTERS <= len(text)]
    for sent in private:
        if any(piece in sent for piece in pieces) or (
            SHORTEST_ECHO <= len(sent) <= ECHO_CHARACTERS * 2 and sent in text
        ):
            return WITHHELD
    return text


@dataclass(frozen=True, slots=True)
class ProviderState:
    """One provider as this container sees it.

    `since` is when its present state began. `kind` (an error's code) and `message` describe the last failure, which an
    `ok` provider may have had, too; `failures` counts failures in a row, and `when_asked` says that none of them was a
    call that an answer needed, only a question after the provider's health.
    """

    dependency: str
    status: Literal["ok", "degraded"]
    since: datetime
    kind: str = ""
    message: str = ""
    failures: int = 0
    when_asked: bool = False


class ProviderHealth:
    """Follows the providers' answers. Thread-safe."""

    def __init__(
        self, *, now: Callable[[], datetime] = lambda: datetime.now(UTC), emit: Callable[[str], None] = print
    ) -> None:
        self._now = now
        self._emit = emit
        self._states: dict[str, ProviderState] = {}
        self._logged: dict[tuple[str, str], tuple[datetime, int]] = {}
        self._lock = Lock()

    def answered(self, dependency: str) -> None:
        """Note that a call succeeded."""
        state = self._states.get(dependency)
        if state is not None and state.status == "ok":
            return
        with self._lock:
            state = self._states.get(dependency, ProviderState(dependency, "ok", self._now()))
            self._states[dependency] = replace(state, status="ok", since=self._now(), failures=0)

    def reached(self, dependency: str) -> None:
        """Note that the provider answered when asked for its health: it is ok unless a needed call failed before."""
        with self._lock:
            state = self._states.get(dependency)
            if state is None:
                self._states[dependency] = ProviderState(dependency, "ok", self._now())
            elif state.status == "degraded" and state.when_asked:
                self._states[dependency] = replace(state, status="ok", since=self._now(), failures=0)

    def failed(self, error: DependencyError, *, when_asked: bool = False) -> None:
        """Note that a call failed: count it, and log it unless the same was logged less than a minute ago.

        `when_asked`: the call only asked for the provider's health.
        """
        dependency, kind, now = error.dependency, error.code, self._now()
        with self._lock:
            state = self._states.get(dependency)
            if state is None or state.status == "ok":
                state = ProviderState(dependency, "degraded", now, when_asked=True)
            self._states[dependency] = replace(
                state,
                kind=kind,
                message=error.message,
                failures=state.failures + 1,
                when_asked=state.when_asked and when_asked,
            )
            logged_at, unlogged = self._logged.get((dependency, kind), (None, 0))
            is_due = logged_at is None or (now - logged_at).total_seconds() >= LOG_EVERY_S
            self._logged[dependency, kind] = (now, 0) if is_due or logged_at is None else (logged_at, unlogged + 1)
        self._count(dependency, kind)
        if is_due:
            log = logger.warning if error.retriable else logger.error
            log(
                "provider failed" if error.retriable else "provider refused",
                extra={"dependency": dependency, "kind": kind, "error": error.message, "unlogged": unlogged},
            )

    def states(self) -> Sequence[ProviderState]:
        """Return the providers that were called, by name."""
        return [self._states[name] for name in sorted(self._states)]

    def forget(self) -> None:
        """Forget everything: for tests, whose providers change."""
        with self._lock:
            self._states.clear()
            self._logged.clear()

    def _count(self, dependency: str, kind: str) -> None:
        """Write the metric as a line of its own: Powertools' are not thread-safe, and calls run in threads."""
        name = METRICS.get(kind)
        if name is None:
            return
        described = {
            "Namespace": METRICS_NAMESPACE,
            "Dimensions": [["Dependency"], []],
            "Metrics": [{"Name": name, "Unit": "Count"}],
        }
        line = {
            "_aws": {"Timestamp": int(time.time() * 1_000), "CloudWatchMetrics": [described]},
            "Dependency": dependency,
            name: 1,
        }
        self._emit(json.dumps(line))


HEALTH = ProviderHealth()
"""The one of this container."""
