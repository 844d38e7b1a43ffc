"""Accents find their letters by their boxes, wherever in the text they are written."""

import pytest

from functions.ingest.parsing.accents import with_accents
from functions.ingest.parsing.words import JOINT

WIDTH, HEIGHT = 5.0, 10.0


def boxes(line: str, over: dict[int, int]) -> list[tuple[float, float, float, float]]:
    """Boxes of a line's characters, of which those in `over` stand over another one and take no room."""
    found: list[tuple[float, float, float, float]] = []
    x = 0.0
    for i, character in enumerate(line):
        width = 0.0 if i in over or (character == " " and (i - 1 in over or i + 1 in over)) else WIDTH
        found.append((x, 0.0, x + width, HEIGHT))
        x += width
    for i, letter in over.items():
        left, *_ = found[letter]
        found[i] = (left + 0.8, 0.0, left + 4.2, HEIGHT)
    return found


@pytest.mark.parametrize(
    ("line", "over", "wanted"),
    [
        ("Schr\u00a8 odinger", {4: 6}, "Schrödinger"),
        ("Lukosi\u02c7", {6: 4}, "Lukoši"),
        ("Duchesnay and others \u00b4", {21: 4}, "Duchésnay and others "),
        ("\u0131\u00b4", {1: 0}, "í"),
        ("q\u00b4", {1: 0}, "q\u00b4"),
        ("it is `quoted` here", {}, "it is `quoted` here"),
    ],
)
def test_an_accent_is_taken_into_the_letter_it_stands_over(line: str, over: dict[int, int], wanted: str) -> None:
    places = boxes(line, over)
    got = with_accents(line, lambda i: places[i])
    assert len(got) == len(line), "boxes are asked for by index"
    assert got.replace(JOINT, "") == wanted


@pytest.mark.parametrize(
    ("gap", "step", "is_joined"),
    [
        (0.0, 0.0, True),
        (0.79, 0.0, True),  # 8 % of the letters' height
        (0.81, 0.0, False),
        (-0.99, 0.0, True),  # letters that overlap a little
        (-1.01, 0.0, False),
        (0.0, 2.9, True),  # 30 % higher or lower
        (0.0, 3.1, False),
        (0.0, -2.9, True),
        (0.0, -3.1, False),
    ],
)
@pytest.mark.parametrize("base", [0.0, 300.0])
def test_letters_that_an_accent_parts_are_joined_where_they_touch_on_one_line(
    gap: float, step: float, is_joined: bool, base: float
) -> None:
    """The accent of "é" is written with spaces between two letters that follow each other, anywhere on the page."""
    line = "et \u00b4 r"
    places = {
        "e": (0.0, base, 5.0, base + HEIGHT),
        "\u00b4": (0.8, base, 4.2, base + HEIGHT),
        "t": (10.0, base, 15.0, base + HEIGHT),
        "r": (15.0 + gap, base + step, 20.0 + gap, base + step + HEIGHT),
    }
    got = with_accents(line, lambda at: places[line[at]])
    assert (got[:2], got[-1], " " in got) == ("ét", "r", not is_joined)
