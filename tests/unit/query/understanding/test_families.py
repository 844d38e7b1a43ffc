"""Words of one family are told by their beginnings and endings, in the shipped languages."""

import pytest

from functions.query.understanding.families import are_of_family


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
        ("regelt", "regelmassig", "de"),
        ("contrasena", "contrato", "es"),
        ("payer", "paysage", "fr"),
    ],
)
def test_words_that_only_begin_alike(word: str, other: str, language: str):
    assert not are_of_family(word, other, language)
