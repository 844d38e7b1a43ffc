"""The embedding cache: in the container first, then DynamoDB with TTL."""

import struct
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from shared.adapters.dynamo import dynamo_errors, from_item, to_item
from shared.adapters.resilience import CircuitBreaker
from shared.errors import DependencyError
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CACHE_TIMEOUT_S = 1.0
"""Seconds that one call of a cache is taken to have: a cache that is slow is worth less than none."""


class CacheTable:
    """Items of a DynamoDB table by `pk`, each until its `expires_at`; a table in trouble holds nothing.

    `breaker` keeps it from costing every request its time-out; caches on one table may share it.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, breaker: CircuitBreaker | None = None
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._breaker = breaker or CircuitBreaker("cache")

    def expiry(self, ttl_s: int) -> int:
        """Return when what is put now is over, in seconds of the epoch."""
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
        """Write the item; a table that cannot be written to is no error."""
        try:
            with self._breaker.attempt(CACHE_TIMEOUT_S), dynamo_errors("cache"):
                self._client.put_item(
                    TableName=self._table, Item=to_item({"pk": key, "expires_at": expires_at, **values})
                )
        except DependencyError:
            return


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
        self._recent: OrderedDict[str, tuple[float, tuple[float, ...]]] = OrderedDict()
        self._container_size = container_size
        self._lock = Lock()

    def get(self, key: str) -> Sequence[float] | None:
        """Return the vector, or None when it is absent, expired, or the table cannot be reached."""
        now = self._clock.now().timestamp()
        with self._lock:
            held = self._recent.get(key)
            if held is not None and held[0] > now:
                self._recent.move_to_end(key)
                return held[1]
        item = self._table.get(key)
        if item is None:
            return None
        data: bytes = item["vector"]
        vector = struct.unpack(f"<{len(data) // 4}f", data)
        self._hold(key, item["expires_at"], vector)
        return vector

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:
        """Remember the vector; a table that cannot be written to is no error."""
        expires_at = self._table.expiry(ttl_s)
        data = struct.pack(f"<{len(vector)}f", *vector)
        self._hold(key, expires_at, struct.unpack(f"<{len(vector)}f", data))
        self._table.put(key, expires_at, vector=data)

    def _hold(self, key: str, expires_at: float, vector: tuple[float, ...]) -> None:
        with self._lock:
            self._recent[key] = (expires_at, vector)
            self._recent.move_to_end(key)
            while len(self._recent) > self._container_size:
                self._recent.popitem(last=False)
