"""The order of reading: layers, columns, boxes, labels with figures, marks that were written apart."""

import random
from collections.abc import Iterator

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.running import footnotes_last, remove_running_lines
from functions.ingest.parsing.wire import Line, RawPage
from functions.ingest.parsing.words import Style, Word

PAGE = (0.0, 0.0, 600.0, 800.0)
BODY = Style(size=10)
SMALL = Style(size=6)


def written(x: float, y: float, text: str, style: Style = BODY) -> list[Word]:
    """Words of one line as pdfium gives them: `y` is the base line, counted from the bottom."""
    words: list[Word] = []
    for token in text.split():
        width = 0.5 * style.size * len(token)
        words.append(Word(token, x, y - 0.2 * style.size, x + width, y + 0.8 * style.size, style))
        x += width + 0.25 * style.size
    words[-1].ends = "\n"
    return words


def read(*pieces: tuple[float, float, str] | tuple[float, float, str, Style]) -> list[str]:
    """The lines of a page that was written in this order."""
    return [line.text for line in lay_out([word for piece in pieces for word in written(*piece)], PAGE)]


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
