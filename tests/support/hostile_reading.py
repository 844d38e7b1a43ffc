"""Reads hostile bytes within limits. A process that is measured loads this alone, and neither pytest nor Hypothesis."""

from pathlib import Path

from functions.ingest.parsing.parse import open_pdf
from functions.ingest.parsing.process import Limits
from functions.ingest.parsing.report import status_of, status_of_rejection
from shared.errors import DocumentRejected
from shared.models import DocumentStatus

LIMITS = Limits(wall_s=20, page_s=5, memory_mb=320)


def read(path: Path, data: bytes, limits: Limits = LIMITS) -> tuple[DocumentStatus, str, dict[int, str]]:
    """Parse bytes; return status, error code and the text of each page."""
    path.write_bytes(data)
    try:
        with open_pdf(path, file_name="some.pdf", limits=limits) as parse:
            pages = {page.number: page.text for page in parse.pages()}
            status, error = status_of(parse.reports, parse.page_count, parse.problems)
            assert [report.number for report in parse.reports] == list(pages)
    except DocumentRejected as rejected:
        pages = {}
        status, error = status_of_rejection(rejected)
    return status, error.code if error else "", pages
