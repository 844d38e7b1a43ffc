"""The parent's side of parsing: starts children, watches their time, kills them, and continues after a bad page.

A PDF is hostile input to a C++ library. So it is read by a child process with bounded CPU and memory, whose frames
arrive over a pipe while this side keeps the time; a long document by two of them. When a child dies or stalls on a
page, that page is tried once with the other engine (pypdf, slower and stricter, in a child of its own), and a new child
continues after it.

A subprocess and not multiprocessing: AWS Lambda has no /dev/shm, and forking a parent that runs threads can deadlock.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from functions.ingest.parsing import process
from functions.ingest.parsing.process import ALL, FIRST, SECOND, Child, ChildFailed, Limits, Stopwatch
from functions.ingest.parsing.wire import Header, RawPage, Rejected
from shared.errors import DocumentRejected

MAX_FAILURES = 4
"""Children that may die or stall in one document before the rest is given up (each can cost `page_s` twice)."""
MAX_SECOND_TRIES = 6
"""Pages that may be given to the other engine because the first raised; each costs a child's start."""
HEADER_BYTES = 1024
"""Bytes of a file in which a PDF's header begins."""


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
        if b"%PDF-" not in file.read(HEADER_BYTES):
            raise DocumentRejected("NOT_A_PDF", "This is not a PDF file: upload a file that begins with %PDF.")


class Reader:
    """Reads one document through as many children as it takes. `header` first, then `pages`."""

    def __init__(self, path: Path, limits: Limits, watch: Stopwatch) -> None:
        self.problems: list[str] = []
        self._path, self._limits, self._watch = path, limits, watch
        self._engine = "pdfium"
        self._children: list[Child] = []
        self._frames: Iterator[Header | RawPage | Rejected] = iter(())
        self._seen: set[int] = set()
        self._part = ALL
        self._page_count = 0
        self._failures = self._second_tries = 0

    def header(self) -> Header:
        """Open the document. Raises `DocumentRejected` when neither engine can."""
        rejected: Rejected | None = None
        for engine in ("pdfium", "pypdf"):
            self._engine = engine
            self._start(first=1, part=FIRST if engine == "pdfium" and process.has_two_cores() else ALL)
            try:
                frame = next(self._frames)
            except ChildFailed as error:
                rejected = rejected or Rejected("DAMAGED", f"The file could not be opened: {error}.")
                continue
            if isinstance(frame, Header):
                self._page_count = frame.page_count
                self._share(frame.page_count)
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
                    if isinstance(frame, RawPage) and frame.number == number:
                        self._earn(frame)
                        yield self._retried(frame)
                        number += 1
                if number <= page_count:
                    raise ChildFailed("ended early")  # noqa: TRY301  handled below like a child that died
            except ChildFailed as error:
                if self._watch.left_s <= 0:
                    self.problems.append(f"stopped after page {number - 1}: time limit of the document")
                    return self.close()
                if len(self._children) > 1:  # each had half of the memory: one with all of it may fare better
                    self._start(first=number)
                    continue
                yield self._second_try(number, str(error))
                number += 1
                self._failures += 1
                if self._failures > MAX_FAILURES and number <= page_count:
                    self.problems.append(f"stopped after page {number - 1}: too many pages failed")
                    return self.close()
                if number <= page_count:
                    self._start(first=number)
        return self.close()

    def _earn(self, page: RawPage) -> None:
        """Give more time for new text; pages that repeat each other earn nothing after the first."""
        text = "".join(line.text for line in page.lines)[: process.EARNED_PAGE_CHARACTERS]
        if (key := hash(text)) not in self._seen:
            self._seen.add(key)
            self._watch.earn(len(text) * process.EARNED_S_PER_CHARACTER)

    def _retried(self, page: RawPage) -> RawPage:
        """Retry a page whose engine raised, `MAX_SECOND_TRIES` times in a document."""
        if not page.error or self._second_tries >= MAX_SECOND_TRIES:
            return page
        self._second_tries += 1
        return self._second_try(page.number, page.error)

    def close(self) -> None:
        """End the children."""
        for child in self._children:
            child.kill()
        self._children = []

    def _start(self, first: int, part: int = ALL) -> None:
        self.close()
        child = Child(self._path, self._engine, self._limits, first=first, part=part)
        self._children = [child]
        self._part = part
        self._frames = child.frames(self._wait_s, self._watch.earn)

    def _share(self, page_count: int) -> None:
        """Start the second child for a long document."""
        if process.is_shared(self._part, page_count):
            child = Child(self._path, self._engine, self._limits, part=SECOND)
            self._children.append(child)
            frames = {
                FIRST: self._frames,
                SECOND: self._without_header(child.frames(self._wait_s, self._watch.earn)),
            }
            self._frames = (frame for n in range(1, page_count + 1) for frame in islice(frames[process.part_of(n)], 1))

    @staticmethod
    def _without_header(frames: Iterator[Header | RawPage | Rejected]) -> Iterator[Header | RawPage | Rejected]:
        return (frame for frame in frames if not isinstance(frame, Header))

    def _wait_s(self) -> float:
        return min(self._limits.page_s, self._watch.left_s)

    def _second_try(self, number: int, reason: str) -> RawPage:
        """Read one page with the other engine, in a child with the same bounds.

        If that engine counts another number of pages, its page of this number may be another one and is not used.
        """
        other = "pypdf" if self._engine == "pdfium" else "pdfium"
        child = Child(self._path, other, self._limits, first=number, last=number)
        try:
            for frame in child.frames(self._wait_s, self._watch.earn):
                if isinstance(frame, Header) and frame.page_count != self._page_count:
                    break
                if isinstance(frame, RawPage) and frame.number == number:
                    return frame
        except ChildFailed:
            pass
        finally:
            child.kill()
        return RawPage(number, error=reason)
