"""Readings of pictures: what is looked up, and what is asked for."""

from typing import Any

from functions.ingest.changes import DocumentRef
from functions.ingest.reading import PictureReading
from shared.models import ObjectHead, SourceType


class Store:
    """Knows one finished reading, and counts the questions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = 0

    def reading(self, *_: str) -> str:
        self.asked += 1
        return self.name


class Queue:
    def send(self, body: str, *, delay_s: int = 0) -> None: ...


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
