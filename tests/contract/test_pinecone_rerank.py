"""Reranking on the wire: the emulator through the official SDK, our adapter under every fault."""

import json
from collections.abc import Iterator, Sequence

import httpx
import pytest
from pinecone import Pinecone

from local.pinecone.app import create_app
from local.pinecone.database import Database
from local.serving import serving
from shared.adapters.pinecone import PineconeReranker
from shared.deadline import CallAbandoned
from shared.errors import (
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    KeyRefused,
    QuotaExhausted,
    RateLimited,
)

MODEL = "bge-reranker-v2-m3"
TEXTS = ["Bananas are yellow.", "The boiler is descaled every 90 days.", "A boiler heats water."]
QUESTION = "How often is the boiler descaled?"


def nothing_alike(query: str, texts: Sequence[str]) -> list[float]:
    """Stands in for MiniLM: nothing is similar to anything, so that words decide."""
    del query
    return [0.0 for _ in texts]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    app = create_app(Database(tmp_path_factory.mktemp("rerank")), similarity=nothing_alike)
    with serving(app, name="Pinecone") as url:
        yield url


MADE: list[PineconeReranker] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while MADE:
        MADE.pop().close()


def reranker(url: str, model: str = MODEL) -> PineconeReranker:
    MADE.append(PineconeReranker(base_url=url, api_key="key", model=model))
    return MADE[-1]


def test_the_official_sdk_gets_documents_best_first(url: str) -> None:
    with Pinecone(api_key="key", host=url) as client:
        result = client.inference.rerank(model=MODEL, query=QUESTION, documents=TEXTS, top_n=2)
    assert [each.index for each in result.data] == [1, 2]
    assert result.data[0].document["text"] == TEXTS[1]
    assert 1 >= result.data[0].score > result.data[1].score >= 0
    assert (result.model, result.usage.rerank_units) == (MODEL, 1)


def test_other_fields_can_be_ranked_and_come_back_whole(url: str) -> None:
    documents = [{"id": str(n), "summary": text} for n, text in enumerate(TEXTS)]
    with Pinecone(api_key="key", host=url) as client:
        result = client.inference.rerank(model=MODEL, query=QUESTION, documents=documents, rank_fields=["summary"])
    assert result.data[0].document["id"] == "1"


def test_the_adapter_returns_one_score_a_text_in_their_order(url: str) -> None:
    scores = reranker(url).rerank(QUESTION, TEXTS, timeout_s=5)
    assert len(scores) == 3
    assert max(range(3), key=lambda at: scores[at]) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (json.dumps({"model": "none", "query": "q", "documents": [{"text": "t"}]}).encode(), 404),
        (json.dumps({"model": MODEL, "documents": [{"text": "t"}]}).encode(), 400),
        (json.dumps({"model": MODEL, "query": "q", "documents": []}).encode(), 400),
        (json.dumps({"model": MODEL, "query": "q", "documents": [{"other": "t"}]}).encode(), 400),
        (json.dumps({"model": MODEL, "query": "q", "documents": [{"text": "t"}], "top_n": 0}).encode(), 400),
        (json.dumps({"model": MODEL, "query": "q", "documents": [{"text": "t"}] * 101}).encode(), 400),
    ],
)
def test_wrong_requests_are_refused_in_the_vendors_shape(url: str, body: bytes, status: int) -> None:
    answer = httpx.post(f"{url}/rerank", content=body, headers={"Api-Key": "key"})
    assert answer.status_code == status
    assert answer.json()["status"] == status
    assert answer.json()["error"]["message"]


def test_a_key_is_needed(url: str) -> None:
    assert httpx.post(f"{url}/rerank", content=b"{}").status_code == 401


def test_an_unknown_model_is_final_and_says_what_to_check(url: str) -> None:
    with pytest.raises(DependencyRefused, match="RECTO_RERANK_MODEL"):
        reranker(url, "none").rerank(QUESTION, TEXTS, timeout_s=5)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"kind": "status", "status": 429, "headers": {"retry-after": "7"}}, RateLimited),
        ({"kind": "status", "status": 500}, DependencyUnavailable),
        ({"kind": "status", "status": 403}, KeyRefused),
        ({"kind": "status", "status": 403, "body": {"error": {"code": "QUOTA_EXCEEDED"}}}, QuotaExhausted),
        ({"kind": "status", "status": 429, "body": {"error": {"message": "The monthly limit."}}}, QuotaExhausted),
        ({"kind": "status", "status": 200, "body": {"data": [{"index": 0, "score": 1}]}}, DependencyUnavailable),
        ({"kind": "truncate"}, DependencyUnavailable),
        ({"kind": "reset"}, DependencyUnavailable),
        ({"kind": "hang"}, CallAbandoned),
    ],
)
def test_faults_at_the_wire_become_errors_of_our_tree(url: str, fault: dict[str, object], kind: type) -> None:
    httpx.post(f"{url}/_admin/faults", json={"route": "/rerank", **fault}).raise_for_status()
    try:
        with pytest.raises(DependencyError) as raised:
            reranker(url).rerank(QUESTION, TEXTS, timeout_s=0.5 if kind is CallAbandoned else 5)
    finally:
        httpx.delete(f"{url}/_admin/faults").raise_for_status()
    assert type(raised.value) is kind
    assert QUESTION not in raised.value.message
    if kind is RateLimited:
        assert raised.value.retry_after_s == 7


def test_nobody_listening_is_unavailable() -> None:
    with pytest.raises(DependencyUnavailable):
        reranker("http://127.0.0.1:9").rerank(QUESTION, TEXTS, timeout_s=2)


def test_no_time_left_asks_nobody(url: str) -> None:
    with pytest.raises(DependencyTimeout, match="no time"):
        reranker(url).rerank(QUESTION, TEXTS, timeout_s=0)
