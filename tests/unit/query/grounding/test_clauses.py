"""A word that turns the meaning of a clause is noticed, left out or put in."""

import pytest

from functions.query.grounding.clauses import _Aligned, clauses_of, is_denied, states_supposition, turns
from functions.query.grounding.measures import crosses_pairs
from functions.query.grounding.roles import (
    invents_cause,
    is_reversed,
    joins_alternatives,
    turns_cause,
    turns_mode,
    turns_span,
    turns_time,
)


@pytest.mark.parametrize(
    ("claim", "sentence", "kind"),
    [
        ("The pump stops.", "The pump may stop.", "possible"),
        ("The valve leaks.", "If the seal is dry, the valve leaks.", "condition"),
        ("The valve leaks oil.", "The valve leaks oil unless it is sealed.", "condition"),
        ("The seal is dry.", "The valve leaks if the seal is dry.", "condition"),
        ("The firm hid the losses.", "The report alleges that the firm hid the losses.", "attribution"),
        ("Members may enter the archive.", "Only members may enter the archive.", "only"),
        ("Only members may enter the archive.", "Members may enter the archive.", "only"),
        ("The pump can stop.", "The pump stops.", ""),
        ("The pump may stop.", "The pump stops.", "possible"),
        ("Guests may not lift the lid.", "Guests never lift the lid.", ""),
        ("All members voted by letter.", "Some members voted by letter.", "contrary"),
        ("All members voted by letter.", "Members voted by letter.", "contrary"),
        ("Not all members voted by letter.", "Members voted by letter.", "negation"),
        ("Most members voted by letter.", "Members voted by letter.", "most"),
        ("Members voted by letter at most twice.", "Members voted by letter once or twice.", ""),
        ("Only 40 members voted by letter.", "40 members voted by letter.", ""),
        ("All visitors wear a helmet.", "All visitors under twelve wear a helmet.", ""),
        ("All guests wear a helmet.", "All foreign guests wear a helmet.", "all"),
        ("The plant plans to close its gates.", "The plant closed its gates.", "plan"),
        ("The plant closes solely for repairs.", "The plant closes mainly for repairs.", "only"),
        ("The lamp was repaired.", "The lamp was not repaired.", "negation"),
        ("Sales of lamps rose.", "Sales of lamps fell.", "negation"),
        ("You can open the lid by hand.", "Open the lid by hand.", ""),
        ("The pumps are tested every year.", "The pumps are tested annually.", ""),
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


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The valve leaks at night.", "Call the office if the valve leaks at night.", True),
        ("Call the office if the valve leaks at night.", "Call the office if the valve leaks at night.", False),
        ("The valve must not leak at night.", "Call the office if the valve leaks at night.", False),
        ("Call the office at night.", "Call the office at night if the valve leaks.", False),
    ],
)
def test_what_a_sentence_only_supposes_is_no_fact(claim: str, sentence: str, expected: bool):
    assert states_supposition(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    "claim",
    ["The fire caused the flood.", "The fire led to the flood.", "The flood was driven by the fire."],
)
def test_an_active_cause_is_compared_too(claim: str):
    assert turns_cause(claim, ["The fire broke out because of the flood."], "en")
    assert not turns_cause(claim, ["The flood came because of the fire."], "en")


def test_a_short_passive_has_an_agent():
    sentence = "A detailed report of the pump, prefaced by a short abstract, is sent to the office."
    assert is_reversed("The short abstract of the pump is prefaced by a detailed report.", [sentence], "en")
    assert not is_reversed("The detailed report of the pump is prefaced by a short abstract.", [sentence], "en")


def test_a_cause_is_compared_with_sentences_about_the_same():
    sentences = ["The flood came because of the fire in the mill.", "The shop closed because of a strike."]
    assert turns_cause("The fire in the mill broke out because of the flood.", sentences, "en")
    assert not turns_cause("The flood came because of the fire in the mill.", sentences, "en")


def test_a_cause_must_be_in_the_source():
    sentences = ["The lamp failed in May.", "The plant was closed in June."]
    assert invents_cause("The plant was closed because the lamp failed.", sentences)
    assert not invents_cause("The plant was closed in June.", sentences)
    assert not invents_cause("The plant was closed because the lamp failed.", ["The lamp led to the closure."])
    assert not invents_cause("It was closed because the lamp failed.", ["The lamp failed, which means a closure."])
    assert not invents_cause("It is closed as soon as it fails.", sentences)


def test_provided_is_a_condition_only_where_it_begins_one():
    assert any("condition" in each.kinds for each in clauses_of("You may go provided that it rains.", "en"))
    assert not any("condition" in each.kinds for each in clauses_of("Goals must be provided for the agency.", "en"))


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        (
            "Lower sales of lamps were offset by higher sales of pumps.",
            "Lower sales of pumps, which was offset by higher sales of lamps.",
            True,
        ),
        (
            "Prices were higher in Oslo and lower in Rome.",
            "Prices were higher in Rome, more than offset by lower ones in Oslo.",
            True,
        ),
        ("We use 16 layers and 4 heads.", "We use 4 layers and 16 heads.", True),
        (
            "The machine's fourth studio album, Renegades, sold well.",
            "Renegades is the fourth studio album by the machine, and sold well.",
            False,
        ),
        (
            "The author's early life, before she moved to Rome, was hard.",
            "Before she moved to Rome, the early life of the author was hard.",
            False,
        ),
    ],
)
def test_two_parts_are_exchanged_only_around_words_that_relate_them(claim: str, sentence: str, expected: bool):
    assert is_reversed(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Remove the cover before unplugging the cord.", True),
        ("Unplug the cord after removing the cover.", True),
        ("The cord is unplugged before the cover is removed.", False),
        ("After the cord is unplugged, remove the cover.", False),
    ],
)
def test_what_is_before_cannot_be_after(claim: str, expected: bool):
    assert turns_time(claim, ["Before removing the cover, unplug the cord."], "en") is expected


def test_one_of_several_is_not_the_only_one():
    sentence = "The mill is one of the leading mills in the world."
    assert "some" in turns("The mill is the leading mill in the world.", [sentence], "en")
    assert "some" not in turns("It is one of the leading mills in the world.", [sentence], "en")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The board recommended, and the auditors approved, that the mill be sold.", True),
        ("The auditors recommended, and the board approved, that the mill be sold.", False),
        ("The mill was sold on the auditors' and the board's approval.", False),
    ],
)
def test_two_that_act_are_no_list(claim: str, expected: bool):
    sentence = "The auditors recommended, and the board approved, that the mill be sold."
    assert is_reversed(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The lease runs from May 1, 2026 until June 30, 2023.", True),
        ("The lease runs from June 30, 2023 to May 1, 2026.", False),
        ("The lease was extended from June 30, 2023 until 2030.", False),
        ("From March 2020 to May 1, 2026 it was extended twice.", False),
    ],
)
def test_a_time_keeps_its_beginning_and_its_end(claim: str, expected: bool):
    sentence = "The lease of the mill was extended by three years, from June 30, 2023 until May 1, 2026."
    assert turns_span(claim, [sentence]) is expected


@pytest.mark.parametrize(
    ("claim", "sentences", "expected"),
    [
        ("The seal is dry in winter.", ["If the seal is dry, the valve leaks."], True),  # two of three words
        ("The old seal of the pump is dry.", ["If the seal is dry, it leaks."], False),  # two of four
        ("The seal may be dry.", ["If the seal is dry, it leaks."], False),
        ("The seal is dry.", ["The seal is dry.", "If the seal is dry, it leaks."], False),
        ("The seal dries.", ["If it is dry, it leaks."], False),
    ],
)
def test_a_supposition_is_compared_if_most_of_the_claim_is_in_it(claim: str, sentences: list[str], expected: bool):
    assert states_supposition(claim, sentences, "en") is expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("This is not true.", True),
        ("That is a myth!", True),
        ("So it was. This is untrue.", True),
        ("This is true.", False),
        ("He says this is not true.", False),
        ("This is what the keeper of the old tower at the harbour of the island calls untrue.", False),
        ("", False),
    ],
)
def test_what_the_next_sentence_denies_is_denied(after: str, expected: bool):
    assert is_denied(f"The lamp is lit. {after}", len("The lamp is lit.")) is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("Each share has been converted into cash.", "Each share will be converted into cash.", True),
        ("Each share is converted into cash.", "Each share will be converted into cash.", False),
        ("The court will enter a judgment.", "The court has entered a judgment.", True),
        ("Costs will increase.", "Increased costs are a burden.", False),
        ("The fire will spread to the tower.", "The fire could spread to the tower.", True),
        ("The keeper must pay a fee.", "The keeper may have to pay a fee.", True),
        ("The keeper may pay a fee.", "The keeper may have to pay a fee.", False),
        ("The keeper has to pay a fee.", "The keeper may pay a fee.", True),
        ("The keeper has to pay a fee.", "The keeper must pay a fee.", False),
        ("The fee is included.", "The fee will be included.", False),
        ("The keeper paid.", "The lamp will be lit.", False),
    ],
)
def test_a_verb_keeps_its_time_and_its_certainty(claim: str, sentence: str, *, expected: bool):
    assert turns_mode(claim, [sentence], "en") is expected
    assert not turns_mode(claim, [sentence, claim], "en")
    assert not turns_mode(claim, [sentence], "lt")


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Whoever is admitted in January must apply by December.", True),
        ("Whoever is admitted in January must apply by July.", False),
        ("Whoever is admitted in January applies by July, and in August by December.", False),
        ("The dates are July and December.", False),  # of the same place in both
        ("One must apply by December.", False),
    ],
)
def test_numbers_and_months_of_like_parts_are_not_crossed(claim: str, *, expected: bool):
    sentence = "Whoever is admitted in January applies by July; whoever is admitted in August applies by December."
    assert crosses_pairs(claim, [sentence]) is expected


def test_a_year_may_stand_beside_the_number_of_another_one():
    sentence = "Income was 37 million in March 2022 and 48 million in June 2023."
    assert not crosses_pairs("After 2022 income rose to 48 million.", [sentence])
    assert crosses_pairs("Income was 48 million in March.", [sentence])


def test_months_of_two_applications_are_not_crossed():
    sentence = "Apply in April/May for a start in January, and in November/December for a start in August."
    assert crosses_pairs("Apply in April/May for a start in August.", [sentence])
    assert not crosses_pairs("Apply in April/May for a start in January.", [sentence])


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("Both a map and a lamp are needed.", "A map or a lamp is needed.", True),
        ("Both a map and a lamp are needed.", "A map and a lamp are needed.", False),
        ("A map and a lamp will do.", "A map or a lamp is needed.", False),
        ("Both a map and a rope are needed.", "A map or a lamp is needed.", False),
        ("Both adults and children may use the pool.", "Adults or children may use the pool.", False),
        ("Both men and children swim.", "Women, boys or children swim.", False),
    ],
)
def test_alternatives_are_not_joined(claim: str, sentence: str, *, expected: bool):
    assert joins_alternatives(claim, [sentence]) is expected


def test_what_may_be_entitled_is_less_than_what_is():
    sentence = "Families with two children may be entitled to free lunches."
    assert "possible" in turns("Families with two children are entitled to free lunches.", [sentence], "en")
    assert not turns("Families with two children can get free lunches.", [sentence], "en")
    assert not turns("The range can be adjusted by the user.", ["The range is adjustable by the user."], "en")
    assert turns("Tickets may be sold at the door.", ["Tickets are valuable at the door, and sold there."], "en")


def test_what_a_result_comes_from_is_its_cause():
    sentence = "Damage caused by lack of care is not covered."
    assert not turns_cause("Damage that results from lack of care is not covered.", [sentence], "en")
    assert turns_cause("Lack of care that results from damage is not covered.", [sentence], "en")


def test_a_condition_before_a_sentence_holds_up_to_what_is_set_against_it():
    sentence = clauses_of("If it rains, the gate closes, the lamp burns, but guests stay, the bell rings.", "en")
    aligned = _Aligned(sentence, frozenset(), sentence, frozenset())
    held = {clause.text: aligned._is_conditional(at) for at, clause in enumerate(sentence)}
    assert [held["the gate closes"], held["the lamp burns"], held["the bell rings."]] == [True, True, False]
