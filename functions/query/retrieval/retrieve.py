"""Find the passages: search by meaning and by words at the same time, and rank what may be answered from.

Two searches run at once. The hybrid one scores cosine plus weighted BM25 in one index, and brings the texts; the dense
one gives the cosine similarity that the decision to refuse needs, and brings ids and scores alone. Either may fail
alone: without vectors the words are searched alone, without the hybrid ranking the dense one stands, asked once more
for its texts. What was found is ranked again by its stored text (`ranking`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from functions.query.ports import DocumentRegistry, Reranker, VectorSearch
from functions.query.retrieval.neighbours import expanded, filter_for, place_of, places_beside
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import LOOKED_AT, diverse, rank, with_similarity
from functions.query.retrieval.search import (
    Search,
)
from shared.deadline import Deadline, Workers
from shared.errors import DependencyError
from shared.models import Filter, Match, SparseVector, generation_named_by

SEARCH_TIMEOUT_S = 8.0
RERANK_TIMEOUT_S = 3.0
DEPTH = 100
"""Hits of each ranking that are fused."""
MAX_HITS = 600
"""Hits of the deeper search: with their texts 600 stay under Pinecone's 4 MB an answer."""
RERANK_DEPTH = 30
"""Passages that are reranked: Pinecone takes up to 100, and bills and waits by their number."""
NEIGHBOUR_TOKENS = 3_000
"""Tokens of neighbours that are added at most: half of the usual context."""

_WORKERS = Workers("search")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Passages that may be answered from, best first, and what was dropped or went wrong.

    `best_score` is the highest cosine similarity of a published passage; None when there is none, or no vector.
    """

    passages: Sequence[Passage]
    best_score: float | None
    unpublished: int = 0
    duplicates: int = 0
    warnings: Sequence[str] = ()


def retrieve(
    search: Search,
    *,
    tenant: str,
    top_k: int,
    index: VectorSearch,
    registry: DocumentRegistry,
    deadline: Deadline,
    reranker: Reranker | None = None,
) -> Retrieved:
    """Search the namespace and keep what the registry says is published. Raises `DependencyError`.

    What was deleted or replaced is never returned, whatever the vector database's lag. Where so much was dropped that
    fewer than `top_k` passages are left, the search is repeated once, deeper: stale hits must not crowd out good ones,
    and a pointer may have moved between search and look-up. A reranker or neighbours that fail cost only themselves;
    `warnings` says so.
    """
    found = Retrieved((), None)
    generations: Mapping[str, str] = {}
    for depth in (max(DEPTH, top_k), MAX_HITS):
        arms, warnings = _both_arms(search, depth, index, deadline)
        hits = {match.id: match for match in (*arms.dense, *arms.fused)}
        document_ids = list({_generation_of(match)[0]: None for match in hits.values()})
        generations = (
            registry.published_generations(tenant, document_ids, index_version=search.index_version)
            if document_ids
            else {}
        )
        dense, fused = _published(arms.dense, generations), _published(arms.fused, generations)
        unpublished = len(hits) - len({match.id for match in (*dense, *fused)})
        everything = rank(search, [Passage.of(match, search.boosts) for match in fused])
        distinct = list({passage.text: (score, passage) for score, passage in reversed(everything)}.values())[::-1]
        considered = distinct[: _considered(search, top_k, reranker)]
        found = Retrieved(
            passages=[replace(passage, rank_score=score) for score, passage in considered],
            best_score=max((match.score for match in dense), default=None),
            unpublished=unpublished,
            duplicates=len(everything) - len(distinct),
            warnings=warnings,
        )
        if len(distinct) >= top_k or not unpublished:
            break
    passages, more_warnings = _chosen(search, found.passages, top_k, reranker, deadline)
    passages = with_similarity(search, passages, {match.id: match.score for match in dense})
    if found.best_score is None and search.vector is not None and passages:
        # The dense ranking failed; the similarity of what the other one found is known none the less.
        found = replace(found, best_score=max(passage.score for passage in passages))
    if search.neighbours and passages:
        passages, late = _with_neighbours(search, passages, generations, index, deadline)
        more_warnings = [*more_warnings, *late]
    return replace(found, passages=passages, warnings=[*found.warnings, *more_warnings])


def _published(hits: Sequence[Match], generations: Mapping[str, str]) -> list[Match]:
    """Keep what is of the published generation of its document."""
    named = ((match, *_generation_of(match)) for match in hits)
    return [match for match, document, generation in named if generation and generations.get(document) == generation]


def _generation_of(match: Match) -> tuple[str, str]:
    """Return the document and generation of a hit; its id tells them too, where it came without metadata."""
    if not match.metadata:
        return generation_named_by(match.id)
    return str(match.metadata.get("document_id", "")), str(match.metadata.get("generation", ""))


def _considered(search: Search, top_k: int, reranker: Reranker | None) -> int:
    """How many of the best are worth looking at once more."""
    return max(RERANK_DEPTH if reranker else 0, top_k * LOOKED_AT if search.diversity else top_k)


class _Arms(NamedTuple):
    dense: Sequence[Match]
    fused: Sequence[Match]


def _both_arms(search: Search, depth: int, index: VectorSearch, deadline: Deadline) -> tuple[_Arms, Sequence[str]]:
    """Return the hits of both searches, and a warning for each that failed. Raises when both did."""
    vector, sparse = search.dense, search.sparse

    def ask(vector: Sequence[float], words: SparseVector | None, **how: bool) -> Sequence[Match]:
        return index.query(
            namespace=search.namespace,
            vector=vector,
            sparse=words,
            top_k=depth,
            filter=search.filter,
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=1.0),
            **how,
        )

    if vector is None:
        return _Arms((), ask([0.0] * search.dimensions, sparse)), []
    if not sparse.indices:
        found = ask(vector, None)
        return _Arms(found, found), []
    asked = _WORKERS.submit(ask, vector, None, metadata=False)
    fused: Sequence[Match] = ()
    failed: DependencyError | None = None
    try:
        fused = ask(vector, sparse)
    except DependencyError as error:
        failed = error
    try:
        dense = asked.result()
    except DependencyError:
        if failed is not None:
            raise failed from None
        return _Arms((), fused), ["dense_search_unavailable"]
    if failed is None:
        return _Arms(dense, fused), []
    try:
        # Too many retries make a storm worse; but a search that is refused for its words is no storm.
        found = ask(vector, None, again=failed.retriable)
    except DependencyError:
        raise failed from None
    return _Arms(found, found), ["hybrid_search_unavailable"]


def _chosen(
    search: Search, passages: Sequence[Passage], top_k: int, reranker: Reranker | None, deadline: Deadline
) -> tuple[Sequence[Passage], list[str]]:
    """Return the best `top_k`, reranked and made diverse as far as that is wanted, and a warning if that failed."""
    warnings = []
    if reranker is not None and len(passages) > 1:
        first = passages[: max(RERANK_DEPTH, top_k)]
        try:
            timeout_s = deadline.cut("rerank", RERANK_TIMEOUT_S, reserve_s=4.0)
            scores = reranker.rerank(search.question, [passage.text for passage in first], timeout_s=timeout_s)
        except DependencyError:
            warnings.append("rerank_unavailable")
        else:
            scored = [replace(each, rank_score=score) for each, score in zip(first, scores, strict=True)]
            passages = sorted(scored, key=lambda passage: -passage.rank_score)
    return diverse(passages, wanted=top_k, diversity=search.diversity)[:top_k], warnings


def _with_neighbours(
    search: Search, passages: Sequence[Passage], generations: Mapping[str, str], index: VectorSearch, deadline: Deadline
) -> tuple[Sequence[Passage], list[str]]:
    """Return the passages with those beside them; as they are, with a warning, when these cannot be fetched."""
    places = places_beside(passages, neighbours=search.neighbours)
    found: list[Passage] = []
    wanted: Filter = filter_for(places, search.filter)
    try:
        if places:
            vector = search.dense
            matches = index.query(
                namespace=search.namespace,
                vector=vector if vector is not None else [0.0] * search.dimensions,
                sparse=None if vector is not None else search.sparse,
                top_k=len(places),
                filter=wanted,
                timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=2.0),
            )
            found = [Passage.of(match) for match in _published(matches, generations)]
    except DependencyError:
        return passages, ["neighbours_unavailable"]
    asked_for = set(places)
    beside = {place_of(each): each for each in found if place_of(each) in asked_for}
    return expanded(passages, beside, neighbours=search.neighbours, budget_tokens=NEIGHBOUR_TOKENS), []
