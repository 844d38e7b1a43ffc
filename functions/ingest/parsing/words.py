"""Words with their boxes and styles, and the rows they stand in: what an engine finds and the layout works on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points, y0 < y1; y goes up on the page and down in rows."""

Block = tuple[int, int]
"""A paragraph, heading or item as tags tell it: its number on the page, and its level (`Line`)."""
NO_BLOCK: Block = (0, 0)

SOFT_HYPHEN = "\u00ad"
"""Ends the text of a line that pdfium says is hyphenated."""
JOINT = "\u200b"
"""Stands for a character that was taken into another one; a word is read without it."""
CUT = "\x1f"
"""Marks in a cell's text where a narrow column may have cut a word, behind a soft hyphen if it put one there.

It is white space, so no word read contains it."""
CUT_LINE = "˓→"
"""What Sphinx writes, in a font of signs, before the second part of a line of a listing."""
SHADOW, MAX_ALIKE = 0.15, 8
"""How far beside itself a word is drawn again that has a shadow, in font sizes, and words looked at that read alike."""
MONO_SHARE = 0.9
"""Share of a line's words in fixed pitch from which on the line is."""


DRAWING_FONTS = ("lcircle", "line10", "linew10")
"""What the names of fonts begin with that hold no letters but pieces of lines and arcs."""
SLANTING = 4
"""Turn of text that climbs or falls across the page, as a watermark does; it is placed as if it were level."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a word is set. `turn` counts quarter turns to the left, or is `SLANTING`; `size` is in points, as seen.

    `face` is the name of its font, "" if unknown.
    """

    size: float = 0.0
    bold: bool = False
    mono: bool = False
    turn: int = 0
    invisible: bool = False
    pale: bool = False
    face: str = ""


PLAIN = Style()


@dataclass(slots=True)
class Word:
    """A word and its box in page space (y upwards). `ends`: "" inside a line, newline at its end, "-" if hyphenated.

    `mark` is what the page's tags know it by, -1 if they do not, and `block` what they say it is of (`tags`).
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    style: Style = field(default=PLAIN)
    ends: str = ""
    mark: int = -1
    block: Block = NO_BLOCK


@dataclass(slots=True)
class Row:
    """Words on one base line, in upright coordinates (y downwards)."""

    words: list[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    _mono: bool | None = None

    @classmethod
    def of(cls, words: list[Word]) -> Self:
        """Make a row around words."""
        return cls(words, *box_of(words))

    @property
    def text(self) -> str:
        """Its words, apart by one space each."""
        return " ".join([word.text for word in self.words])

    @property
    def length(self) -> int:
        """Characters, without spaces."""
        return sum([len(w.text) for w in self.words])

    @property
    def mono(self) -> bool:
        """Whether it is set in a fixed-pitch font, but for the number of a line of a listing, or the sign of a cut one.

        Computed once: read it only when the row is complete.
        """
        if self._mono is None:
            is_cut = self.words[0].text.startswith(CUT_LINE)
            words = self.words[1:] if len(self.words) > 1 and (is_cut or self._begins_with_number()) else self.words
            is_mono = words[0].style.mono and _share_of_mono(words) >= MONO_SHARE
            self._mono = is_mono or (is_cut and len(self.words) == 1)
        return self._mono

    def _begins_with_number(self) -> bool:
        number, word = self.words[:2]
        is_number = word.style.mono and not number.style.mono and number.text.isdecimal()
        return is_number and "://" not in word.text  # a footnote


def _share_of_mono(words: Sequence[Word]) -> float:
    """Return the share of letters in fixed pitch; beside words a sign, as from a font of symbols, does not count."""
    mono = [word.text for word in words if word.style.mono]
    others = [word.text for word in words if not word.style.mono]
    if others and any(text[0].isalnum() for text in mono):
        others = [text for text in others if text[0].isalnum()]
    letters = len("".join(mono))
    return letters / (letters + len("".join(others)))


def without_drawn(words: list[Word]) -> list[Word]:
    """Return the words without signs in TeX's fonts of lines and arcs: the corners of a frame, say."""
    drawn = {face for face in {word.style.face for word in words} if face.lower().startswith(DRAWING_FONTS)}
    if not drawn:
        return words
    return [word for word in words if word.style.face not in drawn or any(map(str.isalnum, word.text))]


def without_shadows(words: Sequence[Word]) -> list[Word]:
    """Return the words without those that are drawn again hardly beside themselves: they look bold, and count so."""
    kept: list[Word] = []
    bold: dict[Style, Style] = {}
    drawn: defaultdict[str, list[Word]] = defaultdict(list)
    for word in words:
        alike = drawn[word.text]
        if alike and (shadowed := _shadowed(word, alike[-MAX_ALIKE:])):
            style = shadowed.style
            if not style.bold and (word.x0, word.y0) != (shadowed.x0, shadowed.y0):
                shadowed.style = bold.setdefault(style, replace(style, bold=True))
            kept[-1].ends = kept[-1].ends or word.ends
            continue
        alike.append(word)
        kept.append(word)
    return kept


def _shadowed(word: Word, alike: Sequence[Word]) -> Word | None:
    """Return the first of some words that another one stands hardly beside; their heights differ nearly always."""
    y0 = word.y0
    for other in alike:
        most = SHADOW * other.style.size
        if -most < other.y0 - y0 < most and abs(other.x0 - word.x0) < most and abs(other.x1 - word.x1) < most:
            return other
    return None


def pitch_of(words: Sequence[Word]) -> float:
    """Return how wide a letter of words in fixed pitch is, on average."""
    return sum(word.x1 - word.x0 for word in words) / max(1, sum(len(word.text) for word in words))


def shared_height(a: Word | Row, b: Word | Row) -> float:
    """Return the height that two words or rows have in common; below 0 it is the room between them."""
    return min(a.y1, b.y1) - max(a.y0, b.y0)


def box_of(parts: Sequence[Word | Row]) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom of words or rows (top and bottom as they count)."""
    if len(parts) == 1:
        (part,) = parts
        return part.x0, part.y0, part.x1, part.y1
    # Lists, since they are twice as fast as generators here.
    return (
        min([part.x0 for part in parts]),
        min([part.y0 for part in parts]),
        max([part.x1 for part in parts]),
        max([part.y1 for part in parts]),
    )
