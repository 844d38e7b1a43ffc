"""The emulator's data plane, through the official SDK, sync and async."""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.pinecone_clients import create_index, index_client
from tests.support.pinecone_server import running_pinecone

_names = (f"books-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_pinecone(tmp_path_factory.mktemp("pinecone")) as url:
        yield url


@pytest.fixture(params=["sync", "async"])
def index(request: pytest.FixtureRequest, url: str) -> Iterator[Any]:
    host = create_index(url, next(_names))
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        client = index_client(request.param, host, runner)
        client.upsert(
            namespace="shelf",
            vectors=[
                {"id": "a#1", "values": [1, 0, 0, 0], "metadata": {"year": 1999, "tags": ["x", "y"], "ok": True}},
                {"id": "a#2", "values": [0.6, 0.8, 0, 0], "metadata": {"year": 2005, "title": "Été"}},
                {"id": "b#1", "values": [0, 0, 1, 0]},
            ],
        )
        yield client
        client.close()


def _ids(response: Any) -> list[str]:
    return [match.id for match in response.matches]


def test_upsert_counts_and_replaces_by_id(index: Any) -> None:
    assert index.upsert(vectors=[("b#1", [0, 0, 0, 2], {"new": 1})], namespace="shelf").upserted_count == 1
    found = index.fetch(ids=["b#1"], namespace="shelf").vectors["b#1"]
    assert (found.values, found.metadata) == ([0, 0, 0, 2], {"new": 1})
    assert index.describe_index_stats().namespaces["shelf"].vector_count == 3


def test_the_last_of_equal_ids_in_one_upsert_wins(index: Any) -> None:
    index.upsert(vectors=[("d", [1, 0, 0, 0]), ("d", [0, 1, 0, 0])], namespace="shelf")
    assert index.fetch(ids=["d"], namespace="shelf").vectors["d"].values == [0, 1, 0, 0]


def test_query_ranks_by_score_and_returns_only_the_requested_fields(index: Any) -> None:
    bare = index.query(vector=[1, 0, 0, 0], top_k=2, namespace="shelf")
    assert _ids(bare) == ["a#1", "a#2"]
    assert [match.score for match in bare.matches] == pytest.approx([1.0, 0.6])
    assert all(match.values == [] and match.metadata is None for match in bare.matches)
    assert (bare.namespace, bare.usage.read_units >= 1) == ("shelf", True)
    full = index.query(vector=[1, 0, 0, 0], top_k=2, namespace="shelf", include_values=True, include_metadata=True)
    assert full.matches[1].values == pytest.approx([0.6, 0.8, 0, 0])
    assert full.matches[1].metadata == {"year": 2005, "title": "Été"}


def test_numbers_in_metadata_come_back_as_floats(index: Any) -> None:
    year = index.fetch(ids=["a#1"], namespace="shelf").vectors["a#1"].metadata["year"]
    assert isinstance(year, float)


def test_null_metadata_is_dropped(index: Any) -> None:
    index.upsert(vectors=[("n", [1, 0, 0, 0], {"gone": None, "kept": "k"})], namespace="shelf")
    assert index.fetch(ids=["n"], namespace="shelf").vectors["n"].metadata == {"kept": "k"}


def test_query_by_id_uses_the_stored_vector(index: Any) -> None:
    assert _ids(index.query(id="a#2", top_k=1, namespace="shelf")) == ["a#2"]
    assert _ids(index.query(id="nobody", top_k=1, namespace="shelf")) == []


def test_query_filters_first(index: Any) -> None:
    found = index.query(vector=[1, 0, 0, 0], top_k=1, namespace="shelf", filter={"year": {"$gt": 2000}})
    assert _ids(found) == ["a#2"]


def test_a_namespace_nobody_wrote_to_is_empty_to_readers(index: Any) -> None:
    assert _ids(index.query(vector=[1, 0, 0, 0], top_k=3, namespace="elsewhere")) == []
    assert index.fetch(ids=["a#1"], namespace="elsewhere").vectors == {}
    assert list(index.list(namespace="elsewhere")) == []


def test_namespaces_are_apart_and_the_default_one_has_two_names(index: Any) -> None:
    index.upsert(vectors=[("z", [1, 1, 1, 1])])
    assert _ids(index.query(vector=[1, 0, 0, 0], top_k=9)) == ["z"]
    assert _ids(index.query(vector=[1, 0, 0, 0], top_k=9, namespace="__default__")) == ["z"]
    assert index.describe_index_stats().namespaces["__default__"].vector_count == 1
    index.delete(ids=["z"], namespace="__default__")
    assert index.fetch(ids=["z"]).vectors == {}


def test_query_several_namespaces_at_once(index: Any) -> None:
    index.upsert(vectors=[("other", [0.9, 0, 0, 0])], namespace="second")
    found = index.query_namespaces(
        vector=[1, 0, 0, 0], namespaces=["shelf", "second"], metric="dotproduct", top_k=2, include_metadata=False
    )
    assert _ids(found) == ["a#1", "other"]


def test_fetch_leaves_out_what_is_not_there(index: Any) -> None:
    found = index.fetch(ids=["a#1", "nobody"], namespace="shelf")
    assert set(found.vectors) == {"a#1"}
    assert (found.namespace, found.usage.read_units) == ("shelf", 1)


def test_fetch_by_metadata_pages_through_the_selection(index: Any) -> None:
    index.upsert(vectors=[(f"p{n}", [1, 0, 0, 0], {"kind": "page"}) for n in range(5)], namespace="shelf")
    seen: list[str] = []
    token = None
    while True:
        page = index.fetch_by_metadata(filter={"kind": "page"}, namespace="shelf", limit=2, pagination_token=token)
        seen += page.vectors
        if page.pagination is None:
            break
        token = page.pagination.next
    assert seen == ["p0", "p1", "p2", "p3", "p4"]


def test_list_pages_by_prefix_in_order(index: Any) -> None:
    index.upsert(vectors=[(f"c#{n:03}", [1, 0, 0, 0]) for n in range(250)], namespace="shelf")
    pages = [[item.id for item in page.vectors] for page in index.list(prefix="c#", namespace="shelf")]
    assert [len(page) for page in pages] == [100, 100, 50]
    assert list(itertools.chain.from_iterable(pages)) == [f"c#{n:03}" for n in range(250)]
    assert [[item.id for item in page.vectors] for page in index.list(prefix="a#", limit=1, namespace="shelf")] == [
        ["a#1"],
        ["a#2"],
    ]
    last = index.list_paginated(prefix="c#", limit=100, namespace="shelf")
    assert last.pagination.next
    assert index.list_paginated(prefix="zz", namespace="shelf").pagination is None


def test_update_by_id_changes_only_what_it_names(index: Any) -> None:
    index.update(id="a#1", set_metadata={"year": 2001, "more": "m"}, namespace="shelf")
    found = index.fetch(ids=["a#1"], namespace="shelf").vectors["a#1"]
    assert found.metadata == {"year": 2001, "tags": ["x", "y"], "ok": True, "more": "m"}
    assert found.values == [1, 0, 0, 0]
    index.update(id="a#1", values=[0, 0, 0, 1], namespace="shelf")
    assert _ids(index.query(vector=[0, 0, 0, 1], top_k=1, namespace="shelf")) == ["a#1"]
    index.update(id="a#1", sparse_values={"indices": [3], "values": [2.0]}, namespace="shelf")
    assert index.fetch(ids=["a#1"], namespace="shelf").vectors["a#1"].sparse_values.indices == [3]


def test_update_of_nobody_changes_nothing(index: Any) -> None:
    index.update(id="nobody", set_metadata={"a": 1}, namespace="shelf")
    assert index.fetch(ids=["nobody"], namespace="shelf").vectors == {}


def test_update_by_filter_counts_and_can_be_tried_dry(index: Any) -> None:
    recent = {"year": {"$exists": True}}
    assert index.update(filter=recent, set_metadata={"seen": 1}, namespace="shelf", dry_run=True).matched_records == 2
    assert "seen" not in index.fetch(ids=["a#1"], namespace="shelf").vectors["a#1"].metadata
    assert index.update(filter=recent, set_metadata={"seen": 1}, namespace="shelf").matched_records == 2
    assert len(index.fetch_by_metadata(filter={"seen": 1}, namespace="shelf").vectors) == 2


def test_delete_by_id_by_filter_and_all(index: Any) -> None:
    index.delete(ids=["a#1", "nobody"], namespace="shelf")
    assert _ids(index.query(vector=[1, 0, 0, 0], top_k=9, namespace="shelf")) == ["a#2", "b#1"]
    index.delete(filter={"year": {"$gte": 2005}}, namespace="shelf")
    assert _ids(index.query(vector=[1, 0, 0, 0], top_k=9, namespace="shelf")) == ["b#1"]
    index.delete(delete_all=True, namespace="shelf")
    assert index.describe_index_stats().namespaces["shelf"].vector_count == 0


def test_a_deleted_id_can_be_written_again(index: Any) -> None:
    index.delete(ids=["a#1"], namespace="shelf")
    index.upsert(vectors=[("a#1", [0, 1, 0, 0], {"year": 1})], namespace="shelf")
    found = index.query(vector=[0, 1, 0, 0], top_k=1, namespace="shelf", filter={"year": 1}, include_values=True)
    assert (_ids(found), found.matches[0].values) == (["a#1"], [0, 1, 0, 0])


def test_stats_name_dimension_metric_and_counts(index: Any) -> None:
    stats = index.describe_index_stats()
    assert (stats.dimension, stats.metric, stats.vector_type) == (4, "dotproduct", "dense")
    assert (stats.total_vector_count, stats.index_fullness) == (3, 0)
    assert {name: summary.vector_count for name, summary in stats.namespaces.items()} == {"shelf": 3}


def test_namespaces_are_created_listed_described_and_deleted(index: Any) -> None:
    made = index.create_namespace(name="n/1", schema={"fields": {"genre": {"filterable": True}}})
    assert (made.name, made.record_count, made.indexed_fields.fields) == ("n/1", 0, ["genre"])
    pages = list(index.list_namespaces(limit=1))
    assert [[space.name for space in page.namespaces] for page in pages] == [["n/1"], ["shelf"]]
    assert pages[0].total_count == 2
    assert [space.name for page in index.list_namespaces(prefix="sh") for space in page.namespaces] == ["shelf"]
    assert index.describe_namespace(name="shelf").record_count == 3
    assert index.describe_namespace(name="__default__").record_count == 0
    index.delete_namespace(name="shelf")
    assert [space.name for page in index.list_namespaces() for space in page.namespaces] == ["n/1"]
    assert _ids(index.query(vector=[1, 0, 0, 0], top_k=9, namespace="shelf")) == []


def test_the_sdk_upserts_in_parallel_batches(index: Any) -> None:
    vectors = [(f"bulk{n}", [1.0, n, 0, 0]) for n in range(230)]
    response = index.upsert(vectors=vectors, namespace="bulk", batch_size=50, show_progress=False)
    assert (response.upserted_count, response.failed_item_count) == (230, 0)
    assert index.describe_index_stats().namespaces["bulk"].vector_count == 230
