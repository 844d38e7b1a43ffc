"""Find the passages: embed the question (cached), search by meaning and by words, and rank what may be answered from.

Two searches run at the same time. The dense one gives the cosine similarity that the decision to refuse needs; the
hybrid one scores cosine plus weighted BM25 in one index. Either may fail alone: without vectors the words are searched
alone, without the hybrid ranking the dense one stands.
"""

import hashlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from functions.query.deadline import Deadline
from functions.query.passages import Passage
from functions.query.ranking import document_lifts
from shared import identity, lexical
from shared.errors import DependencyError
from shared.models import FIRST_VIEW, EmbeddingSpace, Filter, Match, SparseVector, Usage
from shared.ports import DocumentRegistry, Embedder, EmbeddingCache, VectorSearch

EMBED_TIMEOUT_S = 8.0
SEARCH_TIMEOUT_S = 8.0
LEXICAL_WEIGHT = 1.5
"""Worth, in units of cosine, of a passage that holds each of the question's words about once. Measured on 27 PDFs: 1 to
2 is best, better than either arm alone and than reciprocal rank fusion."""
SHORT_QUESTION_WORDS = 3
SHORT_QUESTION_FACTOR = 2.0
"""Short or symbol-heavy questions lean on words: they hold little meaning to embed."""
DEPTH = 100
"""Hits of each ranking that are fused."""
MOST_HITS = 1_000

_POOL = ThreadPoolExecutor(4, thread_name_prefix="search")


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
    """Passages that may be answered from, best first, and what was dropped or went wrong.

    `best_score` is the highest cosine similarity of a published passage; None when there is none, or no vector.
    """

    passages: Sequence[Passage]
    best_score: float | None
    unpublished: int = 0
    duplicates: int = 0
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """One question's search in the namespace of one view. `vector` is None when it could not be embedded."""

    question: str
    vector: Sequence[float] | None
    dimensions: int
    namespace: str
    language: str = "en"
    filter: Filter | None = None
    view: int = FIRST_VIEW

    @property
    def lexical_weight(self) -> float:
        """What a passage that holds the question's words is worth."""
        words = self.question.split()
        leans = len(words) <= SHORT_QUESTION_WORDS or _symbol_heavy(self.question)
        return LEXICAL_WEIGHT * (SHORT_QUESTION_FACTOR if leans else 1.0)

    @property
    def sparse(self) -> SparseVector:
        """The question's words by how rare they are, as shares of the whole question, scaled against the cosine."""
        words = lexical.query_vector(self.question, language=self.language)
        scale = self.lexical_weight / (sum(words.values) or 1.0)
        return SparseVector(words.indices, [value * scale for value in words.values])


def retrieve(
    search: Search, *, tenant: str, top_k: int, index: VectorSearch, registry: DocumentRegistry, deadline: Deadline
) -> Retrieved:
    """Search the namespace and keep what the registry says is published. Raises `DependencyError`.

    What was deleted or replaced is never returned, whatever the vector database's lag. Where so much was dropped that
    fewer than `top_k` passages are left, the search is repeated once, ten times deeper: stale hits must not crowd out
    good ones, and a pointer may have moved between search and look-up.
    """
    found = Retrieved((), None)
    for depth in (max(DEPTH, top_k), MOST_HITS):
        dense, fused, warnings = _both_arms(search, depth, index, deadline)
        document_ids = list(dict.fromkeys(passage.document_id for passage in (*fused, *dense)))
        generations = registry.published_generations(tenant, document_ids, view=search.view) if document_ids else {}
        published = [
            [each for each in arm if each.generation and generations.get(each.document_id) == each.generation]
            for arm in (dense, fused)
        ]
        unpublished = len({each.chunk_id for each in (*fused, *dense)}) - len(
            {each.chunk_id for arm in published for each in arm}
        )
        ranked = _ranked(search, published[1])
        distinct = list({passage.text: passage for passage in reversed(ranked)}.values())[::-1]
        found = Retrieved(
            passages=_with_similarity(search, distinct[:top_k], published[0]),
            best_score=max((passage.score for passage in published[0]), default=None),
            unpublished=unpublished,
            duplicates=len(ranked) - len(distinct),
            warnings=warnings,
        )
        if len(distinct) >= top_k or not unpublished:
            break
    return found


def _both_arms(
    search: Search, depth: int, index: VectorSearch, deadline: Deadline
) -> tuple[list[Passage], list[Passage], Sequence[str]]:
    """Return the dense hits, the hybrid hits, and a warning for each arm that failed. Raises when both did."""
    sparse = search.sparse
    timeout_s = deadline.cut("vectors", SEARCH_TIMEOUT_S, reserve_s=1.0)

    def ask(vector: Sequence[float], words: SparseVector | None) -> Sequence[Match]:
        return index.query(
            namespace=search.namespace,
            vector=vector,
            sparse=words,
            top_k=depth,
            filter=search.filter,
            timeout_s=timeout_s,
        )

    asked: dict[str, Future[Sequence[Match]]] = {}
    if sparse.indices or search.vector is None:
        vector = search.vector if search.vector is not None else [0.0] * search.dimensions
        asked["hybrid"] = _POOL.submit(ask, vector, sparse)
    if search.vector is not None:
        asked["dense"] = _POOL.submit(ask, search.vector, None)
    hits: dict[str, list[Passage]] = {}
    errors: list[DependencyError] = []
    for name, future in asked.items():
        try:
            hits[name] = [Passage.of(match) for match in future.result()]
        except DependencyError as error:
            errors.append(error)
    if not hits:
        raise errors[0]
    warnings = [f"{name}_search_unavailable" for name in asked if name not in hits]
    dense = hits.get("dense", [])
    return dense, hits.get("hybrid", dense), warnings


def _ranked(search: Search, fused: Sequence[Passage]) -> list[Passage]:
    """Order the fused hits by their score and by how much the question names their document."""
    lifts = document_lifts(search.question, search.language, fused)
    return sorted(fused, key=lambda passage: -(passage.score + lifts[passage.document_id]))


def _with_similarity(search: Search, passages: Sequence[Passage], dense: Sequence[Passage]) -> list[Passage]:
    """Make each passage's score its cosine similarity (0 where the question has no vector).

    It is known from the dense ranking; else it is the fused score less the part of the words, which is worked out again
    from the stored text by the rule it was indexed with.
    """
    if search.vector is None:
        return [replace(passage, score=0.0) for passage in passages]
    known = {passage.chunk_id: passage.score for passage in dense}
    words = dict(zip(*search.sparse, strict=True))
    return [
        replace(
            passage,
            score=known[passage.chunk_id]
            if passage.chunk_id in known
            else passage.score - _lexical_part(words, passage),
        )
        for passage in passages
    ]


def _lexical_part(words: dict[int, float], passage: Passage) -> float:
    stored = identity.passage_vector(
        passage.text,
        language=passage.language,
        title=passage.title,
        key=passage.key,
        section=passage.section,
        cover=passage.cover,
    )
    return sum(words[index] * value for index, value in zip(*stored, strict=True) if index in words)


def _symbol_heavy(question: str) -> bool:
    symbols = sum(not (character.isalnum() or character.isspace()) for character in question.rstrip("?.! "))
    return symbols > len(question) / 8
