"""Text that lies over a page rather than on it: what was filled into a form, and text boxes."""

from collections.abc import Callable, Iterator
from ctypes import byref

from functions.ingest.parsing import pdfium as fz
from functions.ingest.parsing.wire import Line

MAX_ANNOTATIONS = 1_000
MAX_IN_DOCUMENT = 10_000
"""pdfium keeps what it has loaded: a manual with 60,000 links would take 60 MB to find that none is a form field."""

MAX_CHARACTERS = 5_000


def annotation_lines(page: int, top: float, left: float, form: Callable[[], int | None]) -> list[Line]:
    """Return a line for each filled field ("name: value") and text box; links and comments are not the document's.

    Lines come with `cells` 0: they belong to no paragraph. `form` opens the document's form, where that is needed.
    """
    return [
        Line(text, box.left - left, top - box.top, box.right - left, top - box.bottom, cells=0)
        for text, box in _texts(page, form)
    ]


def _texts(page: int, form: Callable[[], int | None]) -> Iterator[tuple[str, fz.Rect]]:
    for i in range(min(fz.count_annotations(page), MAX_ANNOTATIONS)):
        handle = fz.get_annotation(page, i)
        if not handle:
            continue
        try:
            text = _text(handle, form)
            box = fz.Rect()
            if text and fz.annotation_box(handle, byref(box)):
                yield text, box
        finally:
            fz.close_annotation(handle)


def _text(handle: int, form: Callable[[], int | None]) -> str:
    kind = fz.annotation_kind(handle)
    if kind not in {fz.FREE_TEXT, fz.WIDGET} or fz.annotation_flags(handle) & fz.HIDDEN_FLAGS:
        return ""
    if kind == fz.FREE_TEXT:
        return " ".join(fz.utf16(fz.annotation_text, handle, b"Contents", limit=MAX_CHARACTERS).split())
    value = fz.utf16(fz.annotation_text, handle, b"V", limit=MAX_CHARACTERS)
    name = fz.utf16(fz.annotation_text, handle, b"T", limit=200)
    if not name and not value and (fields := form()):
        # One of several places of the same field, which holds name and value for all of them.
        value = fz.utf16(fz.field_value, fields, handle, limit=MAX_CHARACTERS)
        name = fz.utf16(fz.field_name, fields, handle, limit=200)
    value, name = " ".join(value.split()), " ".join(name.split())
    if not value or value == "Off":
        return ""
    return f"{name}: {value}" if name else value
