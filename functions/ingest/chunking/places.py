"""Where the lines of the pages being cut stand, and the packed rectangles of a chunk of them (`shared.rects`)."""

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass

from shared.models import Page
from shared.rects import pair, without_words

MAX_STEP = 8_000
"""Characters between two records: two digits hold a little more."""


@dataclass(frozen=True, slots=True)
class _PlacedPage:
    page: Page
    char_start: int
    starts: list[int]


class LinePlaces:
    """The lines of the pages whose text is not yet discarded."""

    def __init__(self) -> None:
        self._pages: deque[_PlacedPage] = deque()

    def add(self, page: Page, char_start: int) -> None:
        """Take a page whose text begins at `char_start` of the document's."""
        self._pages.append(_PlacedPage(page, char_start, [start for start, _ in page.lines]))

    def discard_before(self, position: int) -> None:
        """Forget the pages that end before `position`."""
        while self._pages and self._pages[0].char_start + len(self._pages[0].page.text) < position:
            self._pages.popleft()

    def packed(self, start: int, end: int) -> str:
        """Return the packed rectangles of the text from `start` to before `end`; empty if none is known."""
        found: list[str] = []
        is_known = False
        for placed in self._pages:
            if placed.char_start >= end:
                break
            if placed.char_start + len(placed.page.text) > start:
                is_known = is_known or len(placed.starts) > 0
                found.append(_packed(placed, max(0, start - placed.char_start), end - placed.char_start))
        return "\n".join(found) if is_known else ""


def _packed(placed: _PlacedPage, start: int, end: int) -> str:
    """Pack the lines between two positions of a page's text; of the first, the words that begin behind `start`."""
    page, starts = placed.page, placed.starts
    first = bisect_right(starts, start) - 1
    records = [pair(0)]
    if first >= 0:
        before = page.text[starts[first] : start]
        records[0] += without_words(page.lines[first][1], len(before.split())) if before else page.lines[first][1]
    at = start
    for line_start, place in page.lines[first + 1 : bisect_left(starts, end)]:
        if line_start - at > MAX_STEP:
            records.append(pair(1))  # the line before ends somewhere in between
            break
        records.append(pair(line_start - at) + place)
        at = line_start
    head = f"{page.number}|{page.width:g}|{page.height:g}|{placed.char_start + start}"
    return f"{head}|{' '.join(records)}"
