"""Reads pages with pdfium: words with their boxes and styles, what covers the page, what is hidden.

pdfium gives text in the order of the content stream, with its own line ends; 400 pages/s. All that is asked beyond that
is asked per word (two boxes, one object) or per text object (style), never per character.
"""

from __future__ import annotations

import ctypes
import re
from collections import deque
from collections.abc import Iterator, Mapping
from ctypes import addressof, byref, c_float
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

from functions.ingest.parsing import pdfium as fz
from functions.ingest.parsing.annotations import MAX_IN_DOCUMENT, annotation_lines
from functions.ingest.parsing.layout import Style, Word, lay_out
from functions.ingest.parsing.objects import Box, Scene
from functions.ingest.parsing.styles import font_name, styles_of
from functions.ingest.parsing.wire import MAX_PAGE_CHARACTERS, CannotOpen, Header, RawPage

if TYPE_CHECKING:
    from functions.ingest.parsing.glyphs import GlyphNames

MAX_OUTLINE = 20_000
MAX_DEPTH = 12
WORD = re.compile(r"[^\s\ufffe\x02\x00]+|[\r\n\ufffe\x02]+")
"""Words, and what ends a line. pdfium writes a hyphen at a line's end as U+FFFE or U+0002 and drops the newline."""

SURROGATE = re.compile("[\ud800-\udfff]")
LINE_ENDS = frozenset("\r\n\ufffe\x02")

PRIVATE = 0xF0000
"""Where private-use characters of no known meaning begin (plane 15)."""

CODES = re.compile("[\x01\x03-\x08\x0b\x0c\x0e-\x1f]")
CODED = 0.05
"""Share of control characters that tells a page's text as bare codes of its fonts; other texts have none."""

OCR_PICTURE = 0.4
"""Share of the page a picture covers under which invisible text is no OCR layer of it."""

TINY_POINTS = 1.2
"""Print smaller than this cannot be read on paper; figures go down to about 2 points."""


class PdfiumEngine:
    """One open document. Raises `CannotOpen`."""

    def __init__(self, path: str) -> None:
        fz.init_library()
        self._document = fz.load_document(path.encode("utf-8", "surrogateescape"), None)
        self._path = path
        self._names: GlyphNames | None = None
        self._annotations = 0
        if not self._document:
            code = fz.last_error()
            if code == fz.ERROR_PASSWORD:
                raise CannotOpen("ENCRYPTED", "The file needs a password: remove it and upload the file again.")
            raise CannotOpen("DAMAGED", "The file is damaged: open and save it with another program, then upload it.")

    def header(self) -> Header:
        """Count pages, read title and outline."""
        title = fz.utf16(fz.meta_text, self._document, b"Title")
        count = fz.page_count(self._document)
        if count < 1:
            raise CannotOpen("DAMAGED", "No page was found in the file: save it with another program, then upload it.")
        return Header(count, title, self._outline(count))

    def _outline(self, count: int) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        seen: set[int] = set()
        stack = [(fz.first_bookmark(self._document, None), 1)]
        while stack and len(seen) < MAX_OUTLINE:
            mark, level = stack.pop()
            if not mark or mark in seen:
                continue
            seen.add(mark)
            page = self._target(mark)
            title = " ".join(fz.utf16(fz.bookmark_title, mark).split())[:300]
            if title and 0 <= page < count:
                found.append((page + 1, level, title))
            stack.append((fz.next_bookmark(self._document, mark), level))
            if level < MAX_DEPTH:
                stack.append((fz.first_bookmark(self._document, mark), level + 1))
        return found

    def _target(self, mark: int) -> int:
        target = fz.bookmark_dest(self._document, mark)
        if not target:
            action = fz.bookmark_action(mark)
            target = fz.action_dest(self._document, action) if action else None
        return int(fz.dest_page(self._document, target)) if target else -1

    def page(self, number: int) -> RawPage:
        """Read one page (from 1). Raises `RuntimeError` when pdfium cannot load it."""
        page = fz.load_page(self._document, number - 1)
        if not page:
            raise RuntimeError("page cannot be loaded")
        text = fz.load_text(page)
        try:
            return self._read(number, page, text)
        finally:
            if text:
                fz.close_text(text)
            fz.close_page(page)

    def _read(self, number: int, page: int, text: int) -> RawPage:
        box = fz.Rect()
        fz.page_box(page, byref(box))
        bounds = (box.left, box.bottom, box.right, box.top)
        scene = Scene(page, bounds)
        raw = RawPage(number, fz.utf16(fz.page_label, self._document, number - 1, limit=64))
        raw.width, raw.height = box.right - box.left, box.top - box.bottom
        raw.images, raw.paths = scene.coverage()
        if not text:
            raise RuntimeError("text cannot be loaded")
        characters = _characters(text, MAX_PAGE_CHARACTERS)
        raw.cut = len(characters) >= MAX_PAGE_CHARACTERS
        both: dict[int, str] = {}
        if len(CODES.findall(characters)) > CODED * len(characters):
            characters, both = self._decoded(number, text, characters)
        words, hidden = _words(text, characters, scene, bounds)
        for word in words if both else ():
            word.text = word.text.translate(both)
        raw.hidden = hidden
        raw.unmapped = characters.count("\ufffd")
        raw.lines = lay_out(words, bounds)
        self._annotations += fz.count_annotations(page)
        if self._annotations <= MAX_IN_DOCUMENT:
            shown = {line.text for line in raw.lines}
            raw.lines += [line for line in annotation_lines(page, box.top, box.left) if line.text not in shown]
        return raw

    def _decoded(self, number: int, text: int, characters: str) -> tuple[str, dict[int, str]]:
        """Turn the codes of fonts that only name their glyphs into letters, one for one.

        Where a letter has to be put before another, a private-use character stands, and what it stands for comes too.
        """
        from functions.ingest.parsing.glyphs import GlyphNames, lost_letters  # late: few files need it, and pypdf

        try:
            self._names = self._names or GlyphNames(self._path)
            fonts = self._names.letters(number)
            spaces = {letters[" "] for letters in fonts.values() if letters.get(" ", " ") != " "}
            whole = self._names.text(number) if spaces else ""
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - the page is as unreadable as it was
            return characters, {}
        letters: dict[int | None, Mapping[str, str]] = {None: {}}
        out: list[str] = []
        for i, character in enumerate(characters):
            handle = None if fz.is_generated(text, i) else fz.text_object(text, i)
            if handle not in letters:
                font = fz.object_font(handle)
                letters[handle] = fonts.get(font_name(font), {}) if font else {}
            out.append(letters[handle].get(character, character))
        both: dict[int, str] = {}
        for n, (i, letter) in enumerate(lost_letters("".join(out), whole, spaces).items()):
            both[PRIVATE + n] = letter + out[i]
            out[i] = chr(PRIVATE + n)
        return "".join(out), both


def _characters(text: int, limit: int) -> str:
    """Return the page's characters, one code point for each index pdfium counts."""
    count = min(max(0, fz.count_characters(text)), limit)
    buffer = (ctypes.c_ushort * (count + 2))()
    written = fz.get_text(text, 0, count, buffer)
    got = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "surrogatepass")
    if len(got) == count and (got.isascii() or not SURROGATE.search(got)):
        return got
    # Indices and text have come apart (characters beyond the BMP, or left out): ask one by one.
    codes = (fz.get_unicode(text, i) for i in range(count))
    return "".join(chr(c) if c < 0xD800 or 0xDFFF < c < 0x110000 else "\ufffd" for c in codes)


def _words(text: int, characters: str, scene: Scene, bounds: Box) -> tuple[list[Word], int]:
    """Cut the text into words with boxes; those nobody can see on the page are counted (characters) and left out."""
    spans = [match.span() for match in WORD.finditer(characters)]
    firsts = [start for start, _ in spans if characters[start] not in LINE_ENDS]
    lasts = [end - 1 for start, end in spans if characters[start] not in LINE_ENDS]
    handles = list(map(fz.text_object, repeat(text), firsts))
    styles = styles_of(handles, scene)
    boxes = zip(_boxes(text, firsts), _boxes(text, lasts), handles, strict=True)
    words: list[Word] = []
    hidden = 0
    left, bottom, right, top = bounds
    for start, end in spans:
        token = characters[start:end]
        if token[0] in LINE_ENDS:
            if words:
                words[-1].ends = "-" if "\ufffe" in token or "\x02" in token else "\n"
            continue
        (x0, y1, x1, y0), (x2, y3, x3, y2), handle = next(boxes)
        # Comparisons in place of min and max: this runs for every word.
        if x2 < x0:
            x0 = x2
        if x3 > x1:
            x1 = x3
        if y2 < y0:
            y0 = y2
        if y3 > y1:
            y1 = y3
        style = styles[handle]
        height = (x1 - x0) if style.turn & 1 else (y1 - y0)
        if style.size > 1.6 * height > 0:
            # Set inside a form that is drawn smaller; the box knows, the text object does not.
            style = replace(style, size=0.9 * height)
        plain = style.size >= TINY_POINTS and not style.pale and not style.invisible
        within = x1 >= left and x0 <= right and y1 >= bottom and y0 <= top
        if not (plain and within) and _unseen(style, scene, (x0, y0, x1, y1), bounds):
            hidden += len(token)
            if words:
                words[-1].ends = words[-1].ends or "\n"
            continue
        words.append(Word(token, x0, y0, x1, y1, style))
    return words, hidden


def _boxes(text: int, indices: list[int]) -> Iterator[tuple[float, ...]]:
    """Return left, top, right, bottom of each of the characters, asked for without a step of Python for each."""
    floats = (c_float * (4 * len(indices)))()
    start = addressof(floats)
    deque(map(fz.loose_box, repeat(text), indices, range(start, start + 16 * len(indices), 16)), 0)
    flat = iter(floats[:])
    return zip(flat, flat, flat, flat, strict=True)


def _unseen(style: Style, scene: Scene, box: tuple[float, ...], bounds: Box) -> bool:
    """Tell whether nobody can see a word on the page."""
    x0, y0, x1, y1 = box
    if x1 < bounds[0] or x0 > bounds[2] or y1 < bounds[1] or y0 > bounds[3]:
        return True
    if 0 < style.size < TINY_POINTS and min(y1 - y0, x1 - x0) < TINY_POINTS:
        return True
    if style.invisible:
        # An OCR layer is invisible text over the picture it was read from; elsewhere nobody is meant to see it.
        return scene.images < OCR_PICTURE
    return style.pale and not scene.dark_behind((x0 + x1) / 2, (y0 + y1) / 2)
