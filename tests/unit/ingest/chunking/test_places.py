"""The packed rectangles of a piece of some pages: those of its own lines, read back as they were."""

import pytest

from functions.ingest.chunking.units import LinePlaces
from shared.models import Page
from shared.rects import STEPS, place_of, rects_between

UNIT = 800 / STEPS


def page(number: int, *texts: str) -> Page:
    """A page whose lines, 12 points apart, hold these texts; each word begins 40 points behind the one before."""
    lines: list[tuple[int, str]] = []
    at = 0
    for row, text in enumerate(texts):
        starts = [50 + 40.0 * n for n in range(len(text.split()))]
        lines.append((at, place_of((50, 12 * row, starts[-1] + 30, 12 * row + 10), starts, UNIT)))
        at += len(text) + 1
    return Page(number, "\n".join(texts), lines=tuple(lines), width=600, height=800)


def placed(*pages: Page) -> tuple[LinePlaces, str]:
    """The places of some pages, and the text of them all."""
    places, text = LinePlaces(), ""
    for each in pages:
        places.add(each, len(text))
        text += each.text + "\n\n"
    return places, text


def corners(places: LinePlaces, text: str, start: int, end: int) -> list[tuple[int, float, float]]:
    """Page, left edge and top of each line of a piece, as they are read back from what was packed."""
    rects, _ = rects_between(places.packed(start, end), text[start:end], start, start, end)
    return [(rect.page, rect.x0, rect.y0) for rect in rects]


PAGES = page(1, "one two three", "four five", "six seven"), page(2, "eight nine", "ten")


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("one two three\nfour five", [(1, 50, 0), (1, 50, 12)]),
        ("four five", [(1, 50, 12)]),
        ("two three\nfour", [(1, 90, 0), (1, 50, 12)]),  # the words that it begins with
        ("five\nsix seven", [(1, 90, 12), (1, 50, 24)]),
        ("six seven\n\neight nine", [(1, 50, 24), (2, 50, 0)]),
        ("seven\n\neight nine\nten", [(1, 90, 24), (2, 50, 0), (2, 50, 12)]),
        ("ten", [(2, 50, 12)]),
    ],
)
def test_a_piece_has_the_rectangles_of_its_own_words(piece: str, expected: list[tuple[int, float, float]]) -> None:
    places, text = placed(*PAGES)
    start = text.index(piece)
    assert corners(places, text, start, start + len(piece)) == expected


def test_pages_that_lie_behind_are_forgotten_and_others_kept() -> None:
    places, text = placed(*PAGES)
    at = text.index("eight")
    places.discard_before(at)
    assert places.packed(0, at - 2) == ""
    assert corners(places, text, at, at + 5) == [(2, 50, 0)]
    places, text = placed(*PAGES)
    places.discard_before(len(PAGES[0].text))
    assert corners(places, text, 0, 3) == [(1, 50, 0)]


def test_pages_whose_lines_are_not_known_have_no_rectangles() -> None:
    bare = Page(1, "one two")
    places, _ = placed(bare)
    assert places.packed(0, 7) == ""
    both, text = placed(bare, PAGES[1])
    assert corners(both, text, 0, len(text)) == [(2, 50, 0), (2, 50, 12)]


@pytest.mark.parametrize(("length", "count"), [(7_000, 3), (9_000, 1)])
def test_lines_behind_one_that_is_longer_than_can_be_told_are_not_known(length: int, count: int) -> None:
    places, text = placed(page(1, "x" * length, "one", "two"))
    assert len(corners(places, text, 0, len(text))) == count
