"""Columns on made pages: what is cut in two, what is sorted, what stays as it is; with room at each limit."""

import random

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.table_cells import Cell, Group
from functions.ingest.parsing.table_grid import with_empty_cells
from functions.ingest.parsing.words import Row, Style, Word, box_of
from tests.support.made_pages import PAGE, Piece, in_one_line, moved, read, width_of, words_of, written

LEFT = "the words of the left one go on {}"
RIGHT = "while those of the right go on {}"


def texts(words: list[Word], bounds: tuple[float, float, float, float] = PAGE) -> list[str]:
    return [line.text for line in lay_out(words, bounds)]


def spread(count: int, left: str = LEFT, right: str = RIGHT, *, at: float = 300, top: float = 700) -> list[Word]:
    """Lines that run across two columns, the right one of which begins at one place."""
    names = "abcdefghijklmnopqrstuvwxyz"
    return [
        word
        for i in range(count)
        for word in in_one_line(top - 14 * i, (50, left.format(names[i])), (at, right.format(names[i])))
    ]


def named(text: str, count: int) -> list[str]:
    return [text.format(name) for name in "abcdefghijklmnopqrstuvwxyz"[:count]]


@pytest.mark.parametrize("count", [7, 12, 20])
def test_lines_across_two_columns_of_prose_are_read_left_column_first(count: int) -> None:
    assert texts(spread(count)) == [*named(LEFT, count), *named(RIGHT, count)]


@pytest.mark.parametrize("scale", [0.6, 1.5])
def test_large_and_small_print_is_cut_into_columns_alike(scale: float) -> None:
    bounds = (0.0, 0.0, 600 * scale, 800 * scale)
    assert texts(moved(spread(9), scale=scale), bounds) == [*named(LEFT, 9), *named(RIGHT, 9)]


@pytest.mark.parametrize("by", [(-40, 0), (90, 50)])
def test_columns_are_found_wherever_they_stand_on_the_page(by: tuple[float, float]) -> None:
    assert texts(moved(spread(9), by=by)) == [*named(LEFT, 9), *named(RIGHT, 9)]


def test_a_line_over_the_whole_width_parts_the_columns_above_it_from_those_below() -> None:
    wide = "One long heading that runs over the whole of the width, from left to right of the page"
    above, below = spread(5), spread(5, "below it on the left is {}", "and on the right below {}", top=600)
    assert texts([*above, *written(50, 615, wide), *below]) == [
        *named(LEFT, 5), *named(RIGHT, 5), wide,
        *named("below it on the left is {}", 5), *named("and on the right below {}", 5),
    ]  # fmt: skip


def test_lines_that_only_one_column_has_stay_in_it() -> None:
    last = "only the left one ends"
    more = "only the right one ends"
    words = [*spread(8), *written(50, 588, last), *written(300, 574, more)]
    assert texts(words) == [*named(LEFT, 8), last, *named(RIGHT, 8), more]


def test_too_few_lines_make_no_columns_of_prose() -> None:
    assert len(texts(spread(4))) == 4


def test_lines_that_mostly_run_on_make_no_columns() -> None:
    one = "These are plain words that run over all of the width of the page without any room in between"
    words = [word for i in range(24) for word in written(50, 690 - 12 * i, f"{one} {i}")]
    gaps = [
        word for i in range(7) for word in in_one_line(402 - 12 * i, (50, LEFT.format("on")), (300, RIGHT.format("on")))
    ]
    assert len(texts(words + gaps)) == 24 + 7


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("{} 12 345 678 90 12 345 67", "{} 98 765 432 10 98 765 43"),  # figures
        ("Name {}", "while those of the right go on {}"),  # labels
        ("the words of the left one {}", "Seven {}"),
    ],
)
def test_figures_and_short_labels_side_by_side_are_read_line_by_line(left: str, right: str) -> None:
    got = texts(spread(9, left, right))
    assert len(got) == 9
    assert all(line.startswith(text) for line, text in zip(got, named(left, 9), strict=True))


@pytest.mark.parametrize(("room", "lines"), [(6, 9), (16, 18)])
def test_the_room_between_columns_is_wider_than_that_between_justified_words(room: float, lines: int) -> None:
    begin = written(50, 0, LEFT.format("a"))[-1].x1 + room
    assert len(texts(spread(9, at=begin))) == lines


def test_room_between_words_that_most_lines_do_not_have_parts_no_columns() -> None:
    words: list[Word] = []
    for i in range(9):
        first = " ".join(["many", "words", "of", "it"][: 1 + i % 4])
        words += in_one_line(700 - 14 * i, (50, first), (62 + width_of(first), "on the left"), (300, RIGHT))
    got = texts(words)
    assert len(got) == 18
    assert [line.split()[0] for line in got] == ["many"] * 9 + ["while"] * 9


@pytest.mark.parametrize("is_in_one", [True, False])
def test_three_columns_of_prose_written_line_by_line_are_read_one_after_the_other(is_in_one: bool) -> None:
    names = ("some words of the left column", "some words of the middle one", "some words of the right one")
    words: list[Word] = []
    for i in range(9):
        parts = [(50 + 180 * at, f"{name} {i}") for at, name in enumerate(names)]
        y = 700 - 14 * i
        words += in_one_line(y, *parts) if is_in_one else [word for x, text in parts for word in written(x, y, text)]
    assert texts(words) == [f"{name} {i}" for name in names for i in range(9)]


def test_a_column_of_short_words_between_two_of_prose_makes_a_table() -> None:
    rows = [
        in_one_line(700 - 14 * i, (50, LEFT.format("on")), (260, f"AB{i}"), (330, RIGHT.format("on"))) for i in range(9)
    ]
    got = texts([word for row in rows for word in row])
    assert [line.count(" | ") for line in got] == [2] * 9


def column_of(x: float, name: str) -> list[Piece]:
    return [(x, 700 - 12 * i, f"some longer words of the {name} column") for i in range(20)]


@pytest.mark.parametrize(("y", "lines"), [(440, 2), (30, 1)])
def test_captions_of_two_columns_written_in_one_go_are_two_but_a_footer_stays_whole(y: float, lines: int) -> None:
    captions = in_one_line(y, (50, "Nuts of one kind"), (300, "Nuts of another kind"))
    got = texts([*words_of(column_of(50, "left") + column_of(300, "right")), *captions])
    assert len(got) == 40 + lines
    assert got[-1].endswith("Nuts of another kind")


def shuffled(pieces: list[Piece], seed: int) -> list[str]:
    """The lines of a page whose pieces were written in no order at all."""
    mixed = list(pieces)
    random.Random(seed).shuffle(mixed)
    return read(*mixed)


def column(x: float, top: float, name: str, count: int = 10) -> list[Piece]:
    return [(x, top - 12.0 * i, f"{name} line number {i} of this column") for i in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_a_page_written_in_no_order_is_read_title_first_then_column_by_column(seed: int) -> None:
    title: list[Piece] = [(50, 760, "A title that runs across both columns, from the left one to the right one")]
    foot: list[Piece] = [(50, 400, "Something below both of the columns, from the left edge to the right one too")]
    pieces = [*title, *column(50, 700, "Left"), *column(320, 700, "Right"), *foot]
    assert shuffled(pieces, seed) == [piece[2] for piece in pieces]


@pytest.mark.parametrize("seed", range(4))
def test_two_rows_of_columns_written_in_no_order_are_read_row_by_row(seed: int) -> None:
    upper = [*column(50, 740, "Upper left", 7), *column(320, 740, "Upper right", 7)]
    lower = [*column(50, 560, "Lower left", 7), *column(320, 560, "Lower right", 7)]
    assert shuffled([*upper, *lower], seed) == [piece[2] for piece in (*upper, *lower)]


@pytest.mark.parametrize("seed", range(4))
def test_three_columns_of_lines_in_step_written_in_no_order_are_read_from_the_left(seed: int) -> None:
    pieces: list[Piece] = [
        (x, 700.0 - 12 * i, f"Column {name} line {i}")
        for name, x in (("a", 40), ("b", 220), ("c", 400))
        for i in range(9)
    ]
    assert shuffled(pieces, seed) == [piece[2] for piece in pieces]


def test_a_few_lines_that_go_up_are_mended_without_sorting_the_page() -> None:
    text = column(50, 700, "Left", 14)
    late: list[Piece] = [(50, 724, "A heading drawn late")]
    assert read(*text, *late) == [late[0][2], *(piece[2] for piece in text)]


def test_three_lines_stay_as_they_are_written() -> None:
    pieces: list[Piece] = [(50, 500, "the first one"), (50, 600, "the second one"), (50, 700, "the third one")]
    assert read(*pieces) == ["the first one", "the second one", "the third one"]


def test_a_page_of_very_many_lines_keeps_the_order_it_is_written_in() -> None:
    tiny = Style(size=1)
    lines = [word for i in range(520) for word in written(50, 720 - 1.2 * i, f"line {i} of many", tiny)]
    got = texts([*lines, *written(50, 725, "drawn late")])
    assert got[-1] == "drawn late"


def test_many_boxes_written_in_no_order_are_read_line_by_line() -> None:
    pieces: list[Piece] = [(40.0 + 90 * at, 700.0 - 40 * i, f"box {i} {at}") for i in range(4) for at in range(5)]
    assert " ".join(shuffled(pieces, 1)).replace(" |", "") == " ".join(piece[2] for piece in pieces)


def test_words_are_read_once_each_however_columns_are_cut() -> None:
    for seed in range(10):
        chance = random.Random(seed)
        words = spread(9, at=260 + 10 * chance.random())
        words += words_of([(50.0, 560.0 - 12 * i, f"below {i} {seed}") for i in range(chance.randrange(5))])
        found = sorted(" ".join(texts(words)).replace("|", " ").split())
        assert found == sorted(word.text for word in words)


def row_of(*cells: tuple[float, float, str]) -> Group:
    """A row of a table whose cells (left, right, text) are one word each."""
    words = [Word(text, x0, 100, x1, 110, Style(size=10)) for x0, x1, text in cells]
    return Group([Row.of(words)], [Cell([[word]], *box_of([word])) for word in words])


def test_what_stands_over_several_columns_tells_none_of_them_apart() -> None:
    run = [
        row_of((356, 400, "July"), (497, 541, "December")),
        row_of((25, 65, "Millions"), (325, 352, "Assets"), (393, 429, "Debts")),
        row_of((30, 118, "Currency"), (306, 369, "$144"), (378, 441, "$1,347")),
        row_of((30, 100, "Rates"), (361, 369, "—"), (429, 441, "798")),
        row_of((30, 100, "Others"), (437, 441, "6")),
    ]
    got = [[cell.text for cell in group.cells] for group in with_empty_cells(run)]
    assert got == [
        ["July", "December"],
        ["Millions", "Assets", "Debts"],
        ["Currency", "$144", "$1,347"],
        ["Rates", "—", "798"],
        ["Others", "", "6"],
    ]
