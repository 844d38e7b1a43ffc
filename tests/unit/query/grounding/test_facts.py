"""Numbers, dates, shares, amounts and units: one fact is recognised in every notation, another never."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.grounding.facts import facts_in, is_rounded
from functions.query.grounding.known_facts import has_other_letter, is_of_another_quarter, known_facts, missing_facts
from functions.query.grounding.names import unknown_names
from functions.query.grounding.quantities import spelled_value

SAME = [
    ("1,000", "1000"), ("1 000", "1,000"), ("1000", "1 000"), ("1.234.567", "1,234,567"), ("1'000'000", "1,000,000"),
    ("12%", "12 percent"), ("12 per cent", "12 %"), ("12,5 proc.", "12.5%"), ("0.5", "0,5"), ("12 procentų", "12 %"),
    ("3 January", "Jan 3"), ("January 3, 2024", "2024-01-03"), ("3 Jan 2024", "03/01/2024"),
    ("3 January", "January 3rd"), ("31 March 2003", "31 st March 2003"), ("March 31, 2003", "as on 31 st March 2003"),
    ("2024 m. sausio 3 d.", "January 3, 2024"), ("3 January 2024", "On Jan 3 the board met. In 2024 it"),
    ("January 2024", "3 January 2024"), ("in January", "January 2024"),
    ("$1.2 million", "$1,200,000"), ("$1.2 million", "USD 1.2m"), ("US$5 million", "$5,000,000"),
    ("$1.2M", "$1.2 million"),
    ("1,2 mln. eurų", "1.2 million euros"), ("$83.0 billion", "$82,959 million"), ("3 thousand", "3,000"),
    ("about $1.23 million", "1,234,567 dollars"), ("€5", "5 euros"), ("5k", "5,000"),
    ("24 months", "24-month warranty"), ("two litres", "2 litres"), ("2 litres", "two litres"), ("5 kg", "5kg"),
    ("twenty-five people", "25 people"), ("three hundred and fifty", "350"), ("24 hours", "24h"),
    ("10 to 15 days", "10-15 days"),
    ("10:30 pm", "22:30"), ("Q2", "the second quarter"), ("the third quarter of 2022", "Q3 2022"),
    ("in the 1990s", "the 1990s"),
    ("CVE-2025-1234", "see CVE-2025-1234."), ("Form 10-K", "a Form 10-K was filed"), ("1.2.3", "version 1.2.3"),
    ("60 °C", "60°C"), ("12", "(12)"), ("-3 %", "−3 %"), ("the 21st floor", "floor 21"), ("third place", "3rd place"),
    ("four in five", "81 %"), ("a third of them", "one third"), ("two thirds", "67%"), ("half of them", "half of it"),
    ("41 %", "about two in five"), ("$164 million", "$164 million year-to-date"), ("16 Gbit/s", "16 gigabits"),
    ("a quarter of an hour", "15 minutes, that is a quarter of an hour"), ("two hours and a half", "2.5 hours"),
    ("two and a half hours", "2.5 hours"), ("half an hour", "0.5 hours"), ("two kilowatt-hours", "2 kWh"),
]  # fmt: skip
OTHER = [
    ("four in five", "75 %"), ("a third of them", "40 %"), ("16 GB/s", "16 Gbit/s"),
    ("1,001", "1000"), ("13%", "12 percent"), ("12 dollars", "12%"), ("12 percentage points", "12 %"),
    ("4 January", "Jan 3"), ("January 3, 2025", "2024-01-03"), ("March 2024", "January 2024"),
    ("3 February", "3 January"),
    ("$1.3 million", "$1,200,000"), ("$84 billion", "$82,959 million"), ("$1.2 billion", "$1.2 million"), ("€5", "$5"),
    ("24 years", "24-month warranty"), ("three litres", "2 litres"), ("5 g", "5 kg"), ("5 GB", "5 MB"), ("1.25", "1.2"),
    ("12.5", "125"), ("CVE-2025-1235", "CVE-2025-1234"), ("-3 %", "3 %"), ("Q3", "the second quarter"),
    ("11:30", "10:30"),
    ("5", "15"), ("10-Q", "10-K"), ("1.2.4", "1.2.3"), ("twenty-six", "25"), ("nine people", "people"),
    ("2023", "2022 and 2024"),
    ("12 345", "12 and 345 of them were 12 346"), ("a quarter of them", "a quarter of an hour"),
    ("one in ten", "one in ten minutes"), ("two cups and a half", "2.5 hours"),
]  # fmt: skip


def lacking(claim: str, source: str, passage: str = "") -> list[str]:
    return missing_facts(claim, known_facts([source], passage or source))


@pytest.mark.parametrize(("claim", "source"), SAME)
def test_one_fact_is_recognised_in_every_notation(claim: str, source: str):
    assert lacking(claim, source) == []


@pytest.mark.parametrize(("claim", "source"), OTHER)
def test_another_value_unit_or_date_is_another_fact(claim: str, source: str):
    assert lacking(claim, source) != []


@pytest.mark.parametrize(
    ("claim", "source", "is_same"),
    [
        ("345 million parameters", "a model (345M parameters)", True),
        ("345 parameters", "a model (345M parameters)", False),
        ("345 million", "a pipe of 345M length", False),
    ],
)
def test_a_letter_before_what_is_counted_is_a_scale(claim: str, source: str, *, is_same: bool):
    assert (lacking(claim, source) == []) is is_same


@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("more than $400 million", True),
        ("over $420 million", True),
        ("less than $430 million", True),
        ("exceeding $427 million", True),
        ("more than $430 million", False),
        ("more than $300 million", False),
        ("less than $500 million", False),
        ("under $420 million", False),
    ],
)
def test_what_is_more_or_less_than_a_value_is_near_it(claim: str, *, is_true: bool):
    (said,) = (fact for fact in facts_in(claim) if fact.kind == "number")
    assert is_rounded(said, Decimal(427_000_000)) is is_true


def test_a_table_says_its_scale_and_its_currency_once():
    table = "(in millions, $)\nRevenue | 82,959\nCosts | 43,348"
    assert lacking("$82,959 million", "Revenue | 82,959", table) == []
    assert lacking("$82.96 billion", "Revenue | 82,959", table) == []
    assert lacking("€82,959 million", "Revenue | 82,959", table) != []
    assert lacking("$82,959 billion", "Revenue | 82,959", table) != []


def test_only_a_number_said_to_be_rough_may_be_rounded():
    assert lacking("about 12 %", "12.4 %") == []
    assert lacking("12 %", "12.4 %") != []
    assert lacking("about 13 %", "12.4 %") != []


def test_words_that_are_no_numbers_are_no_facts():
    assert lacking("One of them may march on, first of all, in a second.", "Nothing.") == []


@given(st.decimals(min_value=1, max_value=9_999_999, places=2), st.sampled_from(["{:,}", "{}", "${:,}", "{:,} %"]))
def test_a_number_is_known_however_its_thousands_are_grouped(value: Decimal, form: str):
    assert lacking(form.format(value), f"It was {form.replace(',', '').format(value)} then.") == []


@given(st.integers(10, 9_999_999), st.integers(1, 9_999_999))
def test_another_whole_number_is_never_known(value: int, by: int):
    # Above three digits a group may be read as decimals, by the writer's country; without separators it is not.
    assert lacking(f"{value + by} people", f"There were {value} people.") != []


def test_a_name_that_no_text_holds_is_unknown():
    texts = ["Ann Lee runs Halley station for the chief executive officer, Jonas Petraitis."]
    assert unknown_names("It is run by Bob Ray.", texts, "en") == ["Bob", "Ray"]
    assert unknown_names("It is run by Ann Lee of Halley's staff.", texts, "en") == []
    assert unknown_names("It is run by the CEO.", texts, "en") == []
    assert unknown_names("Stotį valdo pavaldinė Jono Petraičio.", texts, "lt") == []
    assert unknown_names("Das Haus hat einen Garten.", texts, "de") == []
    assert unknown_names("Quimby runs it.", texts, "en") == []  # a capital at the beginning says nothing


def test_the_plural_of_an_acronym_is_known():
    assert not unknown_names("All DDs may do it.", ["Debian Developer (DD): a member"], "en")
    assert unknown_names("All DMs may do it.", ["Debian Developer (DD): a member"], "en") == ["DMs"]


@pytest.mark.parametrize(
    ("claim", "is_other"),
    [
        ("The programme was approved in Q2 2022.", True),
        ("The programme was approved in the second quarter of 2022.", True),
        ("The programme was approved in the third quarter of fiscal 2022.", False),
        ("The programme was approved in Q3 2022.", False),
        ("The programme ended in Q2 2023.", False),  # nothing is said of 2023
    ],
)
def test_a_quarter_is_compared_with_those_of_its_year(claim: str, is_other: bool):
    assert is_of_another_quarter(claim, ["The programme was approved in Q3 2022 to save costs."]) is is_other


def test_a_letter_must_be_in_the_evidence():
    assert has_other_letter('Draw a "Z" to take it.', ['Draw an "S" to take it.'])
    assert not has_other_letter('Draw an "S" to take it. I did.', ['Draw an "S" to take it.'])
    assert has_other_letter("It is a Class A device.", ["A Class B device must be shielded."])
    assert has_other_letter("It is a Class A Common Share.", ["Each Class B Common Share has a vote."])
    assert not has_other_letter("It is a Class A device.", ["Devices of Class A are shielded."])
    assert not has_other_letter("A U.S. firm and AT&T; don't.", ["nothing"])


@pytest.mark.parametrize(
    ("words", "value"),
    [
        *((f"{tens}-two", 10 * at + 2) for at, tens in enumerate(
            ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
        )),
        *((word, at) for at, word in enumerate(
            ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
             "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
        )),
        ("three hundred and fifty", 350),
        ("two million", 2_000_000),
        ("a dozen", 12),
    ],
)  # fmt: skip
def test_numbers_in_words_have_their_value(words: str, value: int):
    assert spelled_value(words) == value


def test_a_name_that_an_abbreviation_is_short_for_is_known():
    claim = "The Harbour Lamp Authority, or those it sends, will look at it."
    assert unknown_names(claim, ["Reports are sent to the HLA."], "en") == []
    assert unknown_names(claim, ["Reports are sent to the HLB."], "en") == ["Harbour", "Lamp", "Authority"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Adults 520 € 85 €", ["520 €", "85 €"]),
        ("$164 million year-to-date", ["$164 million"]),
        ("a 12-36-month-old", ["12", "36-month"]),
        ("5kg and 24-month", ["5kg", "24-month"]),
    ],
)
def test_a_number_takes_the_unit_behind_it_and_no_more(text: str, written: list[str]):
    assert [fact.text for fact in facts_in(text) if fact.kind in {"number", "identifier"}] == written
