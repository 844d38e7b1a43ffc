"""Serves an ASGI application: as a program of the stack, or in a thread of a test's or an evaluation's process."""

import argparse
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
Application = Callable[..., Awaitable[Any]]


class _ReadyServer(uvicorn.Server):
    """Signals when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def serve(app: Application, arguments: argparse.Namespace) -> None:
    """Serve `app` on `arguments.host` and `arguments.port` until SIGTERM or Ctrl-C."""
    uvicorn.run(
        app,
        host=arguments.host,
        port=arguments.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,  # a request that hangs on purpose (a fault) must not hold up `down`
        timeout_keep_alive=75,  # longer than clients keep idle connections, so that none is closed under a request
    )


@contextmanager
def serving(app: Application, *, name: str) -> Iterator[str]:
    """Serve `app` on a free port of this machine and yield `http://127.0.0.1:PORT`. Raises `RuntimeError`."""
    server = _ReadyServer(uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1))
    # The protocol must be named: asyncio sets TCP_NODELAY only on sockets of IPPROTO_TCP, and without it an answer that
    # is sent in two parts waits some 40 ms for the acknowledgement of the first.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name=name, daemon=True)
        thread.start()
        try:
            if not server.ready.wait(START_TIMEOUT_S):
                raise RuntimeError(f"The {name} emulator did not start within {START_TIMEOUT_S:g} s.")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STOP_TIMEOUT_S)
