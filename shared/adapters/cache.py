"""The cache table in DynamoDB, with TTL: query embeddings (also kept in the container), answers, vectors of chunks."""

import struct
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import batched
from threading import Lock
from typing import TYPE_CHECKING, Any

from shared.adapters.aws import BATCH_KEYS, Item, batch_get, dynamo_errors, from_item, to_item, until_processed
from shared.adapters.retry import CircuitBreaker, Retry
from shared.errors import DependencyError, RateLimited
from shared.models import EmbeddingSpace
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


CACHE_TIMEOUT_S = 1.0
"""Seconds one call of the cache may take: a slow cache is worse than none."""


class CacheTable:
    """Items of a DynamoDB table by `pk`, each until its `expires_at`; a failing table is treated as empty.

    While `breaker` is open no request waits for a failing table; caches of one table may share it.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, breaker: CircuitBreaker | None = None
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._breaker = breaker or CircuitBreaker("cache")

    def expiry(self, ttl_s: int) -> int:
        """Return when an item written now expires, in epoch seconds."""
        return int(self._clock.now().timestamp()) + ttl_s

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the item, or None when it is absent, expired, or the table cannot be reached."""
        try:
            with self._breaker.attempt(CACHE_TIMEOUT_S), dynamo_errors("cache"):
                found = self._client.get_item(TableName=self._table, Key=to_item({"pk": key})).get("Item")
        except DependencyError:
            return None
        item = from_item(found) if found is not None else None
        return item if item is not None and item["expires_at"] > self._clock.now().timestamp() else None

    def put(self, key: str, expires_at: int, **values: bytes) -> None:
        """Write the item; errors of the table are ignored."""
        try:
            with self._breaker.attempt(CACHE_TIMEOUT_S), dynamo_errors("cache"):
                self._client.put_item(
                    TableName=self._table, Item=to_item({"pk": key, "expires_at": expires_at, **values})
                )
        except DependencyError:
            return


class Recent[K, V]:
    """The `size` values used last, by key, in the container's memory. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """Return the value, or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def __len__(self) -> int:
        """Return how many values are held."""
        return len(self._values)

    def put(self, key: K, value: V) -> None:
        """Keep the value; if the memory is full, the value unused for longest is dropped."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)


class DynamoEmbeddingCache:
    """Implements `EmbeddingCache`. A vector is stored as little-endian float32: 6 KB for 1,536 dimensions."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        clock: Clock,
        *,
        container_size: int = 512,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._table = CacheTable(client, table, clock, breaker=breaker)
        self._clock = clock
        self._recent: Recent[str, tuple[float, tuple[float, ...]]] = Recent(container_size)

    def get(self, key: str) -> Sequence[float] | None:
        """Return the vector, or None when it is absent, expired, or the table cannot be reached."""
        held = self._recent.get(key)
        if held is not None and held[0] > self._clock.now().timestamp():
            return held[1]
        item = self._table.get(key)
        if item is None:
            return None
        vector = _unpacked(item["vector"])
        self._recent.put(key, (item["expires_at"], vector))
        return vector

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:
        """Cache the vector; errors of the table are ignored."""
        expires_at = self._table.expiry(ttl_s)
        data = _packed(vector)
        self._recent.put(key, (expires_at, _unpacked(data)))  # rounded to float32, like a later read from the table
        self._table.put(key, expires_at, vector=data)


MAX_BYTES = 300_000
"""Maximum size of a cached answer: DynamoDB limits an item to 400 KB."""


class DynamoAnswerCache:
    """Implements `AnswerCache`; `breaker` is that of the `CacheTable`."""

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, breaker: CircuitBreaker | None = None
    ) -> None:
        self._table = CacheTable(client, table, clock, breaker=breaker)

    def get(self, key: str) -> bytes | None:
        """Return the cached answer, or None if it is absent, expired, or the table cannot be reached."""
        item = self._table.get(key)
        if item is None:
            return None
        data: bytes = item["answer"]
        return data

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        """Cache `data` unless it is over `MAX_BYTES`; errors of the table are ignored."""
        if len(data) <= MAX_BYTES:
            self._table.put(key, self._table.expiry(ttl_s), answer=data)


WRITE_ITEMS = 25
"""Maximum items in one BatchWriteItem (DynamoDB's limit)."""
_BATCH_ATTEMPTS = 3
_FIRST_WAIT_S = 0.05


class DynamoChunkVectorCache:
    """Implements `ChunkVectorCache`. A vector is stored as little-endian float32: 6 KB for 1,536 dimensions.

    Items that DynamoDB leaves unprocessed are retried twice; after that, a read is a miss and a write is dropped.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, ttl_s: int, retry: Retry | None = None
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._ttl_s = ttl_s
        self._retry = retry or Retry("cache", attempts=_BATCH_ATTEMPTS, first_wait_s=_FIRST_WAIT_S)

    def get_many(self, space: EmbeddingSpace, content_hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Return the cached vectors that have not expired, by content hash."""
        now = self._clock.now().timestamp()
        hash_of = {_key(space, each): each for each in content_hashes}
        found: dict[str, Sequence[float]] = {}
        try:
            for keys in batched(hash_of, BATCH_KEYS, strict=False):
                for item in self._read([to_item({"pk": key}) for key in keys]):
                    values = from_item(item)
                    if values["expires_at"] > now:  # TTL deletes lag by days
                        found[hash_of[values["pk"]]] = _unpacked(values["vector"])
        except DependencyError:
            return found
        return found

    def put_many(self, space: EmbeddingSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Cache vectors by content hash; errors are ignored."""
        expires_at = int(self._clock.now().timestamp()) + self._ttl_s
        items = [
            to_item({"pk": _key(space, each), "vector": _packed(vector), "expires_at": expires_at})
            for each, vector in vectors.items()
        ]
        try:
            for part in batched(items, WRITE_ITEMS, strict=False):
                self._write([{"PutRequest": {"Item": item}} for item in part])
        except DependencyError:
            return

    def _read(self, keys: Sequence[Item]) -> Iterator[Item]:
        with suppress(RateLimited):  # the rest is a miss
            yield from batch_get(self._client, self._table, keys, retry=self._retry)

    def _write(self, requests: Sequence[Any]) -> None:
        def send(left: Sequence[Any]) -> Sequence[Any]:
            with dynamo_errors("cache"):
                answer = self._client.batch_write_item(RequestItems={self._table: left})
            return answer.get("UnprocessedItems", {}).get(self._table, ())

        until_processed(requests, send, self._retry)


def _packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def _unpacked(data: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(data) // 4}f", data)


def _key(space: EmbeddingSpace, content_hash: str) -> str:
    return f"CHUNK#{space}#{content_hash}"
