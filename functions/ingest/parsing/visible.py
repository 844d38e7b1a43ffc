"""Cuts a page's characters into words with boxes and styles, and tells which of them nobody can see."""

import re
from collections import deque
from collections.abc import Iterator
from ctypes import addressof, c_float
from dataclasses import replace
from itertools import repeat

from functions.ingest.parsing import pdfium as fz
from functions.ingest.parsing.layout import Style, Word
from functions.ingest.parsing.objects import Box, Scene
from functions.ingest.parsing.styles import styles_of

WORD = re.compile(r"[^\s\ufffe\x02\x00]+|[\r\n\ufffe\x02]+")
"""Words, and what ends a line. pdfium writes a hyphen at a line's end as U+FFFE or U+0002 and drops the newline."""

LINE_ENDS = frozenset("\r\n\ufffe\x02")

OCR_PICTURE = 0.4
"""Share of the page a picture covers from which on invisible text is an OCR layer of it."""

LEAST_DOUBLED = 6
"""Characters from which on a word in which each stands twice was printed twice, to look bold."""

TINY_POINTS = 1.2
"""Print smaller than this cannot be read on paper; figures go down to about 2 points."""


def words_of(text: int, characters: str, scene: Scene, bounds: Box, *, ocr: bool = False) -> tuple[list[Word], int]:
    """Return the words that can be seen on the page, and how many characters those have that were left out.

    With `ocr`, invisible text is taken for what was read from a picture; it is anyway where one covers much of a page.
    """
    ocr = ocr or scene.images >= OCR_PICTURE
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
        if end - start >= LEAST_DOUBLED and token[0] == token[1]:
            token = _once(token)
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
        if not (plain and within) and _unseen(style, scene, (x0, y0, x1, y1), bounds, ocr):
            hidden += len(token)
            if words:
                words[-1].ends = words[-1].ends or "\n"
            continue
        words.append(Word(token, x0, y0, x1, y1, style))
    return words, hidden


def _once(token: str) -> str:
    """Return "NEBRASKA" for "NNEEBBRRAASSKKAA": no word of a language is doubled throughout."""
    half = token[::2]
    return half if half == token[1::2] and any(map(str.isalpha, half)) and len(set(half)) > 1 else token


def _boxes(text: int, indices: list[int]) -> Iterator[tuple[float, ...]]:
    """Return left, top, right, bottom of each of the characters, asked for without a step of Python for each."""
    floats = (c_float * (4 * len(indices)))()
    start = addressof(floats)
    deque(map(fz.loose_box, repeat(text), indices, range(start, start + 16 * len(indices), 16)), 0)
    flat = iter(floats[:])
    return zip(flat, flat, flat, flat, strict=True)


def _unseen(style: Style, scene: Scene, box: tuple[float, ...], bounds: Box, ocr: bool) -> bool:
    """Tell whether nobody can see a word on the page."""
    x0, y0, x1, y1 = box
    if x1 < bounds[0] or x0 > bounds[2] or y1 < bounds[1] or y0 > bounds[3]:
        return True
    if 0 < style.size < TINY_POINTS and min(y1 - y0, x1 - x0) < TINY_POINTS:
        return True
    if style.invisible:
        # An OCR layer is invisible text over the picture it was read from; elsewhere nobody is meant to see it.
        return not ocr
    return style.pale and not scene.dark_behind((x0 + x1) / 2, (y0 + y1) / 2)
