"""Intervals and differences: the same every time, and as sure as they say."""

import numpy as np
import pytest

from evals.bootstrap import interval, paired_difference

RESAMPLES = 1_000


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
