"""A server that answers with given bytes, also with bytes that are no whole HTTP response."""

import re
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, repeat

_LENGTH = re.compile(rb"(?i)content-length: *(\d+)")


def response(status: int, headers: Mapping[str, str], body: bytes, *, stated: int | None = None) -> bytes:
    """Return a response; `stated` is the length it claims to have, else its own.

    It says that the connection closes: else a client may send its next request on it before it sees that.
    """
    fields = {**headers, "Content-Length": str(len(body) if stated is None else stated), "Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode() + body


@contextmanager
def answering(*said: bytes) -> Iterator[str]:
    """Yield the server's URL; each connection takes one request, gets the next answer or the last, and is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, said), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def _serve(listening: socket.socket, said: Sequence[bytes]) -> None:
    for answer in chain(said, repeat(said[-1])):
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            _read_request(connection)
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)


def _read_request(connection: socket.socket) -> None:
    """Read a whole request: closing with bytes unread would reset the connection."""
    connection.settimeout(5)
    got = b""
    while b"\r\n\r\n" not in got:
        piece = connection.recv(65_536)
        if not piece:
            return
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    stated = _LENGTH.search(head)
    left = int(stated.group(1)) - len(body) if stated else 0
    while left > 0:
        piece = connection.recv(65_536)
        if not piece:
            return
        left -= len(piece)
