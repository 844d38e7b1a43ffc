"""Chroma's scores: by hand, and against sets of characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.research.chroma import Span, intersection, length, score, union

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda s: (min(s), max(s))), max_size=6)


def characters(spans: list[Span]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


def test_scores_worked_out_by_hand() -> None:
    # Gold 10–20 and 40–50; retrieved 15–35 and 100–110, and 30 characters of another corpus.
    found = score([(10, 20), (40, 50)], [(15, 35), (100, 110)], elsewhere=30, all_chunks=[(0, 15), (15, 35), (45, 60)])
    assert found.recall == 5 / 20
    assert found.precision == 5 / 60
    assert found.iou == 5 / (60 + 15)
    # Chunks that touch gold: 0–15, 15–35, 45–60 hold 15 of 20; with the five that none holds, 50 + 5 characters.
    assert found.precision_omega == 15 / 55


def test_overlapping_chunks_cost_precision_but_find_gold_once() -> None:
    found = score([(0, 10)], [(0, 10), (0, 10)])
    assert found.recall == 1.0
    assert found.precision == 0.5


def test_a_perfect_chunk_scores_one_everywhere() -> None:
    found = score([(5, 9)], [(5, 9)], all_chunks=[(0, 5), (5, 9)])
    assert (found.recall, found.precision, found.iou, found.precision_omega) == (1.0, 1.0, 1.0, 1.0)


def test_nothing_retrieved_scores_zero() -> None:
    found = score([(5, 9)], [])
    assert (found.recall, found.precision, found.iou, found.precision_omega) == (0.0, 0.0, 0.0, 0.0)


@given(SPANS, SPANS)
def test_union_and_intersection_are_those_of_sets_of_characters(a: list[Span], b: list[Span]) -> None:
    assert characters(union(a)) == characters(a)
    assert length(union(a)) == len(characters(a))
    both = intersection(a, b)
    assert characters(both) == characters(a) & characters(b)
    assert length(both) == len(characters(a) & characters(b))


@given(SPANS, SPANS, st.integers(0, 20))
def test_scores_agree_with_sets_of_characters(gold: list[Span], taken: list[Span], elsewhere: int) -> None:
    wanted, found, all_taken = characters(gold), characters(gold) & characters(taken), length(taken) + elsewhere
    scores = score(gold, taken, elsewhere=elsewhere)
    assert scores.recall == pytest.approx(len(found) / len(wanted) if wanted else 0.0)
    assert scores.precision == pytest.approx(len(found) / all_taken if all_taken else 0.0)
    rest = all_taken + len(wanted - found)
    assert scores.iou == pytest.approx(len(found) / rest if rest else 0.0)
