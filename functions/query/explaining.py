"""Why passages rank where they do: the parts of each score, as the ranking added them up, with reasons in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from functions.query.decision import Decision
from functions.query.finding import Found
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import RankedPassage, with_similarity
from functions.query.retrieval.retrieve import Retrieved

EXPLAINED = 20
"""Hits that the explanation of an answer shows."""
LEAST_TOLD = 0.005
"""Parts smaller than this, in units of cosine, are not told in words."""
_REASONS: Mapping[str, str] = {
    "fused": "its words and its meaning are near the question's ({value:+.2f})",
    "dense": "its meaning is near the question's ({value:+.2f})",
    "bm25": "it has words of the question ({value:+.2f})",
    "document": "the question names its document ({value:+.2f})",
    "place": "it is on the page or in the section that the question names ({value:+.2f})",
    "glossary": "the tenant's glossary lifts it ({value:+.2f})",
    "statement": "it is part of a financial statement, and the question asks for such figures ({value:+.2f})",
    "together": "words of the question stand close together in it ({value:+.2f})",
    "phrases": "words of the question follow each other in it as they do in the question ({value:+.2f})",
    "beside": "the passage before or after it fits, too ({value:+.2f})",
}


@dataclass(frozen=True, slots=True)
class ExplainedPassage:
    """One hit: its rank from 1, the parts of its score (their sum is `score`, in units of cosine), and why.

    `rerank` replaced the score, None without a reranker or beyond its reach. `relevance` and `coverage` are what the
    decision saw, None for a passage that was not chosen. `is_source`: an answer is made from it.
    """

    rank: int
    passage: Passage
    score: float
    parts: Mapping[str, float]
    rerank: float | None
    relevance: float | None
    coverage: float | None
    is_chosen: bool
    is_source: bool

    @property
    def reasons(self) -> Sequence[str]:
        """The parts in words, the largest first."""
        return reasons_of(self.parts)


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a search went. `searched` is the question as it was searched for, `hits` the number of all ranked ones.

    `unpublished` are the ids of hits that were dropped because their generation is not published.
    """

    searched: str
    decision: Decision
    hits: int
    passages: Sequence[ExplainedPassage]
    unpublished: Sequence[str]
    duplicates: int
    warnings: Sequence[str]


def explained(found: Found, *, limit: int) -> Explanation:
    """Explain the best `limit` hits of a search, and what the decision made of them."""
    retrieved = found.retrieved
    return Explanation(
        searched=found.asked.standalone,
        decision=found.decision,
        hits=len(retrieved.scored) if retrieved else 0,
        passages=_explained_passages(found, limit=limit),
        unpublished=retrieved.dropped if retrieved else (),
        duplicates=retrieved.duplicates if retrieved else 0,
        warnings=found.warnings,
    )


def _explained_passages(found: Found, *, limit: int) -> Sequence[ExplainedPassage]:
    """Explain the best `limit` hits."""
    search, retrieved = found.search, found.retrieved
    if search is None or retrieved is None:
        return ()
    chosen = {passage.chunk_id for passage in retrieved.passages}
    sources = {passage.chunk_id for passage in found.sources}
    shown = in_final_order(retrieved)[:limit]
    similar = with_similarity(search, [each.passage for each in shown], retrieved.similarities)
    explanations = []
    for rank, (ranked, passage) in enumerate(zip(shown, similar, strict=True), start=1):
        parts = parts_of(ranked, passage.similarity or 0.0)
        seen = found.decision.relevances.get(passage.chunk_id)
        explanations.append(
            ExplainedPassage(
                rank=rank,
                passage=passage,
                score=ranked.score,
                parts=parts,
                rerank=retrieved.reranked.get(passage.chunk_id),
                relevance=seen.relevance if seen else None,
                coverage=seen.coverage if seen else None,
                is_chosen=passage.chunk_id in chosen,
                is_source=passage.chunk_id in sources,
            )
        )
    return explanations


def in_final_order(retrieved: Retrieved) -> Sequence[RankedPassage]:
    """Return all hits with the chosen ones first, in their order after reranking and diversification."""
    place = {passage.chunk_id: at for at, passage in enumerate(retrieved.passages)}
    return sorted(retrieved.scored, key=lambda each: place.get(each.passage.chunk_id, len(place)))


def parts_of(ranked: RankedPassage, dense: float | None) -> Mapping[str, float]:
    """Return the parts of a score by name.

    `dense` is the passage's similarity, 0 without a vector; where it is None, cosine and BM25 are one part, `fused`.
    """
    own = ranked.parts
    text = own.text._asdict() if own.text else {}
    return {
        **({"fused": own.fused} if dense is None else {"dense": dense, "bm25": own.fused - dense}),
        "document": own.document,
        "place": own.place,
        "glossary": own.glossary,
        "statement": own.statement,
        **{name: text.get(name, 0.0) for name in ("together", "phrases", "beside")},
    }


def reasons_of(parts: Mapping[str, float]) -> Sequence[str]:
    """Say in words what lifted a passage, the largest part first."""
    told = sorted(parts.items(), key=lambda part: -abs(part[1]))
    return [_REASONS[name].format(value=value) for name, value in told if abs(value) >= LEAST_TOLD]
