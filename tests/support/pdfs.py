"""Tiny PDFs for tests, written by hand so that each shows one thing; and bombs."""

import zlib
from collections.abc import Iterable, Mapping

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
BOLD = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>"
COURIER = b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>"
FONTS = b"/Font<</F1 %d 0 R/F2 %d 0 R/F3 %d 0 R>>"
HELLO = b"BT /F1 12 Tf 72 700 Td (Hello world) Tj ET\n"


def pdf(objects: Mapping[int, bytes], *, root: int = 1, trailer: bytes = b"") -> bytes:
    """Write a file from numbered objects, with a cross-reference table."""
    out = bytearray(b"%PDF-1.7\n")
    offsets: dict[int, int] = {}
    for number, body in objects.items():
        offsets[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 00000 f \n"
    out += b"trailer\n<</Size %d/Root %d 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer, start)
    return bytes(out)


def stream(data: bytes, dictionary: bytes = b"") -> bytes:
    """Make a stream object."""
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (dictionary, len(data), data)


def document(
    contents: Iterable[bytes],
    *,
    title: str = "",
    catalog: bytes = b"",
    page: bytes = b"",
    extra: Mapping[int, bytes] = {},
) -> bytes:
    """Make a document with one page for each content (a stream object, or operators); fonts F1, F2 (bold), F3 (mono).

    `catalog` and `page` are put into those dictionaries; `extra` objects should be numbered from 9001.
    """
    bodies = [body if body.startswith(b"<<") else stream(body) for body in contents]
    kids = b" ".join(b"%d 0 R" % (10 + 2 * i) for i in range(len(bodies)))
    fonts = FONTS % (3, 4, 5)
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R%b>>" % catalog,
        2: b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(bodies)),
        3: HELVETICA,
        4: BOLD,
        5: COURIER,
        6: b"<</Title(%b)>>" % title.encode("latin-1"),
    }
    for i, body in enumerate(bodies):
        objects[10 + 2 * i] = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<<%b>>%b>>" % (
            11 + 2 * i,
            fonts,
            page,
        )
        objects[11 + 2 * i] = body
    objects.update(extra)
    return pdf(objects, trailer=b"/Info 6 0 R")


def text(x: float, y: float, words: str, *, size: float = 10, font: str = "F1", before: str = "") -> bytes:
    """Operators that write one line of text with its base line at (x, y); `before` goes inside the text object."""
    escaped = words.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /%b %.2f Tf %b %.2f %.2f Td (%b) Tj ET\n" % (font.encode(), size, before.encode(), x, y, escaped)


def lines(*rows: str, x: float = 72, y: float = 720, size: float = 10, font: str = "F1", leading: float = 12) -> bytes:
    """Operators for lines below one another."""
    return b"".join(text(x, y - i * leading, row, size=size, font=font) for i, row in enumerate(rows))


def deflated(chunk: bytes, times: int) -> bytes:
    """Compress `times` copies of a chunk, without ever holding them and each but the first for nothing.

    After a full flush a block refers to nothing before it, so the second copy's can be repeated as it is.
    """
    packer = zlib.compressobj(9)
    first, again = (packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    checksum = 1
    for _ in range(times):
        checksum = zlib.adler32(chunk, checksum)
    return first + again * (times - 1) + packer.flush()[:-4] + checksum.to_bytes(4)


def bombs() -> dict[str, bytes]:
    """Return hostile files by name, each a few kilobytes (one: 2 MB) that ask for far more."""
    spaces = deflated(b" " * (1 << 20), 512)
    flate = b"/Filter/FlateDecode"
    forms = {
        9001 + i: stream(
            b"/X Do " * 10 if i < 9 else HELLO,
            b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>%b>>"
            % (b"/XObject<</X %d 0 R>>" % (9002 + i) if i < 9 else b""),
        )
        for i in range(10)
    }
    deep = {1: b"<</Type/Catalog/Pages 2 0 R>>"}
    deep |= {2 + i: b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (3 + i) for i in range(3000)}
    deep[3002] = b"<</Type/Page/Parent 3001 0 R/MediaBox[0 0 9 9]>>"
    loop = {9001: b"<</First 9002 0 R/Last 9002 0 R/Count 1>>"}
    loop[9002] = b"<</Title(loop)/Parent 9001 0 R/Next 9002 0 R/First 9002 0 R/Last 9002 0 R/Dest[10 0 R/Fit]>>"
    xref_loop = document([HELLO]).replace(b"/Info 6 0 R", b"/Info 6 0 R/Prev 1")
    return {
        "flate_of_spaces": document([stream(spaces, flate)]),
        "flate_in_flate": document([stream(zlib.compress(spaces, 9), b"/Filter[/FlateDecode/FlateDecode]")]),
        "much_text": document([stream(deflated(HELLO * 1000, 300), flate)]),
        "many_operators": document([stream(deflated(b"q 1 0 0 1 0 0 cm 0 0 m 1 1 l S Q\n" * 10_000, 30), flate)]),
        "billion_laughs": document([b"/X Do "], extra=forms).replace(
            FONTS % (3, 4, 5), FONTS % (3, 4, 5) + b"/XObject<</X 9001 0 R>>"
        ),
        "page_tree_loop": pdf({1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"}),
        "deep_page_tree": pdf(deep),
        "many_pages": pdf(
            {
                1: b"<</Type/Catalog/Pages 2 0 R>>",
                2: b"<</Type/Pages/Kids[%b]/Count 200000>>" % (b"3 0 R " * 200_000),
                3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>",
            }
        ),
        "nested_arrays": document([b"[" * 100_000 + b"]" * 100_000 + b" TJ " + HELLO]),
        "outline_loop": document([HELLO], catalog=b"/Outlines 9001 0 R", extra=loop),
        "xref_loop": xref_loop,
    }
