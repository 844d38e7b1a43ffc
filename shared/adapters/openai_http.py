"""JSON over HTTP with retries: what a model API needs of a client, and no more.

Not an SDK, because import and size decide how fast the query function starts: tests/benchmarks/bench_openai_client.py
measures both.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypedDict

import httpcore

from shared.adapters.deadline_http import HttpStream, Unwanted, open_stream
from shared.adapters.openai_errors import refusal
from shared.adapters.retry import CallAbandoned, Guard
from shared.errors import ConfigurationError, DependencyError, DependencyTimeout, DependencyUnavailable, RateLimited

_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 8.0
_SHORTEST_ATTEMPT_S = 0.1  # no model API answers sooner: less is left, then a retry cannot finish


class Wire(TypedDict, total=False):
    """How a client goes about its attempts: what `JsonClient` takes besides where and as whom it asks."""

    max_attempts: int
    guard: Guard | None
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    monotonic: Callable[[], float]


class JsonClient:
    """Posts JSON to one API with retries, and turns everything that fails into `DependencyError`.

    `max_attempts` counts the first one; `guard`, where there is one, may allow fewer. Between attempts it waits with
    full jitter, or as long as the server asks. `sleep`, `jitter` (0 to 1) and `monotonic` are arguments for the tests'
    sake. Raises `ConfigurationError` for a base URL that is none.
    """

    def __init__(
        self,
        *,
        dependency: str,
        base_url: str,
        api_key: str,
        key_name: str,
        max_attempts: int = 3,
        guard: Guard | None = None,
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
        self._guard = guard
        self._sleep = sleep
        self._jitter = jitter
        self._monotonic = monotonic

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        private: Sequence[str],
        timeout_s: float,
        optional: Mapping[str, Sequence[str]] | None = None,
    ) -> Any:
        """Return the JSON object answered to `body`, within `timeout_s` for all attempts and waits together.

        `private` are the texts in the body: no error message repeats any of them. For `optional` see `refusal`.
        """
        # Read to the end of the attempt, so that the breaker sees how it went.
        [answer] = self._attempts(
            path, body, private, timeout_s, optional or {}, lambda stream: iter([self._whole(stream)])
        )
        return answer

    def stream(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        private: Sequence[str],
        timeout_s: float,
        optional: Mapping[str, Sequence[str]] | None = None,
    ) -> Iterator[Any]:
        """Yield the JSON objects of a stream of server-sent events up to `[DONE]`; as `post` otherwise.

        Only an attempt that has not yielded anything yet is made again.
        """
        return self._attempts(path, body, private, timeout_s, optional or {}, self._events)

    def malformed(self, what: str) -> DependencyUnavailable:
        """Name what is wrong with an answer."""
        return DependencyUnavailable(self._dependency, f"the answer of {self._base_url} is malformed: {what}.")

    def _attempts(
        self,
        path: str,
        body: Mapping[str, Any],
        private: Sequence[str],
        timeout_s: float,
        optional: Mapping[str, Sequence[str]],
        read: Callable[[HttpStream], Iterator[Any]],
    ) -> Iterator[Any]:
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        deadline = self._monotonic() + timeout_s
        if self._guard is not None:
            self._guard.budget.earn()
        for attempt in range(1, self._max_attempts + 1):
            started = self._monotonic()
            begun = False
            try:
                for answer in self._attempt(path, content, private, deadline, optional, read):
                    begun = True
                    yield answer
            except DependencyError as error:
                if begun or not error.retriable or isinstance(error, CallAbandoned) or attempt == self._max_attempts:
                    raise
                wait = self._wait(attempt) if error.retry_after_s is None else error.retry_after_s
                # A retry takes about as long as the attempt before it: begun with less left, it could not finish.
                needed = max(_SHORTEST_ATTEMPT_S, self._monotonic() - started)
                if self._monotonic() + wait + needed > deadline:
                    raise
                if self._guard is not None and not self._guard.budget.spend(busy=isinstance(error, RateLimited)):
                    raise
                self._sleep(wait)
            else:
                return
        raise ConfigurationError("max_attempts must be at least 1.")

    def _wait(self, attempt: int) -> float:
        # All of it is drawn, so that many workers that were refused together do not come back together.
        longest: float = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (attempt - 1))
        return longest * self._jitter()

    def _attempt(
        self,
        path: str,
        content: bytes,
        private: Sequence[str],
        deadline: float,
        optional: Mapping[str, Sequence[str]],
        read: Callable[[HttpStream], Iterator[Any]],
    ) -> Iterator[Any]:
        left = deadline - self._monotonic()
        if left <= 0:
            raise DependencyTimeout(self._dependency, "no time was left for the request.")
        watched: AbstractContextManager[None] = self._guard.breaker.attempt(left) if self._guard else nullcontext()
        with watched:
            try:
                with open_stream(self._base_url + path, self._headers, content, timeout_s=left) as stream:
                    if stream.status != 200:
                        raise refusal(
                            stream.status,
                            stream.headers,
                            b"".join(stream.chunks),
                            dependency=self._dependency,
                            key_name=self._key_name,
                            private=private,
                            optional=optional,
                        )
                    yield from read(stream)
            except Unwanted as error:
                raise CallAbandoned(self._dependency, "broken off: nobody waits any more.") from error
            except httpcore.TimeoutException as error:
                raise DependencyTimeout(self._dependency, f"{self._base_url} did not answer in time.") from error
            except (httpcore.NetworkError, httpcore.ProtocolError) as error:
                raise DependencyUnavailable(
                    self._dependency, f"the connection to {self._base_url} failed ({type(error).__name__})."
                ) from error

    def _whole(self, stream: HttpStream) -> Any:
        try:
            answer = json.loads(b"".join(stream.chunks))
        except ValueError as error:
            raise self.malformed("no JSON") from error
        if not isinstance(answer, dict):
            raise self.malformed("no JSON object")
        return answer

    def _events(self, stream: HttpStream) -> Iterator[Any]:
        if "text/event-stream" not in stream.headers.get("content-type", ""):
            raise self.malformed("no stream of events")
        for line in _lines(stream.chunks):
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            try:
                event = json.loads(data)
            except ValueError as error:
                raise self.malformed("an event that is no JSON") from error
            if not isinstance(event, dict):
                raise self.malformed("an event that is no JSON object")
            yield event
        raise self.malformed("the stream ended before it was done")


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    held = b""
    for chunk in chunks:
        *whole, held = (held + chunk).split(b"\n")
        yield from whole
    if held:
        yield held
