"""Misspelt words are corrected to words that the passages hold; right ones stay, known to the passages or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.understanding.spelling import (
    allowed_distance,
    corrected,
    corrections,
    distance,
    question_words,
)
from tests.support.query import passage

PASSAGES = [
    passage("The refrigerator defrosts itself. Clean the condenser coil every spring. Maintenance is easy."),
    passage("Žibinto lęšis valomas kas ketvirtadienį.", n=2, title="Orsk Lighthouse Handbook", language="lt"),
]


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("How does the refirgerator defrost?", "How does the refrigerator defrost?"),
        ("Where is the condensr coil?", "Where is the condenser coil?"),
        ("What is the maintennance?", "What is the maintenance?"),
        ("Who wrote the Lighthuose handbook?", "Who wrote the Lighthouse handbook?"),
    ],
)
def test_a_misspelt_word_is_corrected(typed: str, right: str):
    assert corrected(typed, corrections(typed, "en", PASSAGES)) == right


@pytest.mark.parametrize(
    "typed",
    [
        "How does the refrigerator defrost?",
        "How do refrigerators defrost?",
        "Where is the brand new dishwasher?",
        "What does Brunata cost?",
        "Who is Blanc?",
        "What is CODENSER?",
        "What is E4 of X9000?",
        "",
    ],
)
def test_what_is_right_or_near_to_nothing_stays(typed: str):
    assert corrections(typed, "en", PASSAGES) == {}


def test_a_superlative_is_no_misspelt_word():
    lights = [passage("The lights are on, and the lighted room is warm.")]
    assert corrections("Which one is the lightest?", "en", lights) == {}
    assert corrections("Which one is the lighhts?", "en", lights) == {"lighhts": "lights"}


def test_a_language_whose_words_are_unknown_is_left_alone():
    assert corrections("hvor er kondenseren condensr?", "da", PASSAGES) == {}


def test_missing_diacritics_are_no_misspelling():
    assert corrections("Kada valomas zibinto lesis?", "lt", PASSAGES) == {}


WORDS = st.text("abcd", max_size=7)


@given(WORDS, WORDS)
def test_the_distance_is_symmetrical_and_zero_only_for_the_same_word(one: str, other: str):
    away = distance(one, other, most=9)
    assert away == distance(other, one, most=9)
    assert (away == 0) == (one == other)
    assert abs(len(one) - len(other)) <= away <= max(len(one), len(other))
    assert distance(one, other, most=1) == min(away, 2)


@given(st.text("abcdefgh", min_size=2, max_size=10), st.data())
def test_one_slip_of_a_finger_is_one_away(word: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(word) - 2))
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for typed in (swapped, word[:at] + word[at + 1 :], word[:at] + "z" + word[at:], word[:at] + "z" + word[at + 1 :]):
        assert distance(word, typed, most=2) <= 1


def test_short_words_and_codes_are_not_misspelt():
    assert [allowed_distance(word) for word in ("lamp", "boiler", "refrigerator", "x9000")] == [0, 1, 2, 0]


def test_a_word_of_the_passages_language_is_not_misspelt_though_the_question_was_taken_for_another():
    german = passage("Die Stühle kosten je 80 Euro und werden geliefert.", language="de")
    assert corrections("Was kostet der Stuhl?", "en", [german]) == {}
    assert corrections("Wann wird er gelieffert?", "en", [german]) == {"gelieffert": "geliefert"}


def test_two_letters_and_the_first_one_make_another_word():
    source = [passage("A bicycle costs 9 euros.", language="en")]
    assert corrections("What does a unicycle cost?", "en", source) == {}
    assert corrections("What does a bicylce cost?", "en", source) == {"bicylce": "bicycle"}


def test_a_word_that_the_first_passages_lack_is_looked_for_in_the_others():
    hits = [passage("The pump stands in the cellar."), passage("The decanter stands outside.", n=2)]
    assert corrections("Where is the decantor?", "en", hits, near=1) == {"decantor": "decanter"}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("How mutch is breakfast?", "How much is breakfast?"),
        ("Wat time is it?", "What time is it?"),
        ("hwo do I pay?", "hwo do I pay?"),  # "how" or "who"
        ("Is mutch lost?", "Is mutch lost?"),
        # What may be a name.
        ("Wat Pho: what is the entry fee?", "Wat Pho: what is the entry fee?"),
        ("CAD licences, how many are there?", "CAD licences, how many are there?"),
        ("Wham: which album is it?", "Wham: which album is it?"),
        ("How mulch is spread?", "How much is spread?"),  # unless the documents know mulch: see test_finding.py
        ("How Mulch is spread", "How Mulch is spread"),
    ],
)
def test_misspelt_words_that_say_what_is_asked_for_are_corrected(typed: str, expected: str):
    assert corrected(typed, question_words(typed)) == expected
