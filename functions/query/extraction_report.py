"""Says what could not be read of a document and what to do about it, in plain words and in the reader's language."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from functions.query.understanding.question import reviewed_text
from shared.models import OCR_FAILED, OCR_PENDING, UNREAD_STATES, Document, DocumentError, SourceType, ranges_of

MAX_SHOWN_RANGES = 20
"""The most ranges of pages that a sentence names; the finding has all of them."""
NOT_REACHED = "not_reached"
_REMEDIES = {OCR_PENDING: "being_read", OCR_FAILED: "ocr_failed"}
"""Texts about pages that OCR reads or has not been able to read, by the document's error."""
RECORDED_IN = "en"
"""The language in which ingest records why a document could not be read."""
KINDS = ("scanned", "garbled", "hidden", "failed", NOT_REACHED, "empty")
"""Kinds of findings, in the order of the report: the states of pages that gave no text, and pages without a report."""


@dataclass(frozen=True, slots=True)
class UnreadPages:
    """Pages of one kind: their ranges (both ends included), a sentence about them, and what to do, empty if nothing."""

    kind: str
    ranges: Sequence[tuple[int, int]]
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """The report of one document; `summary` says how much of it can be searched, `error` why not."""

    summary: str
    findings: Sequence[UnreadPages]
    error: DocumentError | None = None


def report_of(document: Document, language: str) -> ExtractionReport:
    """Describe a document's extraction in one of the languages of `texts/reports`."""
    texts = _texts(language)
    pages_of: dict[str, list[int]] = {}
    for page in document.report:
        pages_of.setdefault(page.state if page.characters or page.state != "text" else "empty", []).append(page.number)
    known = {page.number for page in document.report}
    pages_of[NOT_REACHED] = [number for number in range(1, document.page_count + 1) if number not in known]
    unit = "entries" if document.source_type is SourceType.KNOWLEDGE else "pages"
    instead = _REMEDIES.get(document.error.code, "") if document.error else ""
    findings = [
        _finding(kind, pages_of[kind], unit, texts, instead if kind in UNREAD_STATES else "")
        for kind in KINDS
        if pages_of.get(kind)
    ]
    summary = texts[f"summary_{document.status.value.lower()}"].format(
        read=len(pages_of.get("text", ())), total=document.page_count, unit=texts[f"{unit}_title"]
    )
    return ExtractionReport(summary, findings, _translated(document, language))


def _finding(kind: str, numbers: Sequence[int], unit: str, texts: Mapping[str, str], remedy: str = "") -> UnreadPages:
    ranges = ranges_of(numbers)
    named = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges[:MAX_SHOWN_RANGES])
    more = ", …" if len(ranges) > MAX_SHOWN_RANGES else ""
    title = texts[f"{unit}_title" if len(numbers) > 1 else f"{unit}_title_one"]
    text = texts[kind].format(pages=f"{named}{more}", unit=title)
    of_unit = texts.get(f"{kind}_{unit}_remedy") or texts.get(f"{kind}_remedy", "")
    return UnreadPages(kind, ranges, text, texts[remedy] if remedy else of_unit)


def _translated(document: Document, language: str) -> DocumentError | None:
    """Return why a PDF could not be read in a reader's language; other errors as ingest recorded them, in English."""
    error = document.error
    if error is None or document.source_type is not SourceType.PDF:
        return error
    text = _failures(language).get(error.code, "")
    numbers = re.findall(r"\d+", error.message)  # "The document has 5616 pages, 5000 are allowed"
    if not text or text.count("{}") > len(numbers):
        return error
    return DocumentError(error.code, text.format(*numbers))


@cache
def _failures(language: str) -> dict[str, str]:
    if language == RECORDED_IN:
        return {}
    texts: dict[str, str] = json.loads(reviewed_text(f"failures/{language}.json"))
    return texts


@cache
def _texts(language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads(reviewed_text(f"reports/{language}.json"))
    return texts
