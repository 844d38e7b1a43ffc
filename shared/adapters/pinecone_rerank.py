"""Reranking by Pinecone's inference API: one request, one attempt, within the caller's time.

Not by the SDK, which is loaded for the index only and would bring its own retries: `POST /rerank` on the control host.
"""

import json
from collections.abc import Sequence

import httpcore

from shared.adapters.deadline_http import exchange
from shared.adapters.retry import Guard
from shared.errors import (
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    QuotaExhausted,
    RateLimited,
)

DEPENDENCY = "rerank"
API_VERSION = "2026-07"


class PineconeReranker:
    """`Reranker` by a model that Pinecone hosts. Thread-safe."""

    def __init__(self, *, base_url: str, api_key: str, model: str, guard: Guard | None = None) -> None:
        self._url = f"{base_url.rstrip('/')}/rerank"
        self._headers = {
            "api-key": api_key,
            "content-type": "application/json",
            "x-pinecone-api-version": API_VERSION,
            "user-agent": "recto",
        }
        self._model = model
        self._guard = guard

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        """Return one score a text, 0 to 1, in their order. Raises `DependencyError`."""
        if timeout_s <= 0:
            raise DependencyTimeout(DEPENDENCY, "no time was left for the request.")
        if self._guard is None:
            return self._attempt(question, texts, timeout_s)
        with self._guard.breaker.attempt(timeout_s):
            return self._attempt(question, texts, timeout_s)

    def _attempt(self, question: str, texts: Sequence[str], timeout_s: float) -> Sequence[float]:
        body = {
            "model": self._model,
            "query": question,
            "documents": [{"text": text} for text in texts],
            "top_n": len(texts),
            "return_documents": False,
            "parameters": {"truncate": "END"},
        }
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            answer = exchange(self._url, self._headers, content, timeout_s=timeout_s)
        except httpcore.TimeoutException as error:
            raise DependencyTimeout(DEPENDENCY, "Pinecone did not answer in time") from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise DependencyUnavailable(DEPENDENCY, "no connection to Pinecone, or it broke") from error
        if answer.status != 200:
            raise _refusal(answer.status, answer.headers.get("retry-after", ""))
        return _scores(answer.body, len(texts))


def _scores(body: bytes, count: int) -> Sequence[float]:
    """Read the answer; it must judge each text exactly once."""
    try:
        scores = {int(each["index"]): float(each["score"]) for each in json.loads(body)["data"]}
    except (ValueError, KeyError, TypeError) as error:
        raise DependencyUnavailable(DEPENDENCY, "the answer of Pinecone is malformed") from error
    if sorted(scores) != list(range(count)):
        raise DependencyUnavailable(DEPENDENCY, f"Pinecone judged {len(scores)} of {count} texts")
    return [scores[at] for at in range(count)]


def _refusal(status: int, retry_after: str) -> DependencyError:
    """Name what is wrong by the status alone: the vendor's words quote what was sent."""
    text = f"Pinecone answered {status}"
    if status == 429:
        return RateLimited(DEPENDENCY, text, retry_after_s=float(retry_after) if retry_after.isdecimal() else None)
    if status in (402, 403):
        return QuotaExhausted(DEPENDENCY, text)
    if status == 408 or status >= 500:
        return DependencyUnavailable(DEPENDENCY, text)
    return DependencyRefused(DEPENDENCY, f"{text}: check RECTO_RERANK_MODEL and the key")
