"""Whole conversations with the API, over the real handler and adapters: each response, and each request to AWS for it.

`make snapshots` stores what comes out now. What is different each time (signatures, secrets) is shown as its name.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.aws_requests import HOW, as_json, plain, recorded
from tests.support.query_stack import raw_call
from tests.support.routes import Routes
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots"
ADMIN = {"user": "root", "groups": "admin"}
AGENT = {"user": "bea", "groups": "agent"}
READER = {"user": "rob", "groups": "reader"}
STRANGER = {"tenant": "other", "user": "eve", "groups": "editor"}
CSV = {"headers": {"Content-Type": "text/csv"}}
Step = tuple[Any, ...]
"""Method, path, body, who and more for `raw_call`; or "wait" and seconds. `{name}` stands for a value of an answer."""

LENS = "The lens must be cleaned with vinegar every Thursday. The keeper signs the log."
LAMP = "The lamp is lit at sunset and put out at sunrise. It burns 2.5 litres of oil a night."
PAY = "The keeper earns 900 crowns a month."

DOCUMENTS: Sequence[Step] = (
    ("POST", "/documents", {"filename": "reports/2024 Q1.pdf", "access": {"allowed_groups": ["hr", "b c"]}}, {}),
    ("POST", "/documents", {"filename": "../x.pdf"}, {}),
    ("POST", "/documents", {"filename": "x.docx"}, {}),
    ("POST", "/documents", {"filename": "x.pdf", "colour": 1}, {}),
    ("POST", "/documents", {"filename": "x.pdf"}, READER),
    ("POST", "/documents/bulk", {"filenames": ["a.pdf", "b.txt", "a.pdf"]}, {}),
    ("GET", "/documents", None, {}),
    ("GET", "/documents", None, {"params": {"limit": "1"}}),
    ("GET", "/documents", None, {"params": {"limit": "0"}}),
    ("GET", "/documents", None, {"params": {"status": "READY", "q": "lamp"}}),
    ("GET", "/documents", None, {"params": {"cursor": "x"}}),
    ("GET", "/documents", None, STRANGER),
    ("GET", "/documents/{lamp}", None, {}),
    ("GET", "/documents/{lamp}", None, READER),
    ("GET", "/documents/{lamp}", None, STRANGER),
    ("GET", "/documents/nothing", None, {}),
    ("PATCH", "/documents/{lamp}", {"labels": {"chapter": "1", "tags": ["a", "b"], "kind": "guide"}}, {}),
    ("PATCH", "/documents/{lamp}", {"labels": {"chapter": None, "period": ["2023", "Q1 2024"]}}, {}),
    ("PATCH", "/documents/{lamp}", {"labels": {"colour": "red"}}, {}),
    ("PATCH", "/documents/{lamp}", {}, READER),
    ("PATCH", "/documents/{pay}", {"access": {"allowed_groups": ["hr"], "allowed_users": ["ann"]}}, ADMIN),
    ("GET", "/documents/{pay}", None, {}),
    ("GET", "/documents/{pay}", None, READER),
    ("GET", "/documents/{pay}", None, {"user": "hal", "groups": "reader,hr"}),
    ("GET", "/documents/{lamp}/content", None, {}),
    ("GET", "/documents/{lamp}/content", None, {"params": {"version_id": "older"}}),
    ("GET", "/documents/{lamp}/pages/1", None, {}),
    ("GET", "/documents/{lamp}/pages/9", None, {}),
    ("GET", "/documents/{lamp}/report", None, {}),
    ("GET", "/documents/{lamp}/edits", None, {}),
    ("DELETE", "/documents/{lamp}", None, READER),
    ("DELETE", "/documents/{lamp}", None, {}),
    ("GET", "/documents/{lamp}", None, {}),
    ("GET", "/documents/{lamp}/content", None, {}),
    ("GET", "/documents", None, {}),
    ("DELETE", "/documents/{pay}", None, {**ADMIN, "params": {"verify": "true"}}),
    ("GET", "/erasures/{erasure_id}", None, ADMIN),
    ("GET", "/erasures/nothing", None, ADMIN),
)
ANSWERS: Sequence[Step] = (
    ("POST", "/query", {"question": "How often must the lens be cleaned?"}, {}),
    ("POST", "/query", {"question": "How often must the lens be cleaned?"}, {}),
    ("POST", "/query", {"question": "And with what?", "conversation_id": "{conversation_id}"}, {}),
    ("POST", "/query", {"question": "When is the lamp lit?", "explain": True, "top_k": 1, "fresh": True}, {}),
    ("POST", "/query", {"question": "When is the lamp lit?", "filter": {"title": "Nothing"}}, {}),
    ("POST", "/query", {"question": "When is the lamp lit?", "filter": {"colour": {"$eq": 1}}}, {}),
    ("POST", "/query", {"question": "When is the lamp lit?", "filter": {"page_start": {"$what": 1}}}, {}),
    ("POST", "/query", {"question": ""}, {}),
    ("POST", "/query", {"question": "Who?", "conversation_id": "0" * 26}, {}),
    ("POST", "/query", {"question": "Hello!"}, {}),
    ("POST", "/query", {"question": "Which documents do you have?", "language": "de"}, {}),
    ("POST", "/query", {"question": "What colour is the moon of Jupiter?", "preferences": {"tone": "dry"}}, {}),
    ("POST", "/conversations/{conversation_id}/messages", {"question": "Why?", "mode": "session"}, {}),
    ("POST", "/query", {"question": "How much oil does the lamp burn?"}, {"headers": {"Accept": "text/event-stream"}}),
    ("POST", "/query", {"question": "What colour is the moon of Jupiter?", "fresh": True}, {}),
    ("POST", "/query", "no json", {}),
    ("POST", "/search", {"question": "lamp oil", "top_k": 2}, {}),
    ("POST", "/search", {"question": "lamp oil", "limit": 1}, ADMIN),
    ("POST", "/search", {"question": "lamp oil"}, READER),
    ("POST", "/search", {"question": ""}, {}),
    ("GET", "/conversations", None, {}),
    ("GET", "/conversations", None, STRANGER),
    ("GET", "/conversations/{conversation_id}", None, {"params": {"limit": "2"}}),
    ("GET", "/conversations/{conversation_id}", None, READER),
    ("PATCH", "/conversations/{conversation_id}", {"title": "Lens"}, {}),
    ("PATCH", "/conversations/{conversation_id}", {"title": ""}, {}),
    ("GET", "/conversations/{conversation_id}/export", None, {}),
    ("PUT", "/messages/{message_id}/feedback", {"rating": "up", "comment": "Good."}, {}),
    ("GET", "/feedback", None, {**ADMIN, "params": {"since": "2026-01-02T00:00:00Z"}}),
    ("PUT", "/messages/{message_id}/feedback", {"rating": "down", "reason": "wrong"}, {}),
    ("PUT", "/messages/{message_id}/feedback", {"rating": "down"}, {}),
    ("GET", "/feedback", None, ADMIN),
    ("GET", "/feedback", None, READER),
    ("DELETE", "/messages/{message_id}/feedback", None, {}),
    ("GET", "/messages/{message_id}/receipt", None, {}),
    ("POST", "/messages/{message_id}/replay", {}, {}),
    ("GET", "/insights/unanswered", None, ADMIN),
    ("GET", "/insights/unanswered", None, {**ADMIN, "params": {"since": "2025-12-31T00:00:00Z", "limit": "1"}}),
    ("GET", "/insights/unanswered", None, READER),
    ("POST", "/conversations/{conversation_id}/handoff", {"reason": "Urgent.", "contact": "ann@example.com"}, {}),
    ("POST", "/conversations/{conversation_id}/handoff", {"reason": "Urgent."}, {}),
    ("GET", "/handoffs", None, AGENT),
    ("GET", "/handoffs", None, {**AGENT, "params": {"status": "open"}}),
    ("GET", "/handoffs", None, READER),
    ("GET", "/handoffs/{handoff_id}", None, {}),
    ("POST", "/handoffs/{handoff_id}/resolve", {"answer": "Weekly."}, AGENT),
    ("POST", "/handoffs/{handoff_id}/claim", None, AGENT),
    ("POST", "/handoffs/{handoff_id}/claim", None, {"user": "cal", "groups": "agent"}),
    ("POST", "/handoffs/{handoff_id}/release", None, AGENT),
    ("POST", "/handoffs/{handoff_id}/claim", None, AGENT),
    ("wait", 90),
    ("POST", "/handoffs/{handoff_id}/resolve", {"answer": "Every Thursday."}, AGENT),
    ("POST", "/handoffs/{handoff_id}/publish", {"question": "When?", "answer": "On Thursdays."}, AGENT),
    ("POST", "/handoffs/{handoff_id}/publish", {"question": "When?", "answer": "On Thursdays."}, ADMIN),
    ("POST", "/handoffs/{handoff_id}/close", None, AGENT),
    ("GET", "/handoffs/{handoff_id}", None, AGENT),
    ("GET", "/conversations/{conversation_id}", None, {}),
    ("DELETE", "/conversations/{conversation_id}", None, {}),
    ("GET", "/conversations/{conversation_id}", None, {}),
    ("DELETE", "/users/me", None, {}),
    ("GET", "/erasures/{erasure_id}", None, {}),
    ("DELETE", "/users/rob", None, ADMIN),
    ("DELETE", "/users/rob", None, READER),
)
OTHERS: Sequence[Step] = (
    ("POST", "/faqs", {"question": "Where?", "answer": "Here.", "language": "en", "tags": {"a": ["x"]}}, {}),
    ("POST", "/faqs", {"question": "", "answer": "Here."}, {}),
    ("POST", "/faqs", {"question": "Where?", "answer": "Here."}, READER),
    ("GET", "/faqs", None, {}),
    ("GET", "/faqs", None, {"params": {"limit": "1"}}),
    ("GET", "/faqs/{faq_id}", None, {}),
    ("PUT", "/faqs/{faq_id}", {"question": "Where?", "answer": "There."}, {}),
    ("PUT", "/faqs/{faq_id}", {"question": "Where?", "answer": "There."}, {"headers": {"If-Match": '"x"'}}),
    ("PUT", "/faqs/{faq_id}", {"question": "Where?", "answer": "There."}, {"headers": {"If-Match": "*"}}),
    ("GET", "/faqs/export", None, {}),
    ("POST", "/faqs/import", "question,answer,tags\nWho?,Ann.,\n,x,\nWhat?,That.,no json\n", CSV),
    ("POST", "/faqs/import", "colour\nred\n", CSV),
    ("DELETE", "/faqs/{faq_id}", None, {}),
    ("GET", "/faqs/{faq_id}", None, {}),
    ("POST", "/keys", {"name": "Bot", "role": "editor", "groups": ["b", "a"]}, ADMIN),
    ("POST", "/keys", {"name": "Bot", "role": "boss"}, ADMIN),
    ("POST", "/keys", {"name": "Bot"}, {}),
    ("GET", "/keys", None, ADMIN),
    ("DELETE", "/keys/{key_id}", None, ADMIN),
    ("DELETE", "/keys/{key_id}", None, ADMIN),
    ("GET", "/access", None, ADMIN),
    ("PUT", "/access", {"folders": [{"prefix": "uploads/acme/hr/", "allowed_groups": ["hr"]}]}, ADMIN),
    (
        "PUT",
        "/access",
        {"folders": [{"prefix": "uploads/acme/hr/", "allowed_groups": ["hr"]}]},
        {**ADMIN, "headers": {"If-Match": '""'}},
    ),
    ("PUT", "/access", {"folders": [{"prefix": "elsewhere/"}]}, {**ADMIN, "headers": {"If-Match": "*"}}),
    ("GET", "/access", None, READER),
    ("GET", "/documents/{pay}", None, READER),
    ("GET", "/documents/{pay}", None, {"user": "hal", "groups": "reader,hr"}),
    ("GET", "/passages/{lamp}%23G1%230", None, {}),
    ("GET", "/passages/{lamp}%23G1%239", None, {}),
    ("PATCH", "/passages/{lamp}%23G1%230", {"text": "The lamp is lit at dusk.", "note": "New rule."}, {}),
    ("PATCH", "/passages/{lamp}%23G1%230", {"excluded": True}, {}),
    ("PATCH", "/passages/{lamp}%23G1%230", {"text": ""}, {}),
    ("PATCH", "/passages/{lamp}%23G1%230", {"excluded": True}, READER),
    ("GET", "/documents/{lamp}/edits", None, {}),
    ("POST", "/query", {"question": "When is the lamp lit?"}, {}),
    ("GET", "/v1/models", None, {}),
    ("GET", "/v1/models/nothing", None, {}),
    (
        "POST",
        "/v1/chat/completions",
        {"model": "recto", "messages": [{"role": "user", "content": "When is the lens cleaned?"}]},
        {},
    ),
    ("POST", "/v1/chat/completions", {"model": "recto", "messages": []}, {}),
    ("POST", "/v1/chat/completions", {"model": "recto", "n": 2, "messages": [{"role": "user", "content": "Hi"}]}, {}),
    ("POST", "/v1/responses", {"model": "recto", "input": "When is the lens cleaned?"}, {}),
    ("POST", "/v1/responses", {"model": "recto", "input": []}, {}),
    ("POST", "/v1/responses", {"model": "recto", "input": "When is the lens cleaned?", "stream": True}, {}),
    ("POST", "/v1/responses", {"model": "recto", "input": "What colour is the moon of Jupiter?", "stream": True}, {}),
    *(
        (
            "POST",
            "/v1/chat/completions",
            {"model": "recto", "stream": True, "messages": [{"role": "user", "content": asked}], **more},
            {},
        )
        for asked, more in (
            ("When is the lamp put out?", {}),
            ("When is the lamp put out?", {"stream_options": {"include_usage": True}}),
        )
    ),
    (
        "POST",
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {},
    ),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, {}),
    (
        "POST",
        "/mcp",
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "lens"}},
        },
        {},
    ),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 4, "method": "what"}, {}),
    *(
        (
            "POST",
            "/mcp",
            {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": tool, "arguments": given}},
            {},
        )
        for tool, given in (
            ("ask", {"question": "When is the lens cleaned?", "top_k": 1}),
            ("ask", {"question": "What colour is the moon of Jupiter?"}),
            ("search", {"question": "lens", "limit": 1}),
            ("search", {"question": ""}),
            ("list_documents", {}),
            ("list_documents", {"limit": 1}),
            ("get_page", {"document_id": "{lamp}", "page": 1}),
            ("get_page", {"document_id": "{lamp}", "page": 7}),
            ("nothing", {}),
        )
    ),
    ("GET", "/admin/health", None, ADMIN),
    ("GET", "/admin/usage", None, ADMIN),
    ("GET", "/admin/usage", None, {**ADMIN, "params": {"by": "model", "format": "csv", "from": "2025-12-20"}}),
    ("GET", "/admin/usage", None, {**ADMIN, "params": {"from": "2024-01-01"}}),
    ("GET", "/healthz", None, {}),
    ("GET", "/nowhere", None, {}),
    ("PUT", "/query", {}, {}),
)
SCENES = {"documents": DOCUMENTS, "answers": ANSWERS, "others": OTHERS}


@pytest.mark.flaky(reruns=1)  # calls AWS's stand-in within the API's own deadlines (docs/decisions/0045)
@pytest.mark.parametrize("scene", SCENES)
def test_what_the_api_says_and_asks_of_aws_is_as_stored(
    scene: str, api: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        "lamp": api.publish("uploads/acme/lamp.pdf", LAMP, LENS, title="Lamp handbook", language="en").document_id,
        "pay": api.publish("uploads/acme/hr/pay.pdf", PAY, title="Pay").document_id,
    }
    asked = recorded(monkeypatch, without=HOW)
    lines: list[str] = []
    for step in SCENES[scene]:
        if step[0] == "wait":
            api.clock.advance(step[1])
            lines += [f"wait {step[1]} s", ""]
            continue
        method, path, body, more = step
        asked.clear()
        lines += _exchange(method, _filled(path, known), _filled(body, known), more, known)
        lines += [f"    {each}" for each in asked]
        lines.append("")
    check(HERE / f"{scene}.txt", plain("\n".join(lines)))


def test_each_stored_text_has_its_scene() -> None:
    check_names(HERE, SCENES)


def _exchange(method: str, path: str, body: Any, more: Mapping[str, Any], known: dict[str, str]) -> Iterator[str]:
    sent = "" if body is None else f" {as_json(body)}"
    yield f"{method} {path}{sent}{f' {as_json(more)}' if more else ''}"
    status, text, headers = raw_call(method, path, body, **more)
    usual = {"content-type": "application/json", "vary": "Origin"}
    kept = {name: value for name, value in headers.items() if name != "content-length" and value != usual.get(name)}
    yield f"    {status} {as_json(kept) if kept else ''}".rstrip()
    try:
        answer = json.loads(text or "null")
    except ValueError:
        yield from (f"    {line}" for line in text.splitlines())
        return
    yield f"    {as_json(answer)}"
    if isinstance(answer, dict) and more.get("tenant", "acme") == "acme":
        known |= {name: answer[name] for name in KEPT if isinstance(answer.get(name), str) and answer[name]}


KEPT = ("conversation_id", "message_id", "handoff_id", "faq_id", "key_id", "erasure_id")


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda name: known.get(name[1], name[0]), value)
    if isinstance(value, dict):
        return {name: _filled(each, known) for name, each in value.items()}
    return value
