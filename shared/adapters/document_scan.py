"""The whole registry, read for maintenance."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared.adapters.document_items import document_of
from shared.adapters.dynamo import dynamo_errors, to_item
from shared.models import Document, DocumentStatus
from shared.ports import Clock, Watched

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoDocumentScan:
    """Implements `DocumentScan` and `TenantScan` on the documents table."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def all(self) -> Iterator[Document]:
        """Yield every document of every tenant, tombstones included, without its report."""
        yield from map(document_of, self._items())

    def of(self, tenant: str) -> Iterator[Watched]:
        """Yield every document of one tenant, tombstones included, without its report. Consistent read."""
        request: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :doc)",
            "ExpressionAttributeValues": to_item({":pk": f"TENANT#{tenant}", ":doc": "DOC#"}),
            "ConsistentRead": True,
        }
        while True:
            with dynamo_errors("registry"):
                answer = self._client.query(**request)
            for item in answer["Items"]:
                item.pop("report", None)
                yield Watched(document_of(item), "lease_owner" in item)
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def forgotten(self, *, quiet_s: float) -> Iterator[Document]:
        """Yield the documents that are PROCESSING although nobody has held their lease for `quiet_s` seconds.

        Their hint was lost: it was noted with a worker that died on its message's last delivery.
        """
        limit = self._clock.now().timestamp() - quiet_s
        for item in self._items():
            if item["status"]["S"] != DocumentStatus.PROCESSING.value:
                continue
            document = document_of(item)
            held_until = float(item["lease_until"]["N"]) if "lease_until" in item else 0.0
            if max(held_until, _epoch_of(document.updated_at)) < limit:
                yield document

    def _items(self) -> Iterator[dict[str, Any]]:
        request: dict[str, Any] = {
            "TableName": self._table,
            "FilterExpression": "begins_with(sk, :doc)",
            "ExpressionAttributeValues": to_item({":doc": "DOC#"}),
        }
        while True:
            with dynamo_errors("registry"):
                answer = self._client.scan(**request)
            for item in answer["Items"]:
                item.pop("report", None)
                yield item
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _epoch_of(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0
