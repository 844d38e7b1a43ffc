"""`make index` against the emulator: the index it creates does all the service needs, and one that does not is told."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pinecone import Pinecone

from local.stack.config import LocalStackError
from local.stack.pinecone_index import PROBE, ensure
from shared.adapters.pinecone import PineconeIndex
from shared.errors import DependencyRefused
from shared.models import SparseVector, VectorRecord
from tests.support.pinecone_clients import API_KEY, create_index, wire
from tests.support.pinecone_server import running_pinecone

DIMENSION = 4
UNIT = [1.0, 0.0, 0.0, 0.0]
HYBRID = VectorRecord("a", UNIT, {}, SparseVector([7], [1.0]))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with running_pinecone(tmp_path) as running:
        yield running


def break_with(url: str, **rule: Any) -> None:
    with wire(url) as client:
        assert client.post("/_admin/faults", json=rule).status_code == 201


def described(url: str, name: str = "recto") -> Any:
    with Pinecone(api_key=API_KEY, host=url) as client:
        return client.describe_index(name)


def test_a_new_index_declares_its_dense_and_its_sparse_field_and_works(url: str) -> None:
    assert ensure(url, name="recto", dimension=DIMENSION)
    fields = described(url).schema.fields
    assert set(fields) == {"_values", "_sparse_values"}
    assert (fields["_values"].dimension, fields["_values"].metric) == (DIMENSION, "dotproduct")
    with closing(PineconeIndex(host=described(url).host, api_key=API_KEY)) as index:
        index.upsert(namespace="t", records=[HYBRID])
        assert index.fetch(namespace=PROBE, ids=[PROBE]) == {}, "the probe leaves nothing behind"
    assert not ensure(url, name="recto", dimension=DIMENSION), "it is there already, and still tried out"


def test_an_index_without_the_sparse_field_refuses_sparse_values_and_says_what_to_do(url: str) -> None:
    host = create_index(url, "recto", dimension=DIMENSION, sparse=False)
    assert set(described(url).schema.fields) == {"_values"}
    with closing(PineconeIndex(host=host, api_key=API_KEY)) as index:
        with pytest.raises(DependencyRefused, match="make index"):
            index.upsert(namespace="t", records=[HYBRID])
        with pytest.raises(DependencyRefused, match="does not support sparse values"):
            index.query(namespace="t", vector=UNIT, sparse=HYBRID.sparse, top_k=1, timeout_s=5)
        index.upsert(namespace="t", records=[VectorRecord("a", UNIT, {})])
    with pytest.raises(LocalStackError, match="a vector with dense and sparse values is not accepted"):
        ensure(url, name="recto", dimension=DIMENSION)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"route": "/query", "holding": "sparseVector"}, "the hybrid search fails"),
        ({"route": "/query", "holding": "1e-6"}, "the lexical search fails"),
        ({"route": "/query", "lacking": "sparseVector"}, "the dense search fails"),
        ({"route": "/vectors/delete"}, "a vector cannot be deleted"),
        ({"route": "/namespaces"}, "a namespace cannot be deleted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_an_index_cannot_do_is_named(url: str, rule: dict[str, Any], words: str) -> None:
    break_with(url, kind="status", status=400, body={"code": 3, "message": "no", "details": []}, **rule)
    with pytest.raises(LocalStackError, match=words):
        ensure(url, name="recto", dimension=DIMENSION)


def test_a_vector_that_is_never_found_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.stack.pinecone_index.VISIBLE_S", 0.0)
    break_with(url, route="/query", kind="status", status=200, body={"matches": [], "namespace": PROBE})
    with pytest.raises(LocalStackError, match="does not find a vector by dense search"):
        ensure(url, name="recto", dimension=DIMENSION)


def test_a_wrong_key_and_another_dimension_are_told(url: str) -> None:
    create_index(url, "recto", dimension=8)
    with pytest.raises(LocalStackError, match="has dimension 8"):
        ensure(url, name="recto", dimension=DIMENSION)
    break_with(url, route="/indexes", kind="status", status=401, body={"error": {"message": "Invalid API Key"}})
    with pytest.raises(LocalStackError, match="Invalid API Key"):
        ensure(url, name="recto", dimension=DIMENSION)


def test_all_zero_dense_vectors_are_refused_in_queries_too(url: str) -> None:
    with closing(PineconeIndex(host=create_index(url, "recto", dimension=DIMENSION), api_key=API_KEY)) as index:
        index.upsert(namespace="t", records=[HYBRID])
        with pytest.raises(DependencyRefused, match="at least one non-zero value"):
            index.query(namespace="t", vector=[0.0] * 4, sparse=HYBRID.sparse, top_k=1, timeout_s=5)
        [match] = index.query(namespace="t", vector=[1e-6, 0.0, 0.0, 0.0], sparse=HYBRID.sparse, top_k=1, timeout_s=5)
    assert match.score == pytest.approx(1.0, abs=2e-6)


def test_the_command_says_what_it_did(url: str) -> None:
    command = [sys.executable, "-m", "local", "index", "--control-url", url, "--dimension", "4"]
    for said in ("created", "already there"):
        ran = subprocess.run(command, env={"PINECONE_API_KEY": API_KEY}, capture_output=True, text=True, check=True)
        assert f"Index recto: {said}, ready, tested." in ran.stdout
