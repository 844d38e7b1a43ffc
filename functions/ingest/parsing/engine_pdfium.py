"""Reads pages with pdfium: words with their boxes and styles, what covers the page, what is hidden.

pdfium gives text in the order of the content stream, with its own line ends; 400 pages/s. All else is queried per
word (two boxes, one object) or per text object (style), never per character.
"""

import ctypes
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import byref
from functools import partial
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.accents import with_accents
from functions.ingest.parsing.drawn_signs import with_drawn_bullets
from functions.ingest.parsing.figures import figures_of, has_caption
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.page_objects import Scene, font_name, with_underscores, words_of
from functions.ingest.parsing.placing import Placing
from functions.ingest.parsing.tags import tags_of
from functions.ingest.parsing.wire import MAX_PAGE_CHARACTERS, PASSWORD_NEEDED, CannotOpen, Header, Line, RawPage
from functions.ingest.parsing.words import JOINT, NO_BLOCK, Box, Word, without_shadows

if TYPE_CHECKING:
    from functions.ingest.parsing.engine_pypdf import GlyphNames

DRAWN = (pdfium.IMAGE, pdfium.PATH, pdfium.SHADING)
MAX_ANNOTATIONS = 1_000
MAX_IN_DOCUMENT = 10_000
"""pdfium keeps what it has loaded: a manual with 60,000 links would take 60 MB to find that none is a form field."""
MAX_CHARACTERS = 5_000


MAX_LABEL = 60
"""Characters of a field's label at most; a longer description of a field is no label."""
LABEL_GAP = 30.0
"""Points between a field and the label beside it at most."""
WORD_GAP = 0.8
"""Space between two words of a label at most, in heights of the words."""
LABEL_ABOVE = 1.2
"""Distance of a label above its field at most, in heights of its words."""
SLACK = 3.0
"""Points by which a label may reach into its field, or begin before it."""
MAX_BOX = 20.0
"""Points that a box to tick is high at most; its label stands behind it."""
LONGEST_FIELD_NAME = 200
LONGEST_PAGE_LABEL = 64
LONGEST_ENTRY = 300
"""Characters of a form field's name, of a page's label and of an entry of the outline that are read."""
WIDEST_BOX = 1.5
"""Width of a box to tick at most, in its heights."""


def _annotation_lines(
    page: int, bounds: Box, rotation: int, form: Callable[[], int | None], words: Sequence[Word] = ()
) -> list[Line]:
    """Return a line for each filled field ("label: value") and text box; links and comments are left out.

    A field's label is its description for readers if that is short, or else the `words` printed beside or above it, or
    else its internal name. Lines come with `cells` 0: they belong to no paragraph. `bounds` and `rotation` are the
    page's (`lay_out`); `form` opens the document's form, where that is needed.
    """
    left, _, _, top = bounds
    placing = Placing(bounds, rotation)
    lines: list[Line] = []
    for text, box in _texts(page, form, () if rotation else words):
        place = placing.place((box.left, top - box.top, box.right, top - box.bottom))
        edges = (box.left - left, top - box.top, box.right - left, top - box.bottom)
        lines.append(Line(text, *edges, cells=0, place=place))
    return lines


def _texts(page: int, form: Callable[[], int | None], words: Sequence[Word]) -> Iterator[tuple[str, pdfium.Rect]]:
    for i in range(min(pdfium.count_annotations(page), MAX_ANNOTATIONS)):
        handle = pdfium.get_annotation(page, i)
        if not handle:
            continue
        try:
            if found := _text(handle, form, words):
                yield found
        finally:
            pdfium.close_annotation(handle)


def _text(handle: int, form: Callable[[], int | None], words: Sequence[Word]) -> tuple[str, pdfium.Rect] | None:
    """Return what an annotation shows, and where; None for a link, a comment, and an empty or hidden field."""
    kind, box = pdfium.annotation_kind(handle), pdfium.Rect()
    if kind not in {pdfium.FREE_TEXT, pdfium.WIDGET} or pdfium.annotation_flags(handle) & pdfium.HIDDEN_FLAGS:
        return None
    if not pdfium.annotation_box(handle, byref(box)):
        return None
    if kind == pdfium.FREE_TEXT:
        text = " ".join(pdfium.utf16(pdfium.annotation_text, handle, b"Contents", limit=MAX_CHARACTERS).split())
        return (text, box) if text else None
    value = pdfium.utf16(pdfium.annotation_text, handle, b"V", limit=MAX_CHARACTERS)
    name = pdfium.utf16(pdfium.annotation_text, handle, b"T", limit=LONGEST_FIELD_NAME)
    if not name and not value and (fields := form()):
        # One of several places of a field: the field holds name and value for all of them.
        value = pdfium.utf16(pdfium.field_value, fields, handle, limit=MAX_CHARACTERS)
        name = pdfium.utf16(pdfium.field_name, fields, handle, limit=LONGEST_FIELD_NAME)
    value, name = " ".join(value.split()), " ".join(name.split())
    if not value or value == "Off":
        return None
    described = " ".join(pdfium.utf16(pdfium.annotation_text, handle, b"TU", limit=LONGEST_FIELD_NAME).split())
    is_label = 0 < len(described) <= MAX_LABEL
    label = (described if is_label else _printed_label(box, words)) or name
    return (f"{label.rstrip(': ')}: {value}" if label else value), box


def _printed_label(box: pdfium.Rect, words: Sequence[Word]) -> str:
    """Return the words printed before a field on its line, or directly above it; behind a box to tick. "" if none."""
    height, width = box.top - box.bottom, box.right - box.left
    beside = [word for word in words if word.y0 < (box.top + box.bottom) / 2 < word.y1]
    before = sorted((word for word in beside if word.x1 <= box.left + SLACK), key=lambda word: -word.x1)
    if height <= MAX_BOX and width <= WIDEST_BOX * height:
        behind = sorted((word for word in beside if word.x0 >= box.right - SLACK), key=lambda word: word.x0)
        label = _run(behind) if behind and behind[0].x0 - box.right <= LABEL_GAP else []
    elif before and box.left - before[0].x1 <= LABEL_GAP:
        label = _run(before)[::-1]
    else:
        near = (word for word in words if -SLACK <= word.y0 - box.top <= LABEL_ABOVE * (word.y1 - word.y0))
        above = (word for word in near if box.left - SLACK <= word.x0 < box.right)
        label = _run(sorted(above, key=lambda word: word.x0))
    text = " ".join(word.text for word in label)
    return text if len(text) <= MAX_LABEL else ""


def _run(words: Sequence[Word]) -> list[Word]:
    """Return the first words, from left to right or from right to left, up to the first wide space."""
    kept = list(words[:1])
    for word in words[1:]:
        last = kept[-1]
        if max(word.x0 - last.x1, last.x0 - word.x1) > WORD_GAP * (last.y1 - last.y0):
            break
        kept.append(word)
    return kept


MAX_OUTLINE = 20_000
MAX_DEPTH = 12
OUTLINE_S = 2.0
"""CPU seconds for the outline: looking a target up by its name can mean going through all the names there are."""
MAX_ATTACHMENTS = 100
FOR_RECIPIENTS = "The file is encrypted for certain recipients: save it without encryption and upload it again."
XFA_FORM = (
    "The file is a form that only Adobe's programs can show (XFA), its one page a notice that says so: print it to a "
    "PDF and upload that."
)

SURROGATE = re.compile("[\ud800-\udfff]")
FORMULA = frozenset(map(chr, range(0x1D400, 0x1D800)))
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")

PRIVATE = 0xF0000
"""Where private-use characters of no known meaning begin (plane 15)."""
CODES = re.compile("[\x01\x03-\x08\x0b\x0c\x0e-\x1f]")
CODED = 0.05
"""Share of control characters above which a page's text is bare font codes; other texts have none."""
LIGATURE = re.compile(
    "(?<=[a-z])[\x0b\x0c\x0e\x0f\x1b-\x1f]|[\x0b\x0c\x0e\x0f\x1b-\x1f](?=[a-z]{2})|(?<=\\d )\x1b(?=[.,])"
)
LIGATURES = {
    **{"\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl"},
    **{"\x0b": "ff", "\x0c": "fi", "\x0e": "ffi", "\x0f": "ffl"},
}
"""Codes of ligatures, and what they mean in fonts of TeX that do not say so, in its newer encoding and its older
one, where "fl" is a line's end; "83 ff." has one alone."""
DASHES = str.maketrans({"\x10": "“", "\x11": "”", "\x15": "–", "\x16": "—"})
DASH = re.compile(
    "(?<=[\\w)])[\x15\x16](?=[\\w(])|(?<=\\w )[\x15\x16](?= \\w)|"
    "(?<!\\w)\x10(?=\\w[^\x10\x11]{0,300}\x11)|(?<=[\\w.,;:!?)])\x11(?!\\w)"
)
"""The codes of dashes and quotation marks in TeX's newer encoding, between words or figures, or in pairs around them,
where no ligature tells that encoding."""
NEWER = DASHES | str.maketrans({"\x12": "„", "\x13": "«", "\x14": "»", "ÿ": "ß"})
OPENED = re.compile("\x12 (?=\\w)")
"""What else has another code in it than elsewhere, where a ligature does; room drawn behind „ is no space."""
LARGE_SIGNS = re.compile(r"EX\d|Ext", re.IGNORECASE)
"""Fonts of TeX's that hold what formulas are built of: "CMEX10"."""


class PdfiumEngine:
    """One open document. Raises `CannotOpen`."""

    def __init__(self, path: str) -> None:
        pdfium.init_library()
        self._document = pdfium.load_document(path.encode("utf-8", "surrogateescape"), None)
        self._path = path
        self._names: GlyphNames | None = None
        self._annotations = 0
        self._form: int | None = None
        self._form_is_open = False
        if not self._document:
            code = pdfium.last_error()
            if code == pdfium.ERROR_PASSWORD:
                raise CannotOpen("ENCRYPTED", PASSWORD_NEEDED)
            if code == pdfium.ERROR_SECURITY:
                raise CannotOpen("ENCRYPTED", FOR_RECIPIENTS)
            raise CannotOpen("DAMAGED", "The file is damaged: open and save it with another program, then upload it.")

        self._is_tagged = bool(pdfium.is_tagged(self._document))

    def header(self) -> Header:
        """Count pages, read title, author and outline."""
        title, author = (pdfium.utf16(pdfium.meta_text, self._document, name) for name in (b"Title", b"Author"))
        count = pdfium.page_count(self._document)
        if count < 1:
            raise CannotOpen("DAMAGED", "No page was found in the file: save it with another program, then upload it.")
        if count == 1 and pdfium.form_type(self._document) == pdfium.XFA_FULL:
            raise CannotOpen("XFA_FORM", XFA_FORM)
        # Labels that crash pdfium end the child here, which costs the labels, and not at every page.
        pdfium.utf16(pdfium.page_label, self._document, 0, limit=LONGEST_PAGE_LABEL)
        return Header(count, title, self._outline(count), has_attached_pdfs=self._has_attached_pdfs(), author=author)

    def _has_attached_pdfs(self) -> bool:
        count = min(pdfium.count_attachments(self._document), MAX_ATTACHMENTS)
        handles = filter(None, (pdfium.get_attachment(self._document, i) for i in range(count)))
        return any(pdfium.utf16(pdfium.attachment_name, handle).lower().endswith(".pdf") for handle in handles)

    def _outline(self, count: int) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        seen: set[int] = set()
        until = time.process_time() + OUTLINE_S
        stack = [(pdfium.first_bookmark(self._document, None), 1)]
        while stack and len(seen) < MAX_OUTLINE and time.process_time() < until:
            mark, level = stack.pop()
            if not mark or mark in seen:
                continue
            seen.add(mark)
            page = self._target(mark)
            title = " ".join(pdfium.utf16(pdfium.bookmark_title, mark).split())[:LONGEST_ENTRY]
            if title and 0 <= page < count:
                found.append((page + 1, level, title))
            stack.append((pdfium.next_bookmark(self._document, mark), level))
            if level < MAX_DEPTH:
                stack.append((pdfium.first_bookmark(self._document, mark), level + 1))
        return found

    def _target(self, mark: int) -> int:
        target = pdfium.bookmark_dest(self._document, mark)
        if not target:
            action = pdfium.bookmark_action(mark)
            target = pdfium.action_dest(self._document, action) if action else None
        return int(pdfium.dest_page(self._document, target)) if target else -1

    @contextmanager
    def loaded(self, number: int) -> Iterator[int]:
        """Load a page (from 1) for as long as the block lasts. Raises `RuntimeError` when pdfium cannot load it."""
        page = pdfium.load_page(self._document, number - 1)
        if not page:
            raise RuntimeError("page cannot be loaded")
        try:
            yield page
        finally:
            pdfium.close_page(page)

    def page(self, number: int) -> RawPage:
        """Read one page (from 1). Raises `RuntimeError` when pdfium cannot load it."""
        with self.loaded(number) as page:
            text = pdfium.load_text(page)
            try:
                return self._read(number, page, text)
            finally:
                if text:
                    pdfium.close_text(text)

    def _read(self, number: int, page: int, text: int) -> RawPage:
        box = pdfium.Rect()
        pdfium.page_box(page, byref(box))
        bounds = (box.left, box.bottom, box.right, box.top)
        scene = Scene(page, bounds)
        raw = RawPage(number, pdfium.utf16(pdfium.page_label, self._document, number - 1, limit=LONGEST_PAGE_LABEL))
        raw.width, raw.height = box.right - box.left, box.top - box.bottom
        raw.images, raw.paths = scene.coverage()
        if not text:
            raise RuntimeError("text cannot be loaded")
        characters = _characters(text, MAX_PAGE_CHARACTERS)
        raw.cut = len(characters) >= MAX_PAGE_CHARACTERS
        both: dict[int, str] = {}
        codes = CODES.findall(characters)
        if len(codes) > CODED * len(characters):
            characters, both = self._decoded(number, text, characters)
        if codes and not both and any(code in characters for code in "\x10\x15\x16"):
            characters = DASH.sub(partial(_sign, text), characters)
        if codes and not both and (ligatures := LIGATURE.findall(characters)):
            is_newer = max(ligatures) >= "\x1b"
            characters = OPENED.sub(f"\x12{JOINT}", characters) if is_newer else characters
            characters, both = self._with_ligatures(number, text, characters.translate(NEWER if is_newer else DASHES))
        (pointer,) = pdfium.pointers_to([text])
        characters = with_accents(characters, partial(_box_of, pointer))
        tags = tags_of(page) if self._is_tagged else None
        self._is_tagged = tags is not None
        words, hidden = words_of(text, characters, scene, bounds, is_tagged=tags is not None)
        if hidden and not words and raw.is_pictured:
            words, hidden = words_of(text, characters, scene, bounds, ocr=True)
        words = without_shadows(words)
        if tags is not None and tags.blocks:
            for word in words:
                word.block = tags.blocks.get(word.mark, NO_BLOCK)
        for word in words if both else ():
            word.text = word.text.translate(both)
        if dashes := scene.dashes():
            words = with_underscores(words, dashes)
        words = with_drawn_bullets(words, scene.dots())
        raw.hidden = hidden
        raw.ocr = bool([word for word in words if word.style.invisible])  # twice as fast as `any`
        raw.rotation = pdfium.page_rotation(page) & 3
        self._annotations += pdfium.count_annotations(page)
        filled: list[Line] = []
        if self._annotations <= MAX_IN_DOCUMENT:  # first, because `lay_out` moves the words
            filled = _annotation_lines(page, bounds, raw.rotation, self._opened_form, words)
        raw.lines = lay_out(words, bounds, raw.rotation, scene.rules(), tags, ocr=raw.ocr)
        if not raw.rotation and any(map(has_caption, raw.lines)):
            raw.lines, figures = figures_of(raw.lines, scene.boxes(*DRAWN), bounds)
            raw.figures = [(*each.box, each.caption, "") for each in figures]
        shown = {line.text for line in raw.lines} if filled else set()
        raw.lines += [line for line in filled if line.text not in shown]
        return raw

    def _with_ligatures(self, number: int, text: int, characters: str) -> tuple[str, dict[int, str]]:
        """Return the characters with a private one for each ligature whose code pdfium gives, and what those mean."""
        from functions.ingest.parsing.engine_pypdf import GlyphNames  # late: few files need it, and pypdf

        (pointer,) = pdfium.pointers_to([text])
        named: Mapping[str, Mapping[str, str]] | None = None
        out = list(characters)
        both: dict[str, str] = {}
        for match in LIGATURE.finditer(characters):
            name = _name_of_font(pointer, match.start())
            if name and named is None:
                named = {}
                try:
                    self._names = self._names or GlyphNames(self._path)
                    named = self._names.ligatures(number)
                except MemoryError:
                    raise
                except Exception:  # noqa: BLE001, S110 - they are taken as TeX's
                    pass
            letters = (named or {}).get(name, {}).get(match[0]) or LIGATURES[match[0]]
            out[match.start()] = both.setdefault(letters, chr(PRIVATE + len(both)))
        return "".join(out), {ord(private): letters for letters, private in both.items()}

    def _opened_form(self) -> int | None:
        if not self._form_is_open:
            self._form_is_open, self._form = True, pdfium.open_form(self._document)
        return self._form

    def _decoded(self, number: int, text: int, characters: str) -> tuple[str, dict[int, str]]:
        """Turn the codes of fonts that only name their glyphs into letters, one for one.

        Where a letter has to be inserted before another, a private-use character stands for both; it is mapped to them.
        """
        from functions.ingest.parsing.engine_pypdf import GlyphNames, lost_letters  # late: few files need it, and pypdf

        try:
            self._names = self._names or GlyphNames(self._path)
            fonts = self._names.letters(number)
            spaces = {letters[" "] for letters in fonts.values() if letters.get(" ", " ") != " "}
            whole = self._names.text(number) if spaces else ""
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - the page stays as unreadable as it was
            return characters, {}
        letters: dict[int | None, Mapping[str, str]] = {None: {}}
        out: list[str] = []
        (pointer,) = pdfium.pointers_to([text])
        for i, character in enumerate(characters):
            handle = None if pdfium.is_generated(text, i) else pdfium.text_object(pointer, i)
            if handle is not None and handle not in letters:
                font = pdfium.object_font(*pdfium.pointers_to([handle]))
                letters[handle] = fonts.get(font_name(font), {}) if font else {}
            out.append(letters[handle].get(character, character))
        both: dict[int, str] = {}
        for n, (i, letter) in enumerate(lost_letters("".join(out), whole, spaces).items()):
            both[PRIVATE + n] = letter + out[i]
            out[i] = chr(PRIVATE + n)
        return "".join(out), both


def _name_of_font(pointer: Any, index: int) -> str:
    handle = pdfium.text_object(pointer, index)
    font = pdfium.object_font(*pdfium.pointers_to([handle])) if handle else None
    return font_name(font) if font else ""


def _sign(text: int, code: re.Match[str]) -> str:
    """Return the dash or quotation mark that a code stands for; in a font of large signs it is a bracket."""
    (pointer,) = pdfium.pointers_to([text])
    return code[0] if LARGE_SIGNS.search(_name_of_font(pointer, code.start())) else code[0].translate(DASHES)


def _box_of(pointer: Any, index: int) -> Box:
    box = pdfium.Rect()
    pdfium.loose_box(pointer, index, byref(box))
    return box.left, box.bottom, box.right, box.top


def _characters(text: int, limit: int) -> str:
    """Return the page's characters, one code point for each index pdfium counts."""
    count = min(max(0, pdfium.count_characters(text)), limit)
    buffer = (ctypes.c_ushort * (count + 2))()
    written = pdfium.get_text(text, 0, count, buffer)
    got = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "surrogatepass")
    if len(got) == count and (got.isascii() or not SURROGATE.search(got)):
        return got
    # Indices and text do not match (characters beyond the BMP, or left out): read one by one.
    codes = [pdfium.get_unicode(text, i) for i in range(count)]
    return PAIR.sub(_joined, "".join([chr(code) if code < 0x110000 else "\ufffd" for code in codes]))


def _joined(pair: re.Match[str]) -> str:
    """Return the one character that two surrogates stand for, and `JOINT` to be as long; a lone one has no meaning.

    Letters of formulas become those that can be typed.
    """
    if len(pair[0]) == 1:
        return "\ufffd"
    character = pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return (normalize("NFKC", character) if character in FORMULA else character) + JOINT
