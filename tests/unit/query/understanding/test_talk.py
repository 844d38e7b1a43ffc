"""Talk is told from questions: nothing that asks for something in the documents is taken for talk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.understanding.talk import talk_of, without_courtesies
from shared.language import language_of

TALK = {
    "greeting": "hi|Hello there!|hey Recto|Good morning|good evening everyone|How are you doing?|Labas"
    "|Laba diena!|Hallo"
    "|Guten Tag|¡Hola!|Buenos días|Bonjour|Dzień dobry|Привет",
    "thanks": "thanks|Thank you very much!|ok thanks|great, thanks for your help|Ačiū|Vielen Dank|Gracias"
    "|Merci beaucoup"
    "|Спасибо большое",
    "farewell": "bye|Goodbye!|see you later|Auf Wiedersehen|Au revoir|Hasta luego|Viso gero",
    "identity": "who are you?|What are you|are you a robot?|what's your name?|Who built you?"
    "|Tell me about yourself|Kas tu?"
    "|Wer bist du?|¿Quién eres?|Qui es-tu ?|Qui êtes-vous ?",
    "abilities": "what can you do?|What can you do for me?|how can you help me|help|Can you help me?"
    "|What can I ask you?"
    "|Ką tu gali?|Was kannst du tun?|¿Qué puedes hacer?|Que peux-tu faire ?",
    "documents": "which documents do you have?|What documents do you have access to?|list all documents|Show me"
    " the files|How many documents are there?|Which PDFs have been uploaded?|what do you know?|Kokius dokumentus turi?"
    "|Welche Dokumente hast du?|¿Qué documentos tienes?|Quels documents avez-vous ?",
    "unclear": "What is it?|Why?|tell me more|?|…|And then?|What does it mean?|Kas tai?|Was ist das?|C'est quoi ?"
    "|¿Qué es eso?",
}
QUESTIONS = """Hello, what is the warranty period?|Thanks to whom was the museum founded?|Hello Kitty's fee?|Warranty?
Which documents do I need for a permit?|What documents are required?|Which documents mention coffee?|Who is the author?
What can you do if the lamp is broken?|What is a good morning routine?|What files does it create?|Hi-Fi settings?|10-K?
How are you required to file?|Who are you supposed to call?|Kas yra projekto vadovas?|Was ist die Garantie?|E4
What help do the employees get?|Which documents must be shown at the border?|你好世界是什么？""".replace(
    "\n", "|"
).split("|")


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in TALK.items() for text in texts.split("|")])
def test_talk_is_recognised(kind: str, text: str):
    talk = talk_of(text, language_of(text), has_history=False)
    assert talk is not None
    assert talk.kind == kind


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_no_talk(question: str):
    assert talk_of(question, language_of(question), has_history=False) is None


def test_after_something_was_said_a_question_about_nothing_is_a_follow_up():
    assert talk_of("Why?", "en", has_history=True) is None
    assert talk_of("Thanks!", "en", has_history=True) is not None


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Hello, what is the fee?", "What is the fee?"),
        ("Hello what is the fee?", "What is the fee?"),
        ("Hey, thanks. What is the fee?", "What is the fee?"),
        ("Good morning! Thank you for the help. What is the fee? Thanks!", "What is the fee?"),
        ("Labas, kiek kainuoja bilietas?", "Kiek kainuoja bilietas?"),
        ("Hallo! Wie hoch ist der Preis?", "Wie hoch ist der Preis?"),
        ("Ok. What is the fee?", "What is the fee?"),
        *(
            (same, same)
            for same in ("Thanks to whom was it founded?", "Hello Kitty revenue?", "Hi-Fi: how?", "Great Lakes?")
        ),
        *((same, same) for same in ("Hello", "", "Perfect Storm: who directed it?", "How are you to pay the fee?")),
    ],
)
def test_a_greeting_in_front_of_a_question_is_left_out(typed: str, kept: str):
    assert without_courtesies(typed) == kept


@given(st.text(max_size=60))
def test_any_text_is_talk_or_not_without_an_error(text: str):
    talk_of(text, "en", has_history=False)
    assert len(without_courtesies(text)) <= len(text) + 2  # a capital may have more letters than its small one
