"""Reads what is drawn at words as the signs that it stands for: the bullets of items, and lines under words.

Browsers draw the marks of a list as circles and squares, and what underlines a link as a thin rectangle.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from functions.ingest.parsing.ruled import Rule, Rules
from functions.ingest.parsing.seen import Colour
from functions.ingest.parsing.wire import ITEM
from functions.ingest.parsing.words import Box, Word

BULLET = "•"
DARKEST_KEY = 128
"""How bright a bullet is at most, of 255: the keys of charts and states of things are of a lighter grey."""
LEAST_BULLET, MOST_BULLET = 0.2, 0.49
"""Sides of a drawn bullet, in sizes of the font beside it; the keys of charts are larger."""
SQUARE = 0.15
"""Share of its width by which a bullet may be higher or lower than wide."""
LEAST_ROOM, MOST_ROOM = 0.4, 1.0
"""Room between a bullet and its item, in font sizes."""
BEFORE = 1.0
"""Room before a bullet in which no other word stands at its height, in font sizes; columns are further apart."""
OFF_MIDDLE = 0.15
"""How far a bullet's middle may be above or below that of its item's first line, in font sizes."""
MOST_DOTS = 500
WORDS_OF_ITEM = 4
"""Small squares and circles of a page, more being the points of a chart; and words, at least, of an item whose bullet
has no other above or below it."""
GREY = 24
"""How much the parts of a colour may differ, of 255, that is none."""
SAME_END = 1.0
"""Points by which a line under words may begin beside them, or end before they do."""
MEET = 0.3
"""Points within which a border meets the rules down the page at its ends; a line under words is between two."""
BEHIND = 0.7
"""How far a line under words may go on behind them, under a space or a hyphen, which have no box, in font sizes."""
ABOVE_FOOT, BELOW_FOOT = 0.4, 0.2
"""How far such a line is above the foot of the words' boxes at most, and below it, in font sizes."""


def with_drawn_bullets(words: list[Word], dots: Sequence[Box]) -> list[Word]:
    """Return a page's words with a bullet before each that begins an item whose bullet is drawn.

    `dots` are where squares and circles are drawn, in the page's own space, as the words'.
    """
    if not 0 < len(dots) <= MOST_DOTS:
        return words
    by_middle = sorted(((word.y0 + word.y1) / 2, at) for at, word in enumerate(words) if not word.style.turn)
    middles = [middle for middle, _ in by_middle]
    found: dict[int, Box] = {}
    is_long: dict[int, bool] = {}
    for box in dots:
        x0, y0, x1, y1 = box
        middle, most = (y0 + y1) / 2, OFF_MIDDLE * (y1 - y0) / LEAST_BULLET
        start, end = bisect_left(middles, middle - most), bisect_right(middles, middle + most)
        level = [at for _, at in by_middle[start:end] if _is_level(words[at], box)]
        behind = sorted([at for at in level if words[at].x0 > x0], key=lambda at: words[at].x0)
        if not behind:
            continue
        first, word = behind[0], words[behind[0]]
        size = word.style.size
        is_beside = LEAST_ROOM * size < word.x0 - x1 < MOST_ROOM * size
        is_beside = is_beside and any(map(str.isalpha, "".join([words[at].text for at in behind[:2]])))
        is_beside = is_beside and not 0 < word.block[1] < ITEM  # what tags call a heading is no item
        if is_beside and not any(x0 - BEFORE * size < words[at].x1 <= x1 for at in level if at not in behind):
            found[first] = box
            is_long[first] = len(behind) >= WORDS_OF_ITEM
    edges = Counter(round(box[0]) for box in found.values())
    found = {at: box for at, box in found.items() if is_long[at] or sum(edges[x] for x in _around(box[0])) > 1}
    out: list[Word] = []
    for at, word in enumerate(words):
        if at in found:
            if out:
                out[-1].ends = out[-1].ends or "\n"
            box = found[at]
            out.append(Word(BULLET, box[0], word.y0, box[2], word.y1, word.style, mark=word.mark, block=word.block))
        out.append(word)
    return out


def is_square(box: Box) -> bool:
    """Whether what is drawn in a box may be a circle or a square."""
    width, height = box[2] - box[0], box[3] - box[1]
    return width > 1 and abs(width - height) < SQUARE * width


def is_grey(fill: Colour | None) -> bool:
    """Whether a colour is black or a dark grey, as most text is."""
    return fill is not None and max(fill[:3]) - min(fill[:3]) <= GREY and max(fill[:3]) <= DARKEST_KEY


def _is_level(word: Word, box: Box) -> bool:
    """Whether a word is at a dot's height, and the dot as large as a bullet in its print."""
    size = word.style.size
    is_level = abs(word.y0 + word.y1 - box[1] - box[3]) < 2 * OFF_MIDDLE * size
    return is_level and LEAST_BULLET * size < box[3] - box[1] < MOST_BULLET * size


def without_underlines(rules: Rules, words: Sequence[Word], top: float) -> Rules:
    """Return the rules without lines under words, which meet no rule down the page; `top` is the page's."""
    by_foot = sorted(words, key=attrgetter("y0"))
    feet = [word.y0 for word in by_foot]
    largest = max([word.style.size for word in words], default=0.0)

    def is_under(rule: Rule) -> bool:
        y, x0, x1 = top - rule[0], rule[1], rule[2]
        begin, end = bisect_left(feet, y - ABOVE_FOOT * largest), bisect_right(feet, y + BELOW_FOOT * largest)
        above = [word for word in by_foot[begin:end] if _is_at_foot(word, y)]
        if not any(abs(word.x0 - x0) < SAME_END for word in above) or not any(_ends_at(word, x1) for word in above):
            return False
        return not any(
            x0 - MEET < x < x1 + MEET and upper - MEET < rule[0] < lower + MEET for x, upper, lower in rules.down
        )

    return Rules([rule for rule in rules.across if not is_under(rule)], rules.down)


def _ends_at(word: Word, x: float) -> bool:
    return round(word.x1 - SAME_END) <= round(x) <= round(word.x1 + BEHIND * word.style.size)


def _around(x: float) -> range:
    return range(round(x) - 1, round(x) + 2)


def _is_at_foot(word: Word, y: float) -> bool:
    size = word.style.size
    return word.y0 - BELOW_FOOT * size < y < word.y0 + ABOVE_FOOT * size
