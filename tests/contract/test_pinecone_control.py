"""The emulator's control plane: the official SDK, sync and async, and the bytes on the wire."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pinecone import ServerlessSpec
from pinecone.errors import ConflictError, ForbiddenError, NotFoundError, UnauthorizedError

from tests.support.pinecone_clients import control_client, create_index, index_client, wire
from tests.support.pinecone_server import running_pinecone

SPEC = ServerlessSpec(cloud="aws", region="us-east-1")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with running_pinecone(tmp_path) as url:
        yield url


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with wire(url) as http:
        yield http


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, url: str) -> Iterator[Any]:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        client = control_client(request.param, url, runner)
        yield client
        client.close()


def test_an_index_is_made_described_listed_and_removed(client: Any) -> None:
    made = client.create_index(name="books", dimension=8, metric="cosine", spec=SPEC, tags={"a": "b"})
    assert (made.name, made.dimension, made.metric, made.vector_type) == ("books", 8, "cosine", "dense")
    assert made.status.ready
    assert (made.spec.serverless.cloud, made.spec.serverless.region) == ("aws", "us-east-1")
    described = client.describe_index("books")
    assert (described.host, described.tags) == (made.host, {"a": "b"})
    assert client.list_indexes().names() == ["books"]
    assert client.has_index("books")
    client.delete_index("books")
    assert not client.has_index("books")


def test_two_indexes_are_distinguished_by_host(client: Any, http: httpx.Client) -> None:
    hosts = [client.create_index(name=name, dimension=2, spec=SPEC).host for name in ("one", "two")]
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        for host, record_id in zip(hosts, ("first", "second"), strict=True):
            for kind in ("sync", "async"):
                index = index_client(kind, host, runner)
                index.upsert(vectors=[(record_id, [1, 0])])
                assert [match.id for match in index.query(vector=[1, 0], top_k=5).matches] == [record_id]
                index.close()
    # A bare address is ambiguous now, and says what to do instead.
    answer = http.post("/query", json={"vector": [1, 0], "topK": 1})
    assert (answer.status_code, answer.json()["code"]) == (404, 5)
    by_name = http.post("/query", json={"vector": [1, 0], "topK": 1}, headers={"Host": "two.localhost:1"})
    assert [match["id"] for match in by_name.json()["matches"]] == ["second"]


def test_a_bare_address_serves_the_only_index(client: Any, http: httpx.Client) -> None:
    client.create_index(name="only", dimension=2, spec=SPEC)
    assert http.post("/describe_index_stats", json={}).json()["dimension"] == 2


def test_a_name_is_taken_once(client: Any) -> None:
    client.create_index(name="books", dimension=8, spec=SPEC)
    with pytest.raises(ConflictError, match="already exists"):
        client.create_index(name="books", dimension=8, spec=SPEC)


def test_an_unknown_index_is_not_found(client: Any) -> None:
    with pytest.raises(NotFoundError) as caught:
        client.describe_index("nowhere")
    assert (caught.value.error_code, caught.value.status_code) == ("NOT_FOUND", 404)


def test_a_protected_index_is_not_deleted(client: Any) -> None:
    client.create_index(name="books", dimension=8, spec=SPEC, deletion_protection="enabled")
    with pytest.raises(ForbiddenError, match="Deletion protection is enabled for this index"):
        client.delete_index("books")
    client.configure_index("books", deletion_protection="disabled", tags={"team": "x"})
    assert client.describe_index("books").tags == {"team": "x"}
    client.configure_index("books", tags={"team": ""})
    assert client.describe_index("books").tags is None
    client.delete_index("books")


def test_a_sparse_index_holds_sparse_vectors_only(client: Any) -> None:
    host = client.create_index(name="words", vector_type="sparse", metric="dotproduct", spec=SPEC).host
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        index = index_client("sync", host, runner)
        index.upsert(vectors=[{"id": "w", "sparse_values": {"indices": [7], "values": [2.0]}}])
        found = index.query(sparse_vector={"indices": [7], "values": [1.5]}, top_k=1, include_values=True)
        assert (found.matches[0].score, found.matches[0].sparse_values.indices) == (3.0, [7])
        assert index.describe_index_stats().dimension is None
        index.close()


def test_indexes_and_vectors_outlive_the_server(tmp_path: Path) -> None:
    with running_pinecone(tmp_path / "kept") as url:
        create_index(url, "books", dimension=2)
        with wire(url) as http:
            http.post("/vectors/upsert", json={"vectors": [{"id": "a", "values": [1, 2]}], "namespace": "n"})
    with running_pinecone(tmp_path / "kept") as url, wire(url) as http:
        answer = http.post("/query", json={"vector": [1, 1], "topK": 1, "namespace": "n"}).json()
        assert [(match["id"], match["score"]) for match in answer["matches"]] == [("a", 3.0)]


# --- the wire ----------------------------------------------------------------------------------------------------

NOT_FOUND = {"error": {"code": "NOT_FOUND", "message": "Resource nowhere not found"}, "status": 404}


def test_error_bodies_name_code_message_and_status(http: httpx.Client) -> None:
    answer = http.get("/indexes/nowhere")
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-pinecone-api-version"] == "2026-07"


@pytest.mark.parametrize("key", [None, ""])
@pytest.mark.parametrize("path", ["/indexes", "/describe_index_stats"])
def test_without_a_key_nothing_is_answered(url: str, path: str, key: str | None) -> None:
    headers = {} if key is None else {"Api-Key": key}
    answer = httpx.get(url + path, headers=headers)
    assert (answer.status_code, answer.text) == (401, "Unauthorized")
    assert answer.headers["content-type"].startswith("text/plain")


def test_the_sdk_turns_that_into_its_own_error(url: str) -> None:
    from pinecone import Index

    # The SDK would not send a blank key, so the request is made to carry none.
    with Index(host=url, api_key="k", additional_headers={"Api-Key": ""}) as index, pytest.raises(UnauthorizedError):
        index.describe_index_stats()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "Bad_Name", "dimension": 3}, 400, "INVALID_ARGUMENT"),
        ({"name": "a" * 46, "dimension": 3}, 400, "INVALID_ARGUMENT"),
        ({"name": "ok", "dimension": 20_001}, 400, "INVALID_ARGUMENT"),
        ({"name": "ok", "dimension": 3, "metric": "manhattan"}, 400, "INVALID_ARGUMENT"),
        ({"name": "ok"}, 422, "UNPROCESSABLE_ENTITY"),
        ({"name": "ok", "schema": {"fields": {"_values": {"dimension": 3}}}}, 422, "UNPROCESSABLE_ENTITY"),
        (
            {"name": "ok", "dimension": 3, "spec": {"serverless": {"cloud": "aws", "region": "us-west1"}}},
            404,
            "NOT_FOUND",
        ),
    ],
)
def test_an_index_that_cannot_be_is_refused(http: httpx.Client, body: dict[str, Any], status: int, code: str) -> None:
    answer = http.post("/indexes", json=body)
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["status"]) == (status, code, status)
    assert http.get("/indexes").json() == {"indexes": []}


def test_older_api_versions_speak_of_dimension_and_spec(http: httpx.Client) -> None:
    older = {"X-Pinecone-Api-Version": "2025-10"}
    spec = {"serverless": {"cloud": "aws", "region": "us-east-1"}}
    made = http.post("/indexes", headers=older, json={"name": "old", "dimension": 3, "metric": "cosine", "spec": spec})
    assert made.status_code == 201
    body = made.json()
    assert (body["dimension"], body["metric"], body["vector_type"], body["spec"]) == (3, "cosine", "dense", spec)
    assert "schema" not in body
    assert http.get("/indexes/old").json()["schema"] == {
        "fields": {"_values": {"type": "dense_vector", "dimension": 3, "metric": "cosine"}}
    }
