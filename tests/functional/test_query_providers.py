"""Each provider in a state that an operator must hear of: answers degrade; log, metrics and admin say why."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from functions.ingest import bootstrap as ingest_bootstrap
from functions.query import bootstrap
from functions.query.api.admin import retirement_warnings
from shared.adapters.pinecone import PineconeIndex
from shared.models import VectorRecord
from tests.support.ingest import Stack, close_clients, pdf_of
from tests.support.pinecone_clients import create_index
from tests.support.query_stack import LENS, Faulty, call, query_stack

CHAT, EMBEDDINGS = "/v1/chat/completions", "/v1/embeddings"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("query"), ANSWER_CACHE_TTL_S="0", EMBEDDING_CACHE_TTL_S="0") as made,
    ):
        yield made


@pytest.fixture(autouse=True)
def container() -> None:
    """Start as a new container."""
    bootstrap.reset()


def status_of(status: int, **error: Any) -> dict[str, Any]:
    return {"kind": "status", "status": status, "body": {"error": error}}


def metrics_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The lines in CloudWatch's embedded metric format."""
    printed = capsys.readouterr().out.splitlines()
    return [json.loads(line) for line in printed if line.startswith('{"_aws"')]


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    """Level, provider and kind of each log line about a provider."""
    lines = [vars(each) for each in caplog.records if each.message in ("provider refused", "provider failed")]
    return [(line["levelname"], line["dependency"], line["kind"]) for line in lines]


DEAD_KEY = status_of(401, message="Incorrect API key provided.", code="invalid_api_key")
RETIRED = status_of(404, message="The model `m` has been deprecated.", code="model_not_found")
NO_MONEY = status_of(429, message="You exceeded your current quota.", code="insufficient_quota")
MONTH_USED_UP = {
    "kind": "status",
    "status": 429,
    "body": {"code": 8, "message": "Read unit limit for the current month."},
}


@pytest.mark.parametrize(
    ("route", "fault", "dependency", "kind", "warning"),
    [
        (CHAT, DEAD_KEY, "chat", "upstream_refused", "model_refused"),
        (CHAT, RETIRED, "chat", "upstream_refused", "model_refused"),
        (CHAT, NO_MONEY, "chat", "quota_exhausted", "model_refused"),
        (CHAT, {"kind": "status", "status": 503}, "chat", "unavailable", "model_unavailable"),
        (EMBEDDINGS, DEAD_KEY, "embeddings", "upstream_refused", "embeddings_refused"),
        (EMBEDDINGS, NO_MONEY, "embeddings", "quota_exhausted", "embeddings_refused"),
    ],
    ids=["dead key", "retired model", "no quota", "down", "dead key of the embeddings", "no quota for embeddings"],
)
def test_an_answer_degrades_and_says_why(
    stack: Stack,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    route: str,
    fault: dict[str, Any],
    dependency: str,
    kind: str,
    warning: str,
):
    call("POST", "/query", {"question": LENS})
    capsys.readouterr()
    with Faulty(stack, stack.openai_url, route=route, **fault):
        for _ in range(2):
            status, answer, _ = call("POST", "/query", {"question": LENS})
            assert (status, answer["warnings"]) == (200, [warning])
            assert "Thursday" in answer["citations"][0]["quote"]
    level = "WARNING" if warning.endswith("unavailable") else "ERROR"
    assert told(caplog) == [(level, dependency, kind)]
    assert len([line for line in metrics_of(capsys) if line.get("Dependency") == dependency]) >= 2
    status, health, _ = call("GET", "/admin/health", groups="admin")
    assert (status, health["status"]) == (200, "degraded")
    [provider] = [each for each in health["providers"] if each["dependency"] == dependency]
    assert (provider["status"], provider["kind"]) == ("degraded", kind)
    assert provider["message"]
    assert {each["status"] for each in health["providers"] if each is not provider} == {"ok"}
    call("POST", "/query", {"question": LENS})
    assert call("GET", "/admin/health", groups="admin")[1]["status"] == "ok"


@pytest.mark.parametrize(
    ("fault", "code", "metric"),
    [
        ({"kind": "status", "status": 401}, (502, "upstream_refused"), "ProviderRefused"),
        (MONTH_USED_UP, (503, "quota_exhausted"), "ProviderQuota"),
    ],
    ids=["dead key", "monthly quota"],
)
def test_without_an_index_the_error_is_the_right_one(
    stack: Stack,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    fault: dict[str, Any],
    code: tuple[int, str],
    metric: str,
):
    with Faulty(stack, stack.pinecone_url, route="/query", **fault):
        status, problem, headers = call("POST", "/query", {"question": LENS})
    assert (status, problem["code"]) == code
    assert "retry-after" not in headers, "waiting will not help"
    assert told(caplog) == [("ERROR", "vectors", code[1])]
    assert any(metric in line and line["Dependency"] == "vectors" for line in metrics_of(capsys))


@pytest.fixture
def rotated(stack: Stack) -> Iterator[Callable[[], object]]:
    """Return a function that puts new keys into the secret; afterwards it has the old ones again."""
    before = stack.aws.secrets.get_secret_value(SecretId=stack.aws.secret_id)["SecretString"]
    keys = {"OPENAI_API_KEY": "sk-new", "PINECONE_API_KEY": "pc-new"}
    put = partial(stack.aws.secrets.put_secret_value, SecretId=stack.aws.secret_id)
    yield lambda: put(SecretString=json.dumps(keys))
    put(SecretString=before)


def test_a_rotated_key_reaches_a_warm_container(
    stack: Stack, rotated: Callable[[], object], caplog: pytest.LogCaptureFixture
):
    call("POST", "/query", {"question": LENS})
    rotated()
    with Faulty(stack, stack.openai_url, route=CHAT, count=1, **DEAD_KEY):
        status, answer, _ = call("POST", "/query", {"question": LENS})
    assert (status, answer["mode"], answer["warnings"]) == (200, "generated", [])
    with Faulty(stack, stack.openai_url, route=CHAT, count=1, **DEAD_KEY):
        status, answer, _ = call("POST", "/query", {"question": LENS})
    assert answer["warnings"] == ["model_refused"], "the new one is refused too, and was read a moment ago"
    assert told(caplog) == [("ERROR", "chat", "upstream_refused")]


REASONED = {"prompt_tokens": 900, "completion_tokens": 2048, "completion_tokens_details": {"reasoning_tokens": 2048}}
NOTHING = {"choices": [{"delta": {}, "finish_reason": "length"}], "usage": REASONED}
EMPTY = {
    "kind": "status",
    "status": 200,
    "headers": {"content-type": "text/event-stream"},
    "body": f"data: {json.dumps(NOTHING)}\n\ndata: [DONE]\n\n",
}


def test_a_model_that_reasons_until_nothing_is_left_is_replaced_by_extraction(
    stack: Stack,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
):
    with Faulty(stack, stack.openai_url, route=CHAT, **EMPTY):
        status, answer, _ = call("POST", "/query", {"question": LENS})
    assert (status, answer["mode"], answer["warnings"]) == (200, "extractive", ["model_unavailable"])
    assert answer["usage"]["reasoning_tokens"] == 2 * 2048, "what was billed is told"
    assert told(caplog) == [("WARNING", "chat", "unavailable")]
    assert any("ProviderUnavailable" in line for line in metrics_of(capsys))


def test_an_admin_is_warned_of_a_model_that_is_shut_down_soon(stack: Stack):
    day = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    body = {"id": "extractive-minilm", "object": "model", "shutdown_date": day}
    with Faulty(stack, stack.openai_url, route="/v1/models/extractive", kind="status", status=200, body=body):
        status, health, _ = call("GET", "/admin/health", groups="admin")
    assert (status, health["status"]) == (200, "ok")
    [warning] = health["warnings"]
    assert "extractive-minilm" in warning
    assert day in warning
    assert retirement_warnings({"m": date(2027, 1, 14)}, date(2026, 11, 14)) == []
    assert retirement_warnings({"m": date(2027, 1, 14)}, date(2026, 11, 15)) != []


def test_an_index_without_the_sparse_field_is_told_at_the_first_upload_and_question(
    stack: Stack,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    host = create_index(stack.pinecone_url, "old", dimension=384, sparse=False)
    monkeypatch.setenv("RECTO_PINECONE_INDEX", "old")
    close_clients(ingest_bootstrap.batch())
    ingest_bootstrap.batch.cache_clear()
    try:
        key = "uploads/beta/plan.pdf"
        stack.put(key, pdf_of(["The boat house is painted every second spring."], title="Boats"))
        assert stack.deliver(key) != [], "the change notification goes back to the queue"
        close_clients(ingest_bootstrap.batch())
    finally:
        ingest_bootstrap.batch.cache_clear()
    assert set(told(caplog)) == {("ERROR", "vectors", "upstream_refused")}
    assert "make index" in caplog.text or any("make index" in str(vars(each)) for each in caplog.records)
    assert any("ProviderRefused" in line for line in metrics_of(capsys))
    with closing(PineconeIndex(host=host, api_key="k")) as index:
        index.upsert(namespace="beta", records=[VectorRecord("d#g#0", [1.0] + [0.0] * 383, {"text": "x"})])
    caplog.clear()
    bootstrap.reset()
    status, answer, _ = call("POST", "/query", {"question": "How often is the boat house painted?"}, tenant="beta")
    assert (status, answer["warnings"]) == (200, ["hybrid_search_refused"])
    assert told(caplog) == [("ERROR", "vectors", "upstream_refused")]


@pytest.mark.parametrize(
    ("base", "route", "dependency"),
    [
        ("openai_url", "/v1/models", "embeddings"),
        ("openai_url", "/v1/models", "chat"),
        ("pinecone_url", "/describe_index_stats", "vectors"),
    ],
)
def test_a_container_that_has_called_nobody_asks_the_providers_for_their_health(
    stack: Stack, base: str, route: str, dependency: str
):
    assert call("GET", "/admin/health", groups="admin")[1]["status"] == "ok"
    bootstrap.reset()
    with Faulty(stack, getattr(stack, base), route=route, kind="status", status=401):
        health = call("GET", "/admin/health", groups="admin")[1]
    states = {each["dependency"]: each["status"] for each in health["providers"]}
    assert (health["status"], states[dependency]) == ("degraded", "degraded")
    assert set(states) == {"chat", "embeddings", "vectors"}


def test_a_set_up_without_keys_is_told_in_words(stack: Stack, monkeypatch: pytest.MonkeyPatch):
    stack.aws.secrets.create_secret(Name="empty", SecretString="{}")
    monkeypatch.setenv("RECTO_SECRET_ID", "empty")
    bootstrap.reset()
    health = call("GET", "/admin/health", groups="admin")[1]
    assert (health["status"], health["providers"]) == ("degraded", [])
    assert "has no OPENAI_API_KEY" in health["warnings"][0]
    monkeypatch.undo()
    bootstrap.reset()


@pytest.mark.parametrize("groups", ["", "reader", "editor"])
def test_only_an_admin_sees_the_providers(stack: Stack, groups: str):
    status, problem, _ = call("GET", "/admin/health", groups=groups)
    assert (status, problem["code"]) == (403, "not_allowed")
