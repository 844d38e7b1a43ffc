"""The search: a question and its variants as one dense and one sparse vector; and embedding them."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import NamedTuple

from functions.query.ports import EmbeddingCache
from functions.query.retrieval.neighbours import Tables
from functions.query.retrieval.passages import Boost
from shared import lexical
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.models import FIRST_INDEX_VERSION, NO_USAGE, EmbeddingSpace, Filter, SparseVector, Usage
from shared.ports import Embedder

LEXICAL_WEIGHT = 1.5
"""Weight of BM25, in units of cosine: the score of a passage that has each of the question's words about once. Measured
on 27 PDFs: 1 to 2 is best, better than either search alone and than reciprocal rank fusion."""
SHORT_QUESTION_WORDS = 3
SHORT_QUESTION_FACTOR = 2.0
"""BM25 counts more for short or symbol-heavy questions, whose embeddings say little."""
FAINT = 1e-6
"""Length of the dense part of a lexical query, which changes a score by no more than this. Pinecone documents hybrid
queries of a dense and a sparse vector, but not all-zero dense ones, which it refuses on upsert (below 1e-8)."""
EMBED_TIMEOUT_S = 8.0
EMBED_SHARE = 0.4
"""Share of the time left that embedding may take: if it fails, a lexical search must still fit."""
NOT_EMBEDDED = "embeddings_unavailable"
"""The warning of a search without vectors whose embedding may succeed if it is tried again."""
SYMBOLS_SHARE = 8
"""Characters of a question for each symbol, under which the search by words counts more."""


class QueryVariant(NamedTuple):
    """Another text, searched together with the question. `weight` is its share of the score, 0 to 1.

    `vector` is its embedding; None before it is embedded, or if that failed.
    """

    text: str
    weight: float
    vector: Sequence[float] | None = None


@dataclass(frozen=True)
class Search:
    """One question's search in the namespace of one index version. `vector` is None when it could not be embedded.

    `inherited` are the words at the end of `question` that it takes over from the conversation, or from another part of
    the question. `variants` share the score with the question: a dot-product index searches the weighted mean of all
    texts in one query. `diversity` (0 to 1) is the penalty for repeating another passage; `neighbours` is the number of
    chunks added on either side of a hit. `tables`: which of the best hits' are completed.
    """

    question: str
    vector: Sequence[float] | None
    dimensions: int
    namespace: str
    _: KW_ONLY
    inherited: str = ""
    language: str = "en"
    filter: Filter | None = None
    index_version: int = FIRST_INDEX_VERSION
    variants: Sequence[QueryVariant] = ()
    boosts: Sequence[Boost] = ()
    diversity: float = 0.0
    neighbours: int = 0
    tables: Tables = ""

    @cached_property
    def sparse(self) -> SparseVector:
        """The terms of all texts by rarity, as shares of each text, scaled against the cosine."""
        if not self.variants:
            return _sparse(self.question, self.language, 1.0)
        values: dict[int, float] = {}
        for variant in (QueryVariant(self.question, self._own_weight), *self.variants):
            for index, value in zip(*_sparse(variant.text, self.language, variant.weight), strict=True):
                values[index] = values.get(index, 0.0) + value
        indices = sorted(sorted(values, key=lambda index: -values[index])[: lexical.MAX_TERMS])
        return SparseVector(indices, [values[index] for index in indices])

    @cached_property
    def dense(self) -> Sequence[float] | None:
        """The query's unit vector: the weighted mean of the texts' vectors."""
        if self.vector is None or not self.variants:
            return self.vector
        mean = [self._own_weight * value for value in self.vector]
        for variant in self.variants:
            if variant.vector is not None:
                mean = [held + variant.weight * value for held, value in zip(mean, variant.vector, strict=True)]
        length = math.hypot(*mean)
        return [value / length for value in mean] if length else self.vector

    @property
    def faint_vector(self) -> Sequence[float]:
        """The dense part of a query that is lexical only: too short to change the order."""
        return [FAINT, *[0.0] * (self.dimensions - 1)]

    @property
    def _own_weight(self) -> float:
        return max(0.0, 1.0 - sum(variant.weight for variant in self.variants))


def _sparse(text: str, language: str, weight: float) -> SparseVector:
    terms = lexical.query_vector(text, language=language)
    scale = weight * lexical_weight(text) / (sum(terms.values) or 1.0)
    return SparseVector(terms.indices, [value * scale for value in terms.values])


def lexical_weight(text: str) -> float:
    """Return the weight of BM25 for a text, in units of cosine."""
    symbols = sum(not (character.isalnum() or character.isspace()) for character in text.rstrip("?.! "))
    leans_lexical = len(text.split()) <= SHORT_QUESTION_WORDS or symbols > len(text) / SYMBOLS_SHARE
    return LEXICAL_WEIGHT * (SHORT_QUESTION_FACTOR if leans_lexical else 1.0)


@dataclass(frozen=True, slots=True)
class QueryEmbeddings:
    """The vectors of texts, in their order, or None for each if embedding failed. `cached` if all were in the cache."""

    vectors: Sequence[Sequence[float] | None]
    usage: Usage = NO_USAGE
    cached: bool = False
    warnings: Sequence[str] = ()


def embed_queries(
    texts: Sequence[str], *, tenant: str, embedder: Embedder, cache: EmbeddingCache, ttl_s: int, deadline: Deadline
) -> QueryEmbeddings:
    """Embed normalised texts, in one request for those not in the cache. If that fails, none has a vector."""
    vectors: dict[str, Sequence[float]] = {}
    for text in dict.fromkeys(texts) if ttl_s else ():
        held = cache.get(cache_key(tenant, embedder.space, text))
        if held is not None and len(held) == embedder.space.dimensions:
            vectors[text] = held
    missing = [text for text in dict.fromkeys(texts) if text not in vectors]
    if not missing:
        return QueryEmbeddings([vectors[text] for text in texts], cached=True)
    try:
        at_most_s = min(EMBED_TIMEOUT_S, EMBED_SHARE * deadline.left())
        answer = embedder.embed(missing, timeout_s=deadline.cut("embeddings", at_most_s, reserve_s=1.0))
    except DependencyError as error:
        return QueryEmbeddings([None] * len(texts), warnings=[error.warning_about("embeddings")])
    for text, vector in zip(missing, answer.vectors, strict=True):
        vectors[text] = vector
        if ttl_s:
            cache.put(cache_key(tenant, embedder.space, text), vector, ttl_s=ttl_s)
    return QueryEmbeddings([vectors[text] for text in texts], answer.usage)


def cache_key(tenant: str, space: EmbeddingSpace, text: str) -> str:
    """Key a query embedding by tenant, embedding space and the normalised text."""
    return f"EMB#{tenant}#{space}#{hashlib.sha256(text.encode()).hexdigest()}"
