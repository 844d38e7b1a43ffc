"""A model's own words for "the sources do not say" are told from an answer, in six languages."""

import pytest

from functions.query.writing.localization import (
    Texts,
    languages,
    refusal_text,
    says_it_does_not_know,
    texts_for,
    without_notes,
)
from shared.settings import Settings
from shared.text import sentence_spans

IGNORANCE = [
    "I do not have that information in the sources.",
    "I don’t have that information in the sources provided.",
    "Unfortunately, I don't have that information.",
    "I don't know.",
    "I could not find any information about the valves.",
    "I'm unable to find the answer in the provided documents.",
    "Sorry, I cannot answer that from the sources.",
    "The sources do not say.",
    "I’m sorry, but the documents you provided don’t include the price. Please contact the vendor.",
    "The provided context doesn't contain it. If you have other documents, I can look there.",
    "Based on the provided sources, there is no information about the password.",
    "Based on the sources provided, I cannot determine how many valves it has.",
    "There is no information about valves in the sources.",
    "No information about the password was found in the sources.",
    "This information is not available in the provided documents.",
    "The question cannot be answered from the given context.",
    "None of the sources mention the price.",
    "It is not stated in the sources.",
    "Not mentioned in the sources.",
    "I don't have that information in the sources. You can ask for a person to help you with it.",
    "Šaltiniuose nėra informacijos apie tai.",
    "Saltiniuose apie tai nieko nerasoma.",
    "Deja, pateiktuose šaltiniuose ši informacija nenurodyta.",
    "Nežinau.",
    "Neturiu šios informacijos.",
    "Atsiprašau, bet negaliu atsakyti į šį klausimą.",
    "Informacijos apie kainą šaltiniuose nėra.",
    "Diese Information habe ich in den Quellen nicht.",
    "Die Quellen enthalten keine Angaben dazu.",
    "Das weiß ich nicht.",
    "Leider habe ich keine Informationen dazu.",
    "Ich kann diese Frage anhand der Quellen nicht beantworten.",
    "Je ne sais pas.",
    "Les sources ne contiennent pas cette information.",
    "Malheureusement, je n'ai pas trouvé cette information.",
    "No lo sé.",
    "No tengo esa información en las fuentes.",
    "Los documentos proporcionados no mencionan el precio.",
    "Nie wiem.",
    "Źródła nie zawierają tej informacji.",
    "W źródłach nie ma informacji na ten temat.",
]
STATEMENTS = [
    "",
    "The machine is descaled every 90 days.",
    "The contract does not mention pets.",
    "I don't have that information. The capital of France is Paris.",
    "Please contact the office.",
    "Sorry.",
    "The sources of the river are not known.",
    "There is no information desk in the lobby.",
    "No information is stored after 30 days.",
    "This information is not provided to third parties.",
    "The guest does not know the code.",
    "The documents must be signed.",
    "The documents must not be copied.",
    "Dokumente nėra parašo.",
    "Duomenų bazėje nėra klaidų.",
    "Dokumentai nepateikiami trečiosioms šalims.",
    "Die Dokumente dürfen nicht kopiert werden.",
    "Ich habe keine Angst.",
    "Les documents ne doivent pas être copiés.",
    "No se permite fumar.",
    "Nie wolno palić.",
]


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("text", IGNORANCE)
def test_what_says_that_the_sources_do_not_say_is_no_answer(text: str):
    assert says_it_does_not_know(sentences(text))


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_states_something_is_none_of_it(text: str):
    assert not says_it_does_not_know(sentences(text))


def test_the_offer_of_a_person_stands_behind_every_kind_of_refusal_where_it_is_set():
    for kind in ("no_relevant_info", "model_does_not_know", "nothing_proven"):
        assert refusal_text(kind, "en", Settings()).endswith("You can ask for a person to help you with it.")  # type: ignore[arg-type]
        assert "person" not in refusal_text(kind, "en", Settings(handoff_offer=False))  # type: ignore[arg-type]
    assert refusal_text("nothing_proven", "lt", Settings()).startswith("Šaltiniuose")


@pytest.mark.parametrize(
    ("language", "beginning"),
    [("de", "Dazu habe ich"), ("es-MX", "No he encontrado"), ("fr", "Je n'ai rien"), ("lt", "Dokumentuose")],
)
def test_a_refusal_comes_in_every_shipped_language(language: str, beginning: str):
    text = refusal_text("no_relevant_info", language, Settings())
    assert text.startswith(beginning)
    assert "English" not in text


@pytest.mark.parametrize("default", ["en", "lt"])
def test_a_refusal_in_another_language_is_english_and_says_so(default: str):
    text = refusal_text("no_relevant_info", "pl", Settings(default_language=default))
    assert text.startswith("I could not find")
    assert text.endswith("I can say this only in English.")
    assert refusal_text("dont_know", "", Settings(default_language="lt")).startswith("Šaltiniuose")  # type: ignore[arg-type]


@pytest.mark.parametrize("language", sorted(languages()))
def test_marks_and_the_sentence_about_a_loss_are_no_part_of_what_was_said(language: str):
    texts = texts_for(language)
    assert without_notes(f"A. [1] {texts.unconfirmed} B. [2]\n\n{texts.left_out}") == "A. [1] B. [2]"
    assert without_notes(f"A. [1]\n\n{texts.counted.format(count=12)}") == "A. [1]"
    assert without_notes(f"A. [1]\n\n{texts.first_shown.format(shown=3, count=12)}\n\n{texts.left_out}") == "A. [1]"
    assert without_notes(f"A. [1]\n\n{texts.further}\nB. [2]") == "A. [1]\nB. [2]"
    assert without_notes(f"{texts.left_open}\n\nA. [1]") == "A. [1]"
    assert without_notes(f"{texts.left_out} It is unconfirmed.") == f"{texts.left_out} It is unconfirmed."


def test_every_shipped_language_has_every_sentence():
    assert {"de", "en", "es", "fr", "lt"} <= languages()
    for language in languages():
        texts = texts_for(language)
        assert all(getattr(texts, name) for name in Texts._fields if name != "only_english"), language
        assert "{part}" in texts.part_not_found
        assert "{part}" in texts.part_unavailable
