"""Pages read by OCR: ingest asks for those that hold no usable text; a function of its own reads them, one by one.

Each page is stored as soon as it is read, so that a killed worker loses one page. Pages that do not fit into one
invocation are read in the next. When all are read, a change is sent, and ingest finds them.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import DocumentRef, PagesRequest, Verb, change_body, document_ref_of
from functions.ingest.lease import InvocationTime
from functions.ingest.parsing.process import Child, ChildFailed, Limits
from functions.ingest.parsing.wire import HEADER, OCR_ENGINE, RawPage, Rejected, pack_page, unpack
from functions.ingest.ports import ChangeQueue, ObjectReader, ReadPages, SmallObjects
from shared.errors import ConfigurationError, NotFound
from shared.models import OCR_PENDING, UNREAD_STATES, DocumentError, ObjectHead, PageReport, SourceType, ranges_of
from shared.telemetry import logger, metrics
from shared.text import counted

NOTHING = "none"
"""Name of a reading that has found nothing: the document stays as it is."""


def _unread(unread: int, pages: int) -> str:
    """Return how many pages have no text, as the beginning of a sentence."""
    are = "is a picture of text or holds text" if unread == 1 else "are pictures of text or hold text"
    return f"{unread} of {counted(pages, 'page')} {are}"


@dataclass(frozen=True, slots=True)
class PictureReading:
    """Requests readings of a PDF's pictures, and finds the results. Without a `queue` it is off.

    All methods raise `DependencyError`.
    """

    store: ReadPages
    queue: ChangeQueue | None = None

    def reading(self, ref: DocumentRef, head: ObjectHead | None, *, was_read: bool) -> str:
        """Return the name of the finished reading of an object, empty if there is none.

        Where it is off, earlier readings still count: a document that was made with one (`was_read`) is looked up.
        """
        if head is None or ref.source_type is not SourceType.PDF or not (self.queue or was_read):
            return ""
        name = self.store.reading(ref.tenant, ref.document_id, head.version_id)
        return "" if name == NOTHING else name

    def ask(self, verb: Verb, ref: DocumentRef, head: ObjectHead, pages: Sequence[int]) -> bool:
        """Request these pages, if there are any; False where it is off. A repeated request is harmless."""
        if self.queue is None or not pages or ref.source_type is not SourceType.PDF:
            return False
        self.queue.send(PagesRequest(verb, ref.key, head.version_id, pages).body)
        logger.info("pages requested", extra={"to": verb, "document_id": ref.document_id, "pages": len(pages)})
        return True


class Ocr(PictureReading):
    """Pages that hold no usable text, read by OCR."""

    __slots__ = ()

    def pages(self, ref: DocumentRef, head: ObjectHead) -> Mapping[int, RawPage]:
        """Return the pages that OCR has read, by number."""
        found = self.store.pages(ref.tenant, ref.document_id, head.version_id)
        pages = {number: unpack(frame) for number, frame in found.items()}
        return {number: page for number, page in pages.items() if isinstance(page, RawPage)}

    def request(self, ref: DocumentRef, head: ObjectHead, report: Sequence[PageReport]) -> DocumentError | None:
        """Request the pages of a report that hold no usable text, if there are any; return what to say about them."""
        unread = [page.number for page in report if page.state in UNREAD_STATES]
        if not self.ask("read", ref, head, unread):
            return None
        return DocumentError(
            OCR_PENDING,
            f"{_unread(len(unread), len(report))} that cannot be decoded, and can be searched in a few minutes: "
            f"OCR is reading {'it' if len(unread) == 1 else 'them'}.",
        )

    def forget(self, ref: DocumentRef, *, keep_version: str = "") -> None:
        """Delete the readings of every object version but one."""
        if ref.source_type is SourceType.PDF:
            self.store.erase(ref.tenant, ref.document_id, keep_version=keep_version)


READING_VERSION = 2
"""Increase this when pages are read differently: it is part of a reading's name."""
PAGE_S = 60.0
"""Seconds that one page may take; a normal page takes 1 to 8."""
LIMITS = Limits(page_s=PAGE_S, cpu_s=int(PAGE_S), memory_mb=1_200)
KEEP_BACK_S = PAGE_S + 30.0
"""Seconds reserved at the end of an invocation: one slow page, and the writes that record it."""


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads pages for one request at a time. `languages` are Tesseract's, joined by `+`; `prepare` gets their data."""

    objects: ObjectReader
    read_pages: ReadPages
    requests: ChangeQueue
    changes: ChangeQueue
    languages: str
    max_pages: int
    prepare: Callable[[], None]

    def read(self, request: PagesRequest, deadline: InvocationTime) -> None:
        """Read what is still unread, then send a change; with little time left, send the request again instead.

        Raises `DependencyError`.
        """
        ref = document_ref_of(request.key)
        if ref is None:
            return
        at = (ref.tenant, ref.document_id, request.version_id)
        if not self.read_pages.reading(*at):
            if not self.read_pages.begin(*at, seconds=deadline.remaining_s()):
                return  # the worker that has it reads all of it; if that dies, its own message comes back
            try:
                if not self._read(request, at, deadline):
                    self.requests.send(request.body)
                    return
            finally:
                self.read_pages.end(*at)
        self.changes.send(change_body(request.key))

    def _read(self, request: PagesRequest, at: tuple[str, str, str], deadline: InvocationTime) -> bool:
        """Read pages one by one; False when time is short. A version that is gone counts as read."""
        wanted = sorted(set(request.pages))[: self.max_pages]
        done = self.read_pages.numbers(*at)
        left = [number for number in wanted if number not in done]
        read = 0
        with downloaded(self.objects, request) as path:
            if path is None:
                return True
            self.prepare()
            for page in pages_by(f"{OCR_ENGINE}:{self.languages}", path, left, LIMITS):
                frame = pack_page(page)[HEADER.size :]
                if not self.read_pages.save(*at, page.number, frame):
                    empty = RawPage(page.number, engine=OCR_ENGINE, error="too much text")
                    self.read_pages.save(*at, page.number, pack_page(empty)[HEADER.size :])
                read += 1
                if deadline.is_near:
                    break
        metrics.add_metric("PagesReadByOcr", MetricUnit.Count, read)
        is_finished = read == len(left)
        logger.info("pages read", extra={"document_id": at[1], "pages": read, "pages_left": len(left) - read})
        if is_finished:
            self.read_pages.finish(*at, f"{READING_VERSION}/{self.languages}/{len(wanted)}")
        return is_finished


@contextmanager
def downloaded(objects: ObjectReader, request: PagesRequest) -> Iterator[Path | None]:
    """Download the object version that a request names for the length of a block; None if the bucket holds another."""
    head = objects.head(request.key)
    if head is None or head.version_id != request.version_id:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="recto-") as folder:
        path = Path(folder) / "object"
        with suppress(NotFound):
            objects.download(head, path)
        yield path if path.exists() else None


def pages_by(engine: str, path: Path, numbers: Sequence[int], limits: Limits) -> Iterator[RawPage]:
    """Yield pages as an engine reads them in a child process; after a page that it cannot read, a new child continues.

    A page that cannot be read comes with `error`.
    """
    for first, last in ranges_of(numbers):
        unread = first
        while unread <= last:
            try:
                for page in _run(engine, path, unread, last, limits):
                    yield page
                    unread = page.number + 1
            except ChildFailed as failed:
                logger.warning("page not read", extra={"engine": engine, "page": unread, "reason": str(failed)})
                yield RawPage(unread, engine=engine.partition(":")[0], error=str(failed))
                unread += 1
            else:
                break


def _run(engine: str, path: Path, first: int, last: int, limits: Limits) -> Iterator[RawPage]:
    child = Child(path, engine, limits, first=first, last=last)
    try:
        for frame in child.frames(lambda: limits.page_s):
            if isinstance(frame, Rejected):
                raise ChildFailed(frame.message)
            if isinstance(frame, RawPage):
                yield frame
    finally:
        child.kill()


LANGUAGE_DATA = "tessdata"
"""Folder of the bucket with language data that is not in the package: `{language}.traineddata`."""
MAX_LANGUAGE_BYTES = 50 * 2**20


def provide_languages(languages: str, objects: SmallObjects) -> None:
    """Put the data of all languages into one folder, which `TESSDATA_PREFIX` names; fetches what is not packaged.

    Raises `ConfigurationError` if a language is neither packaged nor in the bucket, and `DependencyError`.
    """
    beside_code = Path(__file__).resolve().parents[2] / "share" / LANGUAGE_DATA  # in a Lambda's package
    packaged = beside_code if beside_code.is_dir() else Path(sys.prefix) / "share" / LANGUAGE_DATA
    os.environ["TESSDATA_PREFIX"] = str(packaged)
    missing = [name for name in languages.split("+") if not (packaged / f"{name}.traineddata").exists()]
    if not missing:
        return
    folder = Path(tempfile.gettempdir()) / LANGUAGE_DATA
    folder.mkdir(exist_ok=True)
    for name in missing:
        key = f"{LANGUAGE_DATA}/{name}.traineddata"
        found = objects.read(key, max_bytes=MAX_LANGUAGE_BYTES)
        if found is None or found.body is None or len(found.body) > MAX_LANGUAGE_BYTES:
            raise ConfigurationError(
                f"OcrLanguages names {name!r}, for which there is no data: put Tesseract's {name}.traineddata into the "
                f"bucket as {key}."
            )
        (folder / f"{name}.traineddata").write_bytes(found.body)
    for path in packaged.glob("*.traineddata"):
        if not (folder / path.name).exists():
            (folder / path.name).symlink_to(path)
    os.environ["TESSDATA_PREFIX"] = str(folder)
