"""Numbers of lines in the margin, on made pages: what goes, and what are no such numbers."""

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.line_numbers import without_line_numbers
from functions.ingest.parsing.words import Style, Word
from tests.support.made_pages import PAGE, in_one_line

TEXT = "words of a sentence that goes on and on to the edge of"


def page(first: int = 1, step: int = 1, text: str = TEXT, x: float = 90, right: str = "") -> list[str]:
    words = []
    for i in range(12):
        pieces = [(60, str(first + step * i)), (x, f"{text} it")]
        words += in_one_line(700 - 14 * i, *pieces, *([(500, right)] if right else []))
    return [line.text for line in lay_out(words, PAGE)]


@pytest.mark.parametrize(("first", "step"), [(1, 1), (45, 1), (5, 5)])
def test_the_numbers_of_lines_are_no_part_of_the_text(first: int, step: int) -> None:
    assert page(first, step) == [f"{TEXT} it"] * 12


@pytest.mark.parametrize(
    "got",
    [
        page(step=3),
        page(text="Plums of the year"),  # short, as in a table of ranks
        page(text=TEXT.capitalize()),  # no sentence goes on
        page(text=TEXT[:45], right="1,204"),  # cells
        page(x=70),  # as near as an item's number
    ],
)
def test_numbers_of_items_and_of_rows_stay(got: list[str]) -> None:
    assert all(line[0].isdecimal() for line in got)


class CountedWord(Word):
    """A word that counts how often its foot and its top are asked for."""

    asked = 0

    def __getattribute__(self, name: str) -> object:
        if name in {"y0", "y1"}:
            CountedWord.asked += 1
        return object.__getattribute__(self, name)


def times_asked(count: int) -> int:
    """Take the numbers of so many lines out, and return how often a word was asked where it stands."""
    words = []
    for i in range(count):
        top = 14.0 * (count - i)
        words += [
            CountedWord(text, x, top, x + 40, top + 10, Style(10))
            for text, x in ((f"{i + 1}", 20.0), ("plums", 90.0), (TEXT, 130.0))
        ]
    CountedWord.asked = 0
    assert len(without_line_numbers(words)) == 2 * count
    return CountedWord.asked


def test_twice_as_many_numbered_lines_take_twice_the_work() -> None:
    assert times_asked(400) < 2.5 * times_asked(200)
