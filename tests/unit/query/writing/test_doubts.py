"""Answers about something else than what is asked: they are told, with a doubt."""

import pytest

from functions.query.writing.extractive import extract
from tests.support.query import passage

HOTEL = """Rooms

We stay three nights at Hotel Seeblick. A taxi to the hotel costs 28 euros.

Meals

Breakfast is included. Dinner is at 7 p.m."""

DAYS = """Sunday 7 June: boat to Marenz

The steamer leaves at 9.40 a.m. Lunch is not included.

Monday 8 June: free day

There is an outing to the salt mine for 39 euros."""


@pytest.mark.parametrize(
    ("question", "text", "doubtful"),
    [
        ("What does a taxi to Hotel Seeblick cost?", HOTEL, False),
        ("Is lunch included on Sunday?", DAYS, False),
        ("What does the outing on Tuesday cost?", DAYS, True),  # it is Monday's
    ],
)
def test_what_is_told_of_something_else_is_doubtful(question: str, text: str, *, doubtful: bool):
    assert extract(question, [passage(text, score=1.0)]).may_be_others is doubtful


def test_what_the_document_speaks_of_elsewhere_is_missed_in_an_answer_without_it():
    told = passage("The taxi costs 28 euros at Hotel Seeblick.", score=1.0, chunk_id="one")
    elsewhere = passage("Breakfast is at seven. The breakfast room is upstairs.", score=0.1, chunk_id="two")
    assert extract("What does breakfast cost at Seeblick?", [told, elsewhere]).may_be_others
    assert not extract("What does breakfast cost at Seeblick?", [told]).may_be_others
