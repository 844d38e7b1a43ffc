"""From boxes to blocks: rows, columns, tables, running lines, headings, paragraphs; and the frames in between."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ingest.parsing import running
from functions.ingest.parsing.footnotes import footnotes_last
from functions.ingest.parsing.headings import Heading, Headings
from functions.ingest.parsing.layout import lay_out
from functions.ingest.parsing.reflow import page_of, reflow
from functions.ingest.parsing.running import remove_running_lines
from functions.ingest.parsing.table_cells import is_number
from functions.ingest.parsing.vocabulary import Vocabulary
from functions.ingest.parsing.wire import (
    HEADER,
    Header,
    Line,
    RawPage,
    Rejected,
    pack,
    pack_header,
    pack_page,
    unpack,
)
from functions.ingest.parsing.words import SLANTING, SOFT_HYPHEN, Style, Word
from tests.support.made_pages import BODY, PAGE, Piece, figures, in_one_line, laid_out, read, width_of, written


def test_a_superscript_does_not_break_its_line() -> None:
    words = written(50, 700, "as we have shown") + written(127, 703, "2", Style(size=6)) + written(133, 700, "before.")
    assert [line.text for line in lay_out(words, PAGE)] == ["as we have shown 2 before."]


def drawn(text: str, room: float) -> list[Word]:
    """The letters of a text, each written as a line of its own, with so much room between them, in font sizes."""
    words: list[Word] = []
    x = 50.0
    for letter in text:
        if letter != " ":
            words.append(Word(letter, x, 698, x + 5, 708, BODY, "\n"))
        x += 5 + 10 * room if letter != " " else 2.5
    return words


def test_a_line_drawn_letter_by_letter_is_of_words() -> None:
    assert [line.text for line in lay_out(drawn("Project CC Nevada", 0.05), PAGE)] == ["Project CC Nevada"]
    assert [line.text for line in lay_out(drawn("a b c d e f g", 0.2), PAGE)] == ["a b c d e f g"]
    few = [*written(50, 700, "Some plain words of text"), *drawn("ab", 0.05)[1:]]
    few[-1].x0, few[-1].x1 = few[-2].x1 + 0.5, few[-2].x1 + 5.5
    assert [line.text for line in lay_out(few, PAGE)] == ["Some plain words of text b"]


def test_lines_written_in_no_order_are_sorted() -> None:
    heights = [500, 700, 300, 650, 450, 600, 350, 550, 400]
    words = [word for y in heights for word in written(50, y, f"the line at height {y} is here")]
    got = [line.text for line in lay_out(words, PAGE)]
    assert got == [f"the line at height {y} is here" for y in sorted(heights, reverse=True)]


def test_columns_of_figures_are_a_table_and_not_columns_of_prose() -> None:
    words = [
        word
        for i in range(12)
        for word in written(50, 700 - 12 * i, f"Item {i}") + written(300, 700 - 12 * i, f"{i},204")
    ]
    assert [line.text for line in lay_out(words, PAGE)] == [f"Item {i} | {i},204" for i in range(12)]


def test_a_label_of_two_lines_stands_with_its_figures() -> None:
    words = (
        written(50, 700, "Net income") + written(300, 700, "1,204") + written(400, 700, "998")
        + written(50, 688, "Total change in gains and losses on debt")
        + written(50, 676, "securities") + written(300, 676, "(3,055)") + written(400, 676, "163")
    )  # fmt: skip
    assert [line.text for line in lay_out(words, PAGE)] == [
        "Net income | 1,204 | 998",
        "Total change in gains and losses on debt securities | (3,055) | 163",
    ]


def test_a_currency_sign_begins_a_cell_however_near_the_figure_before_it_is() -> None:
    total = (50, 688, "Total"), (280, 688, "$ 6,392 $ 7,204 $ 6,795")
    assert read(*figures(700, "States", "3,861", "3,716"), *total)[-1] == "Total | $ 6,392 | $ 7,204 | $ 6,795"


def test_header_cells_of_several_lines_stand_in_one_row_in_whatever_order_they_are_written() -> None:
    assert read(
        (355, 700, "Contract"), (470, 700, "Other"),
        (50, 688, "In Millions"), (260, 688, "Severance"), (345, 688, "Termination"), (455, 688, "Exit Costs"),
        *figures(664, "Reserve in May", "73.6", "1.5", "1.4"), *figures(652, "Utilized", "86.8", "1.7", "7.1"),
    ) == [
        "In Millions | Severance | Contract Termination | Other Exit Costs",
        "Reserve in May | 73.6 | 1.5 | 1.4",
        "Utilized | 86.8 | 1.7 | 7.1",
    ]  # fmt: skip


def test_what_stands_over_several_columns_is_a_row_of_its_own_and_the_title_above_stays_outside() -> None:
    assert read(
        (50, 740, "CONSOLIDATED STATEMENTS OF INCOME"),
        (355, 700, "Fiscal Year"),
        (50, 688, "(In millions)"), (280, 688, "2022"), (380, 688, "2021"), (480, 688, "2020"),
        *figures(664, "Net sales", "18,992", "18,127", "17,626"),
        *figures(652, "Cost of sales", "12,590", "11,678", "1,496"),
    ) == [
        "CONSOLIDATED STATEMENTS OF INCOME",
        "Fiscal Year",
        "(In millions) | 2022 | 2021 | 2020",
        "Net sales | 18,992 | 18,127 | 17,626",
        "Cost of sales | 12,590 | 11,678 | 1,496",
    ]  # fmt: skip


def test_the_date_below_a_period_over_several_columns_is_part_of_it() -> None:
    assert read(
        (310, 700, "Three Months Ended"), (510, 700, "Six Months Ended"),
        (340, 688, "December 31,"), (540, 688, "December 31,"),
        (50, 664, "(In millions)"),
        (280, 664, "2022"), (380, 664, "2021"), (480, 664, "2022"), (580, 664, "2021"),
        *figures(652, "Net sales", "18,992", "18,127", "17,626", "16,204"),
        *figures(640, "Cost of sales", "12,590", "11,678", "1,496", "1,204"),
    )[:2] == [
        "Three Months Ended December 31, | Six Months Ended December 31,",
        "(In millions) | 2022 | 2021 | 2022 | 2021",
    ]  # fmt: skip


def test_a_year_over_a_year_is_a_line_of_its_header() -> None:
    assert read(
        (380, 700, "2018 versus"), (480, 700, "2017 versus"),
        (50, 688, "(Percent of sales)"), (280, 688, "2018"), (380, 688, "2017"), (480, 688, "2016"),
        *figures(664, "Cost of sales", "50.9", "50.8", "50.2"), *figures(652, "Selling", "23.2", "20.9", "21.0"),
    )[0] == "(Percent of sales) | 2018 | 2018 versus 2017 | 2017 versus 2016"  # fmt: skip


def test_header_words_over_two_columns_are_two_cells_and_a_second_header_begins_a_table() -> None:
    lines = laid_out(
        (50, 700, "(Dollars)"), (270, 700, "FISCAL 2023"), (332, 700, "FISCAL 2022"),
        (50, 688, "Europe"), (270, 688, "13,418"), (370, 688, "12,479"),
        (50, 676, "Asia"), (275, 676, "7,248"), (375, 676, "7,547"),
        (50, 664, "Provision"), (280, 652, "2023"), (380, 652, "2022"),
        (50, 640, "State"), (290, 640, "76"), (385, 640, "104"),
    )  # fmt: skip
    assert lines[0].text == "(Dollars) | FISCAL 2023 | FISCAL 2022"
    assert [(line.text, line.column) for line in lines[3:]] == [
        ("Provision", 0), ("| 2023 | 2022", 2), ("State | 76 | 104", 2)
    ]  # fmt: skip


def test_a_label_that_cannot_end_there_goes_on_in_the_row_below_unless_that_is_a_header() -> None:
    assert read(
        *figures(700, "Cash used", "1,204", "998"),
        (50, 688, "Borrowings with maturities of"), *figures(676, "90 days", "3,550", "124"),
        (50, 664, "Debt issued by the U.S."), *figures(652, "government", "16", "163"),
    )[1:] == [
        "Borrowings with maturities of 90 days | 3,550 | 124",
        "Debt issued by the U.S. government | 16 | 163",
    ]  # fmt: skip
    header = (310, 700, "May 31,"), (280, 688, "2022"), (380, 688, "2021")
    assert read(*header, *figures(676, "Sales", "3,550", "124"), *figures(664, "Cost", "16", "16"))[0] == "May 31,"


def test_a_column_with_one_figure_has_its_header_too_and_the_rows_label_as_well() -> None:
    def stack(x: float, text: str) -> list[tuple[float, float, str]]:
        words = text.split()
        return [(x, 688 + 12 * (len(words) - 1 - at), word) for at, word in enumerate(words)]

    assert read(
        (50, 688, "Periods"),
        *stack(260, "Shares Bought"), *stack(355, "Shares Bought As Part Of"), *stack(455, "Value Yet To Be Used"),
        *figures(676, "April", "38,121", "165.46"), *figures(664, "May", "21,876", "174.91"),
        *figures(652, "Total", "102,673", "170.10", "94,569"),
    )[0] == "Periods | Shares Bought | Shares Bought As Part Of | Value Yet To Be Used"  # fmt: skip


def test_header_cells_over_columns_of_words_stay_apart() -> None:
    assert read(
        (50, 688, "Declared"), (150, 688, "Record Date"), (230, 688, "Paid"),
        (350, 700, "Dividend"), (350, 688, "Per Share"), (440, 688, "Amount"),
        (50, 676, "June 2"), (150, 676, "June 9"), (230, 676, "June 30"), (360, 676, "0.75"), (445, 676, "5,573"),
        (50, 664, "May 12"), (150, 664, "May 19"), (230, 664, "May 31"), (360, 664, "0.75"), (445, 664, "5,063"),
    )[0] == "Declared | Record Date | Paid | Dividend Per Share | Amount"  # fmt: skip


def test_what_is_larger_than_a_tables_header_is_its_title() -> None:
    words = written(322, 717, "STATEMENTS OF EQUITY", Style(size=12))
    lines = (260, 700, "Shares"), (360, 700, "Capital"), (465, 700, "Total"), (265, 690, "Sold"), (365, 690, "Paid")
    rows = *lines, *figures(678, "June", "1,204", "998", "12"), *figures(666, "May", "16", "163", "14")
    words += [word for x, y, text in rows for word in written(x, y, text)]
    got = [line.text for line in lay_out(words, PAGE)]
    assert got[:2] == ["STATEMENTS OF EQUITY", "| Shares Sold | Capital Paid | Total"]


def test_a_sum_without_a_label_is_a_row_of_its_own_and_a_cut_figure_is_none() -> None:
    rows = *figures(700, "In 2023", "1,204"), *figures(688, "Thereafter", "98,552")
    total = laid_out(*rows, (270, 678, "99,756"), (50, 666, "These are our debts."))
    assert [(line.text, line.column) for line in total[1:]] == [
        ("Thereafter | 98,552", 1), ("99,756", 1), ("These are our debts.", 0)
    ]  # fmt: skip
    assert read(*rows, (270, 678, "11%"))[-1] == "Thereafter | 98,552 11%"


def test_a_figure_behind_a_bullet_begins_no_cell() -> None:
    assert read((50, 700, "•"), (72, 700, "$2 billion of notes;"), (50, 688, "•"), (72, 688, "3 more")) == [
        "• $2 billion of notes;", "• 3 more"
    ]  # fmt: skip


def test_the_spread_lines_of_a_scan_are_no_table() -> None:
    rights = "As they are", "It remains to be seen", "Since long ago no"  # each ends at 350
    spread: list[tuple[float, float, str]] = []
    for at, right in enumerate(rights):
        begin = 350 - written(0, 0, right)[-1].x1
        spread += [(50, 700 - 12 * at, "x" * int((begin - 70) / 5)), (begin, 700 - 12 * at, right)]
    assert not any(line.column for line in laid_out(*spread))


def test_the_mark_of_a_note_or_step_that_is_written_after_it_comes_before_it() -> None:
    words = written(60, 700, "Funds are short-term.") + written(54, 703, "1", Style(size=5))
    words += written(70, 680, "Open the lid and") + written(70, 668, "remove it.") + written(50, 680, "2.")
    assert [line.text for line in lay_out(words, PAGE)] == [
        "1 Funds are short-term.", "2. Open the lid and", "remove it."
    ]  # fmt: skip


def test_a_line_that_ends_where_the_engine_saw_no_end_is_no_part_of_the_next() -> None:
    words = [*written(50, 700, "Net sales"), *written(280, 700, "1,204"), *written(50, 688, "Retail")]
    for word in words:
        word.ends = ""
    assert [line.text for line in lay_out(words, PAGE)] == ["Net sales 1,204", "Retail"]


def test_a_word_on_quite_another_line_begins_one_though_the_engine_saw_no_end() -> None:
    words = [*written(60, 700, "(b) Second panel"), *written(50, 500, "Figure 3: What is drawn")]
    words[2].ends = ""
    assert [line.text for line in lay_out(words, PAGE)] == ["(b) Second panel", "Figure 3: What is drawn"]


def test_cells_that_stand_near_each_other_are_cut_where_the_other_rows_have_columns() -> None:
    rows = [(50.0, 700.0 - 12 * i, name) for i, name in enumerate(("Standard", "Basic", "Random effects model"))]
    models = [(156.0, 700.0 - 12 * i, model) for i, model in enumerate(("glm", "glm", "glmer"))]
    figures = [(250.0, 700.0 - 12 * i, str(i + 4)) for i in range(3)]
    pieces = [piece for row in zip(rows, models, figures, strict=True) for piece in row]
    assert read(*pieces) == [
        "Standard | glm | 4", "Basic | glm | 5", "Random effects model | glmer | 6"
    ]  # fmt: skip


def test_a_sentence_between_two_tables_parts_them() -> None:
    sentence = "The shareholders approved the pay of the directors of the company as follows:"
    lines = laid_out(
        *figures(700, "Agbaje", "1,005", "2,634"), *figures(688, "Bailey", "1,013", "2,341"),
        (50, 670, sentence), *figures(652, "For", "901", "8"), *figures(640, "Against", "110", "7"),
    )  # fmt: skip
    assert [(line.text, line.column) for line in lines[2:4]] == [(sentence, 0), ("For | 901 | 8", 2)]


def test_a_bold_title_in_a_table_is_no_part_of_the_label_below_it() -> None:
    words = [word for piece in figures(700, "Cash", "1,204", "998") for word in written(*piece)]
    words += written(50, 688, "LIABILITIES", Style(size=10, bold=True))
    words += [word for piece in figures(676, "Current debts", "16", "163") for word in written(*piece)]
    words += [word for piece in figures(664, "Other debts", "16", "163") for word in written(*piece)]
    got = [line.text for line in lay_out(words, PAGE)]
    assert got[1:3] == ["LIABILITIES", "Current debts | 16 | 163"]
    words = written(50, 690, "Debts", Style(size=14))
    for y, label in ((676, "straight line"), (664, "curve")):
        words += [word for piece in figures(y, label, "16", "163") for word in written(*piece)]
    words = [word for piece in figures(710, "Cash", "1,204", "998") for word in written(*piece)] + words
    assert [line.text for line in lay_out(words, PAGE)][1:3] == ["Debts", "straight line | 16 | 163"]


def test_a_note_in_small_print_ends_its_table() -> None:
    small = Style(size=7)
    words = [word for i in range(3) for piece in figures(700 - 12 * i, f"Item {i}", "998") for word in written(*piece)]
    words += written(50, 656, "(1) Without the stores.", small) + written(50, 636, "Stores")
    words += [word for i in range(2) for piece in figures(616 - 12 * i, f"Kind {i}", "17") for word in written(*piece)]
    assert [line.column for line in lay_out(words, PAGE)] == [1, 1, 1, 0, 0, 2, 2]


def test_a_caption_below_a_table_is_no_part_of_its_last_cell() -> None:
    caption = "Table 6: Results by traits in all of the"
    begin = 400 - written(0, 0, caption)[-1].x1
    rows = *figures(700, "Open", "0.83", "0.42"), *figures(688, "Closed", "0.75", "0.41")
    assert read(*rows, (begin, 678, caption))[-2:] == ["Closed | 0.75 | 0.41", caption]


def test_a_header_whose_letters_are_set_apart_makes_no_cells() -> None:
    title: list[Word] = []
    for at, name in enumerate(("GODFREY", "PHILLIPS", "INDIA")):
        title.append(Word(name, 50 + 150 * at, 690, 50 + 150 * at + 11 * len(name), 700, BODY))
    title[-1].ends = "\n"
    rows = [piece for i in range(3) for piece in figures(672 - 12 * i, f"Item {i}", "1,204", "998")]
    got = lay_out(title + [word for piece in rows for word in written(*piece)], PAGE)
    assert (got[0].text, got[0].column) == ("GODFREY PHILLIPS INDIA", 0)


def test_a_running_line_set_off_from_a_table_is_no_row_of_it() -> None:
    head = (50, 770, "Workshop on Tables, 2023,"), (450, 770, "17")
    rows = [piece for i in range(4) for piece in figures(740 - 12 * i, f"Item {i}", "1,204", "998")]
    assert [line.column for line in laid_out(*head, *rows)] == [0, 0, 1, 1, 1, 1]
    title = *figures(770, "Total of the page before", "1,204", "998"), *rows
    assert {line.column for line in laid_out(*title)} == {1}
    evenly = [piece for i in range(4) for piece in figures(770 - 25 * i, f"Item {i}", "998")]
    assert {line.column for line in laid_out(*evenly)} == {1}


def test_a_unit_of_one_column_stays_with_its_header() -> None:
    header = [
        (280, 712, "Number"), (365, 712, "Price"), (460, 712, "Value"),
        (260, 700, "(in thousands)"), (460, 700, "(in millions)"),
    ]  # fmt: skip
    rows = *figures(676, "Balance", "1,204", "7.8", "998"), *figures(664, "Granted", "16", "7.9", "163")
    assert read(*header, *rows)[0] == "| Number (in thousands) | Price | Value (in millions)"


def test_a_row_has_an_empty_cell_where_it_has_nothing_below_a_header() -> None:
    rows = [
        (50, 712, "In millions"), (290, 712, "2022"), (390, 712, "2021"), (490, 712, "Change"),
        *figures(700, "Net sales", "1,204", "998", "206"),
        (50, 688, "Segment profit"), (390, 688, "163"),
        (50, 676, "Other income"), (290, 676, "75"), (490, 676, "12"),
        (300, 664, "7,100"), (400, 664, "6,800"), (500, 664, "300"),
    ]  # fmt: skip
    assert read(*rows) == [
        "In millions | 2022 | 2021 | Change",
        "Net sales | 1,204 | 998 | 206",
        "Segment profit | | 163 |",
        "Other income | 75 | | 12",
        "| 7,100 | 6,800 | 300",
    ]


def test_the_places_of_a_row_with_empty_cells_are_those_of_its_words() -> None:
    words = [
        word
        for y, cells in ((700, ("Sales", "1,204", "998")), (688, ("Costs", "", "163")), (676, ("Tax", "4", "5")))
        for x, cell in zip((50, 300, 400), cells, strict=True)
        if cell
        for word in written(x, y, cell)
    ]
    line = lay_out(words, PAGE)[1]
    assert line.text == "Costs | | 163"
    places = reflow(RawPage(1, "", 600, 800, [line]), [], Vocabulary())[0].lines
    assert [start for start, _ in places] == [0, line.text.index("163")]


def test_places_that_no_row_has_all_of_are_no_columns() -> None:
    rows = [(50 + 40 * (i % 3), 700 - 12 * i, f"Item {i}") for i in range(6)]
    rows += [(300 + 60 * (i % 4), 700 - 12 * i, f"{i},204") for i in range(6)]
    assert not any("| |" in row or row.endswith("|") or row.startswith("|") for row in read(*rows))


def test_a_cell_in_the_middle_over_several_columns_is_above_them_and_not_in_the_one_below_it() -> None:
    rows = [piece for i in range(3) for piece in figures(664 - 12 * i, f"Item {i}", "1,204", "998", "206")]
    names = (295, 684, "Gross"), (392, 692, "Bad"), (392, 684, "debts"), (495, 684, "Net")
    assert read((377, 712, "May 28, 2022"), *names, *rows)[:2] == ["May 28, 2022", "| Gross | Bad debts | Net"]
    assert read(*names, *rows)[0] == "| Gross | Bad debts | Net"


def test_the_last_line_of_a_paragraph_is_no_label_in_the_header_below_it() -> None:
    rows = [piece for i in range(3) for piece in figures(664 - 12 * i, f"Item {i}", "1,204", "998")]
    prose = (
        (50, 712, "The table shows what we expect to pay " + "in the years that follow on " * 3),
        (50, 700, "debts:"),
    )
    lines = laid_out(*prose, (295, 686, "2022"), (395, 686, "2021"), *rows)
    assert [(line.text, line.column) for line in lines[1:3]] == [("debts:", 0), ("| 2022 | 2021", 1)]


def test_the_labels_of_a_form_stand_each_for_itself() -> None:
    fields = (50, 700, "Participant:"), (50, 688, "Grant date:"), (50, 676, "Period:"), (300, 676, "January 2020")
    lines = laid_out(*fields, (50, 664, "Amount:"), (300, 664, "1,204"), (50, 652, "Tax:"), (300, 652, "17"))
    assert [line.text for line in lines] == [
        "Participant:", "Grant date:", "Period: | January 2020", "Amount: | 1,204", "Tax: | 17"
    ]  # fmt: skip


def test_a_word_cut_by_a_narrow_cell_is_whole_again() -> None:
    words: list[Word] = []
    for i in range(3):  # cells 45 points wide hold nine letters of ten points
        y = 700 - 40 * i
        words += written(50, y, "replicati") + written(50, y - 10, "on rule") + written(300, y, f"{i},204")
    words += written(50, 580, "free") + written(50, 570, "of charge") + written(300, 580, "7")
    vocabulary = Vocabulary()
    vocabulary.add("the replication of free objects, and the charge of it")
    page = RawPage(1, "", 600, 800, lay_out(words, PAGE))
    (table,) = reflow(page, [], vocabulary)
    assert table.text.split("\n") == [*(f"replication rule | {i},204" for i in range(3)), "free of charge | 7"]


def test_a_marginal_note_written_upwards_comes_last_and_joins_nothing() -> None:
    aside = [Word("arXiv:1", 20, 300, 30, 350, Style(size=10, turn=1), "\n")]
    lines = lay_out(aside + written(50, 700, "The first line") + written(50, 688, "and the second."), PAGE)
    assert [(line.text, line.cells) for line in lines][-1] == ("arXiv:1", 0)


def test_a_watermark_across_the_page_comes_last_and_parts_no_table() -> None:
    def rows() -> list[Word]:
        return [word for i in range(6) for word in in_one_line(700 - 14 * i, (50, f"plum {i}"), (300, f"{i},204"))]

    def mark() -> Word:
        return Word("DRAFT", 100, 600, 500, 720, Style(size=50, bold=True, turn=SLANTING), "\n")

    marked = lay_out([*rows()[:6], mark(), *rows()[6:]], PAGE)
    assert (marked[-1].text, marked[-1].cells) == ("DRAFT", 0)
    assert [(line.text, line.column) for line in marked[:-1]] == [
        (line.text, line.column) for line in lay_out(rows(), PAGE)
    ]
    assert lay_out([mark()], PAGE)[0].text == "DRAFT"


@pytest.mark.parametrize("cell", ["1,234", "(56)", "$ 7.8", "12 %", "—", "-", "$(1,102)", "12.5%", "n/a", "2022"])
def test_figures_are_told_from_words(cell: str) -> None:
    assert is_number(cell)
    assert not is_number(f"{cell} units sold")


def raw(number: int, *texts: str, label: str = "") -> RawPage:
    lines = [Line(text, 50, 40 + 60 * i, 300, 50 + 60 * i, 10) for i, text in enumerate(texts)]
    return RawPage(number, label, 600, 800, lines)


def stripped(pages: Iterator[RawPage]) -> list[list[str]]:
    return [[line.text for line in page.lines] for page, _ in remove_running_lines(pages)]


FRUITS = ("apples", "pears", "plums", "grapes", "cherries", "figs", "dates", "nuts", "limes", "quinces", "berries")


def test_a_header_that_recurs_goes_even_if_left_and_right_pages_differ() -> None:
    heads = ("A Book of Fruit", "Chapter Three")
    pages = (raw(i, heads[i % 2], f"All about {fruit} and more.") for i, fruit in enumerate(FRUITS, 1))
    assert stripped(pages) == [[f"All about {fruit} and more."] for fruit in FRUITS]


def test_a_header_that_names_the_entry_goes_with_the_page_number_it_carries() -> None:
    pages = (raw(i, f"{fruit} {i + 68}", f"Words on {fruit}.", label=str(i + 68)) for i, fruit in enumerate(FRUITS))
    assert stripped(pages) == [[f"Words on {fruit}."] for fruit in FRUITS]


def test_a_header_goes_by_its_printed_number_whatever_page_that_counts_from() -> None:
    pages = (raw(i, f"{fruit} {i + 60}", f"Words on {fruit}.") for i, fruit in enumerate(FRUITS, 1))
    assert stripped(pages) == [[f"Words on {fruit}."] for fruit in FRUITS]
    heads = [f"{fruit} {7 * i % 11}" for i, fruit in enumerate(FRUITS, 1)]
    assert [texts[0] for texts in stripped(raw(i, head, "Words.") for i, head in enumerate(heads, 1))] == heads


def test_a_header_with_a_page_number_goes_where_it_was_read_as_a_row_of_the_table_below_it() -> None:
    def pages(numbers: list[int]) -> Iterator[RawPage]:
        for i, (fruit, number) in enumerate(zip(FRUITS, numbers, strict=True), 1):
            page = raw(i, f"A Book of Fruit {number}", f"Words on {fruit}.")
            if i in {4, 5}:
                page = raw(i, f"A Book of Fruit | {number}", f"Words on {fruit}.")
                page.lines[0].cells = 2
            yield page

    count = len(FRUITS)
    assert stripped(pages(list(range(60, 60 + count)))) == [[f"Words on {fruit}."] for fruit in FRUITS]
    sold = list(stripped(pages([7 * i % 11 for i in range(count)])))
    assert [texts[0] for texts in sold[3:5]] == ["A Book of Fruit | 10", "A Book of Fruit | 6"]
    same = list(stripped(pages([2026] * count)))
    assert [texts[0] for texts in same[3:5]] == ["A Book of Fruit | 2026"] * 2


def test_the_header_of_a_short_chapter_goes_where_other_pages_have_theirs() -> None:
    heads = ("Apples", "Apples", "Pears and how to grow them", "Pears and how to grow them", "Plums", "Plums")

    def pages(size: float) -> Iterator[RawPage]:
        for number, head in enumerate(heads, 1):
            page = raw(number, head, f"All about {FRUITS[number]} and more.")
            page.lines[0].size = size
            yield page

    assert stripped(pages(8)) == [[f"All about {FRUITS[i]} and more."] for i in range(1, 7)]
    assert [texts[0] for texts in stripped(pages(11))] == list(heads)


@pytest.mark.parametrize(
    ("text", "size", "on", "gone"),
    [
        ("Rev 1.20", 8, (4, 6, 8), True),
        ("Rev 1.20", 10, (4, 6, 8), False),
        ("Rev 1.20", 8, (1, 6, 11), False),
        ("Rev 1.20", 8, (4, 6), False),
        ("* Not audited", 8, (4, 6, 8), False),
        ("Source: the bank", 8, (4, 6, 8), False),
        ("It is void if the seal is broken.", 8, (4, 6, 8), False),
    ],
)
def test_the_footer_of_a_few_pages_goes_if_it_is_in_small_print(
    text: str, size: float, on: tuple[int, ...], gone: bool
) -> None:
    def page(number: int) -> RawPage:
        page = raw(number, f"All about {FRUITS[number - 1]}.")
        if number in on:
            page.lines.append(Line(text, 50, 750, 90, 750 + size, size))
        return page

    kept = [texts[1:] for texts in stripped(map(page, range(1, 12)))]
    assert kept == [[] if gone or number not in on else [text] for number in range(1, 12)]


def test_a_footer_of_two_lines_goes_with_the_printed_number_above_it_wherever_the_text_ends() -> None:
    def page(number: int) -> RawPage:
        end = 300 + 20 * (number % 5)
        lines = [Line(f"All about {FRUITS[number]}.", 50, 60, 300, 70, 10)]
        lines.append(Line(f"- {number + 40} -", 290, end, 310, end + 10, 10))
        lines.append(Line("Pension Program", 50, end + 14, 140, end + 24, 10))
        return RawPage(number + 1, "", 600, 800, lines)

    assert stripped(map(page, range(11))) == [[f"All about {fruit}."] for fruit in FRUITS]


def test_a_header_goes_where_a_chart_on_the_page_has_lettering_that_runs_upwards() -> None:
    def page(number: int) -> RawPage:
        axis = [
            Line(text, 10 * at, 5 + at, 90, 15 + at, 10, cells=0) for at, text in enumerate(("Score", "Users", "Time"))
        ]
        return RawPage(number, "", 600, 800, [*raw(number, "A Book of Fruit", f"On {FRUITS[number]}.").lines, *axis])

    assert not any("A Book of Fruit" in texts for texts in stripped(map(page, range(1, 11))))


def test_a_page_never_loses_all_its_lines() -> None:
    assert stripped(raw(i, "The same on every page") for i in range(10)) == [["The same on every page"]] * 10


def page_of_lines(number: int, *rows: tuple[str, float, float], column: int = 0) -> RawPage:
    """A page with lines of (text, y, size); the width of a line is that of its text."""
    lines = [Line(text, 50, y, 50 + 0.5 * size * len(text), y + size, size, column=column) for text, y, size in rows]
    return RawPage(number, "", 600, 800, lines)


@pytest.mark.parametrize("footer", [(), (("Acme Works", 770.0, 10.0),), (("{}", 770.0, 10.0),)])
@pytest.mark.parametrize("body", ["Old page {}. Its text.", "Page {} says hello", "Form {}", "Invoice 2020-{}"])
def test_a_page_whose_only_text_recurs_keeps_it(body: str, footer: tuple[tuple[str, float, float], ...]) -> None:
    rows = ((body, 60.0, 10.0), *footer)
    pages = [page_of_lines(i, *((text.format(i), y, size) for text, y, size in rows)) for i in range(1, 13)]
    assert all(body.format(i) in texts for i, texts in enumerate(stripped(iter(pages)), 1))


def test_a_line_that_recurs_with_figures_other_than_page_numbers_stays() -> None:
    heads = [f"Invoice {7919 * i % 1000} of 2020" for i in range(12)]
    pages = (page_of_lines(i, (head, 40, 10), (f"For {i} apples.", 400, 10)) for i, head in enumerate(heads))
    assert [texts[0] for texts in stripped(pages)] == heads


def test_a_footer_with_the_page_number_goes_though_the_printed_number_is_another() -> None:
    pages = (
        page_of_lines(i, (f"All about {fruit}.", 400, 10), (f"Acme | {i - 4}", 770, 8))
        for i, fruit in enumerate(FRUITS, 5)
    )
    assert stripped(pages) == [[f"All about {fruit}."] for fruit in FRUITS]


@pytest.mark.parametrize(("mark", "y"), [("K-17-v5", 770), ("K-17-v{}", 310)])
def test_a_page_number_goes_where_another_mark_stands_below_it(mark: str, y: float) -> None:
    pages = [
        page_of_lines(i, (fruit, 100, 10), (f"{i + 3}", 300, 10), (mark.format(i // 6), y, 8))
        for i, fruit in enumerate(FRUITS)
    ]
    assert not any(text.isdecimal() for texts in stripped(iter(pages)) for text in texts)


@pytest.mark.parametrize(("number", "is_kept"), [("- 2 -", False), ("ii", False), ("A-1", False), ("17", True)])
def test_a_lone_number_in_the_middle_below_the_text_goes_if_it_can_be_nothing_else(number: str, is_kept: bool) -> None:
    lines = [Line("An annex of one page.", 50, 100, 400, 110, 10), Line(number, 295, 500, 305, 510, 10)]
    assert stripped(iter([RawPage(1, "", 600, 800, lines)])) == [["An annex of one page.", *[number] * is_kept]]


def test_a_header_of_a_table_that_goes_on_stays_on_every_page() -> None:
    rows = [(f"Bolt {n} 40 pieces", 52.0 + 12 * n, 10.0) for n in range(30)]
    pages = [page_of_lines(i, ("Item Size Count", 40, 10), *rows) for i in range(1, 13)]
    cells = [page_of_lines(i, ("Item | Size", 40, 10), ("Bolt | 40", 400, 10), column=1) for i in range(1, 13)]
    assert all(texts[0] == "Item Size Count" and len(texts) == 31 for texts in stripped(iter(pages)))
    assert stripped(iter(cells)) == [["Item | Size", "Bolt | 40"]] * 12


def test_a_title_that_all_slides_have_stays_on_the_first() -> None:
    slides = (
        page_of_lines(i, ("Results of the year", 60, 28), (f"More {fruit}.", 400, 14)) for i, fruit in enumerate(FRUITS)
    )
    got = stripped(slides)
    assert [len(texts) for texts in got] == [2] + [1] * (len(FRUITS) - 1)


def test_a_header_whose_number_counts_goes_though_its_words_are_those_of_one_page() -> None:
    heads = ["Preface 2", "3 A Book of Fruit", "4 A Book of Fruit", "Index 5", "6 A Book of Fruit", "7 A Book of Fruit"]
    pages = [
        page_of_lines(i, (head, 30, 10), (f"All about {FRUITS[i]} and more.", 400, 10))
        for i, head in enumerate(heads, 3)
    ]
    assert [texts[0] for texts in stripped(iter(pages))] == [f"All about {FRUITS[i]} and more." for i in range(3, 9)]
    steps = (page_of_lines(i, (f"{FRUITS[i]} {i}", 30, 10), (f"More {FRUITS[-i]}.", 400, 10)) for i in range(1, 8))
    assert [len(texts) for texts in stripped(steps)] == [2] * 7


def test_a_long_number_or_capitals_tell_a_header_from_a_question() -> None:
    for head in ("{} Of plums", "{0} OF PLUMS"):
        pages = [
            page_of_lines(i, (head.format(i + 160), 30, 10), (f"All about {fruit} and more.", 400, 10))
            if i % 4
            else page_of_lines(i, (f"{i + 160} {fruit.upper()}", 30, 10), (f"All about {fruit} and more.", 400, 10))
            for i, fruit in enumerate(FRUITS, 1)
        ]
        assert stripped(iter(pages)) == [[f"All about {fruit} and more."] for fruit in FRUITS]


@pytest.mark.parametrize("head", ["{} {}", "10{} {}"])
@pytest.mark.parametrize("bare", [0, 3])
def test_titles_that_are_numbered_like_their_pages_stay(head: str, bare: int) -> None:
    names = ("INTRODUCTION", "METHODS", "RESULTS", "DISCUSSION", "CONCLUSIONS", "REFERENCES")
    titles = [head.format(i, name if head[0] == "{" else name.title()) for i, name in enumerate(names, 1)]
    numbers = [head.format(i, "").strip() for i in range(7, 7 + bare)]
    pages = [
        page_of_lines(i, (title, 30, 10), (f"All about {FRUITS[i]} and more.", 400, 10))
        for i, title in enumerate(titles + numbers, 1)
    ]
    assert [texts[0] for texts in stripped(iter(pages))][: len(titles)] == titles


@pytest.mark.parametrize(("foot", "left"), [("{} PLUM, INC.", 1), ("{} Of a plum", 2), ("{} {}", 2), ("9{} {}", 2)])
def test_a_footer_of_a_few_pages_goes_if_its_words_recur_wherever_the_text_ends(foot: str, left: int) -> None:
    feet = [(foot if i in {3, 5, 7} else "On {1} {0}").format(i, FRUITS[i].upper()) for i in range(1, 10)]
    pages = [
        page_of_lines(i, (f"All about {FRUITS[-i]} and more.", 200, 10), (line, 250 + 20 * i, 10))
        for i, line in enumerate(feet, 1)
    ]
    assert [len(texts) for texts in stripped(iter(pages))] == [1, 1, left, 1, left, 1, left, 1, 1]


def test_titles_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered: list[int] = []
    strip = running._strip

    def counted(seen: deque[running.Sides], at: int, titles: set[str], count: int) -> tuple[RawPage, list[str]]:
        page = strip(seen, at, titles, count)
        remembered.append(len(titles))
        return page

    monkeypatch.setattr(running, "MAX_TITLES", 3)
    monkeypatch.setattr(running, "_strip", counted)
    pages = [
        page_of_lines(i, (f"Chapter on {FRUITS[i // 3]}", 30, 8), (f"All about {i * i} things.", 400, 10))
        for i in range(3 * len(FRUITS))
    ]
    assert [len(texts) for texts in stripped(iter(pages))][1:] == [1] * (len(pages) - 1)
    assert max(remembered) == 3


def test_a_header_is_no_title_where_a_pages_print_is_smaller() -> None:
    pages = [
        page_of_lines(i, ("Table of Contents", 30, 8), (f"All about {fruit} and more.", 400, 6 if i == 7 else 8))
        for i, fruit in enumerate(FRUITS, 1)
    ]
    assert [len(texts) for texts in stripped(iter(pages))] == [1] * len(FRUITS)


def test_a_header_whose_number_counts_goes_however_near_the_text_is() -> None:
    pages = [
        page_of_lines(
            i,
            (f"{i} {'ON PLUMS' if i % 2 else 'ON PEARS'}", 30, 10),
            *((f"Line {at} is all about {fruit}", 42 + 12 * at, 10) for at in range(12)),
        )
        for i, fruit in enumerate(FRUITS, 1)
    ]
    assert [texts[0] for texts in stripped(iter(pages))] == [f"Line 0 is all about {fruit}" for fruit in FRUITS]


def test_questions_numbered_like_their_pages_stay() -> None:
    slides = (
        page_of_lines(i, (f"{i} The colour of {fruit}", 60, 12), ("Red? Green?", 400, 12))
        for i, fruit in enumerate(FRUITS, 1)
    )
    assert [texts[0] for texts in stripped(slides)] == [
        f"{i} The colour of {fruit}" for i, fruit in enumerate(FRUITS, 1)
    ]


TEMPLATES = (
    "Old page {}.",
    "Step {}",
    "{}",
    "The part {0} of {0} goes on as before.",
    "Total {}",
    "same on all",
    "x {} y",
)


@given(
    st.lists(st.tuples(st.sampled_from(TEMPLATES), st.integers(0, 64), st.booleans()), min_size=1, max_size=6),
    st.integers(1, 30),
    st.sampled_from(["pdfium", "pypdf"]),
)
def test_no_page_loses_all_its_words_and_no_figure_but_page_numbers_is_lost(
    rows: list[tuple[str, int, bool]], count: int, engine: str
) -> None:
    def figure(number: int, is_page_number: bool) -> int:
        return number if is_page_number else 1_000 + (number * number * 7919) % 1_009

    def page(number: int) -> RawPage:
        made = [(template.format(figure(number, is_page)), 12.0 * y, 10.0) for template, y, is_page in rows]
        made_page = page_of_lines(number, *made)
        made_page.engine = engine
        return made_page

    had = [page(number) for number in range(1, count + 1)]
    for number, texts in enumerate(stripped(page(number) for number in range(1, count + 1)), 1):
        before = [line.text for line in had[number - 1].lines]
        assert texts
        assert any(map(str.isalpha, "".join(texts))) or not any(map(str.isalpha, "".join(before)))
        lost = set(before) - set(texts)
        assert not any(len(word) == 4 and word.isdecimal() for text in lost for word in text.strip(".").split())


def test_every_page_comes_back_once_and_in_order() -> None:
    assert [page.number for page, _ in remove_running_lines(raw(i, "x", "y") for i in range(50))] == list(range(50))


def test_small_print_with_text_below_it_is_no_footnote() -> None:
    frame = [Line("It would be", 50, 520, 100, 530, 10), Line("1;0;3;0;2", 60, 540, 120, 548, 8)]
    lines = [
        *frame,
        Line("Figure 1: A grid", 320, 500, 500, 510, 10),
        Line("This is read as it is.", 50, 560, 500, 570, 10),
    ]
    assert footnotes_last(lines, 10, 800) == lines


@pytest.mark.parametrize(
    ("note", "follows"),
    [
        ("∗Both of them wrote it", True),
        ("aBoth of them wrote it", True),
        ("a Both of them wrote it", True),
        ("both of them wrote it", False),  # a word in small letters has no mark
    ],
)
def test_small_print_at_a_columns_end_moves_from_its_mark_on(note: str, *, follows: bool) -> None:
    column = [
        Line("The text, in the print of the page, ends here.", 50, 30 * at, 300, 30 * at + 10, 10) for at in range(20)
    ]
    column.append(Line("Small print", 50, 680, 300, 688, 8))
    notes = [Line(note, 50, 690, 300, 698, 8), Line("and others read it.", 50, 700, 300, 708, 8)]
    found = footnotes_last([*column, *notes, Line("Next column.", 320, 50, 500, 60, 10)], 10, 800)
    assert [line.text for line in found[-2:]] == (
        [note, "and others read it."] if follows else [notes[1].text, "Next column."]
    )


def test_a_listing_that_ends_a_column_is_no_footnote() -> None:
    column = [Line("It looks so:", 50, 600, 300, 610, 10), Line("a hq = {", 50, 700, 300, 708, 8, mono=True)]
    lines = [*column, Line("Next column.", 320, 50, 500, 60, 10)]
    assert footnotes_last(lines, 10, 800) == lines


def test_footnotes_move_behind_the_sentence_they_interrupt() -> None:
    column = [Line("The sentence goes", 50, 600, 300, 610, 10), Line("1 A note.", 50, 700, 300, 708, 8)]
    lines = [*column, Line("on in the second column.", 320, 50, 500, 60, 10)]
    assert [line.text for line in footnotes_last(lines, 10, 800)] == [
        "The sentence goes",
        "on in the second column.",
        "1 A note.",
    ]


def heading_paths(*lines: Line) -> list[str]:
    page = RawPage(1, "", 600, 800, list(lines))
    found = Headings(Header(1))
    found.learn(page)
    return [heading.path for heading in found.of(page)]


def prose(y: float) -> list[Line]:
    return [
        Line("a line of quite ordinary words that fills the page", 50, y + 12 * i, 400, y + 12 * i + 10, 10)
        for i in range(5)
    ]


def test_headings_nest_by_size_then_by_number() -> None:
    assert heading_paths(
        Line("1 Fruit", 50, 20, 100, 36, 16, True), *prose(40),
        Line("1.1 Stone fruit", 50, 110, 120, 122, 12, True), *prose(130),
        Line("1.1.1 Plums", 50, 200, 120, 212, 12, True), *prose(220),
        Line("1.2 Berries", 50, 290, 120, 302, 12, True), *prose(310),
        Line("2 Nuts", 50, 380, 120, 396, 16, True), *prose(400),
    ) == [
        "1 Fruit",
        "1 Fruit > 1.1 Stone fruit",
        "1 Fruit > 1.1 Stone fruit > 1.1.1 Plums",
        "1 Fruit > 1.2 Berries",
        "2 Nuts",
    ]  # fmt: skip


def test_a_cover_is_no_section_of_what_follows() -> None:
    cover = RawPage(1, "", 600, 800, [Line("Annual Report", 50, 20, 300, 60, 40), *prose(100)])
    inside = RawPage(2, "", 600, 800, [Line("Net Sales", 50, 20, 300, 36, 16), *prose(40)])
    found = Headings(Header(2))
    for page in (cover, inside):
        found.learn(page)
    assert [[heading.path for heading in found.of(page)] for page in (cover, inside)] == [
        ["Annual Report"],
        ["Net Sales"],
    ]


def test_a_heading_of_two_lines_is_one_and_a_contents_line_is_none() -> None:
    assert heading_paths(
        Line("On the growing of stone", 50, 20, 300, 36, 16), Line("fruit in the north", 50, 38, 300, 54, 16),
        *prose(70),
        Line("Plums . . . . . . . . . 12", 50, 140, 300, 156, 16),
    ) == ["On the growing of stone fruit in the north"]  # fmt: skip


def test_bold_lines_in_the_bodys_size_are_headings_whatever_that_size_is() -> None:
    for size in (8.8, 9.76, 9.9, 10.0, 10.24):
        body = [Line(line.text, line.x0, line.y0, line.x1, line.y1, size) for line in prose(40)]
        assert heading_paths(Line("Risk Factors", 50, 20, 150, 30, size, True), *body) == ["Risk Factors"]


def test_unnumbered_headings_belong_to_the_item_and_the_note_above_them() -> None:
    assert heading_paths(
        Line("PART I", 50, 20, 100, 30, 10, True),
        Line("Item 1. Business.", 50, 40, 150, 50, 10, True), *prose(60),
        Line("Seasonality", 50, 130, 150, 140, 10, True), *prose(150),
        Line("Item 1A. Risk Factors.", 50, 220, 150, 230, 10, True), *prose(240),
        Line("PART II", 50, 310, 100, 320, 10, True), *prose(330),
        Line("NOTE 7. Debt", 50, 400, 100, 410, 10, True), *prose(420),
        Line("CREDIT FACILITIES", 50, 490, 100, 500, 10), *prose(510),
        Line("Signatures", 50, 580, 100, 590, 10, True), *prose(600),
    ) == [
        "PART I",
        "PART I > Item 1. Business.",
        "PART I > Item 1. Business. > Seasonality",
        "PART I > Item 1A. Risk Factors.",
        "PART II",
        "PART II > NOTE 7. Debt",
        "PART II > NOTE 7. Debt > CREDIT FACILITIES",
        "Signatures",
    ]  # fmt: skip


def test_codes_and_disclaimers_in_capitals_are_no_headings() -> None:
    shouted = "THE SOFTWARE IS PROVIDED AS IT IS, WITHOUT WARRANTY OF ANY KIND, NOT EVEN THAT IT IS OF ANY USE."
    assert heading_paths(
        Line("ISBN 978-1-947172-54-8", 50, 20, 200, 30, 10), *prose(40),
        Line("GIN_BLEU_LDC", 50, 110, 200, 120, 10), *prose(130),
        Line(shouted, 50, 200, 500, 210, 10), *prose(220),
    ) == []  # fmt: skip


def test_titles_of_charts_over_small_print_are_no_sections() -> None:
    lines = [Line("Views of the economy", 50, 20, 200, 34, 14, True), *prose(40)]
    for at in (120, 240, 360):
        lines += [
            Line("Most expect it to grow", 300, at, 420, at + 13, 13, True),
            Line("% who say that it will", 300, at + 15, 400, at + 24, 9),
            *prose(at + 40),
        ]
    lines += [Line("Views of taxes", 50, 480, 200, 494, 14, True), *prose(500)]
    assert heading_paths(*lines) == ["Views of the economy", "Views of taxes"]


def test_lines_in_another_face_are_headings_where_they_stand_alone() -> None:
    assert heading_paths(
        *prose(20),
        Line("Foreign exchange risk", 50, 92, 160, 102, 10, apart=True),
        Line("It grows with what is sold abroad.", 50, 106, 300, 116, 10),
        Line("Proceedings of the Society", 50, 166, 180, 176, 10, apart=True),
        Line(", pages 6 to 9. The rest of what is told of it.", 50, 178, 300, 188, 10), *prose(190),
        Line("ITEM 7 - Discussion", 50, 272, 160, 282, 10), *prose(296),
        Line("Item 7 of this report says more about all that.", 50, 356, 300, 366, 10), *prose(368),
    ) == ["Foreign exchange risk", "ITEM 7 - Discussion"]  # fmt: skip


def test_a_line_in_which_a_sentence_goes_on_is_no_heading() -> None:
    lines = [*prose(60), Line("as was told in the Proceedings of the Conference on", 50, 500, 300, 510, 10)]
    column = Line("Empirical Methods in Natural Language Processing", 320, 60, 560, 70, 10, apart=True)
    after = Line("Pages 89 to 105.", 320, 72, 400, 82, 10)
    assert heading_paths(*lines, column, after) == []
    assert heading_paths(*prose(60), column, after) == [column.text]


def test_a_bold_line_with_a_colon_is_a_heading_unless_it_announces_a_list() -> None:
    assert heading_paths(
        *prose(20),
        Line("Integrated standards:", 50, 92, 160, 102, 10, True), *prose(106),
        Line("The parts of it are as follows:", 50, 180, 200, 190, 10, True), *prose(194),
        Line("Important note:", 50, 256, 200, 266, 10, True),
        Line("h. Diploma in education", 50, 268, 200, 278, 10, True), *prose(282),
    ) == ["Integrated standards:", "h. Diploma in education"]  # fmt: skip


def test_the_end_of_a_bold_paragraph_and_what_labels_a_table_are_no_headings() -> None:
    row = Line("Net sales | 2,300 | 2,100", 50, 191, 400, 201, 10, cells=3, column=1)
    assert heading_paths(
        *prose(20),
        Line("Nobody is obliged to read on from here, which is said in bold", 50, 92, 400, 102, 10, True),
        Line("and goes on", 50, 104, 110, 114, 10, True), *prose(120),
        Line("Expense, in Millions", 50, 180, 160, 190, 10, True), row,
        Line("Three Months Ended June 30, 2023", 50, 230, 200, 240, 10, True), *prose(244),
    ) == ["Nobody is obliged to read on from here, which is said in bold and goes on"]  # fmt: skip


def test_an_annex_in_large_print_is_not_all_headings() -> None:
    body = [Line(line.text, line.x0, line.y0, line.x1, line.y1, 8) for at in range(12) for line in prose(20 + 60 * at)]
    annex = [Line(line.text, line.x0, line.y0, line.x1, line.y1, 10) for at in range(3) for line in prose(40 + 60 * at)]
    pages = [
        RawPage(1, "", 600, 800, body),
        RawPage(2, "", 600, 800, [Line("Vesting", 50, 20, 90, 30, 10, True), *annex]),
    ]
    found = Headings(Header(2))
    for page in pages:
        found.learn(page)
    assert [[heading.path for heading in found.of(page)] for page in pages] == [[], ["Vesting"]]


def test_cells_of_one_row_and_names_of_tables_are_no_headings() -> None:
    assert heading_paths(
        *prose(20),
        Line("Table 1. Hours", 50, 92, 120, 102, 10, True),
        Line("Modes", 50, 106, 90, 116, 10, True), Line("Hours", 150, 106, 190, 116, 10, True),
        Line("Remarks", 250, 106, 300, 116, 10, True), *prose(124),
        Line("Committee", 50, 200, 120, 210, 10, True), *prose(214),
    ) == ["Committee"]  # fmt: skip


def outlined(entries: list[tuple[int, int, str]], *lines: Line) -> list[str]:
    page = RawPage(1, "", 600, 800, list(lines))
    found = Headings(Header(1, outline=entries))
    found.learn(page)
    return [heading.path for heading in found.of(page)]


def test_an_entry_of_the_outline_is_found_though_its_line_has_a_number_and_goes_on() -> None:
    entries = [(1, 1, "Data"), (1, 2, "Reading"), (1, 2, "Units")]
    lines = [
        Line("2. Data: the head of all", 50, 20, 200, 30, 10), *prose(40),
        Line("2.1. Reading figures", 50, 120, 200, 130, 10), *prose(140),
        Line("Unitswise", 50, 220, 200, 230, 10), *prose(240),
    ]  # fmt: skip
    assert outlined(entries, *lines) == ["Data", "Data > Reading"]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("The command", "`ls`"), True),
        (("Uses", "`recto list --all`", "here"), True),
        (("Type:", "`string`"), False),
        (("Returns", "`List[int]`"), False),
        (("Usage:", "`recto list --all`"), False),
        (("Description:", "`int`"), False),
        (("Note: the command", "`ls`"), True),
    ],
)
def test_a_line_of_a_label_and_code_is_not_bold(parts: tuple[str, ...], expected: bool) -> None:
    bold, code = Style(size=10, bold=True), Style(size=10, mono=True)
    words: list[Word] = []
    for part in parts:
        begin = words[-1].x1 + 2.5 if words else 50
        words += written(begin, 700, part.strip("`"), code if part[0] == "`" else bold)
    for word in words[:-1]:
        word.ends = ""
    below = [word for at in range(9) for word in written(50, 660 - 12 * at, "a line of quite ordinary words")]
    assert lay_out([*words, *below], PAGE)[0].bold is expected


def test_a_line_in_bold_with_code_in_it_is_bold() -> None:
    bold, code = Style(size=10, bold=True), Style(size=10, mono=True)
    heading = [
        *written(50, 700, "The command", bold),
        *written(113, 700, "head", code),
        *written(140, 700, "here", bold),
    ]
    for word in heading[:-1]:
        word.ends = ""
    plain = [Word(word.text, word.x0, 680, word.x1, 690, BODY if at else bold) for at, word in enumerate(heading)]
    plain[-1].ends = "\n"
    below = [word for at in range(9) for word in written(50, 660 - 12 * at, "a line of quite ordinary words")]
    assert [line.bold for line in lay_out([*heading, *plain, *below], PAGE)][:2] == [True, False]


def test_an_outline_of_one_level_is_filled_up_and_one_that_is_not_found_is_left_aside() -> None:
    lines = [
        Line("Item 1. Business", 50, 20, 200, 30, 10, True), *prose(40),
        Line("Competition", 50, 110, 150, 120, 10, True), *prose(130),
        Line("Item 2. Properties", 50, 200, 200, 210, 10, True), *prose(220),
    ]  # fmt: skip
    paths = ["Item 1. Business", "Item 1. Business > Competition", "Item 2. Properties"]
    named = [(1, 1, "Item 1. Business"), (1, 1, "Item 2. Properties"), (1, 1, "Nowhere to be seen")]
    assert outlined(named, *lines) == paths
    assert outlined([(1, 1, "Slide 1"), (1, 2, "Slide 2"), (1, 2, "Slide 3")], *lines) == paths


def made(*lines: Line, headings: tuple[Heading, ...] = ()) -> list[tuple[str, str]]:
    parts = reflow(RawPage(1, "", 600, 800, list(lines)), list(headings), Vocabulary())
    return [(part.kind, part.text) for part in parts]


def test_a_table_keeps_its_title_and_unit_as_its_header() -> None:
    rows = ["2022 | 2021", "Net sales | 18,992 | 18,127", "Cost of sales | 12,590 | 11,678"]
    lines = [
        Line("We report in U.S. dollars.", 50, 40, 560, 52, 10),
        Line("Consolidated Statements of Income", 50, 80, 260, 92, 12),
        Line("(in millions)", 50, 110, 110, 122, 10),
        *(Line(row, 50, 130 + 12 * at, 560, 142 + 12 * at, 10, cells=3, column=1) for at, row in enumerate(rows)),
    ]
    table = reflow(RawPage(1, "", 600, 800, lines), [], Vocabulary())[-1]
    assert table.header == "Consolidated Statements of Income\n(in millions)\n2022 | 2021"


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("| They are kept in a cellar until spring. | | ", "Fruit | Kept | Kilograms"),
        ("| in a cellar | per year", "Fruit | Kept | Kilograms\n| in a cellar | per year"),
    ],
)
def test_a_row_with_a_sentence_is_no_part_of_a_header(second: str, expected: str) -> None:
    rows = ["Fruit | Kept | Kilograms", second, "Plums | in a jar | 12", "Pears | in a shed | 14"]
    lines = [Line(row, 50, 130 + 12 * at, 560, 142 + 12 * at, 10, cells=3, column=1) for at, row in enumerate(rows)]
    table = reflow(RawPage(1, "", 600, 800, lines), [], Vocabulary())[-1]
    assert table.header == expected


def test_long_text_and_list_items_above_a_table_are_no_part_of_its_header() -> None:
    rows = ["2022 | 2021", "Net sales | 18,992 | 18,127", "Cost of sales | 12,590 | 11,678"]
    table = [Line(row, 50, 330 + 12 * at, 560, 342 + 12 * at, 10, cells=3, column=1) for at, row in enumerate(rows)]
    long = [
        Line("words that fill the line to its edge and go on", 50, 200 + 12 * i, 560, 210 + 12 * i, 10)
        for i in range(9)
    ]
    for above in (long, [Line("• Retail and wholesale", 50, 300, 160, 310, 10)]):
        page = RawPage(1, "", 600, 800, [*above, *table])
        assert reflow(page, [], Vocabulary())[-1].header == "2022 | 2021"


def test_a_line_in_fixed_pitch_is_code_if_it_stands_apart_and_prose_if_it_ends_a_paragraph() -> None:
    full = Line("the command is told with all that it needs to be run by", 50, 20, 400, 30, 10)
    last = Line("its.name", 50, 32, 90, 42, 10, mono=True)
    code = [Line(f"run --part {i}", 50, 60 + 12 * i, 120, 70 + 12 * i, 10, mono=True) for i in range(2)]
    after = Line("will be told in the next chapter.", 50, 110, 300, 120, 10)
    more = Line("Nothing else is needed for it to run, as far as we know.", 50, 122, 400, 132, 10)
    assert made(full, last, *code, after, more)[:2] == [
        ("paragraph", f"{full.text} its.name"), ("code", "run --part 0\nrun --part 1"),
    ]  # fmt: skip
    alone = Line("run --all", 50, 52, 95, 62, 10, mono=True)
    texts = made(full, Line("these words:", 50, 32, 110, 42, 10), alone, replace(after, y0=74, y1=84))
    assert texts[1:] == [("code", "run --all"), ("paragraph", after.text)]


def test_a_paragraph_at_the_edge_of_an_items_mark_is_no_part_of_the_item() -> None:
    item = Line("• Find what is on the screen", 50, 20, 200, 30, 10)
    prose = Line("To use it, wake the machine up and say what you would have it do", 50, 34, 400, 44, 10)
    rest = Line("for you, in a few words.", 50, 46, 180, 56, 10)
    assert [kind for kind, _ in made(item, prose, rest)] == ["list_item", "paragraph"]


def test_a_number_that_begins_a_line_inside_an_item_is_no_mark() -> None:
    item = Line("• boxes are told for each picture with a shape of (numbers,", 50, 20, 400, 30, 10)
    rest = Line("4) in the order of their corners.", 60, 32, 250, 42, 10)
    assert made(item, rest) == [("list_item", f"{item.text} {rest.text}")]


def test_centred_lines_with_room_between_them_are_not_joined() -> None:
    lines = [
        Line("Date of the report, as it was first made public", 100, 20, 500, 30, 10),
        Line("of the whole company", 220, 40, 380, 50, 10),
    ]
    assert len(made(*lines)) == 2


def test_an_indented_line_begins_a_paragraph() -> None:
    lines = [
        Line("the first paragraph fills its line to the edge and", 50, 20, 400, 30, 10),
        Line("ends on a full one, so that only the indent can say.", 50, 32, 400, 42, 10),
        Line("The second begins further right and goes on with", 65, 44, 400, 54, 10),
        Line("this.", 50, 56, 80, 66, 10),
    ]
    assert [text.split()[0] for _, text in made(*lines)] == ["the", "The"]


def test_an_entry_goes_on_in_the_lines_that_are_indented_under_its_first() -> None:
    def entry(y: float, *texts: str) -> list[Line]:
        return [
            Line(text, 50 + 12 * bool(at), y + 12 * at, 400 if at + 1 < len(texts) else 200, y + 12 * at + 10, 10)
            for at, text in enumerate(texts)
        ]

    lines = entry(20, "Oyvind Tafjord and Peter Clark. 2021.", "Proofwriter: Proofs and statements", "over language.")
    lines += entry(64, "Xuezhi Wang and Quoc V.", "Le. 2023. Chains of thought.")
    lines += entry(96, "Denny Zhou. 2023.", "Least-to-most prompting.")
    assert [text.split()[0] for _, text in made(*lines)] == ["Oyvind", "Xuezhi", "Denny"]
    signed = entry(20, "By: Luca Maestri", "Luca Maestri")
    signed[0].x1, wide = 130, Line("We sign on behalf of the registrant, who is named above.", 50, 80, 400, 90, 10)
    assert len(made(*signed, wide)) == 3


def test_a_bullet_of_symbols_that_is_read_as_a_section_sign_begins_an_item() -> None:
    lines = [
        Line(f"§ {text}", 50, 20 + 12 * at, 300, 30 + 12 * at, 10) for at, text in enumerate(("What is it?", "Why?"))
    ]
    assert [kind for kind, _ in made(*lines)] == ["list_item", "list_item"]


def test_a_dash_at_the_begin_of_a_line_is_an_item_only_in_a_list() -> None:
    sentence = [
        Line("Your refrigerator has two leveling screws in front", 50, 20, 400, 30, 10),
        Line("– one on the right and one on the left.", 50, 32, 300, 42, 10),
    ]
    assert len(made(*sentence)) == 1
    assert len(made(*sentence, Line("– a third in the middle.", 50, 44, 200, 54, 10))) == 3


def test_lines_beside_something_are_full_where_the_next_word_had_no_room() -> None:
    texts = (
        "were in favor of it, while",
        "others did not. Of the",
        "Democrats (82%) a part",
        "favored it; and all of the",
    )
    beside = Line("A chart with a title", 300, 20, 500, 60, 10)
    lines = [Line(text, 50, 20 + 12 * at, 50 + 5 * len(text), 30 + 12 * at, 10) for at, text in enumerate(texts)]
    below = Line("Republicans are divided over it, which is a line over the whole width.", 50, 68, 520, 78, 10)
    assert made(*lines, below, beside)[:1] == [("paragraph", " ".join([*texts, below.text]))]


def test_a_short_line_is_not_joined_with_one_that_begins_far_on_its_left() -> None:
    lines = [
        Line("The shape of the tensor is that of the feature map, or", 90, 20, 400, 30, 10),
        Line("half of it", 90, 32, 140, 42, 10),
        Line("valid_flags(featmap_sizes, pad_shape, device)", 50, 44, 270, 54, 10),
    ]
    assert [text.split()[0] for _, text in made(*lines)] == ["The", "valid_flags(featmap_sizes,"]


def test_notes_numbered_without_a_full_stop_are_items() -> None:
    lines = [
        Line(f"{at} Recorded with the other {fruit}.", 50, 20 + 12 * at, 220, 30 + 12 * at, 10)
        for at, fruit in enumerate(("plums", "pears", "figs"), 1)
    ]
    assert [text[0] for _, text in made(*lines)] == ["1", "2", "3"]


def test_an_item_keeps_its_second_line_and_items_stay_apart() -> None:
    lines = [
        Line("1. wash the fruit, then cut it into pieces that are", 50, 20, 400, 30, 10),
        Line("small enough", 62, 32, 120, 42, 10),
        Line("2. boil it", 50, 44, 120, 54, 10),
    ]
    assert made(*lines) == [
        ("list_item", "1. wash the fruit, then cut it into pieces that are small enough"),
        ("list_item", "2. boil it"),
    ]


def test_chinese_lines_join_without_a_space() -> None:
    lines = [Line("一九三七年八月一日关于红军", 50, 20, 200, 30, 10), Line("作战的原则。", 50, 32, 120, 42, 10)]
    assert made(*lines) == [("paragraph", "一九三七年八月一日关于红军作战的原则。")]


LINES = st.builds(
    Line,
    st.text(st.sampled_from("abcdeZ.-1 •|" + SOFT_HYPHEN + "é漢\u0301"), max_size=20),
    st.sampled_from([50.0, 62.0, 320.0]),
    st.floats(0, 700).map(lambda y: round(y, 1)),
    st.sampled_from([100.0, 300.0, 560.0]),
    st.just(710.0),
    st.sampled_from([8.0, 10.0, 16.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 1),
)


@given(st.lists(LINES, max_size=25))
def test_blocks_cover_the_text_but_for_the_separators(lines: list[Line]) -> None:
    page = RawPage(1, "", 600, 800, lines)
    headings = Headings(Header(1))
    headings.learn(page)
    result = page_of(page, reflow(page, headings.of(page), Vocabulary()), continues=False)
    at = 0
    for block in result.blocks:
        assert result.text[at : block.char_start] in ({""} if at == 0 else {"\n", "\n\n"})
        assert block.char_end > block.char_start
        at = block.char_end
    assert at == len(result.text)
    assert SOFT_HYPHEN not in result.text
    wanted = sum(c.isalnum() for line in lines for c in line.text)
    assert sum(c.isalnum() for c in result.text) <= wanted


@given(st.lists(LINES, max_size=8))
def test_a_page_survives_its_frame(lines: list[Line]) -> None:
    page = RawPage(3, "iv", 600, 800, lines, 0.5, 7, 2, 0.25)
    frame = pack_page(page)
    assert HEADER.unpack(frame[:4])[0] == len(frame) - 4
    assert unpack(frame[4:]) == page


def test_a_stored_page_may_have_fields_of_an_earlier_release() -> None:
    page = RawPage(3, "iv", lines=[Line("Drain the boiler.")])
    former = json.loads(pack_page(page)[HEADER.size :]) | {"unmapped": 2}
    assert unpack(json.dumps(former).encode()) == page


def test_headers_and_refusals_survive_their_frames() -> None:
    header = Header(2, "A title", [(1, 1, "Chapter")])
    assert unpack(pack_header(header)[4:]) == header
    assert unpack(pack("rejected", {"code": "DAMAGED", "message": "m"})[4:]) == Rejected("DAMAGED", "m")
    assert unpack(pack("done", {})[4:]) is None


@given(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from([b"[]", b"{}", b'{"kind":"page"}', b'{"kind":"x"}', b"1", b"[" * 200_000]),
    )
)
def test_nonsense_from_a_child_is_an_error_and_nothing_else(data: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(data)


def test_the_numbers_of_a_listings_lines_stand_in_another_font() -> None:
    small, fixed = Style(size=6), Style(size=10, mono=True)
    rows = [
        word
        for i, row in enumerate(["if x:", "run(x)"])
        for word in _numbered(700 - 12 * i, f"{i + 9}", row, small, fixed)
    ]
    lines = lay_out([*written(50, 740, "A line of prose that stands above."), *rows], PAGE)
    assert [(line.text, line.mono) for line in lines[1:]] == [("9    if x:", True), ("10    run(x)", True)]
    note = _numbered(700, "4", "https://example.org", small, fixed)
    assert [line.mono for line in lay_out([*written(50, 740, "A line of prose."), *note], PAGE)] == [False, False]


def _numbered(y: float, number: str, row: str, small: Style, fixed: Style) -> list[Word]:
    words = [*written(50, y, number, small), *written(72, y, row, fixed)]
    words[0].ends = ""
    return words


def test_entries_of_contents_with_and_without_dots_are_rows_of_their_own() -> None:
    words = [*_entry(700, 50, "A Chapter on Fruit and Jam"), *_entry(686, 60, "Of Pears " + ". " * 30)]
    words += [*_entry(672, 60, "Of Plums and Others " + ". " * 24), *_entry(658, 50, "A Chapter on Trees")]
    entries = _read_entries(words)
    assert entries == [
        "A Chapter on Fruit and Jam 12",
        "Of Pears 12",
        "Of Plums and Others 12",
        "A Chapter on Trees 12",
    ]


@pytest.mark.parametrize(("x", "dots"), [(50, 17), (60, 16)])
def test_an_entry_of_contents_with_dots_up_to_its_number_goes_on_in_none_below_it(x: float, dots: int) -> None:
    heads = ["A Preface", "A Chapter on Jam", "A Chapter on Trees", "An Index"]
    words = [word for at, head in enumerate(heads[:2]) for word in _entry(714 - 14 * at, 50, head, 220)]
    for at, text in enumerate(["Of Pears", "Of Plums"]):
        words += _entry(686 - 14 * at, x, text + " ." * dots, 220)
    words += [word for at, head in enumerate(heads[2:]) for word in _entry(658 - 14 * at, 50, head, 220)]
    assert _read_entries(words) == [f"{text} 12" for text in [*heads[:2], "Of Pears", "Of Plums", *heads[2:]]]


def test_dots_with_room_between_them_are_cut_into_no_columns() -> None:
    rows = [in_one_line(700 - 14 * at, (50, text), (400, "12"), (480, "7")) for at, text in enumerate(["Figs", "Jam"])]
    dots = [(77.5 + 10 * at, ".") for at in range(32)]
    led = in_one_line(672, (50, "Pears"), *dots, (395, "12"), (480, "7"))
    assert "Pears" + " ." * 32 in lay_out([*rows[0], *rows[1], *led], PAGE)[-1].text


def _entry(y: float, x: float, text: str, number_at: float = 400) -> list[Word]:
    words = [*written(x, y, text), *written(number_at, y, "12")]
    words[-2].ends = ""
    return words


def _read_entries(words: list[Word]) -> list[str]:
    return [line.text.replace(" .", "").replace(" | ", " ").removesuffix(" |") for line in lay_out(words, PAGE)]


def test_a_listing_that_fills_its_page_is_told_from_a_typewritten_page_by_its_numbers() -> None:
    fixed = Style(size=10, mono=True)
    rows = [written(50, 700 - 12 * i, f"{i + 640} call(it)", fixed) for i in range(24)]
    assert all(line.mono for line in lay_out([word for row in rows for word in row], PAGE))
    rows = [written(50, 700 - 12 * i, f"{i:o} call(it)", fixed) for i in range(24)]  # a table of octal codes
    assert not any(line.mono for line in lay_out([word for row in rows for word in row], PAGE))


@pytest.mark.parametrize(
    ("row", "is_code"),
    [
        ("#define PLUMS 1", True), ("/* the plums of it */", True), ("// plums of it", True), ("<li>Plums", True),
        ("plums are stone fruit", False), ("# 12 plums", False), ("<3 plums of it", False),
    ],
)  # fmt: skip
def test_a_listing_that_fills_its_page_is_told_by_how_its_lines_begin_and_end(row: str, *, is_code: bool) -> None:
    fixed = Style(size=10, mono=True)
    words = [word for i in range(24) for word in written(50, 700 - 12 * i, row if i % 2 else "plums of it", fixed)]
    assert all(line.mono is is_code for line in lay_out(words, PAGE))


@pytest.mark.parametrize(
    ("typed", "is_code"), [("> plot(plums)", True), ("R> plums <- 2", True), ("> plums of it", False)]
)
def test_a_page_in_fixed_pitch_on_which_something_is_typed_is_a_listing(typed: str, *, is_code: bool) -> None:
    fixed = Style(size=10, mono=True)
    words = [word for i in range(24) for word in written(50, 700 - 12 * i, "plums" if i % 12 else typed, fixed)]
    assert all(line.mono is is_code for line in lay_out(words, PAGE))


@pytest.mark.parametrize(
    ("header", "size", "goes"),
    [("Plums {}", 9.0, True), ("Plums {}", 18.0, False), ("Pears {}", 9.0, False)],
)
def test_a_header_that_repeats_the_title_below_it_goes(header: str, size: float, *, goes: bool) -> None:
    rows = [(header.format(name), 30.0, size) for name in ("of it", "and figs", "again", "in jars")]
    titles = [(f"Plums {name}", 60.0, 18.0) for name in ("of it", "and figs", "again", "in jars")]
    text = [
        (f"Some words about {fruit} and how they are sold.", 120.0 + 14 * i, 10.0) for i, fruit in enumerate(FRUITS)
    ]
    pages = [page_of_lines(7 * i, row, head, *text) for i, (row, head) in enumerate(zip(rows, titles, strict=True), 1)]
    left = [len(texts) - len(FRUITS) for texts in stripped(iter(pages))]
    assert left == [1 if goes else 2] * 4


@pytest.mark.parametrize("by_ocr", [True, False])
def test_a_header_that_ocr_has_misread_on_a_page_goes_with_the_others(by_ocr: bool) -> None:
    heads = ["The siege of Orviedo"] * 3 + ["Tbe siege of Orvledo"] + ["The siege of Orviedo"] * 4
    pages = [
        page_of_lines(i, (head, 30, 10), (f"All about {fruit}.", 400, 10))
        for i, (head, fruit) in enumerate(zip(heads, FRUITS, strict=False), 1)
    ]
    for page in pages:
        page.ocr = by_ocr
    left = [texts[0] for texts in stripped(iter(pages)) if texts[0].startswith("T")]
    assert left == ([] if by_ocr else ["Tbe siege of Orvledo"])


def test_signs_of_fonts_of_lines_and_arcs_are_no_text() -> None:
    corner, word = Style(size=10, face="LCIRCLE10"), Style(size=10, face="line10")
    words = [*written(50, 720, "☛ ✟", corner), *written(50, 700, "plums in a frame"), *written(50, 680, "✘the", word)]
    assert [line.text for line in lay_out(words, PAGE)] == ["plums in a frame", "✘the"]


BOLD = Style(size=10, bold=True)


def headers_of(*rows: tuple[tuple[str, Style], ...]) -> list[str]:
    """The headers of the tables that rows of cells make."""
    words = [
        word
        for at, row in enumerate(rows)
        for word in in_one_line(700 - 14 * at, *((50 + 150 * n, text) for n, (text, _) in enumerate(row)))
    ]
    styles = [style for row in rows for text, style in row for _ in text.split()]
    for word, style in zip(words, styles, strict=True):
        word.style = style
    page = RawPage(1, "", 600, 800, lay_out(words, PAGE))
    return [part.header for part in reflow(page, [], Vocabulary()) if part.kind == "table"]


def test_a_first_row_printed_as_those_below_it_is_no_header() -> None:
    labels = [("Colour", "Light grey"), ("Price", "High enough"), ("Soil", "Peat or sand"), ("Place", "Half shade")]
    assert headers_of(*(((label, BOLD), (value, BODY)) for label, value in labels)) == [""]
    assert headers_of(*(((label, BODY), (value, BODY)) for label, value in labels)) == ["Colour | Light grey"]
    counted = [
        (("Fruit", BOLD), ("Count", BODY)),
        *(((name, BOLD), (str(at), BODY)) for at, (name, _) in enumerate(labels)),
    ]
    assert headers_of(*counted) == ["Fruit | Count"]


def test_names_of_columns_that_nearly_touch_are_parted_where_the_columns_are() -> None:
    bold, plain = Style(size=10.9, bold=True), Style(size=10.9)
    spans: list[tuple[float, float, str]] = []
    for name in ("First Name", "Surname", "Assignment 1", "Assignment 2", "Average"):
        start = spans[-1][1] + 12 if spans else 95
        spans.append((start, start + width_of(name, bold), name))
    pieces: list[Piece] = [(start, 700, name, bold) for start, _, name in spans]
    for at, name in enumerate(("Rix", "Brown", "Smith", "Adams")):
        y = 686 - 13.5 * at
        pieces += [(spans[0][0], y, "Jane", plain), (spans[1][0], y, name, plain)]
        pieces += [(end - width_of("87", plain), y, f"8{at}", plain) for _, end, _ in spans[2:]]
    assert read(*pieces)[0] == "First Name | Surname | Assignment 1 | Assignment 2 | Average"


def test_the_number_of_an_empty_line_is_of_the_listing() -> None:
    code = [
        Line(text, 50, 20 + 12 * at, 200, 30 + 12 * at, 10, mono=text != "3")
        for at, text in enumerate(("1 begin", "2 plums()", "3", "4 end"))
    ]
    parts = reflow(RawPage(1, "", 600, 800, code), [], Vocabulary())
    assert [(part.kind, part.text) for part in parts] == [("code", "1 begin\n2 plums()\n3\n4 end")]


def test_a_line_of_code_and_text_has_the_size_of_its_text() -> None:
    code = Style(size=8, mono=True)
    (line,) = lay_out([*written(50, 700, "See"), *written(75, 700, "/usr/share/common/settings.ini", code)], PAGE)
    assert (line.size, line.mono) == (10, False)


def test_a_line_of_thousands_of_digits_is_no_number_of_a_line() -> None:
    code = [
        Line(text, 50, 20 + 12 * at, 200, 30 + 12 * at, 10, mono=at != 1) for at, text in enumerate(("1" * 5_000, "12"))
    ]
    parts = reflow(RawPage(1, "", 600, 800, code), [], Vocabulary())
    assert "".join(part.text for part in parts).startswith("1" * 5_000)
