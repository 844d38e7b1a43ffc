"""What is read of numbers, dates, periods, tables and quotes, to the last field: everything else is built on that."""

from decimal import Decimal
from typing import Any

import pytest

from functions.query.grounding.cells import Surroundings, compare_tables
from functions.query.grounding.columns import is_change, mentions_in, period_of, spans_of_periods
from functions.query.grounding.facts import Fact, facts_in, is_rounded
from functions.query.grounding.polarity import are_opposite, count_negations, direction_of, moves_against_its_word
from functions.query.grounding.quantities import read_number, scale_of, spelled_value, unit_name
from functions.query.grounding.quotes import MAX_QUOTED_CHARACTERS, find_quote, with_markers
from functions.query.grounding.table_cells import TableCell
from functions.query.grounding.tables import tables_in
from shared.dates import dates_agree, dates_in

# --- numbers ---


def numbers(*values: float | str) -> frozenset[Decimal]:
    return frozenset(Decimal(str(value)).normalize() for value in values)


@pytest.mark.parametrize(
    ("digits", "scale", "values", "quantum"),
    [
        ("5", "", (5,), 1),
        ("1,234", "", (1234,), 1),
        ("1.234", "", (1.234, 1234), 1),
        ("1.23", "", (1.23,), "0.01"),
        ("1,23", "", (1.23,), "0.01"),
        ("0,234", "", (0.234,), "0.001"),
        ("0.234", "", (0.234,), "0.001"),
        ("12,3456", "", (12.3456,), "0.0001"),
        ("1234.567", "", (1234.567,), "0.001"),
        ("1.234.567", "", (1234567,), 1),
        ("1,234,567", "", (1234567,), 1),
        ("1,234.5", "", (1234.5,), "0.1"),
        ("1.234,5", "", (1234.5,), "0.1"),
        ("1 234,5", "", (1234.5,), "0.1"),
        ("1'234", "", (1234,), 1),
        ("10.50", "", (10.5,), "0.01"),
        ("4.20", "billion", (4_200_000_000,), 10_000_000),
        ("2.175", "billion", (2_175_000_000,), 1_000_000),
        ("3", "mln.", (3_000_000,), 1_000_000),
        ("3", "k", (3_000,), 1_000),
        ("3", "hundred", (300,), 100),
    ],
)
def test_a_number_has_its_possible_values_and_the_step_of_its_last_digit(
    digits: str, scale: str, values: tuple[float, ...], quantum: float | str
):
    reading = read_number(digits, scale)
    assert (reading.values, reading.quantum) == (numbers(*values), Decimal(str(quantum)))


@pytest.mark.parametrize(
    ("word", "power"),
    [
        *(("hundred", 2), ("Thousand", 3), ("lakh", 5), ("mln.", 6), ("crore", 7), ("bn", 9), ("trillion", 12)),
        *(("k", 3), ("M", 6), ("b", 9), ("t", 12), ("x", 0), ("", 0)),
    ],
)
def test_a_scale_is_a_power_of_ten(word: str, power: int):
    assert scale_of(word) == power


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("hundred", 100),
        ("million", 1_000_000),
        ("two hundred thousand and five", 200_005),
        ("three million four", 3_000_004),
    ],
)
def test_words_of_scale_multiply_what_is_before_them(words: str, value: int):
    assert spelled_value(words) == value


def only(text: str, kind: str = "number") -> Fact:
    (fact,) = [each for each in facts_in(text) if each.kind == kind]
    return fact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It cost $1.2 million then.",
            Fact("number", "$1.2 million", numbers(1_200_000), "usd", Decimal(100_000), True, scaled=True, start=8),
        ),
        (
            "It fell to -3.5 % in all.",
            Fact("number", "-3.5 %", numbers(3.5), "percent", Decimal("0.1"), negative=True, start=11),
        ),
        (
            "about 48,000 people came",
            Fact("number", "48,000 people", numbers(48_000), "people", Decimal(1), True, about=True, start=6),
        ),
        ("It has 12 rooms.", Fact("number", "12", numbers(12), start=7)),
        ("It holds two litres.", Fact("number", "two litres", numbers(2), unit_name("litres"), start=9)),
        ("It came in third.", Fact("number", "third", numbers(3), start=11)),
        (
            "They paid €5m for it.",
            Fact("number", "€5m", numbers(5_000_000), "eur", Decimal(1_000_000), True, scaled=True, start=10),
        ),
        ("The pipe is 5m long.", Fact("number", "5m", numbers(5), unit_name("m"), start=12)),
        ("Of 10-15 days.", Fact("number", "15 days", numbers(15), unit_name("days"), start=6)),
        ("for half an hour", Fact("number", "half an hour", numbers(0.5), unit_name("hour"), start=4)),
        ("a half-hourly check", Fact("number", "half-hourly", numbers(0.5), "h", start=2)),
        ("open until 8.30 p.m.", Fact("time", "8.30 p.m.", numbers(20 * 60 + 30), start=11)),
        ("at 9 in the morning", Fact("time", "9 in the morning", numbers(9 * 60), start=3)),
        ("before 12am", Fact("time", "12am", numbers(0), start=7)),
        ("in a quarter of an hour", Fact("number", "a quarter of an hour", numbers(0.25), unit_name("hour"), start=3)),
        ("She is 30 years old.", Fact("number", "30 years old", numbers(30), start=7)),
    ],
)
def test_a_number_is_read_with_unit_scale_sign_and_place(text: str, expected: Fact):
    found = [each for each in facts_in(text) if each.kind == expected.kind and each.values == expected.values]
    assert found == [expected]
    assert text[expected.start : found[0].end] == expected.text


@pytest.mark.parametrize(
    ("text", "kind", "values", "said"),
    [
        ("at 10:30 pm", "time", (22 * 60 + 30,), "10:30 pm"),
        ("at 12:05 a.m.", "time", (5,), "12:05 a.m."),
        ("at 12:05 p.m.", "time", (725,), "12:05 p.m."),
        ("at 24:00", "time", (1440,), "24:00"),
        ("in Q2 of it", "quarter", (2,), "Q2"),
        ("in the fourth quarter", "quarter", (4,), "fourth quarter"),
        ("in the 3rd fiscal quarter", "quarter", (3,), "3rd fiscal quarter"),
        ("from 2007-08 on", "years", (2007, 2008), "2007-08"),
        ("from 2007–2012 on", "years", (2007, 2012), "2007–2012"),
        ("see CVE-2025-1234.", "identifier", (), "CVE-2025-1234"),
        ("version 1.2.3 of it", "identifier", (), "1.2.3"),
        ("four in five of them", "fraction", (80,), "four in five"),
        ("3 out of every 4", "fraction", (75,), "3 out of every 4"),
        ("two thirds of it", "fraction", (200 / 3,), "two thirds"),
        ("it fell by a tenth", "fraction", (10,), "a tenth"),
        ("half of them", "fraction", (50,), "half"),
        ("an eighth of it", "fraction", (12.5,), "an eighth"),
    ],
)
def test_times_quarters_ranges_identifiers_and_parts_are_facts_of_their_own(
    text: str, kind: str, values: tuple[float, ...], said: str
):
    fact = only(text, kind)
    assert (sorted(map(float, fact.values)), fact.text) == (pytest.approx(sorted(values)), said)
    assert text[fact.start : fact.end] == said
    if kind == "fraction":
        assert (fact.unit, fact.quantum, fact.rough, fact.scaled) == ("percent", Decimal(2), True, True)


@pytest.mark.parametrize("text", ["two in 2023", "five in four", "in 2008-07 it", "25:10 is no time", "One may be."])
def test_what_only_looks_like_a_part_a_range_or_a_time_is_none(text: str):
    assert not [each for each in facts_in(text) if each.kind in {"fraction", "years", "time"}]


def test_a_rough_part_has_more_leeway():
    assert only("about two in five", "fraction").quantum == Decimal(5)


def test_a_date_tells_its_year_too_and_numbers_with_spaces_their_parts():
    found = {(each.kind, each.text) for each in facts_in("On 3 January 2024 there were 12 345 of 1,000 in 2019.")}
    assert found == {
        ("date", "3 January 2024"),
        ("year", "2024"),
        ("number", "12 345"),
        ("part", "12"),
        ("part", "345"),
        ("number", "1,000"),
        ("number", "2019"),
    }


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ("12", 12, True),
        ("12", 12.1, False),
        ("about 12", 12.5, True),
        ("about 12", 12.51, False),
        ("about 48,000", 48_500, True),
        ("about 48,000", 48_501, False),
        ("$4.2 billion", 4_250_000_000, True),
        ("$4.2 billion", 4_250_000_001, False),
        ("about 5", 5.26, True),
        ("about 5", 5.27, False),
        ("about 5", 4.77, True),
        ("about 5", 4.76, False),
        ("about 50", 52.5, True),
        ("about 50", 54, False),  # a number of one digit must be within a twentieth
        ("about 10", 10.5, True),
        ("about 100", 149, False),
    ],
)
def test_a_rough_number_holds_for_what_rounds_to_it(said: str, value: float, expected: bool):
    assert is_rounded(only(said), Decimal(str(value))) is expected


# --- dates and periods ---


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 2024-01-03 and", [(2024, 1, 3, "2024-01-03", False)]),
        ("on 2024.1.3 and", [(2024, 1, 3, "2024.1.3", False)]),
        ("on 03/04/2024 and", [(2024, 4, 3, "03/04/2024", True)]),
        ("on 12/12/2024 and", [(2024, 12, 12, "12/12/2024", True)]),
        ("on 13/04/2024 and", [(2024, 4, 13, "13/04/2024", False)]),
        ("on 04/13/2024 and", [(2024, 4, 13, "04/13/2024", False)]),
        ("on 31.12.2024 and", [(2024, 12, 31, "31.12.2024", False)]),
        ("on 32/13/2024 and", []),
        ("2024 m. sausio 3 d. ir", [(2024, 1, 3, "2024 m. sausio 3 d.", False)]),
        ("the 3rd of May 2024 and", [(2024, 5, 3, "3rd of May 2024", False)]),
        ("on Dec. 31, 2024 and", [(2024, 12, 31, "Dec. 31, 2024", False)]),
        ("in March 2024 and April", [(2024, 3, 0, "March 2024", False), (0, 4, 0, "April", False)]),
        ("in 2024-05 and", [(2024, 5, 0, "2024-05", False)]),
        ("it may march in May", []),
        ("on May 3 or 4 June", [(0, 5, 3, "May 3", False), (0, 6, 4, "4 June", False)]),
    ],
)
def test_dates_are_read_in_every_order(text: str, dates: list[tuple[int, int, int, str, bool]]):
    found = [(each.year, each.month, each.day, text[each.start : each.end], each.swapped) for each in dates_in(text)]
    assert found == dates


@pytest.mark.parametrize(
    ("said", "held", "agree"),
    [
        ("3 January 2024", "January 3, 2024", True),
        ("3 January", "January 3, 2024", True),
        ("January 2024", "January 3, 2024", True),
        ("3 January 2024", "January 2024", False),
        ("3 January 2024", "3 January 2023", False),
        ("4 March 2024", "03/04/2024", True),
        ("3 April 2024", "03/04/2024", True),
        ("04/03/2024", "3 April 2024", True),
        ("5 April 2024", "03/04/2024", False),
    ],
)
def test_dates_agree_in_all_that_the_claim_says(said: str, held: str, agree: bool):
    assert dates_agree(dates_in(said)[0], dates_in(held)[0]) is agree


@pytest.mark.parametrize(
    ("name", "years", "months", "quarter", "to_date", "order"),
    [
        ("2023", {2023}, 0, 0, False, (2023, 0, 0)),
        ("Three Months Ended October 30, 2022", {2022}, 3, 0, False, (2022, 10, 30)),
        ("Thirteen weeks ended October 30, 2022", {2022}, 3, 0, False, (2022, 10, 30)),
        ("26 weeks ended July 1, 2022", {2022}, 6, 0, False, (2022, 7, 1)),
        ("thirty-nine weeks", set(), 9, 0, False, (0, 0, 0)),
        ("Nine-month period 2021", {2021}, 9, 0, False, (2021, 0, 0)),
        ("Years ended June 30, 2021", {2021}, 12, 0, False, (2021, 6, 30)),
        ("Quarter ended June 30, 2021", {2021}, 3, 0, False, (2021, 6, 30)),
        ("Q3 2022", {2022}, 0, 3, False, (2022, 9, 0)),
        ("First fiscal quarter 2022", {2022}, 0, 1, False, (2022, 3, 0)),
        ("YTD 2022", {2022}, 0, 0, True, (2022, 0, 0)),
        ("Change", set(), 0, 0, False, (0, 0, 0)),
        ("$2,022", set(), 0, 0, False, (0, 0, 0)),
    ],
)
def test_a_columns_name_tells_its_period(
    name: str, years: set[int], months: int, quarter: int, to_date: bool, order: tuple[int, int, int]
):
    period = period_of(name)
    assert (set(period.years), period.months, period.quarter, period.to_date, period.order) == (
        years,
        months,
        quarter,
        to_date,
        order,
    )


QUARTERS = ("Three Months Ended October 30, 2022", "Three Months Ended October 31, 2021")
BOTH = (*QUARTERS, "Nine Months Ended October 30, 2022", "Nine Months Ended October 31, 2021")


@pytest.mark.parametrize(
    ("text", "columns", "named"),
    [
        ("In 2022 it was 5.", ("2023", "2022", "Change"), [("2022", {1})]),
        ("In 2022 and 2023.", ("2023", "2022"), [("2022", {1}), ("2023", {0})]),
        ("In 2019 it was 5.", ("2023", "2022"), []),
        ("In the three months ended October 30, 2022.", BOTH, [("three months ended October 30, 2022", {0})]),
        ("In the nine months of it.", BOTH, [("nine months", {2, 3})]),
        ("It was 5 a year earlier.", BOTH, [("a year earlier", {1, 3})]),
        ("It was 5 in the prior year.", ("2023", "2022", "2021"), [("prior year", {1, 2})]),
        ("The third quarter was good.", BOTH, [("third quarter", {0, 1})]),
        ("The third quarter was good.", ("Q2", "Q3"), [("third quarter", {1})]),
        ("The Pro weighs more.", ("Model Pro", "Model Air"), [("Pro", {0})]),
        ("Model A and Model B.", ("Model A", "Model B"), [("A", {0}), ("B", {1})]),
        ("Nothing is said.", (), []),
        ("It was 5 on October 31, 2021.", QUARTERS, [("October 31, 2021", {1})]),
    ],
)
def test_a_text_names_columns_by_period_or_word(text: str, columns: tuple[str, ...], named: list[Any]):
    found = mentions_in(text, columns, context=text, own_words=frozenset())
    assert [(text[each.start : each.end], set(each.columns)) for each in found] == named


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ("Results of fiscal year 2023.", None),
        ("Results of the first quarter of 2023.", None),
        ("Results of fiscal year 2022.", {0}),
        ("Results.", {0}),
    ],
)
def test_a_year_names_no_column_where_the_fiscal_year_is_another(context: str, named: set[int] | None):
    columns = ("December 31, 2022", "December 25, 2021")
    found = mentions_in("Sales of 2022 rose.", columns, context=context, own_words=frozenset())
    assert [set(each.columns) for each in found] == ([named] if named else [])


def test_numbers_of_periods_are_told_from_values():
    text = "In the nine months ended October 30, 2022 it had 9 boats, in Q3 2021 10, a year earlier 11."
    assert [text[start:end] for start, end in spans_of_periods(text)] == [
        "nine months",
        "October 30, 2022",
        "Q3",
        "2021",
        "a year earlier",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Change", True), ("% increase", True), ("YoY growth", True), ("2023", False), ("Charge", False)],
)
def test_a_column_of_changes_says_so(name: str, expected: bool):
    assert is_change(name) is expected


# --- tables ---

TEXT = """Sales by region (dollars in millions):

Region | 2023 | 2022 | Change
Coast:
North, net | $ 1,231 | $ (1,452) | (15)%
South | 310 | — | 6 %
Per share in cents:
Basic | 1.5 | 1.25 | n/a

Costs rose.

Wages | 7 | 8 | 9 %"""


def test_a_table_is_read_to_the_last_cell():
    first, second = tables_in(TEXT)
    assert (first.caption, first.columns, first.scale) == (
        "Sales by region (dollars in millions):\nRegion",
        ("2023", "2022", "Change"),
        Decimal(1_000_000),
    )
    assert TEXT[first.start : first.end] == TEXT[TEXT.index("North") : TEXT.index("\n\nCosts")]
    assert [(row.label, row.group, TEXT[row.start : row.end].split(" |")[0]) for row in first.rows] == [
        ("North, net", "Coast:", "North, net"),
        ("South", "Coast:", "South"),
        ("Basic", "Per share in cents:", "Basic"),
    ]
    assert [tuple(row.cells) for row in first.rows] == [
        (
            TableCell("$ 1,231", 0, numbers(1231), unit="usd"),
            TableCell("$ (1,452)", 1, numbers(1452), negative=True, unit="usd"),
            TableCell("(15)%", 2, numbers(15), negative=True, unit="percent"),
        ),
        (TableCell("310", 0, numbers(310)), TableCell("—", 1), TableCell("6 %", 2, numbers(6), unit="percent")),
        (TableCell("1.5", 0, numbers(1.5)), TableCell("1.25", 1, numbers(1.25)), TableCell("n/a", 2)),
    ]
    assert [row.scale for row in first.rows] == [None, None, None]
    assert (second.columns, [row.label for row in second.rows]) == (first.columns, ["Wages"])


def test_figures_of_quoted_rows_are_calculated_with():
    start = TEXT.index("North")
    (comparison,) = compare_tables(
        "North fell by 15% in 2023.", TEXT, [(start, start + 40)], Surroundings(asked="What of 2023?")
    )
    assert [
        (each.value, each.text, each.unit, each.scale, each.order, each.is_named, each.in_column)
        for each in comparison.operands()
    ] == [
        (Decimal(1_231_000_000), "1,231", "usd", Decimal(1_000_000), (2023, 0, 0), True, True),
        (Decimal(-1_452_000_000), "−1,452", "usd", Decimal(1_000_000), (2022, 0, 0), True, False),
        (Decimal(-15), "−15", "percent", Decimal(1), (), True, False),
    ]


# --- rising, falling, denying ---


@pytest.mark.parametrize(
    ("claim", "against"),
    [
        ("Sales fell to $200 million from $87 million.", True),
        ("Sales fell from $200 million to $87 million.", False),
        ("Sales rose to $200 million from $87 million.", False),
        ("Sales rose from $200 million to $87 million.", True),
        ("Sales rose from 5 % to $87 million.", False),
        ("Sales rose from 87 to 87.", False),
        ("Sales rose to 5 and to 4.", False),
        ("The loss fell from 5 to 7.", True),
        ("Sales rose between 2023 and 2021.", False),
    ],
)
def test_a_move_against_its_word_is_noticed(claim: str, against: bool):
    assert moves_against_its_word(claim) is against


def test_words_of_direction_and_denial():
    assert [direction_of(word) for word in ("rose", "increased", "fell", "decrease", "lamp", "grew", "declined")] == [
        *(1, 1, -1, -1, 0, 1, -1)
    ]
    assert count_negations(["it", "is", "not", "so", "and", "never", "was", "isn't"]) == 3
    assert are_opposite(["rose"], ["fell"])
    assert not are_opposite(["rose"], ["rose", "fell"])
    assert are_opposite(["able"], ["unable"])
    assert not are_opposite(["able"], ["table"])


# --- quotes ---

PAGE = "The fee is 1.25 %. It was 15 in “May”, well-known since the 31 st\nof March; co-operation\u00ad began (3)."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The fee is 1.25 %.", ["The fee is 1.25 %."]),
        ('"The fee is 1.25 %."', ["The fee is 1.25 %."]),
        ("fee is 1.2", []),
        ("fee is 1", []),
        ("was 1", []),
        ("5 in", []),
        ('in "May", wellknown', ["in “May”, well-known"]),
        ("31 st of March", ["31 st\nof March"]),
        ("31 of March", ["31 st\nof March"]),
        ("cooperation began [3].", ["co-operation\u00ad began (3)."]),
        ("The fee … well-known since", ["The fee is 1.25 %. It was 15 in “May”, well-known since"]),
        ("The fee … well-known", []),  # a part of one word says too little
        ("The fee is [...] was 15 in", ["The fee is 1.25 %. It was 15 in"]),
        ("well-known … The fee", []),
        ("", []),
        ("“”", []),
        ("the fee is", []),
    ],
)
def test_a_quote_is_found_where_only_typography_differs(quote: str, found: list[str]):
    places = list(find_quote(quote, PAGE))
    assert [PAGE[start:end] for start, end in places] == found


def test_a_quote_is_found_five_times_at_most_and_up_to_its_longest():
    assert [start for start, _ in find_quote("a lamp", "a lamp. " * 7)] == [0, 8, 16, 24, 32]
    longest = "word " * (MAX_QUOTED_CHARACTERS // 5 - 1) + "words"
    assert len(longest) == MAX_QUOTED_CHARACTERS
    assert list(find_quote(longest, f"{longest}. more")) == [(0, MAX_QUOTED_CHARACTERS)]
    assert list(find_quote(f"{longest}.", f"{longest}. more")) == []


def test_a_claim_has_each_marker_once():
    assert with_markers("It is so. ", [2, 1, 2]) == "It is so. [2] [1]"
    assert with_markers("It is so.", []) == "It is so."
