"""Rank metrics of one question, each a number between 0 and 1.

A ranking is a list of things, best first, without repetitions; `relevant` is the set of the right ones. The sources of
the formulas: Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 8; binary gains throughout.
"""

import math
from collections.abc import Collection, Hashable, Sequence


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
