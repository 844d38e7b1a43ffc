"""The lexical arm: which forms of a word match, and what a passage's sparse vector holds."""

import pytest
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
