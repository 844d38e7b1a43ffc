"""POST /rerank of Pinecone's inference API.

The vendor's models are not here. The scorer is a small one of our own: from each document it takes the span that holds
most of the query's words, and mixes the share of words found with MiniLM's similarity to that span.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from local.openai.engine import EmbeddingEngine, open_engine
from local.pinecone.replies import Reply
from local.pinecone.validation import ControlError


class MiniLmSimilarity:
    """Cosine similarity of texts to a query. `state` keeps the model's graph and the vectors known already."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._opening = Lock()
        self._engine: EmbeddingEngine | None = None

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one similarity a text, -1 to 1."""
        with self._opening:
            self._engine = self._engine or open_engine(self._state)
        vectors = self._engine.embed([query, *texts], urgent=True)
        return [float(value) for value in vectors[1:] @ vectors[0]]


MODELS: Mapping[str, int] = {"bge-reranker-v2-m3": 100, "pinecone-rerank-v0": 100, "cohere-rerank-3.5": 200}
"""Hosted models and how many documents one request takes (docs.pinecone.io, "Rerank results")."""
SPAN_WORDS = 60
"""Words of a document that are scored."""
WORDS_SHARE = 0.4
STEEPNESS, MIDDLE = 8.0, 0.45
"""Map the mixed score to one between 0 and 1, like the vendor's models."""

Scorer = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores texts against a query: one similarity each, -1 to 1."""

_WORD = re.compile(r"\w+")


def rerank(similarity: Scorer, body: bytes) -> Reply:
    """Order the documents by how well each answers the query, best first."""
    request = _parsed(body)
    texts = [_text(document, request["rank_fields"]) for document in request["documents"]]
    scores = _scores(request["query"], texts, similarity)
    order = sorted(range(len(texts)), key=lambda at: (-scores[at], at))
    data: list[dict[str, Any]] = [{"index": at, "score": scores[at]} for at in order[: request["top_n"]]]
    if request["return_documents"]:
        data = [each | {"document": request["documents"][each["index"]]} for each in data]
    return Reply({"model": request["model"], "data": data, "usage": {"rerank_units": 1}})


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise ControlError(400, "Invalid JSON") from None
    if not isinstance(request, dict):
        raise ControlError(400, "The request body must be an object")
    request = {"return_documents": True, **request, "rank_fields": request.get("rank_fields") or ["text"]}
    model, query, documents = request.get("model"), request.get("query"), request.get("documents")
    if not isinstance(model, str) or model not in MODELS:
        raise ControlError(404, f"Model '{model}' not found")
    if not isinstance(query, str) or not query:
        raise ControlError(400, "Missing required field: query")
    if not isinstance(documents, list) or not documents or not all(isinstance(each, dict) for each in documents):
        raise ControlError(400, "documents must be a list of at least one object")
    if len(documents) > MODELS[model]:
        raise ControlError(400, f"Model '{model}' takes at most {MODELS[model]} documents, got {len(documents)}")
    top_n = request.setdefault("top_n", len(documents))
    if not isinstance(top_n, int) or isinstance(top_n, bool) or top_n < 1:
        raise ControlError(400, "top_n must be a positive integer")
    return request


def _text(document: Mapping[str, Any], fields: Sequence[str]) -> str:
    for field in fields:
        if not isinstance(document.get(field), str):
            raise ControlError(400, f"Rank field '{field}' is missing from a document, or is no string")
    return "\n".join(document[field] for field in fields)


def _scores(query: str, texts: Sequence[str], similarity: Scorer) -> list[float]:
    terms = set(_WORD.findall(query.lower()))
    words = [_WORD.findall(text.lower()) for text in texts]
    frequencies = Counter(word for each in words for word in terms & set(each))
    weight = {term: math.log(1 + (len(texts) + 0.5) / (frequencies[term] + 0.5)) for term in terms}
    best = [_best_span(each, weight) for each in words]
    similarities = similarity(query, [span for _, span in best])
    pairs = zip(best, similarities, strict=True)
    mixed = [WORDS_SHARE * share + (1 - WORDS_SHARE) * near for (share, _), near in pairs]
    return [1 / (1 + math.exp(-STEEPNESS * (score - MIDDLE))) for score in mixed]


def _best_span(words: Sequence[str], weight: Mapping[str, float]) -> tuple[float, str]:
    """Return the share of the query's weight in the best span, and that span."""
    starts = range(0, max(1, len(words) - SPAN_WORDS + 1), SPAN_WORDS // 4)
    spans = [words[start : start + SPAN_WORDS] for start in starts]
    held = [sum(weight[word] for word in weight.keys() & set(span)) for span in spans]
    best = max(held)
    return best / (sum(weight.values()) or 1.0), " ".join(spans[held.index(best)])
