"""The vectors of a question and its other wordings: from the cache, or all that are missing in one request."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from functions.query.ports import EmbeddingCache
from shared import lexical
from shared.deadline import Deadline
from shared.models import FIRST_INDEX_VERSION, EmbeddingSpace, Filter, SparseVector, Usage
from shared.ports import Embedder

# --- what is searched for ---

LEXICAL_WEIGHT = 1.5
"""Worth, in units of cosine, of a passage that holds each of the question's words about once. Measured on 27 PDFs: 1 to
2 is best, better than either arm alone and than reciprocal rank fusion."""
SHORT_QUESTION_WORDS = 3
SHORT_QUESTION_FACTOR = 2.0
"""Short or symbol-heavy questions lean on words: they hold little meaning to embed."""


class QueryVariant(NamedTuple):
    """Another text that is searched together with the question. `weight` is its share of the score, 0 to 1.

    `vector` is its embedding; None before it is embedded, or where that failed.
    """

    text: str
    weight: float
    vector: Sequence[float] | None = None


@dataclass(frozen=True)
class Search:
    """One question's search in the namespace of one index version. `vector` is None when it could not be embedded.

    `variants` share the score with the question: what is searched for is the weighted mean of all wordings, which in
    a dot-product index is one query. `diversity` (0 to 1) is how much a passage loses for saying what another one said;
    `neighbours` is how many passages on either side of a hit come with it.
    """

    question: str
    vector: Sequence[float] | None
    dimensions: int
    namespace: str
    language: str = "en"
    filter: Filter | None = None
    index_version: int = FIRST_INDEX_VERSION
    variants: Sequence[QueryVariant] = ()
    boosts: Sequence[tuple[Filter, float]] = ()
    diversity: float = 0.0
    neighbours: int = 0

    @property
    def lexical_weight(self) -> float:
        """What a passage that holds the question's words is worth."""
        return _lexical_weight(self.question)

    @cached_property
    def sparse(self) -> SparseVector:
        """The words of all wordings by how rare they are, as shares of each wording, scaled against the cosine."""
        if not self.variants:
            return _words(self.question, self.language, 1.0)
        values: dict[int, float] = {}
        for wording in (QueryVariant(self.question, self._own_share, None), *self.variants):
            for index, value in zip(*_words(wording.text, self.language, wording.weight), strict=True):
                values[index] = values.get(index, 0.0) + value
        indices = sorted(sorted(values, key=lambda index: -values[index])[: lexical.MAX_TERMS])
        return SparseVector(indices, [values[index] for index in indices])

    @cached_property
    def dense(self) -> Sequence[float] | None:
        """The unit vector that is searched with: the weighted mean of the wordings that have one."""
        if self.vector is None or not self.variants:
            return self.vector
        mixed = [self._own_share * value for value in self.vector]
        for wording in self.variants:
            if wording.vector is not None:
                mixed = [held + wording.weight * value for held, value in zip(mixed, wording.vector, strict=True)]
        length = math.hypot(*mixed)
        return [value / length for value in mixed] if length else self.vector

    @property
    def _own_share(self) -> float:
        return max(0.0, 1.0 - sum(wording.weight for wording in self.variants))


def _words(text: str, language: str, share: float) -> SparseVector:
    words = lexical.query_vector(text, language=language)
    scale = share * _lexical_weight(text) / (sum(words.values) or 1.0)
    return SparseVector(words.indices, [value * scale for value in words.values])


def _lexical_weight(text: str) -> float:
    leans = len(text.split()) <= SHORT_QUESTION_WORDS or _symbol_heavy(text)
    return LEXICAL_WEIGHT * (SHORT_QUESTION_FACTOR if leans else 1.0)


def _symbol_heavy(question: str) -> bool:
    symbols = sum(not (character.isalnum() or character.isspace()) for character in question.rstrip("?.! "))
    return symbols > len(question) / 8


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
    return embed_queries([question], tenant=tenant, embedder=embedder, cache=cache, ttl_s=ttl_s, deadline=deadline)[0]


def embed_queries(
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
