"""The answer cache in DynamoDB with TTL: one item an answer, `pk` and the bytes."""

from typing import TYPE_CHECKING

from shared.adapters.cache import CacheTable
from shared.adapters.resilience import CircuitBreaker
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST_BYTES = 300_000
"""An item holds 400 KB at most; an answer that comes near it is odd enough to be worked out again."""


class DynamoAnswerCache:
    """Implements `AnswerCache`; `breaker` is that of the `CacheTable`."""

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, breaker: CircuitBreaker | None = None
    ) -> None:
        self._table = CacheTable(client, table, clock, breaker=breaker)

    def get(self, key: str) -> bytes | None:
        """Return what is remembered, or None when it is absent, expired, or the table cannot be reached."""
        item = self._table.get(key)
        if item is None:
            return None
        data: bytes = item["answer"]
        return data

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        """Remember `data`; a table that cannot be written to, or data too large for it, is no error."""
        if len(data) <= MOST_BYTES:
            self._table.put(key, self._table.expiry(ttl_s), answer=data)
