"""Puts accents on their letters: TeX draws "é" as an accent and a letter, and pdfium may give the accent much later."""

import re
import unicodedata
from collections.abc import Callable

from functions.ingest.parsing.words import JOINT, Box

COMBINING = dict(
    zip("`´ˆ˜¨¯˘˙˚ˇ¸˛˝", "\u0300\u0301\u0302\u0303\u0308\u0304\u0306\u0307\u030a\u030c\u0327\u0328\u030b", strict=True)
)
"""The combining form of each accent that has a width of its own."""
ACCENT = re.compile(f"[{''.join(COMBINING)}]")
DOTLESS = {"\u0131": "i", "\u0237": "j"}
REACH = 250
"""Characters before an accent among which its letter is looked for: two lines, since it may be written at their end."""
AFTER = 4
MAX_ACCENTS = 500
"""Accents of one page that are looked at."""
WITHIN = 0.6
"""Share of a letter's height that an accent's box covers which belongs to the letter."""
OVERLAPPING = 0.1
NOT_APART = 0.08
ON_ONE_LINE = 0.3
"""How far the letters around an accent may overlap, how far they may be apart, and how much higher one of them may
stand, in heights of a letter, to be one word."""


def with_accents(characters: str, box_of: Callable[[int], Box]) -> str:
    """Return a page's characters with accents in their letters, as many as before: `JOINT` stands where one was.

    `box_of` gives left, bottom, right, top of a character. An accent belongs to the letter whose box it lies over.
    """
    places = [match.start() for match in ACCENT.finditer(characters)][:MAX_ACCENTS]
    if not places:
        return characters
    out = list(characters)
    for at in places:
        whole = _letter_under(at, out, box_of)
        if whole is None:
            continue
        letter, composed = whole
        out[letter], out[at] = composed, JOINT
        _close_up(at, out, box_of)
    return "".join(out)


def _letter_under(at: int, out: list[str], box_of: Callable[[int], Box]) -> tuple[int, str] | None:
    left, bottom, right, top = box_of(at)
    middle = (left + right) / 2
    near = [*range(at + 1, min(len(out), at + 1 + AFTER)), *range(at - 1, max(-1, at - REACH), -1)]
    for i in near:
        if not out[i].isalpha():
            continue
        x0, y0, x1, y1 = box_of(i)
        if x0 <= middle <= x1 and min(top, y1) - max(bottom, y0) > WITHIN * (y1 - y0):
            composed = unicodedata.normalize("NFC", DOTLESS.get(out[i], out[i]) + COMBINING[out[at]])
            return (i, composed) if len(composed) == 1 else None
    return None


def _close_up(at: int, out: list[str], box_of: Callable[[int], Box]) -> None:
    """Join the letters around an accent that were apart only because of it."""
    before, after = at - 1, at + 1
    while before > 0 and out[before] in f" {JOINT}":
        before -= 1
    while after < len(out) - 1 and out[after] in f" {JOINT}":
        after += 1
    if before < 0 or after >= len(out) or not out[before].isalpha() or not out[after].isalpha():
        return
    left, right = box_of(before), box_of(after)
    height = max(1.0, left[3] - left[1])
    if (
        -OVERLAPPING * height <= right[0] - left[2] < NOT_APART * height
        and abs(left[1] - right[1]) < ON_ONE_LINE * height
    ):
        out[before + 1 : after] = JOINT * (after - before - 1)
