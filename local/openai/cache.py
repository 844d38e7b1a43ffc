"""Remembers vectors on disk by the hash of their text, so that a second run of the laptop stack is quick."""

import hashlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from local.openai.build_graph import HIDDEN
from local.openai.minilm import Vectors

_VARIABLES = 500  # SQLite's oldest limit on `?` in one statement is 999


class VectorCache:
    """A bounded SQLite table of vectors; `space` keeps the results of different graphs apart. Texts are not stored."""

    def __init__(self, path: Path, *, space: str, max_rows: int = 50_000, dimensions: int = HIDDEN) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._space = space
        self._max_rows = max_rows
        self._bytes = 4 * dimensions
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB UNIQUE, vector BLOB)"
        )

    def get_many(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors known among `texts`."""
        by_hash = {self._hash(text): text for text in texts}
        hashes = list(by_hash)
        found: dict[str, Vectors] = {}
        with self._lock:
            for start in range(0, len(hashes), _VARIABLES):
                part = hashes[start : start + _VARIABLES]
                marks = ",".join("?" * len(part))
                rows = self._db.execute(f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})", part)
                for key, blob in rows:
                    if len(blob) == self._bytes:
                        found[by_hash[key]] = np.frombuffer(blob, np.float32)
        return found

    def put_many(self, vectors: Mapping[str, Vectors]) -> None:
        """Remember `vectors`; the oldest rows go when there are more than `max_rows`."""
        rows = [(self._hash(text), np.asarray(vector, np.float32).tobytes()) for text, vector in vectors.items()]
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO vectors (hash, vector) VALUES (?, ?)", rows)
            self._db.execute(
                "DELETE FROM vectors WHERE id <= (SELECT id FROM vectors ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (self._max_rows,),
            )
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _hash(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._space}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]
