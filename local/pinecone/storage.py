"""The SQLite file: every write is stored there before it is acknowledged.

Write-ahead log with `synchronous=NORMAL`: a killed process loses nothing that was committed; a power cut may lose the
last moments, which is fair for a laptop.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from local.pinecone.records import Record, Sparse

_SCHEMA = """
CREATE TABLE IF NOT EXISTS indexes (name TEXT PRIMARY KEY, config TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS namespaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, index_name TEXT NOT NULL, name TEXT NOT NULL, lsn INTEGER NOT NULL,
    schema TEXT, UNIQUE (index_name, name)
);
CREATE TABLE IF NOT EXISTS records (
    namespace_id INTEGER NOT NULL, id TEXT NOT NULL, dense BLOB NOT NULL, sparse_indices BLOB, sparse_values BLOB,
    metadata BLOB NOT NULL, UNIQUE (namespace_id, id)
);
"""

_UPSERT = """
INSERT INTO records (namespace_id, id, dense, sparse_indices, sparse_values, metadata) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace_id, id) DO UPDATE SET dense = excluded.dense, sparse_indices = excluded.sparse_indices,
    sparse_values = excluded.sparse_values, metadata = excluded.metadata
"""


class NamespaceRow(NamedTuple):
    """A namespace as the file knows it; `schema` is what it was created with, if anything."""

    id: int
    name: str
    lsn: int
    schema: dict[str, Any] | None


class Storage:
    """The file. Thread-safe: one connection, one lock, every method one transaction."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;" + _SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query, parameters).fetchall()

    def _change(self, *statements: tuple[str, tuple[object, ...]]) -> sqlite3.Cursor:
        """Execute statements in one transaction; return the last one's cursor."""
        with self._lock, self._connection:
            return [self._connection.execute(query, parameters) for query, parameters in statements][-1]

    def indexes(self) -> dict[str, dict[str, Any]]:
        """Return every index's configuration by name, oldest first."""
        rows = self._rows("SELECT name, config FROM indexes ORDER BY rowid")
        return {name: orjson.loads(config) for name, config in rows}

    def save_index(self, name: str, config: Mapping[str, Any]) -> None:
        """Create an index or replace its configuration."""
        query = "INSERT INTO indexes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config"
        self._change((query, (name, orjson.dumps(config).decode())))

    def delete_index(self, name: str) -> None:
        """Remove an index with all it holds."""
        own = "SELECT id FROM namespaces WHERE index_name = ?"
        self._change(
            (f"DELETE FROM records WHERE namespace_id IN ({own})", (name,)),
            ("DELETE FROM namespaces WHERE index_name = ?", (name,)),
            ("DELETE FROM indexes WHERE name = ?", (name,)),
        )

    def namespaces(self, index_name: str) -> list[NamespaceRow]:
        """Return the namespaces of an index."""
        rows = self._rows("SELECT id, name, lsn, schema FROM namespaces WHERE index_name = ?", index_name)
        return [NamespaceRow(row[0], row[1], row[2], orjson.loads(row[3]) if row[3] else None) for row in rows]

    def create_namespace(self, index_name: str, name: str, schema: dict[str, Any] | None) -> NamespaceRow:
        """Add an empty namespace."""
        query = "INSERT INTO namespaces (index_name, name, lsn, schema) VALUES (?, ?, 0, ?)"
        cursor = self._change((query, (index_name, name, orjson.dumps(schema).decode() if schema else None)))
        return NamespaceRow(int(cursor.lastrowid or 0), name, 0, schema)

    def delete_namespace(self, namespace_id: int) -> None:
        """Remove a namespace with all it holds."""
        self._change(
            ("DELETE FROM records WHERE namespace_id = ?", (namespace_id,)),
            ("DELETE FROM namespaces WHERE id = ?", (namespace_id,)),
        )

    def write(self, namespace_id: int, changes: Mapping[str, Record | None], *, lsn: int) -> None:
        """Commit a write: records to store, and ids to remove (None). Raises `KeyError` if the namespace is gone."""
        put = [_row(namespace_id, record) for record in changes.values() if record is not None]
        gone = [(namespace_id, record_id) for record_id, record in changes.items() if record is None]
        with self._lock, self._connection:
            updated = self._connection.execute("UPDATE namespaces SET lsn = ? WHERE id = ?", (lsn, namespace_id))
            if updated.rowcount == 0:
                raise KeyError(namespace_id)
            self._connection.executemany(_UPSERT, put)
            self._connection.executemany("DELETE FROM records WHERE namespace_id = ? AND id = ?", gone)

    def count(self, namespace_id: int) -> int:
        """Return how many records a namespace holds."""
        return int(self._rows("SELECT count(*) FROM records WHERE namespace_id = ?", namespace_id)[0][0])

    def size_bytes(self, namespace_id: int) -> int:
        """Return roughly how many bytes a namespace's records take."""
        lengths = "length(id) + length(dense) + coalesce(length(sparse_indices), 0) + length(metadata)"
        query = f"SELECT coalesce(sum({lengths}), 0) FROM records WHERE namespace_id = ?"
        return int(self._rows(query, namespace_id)[0][0])

    def records(self, namespace_id: int) -> Iterator[Record]:
        """Read a whole namespace, in the order it was first written."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT id, dense, sparse_indices, sparse_values, metadata FROM records WHERE namespace_id = ? "
                "ORDER BY rowid",
                (namespace_id,),
            )
            for record_id, dense, indices, values, metadata in rows:
                sparse = None
                if indices is not None:
                    sparse = Sparse(np.frombuffer(indices, dtype=np.int64), np.frombuffer(values, dtype=np.float32))
                yield Record(record_id, np.frombuffer(dense, dtype=np.float32), sparse, metadata)


def _row(namespace_id: int, record: Record) -> tuple[Any, ...]:
    sparse = record.sparse
    return (
        namespace_id,
        record.id,
        record.values.tobytes(),
        None if sparse is None else sparse.indices.tobytes(),
        None if sparse is None else sparse.values.tobytes(),
        record.metadata,
    )
