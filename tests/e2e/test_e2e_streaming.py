"""The streaming port of the running laptop stack: real tokens, the same answer as through API Gateway."""

from pathlib import Path

import httpx
import pytest

from local.client import ApiClient, ApiError
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.local_stack import run_local

QUESTION = "How often are the coffee boilers descaled?"


def test_a_streamed_answer_is_that_of_the_api(laptop: Laptop, api: ApiClient, samples: dict[str, str]) -> None:
    with laptop.client(users.DEMO, streaming=True) as streaming:
        told = list(streaming.query_stream(QUESTION))
    names = [name for name, _ in told]
    assert (names[0], names[-1]) == ("sources", "done")
    done = told[-1][1]
    assert "".join(data["text"] for name, data in told if name == "delta") == done["answer"]
    assert api.query(QUESTION)["answer"] == done["answer"]
    conversation = api.request("GET", f"/conversations/{done['conversation_id']}").json()
    assert conversation["messages"][1]["content"] == done["answer"]


def test_another_tenant_streams_nothing_of_it(laptop: Laptop, samples: dict[str, str]) -> None:
    with laptop.client(users.OTHER, streaming=True) as streaming:
        *_, (name, done) = streaming.query_stream(QUESTION)
    assert name == "done"
    assert done["no_relevant_info"]


def test_without_a_token_of_the_pool_nothing_is_answered(laptop: Laptop) -> None:
    for token in ("", "not-a-token", laptop.token()[:-8] + "AAAAAAAA"):
        with ApiClient(laptop.config.streaming_url, token) as client, pytest.raises(ApiError) as refused:
            list(client.query_stream(QUESTION))
        assert (refused.value.status, refused.value.code) == (401, "not_authenticated")
    assert httpx.get(f"{laptop.config.streaming_url}/healthz", trust_env=False).json()["status"] == "ok"


def test_ask_prints_while_it_is_written(state: Path, samples: dict[str, str]) -> None:
    asked = run_local(state, "ask", "--stream", QUESTION)
    assert asked.returncode == 0, asked.stderr
    assert "every 12 months" in asked.stdout
    assert "page 5 (printed 3)" in asked.stdout
