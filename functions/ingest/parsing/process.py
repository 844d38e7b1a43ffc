"""One child process as its parent sees it: its limits, its clock, and the pages it reads."""

import contextlib
import fcntl
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from functions.ingest.parsing import fork_server
from functions.ingest.parsing.wire import HEADER, MAX_FRAME_BYTES, MEMORY_EXIT, Header, RawPage, Rejected, unpack

EARNED_S_PER_CHARACTER = 1 / 100_000
EARNED_PAGE_CHARACTERS = 5_000
"""New text earns time: 20 ms for a page of 2,000 characters, what it takes on a third of a core."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one document; what they cut off is reported.

    The defaults keep any hostile file under 30 s and 512 MB (child and parent together). A long honest file is not cut
    off: each page of new text adds to `wall_s` (see above); bombs have none. Nor is any file on a busy machine: seconds
    in which the child waits for a core do not count.

    max_bytes: of the file. max_pages: of the document. wall_s: seconds spent on the whole document (waiting for the
    consumer of the pages is not counted). page_s: seconds one page may take. cpu_s: CPU seconds a child may use for
    opening the file, and for each page. memory_mb: MiB of address space a child may take above what it starts with.
    max_characters: of text in all.
    """

    max_bytes: int = 100 * 2**20
    max_pages: int = 5_000
    wall_s: float = 25.0
    page_s: float = 5.0
    cpu_s: int = 10
    memory_mb: int = 320
    max_characters: int = 50_000_000


# Two children read a long document at a time, because pdfium has one thread.
LONG_DOCUMENT_PAGES = 300
"""Pages from which a second child is worth its start, the opening of the file, and its memory."""
PARTITION_PAGES = 16
"""Pages one child reads before it is the other's turn: few enough for what is read ahead to fit into a pipe."""

ALL, FIRST, SECOND = 0, 1, 2
"""Which part of a document a child reads; FIRST of a short document is all of it."""


def has_two_cores() -> bool:
    """Whether two children can run at the same time."""
    return (os.process_cpu_count() or 1) >= 2


def part_of(number: int) -> int:
    """Return which part of a long document a page (from 1) belongs to."""
    return FIRST if (number - 1) // PARTITION_PAGES % 2 == 0 else SECOND


def is_shared(part: int, page_count: int) -> bool:
    """Whether a second child reads the other part."""
    return part != ALL and page_count >= LONG_DOCUMENT_PAGES


def pages_of(part: int, first: int, last: int, page_count: int) -> Iterator[int]:
    """Yield the pages `first` to `last` (0: the end) that a child with this part is to read."""
    for number in range(first, (last or page_count) + 1):
        if not is_shared(part, page_count) or part_of(number) == part:
            yield number


READ_BYTES = 1 << 18
PIPE_BYTES = 1 << 20
"""What a child may read ahead, in a pipe: some hundred pages."""
PATIENCE = 5
"""How many times as long as it may take a frame is waited for, at most, where the machine gives the child no core."""
OPENING = 1.5
"""How much longer than a page the first frame may take: the child has to start and to open the file."""

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

    def resume(self) -> None:
        """Start counting again."""
        self._since = self._clock()

    def earn(self, seconds: float) -> None:
        """Add to the limit."""
        self._limit_s += seconds

    @property
    def left_s(self) -> float:
        """Seconds left; negative when the limit is passed."""
        return self._limit_s - self._spent_s - (self._clock() - self._since)


class Wait:
    """What is left of the seconds that a frame may take: those in which the child has no core are not counted."""

    def __init__(self, allowed_s: float, without_core_s: Callable[[], float], clock: Clock = time.monotonic) -> None:
        self._allowed_s = max(0.0, allowed_s)
        self._without_core_s, self._clock = without_core_s, clock
        self._since, self._before_s = clock(), without_core_s()

    @property
    def without_core_s(self) -> float:
        """Seconds of this wait in which the child had no core."""
        return min(self._without_core_s() - self._before_s, self._clock() - self._since)

    @property
    def left_s(self) -> float:
        """Seconds left, 0 at least."""
        allowed = min(self._allowed_s + self.without_core_s, PATIENCE * self._allowed_s)
        return max(0.0, allowed - (self._clock() - self._since))


class Child:
    """One child process reading pages `first`..`last` (1-based, 0 = the end) of a file; yields its frames.

    `part` says which of them, see `pages_of`.
    """

    def __init__(
        self, path: Path, engine: str, limits: Limits, *, first: int = 1, last: int = 0, part: int = ALL
    ) -> None:
        arguments = [str(path), engine, str(first), str(last), str(part)]
        bounds = [str(limits.max_pages), str(limits.cpu_s), str(limits.memory_mb)]
        self._pipe, output = os.pipe()
        try:
            self._process = fork_server.run([*arguments, *bounds], output)
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(output)
        self._buffer = bytearray()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # above the system's limit: the child then waits for us more often
                fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def frames(
        self, wait_s: Callable[[], float], earn: Callable[[float], object] = bool
    ) -> Iterator[Header | RawPage | Rejected]:
        """Yield what the child sends until it is done. `wait_s` gives the seconds the next frame may take.

        `earn` is told for how many seconds the child had no core while a frame was waited for. Raises `ChildFailed`;
        the child is dead by then.
        """
        allowed_s = OPENING * wait_s()
        try:
            while True:
                data, without_core_s = self._frame(allowed_s)
                frame = unpack(data)
                earn(without_core_s)
                if frame is None:
                    return
                yield frame
                allowed_s = wait_s()
        except ValueError as error:
            raise ChildFailed(str(error)) from error
        finally:
            self.kill()

    def _frame(self, allowed_s: float) -> tuple[bytes, float]:
        """Return a frame, and the seconds in which it was waited for while the child had no core."""
        wait: Wait | None = None
        needed = HEADER.size
        while len(self._buffer) < needed:
            wait = self._read(allowed_s, wait)
        (size,) = HEADER.unpack_from(self._buffer)
        if size > MAX_FRAME_BYTES:
            raise ChildFailed("too much text on one page")
        needed += size
        while len(self._buffer) < needed:
            wait = self._read(allowed_s, wait)
        frame = bytes(self._buffer[HEADER.size : needed])
        del self._buffer[:needed]
        return frame, wait.without_core_s if wait else 0.0

    def _read(self, allowed_s: float, wait: Wait | None) -> Wait | None:
        """Read what there is; if that is nothing, wait. Return the wait that has begun, if one has: it has its cost."""
        if not select.select([self._pipe], [], [], 0)[0]:
            wait = wait or Wait(allowed_s, self._without_core_s)
            while not select.select([self._pipe], [], [], wait.left_s)[0]:
                if not wait.left_s:
                    raise ChildFailed("time limit")
        data = os.read(self._pipe, READ_BYTES)
        if not data:
            raise ChildFailed(self._cause_of_death())
        self._buffer += data
        return wait

    def _without_core_s(self) -> float:
        """Return for how long the child was ready to run and had no core; 0 where the system does not tell."""
        try:
            with open(f"/proc/{self._process.pid}/schedstat", "rb", buffering=0) as told:  # noqa: PTH123 - asked for each page
                return int(told.read().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

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
        self._process.kill()
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
