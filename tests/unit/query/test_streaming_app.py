"""The application behind the Lambda Web Adapter: what its headers say is what Mangum's event would."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from functions.query import streaming_app
from functions.query.api.middleware import STREAMED
from functions.query.streaming_app import AdaptedContext, FromAdapter


class Seen:
    """The inner application: keeps the scopes, answers with an empty body."""

    def __init__(self) -> None:
        self.scopes: list[Mapping[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def served(path: str, *, method: str = "GET", kind: str = "http", **headers: str) -> tuple[list[Any], list[Any]]:
    app, sent = Seen(), []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    named = [(f"x-amzn-{name}-context".encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": method, "path": path, "headers": named}
    await FromAdapter(app)(scope, receive, send)
    return app.scopes, sent


@pytest.mark.parametrize(
    ("path", "context", "expected"),
    [
        ("/v1/query", {"stage": "v1"}, "/query"),
        ("/query", {"stage": "v1"}, "/query"),
        ("/v1/v1/models", {"stage": "v1", "path": "/v1/v1/models"}, "/v1/models"),
        ("/v1/models", {"stage": "v1", "path": "/v1/v1/models"}, "/v1/models"),
        ("/v10/query", {"stage": "v1"}, "/v10/query"),
        ("/v1/query", {}, "/v1/query"),
    ],
)
async def test_the_stage_is_taken_from_the_path_once(path: str, context: dict[str, str], expected: str):
    (scope,), sent = await served(path, request=json.dumps(context))
    assert (scope["path"], scope["aws.event"]) == (expected, {"requestContext": context})
    assert STREAMED not in scope
    assert [message["type"] for message in sent] == ["http.response.start", *["http.response.body"] * 2]


@pytest.mark.parametrize("context", ["{", "[]", "5", ""])
async def test_a_header_that_says_nothing_is_an_empty_context(context: str):
    (scope,), _ = await served("/query", request=context)
    assert scope["aws.event"] == {"requestContext": {}}
    assert "aws.context" not in scope


async def test_the_invocation_tells_how_much_time_is_left():
    deadline = round(time.time() * 1_000) + 20_000
    (scope,), _ = await served("/query", **{"lambda": json.dumps({"request_id": "r-1", "deadline": deadline})})
    context = scope["aws.context"]
    assert (context.aws_request_id, scope[STREAMED]) == ("r-1", True)
    assert 15_000 < context.get_remaining_time_in_millis() <= 20_000
    assert AdaptedContext("r", 0).get_remaining_time_in_millis() == 0


async def test_what_is_no_request_is_passed_on_as_it_is():
    (scope,), _ = await served("/query", kind="lifespan")
    assert "aws.event" not in scope


async def test_hooks_of_snapshots_are_called_where_the_adapter_says(monkeypatch: pytest.MonkeyPatch):
    called: list[str] = []
    names = list(streaming_app.SNAPSHOT_HOOKS)
    monkeypatch.setattr(
        streaming_app, "SNAPSHOT_HOOKS", {name: lambda name=name: called.append(name) for name in names}
    )
    monkeypatch.setenv(names[0], "/before")
    monkeypatch.setenv(names[1], "/after")
    scopes, sent = await served("/after", method="POST")
    assert (called, scopes, sent[0]["status"]) == ([names[1]], [], 204)
    assert len((await served("/after"))[0]) == 1
    assert len((await served("/other", method="POST"))[0]) == 1
    assert called == [names[1]]
