"""Which questions have parts, and what is searched for for each; "terms and conditions" is one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.understanding.parts import MAX_PARTS, parts_of
from shared.language import language_of


def split(question: str) -> list[str]:
    return [part.question for part in parts_of(question, language_of(question) or "en")]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who founded the museum? When does it open?", ["Who founded the museum?", "When does it open?"]),
        (
            "I own an M250. What is the warranty? How is the lens cleaned?",
            ["I own an M250. What is the warranty?", "I own an M250. How is the lens cleaned?"],
        ),
        ("What is the fee and when is the deadline?", ["What is the fee?", "When is the deadline?"]),
        (
            "How is the boiler descaled, how much is the fee, and who repairs the pump?",
            ["How is the boiler descaled?", "How much is the fee?", "Who repairs the pump?"],
        ),
        (
            "Which barge carries the heaviest load, and which the lightest?",
            ["Which barge carries the heaviest load?", "Which barge carries the lightest load?"],
        ),
        ("Which mill is the oldest and which the newest?", ["Which mill is the oldest?", "Which the newest?"]),
        (
            "Which mill has the most looms and which has the fewest doors?",
            ["Which mill has the most looms?", "Which has the fewest doors?"],
        ),
        ("Compare the warranty of X100 and X200", ["The warranty of X100", "The warranty of X200"]),
        ("Compare X100, X200 and X300 in weight", ["X100 in weight", "X200 in weight", "X300 in weight"]),
        ("Compare the M250 and M350 batteries", ["The M250 batteries", "The M350 batteries"]),
        ("Compare the return policy of Acme with Globex", ["The return policy of Acme", "The return policy of Globex"]),
        (
            "What is the difference between the gross margin and the net margin of Intel in 2022?",
            ["What is the gross margin of Intel in 2022?", "What is the net margin of Intel in 2022?"],
        ),
        ("Intel vs AMD revenue in 2022", ["Intel revenue in 2022", "AMD revenue in 2022"]),
        (
            "What is the revenue of Intel compared to AMD?",
            ["What is the revenue of Intel?", "What is the revenue of AMD?"],
        ),
        (
            "How does the liquidity of ETFs compare to that of stocks in Japan?",
            ["How does the liquidity of ETFs in Japan?", "How does the liquidity of stocks in Japan?"],
        ),
        (
            "Kiek kainuoja bilietas ir kada atidaromas muziejus?",
            ["Kiek kainuoja bilietas?", "Kada atidaromas muziejus?"],
        ),
        ("Palyginkite M250 ir M350 garantiją", ["M250 garantiją", "M350 garantiją"]),
        (
            "Was kostet das Ticket und wann beginnt die Führung?",
            ["Was kostet das Ticket?", "Wann beginnt die Führung?"],
        ),
        ("¿Cuál es la diferencia entre el M250 y el M350?", ["¿Cuál es el M250?", "¿Cuál es el M350?"]),
        ("Quelle est la différence entre le M250 et le M350 ?", ["Quelle est le M250 ?", "Quelle est le M350 ?"]),
    ],
)
def test_a_question_in_parts_is_split(question: str, parts: list[str]):
    assert split(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What are the terms and conditions?",
        "What were research and development expenses in 2022?",
        "How many charts and tables are in the report?",
        "Which version fits the refrigerator and freezer controls?",
        "Who are the non-executive and independent directors?",
        "What is the minimum separation between portable and mobile equipment?",
        "How did sales change between 2021 and 2022?",
        "Which group is greater in 2018? Republicans, or men?",
        "What was the growth from 2002 to 2003 compared to the forecast?",
        "Is the data safe? How do I know?",
        "Explain what it is and how it works.",
        "What is the fee? Answer in one sentence.",
        "Compare them",
        "and",
        "",
    ],
)
def test_one_question_stays_whole(question: str):
    assert split(question) == []


def test_more_parts_than_four_are_searched_for_together():
    assert split("Who is Ann? Who is Bob? Who is Cyd? Who is Dan? Who is Eve?") == []


WORDS = [
    "what",
    "how",
    "who",
    "is",
    "the",
    "boiler",
    "museum",
    "X100",
    "X200",
    "and",
    "or",
    "?",
    ",",
    ".",
    "vs",
    "compare",
]
WORDS += ["between", "difference", "with", "to", "In", "2022", "fee"]


@given(
    st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join)),
    st.sampled_from(["en", "lt", "de", "", "pl"]),
)
def test_a_question_never_has_one_part_more_than_four_or_an_empty_one(question: str, language: str):
    parts = parts_of(question, language)
    assert len(parts) in (0, *range(2, MAX_PARTS + 1))
    assert all(part.name.strip() and part.question.strip() for part in parts)
    assert len({part.question for part in parts}) == len(parts)
