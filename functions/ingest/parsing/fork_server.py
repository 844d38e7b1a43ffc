"""Starts the parser's child processes in milliseconds: by forking one that has imported the engine and read nothing.

A new interpreter takes a tenth of a second to import pdfium and its caller, longer than a short document takes to read.
So one process is kept that has imported them, and never sees a document: the *fork server*. Every child is a fork of
it, reads one document, and ends. What a document does to its child can therefore not reach the next one, and all limits
are set anew for each.

The fork server has one thread, no credentials and no files but its end of a socket. It ends, and ends its children,
when that is closed: by `close`, or by the kernel when this process ends in whatever way. One that was killed is
replaced.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

ANSWER_S = 30.0
"""Seconds after which a fork server that does not answer is replaced; it answers within milliseconds."""
MAX_MESSAGE_BYTES = 1 << 16
EXIT_UNKNOWN = 1
"""Exit code given for a child whose fork server is gone, so that nobody knows it."""


def environment() -> dict[str, str]:
    """Return what a process that reads hostile bytes may know of ours: no credentials; where its modules are."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG", "TESSDATA_PREFIX") if name in os.environ
    }
    return {**kept, "PYTHONPATH": os.pathsep.join(p or "." for p in sys.path), "PYTHONDONTWRITEBYTECODE": "1"}


class ForkedProcess:
    """A child process of the fork server. `returncode` is None until it was waited for, as `Popen`'s."""

    def __init__(self, server: "ForkServer", pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server

    def wait(self) -> int:
        """Return its exit code, negative for a signal; one that does not end soon is killed."""
        if self.returncode is None:
            try:
                self.returncode = int(self._server.ask({"wait": self.pid})["code"])
            except OSError:
                self.returncode = EXIT_UNKNOWN  # its children end with a fork server
        return self.returncode

    def kill(self) -> None:
        """End it and whatever it started; harmless when it has ended. Its number is its own until it is waited for."""
        if self.returncode is None and self._server.is_open:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self.wait()


class ForkServer:
    """One fork server as its owner sees it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
                [sys.executable, "-S", "-P", "-m", "functions.ingest.parsing.child", "serve", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,
                pass_fds=[theirs.fileno()],
            )
        ours.settimeout(ANSWER_S)
        self._socket = ours
        self._lock = Lock()

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._process.pid

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed."""
        return self._socket.fileno() >= 0

    def run(self, arguments: Sequence[str], output: int) -> ForkedProcess:
        """Start a child with these arguments that writes to the file `output`. Raises `OSError`."""
        told = self.ask({"run": list(arguments), "environment": environment()}, output)
        return ForkedProcess(self, int(told["pid"]))

    def ask(self, request: Mapping[str, Any], *files: int) -> dict[str, Any]:
        """Send a request and return the answer. Raises `OSError`; the fork server has been ended by then."""
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode() + b"\n"], files)
                answer = b""
                while not answer.endswith(b"\n"):
                    got = self._socket.recv(MAX_MESSAGE_BYTES)
                    if not got:
                        raise ConnectionResetError("the fork server has ended")
                    answer += got
            except OSError:
                self.close()
                raise
        told: dict[str, Any] = json.loads(answer)
        return told

    def close(self) -> None:
        """End it and its children."""
        self._socket.close()
        self._process.kill()  # they end with it; on other systems than Linux, when they next write
        self._process.wait()

    def forget(self) -> None:
        """Give up a fork server that belongs to the process that this one is a fork of."""
        self._socket.close()
        self._process.returncode = 0


_lock = Lock()
_current: ForkServer | None = None


def get_ready() -> ForkServer:
    """Return the fork server; start one if there is none, without waiting until it is ready."""
    global _current
    with _lock:
        if _current is None or not _current.is_open:
            _current = ForkServer()
        return _current


def run(arguments: Sequence[str], output: int) -> ForkedProcess:
    """Start a child that writes to the file `output`. Raises `OSError` when even a second fork server fails."""
    try:
        return get_ready().run(arguments, output)
    except OSError:
        return get_ready().run(arguments, output)


def close() -> None:
    """End the fork server and its children; the next child starts another."""
    global _current
    with _lock:
        if _current is not None:
            _current.close()
        _current = None


def _forget() -> None:
    global _current, _lock
    _lock = Lock()
    if _current is not None:
        _current.forget()
    _current = None


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
