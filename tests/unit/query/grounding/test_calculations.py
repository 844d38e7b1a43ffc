"""The time between two dates, and a date from another one and a time."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.grounding.calculations import derive_from_dates
from functions.query.grounding.facts import Fact, facts_in

UPDATES = "Version 8.0 gets updates until 31 December 2026, version 8.1 until 30 June 2027."
NOTICE = "The letter of 3 March 2026 allows 14 days."


def fact_of(claim: str) -> Fact:
    return next(each for each in facts_in(claim) if each.kind in {"number", "date"})


def calculated(claim: str, source: str) -> str:
    found = derive_from_dates(fact_of(claim), [source], claim)
    return found.text if found else ""


@pytest.mark.parametrize(
    ("claim", "source", "text"),
    [
        ("It gets them for six months longer.", UPDATES, "30 June 2027 − 31 December 2026 = six months"),
        ("An answer is due by 17 March 2026.", NOTICE, "3 March 2026 + 14 days = 17 March 2026"),
        (
            "The trip takes 9 days.", "We leave on 28 May 2026 and are back on 6 June 2026.",
            "6 June 2026 − 28 May 2026 = 9 days",
        ),
        ("That is two years.", "From 1 May 2024 to 1 May 2026.", "1 May 2026 − 1 May 2024 = two years"),
        ("That is three years.", "From April 2010 until April 2013.", "April 2013 − April 2010 = three years"),
        ("That is seven hours.", "The rate applies from 00:30 to 07:30.", "07:30 − 00:30 = seven hours"),
        ("That is 90 minutes.", "It runs from 23:15 to 00:45.", "00:45 − 23:15 = 90 minutes"),  # past midnight
    ],
)  # fmt: skip
def test_times_and_dates(claim: str, source: str, text: str):
    assert calculated(claim, source) == text


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It gets them for five months longer.", UPDATES),
        ("An answer is due by 18 March 2026.", NOTICE),
        ("That is two years.", "From 1 May 2024 to 3 May 2026."),
        ("That is one day.", "1 May 2020, 2 May 2020, 3 May 2020, 4 May 2020 and 5 May 2020."),  # too many dates
        ("That is one month.", "From May 2024 to June 2024."),  # no days
        ("That is eight hours.", "The rate applies from 00:30 to 07:30."),
        ("That is two hours.", "It opens at 08:00, closes at 12:00 and opens again at 13:00."),
        ("He led it for three years, from April 2013 until April 2016.", "Hers was from April 2010 until April 2013."),
        (
            "It was found on 6 January 2021.",
            "The pot is some 3,000 years old and was found on 5 January 2021.",
        ),
        ("It was found on 6 January 2021.", "The pottery is 99999999999 weeks old and was found on 5 January 2021."),
        ("It lasts two days.", "It began on 30 December 9999 and ended on 31 December 9999."),
    ],
)
def test_no_time_or_date(claim: str, source: str):
    assert not calculated(claim, source)


def test_dates_of_two_sentences_are_only_compared_if_the_claim_names_both():
    texts = ["The complaint was filed on 1 January 2024.", "The hearing was held on 1 April 2024."]
    claim = "The warranty lasts 3 months."
    assert derive_from_dates(fact_of(claim), texts, claim) is None
    said = "The hearing was 3 months later (1 April 2024, not 1 January 2024)."
    fact = next(each for each in facts_in(said) if each.unit == "month")
    assert derive_from_dates(fact, texts, said) is not None


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.integers(1, 400))
def test_any_two_dates_are_as_many_days_apart_as_the_calendar_says(first: date, days: int):
    last = first + timedelta(days)
    source = f"From {first:%d %B %Y} to {last:%d %B %Y}."
    assert calculated(f"It lasts {days} days.", source)
    assert not calculated(f"It lasts {days + 1} days.", source)


def test_dates_behind_a_range_of_years_are_read_too():
    """The range may also be a month: its date is taken once."""
    found = [(each.kind, each.text) for each in facts_in("In 2007-08 it was so, and on 3 May 2019 again.")]
    assert found == [("years", "2007-08"), ("date", "3 May 2019"), ("year", "2019")]
