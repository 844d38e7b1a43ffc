"""Rows that contradict a question come last, and an answer of rows that may be others is doubtful."""

import pytest

from functions.query.writing.extractive import extract
from functions.query.writing.row_doubts import ToldSpan, contradicts
from tests.support.query import passage

FOOD = """Our food

Dish | Price | Milk | Gluten
Soup | £5.20 | Yes | No
Curry | £8.90 | No | No
Pasta bake | £7.40 | Yes | Yes

Open daily."""
PARTS = """Spare parts

Part | Material | Price
Impeller 120 mm | bronze | $96.50
Impeller 140 mm | bronze | $112.00
Motor 1.5 kW | steel | $420.00

Without tax."""
ON_CALL = """On call

Day | First | Second
Monday | Dev | Gosia
Saturday | Amira | Finn

Call the office."""
GROUPS = """Activities

Day | Group 1 (Mr Osei) | Group 2 (Ms Farley)
Tuesday | Canoeing | Climbing
Thursday | Caving | Canoeing

Bring a coat."""
POOLS = """Women, group A

Player | Club | Won
Priya | Orchard | 2
Mei | Harbour | 0

The next day."""


def doubted(question: str, *texts: str) -> bool:
    return extract(question, [passage(text, n=n, score=0.8) for n, text in enumerate(texts, 1)]).may_be_others


def is_contradicted(question: str, row: str, text: str, *, verdict: bool = False) -> bool:
    source, start = passage(text), text.index(row)
    return contradicts(question, ToldSpan(source, start, start + len(row)), verdict=verdict)


@pytest.mark.parametrize(
    ("question", "row", "text", "expected"),
    [
        ("Which dishes have milk in them?", "Curry | £8.90 | No | No", FOOD, True),
        ("Which dishes have milk in them?", "Soup | £5.20 | Yes | No", FOOD, False),
        ("What can I eat without gluten?", "Pasta bake | £7.40 | Yes | Yes", FOOD, True),
        ("What can I eat without gluten?", "Curry | £8.90 | No | No", FOOD, False),
        ("In which dishes is milk not used?", "Soup | £5.20 | Yes | No", FOOD, True),
        ("In which dishes is milk not used?", "Curry | £8.90 | No | No", FOOD, False),
        ("What is gluten-free?", "Pasta bake | £7.40 | Yes | Yes", FOOD, True),
        ("Which dishes have both milk and gluten?", "Soup | £5.20 | Yes | No", FOOD, True),
        ("Which dishes have milk but no gluten?", "Soup | £5.20 | Yes | No", FOOD, False),
        ("How much milk is in the pasta bake, and is there gluten?", "Pasta bake | £7.40 | Yes | Yes", FOOD, False),
        ("When does group 2 go canoeing?", "Tuesday | Canoeing | Climbing", GROUPS, True),
        ("When does group 2 go canoeing?", "Thursday | Caving | Canoeing", GROUPS, False),
    ],
)
def test_a_row_contradicts_what_it_denies_of_what_is_asked_for(question: str, row: str, text: str, *, expected: bool):
    assert is_contradicted(question, row, text) is expected


def test_a_row_with_no_answers_whether_it_is_so():
    assert not is_contradicted("Is there milk in any curry?", "Curry | £8.90 | No | No", FOOD, verdict=True)
    assert not is_contradicted("What milk is in the curry?", "Curry | £8.90 | No | No", FOOD)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does the impeller of 160 mm cost?", PARTS),
        ("What does the motor of 3 kW cost?", PARTS),
        ("Is Dev on call on Saturday?", ON_CALL),
        ("What does a 5 year old pay for the curry on Sundays?", FOOD.replace("£8.90", "£5")),
        ("Who won group B?", POOLS),
        ("Who is the saturday caretaker?", ON_CALL),
        ("Which part is the heaviest?", PARTS.replace("Price", "Stock").replace("$", "box ")),
    ],
)
def test_rows_that_may_be_others_are_doubtful(question: str, text: str):
    assert doubted(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does the impeller of 140 mm cost?", PARTS),
        ("Who is first on call on Saturday?", ON_CALL),
        ("Who won in group A?", POOLS),
        ("What does the curry cost?", FOOD),
        ("What does group 1 do on Thursday?", GROUPS),
        ("Which part is the most expensive?", PARTS),
    ],
)
def test_rows_with_all_that_a_question_names_are_not(question: str, text: str):
    assert not doubted(question, text)


def test_the_rows_that_fit_come_before_those_that_contradict():
    told = extract("What can I eat that has milk in it?", [passage(FOOD)]).claims
    assert "Curry" not in told[0].text
