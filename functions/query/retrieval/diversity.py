"""Maximal marginal relevance: passages that say the same as a better one stand back (Carbonell and Goldstein 1998)."""

from collections.abc import Sequence, Set

from functions.query.retrieval.evidence import plain_words
from functions.query.retrieval.passages import Passage

LOOKED_AT = 5
"""How many times the wanted number of passages is chosen from."""


def diverse(passages: Sequence[Passage], *, wanted: int, diversity: float) -> list[Passage]:
    """Return `passages`, which come best first by `rank_score`, with the first `wanted` chosen one by one.

    Each choice is the best by (1 - diversity) × its score, as a share of the range of scores, less diversity × the
    greatest share of words it has in common with one chosen before. 0 changes nothing.
    """
    pool = list(passages[: LOOKED_AT * wanted])
    if diversity <= 0 or len(pool) < 2:
        return list(passages)
    worst = min(passage.rank_score for passage in pool)
    span = max(passage.rank_score for passage in pool) - worst or 1.0
    worth = [(passage.rank_score - worst) / span for passage in pool]
    words = [frozenset(plain_words(passage.text, latin=False)) for passage in pool]
    likeness = [0.0] * len(pool)
    left = list(range(len(pool)))
    chosen: list[int] = []
    while left and len(chosen) < wanted:
        best = max(left, key=lambda at: ((1 - diversity) * worth[at] - diversity * likeness[at], -at))
        left.remove(best)
        chosen.append(best)
        for at in left:
            likeness[at] = max(likeness[at], _overlap(words[at], words[best]))
    return [pool[at] for at in (*chosen, *left)] + list(passages[len(pool) :])


def _overlap(one: Set[str], other: Set[str]) -> float:
    """Return the share of common words (Jaccard), 0 to 1."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0
