"""A scan of 300 pages is read by invocations that follow each other, two of which are killed.

A text engine stands in for Tesseract: what is tried is who reads which page when.
"""

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest
from reportlab.lib.pagesizes import A5
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from functions.ingest import bootstrap, ocr, reading
from functions.ingest.parsing.process import Child, Limits
from functions.ingest.parsing.wire import OCR_ENGINE, RawPage
from shared.adapters.aws import SystemClock
from shared.adapters.read_pages import DynamoReadPages
from shared.models import DocumentStatus
from tests.support.clock import FakeClock
from tests.support.ingest import Context, Stack, ingest_stack, pdf_of, prose
from tests.support.ingest_kills import Killed, Tripwire

pytestmark = pytest.mark.timeout(600)  # some seconds, and many times that on a machine with much else to do

PAGES = 300
PAGE_MS = 6_000
KEY = "uploads/acme/archive.pdf"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, tmp_path, with_ocr=True) as running:
        yield running


class ShortInvocation(Context):
    """Has less time left with each page that was read."""

    def __init__(self, read: Counter[int]) -> None:
        super().__init__()
        self._read, self._before = read, read.total()

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms - PAGE_MS * (self._read.total() - self._before)


def pictures(pages: int) -> bytes:
    """Make a PDF whose every page is the same small picture of text."""
    drawn = pdfium.PdfDocument(pdf_of([prose("Picture", sentences=12, seed=1)]))
    picture = ImageReader(drawn[0].render(scale=0.5, grayscale=True).to_pil())
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5, invariant=True)
    for _ in range(pages):
        canvas.drawImage(picture, 0, 0, *A5)
        canvas.showPage()
    drawn.close()
    canvas.save()
    return buffer.getvalue()


def test_a_scan_of_300_pages_is_read_by_continuations_though_two_workers_are_killed(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "written.pdf"
    written.write_bytes(pdf_of([f"{prose(f'Page{n}x', sentences=1, seed=n)}" for n in range(1, PAGES + 1)]))
    read: Counter[int] = Counter()

    def text_engine(_engine: str, _path: Path, first: int, last: int, _limits: Limits) -> Iterator[RawPage]:
        child = Child(written, "pdfium", Limits(), first=first, last=last)
        try:
            for frame in child.frames(lambda: 60.0):
                if isinstance(frame, RawPage):
                    read[frame.number] += 1
                    yield replace(frame, engine=OCR_ENGINE)
        finally:
            child.kill()

    monkeypatch.setattr(reading, "_run", text_engine)
    clock, wire = FakeClock(SystemClock().now()), Tripwire()
    pages = DynamoReadPages(stack.aws.dynamodb, stack.aws.documents_table, clock)
    reader = replace(bootstrap.page_reader(), read_pages=wire.guard(pages, "pages"))
    monkeypatch.setattr(bootstrap, "page_reader", lambda: reader)

    def invoke(body: str) -> None:
        context: Any = ShortInvocation(read)
        assert ocr.handler({"Records": [{"messageId": "1", "body": body}]}, context) == {"batchItemFailures": []}

    stack.put(KEY, pictures(PAGES))
    stack.deliver(KEY)
    assert stack.document(KEY).status is DocumentStatus.NEEDS_OCR
    (request,) = stack.asked_of_ocr()
    kills, invocations = [40, 70], 0
    while True:
        invocations += 1
        assert invocations <= 10, "continuations without end"
        wire.set(kills.pop() if kills else -1)
        try:
            invoke(request)
        except Killed:
            clock.advance(1_000)  # the message comes back after its time
            continue
        continuation = stack.asked_of_ocr()
        if not continuation:
            break
        assert continuation == [request]
    assert not kills
    assert invocations >= 4
    # A killed worker loses the page it was at, and no other.
    assert sorted(read) == list(range(1, PAGES + 1))
    assert read.total() <= PAGES + 2
    stack.deliver(KEY)
    document = stack.document(KEY)
    assert (document.status, document.page_count, document.error) == (DocumentStatus.READY, PAGES, None)
    found = " ".join(str(each["text"]) for each in stack.vectors("acme", KEY).values())
    assert [n for n in range(1, PAGES + 1) if f"Page{n}x " not in found] == []
