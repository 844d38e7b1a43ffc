"""Metadata filters on the wire, against a plain reading of the vendor's documentation."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.pinecone_clients import create_index, wire
from tests.support.pinecone_server import running_pinecone

STRINGS = st.sampled_from(["", "a", "b", "ab", "é", "1", "true"])
NUMBERS = st.sampled_from([0, 1, -1, 2, 0.5, 1.0, 1e9, 2020])
BOOLEANS = st.booleans()
FIELDS = st.sampled_from(["genre", "year", "ok", "Tags", "x y"])
VALUES = st.one_of(STRINGS, NUMBERS, BOOLEANS, st.lists(STRINGS, max_size=3))
METADATA = st.dictionaries(FIELDS, VALUES, max_size=4)

CONDITIONS = st.one_of(
    STRINGS,
    NUMBERS,
    BOOLEANS,
    st.dictionaries(st.sampled_from(["$eq", "$ne"]), st.one_of(STRINGS, NUMBERS, BOOLEANS), min_size=1),
    st.dictionaries(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), NUMBERS, min_size=1),
    st.dictionaries(
        st.sampled_from(["$in", "$nin"]),
        st.one_of(st.lists(STRINGS, max_size=3), st.lists(NUMBERS, max_size=3)),
        min_size=1,
    ),
    st.fixed_dictionaries({"$exists": BOOLEANS}),
    st.fixed_dictionaries({"$gte": NUMBERS, "$ne": NUMBERS}),
)
CLAUSES = st.dictionaries(FIELDS, CONDITIONS, min_size=1, max_size=2)
FILTERS = st.recursive(
    CLAUSES,
    lambda inner: st.dictionaries(
        st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=6,
)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) != isinstance(right, bool) or isinstance(left, str) != isinstance(right, str):
        return False
    return bool(left == right)


def _holds(condition: Any, present: bool, value: Any) -> bool:
    """The oracle, operator by operator, on one value."""
    if not isinstance(condition, dict):
        condition = {"$eq": condition}
    members = value if isinstance(value, list) else [value] if present else []
    is_number = present and isinstance(value, (int, float)) and not isinstance(value, bool)
    verdicts = []
    for operator, operand in condition.items():
        if operator in ("$eq", "$ne"):
            verdict = any(_equal(member, operand) for member in members) == (operator == "$eq")
        elif operator in ("$in", "$nin"):
            verdict = any(_equal(member, item) for member in members for item in operand) == (operator == "$in")
        elif operator == "$exists":
            verdict = present == operand
        else:
            verdict = (
                is_number
                and {
                    "$gt": value > operand,
                    "$gte": value >= operand,
                    "$lt": value < operand,
                    "$lte": value <= operand,
                }[operator]
            )
        verdicts.append(verdict)
    return all(verdicts)


def _passes(filter: dict[str, Any], metadata: dict[str, Any]) -> bool:
    for name, condition in filter.items():
        if name == "$and":
            holds = all(_passes(part, metadata) for part in condition)
        elif name == "$or":
            holds = any(_passes(part, metadata) for part in condition)
        else:
            holds = _holds(condition, name in metadata, metadata.get(name))
        if not holds:
            return False
    return True


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        running_pinecone(tmp_path_factory.mktemp("pinecone")) as url,
        wire(create_index(url, "filters", dimension=2)) as http,
    ):
        yield http


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(METADATA, min_size=1, max_size=12), filters=st.lists(FILTERS, min_size=1, max_size=4))
def test_every_operator_selects_what_its_meaning_says(
    http: httpx.Client, records: list[dict[str, Any]], filters: list[dict[str, Any]]
) -> None:
    # Slots, columns and ids are used again from one example to the next: what was there before must not show.
    http.post("/vectors/delete", json={"deleteAll": True}).raise_for_status()
    vectors = [{"id": f"r{n}", "values": [1, n], "metadata": metadata} for n, metadata in enumerate(records)]
    http.post("/vectors/upsert", json={"vectors": vectors}).raise_for_status()
    for wanted in filters:
        expected = {f"r{n}" for n, metadata in enumerate(records) if _passes(wanted, metadata)}
        question = {"vector": [1, 0], "topK": 100, "filter": wanted}
        found = http.post("/query", json=question)
        assert found.status_code == 200, (wanted, found.text)
        assert {match["id"] for match in found.json()["matches"]} == expected, wanted
        fetched = http.post("/vectors/fetch_by_metadata", json={"filter": wanted}).json()["vectors"]
        assert set(fetched) == expected, wanted
    selected = {f"r{n}" for n, metadata in enumerate(records) if _passes(filters[0], metadata)}
    http.post("/vectors/delete", json={"filter": filters[0]}).raise_for_status()
    left = {item["id"] for item in http.get("/vectors/list").json()["vectors"]}
    assert left == {f"r{n}" for n in range(len(records))} - selected


SHELF = {
    "list": {"genre": ["comedy", "documentary"]},
    "text": {"genre": "drama", "year": 2020},
    "bare": {},
}


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"genre": "comedy"}, {"list"}),
        ({"genre": {"$in": ["documentary", "action"]}}, {"list"}),
        ({"$and": [{"genre": "comedy"}, {"genre": "documentary"}]}, {"list"}),
        ({"$and": [{"genre": "comedy"}, {"genre": "drama"}]}, set()),
        ({"genre": {"$ne": "comedy"}}, {"text", "bare"}),
        ({"genre": {"$nin": ["comedy", "drama"]}}, {"bare"}),
        ({"genre": {"$exists": False}}, {"bare"}),
        ({"genre": {"$in": []}}, set()),
        ({"year": {"$gte": 2020, "$lt": 2021}}, {"text"}),
        ({}, {"list", "text", "bare"}),
    ],
)
def test_the_documented_examples(http: httpx.Client, filter: dict[str, Any], expected: set[str]) -> None:
    vectors = [{"id": name, "values": [1, 0], "metadata": metadata} for name, metadata in SHELF.items()]
    http.post("/vectors/upsert", json={"vectors": vectors, "namespace": "shelf"}).raise_for_status()
    question = {"vector": [1, 0], "topK": 9, "namespace": "shelf", "filter": filter}
    assert {match["id"] for match in http.post("/query", json=question).json()["matches"]} == expected


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"f": {"$contains": "x"}}, "$contains is not a valid operator"),
        ({"$not": {"f": 1}}, "$not is not a valid operator"),
        ({"Title": {"eq": "a.pdf"}}, 'illegal condition for field Title, got {"eq":"a.pdf"}'),
        ({"f": {}}, "illegal condition for field f, got {}"),
        ({"f": ["a"]}, 'illegal condition for field f, got ["a"]'),
        ({"f": None}, "the $eq operator must be followed by a string, boolean or a number, got null instead"),
        (
            {"f": {"$ne": ["a"]}},
            'the $ne operator must be followed by a string, boolean or a number, got ["a"] instead',
        ),
        ({"f": {"$gte": "2025"}}, 'the $gte operator must be followed by a number, got "2025" instead'),
        ({"f": {"$lt": True}}, "the $lt operator must be followed by a number, got true instead"),
        (
            {"f": {"$in": ["a", 1]}},
            'the $in operator must be followed by a list of strings or a list of numbers, got ["a",1.0] instead',
        ),
        (
            {"f": {"$nin": [True]}},
            "the $nin operator must be followed by a list of strings or a list of numbers, got [true] instead",
        ),
        ({"f": {"$exists": 1}}, "the $exists operator must be followed by a boolean, got 1.0 instead"),
        ({"$and": {"f": 1}}, 'the $and operator must be followed by a list of filters, got {"f":1.0} instead'),
        ({"$or": [1]}, "the $or operator must be followed by a list of filters, got [1.0] instead"),
        ({"f": {"$in": ["x"] * 10_001}}, "the $in operator accepts at most 10000 values, got 10001 instead"),
    ],
)
def test_an_invalid_filter_is_refused_with_the_vendor_s_message(
    http: httpx.Client, filter: dict[str, Any], message: str
) -> None:
    for path, body in (
        ("/query", {"vector": [1, 0], "topK": 1}),
        ("/vectors/delete", {}),
        ("/vectors/update", {"setMetadata": {"a": 1}}),
        ("/vectors/fetch_by_metadata", {}),
    ):
        answer = http.post(path, json={**body, "filter": filter})
        assert (answer.status_code, answer.json()["message"]) == (400, message), path
