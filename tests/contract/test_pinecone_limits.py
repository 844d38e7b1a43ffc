"""What the emulator refuses, in the vendor's shape and words; and what the official SDK makes of it."""

from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from pinecone import Index
from pinecone.errors import ApiError, NotFoundError

from tests.support.pinecone_clients import API_KEY, create_index, wire
from tests.support.pinecone_server import running_pinecone

DIMENSION = 3


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_pinecone(tmp_path_factory.mktemp("pinecone")) as url:
        yield url


@pytest.fixture(scope="module")
def http(url: str) -> Iterator[httpx.Client]:
    with wire(create_index(url, "limits", dimension=DIMENSION)) as client:
        client.post("/vectors/upsert", json={"vectors": [{"id": "a", "values": [1, 0, 0]}]}).raise_for_status()
        yield client


@pytest.fixture(scope="module")
def cosine(url: str) -> Iterator[httpx.Client]:
    with wire(create_index(url, "cosine", dimension=DIMENSION, metric="cosine")) as client:
        yield client


def _refusal(http: httpx.Client, path: str, body: dict[str, Any]) -> str:
    answer = http.post(path, json=body)
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/json"
    refusal = answer.json()
    assert set(refusal) == {"code", "message", "details"}
    assert (refusal["code"], refusal["details"]) == (3, [])
    return str(refusal["message"])


def _upsert(http: httpx.Client, **vector: Any) -> str:
    return _refusal(http, "/vectors/upsert", {"vectors": [{"id": "x", "values": [1, 0, 0], **vector}]})


def test_the_dimension_must_be_the_index_s(http: httpx.Client) -> None:
    expected = "Vector dimension 2 does not match the dimension of the index 3"
    assert _upsert(http, values=[1, 2]) == expected
    assert _refusal(http, "/query", {"vector": [1, 2], "topK": 1}) == expected
    assert _refusal(http, "/vectors/update", {"id": "a", "values": [1, 2]}) == expected


def test_a_vector_of_zeros_is_refused(http: httpx.Client) -> None:
    expected = "Dense vectors must contain at least one non-zero value. Vector ID 'x' contains only zeros"
    assert _upsert(http, values=[0, 0, 0]) == expected
    assert _upsert(http, values=[0, 0, 9e-9]) == expected


@pytest.mark.parametrize("value", [1e39, None, "1", True, [1]])
def test_values_are_finite_32_bit_numbers(http: httpx.Client, value: Any) -> None:
    _upsert(http, values=[1, value, 0])


def test_metadata_holds_at_most_40_kb(http: httpx.Client) -> None:
    assert _upsert(http, metadata={"text": "x" * 41_000}) == (
        "Metadata size is 41011 bytes, which exceeds the limit of 40960 bytes per vector"
    )
    fits = {"vectors": [{"id": "big", "values": [1, 0, 0], "metadata": {"text": "x" * (40_960 - 11)}}]}
    assert http.post("/vectors/upsert", json=fits).status_code == 200
    _refusal(http, "/vectors/update", {"id": "big", "setMetadata": {"y": 1}})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": 1}, '{"a":1.0}'),
        ([1, 2], "[1.0,2.0]"),
        (["a", None], '["a",null]'),
        ({"long": "x" * 20}, '{"long":"xxxxxxx...'),
    ],
)
def test_metadata_is_flat(http: httpx.Client, value: Any, shown: str) -> None:
    assert _upsert(http, metadata={"f": value}) == (
        f"Metadata value must be a string, number, boolean or list of strings, got '{shown}' for field 'f'"
    )


def test_metadata_names_do_not_begin_with_a_dollar(http: httpx.Client) -> None:
    assert "'$in'" in _upsert(http, metadata={"$in": 1})


def test_ids_are_short_ascii(http: httpx.Client) -> None:
    assert _upsert(http, id="A Braña_0") == "Vector ID must be ASCII, but got 'A Braña_0'"
    assert "exceeds the limit of 512 characters" in _upsert(http, id="x" * 513)
    assert "empty" in _upsert(http, id="")
    assert "null character" in _upsert(http, id="\0")
    longest = {"vectors": [{"id": "x" * 512, "values": [1, 0, 0]}]}
    assert http.post("/vectors/upsert", json=longest).status_code == 200


def test_an_upsert_holds_1000_vectors(http: httpx.Client) -> None:
    vectors = [{"id": str(n), "values": [1, 0, 0]} for n in range(1_001)]
    assert "1001" in _refusal(http, "/vectors/upsert", {"vectors": vectors, "namespace": "many"})
    answer = http.post("/vectors/upsert", json={"vectors": vectors[:1_000], "namespace": "many"})
    assert answer.json() == {"upsertedCount": 1_000}
    _refusal(http, "/vectors/upsert", {"vectors": []})


def test_a_request_holds_2_mb(http: httpx.Client) -> None:
    metadata = {"text": "x" * 30_000}
    vectors = [{"id": str(n), "values": [1, 0, 0], "metadata": metadata} for n in range(80)]
    assert _refusal(http, "/vectors/upsert", {"vectors": vectors}) == (
        "Request size 3MB exceeds the maximum supported size of 2MB"
    )


def test_nothing_of_a_refused_upsert_is_stored(http: httpx.Client) -> None:
    vectors = [{"id": "good", "values": [1, 0, 0]}, {"id": "bad", "values": [1]}]
    _refusal(http, "/vectors/upsert", {"vectors": vectors, "namespace": "whole"})
    assert http.get("/vectors/fetch", params={"ids": ["good"], "namespace": "whole"}).json()["vectors"] == {}


@pytest.mark.parametrize("top_k", [0, -1, 10_001, "many", 1.5])
def test_top_k_is_1_to_10000(http: httpx.Client, top_k: Any) -> None:
    _refusal(http, "/query", {"vector": [1, 0, 0], "topK": top_k})


def test_a_query_asks_in_one_way(http: httpx.Client) -> None:
    both = {"vector": [1, 0, 0], "id": "a", "topK": 1}
    assert _refusal(http, "/query", both) == "Cannot provide both 'ID' and 'vector' at the same time"
    _refusal(http, "/query", {"topK": 1})
    _refusal(http, "/query", {"vector": [1, 0, 0]})


def test_ids_come_by_the_thousand_at_most(http: httpx.Client) -> None:
    ids = [str(n) for n in range(1_001)]
    assert "1001" in _refusal(http, "/vectors/delete", {"ids": ids})
    answer = http.get("/vectors/fetch", params={"ids": ids})
    assert (answer.status_code, answer.json()["code"]) == (400, 3)
    assert http.get("/vectors/fetch").status_code == 400


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"deleteAll": True, "ids": ["a"]}, "No explicit IDs allowed when delete_all=true"),
        ({"deleteAll": True, "filter": {"a": 1}}, "No filter allowed when delete_all=true"),
        ({"filter": {}}, "Delete with empty metadata filter is not allowed"),
    ],
)
def test_a_delete_says_what_in_one_way(http: httpx.Client, body: dict[str, Any], message: str) -> None:
    assert _refusal(http, "/vectors/delete", body) == message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"filter": {}, "setMetadata": {"a": 1}}, "Update with empty metadata filter is not allowed"),
        (
            {"filter": {"a": 1}, "values": [1, 0, 0]},
            "Update by metadata request does not support updating vector values.",
        ),
        ({"setMetadata": {"a": 1}}, "Exactly one of 'id' or 'filter' must be provided for update"),
    ],
)
def test_an_update_says_which_in_one_way(http: httpx.Client, body: dict[str, Any], message: str) -> None:
    assert _refusal(http, "/vectors/update", body) == message


def test_page_sizes_have_limits(http: httpx.Client) -> None:
    for params in ({"limit": 101}, {"limit": 0}, {"paginationToken": "?"}, {"prefix": "é"}):
        answer = http.get("/vectors/list", params=params)
        assert (answer.status_code, answer.json()["code"]) == (400, 3), params
    assert _refusal(http, "/vectors/fetch_by_metadata", {"filter": {}}) == (
        "Empty filter provided for fetch by metadata request"
    )


def test_sparse_values_need_a_dot_product_index(cosine: httpx.Client) -> None:
    sparse = {"indices": [1], "values": [1.0]}
    expected = (
        "Index configuration does not support sparse values - only indexes that are sparse or using dotproduct are "
        "supported"
    )
    assert _upsert(cosine, sparseValues=sparse) == expected
    assert _refusal(cosine, "/query", {"vector": [1, 0, 0], "sparseVector": sparse, "topK": 1}) == expected


@pytest.mark.parametrize(
    "sparse",
    [
        {"indices": [], "values": []},
        {"indices": [1, 2], "values": [1.0]},
        {"indices": [1, 1], "values": [1.0, 2.0]},
        {"indices": [-1], "values": [1.0]},
        {"indices": [2**32], "values": [1.0]},
        {"indices": [1.5], "values": [1.0]},
        {"indices": ["1"], "values": [1.0]},
        {"indices": [1], "values": ["x"]},
        {"indices": [1], "values": [1e39]},
        {"indices": list(range(2_049)), "values": [1.0] * 2_049},
    ],
)
def test_sparse_values_are_distinct_indices_with_numbers(http: httpx.Client, sparse: dict[str, Any]) -> None:
    _upsert(http, sparseValues=sparse)


def test_the_answer_to_a_query_holds_4_mb(url: str) -> None:
    with wire(create_index(url, "wide", dimension=1_000)) as http:
        rows = np.random.default_rng(1).random((600, 1_000), dtype=np.float32).round(5)
        for start in range(0, 600, 100):
            vectors = [
                {"id": str(start + n), "values": row.tolist()} for n, row in enumerate(rows[start : start + 100])
            ]
            http.post("/vectors/upsert", json={"vectors": vectors}).raise_for_status()
        question = {"vector": rows[0].tolist(), "topK": 600}
        assert len(http.post("/query", json=question).json()["matches"]) == 600
        answer = http.post("/query", json={**question, "includeValues": True})
        assert (answer.status_code, answer.json()["code"]) == (400, 11)
        assert "the limit is: 4194304 bytes" in answer.json()["message"]


def test_stats_refuse_a_filter_as_serverless_does(http: httpx.Client) -> None:
    assert _refusal(http, "/describe_index_stats", {"filter": {"a": 1}}) == (
        "Serverless and Starter indexes do not support describing index stats with metadata filtering"
    )


@pytest.mark.parametrize("path", ["/vectors/delete", "/vectors/update"])
def test_writing_to_a_namespace_that_is_not_there_is_not_found(http: httpx.Client, path: str) -> None:
    body = {"ids": ["a"], "namespace": "nowhere"} if "delete" in path else {"id": "a", "namespace": "nowhere"}
    answer = http.post(path, json=body)
    assert (answer.status_code, answer.json()) == (404, {"code": 5, "message": "Namespace not found", "details": []})


def test_namespaces_have_plain_names_and_are_made_once(http: httpx.Client) -> None:
    vector = {"id": "a", "values": [1, 0, 0]}
    for name in ("é", "x" * 513, "a\0"):
        _refusal(http, "/vectors/upsert", {"vectors": [vector], "namespace": name})
    _refusal(http, "/namespaces", {"name": "__default__"})
    _refusal(http, "/namespaces", {"name": "s", "schema": {"fields": {"f": {"filterable": False}}}})
    assert http.post("/namespaces", json={"name": "once"}).status_code == 200
    assert http.post("/namespaces", json={"name": "once"}).json()["code"] == 6
    assert http.get("/namespaces/nowhere").json()["message"] == "Namespace not found"
    assert http.delete("/namespaces/nowhere").status_code == 404


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"vectors": {}}', b'{"vectors": [1]}', b'{"namespace": 5}'])
def test_malformed_bodies_are_refused(http: httpx.Client, content: bytes) -> None:
    answer = http.post("/vectors/upsert", content=content)
    assert (answer.status_code, answer.json()["code"]) == (400, 3)


def test_field_names_may_be_snake_case_as_protobuf_allows(http: httpx.Client) -> None:
    answer = http.post("/query", json={"vector": [1, 0, 0], "top_k": 1, "include_metadata": True})
    assert answer.status_code == 200


def test_the_shapes_of_empty_answers(http: httpx.Client) -> None:
    asked = {"namespace": "void"}
    usage = {"usage": {"readUnits": 1}}
    query = http.post("/query", json={"vector": [1, 0, 0], "topK": 1, **asked})
    assert query.json() == {"results": [], "matches": [], "namespace": "void", **usage}
    fetched = http.get("/vectors/fetch", params={"ids": "a", **asked})
    assert fetched.json() == {"vectors": {}, "namespace": "void", **usage}
    assert http.get("/vectors/list", params=asked).json() == {"vectors": [], "namespace": "void", **usage}


def test_the_sdk_raises_its_own_types(url: str, http: httpx.Client) -> None:
    with Index(host=f"{url}/i/limits", api_key=API_KEY) as index:
        with pytest.raises(ApiError, match="does not match the dimension") as caught:
            index.upsert(vectors=[("x", [1, 2])])
        assert caught.value.status_code == 400
        assert caught.value.body == {
            "code": 3,
            "message": "Vector dimension 2 does not match the dimension of the index 3",
            "details": [],
        }
        with pytest.raises(NotFoundError, match="Namespace not found"):
            index.delete(ids=["a"], namespace="nowhere")
