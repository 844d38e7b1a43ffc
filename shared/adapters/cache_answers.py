"""The answer cache in DynamoDB with TTL: one item an answer, `pk` and the bytes."""

from typing import TYPE_CHECKING

from shared.adapters.cache import CACHE_TIMEOUT_S
from shared.adapters.dynamo import dynamo_errors, from_item, to_item
from shared.adapters.resilience import CircuitBreaker
from shared.errors import DependencyError
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MOST_BYTES = 300_000
"""An item holds 400 KB at most; an answer that comes near it is odd enough to be worked out again."""


class DynamoAnswerCache:
    """Implements `AnswerCache`. `breaker` keeps a table in trouble from costing every request its time-out."""

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, breaker: CircuitBreaker | None = None
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._breaker = breaker or CircuitBreaker("cache")

    def get(self, key: str) -> bytes | None:
        """Return what is remembered, or None when it is absent, expired, or the table cannot be reached."""
        try:
            with self._breaker.attempt(CACHE_TIMEOUT_S), dynamo_errors("cache"):
                found = self._client.get_item(TableName=self._table, Key=to_item({"pk": key})).get("Item")
        except DependencyError:
            return None
        if found is None:
            return None
        item = from_item(found)
        if item["expires_at"] <= self._clock.now().timestamp():
            return None
        data: bytes = item["answer"]
        return data

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        """Remember `data`; a table that cannot be written to, or data too large for it, is no error."""
        if len(data) > MOST_BYTES:
            return
        expires_at = int(self._clock.now().timestamp()) + ttl_s
        try:
            with self._breaker.attempt(CACHE_TIMEOUT_S), dynamo_errors("cache"):
                self._client.put_item(
                    TableName=self._table, Item=to_item({"pk": key, "answer": data, "expires_at": expires_at})
                )
        except DependencyError:
            return
