"""Vectors of passages in the cache table, so that a text is embedded once, whichever document it stands in."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shared.adapters.dynamo import Item, dynamo_errors, from_item, to_item
from shared.errors import DependencyError
from shared.models import EmbeddingSpace
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

READ_KEYS = 100
"""Keys in one BatchGetItem at most (DynamoDB's limit)."""
WRITE_ITEMS = 25
"""Items in one BatchWriteItem at most (DynamoDB's limit)."""
_ROUNDS = 3
_FIRST_WAIT_S = 0.05


class DynamoChunkVectorCache:
    """Implements `ChunkVectorCache`. A vector is stored as little-endian float32: 6 KB for 1,536 dimensions.

    What a table leaves unprocessed is asked for again, twice and a little later; then it is a miss, or not remembered.
    `sleep` takes seconds.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, *, ttl_s: int, sleep: Callable[[float], None]
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._ttl_s = ttl_s
        self._sleep = sleep

    def get_many(self, space: EmbeddingSpace, content_hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Return content hash → vector for what is known and has not expired."""
        now = self._clock.now().timestamp()
        hash_of = {_key(space, each): each for each in content_hashes}
        found: dict[str, Sequence[float]] = {}
        try:
            for keys in _parts(list(hash_of), READ_KEYS):
                for item in self._read([to_item({"pk": key}) for key in keys]):
                    values = from_item(item)
                    if values["expires_at"] > now:  # TTL deletes lag by days
                        data: bytes = values["vector"]
                        found[hash_of[values["pk"]]] = struct.unpack(f"<{len(data) // 4}f", data)
        except DependencyError:
            return found
        return found

    def put_many(self, space: EmbeddingSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Remember vectors by content hash; a table that cannot be written to is no error."""
        expires_at = int(self._clock.now().timestamp()) + self._ttl_s
        items = [
            to_item(
                {
                    "pk": _key(space, content_hash),
                    "vector": struct.pack(f"<{len(vector)}f", *vector),
                    "expires_at": expires_at,
                }
            )
            for content_hash, vector in vectors.items()
        ]
        try:
            for part in _parts(items, WRITE_ITEMS):
                self._write([{"PutRequest": {"Item": item}} for item in part])
        except DependencyError:
            return

    def _read(self, keys: list[Item]) -> Iterator[Item]:
        for attempt in range(_ROUNDS):
            with dynamo_errors("cache"):
                answer = self._client.batch_get_item(RequestItems={self._table: {"Keys": keys}})
            yield from answer["Responses"].get(self._table, [])
            left = answer.get("UnprocessedKeys", {}).get(self._table)
            if not left:
                return
            keys = [dict(key) for key in left["Keys"]]
            self._sleep(_FIRST_WAIT_S * 2**attempt)

    def _write(self, requests: list[Any]) -> None:
        for attempt in range(_ROUNDS):
            with dynamo_errors("cache"):
                answer = self._client.batch_write_item(RequestItems={self._table: requests})
            requests = list(answer.get("UnprocessedItems", {}).get(self._table, []))
            if not requests:
                return
            self._sleep(_FIRST_WAIT_S * 2**attempt)


def _key(space: EmbeddingSpace, content_hash: str) -> str:
    return f"CHUNK#{space}#{content_hash}"


def _parts[T](values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
