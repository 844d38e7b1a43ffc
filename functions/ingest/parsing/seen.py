"""Whether text whose colour says nothing is seen: the page is drawn with it and without it, and compared.

pdfium tells a pattern or a gradient as white, and white on white is how text is hidden. Few pages have any, so that
drawing them costs little. Of text that is drawn twice at nearly one place, as letters and their shadow are, pdfium
tells only what is drawn first: the shadow.
"""

import ctypes
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from ctypes import addressof, byref, c_int

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.words import Box

MAX_SIDE = 1_400
"""Pixels of the longer side; two bitmaps in grey take 4 MB at most."""
SCALE = 2.0
"""Pixels a point, unless the page is too large: print of two points still leaves a trace."""
DRAWING_S = 1.5
"""CPU seconds for both drawings; a page that takes longer is not judged by them."""
DIFFERENCE = 16
"""Steps of grey (of 255) that are seen; what is nearer to its background counts as hidden."""


OF_SHADOW = 0.2
MOST_NEAR = 200
END_OF_TEXT = 2
"""How far letters are from their shadow at most, in font sizes; how many objects at one left edge are looked at, which
bounds a quadratic cost; and the bytes that pdfium tells of an object without text."""
Colour = tuple[int, int, int, int]
"""Red, green, blue, alpha: 0..255."""
LEAST_OPAQUE = 10
WHITE = 245
"""How opaque visible paint is at least, and how bright its darkest colour is if it looks white, of 255."""


def shadows(text: int, objects: Sequence[int], pale: Mapping[int, float]) -> Iterator[int]:
    """Yield the text objects of which pale ones may be the shadow: the same letters in a colour, and at one place.

    `text` is the page's text, of which they are no part because pdfium takes them for the same; `objects` are all text
    objects of the page, and `pale` has the font size of each pale one. Whether they are seen, drawing them tells.
    """
    boxes = list(pdfium.object_bounds.of(pdfium.pointers_to(objects)))
    fills = list(pdfium.object_fills.of(pdfium.pointers_to(objects)))
    by_left = sorted(range(len(objects)), key=lambda at: boxes[at][0])
    lefts = [boxes[at][0] for at in by_left]
    for at, handle in enumerate(objects):
        most = OF_SHADOW * pale.get(handle, 0.0)
        first, last = bisect_left(lefts, boxes[at][0] - most), bisect_right(lefts, boxes[at][0] + most)
        for other in by_left[first : min(last, first + MOST_NEAR)] if most else ():
            is_near = max([abs(a - b) for a, b in zip(boxes[at], boxes[other], strict=True)]) <= most
            is_seen = is_near and is_painted(fills[other])
            if is_seen and pdfium.text_of_object(objects[other], text, None, 0) <= END_OF_TEXT:
                yield objects[other]


def is_painted(fill: Colour | None) -> bool:
    """Whether a colour is seen on white; a pattern has none of its own and is taken as visible."""
    return fill is None or (fill[3] >= LEAST_OPAQUE and min(fill[:3]) < WHITE)


class Drawn:
    """A page drawn with and without some of its text objects."""

    def __init__(self, page: int, objects: Sequence[int]) -> None:
        width, height = pdfium.page_width(page), pdfium.page_height(page)
        scale = min(SCALE, MAX_SIDE / max(1.0, width, height))
        self._page = page
        self._columns, self._rows = max(1, int(width * scale)), max(1, int(height * scale))
        self._until = time.process_time() + DRAWING_S
        self._with = self._draw()
        for handle in objects:
            pdfium.set_active(handle, 0)
        self._without = self._draw() if self._with else b""
        for handle in objects:
            pdfium.set_active(handle, 1)

    def shows(self, box: Box) -> bool:
        """Whether the text in a box of page space (y upwards) is seen; False if the page took too long to draw."""
        if not self._without:
            return False
        (x0, y0), (x1, y1) = self._pixel(box[0], box[1]), self._pixel(box[2], box[3])
        left, right = max(0, min(x0, x1)), min(self._columns, max(x0, x1) + 1)
        for row in range(max(0, min(y0, y1)), min(self._rows, max(y0, y1) + 1)):
            at = row * self._columns
            pixels, others = self._with[at + left : at + right], self._without[at + left : at + right]
            if pixels != others and any(abs(a - b) > DIFFERENCE for a, b in zip(pixels, others, strict=True)):
                return True
        return False

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        across, down = c_int(), c_int()
        pdfium.page_to_device(self._page, 0, 0, self._columns, self._rows, 0, x, y, byref(across), byref(down))
        return across.value, down.value

    def _draw(self) -> bytes:
        """Return the grey values of the page, or nothing if time ran out."""
        columns, rows = self._columns, self._rows
        pixels = (ctypes.c_uint8 * (columns * rows))()
        bitmap = pdfium.create_bitmap(columns, rows, pdfium.GREY, addressof(pixels), columns)
        if not bitmap:
            return b""
        try:
            pdfium.fill_bitmap(bitmap, 0, 0, columns, rows, 0xFFFFFFFF)
            with pdfium.pausing(lambda: time.process_time() > self._until) as pause:
                state = pdfium.start_drawing(bitmap, self._page, 0, 0, columns, rows, 0, 0, pause)
                pdfium.end_drawing(self._page)
        finally:
            pdfium.destroy_bitmap(bitmap)
        return bytes(pixels) if state == pdfium.DRAWN else b""
