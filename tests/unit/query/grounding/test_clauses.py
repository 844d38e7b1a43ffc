"""A word that turns the meaning of a clause is noticed, left out or put in."""

import pytest

from functions.query.grounding.clauses import turns
from functions.query.grounding.roles import turns_cause


@pytest.mark.parametrize(
    ("claim", "sentence", "kind"),
    [
        ("The pump stops.", "The pump may stop.", "possible"),
        ("The valve leaks.", "If the seal is dry, the valve leaks.", "condition"),
        ("The valve leaks oil.", "The valve leaks oil unless it is sealed.", "condition"),
        ("The seal is dry.", "The valve leaks if the seal is dry.", "condition"),
        ("The firm hid the losses.", "The report alleges that the firm hid the losses.", "attribution"),
        ("Members may enter the archive.", "Only members may enter the archive.", "only"),
        ("All members voted by letter.", "Some members voted by letter.", "all"),
        ("All visitors wear a helmet.", "All visitors under twelve wear a helmet.", ""),
        ("All guests wear a helmet.", "All foreign guests wear a helmet.", "all"),
        ("The plant will close its gates.", "The plant closed its gates.", "future"),
        ("The lamp was repaired.", "The lamp was not repaired.", "negation"),
        ("Sales of lamps rose.", "Sales of lamps fell.", "negation"),
        ("You can open the lid by hand.", "Open the lid by hand.", ""),
        ("The valve leaks oil.", "The valve leaks oil, and the lamp blinks if it is dark.", ""),
        ("The valve leaks oil.", "Even if it is sealed, the valve leaks oil.", ""),
    ],
)
def test_a_turning_word_is_noticed(claim: str, sentence: str, kind: str):
    assert (kind in turns(claim, [sentence], "en")) if kind else not turns(claim, [sentence], "en")


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Users must cancel in writing.", "Users may cancel in writing."),
        ("All members voted by letter.", "Some members voted by letter."),
    ],
)
def test_a_duty_is_the_contrary_of_a_possibility(claim: str, sentence: str):
    assert "contrary" in turns(claim, [sentence], "en")


def test_one_sentence_that_agrees_is_enough():
    assert not turns("The pump stops.", ["The pump may stop.", "The pump stops."], "en")


def test_a_cause_and_its_effect_cannot_change_places():
    sentence = "Sales fell because of the strike."
    assert turns_cause("The strike began because sales fell.", [sentence], "en")
    assert not turns_cause("Because of the strike, sales fell.", [sentence], "en")
    assert not turns_cause("Sales fell due to a strike.", [sentence], "en")
