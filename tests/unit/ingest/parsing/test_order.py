"""The order of reading: layers, columns, boxes, labels with figures, marks that were written apart."""

import random
from collections.abc import Iterator

import pytest

from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import Style, without_shadows
from tests.support.made_pages import BODY, PAGE, SMALL, Piece, in_one_line, laid_out, read, written


def prose(x: float, top: float, name: str, count: int = 5) -> list[tuple[float, float, str]]:
    return [(x, top - 12 * i, f"{name} line {i} of this column") for i in range(count)]


def test_headings_drawn_after_the_text_move_between_its_paragraphs() -> None:
    first, second, third = prose(50, 680, "First"), prose(50, 580, "Second"), prose(50, 480, "Third")
    headings = [(50.0, 700.0, "One"), (50.0, 600.0, "Two"), (50.0, 500.0, "Three")]
    got = read(*first, *second, *third, *headings)
    assert [got.index(heading) for heading in ("One", "Two", "Three")] == [0, 6, 12]
    assert got[1:6] == [text for _, _, text in first]


def test_what_was_drawn_first_at_the_bottom_comes_last() -> None:
    got = read((100, 100, "Source: the survey of this year, all figures in percent"), *prose(50, 700, "Left", 8))
    assert got[-1].startswith("Source")


def test_columns_in_order_stay_as_they_are() -> None:
    left, right = prose(50, 700, "Left", 20), prose(320, 700, "Right", 20)
    pieces = [(50.0, 730.0, "A title across both of the columns of this page"), *left, *right]
    assert read(*pieces) == [text for _, _, text in pieces]


def test_a_column_that_was_written_after_the_one_on_its_right_comes_first() -> None:
    left, right = prose(50, 700, "Left", 6), prose(320, 690, "Right", 4)
    assert read(*right, *left) == [text for _, _, text in (*left, *right)]


def test_cards_in_rows_stay_in_rows() -> None:
    cards = [
        *prose(50, 700, "Upper left", 3), *prose(320, 700, "Upper right", 3),
        *prose(50, 500, "Lower left", 3), *prose(320, 500, "Lower right", 3),
    ]  # fmt: skip
    assert read(*cards) == [text for _, _, text in cards]


def test_columns_from_right_to_left_stay_in_scripts_that_run_so() -> None:
    right = [(320.0, 700.0 - 12 * i, "שורה של טקסט בטור") for i in range(6)]
    left = [(50.0, 710.0 - 12 * i, "עוד שורה של טקסט") for i in range(6)]
    assert read(*right, *left)[0] == right[0][2]


def test_figures_written_after_their_labels_stand_behind_them() -> None:
    labels = [(50.0, 700.0 - 30 * i, name) for i, name in enumerate(("Total", "Republican", "Democrat", "None"))]
    figures = [(200.0, 700.0 - 30 * i, f"{i + 3}5%") for i in range(4)]
    got = " ".join(read(*labels, *figures)).replace(" |", "")
    assert got == "Total 35% Republican 45% Democrat 55% None 65%"


def test_numbers_of_steps_come_before_their_steps() -> None:
    steps = [(80.0, 700.0 - 40 * i, f"Open the {part} and take it out of its case") for i, part in enumerate("abc")]
    numbers = [(50.0, 700.0 - 40 * i, f"{i + 1}", Style(size=14)) for i in range(3)]
    got = " ".join(read(*steps, *numbers)).replace(" |", "")
    assert got.startswith("1 Open the a")
    assert "2 Open the b" in got
    assert "3 Open the c" in got


def test_figures_of_a_chart_do_not_mix_with_the_prose_beside_it() -> None:
    figures = [(300.0 + 17 * i, 690.0 - 9 * i, f"{40 + i}") for i in range(8)]
    text = prose(50, 700, "Left", 12)
    assert "\n".join(text for _, _, text in text) in "\n".join(read(*figures, *text))


def test_marks_written_after_the_text_stand_where_they_belong() -> None:
    got = read(
        (50, 700, "Cash and securities"), (300, 700, "1,204"), (50, 688, "Loans"), (300, 688, "998"),
        (50, 660, "See the notes below for all of these"), (145, 704, "(1)", SMALL), (76, 692, "(2)", SMALL),
    )  # fmt: skip
    assert got[:2] == ["Cash and securities (1) | 1,204", "Loans (2) | 998"]


def test_a_mark_behind_another_mark_finds_its_place_though_the_others_of_its_row_find_none() -> None:
    sign = written(83, 704, "®", SMALL)
    sign[0].ends = ""
    marks = [*written(89, 704, "(1)", SMALL), *written(500, 704, "TM", SMALL)]
    marks[0].ends = ""
    text = [(50.0, 712.0, "Products"), (50.0, 688.0, "Other things that were sold in the year")]
    words = [word for piece in text for word in written(*piece)]
    label = [*written(50, 700, "iPhone"), *sign]
    label[0].ends, label[-1].ends = "", "\n"
    words[1:1] = label
    got = [line.text for line in lay_out(words + marks, PAGE)]
    assert "iPhone ® (1)" in got


def test_lettering_of_a_chart_is_read_line_by_line_in_whatever_order_it_was_drawn() -> None:
    labels = "Total", "White", "Black", "Hispanic", "Young", "Old"
    bars = [(140.0 + 5 * i, 700.0 - 14 * i, str(60 + i)) for i in range(6)]
    others = [(200.0 + 5 * i, 700.0 - 14 * i, str(30 - i)) for i in range(6)]
    names = [(50.0, 700.0 - 14 * i, label) for i, label in enumerate(labels)]
    got = read(*prose(50, 760, "Above", 3), *bars[3:], *bars[:3], *names[3:], *others[3:], *names[:3], *others[:3])
    assert got[3:] == [f"{label} | {60 + i} | {30 - i}" for i, label in enumerate(labels)]


def test_small_lettering_written_before_the_text_above_it_comes_after_it() -> None:
    lettering = [(60.0 + 12 * i, 300.0 - 7 * (i % 3), f"{90 + i}", SMALL) for i in range(8)]
    text = prose(50, 700, "Left", 12)
    got = read((50.0, 730.0, "A heading of the page"), *lettering, *text)
    assert got[1:13] == [text for _, _, text in text]


def test_a_box_beside_a_paragraph_that_flows_around_it_does_not_cut_it() -> None:
    narrow = [(50.0, 700.0 - 12 * i, f"words {i} beside the box") for i in range(6)]
    wide = [
        (50.0, 628.0 - 12 * i, f"line {i} that runs below the box, over the whole width of this page") for i in (0, 1)
    ]
    box = [(300.0, 700.0 - 12 * i, f"Box {i}") for i in range(2)]
    got = read(*narrow, *wide, *box)
    paragraph = [text for _, _, text in (*narrow, *wide)]
    assert got in ([*paragraph, "Box 0", "Box 1"], ["Box 0", "Box 1", *paragraph])


def test_no_word_is_lost_or_doubled_in_any_order() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        pieces = [
            (float(chance.randrange(40, 500)), float(chance.randrange(60, 760)), f"w{i}", chance.choice((BODY, SMALL)))
            for i in range(60)
        ]
        words = " ".join(read(*pieces)).replace("|", " ").split()
        assert sorted(words) == sorted(text for _, _, text, _ in pieces)


def numbered(numbers: list[str]) -> Iterator[RawPage]:
    for i, number in enumerate(numbers):
        lines = [
            Line(f"Text {word} of {'xyzuvw'[i]}", y0=60 + 20 * k, y1=70 + 20 * k)
            for k, word in enumerate(("a", "b", "c"))
        ]
        yield RawPage(i + 1, width=600, height=800, lines=[*lines, Line(number, y0=300 + i, y1=310 + i, x1=20)])


@pytest.mark.parametrize(
    ("numbers", "left"),
    [
        ([str(i + 40) for i in range(6)], 0),
        ([f"- {i + 40} -" for i in range(6)], 0),
        (["1,204", "998", "12", "45", "45", "7"], 6),
    ],
)
def test_a_bare_number_that_goes_up_with_the_pages_goes(numbers: list[str], left: int) -> None:
    kept = [page.lines[-1].text for page, _ in remove_running_lines(numbered(numbers))]
    assert sum(text in numbers for text in kept) == left


@pytest.mark.parametrize(("first", "step", "left"), [(3, 1, 0), (3, 0, 6), (40, 3, 6)])
def test_a_last_line_in_cells_goes_if_its_number_counts_with_the_pages(first: int, step: int, left: int) -> None:
    names = ("Income", "Cash flows", "Equity", "Notes", "Taxes", "Leases")

    def pages() -> Iterator[RawPage]:
        for i, name in enumerate(names):
            lines = [Line(f"{name} {word}", 50, 60 + 20 * k, 400, 70 + 20 * k, 10) for k, word in enumerate("abc")]
            number = first + step * i
            footer = Line(f"Statements | {name} | {number}", 50, 300, 550, 310, 10, cells=3, column=1)
            yield RawPage(i + 1, width=600, height=800, lines=[*lines, footer])

    kept = [line.text for page, _ in remove_running_lines(pages()) for line in page.lines]
    assert sum("Statements" in text for text in kept) == left


@pytest.mark.parametrize(("ends", "left"), [("{} ACME, INC.", 0), ("{}", 0), ("{} is what we have", 8)])
def test_a_footer_that_begins_with_its_number_goes_where_every_other_page_has_another(ends: str, left: int) -> None:
    def pages() -> Iterator[RawPage]:
        for i in range(8):
            lines = [
                Line(f"Text {word} of {'xyzuvwst'[i]}", 50, 60 + 20 * k, 400, 70 + 20 * k, 10)
                for k, word in enumerate("abc")
            ]
            number = i + 4 if left == 0 else 7 * i * i
            footer = ends.format(number) if i % 2 or left else f"FORM 10-K {number}"
            yield RawPage(i + 1, width=600, height=800, lines=[*lines, Line(footer, 50, 740, 120, 750, 10)])

    kept = [line.text for page, _ in remove_running_lines(pages()) for line in page.lines]
    assert sum("Text" not in text for text in kept) == left


@pytest.mark.parametrize(
    ("edge", "pages", "size", "removed"),
    [
        ("Minutes of the board - {}", 2, 8, 2),
        ("Minutes of the board, page {} of 2", 2, 8, 2),
        ("Exercise {}", 2, 12, 0),  # a heading
        ("Minutes of 2{}", 2, 8, 0),
        ("In all we have received {} letters.", 2, 8, 0),
        ("Minutes of the board - {}", 1, 8, 0),
    ],
)
@pytest.mark.parametrize("y", [20, 770])
def test_of_two_pages_a_small_line_with_their_numbers_runs(
    y: int, edge: str, pages: int, size: int, removed: int
) -> None:
    def read() -> Iterator[RawPage]:
        for i in range(pages):
            body = [
                Line(f"Text {word} of {'xy'[i]}", 50, 100 + 20 * k, 400, 110 + 20 * k, 10)
                for k, word in enumerate("abcd")
            ]
            line = Line(edge.format(i + 1), 50, y, 250, y + size, size)
            yield RawPage(i + 1, width=600, height=800, lines=[*body, line])

    assert sum(len(gone) for _, gone in remove_running_lines(read())) == removed


def test_a_footer_in_large_print_goes_on_the_first_page_too() -> None:
    def pages() -> Iterator[RawPage]:
        for i in range(5):
            body = [Line(f"Line {k} of page {i}", 50, 100 + 12 * k, 500, 110 + 12 * k, 9) for k in range(20)]
            footer = Line("Tuesday, September 11", 200, 760, 400, 774, 12)
            yield RawPage(i + 1, width=600, height=800, lines=[*body, footer])

    assert not any("Tuesday" in line.text for page, _ in remove_running_lines(pages()) for line in page.lines)


def test_items_side_by_side_are_items_of_their_own() -> None:
    words = written(50, 700, "• Doctor of Philosophy (PhD)") + written(300, 700, "• Doctor in Education (EdD)")
    words[4].ends = ""  # pdfium gives them as one line
    assert [line.text for line in lay_out(words, PAGE)] == [
        "• Doctor of Philosophy (PhD)",
        "• Doctor in Education (EdD)",
    ]


def test_a_bullet_written_apart_is_no_cell() -> None:
    rows = ["Quoted prices in active markets", "Inputs other than quoted prices", "Inputs nobody can observe"]
    pieces = [
        piece for i, row in enumerate(rows) for piece in ((60.0, 700 - 14.0 * i, "•"), (95.0, 700 - 14.0 * i, row))
    ]
    assert read(*pieces) == [f"• {row}" for row in rows]


def test_small_print_in_the_middle_of_a_sentence_moves_behind_it() -> None:
    def line(text: str, x: float, y: float, size: float = 9) -> Line:
        return Line(text, x, y, x + 200, y + size, size)

    lines = [
        line("We find the items that", 50, 600), line("Permission to make copies of all of this", 50, 640, 7),
        line("the user prefers, and more.", 300, 80), line("Then we go on.", 300, 92),
    ]  # fmt: skip
    got = [one.text for one in footnotes_last(lines, 9, 800)]
    assert got == [lines[i].text for i in (0, 2, 3, 1)]


@pytest.mark.parametrize(
    ("step", "mark_x", "mark_y", "joins"),
    [
        ("Open the lid", 62, 700, True),
        ("Open the lid", 20, 700, False),  # too far on the left
        ("Open the lid", 62, 680, False),  # on another line
        ("a) Open the lid", 62, 700, False),  # it has a mark
        ("• Open the lid", 62, 700, False),
        ("Open 3. the lid", 62, 700, True),  # within it stands another
    ],
)
def test_the_mark_of_an_item_written_after_it_comes_before_it_unless_it_has_one(
    step: str, mark_x: float, mark_y: float, joins: bool
) -> None:
    got = read((80, 700, step), (80, 660, "and the text goes on below"), (mark_x, mark_y, "2."))
    assert (got[0] == f"2. {step}") is joins


# --- Room at each limit: what moves, and what stays as it was written -------------------------------------------------

WIDE = "A line of plain words that runs over most of the width of this page, as prose does {}"


def filler(top: float = 700, count: int = 12) -> list[Piece]:
    return [(50, top - 12 * i, WIDE.format(i)) for i in range(count)]


def marked(x: float, y: float, text: str, style: Style = SMALL) -> list[str]:
    """The lines of a page on which a mark was written after all the text, whose first line is "Cash"."""
    return read((50, 700, "Cash"), (50, 688, "Loans to others"), *filler(660), (x, y, text, style))


@pytest.mark.parametrize(("x", "y"), [(72, 704), (72, 697), (70, 702), (79, 703)])
def test_a_raised_or_lowered_mark_written_late_stands_behind_the_word_it_is_at(x: float, y: float) -> None:
    assert marked(x, y, "(1)")[0] == "Cash (1)"


@pytest.mark.parametrize(
    ("x", "y", "text", "style"),
    [
        (100, 704, "(1)", SMALL),  # too far to the right
        (72, 704, "(1)", Style(size=10)),  # no smaller
        (72, 704, "ofnineteen", SMALL),  # too long
        (40, 704, "(1)", SMALL),  # no word before it
    ],
)
def test_what_is_no_mark_of_a_word_does_not_join_it(x: float, y: float, text: str, style: Style) -> None:
    assert f"Cash {text}" not in marked(x, y, text, style)


def test_a_raised_mark_written_late_stands_before_the_note_that_it_begins() -> None:
    note, mark = (54.0, 500.0, "Except for forms", Style(size=8)), (50.0, 503.0, "1", SMALL)
    got = read((50, 700, "Cash"), note, *filler(480), mark)
    assert "1 Except for forms" in got
    assert "1 Except for forms" not in read((50, 700, "Cash"), note, *filler(480), (40.0, 503.0, "1", SMALL))


def test_a_mark_between_two_words_stands_between_them_if_there_is_room() -> None:
    words = in_one_line(700, (50, "Cash"), (90, "and more"))
    rest = [word for piece in filler(660) for word in written(*piece)]
    assert lay_out([*words, *rest, *written(72, 704, "(1)", SMALL)], PAGE)[0].text.startswith("Cash (1)")
    words = in_one_line(700, (50, "Cash"), (74, "and more"))
    rest = [word for piece in filler(660) for word in written(*piece)]
    assert "Cash (1) and more" not in [
        line.text for line in lay_out([*words, *rest, *written(71, 704, "(1)", SMALL)], PAGE)
    ]


def test_a_hyphen_at_the_end_of_a_line_stays_its_end_when_a_mark_is_put_behind_it() -> None:
    first = written(50, 700, "The compart")
    first[-1].ends = "-"
    rest = [word for piece in [(50, 688, "ment is new"), *filler(660)] for word in written(*piece)]
    got = lay_out([*first, *rest, *written(106, 704, "(1)", SMALL)], PAGE)[0].text
    assert got == "The compart (1)\u00ad"


@pytest.mark.parametrize("name", ["One", "A heading of some more words"])
def test_a_heading_drawn_late_or_early_stands_above_its_paragraph(name: str) -> None:
    above, below = prose(50, 700, "First", 6), prose(50, 600, "Second", 6)
    wanted = [*(text for _, _, text in above), name, *(text for _, _, text in below)]
    assert read(*above, *below, (50, 615, name)) == wanted
    assert read((50, 615, name), *above, *below) == wanted


def test_a_box_of_a_few_lines_drawn_late_moves_as_a_whole() -> None:
    above, below = filler(700, 8), filler(520, 8)
    box: list[Piece] = [(50, 590.0 - 12 * i, f"Line {name} of a box") for i, name in enumerate("abc")]
    wanted = [piece[2] for piece in (*above, *box, *below)]
    assert read(*above, *below, *box) == wanted
    assert read(*box, *above, *below) == wanted


def test_two_boxes_drawn_late_move_each_to_its_place() -> None:
    parts = [filler(top, 6) for top in (740, 600, 460)]
    boxes = [
        [(50.0, top - 12.0 * i, f"{name} {i} here") for i in range(2)] for top, name in ((650, "Upper"), (510, "Lower"))
    ]
    wanted = [piece[2] for piece in (*parts[0], *boxes[0], *parts[1], *boxes[1], *parts[2])]
    assert read(*parts[0], *parts[1], *parts[2], *boxes[1], *boxes[0]) == wanted


def test_blocks_of_a_form_written_in_any_order_are_read_from_the_top() -> None:
    blocks = [prose(50, 740 - 80 * n, name) for n, name in enumerate(("One", "Two", "Three", "Four", "Five", "Six"))]
    pieces = [piece for n in (3, 5, 4, 2, 0, 1) for piece in blocks[n]]
    assert read(*pieces) == [text for block in blocks for _, _, text in block]


def test_blocks_written_in_any_order_are_read_with_what_stands_beside_them() -> None:
    blocks = [prose(50, 740 - 80 * n, name) for n, name in enumerate(("One", "Two", "Three", "Four", "Five", "Six"))]
    beside = prose(320, 740, "Beside")
    pieces = [*(piece for n in (2, 5, 1, 4, 0, 3) for piece in blocks[n]), *beside]
    ordered = [blocks[0], beside, *blocks[1:]]
    assert read(*pieces) == [text for block in ordered for _, _, text in block]


def test_blocks_of_which_the_lower_half_was_written_first_are_read_from_the_top_beside_others() -> None:
    blocks = [prose(50, 740 - 80 * n, name) for n, name in enumerate(("One", "Two", "Three", "Four", "Five", "Six"))]
    beside = prose(320, 740, "Beside")
    got = read(*(piece for n in (3, 5, 4, 2, 0, 1) for piece in blocks[n]), *beside)
    assert [text for text in got if not text.startswith("Beside")] == [text for block in blocks for _, _, text in block]


@pytest.mark.parametrize("seed", [4, 10, 11, 17])
def test_columns_whose_lines_are_not_level_are_not_read_in_turns(seed: int) -> None:
    names = ("One", "Two", "Three", "Four", "Five", "Six")
    left = [prose(50, 740 - 80 * n, f"Left {name}") for n, name in enumerate(names)]
    right = [prose(320, 733 - 80 * n, f"Right {name}") for n, name in enumerate(names)]
    blocks = [*left, *right]
    random.Random(seed).shuffle(blocks)
    got = read(*(piece for block in blocks for piece in block))
    for block in blocks:
        first = got.index(block[0][2])
        assert got[first : first + len(block)] == [text for _, _, text in block]


def test_what_stands_beside_the_text_does_not_move_between_its_lines() -> None:
    text = prose(50, 700, "Left", 10)
    note: list[Piece] = [(350, 660, "A note beside it")]
    got = read(*text, *note)
    assert got[:10] == [piece[2] for piece in text] or got[1:] == [piece[2] for piece in text]


@pytest.mark.parametrize("late", [(), ((50.0, 730.0, "A heading drawn late"),)])
def test_footers_written_first_come_last_and_headers_written_last_first(late: tuple[Piece, ...]) -> None:
    text = filler(700)
    header, number, note = (50.0, 770.0, "A running title"), (300.0, 20.0, "17"), (50.0, 40.0, "For members only")
    expected = [piece[2] for piece in (header, *late, *text, note, number)]
    assert read(header, note, number, *text, *late) == expected
    assert read(note, *text, *late, number, header) == expected
    assert read(*text, *late, header, note, number) == expected


def test_what_was_written_first_and_stands_below_everything_else_comes_last() -> None:
    notes, boxes = (
        prose(50, 200, "Note", 12),
        [(x, 700.0 - 40 * i, f"Box {i}") for i in range(8) for x in (50.0, 300.0)],
    )
    assert read(*notes, *boxes)[-12:] == [piece[2] for piece in notes]


def test_a_column_that_is_lower_than_the_one_on_its_right_still_comes_first() -> None:
    left, right = prose(50, 400, "Left", 6), prose(320, 700, "Right", 6)
    assert read(*left, *right) == [piece[2] for piece in (*left, *right)]


def test_a_title_in_large_print_at_the_pages_edge_is_no_header_and_comes_first() -> None:
    title = (50.0, 760.0, "The title", Style(size=20))
    text = filler(700)
    assert read(*text, title) == ["The title", *(piece[2] for piece in text)]


# --- Headers and footers above and below a table ----------------------------------------------------------------------


def columns_of(*running: Piece, top: float = 690) -> list[int]:
    """For each running line, whether it is in the table below (or above, if it stands at the foot of the page)."""
    rows = [piece for i in range(4) for piece in table_row(top - 12 * i, f"Item {'abcd'[i]}", "1,204", "998")]
    head = [piece for piece in running if piece[1] > 400]
    foot = [piece for piece in running if piece[1] <= 400]
    lines = laid_out(*head, *rows, *foot)
    return [line.column for line in lines if "Item" not in line.text]


def table_row(y: float, label: str, *cells: str) -> list[Piece]:
    return [(50, y, label), *((300.0 + 100 * at - 5 * len(cell), y, cell) for at, cell in enumerate(cells))]


@pytest.mark.parametrize("y", [730, 760])
def test_a_header_with_a_page_number_set_off_from_a_table_is_no_row_of_it(y: float) -> None:
    number, title = (50.0, y, "17"), (300.0, y, "Notes to the report")
    assert columns_of(number, title, top=y - 28) == [0, 0]
    assert columns_of((50.0, y, "Notes to the report"), (300.0, y, "17"), top=y - 28) == [0, 0]


@pytest.mark.parametrize("words", ["17 Notes 4 to", "17 Notes to 4 all", "17 4 Notes to", "17 Notes to 4"])
def test_a_header_has_no_figure_but_its_page_number(words: str) -> None:
    assert columns_of((50.0, 760, words), (300.0, 760, "the report"), top=732) != [0, 0]


def test_three_parts_side_by_side_are_the_head_of_a_table_though_one_is_a_bare_number() -> None:
    assert columns_of((50.0, 760, "Goods"), (275.0, 760, "Total"), (385.0, 760, "17"), top=732) == [1]
    assert columns_of((50.0, 760, "Notes to the report"), (385.0, 760, "17"), top=732) == [0, 0]


def test_a_line_with_a_figure_below_the_head_of_the_page_is_a_row_of_the_table() -> None:
    assert columns_of((50.0, 660, "Notes to the report"), (283.0, 660, "17"), top=632) == [1]


def test_a_footer_with_a_page_number_set_off_from_a_table_is_no_row_of_it() -> None:
    assert columns_of((50.0, 40, "Notes to the report"), (300.0, 40, "17"), top=110) == [0, 0]
    assert columns_of((50.0, 240, "Notes to the report"), (290.0, 240, "17"), top=310) == [1]


def test_a_footer_of_two_lines_is_no_row_of_the_table_above_it() -> None:
    foot = (50.0, 44.0, "Notes to the report"), (50.0, 32.0, "of the year"), (300.0, 32.0, "17")
    assert columns_of(*foot, top=110) == [0, 0, 0]


@pytest.mark.parametrize(
    "cells",
    [
        ("Total", "1,204", "998"),  # two figures
        ("Total", "of all", "99"),  # three parts
        ("Total of the year", "sold"),  # no figure
    ],
)
def test_what_has_not_just_a_page_number_is_a_row_of_the_table_at_the_head_of_the_page(cells: tuple[str, ...]) -> None:
    assert columns_of(*table_row(760, *cells), top=732) == [1]


def test_a_row_as_near_as_the_others_is_a_row_of_the_table_at_the_head_of_the_page() -> None:
    assert columns_of((50.0, 760, "Notes"), (290.0, 760, "17"), top=748) == [1]


def test_a_date_at_the_end_of_a_header_is_no_page_number() -> None:
    assert columns_of((50.0, 760, "As of"), (250.0, 760, "May 12, 2023"), top=732) == [0, 0]


# --- Regions side by side, labels with figures, lettering -------------------------------------------------------------


def test_of_three_columns_written_from_the_right_the_left_one_comes_first() -> None:
    a, b, c = prose(20, 700, "A"), prose(220, 700, "B"), prose(400, 700, "C")
    assert read(*c, *b, *a) == [piece[2] for piece in (*a, *b, *c)]


def test_a_region_below_what_was_written_before_stays_behind_it() -> None:
    right, left = prose(320, 700, "Right", 4), prose(50, 560, "Left", 4)
    assert read(*right, *left) == [piece[2] for piece in (*right, *left)]


def test_paragraphs_of_the_right_column_move_together_behind_the_left_one() -> None:
    right = [*prose(320, 700, "Upper right", 3), *prose(320, 650, "Lower right", 3)]
    left = prose(50, 700, "Left", 8)
    assert read(*right, *left) == [piece[2] for piece in (*left, *right)]


@pytest.mark.parametrize("figure", ["35%", "$ 1,204", "(17)", "-3.5", "~40", "12:30", "5x"])
def test_figures_of_every_form_written_after_their_labels_stand_behind_them(figure: str) -> None:
    names = "Total", "Urban", "Rural", "None"
    labels = [(50.0, 700.0 - 30 * i, name) for i, name in enumerate(names)]
    values = [(200.0, 700.0 - 30 * i, figure) for i in range(4)]
    assert " ".join(read(*labels, *values)).replace(" |", "") == " ".join(f"{name} {figure}" for name in names)


def test_figures_off_the_lines_of_their_labels_stay_together() -> None:
    labels = [(20.0, 700.0 - 30 * i, name) for i, name in enumerate(("Total", "Urban", "Rural", "None"))]
    off = [(120.0, 685.0 - 30 * i, f"{i + 3}5%") for i in range(4)]
    assert " ".join(read(*labels, *off)).replace(" |", "").endswith("35% 45% 55% 65%")


def test_two_columns_of_figures_written_after_their_labels_stand_behind_them_in_order() -> None:
    names = "Total", "Urban", "Rural", "None"
    labels = [(130.0, 700.0 - 30 * i, name) for i, name in enumerate(names)]
    first = [(200.0, 700.0 - 30 * i, f"{i + 3}5%") for i in range(4)]
    second = [(300.0, 700.0 - 30 * i, f"{i + 3}1%") for i in range(4)]
    wanted = " ".join(f"{name} {i + 3}5% {i + 3}1%" for i, name in enumerate(names))
    assert " ".join(read(*labels, *first, *second)).replace(" |", "") == wanted


def test_two_figures_are_no_column_of_their_own() -> None:
    labels = [(50.0, 700.0 - 60 * i, name) for i, name in enumerate(("Total", "Urban", "Rural"))]
    figures = [(200.0, 640.0 - 60 * i, f"{i + 3}5%") for i in range(2)]
    assert " ".join(read(*labels, *figures)).replace(" |", "").endswith("35% 45%")


def test_a_few_labels_and_figures_in_no_order_are_no_chart() -> None:
    pieces: list[Piece] = [(50, 700, "30"), (120, 720, "Old"), (200, 650, "40"), (50, 690, "Young")]
    assert sorted(" ".join(read(*pieces)).replace(" |", "").split()) == ["30", "40", "Old", "Young"]


def test_bullets_written_before_all_items_stand_before_the_item_that_each_is_at() -> None:
    names = ("How can I type?", "Will you help me?", "May I modify the font?")
    marks: list[Piece] = [(60, 700 - 14 * at, "•") for at in range(3)]
    items: list[Piece] = [(68, 700 - 14 * at, name) for at, name in enumerate(names)]
    assert read(*marks, *items) == [f"• {name}" for name in names]


def test_points_of_a_chart_written_apart_stay_as_they_are() -> None:
    points: list[Piece] = [(60 + 3 * at, 700 - 5 * at, "●") for at in range(102)]
    assert "● Gain" in read(*points[:2], (68, 700, "Gain"))
    assert "● Gain" not in read(*points, (68, 700, "Gain"))


BARS = [("Farms", 150, "38"), ("Towns", 162, "61"), ("Villages", 141, "27")]
"""Labels of a bar chart, where the figure in each bar stands, and that figure."""


@pytest.mark.parametrize(("room", "is_chart"), [(14, True), (70, False)])
def test_figures_in_bars_of_a_chart_stand_with_the_labels_of_their_lines(room: float, is_chart: bool) -> None:
    figures: list[Piece] = [(x, 600 - room * at, figure) for at, (_, x, figure) in enumerate(BARS)]
    labels: list[Piece] = [(60, 600 - room * at, label) for at, (label, _, _) in enumerate(BARS)]
    together = ["Farms | 38", "Towns | 61", "Villages | 27"]
    assert (read(*figures, *labels, (60, 650, "Share of answers")) == ["Share of answers", *together]) is is_chart


def test_a_column_that_was_written_in_two_parts_around_the_one_on_its_right_is_read_first() -> None:
    first, rest = prose(50, 700, "Left", 2), prose(50, 660, "More", 5)
    right = prose(320, 700, "Right", 8)
    assert read(*first, *right, *rest) == [text for _, _, text in (*first, *rest, *right)]
    beside = [(50.0, 600.0, "The text goes on below the picture, over the width of both of the columns here")]
    around = [*first, *right, *prose(50, 660, "More", 5), *beside]
    assert read(*around) == [text for _, _, text in around]


def test_a_word_that_is_drawn_again_hardly_beside_itself_is_read_once() -> None:
    again = written(50.5, 700.6, "Opening hours")
    words = without_shadows([*written(50, 700, "Opening hours"), *again])
    assert [(word.text, word.style.bold) for word in words] == [("Opening", True), ("hours", True)]
    below = written(50, 690, "Opening hours")
    assert len(without_shadows([*written(50, 700, "Opening hours"), *below])) == 4
