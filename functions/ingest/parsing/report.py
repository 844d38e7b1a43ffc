"""What is said about one page: its state by rules written here, and why."""

from functions.ingest.parsing.text import doubt
from functions.ingest.parsing.wire import RawPage
from shared.models import PageReport, PageState

GARBLED_SHARE = 0.3
"""Doubtful share of a text beyond which a page is not worth indexing; good pages stay under 2 %."""

FEW_CHARACTERS = 25
"""A stamp or a page number is no text layer."""

PICTURE = 0.6
"""Share of a page a picture covers that makes a page with few characters a scanned one."""


def report_of(raw: RawPage, removed: list[str]) -> PageReport:
    """Make the report of a page; a page found garbled loses its text, because nobody could find it by asking."""
    text = "\n".join(line.text for line in raw.lines)
    visible = len(text)
    doubtful = doubt(text)
    notes: list[str] = []
    state: PageState
    if raw.error:
        state = "failed"
        notes.append(raw.error)
    elif visible <= FEW_CHARACTERS and raw.images >= PICTURE:
        state = "scanned"
    elif not visible and raw.hidden:
        state = "hidden"
    elif not visible:
        state = "scanned" if raw.is_pictured else "empty"
    elif doubtful >= GARBLED_SHARE:
        state = "garbled"
        raw.lines = []
    else:
        state = "text"
    if doubtful >= 0.02:
        notes.append(f"{doubtful:.0%} of the text is doubtful")
    if raw.images >= 0.05:
        notes.append(f"pictures cover {raw.images:.0%}")
    if raw.ocr:
        notes.append("read from the text layer of a picture")
    if raw.hidden:
        notes.append(f"{raw.hidden} hidden characters left out")
    if removed:
        notes.append(f"running lines left out: {' | '.join(removed)}")
    if raw.engine != "pdfium" and not raw.error:
        notes.append("read by the fallback")
    has_layer = bool(visible or raw.hidden)
    return PageReport(
        raw.number, visible, state, "; ".join(notes), raw.seconds, min(1.0, doubtful), min(1.0, raw.images), has_layer
    )
