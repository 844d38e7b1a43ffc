"""Visibility, order and storage of the Pinecone emulator, with a clock that the test turns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from local.pinecone.database import Database, Index
from local.pinecone.filters import parse_filter
from local.pinecone.namespace import InvertedLists
from local.pinecone.records import Record, Sparse, metadata_json
from local.pinecone.validation import RpcError

CONFIG: dict[str, Any] = {
    "dimension": 2,
    "metric": "dotproduct",
    "cloud": "aws",
    "region": "us-east-1",
    "deletion_protection": "disabled",
    "tags": None,
}


class HandClock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def database(tmp_path: Path, clock: HandClock) -> Iterator[Database]:
    database = Database(tmp_path, visibility_delay_s=5, monotonic=clock)
    yield database
    database.close()


@pytest.fixture
def index(database: Database) -> Index:
    index = database.create_index("books", CONFIG)
    assert index is not None
    return index


def _record(record_id: str, **metadata: Any) -> Record:
    return Record(record_id, np.array([1, 0], dtype=np.float32), None, metadata_json(metadata))


def _put(index: Index, *records: Record) -> int:
    return index.namespace("n", create=True).write(lambda _committed: {record.id: record for record in records})


def _seen(index: Index) -> tuple[list[str], int]:
    handle = index.namespace("n")
    with handle.lock:
        visible, lsn = handle.visible()
        return visible.ids(), lsn


def test_a_write_is_seen_when_its_time_has_come(index: Index, clock: HandClock) -> None:
    assert _put(index, _record("a")) == 1
    clock.now += 3
    assert _put(index, _record("b")) == 2
    assert _seen(index) == ([], 0)
    clock.now += 2
    assert _seen(index) == (["a"], 1)
    clock.now += 3
    assert _seen(index) == (["a", "b"], 2)


def test_a_shorter_delay_does_not_let_a_write_overtake(database: Database, index: Index, clock: HandClock) -> None:
    _put(index, _record("a", v=1))
    database.visibility_delay_s = 1
    _put(index, _record("a", v=2))
    clock.now += 2
    assert _seen(index) == ([], 0)
    clock.now += 3
    assert _seen(index) == (["a"], 2)


def test_no_delay_shows_everything_at_once(database: Database, index: Index) -> None:
    _put(index, _record("a"))
    database.set_visibility_delay(0)
    assert _seen(index) == (["a"], 1)
    _put(index, _record("b"))
    assert _seen(index) == (["a", "b"], 2)


def test_a_write_selects_among_writes_nobody_sees_yet(index: Index, clock: HandClock) -> None:
    _put(index, _record("keep", v=1), _record("drop", v=2))
    node = parse_filter({"v": {"$gte": 2}})
    index.namespace("n").write(lambda committed: dict.fromkeys(committed.select(node)))
    index.namespace("n").write(lambda committed: dict.fromkeys(committed.ids()) if "drop" in committed.ids() else {})
    clock.now += 5
    assert _seen(index) == (["keep"], 3)


def test_a_write_goes_by_what_a_record_has_become_not_by_what_reads_still_see(index: Index, clock: HandClock) -> None:
    _put(index, _record("a", v=2), _record("b", v=2))
    clock.now += 5
    assert _seen(index) == (["a", "b"], 1)
    _put(index, _record("a", v=1))
    index.namespace("n").write(lambda committed: dict.fromkeys(committed.select(parse_filter({"v": 2}))))
    clock.now += 5
    assert _seen(index) == (["a"], 3)


def test_what_is_not_seen_yet_is_stored_already(database: Database, index: Index, tmp_path: Path) -> None:
    _put(index, _record("a", v=1))
    database.close()
    again = Database(tmp_path)
    reopened = again.index("books")
    assert reopened is not None
    assert _seen(reopened) == (["a"], 1)
    assert reopened.namespace("n").write(lambda _committed: {}) == 2
    again.close()


def test_a_refused_decision_leaves_everything_as_it_was(index: Index) -> None:
    def refuse(_committed: object) -> dict[str, Record | None]:
        raise RpcError("no")

    with pytest.raises(RpcError):
        index.namespace("n", create=True).write(refuse)
    assert _put(index, _record("a")) == 1


def test_a_namespace_deleted_meanwhile_takes_no_writes(database: Database, index: Index) -> None:
    _put(index, _record("a"))
    handle = index.namespace("n")
    index.delete_namespace("n")
    with pytest.raises(KeyError):
        handle.write(lambda _committed: {"b": _record("b")})
    assert database.storage.count(handle.row.id) == 0


def test_a_deleted_index_leaves_nothing_behind(database: Database, index: Index) -> None:
    _put(index, _record("a"))
    row_id = index.namespace("n").row.id
    database.delete_index("books")
    assert database.index("books") is None
    assert database.storage.count(row_id) == 0
    again = database.create_index("books", CONFIG)
    assert again is not None
    assert [handle.row.name for handle in again.namespaces()] == [""]


def test_ids_are_listed_by_prefix_in_code_point_order(database: Database, index: Index) -> None:
    database.set_visibility_delay(0)
    _put(index, *(_record(name) for name in ("b#10", "b#2", "a", "b", "b#1", "c", "B#1")))
    visible, _ = index.namespace("n").visible()
    assert visible.ids(prefix="b#") == ["b#1", "b#10", "b#2"]
    assert visible.ids(prefix="b", after="b#1", limit=1) == ["b#10"]
    assert visible.ids() == ["B#1", "a", "b", "b#1", "b#10", "b#2", "c"]


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_slot_used_again_forgets_its_former_terms(rebuilt: bool) -> None:
    def sparse(**weights: float) -> Sparse:
        terms = [int(term.removeprefix("t")) for term in weights]
        return Sparse(np.array(terms, dtype=np.int64), np.array(list(weights.values()), dtype=np.float32))

    lists = InvertedLists(2_000)
    # Beyond a thousand changes the lists are built anew, after which a slot's former terms stand in the block.
    for slot in range(1_500 if rebuilt else 10):
        lists.set(slot, sparse(t1=1.0))
    assert lists.scores(sparse(t1=2.0), 2_000)[:10].tolist() == [2.0] * 10
    lists.set(3, sparse(t5=1.0))
    lists.set(4, None)
    assert lists.scores(sparse(t1=2.0, t5=3.0), 2_000)[2:6].tolist() == [2.0, 3.0, 0.0, 2.0]
