"""Filters are checked before they are sent, and mean what the index takes them to mean."""

from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from functions.query.api import problems
from functions.query.api.schemas import QueryBody
from functions.query.retrieval.filters import (
    MAX_CONDITIONS,
    InvalidFilter,
    both,
    checked_filter,
    documents_chosen,
    matches,
)
from local.pinecone.filters import matches as vendor_matches
from local.pinecone.filters import parse_filter
from shared.models import Filter


@pytest.mark.parametrize(
    "right",
    [
        {"language": "en"},
        {"page_start": {"$gte": 3, "$lt": 9}},
        {"$or": [{"department_id": {"$in": ["a", "b"]}}, {"archived": {"$ne": True}}]},
        {"$and": [{"x": {"$exists": False}}, {"$or": [{"y": 1.5}]}]},
        {"tags": {"$nin": ["old"]}},
    ],
)
def test_right_filters_pass_as_they_are(right: dict[str, Any]):
    assert checked_filter(right) is right


def test_an_empty_filter_is_none():
    assert checked_filter(None) is None
    assert checked_filter({}) is None


@pytest.mark.parametrize(
    ("wrong", "path", "change"),
    [
        ("language", "filter", "must be an object"),
        ({"language": None}, "filter.language", "not null"),
        ({"language": ["en"]}, "filter.language", "$in"),
        ({"language": {}}, "filter.language", "needs an operator"),
        ({"page_start": {"$gte": "3"}}, "filter.page_start.$gte", "must be a number, not a string"),
        ({"page_start": {"$gte": True}}, "filter.page_start.$gte", "must be a number, not a boolean"),
        ({"page_start": {"$gte": float("nan")}}, "filter.page_start.$gte", "must be a number"),
        ({"page": {"$like": "x"}}, "filter.page.$like", "$eq, $ne"),
        ({"$eq": 3}, "filter.$eq", "belongs under a field's name"),
        ({"$not": []}, "filter.$not", "not known"),
        ({"$or": {"a": 1}}, "filter.$or", "must be a list"),
        ({"$or": []}, "filter.$or", "an empty list"),
        ({"$or": [{"a": 1}, 7]}, "filter.$or[1]", "must be an object"),
        ({"$and": [{"$or": [{"a": 1}, {"b": {"$in": [1, "x"]}}]}]}, "filter.$and[0].$or[1].b.$in", "strings only"),
        ({"a": {"$in": []}}, "filter.a.$in", "an empty list"),
        ({"a": {"$exists": "yes"}}, "filter.a.$exists", "true or false"),
        ({"a": {"$eq": {"b": 1}}}, "filter.a.$eq", "not an object"),
        ({"page_start": 10**400}, "filter.page_start", "not such a number"),
        ({"page_start": {"$lt": 2**64}}, "filter.page_start.$lt", "must be a number"),
        ({"language": "\ud800"}, "filter.language", "half of a character"),
        ({"a": {"$in": ["x", "\udfff"]}}, "filter.a.$in", "must hold strings only"),
        ({"\ud800": 1}, "filter.\ufffd", "not text"),
        ({"a": {"$\ud800": 1}}, "filter.a.$\ufffd", "not known"),
    ],
)
def test_wrong_filters_say_where_and_what_to_do(wrong: object, path: str, change: str):
    with pytest.raises(InvalidFilter) as raised:
        checked_filter(wrong)
    assert raised.value.path == path
    assert raised.value.message.startswith(f"{path}: ")
    assert change in raised.value.message
    assert raised.value.status == 422


def test_an_error_about_a_filter_is_short_however_long_its_names_are():
    with pytest.raises(InvalidFilter) as raised:
        checked_filter({"x" * 1_000_000: []})
    assert len(raised.value.message) < 500
    assert raised.value.path.endswith("…")


def test_too_deep_and_too_long_filters_are_refused():
    deep: dict[str, Any] = {"a": 1}
    for _ in range(20):
        deep = {"$and": [deep]}
    with pytest.raises(InvalidFilter, match="deeper"):
        checked_filter(deep)
    with pytest.raises(InvalidFilter, match="one condition too many"):
        checked_filter({"$or": [{"a": n} for n in range(MAX_CONDITIONS + 1)]})
    with pytest.raises(InvalidFilter, match="at most 10000"):
        checked_filter({"a": {"$in": list(range(10_001))}})


def test_two_filters_let_through_what_passes_both():
    assert both(None, None) is None
    assert both({"a": 1}, None) == {"a": 1}
    joined = both({"a": 1}, {"b": 2})
    assert joined is not None
    assert matches(joined, {"a": 1, "b": 2})
    assert not matches(joined, {"a": 1, "b": 3})


SCALARS = st.one_of(st.sampled_from(["x", "y"]), st.booleans(), st.sampled_from([0, 1, 1.0, 2.5]))
NUMBERS = st.sampled_from([0, 1, 2.5])
CONDITIONS = st.one_of(
    SCALARS,
    st.fixed_dictionaries({}, optional={"$eq": SCALARS, "$ne": SCALARS}).filter(bool),
    st.fixed_dictionaries({}, optional=dict.fromkeys(["$gt", "$gte", "$lt", "$lte"], NUMBERS)).filter(bool),
    st.fixed_dictionaries({"$in": st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=2)}),
    st.fixed_dictionaries({"$nin": st.lists(NUMBERS, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"$exists": st.booleans()}),
)
FIELDS = st.dictionaries(st.sampled_from(["a", "b"]), CONDITIONS, min_size=1, max_size=2)
FILTERS = st.recursive(
    FIELDS,
    lambda parts: st.fixed_dictionaries(
        {}, optional={"$and": st.lists(parts, min_size=1, max_size=3), "$or": st.lists(parts, min_size=1, max_size=3)}
    ).filter(bool),
    max_leaves=6,
)
METADATA = st.dictionaries(st.sampled_from(["a", "b"]), st.one_of(SCALARS, st.lists(st.sampled_from(["x", "y"]))))


@given(FILTERS, METADATA)
def test_a_filter_means_here_what_it_means_to_the_index(found: dict[str, Any], metadata: dict[str, Any]):
    assert checked_filter(found) is found
    assert matches(found, metadata) == vendor_matches(parse_filter(found), metadata)


def test_a_client_is_told_by_422_where_its_filter_is_wrong():
    app = FastAPI()
    problems.install(app)

    @app.post("/query")
    def query(body: QueryBody) -> None:
        body.to_question()

    wrong = {"question": "How often?", "filter": {"$or": [{"page_start": {"$gte": "3"}}]}}
    answer = TestClient(app, raise_server_exceptions=False).post("/query", json=wrong)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (body["code"], body["path"]) == ("invalid_filter", "filter.$or[0].page_start.$gte")
    assert "must be a number, not a string" in body["detail"]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (None, 0),
        ({"document_id": "a"}, 1),
        ({"document_id": {"$in": ["a", "b"]}}, 2),
        ({"$and": [{"language": "en"}, {"title": {"$eq": "A"}}]}, 1),
        ({"document_id": {"$nin": ["a"]}}, 0),
        ({"language": "en"}, 0),
        ({"$or": [{"document_id": "a"}, {"language": "en"}]}, 0),
    ],
)
def test_a_filter_chooses_documents_by_name_only(wanted: Filter | None, count: int):
    assert documents_chosen(wanted) == count
