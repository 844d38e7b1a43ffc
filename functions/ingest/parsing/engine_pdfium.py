"""Reads pages with pdfium: words with their boxes and styles, what covers the page, what is hidden.

pdfium gives text in the order of the content stream, with its own line ends; 400 pages/s. All that is asked beyond that
is asked per word (two boxes, one object) or per text object (style), never per character.
"""

import ctypes
import re
from ctypes import addressof, byref, c_float
from dataclasses import replace

from functions.ingest.parsing import pdfium as fz
from functions.ingest.parsing.annotations import MAX_IN_DOCUMENT, annotation_lines
from functions.ingest.parsing.layout import Style, Word, lay_out
from functions.ingest.parsing.objects import Scene
from functions.ingest.parsing.wire import MAX_PAGE_CHARACTERS, CannotOpen, Header, RawPage

MAX_OUTLINE = 20_000
MAX_DEPTH = 12
WORD = re.compile(r"[^\s\ufffe\x02\x00]+|[\r\n\ufffe\x02]+")
"""Words, and what ends a line. pdfium writes a hyphen at a line's end as U+FFFE or U+0002 and drops the newline."""

LINE_ENDS = frozenset("\r\n\ufffe\x02")

OCR_PICTURE = 0.4
"""Share of the page a picture covers under which invisible text is no OCR layer of it."""

TINY_POINTS = 1.2
"""Print smaller than this cannot be read on paper; figures go down to about 2 points."""


class PdfiumEngine:
    """One open document. Raises `CannotOpen`."""

    def __init__(self, path: str) -> None:
        fz.init_library()
        self._document = fz.load_document(path.encode("utf-8", "surrogateescape"), None)
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
        words, hidden = _words(text, characters, scene, bounds)
        raw.hidden = hidden
        raw.unmapped = characters.count("\ufffd")
        raw.lines = lay_out(words, bounds)
        self._annotations += fz.count_annotations(page)
        if self._annotations <= MAX_IN_DOCUMENT:
            shown = {line.text for line in raw.lines}
            raw.lines += [line for line in annotation_lines(page, box.top, box.left) if line.text not in shown]
        return raw


def _characters(text: int, limit: int) -> str:
    """Return the page's characters, one code point for each index pdfium counts."""
    count = min(max(0, fz.count_characters(text)), limit)
    buffer = (ctypes.c_ushort * (count + 2))()
    written = fz.get_text(text, 0, count, buffer)
    got = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "surrogatepass")
    if len(got) == count and not any("\ud800" <= c <= "\udfff" for c in (min(got, default=""), max(got, default=""))):
        return got
    # Indices and text have come apart (characters beyond the BMP, or left out): ask one by one.
    codes = (fz.get_unicode(text, i) for i in range(count))
    return "".join(chr(c) if c < 0xD800 or 0xDFFF < c < 0x110000 else "\ufffd" for c in codes)


class _Styles:
    """Style of each text object, asked once; objects set alike share one."""

    def __init__(self, scene: Scene) -> None:
        self.by_object: dict[int | None, Style] = {None: Style()}
        self._alike: dict[tuple[object, ...], Style] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._scene = scene
        self._size, self._matrix = c_float(), fz.Matrix()
        self._to_size, self._to_matrix = addressof(self._size), addressof(self._matrix)

    def read(self, handle: int) -> Style:
        """Ask for the style of an object that is not in `by_object`, and put it there."""
        matrix = self._matrix
        fz.object_font_size(handle, self._to_size)
        fz.object_matrix(handle, self._to_matrix)
        mode = fz.object_render_mode(handle)
        fill = self._scene.fill_of(handle) if mode in _FILLED else None
        font = fz.object_font(handle)
        key = (self._size.value, matrix.a, matrix.b, matrix.c, matrix.d, mode, fill, font)
        style = self._alike.get(key)
        if style is None:
            style = self._alike[key] = self._make(mode, fill, font)
        self.by_object[handle] = style
        return style

    def _make(self, mode: int, fill: tuple[int, int, int, int] | None, font: int) -> Style:
        matrix = self._matrix
        scale = (matrix.c**2 + matrix.d**2) ** 0.5 or 1.0
        turn = 0
        if abs(matrix.b) > abs(matrix.a):
            turn = 1 if matrix.b > 0 else 3
        elif matrix.a < 0 and matrix.d < 0:
            turn = 2
        if font not in self._fonts:
            self._fonts[font] = _font(font) if font else (False, False)
        bold, mono = self._fonts[font]
        pale = fill is not None and (fill[3] < 10 or min(fill[:3]) >= 245)
        return Style(abs(self._size.value) * scale, bold, mono, turn, mode == fz.INVISIBLE, pale)


_FILLED = frozenset((0, 4))
"""Text rendering modes that fill and do not stroke."""

BOLD = re.compile(r"bold|black|heavy|semib|demi|cmbx|bx\d|-bd|medi\b|sfbx", re.IGNORECASE)
MONO = re.compile(r"mono|courier|consol|cmtt|lmtt|sftt|ectt|typewriter|menlo|inconsol|fixed", re.IGNORECASE)


def _font(font: int) -> tuple[bool, bool]:
    buffer = ctypes.create_string_buffer(200)
    fz.font_name(font, buffer, 200)
    name = buffer.value.decode("latin-1")
    # Flag bit 1: fixed pitch; bit 19: force bold (ISO 32000-1, table 123).
    flags = fz.font_flags(font)
    flags = flags if flags > 0 else 0
    return bool(BOLD.search(name) or flags & 1 << 18), bool(MONO.search(name))


def _words(text: int, characters: str, scene: Scene, bounds: tuple[float, ...]) -> tuple[list[Word], int]:
    """Cut the text into words with boxes; those nobody can see on the page are counted (characters) and left out."""
    styles = _Styles(scene)
    known, read_style, loose_box, text_object = styles.by_object, styles.read, fz.loose_box, fz.text_object
    box = fz.Rect()
    pointer = addressof(box)
    words: list[Word] = []
    hidden = 0
    left, bottom, right, top = bounds
    for match in WORD.finditer(characters):
        token = match.group()
        if token[0] in LINE_ENDS:
            if words:
                words[-1].ends = "-" if "\ufffe" in token or "\x02" in token else "\n"
            continue
        start, end = match.span()
        loose_box(text, start, pointer)
        x0, x1, y0, y1 = box.left, box.right, box.bottom, box.top
        if end - start > 1:
            loose_box(text, end - 1, pointer)
            # Comparisons in place of min and max: this runs for every word.
            if (x := box.left) < x0:
                x0 = x
            if (x := box.right) > x1:
                x1 = x
            if (y := box.bottom) < y0:
                y0 = y
            if (y := box.top) > y1:
                y1 = y
        handle = text_object(text, start)
        style = known.get(handle) or read_style(handle)
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


def _unseen(style: Style, scene: Scene, box: tuple[float, ...], bounds: tuple[float, ...]) -> bool:
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
