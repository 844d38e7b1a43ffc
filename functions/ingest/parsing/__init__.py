"""PDF in, cleaned pages out: bounded in time and memory whatever the file holds, and truthful about what was found."""

from functions.ingest.parsing.limits import Limits
from functions.ingest.parsing.parse import PdfParse, open_pdf
from functions.ingest.parsing.rules import status_of, status_of_rejection

__all__ = ["Limits", "PdfParse", "open_pdf", "status_of", "status_of_rejection"]
