"""What the parsing child tells its parent: length-prefixed JSON frames, and the values they carry.

A frame is four bytes of length (big-endian) and that many bytes of UTF-8 JSON with a `kind`:
`document` once, then one `page` each in order, then `done`; or `rejected` instead of `document`.
JSON and not pickle, because the child has read hostile bytes and cannot be trusted.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from operator import attrgetter
from typing import Any

HEADER = struct.Struct(">I")
MAX_FRAME_BYTES = 64 * 2**20
"""A frame longer than this is an error: it bounds the memory a misbehaving child costs its parent."""
MAX_PAGE_CHARACTERS = 500_000
"""A page of small print has 20,000; a page with more than this is a bomb, its first part is kept."""
ANY_PICTURE = 0.08
MANY_PATHS = 400
"""Text drawn as outlines takes about ten paths a word; rules and boxes stay under this."""
OCR_ENGINE = "tesseract"
"""The engine that reads pictures of pages."""
FIGURE_ENGINE = "figures"
"""The engine that finds figures and draws them."""
PASSWORD_NEEDED = "The file needs a password. Remove the password and upload the file again."  # noqa: S105
MEMORY_EXIT = 3
"""Exit code of a child that ran out of memory in Python, where it can still say so."""


ITEM = 7
"""`Line.level` of an item of a list."""


@dataclass(slots=True)
class Line:
    """One line as it stands on the page. Coordinates are in points, y grows downwards, turned upright.

    `cells` counts a table row's cells, joined by " | " (0: the line belongs to no paragraph); `column` is, for a
    table row, the table's number on the page; `mono` marks a fixed-pitch font, `apart` another face than the page's
    text has (italics, or a bold that its name does not tell) and, for a table row, that a cell behind the label is in
    fixed pitch. `figure` is the number on the page of the figure that it is written in, 0 for none. `leads`: it
    begins in bold or fixed pitch and goes on in other print, as an entry in a list of commands does; the first row of a
    table does if it has cells in bold and others, as most rows below it. `boxed`
    is the number on the page of the ruled cell with others beside it that it stands in, as in a field of a form, 0 if
    in none or in a table. `place` is where
    it stands on the page as shown (`shared.rects`; empty: not known). Of a table row it holds a record for each line
    of each cell, apart by spaces: two digits each for where that begins in `text` and for its length, then its place.
    """

    text: str
    x0: float = 0.0
    y0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0
    size: float = 0.0
    bold: bool = False
    mono: bool = False
    cells: int = 1
    column: int = 0
    place: str = ""
    apart: bool = False
    figure: int = 0
    leads: bool = False
    boxed: int = 0
    names: bool = False
    block: int = 0
    level: int = 0


type SentFigure = tuple[float, float, float, float, str, str]
"""A figure: left, top, right, bottom (points, y downwards), caption, and its picture (PNG, base64) if it was drawn."""


@dataclass(slots=True)
class RawPage:
    """What an engine found on a page, before running lines are removed and paragraphs are joined.

    `images` is the share of the page that pictures cover, `paths` counts what is drawn, `hidden` the characters left
    out because they are invisible. `ocr`: some of the text is a layer of invisible text read from a picture. `width`
    and `height` are those before the page is turned for showing, `rotation` counts its quarter turns to the right.
    `confidence` (0..1) is Tesseract's mean over the words that it read. `figures` are those that are surely there.
    `mended`: its letters stood for others, and no longer do.
    """

    number: int
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    lines: list[Line] = field(default_factory=list)
    images: float = 0.0
    paths: int = 0
    hidden: int = 0
    seconds: float = 0.0
    engine: str = "pdfium"
    error: str = ""
    cut: bool = False
    ocr: bool = False
    rotation: int = 0
    confidence: float = 1.0
    figures: list[SentFigure] = field(default_factory=list)
    mended: bool = False

    @property
    def shown_size(self) -> tuple[float, float]:
        """Width and height of the page as it is shown."""
        return (self.height, self.width) if self.rotation & 1 else (self.width, self.height)

    @property
    def has_positions(self) -> bool:
        """Whether its lines have coordinates: pypdf gives none."""
        return self.engine != "pypdf"

    @property
    def is_pictured(self) -> bool:
        """Whether a page without visible text is a picture of text."""
        return self.images >= ANY_PICTURE or self.paths >= MANY_PATHS


@dataclass(slots=True)
class Header:
    """What is known about a document before its pages are read. `outline` holds (page, level, title).

    `has_attached_pdfs`: there are documents within this one, which are not read.
    """

    page_count: int
    title: str = ""
    outline: list[tuple[int, int, str]] = field(default_factory=list)
    engine: str = "pdfium"
    has_attached_pdfs: bool = False
    author: str = ""


@dataclass(slots=True)
class Rejected:
    """The document cannot be opened: `code` as in `DocumentRejected`."""

    code: str
    message: str


class CannotOpen(Exception):
    """The engine cannot open the file; carries the reason for the parent."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.rejected = Rejected(code, message)


def pack(kind: str, body: Mapping[str, Any]) -> bytes:
    """Make one frame. Lone surrogates become U+FFFD, since UTF-8 has no room for them."""
    data = json.dumps({"kind": kind, **body}, ensure_ascii=False, separators=(",", ":"))
    encoded = data.encode("utf-8", "replace")
    return HEADER.pack(len(encoded)) + encoded


_LINE_VALUES = attrgetter(*(f.name for f in fields(Line)))
PAGE_FIELDS = tuple(f.name for f in fields(RawPage) if f.name != "lines")


def pack_page(page: RawPage) -> bytes:
    """Make a `page` frame; lines travel as rows, which halves the bytes."""
    body = {name: getattr(page, name) for name in PAGE_FIELDS}
    body["lines"] = [
        (
            t,
            round(x0, 1),
            round(y0, 1),
            round(x1, 1),
            round(y1, 1),
            round(size, 1),
            int(b),
            int(m),
            cells,
            column,
            place,
            int(apart),
            *_set(rest),
        )
        for t, x0, y0, x1, y1, size, b, m, cells, column, place, apart, *rest in map(_LINE_VALUES, page.lines)
    ]
    return pack("page", body)


def _set(values: list[int]) -> Iterable[int]:
    """Return the values up to the last that is not 0, as hardly any line has one."""
    if not any(values):
        return ()
    end = max(at for at, value in enumerate(values, 1) if value)
    return map(int, values[:end])


def pack_header(header: Header) -> bytes:
    """Make the `document` frame."""
    return pack("document", asdict(header))


def unpack(data: bytes) -> Header | RawPage | Rejected | None:
    """Read one frame's JSON; None is `done`. Raises `ValueError` when it is not a valid frame."""
    try:
        body = json.loads(data)
        kind = body.pop("kind")
        if kind == "done":
            return None
        if kind == "rejected":
            return Rejected(str(body["code"]), str(body["message"]))
        if kind == "document":
            outline = [(int(p), int(level), str(title)) for p, level, title in body["outline"]]
            attached = bool(body["has_attached_pdfs"])
            return Header(
                int(body["page_count"]), str(body["title"]), outline, str(body["engine"]), attached, str(body["author"])
            )
        if kind == "page":
            lines = [
                Line(
                    t,
                    x0,
                    y0,
                    x1,
                    y1,
                    size,
                    bool(b),
                    bool(m),
                    c,
                    col,
                    place,
                    bool(apart),
                    *rest[:1],
                    *map(bool, rest[1:2]),
                    *rest[2:3],
                    *map(bool, rest[3:4]),
                    *rest[4:],
                )
                for t, x0, y0, x1, y1, size, b, m, c, col, place, apart, *rest in body["lines"]
            ]
            # A page that an earlier release has stored may have more fields.
            return RawPage(**{name: body[name] for name in PAGE_FIELDS if name in body}, lines=lines)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a frame: {type(error).__name__}") from error
    raise ValueError(f"not a frame: kind {kind!r}")
