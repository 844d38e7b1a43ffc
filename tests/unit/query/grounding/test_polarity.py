"""A claim that reverses a sentence, or exchanges its numbers, is told apart from a paraphrase."""

from itertools import islice, product

import pytest

from functions.query.grounding.polarity import (
    LONGEST_COMPARED_TOKENS,
    are_opposite,
    moves_against_its_word,
    near_copy_conflict,
    reversal,
)
from functions.query.grounding.statements import same_signs


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The warranty covers filters and seals.", "The warranty does not cover filters and seals."),
        ("The warranty doesn't cover filters and seals.", "The warranty covers filters and seals."),
        ("Sales in Lisbon decreased by 5 %.", "Sales in Lisbon increased by 5 %."),
        ("Smoking is allowed in the engine room.", "Smoking is prohibited in the engine room."),
        ("Breakfast is excluded from the price.", "Breakfast is included in the price."),
        ("Parking is unavailable at the station.", "Parking is available at the station."),
        ("Oil the pump after the first use.", "Oil the pump before the first use."),
        ("It was delivered without the spare filter.", "It was delivered with the spare filter."),
        ("Every ticket costs less than ten euros.", "Every ticket costs more than ten euros."),
        ("Automobilis yra draudziama laikyti kieme.", "Automobilis yra leidziama laikyti kieme."),
    ],
)
def test_the_opposite_of_a_sentence_is_a_reversal(claim: str, source: str):
    assert reversal(claim, [source], "lt" if "yra" in claim else "en") == "certain"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The warranty does not cover seals.", "Filters and seals are not covered by the warranty."),
        ("Filters are covered by the warranty.", "The warranty covers filters, but it does not cover the seals."),
        ("Sales increased.", "Sales rose in Lisbon."),
        ("The museum opens at ten.", "The museum opens at ten, and it does not close before six."),
        ("Nothing else is needed.", "The station has a mess hall."),
    ],
)
def test_a_paraphrase_is_no_reversal(claim: str, source: str):
    assert reversal(claim, [source], "en") == ""


@pytest.mark.parametrize("wordless", ["5 %", "12 345", "§ | 7.", "—", "€"])
def test_a_claim_without_a_word_is_no_reversal(wordless: str):
    assert reversal(wordless, ["The pump is not safe.", wordless, ""], "en") == ""


def test_one_sentence_that_agrees_is_enough():
    sources = ["The pump is not safe at sea.", "The pump is safe at sea when it is covered."]
    assert reversal("The pump is safe at sea.", sources, "en") == ""


def test_a_sentence_copied_with_its_numbers_exchanged_is_a_conflict():
    source = "The rate went from 5 to 7 per cent, and costs from 30 to 20 million."
    assert (
        near_copy_conflict("The rate went from 7 to 5 per cent, and costs from 30 to 20 million.", [source]) == "number"
    )
    assert near_copy_conflict("The rate went from 5 to 7 percent, and costs from 30 to 20 million.", [source]) == ""
    assert near_copy_conflict("The rate was 7 per cent.", [source]) == ""


@pytest.mark.parametrize(
    ("claim", "is_wrong"),
    [
        ("Sales fell to $200 million in May from $87 million.", True),
        ("Sales fell from $87 million to $200 million.", True),
        ("The share rose from 72 % to 46 %.", True),
        ("Sales grew from 1.2 billion to 900 million.", True),
        ("Sales rose to $200 million, from $87 million a year before.", False),
        ("The share declined from 72 % to 46 %.", False),
        ("Sales decreased 8 % to $65,775 million from $71,628 million.", False),
        ("The loss widened from $5 million to $7 million.", False),
        ("Sales increased by 5 % from 2021 to 2022.", False),
    ],
)
def test_a_move_that_its_own_numbers_contradict_is_found(claim: str, is_wrong: bool):
    assert moves_against_its_word(claim) is is_wrong


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        (
            "Lamps are checked every week, with no charge for members.",
            ["Lamps are checked every week.", "Members pay for what they use, with no charge for members' lamps."],
        ),
        ("Check that this is a business account.", ["Check that this is a business account and not a private one."]),
        ("The motion was not adopted, and it was defeated in May.", ["The motion was defeated in May."]),
    ],
)
def test_a_negation_of_something_else_reverses_nothing(claim: str, sentences: list[str]):
    assert reversal(claim, sentences, "en") == ""


def test_a_negation_of_something_else_does_not_agree():
    source = "The firm completed its review of the law in May, and no adjustments were made to the amounts."
    assert reversal("The firm has not completed its review of the law.", [source], "en") == "likely"
    assert reversal("The firm completed its review of the law.", [source], "en") == ""
    assert reversal("No adjustments were made.", [source], "en") == ""
    none = "None of the firms that we spoke to in May or June had completed its review of the law."
    assert reversal("The firms had not completed the review of the law.", [none], "en") == ""


def test_a_part_that_denies_is_compared_on_its_own():
    sentences = ["The lamps are checked every week.", "Members may not repair the lamps at home."]
    assert (
        reversal("The lamps are checked every week, and members may not repair lamps at home.", sentences, "en") == ""
    )
    assert reversal("The lamps are not checked every week, and members may not repair lamps at home.", sentences, "en")


def test_opposites_are_found_in_any_ending():
    assert are_opposite(["supports"], ["opposed"])
    assert not are_opposite(["supports"], ["supporting"])


def test_years_are_no_steps_of_a_move():
    assert moves_against_its_word("Costs fell to $200 million in 2023 from $87 million in 2022.")
    assert not moves_against_its_word("Costs rose to $200 million in 2023 from $87 million in 2022.")


def test_an_exception_denies_for_what_it_names():
    sentence = "Visitors, except for members of the club, are required to submit a ticket."
    assert reversal("Members of the club are not required to submit a ticket.", [sentence], "en") != "certain"


def test_a_copy_of_the_beginning_of_a_long_sentence_with_another_number_is_a_conflict():
    source = (
        "Unit sales for 2018 rose 2%, and higher average prices in all of our markets, old and new, added 3% to them."
    )
    assert near_copy_conflict("Unit sales for 2018 rose 4%.", [source]) == "number"
    assert near_copy_conflict("Unit sales for 2018 rose 2%.", [source]) == ""


def test_a_date_that_was_moved_is_no_other_number():
    source = "In March 2021 we completed our purchase of Zeni for $8.1 billion, and in March 2022 of Nuance for $9."
    assert near_copy_conflict("We completed our purchase of Zeni for $8.1 billion in March 2021.", [source]) == ""


def test_a_preposition_has_no_negating_prefix():
    assert reversal("Tools that are built into it help.", ["Tools that are built in to it help."], "en") == ""


LAMP = "The keeper lit the lamp in the tower before the storm."


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The keeper never lit the lamp in the tower before the storm.", LAMP, "certain"),
        ("The keeper never lit the lamp.", LAMP, "certain"),
        ("The keeper never lit the lamp at the market.", LAMP, "certain"),  # three of four words
        ("The keeper never lit bells at the market.", LAMP, ""),  # two of four
        ("No keeper never lit the lamp in the tower before the storm.", LAMP, ""),
        ("The keeper lit the lamp in the tower after the storm.", LAMP, "certain"),
        ("The keeper never saw the lamp.", LAMP, ""),  # what it denies is not there
        ("It never burned.", LAMP, ""),
        ("The price of oil fell in the north.", "The price of oil rose in the north.", "certain"),
        ("The price of coal was changed.", "Oil rose, but the price of coal was not changed.", "certain"),
        ("The price of coal was unchanged.", "Oil rose, but the price of coal was not changed.", ""),
        ("The price of oil did not rise.", "The price of oil rose, that of coal was not changed.", "likely"),
    ],
)
def test_how_certain_a_reversal_is_depends_on_how_much_of_the_claim_is_there(claim: str, sentence: str, expected: str):
    assert reversal(claim, [sentence], "en") == expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("It sold 5 lamps to 7 old keepers there.", "It sold 7 lamps to 5 old keepers there.", "number"),
        ("It sold 5 lamps.", "It sold 5 lamps.", ""),
        ("It sold 6 lamps to the old keepers.", "It sold 5 lamps to the old keepers.", "number"),
        ("It sold 4.321 lamps to the old keepers.", "It sold 4,321 lamps to the old keepers.", "number"),
        ("It sold 6 lamps.", "They bought 5 lamps.", ""),  # half of the words
        ("Prices of lamps fell last year.", "Prices of lamps rose last year.", "negation"),
        ("It ran in 2021 for 5 days.", "It ran for 5 days in 2021.", ""),
        ("Prices of lamps stood still last year.", "Prices of lamps rose a bit last year.", ""),
    ],
)
def test_a_copy_with_another_number_or_an_opposite_is_a_conflict(claim: str, sentence: str, expected: str):
    assert near_copy_conflict(claim, [sentence]) == expected
    assert near_copy_conflict(claim, [sentence, claim]) == ""
    assert near_copy_conflict(f"{claim} {'so ' * 150}", [f"{sentence} {'so ' * 150}"]) == ""  # too long to compare


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The club needs you to pay for the lamp.", "The club does not need you to pay for the lamp.", True),
        ("Entering the tower is not allowed.", "Entering the tower is prohibited.", False),
        ("Entering the tower is not allowed.", "Entering the tower is allowed.", True),
        ("Permits are permanent and impose no fees.", "Permits are temporary or impose fees.", True),
        ("Glass lamps are light.", "Glass lamps are heavy.", True),
    ],
)
def test_what_is_denied_twice_is_no_reversal(claim: str, sentence: str, *, expected: bool):
    assert bool(reversal(claim, [sentence], "en")) is expected


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The club is close to repairing the old lamp.", "The club is far from repairing the old lamp."),
        ("We use the old lamp of the tower.", "We use a bell rather than the old lamp of the tower."),
        ("The keeper lights the lamp.", "The keeper fails to light the lamp."),
        ("The keeper is lighting the lamp.", "The keeper stopped lighting the lamp."),
    ],
)
def test_words_that_deny_what_follows_negate(claim: str, sentence: str):
    assert reversal(same_signs(claim), [same_signs(sentence)], "en") == "certain"


def test_a_copy_is_told_up_to_a_length_and_beside_sentences_too_long_to_compare():
    words = [
        "".join(letters) for letters in islice(product("bdfg", "aeio", "klmn", "aeiu"), LONGEST_COMPARED_TOKENS - 2)
    ]
    copied, changed = " ".join([*words, "5 days"]), " ".join([*words, "6 days"])
    assert near_copy_conflict(changed, [copied]) == "number"
    assert near_copy_conflict(changed, [f"{copied} more", copied]) == "number"
    assert near_copy_conflict(changed, [f"{copied} more"]) == ""
    assert near_copy_conflict(f"{changed} more", [f"{copied} more"]) == ""


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Visitors may enter the yard, but the harbour lamp is not lit.", "certain"),
        ("Visitors may enter the yard through the gate, but the lamp is not lit.", ""),  # two words say too little
    ],
)
def test_a_part_of_three_words_is_compared_on_its_own(claim: str, expected: str):
    assert reversal(claim, ["The harbour lamp is lit at noon."], "en") == expected


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The office will not move to Malmö.", "The meeting rejected the proposal to move the office to Malmö."),
        ("With six players there is no third team.", "There is a third team only with eight players."),
        (
            "If you do not give notice by May, you stay for another year.",
            "Give notice by May; otherwise you stay for another year.",
        ),
    ],
)
def test_what_a_sentence_denies_in_other_words_may_be_negated(claim: str, source: str):
    assert reversal(claim, [source], "en") != "certain"


def test_what_a_sentence_only_affirms_may_not_be_negated():
    assert reversal("The office will not move to Malmö.", ["The office will move to Malmö in May."], "en") == "certain"
