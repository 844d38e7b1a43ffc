"""The unit above a table is told with its figures, where it is certain that it holds for them."""

import pytest

from functions.query.grounding.claims import Claim, Reference
from functions.query.writing.table_units import unit_above, with_unit, without_unit
from tests.support.query import passage

ROWS = (
    "\n\n| 2026 | 2025\nCash | 4,060 | 5,870\nLoans | (15,500) | (13,000)\nMargin | 7.4% | 6.9%\n"
    "Tax per share | 12 | 14"
)


def told(above: str, row: str, shown: str, rows: str = ROWS) -> str:
    text = above + rows
    return with_unit(shown, text, text.index(f"\n{row} |") + 1)


@pytest.mark.parametrize(
    ("above", "unit", "thing"),
    [
        ("£ thousand", "£ thousand", ""),
        ("Balance sheet (extract, £ thousand)", "£ thousand", ""),
        ("(In Millions, except per share data)", "in millions", ""),
        ("In thousands of euros, unless otherwise stated", "in thousands of euros", ""),
        ("Angaben in Tausend Euro", "in Tausend Euro", ""),
        ("TEUR", "TEUR", ""),
        ("€'000", "€'000", ""),
        ("($ in millions)", "$ in millions", ""),
        ("For 100 g of the product. All amounts in mg.", "in mg", ""),
        ("Energy used (kWh)", "kWh", ""),
        ("All prices in Swiss francs.", "in Swiss francs", "prices"),
        ("Our ships in the North", "", ""),
        ("Results in May", "", ""),
        ("We sold bread, rolls and cakes in thousands of shops.", "", ""),
        ("kg", "", ""),  # alone it may be anything
        ("Route(s)", "", ""),
    ],
)
def test_a_unit_is_read_from_the_lines_above(above: str, unit: str, thing: str):
    text = above + ROWS
    assert unit_above(text, text.index("Cash")) == (unit, thing)


def test_the_unit_of_another_table_or_of_a_line_far_above_is_none():
    assert told("£ thousand\n\nA | B\nC | 5\n\nDues", "Cash", "Cash; 2026: 4,060") == "Cash; 2026: 4,060"
    assert told("£ thousand\n\nOne\n\nTwo\n\nThree", "Cash", "Cash; 2026: 4,060") == "Cash; 2026: 4,060"


@pytest.mark.parametrize(
    ("row", "shown", "expected"),
    [
        ("Cash", "Cash; 2026: 4,060", "Cash; 2026: 4,060 (£ thousand)"),
        ("Cash", "Cash; 2026: 4,060; 2025: 5,870", "Cash; 2026: 4,060; 2025: 5,870 (£ thousand)"),
        ("Loans", "Loans; 2026: (15,500)", "Loans; 2026: (15,500), £ thousand"),
        ("Margin", "Margin; 2026: 7.4%", "Margin; 2026: 7.4%"),
        ("Tax per share", "Tax per share; 2026: 12", "Tax per share; 2026: 12"),
        ("Cash", "£ thousand: Cash; 2026: 4,060", "£ thousand: Cash; 2026: 4,060"),
    ],
)
def test_it_stands_behind_the_figures_that_it_holds_for(row: str, shown: str, expected: str):
    assert told("£ thousand", row, shown) == expected


def test_a_figure_with_decimals_among_others_without_is_of_another_unit():
    rows = "\n\n| 2026 | 2025\nCash | 4,060 | 5,870\nLoans | 15,500 | 13,000\nStocks | 210 | 190\nRent | 8 | 9"
    rows += "\nCover | 2.4 | 2.1"
    assert told("£ thousand", "Cover", "Cover; 2026: 2.4", rows) == "Cover; 2026: 2.4"
    rows = "\n\n| 2026 | 2025\nCover | 240.4 | 210.1\nPeak | 350.5 | 400"
    assert told("in bar", "Cover", "Cover; 2026: 240.4", rows) == "Cover; 2026: 240.4 (in bar)"


def test_a_small_figure_may_be_a_count_and_has_no_unit_of_the_table():
    rows = "\n\n| 2026 | 2025\nCash | 4,060 | 5,870\nYears to maturity | 8 | 9"
    assert told("£ million", "Years to maturity", "Years to maturity; 2026: 8", rows) == "Years to maturity; 2026: 8"


def test_of_figures_of_several_kinds_each_has_its_own():
    rows = "\n\nSegment | 2026 | Change\nShops | 18,900 | +6.8%\nOnline | 1,500 | +25.0%"
    shown = "Segment: Shops; 2026: 18,900; Change: +6.8%"
    assert told("£ thousand", "Shops", shown, rows) == "Segment: Shops; 2026: 18,900 (£ thousand); Change: +6.8%"


def test_the_unit_of_prices_is_not_that_of_beds():
    rows = "\n\nRoom | Beds | Price\nLake | 2 | 240\nYard | 1 | 190"
    assert told("Prices in £", "Lake", "Lake; Beds: 2", rows) == "Lake; Beds: 2"
    assert told("Prices in £", "Lake", "Lake; Price: 240", rows) == "Lake; Price: 240 (in £)"


def test_a_claim_may_be_told_without_the_unit():
    source = passage(f"£ thousand{ROWS}")
    for shown, plain in (
        ("Cash; 2026: 4,060 (£ thousand)", "Cash; 2026: 4,060"),
        ("Loans; 2026: (15,500), £ thousand", "Loans; 2026: (15,500)"),
    ):
        quote = next(line for line in source.text.split("\n") if line.startswith(shown[:4]))
        claim = Claim(shown, (Reference(1, quote),))
        assert without_unit(claim, [source]).text == plain
    other = Claim("Bread is sold.", (Reference(1, "Bread is sold."),))
    assert without_unit(other, [passage("Bread is sold.")]) == other


@pytest.mark.parametrize(
    ("text", "shown", "expected"),
    [
        (
            "Fuel | Unit | Stored\nDiesel | litres | 48,000\nPetrol | litres | 900",
            "Diesel; Unit: litres; Stored: 48,000",
            "Diesel; Stored: 48,000 litres",
        ),
        ("Item | Unit | Price\nSand | tonne | 35\nWire | m | 2", "Sand; Unit: tonne; Price: 35", ""),
        (
            "Item | Unit | Sold | Price\nSand | tonne | 9 | £35\nWire | m | 5 | £2",
            "Sand; Unit: tonne; Sold: 9; Price: £35",
            "",
        ),
        ("Test | Unit | Year\nDelay | days | 2023\nSpeed | km | 2022", "Delay; Unit: days; Year: 2023", ""),
    ],
)
def test_the_unit_of_a_row_is_told_with_its_figures_if_all_are_in_it(text: str, shown: str, expected: str):
    row = shown.partition(";")[0]
    assert with_unit(shown, text, text.index(f"\n{row} |") + 1) == (expected or shown)
