"""The adapters against the emulator: the ports' promises hold on the wire, with faults and without."""

import math
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.retry import Retry
from shared.errors import DependencyRefused, DependencyTimeout, DependencyUnavailable, QuotaExhausted, RateLimited
from shared.models import ChatMessage, EmbeddingSpace, ModelRequest
from tests.support.openai_server import running_openai

MADE: list[OpenAIChatModel | OpenAIEmbedder] = []
"""Adapters of the test that is running."""
MINILM = EmbeddingSpace("all-MiniLM-L6-v2", 384)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_openai(tmp_path_factory.mktemp("openai")) as url:
        yield url


@pytest.fixture
def base_url(running: str) -> Iterator[str]:
    yield running
    while MADE:
        MADE.pop().close()
    httpx.delete(f"{admin(running)}/faults", trust_env=False)


def no_sleep(seconds: float) -> None:
    pass


def admin(base_url: str) -> str:
    return base_url.removesuffix("/v1") + "/_admin"


def broken(base_url: str, **rule: Any) -> None:
    httpx.post(f"{admin(base_url)}/faults", json={"route": "/v1/", **rule}, trust_env=False).raise_for_status()


def embedder(base_url: str, space: EmbeddingSpace = MINILM) -> OpenAIEmbedder:
    retry = Retry("embeddings", sleep=no_sleep)
    made = OpenAIEmbedder(base_url=base_url, api_key="sk-test", space=space, retry=retry)
    MADE.append(made)
    return made


@pytest.mark.parametrize(
    "space",
    [MINILM, EmbeddingSpace("text-embedding-3-small", 1536), EmbeddingSpace("text-embedding-3-large", 256)],
    ids=str,
)
def test_every_text_gets_a_unit_vector_of_the_space(base_url: str, space: EmbeddingSpace) -> None:
    texts = [f"Sentence number {number}." for number in range(40)]
    embeddings = embedder(base_url, space).embed(texts, timeout_s=30)
    assert [len(vector) for vector in embeddings.vectors] == [space.dimensions] * 40
    assert all(math.hypot(*vector) == pytest.approx(1, abs=1e-5) for vector in embeddings.vectors)
    assert embeddings.usage.input_tokens == 40 * 5
    alone = embedder(base_url, space).embed([texts[7]], timeout_s=30).vectors[0]
    assert math.sumprod(alone, embeddings.vectors[7]) == pytest.approx(1, abs=1e-3)


def test_a_space_the_model_does_not_have_fails_loudly(base_url: str) -> None:
    with pytest.raises(DependencyRefused, match="384 dimensions where 512"):
        embedder(base_url, EmbeddingSpace("all-MiniLM-L6-v2", 512)).embed(["x"], timeout_s=30)


def test_an_unknown_model_is_refused_in_the_vendor_s_words(base_url: str) -> None:
    with pytest.raises(DependencyRefused, match="The model `gpt-9` does not exist"):
        embedder(base_url, EmbeddingSpace("gpt-9", 512)).embed(["x"], timeout_s=30)


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "status", "status": 429, "headers": {"retry-after": "1"}},
        {"kind": "status", "status": 500},
        {"kind": "reset"},
        {"kind": "truncate"},
    ],
    ids=lambda rule: str(rule["kind"]) + str(rule.get("status", "")),
)
def test_a_fault_that_passes_is_not_seen(base_url: str, rule: dict[str, Any]) -> None:
    broken(base_url, count=2, **rule)
    assert len(embedder(base_url).embed(["x"], timeout_s=30).vectors) == 1


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        ({"kind": "status", "status": 429}, RateLimited),
        ({"kind": "status", "status": 429, "body": {"error": {"code": "insufficient_quota"}}}, QuotaExhausted),
        ({"kind": "status", "status": 503}, DependencyUnavailable),
        ({"kind": "reset"}, DependencyUnavailable),
        ({"kind": "truncate"}, DependencyUnavailable),
        ({"kind": "hang"}, DependencyTimeout),
        ({"kind": "status", "status": 401}, DependencyRefused),
    ],
    ids=lambda value: value.get("kind", "") if isinstance(value, dict) else value.__name__,
)
def test_a_fault_that_stays_has_its_own_error(base_url: str, rule: dict[str, Any], error: type[Exception]) -> None:
    broken(base_url, **rule)
    with pytest.raises(error):
        embedder(base_url).embed(["x"], timeout_s=1)


def test_chat_answers_from_recto_s_prompt(base_url: str) -> None:
    model = OpenAIChatModel(base_url=base_url, api_key="sk-test", model="extractive-minilm")
    MADE.append(model)
    sources = '<source n="1" title="Warranty" page="3">\nThe warranty lasts for 24 months.\n</source>'
    messages = [
        ChatMessage("system", "Answer from the sources only."),
        ChatMessage("user", f"{sources}\n\nQuestion: How long is the warranty?"),
    ]
    completion = model.complete(ModelRequest(messages, max_output_tokens=200, temperature=0.3), timeout_s=30)
    assert completion.text == "The warranty lasts for 24 months. [1]"
    assert (completion.finish_reason, completion.model) == ("stop", "extractive-minilm")
    assert completion.usage.output_tokens > 0
    short = model.complete(ModelRequest(messages, max_output_tokens=3, temperature=0.3), timeout_s=30)
    assert (short.text, short.finish_reason) == ("The warranty lasts", "length")
