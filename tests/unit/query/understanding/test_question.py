"""Sentences that only say how to answer are not searched for; all else is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.understanding import question
from functions.query.understanding.question import (
    Understood,
    of_any_language,
    patterns_of,
    shortened,
    without_answer_form,
    without_contractions,
)


@pytest.mark.parametrize(
    "request_",
    [
        "Please write the answer in integer format.",
        "Write down the answer in float format with 2 decimals.",
        "Please writhe the answer in list format, e.g., [\"a\",\"b\"]",
        "Answer in one short sentence.",
        "Directly answer 'yes' or 'no'.",
        "Give me a rounded integer.",
        "Be brief.",
        "The answer should be formatted as a list like ['Page 2', 'Page 4'].",
        "Format the steps in a list. For example: [\"one\", \"two\"].",
    ],
)  # fmt: skip
def test_what_only_says_how_to_answer_is_left_out(request_: str):
    question = "How many steps does it take to replace the grille?"
    assert without_answer_form(f"{question} {request_}") == question


def test_lithuanian_requests_are_left_out_with_and_without_diacritics():
    question = "Kiek kainuoja bilietas?"
    assert without_answer_form(f"{question} Pateikite atsakymą sąrašu.", "lt") == question
    assert without_answer_form(f"{question} Atsakykite vienu sakiniu lietuviskai.", "lt") == question


@pytest.mark.parametrize(
    "question",
    [
        "How do I request leave? Give me the form to use.",
        "Compare plans A and B. Give the list price.",
        "Which group is greater in 2018? Republicans, or men?",
        "How is the pump descaled? List the tools.",
        "Power is 10 W. Using the distances of M250, calculate the minimum separation.",
        "List the F1 scores in descending order.",
        "Write the answer in list format.",
        "",
    ],
)
def test_sentences_with_content_stay(question: str):
    assert without_answer_form(question) == question


def test_a_request_in_the_middle_goes_alone():
    assert (
        without_answer_form("I have the M250. Answer briefly. What does E4 mean?")
        == "I have the M250. What does E4 mean?"
    )


def test_what_was_typed_stays_for_the_model():
    understood = Understood("What is the fee? Answer briefly.", "What is the fee? Answer briefly.")
    assert understood.search_text == "What is the fee?"
    assert understood.standalone == understood.question


@given(st.text(max_size=200), st.text(max_size=60))
def test_something_is_always_left(first: str, second: str):
    question = f"{first} {second}".strip()
    assert bool(without_answer_form(question).strip()) == bool(question.strip())


@pytest.mark.parametrize(
    ("role", "question"),
    [
        ("Assume that you are a public equities analyst.", "What is the margin?"),
        ("You are a helpful financial assistant.", "What is the margin?"),
        ("Act as a lawyer.", "Who is liable?"),
    ],
)
def test_as_whom_to_answer_is_not_searched_for(role: str, question: str):
    assert without_answer_form(f"{role} {question}") == question


@pytest.mark.parametrize(
    "question", ["You are the owner of a Nova. How is it reset?", "Assume a fee of 5 euros. Who pays?"]
)
def test_a_first_sentence_that_says_more_is_searched_for(question: str):
    assert without_answer_form(question) == question


def test_periods_are_searched_for_as_documents_write_them():
    understood = Understood("", "How did capex change from FY21 to 2Q23?")
    assert understood.search_text == "How did capex change from fiscal 2021 to Q2 2023?"


def test_a_text_is_shortened_at_a_space_only_if_it_is_too_long():
    assert shortened("alpha beta g", 12) == "alpha beta g"
    assert shortened("alpha beta ga", 12) == "alpha beta"
    assert shortened("alphabetagammas", 12) == "alphabetagam"


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("What happens if I don't pay?", "What happens if I do not pay?"),
        ("Why doesn\u2019t it start?", "Why does it not start?"),
        ("It isnt here, can't I go?", "It is not here, can I not go?"),
        ("Won't they've paid?", "Will they not have paid?"),
        ("I've paid, who'll sign?", "I have paid, who will sign?"),
        ("Who signed the board's minutes?", "Who signed the board's minutes?"),
    ],
)
def test_a_contraction_leaves_no_word_to_look_for(typed: str, plain: str):
    assert without_contractions(typed) == plain


# --- regular expressions by kind and language ---


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(question, "TEXTS", tmp_path)
    return tmp_path


def test_lines_of_one_kind_and_language_are_joined_with_what_names_stand_for(texts: Path) -> None:
    (texts / "colours.txt").write_text(
        "# Colours.\nLIGHT = pale\nLIGHT = light\n\nwarm en (?:LIGHT) red\nwarm en orange\nwarm de rot\ncold * blue\n"
    )
    assert patterns_of("colours.txt") == {
        "warm": {"en": "(?:pale|light) red|orange", "de": "rot"},
        "cold": {"*": "blue"},
    }


def test_the_patterns_of_several_kinds_match_in_any_language_and_case(texts: Path) -> None:
    (texts / "colours.txt").write_text("warm en red\nwarm de rot\ncold * blue\n")
    read = patterns_of("colours.txt")
    warm, both = of_any_language(read["warm"]), of_any_language(read["warm"], read["cold"])
    assert [bool(warm.search(text)) for text in ("Red wine", "ROT", "blue")] == [True, True, False]
    assert both.search("Blue") is not None
