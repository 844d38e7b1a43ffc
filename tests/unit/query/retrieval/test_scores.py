"""What scores are, to the number: bonuses of texts, shares of documents, relevance, leads, reasons."""

import math
from dataclasses import replace

import pytest

from functions.query.decision import (
    Band,
    Decision,
    NearMiss,
    PassageRelevance,
    RareWords,
    bands_of,
    coverage,
    decide,
    probability,
    relevance,
)
from functions.query.explaining import explained, parts_of, reasons_of
from functions.query.finding import Found
from functions.query.grounding.verify import Support
from functions.query.receipts import provenance_of
from functions.query.retrieval.neighbours import expanded, filter_for, place_of, places_beside
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import (
    NamedPlaces,
    RankedPassage,
    ScoreParts,
    document_boosts,
    named_documents,
    rank,
)
from functions.query.retrieval.rescoring import QueryTerms, TextScore, plain_words, text_scores
from functions.query.retrieval.retrieve import Retrieved
from functions.query.retrieval.search import Search
from functions.query.understanding.question import Understood
from functions.query.writing.generation import WrittenAnswer
from shared.models import NO_USAGE
from shared.settings import Settings
from tests.support.query import passage

SETTINGS = Settings(embedding_model="all-MiniLM-L6-v2", embedding_dimensions=2)


def filler(count: int) -> str:
    return " ".join(["xx"] * count)


# --- texts ---


@pytest.mark.parametrize(
    ("between", "together", "phrases"), [(0, 1.1, 1.0), (1, 1.1, 0.0), (14, 1.1, 0.0), (15, 0.55, 0.0)]
)
def test_words_count_together_within_a_window_and_as_a_phrase_side_by_side(
    between: int, together: float, phrases: float
):
    texts = [f"zorgle {filler(between)} wumpet", "Nothing of it."]
    found = text_scores("zorgle wumpet", "en", [passage(text, n=n) for n, text in enumerate(texts, 1)])
    assert found == [TextScore(pytest.approx(together), pytest.approx(phrases), 0.0), TextScore(0.0, 0.0, 0.0)]


@pytest.mark.parametrize(
    ("question", "text", "phrases"),
    [
        ("zorgle the wumpet", "zorgle wumpet", 1.0),
        ("zorgle the wumpet", "zorgle a wumpet", 1.0),
        ("zorgle the wumpet", "zorgle a b wumpet", 0.0),
        ("zorgle wumpet", "wumpet zorgle", 0.0),
        ("zorgle of the a wumpet", "zorgle wumpet", 0.0),
        ("zorgle of the wumpet", "zorgle wumpet", 1.0),
        ("zorgle wumpet fnord", "zorgle wumpet and fnord", 0.5),
    ],
)
def test_neighbouring_words_of_a_question_count_where_they_follow_each_other_as_near(
    question: str, text: str, phrases: float
):
    (found, _) = text_scores(question, "en", [passage(text), passage("Nothing.", n=2)])
    assert found.phrases == pytest.approx(phrases)


def test_the_better_neighbour_lifts_a_passage():
    of_one = [passage(f"text {at}", n=1, chunk_index=at, score=score) for at, score in enumerate((0.4, 0.8, -0.2, 0.6))]
    other = passage("text", n=2, chunk_index=2, score=0.9)
    found = text_scores("zorgle", "en", [*of_one, other])
    assert [each.beside for each in found] == pytest.approx([0.2, 0.1, 0.2, 0.0, 0.0])


def test_common_words_are_neither_looked_for_nor_paired():
    terms = QueryTerms.of("What is the zorgle of wumpet?", "en")
    assert set(terms.rarity) == {"zorgl", "wumpet"}
    assert [(pair.first, pair.second, pair.distance, pair.weight) for pair in terms.pairs] == [
        ("zorgl", "wumpet", 2, 7.0)
    ]


def test_a_word_that_every_candidate_has_counts_for_little():
    texts = ["zorgle wumpet", "zorgle", "zorgle fnord", "zorgle fnord"]
    scores = [
        each.together
        for each in text_scores("zorgle wumpet", "en", [passage(text, n=n) for n, text in enumerate(texts, 1)])
    ]
    assert scores[0] == pytest.approx(1.1)
    assert scores[1] == scores[2] < 0.3


def test_words_lose_case_marks_and_other_scripts_where_none_are_asked_for():
    assert plain_words("Ąžuolas, ĮMONĖS 日本 x2") == ["azuolas", "imones", "x2"]
    assert plain_words("“Pump”–shed… № 4²") == ["pump", "shed", "no", "42"]
    assert plain_words("“Pūmp”–shed… № 4²") == ["pump", "shed", "no", "42"]
    assert plain_words("Ąžuolas 日本", latin=False) == ["azuolas", "日", "本"]


# --- documents and places ---


def share_kept(question: str, one: Passage, other: Passage) -> float:
    """The share of its evidence that the first document keeps beside the second one, whose name tells as much."""
    third = passage("z", n=9, title="Nothing of it", key="uploads/acme/none.pdf")
    boosts = document_boosts(question, "en", [one, other, third])
    return float((boosts["doc1"] / boosts["doc2"]) ** 0.25)


def report(n: int, *periods: str, kind: str = "") -> Passage:
    return passage("Sales rose.", n=n, title="Orbico Wumpet Zorgle", periods=periods, kind=kind)


@pytest.mark.parametrize(
    ("question", "periods", "other", "share"),
    [
        ("Sales of Orbico Wumpet in 2021?", ("2022",), ("2021",), 0.8),
        ("Sales of Orbico Wumpet in 2021?", ("2023",), ("2021",), 0.8),
        ("Sales of Orbico Wumpet in 2021?", ("2024",), ("2021",), 0.6),
        ("Sales of Orbico Wumpet in 2021?", ("2020",), ("2021",), 0.6),
        ("Sales of Orbico Wumpet in 2021?", ("Q2 2021",), ("2021",), 0.85),
        ("Sales of Orbico Wumpet in Q1 2021?", ("Q2 2021",), ("Q1 2021",), 0.7),
        ("Sales of Orbico Wumpet in Q1 2021?", ("2021",), ("Q1 2021",), 0.7),
        ("Sales of Orbico Wumpet in Q1 2021?", ("Q4 2020", "Q1 2021"), ("Q1 2021",), 0.95),
        ("Sales of Orbico Wumpet in 2020 and 2021?", ("2020",), ("2021",), 0.6),
        ("Sales of Orbico Wumpet?", ("Q2 2021",), ("2021",), 0.85),
        ("Sales of Orbico Wumpet in the quarter?", ("Q2 2021",), ("2021",), 1.0),
        ("The latest sales of Orbico Wumpet?", ("2020",), ("2021",), 0.8),
        ("The latest sales of Orbico Wumpet?", ("2021",), ("2021",), 1.0),
    ],
)
def test_a_report_on_another_period_keeps_a_share_of_its_evidence(
    question: str, periods: tuple[str, ...], other: tuple[str, ...], share: float
):
    assert share_kept(question, report(1, *periods), report(2, *other)) == pytest.approx(share)


def test_a_document_of_another_kind_keeps_a_share():
    question = "What does the 10-K of Orbico Wumpet say?"
    assert share_kept(question, report(1, kind="10-Q"), report(2, kind="10-K")) == pytest.approx(0.8)


def test_documents_are_named_from_a_boost_on_and_not_too_many():
    assert named_documents({"a": 0.6, "b": 0.9, "c": 0.44, "d": 0.45}) == ["b", "a", "d"]
    assert named_documents({"a": 0.3, "b": 0.29}) == ["a"]
    assert named_documents({"a": 0.29}) == []
    assert named_documents({}) == []
    five = dict.fromkeys("abcde", 0.5)
    assert named_documents(five) == list("abcde")
    assert named_documents({**five, "f": 0.5}) == []


@pytest.mark.parametrize(
    ("question", "boost"),
    [
        ("What is on page 3?", 1.0),
        ("What is on page iv?", 0.0),
        ("What is on pages 1 and 3?", 1.0),
        ("What is on slides 3-4?", 1.0),
        ("What is on page 4?", 0.0),
        ("What is in 'Unlock Your Screen'?", 0.5),
        ("What is in “unlock your screen” on p. 3?", 1.5),
        ("What is in 'your'?", 0.5),
        ("What is in 'our'?", 0.0),
        ("3 psl.", 1.0),
    ],
)
def test_a_named_page_or_section_lifts_its_passages(question: str, boost: float):
    there = passage("text", n=3, section="2 Unlock your Screen > More", page_label="iii")
    assert NamedPlaces.of(question).boost(there) == boost


def test_passages_far_behind_are_not_rescored_and_parts_add_up():
    near = passage("zorgle", n=1, score=0.5)
    reach = passage("zorgle", n=2, score=0.5 - 2.24)
    far = passage("zorgle wumpet", n=3, score=0.5 - 2.25)
    ranked = rank(
        Search("zorgle wumpet", None, 1, "acme"),
        [far, near, reach],
        dict.fromkeys(("doc1", "doc2", "doc3"), 0.25),
    )
    assert [each.passage.document_id for each in ranked] == ["doc1", "doc2", "doc3"]
    assert [each.parts.text is not None for each in ranked] == [True, True, False]
    for each in ranked:
        text = sum(each.parts.text or ())
        assert each.score == pytest.approx(each.passage.score + 0.25 + text)


# --- relevance ---


@pytest.mark.parametrize(
    ("similarity", "covered", "rarity", "expected"),
    [(0.5, None, 9, 0.5), (0.5, 1.0, 10, 0.75), (0.4, 0.8, 0, 0.4), (0.3, 0.9, 30, (0.3 + 1.5 * 0.9) / 2.5)],
)
def test_coverage_weighs_more_the_more_rare_words_are_asked(
    similarity: float, covered: float | None, rarity: float, expected: float
):
    assert relevance(similarity, covered, rarity) == pytest.approx(expected)


def test_coverage_is_the_share_of_rare_words_in_text_section_and_name():
    rare = RareWords.of("Where is the zorgle of the wumpet fnord?", "en")
    assert (set(rare.rarity), rare.sum) == ({"zorgl", "wumpet", "fnord"}, 21.0)
    assert coverage(rare, passage("A zorgle.", section="1 Wumpet", title="x")) == pytest.approx(2 / 3)
    assert coverage(rare, passage("A zorgle.", title="Fnord")) == pytest.approx(2 / 3)
    assert coverage(rare, passage("A zorgle.", language="de")) is None
    assert coverage(RareWords.of("Where is it?", "en"), passage("A zorgle.")) is None
    grouped = RareWords.of("Who has 12,500 zorgles?", "en")
    assert coverage(grouped, passage("It is 12500.", title="x")) == coverage(
        grouped, passage("It is 12,500.", title="x")
    )


def decided(*scores: float, settings: Settings = SETTINGS, **more: object) -> Decision:
    """Decide over passages without words of the question, so that relevance is (similarity) / (1 + weight)."""
    passages = [passage("Something.", n=n, score=score, title="x") for n, score in enumerate(scores, 1)]
    ranked = [RankedPassage(each.score, each, ScoreParts(each.score, 0, 0, 0, 0)) for each in passages]
    found = Retrieved(passages, max(scores, default=None), scored=ranked, **more)
    return decide(Search("Is it so?", [1.0], 1, "acme"), found, settings)


def test_the_best_of_the_first_seven_decides():
    assert (decided(*[0.1] * 6, 0.9).relevant, decided(*[0.1] * 7, 0.9).relevant) == (True, False)
    assert (decided(0.35).relevant, decided(0.3499).relevant, decided().relevant) == (True, False, False)
    assert [decided(score).band for score in (0.65, 0.64, 0.5, 0.49, 0.35, 0.34)] == [
        *(Band.HIGH, Band.MEDIUM, Band.MEDIUM, Band.LOW, Band.LOW, Band.NONE)
    ]


def test_a_refusal_names_the_three_nearest_and_an_answer_none():
    assert decided(0.1, 0.3, 0.20004, 0.05).near_misses == (
        NearMiss("doc2#g1#0", 0.3),
        NearMiss("doc3#g1#0", 0.2),
        NearMiss("doc1#g1#0", 0.1),
    )
    assert decided(0.9).near_misses == ()
    refused = decided(0.9, 0.2).refused_for(["Ann"], [passage("x", n=2)])
    assert (refused.relevant, refused.band, refused.absent, refused.near_misses) == (
        False,
        Band.NONE,
        ("Ann",),
        (NearMiss("doc2#g1#0", 0.2),),
    )


def test_the_relaxed_threshold_answers_with_a_mark():
    relaxed = SETTINGS.model_copy(update={"relaxed_threshold": 0.2})
    marked = decided(0.2, 0.1, settings=relaxed)
    assert (marked.relevant, marked.relaxed, marked.band, marked.threshold) == (True, True, Band.LOW, 0.35)
    assert decided(0.19, settings=relaxed).relevant is False
    assert decided(0.4, settings=relaxed).relaxed is False
    sources = [passage("x", n=1, score=0.2), passage("x", n=2, score=0.1), passage("x", n=3, score=0.7)]
    assert bands_of(marked, sources, relaxed) == (Band.LOW, Band.NONE, Band.LOW)
    assert bands_of(decided(0.9, 0.5), sources, SETTINGS) == (Band.HIGH, Band.MEDIUM, Band.HIGH)


def test_a_lead_is_over_the_best_other_passage_and_document():
    seen = decided(0.9, 0.7).relevances
    assert seen["doc1#g1#0"] == PassageRelevance(0.9, 0.9, None, pytest.approx(0.2), pytest.approx(0.2))
    assert seen["doc2#g1#0"].lead == pytest.approx(-0.2)
    alone = decided(0.9).relevances["doc1#g1#0"]
    assert (alone.lead, alone.document_lead) == (0.5, 1.5)


def test_a_probability_is_the_logistic_function():
    assert probability((0.0, 1.0), (0.0,)) == 0.5
    assert probability((1.0, 2.0, -3.0), (0.5, 0.25)) == pytest.approx(1 / (1 + math.exp(-1.25)))


# --- reasons ---


def test_the_parts_of_a_score_are_told_the_largest_first():
    ranked = RankedPassage(0, passage("x"), ScoreParts(1.5, 0.25, -0.5, 0.0, 0.004, TextScore(0.1, 0.2, 0.3)))
    assert parts_of(ranked, 0.5) == {
        "dense": 0.5,
        "bm25": 1.0,
        "document": 0.25,
        "place": 0.0,
        "glossary": -0.5,
        "statement": 0.004,
        "together": 0.1,
        "phrases": 0.2,
        "beside": 0.3,
    }
    assert parts_of(ranked._replace(parts=ranked.parts._replace(text=None)), None) == {
        "fused": 1.5,
        "document": 0.25,
        "place": 0.0,
        "glossary": -0.5,
        "statement": 0.004,
        "together": 0.0,
        "phrases": 0.0,
        "beside": 0.0,
    }
    assert reasons_of({"dense": 0.5, "glossary": -0.7, "statement": 0.004, "place": 0.005}) == [
        "the tenant's glossary lifts it (-0.70)",
        "its meaning is near the question's (+0.50)",
        "it is on the page or in the section that the question names (+0.01)",
    ]


WRITTEN = WrittenAnswer("Bells ring.", (), Support(), "extractive")


def searched(vector: list[float] | None, *, dropped: tuple[str, ...] = (), sources: int = 2) -> Found:
    """Three hits, of which the last was taken before the second; the first two are sources of the answer."""
    hits = [
        passage("Bells ring.", n=n, score=score, has_similarity=vector is not None)
        for n, score in ((1, 0.9), (2, 0.8), (3, 0.7))
    ]
    ranked = [RankedPassage(each.score, each, ScoreParts(each.score, 0.25, 0, 0, 0)) for each in hits]
    name = hits[2].chunk_id
    retrieved = Retrieved(
        [hits[0], hits[2]],
        0.9,
        dropped,
        4,
        scored=ranked,
        similarities={each.chunk_id: each.score for each in hits},
        reranked={name: 0.6},
    )
    search = Search("Do bells ring?", vector, 1, "acme")
    return Found(
        asked=Understood("Ring?", "Do bells ring?"),
        sources=[hits[0], hits[2]][:sources],
        decision=decide(search, retrieved, SETTINGS),
        best_score=0.9,
        found_by={},
        usage=NO_USAGE,
        embedding_cached=False,
        warnings=("rerank_unavailable",),
        search=search,
        retrieved=retrieved,
    )


def test_a_search_is_explained_hit_by_hit_with_the_chosen_ones_first():
    told = explained(searched([1.0], dropped=("doc9#g1#0",)), limit=10)
    assert (told.searched, told.hits, told.unpublished, told.duplicates, told.warnings) == (
        *("Do bells ring?", 3, ("doc9#g1#0",), 4, ("rerank_unavailable",)),
    )
    assert [
        (each.rank, each.passage.chunk_id, each.rerank, each.is_chosen, each.is_source) for each in told.passages
    ] == [
        (1, "doc1#g1#0", None, True, True),
        (2, "doc3#g1#0", 0.6, True, True),
        (3, "doc2#g1#0", None, False, False),
    ]
    first, _, last = told.passages
    assert (first.score, first.parts["dense"], first.parts["bm25"]) == (0.9, 0.9, 0.0)
    assert first.reasons == ["its meaning is near the question's (+0.90)", "the question names its document (+0.25)"]
    assert (first.relevance is None, last.relevance, last.coverage) == (False, None, None)
    assert [each.rank for each in explained(searched([1.0]), limit=2).passages] == [1, 2]


def test_a_search_that_failed_has_nothing_to_explain():
    told = explained(replace(searched([1.0], dropped=("x",)), search=None, retrieved=None), limit=10)
    assert (told.hits, told.passages, told.unpublished, told.duplicates) == (0, (), (), 0)


def test_a_receipt_says_of_each_hit_what_became_of_it_and_why():
    made = provenance_of(searched([1.0], dropped=("doc9#g1#0",), sources=1), WRITTEN, SETTINGS)
    assert [
        (each["document_id"], each["fate"], each.get("source"), each.get("similarity"), each.get("rerank"))
        for each in made["candidates"]
    ] == [
        ("doc1", "source", 1, 0.9, None),
        ("doc3", "over_budget", None, 0.7, 0.6),
        ("doc2", "not_chosen", None, 0.8, None),
    ]
    assert made["candidates"][2]["parts"] == {"dense": 0.8, "document": 0.25}
    assert (made["hits"], made["duplicates"], made["unpublished"], made["unpublished_count"]) == (
        *(3, 4, ["doc9#g1#0"], 1),
    )
    refused = replace(searched([1.0], sources=0), decision=decided(0.1))
    assert [each["fate"] for each in provenance_of(refused, WRITTEN, SETTINGS)["candidates"]] == [
        *("refused", "refused", "not_chosen"),
    ]


def test_without_a_vector_all_of_a_score_is_by_words():
    made = provenance_of(searched(None), WRITTEN, SETTINGS)
    assert [(each["parts"], each.get("similarity")) for each in made["candidates"]] == [
        ({"bm25": score, "document": 0.25}, None) for score in (0.9, 0.7, 0.8)
    ]


# --- neighbours ---


def chunk(at: int, text: str, start: int, *, page: int = 1, **more: object) -> Passage:
    return passage(
        text, n=1, chunk_id=f"doc1#g1#{at}", chunk_index=at, char_start=start, page_start=page, page_end=page, **more
    )


def test_the_places_beside_the_best_three_are_fetched():
    best = [chunk(0, "a", 0), chunk(5, "b", 50), chunk(6, "c", 60), chunk(20, "d", 90)]
    assert places_beside(best, neighbours=1) == [("doc1", "g1", at) for at in (1, 4, 7)]
    assert places_beside(best, neighbours=2) == [("doc1", "g1", at) for at in (1, 2, 3, 4, 7, 8)]
    assert places_beside(best, neighbours=0) == []
    of_two = [("d1", "g1", 3), ("d1", "g1", 4), ("d2", "g9", 1)]
    parts = [
        {"document_id": {"$eq": "d1"}, "generation": {"$eq": "g1"}, "chunk_index": {"$in": [3, 4]}},
        {"document_id": {"$eq": "d2"}, "generation": {"$eq": "g9"}, "chunk_index": {"$in": [1]}},
    ]
    assert filter_for(of_two, None) == {"$or": parts}
    assert filter_for(of_two[:2], None) == parts[0]


def joined(first: Passage, second: Passage, *, budget: int = 100) -> str:
    (whole,) = expanded([first], {place_of(second): second}, neighbours=1, budget_tokens=budget)
    return whole.text


@pytest.mark.parametrize(
    ("start", "text", "page", "whole"),
    [
        (5, "beta", 1, "alphabeta"),
        (7, "beta", 1, "alpha\n\nbeta"),
        (6, "beta", 1, "alpha"),
        (6, "beta", 2, "alpha"),
        (8, "beta", 1, "alpha"),
        (3, "habeta", 1, "alphabeta"),
        (3, "hxbeta", 1, "alpha"),
        (2, "pha", 1, "alpha"),
    ],
)
def test_passages_are_joined_where_the_text_between_them_is_known(start: int, text: str, page: int, whole: str):
    assert joined(chunk(1, "alpha", 0), chunk(2, text, start, page=page)) == whole


def test_what_was_corrected_or_described_or_costs_too_much_is_not_joined():
    first, second = chunk(1, "alpha", 0), chunk(2, "beta gamma", 7)
    assert joined(first, second, budget=2) == "alpha\n\nbeta gamma"
    assert joined(first, second, budget=1) == "alpha"
    assert joined(first, chunk(2, "beta", 7, described_by="gpt")) == "alpha"
