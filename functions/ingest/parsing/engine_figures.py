"""Draws the figures of pages, for a model that describes them: finds them as `engine_pdfium`, and larger pictures."""

import base64
import ctypes
import struct
import zlib
from ctypes import addressof, byref

from functions.ingest.parsing import pdfium
from functions.ingest.parsing.engine_pdfium import PdfiumEngine
from functions.ingest.parsing.figures import MAX_ON_PAGE, Figure, pictures_of
from functions.ingest.parsing.page_objects import Scene
from functions.ingest.parsing.wire import RawPage
from functions.ingest.parsing.words import Box

MAX_SIDE = 1_024
"""Pixels of a picture's longer side: small print of a chart can be read, and the price of a picture is bounded."""
PIXELS_A_POINT = 2.0
MARGIN = 6.0
"""Points around a figure, for labels that stand outside of its axes."""
MAX_BYTES = 2 * 2**20
"""Of a PNG file; a larger one (a photograph) is drawn at half the size."""


class FigureEngine(PdfiumEngine):
    """One open document, of whose pages only the figures are told. Raises `CannotOpen`."""

    def page(self, number: int) -> RawPage:
        """Find and draw the figures of a page (from 1). Raises `RuntimeError` when pdfium cannot load it."""
        raw = super().page(number)
        figures = [Figure((x0, y0, x1, y1), caption) for x0, y0, x1, y1, caption, _ in raw.figures]
        with self.loaded(number) as page:
            box = pdfium.Rect()
            pdfium.page_box(page, byref(box))
            if not raw.rotation:
                scene = Scene(page, (box.left, box.bottom, box.right, box.top))
                scene.coverage()
                figures += pictures_of(scene.boxes(pdfium.IMAGE), figures, raw.width, raw.height)
            raw.figures = [
                (*each.box, each.caption, base64.b64encode(_drawn(page, each.box, box.left, raw)).decode())
                for each in figures[:MAX_ON_PAGE]
            ]
        raw.lines = []
        return raw


def _drawn(page: int, box: Box, left: float, raw: RawPage) -> bytes:
    """Return a part of a page as a PNG file, small enough."""
    x0, y0 = max(0.0, box[0] - left - MARGIN), max(0.0, box[1] - MARGIN)
    x1, y1 = min(raw.width, box[2] - left + MARGIN), min(raw.height, box[3] + MARGIN)
    scale = min(PIXELS_A_POINT, MAX_SIDE / max(1.0, x1 - x0, y1 - y0))
    while True:
        columns, rows = max(1, int((x1 - x0) * scale)), max(1, int((y1 - y0) * scale))
        pixels = (ctypes.c_uint8 * (3 * columns * rows))()
        bitmap = pdfium.create_bitmap(columns, rows, pdfium.COLOURS, addressof(pixels), 3 * columns)
        if not bitmap:
            raise RuntimeError("the figure cannot be drawn")
        whole = max(1, round(raw.width * scale)), max(1, round(raw.height * scale))
        try:
            pdfium.fill_bitmap(bitmap, 0, 0, columns, rows, 0xFFFFFFFF)
            pdfium.draw_page(bitmap, page, -round(x0 * scale), -round(y0 * scale), *whole, 0, pdfium.RED_FIRST)
        finally:
            pdfium.destroy_bitmap(bitmap)
        png = png_of(columns, rows, bytes(pixels))
        if len(png) <= MAX_BYTES:
            return png
        scale /= 2


def png_of(columns: int, rows: int, rgb: bytes) -> bytes:
    """Return a PNG file (ISO/IEC 15948) of three bytes a pixel, row by row."""
    row = 3 * columns
    filtered = b"".join(b"\0" + rgb[at : at + row] for at in range(0, row * rows, row))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(filtered)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
