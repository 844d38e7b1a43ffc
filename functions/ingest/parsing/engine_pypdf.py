"""Uses of pypdf: the fallback engine, and the text of fonts that name their glyphs by number.

The engine is slower and stricter than pdfium, with limits of its own on every stream; it also decides whether
a file pdfium refuses is encrypted or damaged.

The fonts have no ToUnicode, but /Differences such as "/G59 /G6F /G75" ("You"): some producers (Ghostscript's and
Distiller's Type 1 conversions of TrueType fonts) give each glyph the name of its character code. pdfium and pypdf treat
such names as unknown; pdf.js decodes them, and so does this module.
"""

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from pypdf import PasswordType, PdfReader
from pypdf.errors import PyPdfError

from functions.ingest.parsing.wire import MAX_PAGE_CHARACTERS, PASSWORD_NEEDED, CannotOpen, Header, Line, RawPage

logging.getLogger("pypdf").setLevel(logging.CRITICAL)

DAMAGED = "The file is damaged: open and save it with another program, then upload it."
LONGEST_TITLE = 500
"""Characters of a file's own title that are read."""


class PypdfEngine:
    """One open document. Raises `CannotOpen`."""

    def __init__(self, path: str) -> None:
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
        return Header(count, self._told("title"), [], "pypdf", author=self._told("author"))

    def _told(self, name: Literal["title", "author"]) -> str:
        try:
            metadata = self._reader.metadata
            return str((getattr(metadata, name) if metadata else "") or "")[:LONGEST_TITLE]
        except (PyPdfError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return ""

    def page(self, number: int) -> RawPage:
        """Read one page (from 1); raises whatever pypdf raises."""
        page = self._reader.pages[number - 1]
        text = page.extract_text()
        raw = RawPage(number, engine="pypdf", cut=len(text) > MAX_PAGE_CHARACTERS)
        text = text[:MAX_PAGE_CHARACTERS]
        raw.width, raw.height = float(page.mediabox.width), float(page.mediabox.height)
        raw.lines = [Line(line.strip()) for line in re.split(r"\r\n|[\r\n]", text) if line.strip()]
        return raw


_NAME = re.compile(r"/(?:G(?P<hex>[0-9A-Fa-f]{2})|g(?P<long>[0-9A-Fa-f]{4})|(?:C|c|cid)(?P<decimal>\d{2,4}))(?:\.\w*)?")
_UNICODE = re.compile(r"uni([0-9A-F]{4})")
_SUBSET = re.compile(r"^/(?:[A-Z]{6}\+)?")
_NO_NUMBER = ("/.notdef", "/space")
MOSTLY = 0.9
NEAR = 8
"""Characters to look ahead when the two texts differ."""


def letter_of(name: str) -> str:
    """Return the character a glyph's name ("/G59", "/C089") stands for, or "" if it names none."""
    match = _NAME.fullmatch(name)
    if not match:
        return ""
    code = int(match["hex"] or match["long"], 16) if not match["decimal"] else int(match["decimal"])
    if 0x80 <= code < 0x100:
        return bytes([code]).decode("cp1252", "ignore")
    return chr(code) if 0x20 <= code < 0xD800 else ""


def ligature_of(name: str) -> str:
    """Return the letters that the name of a ligature ("/f_i.liga", "/uni0066_uni0069") lists, or "" if it is none."""
    listed = name[1:].split(".", 1)[0].split("_")
    letters = [part if len(part) == 1 else _letter_in_unicode(part) for part in listed]
    return "".join(letters) if len(letters) > 1 and all(letters) else ""


def _letter_in_unicode(name: str) -> str:
    match = _UNICODE.fullmatch(name)
    letter = chr(int(match[1], 16)) if match else ""
    return letter if letter.isprintable() else ""


class GlyphNames:
    """The glyph names of one file's fonts."""

    def __init__(self, path: str) -> None:
        self._reader = PdfReader(path)

    def letters(self, number: int) -> dict[str, dict[str, str]]:
        """Return, for each font of a page (from 1) without ToUnicode, what its codes stand for.

        Fonts are keyed by base name without the subset's tag, as in pdfium. Raises whatever pypdf raises.
        """
        found: dict[str, dict[str, str]] = {}
        for name, differences in self._fonts(number):
            _learn(found.setdefault(name, {}), self._differences(differences).items())
        return found

    def ligatures(self, number: int) -> dict[str, dict[str, str]]:
        """Return, for each font of a page (from 1) without ToUnicode, which letters the codes of ligatures stand for.

        They are named by their letters: "/f_f_i". Codes that two subsets of a font disagree on stay unread. Raises
        whatever pypdf raises.
        """
        found: dict[str, dict[str, str]] = {}
        for font, differences in self._fonts(number):
            told = ((code, ligature_of(name)) for code, name in _glyphs(differences))
            _learn(found.setdefault(font, {}), ((code, letters) for code, letters in told if letters))
        return found

    def _fonts(self, number: int) -> Iterator[tuple[str, object]]:
        """Yield the base name and the glyphs of each font of a page without ToUnicode."""
        resources = self._reader.pages[number - 1]["/Resources"].get_object()
        for font in resources["/Font"].get_object().values():  # type: ignore[index]
            font = font.get_object()
            if "/ToUnicode" in font or "/Encoding" not in font:
                continue
            encoding = font["/Encoding"].get_object()
            if isinstance(encoding, Mapping) and "/Differences" in encoding:
                yield _SUBSET.sub("", str(font.get("/BaseFont", ""))), encoding["/Differences"].get_object()

    def text(self, number: int) -> str:
        """Return a page's letters as pypdf finds them, without white space; raises whatever it raises."""
        text = "".join(self._reader.pages[number - 1].extract_text().split())
        return _NAME.sub(lambda name: letter_of(name.group()), text)

    @staticmethod
    def _differences(differences: object) -> dict[str, str]:
        letters = {code: letter_of(name) or "\ufffd" for code, name in _glyphs(differences) if name not in _NO_NUMBER}
        # pdfium decodes a font that names some glyphs properly, so its characters are no codes.
        named = sum(letter != "\ufffd" for letter in letters.values())
        return letters if named >= MOSTLY * len(letters) else {}


def _learn(known: dict[str, str], told: Iterable[tuple[str, str]]) -> None:
    """Learn the codes of a font; two subsets may number differently: codes that they disagree on stay unread."""
    for code, letters in told:
        known[code] = letters if known.get(code, letters) == letters else "\ufffd"


def _glyphs(differences: object) -> Iterator[tuple[str, str]]:
    """Yield each code that an encoding names a glyph for, and that name."""
    code = 0
    for item in differences if isinstance(differences, list) else ():
        if isinstance(item, int):
            code = int(item)
        else:
            yield chr(code % 256), str(item)
            code += 1


def lost_letters(read: str, whole: str, letters: Collection[str]) -> dict[int, str]:
    """Return which of `letters` stand in `whole` but not in `read`, by the position in `read` they belong before.

    pdfium takes a font's code 32 for a space, whatever its glyph, and drops spaces that follow each other. Both texts
    are in the order of the content stream, so one walk finds the places; once they differ for good, it finds no more.
    """
    lost: dict[int, str] = {}
    at = 0
    for i, character in enumerate(read):
        if character.isspace():
            continue
        if whole[at : at + 1] in letters and whole[at : at + 1] != character and whole[at + 1 : at + 2] == character:
            lost[i] = whole[at]
            at += 1
        found = whole.find(character, at, at + NEAR)
        at = found + 1 if found >= 0 else at
    return lost
