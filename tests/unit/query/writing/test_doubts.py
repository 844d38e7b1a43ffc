"""Answers about something else than what is asked: they are told, with a doubt."""

import pytest

from functions.query.writing.asked import Asked, Kind
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
        ("Is the museum open on Tuesday?", "The museum is open on Sundays.", True),
        ("Is the museum open on Tuesday?", "The museum is not open on Sundays.", False),  # but on other days
    ],
)
def test_what_is_told_of_something_else_is_doubtful(question: str, text: str, *, doubtful: bool):
    assert extract(question, [passage(text, score=1.0)]).may_be_others is doubtful


def test_what_the_document_speaks_of_elsewhere_is_missed_in_an_answer_without_it():
    told = passage("The taxi costs 28 euros at Hotel Seeblick.", score=1.0, chunk_id="one")
    elsewhere = passage("Breakfast is at seven. The breakfast room is upstairs.", score=0.1, chunk_id="two")
    assert extract("What does breakfast cost at Seeblick?", [told, elsewhere]).may_be_others
    assert not extract("What does breakfast cost at Seeblick?", [told]).may_be_others


@pytest.mark.parametrize(
    ("question", "text", "doubtful"),
    [
        (
            "How many hens may I have on a half plot?",
            "Six hens may be kept on a full plot.\n\nRents\n\nA half plot costs £34.",
            True,
        ),
        (
            "How many hens may I have on a full plot?",
            "Six hens may be kept on a full plot.\n\nRents\n\nA half plot costs £34.",
            False,
        ),
        ("How much will the second study cost?", "The cost of the first study was £318.", True),
        ("What was the net debt in 2023?", "£ million | 2025 | 2024\nNet debt | 64.2 | 58.7\nSales | 9.1 | 8.2", True),
        ("What was the net debt in 2024?", "£ million | 2025 | 2024\nNet debt | 64.2 | 58.7\nSales | 9.1 | 8.2", False),
        ("When does the term begin in 2027/28?", "The term of 2026/27 ends on 3 July 2027.", True),
        ("When does the term end in 2026/2027?", "The term of 2026/27 ends on 3 July 2027.", False),
        ("When did the meeting of 2027/31 end?", "The meeting of 2026/27 ended on 3 July 2027.", False),  # no two years
        ("How much is the supplement on Saturdays?", "The supplement of Saturdays is paid on the 26th.", True),
        ("How much is the supplement on Saturdays?", "The supplement of Saturdays is 26 euros.", False),
    ],
)
def test_another_kind_or_another_year_is_doubtful(question: str, text: str, *, doubtful: bool):
    assert extract(question, [passage(text, score=1.0)]).may_be_others is doubtful


@pytest.mark.parametrize(
    ("question", "text", "doubtful"),
    [
        ("How much does the battery cost?", "Part | Warranty\nBattery | 2 years\nMotor | 3 years", True),
        ("How much does the battery cost?", "Part | Price\nBattery | €600\nMotor | €900", False),
        ("When is the lamp lit?", "The lamp is lit at sunset.", False),
        ("What time does the boat leave?", "The boat leaves from the landing stage.", True),
        ("What time does the boat leave?", "The boat leaves at 9.40 a.m.", False),
    ],
)
def test_what_is_not_of_the_kind_that_is_asked_for_is_doubtful(question: str, text: str, *, doubtful: bool):
    assert extract(question, [passage(text, score=1.0)]).may_be_others is doubtful


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("May I bring my dog?", "Dogs cannot be taken on this tour."),
        ("Who looks after my dog?", "Dogs cannot be taken on this tour. Luggage is limited to one bag."),
    ],
)
def test_what_decides_a_question_for_yes_or_no_is_told_alone(question: str, told: str):
    text = "Dogs cannot be taken on this tour. Luggage is limited to one bag."
    assert [each.text for each in extract(question, [passage(text, score=1.0)]).claims] == [told]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Le camping est-il ouvert en octobre ?", Kind.YES_NO),
        ("Les barbecues sont-ils interdits ?", Kind.YES_NO),
        ("Où peut-on se garer ?", Kind.FACT),
        ("Quand le camping ouvre-t-il ?", Kind.TIME),
        ("Was kostet die Inspektion?", Kind.FACT),
        ("Was the gate mended?", Kind.YES_NO),
    ],
)
def test_a_question_for_yes_or_no_is_known_by_its_form(question: str, kind: Kind):
    assert Asked.of(question).kind is kind


@pytest.mark.parametrize(
    ("text", "doubtful"), [("Show the ship's fuel.", True), ("The ship's fuel is 40 barrels.", False)]
)
def test_how_much_is_not_told_surely_without_a_number(text: str, *, doubtful: bool):
    assert extract("How much fuel does the ship need?", [passage(text, score=1.0)]).may_be_others is doubtful


@pytest.mark.parametrize(
    ("question", "text", "doubtful"),
    [
        ("Why was the rent lowered?", "The rent may be raised once a year, in June. Keys hang inside.", True),
        ("Why was the rent raised?", "The rent may be raised once a year, in June. Keys hang inside.", False),
        ("How many kayaks belong to the cabin?", "Two moorings belong to the cabin. Paddles hang inside.", True),
        ("How many moorings belong to the cabin?", "Two moorings belong to the cabin. Paddles hang inside.", False),
        ("¿Cuánto gana un socorrista?", "Hay tres socorristas y un botiquín junto al agua.", True),
        ("How much does a hammock cost?", "The ticket for ten swims costs £34. The towel is free.", True),
    ],
)
def test_what_says_the_opposite_or_nothing_of_what_is_named_is_doubtful(question: str, text: str, *, doubtful: bool):
    assert extract(question, [passage(text, score=1.0)]).may_be_others is doubtful


@pytest.mark.parametrize(
    ("table", "doubtful"),
    [
        ("Berth | Fee\nLarge | 340\nSmall | 90", False),
        ("Fee of the year | Berth\n2024 | large\n2025 | small", True),  # the label is no amount
    ],
)
def test_a_bare_figure_beside_a_rows_label_is_an_amount(table: str, *, doubtful: bool):
    assert extract("How much does a large berth cost?", [passage(table, score=1.0)]).may_be_others is doubtful


def test_an_answer_in_another_language_has_other_words():
    rules = passage(
        "Zwischen 22 Uhr und 6 Uhr ist Nachtruhe. Im Garten darf gegrillt werden.", language="de", score=1.0
    )
    assert not extract("When is the quiet time in the courtyard?", [rules]).may_be_others
