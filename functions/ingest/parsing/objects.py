"""What else lies on a page: how much of it pictures cover, and what is behind pale text."""

from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_uint
from functools import cached_property

from functions.ingest.parsing import pdfium as fz

MAX_OBJECTS = 20_000
MAX_DEPTH = 4
Box = tuple[float, float, float, float]
Transform = tuple[float, float, float, float, float, float]
IDENTITY: Transform = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Scene:
    """The objects of one page; looked at once for pictures, a second time only if there is pale text."""

    def __init__(self, page: int, bounds: Box) -> None:
        self._page, self._bounds = page, bounds
        self.images = 0.0

    def coverage(self) -> tuple[float, int]:
        """Return the share of the page that pictures cover (0..1) and the number of drawn paths."""
        left, bottom, right, top = self._bounds
        area, paths = 0.0, 0
        for kind, handle, transform in self._objects(self._page_objects(), IDENTITY, 0):
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

    def fill_of(self, handle: int) -> tuple[int, int, int, int] | None:
        """Return an object's fill colour: red, green, blue, alpha (0..255)."""
        red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint()
        if not fz.object_fill(handle, byref(red), byref(green), byref(blue), byref(alpha)):
            return None
        return red.value, green.value, blue.value, alpha.value

    @cached_property
    def _backgrounds(self) -> list[Box]:
        found: list[Box] = []
        for kind, handle, transform in self._objects(self._page_objects(), IDENTITY, 0):
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
        for i in range(min(fz.count_objects(self._page), MAX_OBJECTS)):
            yield fz.page_object(self._page, i)

    def _objects(
        self, handles: Iterator[int], transform: Transform, depth: int
    ) -> Iterator[tuple[int, int, Transform]]:
        for handle in handles:
            kind = fz.object_type(handle)
            if kind == fz.FORM and depth < MAX_DEPTH:
                matrix = fz.Matrix()
                fz.object_matrix(handle, byref(matrix))
                inner = _after((matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f), transform)
                count = min(fz.form_count(handle), MAX_OBJECTS >> depth)
                children = (fz.form_object(handle, i) for i in range(count))
                yield from self._objects(children, inner, depth + 1)
            elif kind != fz.TEXT:
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
