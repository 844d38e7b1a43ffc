"""Scans become searchable: ingest asks for their pages, the OCR function reads them, ingest finds what it read."""

import io
import json
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from functions.ingest import bootstrap
from functions.ingest.parsing import parse
from functions.ingest.parsing.process import Limits
from functions.ingest.reading import pages_by, provide_languages
from shared.adapters.aws import SystemClock
from shared.adapters.read_pages import DynamoReadPages
from shared.models import OCR_FAILED, OCR_PENDING, DocumentStatus
from shared.rects import rects_between
from tests.support.ingest import Stack, ingest_stack, pdf_of, scan_of

FERMENTATION = "Sourdough rises because wild yeast and lactic acid bacteria ferment the flour over night. " * 3
GLACIERS = "Glaciers move downhill under their own weight and carve valleys shaped like the letter U. " * 3
SMALL_PRINT = (
    "The bearer of this ticket waives every claim for loss, theft or damage; article 7 and sections 12 to 19 apply. "
    "Refunds are paid within thirty days, less a fee of 4.50 euros, unless the organiser cancels the event himself. "
) * 6
ALMOST_OVER_MS = 60_000
"""Less than the OCR function keeps back: it reads one page and stops."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("stack")
    with pytest.MonkeyPatch.context() as patch, ingest_stack(patch, folder, with_ocr=True) as running:
        yield running


@pytest.fixture
def scanned(stack: Stack, request: pytest.FixtureRequest) -> str:
    """A scan of two pages that was delivered; its name is the test's."""
    key = f"uploads/acme/{request.node.name}.pdf"
    stack.put(key, scan_of([FERMENTATION, GLACIERS]))
    stack.asked_of_ocr()
    assert stack.deliver(key) == []
    return key


def texts(stack: Stack, key: str) -> str:
    return "\n".join(str(each["text"]) for each in stack.vectors("acme", key).values())


def follow(stack: Stack) -> None:
    """Deliver the changes that the OCR function has sent."""
    for got in stack.aws.sqs.receive_message(QueueUrl=stack.aws.queue_url, MaxNumberOfMessages=10).get("Messages", []):
        stack.aws.sqs.delete_message(QueueUrl=stack.aws.queue_url, ReceiptHandle=got["ReceiptHandle"])
        if json.loads(got["Body"]).get("recto") == "change":
            stack.invoke({"Records": [stack.message(got["Body"])]})


def test_a_scan_is_read_and_searchable_with_places_and_says_so(stack: Stack, scanned: str) -> None:
    waiting = stack.document(scanned)
    assert (waiting.status, waiting.error and waiting.error.code) == (DocumentStatus.NEEDS_OCR, OCR_PENDING)
    (request,) = stack.asked_of_ocr()
    assert json.loads(request)["pages"] == [1, 2]
    assert stack.read_by_ocr(request)
    follow(stack)
    document = stack.document(scanned)
    assert (document.status, document.error) == (DocumentStatus.READY, None)
    assert all("read by OCR, 9" in page.detail for page in document.report)
    for vector in stack.vectors("acme", scanned).values():
        assert vector["ocr"] is True
        text, start = vector["text"], int(vector["char_start"])
        rects, _ = rects_between(vector["rects"], text, start, start, start + len(text))
        assert len(rects) >= 3
        assert {rect.page for rect in rects} == set(range(int(vector["page_start"]), int(vector["page_end"]) + 1))
        assert all(50 < rect.x0 < rect.x1 < 560 for rect in rects)
    assert "wild yeast and lactic acid bacteria" in texts(stack, scanned)
    assert "carve valleys shaped like the letter U" in texts(stack, scanned)


def test_what_was_read_is_not_asked_for_again(stack: Stack, scanned: str) -> None:
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    generation = stack.document(scanned).generation
    assert stack.deliver(scanned) == []
    assert stack.read_by_ocr(request)  # delivered twice
    follow(stack)
    assert stack.document(scanned).generation == generation
    assert stack.asked_of_ocr() == []


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_page_on_its_side_or_head_is_read(stack: Stack, turn: int) -> None:
    key = f"uploads/acme/turned {turn}.pdf"
    stack.put(key, scan_of([GLACIERS], turn=turn))
    stack.deliver(key)
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    assert "carve valleys shaped like the letter U" in texts(stack, key)


def test_a_scan_with_a_text_layer_of_no_language_is_read_again(stack: Stack) -> None:
    shown = FERMENTATION + GLACIERS + SMALL_PRINT
    small = string.ascii_lowercase
    layer = shown.lower().translate(str.maketrans(small, small[3:] + small[:3]))
    writer = PdfWriter(io.BytesIO(scan_of([shown])))
    writer.pages[0].merge_page(PdfReader(io.BytesIO(pdf_of([layer], invisible=True))).pages[0])
    written = io.BytesIO()
    writer.write(written)
    key = "uploads/acme/wrong layer.pdf"
    stack.put(key, written.getvalue())
    stack.deliver(key)
    waiting = stack.document(key)
    assert (waiting.status, waiting.report[0].state) == (DocumentStatus.NEEDS_OCR, "garbled")
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    document = stack.document(key)
    assert (document.status, document.error) == (DocumentStatus.READY, None)
    assert "carve valleys shaped like the letter U" in texts(stack, key)
    assert "dqg" not in texts(stack, key)


def test_a_long_scan_goes_on_where_it_was_interrupted(stack: Stack, scanned: str) -> None:
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request, remaining_ms=ALMOST_OVER_MS)
    follow(stack)
    document = stack.document(scanned)
    assert document.status is DocumentStatus.NEEDS_OCR
    pages = DynamoReadPages(stack.aws.dynamodb, stack.aws.documents_table, SystemClock())
    assert list(pages.pages("acme", document.document_id, document.version_id)) == [1]
    (continuation,) = stack.asked_of_ocr()
    assert continuation == request
    assert stack.read_by_ocr(continuation)
    follow(stack)
    assert stack.document(scanned).status is DocumentStatus.READY


def test_of_two_workers_one_reads_and_a_dead_one_s_turn_ends(stack: Stack, scanned: str) -> None:
    (request,) = stack.asked_of_ocr()
    document = stack.document(scanned)
    pages = DynamoReadPages(stack.aws.dynamodb, stack.aws.documents_table, SystemClock())
    at = ("acme", document.document_id, document.version_id)
    assert pages.begin(*at, seconds=600)
    assert stack.read_by_ocr(request)  # consumed: the other worker reads all of it
    assert pages.pages(*at) == {}
    assert stack.asked_of_ocr() == []
    pages.end(*at)
    assert pages.begin(*at, seconds=-1)  # killed, and its time is over
    assert stack.read_by_ocr(request)
    follow(stack)
    assert stack.document(scanned).status is DocumentStatus.READY


def test_no_more_pages_are_read_than_the_setting_says(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECTO_OCR_MAX_PAGES", "1")
    bootstrap.page_reader.cache_clear()
    key = "uploads/acme/long.pdf"
    stack.put(key, scan_of([FERMENTATION, GLACIERS]))
    stack.deliver(key)
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    bootstrap.page_reader.cache_clear()
    follow(stack)
    document = stack.document(key)
    assert document.status is DocumentStatus.PARTIAL
    assert [page.state for page in document.report] == ["text", "scanned"]
    assert stack.asked_of_ocr() == []


def test_a_scan_of_whose_words_ocr_is_not_sure_says_so_and_is_not_read_again(
    stack: Stack, scanned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parse, "MIN_OCR_CONFIDENCE", 1.01)
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    document = stack.document(scanned)
    assert document.status is DocumentStatus.NEEDS_OCR
    assert document.error is not None
    assert document.error.code == OCR_FAILED
    assert stack.asked_of_ocr() == []


def test_pages_with_text_are_left_alone(stack: Stack) -> None:
    key = "uploads/acme/printed.pdf"
    stack.put(key, pdf_of([FERMENTATION]))
    stack.deliver(key)
    assert stack.asked_of_ocr() == []
    assert "ocr" not in next(iter(stack.vectors("acme", key).values()))


def test_a_picture_without_words_is_no_unread_page(stack: Stack) -> None:
    key = "uploads/acme/blank.pdf"
    stack.put(key, scan_of([FERMENTATION, " "]))
    stack.deliver(key)
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    document = stack.document(key)
    assert [page.state for page in document.report] == ["text", "empty"]
    assert document.status is DocumentStatus.READY


def test_a_replaced_scan_is_read_anew_and_the_old_reading_is_forgotten(stack: Stack, scanned: str) -> None:
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    old = stack.document(scanned)
    stack.put(scanned, scan_of([GLACIERS]))
    stack.deliver(scanned)
    pages = DynamoReadPages(stack.aws.dynamodb, stack.aws.documents_table, SystemClock())
    assert pages.pages("acme", old.document_id, old.version_id) == {}
    assert stack.read_by_ocr(request)  # for the version that is gone
    follow(stack)
    (anew,) = {body for body in stack.asked_of_ocr() if body != request}
    assert stack.read_by_ocr(anew)
    follow(stack)
    assert "Sourdough" not in texts(stack, scanned)
    assert "Glaciers" in texts(stack, scanned)


def test_a_deleted_scan_leaves_nothing_that_was_read(stack: Stack, scanned: str) -> None:
    (request,) = stack.asked_of_ocr()
    assert stack.read_by_ocr(request)
    follow(stack)
    document = stack.document(scanned)
    stack.delete(scanned)
    stack.deliver(scanned, event="ObjectRemoved:DeleteMarkerCreated")
    pages = DynamoReadPages(stack.aws.dynamodb, stack.aws.documents_table, SystemClock())
    at = ("acme", document.document_id, document.version_id)
    assert (pages.pages(*at), pages.reading(*at)) == ({}, "")


def test_a_request_that_was_given_up_asks_anew_when_it_is_redriven(stack: Stack, scanned: str) -> None:
    (request,) = stack.asked_of_ocr()
    stack.invoke({"Records": [stack.message(request)]})  # `make redrive` puts dead letters on ingest's queue
    assert stack.asked_of_ocr() == [request]


def test_unreadable_messages_are_dropped(stack: Stack) -> None:
    assert stack.read_by_ocr("{}")
    assert stack.read_by_ocr("[" * 200_000)
    assert stack.read_by_ocr('{"recto": "read", "key": "uploads/acme/a.pdf", "version_id": "1", "pages": ["x"]}')


def test_a_page_that_stops_the_reader_does_not_stop_the_others(tmp_path: Path, stack: Stack) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(scan_of([FERMENTATION, GLACIERS]))
    bootstrap.page_reader().prepare()
    pages = list(pages_by("tesseract:eng", path, [1, 2], Limits(memory_mb=40)))  # no page can be drawn
    assert [(page.number, bool(page.error)) for page in pages] == [(1, True), (2, True)]


def test_small_print_is_read(tmp_path: Path, stack: Stack) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(scan_of([SMALL_PRINT], size=4))
    bootstrap.page_reader().prepare()
    (page,) = pages_by("tesseract:eng", path, [1], Limits())
    lost = Counter(SMALL_PRINT.split()) - Counter(word for line in page.lines for word in line.text.split())
    assert lost.total() < 0.1 * len(SMALL_PRINT.split())  # a quarter at the resolution of other pages


def test_a_language_that_is_nowhere_is_named(stack: Stack) -> None:
    objects = bootstrap.page_reader().objects
    with pytest.raises(Exception, match=r"tessdata/xyz\.traineddata"):
        provide_languages("eng+xyz", objects)  # type: ignore[arg-type]
