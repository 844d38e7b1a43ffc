"""Reads pages with pypdf: the fallback, slower and stricter, with limits of its own on every stream.

Also the second opinion on a file pdfium refuses: it tells a password from damage.
"""

import logging
import re

from pypdf import PasswordType, PdfReader
from pypdf.errors import PyPdfError

from functions.ingest.parsing.wire import MAX_PAGE_CHARACTERS, CannotOpen, Header, Line, RawPage

PASSWORD_NEEDED = "The file needs a password: remove it and upload the file again."  # noqa: S105
DAMAGED = "The file is damaged: open and save it with another program, then upload it."


class PypdfEngine:
    """One open document. Raises `CannotOpen`."""

    def __init__(self, path: str) -> None:
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)
        try:
            self._reader = PdfReader(path, strict=False)
            locked = self._reader.is_encrypted and self._reader.decrypt("") == PasswordType.NOT_DECRYPTED
        except MemoryError:
            raise
        except Exception as error:
            raise CannotOpen("DAMAGED", DAMAGED) from error
        if locked:
            raise CannotOpen("ENCRYPTED", PASSWORD_NEEDED)

    def header(self) -> Header:
        """Count pages, read title and outline."""
        try:
            count = len(self._reader.pages)
        except MemoryError:
            raise
        except Exception as error:
            raise CannotOpen("DAMAGED", DAMAGED) from error
        if count < 1:
            raise CannotOpen("DAMAGED", "No page was found in the file: save it with another program, then upload it.")
        return Header(count, self._title(), [], "pypdf")

    def _title(self) -> str:
        try:
            metadata = self._reader.metadata
            return str((metadata.title if metadata else "") or "")[:500]
        except (PyPdfError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return ""

    def page(self, number: int) -> RawPage:
        """Read one page (from 1); raises whatever pypdf raises."""
        page = self._reader.pages[number - 1]
        text = page.extract_text()
        raw = RawPage(number, engine="pypdf", cut=len(text) > MAX_PAGE_CHARACTERS)
        text = text[:MAX_PAGE_CHARACTERS]
        raw.width, raw.height = float(page.mediabox.width), float(page.mediabox.height)
        raw.unmapped = text.count("\ufffd")
        raw.lines = [Line(line.strip()) for line in re.split(r"\r\n|[\r\n]", text) if line.strip()]
        return raw
