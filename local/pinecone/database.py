"""Indexes and their namespaces: which read sees which write, and in which order.

A write is committed to the file before it is acknowledged, gets the namespace's next log sequence number, and becomes
visible to reads after `visibility_delay_s` (0: at once). A write that selects by filter selects among everything
committed, visible or not.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from local.pinecone.filters import Filter, matches
from local.pinecone.namespace import Namespace
from local.pinecone.records import Record, Space
from local.pinecone.storage import NamespaceRow, Storage

type Changes = Mapping[str, Record | None]


class _Pending(NamedTuple):
    visible_at: float
    lsn: int
    changes: Changes


class Committed:
    """Everything committed to a namespace: what reads see, and the writes they do not see yet."""

    def __init__(self, visible: Namespace, pending: Iterable[_Pending]) -> None:
        self._visible = visible
        self._later: dict[str, Record | None] = {}
        for write in pending:
            self._later.update(write.changes)

    def get(self, record_id: str) -> Record | None:
        """Return one record, or None."""
        return self._later[record_id] if record_id in self._later else self._visible.get(record_id)

    def ids(self) -> list[str]:
        """Return the ids of all records."""
        unchanged = [record_id for record_id in self._visible.ids() if record_id not in self._later]
        return unchanged + [record_id for record_id, record in self._later.items() if record is not None]

    def select(self, passes: Filter) -> list[str]:
        """Return the ids of the records that pass the filter."""
        unchanged = [record_id for record_id in self._visible.select(passes) if record_id not in self._later]
        return unchanged + [
            record_id
            for record_id, record in self._later.items()
            if record is not None and matches(passes, orjson.loads(record.metadata or b"{}"))
        ]


class NamespaceHandle:
    """One namespace: loaded on first use, locked while in use."""

    def __init__(self, database: "Database", row: NamespaceRow, space: Space) -> None:
        self._database = database
        self._space = space
        self._visible: Namespace | None = None
        self._pending: deque[_Pending] = deque()
        self._visible_lsn = row.lsn
        self.row = row
        self.lsn = row.lsn
        self.lock = threading.RLock()

    def visible(self) -> tuple[Namespace, int]:
        """Return what reads see now, and the sequence number it reflects. Hold `lock` while using it."""
        return self.settle(until=self._database.monotonic()), self._visible_lsn

    def write(self, decide: Callable[[Committed], Changes]) -> int:
        """Commit what `decide` makes of the committed state; return the write's sequence number.

        Raises `KeyError` when the namespace was deleted meanwhile.
        """
        with self.lock:
            visible, _ = self.visible()
            changes = decide(Committed(visible, self._pending))
            self._database.storage.write(self.row.id, changes, lsn=self.lsn + 1)
            self.lsn += 1
            delay = self._database.visibility_delay_s
            self._pending.append(_Pending(self._database.monotonic() + delay, self.lsn, changes))
            if delay == 0:
                self.settle()
            return self.lsn

    def settle(self, *, until: float = math.inf) -> Namespace:
        """Make the writes visible that are due by `until`, and return what is visible."""
        with self.lock:
            visible = self._loaded()
            while self._pending and self._pending[0].visible_at <= until:
                write = self._pending.popleft()
                visible.apply(write.changes)
                self._visible_lsn = write.lsn
            return visible

    def count(self) -> int:
        """Return how many records reads see; does not load a namespace that is not in use."""
        with self.lock:
            if self._visible is None:
                return self._database.storage.count(self.row.id)
            return len(self.visible()[0])

    def size_bytes(self) -> int:
        """Return roughly how many bytes the records take."""
        return self._database.storage.size_bytes(self.row.id)

    def _loaded(self) -> Namespace:
        if self._visible is None:
            storage = self._database.storage
            self._visible = Namespace(self._space, capacity=max(64, storage.count(self.row.id)))
            for record in storage.records(self.row.id):
                self._visible.apply({record.id: record})
        return self._visible


class Index:
    """One index: its configuration and its namespaces. The default namespace, named "", always exists."""

    def __init__(self, database: "Database", name: str, config: dict[str, Any]) -> None:
        self._database = database
        self.name = name
        self.config = config
        # An index of the former API takes sparse values if its metric allows it; from 2026-07 on the schema says so.
        self.space = Space(
            config["dimension"], config["metric"], config.get("sparse", config["metric"] == "dotproduct")
        )
        rows = database.storage.namespaces(name)
        self._handles = {row.name: NamespaceHandle(database, row, self.space) for row in rows}
        self._lock = threading.Lock()
        self.namespace("", create=True)

    def namespaces(self) -> list[NamespaceHandle]:
        """Return all namespaces, by name."""
        with self._lock:
            return [self._handles[name] for name in sorted(self._handles)]

    def namespace(self, name: str, *, create: bool = False, schema: dict[str, Any] | None = None) -> "NamespaceHandle":
        """Return a namespace; `create` adds a missing one. Raises `KeyError` when there is none."""
        with self._lock:
            if name not in self._handles and create:
                row = self._database.storage.create_namespace(self.name, name, schema)
                self._handles[name] = NamespaceHandle(self._database, row, self.space)
            return self._handles[name]

    def delete_namespace(self, name: str) -> None:
        """Remove a namespace; the default one is only emptied. Raises `KeyError` when there is none."""
        with self._lock:
            handle = self._handles.pop(name)
        with handle.lock:
            self._database.storage.delete_namespace(handle.row.id)
        if name == "":
            self.namespace("", create=True)


class Database:
    """All indexes of one state folder. `monotonic` is the clock that delayed writes become visible by."""

    def __init__(
        self, state_dir: Path, *, visibility_delay_s: float = 0.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder = state_dir
        self.storage = Storage(state_dir / "pinecone.sqlite3")
        self.monotonic = monotonic
        self.visibility_delay_s = visibility_delay_s
        self._lock = threading.Lock()
        self._indexes = {name: Index(self, name, config) for name, config in self.storage.indexes().items()}

    def indexes(self) -> list[Index]:
        """Return all indexes, oldest first."""
        with self._lock:
            return list(self._indexes.values())

    def index(self, name: str) -> Index | None:
        """Return an index, or None."""
        with self._lock:
            return self._indexes.get(name)

    def create_index(self, name: str, config: dict[str, Any]) -> Index | None:
        """Create an index; None when the name is taken."""
        with self._lock:
            if name in self._indexes:
                return None
            self.storage.save_index(name, config)
            self._indexes[name] = Index(self, name, config)
            return self._indexes[name]

    def configure_index(self, index: Index, changes: Mapping[str, Any]) -> None:
        """Change an index's configuration (never what its vectors look like)."""
        with self._lock:
            index.config = {**index.config, **changes}
            self.storage.save_index(index.name, index.config)

    def delete_index(self, name: str) -> None:
        """Remove an index with all it holds."""
        with self._lock:
            del self._indexes[name]
            self.storage.delete_index(name)

    def set_visibility_delay(self, delay_s: float) -> None:
        """Change the delay for writes to come; those already committed become visible at once."""
        self.visibility_delay_s = delay_s
        for index in self.indexes():
            for handle in index.namespaces():
                handle.settle()

    def close(self) -> None:
        """Close the file."""
        self.storage.close()
