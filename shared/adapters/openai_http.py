"""JSON over HTTP with retries: what a model API needs of a client, and no more.

Not an SDK, because import and size decide how fast the query function starts: tests/benchmarks/bench_openai_client.py
measures both.
"""

import contextlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpcore

from shared.adapters.deadline_http import HttpResponse, exchange
from shared.errors import (
    ConfigurationError,
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)

_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 8.0
_SHORTEST_ATTEMPT_S = 0.1  # no model API answers sooner: less is left, then a retry cannot finish
_MESSAGE_CHARACTERS = 300
_ECHO_CHARACTERS = 24


class RefusedParameter(DependencyRefused):
    """The model does not take a parameter, or not with this value; `param` names it."""

    def __init__(self, dependency: str, message: str, param: str) -> None:
        super().__init__(dependency, message)
        self.param = param


class JsonClient:
    """Posts JSON to one API with retries, and turns everything that fails into `DependencyError`.

    `max_attempts` counts the first one. `sleep`, `jitter` (0 to 1) and `monotonic` are arguments for the tests' sake.
    Raises `ConfigurationError` for a base URL that is none.
    """

    def __init__(
        self,
        *,
        dependency: str,
        base_url: str,
        api_key: str,
        key_name: str,
        max_attempts: int = 3,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"The {dependency} base URL must begin with http:// or https://: {base_url!r}.")
        self._dependency = dependency
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "authorization": f"Bearer {api_key}",
            "content-type": "application/json",
            "accept": "application/json",
            "user-agent": "recto",
        }
        self._key_name = key_name
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._jitter = jitter
        self._monotonic = monotonic

    def post(self, path: str, body: Mapping[str, Any], *, private: Sequence[str], timeout_s: float) -> Any:
        """Return the JSON object answered to `body`, within `timeout_s` for all attempts and waits together.

        `private` are the texts in the body: no error message repeats any of them.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        deadline = self._monotonic() + timeout_s
        for attempt in range(1, self._max_attempts + 1):
            started = self._monotonic()
            try:
                return self._attempt(path, content, private, deadline)
            except DependencyError as error:
                if not error.retriable or attempt == self._max_attempts:
                    raise
                wait = self._wait(attempt) if error.retry_after_s is None else error.retry_after_s
                # A retry takes about as long as the attempt before it: begun with less left, it could not finish.
                needed = max(_SHORTEST_ATTEMPT_S, self._monotonic() - started)
                if self._monotonic() + wait + needed > deadline:
                    raise
                self._sleep(wait)
        raise ConfigurationError("max_attempts must be at least 1.")

    def malformed(self, what: str) -> DependencyUnavailable:
        """Name what is wrong with an answer."""
        return DependencyUnavailable(self._dependency, f"the answer of {self._base_url} is malformed: {what}.")

    def _wait(self, attempt: int) -> float:
        # Half of it is drawn, so that many workers that were refused together do not come back together.
        longest: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (attempt - 1))
        return longest * (0.5 + 0.5 * self._jitter())

    def _attempt(self, path: str, content: bytes, private: Sequence[str], deadline: float) -> Any:
        left = deadline - self._monotonic()
        if left <= 0:
            raise DependencyTimeout(self._dependency, "no time was left for the request.")
        try:
            response = exchange(self._base_url + path, self._headers, content, timeout_s=left)
        except httpcore.TimeoutException as error:
            raise DependencyTimeout(self._dependency, f"{self._base_url} did not answer in time.") from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise DependencyUnavailable(
                self._dependency, f"the connection to {self._base_url} failed ({type(error).__name__})."
            ) from error
        if response.status != 200:
            raise self._refusal(response, private)
        try:
            answer = json.loads(response.body)
        except ValueError as error:
            raise self.malformed("no JSON") from error
        if not isinstance(answer, dict):
            raise self.malformed("no JSON object")
        return answer

    def _refusal(self, response: HttpResponse, private: Sequence[str]) -> DependencyError:
        status = response.status
        error = _error_of(response.body)
        said = f"HTTP {status}: {_without(private, error.get('message'))}"
        retry_after_s = _retry_after_s(response.headers)
        if status in (401, 403):
            return DependencyRefused(
                self._dependency, f"the API key was refused (HTTP {status}): check {self._key_name} in the secret."
            )
        if status == 429 and "insufficient_quota" in (error.get("code"), error.get("type")):
            return QuotaExhausted(self._dependency, f"the account of {self._key_name} has no quota left.")
        if status == 429:
            return RateLimited(self._dependency, said, retry_after_s=retry_after_s)
        if status == 408:
            return DependencyTimeout(self._dependency, said, retry_after_s=retry_after_s)
        if status == 409 or status >= 500:
            return DependencyUnavailable(self._dependency, said, retry_after_s=retry_after_s)
        if error.get("code") in ("unsupported_value", "unsupported_parameter") and isinstance(error.get("param"), str):
            return RefusedParameter(self._dependency, said, error["param"])
        return DependencyRefused(self._dependency, said)


def _error_of(body: bytes) -> Mapping[str, Any]:
    with contextlib.suppress(ValueError):
        answer = json.loads(body)
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            error: Mapping[str, Any] = answer["error"]
            return error
    return {}


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    # OpenAI sends both; an HTTP date (RFC 9110) is not among what it sends, and then the usual wait is as good.
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return max(0.0, float(headers[name])) * unit_s
    return None


def _without(private: Sequence[str], message: object) -> str:
    """Return the vendor's message, unless it repeats what was sent: errors are logged, and texts must not be."""
    if not isinstance(message, str) or not message:
        return "no message."
    text = message[:_MESSAGE_CHARACTERS]
    for start in range(0, max(1, len(text) - _ECHO_CHARACTERS), _ECHO_CHARACTERS // 3):
        piece = text[start : start + _ECHO_CHARACTERS]
        if len(piece) == _ECHO_CHARACTERS and any(piece in sent for sent in private):
            return "(the message repeats what was sent, and is withheld)"
    if any(8 <= len(sent) <= _ECHO_CHARACTERS * 2 and sent in text for sent in private):
        return "(the message repeats what was sent, and is withheld)"
    return text
