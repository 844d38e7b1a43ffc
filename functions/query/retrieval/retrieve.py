"""Retrieval: search the index, keep published hits, rank them, choose the passages to answer from.

Two searches run in parallel. The hybrid one scores cosine plus weighted BM25 and returns the texts; the dense one
returns ids and the cosine similarity that the decision needs. Either may fail alone: if the hybrid search fails, the
dense one is repeated with texts. Without a query vector the search is lexical only.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from functions.query.ports import PublishedDocuments, QueryPorts, Reranker, VectorSearch
from functions.query.retrieval.filters import FIELDS, MAX_VALUES, InvalidFilter, both, own_fields
from functions.query.retrieval.neighbours import expanded, filter_for, place_of, places_beside
from functions.query.retrieval.passages import Passage
from functions.query.retrieval.ranking import (
    POOL_FACTOR,
    RankedPassage,
    diverse,
    document_boosts,
    named_documents,
    rank,
    with_similarity,
)
from functions.query.retrieval.search import Search
from shared.deadline import Deadline, Workers
from shared.errors import DependencyError
from shared.models import Filter, Match, PublishedDocument, SparseVector, generation_named_by

SEARCH_TIMEOUT_S = 8.0
RERANK_TIMEOUT_S = 3.0
DEPTH = 100
"""Hits per search."""
MAX_HITS = 600
"""Hits of the deeper search: with their texts, 600 stay under Pinecone's 4 MB per response."""
ROUNDS = 4
"""Searches for one question at most. The third and fourth come only where documents of others crowd out one's own."""
RERANK_DEPTH = 30
"""Passages that are reranked: Pinecone allows up to 100; cost and time grow with their number."""
NEIGHBOUR_TOKENS = 3_000
"""Tokens of added neighbours at most: half of the usual context."""

_WORKERS = Workers("search")
RERANK_RESERVE_S = 4.0
SEARCH_RESERVE_S = 2.0
LAST_RESERVE_S = 1.0
"""Seconds of the request's time that reranking, a search, and a search after which little is done leave for the steps
after them."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Published passages, best first, and what was dropped or failed.

    `best_score` is the highest cosine similarity of a published passage; None when there is none, or no vector.
    `found_by` counts the passages that were among
    the best by words ("lexical"), by meaning ("dense"), or by "both".

    `scored` are all published hits with the parts of their scores, `similarities` what the dense search says of them
    and of others (by chunk id), `reranked` the reranker's scores. `dropped` are the ids of hits that are not published,
    or were left out or replaced by an editor.
    """

    passages: Sequence[Passage]
    best_score: float | None
    dropped: Sequence[str] = ()
    duplicates: int = 0
    warnings: Sequence[str] = ()
    found_by: Mapping[str, int] = field(default_factory=dict)
    scored: Sequence[RankedPassage] = ()
    similarities: Mapping[str, float] = field(default_factory=dict)
    reranked: Mapping[str, float] = field(default_factory=dict)

    @property
    def ranked(self) -> Sequence[Passage]:
        """All published hits, best first, of which `passages` are the best."""
        return [each.passage for each in self.scored]


def retrieve(
    search: Search,
    *,
    tenant: str,
    top_k: int,
    index: VectorSearch,
    registry: PublishedDocuments,
    deadline: Deadline,
    reranker: Reranker | None = None,
) -> Retrieved:
    """Search the namespace and keep what the registry says is published. Raises `DependencyError`.

    A deleted or replaced document is never returned, however far the vector database lags behind. If fewer than `top_k`
    passages are left after dropping such hits, the search is repeated once, deeper: stale hits must not crowd out good
    ones, and a document may be replaced between search and look-up. Documents that the reader may not read are left out
    of the repeated search, which goes on for as long as it finds more of these, up to `ROUNDS`. A failed rerank or
    neighbour request is skipped with a warning.
    """
    hidden: set[str] = set()
    for attempt in range(ROUNDS):
        depth = MAX_HITS if attempt else max(DEPTH, top_k)
        found = _round(search, depth, hidden=hidden, tenant=tenant, index=index, registry=registry, deadline=deadline)
        newly_hidden = found.hidden - hidden
        hidden |= newly_hidden
        if len(found.distinct) >= top_k or (attempt and not newly_hidden) or not found.unpublished:
            break
    similarities = {match.id: match.score for match in found.dense}
    passages, reranked, rerank_warnings = _chosen(search, found.distinct, top_k, reranker, deadline)
    passages = with_similarity(search, passages, similarities)
    best_score = max((match.score for match in found.dense), default=None)
    if best_score is None and search.vector is not None:
        # The dense search failed, but the similarities of the hybrid search's hits can be computed.
        best_score = max((passage.score for passage in passages), default=None)
    passages, neighbour_warnings = _with_neighbours(search, passages, found.shown, index, deadline)
    return Retrieved(
        passages,
        best_score,
        dropped=sorted(hit for hit, document_id in found.unpublished.items() if document_id not in hidden),
        duplicates=found.duplicates,
        warnings=[*found.warnings, *rerank_warnings, *neighbour_warnings],
        found_by=_found_by(passages, found.dense, found.hybrid),
        scored=found.distinct,
        similarities=similarities,
        reranked=reranked,
    )


class _Round(NamedTuple):
    """One search by meaning and by both, and what of its hits is published.

    `shown` are the hits' documents as the registry shows them. `distinct` are the published passages, best first, each
    text once; `duplicates` counts the others. `unpublished` maps the ids of hits that are not published to those of
    their documents.
    """

    shown: Mapping[str, PublishedDocument]
    dense: Sequence[Match]
    hybrid: Sequence[Match]
    distinct: Sequence[RankedPassage]
    duplicates: int
    unpublished: Mapping[str, str]
    warnings: Sequence[str]

    @property
    def hidden(self) -> Set[str]:
        """The documents that the reader may not read."""
        return {document_id for document_id, each in self.shown.items() if not each.generation}


def _round(
    search: Search,
    depth: int,
    *,
    hidden: Collection[str],
    tenant: str,
    index: VectorSearch,
    registry: PublishedDocuments,
    deadline: Deadline,
) -> _Round:
    """Search `depth` hits deep without the `hidden` documents, and rank what is published."""
    *found, warnings = _search_both(without(search, hidden), depth, index, deadline)
    by_meaning, by_both = map(_with_generations, found)
    hits = {hit.match.id: hit for hit in (*by_meaning, *by_both)}
    document_ids = list(dict.fromkeys(hit.document_id for hit in hits.values()))
    shown = (
        registry.published_documents(tenant, document_ids, index_version=search.index_version) if document_ids else {}
    )
    hybrid = _published(by_both, shown)
    edited = {hit.match.id for hit in by_both} - {match.id for match in hybrid}  # only hits with texts tell that
    dense = [match for match in _published(by_meaning, shown) if match.id not in edited]
    published = {match.id for match in (*dense, *hybrid)}
    candidates = [Passage.of(match, search.boosts) for match in hybrid]
    boosts = document_boosts(search.question, search.language, candidates)
    if len(hits) >= depth and (named := named_documents(boosts)):
        within, within_warnings = _search_within(search, named, depth, index, deadline)
        known = {match.id for match in hybrid}
        more = [match for match in _published(_with_generations(within), shown) if match.id not in known]
        hybrid += more
        candidates += [Passage.of(match, search.boosts) for match in more]
        warnings = [*warnings, *within_warnings]
    ranked = rank(search, candidates, boosts)
    distinct = list({each.passage.text: each for each in reversed(ranked)}.values())[::-1]
    return _Round(
        shown=shown,
        dense=dense,
        hybrid=hybrid,
        distinct=distinct,
        duplicates=len(ranked) - len(distinct),
        unpublished={match_id: hit.document_id for match_id, hit in hits.items() if match_id not in published},
        warnings=warnings,
    )


def without(search: Search, hidden: Collection[str]) -> Search:
    """Return the search without these documents, as many of them as a filter may list."""
    if not hidden:
        return search
    left_out = {"document_id": {"$nin": sorted(hidden)[:MAX_VALUES]}}
    return replace(search, filter=both(search.filter, left_out))


MAX_TAGS = 10
"""Names of one filter that are looked up in the index: each takes a request."""


def check_fields(wanted: Filter | None, *, tenant: str, ports: QueryPorts, deadline: Deadline) -> None:
    """Raise `InvalidFilter` if the filter names a field that no passage has which the reader may read.

    A field of our own is always one; any other is a tag if the index has a passage with it. While the index is down,
    nothing is checked: the search will say so.
    """
    places = {name: place for place, name in own_fields(wanted or {})}
    for name, place in list(places.items())[:MAX_TAGS]:
        try:
            is_field = _is_field(name, tenant, ports, deadline)
        except DependencyError:
            return
        if not is_field:
            known = ", ".join(FIELDS)
            raise InvalidFilter(place, f"no passage has this field. There are {known}, and the tags of your own files.")


def _is_field(name: str, tenant: str, ports: QueryPorts, deadline: Deadline) -> bool:
    """Say whether a passage has this field; where documents have rules, one that the reader may read.

    As in a search, documents that they may not read are left out, and it is asked again.
    """
    is_restricted = ports.is_restricted()
    hidden: set[str] = set()
    for _ in range(ROUNDS):
        left_out = {"document_id": {"$nin": sorted(hidden)[:MAX_VALUES]}} if hidden else None
        found = ports.search.query(
            namespace=ports.namespace_of(tenant),
            vector=[1.0, *[0.0] * (ports.settings.embedding_dimensions - 1)],
            top_k=MAX_HITS if is_restricted else 1,
            filter=both({name: {"$exists": True}}, left_out),
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=SEARCH_RESERVE_S),
            metadata=False,
        )
        if not found or not is_restricted:
            return bool(found)
        ids = list({generation_named_by(match.id)[0] for match in found})
        shown = ports.registry.published_documents(tenant, ids, index_version=ports.index_number)
        if any(each.generation for each in shown.values()):
            return True
        hidden.update(ids)
    return False


def _found_by(passages: Sequence[Passage], dense: Sequence[Match], hybrid: Sequence[Match]) -> dict[str, int]:
    """Count passages by the search that found them; neighbours were found by none.

    The hybrid search adds BM25 to the cosine: what is among its hits and not among the dense ones owes that to words.
    """
    by_meaning, by_both = {match.id for match in dense}, {match.id for match in hybrid}
    ids = [passage.chunk_id for passage in passages]
    return {
        "both": sum(each in by_meaning and each in by_both for each in ids),
        "dense": sum(each in by_meaning and each not in by_both for each in ids),
        "lexical": sum(each in by_both and each not in by_meaning for each in ids),
    }


def _search_both(
    search: Search, depth: int, index: VectorSearch, deadline: Deadline
) -> tuple[Sequence[Match], Sequence[Match], Sequence[str]]:
    """Return the hits of the dense and of the hybrid search, and a warning if one failed. Raises if both fail."""

    def query(vector: Sequence[float], sparse: SparseVector | None, **options: bool) -> Sequence[Match]:
        return index.query(
            namespace=search.namespace,
            vector=vector,
            sparse=sparse,
            top_k=depth,
            filter=search.filter,
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=LAST_RESERVE_S),
            **options,
        )

    vector, sparse = search.dense, search.sparse
    if vector is None:
        return (), query(search.faint_vector, sparse), ()
    if not sparse.indices:
        found = query(vector, None)
        return found, found, ()
    dense_search = _WORKERS.submit(query, vector, None, metadata=False)
    hybrid: Sequence[Match] = ()
    hybrid_error: DependencyError | None = None
    try:
        hybrid = query(vector, sparse)
    except DependencyError as error:
        hybrid_error = error
    try:
        dense = dense_search.result()
        if hybrid_error is None:
            return dense, hybrid, ()
        # A retry under load must be charged to the retry budget; a refusal of the sparse part is no sign of load.
        found = query(vector, None, is_retry=hybrid_error.retriable)
    except DependencyError as error:
        if hybrid_error is not None:
            raise hybrid_error from None
        return (), hybrid, [error.warning_about("dense_search")]
    return found, found, [hybrid_error.warning_about("hybrid_search")]


def _search_within(
    search: Search, documents: Sequence[str], depth: int, index: VectorSearch, deadline: Deadline
) -> tuple[Sequence[Match], Sequence[str]]:
    """Return the hits within the documents that the question names; none, with a warning, if the search failed."""
    vector = search.dense
    try:
        return index.query(
            namespace=search.namespace,
            vector=search.faint_vector if vector is None else vector,
            sparse=search.sparse if search.sparse.indices else None,
            top_k=depth,
            filter=both(search.filter, {"document_id": {"$in": [*documents]}}),
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=SEARCH_RESERVE_S),
        ), ()
    except DependencyError as error:
        return (), [error.warning_about("named_documents")]


class _Hit(NamedTuple):
    """A hit with its document and generation."""

    match: Match
    document_id: str
    generation: str


def _with_generations(matches: Sequence[Match]) -> list[_Hit]:
    return [_Hit(match, *_generation_of(match)) for match in matches]


def _published(hits: Sequence[_Hit], shown: Mapping[str, PublishedDocument]) -> list[Match]:
    """Keep the hits of their document's published generation that no editor has left out or replaced."""
    return [
        match
        for match, document, generation in hits
        if document in shown and shown[document].shows(generation, match.metadata)
    ]


def _generation_of(match: Match) -> tuple[str, str]:
    """Return the document and generation of a hit, from its id if it came without metadata."""
    if not match.metadata:
        return generation_named_by(match.id)
    return str(match.metadata.get("document_id", "")), str(match.metadata.get("generation", ""))


def _chosen(
    search: Search, ranked: Sequence[RankedPassage], top_k: int, reranker: Reranker | None, deadline: Deadline
) -> tuple[Sequence[Passage], Mapping[str, float], Sequence[str]]:
    """Return the best `top_k`, reranked and diversified as configured.

    Also the reranker's scores by chunk id, and a warning if it failed.
    """
    pool = max(RERANK_DEPTH if reranker else 0, top_k * POOL_FACTOR if search.diversity else top_k)
    passages = [each.passage._replace(rank_score=each.score) for each in ranked[:pool]]
    reranked: Mapping[str, float] = {}
    warnings = []
    if reranker is not None and len(passages) > 1:
        first = passages[: max(RERANK_DEPTH, top_k)]
        try:
            timeout_s = deadline.cut("rerank", RERANK_TIMEOUT_S, reserve_s=RERANK_RESERVE_S)
            scores = reranker.rerank(search.question, [passage.whole for passage in first], timeout_s=timeout_s)
        except DependencyError as error:
            warnings.append(error.warning_about("rerank"))
        else:
            reranked = {each.chunk_id: score for each, score in zip(first, scores, strict=True)}
            scored = [each._replace(rank_score=score) for each, score in zip(first, scores, strict=True)]
            passages = sorted(scored, key=lambda passage: -passage.rank_score)
    return diverse(passages, wanted=top_k, diversity=search.diversity)[:top_k], reranked, warnings


def _with_neighbours(
    search: Search,
    passages: Sequence[Passage],
    shown: Mapping[str, PublishedDocument],
    index: VectorSearch,
    deadline: Deadline,
) -> tuple[Sequence[Passage], Sequence[str]]:
    """Return the passages with their neighbours; unchanged, with a warning, if these cannot be fetched."""
    if not (search.neighbours or search.tables):
        return passages, ()
    places = places_beside(passages, neighbours=search.neighbours, tables=search.tables)
    found: list[Passage] = []
    if places:
        vector = search.dense
        try:
            matches = index.query(
                namespace=search.namespace,
                vector=search.faint_vector if vector is None else vector,
                sparse=search.sparse if vector is None else None,
                top_k=len(places),
                filter=filter_for(places, search.filter),
                timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=SEARCH_RESERVE_S),
            )
        except DependencyError as error:
            return passages, (error.warning_about("neighbours"),)
        found = [Passage.of(match) for match in _published(_with_generations(matches), shown)]
    beside = {place_of(each): each for each in found if place_of(each) in places}
    whole = expanded(
        passages,
        beside,
        neighbours=search.neighbours,
        budget_tokens=NEIGHBOUR_TOKENS,
        tables=search.tables,
    )
    return whole, ()
