"""Finds the numbers of lines in a page's margin, as drafts, bills and pleadings have them, and takes them out."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from statistics import median, median_high

from functions.ingest.parsing.words import Word

MIN_NUMBERS, MAX_DIGITS = 8, 4
"""Numbers in a margin at least, and their digits at most."""
SAME_EDGE = 1.5
"""Points by which the edges of the numbers may differ."""
STEPS = frozenset({1, 5})
"""By how much they are counted."""
MARGIN_EM = 0.7
"""Room between the numbers and the text, in font sizes, at least."""
PROSE, GOES_ON = 40, 0.25
"""Characters of the lines beside them on average, and share of those lines that begin with a small letter, at least;
listings, in fixed pitch, keep the numbers of theirs."""
CELL_EM, MOST_PARTED = 2.0, 0.1
"""Room between two words that are cells, in font sizes, and share of lines with it at most: a table has more."""


def without_line_numbers(words: list[Word]) -> list[Word]:
    """Return a page's words without the numbers of its lines; each of those beside them ends before the next one."""
    numbers = [word for word in words if word.text.isdecimal() and len(word.text) <= MAX_DIGITS]
    if len(numbers) < MIN_NUMBERS:  # nearly always
        return words
    margin = _in_one_column(numbers)
    if not _count_on(margin) or not _are_beside_prose(margin, words):
        return words
    taken = set(map(id, margin))
    for word, following in pairwise(words):
        if id(following) in taken and id(word) not in taken:
            word.ends = word.ends or "\n"
    return [word for word in words if id(word) not in taken]


def _in_one_column(numbers: Sequence[Word]) -> list[Word]:
    """Return those numbers, from the top, that end or begin at the edge at which most do."""
    found: list[Word] = []
    for edges in ([word.x1 for word in numbers], [word.x0 for word in numbers]):
        edge = median_high(edges)
        column = [word for word, at in zip(numbers, edges, strict=True) if abs(at - edge) < SAME_EDGE]
        found = max(found, column, key=len)
    return sorted(found, key=lambda word: -word.y0)


def _count_on(numbers: Sequence[Word]) -> bool:
    steps = {int(below.text) - int(above.text) for above, below in pairwise(numbers)}
    return len(numbers) >= MIN_NUMBERS and len(steps) == 1 and steps <= STEPS


def _lines_at(numbers: Sequence[Word], words: Sequence[Word]) -> list[list[Word]]:
    """Return the words of each line: those that the middle of its number goes through."""
    by_height = sorted([(-(number.y0 + number.y1) / 2, at) for at, number in enumerate(numbers)])
    heights = [height for height, _ in by_height]
    lines: list[list[Word]] = [[] for _ in numbers]
    for word in words:
        for _, at in by_height[bisect_right(heights, -word.y1) : bisect_left(heights, -word.y0)]:
            lines[at].append(word)
    return lines


def _are_beside_prose(numbers: Sequence[Word], words: Sequence[Word]) -> bool:
    """Whether nothing else stands as far left as the numbers, and what is beside them are lines of sentences."""
    right, top, bottom = max(word.x1 for word in numbers), numbers[0].y1, numbers[-1].y0
    ids = set(map(id, numbers))
    others = [word for word in words if bottom < (word.y0 + word.y1) / 2 < top and id(word) not in ids]
    if not others or min(word.x0 for word in others) - right < MARGIN_EM * numbers[0].style.size:
        return False
    lines = [sorted(line, key=lambda word: word.x0) for line in _lines_at(numbers, others) if line]
    if len(lines) < MIN_NUMBERS or median([len(" ".join([word.text for word in line])) for line in lines]) < PROSE:
        return False
    parted = [any(b.x0 - a.x1 > CELL_EM * max(1.0, a.style.size) for a, b in pairwise(line)) for line in lines]
    goes_on = [not line[0].style.mono and line[0].text[0].islower() for line in lines]
    return sum(parted) <= MOST_PARTED * len(lines) and sum(goes_on) >= GOES_ON * len(lines)
