"""The picture of a figure, as it is written: each pixel, row by row."""

import struct
import zlib

import pytest

from functions.ingest.parsing.engine_figures import png_of


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (3, 2), (2, 3), (1, 4)])
def test_a_picture_holds_each_pixel(columns: int, rows: int) -> None:
    rgb = bytes(range(1, 1 + 3 * columns * rows))
    png = png_of(columns, rows, rgb)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + data),)
        parts[kind] = data
        at += 12 + length
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", parts[b"IHDR"]) == (columns, rows, 8, 2, 0, 0, 0)  # of 8 bits: red, green, blue
    filtered = zlib.decompress(parts[b"IDAT"])
    step = 3 * columns + 1
    assert len(filtered) == rows * step
    assert [filtered[row * step] for row in range(rows)] == [0] * rows  # no filter
    assert b"".join(filtered[row * step + 1 : (row + 1) * step] for row in range(rows)) == rgb
