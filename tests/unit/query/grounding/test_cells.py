"""Each number of a claim must stand in the row and the column that the claim speaks of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.grounding.cells import Binding, Surroundings, binding_of, compare_tables
from functions.query.grounding.columns import mentions_in
from functions.query.grounding.facts import facts_in

REGIONS = """Sales by region (dollars in millions):

Three Months Ended | Nine Months Ended
October 30, 2022 | October 31, 2021 | October 30, 2022 | October 31, 2021
North | $ 1,231 | $ 1,452 | $ 3,977 | $ 4,404
South | 310 | 268 | 905 | 811
Total sales | $ 1,541 | $ 1,720 | $ 4,882 | $ 5,215
Net income (loss) | 77 | (52) | 190 | (61)"""
CHANGES = """2023 | 2022 | Change
Pens | $ 65,775 | $ 71,628 | (8)%
Ink | 7,735 | 10,852 | (29)%
Paper | 20,766 | 19,516 | 6 %"""
MONITORS = """M270-XX | M320-XX
Weight | 5.1 kg | 7.4 kg
Power consumption | 48 W | 61 W
Response time | 12 ms | 14 ms"""
FISCAL = """Sales fell in the first quarter of 2023 compared to the same quarter in 2022 (in millions):

December 31, 2022 | December 25, 2021
Services | 20,766 | 19,516
Goods | 96,388 | 104,429"""


def of(claim: str, text: str, **around: str) -> Binding:
    return binding_of(compare_tables(claim, text, [(0, len(text))], Surroundings(**around)))


def assert_bound(found: Binding):
    assert not found.conflict
    assert found.bound
    assert found.is_named


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (REGIONS, "In the three months ended October 30, 2022, sales in the North were $1,231 million."),
        (REGIONS, "South sales rose from $268 million to $310 million in the three-month period."),
        (REGIONS, "For the nine months, sales in the North fell to $3,977 million from $4,404 million a year earlier."),
        (REGIONS, "North had $1.2 billion and South $310 million in the three months ended October 30, 2022."),
        (REGIONS, "In the three months ended October 31, 2021, there was a net loss of $52 million."),
        (REGIONS, "Total sales were $4,882 million in the nine months of 2022, compared with $5,215 million in 2021."),
        (CHANGES, "Ink fell 29% to $7,735 in 2023."),
        (CHANGES, "In 2022 paper brought $19,516; in 2023 it was $20,766."),
        (MONITORS, "The M320-XX weighs 7.4 kg."),
        (MONITORS, "The response time of the M270-XX is 12 ms, that of the M320-XX 14 ms."),
        (FISCAL, "In the first quarter of 2023 Services had $20,766 million, up from $19,516 million a year earlier."),
    ],
)  # fmt: skip
def test_numbers_in_the_named_row_and_column_are_bound(text: str, claim: str):
    assert_bound(of(claim, text))


@pytest.mark.parametrize(
    ("text", "claim", "conflict"),
    [
        (REGIONS, "In the three months ended October 30, 2022, sales in the South were $1,231 million.", "row"),
        (REGIONS, "In the three months ended October 31, 2021, sales in the North were $1,231 million.", "column"),
        (REGIONS, "In the nine months ended October 30, 2022, sales in the North were $1,231 million.", "column"),
        (REGIONS, "South sales rose from $310 million to $268 million in the three-month period.", "order"),
        (REGIONS, "North had $310 million and South $1,231 million.", "row"),
        (REGIONS, "In the three months ended October 30, 2022, there was a net loss of $77 million.", "sign"),
        (CHANGES, "Ink rose 29% to $7,735.", "sign"),
        (CHANGES, "Paper fell 29% to $20,766.", "row"),
        (CHANGES, "In 2022 Ink had $7,735.", "column"),
        (MONITORS, "The M270-XX weighs 7.4 kg.", "column"),
        (MONITORS, "The M320-XX has a response time of 61 W.", "row"),
        (FISCAL, "In the first quarter of 2022 Services had $20,766 million.", "column"),
    ],
)  # fmt: skip
def test_the_value_of_another_cell_conflicts(text: str, claim: str, conflict: str):
    assert of(claim, text).conflict == conflict


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (REGIONS, "Sales in the North were $1,452 million."),  # which period is left open, and it is not the newest
        (CHANGES, "The value was $7,735."),  # no row is named
    ],
)
def test_what_the_claim_leaves_open_is_not_named(text: str, claim: str):
    found = of(claim, text)
    assert not found.conflict
    assert not found.is_named


def test_the_question_may_name_the_column():
    claim = "Sales in the North were $1,452 million."
    assert of(claim, REGIONS, asked="What were sales in the three months ended October 31, 2021?").is_named


def test_a_scale_that_the_caption_does_not_have_binds_nothing():
    assert not of("North had $1,231 thousand.", REGIONS).bound


def test_the_names_may_stand_in_the_passage_before():
    head, rows = CHANGES.split("\n", 1)
    compared = compare_tables("In 2022 Ink had 7,735.", rows, [(0, len(rows))], Surroundings(before=f"{head}\n"))
    assert binding_of(compared).conflict == "column"


def test_without_names_a_computed_change_tells_which_figure_is_newer():
    rows = CHANGES.split("\n", 1)[1]
    assert of("Pens increased from $65,775 to $71,628.", rows).conflict == "order"
    assert not of("Pens fell from $71,628 to $65,775.", rows).conflict


def test_numbers_of_other_evidence_are_free():
    claim = "In the North there are 310 stores."
    assert of(claim, REGIONS).conflict == "row"
    around = Surroundings(elsewhere=facts_in("There are 310 stores."))
    assert not binding_of(compare_tables(claim, REGIONS, [(0, len(REGIONS))], around)).conflict


@pytest.mark.parametrize(
    ("claim", "conflict"),
    [
        ("South had higher sales than North.", "order"),
        ("North had higher sales than South.", ""),
        ("South sales exceeded North sales in the nine months.", "order"),
        ("South sales decreased.", "order"),
        ("South sales increased.", ""),
        ("South sales decreased in the North.", ""),  # of which row?
    ],
)
def test_comparisons_without_numbers(claim: str, conflict: str):
    assert of(claim, REGIONS).conflict == conflict


SEGMENTS = """(In millions)

2022 | 2021 | 2022 vs. 2021
Sales (thousands) | 11,604 | 11,981 | (377)
Cash flows from leases | 645 | 441 | 204
Sales expenses:
Travel | 120 | 130 | (10)
Other expenses:
Travel | 12 | 13 | (1)
Actuarial gain | (865) | (605) | 260"""


@pytest.mark.parametrize(
    ("claim", "conflict"),
    [
        ("Sales were $11,604 thousand in 2022.", ""),  # the row's own scale
        ("In 2021, cash flows from leases were $645 million.", "column"),  # "from" compares nothing here
        ("Cash flows from leases fell by $204 million.", "sign"),
        ("Under other expenses, travel was $120 million in 2022.", "row"),
        ("Travel was $120 million in 2022.", ""),  # which of the two is left open
        ("There was an actuarial gain of $865 million in 2022.", ""),  # brackets need not mean a loss
    ],
)
def test_rows_of_one_table_differ_in_scale_group_and_sign(claim: str, conflict: str):
    assert of(claim, SEGMENTS).conflict == conflict


NAMES = ("Alpha", "Bravo", "Charlie", "Delta")
YEARS = ("2019", "2020", "2021")


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    numbers = draw(st.lists(st.integers(1_000, 999_999), min_size=12, max_size=12, unique=True))
    return [numbers[at : at + 3] for at in range(0, 12, 3)]


@given(tables(), st.integers(0, 3), st.integers(0, 2), st.integers(1, 3), st.integers(1, 2))
def test_in_any_table_the_right_cell_is_bound_and_its_neighbours_conflict(
    figures: list[list[int]], row: int, column: int, rows_off: int, columns_off: int
):
    lines = [f"{name} | {' | '.join(f'{each:,}' for each in line)}" for name, line in zip(NAMES, figures, strict=True)]
    text = "\n".join((" | ".join(YEARS), *lines))

    def said(other_row: int, other_column: int) -> Binding:
        number = figures[(row + other_row) % 4][(column + other_column) % 3]
        return of(f"In {YEARS[column]}, {NAMES[row]} sold {number:,} units.", text)

    assert said(0, 0).is_named
    assert said(rows_off, 0).conflict == "row"
    assert said(0, columns_off).conflict == "column"


WORDS = [
    "votes",
    "rose",
    "fell",
    "by",
    "from",
    "to",
    "2022",
    "2023",
    "Change",
    "250",
    "746",
    "(61)",
    "Total",
    "For",
    "Against",
]
ROWS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" | ".join), min_size=1, max_size=8)


@given(rows=ROWS, words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_a_table_of_any_shape_is_compared_without_an_error(rows: list[str], words: list[str]):
    text = "\n".join(rows)
    found = compare_tables(" ".join(words), text, [(0, len(text))])
    binding_of(found)
    for each in found:
        list(each.operands())


def test_rows_of_one_figure_hold_no_computed_change():
    text = "The proposal was defeated:\nFor | 250,838,697\nAgainst | 746,982,272"
    assert of("Votes for rose to 250,838,697.", text).conflict == ""


def test_what_a_columns_name_adds_in_brackets_need_not_be_said():
    text = "Item\n\nStandard | Archive | Deep Archive (test)\nMinimum storage duration | 30 days | 90 days | 180 days"
    assert of("Deep Archive has a minimum storage duration of 180 days.", text).is_named
    assert of("Archive has a minimum storage duration of 90 days.", text).is_named
    assert of("Deep Archive has a minimum storage duration of 90 days.", text).conflict == "column"


def test_a_label_without_content_words_is_never_in_conflict():
    text = "The proposal was defeated:\nFor | 250,838,697\nAgainst | 746,982,272"
    assert of("The proposal received 250,838,697 votes for and 746,982,272 against.", text).conflict == ""


def test_a_claim_that_names_no_row_is_about_the_quoted_one():
    rows = "Item | 2023 | 2022\nPens | 65 | 71\nInk | 77 | 85"
    at = rows.index("Ink")
    quoted = [(at, len(rows))]
    assert binding_of(compare_tables("In 2023 it was 77.", rows, quoted, Surroundings())).bound
    wrong = binding_of(compare_tables("In 2023 it was 65.", rows, quoted, Surroundings()))
    assert wrong.conflict or not wrong.bound


@pytest.mark.parametrize("label", ["North, net of returns", "North net of returns", "North, net", "Total North"])
def test_what_a_label_is_net_of_need_not_be_said(label: str):
    table = f"2023 | 2022\n{label} | 65,775 | 71,628\nPaper | 20,766 | 19,516"
    found = of("North brought $65,775 in 2023.", table)
    assert found.bound
    assert found.is_named


GYM = """Off-Peak | Flex Plus | Annual | Student
Monthly fee | £21.00 | £34.00 | £29.00 | £19.50
Joining fee | £15.00 | £25.00 | None | None
Minimum term | 3 months | 1 month | 12 months | 9 months"""
QUOTES = """Company | Price without VAT | Time out of use | Guarantee
Ascent Lifts | £17,900 | 3 weeks | 2 years
Brook & Hale | £16,250 | 5 weeks | 1 year"""
METHODS = """Method | TimeQA | SituatedQA
PaLM | 41.5% | 54.3% (0.3%)
PaLM + RAG | 57.4% | 59.3% (0.4%)"""
WORK = """Component | Weight | Due | Minimum mark
Field report | 35% | 20 November 2026 | 40%
Portfolio | 25% | 11 December 2026 | none"""
WASHERS = """Main facts | WD70 | WD90
Largest washing load | 7 kg | 9 kg
Largest drying load | 4 kg | 6 kg"""
COVER = """Section | Bronze | Silver
D Baggage, in all | £750 | £1,500
D1 Any one item | £150 | £250"""
HOMES = """Household | Yearly use | Standard Variable | Fixed 12 | Two Rate
Flat, one person | 1,800 kWh | £701 | £684 | £702
House, three persons | 2,900 kWh | £1,014 | £980 | £1,017"""


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (GYM, "Flex Plus has a joining fee of £25.00."),
        (QUOTES, "Ascent Lifts asks for £17,900 more than nothing."),  # the only price: its unit names the column
        (QUOTES, "Ascent Lifts is dearer than Brook & Hale (£17,900 and £16,250)."),
        (METHODS, "On SituatedQA, PaLM reaches 54.3% and PaLM with RAG 59.3%."),
        (WORK, "The portfolio counts for 25% and has no minimum mark."),
        (WASHERS, "The WD90 washes 9 kg but dries 6 kg."),
        (COVER, "Under Silver, baggage is insured up to £1,500, and one item up to £250."),
        (HOMES, "A house with three persons pays £980 a year on Fixed 12 and £1,014 on Standard Variable."),
    ],
)
def test_names_that_everyday_tables_have_bind_numbers(text: str, claim: str):
    assert_bound(of(claim, text))


@pytest.mark.parametrize(
    ("text", "claim", "conflict"),
    [
        (GYM, "The Annual membership has a joining fee of £25.00.", "column"),
        (METHODS, "On SituatedQA, PaLM reaches 59.3% and PaLM with RAG 54.3%.", "row"),
        (WORK, "The field report is due on 11 December 2026.", "row"),
        (WORK, "The field report is due on 11 December 2026 and counts for 35%.", "row"),
        (COVER, "Under Silver, baggage is insured up to £250.", "row"),
        (HOMES, "A house with three persons pays £980 a year on Two Rate and £1,014 on Standard Variable.", "column"),
    ],
)
def test_the_neighbours_in_everyday_tables_conflict(text: str, claim: str, conflict: str):
    assert of(claim, text).conflict == conflict


def test_a_word_of_one_label_only_names_a_quoted_row():
    drying = WASHERS.index("Largest drying")
    found = binding_of(compare_tables("The WD90 dries 6 kg.", WASHERS, [(drying, len(WASHERS))]))
    assert found.is_named
    assert not binding_of(compare_tables("The WD90 takes 6 kg.", WASHERS, [(drying, len(WASHERS))])).is_named


TRAINS = "Train | Leaves\nLocal | 09:15\nExpress | 08:00"


@pytest.mark.parametrize(
    ("claim", "conflict"),
    [
        ("The local train leaves at 08:00.", "row"),
        ("The local train leaves at 8:00 a.m.", "row"),
        ("The local train leaves at 09:15.", ""),
        ("The local train leaves at 09:15, not 08:00.", ""),
        ("The local train leaves later than 08:00.", ""),
    ],
)
def test_a_time_belongs_to_its_row(claim: str, conflict: str):
    assert of(claim, TRAINS).conflict == conflict


FEES = "Activity | Adults | Pupils\nSwimming | 12 | 8\nGym | 31 | 20"


@pytest.mark.parametrize(
    "claim",
    ["Adults pay 8 and pupils pay 12 for swimming.", "The gym costs adults 12, against 31 for swimming."],
)
def test_names_before_their_numbers_are_not_read_the_other_way_round(claim: str):
    assert not of(claim, FEES).bound


SICK_PAY = """Length of service | Full pay | Half pay
6 months to 2 years | 3 weeks | 3 weeks
2 to 5 years | 8 weeks | 4 weeks
More than 5 years | 13 weeks | 13 weeks"""
CANCELLATION = """Days before departure | You pay
69 to 43 | 40% of the price
42 to 22 | 60% of the price
21 or less | 85% of the price"""


@pytest.mark.parametrize(
    ("text", "claim", "fits"),
    [
        (SICK_PAY, "With three years' service you get 8 weeks on full pay.", True),
        (SICK_PAY, "With three years' service you get 13 weeks on full pay.", False),
        (SICK_PAY, "With nine months' service you get 3 weeks on full pay.", True),
        (SICK_PAY, "With ten years' service you get 13 weeks on full pay.", True),
        (SICK_PAY, "With ten years' service you get 8 weeks on full pay.", False),
        (CANCELLATION, "If you cancel 30 days before departure, you pay 60% of the price.", True),
        (CANCELLATION, "If you cancel 50 days before departure, you pay 60% of the price.", False),
        (CANCELLATION, "If you cancel 5 days before departure, you pay 85% of the price.", True),
        (CANCELLATION, "If you cancel 30 kg before departure, you pay 60% of the price.", False),  # another measure
    ],
)
def test_a_number_names_the_row_whose_range_it_lies_in(text: str, claim: str, fits: bool):
    found = of(claim, text)
    number = min(fact.start for fact in facts_in(claim) if fact.kind == "number")
    assert (number in found.bound and not found.conflict) is fits


def test_the_column_of_a_source_is_not_what_a_number_is_compared_with():
    grant = "Heading | Grant (CAD) | Own (CAD) | Total (CAD)\nTravel | 3,500 | 2,500 | 6,000\nFees | 900 | 100 | 1,000"
    assert of("Travel is to get CAD 6,000 from the grant.", grant).conflict == "column"
    assert_bound(of("Travel is to get CAD 3,500 from the grant.", grant))
    assert_bound(of("Pens fell 8% to $65,775 from $71,628 in 2022.", CHANGES))


ORCHARDS = """East | | West |
Fruit | Planned | Picked | Planned | Picked
Pears | 41.5 | 38.2 | 22.4 | 25.6
Plums | 12.3 | 12.9 | 30.7 | 28.1"""
WARDS = """Beds | Nights
Ward | 2021–22 | 2022–23 | 2021–22 | 2022–23
Lungs | 310 | 295 | 4,120 | 3,870
Heart | 275 | 301 | 3,640 | 3,905"""
HALVES = """Quarter | Half-year
| Q2 2021 | Q2 2020 | H1 2021 | H1 2020
Turnover | 51.2 | 49.8 | 98.7 | 101.3
Profit | 6.4 | 5.9 | 11.1 | 12.6"""
PARKS = """Park | Spent 2019 Upkeep | Repairs | Planned 2020 Upkeep | Repairs
Mill Green | 118 | 164 | 125 | 171
Long Meadow | 204 | 89 | 199 | 140"""


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (ORCHARDS, "Picked pears in the West came to 25.6."),
        (ORCHARDS, "Pears in the West reached 25.6, against 22.4 as planned."),
        (WARDS, "Lungs took 3,870 nights in 2022–23."),
        (WARDS, "The heart ward had 301 beds in 2022–23."),
        (HALVES, "Turnover was 98.7 in the first half of 2021."),
        (HALVES, "In the second quarter of 2021 the profit was 6.4."),
        (PARKS, "Repairs in Mill Green went up from 164 in 2019 to 171 in 2020."),
        (PARKS, "The 199 planned for Long Meadow in 2020 are for upkeep."),
        (REGIONS, "North had sales of $1,231 million in the three months ended October 30, 2022."),
    ],
)
def test_a_number_is_of_the_group_and_of_the_column_below_it(text: str, claim: str):
    assert_bound(of(claim, text))


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (ORCHARDS, "Picked pears in the West came to 22.4."),
        (ORCHARDS, "Pears in the East reached 25.6."),
        (WARDS, "Lungs took 295 nights in 2022–23."),
        (WARDS, "The heart ward had 301 beds in 2021–22."),
        (HALVES, "Turnover was 51.2 in the first half of 2021."),
        (PARKS, "Repairs in Mill Green came to 171 in 2019."),
        (PARKS, "The repairs planned for Long Meadow in 2020 are put at 199."),
        (REGIONS, "North had sales of $3,977 million in the three months ended October 30, 2022."),
        (REGIONS, "North had sales of $1,231 million in the three months ended October 31, 2021."),
    ],
)
def test_a_number_of_another_group_or_of_another_column_of_it_conflicts(text: str, claim: str):
    assert of(claim, text).conflict == "column"


@pytest.mark.parametrize("claim", ["Pears in the West reached 22.4.", "Pears in the West reached 25.6."])
def test_a_group_alone_leaves_open_which_of_its_columns_is_meant(claim: str):
    assert of(claim, ORCHARDS).is_open


def test_a_column_whose_name_says_more_than_the_claim_is_not_meant():
    text = "Mill | 2019 | 2020 | Days idle, 2020\nUpper | 71.3 | 68.4 | 12\nLower | 55.2 | 59.6 | 31"
    assert_bound(of("The upper mill ground 68.4 in 2020.", text))


def test_a_row_of_gains_or_losses_in_words_has_both_forms():
    text = "Year | 2019 | 2020\nIncome | 310 | 298\nGain or (loss) | 12 | (31)"
    assert_bound(of("There was a loss of 31 in 2020.", text))
    assert of("There was a gain of 31 in 2020.", text).conflict == "sign"


def test_a_word_that_names_a_row_and_a_column_names_the_column_of_another_row():
    text = "Debt | 2019 due | Total\nLoans | 41.0 | 237.6\nBonds | 12.5 | 120.4\nTotal | 53.5 | 358.0"
    assert_bound(of("The loans total 237.6.", text))
    assert of("The loans total 358.0.", text).conflict or not of("The loans total 358.0.", text).is_named


def test_a_figure_is_not_counted_by_another_time_than_its_column():
    text = "Course | Day | Cost a month\nWeaving | Monday | €35\nPottery | Friday | €50"
    assert_bound(of("Weaving costs €35 a month.", text))
    assert of("Weaving costs €35 a week.", text).conflict == "column"


def test_a_profit_below_zero_is_a_loss():
    text = "2020 | 2019\nSales | 144.2 | 151.0\nProfit before tax | (3.1) | 13.5"
    assert of("The year 2020 brought a profit before tax of 3.1.", text).conflict == "sign"
    assert_bound(of("In 2020 there was a loss: the profit before tax was minus 3.1.", text))
    for written in ("(3.1)", "-3.1", "–3.1"):
        assert of(f"The year 2020 brought a profit before tax of {written}.", text).conflict != "sign"


@pytest.mark.parametrize(
    "claim", ["The debt per head was 698 thousand in 2018.", "For 4 to 9 years the supplement is 8%."]
)
def test_a_figure_in_another_unit_or_scale_is_open(claim: str):
    debts = "Year | Loans (thousand) | Per head\n2017 | 9,640 | 781\n2018 | 8,730 | 698\n2019 | 8,390 | 667"
    paid = "Years | Supplement (% of pay) | Paid (weeks)\n4 to 9 | 10 | 8\n10 to 20 | 15 | 16"
    assert of(claim, debts if "debt" in claim else paid).is_open


def test_columns_that_one_word_names_come_in_their_own_order():
    """The order of a set of words changes from run to run, and the first column that fits counts."""
    names = ["Day pass", "Week pass", "Month pass", "Rank"]
    found = mentions_in("A day, week or month pass", names, context="", own_words=frozenset())
    assert [each.columns for each in found] == [{0}, {1}, {2}]


LIMITS = "Parameter | Min | Max | Unit\nVoltage | 3.0 | 3.6 | V\nCurrent | 10 | 25 | mA"


@pytest.mark.parametrize(
    "claim",
    [
        "The maximum voltage is 3.6 V.",
        "The voltage is at most 3.6 V.",
        "The voltage is between 3.0 and 3.6 V.",
        "The voltage is at least 3.0 V.",
    ],
)
def test_limits_name_their_columns(claim: str):
    assert_bound(of(claim, LIMITS))


def test_a_minimum_is_not_the_maximum():
    assert of("The minimum voltage is 3.6 V.", LIMITS).conflict == "column"


@pytest.mark.parametrize(
    "table",
    [
        "Fuel | Unit | Stored\nDiesel | litres | 48,000\nPetrol | litres | 1,900",
        "Fuel | Stored (litres)\nDiesel | 48,000",
    ],
)
def test_a_figure_in_another_unit_is_not_the_rows(table: str):
    assert_bound(of("48,000 litres of diesel are stored.", table))
    assert not of("48,000 kg of diesel are stored.", table).bound
