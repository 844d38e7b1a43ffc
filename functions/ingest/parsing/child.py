"""The child process: bounds itself, opens one PDF with one engine, writes its pages to stdout as frames.

    python -m functions.ingest.parsing.child serve SOCKET

is the fork server (`fork_server.py`), whose forks get the arguments PATH ENGINE FIRST LAST PART MAX_PAGES CPU_S
MEMORY_MB. `ENGINE` is pdfium, pypdf, figures, or tesseract with its languages ("tesseract:eng+deu").

Only pdfium is imported before the fork; the other engines are, where they are asked for.
"""

import contextlib
import ctypes
import gc
import json
import os
import resource
import signal
import socket
import sys
import time
from importlib import import_module
from typing import Any, Protocol

from functions.ingest.parsing.fork_server import MAX_MESSAGE_BYTES
from functions.ingest.parsing.process import is_shared, pages_of
from functions.ingest.parsing.wire import (
    FIGURE_ENGINE,
    MEMORY_EXIT,
    OCR_ENGINE,
    CannotOpen,
    Header,
    RawPage,
    pack,
    pack_header,
    pack_page,
)
from shared.text import counted

PR_SET_PDEATHSIG = 1
"""`prctl`: have the kernel send this process a signal when the one that forked it ends."""
ENDING_S = 1.0
"""Seconds that a child may take to end once it is waited for; one that has closed its output ends at once."""
LOOK_EVERY_S = 0.001
"""Seconds between two looks at whether it has ended."""


class Engine(Protocol):
    """A library that can open a PDF and read its pages one by one (numbers from 1)."""

    def header(self) -> Header: ...  # noqa: D102

    def page(self, number: int) -> RawPage: ...  # noqa: D102


def bound(cpu_s: int, memory_mb: int) -> None:
    """Limit CPU, core dumps and the address space: what is mapped now plus `memory_mb` MiB.

    The address space only on Linux: macOS accepts the limit and does not enforce it.
    """
    if sys.platform == "linux":
        with open("/proc/self/statm") as statm:  # noqa: PTH123 - pathlib is not worth its import here
            mapped = int(statm.read().split()[0]) * resource.getpagesize()
        room = mapped + memory_mb * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _allow_cpu(cpu_s)


def _allow_cpu(cpu_s: int) -> None:
    """Allow `cpu_s` CPU seconds from now on; the kernel ends the process with SIGXCPU after that."""
    soft = int(time.process_time()) + 1 + cpu_s
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def open_engine(name: str, path: str) -> Engine:
    """Import one engine and open the file. Raises `CannotOpen`."""
    if name == "pypdf":
        from functions.ingest.parsing.engine_pypdf import PypdfEngine

        return PypdfEngine(path)
    engine, _, languages = name.partition(":")
    if engine == OCR_ENGINE:
        from functions.ingest.parsing.engine_tesseract import TesseractEngine

        return TesseractEngine(path, languages)
    if engine == FIGURE_ENGINE:
        from functions.ingest.parsing.engine_figures import FigureEngine

        return FigureEngine(path)
    from functions.ingest.parsing.engine_pdfium import PdfiumEngine

    return PdfiumEngine(path)


def _check_pages(header: Header, max_pages: int) -> None:
    """Refuse a document of too many pages. Raises `CannotOpen`."""
    if header.page_count > max_pages:
        pages, most = counted(header.page_count, "page"), "1 is" if max_pages == 1 else f"{max_pages} are"
        message = f"The document has {pages}, {most} allowed: split it into parts."
        raise CannotOpen("TOO_MANY_PAGES", message)


def write(data: bytes) -> None:
    """Write one frame whole; a pipe takes it in pieces, and waits while the parent is busy."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


def read_page(engine: Engine, number: int) -> RawPage:
    """Read a page; an exception becomes the page's `error`, so that the next one is still read."""
    started = time.perf_counter()
    try:
        page = engine.page(number)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a library raises on hostile bytes concerns this page only
        page = RawPage(number, error=type(error).__name__)
    page.seconds = round(time.perf_counter() - started, 4)
    return page


def main(arguments: list[str]) -> int:
    """Send the pages of one PDF; return the exit code."""
    path, engine_name = arguments[:2]
    first, last, part, max_pages, cpu_s, memory_mb = map(int, arguments[2:8])
    bound(cpu_s, memory_mb)
    try:
        engine = open_engine(engine_name, path)
        header = engine.header()
        _check_pages(header, max_pages)
        write(pack_header(header))
        if is_shared(part, header.page_count):
            bound(cpu_s, memory_mb // 2)  # two children together keep the limit of one
        for number in pages_of(part, first, last, header.page_count):
            _allow_cpu(cpu_s)
            write(pack_page(read_page(engine, number)))
        write(pack("done", {}))
    except CannotOpen as error:
        write(pack("rejected", {"code": error.rejected.code, "message": error.rejected.message}))
    except MemoryError:
        return MEMORY_EXIT
    return 0


def _child_of(server: int, connection: socket.socket, request: dict[str, Any], output: int) -> int:
    """Be a child, in a process just forked; return its exit code."""
    connection.close()
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:  # it ended before that
            return 1
    os.dup2(output, 1)
    os.close(output)
    os.environ.update(request["environment"])
    return main(request["run"])


def exit_code_of(pid: int) -> int:
    """Wait for a child and return its exit code, negative for a signal; what goes on for long is killed."""
    until = time.monotonic() + ENDING_S
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(LOOK_EVERY_S)
    os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def serve(connection: socket.socket) -> None:
    """Fork a child for each request, until the owner closes the connection; then end those that still run.

    A child stays as it ended until it is asked for, so that nobody else gets its number.
    """
    import_module("functions.ingest.parsing.engine_pdfium")  # its forks have it

    gc.collect()
    gc.freeze()  # a collection in a child would copy all that it looks at
    me = os.getpid()
    running: set[int] = set()
    while True:
        message, files = b"", list[int]()
        while not message.endswith(b"\n"):
            got, more, _, _ = socket.recv_fds(connection, MAX_MESSAGE_BYTES, 1)
            files += more
            message += got
            if not got:
                for pid in running:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(pid, signal.SIGKILL)
                return
        request = json.loads(message)
        if "run" in request:
            pid = os.fork()
            if not pid:
                code = 1
                try:
                    code = _child_of(me, connection, request, files[0])
                finally:  # a fork must never go on where the fork server would
                    os._exit(code)
            running.add(pid)
            os.close(files[0])
            answer = {"pid": pid}
        else:
            answer = {"code": exit_code_of(request["wait"])}
            running.discard(request["wait"])
        connection.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[2])))
    os._exit(0)  # skip the libraries' finalisers: the kernel frees everything faster
