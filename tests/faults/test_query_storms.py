"""A provider that refuses many calls is not asked much more often than we are. Calls are counted here, not seconds."""

from collections.abc import Iterator
from typing import Any

import pytest

from functions.query import bootstrap
from tests.support.ingest import Stack
from tests.support.query_stack import LENS, Faulty, call, calls_of, forget_calls, query_stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    without_caches = {"ANSWER_CACHE_TTL_S": "0", "EMBEDDING_CACHE_TTL_S": "0"}
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("storms"), **without_caches) as stack,
    ):
        yield stack


@pytest.mark.parametrize("provider", ["embeddings", "chat", "vectors"])
@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 429, "headers": {"Retry-After": "0"}},
        {"kind": "status", "status": 429, "probability": 0.5},
    ],
    ids=["all of them", "half of them"],
)
def test_a_storm_is_not_made_worse(stack: Stack, provider: str, fault: dict[str, Any]) -> None:
    bootstrap.reset()
    base, path, each = {
        "embeddings": (stack.openai_url, "/v1/embeddings", 1),
        "chat": (stack.openai_url, "/v1/chat/completions", 1),
        "vectors": (stack.pinecone_url, "/query", 2),
    }[provider]
    requests = 24
    call("POST", "/query", {"question": LENS})
    forget_calls(stack)
    with Faulty(stack, base, route=path, **fault):
        for n in range(requests):
            status, _, _ = call("POST", "/query", {"question": f"{LENS} And in year {n}?"})
            assert status in ({200, 503} if provider == "vectors" else {200})
    calls = calls_of(stack, base, path)
    assert 0 < calls <= 1.5 * each * requests, f"{calls} calls for {requests} requests"


@pytest.mark.parametrize("provider", ["embeddings", "chat"])
def test_a_storm_is_not_made_worse_by_the_containers_it_starts(stack: Stack, provider: str) -> None:
    path = {"embeddings": "/v1/embeddings", "chat": "/v1/chat/completions"}[provider]
    forget_calls(stack)
    requests = [1, 1, 1, 2, 3]
    with Faulty(stack, stack.openai_url, route=path, kind="status", status=429):
        for container in requests:
            bootstrap.reset()
            for n in range(container):
                assert call("POST", "/query", {"question": f"{LENS} And in year {n}?"})[0] == 200
    calls = calls_of(stack, stack.openai_url, path)
    assert sum(requests) <= calls <= 1.5 * sum(requests)
