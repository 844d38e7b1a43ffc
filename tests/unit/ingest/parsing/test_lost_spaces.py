"""Spaces that pdfium loses."""

import pytest

from functions.ingest.parsing.lost_spaces import parted, parts_of_tight, parts_of_turned


@pytest.mark.parametrize(
    ("lefts", "expected"),
    [
        ((0, 5, 10, 17.5), (3, 15, 17.5)),
        ((0, 5, 10, 16), None),
        ((0, 7.5, 15), None),
        ((0, 7.5), (1, 5, 7.5)),
        ((0, 5.6, 13.1), None),
    ],
)
def test_a_word_is_parted_where_one_room_is_wide_and_all_others_are_narrow(
    lefts: tuple[float, ...], expected: tuple[int, float, float] | None
) -> None:
    assert parted([(left, 710.0, left + 5, 700.0) for left in lefts], height=10) == expected


@pytest.mark.parametrize(
    ("rooms", "expected"),
    [
        ((-0.5, -0.5, -0.5, 1.2, -0.5, -0.4, -0.5), [(0, 4), (4, 8)]),
        ((-0.5, -0.5, 0.3, -0.5, -0.4, 1.0, -0.5), [(0, 8)]),  # letters of other widths
        ((-0.5, 1.0, -0.5, 1.0, -0.4, 1.0, -0.5), [(0, 8)]),  # too short for words
        ((-0.5, -0.5, -0.5, 0.8, -0.5, -0.5, -0.5, 1.6, -0.5, -0.5, -0.5), [(0, 12)]),  # unequal spaces
        ((0.5, 0.5, 1.7, 0.5, 0.6, 1.9, 0.5), [(0, 8)]),  # set apart
        ((-0.5, -0.5, -0.4, -0.5), [(0, 5)]),
    ],
)
def test_words_whose_letters_overlap_are_parted_where_they_do_not(
    rooms: tuple[float, ...], expected: list[tuple[int, int]]
) -> None:
    boxes = [(0.0, 10.0, 5.0, 0.0)]
    for room in rooms:
        left = boxes[-1][2] + room
        boxes.append((left, 10.0, left + 5, 0.0))
    assert parts_of_tight(boxes, height=10) == expected


@pytest.mark.parametrize("upwards", [True, False])
def test_a_vertical_word_is_parted_wherever_it_has_room(upwards: bool) -> None:
    steps = [0.0, 5.0, 40.0, 80.0, 85.0, 92.0]  # "12", "3" and "45" of three columns, and a letter 2 points further
    lows = steps if upwards else [-step - 5 for step in steps]
    boxes = [(100.0, low + 5, 110.0, low) for low in lows]
    assert parts_of_turned(boxes, height=10) == [(0, 2), (2, 3), (3, 6)]
