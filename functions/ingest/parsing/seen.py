"""Whether text whose colour says nothing is seen: the page is drawn with it and without it, and compared.

pdfium tells a pattern or a gradient as white, and white on white is how text is hidden. Few pages have any, so that
drawing them costs little.
"""

import ctypes
import time
from collections.abc import Sequence
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
