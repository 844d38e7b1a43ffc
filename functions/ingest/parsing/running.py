"""Headers and footers: lines at a page's top or bottom that recur on its neighbours."""

import re
from collections import deque
from collections.abc import Iterator

from functions.ingest.parsing.wire import Line, RawPage

WINDOW = 8
"""Pages looked at on either side; chapters change their header, so the whole document is no measure."""

DEPTH = 3
SHARE = 0.35
"""Share of the neighbours a line must recur on: less than half, because left and right pages differ."""

MARGIN = 0.16
"""Running lines stand in this share of the page's height from its edge."""

_NUMBER = re.compile(r"\d+|\b[ivxlc]{1,6}\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:page|seite|p\.|puslapis)?\s*(\w{1,6})(?:\s*(?:of|/|von|iš)\s*\d+)?[-–—\s]*", re.IGNORECASE
)


def _key(text: str) -> str:
    return _NUMBER.sub("#", " ".join(text.lower().split()))


def _edges(page: RawPage) -> tuple[list[Line], list[Line]]:
    """Return the lines that may be header and footer, outermost first."""
    placed = sorted((line for line in page.lines if line.text.strip()), key=lambda line: line.y0)
    if page.height <= 0 or page.engine != "pdfium":
        return placed[:DEPTH], placed[::-1][:DEPTH]
    top = [line for line in placed[:DEPTH] if line.y1 < MARGIN * page.height]
    bottom = [line for line in placed[::-1][:DEPTH] if line.y0 > (1 - MARGIN) * page.height]
    return top, bottom


class _Sides:
    """What a page shows at its edges: for each side, masked text to height on the page."""

    def __init__(self, page: RawPage) -> None:
        self.page = page
        self.lines = _edges(page)
        self.keys = tuple({_key(line.text): line.y0 for line in side} for side in self.lines)
        placed = sorted((line for line in page.lines if line.text.strip()), key=lambda line: line.y0)
        self.numbered = tuple(bool(side) and _carries_number(side[0].text, page) for side in self.lines)
        self.last = _key(placed[-1].text) if placed else ""
        if placed and placed[-1] not in self.lines[1]:
            self.lines[1].append(placed[-1])

    def shows(self, side: int, key: str, y: float) -> bool:
        """Tell whether this page has the line on that side at that height, or as its very last (web pages printed)."""
        tolerance = 8 if len(key) > 5 else 25
        return abs(self.keys[side].get(key, 1e9) - y) < tolerance or (side == 1 and len(key) > 5 and key == self.last)


def without_running_lines(pages: Iterator[RawPage]) -> Iterator[tuple[RawPage, list[str]]]:
    """Yield each page without its running lines, and those lines; holds `WINDOW` pages back.

    A line goes when its text (numbers masked) recurs at the same height on enough neighbours, or when it is nothing but
    the page's own number or label. Rows of tables stay: a table that goes on repeats its header, which is wanted.
    """
    seen: deque[_Sides] = deque()
    at = 0
    for page in pages:
        seen.append(_Sides(page))
        if len(seen) - at > WINDOW:
            yield _strip(seen, at)
            at += 1
            if at > WINDOW:
                seen.popleft()
                at -= 1
    while at < len(seen):
        yield _strip(seen, at)
        at += 1
        if at > WINDOW:
            seen.popleft()
            at -= 1


def _strip(seen: deque[_Sides], at: int) -> tuple[RawPage, list[str]]:
    sides = seen[at]
    others = [other for i, other in enumerate(seen) if i != at and abs(i - at) <= WINDOW]
    enough = max(2, SHARE * len(others))
    numbered = [sides.numbered[side] and sum(other.numbered[side] for other in others) >= enough for side in (0, 1)]
    gone: list[Line] = []
    for side in (0, 1):
        for line in sides.lines[side]:
            if len(line.text) > 160 or line.cells >= 2:
                continue
            key = _key(line.text)
            recurs = sum(1 for other in others if other.shows(side, key, line.y0))
            outermost = line is sides.lines[side][0]
            if recurs >= enough or (outermost and numbered[side]) or _is_own_number(line.text, sides.page):
                gone.append(line)
    if 0 < len(gone) < len(sides.page.lines):  # a page of nothing else would be lost
        ids = {id(line) for line in gone}
        sides.page.lines = [line for line in sides.page.lines if id(line) not in ids]
        return sides.page, [line.text for line in gone]
    return sides.page, []


def _carries_number(text: str, page: RawPage) -> bool:
    """Tell whether a short line begins or ends with the page's own number or label ("70 CallExternal")."""
    words = text.lower().split()
    names = {str(page.number), page.label.lower()} - {""}
    return 0 < len(words) <= 12 and len(text) <= 90 and (words[0] in names or words[-1] in names)


def _is_own_number(text: str, page: RawPage) -> bool:
    match = _PAGE_NUMBER.fullmatch(text)
    return match is not None and match.group(1).lower() in {str(page.number), page.label.lower()} - {""}
