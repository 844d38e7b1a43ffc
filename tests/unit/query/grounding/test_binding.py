"""What a claim binds together is bound in its sentences: by pattern, preposition, comparison and subject."""

import pytest

from functions.query.grounding.binding import (
    governs_another,
    has_another_subject,
    joins_sentences,
    turns_comparison,
)

CLOUD = "Cloud revenue increased 9%, driven by Azure and other services."
PROCESSES = "Processes revenue increased 7%, driven by Office subscriptions."


def joined(claim: str, *sentences: str, around: frozenset[str] = frozenset()) -> bool:
    return joins_sentences(claim, sentences or (CLOUD, PROCESSES), around, "en")


@pytest.mark.parametrize(
    "claim",
    [
        "Cloud revenue increased, driven by Office subscriptions.",
        "Processes revenue increased, driven by Azure.",
        "Cloud revenue increased 7%.",
    ],
)
def test_words_of_two_sentences_in_one_pattern_are_joined(claim: str):
    assert joined(claim)


@pytest.mark.parametrize(
    "claim",
    [
        "Cloud revenue increased 9% thanks to Azure.",
        "Driven by Office subscriptions, Processes revenue increased 7%.",
        "Revenue increased.",
    ],
)
def test_a_claim_of_one_sentence_joins_nothing(claim: str):
    assert not joined(claim)


def test_what_the_question_or_a_title_names_is_not_brought_from_elsewhere():
    claim = "Cloud revenue increased, driven by Office subscriptions."
    assert not joined(claim, around=frozenset(("offic", "subscript", "cloud", "process")))


def test_a_sentence_that_refers_to_the_one_before_may_be_joined_with_it():
    claim, left = "Morello joined the rock band Greta.", "Morello left the rock band Rage in 1991."
    assert not joined(claim, left, "He joined the rock band Greta in 1990.")
    assert joined(claim, left, "Wilk joined the rock band Greta in 1990.")


def test_a_date_may_come_from_another_sentence():
    sentences = ("Footwear unit sales rose 2% in fiscal 2018.", "Unit sales of apparel rose 4%.")
    assert not joined("In 2018, unit sales of apparel rose 4%.", *sentences)
    assert joined("Footwear unit sales rose 4%.", *sentences)


def test_table_rows_are_left_to_the_rules_of_tables():
    assert not joined("Cloud revenue increased 7%.", "Cloud revenue increased | 9%", "Process revenue increased | 7%")


MERGER = "The margin fell due to an increase in rents. The disposition of the hotel was completed in May."


@pytest.mark.parametrize(
    ("claim", "governed"),
    [
        ("The margin fell due to the disposition.", True),
        ("The margin fell due to an increase in rents.", False),
        ("The margin fell due to rents.", False),
        ("The disposition of the hotel was completed.", False),
        ("The disposition of the rents was completed.", True),
        ("The margin fell due to the weather.", False),
    ],
)
def test_a_preposition_that_governs_what_the_text_has_elsewhere(claim: str, *, governed: bool):
    assert governs_another(claim, MERGER.split(". "), "en") == governed


def test_what_is_listed_after_a_preposition_is_governed_by_it():
    sentence = "The fee is paid by students, teachers and guests of the school."
    assert not governs_another("The fee is paid by guests.", [sentence], "en")


@pytest.mark.parametrize(
    ("claim", "turned"),
    [
        ("The Standard class costs less than the Archive class.", True),
        ("The Archive class costs less than the Standard class.", False),
        ("The Standard class costs more than the Archive class.", False),
        ("The Standard class costs less than $5.", False),
    ],
)
def test_a_comparison_turned_round(claim: str, *, turned: bool):
    assert turns_comparison(claim, ["The Archive class costs less than the Standard class."], "en") == turned


STORED = "New objects in the bucket will inherit the class. Existing objects are not changed."


@pytest.mark.parametrize(
    ("claim", "another"),
    [
        ("Existing objects will inherit the class.", True),
        ("New objects will inherit the class.", False),
        ("The objects will inherit the class.", False),
        ("All uploaded files will inherit the class.", False),
        ("Existing objects are not changed.", False),
    ],
)
def test_a_verb_with_the_subject_of_another_sentence(claim: str, *, another: bool):
    assert has_another_subject(claim, STORED.split(". "), "en") == another


def test_order_tells_roles_in_english_only():
    claim, sentence = (
        "The Standard class costs less than the Archive class.",
        "The Archive costs less than the Standard.",
    )
    assert not turns_comparison(claim, [sentence], "lt")
    assert not has_another_subject("Existing objects will inherit the class.", STORED.split(". "), "de")
    assert not governs_another("The margin fell due to the disposition.", MERGER.split(". "), "lt")


def test_a_very_long_claim_is_not_compared():
    assert not joined(" ".join([CLOUD, PROCESSES] * 20))
