"""Serves an ASGI application: as a program of the stack, or in a thread of a test's or an evaluation's process."""

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any

import uvicorn

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
GRACE_S = 2
"""How long requests may go on after a stop: one that hangs on purpose (a fault) must not hold up `down`."""
EXIT_S = GRACE_S + 3.0
"""How long after a stop a process of several ends, even if a thread still waits for an answer that does not come."""
Application = Callable[..., Awaitable[Any]]


def serve(app: Application, port: int) -> None:
    """Serve `app` on 127.0.0.1:`port` until SIGTERM or Ctrl-C."""
    uvicorn.Server(_config(app, port)).run()


def serve_in_processes(make_app: Callable[[], Application], port: int, *, processes: int) -> None:
    """Serve what `make_app` builds on 127.0.0.1:`port` in several processes, until SIGTERM or Ctrl-C.

    Each builds it for itself, after the fork. The system spreads connections over them where it can (Linux).
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn raises the signal again when it has shut down
    alive, parent_end = os.pipe()
    children: list[int] = []
    with _listener(port):  # found to be free before there are any children
        for _ in range(processes - 1):
            if child := os.fork():
                children.append(child)
            else:
                os.close(parent_end)
                threading.Thread(target=_stop_with_parent, args=(alive,), daemon=True).start()
                children.clear()
                break
    try:
        with _listener(port) as listener:
            _StackServer(_config(make_app(), port), children).run(sockets=[listener])
    finally:
        _terminate(children)
        for child in children:
            os.waitpid(child, 0)


class _StackServer(uvicorn.Server):
    """Tells the other processes to stop as soon as this one is told to, and ends although a thread hangs."""

    def __init__(self, config: uvicorn.Config, children: Sequence[int]) -> None:
        super().__init__(config)
        self._children = children

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        _terminate(self._children)
        # Python would wait for every thread, and one may be in a call that hangs. There is nothing left to save.
        last_resort = threading.Timer(EXIT_S, os._exit, (0,))
        last_resort.daemon = True
        last_resort.start()
        super().handle_exit(sig, frame)


def _terminate(children: Iterable[int]) -> None:
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)


class AtMost:
    """ASGI middleware: serves a limited number of POST requests at once; the others wait for their turn, in order.

    Every step of a request has a time limit of its own: if too many were served at once, all steps would exceed it.
    """

    def __init__(self, app: Application, requests: int) -> None:
        self._app = app
        self._turns = asyncio.Semaphore(requests)

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Serve one connection as ASGI says."""
        # A GET may be a stream that stays open.
        async with self._turns if scope.get("method") == "POST" else nullcontext():
            await self._app(scope, receive, send)


def _listener(port: int) -> socket.socket:
    # The protocol must be named: see `serving`.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    return listener


def _stop_with_parent(alive: int) -> None:
    os.read(alive, 1)  # ends when the parent does, which holds the other end and writes nothing
    os.kill(os.getpid(), signal.SIGTERM)


def _config(app: Application, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=75,  # longer than clients keep idle connections, so that none is closed under a request
    )


@contextmanager
def serving(app: Application, *, name: str) -> Iterator[str]:
    """Serve `app` on a free port of this machine and yield `http://127.0.0.1:PORT`. Raises `RuntimeError`."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1))
    # The protocol must be named: asyncio sets TCP_NODELAY only on sockets of IPPROTO_TCP, and without it an answer that
    # is sent in two parts waits some 40 ms for the acknowledgement of the first.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name=name, daemon=True)
        thread.start()
        try:
            deadline = time.monotonic() + START_TIMEOUT_S
            while not server.started:
                if time.monotonic() >= deadline:
                    raise RuntimeError(f"The {name} emulator did not start within {START_TIMEOUT_S:g} s.")
                time.sleep(0.005)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STOP_TIMEOUT_S)
