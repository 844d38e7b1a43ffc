"""What the adapters of OpenAI's API and of Pinecone send for each call, and what they make of each answer.

The provider is a server with scripted answers. `make snapshots` stores what comes out now.
"""

import base64
import json
import re
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.openai_figures import OpenAIFigureReader
from shared.adapters.openai_responses import OpenAIResponsesModel
from shared.adapters.pinecone import PineconeIndex, PineconeReranker, resolve_host
from shared.adapters.provider_health import HEALTH
from shared.adapters.retry import Retry
from shared.adapters.secrets import ApiKey
from shared.models import ChatMessage, EmbeddingSpace, ModelRequest, SparseVector, VectorRecord
from shared.settings import Settings
from tests.support.course import Course
from tests.support.scripted_server import ScriptedServer, scripted_server
from tests.support.snapshots import check, check_names

HERE = Path(__file__).parent / "snapshots" / "wire"
SPACE = EmbeddingSpace("text-embedding-3-small", 2)
TURNS = [ChatMessage("system", "Be brief."), ChatMessage("user", "When is the lens cleaned?")]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "claims", "strict": True, "schema": {"type": "object"}}}
ASKED = ModelRequest(TURNS, 50)
IN_JSON = replace(ASKED, response_format=SCHEMA)
USED = {"prompt_tokens": 7, "completion_tokens": 3}
REASONED = {
    **USED,
    "completion_tokens_details": {"reasoning_tokens": 40},
    "prompt_tokens_details": {"cached_tokens": 4},
}
EVENTS = {"content_type": "text/event-stream"}


MADE: list[OpenAIEmbedder | OpenAIChatModel] = []
"""Adapters of the test that is running: they keep their connections until they are closed."""


def _kept[T: OpenAIEmbedder | OpenAIChatModel](adapter: T) -> T:
    MADE.append(adapter)
    return adapter


def _retry(dependency: str, waits: list[str], attempts: int = 2) -> Retry:
    """Return attempts whose waits are noted beside the requests."""
    return Retry(dependency, attempts=attempts, sleep=lambda s: waits.append(f"wait {s:g} s"), jitter=lambda: 0.5)


def _in_base64(*values: float) -> str:
    return base64.b64encode(array("f", values).tobytes()).decode()


def _error(message: str = "It failed.", **more: str) -> dict[str, object]:
    return {"error": {"message": message, "type": "some_error", **more}}


# --- OpenAI's API ---


FAILURES: tuple[tuple[int, object, dict[str, str]], ...] = (
    (400, _error(), {}),
    (400, _error("You sent: When is the lens cleaned? That is too long."), {}),
    (401, _error("Incorrect key."), {}),
    (402, _error("Pay."), {}),
    (403, _error("Not from there."), {}),
    (404, _error("No such model."), {}),
    (408, _error("Slow."), {}),
    (409, _error("Locked."), {}),
    (413, _error("Large."), {}),
    (422, _error("Odd."), {}),
    (429, _error("Too fast."), {}),
    (429, _error("Too fast."), {"retry_after": "3"}),
    (429, _error("Too fast."), {"retry_after_ms": "250"}),
    (429, _error("Too fast."), {"retry_after": "-1"}),
    (429, _error("Too fast."), {"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    (429, _error("Pay.", code="insufficient_quota"), {}),
    (429, {"error": {"message": "Pay.", "type": "insufficient_quota"}}, {}),
    (500, _error(), {}),
    (503, _error("Overloaded."), {"retry_after": "2"}),
    (503, b"<html>Bad gateway</html>", {}),
    (200, b"<html>Sign in</html>", {}),
    (200, [], {}),
    (200, {}, {}),
)
"""Answers that are no vectors and no message."""


def embeddings(course: Course, server: ScriptedServer) -> None:
    def embedder(model: str = SPACE.model) -> OpenAIEmbedder:
        space = EmbeddingSpace(model, SPACE.dimensions)
        retry = _retry("embeddings", server.asked)
        return _kept(OpenAIEmbedder(base_url=f"{server.url}/v1/", api_key="key", space=space, retry=retry))

    def vectors(*each: object, **more: object) -> None:
        data = [{"index": at, "embedding": vector} for at, vector in enumerate(each)]
        server.say(200, {"data": data, "usage": {"prompt_tokens": 5}, **more})

    ours = embedder()
    course(ours.embed, [], timeout_s=9)
    vectors(_in_base64(3.0, 4.0), _in_base64(0.0, 1.0))
    course(ours.embed, ["a lens", "half a pair: \ud83d"], timeout_s=9)
    vectors([6, 8])
    course(embedder("minilm").embed, ["a lens"], timeout_s=9)
    server.say(200, {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]})
    course(ours.embed, ["a", "b"], timeout_s=9)
    for data in (
        [], "none", [7], [{"index": 1, "embedding": [1, 0]}], [{"index": -1, "embedding": [1, 0]}],
        [{"embedding": [1, 0]}], [{"index": 0, "embedding": "no base64"}], [{"index": 0, "embedding": 7}],
        [{"index": 0, "embedding": [0, 0]}], [{"index": 0, "embedding": [float("nan"), 1]}],
        [{"index": 0, "embedding": [1, 0, 0]}], [{"index": 0, "embedding": [1.0]}],
    ):  # fmt: skip
        server.say(200, {"data": data})
        course.fails(ours.embed, ["a"], timeout_s=9)
    server.say(200, {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]})
    course.fails(ours.embed, ["a", "b"], timeout_s=9)
    for status, body, headers in FAILURES:
        server.say(status, body, **headers)
        server.say(status, body, **headers)
        course.fails(ours.embed, ["When is the lens cleaned?"], timeout_s=9)
        server.script.clear()
    server.say(500, _error())
    vectors([0, 1])
    course(ours.embed, ["a"], timeout_s=9)
    course.fails(ours.embed, ["a"], timeout_s=0)
    for day in (1_790_000_000, "2027-03-01T00:00:00Z", "2027-03-01", "soon", None):
        server.say(200, {"id": SPACE.model, "shutdown_date": day})
        course(ours.shuts_down_on, timeout_s=9)
    server.say(401, _error("Incorrect key."))
    course.fails(ours.shuts_down_on, timeout_s=9)
    server.say(404, _error("No such model."))
    course.fails(ours.shuts_down_on, timeout_s=9)


def _choice(content: object = "On Mondays.", reason: object = "stop", **message: object) -> dict[str, object]:
    return {"message": {"role": "assistant", "content": content, **message}, "finish_reason": reason}


def _message(*choices: object, usage: object = USED, **more: object) -> dict[str, object]:
    return {"model": "m-2026", "choices": list(choices), "usage": usage, **more}


CHOICES: tuple[dict[str, object], ...] = (
    _message(_choice()),
    _message(_choice("<think>Hm.</think>On Mondays.")),
    _message(_choice([{"type": "text", "text": "On "}, {"type": "thinking", "text": "Hm."}, {"text": "Mo"}, "!"])),
    _message(_choice(None, refusal="I may not say.")),
    _message(_choice(None, tool_calls=[{"function": {"arguments": '{"claims": []}'}}])),
    _message(_choice(None, tool_calls=[{"function": {"arguments": {"claims": []}}}])),
    _message(_choice(None, function_call={"arguments": "{}"})),
    _message(_choice(reason="max_tokens"), usage=None),
    _message(_choice(reason="END_TURN"), usage={"input_tokens": 7, "output_tokens": 3}),
    _message(_choice(reason=None), usage={"prompt_tokens": "7"}),
    _message(_choice("", "content_filtered")),
    _message(_choice("", "safety")),
    _message(7, _choice(), model=None),
    _message(_choice("On Mo", "length")),
)
"""Answers that are messages."""


def _chat(kind: Callable[..., OpenAIChatModel], server: ScriptedServer, **more: Any) -> OpenAIChatModel:
    more.setdefault("retry", _retry("chat", server.asked))
    return _kept(kind(base_url=f"{server.url}/v1", api_key="key", model="m", **more))


def _once(kind: Callable[..., OpenAIChatModel], server: ScriptedServer) -> OpenAIChatModel:
    return _chat(kind, server, retry=_retry("chat", server.asked, 1))


def chat(course: Course, server: ScriptedServer) -> None:
    for said in CHOICES:
        server.say(200, said)
        course(_chat(OpenAIChatModel, server).complete, ASKED, timeout_s=30)
    for broken in (_message(), _message({"finish_reason": "stop"}), _message(_choice(7)), _message(_choice({"a": 1}))):
        server.say(200, broken)
        course.fails(_once(OpenAIChatModel, server).complete, ASKED, timeout_s=30)
    for status, body, headers in FAILURES:
        server.say(status, body, **headers)
        server.say(status, body, **headers)
        course.fails(_chat(OpenAIChatModel, server).complete, ASKED, timeout_s=30)
        server.script.clear()
    full = _chat(OpenAIChatModel, server, reasoning_effort="low")
    full._is_openai = True
    for refused in ("temperature", "json_schema", "reasoning_effort", "max_completion_tokens", "prompt_cache_key"):
        server.say(400, _error(f"Unsupported: {refused}.", param=refused))
    server.say(200, _message(_choice()))
    course(full.complete, IN_JSON, timeout_s=30)
    server.say(200, _message(_choice()))
    course(full.complete, IN_JSON, timeout_s=30)
    unnamed = _chat(OpenAIChatModel, server)
    server.say(422, {"detail": [{"msg": "no such thing"}]})
    server.say(200, _message(_choice()))
    course(unnamed.complete, IN_JSON, timeout_s=30)
    server.say(400, _error("Too long.", code="context_length_exceeded"))
    course.fails(_chat(OpenAIChatModel, server).complete, IN_JSON, timeout_s=30)


def reasoning(course: Course, server: ScriptedServer) -> None:
    """What a model that reasons is asked for, once and again."""
    model = _chat(OpenAIChatModel, server)
    server.say(200, _message(_choice("", "length"), usage=REASONED))
    server.say(200, _message(_choice(), usage=REASONED))
    course(model.complete, ASKED, timeout_s=30)
    server.say(200, _message(_choice(), usage=REASONED))
    course(model.complete, ASKED, timeout_s=30)
    for first, second in (("On Mo", ""), ("On Mo", "On Mon"), ("", "")):
        server.say(200, _message(_choice(first, "length"), usage=REASONED))
        server.say(200, _message(_choice(second, "length"), usage=REASONED))
        model = _chat(OpenAIChatModel, server)
        (course if second else course.fails)(model.complete, ASKED, timeout_s=30)
    server.say(200, _message(_choice("On Mo", "length"), usage=REASONED))
    server.say(400, _error())
    course(_chat(OpenAIChatModel, server).complete, ASKED, timeout_s=30)
    server.say(200, _message(_choice("", "stop"), usage=REASONED))
    server.say(400, _error())
    course.fails(_chat(OpenAIChatModel, server).complete, ASKED, timeout_s=30)


def _events(*events: object) -> bytes:
    lines = [each if isinstance(each, str) else f"data: {json.dumps(each)}" for each in events]
    return "".join(f"{line}\n\n" for line in lines).encode()


def _delta(content: object = None, reason: object = None, **more: object) -> dict[str, object]:
    return {"choices": [{"delta": {"content": content}, "finish_reason": reason}], "model": "m-2026", **more}


def streams(course: Course, server: ScriptedServer) -> None:
    for events in (
        (_delta("On "), _delta("Mondays."), _delta(reason="stop"), {"choices": [], "usage": USED}, "data: [DONE]"),
        (": alive", "event: x\nid: 7", _delta("On"), "data:[DONE]", _delta("more")),
        (_delta("<think>Hm.</think>"), _delta("On", "max_tokens", usage=REASONED), {"model": None}),
        (
            _delta([{"type": "text", "text": "On"}]),
            {"choices": [{"message": {"content": "."}, "finish_reason": "eos"}]},
        ),
        ('data: {"choices": [{"delta": {"content": "two\\u2028lines"},\ndata: "finish_reason": "stop"}]}',),
        (_delta("", "content_filter"),),
    ):
        server.say(200, _events(*events), **EVENTS)
        course(_chat(OpenAIChatModel, server).stream, ASKED, timeout_s=30)
    for broken in (
        (), (_delta("On"),), (_delta("On"), {"error": {"message": "Broken."}}), ("data: 7",), ("data: {",),
        (_delta(7),), (_delta("On"), {"choices": [{"delta": {"tool_calls": "x"}}]}),
    ):  # fmt: skip
        server.say(200, _events(*broken), **EVENTS)
        course.fails(_once(OpenAIChatModel, server).stream, ASKED, timeout_s=30)
    server.say(200, _message(_choice()))
    course(_chat(OpenAIChatModel, server, reasoning_effort="low").stream, IN_JSON, timeout_s=30)
    server.say(200, b"<html>Sign in</html>", content_type="text/html")
    course.fails(_once(OpenAIChatModel, server).stream, ASKED, timeout_s=30)
    picky = _chat(OpenAIChatModel, server)
    server.say(400, _error("Unknown field: include_usage"))
    server.say(503, _error("Overloaded."))
    server.say(200, _events(_delta("On", "stop")), **EVENTS)
    course(picky.stream, ASKED, timeout_s=30)
    server.say(200, _events(_delta("", "length", usage=REASONED)), **EVENTS)
    server.say(200, _events(_delta("On", "stop", usage=REASONED)), **EVENTS)
    course(_chat(OpenAIChatModel, server).stream, ASKED, timeout_s=30)


def responses(course: Course, server: ScriptedServer) -> None:
    """The same over the Responses API."""

    def response(text: str = "On Mondays.", status: str = "completed", **more: object) -> dict[str, object]:
        content = [{"type": "output_text", "text": text}]
        output = [{"type": "reasoning"}, {"type": "message", "content": content}]
        used = {"input_tokens": 7, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 1}}
        return {"status": status, "model": "m-2026", "output": output, "usage": used, **more}

    model = _chat(OpenAIResponsesModel, server, reasoning_effort="low")
    model._is_openai = True
    for said in (
        response(),
        response("On Mo", "incomplete", incomplete_details={"reason": "content_filter"}),
        response(output=[{"type": "message", "content": [{"type": "refusal", "refusal": "I may not say."}]}]),
        response(output=[{"type": "message", "content": [{"type": "other", "text": "x"}, {"type": "output_text"}]}, 7]),
    ):
        server.say(200, said)
        server.say(200, response("Again."))
        course(model.complete, IN_JSON, timeout_s=30)
        server.script.clear()
    server.say(200, response("On Mo", "incomplete", incomplete_details={"reason": "max_output_tokens"}))
    server.say(200, response())
    course(model.complete, ASKED, timeout_s=30)
    for broken in (response(status="failed", error={"code": "server_error"}), {}, response(output="none")):
        server.say(200, broken)
        course.fails(_once(OpenAIResponsesModel, server).complete, ASKED, timeout_s=30)
    delta = {"type": "response.output_text.delta", "delta": "On Mondays."}
    for events in (
        (delta, {"type": "response.completed", "response": response()}),
        ({"type": "response.refusal.delta", "delta": "I"}, {"type": "response.incomplete", "response": response("I")}),
    ):
        server.say(200, _events(*events), **EVENTS)
        course(model.stream, ASKED, timeout_s=30)
    for ended in ((delta,), ({"type": "response.failed", "response": response(status="failed")},)):
        server.say(200, _events(*ended), **EVENTS)
        course.fails(_once(OpenAIResponsesModel, server).stream, ASKED, timeout_s=30)


def figures(course: Course, server: ScriptedServer) -> None:
    reader = OpenAIFigureReader(base_url=f"{server.url}/v1", api_key="key", model="m")
    course.lines.append(f"model {reader.model}")
    for caption in ("Figure 2: A pump", ""):
        server.say(200, _message(_choice("A pump with two valves.")))
        course(reader.describe, b"PNG", caption=caption, timeout_s=9)
    reader.close()


# --- Pinecone ---


REFUSED: tuple[tuple[int, object], ...] = (
    (400, {"error": {"code": "INVALID_ARGUMENT", "message": "Odd."}, "status": 400}),
    (400, {"error": {"code": "INVALID_ARGUMENT", "message": "It has no sparse values."}, "status": 400}),
    (
        400,
        {"error": {"code": "INVALID_ARGUMENT", "message": "Bad value 'uploads/acme/lamp.pdf'."}, "status": 400},
    ),
    (401, {"error": {"code": "UNAUTHENTICATED", "message": "Invalid key."}, "status": 401}),
    (402, {"error": {"code": "PAYMENT_REQUIRED", "message": "Pay."}, "status": 402}),
    (403, {"error": {"code": "FORBIDDEN", "message": "Not yours."}, "status": 403}),
    (403, {"error": {"code": "FORBIDDEN", "message": "You have reached your limit."}, "status": 403}),
    (404, {"error": {"code": "NOT_FOUND", "message": "No such namespace."}, "status": 404}),
    (408, {"error": {"code": "TIMEOUT", "message": "Slow."}, "status": 408}),
    (412, {"error": {"code": "FAILED_PRECONDITION", "message": "Odd."}, "status": 412}),
    (429, {"error": {"code": "RESOURCE_EXHAUSTED", "message": "Too fast."}, "status": 429}),
    (429, {"error": {"code": "RESOURCE_EXHAUSTED", "message": "Your month's units are used."}, "status": 429}),
    (500, {"error": {"code": "INTERNAL", "message": "Broken."}, "status": 500}),
    (503, b"<html>Bad gateway</html>"),
    (200, b"no JSON"),
)


def pinecone_index(course: Course, server: ScriptedServer) -> None:
    index = PineconeIndex(host=server.url, api_key="key", write_timeout_s=5, writes=_retry("vectors", server.asked))
    asked: dict[str, Any] = {"namespace": "acme", "vector": [1.0, 0.0], "top_k": 3, "timeout_s": 5}
    found = {"matches": [{"id": "a", "score": 0.25}, {"id": "b", "score": 0.5, "metadata": {"page": 3.0, "at": 0.5}}]}
    for more in (
        {},
        {"sparse": SparseVector([4, 9], [0.5, 1.0]), "filter": {"key": {"$eq": "uploads/acme/lamp.pdf"}}},
        {"metadata": False, "sparse": None, "filter": {}},
    ):
        server.say(200, found)
        course(index.query, **asked, **more)
    records = [
        VectorRecord("a", [1.0, 0.0], {"page": 3, "text": "A lens."}),
        VectorRecord("b", [0.0, 1.0], {}, SparseVector([4], [0.5])),
        VectorRecord("c", [0.0, 1.0], {}, SparseVector([], [])),
    ]
    server.say(200, {"upsertedCount": 3})
    course(index.upsert, namespace="acme", records=records)
    course(index.upsert, namespace="acme", records=[])
    server.say(200, {})
    course(index.delete, namespace="acme", ids=["a", "b"])
    server.say(404, REFUSED[7][1])
    course(index.delete, namespace="acme", ids=["a"])
    course(index.delete, namespace="acme", ids=[])
    server.say(200, {"vectors": [{"id": "a"}, {"id": "b"}], "pagination": {"next": "t1"}})
    server.say(200, {"vectors": [], "pagination": {"next": "t2"}})
    server.say(200, {"vectors": [{"id": "c"}]})
    course(index.list_ids, namespace="acme", prefix="d#")
    server.say(200, {"vectors": {"a": {"id": "a", "values": [1.0, 0.0], "metadata": {"page": 3.0}}}})
    course(index.fetch, namespace="acme", ids=["a", "b"])
    server.say(404, REFUSED[7][1])
    course(index.fetch, namespace="acme", ids=["a"])
    for status in (200, 404):
        server.say(status, {} if status == 200 else REFUSED[7][1])
        course(index.drop, namespace="acme")
    server.say(200, {"dimension": 2, "totalVectorCount": 3, "namespaces": {}})
    course(index.ping, timeout_s=5)
    server.say(500, REFUSED[12][1])
    course.fails(index.ping, timeout_s=5)
    for status, body in REFUSED:
        server.say(status, body)
        course.fails(index.query, **asked, filter={"key": {"$in": ["uploads/acme/lamp.pdf"]}})
        server.say(status, body)
        server.say(status, body)
        course.fails(index.upsert, namespace="acme", records=records[:1])
        server.script.clear()
    index.close()


def pinecone_host(course: Course, server: ScriptedServer) -> None:
    """The index that is configured, or that the control plane names, fits or does not."""

    def described(dimension: int = 2, metric: str = "dotproduct", **more: object) -> dict[str, object]:
        dense = {"type": "dense_vector", "dimension": dimension, "metric": metric}
        return {
            "name": "recto", "host": "index.example", "status": {"ready": True, "state": "Ready"},
            "deletion_protection": "disabled", "schema": {"fields": {"_values": dense}},
            "deployment": {"deployment_type": "managed", "cloud": "aws", "region": "us-east-1"},
            "read_capacity": {"mode": "OnDemand", "status": {"state": "Ready"}}, **more,
        }  # fmt: skip

    def host(*, configured: bool = False, renewed: bool = False) -> str:
        where = {"pinecone_host": server.url} if configured else {}
        settings = Settings(pinecone_control_url=server.url, embedding_model="m", embedding_dimensions=2, **where)
        keys = ["old", "new"]
        changing = ApiKey(lambda: keys[0], lambda refused: refused == keys.pop(0))
        return resolve_host(settings, changing if renewed else "key", timeout_s=5)

    server.say(200, described())
    course(host)
    waiting = {"ready": False, "state": "Initializing"}
    for unfit in (described(3), described(metric="euclidean"), described(status=waiting), described(host="")):
        server.say(200, unfit)
        course.fails(host)
    server.say(404, {"error": {"code": "NOT_FOUND", "message": "No such index."}, "status": 404})
    course.fails(host)
    for dimension in (2, 3):
        server.say(200, {"dimension": dimension, "metric": "dotproduct", "namespaces": {}, "totalVectorCount": 0})
        (course if dimension == 2 else course.fails)(host, configured=True)
    server.say(401, REFUSED[3][1])
    server.say(200, described())
    course(host, renewed=True)


def pinecone_rerank(course: Course, server: ScriptedServer) -> None:
    reranker = PineconeReranker(base_url=server.url, api_key="key", model="bge-reranker-v2-m3")

    def scored(*each: tuple[int, float]) -> None:
        data = [{"index": at, "score": score} for at, score in each]
        server.say(200, {"model": "bge-reranker-v2-m3", "data": data, "usage": {"rerank_units": 1}})

    scored((1, 0.75), (0, 0.25))
    course(reranker.rerank, "When is the lens cleaned?", ["A lens.", "On Mondays."], timeout_s=5)
    for some in (((0, 0.5),), ((0, 0.5), (0, 0.5)), ((0, 0.5), (2, 0.5))):
        scored(*some)
        course.fails(reranker.rerank, "When?", ["A lens.", "On Mondays."], timeout_s=5)
    for status, body in REFUSED:
        server.say(status, body)
        course.fails(reranker.rerank, "When?", ["A lens."], timeout_s=5)
    reranker.close()


COURSES = {
    each.__name__: each
    for each in (
        embeddings, chat, reasoning, streams, responses, figures, pinecone_index, pinecone_host, pinecone_rerank,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", COURSES)
def test_what_providers_are_asked_and_what_is_made_of_their_answers_is_as_stored(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    HEALTH.forget()
    with scripted_server() as server:
        course = Course(server.asked)
        COURSES[name](course, server)
        assert server.script == [], "answers that nobody asked for"
        while MADE:
            MADE.pop().close()
    lines = [*course.lines, "", *_counted(capsys.readouterr().out)]
    HEALTH.forget()
    text = "\n".join(lines).encode("utf-8", "backslashreplace").decode()
    check(HERE / f"{name}.txt", re.sub(r"127\.0\.0\.1:\d+", "server", text))


def _counted(printed: str) -> list[str]:
    """Return the metrics of failures, with how often each was counted."""
    names = re.findall(r'"Dependency": "(\w+)", "(\w+)": 1', printed)
    return [f"{dependency} {metric}: {names.count((dependency, metric))}" for dependency, metric in sorted(set(names))]


def test_each_stored_text_has_its_course() -> None:
    check_names(HERE, COURSES)
