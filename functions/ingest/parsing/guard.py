"""The parent's side of parsing: starts children, watches their time, kills them, and goes on after a bad page.

A PDF is hostile input to a C++ library. So it is read by a child process with bounded CPU and memory, whose frames
arrive over a pipe while this side holds the clock. When a child dies or stalls on a page, that page is tried once with
the other engine (pypdf, slower and stricter, in a child of its own), and a new child goes on behind it.

A subprocess and not multiprocessing: AWS Lambda has no /dev/shm, and forking a parent that runs threads can deadlock.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from functions.ingest.parsing.limits import Limits
from functions.ingest.parsing.wire import HEADER, MAX_FRAME_BYTES, MEMORY_EXIT, Header, RawPage, Rejected, unpack
from shared.errors import DocumentRejected

MAX_FAILURES = 4
"""Children that may die or stall in one document before the rest is given up (each can cost `page_s` twice)."""

MAX_SECOND_TRIES = 16
"""Pages that may be given to the other engine because the first raised; each costs a child's start."""

READ_BYTES = 1 << 18
Clock = Callable[[], float]


class ChildFailed(Exception):
    """The child died, stalled or wrote nonsense; the text says which."""


class Stopwatch:
    """Counts the seconds spent on a document, leaving out those in which the consumer of its pages was busy."""

    def __init__(self, limit_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._limit_s = limit_s
        self._spent_s = 0.0
        self._since = clock()

    def pause(self) -> None:
        """Stop counting, because a page is handed over."""
        self._spent_s += self._clock() - self._since

    def go_on(self) -> None:
        """Count again."""
        self._since = self._clock()

    @property
    def left_s(self) -> float:
        """Seconds left; negative when the limit is passed."""
        return self._limit_s - self._spent_s - (self._clock() - self._since)


class Child:
    """One child process reading pages `first`..`last` (1-based, 0 = the end) of a file; yields its frames."""

    def __init__(self, path: Path, engine: str, limits: Limits, *, first: int = 1, last: int = 0) -> None:
        arguments = [str(path), engine, str(first), str(last)]
        bounds = [str(limits.max_pages), str(limits.cpu_s), str(limits.memory_mb), str(limits.max_characters)]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
            [sys.executable, "-S", "-P", "-m", "functions.ingest.parsing.child", *arguments, *bounds],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # No credentials for a process that reads hostile bytes; sys.path as ours, so that `site` can be skipped.
            env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,
            close_fds=True,
        )
        self._buffer = bytearray()

    def frames(self, wait_s: Callable[[], float]) -> Iterator[Header | RawPage | Rejected]:
        """Yield what the child sends until it is done. `wait_s` gives the seconds the next frame may take.

        Raises `ChildFailed`; the child is dead by then.
        """
        try:
            while True:
                frame = unpack(self._frame(wait_s))
                if frame is None:
                    return
                yield frame
        except ValueError as error:
            raise ChildFailed(str(error)) from error
        finally:
            self.kill()

    def _frame(self, wait_s: Callable[[], float]) -> bytes:
        deadline = time.monotonic() + wait_s()
        needed = HEADER.size
        while len(self._buffer) < needed:
            self._read(deadline)
        (size,) = HEADER.unpack_from(self._buffer)
        if size > MAX_FRAME_BYTES:
            raise ChildFailed("too much text on one page")
        needed += size
        while len(self._buffer) < needed:
            self._read(deadline)
        frame = bytes(self._buffer[HEADER.size : needed])
        del self._buffer[:needed]
        return frame

    def _read(self, deadline: float) -> None:
        pipe = self._process.stdout
        assert pipe is not None  # noqa: S101 - PIPE was asked for
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise ChildFailed("time limit")
        data = os.read(pipe.fileno(), READ_BYTES)
        if not data:
            raise ChildFailed(self._cause_of_death())
        self._buffer += data

    def _cause_of_death(self) -> str:
        code = self._process.wait()
        if code == -signal.SIGXCPU or code == -signal.SIGKILL:
            return "CPU limit"
        if code < 0:
            # pdfium aborts when it is refused memory, so a signal usually means the memory limit.
            return f"crash or memory limit ({signal.Signals(-code).name})"
        return "memory limit" if code == MEMORY_EXIT else f"exit code {code}"

    def kill(self) -> None:
        """End the child and whatever it started; harmless when it has ended."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def check_file(path: Path, limits: Limits) -> None:
    """Look at size and magic bytes before anything is started. Raises `DocumentRejected`.

    The mark may stand anywhere in the first 1,024 bytes (ISO 32000-1, implementation note 13).
    """
    size = path.stat().st_size
    if size == 0:
        raise DocumentRejected("EMPTY", "The file is empty: upload it again.")
    if size > limits.max_bytes:
        raise DocumentRejected(
            "TOO_LARGE", f"The file has {size} bytes, {limits.max_bytes} are allowed: split it into parts."
        )
    with path.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise DocumentRejected("NOT_A_PDF", "This is not a PDF file: upload a file that begins with %PDF.")


class Reader:
    """Reads one document through as many children as it takes. `header` first, then `pages`."""

    def __init__(self, path: Path, limits: Limits, watch: Stopwatch) -> None:
        self.problems: list[str] = []
        self._path, self._limits, self._watch = path, limits, watch
        self._engine = "pdfium"
        self._child: Child | None = None
        self._frames: Iterator[Header | RawPage | Rejected] = iter(())
        self._failures = self._second_tries = 0

    def header(self) -> Header:
        """Open the document. Raises `DocumentRejected` when neither engine can."""
        rejected: Rejected | None = None
        for engine in ("pdfium", "pypdf"):
            self._engine = engine
            self._start(first=1)
            try:
                frame = next(self._frames)
            except ChildFailed as error:
                rejected = rejected or Rejected("DAMAGED", f"The file could not be opened: {error}.")
                continue
            if isinstance(frame, Header):
                return frame
            if isinstance(frame, Rejected):
                rejected = frame
                if frame.code != "DAMAGED":
                    break
        assert rejected is not None  # noqa: S101 - two engines were tried and none opened it
        raise DocumentRejected(rejected.code, rejected.message)

    def pages(self, page_count: int) -> Iterator[RawPage]:
        """Yield every page once and in order; those that cannot be read carry `error`."""
        number = 1
        while number <= page_count:
            try:
                for frame in self._frames:
                    if isinstance(frame, Rejected):
                        raise ChildFailed(frame.message)
                    if isinstance(frame, RawPage) and frame.number == number:
                        yield self._mended(frame)
                        number += 1
                if number <= page_count:
                    raise ChildFailed("ended early")
            except ChildFailed as error:
                if self._watch.left_s <= 0:
                    self.problems.append(f"stopped after page {number - 1}: time limit of the document")
                    return self.close()
                yield self._second_try(number, str(error))
                number += 1
                self._failures += 1
                if self._failures > MAX_FAILURES and number <= page_count:
                    self.problems.append(f"stopped after page {number - 1}: too many pages failed")
                    return self.close()
                if number <= page_count:
                    self._start(first=number)
        return self.close()

    def _mended(self, page: RawPage) -> RawPage:
        """Give a page whose engine raised a second try; a document of nothing but such pages gets only a few."""
        if not page.error or self._second_tries >= MAX_SECOND_TRIES:
            return page
        self._second_tries += 1
        return self._second_try(page.number, page.error)

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()

    def _start(self, first: int) -> None:
        self.close()
        self._child = Child(self._path, self._engine, self._limits, first=first)
        self._frames = self._without_header(self._child.frames(self._wait_s), first > 1)

    @staticmethod
    def _without_header(
        frames: Iterator[Header | RawPage | Rejected], again: bool
    ) -> Iterator[Header | RawPage | Rejected]:
        for frame in frames:
            if not (again and isinstance(frame, Header)):
                yield frame

    def _wait_s(self) -> float:
        return min(self._limits.page_s, self._watch.left_s)

    def _second_try(self, number: int, reason: str) -> RawPage:
        """Read one page with the other engine, in a child with the same bounds."""
        other = "pypdf" if self._engine == "pdfium" else "pdfium"
        child = Child(self._path, other, self._limits, first=number, last=number)
        try:
            for frame in child.frames(self._wait_s):
                if isinstance(frame, RawPage) and frame.number == number:
                    return frame
        except ChildFailed:
            pass
        finally:
            child.kill()
        return RawPage(number, error=reason)
