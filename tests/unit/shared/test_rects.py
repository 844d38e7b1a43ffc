"""Rectangles of lines: packed, cut to a quote, and left out where they are not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.rects import (
    CORNERS,
    DIGITS,
    STEPS,
    PageSize,
    Rect,
    pair,
    place_of,
    rects_between,
    with_words,
    without_words,
    word_count,
)

SIZE = PageSize(3, 600.0, 800.0)
UNIT = SIZE.height / STEPS
TEXT = "one two three\nfour five"
FIRST = place_of((100, 50, 200, 60), [100, 130, 160], UNIT)
SECOND = place_of((100, 62, 150, 72), [100, 130], UNIT)


def packed(*records: tuple[int, str], start: int = 1_000) -> str:
    return f"3|600|800|{start}|" + " ".join(pair(step) + place for step, place in records)


LINES = packed((0, FIRST), (14, SECOND))


def found(quote: str, rects: str = LINES, text: str = TEXT) -> tuple[Rect, ...]:
    start = 1_000 + text.index(quote)
    return rects_between(rects, text, 1_000, start, start + len(quote))[0]


def test_a_quote_has_a_rectangle_a_line_the_first_and_last_cut_to_its_words() -> None:
    assert found(TEXT) == (Rect(3, 100, 50, 200, 60), Rect(3, 100, 62, 150, 72))
    # A space is at least a tenth of the line's height.
    assert found("two") == (Rect(3, 130, 50, 159, 60),)
    assert found("three\nfour") == (Rect(3, 160, 50, 200, 60), Rect(3, 100, 62, 129, 72))
    assert found("hre") == (Rect(3, 168, 50, 192, 60),)
    assert rects_between(LINES, TEXT, 1_000, 1_000, 1_003)[1] == (SIZE,)


def test_white_space_and_what_is_not_known_has_none() -> None:
    assert found("\n") == ()
    gap = packed((0, FIRST), (14, ""))
    assert found("three\nfour", gap) == (Rect(3, 160, 50, 200, 60),)
    assert found("five", gap) == ()


def test_words_that_are_not_known_give_the_whole_line() -> None:
    backwards = place_of((100, 50, 200, 60), [180, 140, 100], UNIT)
    assert word_count(backwards) == 1
    assert found("two", packed((0, backwards), (14, SECOND))) == (Rect(3, 100, 50, 200, 60),)


def test_a_cell_ends_before_its_border() -> None:
    text = "Net income | 112"
    cells = packed((0, place_of((100, 50, 160, 60), [100, 125], UNIT)), (13, place_of((300, 50, 320, 60), [300], UNIT)))
    assert found(text, cells, text) == (Rect(3, 100, 50, 160, 60), Rect(3, 300, 50, 320, 60))
    assert found(" | ", cells, text) == ()


def test_of_joined_chunks_the_second_goes_on_where_the_first_ends() -> None:
    overlapping = packed((0, with_words(FIRST, [1, 2])), (10, SECOND), start=1_004)
    assert found(TEXT, f"{LINES}\n{overlapping}") == found(TEXT)


@pytest.mark.parametrize("broken", ["x", "3|600|800|1000", "3|600|800|1000|##\\", "3|a|800|1000|##", "3|6|8|1|#", "\n"])
def test_what_cannot_be_read_has_none(broken: str) -> None:
    assert rects_between(broken, TEXT, 1_000, 1_000, 1_010) == ((), ())


def test_without_rectangles_there_are_none() -> None:
    assert rects_between("", TEXT, 0, 0, 10) == ((), ())


def test_no_digit_must_be_escaped_in_json_or_ends_a_record() -> None:
    assert not set(DIGITS) & set('"\\| \n')
    assert len(set(DIGITS)) == len(DIGITS)
    assert pair(-5) == pair(0)
    assert pair(10**6) == DIGITS[-1] * 2


@given(st.lists(st.floats(0.5, 700), min_size=1, max_size=30), st.data())
def test_every_word_is_found_where_it_stands(widths: list[float], data: st.DataObject) -> None:
    starts = [sum(widths[:at]) for at in range(len(widths))]
    right = sum(widths)
    unit = max(right, 800.0) / STEPS
    place = place_of((0, 10, right, 20), starts, unit)
    assert word_count(place) == len(widths)
    text = " ".join("w" * 100 for _ in widths)
    row = f"1|{right}|800|0|{pair(0)}{place}"
    first = data.draw(st.integers(0, len(widths) - 1))
    last = data.draw(st.integers(first, len(widths) - 1))
    ((rect,), _) = rects_between(row, text, 0, 101 * first, 101 * last + 100)
    assert rect.x0 == pytest.approx(starts[first], abs=10 * unit)
    end = starts[last + 1] - 1 if last + 1 < len(starts) else right
    assert rect.x1 == pytest.approx(max(end, starts[last]), abs=11 * unit)
    assert without_words(place, first)[2:CORNERS] == place[2:CORNERS]
    assert word_count(without_words(place, first)) == len(widths) - first
