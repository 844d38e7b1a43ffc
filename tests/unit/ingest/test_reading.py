"""Readings of pictures: what is looked up, and what is asked for."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from functions.ingest import reading
from functions.ingest.changes import DocumentRef
from functions.ingest.figures import Figures
from functions.ingest.reading import LANGUAGE_DATA, Ocr, PictureReading, provide_languages
from shared.errors import ConfigurationError
from shared.models import ObjectHead, PageReport, SourceType
from shared.ports import SmallObject


class Store:
    """Knows one finished reading, and counts the questions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = 0
        self.erased: list[tuple[str, str, str]] = []

    def reading(self, *_: str) -> str:
        self.asked += 1
        return self.name

    def erase(self, tenant: str, document_id: str, *, keep_version: str) -> None:
        self.erased.append((tenant, document_id, keep_version))


class Queue:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, body: str, *, delay_s: int = 0) -> None:
        self.sent.append(json.loads(body))


PDF = DocumentRef("acme", "d", "uploads/acme/a.pdf", SourceType.PDF)
FAQ = DocumentRef("acme", "d", "faq/acme/a.json", SourceType.FAQ)
HEAD = ObjectHead(key=PDF.key, version_id="1", etag="", size_bytes=1)


def looked_up(ref: DocumentRef, *, queue: Queue | None, was_read: bool, name: str = "1/eng/2") -> tuple[str, int]:
    store: Any = Store(name)
    on: Any = queue
    return PictureReading(store, on).reading(ref, HEAD, was_read=was_read), store.asked


def test_where_it_is_off_only_documents_that_were_read_are_looked_up() -> None:
    assert looked_up(PDF, queue=None, was_read=False) == ("", 0)
    assert looked_up(PDF, queue=None, was_read=True) == ("1/eng/2", 1)
    assert looked_up(PDF, queue=Queue(), was_read=False) == ("1/eng/2", 1)


def test_what_is_no_pdf_has_no_reading() -> None:
    assert looked_up(FAQ, queue=Queue(), was_read=True) == ("", 0)


def test_a_reading_that_found_nothing_counts_as_none() -> None:
    assert looked_up(PDF, queue=Queue(), was_read=False, name="none") == ("", 1)


REPORT = [
    PageReport(1, 900),
    PageReport(2, 0, "scanned"),
    PageReport(3, 0, "empty"),
    PageReport(4, 12, "garbled"),
    PageReport(5, 0, "failed"),
    PageReport(6, 0, "hidden"),
]


def test_pages_that_show_text_nobody_can_read_are_asked_for_and_the_document_says_so() -> None:
    store: Any = Store("")
    queue = Queue()
    error = Ocr(store, queue).request(PDF, HEAD, REPORT)
    assert queue.sent == [{"recto": "read", "key": PDF.key, "version_id": "1", "pages": [2, 4]}]
    assert error is not None
    assert (error.code, error.message.split(" pages ")[0]) == ("OCR_PENDING", "2 of 6")


@pytest.mark.parametrize(
    ("ref", "report", "is_on"), [(PDF, REPORT[:1], True), (PDF, [], True), (FAQ, REPORT, True), (PDF, REPORT, False)]
)
def test_where_there_is_nothing_to_read_nothing_is_asked_for(
    ref: DocumentRef, report: list[PageReport], is_on: bool
) -> None:
    store: Any = Store("")
    queue = Queue()
    assert Ocr(store, queue if is_on else None).request(ref, HEAD, report) is None
    assert queue.sent == []


@pytest.mark.parametrize(
    ("pages", "reading", "sent"), [([2, 3], "", [[2, 3]]), ([], "", []), ([2], "1/m/1", []), ([2], "none", [])]
)
def test_figures_are_asked_for_once(pages: list[int], reading: str, sent: list[list[int]]) -> None:
    store: Any = Store(reading)
    queue = Queue()
    Figures(store, queue).request(PDF, HEAD, pages)
    assert [(each["recto"], each["pages"]) for each in queue.sent] == [("describe", each) for each in sent]


def test_readings_of_other_versions_are_erased_and_only_pdfs_have_some() -> None:
    store: Any = Store("")
    Ocr(store).forget(PDF, keep_version="2")
    Ocr(store).forget(PDF)
    Ocr(store).forget(FAQ)
    assert store.erased == [("acme", "d", "2"), ("acme", "d", "")]


class Bucket:
    """Implements `SmallObjects` for the data of languages."""

    def __init__(self, **bodies: bytes) -> None:
        self.bodies = {f"tessdata/{name}.traineddata": body for name, body in bodies.items()}
        self.asked: list[str] = []

    def read(self, key: str, *, max_bytes: int) -> SmallObject | None:
        self.asked.append(key)
        body = self.bodies.get(key)
        return None if body is None else SmallObject("1", body[: max_bytes + 1])


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for languages that are fetched; only English is packaged."""
    packaged = tmp_path / "python" / "share" / LANGUAGE_DATA
    packaged.mkdir(parents=True)
    (packaged / "eng.traineddata").write_bytes(b"english")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "python"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TESSDATA_PREFIX", "")
    return tmp_path / LANGUAGE_DATA


def test_packaged_languages_are_used_where_they_lie(folder: Path) -> None:
    bucket = Bucket()
    provide_languages("eng", bucket)
    assert os.environ["TESSDATA_PREFIX"].endswith(f"share/{LANGUAGE_DATA}")
    assert not folder.exists()
    assert bucket.asked == []


def test_a_language_that_is_not_packaged_is_fetched_and_all_lie_in_one_folder(folder: Path) -> None:
    for _ in range(2):
        bucket = Bucket(lit=b"lithuanian")
        provide_languages("eng+lit", bucket)
        assert bucket.asked == ["tessdata/lit.traineddata"]
    assert os.environ["TESSDATA_PREFIX"] == str(folder)
    held = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert held == {"eng.traineddata": b"english", "lit.traineddata": b"lithuanian"}


@pytest.mark.parametrize("size", [None, 101])
@pytest.mark.usefixtures("folder")
def test_a_language_that_is_nowhere_or_too_large_is_named(monkeypatch: pytest.MonkeyPatch, size: int | None) -> None:
    monkeypatch.setattr(reading, "MAX_LANGUAGE_BYTES", 100)
    bucket = Bucket() if size is None else Bucket(lit=b"x" * size)
    with pytest.raises(ConfigurationError, match=r"'lit'.*tessdata/lit\.traineddata"):
        provide_languages("eng+lit", bucket)
