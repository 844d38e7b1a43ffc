"""Text that runs up or down a page, on made pages: names of columns, cells of ruled tables, and what stays apart."""

from collections.abc import Sequence

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.ruled import Rules
from functions.ingest.parsing.sideways import MAX_TEXTS
from functions.ingest.parsing.words import Style, Word
from shared.rects import number_at
from tests.support.made_pages import PAGE, Piece, words_of

CROPS = ("Wheat", "Barley", "Oats", "Maize")


def sideways(x: float, y: float, *texts: str, turn: int = 1, size: float = 8) -> list[Word]:
    """A line that begins at `y` (from the bottom) and runs up the page, or down for `turn` 3."""
    words: list[Word] = []
    for text in texts:
        ends = y + 0.5 * size * len(text) * (1 if turn == 1 else -1)
        words.append(Word(text, x, min(y, ends), x + size, max(y, ends), Style(size=size, turn=turn)))
        y = ends + 0.25 * size * (1 if turn == 1 else -1)
    words[-1].ends = "\n"
    return words


def rows(names: Sequence[str] = ("North", "South", "East"), gap: float = 40) -> list[Piece]:
    places = [150 + gap * at for at in range(len(CROPS))]
    return [
        piece
        for at, name in enumerate(names)
        for piece in [(50.0, 600 - 14.0 * at, name), *((x, 600 - 14.0 * at, f"{at}.{x:.0f}") for x in places)]
    ]


@pytest.mark.parametrize("turn", [1, 3])
def test_names_set_sideways_above_columns_are_their_header(turn: int) -> None:
    names = [
        word
        for at, name in enumerate(CROPS)
        for word in sideways(152 + 40 * at, 620 if turn == 1 else 645, name, turn=turn)
    ]
    lines = lay_out([*words_of([(50, 615, "Region")]), *words_of(rows()), *names], PAGE)
    assert [line.text for line in lines][:2] == [
        "Region | Wheat | Barley | Oats | Maize",
        "North | 0.150 | 0.190 | 0.230 | 0.270",
    ]
    assert len(lines) == 4


def test_a_name_of_two_lines_is_one_and_its_place_is_where_it_stands() -> None:
    names = [word for at, name in enumerate(CROPS) for word in sideways(152 + 40 * at, 620, name)]
    names[1:2] = [*sideways(188, 620, "Barley"), *sideways(197, 620, "(malt)")]
    lines = lay_out([*words_of([(50, 615, "Region")]), *words_of(rows()), *names], PAGE)
    assert lines[0].text == "Region | Wheat | Barley (malt) | Oats | Maize"
    x0, y0, x1, y1 = (number_at(lines[0].place.split(" ")[1][4:], at) for at in range(0, 8, 2))
    assert y1 - y0 > x1 - x0  # higher than wide


@pytest.mark.parametrize(("above", "gap"), [(120, 40), (20, 130)])
def test_labels_far_above_or_far_apart_are_no_names_of_columns(above: float, gap: float) -> None:
    names = [word for at, name in enumerate(CROPS) for word in sideways(152 + gap * at, 600 + above, name)]
    lines = lay_out([*words_of(rows(gap=gap)), *names], PAGE)
    assert [line.text for line in lines][3:] == list(CROPS)


def test_labels_above_a_line_of_text_are_no_names_of_columns() -> None:
    names = [word for at, name in enumerate(CROPS) for word in sideways(60 + 30 * at, 620, name)]
    lines = lay_out([*words_of([(50, 600, "The yield of each crop in the last year")]), *names], PAGE)
    assert [line.text for line in lines] == ["The yield of each crop in the last year", *CROPS]


def test_text_set_sideways_in_a_ruled_cell_is_its_text() -> None:
    boxes = [(50.0, y - 0.5, 250.0, y + 0.5) for y in (100, 150, 170)]
    boxes += [(x - 0.5, 100.0, x + 0.5, 170.0) for x in (50, 150, 200, 250)]
    body = words_of([(52, 660, "Region"), (52, 636, "North"), (152, 636, "12"), (202, 636, "15")])
    names = [
        *sideways(160, 655, "Winter"),
        *sideways(169, 655, "wheat"),
        *sideways(215, 655, "Oats"),
        *sideways(560, 500, "Draft"),
    ]
    lines = lay_out([*body, *names], PAGE, rules=Rules.of(boxes, ()))
    assert [line.text for line in lines] == ["Region | Winter wheat | Oats", "North | 12 | 15", "Draft"]


@pytest.mark.parametrize(("others", "is_header"), [(5, True), (MAX_TEXTS, False)])
def test_of_very_many_texts_set_sideways_none_is_looked_at(others: int, is_header: bool) -> None:
    names = [word for at in range(others) for word in sideways(20 + 40 * (at % 14), 750 - 20 * (at // 14), "Label")]
    header = [word for at, name in enumerate(CROPS) for word in sideways(152 + 40 * at, 620, name)]
    texts = [line.text for line in lay_out([*words_of(rows()), *header, *names], PAGE)]
    assert ("Wheat" not in texts) is is_header
