"""The vectors of a question and its other wordings: from the cache, or all that are missing in one request."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.deadline import Deadline
from shared.models import EmbeddingSpace, Usage
from shared.ports import Embedder, EmbeddingCache

EMBED_TIMEOUT_S = 8.0
EMBED_SHARE = 0.4
"""Share of the time that is left: without vectors there must be time to search by words."""


@dataclass(frozen=True, slots=True)
class QuestionEmbedding:
    """The question's vector, and whether it came from the cache. `usage` is that of the request it came with."""

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
    return embed_wordings([question], tenant=tenant, embedder=embedder, cache=cache, ttl_s=ttl_s, deadline=deadline)[0]


def embed_wordings(
    wordings: Sequence[str], *, tenant: str, embedder: Embedder, cache: EmbeddingCache, ttl_s: int, deadline: Deadline
) -> list[QuestionEmbedding]:
    """Embed normalised texts, in their order; those not in the cache in one request. Raises `DependencyError`.

    The first of those that were embedded carries the usage of the request.
    """
    found: dict[str, QuestionEmbedding] = {}
    for text in dict.fromkeys(wordings) if ttl_s else ():
        held = cache.get(cache_key(tenant, embedder.space, text))
        if held is not None and len(held) == embedder.space.dimensions:
            found[text] = QuestionEmbedding(held, True, Usage())
    missing = [text for text in dict.fromkeys(wordings) if text not in found]
    if missing:
        at_most_s = min(EMBED_TIMEOUT_S, EMBED_SHARE * deadline.left())
        answer = embedder.embed(missing, timeout_s=deadline.cut("embeddings", at_most_s, reserve_s=1.0))
        for at, (text, vector) in enumerate(zip(missing, answer.vectors, strict=True)):
            if ttl_s:
                cache.put(cache_key(tenant, embedder.space, text), vector, ttl_s=ttl_s)
            found[text] = QuestionEmbedding(vector, False, Usage() if at else answer.usage)
    return [found[text] for text in wordings]
