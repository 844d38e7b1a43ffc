"""Rank metrics of one question, each a number between 0 and 1; and how sure the mean over many questions is.

A ranking is a list of things, best first, without repetitions; `relevant` is the set of the right ones. Formulas:
Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 8; binary gains throughout.

Intervals: percentile bootstrap over questions (Efron and Tibshirani, 1993, chapter 13), seeded: the same numbers and
the same seed give the same interval on any machine. Questions are resampled as if independent; questions about one
document are not quite, so intervals are a little too narrow when there are few documents.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
CONFIDENCE = 0.95
_NORMAL_95 = 1.959964
"""97.5 % quantile of the standard normal distribution."""
Means = npt.NDArray[np.float64]


def hit_at(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return 1.0 when one of the first `k` is relevant, else 0.0."""
    return float(any(item in relevant for item in ranking[:k]))


def recall_at(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return the share of the relevant that is among the first `k`; 0.0 when nothing is relevant."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return 1 / the rank of the first relevant one, 0.0 when it is not among the first `k`."""
    return next((1.0 / rank for rank, item in enumerate(ranking[:k], start=1) if item in relevant), 0.0)


def ndcg_at(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Return the discounted gain of the first `k` as a share of the best there can be, with binary gains.

    Gain at rank r is 1 / log2(r + 1); the best ranking has min(k, relevant) gains in front. 0.0 if none is relevant.
    """
    gain = sum(1.0 / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], start=1) if item in relevant)
    best = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return gain / best if best else 0.0


def auc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Return the chance that a positive's score is above a negative's, ties counting half; 0.5 if a side is empty."""
    if not positives or not negatives:
        return 0.5
    wins = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    return wins / (len(positives) * len(negatives))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """How much B is above A on the same questions, with its interval and a two-sided p.

    `p` is twice the share of resamples on the far side of zero (ties half on each), at most 1.
    """

    p: float

    @property
    def is_real(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0.0 or self.high < 0.0

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object, as results are written."""
        return {"mean": self.mean, "ci": [self.low, self.high], "p": self.p, "real": self.is_real}


def interval(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return mean and 95 % interval of `values`, one number a question; zeros when there are none."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    means = _resampled_means(values, seed, resamples)
    low, high = _bounds(means)
    return Interval(float(np.mean(values)), low, high)


def wilson(count: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share `count` / `n`; (0, 1) when `n` is 0 (Wilson, JASA 22, 1927)."""
    if not n:
        return 0.0, 1.0
    share, spread = count / n, _NORMAL_95**2 / n
    middle = (share + spread / 2) / (1 + spread)
    half = _NORMAL_95 / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


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


def summary(rows: Sequence[Mapping[str, Any]], metrics: Iterable[str], *, seed: int) -> dict[str, Any]:
    """Return `n`, the mean of each metric over the rows that have it, and 95 % intervals under `ci`."""
    found: dict[str, Any] = {"n": len(rows), "ci": {}}
    for metric in metrics:
        values = [float(row[metric]) for row in rows if row.get(metric) is not None]
        if values:
            each = interval(values, seed=seed)
            found[metric], found["ci"][metric] = each.mean, [each.low, each.high]
    return found


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
