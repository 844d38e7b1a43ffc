"""The official client of the Model Context Protocol against the served application, by two revisions of it."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from functions.query.app import app
from functions.query.streaming_app import REQUEST_CONTEXT, FromAdapter
from local.serving import serving
from tests.support.ingest import Stack
from tests.support.query_stack import LENS, Faulty, authorized, query_stack

type Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")
TOOLS = ["ask", "search", "list_documents", "get_page"]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    limits = json.dumps({"small": {"user_questions_per_day": 1}})
    settings = {"ANSWER_CACHE_TTL_S": "0", "LIMIT_OVERRIDES": limits}
    with pytest.MonkeyPatch.context() as patch, query_stack(patch, tmp_path_factory.mktemp("mcp"), **settings) as made:
        yield made


@pytest.fixture(scope="module")
def url(stack: Stack) -> Iterator[str]:
    with serving(FromAdapter(app), name="query") as served:
        yield f"{served}/mcp"


def headers_of(tenant: str = "acme", groups: str = "reader") -> dict[str, str]:
    """What the authorizer adds to a request."""
    context = {"requestId": "r-1", "authorizer": authorized(tenant, "ann", groups)}
    return {REQUEST_CONTEXT.decode(): json.dumps(context)}


@asynccontextmanager
async def connected(url: str, mode: Mode = "auto", **who: str) -> AsyncIterator[Client]:
    """A client of one user."""
    async with (
        httpx2.AsyncClient(headers=headers_of(**who), timeout=30, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_lists_and_calls_every_tool(url: str, mode: Mode) -> None:
    async with connected(url, mode) as client:
        assert client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
        assert client.server_info is not None
        assert client.server_info.name == "recto"
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        assert all(tool.description and tool.output_schema and tool.input_schema for tool in tools)

        asked = await client.call_tool("ask", {"question": LENS})
        answer = structured(asked)
        assert "every Thursday" in answer["answer"]
        assert text_of(asked).startswith(answer["answer"])
        assert "- [1] *Orsk Lighthouse Handbook* (handbook.pdf), p. 2" in text_of(asked)
        (citation,) = answer["citations"]
        assert citation["quote"] == "The lens must be cleaned with vinegar every Thursday."

        found = await client.call_tool("search", {"question": LENS, "limit": 1})
        (passage,) = structured(found)["passages"]
        assert citation["quote"] in passage["text"]
        assert (passage["document_id"], passage["source"]) == (citation["document_id"], True)
        assert passage["text"] in text_of(found)

        listed = await client.call_tool("list_documents", {"words": "lighthouse"})
        (document,) = structured(listed)["documents"]
        assert document["document_id"] == citation["document_id"]
        assert citation["document_id"] in text_of(listed)

        read = await client.call_tool("get_page", {"document_id": citation["document_id"], "page": 2})
        page = structured(read)
        start = citation["char_start"] - page["char_start"]
        assert page["text"][start : start + len(citation["quote"])] == citation["quote"]
        assert text_of(read) == page["text"]


async def test_a_refusal_is_an_answer_and_nothing_is_stored(url: str) -> None:
    async with connected(url) as client:
        answer = structured(await client.call_tool("ask", {"question": "Who won the football world cup in 1998?"}))
    assert answer["no_relevant_info"]
    assert (answer["citations"], answer["conversation_id"]) == ([], "")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ask", {}, "question: It is needed"),
        ("ask", {"question": " \u200b"}, "no text"),
        ("ask", {"question": "x" * 20_000}, "at most"),
        ("ask", {"question": LENS, "tenant": "other"}, "tenant: It is not known here"),
        ("ask", {"question": LENS, "filter": {"$bad": 1}}, "$bad"),
        ("search", {"question": LENS, "filter": {"$bad": 1}}, "$bad"),
        ("search", {"question": LENS, "limit": 21}, "limit"),
        ("list_documents", {"limit": 0}, "limit"),
        ("get_page", {"document_id": "x", "page": 1}, "document_id"),
        ("get_page", {"document_id": "0" * 32, "page": 1}, "no such document"),
        ("get_page", {"document_id": "0" * 32, "page": "two"}, "page"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model(url: str, tool: str, arguments: dict[str, Any], told: str) -> None:
    async with connected(url) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert told in text_of(result)


@pytest.mark.parametrize("mode", MODES)
async def test_an_unknown_tool_or_method_is_an_error_of_the_protocol(url: str, mode: Mode) -> None:
    async with connected(url, mode) as client:
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("delete_everything", {})
        assert unknown.value.code == -32602
        with pytest.raises(MCPError) as missing:
            await client.list_prompts()
        assert missing.value.code == -32601


async def test_another_tenant_sees_nothing_of_it(url: str) -> None:
    async with connected(url) as client:
        documents = structured(await client.call_tool("list_documents", {}))["documents"]
    async with connected(url, tenant="other") as client:
        assert structured(await client.call_tool("list_documents", {}))["documents"] == []
        assert structured(await client.call_tool("ask", {"question": LENS}))["no_relevant_info"]
        assert structured(await client.call_tool("search", {"question": LENS}))["passages"] == []
        page = await client.call_tool("get_page", {"document_id": documents[0]["document_id"], "page": 2})
        assert page.is_error
        assert "no such document" in text_of(page)


async def test_limits_count_for_tools_too(url: str) -> None:
    async with connected(url, tenant="small") as client:
        assert not (await client.call_tool("ask", {"question": LENS})).is_error
        limited = await client.call_tool("ask", {"question": LENS})
    assert limited.is_error
    assert "You may ask 1 questions a day." in text_of(limited)
    assert "Try again in" in text_of(limited)


async def test_an_outage_is_told_to_the_model(stack: Stack, url: str) -> None:
    async with connected(url) as client:
        with Faulty(stack, stack.pinecone_url, route="/query", kind="status", status=503):
            down = await client.call_tool("ask", {"question": LENS})
    assert down.is_error
    assert "Try again in" in text_of(down)


# --- on the wire ---


@pytest.fixture(scope="module")
def web(url: str) -> Iterator[httpx.Client]:
    accepted = {"accept": "application/json, text/event-stream"}
    with httpx.Client(
        base_url=url.removesuffix("/mcp"), headers=headers_of() | accepted, timeout=30, trust_env=False
    ) as made:
        yield made


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request_of(method: str, meta: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": META if meta is None else meta, **params}}


def current(method: str, **more: str) -> dict[str, str]:
    return {"mcp-protocol-version": "2026-07-28", "mcp-method": method, **more}


def test_a_request_is_answered_without_any_before_it(web: httpx.Client) -> None:
    answer = web.post("/mcp", json=request_of("tools/list"), headers=current("tools/list"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    result = answer.json()["result"]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    assert [tool["name"] for tool in result["tools"]] == TOOLS
    assert "mcp-session-id" not in answer.headers


def test_a_name_in_base64_is_read(web: httpx.Client) -> None:
    body = request_of("tools/call", name="list_documents", arguments={})
    headers = current("tools/call", **{"mcp-name": "=?base64?bGlzdF9kb2N1bWVudHM=?="})
    assert web.post("/mcp", json=body, headers=headers).json()["result"]["isError"] is False


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        ("{", {}, 400, -32700),
        ([request_of("ping")], {}, 400, -32600),
        ({"id": 7, "method": "ping"}, {}, 400, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, {}, 400, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, {}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, {}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}, {}, 400, -32600),
        (request_of("tools/list"), current("tools/call"), 400, -32020),
        (request_of("tools/list"), {"mcp-protocol-version": "2026-07-28"}, 400, -32020),
        (request_of("tools/call", name="ask"), current("tools/call", **{"mcp-name": "get_page"}), 400, -32020),
        (request_of("tools/call", name="ask"), current("tools/call", **{"mcp-name": "=?base64?%?="}), 400, -32020),
        (request_of("tools/list", {}), current("tools/list"), 400, -32602),
        (request_of("prompts/list"), current("prompts/list"), 404, -32601),
        (request_of("ping"), current("ping"), 404, -32601),
        (request_of("initialize"), current("initialize"), 404, -32601),
        (request_of("prompts/list"), {}, 200, -32601),
    ],
)
def test_what_is_no_message_of_the_protocol_is_refused(
    web: httpx.Client, body: Any, headers: dict[str, str], status: int, code: int
) -> None:
    answer = web.post("/mcp", content=body if isinstance(body, str) else json.dumps(body), headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json().get("id") == (7 if isinstance(body, dict) and body.get("id") == 7 else None)


def test_an_unknown_revision_is_told_which_are_spoken(web: httpx.Client) -> None:
    meta = META | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    headers = current("tools/list") | {"mcp-protocol-version": "2031-01-01"}
    answer = web.post("/mcp", json=request_of("tools/list", meta), headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32022)
    supported = ["2026-07-28", "2025-11-25", "2025-06-18"]
    assert answer.json()["error"]["data"] == {"supported": supported, "requested": "2031-01-01"}


@pytest.mark.parametrize(
    ("wanted", "given"),
    [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), (None, "2025-11-25")],
)
def test_a_handshake_settles_on_a_revision(web: httpx.Client, wanted: str | None, given: str) -> None:
    params = {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}
    result = web.post("/mcp", json=body).json()["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"] == {"tools": {}}
    assert "resultType" not in result
    assert web.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}).json()["result"] == {}


@pytest.mark.parametrize("headers", [{}, {"mcp-protocol-version": "2025-06-18"}, current("notifications/cancelled")])
def test_a_notification_is_accepted_and_not_answered(web: httpx.Client, headers: dict[str, str]) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    answer = web.post("/mcp", json=body, headers=headers)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_nothing_but_post(web: httpx.Client, method: str) -> None:
    answer = web.request(method, "/mcp")
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]


def test_without_a_token_nothing_is_called(url: str) -> None:
    answer = httpx.post(url, json=request_of("tools/list"), headers=current("tools/list"), trust_env=False)
    assert answer.status_code == 401


def test_a_page_of_an_origin_that_may_not_call_the_api_is_refused(stack: Stack) -> None:
    from functions.query.bootstrap import reset

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECTO_CORS_ALLOW_ORIGINS", "https://app.example.com")
        reset()
        try:
            with serving(FromAdapter(app), name="query") as served:
                statuses = [
                    httpx.post(
                        f"{served}/mcp",
                        json=request_of("tools/list"),
                        headers=headers_of() | current("tools/list") | {"origin": origin},
                        trust_env=False,
                    ).status_code
                    for origin in ("https://evil.example.com", "https://app.example.com")
                ]
        finally:
            patch.undo()
            reset()
    assert statuses == [403, 200]
