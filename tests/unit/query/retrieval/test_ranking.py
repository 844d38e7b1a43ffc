"""Words and names in the ranking: which document is meant, and what a passage's sparse vector says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.query.retrieval.ranking import document_boosts
from functions.query.retrieval.search import Search
from shared import identity, lexical
from tests.support.query import passage

FILINGS = [
    passage("The Company's net sales rose.", n=n, title="FORM 10-Q", key=f"uploads/acme/{name}.pdf", cover=cover)
    for n, (name, cover) in enumerate(
        [
            ("2023 Q1 AAPL", "form 10-q december 31 2022 apple inc"),
            ("2023 Q2 AAPL", "form 10-q april 2023 apple inc"),
            ("2023 Q1 MSFT", "form 10-q march 31 2023 microsoft corporation"),
            ("2022 Q3 NVDA", "form 10-q october 30 2022 nvidia corporation"),
        ],
        start=1,
    )
]


def test_the_document_that_company_and_quarter_name_is_lifted_most():
    lifts = document_boosts("What were Apple's net sales in the Q1 2023 10-Q?", "en", FILINGS)
    assert max(lifts, key=lambda document: lifts[document]) == "doc1"
    assert lifts["doc1"] > 2 * max(lift for document, lift in lifts.items() if document != "doc1")


def test_a_question_that_names_nothing_lifts_nothing():
    assert set(document_boosts("How did net sales change?", "en", FILINGS).values()) == {0.0}


def test_what_all_documents_are_called_tells_nothing():
    assert set(document_boosts("What is a 10-Q form?", "en", FILINGS).values()) == {0.0}


def test_one_document_needs_no_lift():
    assert document_boosts("Apple Q1 2023", "en", FILINGS[:1]) == {"doc1": 0.0}


def test_a_short_question_leans_on_words():
    long = Search("what is the meaning of this rather long question", [1.0], 1, "acme")
    assert Search("E4 fault", [1.0], 1, "acme").lexical_weight > long.lexical_weight


def test_the_words_of_a_question_are_shares_of_the_whole():
    search = Search("How many litres does the generator burn a day?", [1.0], 1, "acme")
    assert abs(sum(search.sparse.values) - search.lexical_weight) < 1e-6


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
def test_the_words_part_of_a_score_is_the_product_of_both_vectors(
    asked: list[str], text: list[str], title: list[str], language: str
):
    words = dict(zip(*lexical.query_vector(" ".join(asked)), strict=True))
    about = {"language": language, "title": " ".join(title), "key": "uploads/acme/2023 Q1.pdf", "cover": "apple inc"}
    stored = identity.passage_vector(" ".join(text), **about)
    product = sum(words.get(index, 0.0) * value for index, value in zip(*stored, strict=True))
    assert identity.passage_score(words, " ".join(text), **about) == pytest.approx(product, abs=1e-9)


def test_the_words_part_is_exact_for_texts_of_very_many_words_too():
    text = " ".join(f"Wörd{n} other{n}" for n in range(700))
    words = dict(zip(*lexical.query_vector("Wörd3 other699 missing"), strict=True))
    stored = lexical.document_vector(text)
    product = sum(words.get(index, 0.0) * value for index, value in zip(*stored, strict=True))
    assert lexical.score(words, text) == pytest.approx(product, abs=1e-9)


def test_words_in_lower_case_name_less_than_names_do():
    papers = [
        passage("x", n=1, title="Evoking reasoning steps", key="a.pdf"),
        passage("y", n=2, title="Fact checking of claims", key="b.pdf"),
    ]
    talked_about = document_boosts("How many reasoning steps are in Figure 1?", "en", papers)
    named = document_boosts("how many reasoning steps are evoked?", "en", papers)
    assert 0 < talked_about["doc1"] < named["doc1"]


def test_a_document_that_a_single_word_speaks_for_is_talked_about_not_named():
    papers = [
        passage("x", n=1, title="Program-guided checking", key="a.pdf"),
        passage("y", n=2, title="Facts", key="b.pdf"),
    ]
    assert document_boosts("What is the average gap to our program?", "en", papers)["doc1"] == 0.0
