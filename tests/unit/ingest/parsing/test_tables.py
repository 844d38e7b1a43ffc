"""Cells, rows and tables on made pages: what makes two cells or one, a row or two; with room at each limit."""

from dataclasses import replace

import pytest

from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.parse import _carry_over
from functions.ingest.parsing.parts import Part
from functions.ingest.parsing.table_cells import _numbers_sentence, cells_of, grouped
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.words import CUT, SOFT_HYPHEN, Row, Style, Word
from tests.support.made_pages import (
    BODY,
    PAGE,
    Piece,
    balance,
    figures,
    in_one_line,
    laid_out,
    moved,
    read,
    width_of,
    words_of,
    written,
)


def one_line(*parts: tuple[float, str], style: Style = BODY) -> str:
    """The text of a row of a table whose parts stand at these places, but in one line for pdfium.

    Without the empty cell at its end, if it has none in the table's last column.
    """
    return lay_out(words_of(balance(724)) + in_one_line(700, *parts, style=style), PAGE)[2].text.removesuffix(" |")


def tables(*pieces: Piece) -> list[tuple[str, int]]:
    return [(line.text, line.column) for line in laid_out(*pieces)]


# --- Cells of a row ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [6, 10, 20])
def test_room_makes_two_cells_by_the_size_of_the_print(size: float) -> None:
    style = Style(size=size)
    end = 50 + width_of("first words", style)
    assert one_line((50, "first words"), (end + 0.9 * size, "second words"), style=style) == "first words second words"
    assert (
        one_line((50, "first words"), (end + 1.5 * size, "second words"), style=style) == "first words | second words"
    )


def test_room_behind_large_print_is_measured_by_the_smaller_of_the_two() -> None:
    words = [*written(50, 700, "Large", Style(size=30)), *written(140, 700, "small")]
    words[0].ends = ""
    table = [word for i in range(2) for word in words_of(figures(688 - 12 * i, f"Item {i}", "17"))]
    assert lay_out(words + table, PAGE)[0].text == "Large | small"


@pytest.mark.parametrize("sign", ["$", "€", "(", "US$"])
def test_a_sign_stays_with_the_figure_behind_it(sign: str) -> None:
    assert one_line((50, "Debts"), (220, sign), (270, "6,392")) == f"Debts | {sign} 6,392"


@pytest.mark.parametrize("sign", [")", "%", ")%", "pts"])
def test_a_sign_stays_with_the_figure_before_it(sign: str) -> None:
    assert one_line((50, "Debts"), (220, "6,392"), (270, sign)) == f"Debts | 6,392 {sign}"


def test_a_percent_sign_behind_a_year_heads_a_column_of_its_own() -> None:
    header: list[Piece] = [(50, 700, "Debts"), (280, 700, "2023"), (393, 700, "%")]
    assert read(*header, *balance(688))[0] == "Debts | 2023 | %"


def test_figures_that_stand_nearer_than_cells_are_two_cells_but_not_a_figure_with_thin_spaces() -> None:
    end = 200 + width_of("1,204")
    assert one_line((50, "Debts"), (200, "1,204"), (end + 9, "998")) == "Debts | 1,204 | 998"
    assert one_line((50, "Debts"), (200, "1,204"), (end + 4, "998")) == "Debts | 1,204 998"
    assert one_line((50, "Debts"), (200, "(1,204)"), (200 + width_of("(1,204)") + 9, "(998)")) == (
        "Debts | (1,204) | (998)"
    )


def test_words_that_begin_with_a_figure_are_not_cut_from_one_before_them() -> None:
    end = 200 + width_of("120")
    assert one_line((50, "Debts"), (200, "120"), (end + 9, "3rd")) == "Debts | 120 3rd"
    assert one_line((50, "Debts"), (200, "A12"), (end + 9, "998")) == "Debts | A12 998"


@pytest.mark.parametrize("mark", ["•", "o", "(a)", "1.", "[12]", "2.1", "–"])
def test_room_behind_the_mark_of_an_item_makes_no_cell(mark: str) -> None:
    assert one_line((50, mark), (90, "Loans to others")) == f"{mark} Loans to others"


def test_room_behind_a_mark_within_a_row_or_behind_a_word_makes_a_cell() -> None:
    assert one_line((50, "Word"), (90, "Loans to others")) == "Word | Loans to others"
    assert one_line((50, "1."), (90, "Loans"), (200, "a)"), (230, "Gifts")) == "1. Loans | a) | Gifts"
    assert one_line((50, "1."), (90, "1,204")) == "1. | 1,204"


def test_words_whose_letters_are_set_apart_are_one_cell_and_short_or_narrow_ones_are_not() -> None:
    def spaced(pitch: float, *names: str) -> str:
        words: list[Word] = []
        for at, name in enumerate(names):
            x = 50 + 150.0 * at
            words.append(Word(name, x, 698, x + pitch * len(name), 708, BODY))
        words[-1].ends = "\n"
        return lay_out(words_of(balance(724)) + words + words_of(balance(688)), PAGE)[2].text.removesuffix(" |")

    assert spaced(11, "GODFREY", "PHILLIPS") == "GODFREY PHILLIPS"
    assert spaced(11, "GODFREY", "PHI") == "GODFREY | PHI"
    assert spaced(11, "GOD", "PHILLIPS") == "GOD | PHILLIPS"
    assert spaced(7, "GODFREY", "PHILLIPS") == "GODFREY | PHILLIPS"


# --- Cells of several lines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (150, "second line"),  # at the left
        (150 + width_of("first line of it") - width_of("second"), "second"),  # at the right
        (150 + (width_of("first line of it") - width_of("second")) / 2, "second"),  # in the middle
        (165, "second"),  # indented
    ],
)
def test_a_line_below_a_cell_and_in_line_with_it_continues_it(x: float, text: str) -> None:
    rows: list[Piece] = []
    for at in range(3):
        y = 700.0 - 30 * at
        rows += [(50, y, f"Label {'abc'[at]}"), (150, y, "first line of it"), (x, y - 11, text), (400, y, "1,204")]
    assert read(*rows) == [f"Label {name} | first line of it {text} | 1,204" for name in "abc"]


def test_a_line_below_a_cell_that_is_out_of_line_with_it_is_no_part_of_it() -> None:
    rows = [*balance(), (420, 677, "outside of it")]
    assert read(*rows)[1:] == ["Loans | 1,617 | 163", "outside of it"]
    assert read(*balance(), (384, 677, "sold"))[1:] == ["Loans | 1,617 | 163 sold"]


@pytest.mark.parametrize(("last", "groups"), [("by", 1), ("12", 2)])
def test_a_line_left_of_the_middle_of_the_cell_before_goes_on_in_words_and_in_no_figure(last: str, groups: int) -> None:
    rows = [Row.of(in_one_line(700, (50, "a" * 28), (205, last))), Row.of(written(100, 686, "b" * 44))]
    flipped = [Row.of([replace(word, y0=-word.y1, y1=-word.y0) for word in row.words]) for row in rows]
    assert len(grouped((row, cells_of(row)) for row in flipped)) == groups


def test_a_line_far_below_a_cell_is_no_part_of_it() -> None:
    rows = [*figures(700, "Cash", "1,204"), *figures(676, "Loans", "998"), (278, 655, "sold")]
    assert read(*rows) == ["Cash | 1,204", "Loans | 998", "sold"]
    near = [*figures(700, "Cash", "1,204"), *figures(676, "Loans", "998"), (283, 666, "sold")]
    assert read(*near) == ["Cash | 1,204", "Loans | 998 sold"]


def test_cells_of_different_heights_stand_in_one_row_in_whatever_order_they_are_written() -> None:
    rows: list[Piece] = []
    for at in range(3):
        y = 700.0 - 40 * at
        rows += [(50, y, "a label of"), (50, y - 11, "three whole"), (50, y - 22, f"lines {at}"), (200, y, "one line")]
        rows += [(350, y - 5, "in the"), (350, y - 16, "middle")]
    assert read(*rows) == [f"a label of three whole lines {at} | one line | in the middle" for at in range(3)]


@pytest.mark.parametrize(("below", "is_row"), [("2,821", True), ("$2,821", True), ("11%", False), ("sold", False)])
def test_a_figure_below_a_figure_is_a_sum_unless_it_is_shorter(below: str, is_row: bool) -> None:
    rows = [*figures(700, "Cash", "1,204"), *figures(688, "Loans", "1,617")]
    got = read(*rows, (300 - width_of(below), 678, below))
    assert got[1:] == (["Loans | 1,617", below] if is_row else [f"Loans | 1,617 {below}"])


@pytest.mark.parametrize("figure", ["99,756", "(99,756)", "$99,756"])
def test_a_sum_below_the_last_column_belongs_to_the_table(figure: str) -> None:
    rows = [*figures(700, "In 2023", "1,204"), *figures(688, "Thereafter", "98,552")]
    got = tables(*rows, (300 - width_of(figure), 677, figure), (50, 640, "These are all of our debts."))
    assert got == [
        ("In 2023 | 1,204", 1), ("Thereafter | 98,552", 1), (figure, 1), ("These are all of our debts.", 0)
    ]  # fmt: skip


def test_a_figure_below_the_last_column_but_out_of_line_with_it_is_no_sum() -> None:
    rows = [*figures(700, "In 2023", "1,204"), *figures(688, "Thereafter", "98,552")]
    assert tables(*rows, (380, 677, "99,756"), (50, 640, "These are all."))[2] == ("99,756", 0)


@pytest.mark.parametrize("title", [Style(size=10, bold=True), Style(size=13)])
def test_a_title_within_a_table_stays_apart_from_the_labels_below_it(title: Style) -> None:
    below = [*figures(675, "current debts", "16", "163"), *figures(663, "other debts", "17", "164")]
    assert read(*balance(), (50.0, 675 + 12, "Debts", title), *below)[2:3] != ["Debts current debts | 16 | 163"]


def test_the_second_line_of_a_bold_cell_in_bold_continues_it() -> None:
    bold = Style(size=10, bold=True)
    rows: list[Piece] = []
    for at in range(3):
        y = 700.0 - 30 * at
        rows += [
            (50, y, "Bold label", bold),
            (50, y - 11, f"goes on {'abc'[at]}", bold),
            (250, y, "open"),
            (400, y, "17"),
        ]
    assert read(*rows) == [f"Bold label goes on {name} | open | 17" for name in "abc"]


def test_where_a_hyphen_cuts_a_word_of_a_cell_is_marked() -> None:
    words: list[Word] = []
    for at in range(2):
        y = 700 - 30 * at
        label = written(50, y, "long")
        label[-1].ends = "-"
        words += [*label, *written(50, y - 11, "term"), *written(250, y, "1,204"), *written(400, y, "17")]
    assert [line.text for line in lay_out(words, PAGE)] == [f"long{SOFT_HYPHEN}{CUT}term | 1,204 | 17"] * 2


# --- Which rows are a table -------------------------------------------------------------------------------------------


def test_a_row_of_figures_alone_is_no_table_and_two_are_one() -> None:
    assert tables(*figures(700, "Cash", "1,204", "998")) == [("Cash", 0), ("1,204", 0), ("998", 0)]
    assert {column for _, column in tables(*balance())} == {1}


def words_in(columns: list[float], *rows: tuple[str, ...], step: float = 12, top: float = 700) -> list[Piece]:
    return [(x, top - step * at, text) for at, row in enumerate(rows) for x, text in zip(columns, row, strict=True)]


ROWS = ("June", "the first of it", "open"), ("May", "all of the rest", "shut"), ("April", "no part of it", "open")


def test_words_in_columns_that_line_up_are_a_table() -> None:
    assert tables(*words_in([50, 200, 400], *ROWS)) == [(" | ".join(row), 1) for row in ROWS]


def test_words_with_room_between_them_that_never_lines_up_are_no_table() -> None:
    pieces: list[Piece] = [
        (x, 700.0 - 12 * at, text)
        for at, row in enumerate(ROWS)
        for x, text in zip([50.0, 130 + 37 * at, 300 + 53.0 * at], row, strict=True)
    ]
    assert {column for _, column in tables(*pieces)} == {0}


@pytest.mark.parametrize("edge", ["left", "right", "middle"])
def test_columns_line_up_at_the_left_the_right_or_in_the_middle(edge: str) -> None:
    share = {"left": 0.0, "middle": 0.5, "right": 1.0}[edge]
    rows = ("Ann", "gardener"), ("Berta", "cook"), ("Cleo", "clerk of the town")
    pieces: list[Piece] = []
    for at, (name, work) in enumerate(rows):
        pieces += [(50, 700.0 - 12 * at, name), (300 - share * width_of(work), 700.0 - 12 * at, work)]
    assert tables(*pieces) == [(" | ".join(row), 1) for row in rows]


@pytest.mark.parametrize(("step", "is_one"), [(12, True), (28, True), (60, False)])
def test_rows_that_are_far_from_each_other_are_no_table(step: float, is_one: bool) -> None:
    pieces = [piece for at in range(3) for piece in figures(700 - step * at, f"Item {at}", "1,204", "998")]
    assert ({column for _, column in tables(*pieces)} == {1}) is is_one


def test_titles_between_rows_of_figures_belong_to_the_table_up_to_a_limit() -> None:
    def with_titles(count: int) -> list[int]:
        titles: list[Piece] = [(50, 664.0 - 26 * at, f"{'Abc'[at % 3]}{at}:") for at in range(count)]
        return [column for _, column in tables(*balance(), *titles, *balance(664 - 26.0 * count))]

    assert with_titles(1) == [1] * 5
    assert with_titles(3) == [1] * 7
    assert with_titles(8) == [1, 1, *[0] * 8, 2, 2]


def test_a_paragraph_between_rows_of_figures_parts_two_tables() -> None:
    text = "words of a paragraph that runs on below the columns, over most of the width of the page {}"
    prose: list[Piece] = [(50, 664.0 - 12 * at, text.format(at)) for at in range(5)]
    assert [column for _, column in tables(*balance(), *prose, *balance(590))] == [1, 1, *[0] * 5, 2, 2]


def test_a_note_in_small_print_with_a_mark_ends_a_table_and_one_in_its_print_or_without_does_not() -> None:
    small = Style(size=7)
    assert [column for _, column in tables(*balance(), (50, 664, "(1) Not all.", small), *balance(640))][2] == 0
    assert [column for _, column in tables(*balance(), (50, 664, "(1) Not all."), *balance(640))][2] == 1
    assert [column for _, column in tables(*balance(), (50, 664, "Not all.", small), *balance(640))][2] == 1


def test_a_header_of_years_below_figures_begins_another_table() -> None:
    header: list[Piece] = [(50, 664, "Debts"), (280, 664, "2023"), (380, 664, "2022")]
    lines = tables(*balance(), *header, *balance(652))
    assert lines[2:] == [("Debts | 2023 | 2022", 2), ("Cash | 1,204 | 998", 2), ("Loans | 1,617 | 163", 2)]
    assert {column for _, column in tables(*balance(), *figures(664, "Debts", "17", "12"), *balance(652))} == {1}


def test_a_header_of_a_unit_below_figures_begins_another_table() -> None:
    header: list[Piece] = [(50, 664, "(in millions)"), (270, 664, "Shares"), (375, 664, "Price")]
    assert tables(*balance(), *header, *balance(652))[2] == ("(in millions) | Shares | Price", 2)
    plain: list[Piece] = [(50, 664, "Others"), (270, 664, "Shares"), (375, 664, "Price")]
    assert tables(*balance(), *plain, *balance(652))[2] == ("Others | Shares | Price", 1)


def test_a_cell_of_very_many_words_is_prose_beside_a_table() -> None:
    long: list[Piece] = []
    for at in range(3):
        long += [(300, 700.0 - 12 * (20 * at + i), "words of a column of prose that is long") for i in range(20)]
    assert {column for _, column in tables((50, 700, "A"), *long)} == {0}


def test_code_in_columns_is_no_table() -> None:
    mono = Style(size=10, mono=True)
    code: list[Piece] = [
        (x, 700.0 - 12 * at, text, mono) for at in range(3) for x, text in ((50.0, "mov"), (150.0, "1"), (250.0, "2"))
    ]
    prose: list[Piece] = [(50, 600.0 - 12 * at, "words of prose in a face that is no typewriter's") for at in range(9)]
    assert {column for _, column in tables(*code, *prose)} == {0}


@pytest.mark.parametrize("by", [(30, -200), (-20, 60)])
def test_a_table_is_the_same_wherever_it_stands(by: tuple[float, float]) -> None:
    words = words_of([*balance(), *figures(676, "Sums of all", "2,821", "1,161")])
    here = [(line.text, line.column) for line in lay_out(moved(words, by=(0, 0)), PAGE)]
    assert [(line.text, line.column) for line in lay_out(moved(words, by=by), PAGE)] == here


@pytest.mark.parametrize("scale", [0.8, 1.3])
def test_a_table_is_the_same_in_smaller_and_larger_print(scale: float) -> None:
    rows = words_in([50, 200, 400], *ROWS)
    for words in (words_of(rows), words_of([*balance(), *figures(676, "Sums", "2,821", "1,161")])):
        here = [(line.text, line.column) for line in lay_out(moved(words), PAGE)]
        bounds = (0.0, 0.0, 600 * scale, 800 * scale)
        assert [(line.text, line.column) for line in lay_out(moved(words, scale=scale), bounds)] == here


# --- Cells that run together ------------------------------------------------------------------------------------------


def test_cells_that_run_together_are_cut_where_the_other_rows_have_room() -> None:
    rows = ("Cash", "cents"), ("Loans", "euros"), ("Shares", "euros")
    long = in_one_line(
        664, (50, "Bonds of other towns"), (50 + width_of("Bonds of other towns") + 6, "dollars"), (300, "12")
    )
    words = words_of(words_in([50, 155, 300], *((*row, f"{at}7") for at, row in enumerate(rows))))
    assert [line.text for line in lay_out(words + long, PAGE)][-1] == "Bonds of other towns | dollars | 12"


def test_a_sentence_across_the_columns_of_a_table_is_not_cut_there() -> None:
    title = "All these months, open and shut in turn, as was told"
    got = tables(*words_in([50, 200, 400], *ROWS), (50, 660, title), *words_in([50, 200, 400], *ROWS[::-1], top=641))
    assert (title, 1) in got
    assert len(got) == 7


def test_a_title_in_larger_print_than_the_rows_around_it_parts_two_tables() -> None:
    def pieces(size: float) -> list[Piece]:
        title: Piece = (50, 676, "Operators", Style(size=size, bold=True))
        return [*balance(), title, *figures(660, "Not", "3", "7"), *figures(648, "And", "4", "8")]

    assert tables(*pieces(14)) == [*tables(*balance()), ("Operators", 0), ("Not | 3 | 7", 2), ("And | 4 | 8", 2)]
    assert ("Operators", 1) in tables(*pieces(11))


def test_a_period_over_the_figures_of_a_single_column_begins_another_table() -> None:
    first = [*figures(700, "Reported margin", "112"), *figures(688, "Impairment", "28"), *figures(676, "Core", "51")]
    second = [*figures(616, "Reported profit", "109"), *figures(604, "Disposals", "47"), *figures(592, "Core", "93")]
    got = tables(*first, (50, 656, "Profit"), (290, 636, "Weeks to 3/25/2023"), *second)
    assert got[3:6] == [("Profit", 0), ("Weeks to 3/25/2023", 0), ("Reported profit | 109", 2)]


def over_groups(*lines: list[tuple[float, str]]) -> list[str]:
    """The rows of a table whose header has such lines; figures end at 210, 280, 350, 420, 490 and 560."""
    pieces = [(x, 740.0 - 12 * at, text) for at, line in enumerate(lines) for x, text in line]
    rows = [("Cash", "1,204", "998", "12", "1,007", "25", "31"), ("Gold", "7", "8", "9", "10", "11", "12")]
    for at, (label, *cells) in enumerate(rows):
        y = 690.0 - 12 * at
        pieces.append((50, y, label))
        pieces += [(210 + 70 * n - width_of(cell), y, cell) for n, cell in enumerate(cells)]
    return read(*pieces)


COLUMNS = [(190.0, "Cost"), (260.0, "Gain"), (330.0, "Value"), (400.0, "Cost"), (470.0, "Gain"), (540.0, "Value")]


def test_cells_over_the_middle_columns_of_groups_head_the_groups_and_stay_apart_from_the_cells_below_them() -> None:
    assert over_groups([(260, "2023"), (470, "2022")], COLUMNS)[:2] == [
        "2023 | 2022", "| Cost | Gain | Value | Cost | Gain | Value"
    ]  # fmt: skip


def test_the_same_word_over_two_columns_is_the_first_line_of_their_headers() -> None:
    got = over_groups([(260, "Net"), (470, "Net")], COLUMNS)
    assert got[0] == "| Cost | Net Gain | Value | Cost | Net Gain | Value"


def test_a_groups_header_is_told_by_the_cells_below_it_where_the_figures_stand_further_right() -> None:
    pairs = [(152.0, "Shares"), (222.0, "Amount"), (372.0, "Shares"), (442.0, "Amount")]
    pieces: list[Piece] = [(166, 740, "Ordinary shares"), (386, 740, "Treasury shares")]
    pieces += [(x, 722, text) for x, text in pairs]
    for y, label, *cells in ((700, "June", "1,538", "$ 15", "3", "$ (29)"), (688, "July", "(25)", "7", "8", "9")):
        pieces.append((50, y, label))
        edges = (190, 290, 410, 510)
        pieces += [(edge - width_of(cell), y, cell) for edge, cell in zip(edges, cells, strict=True)]
    assert read(*pieces)[:2] == ["Ordinary shares | Treasury shares", "| Shares | Amount | Shares | Amount"]


def test_a_title_in_the_middle_of_a_table_below_its_header_is_no_part_of_the_header() -> None:
    header: list[Piece] = [(290, 740, "June 2023"), (400, 740, "May 2022"), (180, 724, "ASSETS")]
    rows = [*figures(710, "Cash", "1,204", "998"), *figures(698, "Loans", "1,617", "163")]
    assert read(*header, *rows)[:3] == ["| June 2023 | May 2022", "ASSETS", "Cash | 1,204 | 998"]


def test_years_that_begin_rows_are_labels_and_what_ends_above_them_is_their_title() -> None:
    rows = [*figures(690, "2023", "1,204", "998"), *figures(678, "2024", "1,617", "163")]
    header: list[Piece] = [(275, 724, "Loans"), (380, 724, "Leases"), (50, 708, "Year ending May 31,")]
    assert read((50, 745, "Maturities were as follows:"), *header, *rows)[:4] == [
        "Maturities were as follows:", "| Loans | Leases", "Year ending May 31,", "2023 | 1,204 | 998"
    ]  # fmt: skip


def test_the_number_of_a_section_before_its_text_makes_no_cell() -> None:
    words = in_one_line(700, (80, "2.1."), (120, "General. It applies to the retainer."))
    words += in_one_line(680, (80, "2.2."), (120, "Medium of payment. It is paid in cash."))
    assert [line.column for line in lay_out(words, PAGE)] == [0, 0]


# --- Labels that have no figures --------------------------------------------------------------------------------------


def test_labels_without_figures_have_a_row_each_if_there_was_room_for_the_next_word() -> None:
    rows = [*figures(700, "Property of the company, net", "1,204"), *figures(664, "Common stock", "17")]
    assert read(*rows[:2], (50, 688, "Commitments"), (50, 676, "Equity:"), *rows[2:]) == [
        "Property of the company, net | 1,204", "Commitments", "Equity:", "Common stock | 17"
    ]  # fmt: skip


def test_the_widest_label_ends_before_the_next_word_only_where_the_figures_begin() -> None:
    title = (50, 700.0, "Operating income or loss")
    assert read(title, *figures(688, "Cash", "1,204"), *figures(676, "Gold", "17"))[0] == title[2]
    wide = "Debt securities issued by the bank U.S."
    begin = 50 + width_of(wide) + 20
    got = read(
        (50, 700, wide), (50, 688, "Treasury"), (begin, 688, "1,204"), (50, 676, "Gold"), (begin + 15, 676, "17")
    )
    assert got[0] == f"{wide} Treasury | 1,204"


def test_places_over_which_a_cell_stands_and_of_which_no_row_has_two_are_one_column() -> None:
    header = [(297.0, 724.0, "2022"), (373.0, 724.0, "2023"), (449.0, 724.0, "2022"), (525.0, 724.0, "2023")]
    rows = [("North", "74,430", "82,546", "143,674", "159,427"), ("South", "10", "11", "9", "12")]
    pieces: list[Piece] = [*header]
    for at, (label, *cells) in enumerate(rows):
        pieces.append((50, 700.0 - 12 * at, label))
        pieces += [(335 + 76 * n - width_of(cell), 700.0 - 12 * at, cell) for n, cell in enumerate(cells)]
    assert read(*pieces)[2] == "South | 10 | 11 | 9 | 12"


def test_an_entry_of_a_table_of_contents_is_no_row() -> None:
    dots = " ".join("." * 12)
    entries: list[Piece] = [
        piece
        for at, (text, number) in enumerate((("Plums", "10"), ("Of pears", "14"), ("Of quinces", "18")))
        for piece in ((50, 700 - 12 * at, text), (200, 700 - 12 * at, dots), (400, 700 - 12 * at, number))
    ]
    in_rows = [in_one_line(y, *((x, text) for x, at, text in entries if at == y)) for y in (700, 688, 676)]
    lines = lay_out([word for row in in_rows for word in row], PAGE)
    assert [(line.text, line.column) for line in lines] == [
        (f"{text} {dots} {number}", 0) for text, number in (("Plums", "10"), ("Of pears", "14"), ("Of quinces", "18"))
    ]
    figures = [in_one_line(700 - 12 * at, (50, "Debts"), (200, dots), (400, "1,204")) for at in range(3)]
    assert all(line.column for line in lay_out([word for row in figures for word in row], PAGE))
    two = [
        in_one_line(700 - 12 * at, (50, "Plums"), (90, dots), (250, "7"), (300, "Pears"), (340, dots), (500, "9"))
        for at in range(3)
    ]
    assert all(" | " in line.text for line in lay_out([word for row in two for word in row], PAGE))


@pytest.mark.parametrize(
    ("begin", "name", "is_one"),
    [
        ("ITEM 7.", "Properties", True),
        ("Item 9A", "Controls", True),
        ("Item 7.", "14", False),
        ("Part 7.", "Bolts", False),
    ],
)
def test_the_number_and_the_name_of_an_item_are_one_cell(begin: str, name: str, is_one: bool) -> None:
    assert one_line((50, begin), (250, name)) == (f"{begin} {name}" if is_one else f"{begin} | {name}")


@pytest.mark.parametrize(("room", "label"), [(20, "Paper copy"), (60, "Copy")])
def test_signs_of_currency_behind_their_figures_stay_with_them(room: int, label: str) -> None:
    def row(y: float, name: str, price: str, total: str) -> list[Word]:
        parts = ((50, name), (250, price), (250 + 25 + room, total))
        return in_one_line(y, *((x, text) for x, text in parts if text))

    words = in_one_line(700, (50, "Item"), (250, "Price"), (275 + room, "Amount"))
    words += row(685, "Edition of May", "", "45,93 €") + row(670, label, "0,75 €", "0,75 €")
    got = [line.text for line in lay_out(words + row(655, "Proof", "3,50 €", "7,00 €"), PAGE)]
    assert got == [
        "Item | Price | Amount",
        "Edition of May | | 45,93 €",
        f"{label} | 0,75 € | 0,75 €",
        "Proof | 3,50 € | 7,00 €",
    ]


def test_the_number_of_a_sentence_is_told_from_a_cell_by_the_words_behind_it() -> None:
    assert _numbers_sentence(words_of([(52, 690, "7. 24-hour access is given to all")]))
    assert not _numbers_sentence(words_of([(52, 690, "7. 24-hour"), (300, 690, "access is given to all")]))


@pytest.mark.parametrize(
    ("title", "header"),
    [("District 2", "District 2\nCounty | Plums"), ("(more)", "District 1\nCounty | Plums")],
)
def test_a_table_on_the_next_page_keeps_its_own_title_over_the_same_names(title: str, header: str) -> None:
    before = Part("table", "District 1\nCounty | Plums\nAcre | 3", header="District 1\nCounty | Plums")
    after = Part("table", f"{title}\nCounty | Plums\nBrook | 4", header=f"{title}\nCounty | Plums")
    _carry_over([before], [after], Vocabulary())
    assert after.header == header
