"""A streamed answer over a real connection: the same pipeline, the same answer, and an end when the client leaves."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
from aws_lambda_powertools.metrics import MetricUnit
from starlette.types import Message, Receive, Scope, Send

from functions.query.streaming_app import REQUEST_CONTEXT, FromAdapter
from shared.telemetry import metrics
from tests.support.ingest import Stack
from tests.support.query_stack import (
    LENS,
    Faulty,
    call,
    calls_of,
    events_of,
    forget_calls,
    query_stack,
    raw_call,
    web_server,
)
from tests.support.waiting import until

EVENT_STREAM = {"accept": "text/event-stream"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("stream"), ANSWER_CACHE_TTL_S="0") as made,
    ):
        yield made


@pytest.fixture(scope="module")
def web(stack: Stack) -> Iterator[httpx.Client]:
    with web_server() as client:
        yield client


def test_the_events_come_in_order_and_their_deltas_make_the_answer(web: httpx.Client) -> None:
    response = web.post("/v1/query", json={"question": LENS}, headers=EVENT_STREAM)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "no-transform" in response.headers["cache-control"]
    events = events_of(response.text)
    names = [name for name, _ in events]
    assert names[0] == "sources"
    assert names[-2:] == ["support", "done"]
    assert set(names[1:-2]) == {"delta", "citation"}
    done = events[-1][1]
    assert "".join(data["text"] for name, data in events if name == "delta") == done["answer"]
    assert [data for name, data in events if name == "citation"] == done["citations"]
    assert events[0][1]["sources"] == done["sources"]
    assert events[-2][1]["claims"] == done["claims"] != []
    assert all(claim["text"] in done["answer"] and claim["citations"] for claim in done["claims"])
    first_marked = next(at for at, (name, data) in enumerate(events) if name == "delta" and "[1]" in data["text"])
    assert names.index("citation") < first_marked


def test_a_streamed_answer_is_the_buffered_one(web: httpx.Client) -> None:
    streamed = events_of(web.post("/v1/query", json={"question": LENS}, headers=EVENT_STREAM).text)[-1][1]
    buffered = web.post("/v1/query", json={"question": LENS}).json()
    own = ("conversation_id", "message_id", "timings_ms", "usage")
    assert {k: v for k, v in streamed.items() if k not in own} == {k: v for k, v in buffered.items() if k not in own}
    kept = web.get(f"/v1/conversations/{streamed['conversation_id']}").json()
    assert [each["content"] for each in kept["messages"]] == [LENS, streamed["answer"]]
    assert [each["claims"] for each in kept["messages"]] == [[], streamed["claims"]]


def test_a_refusal_is_streamed_too(web: httpx.Client) -> None:
    body = {"question": "Who won the football world cup in 1998?"}
    events = events_of(web.post("/v1/query", json=body, headers=EVENT_STREAM).text)
    assert events[0] == ("sources", {"sources": []})
    assert events[-1][1]["no_relevant_info"]
    assert events[-1][1]["mode"] == "refused"


def test_the_sources_are_there_before_the_model_has_written(stack: Stack, web: httpx.Client) -> None:
    with (
        Faulty(stack, stack.openai_url, route="/v1/chat/completions", kind="delay", delay_s=1.0),
        web.stream("POST", "/v1/query", json={"question": LENS}, headers=EVENT_STREAM) as response,
    ):
        lines = response.iter_lines()
        begun = time.monotonic()
        assert next(lines) == "event: sources"
        assert time.monotonic() - begun < 0.7
        assert [line for line in lines if line.startswith("event:")][-1] == "event: done"


def test_an_error_before_the_first_event_is_an_ordinary_problem(stack: Stack, web: httpx.Client) -> None:
    with Faulty(stack, stack.pinecone_url, route="/query", kind="status", status=503):
        response = web.post("/v1/query", json={"question": LENS}, headers=EVENT_STREAM)
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert int(response.headers["retry-after"]) >= 1
    assert response.json()["code"] == "unavailable"


def test_an_error_after_the_first_event_becomes_an_event(
    stack: Stack, web: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("a defect, for example")

    monkeypatch.setattr("functions.query.pipeline.save_turns", breaks)
    response = web.post("/v1/query", json={"question": LENS}, headers=EVENT_STREAM)
    events = events_of(response.text)
    assert [name for name, _ in events][-2:] == ["support", "error"]
    assert events[-1][1]["code"] == "internal_error"
    assert "defect" not in response.text
    assert events[-1][1]["request_id"] == "r-1"


def test_a_client_that_disconnects_ends_the_work(stack: Stack, web: httpx.Client) -> None:
    question = {"question": "When was the lighthouse of Orsk built, and by whom?"}
    request = web.build_request("POST", "/v1/query", json=question, headers=EVENT_STREAM)
    head = [b"POST /v1/query HTTP/1.1", *(name + b": " + value for name, value in request.headers.raw)]
    forget_calls(stack)
    with Faulty(stack, stack.openai_url, route="/v1/embeddings", kind="hang", count=1):
        with socket.create_connection((web.base_url.host, web.base_url.port or 80)) as connection:
            connection.sendall(b"\r\n".join([*head, b"", request.content]))
            until(lambda: hanging(stack), what="the call for the question's embedding", every_s=0.02)
        until(lambda: hanging(stack), lambda calls: calls == 0, what="its end", within_s=10, every_s=0.02)
    # What would come next does not, as long as it takes to answer another question.
    meanwhile, later = (searches_and_answers(stack, web) for _ in range(2))
    assert meanwhile == later


def searches_and_answers(stack: Stack, web: httpx.Client) -> tuple[int, int]:
    """Ask; return how often the index and the model were asked since the counters were cleared, and clear them."""
    web.post("/v1/query", json={"question": LENS}).raise_for_status()
    calls = [(stack.pinecone_url, "/query"), (stack.openai_url, "/v1/chat/completions")]
    searches, answers = (calls_of(stack, base, path) for base, path in calls)
    forget_calls(stack)
    return searches, answers


def hanging(stack: Stack) -> int:
    """How many requests to the model emulator hang now."""
    return int(stack.http.get(f"{stack.openai_url.removesuffix('/v1')}/_admin/faults").json()["hanging"])


def test_a_model_call_is_abandoned_when_the_client_disconnects(stack: Stack, web: httpx.Client) -> None:
    with Faulty(stack, stack.openai_url, route="/v1/chat/completions", kind="hang", count=1):
        with web.stream("POST", "/v1/query", json={"question": LENS}, headers=EVENT_STREAM) as response:
            lines = response.iter_lines()  # held: with its iterator gone the client hangs up
            assert next(lines) == "event: sources"
            until(lambda: hanging(stack), what="the call of the model", within_s=25, every_s=0.05)
        until(lambda: hanging(stack), lambda calls: calls == 0, what="its end", within_s=15, every_s=0.05)


def test_without_claims_nothing_is_streamed(web: httpx.Client) -> None:
    nobody = {**EVENT_STREAM, REQUEST_CONTEXT.decode(): '{"stage": "v1"}'}
    response = web.post("/v1/query", json={"question": LENS}, headers=nobody)
    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"
    body = {"question": LENS, "tenant": "other"}
    assert web.post("/v1/query", json=body, headers=EVENT_STREAM).status_code == 400


def test_behind_the_buffering_handler_the_same_events_come_in_one_piece(stack: Stack) -> None:
    status, text, headers = raw_call("POST", "/query", {"question": LENS}, headers={"Accept": "text/event-stream"})
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert events_of(text)[-1][0] == "done"
    status, body, _ = call("POST", "/query", "{", headers={"Accept": "text/event-stream"})
    assert (status, body["code"]) == (400, "invalid_request")


def test_json_stays_the_default(web: httpx.Client) -> None:
    for accept in ("*/*", "application/json", ""):
        response = web.post("/v1/query", json={"question": LENS}, headers={"accept": accept})
        assert response.headers["content-type"] == "application/json"
        assert json.loads(response.text)["citations"]


def test_metrics_are_counted_and_flushed_by_one_thread(web: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    # Powertools' metrics are not thread-safe: counted during a flush they are lost or sent twice, or end the stream
    # before its last piece ("dictionary changed size during iteration").
    counted: list[tuple[str, int]] = []
    add, flush = metrics.add_metric, metrics.flush_metrics

    def watched_add(name: str, unit: MetricUnit, value: float) -> None:
        counted.append((name, threading.get_ident()))
        add(name=name, unit=unit, value=value)

    def watched_flush() -> None:
        counted.append(("flush", threading.get_ident()))
        flush()

    monkeypatch.setattr(metrics, "add_metric", watched_add)
    monkeypatch.setattr(metrics, "flush_metrics", watched_flush)
    for headers in ({}, EVENT_STREAM):
        assert web.post("/v1/query", json={"question": LENS}, headers=headers).status_code == 200
    names = [name for name, _ in counted]
    assert names.count("Requests") == names.count("AnswersGenerated") == names.count("flush") == 2
    assert names[-1] == "flush"
    assert len({thread for _, thread in counted}) == 1


def test_a_request_whose_metrics_went_out_with_anothers_is_answered_to_its_end() -> None:
    sent: list[str] = []
    second_has_ended = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/first":
            await second_has_ended.wait()
        await send({"type": "http.response.body", "path": scope["path"]})
        second_has_ended.set()

    async def receive() -> Message:
        raise AssertionError("nobody reads the request")

    async def send(message: Message) -> None:
        sent.append(message["path"])

    async def both() -> None:
        requests = ({"type": "http", "path": path, "headers": []} for path in ("/first", "/second"))
        await asyncio.gather(*(FromAdapter(app)(request, receive, send) for request in requests))

    loop = asyncio.new_event_loop()  # asyncio.run would leave Mangum, in later tests of this thread, without one
    try:
        loop.run_until_complete(both())
    finally:
        loop.close()
    assert sent == ["/second", "/first"]


@pytest.mark.parametrize(
    ("context", "path", "served"),
    [
        ({"stage": "v1", "path": "/v1/v1/chat/completions"}, "/v1/chat/completions", "/v1/chat/completions"),
        ({"stage": "v1", "path": "/v1/v1/chat/completions"}, "/v1/v1/chat/completions", "/v1/chat/completions"),
        ({"stage": "v1", "path": "/v1/query"}, "/query", "/query"),
        ({"stage": "v1", "path": "/v1/query"}, "/v1/query", "/query"),
        ({}, "/v1/chat/completions", "/v1/chat/completions"),
    ],
)
def test_the_stage_is_taken_off_a_path_and_a_route_that_looks_like_it_stays(
    context: dict[str, str], path: str, served: str
) -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["path"])

    async def nothing(*_: object) -> Message:
        raise AssertionError("nobody reads or answers")

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(REQUEST_CONTEXT.lower(), json.dumps(context).encode())],
    }
    loop = asyncio.new_event_loop()  # as above
    try:
        loop.run_until_complete(FromAdapter(app)(scope, nothing, nothing))
    finally:
        loop.close()
    assert seen == [served]
