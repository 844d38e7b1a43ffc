"""Sections whose numbers alone tell them: in the print of the text, with room around, one number after the other."""

from itertools import pairwise

from functions.ingest.parsing.heading_lines import LEADER, LONGEST_SENTENCE, PROSE, room_above, usual_room
from functions.ingest.parsing.sections import NUMBERED, numbers_of
from functions.ingest.parsing.wire import Line

SET_OFF = 0.25
"""Room around a section's name beyond what the page's lines have, in its height."""
LEAST_LETTERS = 3
LEAST_NAMES, LEAST_DOTTED, STEPS = 4, 2, 0.75
"""Names with numbers, and with those of a section within another ("2.1"), and share of them that follow the one
before, from which on such names are the document's sections."""


MOST_NAMES = 60
"""Names from which on no more is learnt."""


class PlainNumbers:
    """Learns from a document's first pages whether its sections are told by numbers alone."""

    def __init__(self) -> None:
        self._numbers: list[tuple[int, ...]] = []
        self._are_sections = False

    def learn(self, lines: list[Line]) -> None:
        """Note the numbers of a page's sections."""
        if len(self._numbers) >= MOST_NAMES or not any(NUMBERED.match(line.text) for line in lines):
            return
        usual = usual_room(lines)
        self._numbers += filter(None, [number_alone(lines, i, usual) for i in range(len(lines))])
        dotted = sum([len(number) > 1 for number in self._numbers])
        steps = sum([_is_next(a, b) for a, b in pairwise(self._numbers)])
        is_series = steps >= STEPS * (len(self._numbers) - 1)
        self._are_sections = len(self._numbers) >= LEAST_NAMES and dotted >= LEAST_DOTTED and is_series

    def tell(self, lines: list[Line], i: int, usual: float) -> bool:
        """Whether a line is the name of a section that its number tells; `usual` is the room between the page's."""
        return self._are_sections and number_alone(lines, i, usual) != ()


def number_alone(lines: list[Line], i: int, usual: float) -> tuple[int, ...]:
    """Return the number of a name that stands alone in the text's print, with room above and below it; else ()."""
    line = lines[i]
    if not line.text[:1].isdecimal() or len(line.text) > LONGEST_SENTENCE or line.bold or line.mono:  # nearly always
        return ()
    numbered = NUMBERED.match(line.text)
    if numbered is None or line.column or line.figure or line.boxed or LEADER.search(line.text):
        return ()
    name = line.text[numbered.end() - 1 :]
    if name[0].islower() or name.endswith((".", ",", ";", ":")) or sum(map(str.isalpha, name)) < LEAST_LETTERS:
        return ()
    least = usual + SET_OFF * (line.y1 - line.y0)
    below = lines[i + 1] if i + 1 < len(lines) else None
    if room_above(lines, i) <= least or (below is not None and room_above(lines, i + 1) <= least):
        return ()
    number = numbers_of(numbered[1])
    is_over_text = below is not None and (len(below.text) >= PROSE or "." in below.text.partition(" ")[0].rstrip(".)"))
    return number if len(number) > 1 or is_over_text else ()


def _is_next(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Whether a section's number comes after another: "2.1" after "2", "2.2" or "3" after "2.1"."""
    at = len(number) - 1
    if number == (*last, 1):
        return True
    return at < len(last) and number[:at] == last[:at] and number[at] == last[at] + 1
