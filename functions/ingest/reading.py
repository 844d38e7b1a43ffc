"""Pages read by OCR: ingest asks for those that hold no usable text; a function of its own reads them, one by one.

Each page is stored as soon as it is read, so that a killed worker loses one page. What cannot be finished in one
invocation goes on in the next. When all are read, a change is sent, and ingest finds them.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aws_lambda_powertools.metrics import MetricUnit

from functions.ingest.changes import DocumentRef, change_body, document_ref_of
from functions.ingest.lease import InvocationTime
from functions.ingest.parsing.process import Child, ChildFailed, Limits
from functions.ingest.parsing.wire import HEADER, OCR_ENGINE, RawPage, Rejected, pack_page, unpack
from functions.ingest.ports import ChangeQueue, ObjectReader, ReadPages, SmallObjects
from shared.errors import ConfigurationError, NotFound
from shared.models import OCR_PENDING, UNREAD_STATES, DocumentError, ObjectHead, PageReport, SourceType, ranges_of
from shared.telemetry import logger, metrics


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """Pages (from 1) of one object version that OCR is asked to read."""

    key: str
    version_id: str
    pages: Sequence[int]

    @property
    def body(self) -> str:
        """The request as a message."""
        body = {"recto": "read", "key": self.key, "version_id": self.version_id, "pages": list(self.pages)}
        return json.dumps(body, ensure_ascii=False)

    @classmethod
    def of(cls, body: str) -> "ReadingRequest":
        """Read a message. Raises `ValueError` when it is none of these."""
        match json.loads(body):
            case {"recto": "read", "key": str(key), "version_id": str(version_id), "pages": [*pages]} if all(
                isinstance(page, int) and page > 0 for page in pages
            ):
                return cls(key, version_id, pages)
        raise ValueError("not a request to read pages")


@dataclass(frozen=True, slots=True)
class Ocr:
    """Asks for pages to be read, and knows which have been. Without a `queue` OCR is off; what was read still counts.

    All methods raise `DependencyError`.
    """

    read_pages: ReadPages
    queue: ChangeQueue | None = None

    def reading(self, ref: DocumentRef, head: ObjectHead | None) -> str:
        """Return the name of the finished reading of an object, empty if there is none."""
        if head is None or ref.source_type is not SourceType.PDF:
            return ""
        return self.read_pages.reading(ref.tenant, ref.document_id, head.version_id)

    def pages(self, ref: DocumentRef, head: ObjectHead) -> Mapping[int, RawPage]:
        """Return the pages that OCR has read, by number."""
        found = self.read_pages.pages(ref.tenant, ref.document_id, head.version_id)
        pages = {number: unpack(frame) for number, frame in found.items()}
        return {number: page for number, page in pages.items() if isinstance(page, RawPage)}

    def request(self, ref: DocumentRef, head: ObjectHead, report: Sequence[PageReport]) -> DocumentError | None:
        """Ask for the pages of a report that hold no usable text, if there are any; return what to say of them.

        A repeated request is harmless.
        """
        unread = [page.number for page in report if page.state in UNREAD_STATES]
        if self.queue is None or not unread or ref.source_type is not SourceType.PDF:
            return None
        self.queue.send(ReadingRequest(ref.key, head.version_id, unread).body)
        logger.info("OCR requested", extra={"document_id": ref.document_id, "pages": len(unread)})
        return DocumentError(
            OCR_PENDING,
            f"{len(unread)} of {len(report)} pages are pictures of text or hold text that cannot be decoded. They are "
            "being read by OCR, and can be searched in some minutes.",
        )

    def forget(self, ref: DocumentRef, *, keep_version: str = "") -> None:
        """Delete what was read of every object version but one."""
        if ref.source_type is SourceType.PDF:
            self.read_pages.erase(ref.tenant, ref.document_id, keep_version=keep_version)


READING_VERSION = 1
"""Increase this when pages are read in another way: it is part of a reading's name."""
PAGE_S = 60.0
"""Seconds that one page may take; an honest one takes 1 to 8."""
MEMORY_MB = 1_200
KEEP_BACK_S = PAGE_S + 30.0
"""Seconds kept back at the end of an invocation: one slow page, and the writes that record it."""


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

    def read(self, request: ReadingRequest, deadline: InvocationTime) -> None:
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

    def _read(self, request: ReadingRequest, at: tuple[str, str, str], deadline: InvocationTime) -> bool:
        """Read pages one by one; False when time is short. A version that is gone counts as read."""
        wanted = sorted(set(request.pages))[: self.max_pages]
        done = self.read_pages.numbers(*at)
        left = [number for number in wanted if number not in done]
        head = self.objects.head(request.key)
        if head is None or head.version_id != request.version_id:
            return True
        read = 0
        with tempfile.TemporaryDirectory(prefix="recto-") as folder:
            path = Path(folder) / "object"
            try:
                self.objects.download(head, path)
            except NotFound:
                return True
            self.prepare()
            for page in pages_of(path, left, languages=self.languages, deadline=deadline):
                frame = pack_page(page)[HEADER.size :]
                if not self.read_pages.save(*at, page.number, frame):
                    empty = RawPage(page.number, engine=OCR_ENGINE, error="too much text")
                    self.read_pages.save(*at, page.number, pack_page(empty)[HEADER.size :])
                read += 1
        metrics.add_metric("PagesReadByOcr", MetricUnit.Count, read)
        is_finished = read == len(left)
        logger.info("pages read", extra={"document_id": at[1], "pages": read, "pages_left": len(left) - read})
        if is_finished:
            self.read_pages.finish(*at, f"{READING_VERSION}/{self.languages}/{len(wanted)}")
        return is_finished


def pages_of(path: Path, numbers: Sequence[int], *, languages: str, deadline: InvocationTime) -> Iterator[RawPage]:
    """Yield pages as they are read, until time is short. One that cannot be read comes with `error`."""
    for first, last in ranges_of(numbers):
        for page in _pages_between(path, first, last, languages):
            yield page
            if deadline.is_near:
                return


def _pages_between(path: Path, first: int, last: int, languages: str) -> Iterator[RawPage]:
    """Yield the pages of a run; after one that cannot be read, another child reads the rest."""
    while first <= last:
        try:
            for page in _run(path, first, last, languages):
                yield page
                first = page.number + 1
        except ChildFailed as failed:
            logger.warning("page not read", extra={"page": first, "reason": str(failed)})
            yield RawPage(first, engine=OCR_ENGINE, error=str(failed))
            first += 1
        else:
            return


def _run(path: Path, first: int, last: int, languages: str) -> Iterator[RawPage]:
    limits = Limits(page_s=PAGE_S, cpu_s=int(PAGE_S), memory_mb=MEMORY_MB)
    child = Child(path, f"{OCR_ENGINE}:{languages}", limits, first=first, last=last)
    try:
        for frame in child.frames(lambda: PAGE_S):
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
    """Have the data of all languages in one folder, which `TESSDATA_PREFIX` names; fetches what is not packaged.

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
