"""What else lies on a page: how much of it pictures cover, and what is behind pale text."""

from collections.abc import Iterable, Iterator, Sequence
from ctypes import addressof, byref, c_float, c_int, c_uint
from functools import cached_property
from itertools import compress, repeat

from functions.ingest.parsing import pdfium as fz

MAX_OBJECTS = 20_000
MAX_DEPTH = 4
Box = tuple[float, float, float, float]
Colour = tuple[int, int, int, int]
"""Red, green, blue, alpha: 0..255."""

Transform = tuple[float, float, float, float, float, float]
IDENTITY: Transform = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Scene:
    """The objects of one page, text aside: looked at for pictures, and again if there is pale text."""

    def __init__(self, page: int, bounds: Box) -> None:
        self._page, self._bounds = page, bounds
        self._drawn: list[tuple[int, int, Transform]] = []
        self.images = 0.0

    def coverage(self) -> tuple[float, int]:
        """Return the share of the page that pictures cover (0..1) and the number of drawn paths."""
        left, bottom, right, top = self._bounds
        area, paths = 0.0, 0
        self._drawn = list(self._objects(self._page_objects(), IDENTITY, 0))
        for kind, handle, transform in self._drawn:
            if kind == fz.PATH:
                paths += 1
            elif kind == fz.IMAGE:
                x0, y0, x1, y1 = _bounds(handle, transform)
                area += max(0.0, min(x1, right) - max(x0, left)) * max(0.0, min(y1, top) - max(y0, bottom))
        self.images = round(min(1.0, area / max(1.0, (right - left) * (top - bottom))), 3)
        return self.images, paths

    def dark_behind(self, x: float, y: float) -> bool:
        """Tell whether anything but white lies at a point, so that white text can be seen there."""
        return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in self._backgrounds)

    def fill_of(self, handle: int) -> Colour | None:
        """Return an object's fill colour."""
        return next(self.fills_of([handle]))

    @staticmethod
    def fills_of(handles: Sequence[int]) -> Iterator[Colour | None]:
        """Return the fill colours of objects, asked for without a step of Python for each."""
        count = len(handles)
        colours = (c_uint * (4 * count))()
        start = addressof(colours)
        places = [range(start + at, start + at + 16 * count, 16) for at in (0, 4, 8, 12)]
        has_one = list(map(fz.object_fill, handles, *places))
        flat = iter(colours[:])
        rgba = zip(flat, flat, flat, flat, strict=True)
        return (colour if has else None for colour, has in zip(rgba, has_one, strict=True))

    @cached_property
    def _backgrounds(self) -> list[Box]:
        found: list[Box] = []
        for kind, handle, transform in self._drawn:
            if kind == fz.PATH and not self._is_dark(handle):
                continue
            if kind in {fz.PATH, fz.IMAGE, fz.SHADING}:
                found.append(_bounds(handle, transform))
        return found

    def _is_dark(self, handle: int) -> bool:
        mode, stroke = c_int(), c_int()
        if not fz.path_draw_mode(handle, byref(mode), byref(stroke)) or not mode.value:
            return False
        fill = self.fill_of(handle)
        # A pattern has no colour of its own: taken as something to be seen.
        return fill is None or (fill[3] >= 10 and min(fill[:3]) < 245)

    def _page_objects(self) -> Iterator[int]:
        return map(fz.page_object, repeat(self._page), range(min(fz.count_objects(self._page), MAX_OBJECTS)))

    def _objects(
        self, handles: Iterable[int], transform: Transform, depth: int
    ) -> Iterator[tuple[int, int, Transform]]:
        handles = list(handles)  # by `map` and `compress`, since a page can have thousands of text objects
        kinds = list(map(fz.object_type, handles))
        drawn = [kind != fz.TEXT for kind in kinds]
        for kind, handle in zip(compress(kinds, drawn), compress(handles, drawn), strict=True):
            if kind == fz.FORM and depth < MAX_DEPTH:
                matrix = fz.Matrix()
                fz.object_matrix(handle, addressof(matrix))
                inner = _after((matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f), transform)
                count = min(fz.form_count(handle), MAX_OBJECTS >> depth)
                yield from self._objects(map(fz.form_object, repeat(handle), range(count)), inner, depth + 1)
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


def _bounds(handle: int, t: Transform) -> Box:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    fz.object_bounds(handle, byref(left), byref(bottom), byref(right), byref(top))
    corners = [(x, y) for x in (left.value, right.value) for y in (bottom.value, top.value)]
    xs = [t[0] * x + t[2] * y + t[4] for x, y in corners]
    ys = [t[1] * x + t[3] * y + t[5] for x, y in corners]
    return min(xs), min(ys), max(xs), max(ys)
