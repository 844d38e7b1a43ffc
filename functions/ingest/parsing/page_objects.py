"""Cuts a page's characters into words with boxes and styles, and finds which of them are hidden."""

import ctypes
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import byref
from dataclasses import replace
from functools import cached_property
from itertools import chain, compress, islice, pairwise, repeat, starmap
from operator import itemgetter

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.drawn_signs import is_grey, is_square
from functions.ingest.parsing.letters import (
    NOTE_MARKS,
    RAISED,
    RAISED_NUMBERS,
    ends_in_mark,
    note_number,
    undoubled,
    with_bullets,
    with_drawn_hyphens,
)
from functions.ingest.parsing.lost_spaces import MIN_TIGHT, parts_of_level, parts_of_turned
from functions.ingest.parsing.ruled import MAX_RULES, THIN, Rules
from functions.ingest.parsing.seen import Colour, Drawn, is_painted, shadows
from functions.ingest.parsing.words import JOINT, SLANTING, SOFT_HYPHEN, Box, Style, Word, box_of

MAX_OBJECTS = 20_000
MAX_DEPTH = 4

BLOCKS, BLOCK = 8, 8
"""Blocks of paths, and their length, by which a page of more is judged first."""
WIDE = 0.8
"""Width of a word beyond which some of its characters are far apart, in heights of it for each."""
MOST_DASHES = 200
DASH_HEIGHT, DASH_WIDTH = 1.0, 8.0
LEVEL = 0.5
"""Paths of a page on which underscores may be drawn, points that one is high and wide at most, and those between two
strokes of one line."""
RECTANGLE = (4, 5)
"""Points and lines that a rectangle's path has: its last line may only be closed."""

Transform = tuple[float, float, float, float, float, float]
IDENTITY: Transform = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
SLANT = 0.2
"""How far text climbs for each point that it runs from which on it is set slanting: some eleven degrees."""
OVERSIZED = 1.6
OF_HEIGHT = 0.9
"""How much larger than a letter's box a font size is that is wrong, and the size that is taken for it, in heights of
the box."""
UNDERSIZED, ALIKE = 0.3, (0.6, 1.35)
"""How much smaller than a letter's box a font size is that is wrong, and how much lower and higher than most such words
one may be that is in their print, since boxes of letters in bitmaps end with them."""
BETWEEN_WORDS = 0.1
"""How far a stroke between two words may reach into one of them, in font sizes."""
MAX_UNEVEN = 0.1
"""Share of a font's letters that may be wider or narrower though its pitch is fixed."""


class Scene:
    """The objects of one page except text: read for pictures, and again, or drawn, if there is pale text."""

    def __init__(self, page: int, bounds: Box) -> None:
        self._page, self._bounds = page, bounds
        self._drawn: list[tuple[int, int, Transform]] = []
        self._seen: Drawn | None = None
        self.images = 0.0

    def coverage(self) -> tuple[float, int]:
        """Return the share of the page that pictures cover (0..1) and the number of drawn paths."""
        left, bottom, right, top = self._bounds
        self._drawn = list(self._objects(self._page_objects(), IDENTITY, 0))
        area = 0.0
        for x0, y0, x1, y1 in _bounds_of([each for each in self._drawn if each[0] == pdfium.IMAGE]):
            area += max(0.0, min(x1, right) - max(x0, left)) * max(0.0, min(y1, top) - max(y0, bottom))
        self.images = round(min(1.0, area / max(1.0, (right - left) * (top - bottom))), 3)
        return self.images, sum([kind == pdfium.PATH for kind, _, _ in self._drawn])

    def boxes(self, *kinds: int) -> list[Box]:
        """Return where objects of some kinds are on the page: left, top, right, bottom, y downwards from its top."""
        left, bottom, right, top = self._bounds
        found: list[Box] = []
        for x0, y0, x1, y1 in _bounds_of([each for each in self._drawn if each[0] in kinds]):
            x0, y0, x1, y1 = max(x0, left), max(y0, bottom), min(x1, right), min(y1, top)
            if x0 <= x1 and y0 <= y1:
                found.append((x0, top - y1, x1, top - y0))
        return found

    def dashes(self) -> list[Box]:
        """Return the short strokes on a page of few drawings that may be underscores, in its own space.

        One that another stroke goes on from is a part of a line below several words.
        """
        if not 0 < len(self._paths) <= MOST_DASHES:
            return []
        strokes = sorted((box for box in self.drawn if box[3] - box[1] < DASH_HEIGHT), key=itemgetter(1, 0))
        met = {
            id(box)
            for pair in pairwise(strokes)
            if pair[1][1] - pair[0][1] < LEVEL and pair[0][0] < pair[1][0] < pair[0][2] + LEVEL
            for box in pair
        }
        return [box for box in strokes if box[2] - box[0] < DASH_WIDTH and id(box) not in met]

    @cached_property
    def _paths(self) -> list[tuple[int, int, Transform]]:
        return [each for each in self._drawn if each[0] == pdfium.PATH]

    @cached_property
    def drawn(self) -> list[Box]:
        """Where paths are drawn, in the page's own space."""
        return list(_bounds_of(self._paths))

    def dots(self) -> list[Box]:
        """Return where what is drawn in no colour may be a bullet, in the page's own space.

        Charts have points and keys in colours, and a page of very many paths is one.
        """
        if len(self._paths) > MAX_RULES:
            return []
        near = [(handle, box) for (_, handle, _), box in zip(self._paths, self.drawn, strict=True) if is_square(box)]
        pointers = list(pdfium.pointers_to([handle for handle, _ in near]))
        asked = zip(near, pdfium.path_draw_modes.of(pointers), pdfium.object_fills.of(pointers), strict=True)
        return [box for (_, box), (mode, _), fill in asked if not mode or is_grey(fill)]

    def rules(self) -> Rules | None:
        """Return the lines drawn across and down the page, those around rectangles too; None if there are none.

        Of a page with very many paths also if none goes down it.
        """
        paths = self._paths
        if len(paths) > MAX_RULES:
            return None
        if len(paths) > BLOCKS * BLOCK:  # most pages of many paths have bands of colour only, which cost time
            starts = (at * (len(paths) - BLOCK) // (BLOCKS - 1) for at in range(BLOCKS))
            some = [path for start in starts for path in paths[start : start + BLOCK]]
            found = self._rules_of(some, list(_bounds_of(some)))
            if found is None or not found.down:
                return None
        return self._rules_of(paths, self.drawn)

    def _rules_of(self, paths: Sequence[tuple[int, int, Transform]], boxes: Sequence[Box]) -> Rules | None:
        top = self._bounds[3]
        areas = [at for at, (x0, y0, x1, y1) in enumerate(boxes) if x1 - x0 > THIN and y1 - y0 > THIN]
        handles = list(pdfium.pointers_to([paths[at][1] for at in areas]))
        modes = pdfium.path_draw_modes.of(handles)
        frames = [
            boxes[at]
            for at, handle, (_, is_stroked) in zip(areas, handles, modes, strict=True)
            if is_stroked and pdfium.count_segments(handle) in RECTANGLE
        ]
        lines = [(x0, top - y1, x1, top - y0) for x0, y0, x1, y1 in boxes if x1 - x0 <= THIN or y1 - y0 <= THIN]
        rules = Rules.of(lines, [(x0, top - y1, x1, top - y0) for x0, y0, x1, y1 in frames])
        return rules if rules.across or rules.down else None

    def dark_behind(self, x: float, y: float) -> bool:
        """Whether anything but white lies at a point, so that white text can be seen there."""
        return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in self._backgrounds)

    def shows(self, box: Box, objects: Sequence[int]) -> bool:
        """Whether text in a box is seen, told by drawing the page without it; `objects` are the same at each call."""
        if self._seen is None:
            self._seen = Drawn(self._page, objects)
        return self._seen.shows(box)

    def without_forms(self, handles: Iterable[int | None]) -> list[int]:
        """Return the objects that are the page's own: those of forms have marks that count from 0 again."""
        own = set(self._page_objects())
        return [handle for handle in handles if handle in own]

    def shadows(self, text: int, pale: Mapping[int, float]) -> list[int]:
        """Return the text objects of which the pale ones, with their font sizes, may be the shadow."""
        objects = [handle for handle in self._page_objects() if pdfium.object_type(handle) == pdfium.TEXT]
        return list(shadows(text, objects, pale))

    @cached_property
    def _backgrounds(self) -> list[Box]:
        dark = list(compress(self._paths, _are_dark([handle for _, handle, _ in self._paths])))
        return list(_bounds_of(dark + [each for each in self._drawn if each[0] in {pdfium.IMAGE, pdfium.SHADING}]))

    def _page_objects(self) -> Iterator[int]:
        count = min(pdfium.count_objects(self._page), MAX_OBJECTS)
        return map(pdfium.page_object, repeat(*pdfium.pointers_to([self._page])), range(count))

    def _objects(
        self, handles: Iterable[int], transform: Transform, depth: int
    ) -> Iterator[tuple[int, int, Transform]]:
        handles = list(handles)  # by `map` and `compress`, since a page can have thousands of text objects
        kinds = list(map(pdfium.object_type, handles))
        drawn = [kind != pdfium.TEXT for kind in kinds]
        for kind, handle in zip(compress(kinds, drawn), compress(handles, drawn), strict=True):
            if kind == pdfium.FORM and depth < MAX_DEPTH:
                (pointer,) = pdfium.pointers_to([handle])
                (matrix,) = pdfium.object_matrices.of([pointer])
                inner = _after(matrix, transform)
                count = min(pdfium.form_count(handle), MAX_OBJECTS >> depth)
                yield from self._objects(map(pdfium.form_object, repeat(pointer), range(count)), inner, depth + 1)
            else:
                yield kind, handle, transform


def _after(m: Transform, n: Transform) -> Transform:
    """Combine two transforms: first `m`, then `n`."""
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )


def _bounds_of(objects: Sequence[tuple[int, int, Transform]]) -> Iterator[Box]:
    """Yield where objects are on the page."""
    found = pdfium.object_bounds.of(pdfium.pointers_to([handle for _, handle, _ in objects]))
    for (left, bottom, right, top), (_, _, t) in zip(found, objects, strict=True):
        if t is IDENTITY:  # nearly always
            if left > right or bottom > top:
                left, bottom, right, top = min(left, right), min(bottom, top), max(left, right), max(bottom, top)
            yield left, bottom, right, top
            continue
        corners = [(x, y) for x in (left, right) for y in (bottom, top)]
        xs = [t[0] * x + t[2] * y + t[4] for x, y in corners]
        ys = [t[1] * x + t[3] * y + t[5] for x, y in corners]
        yield min(xs), min(ys), max(xs), max(ys)


def _are_dark(paths: Sequence[int]) -> Iterator[bool]:
    """Yield for each path whether it is filled with anything but white."""
    pointers = list(pdfium.pointers_to(paths))
    asked = zip(pdfium.path_draw_modes.of(pointers), pdfium.object_fills.of(pointers), strict=True)
    for (mode, _), fill in asked:
        yield bool(mode) and is_painted(fill)


FILLED = frozenset((0, 4))
"""Text rendering modes that fill and do not stroke."""
BOLD = re.compile(r"bold|black|heavy|semib|demi|cmbx|bx\d|-bd|medi\b|sfbx", re.IGNORECASE)
MONO = re.compile(r"mono|nimbusmon|courier|consol|[a-z]tt\d|sf[is]t\d|typewriter|menlo|fixed", re.IGNORECASE)
"""Names of fonts with a fixed pitch; TeX's end with "tt" and their size, slanted ones with "st" or "it"."""
MEASURED = tuple(map(ord, "ilmW.0"))
FIXED = frozenset(number / 100 for number in range(48, 67))
MISSING = 1
LEAST_KNOWN = 4
"""Characters whose widths tell a fixed pitch, the widths of such fonts, in font sizes, a code that text has not, and
how many of the characters a subset of the font has at least: what it has not is as wide as that code."""
EVEN = 0.03
MIN_EVEN = 8
"""How much the room that a letter takes may differ from word to word in a font of fixed pitch without a name, and the
words that tell it."""
SUBSET = re.compile(r"^[A-Z]{6}\+")


def styles_of(handles: Iterable[int | None]) -> dict[int | None, Style]:
    """Return the style of each text object; equal ones share one. None, a word without an object, has a plain one."""
    known: dict[int | None, Style] = {None: Style()}
    objects = [handle for handle in dict.fromkeys(handles) if handle is not None]
    pointers = list(pdfium.pointers_to(objects))
    asked = zip(
        chain.from_iterable(pdfium.object_font_sizes.of(pointers)),
        pdfium.object_matrices.of(pointers),
        map(pdfium.object_render_mode, pointers),
        pdfium.object_fills.of(pointers),
        map(pdfium.object_font, pointers),
        strict=True,
    )
    alike: dict[tuple[object, ...], Style] = {}
    fonts: dict[int, tuple[bool, bool, str]] = {}
    for handle, (size, matrix, mode, fill, font) in zip(objects, asked, strict=True):
        is_stroked = mode == pdfium.FILLED_AND_STROKED and _is_stroked_as_filled(handle, fill)
        key = (size, matrix[:4], mode, fill, font, is_stroked)
        style = alike.get(key)
        if style is None:
            if font not in fonts:
                fonts[font] = _font(font) if font else (False, False, "")
            bold, mono, face = fonts[font]
            told = (bold or is_stroked, mono, face)
            style = alike[key] = _style(size, matrix, mode, fill if mode in FILLED else None, told)
        known[handle] = style
    return known


def _is_stroked_as_filled(handle: int, fill: Colour | None) -> bool:
    """Whether letters are stroked in the colour that fills them: so programs print bold in a font that has no such."""
    return fill is not None and [*pdfium.object_strokes.of(pdfium.pointers_to([handle]))] == [fill]


def _style(
    size: float, matrix: tuple[float, ...], mode: int, fill: Colour | None, font: tuple[bool, bool, str]
) -> Style:
    a, b, c, d, _, _ = matrix
    scale = (c**2 + d**2) ** 0.5 or 1.0
    turn = 0
    if min(abs(a), abs(b)) > SLANT * max(abs(a), abs(b)):
        turn = SLANTING
    elif abs(b) > abs(a):
        turn = 1 if b > 0 else 3
    elif a < 0 and d < 0:
        turn = 2
    bold, mono, face = font
    return Style(abs(size) * scale, bold, mono, turn, mode == pdfium.INVISIBLE, not is_painted(fill), face)


def _font(font: int) -> tuple[bool, bool, str]:
    """Return whether a font is bold, whether it has a fixed pitch, and its name."""
    name = font_name(font)
    # Flag bit 1: fixed pitch; bit 19: force bold (ISO 32000-1, table 123).
    flags = pdfium.font_flags(font)
    flags = flags if flags > 0 else 0
    return bool(BOLD.search(name) or flags & 1 << 18), bool(MONO.search(name)) or _has_fixed_pitch(font), name


def _has_fixed_pitch(font: int) -> bool:
    """Whether narrow and wide characters of a font take the same room, and not because it has none of them.

    It has both "i" and "m", or neither.
    """
    if _width_of(MEASURED[0], font) != _width_of(MEASURED[2], font):  # nearly always
        return False
    missing = _width_of(MISSING, font)
    known = [width for code in MEASURED if (width := _width_of(code, font)) and width != missing]
    return len(known) >= LEAST_KNOWN and len(set(known)) == 1 and known[0] in FIXED


def _width_of(code: int, font: int) -> float:
    width = ctypes.c_float()
    return round(width.value, 2) if pdfium.glyph_width(font, code, 1.0, byref(width)) else 0.0


def font_name(font: int) -> str:
    """Return a font's base name without the tag of a subset."""
    buffer = ctypes.create_string_buffer(200)
    pdfium.font_name(font, buffer, 200)
    return SUBSET.sub("", buffer.value.decode("latin-1"))


WORD = re.compile(r"[^\s\ufffe\x02\x00]+|[\r\n\ufffe\x02]+")
"""Words, and what ends a line. pdfium writes a hyphen at a line's end as U+FFFE or U+0002 and drops the newline."""
LINE_ENDS = frozenset("\r\n\ufffe\x02")

TEX_BULLET = "\x88"
OLD_TEX_BULLET = "\x0f"
"""The bullets of TeX's text companion fonts and, at a line's begin, of its symbols: they seldom say what codes mean."""
TRIANGLE = ("MSAM", "I")
"""The font of symbols with the triangle that marks items of slides made with TeX, and the code it has there."""
OCR_PICTURE = 0.4
"""Share of the page a picture must cover for invisible text to be its OCR layer."""
MIN_DOUBLED = 6
"""A word of at least so many characters, each of them doubled, was printed twice to look bold."""
UNDERSCORE = (0.2, 1.3)
BASE_LINE = (0.12, 0.45)
"""Room that drawn underscores take, and how far above the foot of their words they are, in font sizes: on the base
line. What underlines a space is below it."""
TINY_POINTS = 1.2
"""Print smaller than this cannot be read on paper; figures go down to about 2 points."""


def words_of(
    text: int, characters: str, scene: Scene, bounds: Box, *, ocr: bool = False, is_tagged: bool = False
) -> tuple[list[Word], int]:
    """Return the visible words of the page, and the number of characters in hidden ones.

    With `ocr`, or where a picture covers much of the page, invisible text counts as the picture's OCR layer. If it
    `is_tagged`, words get the marks by which the page's tags know them.
    """
    ocr = ocr or scene.images >= OCR_PICTURE
    spans = [match.span() for match in WORD.finditer(characters)]
    of_words = [span for span in spans if characters[span[0]] not in LINE_ENDS]
    firsts, lasts = [start for start, _ in of_words], [end - 1 for _, end in of_words]
    (pointer,) = pdfium.pointers_to([text])
    handles = list(map(pdfium.text_object, repeat(pointer), firsts))
    last_handles = list(map(pdfium.text_object, repeat(pointer), lasts))
    mixed = [span for span, one, other in zip(of_words, handles, last_handles, strict=True) if one != other]
    letters_of_mixed = pdfium.loose_boxes.of(chain.from_iterable(starmap(range, mixed)), pointer)
    styles = styles_of(handles)
    sizes = {handle: style.size for handle, style in styles.items() if handle is not None and style.pale}
    pale = [*sizes, *scene.shadows(text, sizes)] if sizes else []
    looks = {
        handle: (style, style.size, style.turn & 1, style.size >= TINY_POINTS and not (style.pale or style.invisible))
        for handle, style in styles.items()
    }
    marks = _marks_of(scene.without_forms(styles)) if is_tagged else {}
    shrunk: dict[tuple[int | None, float], Style] = {}
    first_boxes, last_boxes = pdfium.loose_boxes.of(firsts, pointer), pdfium.loose_boxes.of(lasts, pointer)
    boxes = zip(first_boxes, last_boxes, handles, last_handles, strict=True)
    words: list[Word] = []
    hidden = 0
    left, bottom, right, top = bounds
    has_drawn_hyphens = SOFT_HYPHEN in characters
    has_joints, has_bullets = JOINT in characters, TEX_BULLET in characters or OLD_TEX_BULLET in characters
    for start, end in spans:
        token = characters[start:end]
        if token[0] in LINE_ENDS:
            if words:
                words[-1].ends = "-" if "\ufffe" in token or "\x02" in token else "\n"
            continue
        (x0, y1, x1, y0), (x2, y3, x3, y2), handle, last_handle = next(boxes)
        is_mixed = last_handle != handle
        tag_mark = marks.get(handle, -1)
        letters: Sequence[Box] = list(islice(letters_of_mixed, end - start)) if is_mixed else ()
        if end - start >= MIN_DOUBLED and token[0] == token[1]:
            token = undoubled(token)
        if has_joints and not (token := token.replace(JOINT, "")):  # taken into the word before it
            continue
        if has_drawn_hyphens and SOFT_HYPHEN in token:
            token = with_drawn_hyphens(token, list(pdfium.loose_boxes.of(range(start, end), pointer)))
        if has_bullets:
            is_first = not start or characters[start - 1] in LINE_ENDS
            token = "•" if token == TEX_BULLET or (is_first and token == OLD_TEX_BULLET) else token
        is_back = x3 < x0 and token[-1].isascii()  # and of no script that goes to the left
        # Comparisons in place of min and max: this runs for every word.
        if x2 < x0:
            x0 = x2
        if x3 > x1:
            x1 = x3
        if y2 < y0:
            y0 = y2
        if y3 > y1:
            y1 = y3
        style, size, is_vertical, is_plain = looks[handle]
        height = (x1 - x0) if is_vertical else (y1 - y0)
        if size > OVERSIZED * height > 0:
            # Inside a form drawn at a smaller scale, only the box has the true size.
            if (handle, height) not in shrunk:
                shrunk[handle, height] = replace(style, size=OF_HEIGHT * height)
            style = shrunk[handle, height]
            is_plain = is_plain and style.size >= TINY_POINTS
        within = x1 >= left and x0 <= right and y1 >= bottom and y0 <= top
        if not (is_plain and within) and _is_hidden(style, scene, (x0, y0, x1, y1), bounds, ocr, pale):
            hidden += len(token)
            if words:
                words[-1].ends = words[-1].ends or "\n"
            continue
        is_wide = x1 - x0 > WIDE * (end - start) * (y1 - y0)
        if not (is_mixed or is_back or is_vertical or is_wide or end - start >= MIN_TIGHT):  # nearly always
            words.append(Word(token, x0, y0, x1, y1, style, mark=tag_mark))
            continue
        if is_mixed and token[-1] in NOTE_MARKS and not is_vertical and ends_in_mark(token, letters, y1 - y0, y0):
            words.append(Word(token[:-1], x0, y0, x2, y1, style, mark=tag_mark))
            token, x0, y0, y1, style = token[-1], x2, y2, y3, replace(style, size=style.size * (y3 - y2) / (y1 - y0))
        elif (
            is_mixed
            and not is_vertical
            and token[-1] in RAISED_NUMBERS
            and RAISED * (y1 - y0) < y2 - y0
            and len(token) == end - start
            and (mark := note_number(token, letters, y1 - y0, y0))
        ):
            token = token[: -len(mark)] + "".join([RAISED_NUMBERS[digit] for digit in mark])
        elif is_vertical and 1 < len(token) == end - start:
            letters = letters or list(pdfium.loose_boxes.of(range(start, end), pointer))
            *firsts_of_it, (at, _) = parts_of_turned(letters, x1 - x0)
            for first, last in firsts_of_it:
                low, high = _reach(letters[first:last])
                words.append(Word(token[first:last], x0, low, x1, high, style, mark=tag_mark))
            token, (y0, y1) = token[at:], _reach(letters[at:])
        elif (
            (is_mixed or is_back or is_wide or (len(token) >= MIN_TIGHT and token.isalpha()))
            and not is_vertical
            and 1 < len(token) == end - start
        ):
            letters = letters or list(pdfium.loose_boxes.of(range(start, end), pointer))
            parts = parts_of_level(token, letters, y1 - y0, were_set_apart=is_back or is_mixed)
            *firsts_of_it, (at, _) = parts
            for first, last in firsts_of_it:
                words.append(
                    Word(token[first:last], letters[first][0], y0, letters[last - 1][2], y1, style, mark=tag_mark)
                )
            if at:
                token, x0, x1 = token[at:], letters[at][0], letters[-1][2]
        words.append(Word(token, x0, y0, x1, y1, style, mark=tag_mark))
    if any(style.face.startswith(TRIANGLE[0]) for style in styles.values()):
        for word in words:
            if word.text == TRIANGLE[1] and word.style.face.startswith(TRIANGLE[0]):
                word.text = "▶"
    if any(0 < size < TINY_POINTS for _, size, *_ in looks.values()):
        _find_sizes(words)
    with_bullets(words)
    _find_fixed_pitch(words)
    return words, hidden


def _find_sizes(words: Sequence[Word]) -> None:
    """Give words a size whose font has none in points, as bitmaps may: by how high they and most of them are."""
    found = [word for word in words if not word.style.turn & 1 and word.style.size < UNDERSIZED * (word.y1 - word.y0)]
    usual = sorted([word.y1 - word.y0 for word in found])[len(found) // 2] if found else 0.0
    for word in found:
        height = word.y1 - word.y0
        is_usual = ALIKE[0] * usual < height < ALIKE[1] * usual
        word.style = replace(word.style, size=usual if is_usual else height)


def _marks_of(objects: Sequence[int]) -> dict[int | None, int]:
    """Return the mark of each text object."""
    return dict(zip(objects, map(pdfium.object_mark, pdfium.pointers_to(objects)), strict=True))


def _reach(letters: Sequence[Box]) -> tuple[float, float]:
    """Return the lowest and the highest point of letters."""
    return min([bottom for _, _, _, bottom in letters]), max([top for _, top, _, _ in letters])


def with_underscores(words: list[Word], dashes: Sequence[Box]) -> list[Word]:
    """Return the words with those joined that have an underscore between them drawn as a stroke: TeX's "add_arc"."""
    by_height = sorted(dashes, key=itemgetter(1))
    heights = [box[1] for box in by_height]
    joined = words[:1]
    for word in words[1:]:
        last = joined[-1]
        size, room = last.style.size, word.x0 - last.x1
        may_be = not last.ends and UNDERSCORE[0] * size < room < UNDERSCORE[1] * size
        if may_be and word.y0 < last.y1 and last.y0 < word.y1:
            low = bisect(heights, last.y0 + BASE_LINE[0] * size)
            near = by_height[low : bisect(heights, last.y0 + BASE_LINE[1] * size, low)]
            strokes = [
                box
                for box in near
                if box[0] > last.x1 - BETWEEN_WORDS * size and box[2] < word.x0 + BETWEEN_WORDS * size
            ]
            if strokes and room - sum([box[2] - box[0] for box in strokes]) < UNDERSCORE[0] * size:
                text = f"{last.text}{'_' * len(strokes)}{word.text}"
                joined[-1] = Word(text, *box_of([last, word]), last.style, word.ends, last.mark)
                continue
        joined.append(word)
    return joined


def _find_fixed_pitch(words: Sequence[Word]) -> None:
    """Mark the words in fonts without a name (bitmaps of TeX) that have a fixed pitch: pdfium tells no widths there."""
    nameless: dict[int, list[Word]] = {}
    for word in words:
        if not word.style.face:
            nameless.setdefault(id(word.style), []).append(word)
    for alike in nameless.values():
        pitches = sorted(
            [(w.x1 - w.x0) / len(w.text) for w in alike if len(w.text) > 2 and w.text.isascii() and w.text.isalpha()]
        )
        if len(pitches) < MIN_EVEN or alike[0].style.turn:
            continue
        usual = pitches[len(pitches) // 2]
        if sum([abs(pitch - usual) > EVEN * usual for pitch in pitches]) < MAX_UNEVEN * len(pitches):
            fixed = replace(alike[0].style, mono=True)
            for word in alike:
                word.style = fixed


def _is_hidden(style: Style, scene: Scene, box: Box, bounds: Box, ocr: bool, pale: Sequence[int]) -> bool:
    """Whether a word is invisible on the page; `pale` are the objects of all text in its colour."""
    x0, y0, x1, y1 = box
    if x1 < bounds[0] or x0 > bounds[2] or y1 < bounds[1] or y0 > bounds[3]:
        return True
    if 0 < style.size < TINY_POINTS and min(y1 - y0, x1 - x0) < TINY_POINTS:
        return True
    if style.invisible:
        # An OCR layer is invisible text over the picture it was read from; elsewhere it is hidden on purpose.
        return not ocr
    return style.pale and not scene.dark_behind((x0 + x1) / 2, (y0 + y1) / 2) and not scene.shows(box, pale)
