"""Finds the spaces that pdfium loses where a program set the next word apart instead of writing one."""

from collections.abc import Sequence
from itertools import pairwise

from functions.ingest.parsing.text import is_cjk

LOST_SPACE, WITHIN_WORD = 0.2, 0.05
"""Room in heights of the word: at least that of a lost space, and at most any other in its two parts."""
FAR = 1.5
"""Room in heights of the word beyond which two characters are of two words, whatever they are."""
SPACE, NO_SPACE = 0.105, 0.02
LETTERS_OF_APART = 2
"""The same where all letters are as near as they can be; and letters of each word on average, at least."""
OPENING, CLOSING = frozenset("([“‘"), frozenset(".,;:?!)]”’")
MIN_TIGHT = 14
BACK = 1.0
"""How far left of a letter the next one ends, in heights of the word, if it is another word's."""
TURNED_SPACE = 0.4
"""Room in heights of the word from which on a vertical one is parted, wherever it has that much."""
LETTERS_OF_TIGHT = 4
"""Letters of a word from which on it may be several that are set tightly, and of each of those on average, at least."""
TIGHTER, AS_TIGHT = 0.1, 0.04
"""How much wider than the usual room between its letters a lost space is at least there, and any other at most, in
heights of the word; lost spaces differ no more from each other."""

Box = tuple[float, float, float, float]


def parts_of_level(
    token: str, boxes: Sequence[Box], height: float, *, were_set_apart: bool
) -> Sequence[tuple[int, int]]:
    """Return from where to where the words reach that pdfium takes for one; programs may have set its parts apart.

    What is further apart than any letters of a word stands in another column.
    """
    rooms = [behind[0] - before[2] for before, behind in pairwise(boxes)]
    widest, most = max(rooms), FAR * height
    if widest > most:
        far = [at for at, room in enumerate(rooms, start=1) if room > most and _room_at(boxes, at) > most]
        if far:
            return list(pairwise([0, *far, len(boxes)]))
    may_be_apart = were_set_apart and (widest >= SPACE * height or min(rooms) < -BACK * height)
    parts = parts_of_apart(token, boxes, height) if may_be_apart else ()
    if len(parts) > 1 or len(token) < MIN_TIGHT or not token.isalpha():
        return parts or [(0, len(boxes))]
    return parts_of_tight(boxes, height)


def _room_at(boxes: Sequence[Box], at: int) -> float:
    """Return the room between all characters before a place and all behind it; some fonts tell wrong boxes of a few."""
    return min([box[0] for box in boxes[at:]]) - max([box[2] for box in boxes[:at]])


def parts_of_apart(token: str, boxes: Sequence[Box], height: float) -> Sequence[tuple[int, int]]:
    """Return from where to where the words reach that pdfium takes for one, the letters of each as near as they can be.

    One that is set far apart may have letters with some room between them. What stands left of it is another one.
    """
    rooms = [(behind[0] - before[2], at) for at, (before, behind) in enumerate(pairwise(boxes), start=1)]
    back = [at for at, behind in enumerate(boxes[1:], start=1) if boxes[at - 1][0] - behind[2] > BACK * height]
    if back and all(token[at].isascii() and token[at].isalnum() for at in back):
        return list(pairwise([0, *back, len(boxes)]))
    (widest, far), *others = sorted(rooms, reverse=True)
    spaces = [at for room, at in rooms if room >= SPACE * height and _may_part(token[at - 1], token[at])]
    apart = set(spaces)
    is_even = all(room <= NO_SPACE * height for room, at in rooms if at not in apart)
    if spaces and is_even and len(boxes) >= LETTERS_OF_APART * (len(spaces) + 1):
        return list(pairwise([0, *spaces, len(boxes)]))
    if widest < LOST_SPACE * height or (others and others[0][0] > WITHIN_WORD * height):
        return [(0, len(boxes))]
    return [(0, far), (far, len(boxes))]


def _may_part(before: str, after: str) -> bool:
    """Whether a word may end with one character and another begin with the other: no figure goes on in the second."""
    is_begin = before.isalpha() if after.isdecimal() else after.isalpha() or after in OPENING
    return is_begin and (before.isalnum() or before in CLOSING) and not (is_cjk(before) or is_cjk(after))


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
