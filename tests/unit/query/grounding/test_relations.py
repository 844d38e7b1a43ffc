"""Claims that compare two things, give two things each a value, or tell a step by its number."""

import pytest

from functions.query.grounding.figures import check_figures
from functions.query.grounding.quotes import quoted_spans
from functions.query.grounding.statements import step_told
from tests.support.query import CONFIRMED, OUT, passage, verdicts_of


def verdict_of(claim: str, quote: str) -> str:
    return verdicts_of(claim, quote, source=passage(quote), question="What is it?")[0]


FEES = "Membership costs £40 a year for adults and £25 for students."
PARTIES = "Of the voters, 38% are independents, while 31% are Democrats and 26% are Republicans."
LEANERS = "About half of the leaning voters (48%) said they voted, compared with 59% of the Democrats."
DATES = "The record date will be September 7, 2023, and the payment date will be September 27, 2023."
SALES = "Ticket sales rose 5% in Riga and 8% in Tallinn."
YOUNG = "Those under thirty are 19% and 14%, respectively, among Democrats and Republicans."
EDITIONS = "The first edition had 320 pages and sold 4,000 copies; the second had 410 pages and sold 2,500 copies."
MERGER = "The share of those who favour the merger has fallen from 72% to 46%, while 53% oppose it."


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("Membership is cheaper for students than for adults.", FEES, CONFIRMED),
        ("Membership is dearer for students than for adults.", FEES, OUT),
        ("There are more independents than Democrats.", PARTIES, CONFIRMED),
        ("There are more Republicans than Democrats.", PARTIES, OUT),
        ("Democrats were more likely to say they voted than leaning voters.", LEANERS, CONFIRMED),
        ("Democrats were less likely to say they voted than leaning voters.", LEANERS, OUT),
        ("The payment date comes before the record date.", DATES, OUT),
        ("Ticket sales rose faster in Tallinn than in Riga.", SALES, CONFIRMED),
        ("Ticket sales grew faster in Riga than in Tallinn.", SALES, OUT),
        ("More Republicans than Democrats are under thirty.", YOUNG, OUT),
        ("Membership costs twice as much for students as for adults.", FEES, OUT),
    ],
)
def test_values_of_two_parts_are_compared_as_a_claim_says(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Prices are lower in Bonn than in Aachen.", "Sales were 5 in Aachen and 8 in Bonn, where prices are lower."),
        ("Ticket sales were higher in Riga than in Tallinn.", SALES),
        ("The first edition sold more copies than the second.", EDITIONS),
        (
            "He led News Corp and 21st Century Fox after the split on June 28, 2013.",
            "He led News Corp , and 21st Century Fox , after the split on 28 June 2013 .",
        ),
        ("The barn has fewer floors than the house.", "The house has 3 floors and the barn has 5 rooms."),
        ("More men than women drive.", "Of women 34%, of men 29% cycle, while 51% of women and 60% of men drive."),
        ("Sales are not higher in Aachen than in Bonn.", "Sales were 5 million in Aachen and 8 million in Bonn."),
    ],
)
def test_what_may_be_compared_by_other_values_is_not_refuted(claim: str, quote: str):
    assert verdict_of(claim, quote) != OUT


def test_the_comparison_is_told_with_the_answer():
    source = passage(FEES)
    found = check_figures(
        "Membership is cheaper for students than for adults.", quoted_spans(FEES, source), sources=[source]
    )
    assert found.compared == "£25 < £40"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("More than half oppose the merger.", CONFIRMED),
        ("Less than half favour the merger.", CONFIRMED),
        ("Less than half oppose the merger.", OUT),
        ("More than half favour the merger.", OUT),
    ],
)
def test_a_share_is_more_or_less_than_half(claim: str, verdict: str):
    assert verdict_of(claim, MERGER) == verdict


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("The record date is September 27, 2023, and the payment date September 7, 2023.", DATES, OUT),
        ("31% are independents, while 38% are Democrats.", PARTIES, OUT),
        ("38% are independents, while 31% are Democrats.", PARTIES, CONFIRMED),
        ("Among Republicans 19% are under thirty, among Democrats 14%.", YOUNG, OUT),
        ("Nurses needed 33 minutes with amber glasses and 21 with clear ones.",
         "Nurses needed 21 minutes with amber glasses and 33 minutes with clear ones.", OUT),
    ],
)  # fmt: skip
def test_two_things_do_not_exchange_their_values(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


TABLE = passage(
    "Sales of the shops, in million:\n\nShop | Sales 2022 | Sales 2023 | Profit 2022 | Profit 2023\n"
    "Harbour | 150 | 160 | 12 | 9\nMarket | 40 | 50 | 5 | 4\nStation | 90 | 95 | 8 | 10"
)


@pytest.mark.parametrize(
    ("claim", "conflict", "is_bound"),
    [
        ("Harbour had a higher profit in 2022 than in 2023.", "", True),
        ("Harbour had a higher profit in 2023 than in 2022.", "order", False),
        ("Market's sales in 2023 were 110 million above those of Harbour.", "order", False),
        ("Both Harbour and Market increased their profit in 2023.", "order", False),
        ("Market sold twice as much as Harbour in 2023.", "order", False),
        ("Of these three, Market had the lowest sales in 2023.", "", True),
        ("Station had the highest sales of the three in 2023.", "order", False),
        ("Harbour had the highest sales of the three in 2023.", "", True),
    ],
)
def test_rows_and_columns_are_compared_as_a_claim_says(claim: str, conflict: str, is_bound: bool):
    found = check_figures(claim, quoted_spans(TABLE.text, TABLE), sources=[TABLE])
    assert (found.conflict, found.is_bound) == (conflict, is_bound)


def test_a_row_that_is_not_quoted_confirms_no_comparison():
    quoted = quoted_spans("Market | 40 | 50 | 5 | 4", TABLE)
    found = check_figures("Station had a higher profit in 2023 than in 2022.", quoted, sources=[TABLE])
    assert not found.is_bound


STEPS = ("1 Power on the printer and connect it to the network.", "2 Touch Select to find printers nearby.")


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The first step is to power on the printer.", (True, "power on the printer.")),
        ("Step 2 is to power on the printer.", (False, "power on the printer.")),
        ("The second step is to paint the printer blue.", None),
        ("Power on the printer.", None),
    ],
)
def test_a_step_is_told_by_its_number(claim: str, told: tuple[bool, str] | None):
    assert step_told(claim, STEPS, "en") == told


@pytest.mark.parametrize(
    ("claim", "quote", "verdict"),
    [
        ("At most 30 cm must be kept above the unit.", "Keep 30 cm (11 inches) or more above the unit.", OUT),
        ("At least 30 cm must be kept above the unit.", "Keep 30 cm (11 inches) or more above the unit.", CONFIRMED),
        ("The dividend went from 12.25 cents a year ago to 12.0 cents.",
         "The dividend is 12.25 cents (compared with 12.0 cents in the same quarter last year).", OUT),
    ],
)  # fmt: skip
def test_limits_and_moves_are_read_as_they_are_written(claim: str, quote: str, verdict: str):
    assert verdict_of(claim, quote) == verdict


TARIFFS = """Tariff | Monthly price | Data (GB)
Lark Basic | €9 | 5
Lark Plus | €18 | 20
Norda Flex | €15 | 12
Norda Max | €36 | 80"""
RIDES = "Our rider needed 138 minutes on the Estra, 141 minutes on the Brio and 152 minutes on the Dune."
RIVER = "The river stood at 2.9 metres on 30 December 2023 and at 3.4 metres on 2 January 2024."


@pytest.mark.parametrize(
    ("claim", "quote", "is_so"),
    [
        ("Lark Plus is 3 euros a month dearer than Norda Flex.", TARIFFS, True),
        ("Norda Flex is 3 euros a month dearer than Lark Plus.", TARIFFS, False),
        ("Norda Flex is 3 euros a month cheaper than Lark Plus.", TARIFFS, True),
        ("Lark Plus has 8 GB more data than Norda Flex.", TARIFFS, True),
        ("Norda Flex has 8 GB more data than Lark Plus.", TARIFFS, False),
        ("The Brio was faster than the Dune, by 11 minutes.", RIDES, True),
        ("The Dune was faster than the Brio, by 11 minutes.", RIDES, False),
        ("The Dune was 11 minutes slower than the Brio.", RIDES, True),
    ],
)
def test_a_difference_has_the_direction_that_a_claim_gives_it(claim: str, quote: str, *, is_so: bool):
    assert (verdict_of(claim, quote) != OUT) is is_so


@pytest.mark.parametrize(
    ("claim", "is_so"),
    [
        ("Lark Basic is the cheapest tariff in the table, at 9 euros.", True),
        ("Norda Flex is the cheapest tariff in the table, at 15 euros.", False),
        ("Norda Max is the dearest tariff, at 36 euros.", True),
        ("Lark Plus is the dearest tariff, at 18 euros.", False),
        ("Norda Flex is the cheapest tariff with 12 GB of data, at 15 euros.", True),  # of those alone
        ("Norda Flex is one of the cheapest tariffs, at 15 euros.", True),
    ],
)
def test_a_figure_that_is_called_the_least_is_that_of_its_column(claim: str, *, is_so: bool):
    assert (verdict_of(claim, TARIFFS) != OUT) is is_so


PRINTERS = """Printer | Price | Cost per page (cents)
Roto S | 120 | 2.6
Roto M | 240 | 2.1
Alto | 310 | 1.8"""


def test_a_superlative_may_name_its_column_with_per():
    assert verdict_of("Alto has the lowest cost per page, at 1.8 cents.", PRINTERS) == CONFIRMED
    assert verdict_of("Roto S has the lowest cost per page, at 2.6 cents.", PRINTERS) == OUT


def test_what_changed_between_two_days_changed_from_the_earlier_one():
    rose, fell = (
        f"Between 30 December 2023 and 2 January 2024 the river {word} by 0.5 metres." for word in ("rose", "fell")
    )
    spans = quoted_spans(RIVER, passage(RIVER))
    assert check_figures(rose, spans).derived == "3.4 metres − 2.9 metres = 0.5"
    assert check_figures(fell, spans).derived == ""
