"""How sure a mean is: percentile bootstrap over questions (Efron and Tibshirani, 1993, chapter 13), seeded.

The same numbers and the same seed give the same interval, on any machine. Questions are resampled as if independent;
questions about one document are not quite, so intervals are a little too narrow when there are few documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
CONFIDENCE = 0.95
Means = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How much B is above A on the same questions, with its interval and a two-sided p.

    `p` is twice the share of resamples on the far side of zero (ties half on each), at most 1.
    """

    mean: float
    low: float
    high: float
    p: float

    @property
    def is_real(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0.0 or self.high < 0.0


def interval(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return mean and 95 % interval of `values`, one number a question; zeros when there are none."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    means = _resampled_means(values, seed, resamples)
    low, high = _bounds(means)
    return Interval(float(np.mean(values)), low, high)


def paired_difference(
    a: Sequence[float], b: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Difference:
    """Return how much the mean of `b` is above that of `a`; the two hold the same questions in the same order.

    Raises `ValueError` when their lengths differ.
    """
    if len(a) != len(b):
        raise ValueError(f"A paired comparison needs the same questions on both sides, not {len(a)} and {len(b)}.")
    if not a:
        return Difference(0.0, 0.0, 0.0, 1.0)
    differences = [right - left for left, right in zip(a, b, strict=True)]
    means = _resampled_means(differences, seed, resamples)
    low, high = _bounds(means)
    # Rounding: sums of equal numbers in another order may miss zero by a hair.
    means = np.round(means, 12)
    ties = float(np.mean(means == 0.0)) / 2
    tail = min(float(np.mean(means < 0.0)), float(np.mean(means > 0.0))) + ties
    return Difference(float(np.mean(differences)), low, high, min(1.0, 2 * tail))


def _resampled_means(values: Sequence[float], seed: int, resamples: int) -> Means:
    array = np.asarray(values, np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(resamples, np.float64)
    step = max(1, 2_000_000 // len(array))  # resamples at a time: 16 MB of indices
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        picked = generator.integers(0, len(array), size=(stop - start, len(array)))
        means[start:stop] = array[picked].mean(axis=1)
    return means


def _bounds(means: Means) -> tuple[float, float]:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)
