"""Finds the spaces that pdfium loses where a program set the next word apart instead of writing one."""

from collections.abc import Sequence
from itertools import pairwise

LOST_SPACE, WITHIN_WORD = 0.2, 0.05
"""Room in heights of the word: at least that of a lost space, and at most any other in its two parts."""
MIN_TIGHT = 14
TURNED_SPACE = 0.4
"""Room in heights of the word from which on a vertical one is parted, wherever it has that much."""
LETTERS_OF_TIGHT = 4
"""Letters of a word from which on it may be several that are set tightly, and of each of those on average, at least."""
TIGHTER, AS_TIGHT = 0.1, 0.04
"""How much wider than the usual room between its letters a lost space is at least there, and any other at most, in
heights of the word; lost spaces differ no more from each other."""

Box = tuple[float, float, float, float]


def parted(boxes: Sequence[Box], height: float) -> tuple[int, float, float] | None:
    """Return where two words stand that pdfium takes for one: the second's first character, and the room's two ends."""
    rooms = [(behind[0] - before[2], at) for at, (before, behind) in enumerate(pairwise(boxes), start=1)]
    (widest, at), *others = sorted(rooms, reverse=True)
    if widest < LOST_SPACE * height or (others and others[0][0] > WITHIN_WORD * height):
        return None
    return at, boxes[at - 1][2], boxes[at][0]


def parts_of_turned(boxes: Sequence[Box], height: float) -> Sequence[tuple[int, int]]:
    """Return from where to where the words reach that pdfium takes for one where they are set upwards or downwards."""
    along = [(y0, y1) if boxes[0][3] <= boxes[-1][3] else (-y1, -y0) for _, y1, _, y0 in boxes]
    ends = [at for at in range(1, len(along)) if along[at][0] - along[at - 1][1] >= TURNED_SPACE * height]
    return list(pairwise([0, *ends, len(boxes)]))


def parts_of_tight(boxes: Sequence[Box], height: float) -> Sequence[tuple[int, int]]:
    """Return from where to where the words reach whose letters overlap, so that the room of a space is narrow, too."""
    rooms = [behind[0] - before[2] for before, behind in pairwise(boxes)]
    usual = sorted(rooms)[len(rooms) // 2]
    wide = [at for at, room in enumerate(rooms, start=1) if room >= usual + TIGHTER * height]
    others = [room for room in rooms if room < usual + TIGHTER * height]
    if usual >= 0 or not wide or max(others) > usual + AS_TIGHT * height:
        return [(0, len(boxes))]
    spaces = [rooms[at - 1] for at in wide]
    if len(boxes) < LETTERS_OF_TIGHT * (len(wide) + 1) or max(spaces) - min(spaces) > AS_TIGHT * height:
        return [(0, len(boxes))]
    return list(pairwise([0, *wide, len(boxes)]))
