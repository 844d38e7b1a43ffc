"""A number that may follow from its evidence refutes no claim; another one does."""

from collections.abc import Sequence

import pytest

from functions.query.grounding.facts import facts_in
from functions.query.grounding.figures import operands_in
from functions.query.grounding.possible_numbers import may_follow


def may(claim: str, said: str, texts: Sequence[str]) -> bool:
    fact = next(each for each in facts_in(claim) if each.text.rstrip(" .,;") == said)
    held = {value for text in texts for each in facts_in(text) for value in each.values}
    stated = [each for each in facts_in(claim) if each.values & held]
    return may_follow(claim, fact, stated, [each for text in texts for each in operands_in(text)], texts)


@pytest.mark.parametrize(
    ("claim", "said", "text"),
    [
        ("A senior pays £63.", "£63", "A ticket costs £84. Seniors get 25 % off."),
        ("The stall costs €270 in all.", "€270", "The stall costs €185, and the tent €85."),
        ("The stall costs €270.", "€270", "The stall costs €185, and the tent €85."),
        ("Three nights cost €135.", "€135", "A bed is €45."),
        ("That is £7 a month.", "£7", "It is £84 a year."),
        ("The hall closes at 21:30.", "21:30", "The house closes at 22:00, the hall 30 minutes earlier."),
        ("You must say so 60 days before.", "60 days", "You must say so two months before."),
        ("A boat costs under €50.", "€50", "A boat costs €40."),
        ("The mill ran for 136 years.", "136 years", "It ran from 1787 to 1923."),
        ("A child of ten may come.", "ten", "A child of 12 or under may come."),
        ("A child of nine may come.", "nine", "Children from 6 to 12 may come."),
        ("There are three ways.", "three", "You may come by bus, by train or on foot."),
    ],
)
def test_what_the_evidence_may_give_is_possible(claim: str, said: str, text: str):
    assert may(claim, said, [text])


@pytest.mark.parametrize(
    ("claim", "said", "text"),
    [
        ("A senior pays £68.", "£68", "A ticket costs £84. Seniors get 25 % off."),
        ("The stall costs €260 in all.", "€260", "The stall costs €185, and the tent €85."),
        ("Three nights cost €145.", "€145", "A bed is €45."),
        ("The hall closes at 21:00.", "21:00", "The house closes at 22:00, the hall 30 minutes earlier."),
        ("You must say so 90 days before.", "90 days", "You must say so two months before."),
        ("A boat costs under €35.", "€35", "A boat costs €40."),
        ("A boat costs more than €10.", "€10", "A boat costs €40."),
        ("At 14 a child can come.", "14", "Children from 6 to 12 may come."),
        ("There are seven ways.", "seven", "You may come by bus, by train or on foot."),
    ],
)
def test_what_no_reading_of_the_evidence_gives_is_not(claim: str, said: str, text: str):
    assert not may(claim, said, [text])


def test_of_too_many_numbers_some_two_give_any():
    texts = [f"There were {', '.join(str(17 * n * n) for n in range(1, 15))}."]
    assert not may("It was 85 kg more.", "85 kg", texts)
