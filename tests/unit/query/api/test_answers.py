"""One answer over every route that gives answers: JSON, our stream, OpenAI's two APIs, MCP's tools, and search."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from shared.models import Document
from tests.support.query_stack import events_of, raw_call
from tests.support.routes import Routes

QUESTION = "How often must the lens of the lamp be cleaned?"
LAMP = "The lamp is lit at sunset. The lens of the lamp must be cleaned with vinegar every Thursday."
KEEPER = "The keeper lives in the white cottage beside the tower."
SAID = "The lens of the lamp must be cleaned with vinegar every Thursday."
TEXT = f"{SAID} [1]"
LISTED = f"\n\n---\n- [1] *Lamp handbook* (lamp.pdf), p. 1: “{SAID}”"
FOUND = {
    "mode": "extractive",
    "no_relevant_info": False,
    "refusal": None,
    "handoff_offered": False,
    "band": "high",
    "support": {"claims": 1, "confirmed": 1, "unconfirmed": 0, "dropped": 0, "flags": []},
    "rewritten": None,
    "cached": False,
    "cost_usd": None,
    "warnings": [],
    "suggestions": [],
    "conversation_id": "",
}


@pytest.fixture(autouse=True)
def lamp(api: Routes) -> Document:
    return api.publish("uploads/acme/lamp.pdf", LAMP, KEEPER, title="Lamp handbook")


def citation(lamp: Document) -> dict[str, Any]:
    return {
        "n": 1,
        "document_id": lamp.document_id,
        "title": "Lamp handbook",
        "source_type": "pdf",
        "page_start": 1,
        "page_end": 1,
        "page_label": "i",
        "section": "1 Part",
        "quote": SAID,
        "char_start": 27,
        "char_end": 92,
        "score": 0.8,
        "key": "uploads/acme/lamp.pdf",
        "file_name": "lamp.pdf",
        "version_id": lamp.version_id,
        "rects": [],
        "page_sizes": [],
        "corrected": False,
        "ocr": False,
        "described_by": "",
    }


def source(lamp: Document, number: int, score: float, band: str) -> dict[str, Any]:
    return {
        "chunk_id": f"{lamp.document_id}#G1#{number}",
        "document_id": lamp.document_id,
        "key": lamp.key,
        "title": "Lamp handbook",
        "section": f"{number + 1} Part",
        "page_start": number + 1,
        "page_end": number + 1,
        "page_label": "i" * (number + 1),
        "score": pytest.approx(score),
        "corrected": False,
        "band": band,
    }


def found_in(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in FOUND}


def test_an_answer_as_json(api: Routes, lamp: Document):
    status, answer = api.call("POST", "/query", {"question": QUESTION})
    assert (status, answer["answer"], answer["citations"]) == (200, TEXT, [citation(lamp)])
    assert answer["sources"] == [source(lamp, 0, 0.8, "high"), source(lamp, 1, 0.7, "low")]
    assert found_in({**answer, "conversation_id": ""}) == FOUND
    assert answer["claims"] == [{"text": SAID, "verdict": "confirmed", "citations": [1], "derived": ""}]
    assert (answer["best_score"], answer["threshold"], answer["dropped_citations"], answer["model"]) == (
        0.8,
        0.35,
        0,
        "",
    )
    assert (answer["explanation"], answer["usage"]["input_tokens"]) == (None, 1)
    explained = api.call("POST", "/query", {"question": QUESTION, "explain": True})[1]["explanation"]
    assert [each["rank"] for each in explained["passages"]] == [1, 2]
    assert api.call("POST", "/query", {"question": QUESTION, "explain": True}, groups="reader")[0] == 403
    assert api.call("POST", "/query", {"question": "…"})[0] == 200
    assert api.call("POST", "/query", {"question": " "})[0] == 400
    assert api.call("POST", "/query", {"question": "x" * 4_001})[1]["detail"] == (
        "The question has 4001 characters; at most 4000 are allowed."
    )
    assert api.call("POST", "/query", {"question": QUESTION, "top_k": 51})[0] == 400
    assert api.call("POST", "/query", {"question": QUESTION, "top_k": 0})[0] == 400


def test_an_answer_as_our_stream(api: Routes, lamp: Document):
    status, text, headers = raw_call("POST", "/query", {"question": QUESTION}, headers={"Accept": "text/event-stream"})
    events = events_of(text)
    assert (status, [name for name, _ in events]) == (200, ["sources", "citation", "delta", "support", "done"])
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-store, no-transform"
    data = dict(events)
    assert data["sources"] == {"sources": [source(lamp, 0, 0.8, "high"), source(lamp, 1, 0.7, "low")]}
    assert (data["citation"], data["delta"]) == (citation(lamp), {"text": TEXT})
    assert data["support"]["support"] == FOUND["support"]
    assert (data["done"]["answer"], data["done"]["citations"]) == (TEXT, [citation(lamp)])


def test_an_answer_in_openais_form(api: Routes, lamp: Document):
    asked = {"model": "recto", "messages": [{"role": "user", "content": QUESTION}]}
    status, answer = api.call("POST", "/v1/chat/completions", asked)
    assert status == 200
    recto = answer.pop("recto")
    assert found_in(recto) == FOUND
    assert answer.pop("id").startswith("chatcmpl-")
    usage = {
        "prompt_tokens": 1,
        "completion_tokens": 0,
        "total_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert answer == {
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": "recto",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": TEXT + LISTED,
                    "refusal": None,
                    "citations": [citation(lamp)],
                },
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": usage,
    }
    plain = api.call("POST", "/v1/chat/completions", {**asked, "recto": {"citation_list": False}})[1]
    assert plain["choices"][0]["message"]["content"] == TEXT
    stored = api.call("POST", "/v1/chat/completions", {**asked, "store": True})[1]
    assert stored["recto"]["conversation_id"]
    status, text, _ = raw_call(
        "POST", "/v1/chat/completions", {**asked, "stream": True, "stream_options": {"include_usage": True}}
    )
    *chunks, last = [block.removeprefix("data: ") for block in text.strip().split("\n\n")]
    told = [json.loads(each) for each in chunks]
    assert last == "[DONE]"
    assert len({each["id"] for each in told}) == 1
    assert {each["object"] for each in told} == {"chat.completion.chunk"}
    assert [each["choices"][0]["delta"] for each in told[:4]] == [
        {"role": "assistant", "content": ""},
        {"content": TEXT},
        {"content": LISTED},
        {"citations": [citation(lamp)]},
    ]
    assert [each["choices"][0]["finish_reason"] for each in told[:4]] == [None, None, None, "stop"]
    assert (told[4]["choices"], told[4]["usage"], found_in(told[3]["recto"])) == ([], usage, FOUND)
    assert len(told) == 5


@pytest.mark.parametrize(
    ("more", "status", "param"),
    [
        ({"model": "nope"}, 404, "model"),
        ({"n": 2}, 400, "n"),
        ({"tools": [{"type": "function"}]}, 400, "tools"),
        ({"response_format": {"type": "json_object"}}, 400, "response_format"),
        ({"logprobs": True}, 400, "logprobs"),
        ({"messages": []}, 400, "messages"),
        ({"colour": "red"}, 400, "colour"),
        ({"n": 1, "tools": [], "tool_choice": "auto", "temperature": 0.5, "stop": ["x"], "logprobs": False}, 200, ""),
    ],
)
def test_what_openais_form_asks_for_in_vain_is_refused(api: Routes, more: dict[str, Any], status: int, param: str):
    asked = {"model": "recto", "messages": [{"role": "user", "content": QUESTION}], **more}
    got, answer = api.call("POST", "/v1/chat/completions", asked)
    assert got == status
    assert answer.get("error", {}).get("param") == (param or None)


def test_there_is_one_model(api: Routes):
    model = {"id": "recto", "object": "model", "created": 1_795_392_000, "owned_by": "recto"}
    assert api.call("GET", "/v1/models") == (200, {"object": "list", "data": [model]})
    assert api.call("GET", "/v1/models/recto") == (200, model)
    assert api.call("GET", "/v1/models/other")[0] == 404


def test_an_answer_in_the_form_of_responses(api: Routes, lamp: Document):
    status, answer = api.call("POST", "/v1/responses", {"model": "recto", "input": QUESTION})
    assert status == 200
    (message,) = answer.pop("output")
    response_id, recto = answer.pop("id"), answer.pop("recto")
    assert message.pop("id") == response_id.replace("resp_", "msg_")
    annotation = {"type": "file_citation", "file_id": lamp.document_id, "filename": "lamp.pdf", "index": len(SAID) + 1}
    part = {
        "type": "output_text",
        "text": TEXT,
        "annotations": [annotation],
        "citations": [citation(lamp)],
        "logprobs": [],
    }
    assert message == {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
    assert found_in(recto) == FOUND
    assert answer == {
        "object": "response",
        "created_at": 1_767_225_600,
        "status": "completed",
        "model": "recto",
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1,
        },
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": False,
        "tool_choice": "none",
        "tools": [],
    }
    text = raw_call("POST", "/v1/responses", {"model": "recto", "input": QUESTION, "stream": True})[1]
    events = events_of(text)
    assert [name for name, _ in events] == [
        f"response.{name}"
        for name in (
            *("created", "in_progress", "output_item.added", "content_part.added", "output_text.delta"),
            *("output_text.annotation.added", "output_text.done", "content_part.done", "output_item.done", "completed"),
        )
    ]
    assert [data["sequence_number"] for _, data in events] == [*range(10)]
    data = dict(events)
    assert data["response.output_text.delta"]["delta"] == TEXT
    assert data["response.output_text.annotation.added"]["annotation"] == annotation
    assert data["response.content_part.done"]["part"] == part
    assert (data["response.created"]["response"]["status"], data["response.completed"]["response"]["status"]) == (
        "in_progress",
        "completed",
    )


def test_a_search_shows_what_was_found_and_why(api: Routes, lamp: Document):
    status, told = api.call("POST", "/search", {"question": QUESTION, "top_k": 1})
    assert (status, told["searched"], told["relevant"], told["band"], told["hits"]) == (200, QUESTION, True, "high", 2)
    first, second = told["passages"]
    assert (first["passage_id"], first["rank"], first["chosen"], first["source"], first["similarity"]) == (
        f"{lamp.document_id}#G1#0",
        1,
        True,
        True,
        0.8,
    )
    assert first["score"] == pytest.approx(sum(first["parts"].values()))
    assert (second["rank"], second["chosen"], second["source"], second["coverage"], second["text"]) == (
        2,
        False,
        False,
        None,
        KEEPER,
    )
    assert api.call("POST", "/search", {"question": QUESTION}, groups="reader")[0] == 403


# --- MCP ---


def mcp(api: Routes, method: str, params: Any = None, **more: Any) -> tuple[int, dict[str, Any]]:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, **({} if params is None else {"params": params})}
    status, answer = api.call("POST", "/mcp", body, **more)
    assert answer.get("id") == 7
    return status, answer


def tool(api: Routes, name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    status, answer = mcp(api, "tools/call", {"name": name, "arguments": arguments}, **more)
    assert status == 200
    return dict(answer["result"])


def test_mcp_has_a_beginning_a_list_of_tools_and_a_ping(api: Routes):
    status, answer = mcp(api, "initialize", {"protocolVersion": "2025-06-18"})
    assert (status, answer["result"]["protocolVersion"], answer["result"]["capabilities"]) == (
        200,
        "2025-06-18",
        {"tools": {}},
    )
    newest = mcp(api, "initialize", {"protocolVersion": "1999"})[1]["result"]["protocolVersion"]
    assert newest != "1999"
    assert mcp(api, "ping")[1]["result"] == {}
    tools = mcp(api, "tools/list")[1]["result"]["tools"]
    assert [each["name"] for each in tools] == ["ask", "search", "list_documents", "get_page"]
    assert [each["name"] for each in mcp(api, "tools/list", groups="reader")[1]["result"]["tools"]] == [
        *("ask", "search", "list_documents", "get_page"),
    ]
    assert all(each["annotations"] == {"readOnlyHint": True, "openWorldHint": False} for each in tools)
    assert api.call("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}) == (202, {})


def test_mcps_tools_answer_search_and_read(api: Routes, lamp: Document):
    answered = tool(api, "ask", {"question": QUESTION})
    assert answered["content"] == [{"type": "text", "text": TEXT + LISTED}]
    assert (answered["isError"], answered["structuredContent"]["answer"]) == (False, TEXT)
    assert (answered["structuredContent"]["citations"], found_in(answered["structuredContent"])) == (
        [citation(lamp)],
        FOUND,
    )
    searched = tool(api, "search", {"question": QUESTION})
    assert searched["content"][0]["text"] == (
        f"1. Lamp handbook, p. 1 (document_id {lamp.document_id})\n{LAMP}\n\n"
        f"2. Lamp handbook, p. 2 (document_id {lamp.document_id})\n{KEEPER}"
    )
    assert [each["source"] for each in searched["structuredContent"]["passages"]] == [True, True]
    page = tool(api, "get_page", {"document_id": lamp.document_id, "page": 2})
    assert (page["content"][0]["text"], page["structuredContent"]["label"]) == (KEEPER, "ii")
    listed = tool(api, "list_documents", {})
    assert "Lamp handbook" in listed["content"][0]["text"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, -32700),
        ("[]", 400, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, 400, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "nope"}, 200, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nope"}}, 200, -32602),
    ],
)
def test_what_is_no_message_of_mcp_is_an_error_of_its_own(api: Routes, body: Any, status: int, code: int):
    got, answer = api.call("POST", "/mcp", body)
    assert (got, answer["error"]["code"]) == (status, code)


def test_a_tools_mistakes_are_told_to_the_model(api: Routes):
    assert tool(api, "ask", {})["isError"] is True
    wrong = tool(api, "ask", {"question": "x", "top_k": 51})["content"][0]["text"]
    assert wrong.startswith("top_k: ")
