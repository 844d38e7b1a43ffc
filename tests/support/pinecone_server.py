"""A Pinecone emulator on a free port, in a thread of the test process."""

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from local.pinecone.app import create_app
from local.pinecone.database import Database


@contextlib.contextmanager
def running_pinecone(state_dir: Path, *, visibility_delay_s: float = 0.0) -> Iterator[str]:
    """Serve `state_dir` and yield the base URL: control plane, and data plane while there is one index."""
    database = Database(state_dir, visibility_delay_s=visibility_delay_s)
    config = uvicorn.Config(create_app(database), port=0, log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("The Pinecone emulator did not start.")
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
