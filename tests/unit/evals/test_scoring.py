"""From answers to figures: rows, sets, refusals, differences, and what changed between two results."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.compare import changed_questions, changed_refusals
from evals.data import PdfQuestion
from evals.errors import EvalError
from evals.scoring import Ranks, differences, question_row, ranked_pages, refusals, stage_milliseconds, summaries
from evals.storage import ResultCache, read_json, source_hash, write_json
from evals.systems.base import RankedChunk, SearchResult, pages_by_share

RANKS = Ranks((1, 3))
QUESTION = PdfQuestion("q1", "manuals", "How high?", "a.pdf", (2,))
INDEXED = frozenset({("a.pdf", 1), ("a.pdf", 2), ("b.pdf", 1)})


def found(*places: tuple[str, int], best: float | None = 0.6, refused: bool | None = False) -> SearchResult:
    hits = [RankedChunk(doc, (page,), 0.9 - number / 100) for number, (doc, page) in enumerate(places)]
    return SearchResult(hits, [f"text {number}" for number in range(len(hits))], best, refused, {"search": 2.0})


def row(*places: tuple[str, int], question: PdfQuestion = QUESTION, best: float = 0.6, refused: bool = False) -> Any:
    return question_row(question, found(*places, best=best, refused=refused), RANKS, INDEXED)


def test_a_question_whose_page_comes_second() -> None:
    it = row(("a.pdf", 1), ("a.pdf", 2))
    assert (it["hit@1"], it["hit@3"], it["doc@1"], it["mrr"], it["gold_rank"]) == (0.0, 1.0, 1.0, 0.5, 2)
    assert it["why"] == "the expected page came at rank 2"
    assert it["ranked"][1] == {"doc": "a.pdf", "page": 2, "score": pytest.approx(0.89)}


def test_a_chunk_across_pages_finds_its_pages_at_once_but_ranks_them_one_by_one() -> None:
    both = SearchResult([RankedChunk("a.pdf", (1, 2), 0.9)], ["text"], 0.6, False, {"search": 2.0})
    it = question_row(QUESTION, both, RANKS, INDEXED)
    assert (it["chunk@1"], it["hit@1"], it["hit@3"]) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("places", "why"),
    [
        ([("a.pdf", 2)], ""),
        ([("a.pdf", 1)], "the right document, other pages"),
        ([("b.pdf", 1)], "other documents"),
        ([], "other documents"),
    ],
)
def test_why_a_page_was_not_found(places: list[tuple[str, int]], why: str) -> None:
    assert row(*places)["why"] == why


def test_a_page_without_text_is_told_apart_from_a_page_that_was_missed() -> None:
    it = row(("a.pdf", 1), question=replace(QUESTION, pages=(7,)))
    assert it["why"] == "no text of the expected page is in the index"


def test_the_rank_of_a_page_far_behind_is_known_but_counts_for_nothing() -> None:
    it = row(*((f"{number}.pdf", 1) for number in range(20)), ("a.pdf", 2))
    assert (it["gold_rank"], it["mrr"], it["hit@3"]) == (21, 0.0, 0.0)
    assert len(it["ranked"]) == RANKS.depth


def test_an_unanswerable_question_has_no_figures_but_a_refusal() -> None:
    it = row(("a.pdf", 1), question=replace(QUESTION, answerable=False, pages=()), refused=True)
    assert "hit@1" not in it
    assert it["refused"] is True


def test_sets_are_summed_up_apart_with_intervals_around_their_means() -> None:
    rows = [row(("a.pdf", 2)), row(("b.pdf", 1)), row(("a.pdf", 2), question=replace(QUESTION, set="papers"))]
    sets = summaries(rows, RANKS, seed=0)
    assert (sets["manuals"]["n"], sets["manuals"]["hit@1"], sets["papers"]["hit@1"]) == (2, 0.5, 1.0)
    low, high = sets["manuals"]["ci"]["hit@1"]
    assert low <= 0.5 <= high


def test_refusals_are_counted_on_both_sides_and_pictures_left_out() -> None:
    unanswerable = replace(QUESTION, answerable=False, pages=())
    rows = [
        row(("a.pdf", 2), best=0.7),
        row(("a.pdf", 2), best=0.3, refused=True),
        row(question=unanswerable, best=0.2, refused=True),
        row(question=replace(QUESTION, from_text=False), best=0.1, refused=True),
    ]
    it = refusals(rows, 0.4)
    assert it["answerable"] == {"n": 2, "refused": 1}
    assert it["unanswerable"] == {"n": 1, "refused": 1}
    assert it["auc"] == 1.0
    at_half = next(point for point in it["curve"] if point["threshold"] == 0.5)
    assert (at_half["answerable_refused"], at_half["unanswerable_refused"]) == (0.5, 1.0)


def test_a_system_without_similarities_has_no_refusals() -> None:
    assert refusals([question_row(QUESTION, found(best=None), RANKS, INDEXED)], None) == {}


def test_stages_are_shown_by_median() -> None:
    rows = [{"milliseconds": {"search": value}} for value in (1.0, 2.0, 9.0)]
    assert stage_milliseconds(rows)["search"]["p50"] == 2.0


def test_differences_pair_questions_by_id_whatever_their_order() -> None:
    first = {**row(("b.pdf", 1)), "id": "x"}, {**row(("a.pdf", 2)), "id": "y"}
    second = {**row(("a.pdf", 2)), "id": "y"}, {**row(("a.pdf", 2)), "id": "x"}, {**row(("a.pdf", 2)), "id": "z"}
    it = differences(first, second, ["hit@1"], seed=0)
    assert it["manuals"]["n"] == 2
    assert it["manuals"]["hit@1"]["mean"] == 0.5


def test_questions_that_moved_most_come_first_and_unmoved_ones_not_at_all() -> None:
    a = [{**row(("a.pdf", 2)), "id": "lost"}, {**row(("b.pdf", 1), ("a.pdf", 2)), "id": "same"}, {**row(), "id": "won"}]
    b = [
        {**row(), "id": "lost"},
        {**row(("b.pdf", 1), ("a.pdf", 2)), "id": "same"},
        {**row(("b.pdf", 1), ("a.pdf", 2)), "id": "won"},
    ]
    moved = changed_questions(a, b)
    assert [(each["id"], each["gain"]) for each in moved] == [("lost", -1.0), ("won", 0.5)]


def test_the_cache_works_a_thing_out_once_and_again_when_asked_to(tmp_path: Path) -> None:
    cache, made = ResultCache(tmp_path), []

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    assert cache.get("kind", {"a": 1}, make) == cache.get("kind", {"a": 1}, make) == [1]
    assert cache.get("kind", {"a": 2}, make) == [2]
    assert cache.get("kind", {"a": 1}, make, fresh=True) == [3]
    assert cache.get("kind", {"a": 1}, make) == [3]


def test_a_torn_cache_file_is_made_anew(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.get("kind", {}, lambda: [1])
    file = next(tmp_path.rglob("*.json.gz"))
    file.write_bytes(file.read_bytes()[:10])
    assert cache.get("kind", {}, lambda: [2]) == [2]


def test_the_source_hash_names_the_code_that_was_measured() -> None:
    assert source_hash("evals/metrics.py") != source_hash("evals/scoring.py")


def test_a_result_is_read_back_and_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "deep" / "a.json", {"system": "recto", "share": 1 / 3})
    assert read_json(tmp_path / "deep" / "a.json", "system")["share"] == pytest.approx(1 / 3, abs=1e-6)
    with pytest.raises(EvalError, match="has no questions"):
        read_json(tmp_path / "deep" / "a.json", "system", "questions")
    (tmp_path / "b.json").write_text("no")
    with pytest.raises(EvalError, match="is not JSON"):
        read_json(tmp_path / "b.json")


def test_a_question_that_is_refused_now_and_was_answered_is_named() -> None:
    asked = {"set": "s", "question": "Why?", "answerable": True}
    a = [{"id": "1", "refused": False, **asked}, {"id": "2", "refused": True, **asked}, {"id": "3", **asked}]
    b = [{"id": "1", "refused": True, **asked}, {"id": "2", "refused": True, **asked}, {"id": "3", **asked}]
    assert [(each["id"], each["b"]) for each in changed_refusals(a, b)] == [("1", True)]


# --- from chunks to pages, by one rule for every system


def chunk(doc: str, *pages: int, score: float = 0.5) -> RankedChunk:
    return RankedChunk(doc, pages, score)


def pages_in_order(hits: list[RankedChunk], at_most: int = 10) -> list[tuple[str, int]]:
    return [(each.doc, each.page) for each in ranked_pages(hits, at_most=at_most)]


def test_a_page_keeps_its_first_place_and_the_score_it_came_with() -> None:
    hits = [
        RankedChunk("a.pdf", (1,), 0.9),
        RankedChunk("a.pdf", (2,), 0.8),
        RankedChunk("a.pdf", (1,), 0.7),
        RankedChunk("b.pdf", (1,), 0.6),
    ]
    assert pages_in_order(hits) == [("a.pdf", 1), ("a.pdf", 2), ("b.pdf", 1)]
    assert ranked_pages(hits, at_most=1)[0].score == 0.9


def test_a_chunk_across_pages_takes_a_place_for_each_of_them() -> None:
    assert pages_in_order([chunk("a.pdf", 4, 3), chunk("a.pdf", 5)]) == [
        ("a.pdf", 4),
        ("a.pdf", 3),
        ("a.pdf", 5),
    ]


def test_the_row_ends_at_the_number_asked_for_even_inside_a_chunk() -> None:
    assert pages_in_order([chunk("a.pdf", 1, 2, 3)], at_most=2) == [("a.pdf", 1), ("a.pdf", 2)]


def test_the_page_with_most_of_the_chunk_comes_first() -> None:
    # A chunk from 90 to 200: ten characters on page 3, ninety on page 4, ten on page 5.
    assert pages_by_share([(3, 0), (4, 100), (5, 190)], 90, 200) == [4, 3, 5]


def test_a_page_the_chunk_does_not_touch_is_left_out() -> None:
    assert pages_by_share([(3, 0), (4, 100), (5, 200)], 100, 150) == [4]


def test_without_page_starts_there_is_no_share_to_order_by() -> None:
    assert pages_by_share([], 0, 100) == []


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))))
def test_no_page_occurs_twice_and_none_is_lost(chunks: list[tuple[str, list[int]]]) -> None:
    row = pages_in_order([RankedChunk(doc, pages, 0.5) for doc, pages in chunks], at_most=1000)
    assert len(row) == len(set(row))
    assert set(row) == {(doc, page) for doc, pages in chunks for page in pages}
