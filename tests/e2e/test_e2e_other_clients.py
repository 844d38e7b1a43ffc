"""OpenAI's SDK and the official client of the Model Context Protocol against the deployed stack."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import DefaultHttpxClient, OpenAI

from local.client import ApiClient
from local.stack import users
from local.stack.laptop import Laptop
from tests.support.log_scan import Private

QUESTION = "How often are the coffee boilers descaled?"
ANSWER = "every 12 months"
ADMIN = users.User("clients@demo.example.com", users.DEMO.tenant, "admin")


@pytest.fixture(scope="module")
def key(laptop: Laptop, private: Private) -> Iterator[str]:
    """An API key of a reader. These clients send it by other means than those that `private` listens to."""
    deployed = laptop.deployed()
    users.create(
        laptop.aws.cognito,
        deployed.one("AWS::Cognito::UserPool"),
        ADMIN,
        password=users.password_of(laptop.config.state),
    )
    with ApiClient(deployed.api_url, users.id_token(laptop.aws, laptop.config, deployed, ADMIN)) as admin:
        made = admin.request("POST", "/keys", json={"name": "Other clients", "role": "reader"}).json()
        private.add_secret(made["key"])
        private.add_question(QUESTION)
        yield made["key"]
        admin.request("DELETE", f"/keys/{made['key_id']}")


def urls(laptop: Laptop) -> dict[str, str]:
    """The API behind API Gateway, and where it streams."""
    return {"api": laptop.deployed().api_url.rstrip("/"), "streaming": laptop.config.streaming_url}


@pytest.mark.parametrize("where", ["api", "streaming"])
def test_openais_sdk_asks_and_streams(laptop: Laptop, samples: dict[str, str], key: str, where: str) -> None:
    http = DefaultHttpxClient(trust_env=False)
    with OpenAI(base_url=f"{urls(laptop)[where]}/v1", api_key=key, http_client=http, timeout=60) as client:
        assert [model.id for model in client.models.list()] == ["recto"]
        completion = client.chat.completions.create(model="recto", messages=[{"role": "user", "content": QUESTION}])
        message = completion.choices[0].message
        assert ANSWER in (message.content or "")
        assert (message.model_extra or {})["citations"][0]["page_start"] == 5
        stream = client.chat.completions.create(
            model="recto", messages=[{"role": "user", "content": QUESTION}], stream=True
        )
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == message.content
        response = client.responses.create(model="recto", input=QUESTION)
        assert ANSWER in response.output_text
        assert response.output_text in (message.content or "")
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-6")
        with pytest.raises(openai.AuthenticationError) as refused:
            client.with_options(api_key="rk_of_nobody").models.list()
        assert refused.value.code == "invalid_api_key"


@pytest.mark.parametrize("where", ["api", "streaming"])
def test_the_mcp_client_lists_and_calls_tools(laptop: Laptop, samples: dict[str, str], key: str, where: str) -> None:
    async def called() -> tuple[list[str], dict[str, Any], dict[str, Any]]:
        headers = {"authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"{urls(laptop)[where]}/mcp", http_client=http)) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            asked = (await client.call_tool("ask", {"question": QUESTION})).structured_content
            assert isinstance(asked, dict)
            place = {"document_id": asked["citations"][0]["document_id"], "page": asked["citations"][0]["page_start"]}
            page = (await client.call_tool("get_page", place)).structured_content
            assert isinstance(page, dict)
            return names, asked, page

    names, asked, page = asyncio.run(called())
    assert names == ["ask", "search", "list_documents", "get_page"]
    assert ANSWER in asked["answer"]
    assert asked["citations"][0]["quote"] in page["text"]
