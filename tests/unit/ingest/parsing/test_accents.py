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
