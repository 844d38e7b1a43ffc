"""What a page shows at its edges, where headers and footers stand."""

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache

from functions.ingest.parsing.wire import Line, RawPage

DEPTH = 3
"""Lines at either edge that may be running lines."""
SAME_PLACE = 2.0
"""Points by which lines in one place may differ."""
MARGIN = 0.16
"""Running lines lie within this share of the page's height from its edge."""
SET_APART = 0.8
"""Room behind a header or footer, in line heights."""
MAX_BARE = 7
"""Characters of a masked line that is no more than a page number, with dashes or a word beside it: "- # -"."""
ENDS = 2
"""Lines at the page's end of which one may be its number: an address or a mark of the file may stand below it."""
MAX_NUMBERED = 16
"""Words of a running line with a page number at most."""
_MASKED = re.compile(r"\d+|\b[ivxlcIVXLC]{1,6}\b")  # no other case of these letters: the Turkish "ı" is no numeral
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
USUAL_SHARE = 0.2
"""Share of a page's text from which on a size of print is a usual one."""
SAME_SIZE = 0.1
"""How much the print of running lines of two pages may differ, in points."""
SLANTING_HEIGHT = 2.0
"""How much higher than its letters a line is that climbs or falls across the page."""
PART_WORDS = 2
"""Words by which one of the two parts of a header is known again."""
LONG_KEY = 5
NEAR = 8
NEAR_OF_SHORT = 25
"""Characters of a key, more than that, that few other lines have, and points that the line may stand higher or lower on
another page; the same of a line with a shorter key."""
MISREAD = 0.85
"""Share of its characters that a line has in common with one that OCR has read on another page, if it is the same."""
LONGEST_COUNTED = 90
"""Characters of a line that counts the pages, at most."""


@lru_cache(maxsize=4_096)  # the lines at the edges of a page are compared with those of all pages nearby
def key_of(text: str) -> str:
    """Return what a running line says on every page, also where it was read as a row of the table below it."""
    words = text.lower().split()
    if 0 < len(words) <= MAX_NUMBERED and (words[0].isdecimal() or words[-1].isdecimal()):
        words = [word for word in words if word != "|"]
    return _MASKED.sub("#", " ".join(words))


@lru_cache(maxsize=4_096)
def numbers_of(text: str) -> tuple[int, ...]:
    """Return the numbers `key_of` masks."""
    return tuple([int(n[-9:]) if n.isdecimal() else _roman(n.lower()) for n in _MASKED.findall(text)])


def _roman(numeral: str) -> int:
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


class Sides:
    """What a page shows at its edges: the lines that may be header and footer, outermost first."""

    def __init__(self, page: RawPage) -> None:
        self.page = page
        self.placed = sorted((line for line in page.lines if line.text.strip()), key=lambda line: line.y0)
        upright = [line for line in self.placed if line.cells]  # what runs upwards is measured otherwise
        self.slanting = {line.text: line for line in self.placed if _is_slanting(line)}
        top, bottom = upright[:DEPTH], upright[::-1][:DEPTH]
        self.has_positions = page.height > 0 and page.has_positions
        if self.has_positions:
            top, bottom = _outermost_rows(upright), _outermost_rows(upright[::-1])
            top = [line for line in top if line.y1 < MARGIN * page.height]
            bottom = [line for line in bottom if line.y0 > (1 - MARGIN) * page.height]
        self.lines = (top, bottom)
        self.keys = tuple({key_of(line.text): line for line in side} for side in self.lines)
        self.numbered = tuple(_counted_from(side[0].text, page) if side else set[int]() for side in self.lines)
        self.last = upright[: -ENDS - 1 : -1]
        self.ends = {key_of(line.text): line for line in self.last}
        self.ends_counted = _counted_from(self.last[0].text, page) if self.last else set[int]()
        sizes: Counter[float] = Counter()
        for line in self.placed:
            sizes[line.size] += len(line.text)
        enough = USUAL_SHARE * sizes.total()
        usual = [size for size, count in sizes.items() if count >= enough]
        self.size, self.largest = min(usual, default=0.0), max(usual, default=0.0)
        self.blocks = (_block(top, upright), _block(bottom, upright[::-1])) if self.has_positions else ([], [])

    def has_place_of(self, side: int, line: Line) -> bool:
        """Whether the outermost line on that side stands where a line of another page stands, in print of its size."""
        if not self.has_positions or not self.lines[side]:
            return False
        mine = self.lines[side][0]
        aligned = abs(mine.x0 - line.x0) < SAME_PLACE or abs(mine.x1 - line.x1) < SAME_PLACE
        aligned = aligned or abs(mine.x0 + mine.x1 - line.x0 - line.x1) < SAME_PLACE
        return aligned and abs(mine.y0 - line.y0) < SAME_PLACE and abs(mine.size - line.size) < SAME_SIZE

    def matching(self, side: int, key: str, y: float) -> Line | None:
        """Return the line with this key that the page has on that side at that height."""
        line = self.keys[side].get(key)
        if line is None and self.page.ocr and len(key) > LONG_KEY:
            others = self.keys[side].items()
            line = next((line for other, line in others if SequenceMatcher(None, key, other).ratio() > MISREAD), None)
        return line if line and abs(line.y0 - y) < (NEAR if len(key) > LONG_KEY else NEAR_OF_SHORT) else None


def _outermost_rows(lines: list[Line]) -> list[Line]:
    """Return the lines of the first `DEPTH` rows; those beside each other, as in a footer of two columns, are one."""
    rows = 0
    for at, (line, before) in enumerate(zip(lines, [None, *lines], strict=False)):
        rows += before is None or abs(line.y0 - before.y0) >= SAME_PLACE
        if rows > DEPTH:
            return lines[:at]
    return lines


def _block(side: list[Line], lines: list[Line]) -> list[Line]:
    """Return the outermost lines of a page up to the first with room behind it; none where all are set tightly."""
    for at, line in enumerate(side[: len(lines) - 1], 1):
        inner = lines[at]
        room = max(inner.y0 - line.y1, line.y0 - inner.y1)
        if room > SET_APART * (line.y1 - line.y0):
            return side[:at]
    return []


def _counted_from(text: str, page: RawPage) -> set[int]:
    """Return from which pages on a short line counts, if it begins or ends with a number or the page's label (0)."""
    words = text.lower().split()
    if not 0 < len(words) <= MAX_NUMBERED or len(text) > LONGEST_COUNTED:
        return set()
    ends = {words[0], words[-1]}
    found = {page.number - int(word) for word in ends if word.isdecimal() and len(word) < MAX_BARE}
    return found | ({0} if page.label and page.label.lower() in ends else set())


def shared_parts(text: str, others: list[str], side: int) -> int:
    """Return how many texts begin as a text does, or, at the top of the page (`side` 0), end as it does."""
    words = text.split()
    begins, ends = words[:PART_WORDS], words[-PART_WORDS:]
    parts = [other.split() for other in others]
    return sum(part[:PART_WORDS] == begins or (not side and part[-PART_WORDS:] == ends) for part in parts)


def largest_of_text(sides: Sides, block: list[Line]) -> float:
    """Return the largest size that a fifth of a page's letters are set in at least, but for its outermost block."""
    sizes: Counter[float] = Counter()
    for line in sides.placed:
        if not any(line is one for one in block):
            sizes[line.size] += len(line.text)
    return max([size for size, count in sizes.items() if count >= USUAL_SHARE * sizes.total()], default=0.0)


def _is_slanting(line: Line) -> bool:
    """Whether a line climbs or falls across the page: it is far higher than its letters, and of no paragraph."""
    return not line.cells and line.y1 - line.y0 > SLANTING_HEIGHT * line.size > 0


def are_alike(block: list[Line], other: list[Line]) -> bool:
    """Whether two pages' outermost blocks have as many lines, in the same places (a sign may be taller) and print."""
    return len(block) == len(other) and all(
        min(abs(a.y0 - b.y0), abs(a.y1 - b.y1)) < SAME_PLACE and abs(a.size - b.size) < SAME_SIZE
        for a, b in zip(block, other, strict=True)
    )
