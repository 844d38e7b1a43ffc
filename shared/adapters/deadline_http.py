"""HTTP POST under one hard deadline.

Built on httpcore (the part of httpx that speaks HTTP): httpx bounds each read on its own, so a server that sends a byte
now and then can hold a request for ever; here every connect, read and write is bounded by what is left of the whole.
Not bounded: the resolver, which has no timeout in Python. Proxies named in the environment are not used.
"""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

import httpcore

_WRITE_BYTES = 16_384  # httpcore bounds each send, not the whole of a write: so write little by little
_LOOK_UP_S = 0.2
"""Seconds between two looks at whether the answer is still wanted."""

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)
_unwanted: ContextVar[Callable[[], bool] | None] = ContextVar("unwanted", default=None)


class Unwanted(httpcore.ReadTimeout):
    """The request was given up because nobody waits for its answer any more."""


class HttpResponse(NamedTuple):
    """Status, headers in lower case, and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpStream(NamedTuple):
    """Status, headers in lower case, and the body as it comes; reading it raises httpcore's exceptions."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@contextmanager
def dropped_when(unwanted: Callable[[], bool]) -> Iterator[None]:
    """Inside, requests of this thread are given up (`Unwanted`) as soon as `unwanted` says so."""
    token = _unwanted.set(unwanted)
    try:
        yield
    finally:
        _unwanted.reset(token)


def exchange(url: str, headers: Mapping[str, str], content: bytes, *, timeout_s: float) -> HttpResponse:
    """Post once over the process's pooled connections. Raises httpcore's exceptions; never takes over `timeout_s`."""
    with open_stream(url, headers, content, timeout_s=timeout_s) as stream:
        return HttpResponse(stream.status, stream.headers, b"".join(stream.chunks))


@contextmanager
def open_stream(url: str, headers: Mapping[str, str], content: bytes, *, timeout_s: float) -> Iterator[HttpStream]:
    """Post once and hand the body over as it comes; whole or not, all of it ends within `timeout_s`.

    A body that is not read to its end closes the connection, so that the server stops working on it.
    """
    end = time.monotonic() + timeout_s
    timeouts = {"timeout": {"pool": timeout_s, "connect": timeout_s, "read": timeout_s, "write": timeout_s}}
    opened = _pool(url.startswith("https:")).stream(
        "POST", url, headers=list(headers.items()), content=content, extensions=timeouts
    )
    with _until(end):
        response = opened.__enter__()
    try:
        decoded = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        yield HttpStream(response.status, decoded, _chunks(response, end))
    finally:
        opened.__exit__(None, None, None)


def _chunks(response: httpcore.Response, end: float) -> Iterator[bytes]:
    chunks = response.iter_stream()
    while True:
        # Set anew for each piece, because between two of them the same thread may do something else.
        with _until(end):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


@contextmanager
def ending_at(end: float) -> Iterator[None]:
    """Inside, every wait of this thread on a `DeadlineBackend`'s connection ends at `end` of the monotonic clock.

    For clients that know httpcore's timeouts only: `dropped_when` does not reach them.
    """
    token = _unwanted.set(None)
    try:
        with _until(end):
            yield
    finally:
        _unwanted.reset(token)


@contextmanager
def _until(end: float) -> Iterator[None]:
    token = _deadline.set(end)
    try:
        yield
    finally:
        _deadline.reset(token)


@cache
def _pool(secure: bool) -> httpcore.ConnectionPool:
    return httpcore.ConnectionPool(
        ssl_context=_tls_context() if secure else None,
        max_connections=32,
        max_keepalive_connections=16,
        keepalive_expiry=55.0,  # just under the minute after which load balancers drop idle connections
        network_backend=DeadlineBackend(),
    )


def _tls_context() -> Any:
    import ssl

    import certifi

    return ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or certifi.where())


def _left_s(timeout_s: float | None, late: type[Exception]) -> float:
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise late("deadline")
    return left if timeout_s is None else min(left, timeout_s)


class _DeadlineStream(httpcore.NetworkStream):
    """Cuts every wait on a connection to what is left of the request's deadline."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        unwanted = _unwanted.get()
        if unwanted is None:
            return self._stream.read(max_bytes, _left_s(timeout, httpcore.ReadTimeout))
        while True:
            left = _left_s(timeout, httpcore.ReadTimeout)
            if unwanted():
                raise Unwanted
            try:
                return self._stream.read(max_bytes, min(left, _LOOK_UP_S))
            except httpcore.ReadTimeout:
                if left <= _LOOK_UP_S:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITE_BYTES):
            left = _left_s(timeout, httpcore.WriteTimeout)
            self._stream.write(buffer[start : start + _WRITE_BYTES], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left_s(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections that keep to the deadline."""

    def __init__(self) -> None:
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect; raises httpcore's exceptions."""
        left = _left_s(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._backend.connect_tcp(host, port, left, local_address, socket_options))
