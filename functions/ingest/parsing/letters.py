"""What a word says by how its letters are drawn: marks of notes, powers, hyphens with several codes, double strokes."""

import re
from collections.abc import Sequence
from itertools import pairwise

from functions.ingest.parsing.table_cells import CELL_GAP_EM, NOTE_NUMBERS, YEAR
from functions.ingest.parsing.text import KNOWN_SIGNS
from functions.ingest.parsing.words import SOFT_HYPHEN, Box, Word

LETTER_GAP = 0.12
SHORT = 2
IN_LETTERS = 0.6
MIN_LETTERS = 6
"""A line was drawn letter by letter if it has at least `MIN_LETTERS` words, and more than the share `IN_LETTERS` of
them have `SHORT` letters at most. Letters of one word then have less than `LETTER_GAP` font sizes between them."""
SINGLE_SHARE, LEAST_SINGLE = 0.7, 5
"""Share of a line's words that are single letters, and how many there are at least, if its letters are set apart."""
ALIKE_EM, APART_EM, WIDEST_EM = 0.1, 0.2, 0.6
"""How much wider than usual the room between two letters set apart is at most, that between two words at least, and
the usual room at most, in font sizes."""
DIFFERENT, NEXT = 4, 2
"""Different letters of a single word that is set apart, at least, as marks in columns are fewer; and how far apart
Unicode letters are, at most, that follow each other in an alphabet, with capitals between them or without."""

HYPHENS = f"-{SOFT_HYPHEN}\u2010"
NOTE_MARKS = frozenset("abcdefg")
SHORTEST_MARKED = 4
RAISED_NUMBERS = dict(zip("0123456789", NOTE_NUMBERS, strict=True))
LONGEST_NOTE_NUMBER = 3
"""Digits that are a power, or the number of a note, behind a figure, and would else be its last ones; so many at
most."""
_MARKED_FIGURE = re.compile(r"[-−–(+$€£]*\d+(?:[.,]\d+)*[.,)%]?")
RAISED, SMALL_MARK = 0.15, 0.8
"""Letters that mark notes, characters that a word with its mark has more than, and how far above the word's foot the
mark stands at least and how high it is at most, in heights of the word."""

OFFICE_BULLET = "o"
"""What office programs write in Courier for a bullet of the second level, and show as it is."""
_PRIVATE_SIGN = re.compile(f"(?![{KNOWN_SIGNS}])[\uf020-\uf0ff]")
LEAST_LETTER, LARGER_LETTER, SAME_EDGE = 0.75, 1.4, 1.0
"""How large a bullet is at least and at most, in sizes of the text behind it, which an index or an initial is not; and
points by which the edges of two may differ."""


def ends_in_mark(token: str, boxes: Sequence[Box], height: float, base: float) -> bool:
    """Whether the last letter of a word or year is the small, raised mark of a note.

    As small and as high as the letter before it, it is half of a ligature, as the "f" of "staff".
    """
    (_, top, _, bottom) = boxes[-1]
    is_small = RAISED * height < bottom - base and top - bottom < SMALL_MARK * height
    word = token[:-1]
    may_be_marked = (word.isalpha() and not word.isupper()) or YEAR.fullmatch(word) is not None  # "XVIIIe" is one word
    is_marked = is_small and len(token) > SHORTEST_MARKED and may_be_marked
    return is_marked and boxes[-2][1::2] != boxes[-1][1::2]


def note_number(token: str, boxes: Sequence[Box], height: float, base: float) -> str:
    """Return the digits at a figure's end that are the small, raised number of a note, or a power."""
    at = len(token)
    while at and token[at - 1] in RAISED_NUMBERS:
        _, top, _, bottom = boxes[at - 1]
        if not (RAISED * height < bottom - base and top - bottom < SMALL_MARK * height):
            break
        at -= 1
    figure = token[:at]
    is_marked = _MARKED_FIGURE.fullmatch(figure) is not None
    return token[at:] if is_marked and len(token) - at <= LONGEST_NOTE_NUMBER else ""


def with_drawn_hyphens(token: str, boxes: Sequence[Box]) -> str:
    """Return a word with a hyphen for each soft one that is drawn, as all are in some fonts: "\\xads" is "-s".

    One at its end may cut a word there, so it stays as it is. Apple's programs name one hyphen by two or three.
    """
    if len(token) != len(boxes):
        return token
    out = ""
    for at, (letter, box) in enumerate(zip(token, boxes, strict=True)):
        if letter in HYPHENS and at and token[at - 1] in HYPHENS and box == boxes[at - 1]:
            continue
        is_drawn = letter == SOFT_HYPHEN and at + 1 < len(token) and box[2] > box[0]
        out += "-" if is_drawn else letter
    return out


def room_of_letters(words: Sequence[Word]) -> float:
    """Return below which room, in font sizes, the words of a line are letters of one; 0 if it is of whole words.

    Where letters were set apart there is more room between them, and clearly more between words: "G e n e r a l   t e r
    m s". A line of one word must look like one.
    """
    if len(words) < MIN_LETTERS or sum([len(word.text) <= SHORT for word in words]) <= IN_LETTERS * len(words):
        return 0.0
    single = [word.text for word in words if len(word.text) == 1 and word.text.lower() != word.text.upper()]
    if len(single) < max(LEAST_SINGLE, SINGLE_SHARE * len(words)):
        return LETTER_GAP
    steps = [(before, word, (word.x0 - before.x1) / max(1.0, before.style.size)) for before, word in pairwise(words)]
    rooms = sorted([room for _, _, room in steps if room < CELL_GAP_EM])
    usual = rooms[len(rooms) // 2] if rooms else CELL_GAP_EM
    most = usual + ALIKE_EM
    if usual > WIDEST_EM or any(most < room < usual + APART_EM for room in rooms):
        return LETTER_GAP
    if any(room < most and min(len(before.text), len(word.text)) > 1 for before, word, room in steps):
        return LETTER_GAP  # it is that of a space
    return most if rooms[-1] > most or _is_one_word(single) else LETTER_GAP


def _is_one_word(letters: Sequence[str]) -> bool:
    """Whether letters are those of one word, as "CONTENTS" or "Behörden", not an alphabet, grades or marks."""
    text = "".join(letters)
    in_order = sum([0 < abs(ord(b) - ord(a)) <= NEXT for a, b in pairwise(text)])
    is_cased = text.isupper() or text.islower() or text.istitle()
    return is_cased and len(set(text)) >= DIFFERENT and 2 * in_order < len(text)


def undoubled(token: str) -> str:
    """Return "NEBRASKA" for "NNEEBBRRAASSKKAA": no word of a language is doubled throughout."""
    half = token[::2]
    return half if half == token[1::2] and any(map(str.isalpha, half)) and len(set(half)) > 1 else token


def with_bullets(words: Sequence[Word]) -> None:
    """Put bullets for signs without a meaning that stand where lines begin and nowhere else.

    They are a small letter that is all a font writes, and what a font of signs has for a bullet in its private codes.
    """
    single = [word for word in words if len(word.text) == 1]
    signs = {word.text for word in single if _PRIVATE_SIGN.match(word.text)}
    letters = {
        word.style.face: word.text
        for word in single
        if word.style.face and word.text.isascii() and word.text.islower() and word.text != OFFICE_BULLET
    }
    if letters:
        with_others = {word.style.face for word in words if word.text != letters.get(word.style.face)}
        letters = {face: text for face, text in letters.items() if face not in with_others}
    for face, sign in (*letters.items(), *((None, sign) for sign in signs)):
        places = [at for at, word in enumerate(words) if word.text == sign and face in (None, word.style.face)]
        edges = sorted([words[at].x0 for at in places])
        is_list = any(b - a < SAME_EDGE for a, b in pairwise(edges)) and all(_marks_line(words, at) for at in places)
        if is_list and 2 * sum([words[at + 1].text[0].isalpha() for at in places]) > len(places):
            for at in places:
                words[at].text = "•"


def _marks_line(words: Sequence[Word], at: int) -> bool:
    """Whether a word begins a line of text in print of about its size."""
    word, above, behind = words[at], words[at - 1] if at else None, words[at + 1] if at + 1 < len(words) else None
    is_first = above is None or bool(above.ends) or above.x0 > word.x0
    if behind is None or not is_first or behind.x0 < word.x1:
        return False
    is_level = behind.y0 < word.y1 and word.y0 < behind.y1
    return is_level and LEAST_LETTER < word.style.size / max(1.0, behind.style.size) < LARGER_LETTER
