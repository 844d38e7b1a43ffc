"""Find the passages: embed the question (cached), search, and drop what may not be answered from."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.deadline import Deadline
from functions.query.passages import Passage
from shared.models import EmbeddingSpace, Filter, Usage
from shared.ports import DocumentRegistry, Embedder, EmbeddingCache, VectorSearch

EMBED_TIMEOUT_S = 8.0
SEARCH_TIMEOUT_S = 8.0
OVERFETCH = 3
"""Hits asked for per passage wanted, because duplicates and replaced generations are dropped afterwards."""
MOST_HITS = 1_000
"""Pinecone returns at most 1,000 matches when metadata is included."""


@dataclass(frozen=True, slots=True)
class QuestionEmbedding:
    """The question's vector, and whether it came from the cache."""

    vector: Sequence[float]
    cached: bool
    usage: Usage


def cache_key(tenant: str, space: EmbeddingSpace, question: str) -> str:
    """Key a query embedding by tenant, embedding space and the normalised question."""
    return f"EMB#{tenant}#{space}#{hashlib.sha256(question.encode()).hexdigest()}"


def embed_question(
    question: str, *, tenant: str, embedder: Embedder, cache: EmbeddingCache, ttl_s: int, deadline: Deadline
) -> QuestionEmbedding:
    """Embed the normalised question, through the cache. Raises `DependencyError`."""
    key = cache_key(tenant, embedder.space, question)
    if ttl_s:
        held = cache.get(key)
        if held is not None and len(held) == embedder.space.dimensions:
            return QuestionEmbedding(held, True, Usage())
    answer = embedder.embed([question], timeout_s=deadline.cut("embeddings", EMBED_TIMEOUT_S, reserve_s=1.0))
    if ttl_s:
        cache.put(key, answer.vectors[0], ttl_s=ttl_s)
    return QuestionEmbedding(answer.vectors[0], False, answer.usage)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Passages that may be answered from, best first, and how many hits were dropped and why."""

    passages: Sequence[Passage]
    unpublished: int
    duplicates: int


def retrieve(
    vector: Sequence[float],
    *,
    tenant: str,
    top_k: int,
    filter: Filter | None,
    search: VectorSearch,
    registry: DocumentRegistry,
    deadline: Deadline,
) -> Retrieved:
    """Search the tenant's namespace and keep what the registry says is published. Raises `DependencyError`.

    What was deleted or replaced is never returned, whatever the vector database's lag. Where so many hits were dropped
    that fewer than `top_k` are left, the search is repeated once, ten times wider.
    """
    wanted = min(MOST_HITS, top_k * OVERFETCH)
    found = Retrieved((), 0, 0)
    for asked in (wanted, min(MOST_HITS, wanted * 10)):
        matches = search.query(
            namespace=tenant,
            vector=vector,
            top_k=asked,
            filter=filter,
            timeout_s=deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=1.0),
        )
        found = _published([Passage.of(match) for match in matches], tenant, registry)
        if len(found.passages) >= top_k or len(matches) < asked:
            break
    return Retrieved(found.passages[:top_k], found.unpublished, found.duplicates)


def _published(passages: Sequence[Passage], tenant: str, registry: DocumentRegistry) -> Retrieved:
    document_ids = list(dict.fromkeys(passage.document_id for passage in passages))
    generations = registry.published_generations(tenant, document_ids) if document_ids else {}
    kept: dict[str, Passage] = {}
    unpublished = duplicates = 0
    for passage in passages:
        if not passage.generation or generations.get(passage.document_id) != passage.generation:
            unpublished += 1
        elif passage.text in kept:
            duplicates += 1
        else:
            kept[passage.text] = passage
    return Retrieved(list(kept.values()), unpublished, duplicates)
