"""The rules by which an extraction report becomes a status; they stand here and nowhere else.

    any page with text, nothing missing            READY
    any page with text, something missing          PARTIAL   (failed pages, pictures of text, garbled text, a limit,
                                                             PDFs attached to it)
    no page with text, some are pictures           NEEDS_OCR
    no page with text, some are garbled            NEEDS_OCR (the text layer is unreadable, the pictures of it are not)
    no page with text, only hidden text            FAILED    ONLY_HIDDEN_TEXT
    no page with text, nothing at all on them      FAILED    NO_TEXT
    no page could be read                          FAILED    UNREADABLE
    a password is needed                           ENCRYPTED
    a form that shows nothing but "please wait"    FAILED    XFA_FORM

So a document without one searchable character is never READY.
"""

from collections import Counter
from collections.abc import Sequence

from shared.errors import DocumentRejected
from shared.models import DocumentError, DocumentStatus, PageReport

Verdict = tuple[DocumentStatus, DocumentError | None]


def status_of(reports: Sequence[PageReport], page_count: int, problems: Sequence[str]) -> Verdict:
    """Derive the status and, unless READY, the reason with what to do about it.

    `page_count` is the document's own; pages without a report were not reached. `problems` are sentences such as
    "stopped after page 812: time limit".
    """
    states: Counter[str] = Counter(report.state for report in reports)
    missing = max(0, page_count - len(reports))
    because = f" ({'; '.join(problems)})" if problems else ""
    if any(report.state == "text" and report.characters for report in reports):
        return _with_text(states, page_count, missing, because)
    if states["scanned"] or states["garbled"]:
        return DocumentStatus.NEEDS_OCR, DocumentError(
            "NEEDS_OCR",
            f"{states['scanned'] + states['garbled']} of {page_count} pages are pictures of text or hold text that "
            f"cannot be decoded: run OCR over the file and upload it again.{because}",
        )
    if states["failed"] or missing:
        return DocumentStatus.FAILED, DocumentError(
            "UNREADABLE",
            f"None of the {page_count} pages could be read: open and save the file again with another program, "
            f"then upload it.{because}",
        )
    if states["hidden"]:
        return DocumentStatus.FAILED, DocumentError(
            "ONLY_HIDDEN_TEXT", "All text of this document is invisible on the page, so it is not indexed."
        )
    return DocumentStatus.FAILED, DocumentError(
        "NO_TEXT", f"There is no text on any of the {page_count} pages: check that it is the right file.{because}"
    )


def _with_text(states: Counter[str], page_count: int, missing: int, because: str) -> Verdict:
    lacking = [
        f"{count} {words}"
        for count, words in (
            (states["scanned"], "are pictures without text (run OCR and upload again)"),
            (states["garbled"], "hold text that cannot be decoded (run OCR and upload again)"),
            (states["failed"], "could not be read"),
            (missing, "were not reached"),
        )
        if count
    ]
    if not lacking and not because:
        return DocumentStatus.READY, None
    code = "INCOMPLETE" if states["failed"] or missing or not lacking else "PAGES_NEED_OCR"
    return DocumentStatus.PARTIAL, DocumentError(
        code, f"Of {page_count} pages, {', '.join(lacking) or 'all were read'}; the rest can be searched.{because}"
    )


def status_of_rejection(error: DocumentRejected) -> Verdict:
    """Give the status of a document that could not be opened at all."""
    status = DocumentStatus.ENCRYPTED if error.reason_code == "ENCRYPTED" else DocumentStatus.FAILED
    return status, DocumentError(error.reason_code, error.message)
