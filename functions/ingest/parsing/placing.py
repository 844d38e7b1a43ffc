"""Packs boxes of upright coordinates, which lines have whichever way they run, as places on the page as it is shown."""

from collections.abc import Sequence
from itertools import pairwise

from functions.ingest.parsing.words import Box, Word, box_of
from shared.rects import STEPS, place_of

TALL = 1.5
"""Heights of a box, in font sizes, from which it is no measure of its line: some mathematical fonts claim much more."""
BACK = 0.3
"""Font sizes that a word may begin before the end of the one before it, as a superscript does."""


def runs_of(words: list[Word]) -> list[list[Word]]:
    """Cut words that belong together where they go back or to another line: each run goes to the right."""
    if len(words) == 1:
        return [words]
    runs = [[words[0]]]
    for before, word in pairwise(words):
        if word.x0 < before.x1 - BACK * before.style.size or word.y0 >= before.y1 or word.y1 <= before.y0:
            runs.append([])
        runs[-1].append(word)
    return runs


def span_of(run: list[Word], text: str, start: int) -> tuple[int, int]:
    """Return where a run of words begins and ends in a text that holds them from `start` on."""
    first = end = text.find(run[0].text, start)
    for word in run:
        end = text.find(word.text, end) + len(word.text)
    return first, end


class Placing:
    """Places lines of one page and one `turn` (quarter turns of the text to the left).

    `bounds` is the page's box (left, bottom, right, top), `rotation` its quarter turns to the right when it is shown.
    """

    def __init__(self, bounds: Box, rotation: int, turn: int = 0) -> None:
        left, bottom, right, top = bounds
        self._width, self._height = right - left, top - bottom
        self._left = left if turn == 0 else 0.0
        self._turn, self._rotation = turn, rotation
        self._shown = (self._height, self._width) if rotation & 1 else (self._width, self._height)
        self._unit = max(1.0, self._width, self._height) / STEPS

    def place(self, box: Box, starts: Sequence[float] = ()) -> str:
        """Return the place of a box (left, top, right, bottom) and its words, which count if they run to the right."""
        x0, y0, x1, y1 = box
        if self._left:
            x0, x1, starts = x0 - self._left, x1 - self._left, [start - self._left for start in starts]
        if self._turn != self._rotation:
            x0, y0, x1, y1 = self._turned(x0, y0, x1, y1)
            starts = ()
        width, height = self._shown
        if x1 > width or y1 > height:
            x0, y0, x1, y1 = min(x0, width), min(y0, height), min(x1, width), min(y1, height)
        return place_of((x0, y0, x1, y1), starts, self._unit)

    def place_of(self, run: list[Word]) -> str:
        """Return the place of a run of words; boxes of an unlikely height count for its width only."""
        if len(run) == 1:
            return self.place(box_of(run))
        x0, y0, x1, y1 = box_of(run)
        usual = [word for word in run if word.y1 - word.y0 < TALL * word.style.size]
        if 0 < len(usual) < len(run):
            _, y0, _, y1 = box_of(usual)
        return self.place((x0, y0, x1, y1), [word.x0 for word in run])

    def _turned(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """Turn a box as the text runs into one as the page is shown, by way of the page's own axes (y upwards)."""
        corners = [_shown(*self._on_page(x, y), self._size, self._rotation) for x in (x0, x1) for y in (y0, y1)]
        across, down = zip(*corners, strict=True)
        return min(across), min(down), max(across), max(down)

    @property
    def _size(self) -> tuple[float, float]:
        return self._width, self._height

    def _on_page(self, x: float, y: float) -> tuple[float, float]:
        return (
            (x, self._height - y),
            (y, x),
            (self._width - x, y),
            (self._width - y, self._height - x),
        )[self._turn]


def _shown(u: float, v: float, size: tuple[float, float], rotation: int) -> tuple[float, float]:
    width, height = size
    return ((u, height - v), (v, u), (width - u, v), (height - v, width - u))[rotation]
