"""Chroma's chunking protocol: which characters of the gold excerpts the retrieved chunks hold, and how many others.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma Technical Report, July 2024, and the
evaluation program published with it. Spans are `(start, end)` character offsets in one corpus, the end not included.

For one question with gold spans G and retrieved chunks R of the gold's corpus:

    recall       = |G ∩ R| / |G|
    precision    = |G ∩ R| / sum of the lengths of all retrieved chunks (repetitions and other corpora counted)
    IoU          = |G ∩ R| / (that sum + |G not in R|)
    precision Ω  = the IoU when exactly the chunks that touch G are retrieved, overlaps counted once
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SpanScores:
    """One question's scores, each between 0 and 1."""

    recall: float
    precision: float
    iou: float
    precision_omega: float


def length(spans: Iterable[Span]) -> int:
    """Return the number of characters, overlaps counted as often as they occur."""
    return sum(end - start for start, end in spans)


def union(spans: Iterable[Span]) -> list[Span]:
    """Return disjoint spans in order that cover the same characters."""
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def intersection(left: Iterable[Span], right: Iterable[Span]) -> list[Span]:
    """Return disjoint spans of the characters in both."""
    a, b = union(left), union(right)
    both: list[Span] = []
    i = j = 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            both.append((start, end))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return both


def score(
    gold: Sequence[Span], retrieved: Sequence[Span], *, elsewhere: int = 0, all_chunks: Sequence[Span] = ()
) -> SpanScores:
    """Score one question.

    `retrieved` are the chunks of the gold's corpus, `elsewhere` the summed lengths of the retrieved chunks of others,
    `all_chunks` every chunk of the gold's corpus (for precision Ω).
    """
    found = length(intersection(gold, retrieved))
    wanted = length(union(gold))
    taken = length(retrieved) + elsewhere
    touching = [chunk for chunk in all_chunks if intersection([chunk], gold)]
    best = length(intersection(gold, touching))
    # Gold that no chunk holds stays in the denominator: a chunker that drops text pays for it.
    best_taken = length(union([*touching, *gold]))
    return SpanScores(
        recall=found / wanted if wanted else 0.0,
        precision=found / taken if taken else 0.0,
        iou=found / (taken + wanted - found) if taken + wanted - found else 0.0,
        precision_omega=best / best_taken if best_taken else 0.0,
    )
