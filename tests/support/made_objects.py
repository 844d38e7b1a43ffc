"""Pages of made objects and characters in pdfium's place: each measure is exactly what it was made as.

Pages that pdfium reads have no measure exactly on a limit, since its numbers differ a little from machine to machine.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from functions.ingest.parsing import pdfium

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""


@dataclass(eq=False)
class Thing:
    """A picture, path, shading or form of a page; a form holds others."""

    kind: int
    box: Box = (0, 0, 0, 0)
    fill: tuple[int, int, int, int] | None = (0, 0, 0, 255)
    mode: tuple[int, bool] = (1, False)
    segments: int = 5
    inner: Sequence["Thing"] = ()
    matrix: tuple[float, ...] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(eq=False)
class Font:
    """A font with its flags, and the widths of its characters: one for all but those that are named."""

    name: str = "Serif"
    flags: int = 0
    width: float = 0.0
    widths: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False)
class Print:
    """How characters are printed: a text object."""

    size: float = 10.0
    matrix: tuple[float, ...] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    mode: int = 0
    fill: tuple[int, int, int, int] | None = (0, 0, 0, 255)
    font: Font | None = field(default_factory=Font)


class MadePage:
    """Stands for pdfium where a page's objects and characters are asked for."""

    things: Sequence[Thing]
    boxes: list[Box]
    prints: list[Print | None]
    characters: str

    def begin(self, things: Sequence[Thing] = ()) -> None:
        """Begin a page that has these things and no characters yet."""
        self.things, self.boxes, self.prints, self.characters = things, [], [], ""

    def write(self, text: str, boxes: Sequence[Box], printed: Print | None) -> None:
        """Put characters on the page."""
        self.characters += text
        self.boxes += boxes
        self.prints += [printed] * len(text)

    def as_pdfium(self) -> SimpleNamespace:
        """Return what takes the place of the module that asks pdfium."""
        named = ("IMAGE", "PATH", "SHADING", "FORM", "TEXT", "INVISIBLE", "FILLED_AND_STROKED")
        kinds = {name: getattr(pdfium, name) for name in named}
        return SimpleNamespace(
            **kinds,
            pointers_to=list,
            text_object=lambda _text, at: self.prints[at],
            loose_boxes=_asked(lambda at: (self.boxes[at][0], self.boxes[at][3], self.boxes[at][2], self.boxes[at][1])),
            object_font_sizes=_asked(lambda each: (each.size,)),
            object_matrices=_asked(lambda each: each.matrix),
            object_render_mode=lambda each: each.mode,
            object_fills=_asked(lambda each: each.fill),
            object_strokes=_asked(lambda _each: None),
            object_font=lambda each: each.font,
            object_bounds=_asked(lambda each: each.box),
            object_type=lambda each: each.kind,
            path_draw_modes=_asked(lambda each: each.mode),
            count_segments=lambda each: each.segments,
            count_objects=lambda _page: len(self.things),
            page_object=lambda _page, at: self.things[at],
            form_count=lambda each: len(each.inner),
            form_object=lambda each, at: each.inner[at],
            font_flags=lambda each: each.flags,
            font_name=_font_name,
            glyph_width=_glyph_width,
        )


def _asked(told: Any) -> SimpleNamespace:
    """Return what answers for many things at a time."""

    def of(things: Iterable[Any], *_: object) -> Iterator[Any]:
        return map(told, things)

    return SimpleNamespace(of=of)


def _font_name(font: Font, buffer: Any, _size: int) -> None:
    buffer.value = font.name.encode("latin-1")


def _glyph_width(font: Font, code: int, _size: float, width: Any) -> bool:
    width._obj.value = font.widths.get(chr(code), font.width)
    return True
