"""The report of each page, and the rules by which the document's status follows from them."""

from collections import Counter
from collections.abc import Collection, Sequence

from functions.ingest.parsing.legible import illegible_share, may_be_mended, mended
from functions.ingest.parsing.text import doubtful_share
from functions.ingest.parsing.wire import OCR_ENGINE, RawPage
from shared.errors import DocumentRejected
from shared.models import OCR_FAILED, UNREAD_STATES, DocumentError, DocumentStatus, PageReport, PageState
from shared.text import counted

GARBLED_SHARE = 0.3
"""Doubtful share of a text beyond which a page is not worth indexing; good pages stay under 2 %."""
FEW_CHARACTERS = 25
"""A stamp or a page number is no text layer."""
BEFORE_OCR = "Run OCR over the file and upload it again."
AFTER_OCR = (
    "OCR found no text in them that it is sure of: upload a clearer scan or a file with text, or ask the operator to "
    "add the document's language to OcrLanguages."
)
PICTURE = 0.6
"""Share of a page a picture covers that makes a page with few characters a scanned one."""
WHOLE_PICTURE = 0.9
EDGE = 0.05
MAX_STAMP = 80
"""A picture covers at least `WHOLE_PICTURE` of a page. If all text is then within `EDGE` of its height from the top or
the bottom, and no more than `MAX_STAMP` characters, it is a stamp, such as a court's number on a scan."""
DOUBTFUL_NOTED = 0.02
PICTURES_NOTED = 0.05
"""Share of a page's text that is doubtful, and of its area that pictures cover, from which on its report says so."""


def mend(raw: RawPage) -> None:
    """Give a garbled page the letters that its own stand for, one for one, where they are known for sure."""
    text = _text_of(raw)
    if may_be_mended(text) and _doubt(text) >= GARBLED_SHARE and (letters := mended(text)):
        raw.mended = True
        for line in raw.lines:
            line.text = line.text.translate(letters)


def report_of(raw: RawPage, removed: list[str]) -> PageReport:
    """Make the report of a page; a garbled page loses its text, because no question would find it."""
    text = _text_of(raw)
    doubtful = _doubt(text)
    visible = _visible(raw, text)
    state = _state_of(raw, visible, doubtful)
    notes = [raw.error] if raw.error else []
    if state == "garbled":
        raw.lines = []
    if raw.mended:
        notes.append("letters that stood for others were put right")
    if doubtful >= DOUBTFUL_NOTED:
        notes.append(f"{doubtful:.0%} of the text is doubtful")
    if raw.images >= PICTURES_NOTED:
        notes.append(f"pictures cover {raw.images:.0%}")
    if raw.ocr:
        notes.append("read from the text layer of a picture")
    if raw.hidden:
        notes.append(f"{raw.hidden} hidden characters left out")
    if removed:
        notes.append(f"running lines left out: {' | '.join(removed)}")
    if raw.engine == "pypdf" and not raw.error:
        notes.append("read by the fallback")
    if raw.engine == OCR_ENGINE:
        notes.append(f"read by OCR, {raw.confidence:.0%} sure")
    has_layer = bool(text or raw.hidden)
    return PageReport(
        raw.number, len(text), state, "; ".join(notes), raw.seconds, min(1.0, doubtful), min(1.0, raw.images), has_layer
    )


def is_unread(raw: RawPage) -> bool:
    """Whether a page shows text that could not be read: it is a picture, or its text cannot be decoded."""
    text = _text_of(raw)
    return _state_of(raw, _visible(raw, text), _doubt(text)) in UNREAD_STATES


def _visible(raw: RawPage, text: str) -> int:
    """Count the characters of a page's text; none if the page is one picture with only a stamp on it."""
    _, height = raw.shown_size
    if raw.images < WHOLE_PICTURE or len(text) > MAX_STAMP or not raw.has_positions or height <= 0:
        return len(text)
    inner = [line for line in raw.lines if line.y1 > EDGE * height and line.y0 < (1 - EDGE) * height]
    return len(text) if inner else 0


def _text_of(raw: RawPage) -> str:
    return "\n".join(line.text for line in raw.lines)


def _doubt(text: str) -> float:
    """Return the share of a text (0..1) that was decoded wrongly or is of no language."""
    return max(doubtful_share(text), illegible_share(text))


def _state_of(raw: RawPage, visible: int, doubtful: float) -> PageState:
    if raw.error:
        return "failed"
    if raw.engine == OCR_ENGINE and not visible:
        return "empty"  # a picture without words
    if visible <= FEW_CHARACTERS and raw.images >= PICTURE:
        return "scanned"
    if not visible and raw.hidden:
        return "hidden"
    if not visible:
        return "scanned" if raw.is_pictured else "empty"
    return "garbled" if doubtful >= GARBLED_SHARE else "text"


Verdict = tuple[DocumentStatus, DocumentError | None]


def status_of(
    reports: Sequence[PageReport], page_count: int, problems: Sequence[str], ocr_failed: Collection[int] = ()
) -> Verdict:
    """Derive the status and, unless READY, the reason with what to do about it.

    `page_count` is the document's own; pages without a report were not reached. `problems` are sentences such as
    "stopped after page 812: time limit". `ocr_failed` are the numbers of pages that OCR could not read either.
    """
    states: Counter[str] = Counter(report.state for report in reports)
    missing = max(0, page_count - len(reports))
    because = f" ({'; '.join(problems)})" if problems else ""
    unread = [report.number for report in reports if report.state in UNREAD_STATES]
    is_ocr_done = bool(unread) and set(unread) <= set(ocr_failed)
    if any(report.state == "text" and report.characters for report in reports):
        return _with_text(states, page_count, missing, because, is_ocr_done=is_ocr_done)
    if unread:
        code, advice = _told("NEEDS_OCR", is_ocr_done=is_ocr_done)
        return DocumentStatus.NEEDS_OCR, DocumentError(
            code,
            f"Pages that are pictures of text, or whose text cannot be decoded: {len(unread)} of {page_count}. "
            f"{advice}{because}",
        )
    if states["failed"] or missing:
        none = "The page could not be read" if page_count == 1 else f"None of the {page_count} pages could be read"
        return DocumentStatus.FAILED, DocumentError(
            "UNREADABLE", f"{none}: open and save the file again with another program, then upload it.{because}"
        )
    if states["hidden"]:
        return DocumentStatus.FAILED, DocumentError(
            "ONLY_HIDDEN_TEXT", "All text of this document is invisible on the page, so it is not indexed."
        )
    where = "the page" if page_count == 1 else f"any of the {page_count} pages"
    return DocumentStatus.FAILED, DocumentError(
        "NO_TEXT", f"There is no text on {where}: check that it is the right file.{because}"
    )


def _told(needs_ocr: str, *, is_ocr_done: bool) -> tuple[str, str]:
    """Return the code and the advice for pages without text that could be read, before and after OCR."""
    return (OCR_FAILED, AFTER_OCR) if is_ocr_done else (needs_ocr, BEFORE_OCR)


def _with_text(states: Counter[str], page_count: int, missing: int, because: str, *, is_ocr_done: bool) -> Verdict:
    lacking = [
        f"{count} {words}"
        for count, words in (
            (states["scanned"], "only a picture of text" if states["scanned"] == 1 else "only pictures of text"),
            (states["garbled"], "with text that cannot be decoded"),
            (states["failed"], "that could not be read"),
            (missing, "not reached"),
        )
        if count
    ]
    if not lacking and not because:
        return DocumentStatus.READY, None
    needs_ocr, advice = _told("PAGES_NEED_OCR", is_ocr_done=is_ocr_done)
    code = "INCOMPLETE" if states["failed"] or missing or not lacking else needs_ocr
    said = "All pages were read."
    if lacking:
        said = f"Of {counted(page_count, 'page')}: {', '.join(lacking)}. The rest can be searched."
    if states["scanned"] or states["garbled"]:
        said += f" {advice}"
    return DocumentStatus.PARTIAL, DocumentError(code, said + because)


def status_of_rejection(error: DocumentRejected) -> Verdict:
    """Give the status of a document that could not be opened at all."""
    status = DocumentStatus.ENCRYPTED if error.reason_code == "ENCRYPTED" else DocumentStatus.FAILED
    return status, DocumentError(error.reason_code, error.message)
