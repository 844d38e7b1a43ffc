"""Tables are read from stored text: rows, columns with their names, scale."""

from decimal import Decimal

import pytest

from functions.query.grounding.table_cells import figures_of, is_figure, may_name
from functions.query.grounding.tables import Table, row_text, tables_in

QUARTER = """The following table shows sales by region (dollars in millions):

Three Months Ended | Six Months Ended
June 30, | July 1, | June 30, | July 1,
2023 | 2022 | 2023 | 2022
North | $ 1,200 | $ 1,000 | $ 2,500 | $ 2,100
South | 300 | (40) | 650 | 10
Total | $ 1,500 $ 960 $ 3,150 $ 2,110"""


def only(text: str) -> Table:
    (table,) = tables_in(text)
    return table


def test_names_over_several_columns_and_lines_are_joined():
    assert only(QUARTER).columns == (
        "Three Months Ended June 30, 2023",
        "Three Months Ended July 1, 2022",
        "Six Months Ended June 30, 2023",
        "Six Months Ended July 1, 2022",
    )


def test_dates_alone_below_the_names_belong_to_them_also_where_most_rows_have_no_figures():
    table = only(
        "| For the year ended | Rupees For the year ended\n| 31.3.2003 | 31.3.2002\nDividend | 1767.80 | 1923.78\n"
        "For A.F. & Co., | Director | Chairman\nJ.M. Seth | Partner | Member\nLalit Bha | Chief | President"
    )
    assert table.columns == ("For the year ended 31.3.2003", "Rupees For the year ended 31.3.2002")


def test_the_sides_of_a_thing_are_one_cell():
    assert list(figures_of("640 x 480")) == ["640 x 480"]
    assert list(figures_of("$ 11,715 $ 18,353")) == ["$ 11,715", "$ 18,353"]
    table = only("Signal | Rate (Hz) | DVI\n640 x 480 | 60 | ✔\n800 x 600 | 72 | ✔\n480P | 75 | ✔")
    assert [row.label for row in table.rows] == ["640 x 480", "800 x 600", "480P"]


def test_years_may_stand_below_the_scale():
    table = only(
        "Three Months Ended June 30, | Six Months Ended June 30,\n(In thousands)\n| 2023 | 2022 | 2023 | 2022\n"
        "Rooms | 706 | 696 | 1,458 | 1,181\nFood | 598 | 560 | 1,181 | 945"
    )
    assert table.columns == (
        "Three Months Ended June 30, 2023",
        "Three Months Ended June 30, 2022",
        "Six Months Ended June 30, 2023",
        "Six Months Ended June 30, 2022",
    )
    assert (table.scale, [row.label for row in table.rows]) == (1_000, ["Rooms", "Food"])


def test_figures_that_share_a_cell_are_told_apart():
    assert [cell.text for cell in only(QUARTER).rows[2].cells] == ["$ 1,500", "$ 960", "$ 3,150", "$ 2,110"]


def test_a_caption_tells_the_scale():
    assert only(QUARTER).scale == 1_000_000
    assert only("Size | 2023 | 2022\nSmall | 5 | 6\nLarge | 7 | 8").scale is None


@pytest.mark.parametrize(
    "caption", ["(In thousands, except per share data)", "$ in thousands", "(Thousands)", "tūkst. (EUR thousands)"]
)
def test_scales_are_read_in_any_way_of_writing(caption: str):
    assert only(f"{caption}\n\n2023 | 2022\nSales | 5 | 6\nCosts | 7 | 8").scale == 1_000


def test_brackets_and_signs_make_a_figure_negative():
    row = only("2023 | 2022 | Change\nSales | (5) | 6 | (17)%\nCosts | -7 | $ (8) | 14 %").rows
    assert [[cell.negative for cell in each.cells] for each in row] == [[True, False, True], [True, True, False]]
    assert [cell.unit for cell in row[0].cells] == ["", "", "percent"]


def test_columns_are_named_by_the_periods_above_where_the_cells_of_the_head_were_lost():
    table = only(
        "Three Months Ended December 31, 2022\n\nDecember 25,\n\n2021 | Change\n"
        "Pens | $ 65 | $ 71 | (8)%\nInk | 7 | 10 | (30)%"
    )
    assert table.columns == ("December 31, 2022", "December 25, 2021", "Change %")


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        ("Years Ended | 2022 | 2021 | 2022 vs. 2021", ("2022", "2021", "Change")),
        ("Three Months Ended | 2022 | 2021 %\nChange", ("2022", "2021", "Change %")),
        ("Kind | Share (%)\n1-step | 2-step | 3-step", ("Share (%) 1-step", "Share (%) 2-step", "Share (%) 3-step")),
    ],
)
def test_a_corner_over_the_labels_names_no_column(head: str, columns: tuple[str, ...]):
    assert only(f"{head}\nSales | 145 | 273 | (47)%\nCosts | 19 | 51 | (62)%").columns == columns


def test_models_name_columns():
    table = only("Monitor\nM270-XX | M320-XX\n\nSize | 27 in | 32 in\nWeight | 5.1 kg | 7.4 kg")
    assert table.columns == ("M270-XX", "M320-XX")
    assert table.rows[1].cells[1].values == {Decimal("7.4")}
    assert table.rows[1].cells[1].unit == "kg"


def test_a_table_goes_on_with_its_columns_after_an_interruption():
    text = "2023 | 2022\nSales | 5 | 6\nCosts | 3 | 4\n\nOther items\n\nTaxes | 1 | 2\nInterest | 7 | 8"
    assert [table.columns for table in tables_in(text)] == [("2023", "2022")] * 2


def test_another_head_begins_another_table():
    text = "2023 | 2022\nSales | 5 | 6\nCosts | 3 | 4\nJune 2023 | June 2022\nSales | 1 | 2\nCosts | 7 | 8"
    assert [table.columns for table in tables_in(text)] == [("2023", "2022"), ("June 2023", "June 2022")]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # What stands between label and figures belongs to the label, unless it has a name of its own.
        ("2023 | 2022\nRevenue | Note 4 | 1,010 | 990\nProfit | Note 6 | 810 | 805", ("2023", "2022")),
        ("Part | Number | Price\nCage | 640-118 | €19\nFilter | 640-204 | €14", ("Number", "Price")),
        # A second row of names, above figures.
        (
            "Actual | Budget | Forecast\nItem | 2023 | 2023 | 2024\nSales | 100 | 120 | 130\nCosts | 1 | 2 | 3",
            ("Actual 2023", "Budget 2023", "Forecast 2024"),
        ),
    ],
)
def test_which_cells_are_values_is_told_by_their_names(text: str, columns: tuple[str, ...]):
    assert only(text).columns == columns


def test_a_head_that_is_repeated_overleaf_names_the_columns_once():
    text = "| Metro | Fold\nMetro | Fold\nWeight | 19.8 kg | 16.4 kg\nWheels | 28 in | 16 in"
    assert only(text).columns == ("Metro", "Fold")


def test_a_line_over_some_rows_is_their_group():
    rows = only("2023 | 2022\nPer share:\nBasic | 1.5 | 1.4\nDiluted | 1.3 | 1.2\nShares:\nBasic | 15 | 14").rows
    assert [(row.group, row.label) for row in rows] == [
        ("Per share:", "Basic"),
        ("Per share:", "Diluted"),
        ("Shares:", "Basic"),
    ]


def test_a_row_with_lost_cells_has_no_columns():
    rows = only("A | B | C\nFirst | 1 | 2 | 3\nSecond | 4 | 5\nThird | 6 | 7 | 8").rows
    assert [cell.column for cell in rows[1].cells] == [None, None]


@pytest.mark.parametrize("cell", ["1,234", "$ 7.8", "(29)%", "(13 )", "—", "$ —", "12 %", "3.5 years", "n/a", "1 234"])
def test_figures(cell: str):
    assert is_figure(cell)


@pytest.mark.parametrize("cell", ["2022", "Mac", "18–29 years old", "Level 1", "3840 x 2160", "16:9", ""])
def test_no_figures(cell: str):
    assert not is_figure(cell)


def test_prose_holds_no_table():
    assert tables_in("Sales rose.\n\nCosts fell to 5 (in millions).") == ()


@pytest.mark.parametrize(
    ("table", "row", "expected"),
    [
        ("Fuel | Unit\nDiesel | 48,000", "Diesel", "Fuel: Diesel; Unit: 48,000"),
        (
            "Role | Lists | Deletes\nGuest | Yes | No\nOwner | Yes | Yes",
            "Guest",
            "Role: Guest; Lists: Yes; Deletes: No",
        ),
        ("In call | Silent\nSyncing | Failed", "Syncing", "Syncing; Failed"),
        ("Fuel | Unit\nDiesel | 48,000 | more", "Diesel", "Diesel; 48,000; more"),
        ("l | Keep the door shut.", "l |", "Keep the door shut."),
        # Empty cells keep what follows under its own name.
        (
            "| 2022 | 2021 | Change\nSales | 1,204 | | 206\nCosts | 17 | 16 | 1",
            "Sales",
            "Sales; 2022: 1,204; Change: 206",
        ),
        ("| 2022 | 2021\nSales | 1,204 | 998\nTax | | 17", "Tax", "Tax; 2021: 17"),
        # Names over two lines, without one for the labels; words under words name nothing.
        (
            "In 2003 | In 2002\n(audited) | (restated)\nPaid | 19 | 16",
            "Paid",
            "Paid; In 2003 (audited): 19; In 2002 (restated): 16",
        ),
        (
            "Tool | Cost | Rev 1.0 | Rev 2.0\nTug | 3 | No | Yes\nTow | 4 | Yes | Yes",
            "Tug",
            "Tool: Tug; Cost: 3; Rev 1.0: No; Rev 2.0: Yes",
        ),
        ("Signs\nIn call | Silent mode\nSyncing failed | NFC enabled", "Syncing", "Syncing failed; NFC enabled"),
        # Models as columns, without a name above the labels; cells of words, and of figures that differ in form.
        (
            "Eco | Quick | Glass\nTime | 3 h 35 min | 29 min | 88 min\nDrying | yes | no | yes",
            "Drying",
            "Drying; Eco: yes; Quick: no; Glass: yes",
        ),
        (
            "Eco | Quick | Glass\nTime | 3 h 35 min | 29 min | 88 min\nDrying | yes | no | yes",
            "Time",
            "Time; Eco: 3 h 35 min; Quick: 29 min; Glass: 88 min",
        ),
        (
            "Metro | Trail | Fold\nBrakes | disc | disc, 4 pistons | rim\nSeat | yes, one | no | none",
            "Seat",
            "Seat; Metro: yes, one; Trail: no; Fold: none",
        ),
        # Versions, and what is measured, in brackets, may stand in a header.
        (
            "System | 6.8 LTS | 7.4\nServer 2016 | Supported | Removed\nServer 2022 | Supported | Supported",
            "Server 2016",
            "Server 2016; 6.8 LTS: Supported; 7.4: Removed",
        ),
        ("Years | Hours (37.5 h week)\n0 to 2 | 187.5", "0 to 2", "Years: 0 to 2; Hours (37.5 h week): 187.5"),
        ("Weight | 7.2 | 7.4\nHeight | 3.1 | 4.2", "Height", "Height; 3.1; 4.2"),
        ("Anna | sales | Oslo\nTom | legal | Rome\nEva | tax | Bonn", "Tom", "Tom; legal; Rome"),
        ("Monday | closed | open\nTuesday | open | closed", "Tuesday", "Tuesday; open; closed"),
        # A row of words above others is no header if its cells are long, or alike.
        (
            "Heater fault | Call us; wash cold\nE9 | A key was pressed | Wipe it\nE7 | Salt is low | 12",
            "E9",
            "E9; A key was pressed; Wipe it",
        ),
        ("Sign | What | Sign | What\nStar | On | Ring | Off", "Star", "Star; On; Ring; Off"),
    ],
)
def test_a_row_is_told_with_the_names_of_its_columns_where_they_are_clear(table: str, row: str, expected: str):
    start = table.index(row)
    end = table.find("\n", start)
    assert row_text(table, start, end if end >= 0 else len(table)) == expected


@pytest.mark.parametrize(
    ("cell", "is_name"),
    [
        ("Litres", True), ("2023", True), ("March 2023", True), ("M270-XX", True),
        ("—", False), ("48,000", False), ("Litres " * 60, False),
    ],
)  # fmt: skip
def test_a_column_is_named_by_words_a_period_or_a_model(cell: str, *, is_name: bool):
    assert may_name(cell) is is_name


@pytest.mark.parametrize(
    ("text", "captions"),
    [
        ("Fuel:\n\nDiesel | 48\nPetrol | 19\n\nOil | 7\nWax | 3", ["Fuel:", "Fuel:"]),
        (
            "Fuel:\n\nKind | 2022 | 2021\nDiesel | 48 | 40\n\nKind | 2020 | 2019\nOil | 7 | 6",
            ["Fuel:\nKind", "Kind"],
        ),
        (
            "Fuel:\n\nDiesel | 48\nPetrol | 19\n\nIt is kept in the shed.\n\nOil | 7",
            ["Fuel:", "It is kept in the shed."],
        ),
    ],
)
def test_a_caption_is_that_of_further_rows_but_not_of_a_table_with_names_of_its_own(text: str, captions: list[str]):
    assert [table.caption for table in tables_in(text)] == captions


def test_a_row_with_numbers_in_its_words_names_columns_of_bare_figures() -> None:
    (table,) = tables_in("Herd | 20 ha | Rate per 1,000 | Fenced\nHill | 12 (4.5) | 31 | 9\nBrook | 8 (2.0) | 27 | 6")
    assert table.columns == ("20 ha", "Rate per 1,000", "Fenced")
    assert [cell.text for cell in table.rows[0].cells] == ["12 (4.5)", "31", "9"]


def test_a_first_row_with_units_names_no_columns() -> None:
    (table,) = tables_in("Flour | 500 g | 1 kg\nEggs | 3 | 6\nLemons | 2 | 4")
    assert table.columns == ()
    assert [row.label for row in table.rows] == ["Flour", "Eggs", "Lemons"]


def test_times_are_the_labels_of_a_timetable() -> None:
    (table,) = tables_in("Time | Monday | Tuesday\n9.00 | Painting | Clay\n10.30 | Break | Break\n11.00 | Clay | Choir")
    assert table.columns == ("Monday", "Tuesday")
    row = table.rows[0]
    assert (row.label, table.name_of(row.cells[1]), row.cells[1].text) == ("9.00", "Tuesday", "Clay")


def test_years_in_two_parts_are_one_name_below_groups_of_unequal_width():
    text = "Loans | Visits\nBranch | 2021–22 | 2022–23 | 2021–22 | 2022–23 | Rooms, 2022–23\n"
    text += "Quay | 812 | 900 | 77 | 81 | 3\nHill | 640 | 655 | 50 | 49 | 2"
    names = ("Loans 2021–22", "Loans 2022–23", "Visits 2021–22", "Visits 2022–23", "Visits Rooms, 2022–23")
    assert only(text).columns == names


def test_a_group_that_is_the_only_one_names_no_columns():
    text = "Loans | 2021–22 | 2022–23\nQuay | 812 | 900\nHill | 640 | 655"
    assert only(text).columns == ("2021–22", "2022–23")


@pytest.mark.parametrize(
    ("head", "row", "columns"),
    [
        (
            " | 2023 | 2024\nShop | Q3 | Q4 | Q1 | Q2 | Q3",
            "Leeds | 410 | 425 | 390 | 433 | 441",
            ("2023 Q3", "2023 Q4", "2024 Q1", "2024 Q2", "2024 Q3"),
        ),
        (
            " | 2023 | 2024\nShop | Q4 | Q1 | Q2 | Q3",
            "Leeds | 410 | 425 | 390 | 433",
            ("2023 Q4", "2024 Q1", "2024 Q2", "2024 Q3"),
        ),
        (
            " | 2024 | 2025\nTown | November | December | January | February | November",
            "Bath | 61 | 66 | 70 | 74 | 79",
            ("2024 November", "2024 December", "2025 January", "2025 February", "2025 November"),
        ),
    ],
)
def test_a_group_begins_where_the_year_does(head: str, row: str, columns: tuple[str, ...]):
    assert only(f"{head}\n{row}\n{row.replace(row.split()[0], 'York')}").columns == columns


@pytest.mark.parametrize(
    "head", [" | 2024 | 2025\nPlant | Q4 | Q1 | Q2", "Region | 2023 | 2024\nArea | Spring | Spring | Autumn"]
)
def test_a_year_above_the_wrong_column_is_in_no_name(head: str):
    columns = only(f"{head}\nDerby | 71 | 64 | 69\nHull | 70 | 61 | 60").columns
    assert columns[1:2] not in {("2024 Q1",), ("2023 Spring",)}


def test_a_telephones_number_is_one_cell_and_a_number_of_three_parts_is_not():
    rows = only("2023 | 2022\nDesk | 0117 496 0640 | 5\nHelp | 12 | 8").rows
    assert rows[0].cells[0].text == "0117 496 0640"
    assert figures_of("0123 12 5") == ["0123", "12", "5"]
    assert figures_of("(0117) 496 0640") == ("(0117) 496 0640",)


def test_two_figures_that_belong_together_are_one_cell_below_names():
    rows = only(
        "Harm | Low dose (n=40) | High dose (n=41)\nRash | 12 (30.0) | 14 – 16\n"
        "Cough | 2 (5.0) | 3.1 ± 0.4\nFever | 1 (2.5) | 0"
    ).rows
    assert [cell.text for cell in rows[0].cells] == ["12 (30.0)", "14 – 16"]
    assert [cell.text for cell in rows[1].cells] == ["2 (5.0)", "3.1 ± 0.4"]


def test_figures_of_several_columns_in_one_cell_are_apart_without_names():
    rows = only("2023 | 2022\nSales | 11,715 18,353\nCosts | 12 | (8)").rows
    assert [[cell.text for cell in row.cells] for row in rows] == [["11,715", "18,353"], ["12", "(8)"]]


def test_a_row_of_figures_with_their_units_names_nothing():
    assert only("Leeds | 40 miles | 50 min\nYork | 22 | 31\nHull | 60 | 75\nRipon | 9 | 14").rows[0].label == "Leeds"


def test_a_telephone_number_is_one_cell():
    row = only("For | Call | When\nRepairs | 0131 555 0172 | Mon to Fri\nRent | office | any day").rows[0]
    assert [cell.text for cell in row.cells] == ["0131 555 0172", "Mon to Fri"]


def test_a_column_of_notes_besides_years_has_its_name():
    text = "(in thousands) | Note | 2021 | 2020\nFares | 4 | 61 | 58\nFuel | | (9) | (8)\nStaff | 6 | (30) | (31)"
    assert only(text).columns == ("Note", "2021", "2020")


def test_rows_of_dates_are_no_heads():
    text = "Term | Begins | Ends\nAutumn | 4 September | 15 December\nSpring | 8 January | 22 March\n"
    text += "Summer | 9 April | 12 July\nHarvest | 1 August | 9 August\nCamp | 12 August | -"
    table = only(text)
    assert table.columns == ("Begins", "Ends")
    assert [row.label for row in table.rows] == ["Autumn", "Spring", "Summer", "Harvest", "Camp"]


def test_a_second_column_of_labels_names_the_rows_that_the_first_does_not_tell_apart():
    repeated = only("Parish | Mill | 2019 | 2020\nAsh | Upper | 31 | 40\nAsh | Lower | 12 | 9\nElm | Ford | 7 | 8")
    assert repeated.columns == ("2019", "2020")
    assert [(row.group, row.label) for row in repeated.rows] == [("Ash", "Upper"), ("Ash", "Lower"), ("Elm", "Ford")]
    assert [cell.column for cell in repeated.rows[1].cells] == [0, 1]
    empty = only("| | Flour | Bran\nAsh | Upper | 31 | 40\n| Lower | 12 | 9\nElm | Ford | 7 | 8\nAll | | 50 | 57")
    assert [(row.group, row.label) for row in empty.rows] == [
        ("Ash", "Upper"),
        ("Ash", "Lower"),
        ("Elm", "Ford"),
        ("", "All"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        # The first column tells the rows apart; the second one does not, either; no figures stand behind it.
        "Mill | Parish | 2019\nUpper | Ash | 31\nLower | Ash | 12\nFord | Elm | 7",
        "Parish | Use | 2019\nAsh | Corn | 31\nAsh | Corn | 12\nElm | Corn | 7",
        "Day | Class | Room\nMonday | Yoga | Hall\nMonday | Chess | Loft\nFriday | Judo | Hall",
    ],
)
def test_a_column_of_words_is_no_label_where_it_tells_nothing_more(text: str):
    assert only(text).rows[0].label == text.split("\n")[1].split(" | ")[0]
    assert len(only(text).columns) == 2


def test_a_row_without_names_of_its_columns_is_told_with_both_labels():
    text = "2019 | 2020\nAsh | Upper | 31 | 40\nAsh | Lower | 12 | 9"
    assert row_text(text, text.index("Ash"), text.index("\nAsh | Lower")) == "Ash Upper; 2019: 31; 2020: 40"


def test_rows_of_dates_below_names_are_no_heads_however_few():
    rows = only("Crop | Sown | Cut\nOats | 3 March 2021 | 9 August 2021\nRye | 1 March 2021 | 2 August 2021").rows
    assert [row.label for row in rows] == ["Oats", "Rye"]
    first, second = tables_in("Crop | 2020 | 2021\nOats | 31 | 40\nCost | March 2020 | March 2021\nOats | 7 | 9")
    assert (first.columns, second.columns) == (("2020", "2021"), ("March 2020", "March 2021"))


@pytest.mark.parametrize(
    ("head", "rows", "is_head"),
    [
        # Without a label, above rows that have one.
        ("| 5 l | 10 l", "Oil | £3.10 | £5.40\nWax | £7.20 | £9.90", True),
        ("| Up to 2 km | Over 2 km", "Van | 3 days | 6 days\nBike | 1 day | 2 days", True),
        ("Goods | 5 l | 10 l", "Oil | £3.10 | £5.40\nWax | £7.20 | £9.90", False),
        ("| 5 l | 10 l", "| 3 l | 4 l\nWax | 7 l | 9 l", False),
        # Several of one unit that grow.
        ("Goods | 5 l | 10 l | 20 l", "Oil | £3.10 | £5.40 | £9\nWax | £7.20 | £9.90 | £12", True),
        ("Goods | 5 l | 10 l | 8 l", "Oil | £3.10 | £5.40 | £9\nWax | £7.20 | £9.90 | £12", False),
        ("Goods | 5 l | 10 l | 20 l", "Oil | 3 l | 5 l | 9 l\nWax | 7 l | 9 l | 12 l", False),
        # Words and figures above times.
        ("Measure | Start 8.30 | Start 9.30", "Sleep | 7:02 | 7:36\nDelays | 5.1 | 2.7", True),
        # Words and figures above words alone.
        ("Goods | Tin 500 ml | Tin 750 ml", "Oil | in stock | sold\nWax | sold | in stock", True),
        ("Goods | Tin 500 ml | Tin 750 ml", "Oil | shelf 3 | sold\nWax | sold | in stock", False),
    ],
)
def test_figures_with_units_name_columns(head: str, rows: str, is_head: bool):
    table = only(f"{head}\n{rows}")
    assert (len(table.rows) == 2) is is_head
    assert (table.columns == tuple(head.split("| ", 1)[1].split(" | "))) is is_head


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("Dose | Cost | Packs\n10 mg | £4 | 120\n20 mg | £6 | 80", True),
        ("| Cost | Packs\n10 | £4 | 120\n25 | £6 | 80", True),
        ("Width | Depth | Packs\n10 mm | 30 mm | 120\n20 mm | 40 mm | 80", False),
        ("Sold | Cost | Packs\n10 | £4 | 120\n25 | £6 | 80", False),
    ],
)
def test_figures_at_the_beginning_are_labels_if_they_have_a_unit_of_their_own(text: str, is_key: bool):
    assert only(text).rows[0].label == (text.split("\n")[1].split(" | ")[0] if is_key else "")


def test_numbers_that_name_columns_are_no_row():
    text = "Stop | 4201 | 4203\nQuay | 06:10 | 07:10\nMill | – | 07:20\nPier | 06:31 | 07:29"
    table = only(text)
    assert table.columns == ("4201", "4203")
    assert [row.label for row in table.rows] == ["Quay", "Mill", "Pier"]
    start = text.index("Mill")
    assert row_text(text, start, text.index("\n", start)) == "Mill; 4201: –; 4203: 07:20"


def test_a_row_of_dates_below_names_is_no_second_header_because_of_a_dash():
    table = only("Quarter | Lift | Gate\nFirst | 12 Jan | 13 Jan\nSecond | 6 Apr | –\nThird | – | 6 Jul")
    assert table.columns == ("Lift", "Gate")
    assert [row.label for row in table.rows] == ["First", "Second", "Third"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("Mill | | 06:11 | | 07:14 |", "Mill; –; 06:11; –; 07:14"),  # else they seem to stand in other columns
        ("Mill | – | 06:11", "Mill; –; 06:11"),
        ("Mill | | closed", "Mill; closed"),
        ("1. Lift | II | -", "1. Lift; II"),
    ],
)
def test_of_a_row_without_names_what_is_empty_before_a_figure_is_told(row: str, expected: str):
    assert row_text(row, 0, len(row)) == expected


def test_numbers_that_count_are_labels():
    weeks = "Week | North | South\n1 | 42 | 38\n2 | 45 | 51\n3 | 39 | 51"
    assert [row.label for row in only(weeks).rows] == ["1", "2", "3"]
    assert only(weeks).columns == ("North", "South")
    assert [row.label for row in only(weeks.replace("3 |", "5 |")).rows] == ["", "", ""]


def test_figures_have_the_unit_that_stands_in_their_row():
    table = only(
        "Fuel | Unit | Minimum\nDiesel | litres | 48,000\nNoise | dB(A) | 41\nLids | each | 3\nSoot | kg | 2 %"
    )
    assert [row.cells[-1].unit for row in table.rows] == ["l", "db", "", "percent"]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Fuel | Minimum (litres) | Share (%)\nDiesel | 48,000 | 96\nPetrol | 1,900 | 4", ["l", ""]),
        ("Part | Mini | Maxi\nWeight, kg | 12.5 | 14.2\nWidth in mm | 300 | 420", ["kg", "kg"]),
        ("Part (mm) | Mini (kg) | Maxi (kg)\nWidth (mm) | 30 | 42\nDepth (mm) | 20 | 22", ["", ""]),
        ("Sales ($) | North (m) | South (m)\nBoats | 12 | 14\nOars | 3 | 4", ["", ""]),
    ],
)
def test_a_figure_has_the_unit_that_its_row_or_its_column_names_if_only_one_does(text: str, units: list[str]):
    assert [cell.unit for cell in only(text).rows[0].cells] == units


def test_amounts_name_columns():
    table = only("Nutrient | Per 100 g | Per serving\nProtein | 12 g | 3.6 g\nSalt | 0.4 g | 0.1 g")
    assert table.columns == ("Per 100 g", "Per serving")


def test_a_row_of_yes_and_no_is_no_second_head_but_one_of_letters_is():
    answers = only("Feature | Basic | Pro\nExport | No | Yes\nUsers | 5 | 50\nProjects | 1 | 9")
    assert [row.label for row in answers.rows] == ["Export", "Users", "Projects"]
    letters = only("Answer | Women | Men\nGiven by | n | n\nSatisfied | 41 | 35\nNot satisfied | 24 | 19")
    assert [row.label for row in letters.rows] == ["Satisfied", "Not satisfied"]


def test_a_unit_may_stand_before_the_period_in_a_columns_name() -> None:
    (read,) = tables_in("Infection | Cases 2024 | Median stay (days), 2024–25\nRSV | 2,846 | 4\nFlu | 9,872 | 5\n")
    assert [cell.unit for cell in read.rows[0].cells] == ["", "day"]
