"""One server of OpenAI's API: bounded calls of the official client, whose errors become ours.

The client is the official `openai` package, imported when an adapter is built, because importing it is slow. Its own
retries are off: `Retry` decides.
"""

import contextlib
import json
import re
import socket
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cache, partial
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from shared.adapters.provider_health import HEALTH, without_echo
from shared.adapters.secrets import ApiKey, KeyedClient
from shared.errors import (
    ConfigurationError,
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    KeyRefused,
    QuotaExhausted,
    RateLimited,
)

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

KEEP_ALIVE_S = 55.0
"""Seconds an idle connection is kept: just under the minute after which load balancers drop it."""
_ALSO_NAMED = {
    "json_schema": ("response_format", "text"),
    "format": ("text",),
    "effort": ("reasoning",),
    "include_usage": ("stream_options",),
}
"""Other wordings with which servers refuse a parameter."""
_REFUSING_STATUSES = (400, 422)
_SCHEMA = ("response_format", "text")
_ABOUT_THE_TEXT = frozenset({"context_length_exceeded", "content_filter", "content_policy_violation"})
"""Codes of refusals that are about what was sent, not about how."""
_OUT_OF_QUOTA = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "project_spend_limit_exceeded",
    }
)
"""Codes and types of a 429 that waiting does not help (help.openai.com, "Troubleshooting API rate limits and 429
errors", read on 2026-11-27: the type "can still be" `insufficient_quota`)."""
_WORD = re.compile(r"\w+")
MAX_CONNECTIONS = 32
MAX_KEPT_CONNECTIONS = 16
"""Connections to the provider at once, and those kept open between requests."""


class RefusedParameter(Exception):
    """The model refuses an optional parameter, or its value: no failure, because the call is repeated without it."""

    def __init__(self, param: str) -> None:
        super().__init__(param)
        self.param = param


class OpenAIServer:
    """One base URL and key: bounded calls of the official client, with its errors translated to ours.

    `private` are the texts sent, which no error message repeats. `optional` names the parameters that may be left out.
    """

    def __init__(self, dependency: str, base_url: str, api_key: str | ApiKey, key_name: str) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"The {dependency} base URL must begin with http:// or https://: {base_url!r}.")
        self._dependency = dependency
        self._base_url = base_url.rstrip("/")
        self._key_name = key_name
        self._client = KeyedClient(api_key, partial(_Connected, self._base_url))

    def call[T](self, ask: Callable[["OpenAI", float], T], left_s: float, *, private: Sequence[str]) -> T:
        """Return what `ask(client, left_s)` returns. Raises `DependencyError`."""

        def translated(connected: _Connected) -> T:
            with self._errors(private, ()):
                return ask(connected.openai, left_s)

        return self._client.call(left_s, self._dependency, translated)

    def stream[T](
        self,
        ask: Callable[["OpenAI", float], Iterator[T]],
        left_s: float,
        *,
        private: Sequence[str],
        optional: Collection[str],
    ) -> Iterator[T]:
        """Yield what `ask(client, left_s)` yields. Raises `DependencyError`."""

        def translated(connected: _Connected) -> Iterator[T]:
            with self._errors(private, optional):
                yield from ask(connected.openai, left_s)

        return self._client.stream(left_s, self._dependency, translated)

    def shutdown_date(self, model: str, timeout_s: float) -> date | None:
        """Return the model's `shutdown_date` in `GET /v1/models`: OpenAI's field, in ISO 8601 or in epoch seconds."""

        def ask(client: "OpenAI", left_s: float) -> bytes:
            return client.models.with_raw_response.retrieve(model, timeout=left_s).content

        try:
            body = self.call(ask, timeout_s, private=())
        except DependencyError as error:
            # Many compatible servers have no such route: only that it is refused says nothing about them.
            if isinstance(error, KeyRefused) or not isinstance(error, DependencyRefused):
                HEALTH.failed(error, when_asked=True)
            raise
        HEALTH.reached(self._dependency)
        try:
            named = self.json_of(body).get("shutdown_date")
        except (ValueError, RecursionError, DependencyUnavailable):  # a page that a server has for every path
            return None
        with contextlib.suppress(ValueError):
            if isinstance(named, int):
                return datetime.fromtimestamp(named, UTC).date()
            return date.fromisoformat(str(named)[:10])
        return None

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.close()

    def json_of(self, body: bytes) -> dict[str, Any]:
        """Read an answer's JSON object. Raises `DependencyUnavailable`."""
        answer = json.loads(body)
        if not isinstance(answer, dict):
            raise self.malformed("no JSON object")
        return answer

    def events(self, body: Iterator[bytes]) -> Iterator[Mapping[str, Any] | None]:
        """Yield the JSON objects of server-sent events; None for the `[DONE]` that some servers leave out.

        Comments (to keep a connection alive), names, ids and empty events are skipped. Raises `DependencyUnavailable`.
        """
        data: list[str] = []
        for line in chain(_lines(body), ("",)):
            if line.startswith("data:"):
                data.append(line[5:])
            elif not line:
                text = "\n".join(data).strip()
                data = []
                if text == "[DONE]":
                    yield None
                    return
                if text:
                    yield self._event(text)

    def _event(self, text: str) -> Mapping[str, Any]:
        event = json.loads(text)
        if not isinstance(event, dict):
            raise self.malformed("an event that is no JSON object")
        if event.get("error"):
            raise self.malformed("an error in the middle of the stream")
        return event

    def malformed(self, what: str) -> DependencyUnavailable:
        """Return the error that says what is wrong with a response."""
        return DependencyUnavailable(self._dependency, f"the answer of {self._base_url} is malformed: {what}.")

    @contextmanager
    def _errors(self, private: Sequence[str], optional: Collection[str]) -> Iterator[None]:
        import httpx2
        import openai

        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise DependencyTimeout(self._dependency, f"{self._base_url} did not answer in time.") from error
        except (openai.APIConnectionError, httpx2.RequestError) as error:  # also what cannot be decompressed
            kind = type(error.__cause__ or error).__name__
            raise DependencyUnavailable(
                self._dependency, f"the connection to {self._base_url} failed ({kind})."
            ) from error
        except openai.APIStatusError as error:
            refused = _refused_parameter(error, optional)
            if refused:
                raise RefusedParameter(refused) from None
            raise self._refusal(error, private) from None  # its message may repeat what was sent
        except (ValueError, RecursionError) as error:  # the package lets them through: HTML, or JSON nested too deep
            raise self.malformed("no JSON") from error

    def _refusal(self, error: "APIStatusError", private: Sequence[str]) -> DependencyError:
        import openai

        dependency, status = self._dependency, error.status_code
        vendors = error.body.get("message") if isinstance(error.body, dict) else None
        said = f"HTTP {status}: {without_echo(vendors, private)}"
        retry_after_s = _retry_after_s(error.response.headers)
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return KeyRefused(
                dependency, f"the API key was refused (HTTP {status}): check {self._key_name} in the secret."
            )
        if status == 402 or not _OUT_OF_QUOTA.isdisjoint((error.code, error.type)):
            return QuotaExhausted(dependency, f"the account of {self._key_name} has no quota left (HTTP {status}).")
        if isinstance(error, openai.RateLimitError):
            return RateLimited(dependency, said, retry_after_s=retry_after_s)
        if status == 408:
            return DependencyTimeout(dependency, said, retry_after_s=retry_after_s)
        if isinstance(error, openai.ConflictError | openai.InternalServerError):
            return DependencyUnavailable(dependency, said, retry_after_s=retry_after_s)
        return DependencyRefused(dependency, said)


class _Connected:
    """The official client, and the sockets it has opened.

    A closed socket stays open in the kernel while a thread waits on it, so the server would go on working for an
    abandoned call until that thread's timeout. Therefore `close` shuts the connections down first; httpx's documented
    `trace` extension reports their sockets.
    """

    def __init__(self, base_url: str, api_key: str) -> None:
        import httpx2
        import openai

        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._lock = Lock()
        self.openai = openai.OpenAI(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            http_client=openai.DefaultHttpx2Client(
                verify=_tls_context(),
                limits=httpx2.Limits(
                    max_connections=MAX_CONNECTIONS,
                    max_keepalive_connections=MAX_KEPT_CONNECTIONS,
                    keepalive_expiry=KEEP_ALIVE_S,
                ),
                event_hooks={"request": [self._watch]},
            ),
        )

    def close(self) -> None:
        """Close all connections, also those in use."""
        with self._lock:
            sockets = list(self._sockets)
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.openai.close()

    def _watch(self, request: Any) -> None:
        request.extensions["trace"] = self._opened

    def _opened(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._sockets.add(info["return_value"].get_extra_info("socket"))


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the one context of all clients: loading the certificates takes 20 ms of CPU."""
    import httpx2

    return httpx2.create_ssl_context()


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    # OpenAI sends both, in numbers; an HTTP date (RFC 9110) from another server is ignored.
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return max(0.0, float(headers[name])) * unit_s
    return None


def _refused_parameter(error: "APIStatusError", optional: Collection[str]) -> str:
    """Return the optional parameter that a 400 or 422 is about, or an empty string.

    Servers agree on neither `code` nor `param` (OpenAI: `unsupported_value`; LiteLLM: null, "400"; FastAPI: a path in
    `detail`; others: prose), so what they name decides: `param` first, else the message.
    """
    if error.status_code not in _REFUSING_STATUSES:
        return ""
    for named in (str(error.param or ""), error.response.text):
        for word in _WORD.findall(named):
            for name in (word, *_ALSO_NAMED.get(word, ())):
                if name in optional:
                    return str(name)
    if str(error.param or "None") != "None" or error.code in _ABOUT_THE_TEXT:
        return ""
    # An error that names nothing is most likely about the schema: what few servers know, and each in its own way.
    return next((name for name in _SCHEMA if name in optional), "")


def _lines(body: Iterator[bytes]) -> Iterator[str]:
    """Yield the lines of a body; only at line feeds, because JSON may hold other line separators of Unicode."""
    rest = b""
    for piece in body:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines)
    yield rest.decode("utf-8", "replace")
