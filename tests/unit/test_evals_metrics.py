"""The figures: by hand, and against simpler programs that do the same slowly."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import auc, hit_at, ndcg_at, recall_at, reciprocal_rank

RANKINGS = st.lists(st.integers(0, 12), unique=True, max_size=12)
RELEVANT = st.frozensets(st.integers(0, 12), max_size=6)


def test_hit_counts_from_the_rank_where_the_first_relevant_one_stands() -> None:
    assert [hit_at(["a", "b", "c"], {"b", "c"}, k) for k in (1, 2, 3)] == [0.0, 1.0, 1.0]


def test_reciprocal_rank_is_one_by_the_rank_and_zero_behind_k() -> None:
    assert reciprocal_rank(["a", "b", "c"], {"c"}, 3) == pytest.approx(1 / 3)
    assert reciprocal_rank(["a", "b", "c"], {"c"}, 2) == 0.0


def test_ndcg_of_a_ranking_worked_out_by_hand() -> None:
    # Relevant at ranks 2 and 3 of three relevant ones: (1/log2(3) + 1/log2(4)) / (1 + 1/log2(3) + 1/log2(4)).
    gain = 1 / math.log2(3) + 1 / 2
    assert ndcg_at(["x", "a", "b"], {"a", "b", "c"}, 10) == pytest.approx(gain / (1 + gain))


def test_ndcg_at_a_small_k_expects_no_more_than_k_relevant_ones() -> None:
    assert ndcg_at(["a"], {"a", "b", "c"}, 1) == 1.0


def test_recall_is_the_share_of_the_relevant_that_was_found() -> None:
    assert recall_at(["a", "x", "b"], {"a", "b", "c", "d"}, 3) == 0.5


def test_auc_is_the_share_of_pairs_in_the_right_order_with_ties_half() -> None:
    assert auc([0.9, 0.5], [0.5, 0.1]) == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert auc([], [0.5]) == 0.5


@given(RANKINGS, RELEVANT, st.integers(1, 12))
def test_figures_agree_with_their_definitions_spelled_out(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    gains = [1.0 if item in relevant else 0.0 for item in ranking[:k]]
    assert hit_at(ranking, relevant, k) == (1.0 if sum(gains) else 0.0)
    assert reciprocal_rank(ranking, relevant, k) == max((g / (r + 1) for r, g in enumerate(gains)), default=0.0)
    ideal = sum(1 / math.log2(r + 2) for r in range(min(k, len(relevant))))
    dcg = sum(g / math.log2(r + 2) for r, g in enumerate(gains))
    assert ndcg_at(ranking, relevant, k) == pytest.approx(dcg / ideal if ideal else 0.0)
    assert 0.0 <= ndcg_at(ranking, relevant, k) <= 1.0 + 1e-9


@given(RANKINGS, RELEVANT)
def test_more_ranks_never_lower_hit_recall_or_reciprocal_rank(ranking: list[int], relevant: frozenset[int]) -> None:
    for metric in (hit_at, recall_at, reciprocal_rank):
        values = [metric(ranking, relevant, k) for k in range(1, 13)]
        assert values == sorted(values)
