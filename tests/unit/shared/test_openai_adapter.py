"""The OpenAI adapters against a server that misbehaves: what they retry, when they give up, what they then say."""

import base64
import json
import socket
import struct
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from shared.adapters.openai import REASONING_ROOM, ModelTraits, OpenAIChatModel, OpenAIEmbedder, cache_key
from shared.adapters.openai_responses import OpenAIResponsesModel
from shared.adapters.provider_health import HEALTH
from shared.adapters.retry import CircuitBreaker, Guard, Retry, RetryBudget
from shared.adapters.secrets import ApiKey
from shared.errors import (
    ConfigurationError,
    DependencyError,
    DependencyRefused,
    DependencyTimeout,
    DependencyUnavailable,
    KeyRefused,
    QuotaExhausted,
    RateLimited,
)
from shared.models import ChatMessage, Completion, EmbeddingSpace, ModelRequest, Usage

Act = Callable[["Handler"], None]


def no_sleep(seconds: float) -> None:
    pass


class Handler(BaseHTTPRequestHandler):
    """Plays the server's next act for each request; the last one again when there are no more."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.server.requests.append((self.path, dict(self.headers.items())))
        self.server.peers.add(self.client_address)
        acts = self.server.acts
        (acts.pop(0) if len(acts) > 1 else acts[0])(self)

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers.items())))
        self.server.acts[0](self)

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


MADE: list[OpenAIEmbedder | OpenAIChatModel] = []
"""Adapters of the test that is running."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.acts: list[Act] = []
        self.bodies: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.peers: set[Any] = set()
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that gives up is what these tests are about


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        while MADE:
            MADE.pop().close()  # an adapter keeps its connections, and this server is gone
        server.over.set()
        server.shutdown()
        thread.join()


def answering(status: int, body: object, **headers: str) -> Act:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.reply(status, json.dumps(body).encode(), fields)


def failing(
    status: int, message: str = "It failed.", code: str | None = None, param: str | None = None, **headers: str
) -> Act:
    error = {"message": message, "type": "some_error", "param": param, "code": code}
    return answering(status, {"error": error}, **headers)


def vectors_of(*vectors: list[float] | str, order: list[int] | None = None) -> Act:
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    data = [data[position] for position in order] if order else data
    return answering(200, {"object": "list", "data": data, "usage": {"prompt_tokens": 3, "total_tokens": 3}})


def in_base64(*values: float) -> str:
    return base64.b64encode(array("f", values).tobytes()).decode()


GOOD = vectors_of([3.0, 4.0])


def resetting(handler: Handler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def truncating(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{")
    handler.close_connection = True


def hanging(handler: Handler) -> None:
    handler.server.over.wait(10)


def dripping(first: bytes, drop: bytes) -> Act:
    def act(handler: Handler) -> None:
        handler.wfile.write(first)
        while not handler.server.over.wait(0.02):
            handler.wfile.write(drop)

    return act


def embedder(
    server: Server, waits: list[float] | None = None, *, attempts: int = 3, model: str = "all-MiniLM-L6-v2"
) -> OpenAIEmbedder:
    retry = Retry(
        "embeddings", attempts=attempts, sleep=(waits if waits is not None else []).append, jitter=lambda: 1.0
    )
    space = EmbeddingSpace(model, 2)
    made = OpenAIEmbedder(base_url=server.url, api_key="sk-test", space=space, retry=retry)
    MADE.append(made)
    return made


def chat(server: Server, *, attempts: int = 2, guard: Guard | None = None) -> OpenAIChatModel:
    retry = Retry("chat", attempts=attempts, guard=guard, sleep=no_sleep)
    made = OpenAIChatModel(base_url=server.url, api_key="sk-test", model="m", retry=retry)
    MADE.append(made)
    return made


def said(text: str | None, **message: Any) -> Act:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return answering(200, {"model": "m-2026", "choices": [choice], "usage": usage})


# --- embeddings --------------------------------------------------------------------------------------------------


def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(server: Server) -> None:
    server.acts = [vectors_of(in_base64(3, 4), in_base64(0, 2), order=[1, 0])]
    embeddings = embedder(server).embed(["a", "b"], timeout_s=5)
    assert embeddings.vectors[0] == pytest.approx([0.6, 0.8])
    assert embeddings.vectors[1] == pytest.approx([0.0, 1.0])
    assert embeddings.usage.input_tokens == 3
    path, headers = server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["authorization"] == "Bearer sk-test"


def test_servers_that_know_only_numbers_are_understood(server: Server) -> None:
    server.acts = [vectors_of([3, 4])]
    assert embedder(server).embed(["a"], timeout_s=5).vectors[0] == pytest.approx([0.6, 0.8])


def test_dimensions_are_sent_only_to_models_that_take_them(server: Server) -> None:
    server.acts = [GOOD]
    embedder(server).embed(["a"], timeout_s=5)
    embedder(server, model="text-embedding-3-small").embed(["a"], timeout_s=5)
    assert [body.get("dimensions") for body in server.bodies] == [None, 2]


def test_no_texts_need_no_request(server: Server) -> None:
    assert embedder(server).embed([], timeout_s=5).vectors == ()
    assert server.requests == []


def test_connections_are_used_again(server: Server) -> None:
    server.acts = [GOOD]
    adapter = embedder(server)
    for _ in range(5):
        adapter.embed(["a"], timeout_s=5)
    assert len(server.peers) == 1


@pytest.mark.parametrize(
    "act",
    [
        vectors_of(),
        vectors_of([1, 0], [0, 1]),
        vectors_of([0, 0]),
        vectors_of(in_base64(float("nan"), 1)),
        vectors_of(in_base64(float("inf"), 1)),
        vectors_of("no base64!"),
        vectors_of("AAAA"),
        answering(200, {"data": [{"index": 1, "embedding": [1, 0]}]}),
        answering(200, {"data": [None]}),
        answering(200, {"data": [{"index": 0, "embedding": ["x", "y"]}]}),
        answering(200, [1]),
        lambda handler: handler.reply(200, b"<html>"),
        lambda handler: handler.reply(200, b"[" * 200_000),
    ],
)
def test_an_answer_that_is_not_sound_is_never_returned(server: Server, act: Act) -> None:
    server.acts = [act]
    with pytest.raises(DependencyUnavailable, match="malformed"):
        embedder(server, attempts=1).embed(["a"], timeout_s=5)


def test_a_wrong_dimension_names_the_setting(server: Server) -> None:
    server.acts = [vectors_of([1, 0, 0])]
    with pytest.raises(DependencyRefused, match="RECTO_EMBEDDING_DIMENSIONS"):
        embedder(server).embed(["a"], timeout_s=5)
    assert len(server.requests) == 1


# --- retries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "act", [failing(408), failing(409), failing(429), failing(500), failing(503), resetting, truncating]
)
def test_what_may_pass_is_tried_again(server: Server, act: Act) -> None:
    server.acts = [act, act, GOOD]
    waits: list[float] = []
    assert len(embedder(server, waits).embed(["a"], timeout_s=5).vectors) == 1
    assert waits == [0.25, 0.5]


def test_retry_after_is_honoured(server: Server) -> None:
    server.acts = [failing(429, retry_after="2"), failing(503, retry_after_ms="1500", retry_after="2"), GOOD]
    waits: list[float] = []
    embedder(server, waits).embed(["a"], timeout_s=5)
    assert waits == [2.25, 2.0]  # and a little longer, so that not all come back at once


def test_a_wait_that_does_not_fit_the_deadline_is_not_begun(server: Server) -> None:
    server.acts = [failing(429, retry_after="30")]
    waits: list[float] = []
    with pytest.raises(RateLimited) as limited:
        embedder(server, waits).embed(["a"], timeout_s=5)
    assert limited.value.retry_after_s == 30
    assert (waits, len(server.requests)) == ([], 1)


def test_attempts_end(server: Server) -> None:
    server.acts = [failing(500)]
    with pytest.raises(DependencyUnavailable, match="HTTP 500"):
        embedder(server, attempts=3).embed(["a"], timeout_s=5)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (failing(429, code="insufficient_quota"), QuotaExhausted, "no quota left"),
        (failing(429, code="billing_hard_limit_reached"), QuotaExhausted, "no quota left"),
        (failing(429, code="credit_balance_exhausted"), QuotaExhausted, "no quota left"),
        (failing(429, code="project_spend_limit_exceeded"), QuotaExhausted, "no quota left"),
        (failing(402), QuotaExhausted, "no quota left"),
        (failing(401), DependencyRefused, "check OPENAI_API_KEY in the secret"),
        (failing(403), DependencyRefused, "check OPENAI_API_KEY in the secret"),
        (failing(400, "Too many inputs."), DependencyRefused, "Too many inputs."),
        (failing(404, "No such model."), DependencyRefused, "No such model."),
        (lambda handler: handler.reply(418, b"teapot"), DependencyRefused, "HTTP 418"),
    ],
)
def test_what_will_not_pass_is_final(server: Server, act: Act, error: type[Exception], words: str) -> None:
    server.acts = [act]
    with pytest.raises(error, match=words):
        embedder(server).embed(["a"], timeout_s=5)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "text", ["Mr Smith owes the bank 12,000 euros since May, and does not know it.", "secret word"]
)
def test_an_error_never_repeats_the_text(server: Server, text: str) -> None:
    server.acts = [failing(400, f"Cannot embed this: {text}")]
    with pytest.raises(DependencyRefused) as refused:
        embedder(server).embed([text], timeout_s=5)
    assert text not in str(refused.value)
    assert text[:16] not in str(refused.value)


# --- deadlines ---------------------------------------------------------------------------------------------------

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"


@pytest.mark.parametrize(
    "act",
    [hanging, dripping(_HEAD, b" "), dripping(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"), dripping(b"", b"H")],
    ids=["silent", "body byte by byte", "header by header", "status byte by byte"],
)
def test_no_server_holds_a_request_beyond_its_deadline(server: Server, act: Act) -> None:
    server.acts = [act]
    started = time.monotonic()
    with pytest.raises(DependencyTimeout):
        embedder(server).embed(["a"], timeout_s=0.3)
    assert time.monotonic() - started < 2
    assert len(server.requests) == 1


def test_a_server_that_does_not_read_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # accepts by backlog, reads nothing
        embedding = OpenAIEmbedder(
            base_url=f"http://127.0.0.1:{deaf.getsockname()[1]}/v1", api_key="k", space=EmbeddingSpace("m", 2)
        )
        started = time.monotonic()
        with pytest.raises(DependencyTimeout):
            embedding.embed(["x" * 20_000_000], timeout_s=0.5)
        assert time.monotonic() - started < 3


def test_a_refused_connection_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    embedding = OpenAIEmbedder(
        base_url=f"http://127.0.0.1:{port}/v1",
        api_key="k",
        space=EmbeddingSpace("m", 2),
        retry=Retry("embeddings", sleep=no_sleep),
    )
    with pytest.raises(DependencyUnavailable, match="ConnectError"):
        embedding.embed(["x"], timeout_s=5)


def test_no_time_left_means_no_request(server: Server) -> None:
    with pytest.raises(DependencyTimeout, match="no time was left"):
        embedder(server).embed(["a"], timeout_s=0)
    assert server.requests == []


def test_a_base_url_without_scheme_fails_at_start() -> None:
    with pytest.raises(ConfigurationError, match="http://"):
        OpenAIEmbedder(base_url="api.openai.com/v1", api_key="k", space=EmbeddingSpace("m", 2))


# --- chat --------------------------------------------------------------------------------------------------------

QUESTION = [ChatMessage("system", "Be brief."), ChatMessage("user", "How long?")]
ASKED = ModelRequest(QUESTION, max_output_tokens=9, temperature=0.3)


def test_a_completion_carries_text_reason_model_and_usage(server: Server) -> None:
    server.acts = [said("24 months. [1]")]
    completion = chat(server).complete(ModelRequest(QUESTION, max_output_tokens=50, temperature=0.3), timeout_s=5)
    assert (completion.text, completion.finish_reason, completion.model) == ("24 months. [1]", "stop", "m-2026")
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (5, 2)
    assert server.bodies[0] == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How long?"}],
        "temperature": 0.3,
        "max_tokens": 50,
    }


def test_a_refusal_is_the_text(server: Server) -> None:
    server.acts = [said(None, refusal="I cannot help.")]
    assert chat(server).complete(ASKED, timeout_s=5).text == "I cannot help."


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": {"a": 1}}}]},
        {},
    ],
)
def test_a_completion_without_message_is_malformed(server: Server, body: dict[str, Any]) -> None:
    server.acts = [answering(200, body)]
    with pytest.raises(DependencyUnavailable, match="malformed"):
        chat(server, attempts=1).complete(ASKED, timeout_s=5)


def test_parameters_a_model_does_not_take_are_left_out_from_then_on(server: Server) -> None:
    server.acts = [
        failing(400, "Use 'max_completion_tokens' instead.", "unsupported_parameter", "max_tokens"),
        failing(400, "Only the default (1) value is supported.", "unsupported_value", "temperature"),
        said("yes"),
    ]
    model = chat(server)
    for _ in range(2):
        assert model.complete(ASKED, timeout_s=5).text == "yes"
    sent = [{name: body[name] for name in body if name not in ("model", "messages")} for body in server.bodies]
    assert sent == [
        {"temperature": 0.3, "max_tokens": 9},
        {"temperature": 0.3, "max_completion_tokens": 9},
        {"max_completion_tokens": 9},
        {"max_completion_tokens": 9},
    ]


REFUSALS_OF_TEMPERATURE = {
    "OpenAI": failing(
        400, "Unsupported value: 'temperature' does not support 0.3.", "unsupported_value", "temperature"
    ),
    "OpenAI without code": failing(400, "This model does not take it.", None, "temperature"),
    "Azure": answering(400, {"error": {"code": "BadRequest", "message": "temperature is not supported by this model"}}),
    "LiteLLM": answering(
        400,
        {"error": {"message": "openai does not support parameters: ['temperature']", "param": "None", "code": "400"}},
    ),
    "vLLM": answering(400, {"object": "error", "message": "temperature must be 1", "param": None, "code": 400}),
    "FastAPI": answering(422, {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}),
    "prose": lambda handler: handler.reply(400, b"Sorry: temperature is fixed."),
}


@pytest.mark.parametrize("act", REFUSALS_OF_TEMPERATURE.values(), ids=REFUSALS_OF_TEMPERATURE)
def test_a_refused_parameter_is_recognised_in_every_servers_words(server: Server, act: Act) -> None:
    server.acts = [act, said("yes")]
    model = chat(server)
    for _ in range(2):
        assert model.complete(ASKED, timeout_s=5).text == "yes"
    assert ["temperature" in body for body in server.bodies] == [True, False, False]
    assert "max_tokens" in server.bodies[-1]


def test_a_parameter_is_only_forgotten_if_that_helped(server: Server) -> None:
    too_long = failing(
        400, "The context is 8192 tokens; shorten the messages or max_tokens.", "context_length_exceeded"
    )
    server.acts = [too_long, failing(400, "Too long."), said("yes")]
    model = chat(server)
    with pytest.raises(DependencyRefused, match="Too long"):
        model.complete(ASKED, timeout_s=5)
    model.complete(ASKED, timeout_s=5)
    assert server.bodies[-1]["max_tokens"] == 9


def test_a_refused_parameter_is_no_failure_of_the_provider(server: Server) -> None:
    HEALTH.forget()
    server.acts = [REFUSALS_OF_TEMPERATURE["prose"], said("yes")]
    chat(server).complete(ASKED, timeout_s=5)
    assert [(state.dependency, state.status) for state in HEALTH.states()] == [("chat", "ok")]


def test_a_parameter_that_was_not_sent_is_no_reason_to_ask_again(server: Server) -> None:
    server.acts = [failing(400, "No.", "unsupported_value", "messages")]
    with pytest.raises(DependencyRefused):
        chat(server).complete(ASKED, timeout_s=5)
    assert len(server.requests) == 1


def test_errors_of_the_chat_name_the_chat(server: Server) -> None:
    server.acts = [failing(401)]
    with pytest.raises(DependencyRefused, match=r"chat: .*CHAT_API_KEY"):
        chat(server).complete(ASKED, timeout_s=5)


# --- streams -----------------------------------------------------------------------------------------------------


def events(*data: object, done: bool = True, content_type: str = "text/event-stream") -> Act:
    """Send server-sent events; a str goes out as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in data] + ["[DONE]"] * done
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    return lambda handler: handler.reply(200, body, {"content-type": content_type})


def delta(content: str | None = None, *, finish_reason: str | None = None) -> dict[str, Any]:
    return {"model": "m-2026", "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}]}


LAST = delta(finish_reason="stop")
SPENT: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


def streamed(model: OpenAIChatModel, *, timeout_s: float = 5) -> list[Any]:
    return list(model.stream(ASKED, timeout_s=timeout_s))


def test_a_stream_comes_piece_by_piece_and_the_whole_last(server: Server) -> None:
    server.acts = [events(delta("24 "), delta("months."), delta(""), LAST, SPENT)]
    *pieces, whole = streamed(chat(server))
    assert pieces == ["24 ", "months."]
    assert (whole.text, whole.finish_reason, whole.model) == ("24 months.", "stop", "m-2026")
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (5, 2)
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    "act",
    [
        events(delta("a"), done=False),
        events(delta("a"), "<html>"),
        events(delta("a"), "[" * 200_000),
        events(delta("a"), [1]),
        events(delta("a"), {"error": {"message": "overloaded"}}),
        answering(200, {"choices": []}),
        lambda handler: handler.reply(200, b"<html>"),
    ],
    ids=[
        "cut short",
        "no JSON",
        "nested too deep",
        "no object",
        "an error in the middle",
        "JSON instead",
        "HTML instead",
    ],
)
def test_a_stream_that_is_not_sound_is_malformed(server: Server, act: Act) -> None:
    server.acts = [act]
    with pytest.raises(DependencyUnavailable, match="malformed"):
        streamed(chat(server, attempts=1))


def raw(body: str, content_type: str = "text/event-stream") -> Act:
    return lambda handler: handler.reply(200, body.encode(), {"content-type": content_type})


PIECE, END = json.dumps(delta("a\u2028b\x85č"), ensure_ascii=False), json.dumps(LAST)


@pytest.mark.parametrize(
    "act",
    [
        raw(f": wait\n\nretry: 9\n\nevent: x\nid: 1\ndata:{PIECE}\n\ndata:\n\ndata: {END}\n\ndata: [DONE]\n\n"),
        raw(f"data: {PIECE}\r\n\r\ndata: {END}\r\n\r\n"),
        raw(f"data: {PIECE}\n\ndata: {END}"),
        raw(f"data: {PIECE}\n\ndata: [DONE]\n\n"),
        events(delta("a\u2028b\x85č", finish_reason="EOS"), {"choices": [{"index": 0, "delta": None}]}),
        events({"choices": [{"message": {"content": "a\u2028b\x85č"}, "finish_reason": "end_turn"}]}),
    ],
    ids=["comments, ids, no data", "CRLF", "no last line", "no reason to stop", "no delta", "messages for deltas"],
)
def test_a_stream_is_read_in_the_forms_of_other_servers(server: Server, act: Act) -> None:
    server.acts = [act]
    *pieces, whole = streamed(chat(server))
    assert "".join(pieces) == whole.text == "a\u2028b\x85č"
    assert whole.finish_reason == "stop"


def test_a_server_that_does_not_stream_is_understood(server: Server) -> None:
    choice = {"message": {"content": "24 months."}, "finish_reason": "max_tokens"}
    server.acts = [raw(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 5}}), "application/json")]
    (whole,) = streamed(chat(server))
    assert (whole.text, whole.finish_reason, whole.usage.input_tokens) == ("24 months.", "length", 5)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "24"}, " months."]},
            "24 months.",
        ),
        ({"content": "24 months.", "reasoning_content": "Hm.", "reasoning": "Hm."}, "24 months."),
        ({"content": "<think>Hm.</think>24 months."}, "24 months."),
        ({"content": "", "tool_calls": [{"function": {"arguments": {"a": 1}}}]}, '{"a": 1}'),
        ({"content": None, "refusal": "No."}, "No."),
    ],
)
def test_a_messages_text_is_what_it_answers(server: Server, message: dict[str, Any], text: str) -> None:
    server.acts = [answering(200, {"choices": [{"message": message, "finish_reason": "stop"}]})]
    assert chat(server).complete(ASKED, timeout_s=5).text == text


def test_a_stream_is_tried_again_until_its_first_piece_and_not_after(server: Server) -> None:
    server.acts = [failing(503), events(delta("a"), LAST)]
    assert streamed(chat(server))[-1].text == "a"
    server.acts = [events(delta("a"), "<html>"), events(delta("b"), LAST)]
    with pytest.raises(DependencyUnavailable):
        streamed(chat(server))
    assert len(server.requests) == 3


def test_a_reader_that_stops_at_the_completion_has_read_to_the_end(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []
    monkeypatch.setattr("shared.adapters.openai_server._Connected.close", closed.append)
    guard = Guard(RetryBudget(), CircuitBreaker("chat", failures_to_open=2))
    server.acts = [failing(503), events(delta("a"), LAST), failing(503), events(delta("a"), LAST)]
    model = chat(server, attempts=1, guard=guard)
    for _ in range(2):
        with pytest.raises(DependencyUnavailable):
            streamed(model)
        for piece in model.stream(ASKED, timeout_s=5):
            if isinstance(piece, Completion):
                break  # a success, which starts the count of failures anew; and the client is kept
    assert closed == []
    monkeypatch.undo()


def test_a_stream_leaves_refused_parameters_out_too(server: Server) -> None:
    server.acts = [failing(400, "stream_options is not known here"), events(delta("a"), LAST)]
    assert streamed(chat(server))[-1].text == "a"
    assert "stream_options" not in server.bodies[1]


def test_a_dripping_stream_ends_in_time(server: Server) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    server.acts = [dripping(head, f"data: {json.dumps(delta('a'))}\n\n".encode())]
    started = time.monotonic()
    with pytest.raises(DependencyTimeout):
        streamed(chat(server, attempts=1), timeout_s=0.4)
    assert time.monotonic() - started < 2


# --- reasoning models, caches, retirement ------------------------------------------------------------------------


def reasoned(text: str, finish_reason: str = "stop", *, reasoning: int = 0, cached: int = 0, wrote: int = 0) -> Act:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": reasoning + 2,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": wrote},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    return answering(200, {"model": "m-2026", "choices": [choice], "usage": usage})


def asked(model: OpenAIChatModel, tokens: int = 300) -> Completion:
    return model.complete(ModelRequest(QUESTION, max_output_tokens=tokens, temperature=0.3), timeout_s=5)


@pytest.mark.parametrize(
    "first", [reasoned("", "length", reasoning=300), reasoned("half an", "length", reasoning=298), reasoned("")]
)
def test_an_answer_that_reasoning_left_no_room_for_is_requested_again_with_more(server: Server, first: Act) -> None:
    server.acts = [first, reasoned("whole")]
    answer = asked(chat(server))
    assert answer.text == "whole"
    limits = [body["max_tokens"] for body in server.bodies]
    assert limits[0] == 300
    assert limits[1] >= 300 + REASONING_ROOM
    assert answer.usage.input_tokens == 100, "both are billed"


def test_the_next_call_of_a_model_that_reasons_has_room_at_once_and_shares_that(server: Server) -> None:
    server.acts = [reasoned("", "length", reasoning=300), reasoned("a"), reasoned("b")]
    traits = ModelTraits()
    for name in ("m", "m"):
        model = OpenAIChatModel(base_url=server.url, api_key="k", model=name, traits=traits)
        MADE.append(model)
        asked(model)
    assert len(server.bodies) == 3
    assert server.bodies[2]["max_tokens"] == 300 + REASONING_ROOM


def test_an_answer_that_is_only_long_is_cut_where_the_operator_says(server: Server) -> None:
    server.acts = [reasoned("as long as it may be", "length")]
    assert asked(chat(server)).finish_reason == "length"
    assert len(server.bodies) == 1


def test_a_filtered_answer_is_not_requested_again(server: Server) -> None:
    server.acts = [reasoned("", "content_filter")]
    assert asked(chat(server)).finish_reason == "content_filter"
    assert len(server.bodies) == 1


def test_a_model_that_writes_nothing_twice_has_failed_and_that_is_noted(server: Server) -> None:
    HEALTH.forget()
    server.acts = [reasoned("", "length", reasoning=300)]
    with pytest.raises(DependencyUnavailable, match="wrote nothing, twice") as failed:
        asked(chat(server))
    assert failed.value.usage.reasoning_tokens == 600, "both calls are billed"
    assert len(server.bodies) == 2
    assert [(state.status, state.kind) for state in HEALTH.states()] == [("degraded", "unavailable")]


def test_half_an_answer_is_better_than_none(server: Server) -> None:
    server.acts = [reasoned("half an", "length", reasoning=298), failing(500)]
    answer = asked(chat(server, attempts=1))
    assert (answer.text, answer.finish_reason, answer.usage.input_tokens) == ("half an", "length", 50)


def test_a_stream_without_text_is_requested_again_too(server: Server) -> None:
    server.acts = [events(delta(finish_reason="length"), SPENT), events(delta("a"), LAST, SPENT)]
    *pieces, whole = streamed(chat(server))
    assert (pieces, whole.text, whole.usage.output_tokens) == (["a"], "a", 4)


def test_a_reasoning_effort_is_sent_unless_empty_and_left_out_where_refused(server: Server) -> None:
    server.acts = [failing(400, "'none' is not supported", "unsupported_value", "reasoning_effort"), said("yes")]
    model = OpenAIChatModel(base_url=server.url, api_key="k", model="m", reasoning_effort="none")
    MADE.append(model)
    asked(model)
    asked(chat(server))
    assert [body.get("reasoning_effort") for body in server.bodies] == ["none", None, None]


def test_tokens_of_the_providers_cache_and_of_reasoning_are_told_apart(server: Server) -> None:
    server.acts = [reasoned("a", reasoning=7, cached=40, wrote=10)]
    usage = asked(chat(server)).usage
    assert (usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (40, 10, 7)


def test_requests_with_the_same_instructions_share_a_cache_key() -> None:
    rules = ChatMessage("system", "Be brief.")
    assert cache_key([rules, ChatMessage("user", "a")]) == cache_key([rules, ChatMessage("user", "b")])
    assert cache_key([rules]) != cache_key([ChatMessage("system", "Be long.")])
    assert "brief" not in cache_key([rules])


@pytest.mark.parametrize(
    ("named", "day"),
    [("2027-01-14", date(2027, 1, 14)), (1_799_884_800, date(2027, 1, 14)), (None, None), ("soon", None)],
)
def test_the_day_a_model_is_retired_is_read_from_the_list_of_models(
    server: Server, named: object, day: date | None
) -> None:
    server.acts = [answering(200, {"id": "m", "object": "model", "shutdown_date": named})]
    assert chat(server).shuts_down_on(timeout_s=5) == day
    assert embedder(server).shuts_down_on(timeout_s=5) == day
    assert [path for path, _ in server.requests] == ["/v1/models/m", "/v1/models/all-MiniLM-L6-v2"]


@pytest.mark.parametrize(
    ("act", "status"),
    [
        (failing(503), "degraded"),
        (failing(401), "degraded"),
        (failing(429, code="insufficient_quota"), "degraded"),
        (failing(404), None),
        (answering(200, "no object"), "ok"),
    ],
    ids=["down", "key refused", "no quota", "no such route", "no object"],
)
def test_a_provider_that_is_asked_for_its_health_is_seen_to_be_down(
    server: Server, act: Act, status: str | None
) -> None:
    HEALTH.forget()
    server.acts = [act]
    with suppress(DependencyError):
        assert embedder(server).shuts_down_on(timeout_s=5) is None
    assert [state.status for state in HEALTH.states()] == ([status] if status else [])
    HEALTH.forget()


def test_a_provider_that_is_there_again_is_ok_when_it_is_asked_again(server: Server) -> None:
    HEALTH.forget()
    acts = {"degraded": failing(503), "ok": answering(200, {"id": "m", "object": "model"})}
    for status, act in acts.items():
        server.acts = [act]
        with suppress(DependencyError):
            chat(server).shuts_down_on(timeout_s=5)
        assert [state.status for state in HEALTH.states()] == [status]
    HEALTH.forget()


# --- a key that is changed ---------------------------------------------------------------------------------------


def rotated(*keys: str) -> tuple[ApiKey, list[str]]:
    """Return a key that becomes the next one at each refusal, and the keys that were refused."""
    left, refused = list(keys), list[str]()

    def renewed(key: str) -> bool:
        refused.append(key)
        if len(left) > 1:
            left.pop(0)
        return left[0] != key

    return ApiKey(lambda: left[0], renewed), refused


def sent_keys(server: Server) -> list[str]:
    return [headers["authorization"].removeprefix("Bearer ") for _, headers in server.requests]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_read_again_and_the_call_repeated_once(server: Server, status: int) -> None:
    HEALTH.forget()
    server.acts = [failing(status), GOOD]
    key, refused = rotated("old", "new")
    adapter = OpenAIEmbedder(base_url=server.url, api_key=key, space=EmbeddingSpace("m", 2))
    MADE.append(adapter)
    for _ in range(2):
        adapter.embed(["a"], timeout_s=5)
    assert (sent_keys(server), refused) == (["old", "new", "new"], ["old"])
    assert [state.status for state in HEALTH.states()] == ["ok"], "nobody needs to act"


def test_a_key_that_stays_wrong_is_told_after_one_call(server: Server) -> None:
    server.acts = [failing(401)]
    key, _ = rotated("old")
    adapter = OpenAIEmbedder(base_url=server.url, api_key=key, space=EmbeddingSpace("m", 2))
    MADE.append(adapter)
    with pytest.raises(KeyRefused):
        adapter.embed(["a"], timeout_s=5)
    assert sent_keys(server) == ["old"]


def test_a_stream_goes_on_with_the_new_key(server: Server) -> None:
    server.acts = [failing(401), events(delta("a"), LAST)]
    key, _ = rotated("old", "new")
    model = OpenAIChatModel(base_url=server.url, api_key=key, model="m")
    MADE.append(model)
    assert streamed(model)[-1].text == "a"
    assert sent_keys(server) == ["old", "new"]


def test_a_key_that_changed_unasked_is_used_by_the_next_call(server: Server) -> None:
    server.acts = [GOOD]
    keys = ["old"]
    adapter = OpenAIEmbedder(base_url=server.url, api_key=ApiKey(lambda: keys[-1]), space=EmbeddingSpace("m", 2))
    MADE.append(adapter)
    adapter.embed(["a"], timeout_s=5)
    keys.append("new")
    for _ in range(2):
        adapter.embed(["a"], timeout_s=5)
    assert sent_keys(server) == ["old", "new", "new"]
    assert len(server.peers) == 2, "the client is made anew, and then kept"


# --- the Responses API -------------------------------------------------------------------------------------------


def responses(server: Server, effort: str = "") -> OpenAIResponsesModel:
    retry = Retry("chat", attempts=2, sleep=no_sleep)
    made = OpenAIResponsesModel(base_url=server.url, api_key="sk-test", model="m", reasoning_effort=effort, retry=retry)
    MADE.append(made)
    return made


def response(*parts: dict[str, Any], status: str = "completed", reason: str | None = None) -> dict[str, Any]:
    return {
        "model": "m-2026",
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": list(parts)}],
        "usage": {
            "input_tokens": 50,
            "output_tokens": 9,
            "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10},
            "output_tokens_details": {"reasoning_tokens": 7},
        },
    }


def part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text}


def test_a_response_carries_text_reason_model_and_usage(server: Server) -> None:
    server.acts = [answering(200, response(part("24 "), part("months.")))]
    schema = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}}}
    answer = responses(server, "low").complete(ModelRequest(QUESTION, 50, 0.3, schema), timeout_s=5)
    assert (answer.text, answer.finish_reason, answer.model) == ("24 months.", "stop", "m-2026")
    assert answer.usage == Usage(50, 9, cached_tokens=40, cache_write_tokens=10, reasoning_tokens=7)
    assert server.requests[0][0] == "/v1/responses"
    assert server.bodies[0] == {
        "model": "m",
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How long?"}],
        "store": False,
        "temperature": 0.3,
        "max_output_tokens": 50,
        "text": {"format": {"type": "json_schema", "name": "n", "strict": True, "schema": {"type": "object"}}},
        "reasoning": {"effort": "low"},
    }


def test_a_refusal_in_a_response_is_the_text(server: Server) -> None:
    server.acts = [answering(200, response({"type": "refusal", "refusal": "I cannot help."}))]
    assert asked(responses(server)).text == "I cannot help."


def test_a_response_cut_by_reasoning_is_requested_again(server: Server) -> None:
    server.acts = [
        answering(200, response(status="incomplete", reason="max_output_tokens")),
        answering(200, response(part("whole"))),
    ]
    assert asked(responses(server)).text == "whole"
    assert server.bodies[1]["max_output_tokens"] >= 300 + REASONING_ROOM


@pytest.mark.parametrize("param", ["reasoning.effort", "text.format", "temperature"])
def test_a_parameter_of_a_response_is_left_out_where_refused(server: Server, param: str) -> None:
    server.acts = [failing(400, "No.", "unsupported_parameter", param), answering(200, response(part("yes")))]
    model = responses(server, "low")
    model.complete(ModelRequest(QUESTION, 9, 0.3, {"type": "json_object"}), timeout_s=5)
    assert set(server.bodies[0]) - set(server.bodies[1]) == {param.split(".")[0]}


@pytest.mark.parametrize("body", [{}, {"status": "failed", "error": {"code": "server_error"}}, {"status": None}])
def test_a_response_that_failed_is_malformed(server: Server, body: dict[str, Any]) -> None:
    server.acts = [answering(200, body)]
    with pytest.raises(DependencyUnavailable, match="malformed"):
        asked(responses(server))


def spoken(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text}


def test_a_response_is_streamed(server: Server) -> None:
    done = {"type": "response.completed", "response": response(part("24 months."))}
    server.acts = [events({"type": "response.created"}, spoken("24 "), spoken("months."), done, done=False)]
    *pieces, whole = streamed(responses(server))
    assert (pieces, whole.text, whole.usage.cached_tokens) == (["24 ", "months."], "24 months.", 40)
    assert server.bodies[0]["stream"] is True
    assert "stream_options" not in server.bodies[0]


@pytest.mark.parametrize(
    "last",
    [
        {"type": "response.failed", "response": {"status": "failed"}},
        {"type": "error", "message": "overloaded"},
        {"type": "response.in_progress"},
        [1],
    ],
    ids=["failed", "error", "cut short", "no object"],
)
def test_a_streamed_response_that_is_not_sound_is_malformed(server: Server, last: object) -> None:
    server.acts = [events(spoken("a"), last, done=False)]
    with pytest.raises(DependencyUnavailable, match="malformed"):
        streamed(responses(server))


# --- what is left behind -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["silent", "dripping"])
def test_the_connection_of_an_abandoned_call_is_closed_and_the_next_one_works(server: Server, kind: str) -> None:
    gone = threading.Event()

    def hold(handler: Handler) -> None:
        if kind == "dripping":
            handler.wfile.write(_HEAD)
        handler.connection.settimeout(0.05)
        while not handler.server.over.is_set():
            try:
                if kind == "dripping":
                    handler.wfile.write(b" ")
                if handler.connection.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        gone.set()
        handler.close_connection = True

    server.acts = [hold, GOOD]
    adapter = embedder(server, attempts=1)
    with pytest.raises(DependencyTimeout):
        adapter.embed(["a"], timeout_s=0.3)
    assert gone.wait(5), "the server goes on working for nobody"
    assert len(adapter.embed(["a"], timeout_s=5).vectors) == 1


def test_half_a_surrogate_pair_is_no_error(server: Server) -> None:
    server.acts = [GOOD]
    embedder(server).embed(["a \ud83d b"], timeout_s=5)
    assert server.bodies[0]["input"] == ["a ? b"]
