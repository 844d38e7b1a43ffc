"""A claim that says more than its evidence is doubted."""

import pytest

from functions.query.grounding.overstated import (
    affirms_number,
    begins_otherwise,
    drops_condition,
    generalises,
    has_own_superlative,
    is_example,
    leaves_no_exception,
    tells_as_decided,
    tells_as_done,
)


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("Anybody may borrow a canoe, wherever they moor.", "Those who moor here may borrow a canoe.", True),
        ("Nobody who wore a helmet was hurt.", "Of the 12 riders hurt, 9 did not wear a helmet.", True),
        ("Any member may borrow a canoe.", "All members may borrow a canoe.", False),
        ("Nobody was hurt.", "There were no injuries.", False),
        ("If any leak is found, it is sealed.", "Leaks that are found are sealed.", False),
        ("Members may borrow a canoe.", "Those who moor here may borrow a canoe.", False),
    ],
)
def test_a_claim_of_any_or_none_needs_evidence_of_all_or_none(claim: str, sentence: str, *, expected: bool):
    assert generalises(claim, [sentence]) is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The upper mill has the largest wheel.", "Upper mill; Wheel (m): 4.1", True),
        ("Rowing is the most popular course.", "Rowing; Places: 14", True),
        ("The upper mill has the largest wheel.", "The largest wheel is that of the upper mill.", False),
        ("The upper mill had the best year.", "Upper mill; Sacks: 41; open for at least a week", True),
        ("August had the highest tide.", "In August the tide reached its peak.", False),
        ("The forest is closed at the request of the owner.", "The owner has closed it.", False),
    ],
)
def test_a_superlative_needs_one_in_the_evidence(claim: str, sentence: str, *, expected: bool):
    assert has_own_superlative(claim, [sentence]) is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("Of the riders, 17 had a light.", "Of the 30 riders, 17 did not carry any light.", True),
        ("17 riders had no light.", "Of the 30 riders, 17 did not carry any light.", False),
        ("17 riders were without a light.", "Of the 30 riders, 17 did not carry any light.", False),
        ("17 riders had a light.", "17 riders carried a light, and 13 did not.", False),
        ("The line was closed in 2017.", "The line has not run since 2017.", False),
        ("At most 17 riders are admitted.", "The group may not exceed 17 riders.", False),
    ],
)
def test_what_is_denied_of_a_number_is_not_affirmed_of_it(claim: str, sentence: str, *, expected: bool):
    assert affirms_number(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("number", "claim", "sentence", "expected"),
    [
        ("seven", "A child of seven swims with an adult.", "Children under 8 swim with an adult.", True),
        ("40 m", "A rope of 40 m is tested twice.", "Ropes longer than 25 m are tested twice.", True),
        ("sixteen", "A group of sixteen pays half.", "Groups of twelve or more pay half.", True),
        ("10", "Children under 10 swim with an adult.", "Children under 8 swim with an adult.", False),
        ("seven", "A child of seven swims with an adult.", "Children swim with an adult, 8 of them at a time.", False),
        ("four", "Four boats share a rope.", "Ropes longer than 25 m are tested twice.", False),
        ("2019", "The rope of 2019 was tested.", "Ropes longer than 25 m are tested after 3 tests.", False),
    ],
)
def test_a_number_may_be_an_example_for_a_limit(number: str, claim: str, sentence: str, *, expected: bool):
    written = claim[claim.lower().index(number) :][: len(number)]
    assert is_example(written, claim, [sentence]) is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        (
            "The opening of the lock was moved to May.",
            "Ms Ito proposed that the opening of the lock be moved to May.",
            True,
        ),
        ("The new lock has been built.", "The port intends to build the new lock.", True),
        (
            "The opening of the lock was moved to May.",
            "He said that boats had been given no notice, and proposed that the opening of the lock be moved to May.",
            True,
        ),
        ("Ms Ito proposed that the opening be moved.", "Ms Ito proposed that the opening be moved to May.", False),
        ("The opening was moved to May.", "The notice says that the opening will be moved to May.", False),
        ("The port intends to build the new lock.", "The port intends to build the new lock.", False),
        ("The new lock has been built.", "The new lock was built.", False),
    ],
)
def test_what_is_proposed_is_not_done(claim: str, sentence: str, *, expected: bool):
    assert tells_as_done(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("After a bite, keep the arm still for an hour.", True),
        ("After falls, keep the arm still for an hour.", False),
        ("Before a bite, keep the arm still for an hour.", False),
        ("After a bite, the wound may be washed.", False),  # what the sentence of a fall does not say
        ("Keep the arm still for an hour.", False),
    ],
)
def test_a_sentence_about_one_thing_says_nothing_of_another(claim: str, *, expected: bool):
    sentences = ["After a fall, keep the arm still for one hour.", "After a bite, wash the wound."]
    assert begins_otherwise(claim, sentences, "en") is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        ("The warden is called at once.", "First two helpers look for the key. Then they call the warden.", True),
        ("The warden is called at once.", "The warden is called immediately.", False),
        ("Boats are always insured.", "All boats are insured.", False),
        ("Boats are always insured.", "Boats on the lake are insured.", True),
        ("Tea is served every day.", "Tea is served on Sundays.", True),
        ("Tea is served daily.", "Tea costs £2 a day.", False),
        ("You are guaranteed a berth.", "You get a berth if one is free.", True),
        ("Die Kündigung ist jederzeit möglich.", "Die Kündigung ist nur zum 30. Juni möglich.", True),
        ("La caution est toujours rendue.", "La caution est rendue, sauf en cas de dommage.", True),
        ("Boats are insured.", "Boats on the lake are insured.", False),
    ],
)
def test_what_leaves_no_exception_needs_evidence_that_leaves_none(claim: str, sentence: str, *, expected: bool):
    assert leaves_no_exception(claim, [sentence]) is expected


@pytest.mark.parametrize(
    ("claim", "sentence", "expected"),
    [
        (
            "Flags are flown if the sun is shining.",
            "Flags are flown if the sun is shining and the captain has agreed.",
            True,
        ),
        (
            "Flags are flown if the captain has agreed.",
            "Flags are flown if the sun is shining and the captain has agreed.",
            True,
        ),
        (
            "Flags are flown if it is sunny and he agreed.",
            "Flags are flown if it is sunny and the captain agrees.",
            False,
        ),
        ("Flags are flown if it is sunny.", "Flags are flown if it is sunny and dry.", False),
        ("Flags are flown on Mondays.", "Flags are flown if the sun is shining and the captain has agreed.", False),
    ],
)
def test_of_two_conditions_both_are_told(claim: str, sentence: str, *, expected: bool):
    assert drops_condition(claim, [sentence], "en") is expected


@pytest.mark.parametrize(
    ("claim", "sentences", "expected"),
    [
        ("The jetty will be closed at night.", ["Ms Orr moved to close the jetty at night.", "It was lost."], True),
        ("The jetty will be closed at night.", ["The motion to close the jetty at night was rejected."], True),
        ("The jetty will be closed at night.", ["Ms Orr moved to close the jetty at night.", "It was carried."], False),
        ("The jetty will be closed at night.", ["Ms Orr moved to close the jetty at night."], False),
        ("The jetty will not be closed at night.", ["The motion to close the jetty at night was rejected."], False),
        ("Ms Orr proposed to close the jetty.", ["Ms Orr moved to close the jetty at night.", "It was lost."], False),
        (
            "The jetty will be closed at night.",
            ["He moved to close the jetty at night, and lost.", "Later it was settled: the jetty closes at night."],
            False,
        ),
    ],
)
def test_what_was_put_forward_and_failed_is_not_told_as_decided(claim: str, sentences: list[str], *, expected: bool):
    assert tells_as_decided(claim, sentences, "en") is expected
