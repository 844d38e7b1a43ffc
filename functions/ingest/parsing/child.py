"""The child process: bounds itself, opens one PDF with one engine, writes its pages to stdout as frames.

    python -m functions.ingest.parsing.child PATH ENGINE FIRST LAST PART MAX_PAGES CPU_S MEMORY_MB

`ENGINE` is pdfium, pypdf, figures, or tesseract with its languages ("tesseract:eng+deu").

Only the engine that is asked for is imported: a child is started for each document, so its start-up counts.
"""

import os
import resource
import sys
import time
from typing import Protocol

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
    allow_cpu(cpu_s)


def allow_cpu(cpu_s: int) -> None:
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


def check_pages(header: Header, max_pages: int) -> None:
    """Refuse a document of too many pages. Raises `CannotOpen`."""
    if header.page_count > max_pages:
        message = f"The document has {header.page_count} pages, {max_pages} are allowed: split it into parts."
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
        check_pages(header, max_pages)
        write(pack_header(header))
        if is_shared(part, header.page_count):
            bound(cpu_s, memory_mb // 2)  # two children together keep the limit of one
        for number in pages_of(part, first, last, header.page_count):
            allow_cpu(cpu_s)
            write(pack_page(read_page(engine, number)))
        write(pack("done", {}))
    except CannotOpen as error:
        write(pack("rejected", {"code": error.rejected.code, "message": error.rejected.message}))
    except MemoryError:
        return MEMORY_EXIT
    return 0


if __name__ == "__main__":
    # Skip the libraries' finalisers: the kernel frees everything faster.
    sys.stdout.flush()
    os._exit(main(sys.argv[1:]))
