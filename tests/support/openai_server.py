"""The OpenAI emulator on a free port, inside the test's process."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from local.openai.app import create_app
from local.openai.engine import open_engine
from local.openai.upstream import Upstream

_PROJECT = Path(__file__).parents[2]


class _Server(uvicorn.Server):
    """Tells when it has begun to serve."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextlib.contextmanager
def running_openai(
    state_dir: Path, *, api_key: str = "", chat_upstream: str = "", cached: bool = True, quantized: bool = True
) -> Iterator[str]:
    """Yield the base URL (`http://127.0.0.1:PORT/v1`) of a running emulator; faults go to `/_admin/faults` beside it.

    The graph is built at first use (seconds) in `RECTO_MODEL_CACHE`, else in pytest's own cache folder: runs share it.
    """
    model_cache = Path(os.environ.get("RECTO_MODEL_CACHE") or _PROJECT / ".pytest_cache" / "minilm")
    engine = open_engine(state_dir, model_cache=model_cache, cached=cached, quantized=quantized)
    upstream = Upstream(chat_upstream, "upstream-key") if chat_upstream else None
    app = create_app(engine, api_key=api_key, upstream=upstream)
    server = _Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            if not server.ready.wait(30):
                raise RuntimeError("The OpenAI emulator did not start within 30 s.")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join(10)
