"""Metrics agree with their definitions, intervals are reproducible and as sure as they say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import auc, hit_at, interval, ndcg_at, paired_difference, recall_at, reciprocal_rank, wilson

RESAMPLES = 1_000
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


def test_the_same_seed_gives_the_same_interval_to_the_last_digit() -> None:
    values = np.random.default_rng(1).random(40).tolist()
    assert interval(values, seed=3) == interval(values, seed=3)
    assert interval(values, seed=3) != interval(values, seed=4)


def test_equal_values_leave_no_doubt() -> None:
    found = interval([0.25] * 40)
    assert (found.mean, found.low, found.high) == (0.25, 0.25, 0.25)


def test_no_values_give_zeros_and_no_error() -> None:
    assert interval([]).mean == 0.0
    assert paired_difference([], []).p == 1.0


def test_the_interval_of_a_share_is_about_that_of_the_normal_approximation() -> None:
    values = [1.0] * 60 + [0.0] * 40
    half = 1.96 * (0.6 * 0.4 / 100) ** 0.5
    found = interval(values)
    assert found.low == pytest.approx(0.6 - half, abs=0.015)
    assert found.high == pytest.approx(0.6 + half, abs=0.015)


def test_about_95_of_100_intervals_hold_the_truth() -> None:
    generator = np.random.default_rng(11)
    held = 0
    for _ in range(200):
        drawn = (generator.random(120) < 0.7).astype(float).tolist()
        found = interval(drawn, resamples=RESAMPLES)
        held += found.low <= 0.7 <= found.high
    assert 180 <= held <= 200


def test_a_difference_on_every_question_is_real_however_noisy_the_questions() -> None:
    generator = np.random.default_rng(5)
    a = generator.random(60).tolist()
    found = paired_difference(a, [value + 0.05 for value in a])
    assert found.mean == pytest.approx(0.05)
    assert found.is_real
    assert found.p < 0.001


def test_as_many_questions_won_as_lost_is_no_difference() -> None:
    a = [1.0, 0.0] * 30
    b = [0.0, 1.0] * 30
    found = paired_difference(a, b)
    assert found.mean == 0.0
    assert not found.is_real
    assert found.p > 0.5


def test_without_any_difference_p_is_one() -> None:
    same = [0.1, 0.7, 0.2]
    assert paired_difference(same, same).p == 1.0


def test_the_difference_is_turned_round_when_the_sides_are() -> None:
    a, b = [1.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0, 1.0]
    one, other = paired_difference(a, b, seed=1), paired_difference(b, a, seed=1)
    assert one.mean == -other.mean
    assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))


def test_false_alarms_are_about_as_rare_as_promised() -> None:
    generator = np.random.default_rng(8)
    alarms = 0
    for _ in range(200):
        a, b = (generator.random((2, 100)) < 0.6).astype(float).tolist()
        alarms += paired_difference(a, b, resamples=RESAMPLES).is_real
    assert alarms <= 20


def test_two_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="same questions"):
        paired_difference([1.0], [1.0, 0.0])


@pytest.mark.parametrize(
    ("count", "n", "expected"),
    [(0, 10, (0.0, 0.2775)), (5, 10, (0.2366, 0.7634)), (10, 10, (0.7225, 1.0)), (0, 0, (0.0, 1.0))],
)
def test_wilsons_interval_of_a_share(count: int, n: int, expected: tuple[float, float]) -> None:
    assert wilson(count, n) == pytest.approx(expected, abs=1e-4)
