"""Lithuanian as people type it: without diacritics and in other cases, it finds the text that was written properly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import lexical
from shared.language import language_of
from shared.models import SparseVector

SENTENCES = [
    "Mėnesinis bilietas galioja visuose miesto autobusuose.",
    "Vaistinė prie turgaus dirba ir sekmadieniais.",
    "Šuns laikytojas privalo jį kasmet skiepyti.",
    "Sąskaitą už šildymą siunčiame mėnesio pradžioje.",
    "Žvejoti užtvankoje leidžiama tik su leidimu.",
    "Į kursus registruojamasi iki rugsėjo pabaigos.",
    "Elektroninė biblioteka veikia visą parą.",
    "Įmonės apyvarta pernai išaugo dešimtadaliu.",
    "Kaštonas žydi gegužę, o kastuvas stovi sandėlyje.",
    "Čiuožykla atidaroma, kai ledas pakankamai storas.",
]
VECTORS = [lexical.document_vector(sentence, language="lt") for sentence in SENTENCES]


def product(one: SparseVector, other: SparseVector) -> float:
    values = dict(zip(*one, strict=True))
    return sum(values.get(index, 0.0) * value for index, value in zip(*other, strict=True))


def best(question: str, language: str = "lt") -> str:
    asked = lexical.query_vector(question, language=language)
    scores = [product(asked, vector) for vector in VECTORS]
    return SENTENCES[scores.index(max(scores))]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_without_its_diacritics_finds_itself(sentence: str):
    assert best(lexical.fold(sentence)) == sentence
    # Also where the language of the question could not be told.
    assert best(lexical.fold(sentence), language="en") == sentence


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("kur galioja menesiniai bilietai", "bilietas"),
        ("vaistiniu darbo laikas", "Vaistinė"),
        ("suns skiepai", "Šuns"),
        ("saskaitos uz sildyma", "šildymą"),
        ("kursu registracija rugseji", "kursus"),
        ("imoniu apyvartos", "apyvarta"),
        ("ciuozyklos ledas", "Čiuožykla"),
    ],
)
def test_other_cases_without_diacritics_find_it_too(question: str, word: str):
    assert word in best(question)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_right_diacritics_rank_higher_than_missing_ones(sentence: str):
    vector = lexical.document_vector(sentence, language="lt")
    written = product(lexical.query_vector(sentence, language="lt"), vector)
    folded = product(lexical.query_vector(lexical.fold(sentence), language="lt"), vector)
    assert (written > folded) is (lexical.fold(sentence) != sentence)


def test_of_two_words_that_differ_by_a_diacritic_the_very_one_ranks_higher():
    one, other = (lexical.document_vector(f"Čia auga {word}.", language="lt") for word in ("karštis", "karstis"))
    asked = lexical.query_vector("karštis", language="lt")
    assert product(asked, one) > product(asked, other) > 0


@pytest.mark.parametrize("sentence", SENTENCES)
def test_its_language_is_detected_with_and_without_diacritics(sentence: str):
    assert language_of(sentence) == language_of(lexical.fold(sentence)) == "lt"


@given(st.text(alphabet="aąbcčeęėiįsšuųūzž ", max_size=40))
def test_folding_twice_changes_nothing_and_keeps_the_length(text: str):
    assert lexical.fold(lexical.fold(text)) == lexical.fold(text)
    assert len(lexical.fold(text)) == len(text)
