"""The whole registry, read for maintenance."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared.adapters.document_items import document_of, draft_of, index_versions_of, written_of
from shared.adapters.dynamo import Item, dynamo_errors, from_item, to_item
from shared.models import Document, DocumentStatus
from shared.ports import Clock, DocumentEntry, Watched

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_TENANT = "TENANT#"


class DynamoDocumentScan:
    """Implements `DocumentScan` and `TenantScan` on the documents table."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def tenants(self) -> set[str]:
        """Return every tenant of the table: of documents, and of pointers, which outlive them."""
        pages = self._pages(
            self._client.scan,
            FilterExpression="begins_with(pk, :tenant)",
            ExpressionAttributeValues=to_item({":tenant": _TENANT}),
            ProjectionExpression="pk",
        )
        return {item["pk"]["S"].removeprefix(_TENANT) for item in pages}

    def entries(self, tenant: str) -> Iterator[DocumentEntry]:
        """Yield every document of one tenant, tombstones included, in no order. Consistent read."""
        names = {"#key": "key", "#status": "status"}
        wanted = "#key, #status, etag, updated_at, lease_until, pending_sequencer, trouble"
        for item in self._of(tenant, ProjectionExpression=wanted, ExpressionAttributeNames=names):
            values = from_item(item)
            yield DocumentEntry(
                key=values["key"],
                status=DocumentStatus(values["status"]),
                etag=values.get("etag", ""),
                updated_at=_epoch_of(values.get("updated_at", "")),
                held_until=float(values.get("lease_until", 0.0)),
                noted="pending_sequencer" in values,
                trouble=values.get("trouble", {}).get("code", ""),
            )

    def of(self, tenant: str) -> Iterator[Watched]:
        """Yield every document of one tenant, tombstones included, without its report. Consistent read."""
        for item in self._of(tenant):
            item.pop("report", None)
            yield Watched(document_of(item), "lease_owner" in item)

    def forgotten(self, *, quiet_s: float) -> Iterator[Document]:
        """Yield the documents that are PROCESSING, have a change notification noted or vectors to sweep, although
        nobody is at it.

        Nobody has held their lease for `quiet_s` seconds. The change notification was noted with a worker that died on
        its message's last delivery, or by an API that died before it deleted the object; the vectors are those of a
        worker that died between publishing (or deleting) and sweeping, and whose message was lost.
        """
        limit = self._clock.now().timestamp() - quiet_s
        for item in self._items():
            is_settled = item["status"]["S"] != DocumentStatus.PROCESSING.value and "pending_sequencer" not in item
            if is_settled and not _has_vectors_to_sweep(item):
                continue
            item.pop("report", None)
            document = document_of(item)
            held_until = float(item["lease_until"]["N"]) if "lease_until" in item else 0.0
            if max(held_until, _epoch_of(document.updated_at)) < limit:
                yield document

    def _items(self) -> Iterator[Item]:
        return self._pages(
            self._client.scan,
            FilterExpression="begins_with(sk, :doc)",
            ExpressionAttributeValues=to_item({":doc": "DOC#"}),
        )

    def _of(self, tenant: str, **request: Any) -> Iterator[Item]:
        return self._pages(
            self._client.query,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :doc)",
            ExpressionAttributeValues=to_item({":pk": f"{_TENANT}{tenant}", ":doc": "DOC#"}),
            ConsistentRead=True,
            **request,
        )

    def _pages(self, ask: Callable[..., Any], **request: Any) -> Iterator[Item]:
        while True:
            with dynamo_errors("registry"):
                answer = ask(TableName=self._table, **request)
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _has_vectors_to_sweep(item: Item) -> bool:
    """Tell whether a generation that is neither published nor being built may have vectors."""
    draft = draft_of(item)
    kept = {published.generation for published in index_versions_of(item).values()} | (
        {draft.generation} if draft else set()
    )
    return not written_of(item).keys() <= kept


def _epoch_of(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0
