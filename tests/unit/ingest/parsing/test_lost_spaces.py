"""Spaces that pdfium loses."""

import pytest

from functions.ingest.parsing.lost_spaces import parts_of_apart, parts_of_level, parts_of_tight, parts_of_turned


@pytest.mark.parametrize(
    ("lefts", "expected"),
    [
        ((0, 5, 10, 17.5), [(0, 3), (3, 4)]),
        ((0, 5, 10, 16), [(0, 4)]),
        ((0, 7.5, 15), [(0, 3)]),
        ((0, 7.5), [(0, 1), (1, 2)]),
        ((0, 5.6, 13.1), [(0, 3)]),
    ],
)
def test_a_word_is_parted_where_one_room_is_wide_and_all_others_are_narrow(
    lefts: tuple[float, ...], expected: list[tuple[int, int]]
) -> None:
    boxes = [(left, 710.0, left + 5, 700.0) for left in lefts]
    assert parts_of_apart("word"[: len(lefts)], boxes, height=10) == expected


@pytest.mark.parametrize(
    ("text", "rest", "expected"),
    [
        ("make it even so", 0.0, ["make", "it", "even", "so"]),
        ("read (all of it)", -0.2, ["read", "(all", "of", "it)"]),
        ("Page. One", 0.0, ["Page.", "One"]),
        ("make it even so", 0.5, ["makeitevenso"]),  # its letters have room, too
        ("a b c", 0.0, ["abc"]),  # letters that are set apart
        ("10 km", 0.0, ["10", "km"]),
        ("10 000", 0.0, ["10000"]),  # one figure
        ("word .", 0.0, ["word."]),
        ("食品 科学", 0.0, ["食品科学"]),
    ],
)
def test_a_word_is_parted_where_letters_that_are_as_near_as_can_be_have_room(
    text: str, rest: float, expected: list[str]
) -> None:
    boxes: list[tuple[float, float, float, float]] = []
    left = 0.0
    for character in text:
        if character == " ":
            left += 1.3 - rest
        else:
            boxes.append((left, 10.0, left + 5, 0.0))
            left += 5 + rest
    token = text.replace(" ", "")
    assert [token[start:end] for start, end in parts_of_apart(token, boxes, height=10)] == expected


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


@pytest.mark.parametrize(("token", "expected"), [("end:24", ["end:", "24"]), ("אבגדהו", ["אבגדהו"])])
def test_what_stands_left_of_a_word_is_another_one_but_in_scripts_that_go_to_the_left(
    token: str, expected: list[str]
) -> None:
    boxes = [(left, 10.0, left + 5.0, 0.0) for left in (100, 105, 110, 115, 50, 55)]
    assert [token[start:end] for start, end in parts_of_apart(token, boxes, height=10)] == expected


@pytest.mark.parametrize("were_set_apart", [True, False])
def test_characters_further_apart_than_in_any_word_are_of_two(*, were_set_apart: bool) -> None:
    boxes = [(50.0, 0.0, 60.0, 10.0), (50.0, 0.0, 60.0, 10.0), (120.0, 0.0, 130.0, 10.0), (220.0, 0.0, 230.0, 10.0)]
    assert list(parts_of_level("कु55", boxes, 10, were_set_apart=were_set_apart)) == [(0, 2), (2, 3), (3, 4)]
    near = [(50.0 + 24 * at, 0.0, 60.0 + 24 * at, 10.0) for at in range(4)]  # letters set apart
    assert list(parts_of_level("PEAR", near, 10, were_set_apart=were_set_apart)) == [(0, 4)]
    wrong = [(50.0 + 5 * at, 0.0, 55.0 + 5 * at, 10.0) for at in range(5)]
    wrong[2] = (400.0, 0.0, 405.0, 10.0)  # as of a ligature that stands elsewhere
    assert list(parts_of_level("files", wrong, 10, were_set_apart=False)) == [(0, 5)]
