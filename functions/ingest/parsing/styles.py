"""How the text objects of a page are set: size, weight, pitch, turn, and whether they can be seen."""

import ctypes
import re
from collections import deque
from collections.abc import Iterable
from ctypes import addressof, c_float
from itertools import batched

from functions.ingest.parsing import pdfium as fz
from functions.ingest.parsing.layout import Style
from functions.ingest.parsing.objects import Colour, Scene

FILLED = frozenset((0, 4))
"""Text rendering modes that fill and do not stroke."""

BOLD = re.compile(r"bold|black|heavy|semib|demi|cmbx|bx\d|-bd|medi\b|sfbx", re.IGNORECASE)
MONO = re.compile(r"mono|courier|consol|cmtt|lmtt|sftt|ectt|typewriter|menlo|inconsol|fixed", re.IGNORECASE)
SUBSET = re.compile(r"^[A-Z]{6}\+")


def styles_of(handles: Iterable[int | None], scene: Scene) -> dict[int | None, Style]:
    """Return the style of each text object; those set alike share one. None, a word without an object, has a plain one.

    All objects are asked one question after the other, which takes no step of Python for each.
    """
    known: dict[int | None, Style] = {None: Style()}
    objects = [handle for handle in dict.fromkeys(handles) if handle is not None]
    count = len(objects)
    sizes, matrices = (c_float * count)(), (c_float * (6 * count))()
    start = addressof(sizes)
    deque(map(fz.object_font_size, objects, range(start, start + 4 * count, 4)), 0)
    start = addressof(matrices)
    deque(map(fz.object_matrix, objects, range(start, start + 24 * count, 24)), 0)
    asked = zip(
        sizes[:],
        batched(matrices[:], 6, strict=True),
        map(fz.object_render_mode, objects),
        scene.fills_of(objects),
        map(fz.object_font, objects),
        strict=True,
    )
    alike: dict[tuple[object, ...], Style] = {}
    fonts: dict[int, tuple[bool, bool]] = {}
    for handle, (size, matrix, mode, fill, font) in zip(objects, asked, strict=True):
        key = (size, matrix[:4], mode, fill, font)
        style = alike.get(key)
        if style is None:
            if font not in fonts:
                fonts[font] = _font(font) if font else (False, False)
            style = alike[key] = _style(size, matrix, mode, fill if mode in FILLED else None, fonts[font])
        known[handle] = style
    return known


def _style(size: float, matrix: tuple[float, ...], mode: int, fill: Colour | None, font: tuple[bool, bool]) -> Style:
    a, b, c, d, _, _ = matrix
    scale = (c**2 + d**2) ** 0.5 or 1.0
    turn = 0
    if abs(b) > abs(a):
        turn = 1 if b > 0 else 3
    elif a < 0 and d < 0:
        turn = 2
    pale = fill is not None and (fill[3] < 10 or min(fill[:3]) >= 245)
    return Style(abs(size) * scale, *font, turn, mode == fz.INVISIBLE, pale)


def _font(font: int) -> tuple[bool, bool]:
    """Return whether a font is bold, and whether it has a fixed pitch."""
    name = font_name(font)
    # Flag bit 1: fixed pitch; bit 19: force bold (ISO 32000-1, table 123).
    flags = fz.font_flags(font)
    flags = flags if flags > 0 else 0
    return bool(BOLD.search(name) or flags & 1 << 18), bool(MONO.search(name))


def font_name(font: int) -> str:
    """Return a font's base name without the tag of a subset."""
    buffer = ctypes.create_string_buffer(200)
    fz.font_name(font, buffer, 200)
    return SUBSET.sub("", buffer.value.decode("latin-1"))
