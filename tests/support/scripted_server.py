"""An HTTP server that gives scripted answers, one a request, and writes down each request as a line."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.aws_requests import as_json

type Said = tuple[int, object, Mapping[str, str]]
"""Status, body (bytes as they are, all else as JSON) and headers."""
HEADERS = ("authorization", "api-key")
"""Headers of a request that are written down."""


class ScriptedServer(ThreadingHTTPServer):
    """Answers with `script`, in order; `asked` are the requests so far."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.script: list[Said] = []
        self.asked: list[str] = []

    def say(self, status: int, body: object, **headers: str) -> None:
        """Add an answer."""
        self.script.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedServer

    def _answer(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length") or 0))
        with_key = " ".join(f"{name}: {self.headers[name]}" for name in HEADERS if name in self.headers)
        self.server.asked.append(f"{self.command} {self.path} ({with_key}) {as_json(json.loads(sent or b'{}'))}")
        status, body, headers = self.server.script.pop(0) if self.server.script else (500, {"nothing": "left"}, {})
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """Yield a running server."""
    with ScriptedServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
