"""Pinecone's emulator in a thread of this process, with an index for MiniLM's vectors."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from evals.errors import EvalError
from local.pinecone.app import create_app
from local.pinecone.database import Database
from local.stack import pinecone_index

START_TIMEOUT_S = 30.0


class _Server(uvicorn.Server):
    """Tells when it has begun to serve."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def running_index(folder: Path) -> Iterator[str]:
    """Serve the vectors under `folder` on a free port and yield the base URL, which is also the index's host."""
    config = uvicorn.Config(create_app(Database(folder)), log_level="critical", timeout_graceful_shutdown=1)
    server = _Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="pinecone", daemon=True)
        thread.start()
        try:
            if not server.ready.wait(START_TIMEOUT_S):
                raise EvalError(f"Pinecone's emulator did not start within {START_TIMEOUT_S:g} s.")
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            pinecone_index.ensure(url)
            yield url
        finally:
            server.should_exit = True
            thread.join(10)
