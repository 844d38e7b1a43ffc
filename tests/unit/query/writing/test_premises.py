"""What a question takes for granted must be in the document that answers."""

import pytest

from functions.query.writing.generation import WritingRequest
from functions.query.writing.premises import missing_words
from shared.deadline import Deadline
from shared.models import PageStart
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.query import passage, written

STATION = passage(
    "The station has 12 rooms and a mess hall. The generator burns 40 litres of diesel a day. Erasure takes a week.",
    section="Living at the station",
    language="en",
    title="Skarvnes handbook",
    pages=(PageStart(4, 100, "iv"),),
)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How many wheels does the station have?", ["wheels"]),
        ("Which airline flies to the station?", ["airline"]),
        ("How often are the tyres of the generator rotated?", ["tyres", "rotated"]),
    ],
)
def test_a_question_about_what_no_source_mentions_has_a_false_premise(question: str, missing: list[str]):
    assert [word for word in missing_words(question, [STATION]) if word in missing] == missing


@pytest.mark.parametrize(
    "question",
    [
        "How many rooms does the station have?",
        "What is the average number of litres per day?",
        "How long does it take to erase?",
        "Which percentage of the rooms is described in the handbook's chapter on living?",
        "How many litres does the genrator burn at Skarvnes?",
        "What is the minimun number of rooms?",
        r"What is $\overline{generator}$ on page 12 of X-1000/b?",
        "Kiek ratų turi stotis?",
        "",
    ],
)
def test_words_of_asking_misspelt_words_and_other_languages_say_nothing_about_it(question: str):
    assert not missing_words(question, [STATION])


def test_a_missing_word_among_many_that_are_there_is_no_false_premise():
    long = "How many litres of diesel does the generator of the Skarvnes station with its mess hall burn, zealously?"
    assert not missing_words(long, [STATION])


def test_a_name_is_mentioned_with_its_number():
    manual = passage("Model: GXR12.0_01 of the mess hall.")
    assert not missing_words("What is the GXR version of the mess hall?", [manual])
    assert missing_words("What is the XRG version of the mess hall?", [manual]) == ["XRG"]


def test_what_is_not_mentioned_is_named_with_the_nearest_place():
    question = "How many wheels does the station have?"
    request = WritingRequest(question, question, [STATION])
    settings = Settings(handoff_offer=False)
    answer = written(request, chat=None, settings=settings, deadline=Deadline(FakeClock(), 26.0))
    assert answer.refusal == "not_mentioned"
    assert answer.text == (
        "The documents do not mention “wheels”. The closest that I found is “Skarvnes handbook”, page iv."
    )
    assert not answer.citations
