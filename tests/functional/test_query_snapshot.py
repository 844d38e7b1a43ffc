"""A container's snapshot, taken when it has started, holds nothing that is stale or shared when it is restored."""

import gc
import importlib
import random
import socket
import sys
import weakref
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import boto3
import httpx
import openai
import pytest
import snapshot_restore_py
from awslambdaric import lambda_runtime_hooks_runner as runtime
from botocore.client import BaseClient
from botocore.credentials import Credentials

from functions.query import bootstrap
from functions.query.streaming_app import SNAPSHOT_HOOKS, FromAdapter
from functions.query.streaming_app import app as streaming_app
from shared.adapters import retry
from shared.adapters.openai import OpenAIChatModel, OpenAIEmbedder
from shared.adapters.pinecone import PineconeIndex
from shared.adapters.provider_health import HEALTH
from shared.adapters.secrets import Secret
from shared.errors import KeyRefused
from tests.support.aws_wire import aws_on_the_wire
from tests.support.ingest import Stack
from tests.support.moto_aws import REGION
from tests.support.query_stack import LENS, call, query_stack

MADE_ONCE = (
    openai.OpenAI, BaseClient, Credentials, boto3.Session, Secret, retry.CircuitBreaker, retry.RetryBudget,
    OpenAIEmbedder, OpenAIChatModel, PineconeIndex,
)  # fmt: skip
"""What a container has of its own: connections, keys, credentials, and memory of failures."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("snapshot")) as made,
        aws_on_the_wire(patch, "secretsmanager", REGION) as secrets,
    ):
        made.secret_calls = secrets.calls  # type: ignore[attr-defined]
        yield made
        assert secrets.calls
        bootstrap.reset()


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hooks registered, as on Lambda; `run_before_snapshot` and `run_after_restore` are the runtime's own."""
    monkeypatch.setattr(snapshot_restore_py, "_before_snapshot_registry", [])
    monkeypatch.setattr(snapshot_restore_py, "_after_restore_registry", [])
    bootstrap.register_snapshot_hooks()


def connections() -> list[socket.socket]:
    """Connected sockets of this process that are not a server's end of one."""
    gc.collect()
    found = []
    for each in gc.get_objects():
        if isinstance(each, socket.socket) and each.fileno() >= 0 and each.family in {socket.AF_INET, socket.AF_INET6}:
            try:
                found.append((each, each.getpeername()))
            except OSError:
                continue  # it listens, or is closed
    return [each for each, _ in found]


def test_what_is_built_while_a_container_starts_holds_no_connection(stack: Stack) -> None:
    stack.http.close()  # the test's own
    bootstrap.reset()
    ours = set(map(id, connections()))
    bootstrap.warm_up()
    kept = [each for each in connections() if id(each) not in ours]
    assert [each.getpeername() for each in kept] == []
    assert call("POST", "/query", {"question": LENS})[0] == 200


def test_jitter_does_not_come_from_a_seed_that_a_snapshot_would_share() -> None:
    random.seed(7)
    first = [retry.draw() for _ in range(3)]
    random.seed(7)
    assert [retry.draw() for _ in range(3)] != first


def alive() -> dict[int, Any]:
    gc.collect()
    return {id(each): each for each in gc.get_objects() if issubclass(type(each), MADE_ONCE)}


def started(stack: Stack) -> list[weakref.ref[Any]]:
    """What a container made that has started and answered a question."""
    bootstrap.reset()
    others = alive()
    bootstrap.warm_up()
    assert call("POST", "/query", {"question": LENS})[0] == HTTPStatus.OK
    return [weakref.ref(each) for name, each in alive().items() if name not in others]


@pytest.mark.usefixtures("hooks")
def test_a_restored_container_uses_nothing_of_the_one_that_was_snapshotted(stack: Stack) -> None:
    stack.http.close()
    bootstrap.reset()
    ours = set(map(id, connections()))
    made = started(stack)
    assert {type(each()).__name__ for each in made} >= {
        "OpenAI",
        "DynamoDB",
        "S3",
        "Secret",
        "Session",
        "PineconeIndex",
    }
    HEALTH.failed(KeyRefused("chat", "refused"))

    runtime.run_before_snapshot()
    gc.collect()
    assert [each for each in (ref() for ref in made) if each is not None] == [], "the snapshot holds it"
    assert [each.getpeername() for each in connections() if id(each) not in ours] == []

    random.seed(7)  # every container that is restored has this state
    drawn = random.Random(7).random()
    read = stack.secret_calls["GetSecretValue"]  # type: ignore[attr-defined]
    runtime.run_after_restore()
    assert stack.secret_calls["GetSecretValue"] == read + 1, "the keys are read again"  # type: ignore[attr-defined]
    assert all(state.status == "ok" for state in HEALTH.states())
    assert random.random() != drawn
    assert call("POST", "/query", {"question": LENS})[0] == HTTPStatus.OK


@pytest.mark.usefixtures("hooks")
def test_a_restore_while_the_secret_cannot_be_read_still_serves_what_needs_no_key(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.run_before_snapshot()
    with monkeypatch.context() as patch:
        patch.setenv("RECTO_SECRET_ID", "missing")
        runtime.run_after_restore()
    assert call("GET", "/documents")[0] == HTTPStatus.OK
    runtime.run_before_snapshot()
    runtime.run_after_restore()
    assert call("POST", "/query", {"question": LENS})[0] == HTTPStatus.OK


def test_without_the_runtimes_package_nothing_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", None)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("snapshot_restore_py")
    bootstrap.register_snapshot_hooks()


async def test_the_web_adapter_calls_the_same_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    for name, hook in SNAPSHOT_HOOKS.items():
        monkeypatch.setenv(name, f"/snapstart/{hook.__name__}")
        monkeypatch.setitem(SNAPSHOT_HOOKS, name, lambda name=name: called.append(name))
    async with adapter() as client:
        assert (await client.post("/snapstart/before_snapshot")).status_code == HTTPStatus.NO_CONTENT
        assert (await client.post("/snapstart/after_restore")).status_code == HTTPStatus.NO_CONTENT
        assert (await client.get("/snapstart/after_restore")).status_code == HTTPStatus.NOT_FOUND
    assert called == list(SNAPSHOT_HOOKS)


async def test_where_no_adapter_runs_there_is_no_hook_to_call() -> None:
    async with adapter() as client:
        for path in ("/snapstart/before", "/snapstart/after"):
            assert (await client.post(path)).status_code == HTTPStatus.NOT_FOUND


def adapter() -> httpx.AsyncClient:
    assert isinstance(streaming_app, FromAdapter)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=streaming_app), base_url="http://adapter")
