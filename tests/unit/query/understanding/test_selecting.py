"""Questions for all of a kind that meet one condition are told by how they begin and what they do without."""

import pytest

from functions.query.understanding.selecting import asks_which


@pytest.mark.parametrize(
    "question",
    [
        "Which dishes contain sesame?",
        "Who is absent?",
        "What costs less than 10 euros?",
        "which rooms have at least 12 seats",
        "Welche Gerichte enthalten Milch?",
        "Quels cours ont lieu le mardi ?",
    ],
)
def test_a_question_for_all_of_a_kind(question: str) -> None:
    assert asks_which(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the price of the soup?",
        "Who is the treasurer?",
        "Was ist die Kernzeit?",
        "Which dish has the most gluten?",
        "Which dishes contain milk or eggs?",
        "How many dishes contain milk?",
        "Which of the dishes that we had at the long table by the window last summer contain sesame?",
    ],
)
def test_a_question_for_one_thing_or_with_more_conditions(question: str) -> None:
    assert not asks_which(question)
