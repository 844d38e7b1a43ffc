"""Words of one family are told by their beginnings and endings, in the shipped languages."""

import pytest

from functions.query.understanding.rewriting import understand
from functions.query.understanding.vocabulary import TERM_SHARE, are_of_family, field_variants
from shared.deadline import Deadline
from shared.settings import Settings
from tests.support.clock import FakeClock


@pytest.mark.parametrize(
    ("word", "other", "language"),
    [
        ("abstained", "abstentions", "en"),
        ("absent", "absence", "en"),
        ("pay", "payable", "en"),
        ("payable", "payment", "en"),
        ("received", "reception", "en"),
        ("decide", "decision", "en"),
        ("apply", "application", "en"),
        ("acquire", "acquisitions", "en"),
        ("permit", "permission", "en"),
        ("consume", "consumption", "en"),
        ("solve", "solution", "en"),
        ("zahlbar", "zahlungen", "de"),
        ("erstatten", "erstattung", "de"),
        ("prohibido", "prohibiciones", "es"),
        ("paiement", "paiements", "fr"),
        ("garantie", "garanties", "fr"),
        ("atsaukti", "atsaukimas", "lt"),
    ],
)
def test_words_of_one_family(word: str, other: str, language: str):
    assert are_of_family(word, other, language)
    assert are_of_family(other, word, language)


@pytest.mark.parametrize(
    ("word", "other", "language"),
    [
        ("contact", "contains", "en"),
        ("men", "mention", "en"),
        ("car", "carpet", "en"),
        ("discount", "reduction", "en"),
        ("commitment", "commission", "en"),
        ("require", "requisition", "en"),
        ("solvency", "solution", "en"),
        ("regelt", "regelmassig", "de"),
        ("contrasena", "contrato", "es"),
        ("payer", "paysage", "fr"),
    ],
)
def test_words_that_only_begin_alike(word: str, other: str, language: str):
    assert not are_of_family(word, other, language)


# --- terms of the field ---


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("What was 3M's Capex?", ["What was 3M's purchases of property, plant and equipment?"]),
        (
            "Is the quick-ratio healthy?",
            ["Is the total current assets, inventories, total current liabilities healthy?"],
        ),
        ("How much R&D?", ["How much research and development?"]),
        ("What do S&P and EPSON say of epsilon?", []),
    ],
)
def test_a_phrase_of_the_list_is_searched_for_in_the_words_of_documents(question: str, searched: list[str]) -> None:
    assert field_variants(question, "en") == tuple((text, TERM_SHARE, None) for text in searched)


def test_other_languages_are_left_alone() -> None:
    assert field_variants("Kiek buvo Capex?", "lt") == ()


def test_the_question_itself_keeps_most_of_the_search() -> None:
    question = "What was the capex of 3M in fiscal 2018?"
    about = {"chat": None, "glossary": None, "settings": Settings(), "deadline": Deadline(FakeClock(), 26)}
    understood = understand(question, (), tenant="acme", **about)  # type: ignore[arg-type]
    assert understood.standalone == question
    assert [variant.weight for variant in understood.variants] == [TERM_SHARE]
