"""The embeddings emulator, driven by the official SDK: what it promises of vectors, and of the wire."""

import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import openai
import pytest

from local.openai import tokens
from tests.support.openai_server import running_openai

MINILM = "all-MiniLM-L6-v2"
LONG_TEXT = " ".join(f"Paragraph {n} says that machine {n} was inspected and found in good order." for n in range(140))


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_openai(tmp_path_factory.mktemp("openai")) as url:
        yield url


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key="sk-test", max_retries=0) as client:
        yield client


def vectors(client: openai.OpenAI, texts: object, model: str = MINILM, **options: object) -> np.ndarray:
    response = client.embeddings.create(model=model, input=texts, **options)  # type: ignore[arg-type]
    return np.array([item.embedding for item in response.data])


def test_vectors_are_of_unit_length_and_in_order(client: openai.OpenAI) -> None:
    texts = ["A cat sits on the mat.", LONG_TEXT, "Revenue grew by 12 % in the third quarter.", "x"]
    together = vectors(client, texts)
    assert together.shape == (4, 384)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert vectors(client, text)[0] @ vector > 0.999


def test_sentences_that_mean_the_same_are_closer_than_unrelated_ones(client: openai.OpenAI) -> None:
    a, b, c = vectors(
        client, ["How long is the warranty?", "The guarantee lasts for two years.", "Penguins live in Antarctica."]
    )
    assert a @ b > 0.4
    assert a @ c < 0.15


def test_known_cosines_of_the_reference_model_are_met(client: openai.OpenAI) -> None:
    # The three sentences and cosines of the model's card (sentence-transformers, fp32); int8 may differ by 0.02.
    a, b, c = vectors(
        client,
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."],
    )
    assert a @ b == pytest.approx(0.6660, abs=0.02)
    assert a @ c == pytest.approx(0.1046, abs=0.02)
    assert b @ c == pytest.approx(0.1411, abs=0.02)


def test_a_change_in_the_tail_of_a_long_text_changes_its_vector(client: openai.OpenAI) -> None:
    assert tokens.count(LONG_TEXT) > 2000
    changed = LONG_TEXT[:-400] + "The last machine exploded and the factory burned down. " * 7
    question, before, after = vectors(client, ["Why did the factory burn down?", LONG_TEXT, changed])
    assert before @ after < 0.999  # cut at 256 tokens, they would be the same
    assert question @ after > question @ before + 0.01


def test_base64_and_float_are_the_same_vectors(client: openai.OpenAI) -> None:
    floats = vectors(client, ["one", "two"], encoding_format="float")
    response = client.embeddings.with_raw_response.create(model=MINILM, input=["one", "two"], encoding_format="base64")
    raw = [item["embedding"] for item in json.loads(response.content)["data"]]
    decoded = np.array([np.frombuffer(base64.b64decode(text), "<f4") for text in raw])
    assert np.allclose(floats, decoded, atol=1e-7)


def test_token_arrays_mean_the_text_they_spell(client: openai.OpenAI) -> None:
    texts = ["The pump must be primed before use.", "Naïve café 😀 <|endoftext|>"]
    spelled = [tokens.encode(text) for text in texts]
    assert np.allclose(vectors(client, texts), vectors(client, spelled))
    assert np.allclose(vectors(client, texts[0]), vectors(client, spelled[0]))


@pytest.mark.parametrize(
    ("model", "native"),
    [
        (MINILM, 384),
        ("text-embedding-3-small", 1536),
        ("text-embedding-3-large", 3072),
        ("text-embedding-ada-002", 1536),
    ],
)
def test_each_name_has_its_own_size_and_the_same_cosines(client: openai.OpenAI, model: str, native: int) -> None:
    texts = ["The pump must be primed.", "Prime the pump first.", "Bananas are yellow."]
    mine = vectors(client, texts, model)
    assert mine.shape == (3, native)
    assert np.allclose(mine @ mine.T, vectors(client, texts) @ vectors(client, texts).T, atol=1e-5)


def test_fewer_dimensions_are_cut_and_of_unit_length(client: openai.OpenAI) -> None:
    cut = vectors(client, ["one", "two"], "text-embedding-3-small", dimensions=256)
    full = vectors(client, ["one", "two"])
    assert cut.shape == (2, 256)
    assert np.allclose(np.linalg.norm(cut, axis=1), 1, atol=1e-5)
    assert np.allclose(cut, full[:, :256] / np.linalg.norm(full[:, :256], axis=1, keepdims=True), atol=1e-5)


def test_usage_counts_tokens_as_tiktoken_does(client: openai.OpenAI) -> None:
    response = client.embeddings.create(model="text-embedding-3-small", input=["hello world", "tiktoken is great!"])
    assert response.usage.prompt_tokens == 2 + 6  # the second is the cookbook's own example
    assert response.usage.total_tokens == 8
    assert response.model == "text-embedding-3-small"


def test_headers_say_what_openai_says_and_who_really_answers(client: openai.OpenAI) -> None:
    response = client.embeddings.with_raw_response.create(model="text-embedding-3-small", input="hello")
    assert response.headers["x-recto-emulated-by"] == MINILM
    assert response.headers["x-request-id"].startswith("req_")
    assert int(response.headers["openai-processing-ms"]) >= 0
    assert (
        int(response.headers["x-ratelimit-remaining-tokens"]) == int(response.headers["x-ratelimit-limit-tokens"]) - 1
    )


async def test_the_async_client_gets_the_same(client: openai.OpenAI, base_url: str) -> None:
    async with openai.AsyncOpenAI(base_url=base_url, api_key="sk-test") as asynchronous:
        response = await asynchronous.embeddings.create(model=MINILM, input="hello")
    assert np.allclose(response.data[0].embedding, vectors(client, "hello")[0])


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        ({"input": "x"}, 400, None, "you must provide a model parameter"),
        ({"model": "gpt-9", "input": "x"}, 404, "model_not_found", "The model `gpt-9` does not exist"),
        ({"model": "extractive-minilm", "input": "x"}, 403, None, "not allowed to generate embeddings"),
        ({"model": MINILM}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": ""}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": []}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": ["a", ""]}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": ["a", 1]}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": [[]]}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": [100_300]}, 400, None, "'$.input' is invalid"),
        ({"model": MINILM, "input": ["a"] * 2049}, 400, None, "'$.input' is invalid"),
        (
            {"model": MINILM, "input": "word " * 9000},
            400,
            None,
            "This model's maximum context length is 8192 tokens, however you requested 9001 tokens (9001 in your "
            "prompt; 0 for the completion). Please reduce your prompt; or completion length.",
        ),
        (
            {"model": MINILM, "input": ["word " * 7999] * 38},
            400,
            "max_tokens_per_request",
            "Requested 304000 tokens, max 300000 tokens per request",
        ),
        ({"model": "text-embedding-ada-002", "input": "x", "dimensions": 8}, 400, None, "does not support specifying"),
        (
            {"model": "text-embedding-3-small", "input": "x", "dimensions": 1537},
            400,
            None,
            "less than or equal to 1536",
        ),
        ({"model": MINILM, "input": "x", "encoding_format": "hex"}, 400, "invalid_value", "Supported values are"),
    ],
)
def test_refusals_have_openai_s_status_code_and_words(
    base_url: str, body: dict[str, object], status: int, code: str | None, message: str
) -> None:
    response = httpx.post(f"{base_url}/embeddings", json=body, headers={"authorization": "Bearer k"}, trust_env=False)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert message in error["message"]
    assert set(error) == {"message", "type", "param", "code"}


def test_the_limits_themselves_are_allowed(client: openai.OpenAI) -> None:
    assert len(vectors(client, ["a"] * 2048)) == 2048
    assert len(vectors(client, tokens.encode("word " * 8191))) == 1


def test_a_body_that_is_not_json_is_refused(base_url: str) -> None:
    for body in (b"{", b"[]", b'{"model": "\\ud800"}', b""):
        response = httpx.post(
            f"{base_url}/embeddings", content=body, headers={"authorization": "Bearer k"}, trust_env=False
        )
        assert response.status_code == 400
        assert "We could not parse the JSON body of your request" in response.json()["error"]["message"]


def test_the_sdk_raises_its_own_exception_for_each_refusal(base_url: str, client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        vectors(client, "x", "gpt-9")
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError):
        vectors(client, "")
    no_key = httpx.post(f"{base_url}/embeddings", json={"model": MINILM, "input": "x"}, trust_env=False)
    assert no_key.status_code == 401
    assert "You didn't provide an API key" in no_key.json()["error"]["message"]


def test_unknown_urls_and_methods_are_told_apart(base_url: str) -> None:
    headers = {"authorization": "Bearer k"}
    unknown = httpx.get(f"{base_url}/nothing", headers=headers, trust_env=False)
    assert (unknown.status_code, unknown.json()["error"]["message"]) == (404, "Invalid URL (GET /v1/nothing)")
    wrong = httpx.get(f"{base_url}/embeddings", headers=headers, trust_env=False)
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_supported")


def test_a_wrong_key_is_refused_when_one_was_set(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_openai(tmp_path_factory.mktemp("keyed"), api_key="sk-right-and-long-enough") as url:
        with (
            openai.OpenAI(base_url=url, api_key="sk-wrong-and-long-enough") as wrong,
            pytest.raises(openai.AuthenticationError) as refused,
        ):
            wrong.models.list()
        assert refused.value.code == "invalid_api_key"
        assert "and-long" not in refused.value.message
        with openai.OpenAI(base_url=url, api_key="sk-right-and-long-enough") as right:
            assert MINILM in [model.id for model in right.models.list()]


def test_models_can_be_listed_and_looked_up(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert {MINILM, "text-embedding-3-small", "extractive-minilm"} <= set(names)
    assert client.models.retrieve(MINILM).object == "model"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("org/none")


def test_a_question_does_not_wait_for_a_whole_ingest_batch(tmp_path_factory: pytest.TempPathFactory) -> None:
    batch = [f"{n} {LONG_TEXT[:2000]}" for n in range(60)]
    with (
        running_openai(tmp_path_factory.mktemp("busy"), cached=False) as url,
        openai.OpenAI(base_url=url, api_key="k") as client,
        ThreadPoolExecutor(1) as pool,
    ):
        vectors(client, "warm")
        ingest = pool.submit(vectors, client, batch)
        answered_meanwhile = 0
        while not ingest.done():
            vectors(client, f"What is meant by {answered_meanwhile}?")
            answered_meanwhile += 1
        assert len(ingest.result()) == 60
    assert answered_meanwhile >= 5


def test_vectors_are_remembered_over_a_restart(tmp_path_factory: pytest.TempPathFactory) -> None:
    state = tmp_path_factory.mktemp("kept")
    texts = [f"{n} {LONG_TEXT}" for n in range(8)]
    taken = []
    answers = []
    for _ in range(2):
        with running_openai(state) as url, openai.OpenAI(base_url=url, api_key="k") as client:
            response = client.embeddings.with_raw_response.create(model=MINILM, input=texts)
            answers.append([item.embedding for item in response.parse().data])
            taken.append(int(response.headers["openai-processing-ms"]))
    assert answers[0] == answers[1]
    assert taken[1] < taken[0] / 3
    assert LONG_TEXT[:40].encode() not in (state / "vectors.sqlite").read_bytes()
