"""How wide the columns of a page are, and how far its lines are from each other."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from functions.ingest.parsing.parts import ends_sentence
from functions.ingest.parsing.wire import Line

SPACE = 0.25
"""Width of a space, in font sizes."""
MIN_NARROW = 3
GOING_ON = 0.15
"""Lines nearby that end before something beside them, so that they are measured by each other, and the share of them
that begins in lower case: that of running text."""
LEAST_FULL = 20
"""Characters of a line that may be full although others reach further; shorter ones are those of a list."""
MAX_BESIDE = 500
"""Lines of a page up to which what stands beside a line is looked for; bounds a quadratic cost."""
NEAR_LINES = 5
NEAR_EDGE = 60
SHORT_OF_EDGE = 0.12
"""Lines on either side, and points from a line's left edge to theirs, that tell where its column ends; and share of the
width that a full line may lack."""
MIN_WITHIN = 3
"""Lines in which a sentence goes on, all as far from the one above, that tell how far lines of a paragraph are."""
LEAST_PITCH = 4
MOST_PITCH = 40
USUAL_PITCH = 14.0
"""Points between two lines of a text, at least and at most, and where none tell."""


def first_word(line: Line) -> float:
    """Return about how wide the first word of a line is."""
    return (line.x1 - line.x0) * len(line.text.split(" ", 1)[0]) / max(1, len(line.text))


def right_edges(lines: list[Line]) -> list[float]:
    """Return the right edge of each line's column: the furthest that any overlapping line nearby reaches.

    Where running text is set beside something, as beside a figure, only the lines that end before that count. A line of
    running text after which the next word had no room reaches the edge itself.
    """
    edges: list[float] = []
    for i, line in enumerate(lines):
        x0, x1 = line.x0, line.x1
        near = [
            other
            for other in lines[max(0, i - NEAR_LINES) : i + NEAR_LINES + 1]
            if not other.column and other.x0 < x1 and other.x1 > x0 and -NEAR_EDGE < other.x0 - x0 < NEAR_EDGE
        ]
        edge = max([other.x1 for other in near], default=line.x1)
        if line.x1 < edge - SHORT_OF_EDGE * (edge - line.x0) and len(line.text) >= LEAST_FULL and _go_on(near):
            if len(lines) <= MAX_BESIDE:
                around = 2 * (line.y1 - line.y0)
                top, bottom = line.y0 - around, line.y1 + around
                right = [other.x0 for other in lines if other.y1 > top and other.y0 < bottom and other.x0 > line.x1]
                narrow = [other for other in near if other.x1 <= min(right, default=0.0)]
                if len(narrow) >= MIN_NARROW and _go_on(narrow):
                    edge = max([other.x1 for other in narrow])
            is_open = i + 1 < len(lines) and not ends_sentence(line.text)
            if is_open and line.x1 + first_word(lines[i + 1]) + SPACE * line.size > edge:
                edge = line.x1
        edges.append(edge)
    return edges


def _go_on(lines: Sequence[Line]) -> bool:
    """Whether some lines begin in the middle of a sentence: those of a list or an address do not."""
    return sum([line.text[:1].islower() for line in lines]) >= GOING_ON * len(lines)


def _is_like(above: Line, below: Line) -> bool:
    return below.size == above.size and not (above.mono or below.mono or above.column)


def pitch_of(lines: list[Line]) -> float:
    """Return the commonest distance between lines of the page; of those in which a sentence goes on, if there are some.

    Else a page of many paragraphs of one line would take the room between these for that between lines.
    """
    drops = Counter[float]()
    within = Counter[float]()
    for above, below in pairwise(lines):
        drop = below.y0 - above.y0
        if LEAST_PITCH < drop < MOST_PITCH and not (below.column or below.figure):
            drop = round(2 * drop) / 2
            drops[drop] += 1
            if below.text[:1].islower() and _is_like(above, below) and not ends_sentence(above.text):
                within[drop] += 1
    if not drops:
        return USUAL_PITCH
    commonest, times = drops.most_common(1)[0]
    pitch = commonest if times > 1 else min(drops)
    if within:
        usual, times = within.most_common(1)[0]
        if times >= MIN_WITHIN and usual < pitch:
            return usual
    return pitch
