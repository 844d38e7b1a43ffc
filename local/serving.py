"""Serves an ASGI application: as a program of the stack, or in a thread of a test's or an evaluation's process."""

import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
Application = Callable[..., Awaitable[Any]]


def serve(app: Application, port: int) -> None:
    """Serve `app` on 127.0.0.1:`port` until SIGTERM or Ctrl-C."""
    uvicorn.run(
        app,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,  # a request that hangs on purpose (a fault) must not hold up `down`
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
