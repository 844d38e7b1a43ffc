"""The lexical arm: which forms of a word match, and what a passage's sparse vector holds."""

import zlib
from pathlib import Path

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from shared import identity, lexical


def test_a_cover_gives_names_and_numbers_once():
    cover = identity.cover_of("FORM 10-Q for the period ended June 25, 2022. Apple Inc. APPLE and the lesser words")
    assert {"10-q", "2022", "apple"} <= set(cover.split())
    assert cover.split().count("apple") == 1
    assert "lesser" not in cover


def score(question: str, text: str, language: str = "en") -> float:
    asked = dict(zip(*lexical.query_vector(question, language=language), strict=True))
    held = lexical.document_vector(text, language=language)
    return sum(asked.get(index, 0.0) * value for index, value in zip(*held, strict=True))


def test_missing_diacritics_match_and_right_ones_rank_higher():
    assert score("zasis", "Žąsis skrenda.", "lt") > 0
    assert score("žąsis", "Žąsis skrenda.", "lt") > score("zasis", "Žąsis skrenda.", "lt")


def test_another_ending_matches_and_the_same_ranks_higher():
    assert score("descaling", "It must be descaled.") > 0
    assert score("descaled", "It must be descaled.") > score("descaling", "It must be descaled.")


@pytest.mark.parametrize(
    ("asked", "told"),
    [("Who wrote it?", "It was written by her."), ("the child", "Children play."), ("sell", "It sold.")],
)
def test_irregular_forms_match_and_the_same_ranks_higher(asked: str, told: str):
    assert score(asked, told) > 0
    assert score(told, told) > score(asked, told)


def test_each_irregular_form_is_of_one_word_and_is_needed():
    lines = Path(lexical.__file__).with_name("irregular_words.txt").read_text().splitlines()
    rows = [row.split() for row in lines[1:]]
    forms = [form for _, *forms in rows for form in forms]
    assert len(forms) == len(set(forms)) > 100
    assert not set(forms) & {word for word, *_ in rows}
    english = Stemmer.Stemmer("english")
    assert not [form for word, *forms in rows for form in forms if english.stemWord(form) == english.stemWord(word)]


@pytest.mark.parametrize(
    ("form", "same"), [("lives", "lived"), ("analyses", "analysed"), ("diagnoses", "diagnosed"), ("halves", "halved")]
)
def test_what_is_a_regular_form_too_keeps_its_stem(form: str, same: str):
    assert lexical.stem(form, "en") == lexical.stem(same, "en")


def test_irregular_forms_are_those_of_english():
    assert lexical.stem("fell", "en") == "fall"
    assert lexical.stem("fell", "de") == "fell"


def test_identifiers_match_whole_and_in_parts():
    whole = score("CVE-2025-1234", "See CVE-2025-1234 for details.")
    assert whole > score("CVE-2025-1234", "See CVE-2025-9999 for details.") > 0
    assert score("torch nn", "import torch.nn here") > 0


def test_letters_and_digits_match_run_together_and_apart():
    together = score("8052AH", "The 8052AH has 8K of ROM.")
    assert together > score("8052 AH", "The 8052AH has 8K of ROM.") > score("8052 AH", "The 8751BH has 4K.") == 0.0
    assert score("M270TF", "Screens: M 270 TF") > 0.0


def test_numbers_match_however_they_are_grouped():
    assert score("1000", "It costs 1,000 crowns.") == score("1,000", "It costs 1000 crowns.") > 0
    assert score("12%", "about 12 percent") > 0


def test_cjk_is_matched_by_pairs_of_characters():
    assert score("北京", "我住在北京市") > 0


def test_rare_words_outweigh_common_ones():
    assert score("the descaling of the machine", "descaling") > score("the descaling of the machine", "the of the")


TERMS = st.lists(
    st.sampled_from(
        [
            "Žąsis",
            "zasis",
            "descaled",
            "descaling",
            "CVE-2025-1234",
            "torch.nn",
            "12%",
            "1,000",
            "北京市",
            "HttpCore",
            "the",
        ]
    ),
    max_size=25,
)


@given(TERMS, TERMS, TERMS, st.sampled_from(["en", "lt", ""]))
def test_the_lexical_score_is_the_product_of_both_vectors(
    asked: list[str], text: list[str], title: list[str], language: str
):
    words = dict(zip(*lexical.query_vector(" ".join(asked)), strict=True))
    about = {"language": language, "title": " ".join(title), "key": "uploads/acme/2023 Q1.pdf", "cover": "apple inc"}
    stored = identity.chunk_vector(" ".join(text), **about)
    product = sum(words.get(index, 0.0) * value for index, value in zip(*stored, strict=True))
    assert identity.passage_score(words, " ".join(text), **about) == pytest.approx(product, abs=1e-9)


def test_the_lexical_score_is_exact_for_texts_of_very_many_words_too():
    text = " ".join(f"Wörd{n} other{n}" for n in range(700))
    words = dict(zip(*lexical.query_vector("Wörd3 other699 missing"), strict=True))
    stored = lexical.document_vector(text)
    product = sum(words.get(index, 0.0) * value for index, value in zip(*stored, strict=True))
    assert lexical.score(words, text) == pytest.approx(product, abs=1e-9)


def test_two_words_of_a_text_that_share_an_index_count_as_one_in_the_vector_and_in_the_score():
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    words = dict(zip(*lexical.query_vector("plumless"), strict=True))
    text = "The plumless buckeroo rests."
    ((index, value),) = [pair for pair in zip(*lexical.document_vector(text), strict=True) if pair[0] in words]
    assert value == values_of("The plumless plumless rests.")["plumless"]
    assert lexical.score(words, text) == pytest.approx(words[index] * value)
    (asked,) = lexical.query_vector("plumless buckeroo").values
    assert asked == max(words[index], *lexical.query_vector("buckeroo").values)


def values_of(text: str, context: tuple[tuple[str, float], ...] = ()) -> dict[str, float]:
    """The weights of single letters' words in a text's vector, by word."""
    vector = dict(zip(*lexical.document_vector(text, context=context), strict=True))
    terms = {term for part in (text, *(part for part, _ in context)) for term, _ in lexical.terms_of(part)}
    return {term: vector[index] for term in terms if (index := zlib.crc32(term.encode())) in vector}


def test_in_a_text_of_average_length_a_word_weighs_one_and_more_often_more_but_ever_less_so():
    others = [f"{n}" for n in range(1_000, 1_249)]
    weights = [values_of(" ".join([*["kiwi"] * count, *others[count - 1 :]]))["kiwi"] for count in (1, 2, 4, 8)]
    assert weights[0] == pytest.approx(1.0)
    assert weights == pytest.approx([2.2 * count / (count + 1.2) for count in (1, 2, 4, 8)], abs=1e-3)


def test_a_word_weighs_more_in_a_shorter_text_and_a_context_counts_without_making_it_longer():
    short, long = "kiwi", " ".join(["kiwi", *(f"{n}" for n in range(1_000, 1_999))])
    assert values_of(short)["kiwi"] > 1.0 > values_of(long)["kiwi"]
    pear = values_of("kiwi", (("pear", 0.5),))
    assert pear["kiwi"] == values_of("kiwi")["kiwi"] > pear["pear"] > 0


def test_a_vector_keeps_the_heaviest_of_very_many_terms():
    text = " ".join([*(f"{n}" for n in range(10_000, 11_500)), *["kiwi"] * 5])
    vector = lexical.document_vector(text)
    assert len(vector.indices) == lexical.MAX_TERMS
    assert zlib.crc32(b"kiwi") in vector.indices


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("Žąsis", {"zasi", "zasis", "žąsis"}),
        ("Anna's", {"anna"}),
        ("phone15", {"phone15", "phone", "15"}),
        ("MacBook", {"macbook", "mac", "book"}),
        ("MACBOOK", {"macbook"}),
        ("+12,5%", {"12.5"}),
        ("1,204", {"1204"}),
        ("1\u00a0204\u00a0300", {"1", "204", "300"}),
        ("a.b-c_d", {"a.b-c_d", "a", "b", "c", "d"}),
        ("北京市", {"北京", "京市"}),
        ("北", {"北"}),
    ],
)
def test_the_terms_of_a_word(word: str, terms: set[str]):
    assert {term for term, _ in lexical.terms_of(word)} == terms


@pytest.mark.parametrize(("texts", "holders"), [(10, 0), (10, 3), (1_000, 999)])
def test_the_idf_falls_with_the_texts_that_hold_a_word_and_is_never_negative(texts: int, holders: int):
    assert lexical.idf(texts, holders) > lexical.idf(texts, holders + 1) > 0
    assert lexical.idf(3, 1) == pytest.approx(0.9808, abs=1e-4)


def test_the_rarity_of_a_word_falls_with_its_frequency_and_the_length_of_texts():
    assert lexical.rarity(0) == float("inf")
    assert lexical.rarity(1.0) == pytest.approx(0.0, abs=1e-6)
    assert lexical.rarity(0.001) == pytest.approx(1.7074, abs=1e-3)
    assert lexical.rarity(0.001, 400) < lexical.rarity(0.001) < lexical.rarity(0.0001)


def test_stems_are_the_same_after_more_words_than_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lexical, "MAX_KEPT_WORDS", 3)
    words = [f"walking{letter}" for letter in "abcd"] + ["walking", "walked", "2024", "walking"]
    found = [lexical.stem(word, "en") for word in words]
    assert found == [lexical.stem(word, "en") for word in words]
    assert found[-4:] == ["walk", "walk", "2024", "walk"]
