"""Follow-ups made whole from the question before them, and those that stay as they were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.understanding.completing import completed, is_fragment, taken_over
from functions.query.understanding.phrases import is_part_of_a_year, read

FLOW = "What is the flow rate of the VP-20?"


@pytest.mark.parametrize(
    ("before", "question", "language", "whole"),
    [
        # times
        ("What was revenue in Q2 2025?", "And in Q3 2025?", "en", "What was revenue in Q3 2025?"),
        ("What was revenue in Q2 2025?", "And in Q3?", "en", "What was revenue in Q3 2025?"),
        ("What was revenue in 2025?", "And the year before?", "en", "What was revenue in 2024?"),
        ("What was revenue in 2025?", "And the following year?", "en", "What was revenue in 2026?"),
        ("When does the pool open on Mondays?", "and on Sundays?", "en", "When does the pool open on Sundays?"),
        ("What time must I be quiet on Saturdays?", "and during the week?", "en",
         "What time must I be quiet during the week?"),
        ("Wie hoch war der Umsatz im zweiten Quartal 2025?", "Und im dritten Quartal?", "de",
         "Wie hoch war der Umsatz im dritten Quartal 2025?"),
        ("When does the ferry run on Sundays?", "And at Easter?", "en", "When does the ferry run at Easter?"),
        # codes and names
        (FLOW, "What about the VP-35?", "en", "What is the flow rate of the VP-35?"),
        (FLOW, "the VP-35?", "en", "What is the flow rate of the VP-35?"),
        ("Which fuse does the pump K-7 need?", "and the K-9?", "en", "Which fuse does the pump K-9 need?"),
        ("How long does the battery of the Zephyr 200 last?", "And of the Zephyr 300?", "en",
         "How long does the battery of the Zephyr 300 last?"),
        ("How much did Norvane invest in Spain?", "And Portugal?", "en", "How much did Norvane invest in Portugal?"),
        ("Wie schwer ist die VP-20?", "Was ist mit der VP-35?", "de", "Wie schwer ist die VP-35?"),
        # things
        ("How much is the entrance fee for adults?", "For children?", "en",
         "How much is the entrance fee for children?"),
        ("Is smoking allowed in the cellar?", "And on the balcony?", "en", "Is smoking allowed on the balcony?"),
        ("Who leads the sales team?", "And the marketing team?", "en", "Who leads the marketing team?"),
        ("When is the office in Leeds open?", "And the one in York?", "en", "When is the office in York open?"),
        ("Was kostet der Eintritt für Erwachsene?", "Und für Kinder?", "de", "Was kostet der Eintritt für Kinder?"),
        ("Wie viele Urlaubstage haben Vollzeitkräfte?", "Und Teilzeitkräfte?", "de",
         "Wie viele Urlaubstage haben Teilzeitkräfte?"),
        ("¿Cuánto cuesta la entrada para adultos?", "¿Y para niños?", "es", "¿Cuánto cuesta la entrada para niños?"),
        ("Combien coûte l'entrée pour les adultes ?", "Et pour les enfants ?", "fr",
         "Combien coûte l'entrée pour les enfants ?"),
        ("Kiek kainuoja bilietas suaugusiems?", "O vaikams?", "lt", "Kiek kainuoja bilietas vaikams?"),
        ("Koks biuro telefonas Vilniuje?", "O Kaune?", "lt", "Koks biuro telefonas Kaune?"),
        # what has no like is added, if it begins with a preposition
        ("How much is a wash?", "And on Sundays?", "en", "How much is a wash on Sundays?"),
        # a small word that turns the question
        ("Who voted for item 35?", "And against?", "en", "Who voted against item 35?"),
        ("Wer stimmte für den Antrag?", "Und gegen?", "de", "Wer stimmte gegen den Antrag?"),
        ("How much is a room with breakfast?", "without?", "en", "How much is a room without breakfast?"),
        # a pronoun
        (FLOW, "How much does it weigh?", "en", "How much does the VP-20 weigh?"),
        (FLOW, "What are its dimensions?", "en", "What are the VP-20's dimensions?"),
        ("When was the bridge of Ansholm built?", "How long is it?", "en", "How long is the bridge of Ansholm?"),
        ("Was kostet der Parkplatz?", "Wo finde ich ihn?", "de", "Wo finde ich den Parkplatz?"),
        ("Does the hotel have a pool?", "Is it open on Sundays?", "en", "Is the pool open on Sundays?"),
        ("Where is the swimming pool?", "Is it open in winter?", "en", "Is the swimming pool open in winter?"),
        (FLOW, "Does it have a display?", "en", "Does the VP-20 have a display?"),
        (FLOW, "How many filters does it need per year?", "en", "How many filters does the VP-20 need per year?"),
        # another question word
        ("Does the zoo own lions?", "How many?", "en", "How many lions does the zoo own?"),
        ("Are there free lockers in the hall?", "And how many?", "en", "How many free lockers are there in the hall?"),
        ("Are the lockers free?", "How many?", "en", "How many lockers are free?"),
        ("Which rooms have a projector?", "How many?", "en", "How many rooms have a projector?"),
        ("When is the mill closed?", "Why?", "en", "Why is the mill closed?"),
        ("Are dogs allowed?", "Since when?", "en", "Since when are dogs allowed?"),
        ("Can visitors climb the mast?", "Why not?", "en", "Why can visitors not climb the mast?"),
        ("Wann ist die Mühle geschlossen?", "Warum?", "de", "Warum ist die Mühle geschlossen?"),
    ],
)  # fmt: skip
def test_a_follow_up_becomes_a_whole_question(before: str, question: str, language: str, whole: str):
    telling = ["VP-20", "bridge", "visiting", "Parkplatz", "pool"]
    assert completed(question, [before], language, telling) == whole


@pytest.mark.parametrize(
    ("before", "question", "language"),
    [
        (FLOW, "When is the kit check?", "en"),
        (FLOW, "And how many parking spaces are there in Wexford Street?", "en"),
        (FLOW, "sick leave certificate deadline", "en"),  # a question in key words
        (FLOW, "the flow of the VP-20 in winter", "en"),  # it repeats what was asked
        (FLOW, "What happens to the deposit if it is late?", "en"),  # "it" is the deposit
        (FLOW, "Does the pump protect its motor?", "en"),
        (FLOW, "Is it safe to use the lift?", "en"),  # "it" stands for nothing
        (FLOW, "How are they made?", "en"),  # one thing was named
        (FLOW, "I saw them. It is loud.", "en"),  # two sentences
        ("Who signed for the VPN and the firewall?", "How old is it?", "en"),  # which of the two?
        ("Who voted?", "And against?", "en"),
        ("Who voted for the man for Leeds?", "And against?", "en"),
        ("Who won?", "And for children?", "en"),  # nothing of the kind, and nothing to add it to
        ("Wie schwer ist die VP-20?", "Gibt es einen Hund in der Kita?", "de"),
        ("Was kostet der Parkplatz?", "Wie lange wirkt sie?", "de"),  # another gender
        ("駐車場はいくらですか", "子供は", "ja"),  # a language without lists
        ("How much is a wash in the laundry room?", "And the dryer?", "en"),
        ("What is the maximum flow of the VP-20?", "and its pressure?", "en"),
        ("What is the net flow of the VP-20?", "and its pressure?", "en"),
        ("What are the visiting hours?", "Are they the same on Sundays?", "en"),
        ("Are dogs allowed in the park?", "And the fine?", "en"),
        ("What is the maximum speed of the train?", "And the weight?", "en"),
        ("What is the yearly rent?", "Is it dark in the cellar?", "en"),
        ("What is the yearly rent?", "Does it snow in winter?", "en"),
        ("What do employees need?", "How do visitors get their badges?", "en"),
        ("What does clause 4.1 of the lease say?", "And 9.4?", "en"),
    ],
)
def test_what_is_whole_or_not_clear_stays_as_it_is(before: str, question: str, language: str):
    assert completed(question, [before], language, ["flow", "VP-20", "firewall", "Parkplatz"]) == ""


@pytest.mark.parametrize(
    ("before", "question", "language", "whole"),
    [
        ((FLOW, "And the VP-35?"), "Which of the two is heavier?", "en",
         "Which of the two is heavier, the VP-20 or the VP-35?"),
        (("How heavy is the Orion tent?", "How heavy is the Lyra tent?"), "Compare them.", "en",
         "Compare the Orion tent and the Lyra tent"),
        (("How much is the Basic plan?", "And the Premium plan?"), "What's the difference between them?", "en",
         "What's the difference between the Basic plan and the Premium plan?"),
        (("What was revenue in 2023?", "And in 2024?"), "What is the difference?", "en",
         "What is the difference in revenue between 2023 and 2024?"),
        (("How loud is the K-7?", "And the K-9?"), "Are both waterproof?", "en",
         "Are both waterproof, the K-7 and the K-9?"),
        (("Wie laut ist die K-7?", "Und die K-9?"), "Was ist der Unterschied?", "de",
         "Was ist der Unterschied zwischen K-7 und K-9?"),
        # only one was named, or it is a question of its own
        ((FLOW,), "Which of the two is heavier?", "en", ""),
        ((FLOW, "And the VP-35?"), "How do both parties end the lease?", "en", ""),
        ((FLOW, "And the VP-35?"), "Compare the Orion tent and the Lyra tent.", "en", ""),
    ],
)  # fmt: skip
def test_a_question_about_two_things_gets_their_names(before: list[str], question: str, language: str, whole: str):
    assert completed(question, before, language, ()) == whole


def test_a_follow_up_of_a_follow_up_is_made_from_the_completed_one():
    before = [FLOW, "And the VP-35?", "Why?", "And its pressure?"]
    assert completed("And the VP-50?", before, "en", ()) == "What is the flow rate of the VP-50?"


def test_what_an_order_asks_for_is_a_thing():
    assert completed("Can children take it?", ["Tell me about Dolorex."], "en", ["dolorex"]) == ""
    assert (
        completed("How much does it cost?", ["Tell me about Dolorex."], "en", ["dolorex"])
        == "How much does Dolorex cost?"
    )


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Does the old city museum employ volunteers?", "How many?"),
        ("Is there parking?", "How many?"),
        ("Who may use the sauna?", "Why?"),
        ("Is it raining?", "Why not?"),
        ("Where is the sauna?", "Where?"),
        ("Which key opens the gate?", "Since when?"),
        ("Does the zoo have lions and tigers?", "How many?"),
        ("Is there a bus to the museum?", "Does it rain in the winter?"),
    ],
)
def test_another_question_word_is_put_only_where_it_is_clear_how(before: str, question: str):
    assert completed(question, [before], "en", ["museum", "parking", "sauna", "gate"]) == ""


def test_what_comes_before_the_new_case_is_taken_over():
    assert taken_over("And at Easter?", "When does the ferry run at Easter?", "en") == "When does the ferry run"
    assert taken_over("And in Q3?", "What was revenue in Q3?", "en") == ""
    assert taken_over("How tall is it?", "How tall is the lighthouse?", "en") == ""


def test_a_fragment_is_linked_and_has_no_verb():
    assert is_fragment("And for children?", "en")
    assert not is_fragment("For children?", "en")
    assert not is_fragment("And who pays?", "en")


def test_a_question_is_read_as_the_things_that_it_names():
    sentence = read("How much does the pump K-7 cost on Mondays?", "en")
    assert [(sentence.words(each.start, each.stop), each.kind, each.prep) for each in sentence.phrases] == [
        ("the pump K-7", "code", ""),
        ("Mondays", "time", "on"),
    ]
    assert is_part_of_a_year("the third quarter")
    assert not is_part_of_a_year("the year")


@given(
    st.text(max_size=120), st.lists(st.text(max_size=120), max_size=4), st.sampled_from(["en", "de", "fr", "lt", ""])
)
def test_any_text_can_be_completed_or_not(question: str, before: list[str], language: str):
    assert isinstance(completed(question, before, language, ()), str)
