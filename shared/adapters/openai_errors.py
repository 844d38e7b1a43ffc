"""What a model API's refusals mean, in errors of our tree that repeat nothing of what was sent."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from shared.errors import (
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)

_MESSAGE_CHARACTERS = 300
_ECHO_CHARACTERS = 24
_REFUSED_CODES = ("unsupported_value", "unsupported_parameter")


class RefusedParameter(DependencyRefused):
    """The model does not take a parameter, or not with this value; `param` names it."""

    def __init__(self, dependency: str, message: str, param: str) -> None:
        super().__init__(dependency, message)
        self.param = param


def refusal(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    dependency: str,
    key_name: str,
    private: Sequence[str],
    optional: Mapping[str, Sequence[str]],
) -> DependencyError:
    """Return the error that an answer other than 200 stands for.

    `private` are the texts that were sent. `optional` maps a parameter that the request can do without to the words by
    which servers complain of it: those that speak OpenAI's dialect loosely do not name it in `param`.
    """
    error = _error_of(body)
    said = f"HTTP {status}: {_without(private, error.get('message'))}"
    retry_after_s = _retry_after_s(headers)
    if status in (401, 403):
        return DependencyRefused(
            dependency, f"the API key was refused (HTTP {status}): check {key_name} in the secret."
        )
    if status == 429 and "insufficient_quota" in (error.get("code"), error.get("type")):
        return QuotaExhausted(dependency, f"the account of {key_name} has no quota left.")
    if status == 429:
        return RateLimited(dependency, said, retry_after_s=retry_after_s)
    if status == 408:
        return DependencyTimeout(dependency, said, retry_after_s=retry_after_s)
    if status == 409 or status >= 500:
        return DependencyUnavailable(dependency, said, retry_after_s=retry_after_s)
    if error.get("code") in _REFUSED_CODES and isinstance(error.get("param"), str):
        return RefusedParameter(dependency, said, error["param"])
    complaint = body.decode("utf-8", "replace")
    for param, words in optional.items():
        if status in (400, 422) and any(word in complaint for word in words):
            return RefusedParameter(dependency, said, param)
    return DependencyRefused(dependency, said)


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
