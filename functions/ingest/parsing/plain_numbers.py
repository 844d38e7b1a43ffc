"""Sections that their numbers tell: alone, in the print of the text, or by those of sections above and before them."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from functions.ingest.parsing.heading_lines import (
    LEADER,
    LONGEST_SENTENCE,
    MAX_LENGTH,
    MAX_LINES_OF_ONE,
    PROSE,
    continues_heading,
    room_above,
    usual_room,
)
from functions.ingest.parsing.sections import MAX_MISSED, NUMBERED, SAME, follows, numbers_of
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


class NumbersBelow:
    """The sections that are numbered below one that was found, from page to page."""

    def __init__(self) -> None:
        self._above, self._level = "", 0
        self._last: tuple[int, ...] = ()

    def of(
        self, lines: list[Line], known: Mapping[int, tuple[int, str, int]], body: float
    ) -> Iterator[tuple[int, int, int]]:
        """Yield from where to where their headings stand on a page, and their level, 0 where none is known.

        `known` has end, text and level of the headings that were found, by their first line.
        """
        until = 0
        for i, line in enumerate(lines):
            if i in known:
                until, text, level = known[i]
                number = NUMBERED.match(text)
                self._last = numbers_of(number[1]) if number else ()
                top = numbers_of(self._above) if self._above else ()
                if not top or self._last[: len(top)] != top or level:
                    self._above, self._level = number[1] if number else "", level
                continue
            above = self._above
            if not above or i < until or not line.text.startswith(f"{above}."):  # nearly always
                continue
            number = NUMBERED.match(line.text)
            if number is None:
                continue
            steps = 1 if line.text[number.end() - 1].islower() else MAX_MISSED  # "3.5 litres per wall"
            if not follows(numbers_of(number[1]), self._last, len(numbers_of(above)), steps):
                continue
            if not is_numbered(lines, i, number[1], body):
                continue
            self._last = numbers_of(number[1])
            until = i + 1
            while until < min(len(lines), i + MAX_LINES_OF_ONE) and until not in known:
                if not continues_heading(lines[until - 1], lines[until]):
                    break
                until += 1
            yield i, until, self._level and self._level + number[1].count(".") - above.count(".")


def place_of_number(title: str, lines: list[Line], start: int, body: float) -> tuple[int, int] | None:
    """Find the heading with the number of an outline entry that calls it otherwise: "6.7.1 cursor"."""
    numbered = NUMBERED.match(title)
    if numbered is None or "." not in numbered[1]:
        return None
    return next(((i, i + 1) for i in range(start, len(lines)) if is_numbered(lines, i, numbered[1], body)), None)


def is_numbered(lines: list[Line], i: int, number: str, body: float) -> bool:
    """Whether a line is a heading of its own with this number: in other print than the text, and set off."""
    line = lines[i]
    if not line.text.startswith(number) or len(line.text) > MAX_LENGTH or line.column or line.figure:
        return False
    numbered = NUMBERED.match(line.text)
    is_other = line.bold or line.apart or line.size > SAME * body
    is_alone = room_above(lines, i + 1) > usual_room(lines)
    is_other = is_other or (line.leads and is_alone)  # else its title runs into its text
    is_heading = numbered is not None and numbered[1] == number and is_other and not line.text.endswith((".", ","))
    return is_heading and not LEADER.search(line.text) and room_above(lines, i) > usual_room(lines)
