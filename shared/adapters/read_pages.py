"""Pages that were read by OCR, in the documents table.

    pk=OCR#{tenant}#{document_id}
      sk={version}#{number}   `page`: the page as the parser sends it, compressed
      sk={version}#done       `reading`: the name of the finished reading
      sk={version}#worker     `until`: when the worker that reads it must have ended

What a model says of figures is kept beside them: `sk={version}#figure-{number}`, `figure-done`, `figure-worker`.

`version` is a hash of the object's version. Each page is an item of its own, so that a reading continues where it was
interrupted. Documents are in other partitions, so a role that may delete pages cannot delete documents.
"""

import zlib
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, pages, to_item
from shared.models import content_hash_of
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_PAGE_BYTES = 350_000
"""DynamoDB's limit is 400 KB an item; a dense page has 15 KB."""


class DynamoReadPages:
    """Implements `ReadPages`; items of another `kind` than pages have keys that begin with the kind."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock, *, kind: str = "") -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._kind = kind

    def reading(self, tenant: str, document_id: str, version_id: str) -> str:
        """Return the name of the finished reading of an object version, empty if there is none. Consistent read."""
        key = self._key(tenant, document_id, version_id, "done")
        with dynamo_errors("registry"):
            found = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return str(from_item(found["Item"])["reading"]) if "Item" in found else ""

    def pages(self, tenant: str, document_id: str, version_id: str) -> Mapping[int, bytes]:
        """Return the pages read so far, by number."""
        found = self._numbered(tenant, document_id, version_id)
        return {number: zlib.decompress(item["page"]) for number, item in found}

    def numbers(self, tenant: str, document_id: str, version_id: str) -> Set[int]:
        """Return the numbers of the pages read so far."""
        return {number for number, _ in self._numbered(tenant, document_id, version_id, attributes="sk")}

    def begin(self, tenant: str, document_id: str, version_id: str, *, seconds: float) -> bool:
        """Take the reading of an object version for so long; False if another worker has it."""
        now = self._clock.now().timestamp()
        try:
            with dynamo_errors("registry"):
                self._client.put_item(
                    TableName=self._table,
                    Item=self._key(tenant, document_id, version_id, "worker") | to_item({"until": now + seconds}),
                    ConditionExpression="attribute_not_exists(pk) OR #until < :now",
                    ExpressionAttributeNames={"#until": "until"},
                    ExpressionAttributeValues=to_item({":now": now}),
                )
        except ClientError:
            return False
        return True

    def end(self, tenant: str, document_id: str, version_id: str) -> None:
        """Give the reading back."""
        with dynamo_errors("registry"):
            self._client.delete_item(TableName=self._table, Key=self._key(tenant, document_id, version_id, "worker"))

    def save(self, tenant: str, document_id: str, version_id: str, number: int, page: bytes) -> bool:
        """Store one page; False if it is too large to be stored."""
        packed = zlib.compress(page)
        if len(packed) <= MAX_PAGE_BYTES:
            self._put(self._key(tenant, document_id, version_id, f"{number:05}"), {"page": packed})
        return len(packed) <= MAX_PAGE_BYTES

    def finish(self, tenant: str, document_id: str, version_id: str, reading: str) -> None:
        """Name the finished reading."""
        self._put(self._key(tenant, document_id, version_id, "done"), {"reading": reading})

    def erase(self, tenant: str, document_id: str, *, keep_version: str = "") -> None:
        """Delete the pages of every object version but one."""
        kept = _prefix_of(keep_version) if keep_version else None
        for item in self._items(tenant, document_id, attributes="pk, sk"):
            if kept is None or not from_item(item)["sk"].startswith(kept):
                with dynamo_errors("registry"):
                    self._client.delete_item(TableName=self._table, Key={"pk": item["pk"], "sk": item["sk"]})

    def _key(self, tenant: str, document_id: str, version_id: str, name: str) -> Item:
        return to_item({"pk": _partition_of(tenant, document_id), "sk": f"{_prefix_of(version_id)}{self._kind}{name}"})

    def _put(self, key: Item, values: Mapping[str, object]) -> None:
        with dynamo_errors("registry"):
            self._client.put_item(TableName=self._table, Item=key | to_item(values))

    def _numbered(
        self, tenant: str, document_id: str, version_id: str, *, attributes: str = ""
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        prefix = f"{_prefix_of(version_id)}{self._kind}"
        for item in map(from_item, self._items(tenant, document_id, prefix, attributes=attributes)):
            number = item["sk"].removeprefix(prefix)
            if number.isdecimal():
                yield int(number), item

    def _items(
        self, tenant: str, document_id: str, prefix: str = "", *, attributes: str = ""
    ) -> Iterator[Mapping[str, Any]]:
        condition = "pk = :pk AND begins_with(sk, :prefix)" if prefix else "pk = :pk"
        values = {":pk": _partition_of(tenant, document_id), **({":prefix": prefix} if prefix else {})}
        return pages(
            "registry",
            self._client.query,
            TableName=self._table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=to_item(values),
            ConsistentRead=True,
            **({"ProjectionExpression": attributes} if attributes else {}),
        )


def _partition_of(tenant: str, document_id: str) -> str:
    return f"OCR#{tenant}#{document_id}"


def _prefix_of(version_id: str) -> str:
    return f"{content_hash_of(version_id)[:16]}#"
