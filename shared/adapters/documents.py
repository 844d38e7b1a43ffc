"""The document registry as the API reads and changes it."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.document_items import document_of, index_versions_of, key_of
from shared.adapters.dynamo import Item, dynamo_errors, from_item, to_item
from shared.adapters.tenants import count_change
from shared.errors import DependencyError, DependencyUnavailable, InvalidRequest
from shared.models import FIRST_INDEX_VERSION, Document, DocumentStatus
from shared.ports import Clock, DocumentPage

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BATCH_KEYS = 100
"""Keys in one BatchGetItem at most (DynamoDB's limit)."""
_BATCH_ROUNDS = 5
_ID_CHARACTERS = 64
"""Twice those of an id; DynamoDB refuses a longer key than 1,024 bytes, and that would look like a fault of ours."""


class DynamoDocumentRegistry:
    """Implements `DocumentRegistry` on the documents table."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document, tombstones included, or None. Consistent read."""
        with dynamo_errors("registry"):
            item = self._client.get_item(
                TableName=self._table, Key=key_of(tenant, document_id), ConsistentRead=True
            ).get("Item")
        return None if item is None or self._expired(item) else document_of(item)

    def list(self, tenant: str, *, limit: int, cursor: str = "", status: DocumentStatus | None = None) -> DocumentPage:
        """Return documents in a stable order (by id), without tombstones and without their reports.

        Raises `InvalidRequest` for a cursor this method did not give out.
        """
        after = _sort_key_of(cursor) if cursor else ""
        documents: list[Document] = []
        while True:
            request: dict[str, Any] = (
                {"ExclusiveStartKey": to_item({"pk": f"TENANT#{tenant}", "sk": after})} if after else {}
            )
            with dynamo_errors("registry"):
                # One more than asked, so that the last page is known to be the last.
                answer = self._client.query(
                    TableName=self._table,
                    KeyConditionExpression="pk = :pk AND begins_with(sk, :doc)",
                    ExpressionAttributeValues=to_item({":pk": f"TENANT#{tenant}", ":doc": "DOC#"}),
                    Limit=limit - len(documents) + 1,
                    **request,
                )
            for item in answer["Items"]:
                if len(documents) == limit:
                    return DocumentPage(documents, _cursor_of(after))
                after = item["sk"]["S"]
                item.pop("report", None)
                document = document_of(item)
                if document.status is DocumentStatus.DELETED or self._expired(item):
                    continue
                if status is None or document.status is status:
                    documents.append(document)
            if "LastEvaluatedKey" not in answer:
                return DocumentPage(documents, "")

    def published_generations(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, str]:
        """Map each document that may be answered from to its generation in `index_version` (consistent batch reads)."""
        wanted = list(dict.fromkeys(document_ids))
        found: dict[str, str] = {}
        for start in range(0, len(wanted), _BATCH_KEYS):
            keys = [key_of(tenant, document_id) for document_id in wanted[start : start + _BATCH_KEYS]]
            for item in self._batch_get(keys):
                published = index_versions_of(item).get(index_version)
                if published is not None:
                    found[from_item(item)["document_id"]] = published.generation
        return found

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Create a PENDING item for an upload that was promised; an existing document is left as it is and returned.

        A tombstone, or an announcement that ran out, makes room.
        """
        now = self._clock.now()
        values = {
            ":tenant": document.tenant,
            ":id": document.document_id,
            ":key": document.key,
            ":pending": DocumentStatus.PENDING.value,
            ":deleted": DocumentStatus.DELETED.value,
            ":title": document.title,
            ":size": document.size_bytes,
            ":labels": dict(document.labels),
            ":now": now.isoformat(),
            ":epoch": int(now.timestamp()),
            ":expires": int(now.timestamp()) + expires_s,
        }
        try:
            with dynamo_errors("registry"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=key_of(document.tenant, document.document_id),
                    UpdateExpression=(
                        "SET tenant = :tenant, document_id = :id, #key = :key, #status = :pending,"
                        " settled_status = :pending, title = :title, size_bytes = :size, labels = :labels,"
                        " created_at = :now, updated_at = :now, expires_at = :expires REMOVE #error, trouble, report"
                    ),
                    ConditionExpression=(
                        "attribute_not_exists(lease_owner) AND"
                        " (attribute_not_exists(pk) OR #status = :deleted OR expires_at < :epoch)"
                    ),
                    ExpressionAttributeNames={"#key": "key", "#status": "status", "#error": "error"},
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            return document_of(error.response["Item"])  # type: ignore[typeddict-item]
        return document_of(answer["Attributes"])

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Mark DELETING and remove the generation pointer, at once and for every reader; None if there is none.

        Whoever is ingesting it right now is told to look again before publishing.
        """
        now = self._clock.now()
        values = {
            ":deleting": DocumentStatus.DELETING.value,
            ":deleted": DocumentStatus.DELETED.value,
            ":now": now.isoformat(),
            ":change": "now",
            ":news": True,
        }
        try:
            with dynamo_errors("registry"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=key_of(tenant, document_id),
                    UpdateExpression=(
                        "SET #status = :deleting, settled_status = :deleting, updated_at = :now, unpublished_at = :now,"
                        " pending_sequencer = :change, news = :news REMOVE generation, published, expires_at"
                    ),
                    ConditionExpression="attribute_exists(pk) AND #status <> :deleted",
                    ExpressionAttributeNames={"#status": "status"},
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues="ALL_NEW",
                )
        except ClientError:
            return None
        with suppress(DependencyError):  # `news` stays on the item then, and ingest counts it
            count_change(self._client, self._table, tenant)
        return document_of(answer["Attributes"])

    def _batch_get(self, keys: Sequence[Item]) -> Sequence[Item]:
        items = []
        for _ in range(_BATCH_ROUNDS):
            with dynamo_errors("registry"):
                answer = self._client.batch_get_item(
                    RequestItems={
                        self._table: {
                            "Keys": keys,
                            "ConsistentRead": True,
                            "ProjectionExpression": "document_id, published",
                        }
                    }
                )
            items += answer["Responses"].get(self._table, [])
            unprocessed = answer.get("UnprocessedKeys", {}).get(self._table)
            if not unprocessed:
                return items
            keys = [dict(key) for key in unprocessed["Keys"]]
        raise DependencyUnavailable("registry", "the batch read kept leaving keys unprocessed")

    def _expired(self, item: Mapping[str, Any]) -> bool:
        # Tombstones are told by their status; an announcement past its time is nothing any more (TTL may lag by days).
        if "expires_at" not in item or item["status"]["S"] != DocumentStatus.PENDING.value:
            return False
        return float(item["expires_at"]["N"]) <= self._clock.now().timestamp()


def _cursor_of(sort_key: str) -> str:
    return base64.urlsafe_b64encode(sort_key.removeprefix("DOC#").encode()).decode().rstrip("=")


def _sort_key_of(cursor: str) -> str:
    try:
        decoded = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        decoded = ""
    if not (decoded.isalnum() and decoded.isascii()) or len(decoded) > _ID_CHARACTERS:
        raise InvalidRequest("This cursor was not given out by this API: start again without one.")
    return f"DOC#{decoded}"
