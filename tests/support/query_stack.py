"""The query function with an ingested PDF: emulators on the wire, AWS on moto; as a Lambda handler and as a server."""

import asyncio
import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from functions.query import app, bootstrap
from functions.query.streaming_app import REQUEST_CONTEXT, FromAdapter
from local.serving import serving
from tests.support.ingest import Context, Stack, ingest_stack, pdf_of
from tests.support.moto_aws import create_tables

EVENTS = Path(__file__).parents[2] / "events"
HANDBOOK = "uploads/acme/handbook.pdf"
PAGES = [
    "The lighthouse of Orsk was built in 1871. Its keeper lives in the white cottage beside the tower.",
    "The lamp is lit at sunset. The lens must be cleaned with vinegar every Thursday.",
]
LENS = "How often must the lens of the lighthouse lamp be cleaned?"


@contextmanager
def query_stack(patch: pytest.MonkeyPatch, folder: Path, **settings: str) -> Iterator[Stack]:
    """Run all that the query function talks to, with the handbook ingested; `settings` are RECTO_ variables."""
    with ingest_stack(patch, folder) as stack:
        create_tables(stack.aws.dynamodb, "ConversationsTable", "CacheTable")
        for table in ("conversations", "cache"):
            patch.setenv(f"RECTO_{table.upper()}_TABLE", table)
        for name, value in {"CHAT_MODEL": "extractive-minilm", **settings}.items():
            patch.setenv(f"RECTO_{name}", value)
        bootstrap.reset()
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # Mangum takes the thread's; an `asyncio.run` of other tests left none
        stack.put(HANDBOOK, pdf_of(PAGES, title="Orsk Lighthouse Handbook"))
        assert stack.deliver(HANDBOOK) == []
        try:
            yield stack
        finally:
            bootstrap.reset()
            asyncio.set_event_loop(None)
            loop.close()


def authorized(tenant: str, user: str, groups: str) -> dict[str, Any]:
    """The value of `authorizer` in the request's context after a token has been verified."""
    return {"principalId": user, "tenant": tenant, "groups": groups}


def call(
    method: str,
    path: str,
    body: dict[str, Any] | str | None = None,
    **event: Any,
) -> tuple[int, dict[str, Any], dict[str, str]]:
    """As `raw_call`, with the JSON body read."""
    status, text, answered = raw_call(method, path, body, **event)
    return status, json.loads(text or "{}"), answered


def raw_call(
    method: str,
    path: str,
    body: dict[str, Any] | str | None = None,
    *,
    tenant: str = "acme",
    user: str = "ann",
    groups: str = "editor",
    params: dict[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    remaining_ms: int = 30_000,
    authorizer: Mapping[str, str] | None = None,
) -> tuple[int, str, dict[str, str]]:
    """Send one of API Gateway's events to the handler; return status, body as it came and headers in lower case.

    `authorizer` is added to tenant, user and roles.
    """
    event = copy.deepcopy(json.loads((EVENTS / "api_post_query.json").read_text()))
    event["requestContext"]["authorizer"] |= authorized(tenant, user, groups) | dict(authorizer or {})
    for name, value in (headers or {}).items():
        event["headers"][name] = value
        event["multiValueHeaders"][name] = [value]
    event |= {
        "httpMethod": method,
        "path": path,
        "body": json.dumps(body) if isinstance(body, dict) else body,
        "queryStringParameters": params,
        "multiValueQueryStringParameters": {name: [value] for name, value in params.items()} if params else None,
    }
    answer = app.handler(event, Context(function_name="query", remaining_ms=remaining_ms))  # type: ignore[arg-type]
    answered = {name.lower(): value for name, value in (answer.get("headers") or {}).items()}
    answered |= {name.lower(): values[0] for name, values in (answer.get("multiValueHeaders") or {}).items()}
    return answer["statusCode"], str(answer["body"]), answered


class Faulty:
    """Break the wire for the length of a block: `with Faulty(stack, stack.openai_url, route=…, kind=…):`."""

    def __init__(self, stack: Stack, base: str, **fault: Any) -> None:
        self.http, self.url, self.fault = stack.http, f"{base.removesuffix('/v1')}/_admin/faults", fault

    def __enter__(self) -> None:
        self.http.post(self.url, json=self.fault).raise_for_status()

    def __exit__(self, *_: object) -> None:
        self.http.delete(self.url).raise_for_status()


def calls_of(stack: Stack, base: str, path: str) -> int:
    """Return how many requests an emulator received on a path since the counters were cleared."""
    counted = stack.http.get(f"{base.removesuffix('/v1')}/_admin/calls").json()["calls"]
    return sum(each["count"] for each in counted if each["path"] == path)


def forget_calls(stack: Stack) -> None:
    """Reset the counters."""
    for base in (stack.openai_url.removesuffix("/v1"), stack.pinecone_url):
        stack.http.delete(f"{base}/_admin/calls").raise_for_status()


@contextmanager
def web_server() -> Iterator[httpx.Client]:
    """Serve the application as behind the Lambda Web Adapter; yield a client that sends a user's claims."""
    with serving(FromAdapter(app.app), name="query") as url:
        context = {"stage": "v1", "requestId": "r-1", "authorizer": authorized("acme", "ann", "editor")}
        headers = {REQUEST_CONTEXT.decode(): json.dumps(context)}
        with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
            yield client


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Read a stream of server-sent events: (name, data) of each."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found
