"""What a question says is not so, and statements that agree with it or do not."""

import pytest

from functions.query.writing.extractive import extract
from functions.query.writing.table_words import agrees_on_denied, denied_words
from tests.support.query import passage


@pytest.mark.parametrize(
    ("question", "language", "denied"),
    [
        ("What does it cost someone who doesn't live in the parish?", "en", ["live", "parish"]),
        ("Ich habe das Rad nicht registriert, was nun?", "de", ["registriert"]),
        ("My manager has not answered, what now?", "en", ["answered"]),
        ("Is it open or not at night?", "en", []),
        ("Is it open at night?", "en", []),
    ],
)
def test_the_words_behind_a_negation_are_denied(question: str, language: str, denied: list[str]):
    assert [each.word for each in denied_words(question, language)] == denied


@pytest.mark.parametrize(
    ("text", "is_label", "agrees"),
    [
        ("Bikes that are not registered get one year.", False, True),
        ("Whoever registers gets two years.", False, False),
        ("The shop is closed.", False, None),
        ("Not registered", True, True),
        ("Registered bikes", True, False),
    ],
)
def test_a_statement_agrees_if_it_denies_the_same(text: str, *, is_label: bool, agrees: bool | None):
    question = "I have not registered the bike, what now?"
    assert agrees_on_denied(text, question, "en", is_label=is_label) is agrees


def test_the_row_for_those_who_are_not_is_told_first():
    rents = "Tenant | Full plot | Half plot\nResident of the parish | £62 | £34\nNon-resident | £88 | £48"
    claims = extract("What does half a plot cost someone who doesn't live in the parish?", [passage(rents)]).claims
    assert claims[0].text == "Non-resident; Half plot: £48"
