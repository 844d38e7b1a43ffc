"""Implements `DocumentFence`: a lease per document, ordered by S3's sequencer, and writes conditional on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.access import AccessRule
from shared.adapters.aws import Item, dynamo_errors, from_item, to_item
from shared.adapters.document_registry import (
    document_of,
    error_attribute,
    key_of,
    made_with_attribute,
    normal_sequencer,
    published_attribute,
    result_attributes,
    rule_attribute,
    unfinished_of,
    written_of,
)
from shared.adapters.passage_edits import erase_edit, read_edit
from shared.errors import DependencyUnavailable, LeaseLost
from shared.models import Document, DocumentError, DocumentStatus, Edits, PagesRead, corrected_by
from shared.ports import Clock, DocumentRemains, LeaseClaim, LeaseOutcome, UnfinishedIngest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TOMBSTONE_S = 21 * 86_400
"""Lifetime of a tombstone in seconds: longer than SQS keeps a message (14 days), so every late notification sees it."""
_CLAIM_ATTEMPTS = 5
_NAMING = (
    "title", "card", "main_language", "report", "labels", "edits", "generations", "version_id", "etag", "source_type",
    "lease_owner", "lease_until", "uncounted_change", "embedding_space", "access", "access_version",
)  # fmt: skip
"""What a tombstone may hold beside its id, status and times."""
_NAMES = {"#key": "key", "#status": "status", "#error": "error", "#access": "access"}
_LEASE = ("sequencer", "lease_owner", "lease_until")
_LEASE_HELD = "lease_owner = :owner"
_NO_CHANGE_PENDING = "lease_owner = :owner AND attribute_not_exists(pending_sequencer)"


class DynamoDocumentFence:
    """Implements `DocumentFence` on the documents table."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def lease(self, tenant: str, document_id: str, *, owner: str, lease_s: float) -> "DynamoDocumentLease":
        """Return this owner's handle on the lease; makes no request."""
        return DynamoDocumentLease(self._client, self._table, self._clock, tenant, document_id, owner, lease_s)

    def corrections(self, tenant: str, document_id: str, edits: Edits) -> Mapping[str, str]:
        """Return the corrected text of each passage that `edits` say is corrected, by its original's hash."""
        found = {
            original_hash: read_edit(self._client, self._table, tenant, document_id, original_hash)
            for original_hash in corrected_by(edits)
        }
        return {name: edit.text for name, edit in found.items() if edit is not None and edit.says == edits[name]}

    def written(self, tenant: str, document_id: str) -> Mapping[str, int]:
        """Return every generation that may have vectors in the index."""
        return written_of(_read(self._client, self._table, key_of(tenant, document_id)))

    def remains(self, tenant: str, document_id: str) -> DocumentRemains:
        """Return what the registry still has of a document, and whether a worker may have it. Consistent read."""
        item = _read(self._client, self._table, key_of(tenant, document_id))
        if not item:
            return DocumentRemains(None)
        values = from_item({name: item[name] for name in ("lease_owner", "lease_until") if name in item})
        is_held = values.get("lease_until", 0.0) >= self._clock.now().timestamp()
        return DocumentRemains(
            DocumentStatus(from_item({"status": item["status"]})["status"]),
            is_held=is_held or "pending_sequencer" in item,
            has_name=any(name in item for name in _NAMING),
        )

    def forget(self, tenant: str, document_id: str) -> bool:
        """Remove all of a deleted document except its id (for late events); False if a worker has it, or it is back."""
        names = {f"#{name}": name for name in (*_NAMING, "status", "key")}
        expression = f"SET #key = :none REMOVE {', '.join(f'#{name}' for name in _NAMING)}"
        try:
            with dynamo_errors("registry"):
                self._client.update_item(
                    TableName=self._table,
                    Key=key_of(tenant, document_id),
                    UpdateExpression=expression,
                    ConditionExpression=(
                        "#status = :deleted AND attribute_not_exists(pending_sequencer)"
                        " AND (attribute_not_exists(lease_owner) OR lease_until < :epoch)"
                    ),
                    ExpressionAttributeNames=names,
                    ExpressionAttributeValues=to_item(
                        {
                            ":deleted": DocumentStatus.DELETED.value,
                            ":none": "",
                            ":epoch": self._clock.now().timestamp(),
                        }
                    ),
                )
        except ClientError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class DynamoDocumentLease:
    """Implements `DocumentLease`; made by `DynamoDocumentFence.lease`."""

    _client: "DynamoDBClient"
    _table: str
    _clock: Clock
    _tenant: str
    _document_id: str
    _owner: str
    _lease_s: float

    def claim(self, key: str, *, sequencer: str) -> LeaseClaim:
        """Take the lease, or record the change on the item for the worker that holds it."""
        order = normal_sequencer(sequencer)
        for _ in range(_CLAIM_ATTEMPTS):
            before, claimed = self._try_claim(key, order)
            if claimed:
                return _claim_of(before)
            lease = from_item({name: before[name] for name in _LEASE if name in before})
            holder = lease.get("lease_owner", "")
            if order and lease.get("sequencer", "") > order:
                return LeaseClaim(LeaseOutcome.STALE)
            left_s = lease.get("lease_until", 0.0) - self._clock.now().timestamp()
            same_event = bool(order) and lease.get("sequencer") == order
            if same_event or _message_of(holder) == _message_of(self._owner):
                return LeaseClaim(LeaseOutcome.BUSY, retry_after_s=max(left_s, 1.0))
            if self._delegate(order or "now", holder=holder):
                return LeaseClaim(LeaseOutcome.DELEGATED)
        raise DependencyUnavailable("registry", "the lease changed owners too often; try again")

    def take_pending_change(self) -> LeaseClaim:
        """Clear the pending change, and return the item as it was."""
        expression = "SET lease_until = :until, #status = :processing REMOVE pending_sequencer"
        values = {":until": self._until(), ":processing": DocumentStatus.PROCESSING.value}
        return _claim_of(self._update_held(expression, values, returning="ALL_OLD"))

    def renew(self) -> None:
        """Extend the lease."""
        self._update_held("SET lease_until = :until", {":until": self._until()})

    def save_progress(
        self, unfinished: UnfinishedIngest, *, upper_bound: int, progress: PagesRead | None = None
    ) -> None:
        """Record the progress and the chunks about to be written, and renew the lease, in one write.

        The pages are stored apart from the rest, which an older release reads, too.
        """
        expression = "SET unfinished = :unfinished, generations.#generation = :upper, lease_until = :until"
        values: dict[str, object] = {
            ":until": self._until(),
            ":unfinished": unfinished._asdict(),
            ":upper": upper_bound,
        }
        if progress is not None:
            expression += ", pages_read = :pages"
            values[":pages"] = {"generation": unfinished.generation, **progress._asdict()}
        self._update_held(expression, values, names={"#generation": unfinished.generation})

    def take_rule(self, rule: AccessRule, version_id: str) -> None:
        """Give the document the rule that the metadata of this object version state."""
        self._update_held(
            "SET #access = :access, access_version = :version",
            {":access": rule_attribute(rule), ":version": version_id},
        )

    def publish(self, document: Document) -> bool:
        """Move the generation pointer and set the final status."""
        values = self._final(document, document.status)
        assignments = [f"{name} = :{name}" for name in result_attributes(document)]
        expression = (
            f"SET {', '.join(assignments)}, #status = :status, final_status = :status, uncounted_change = :true"
            " REMOVE #error, attempt_error, unfinished, pages_read, expires_at, unpublished_at"
        )
        if document.error is not None:
            expression = expression.replace(" REMOVE #error,", ", #error = :error REMOVE")
            values[":error"] = error_attribute(document.error)
        return self._write_final(expression, values)

    def publish_other(self, document: Document) -> bool:
        """Move the pointers in `document.index_versions`; the current index version stays as it is."""
        values = {
            ":published": published_attribute(document),
            ":made_with": made_with_attribute(document),
            ":true": True,
        }
        expression = (
            "SET published = :published, made_with = :made_with, uncounted_change = :true REMOVE unfinished, pages_read"
        )
        return self._write_final(expression, values)

    def fail(self, document: Document, error: DocumentError, status: DocumentStatus) -> bool:
        """Record a final failure and remove the generation pointer, so that the document is not searchable."""
        values = self._final(document, status)
        del values[":generation"], values[":published"], values[":made_with"]
        values[":error"] = error_attribute(error)
        assignments = [f"{name} = :{name}" for name in result_attributes(document) if f":{name}" in values]
        expression = (
            f"SET {', '.join(assignments)}, #status = :status, final_status = :status, #error = :error,"
            " uncounted_change = :true"
            " REMOVE generation, published, made_with, attempt_error, unfinished, pages_read, expires_at,"
            " unpublished_at"
        )
        return self._write_final(expression, values)

    def tombstone(self) -> bool:
        """Turn the item into a tombstone."""
        now = self._clock.now()
        values = {
            ":deleted": DocumentStatus.DELETED.value,
            ":now": now.isoformat(),
            ":expires": int(now.timestamp()) + TOMBSTONE_S,
            ":zero": 0,
            ":true": True,
        }
        expression = (
            "SET #status = :deleted, final_status = :deleted, updated_at = :now, expires_at = :expires,"
            " chunk_count = :zero, page_count = :zero, token_count = :zero, size_bytes = :zero,"
            " uncounted_change = :true REMOVE generation, published, made_with, attempt_error, unfinished, pages_read,"
            " unpublished_at, #error, report, labels, card, version_id, etag, settings_hash, ocr"
        )
        return self._write_final(expression, values)

    def forget_name(self) -> None:
        """Remove the name from a tombstone again, after a late event has claimed it."""
        self._update_held("SET #key = :none REMOVE title, card, main_language, source_type", {":none": ""})

    def erase_edits(self, edits: Edits) -> None:
        """Erase the edits of a tombstone's passages: their texts first, then the list of them."""
        for original_hash in edits:
            erase_edit(self._client, self._table, self._tenant, self._document_id, original_hash, self._clock.now())
        self._update_held("REMOVE edits", {})

    def forget_generation(self, generation: str) -> None:
        """Remove a generation whose vectors have been deleted."""
        self._update_held("REMOVE generations.#generation", {}, names={"#generation": generation})

    def presume_failed(self, error: DocumentError) -> None:
        """Set FAILED with `error` before the last attempt, because a worker that is killed cannot do so afterwards."""
        values = {":status": DocumentStatus.FAILED.value, ":attempt_error": error_attribute(error)}
        self._update_held("SET #status = :status, attempt_error = :attempt_error", values)

    def release(self, status: DocumentStatus | None = None, error: DocumentError | None = None) -> bool:
        """Release the lease; the port says which status is visible afterwards."""
        if status is None and error is None:
            expression = (
                "SET #status = if_not_exists(final_status, :pending)"
                " REMOVE lease_owner, lease_until, attempt_error, uncounted_change"
            )
            return self._write_final(expression, {":pending": DocumentStatus.PENDING.value})
        values: dict[str, object] = {":status": (status or DocumentStatus.PROCESSING).value}
        expression = "SET #status = :status REMOVE lease_owner, lease_until"
        if error is not None:
            values[":attempt_error"] = error_attribute(error)
            expression = expression.replace(" REMOVE", ", attempt_error = :attempt_error REMOVE")
        return "pending_sequencer" not in self._update_held(expression, values, returning="ALL_OLD")

    def _try_claim(self, key: str, order: str) -> tuple[Mapping[str, Any], bool]:
        """Return the previous item, and whether we now hold the lease."""
        now = self._clock.now()
        values: dict[str, object] = {
            ":owner": self._owner,
            ":until": now.timestamp() + self._lease_s,
            ":epoch": now.timestamp(),
            ":tenant": self._tenant,
            ":id": self._document_id,
            ":key": key,
            ":now": now.isoformat(),
            ":processing": DocumentStatus.PROCESSING.value,
            ":none": {},
        }
        condition = "(attribute_not_exists(lease_owner) OR lease_until < :epoch OR lease_owner = :owner)"
        expression = (
            "SET tenant = :tenant, document_id = :id, #key = :key, #status = :processing, lease_owner = :owner,"
            " lease_until = :until, generations = if_not_exists(generations, :none),"
            " created_at = if_not_exists(created_at, :now), updated_at = :now"
        )
        if order:
            values[":order"] = order
            condition += " AND (attribute_not_exists(sequencer) OR sequencer <= :order)"
            expression += ", sequencer = :order"
        try:
            with dynamo_errors("registry"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=self._key,
                    UpdateExpression=expression + " REMOVE pending_sequencer, expires_at",
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#key": "key", "#status": "status"},
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues="ALL_OLD",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            return error.response["Item"], False  # type: ignore[typeddict-item]
        return answer.get("Attributes", {}), True

    def _delegate(self, order: str, *, holder: str) -> bool:
        """Record the change for the lease's holder; False if the lease has ended."""
        values = {":holder": holder, ":order": order, ":epoch": self._clock.now().timestamp()}
        condition = "lease_owner = :holder AND lease_until >= :epoch"
        expression = "SET pending_sequencer = :order"
        return self._update(expression, condition, values) is not None

    def _final(self, document: Document, status: DocumentStatus) -> dict[str, object]:
        values = {f":{name}": value for name, value in result_attributes(document).items()}
        return {**values, ":updated_at": self._clock.now().isoformat(), ":status": status.value, ":true": True}

    def _write_final(self, expression: str, values: Mapping[str, object]) -> bool:
        """Make a final write; False if a newer change is pending. Raises `LeaseLost` if the lease is lost."""
        if self._update(expression, _NO_CHANGE_PENDING, {**values, ":owner": self._owner}) is not None:
            return True
        if from_item(_read(self._client, self._table, self._key)).get("lease_owner") != self._owner:
            raise LeaseLost
        return False

    def _update_held(
        self,
        expression: str,
        values: Mapping[str, object],
        *,
        names: Mapping[str, str] | None = None,
        returning: str = "NONE",
    ) -> Item:
        """Update the item under the lease. Raises `LeaseLost`."""
        held = {**values, ":owner": self._owner}
        attributes = self._update(expression, _LEASE_HELD, held, names=names, returning=returning)
        if attributes is None:
            raise LeaseLost
        return attributes

    def _update(
        self,
        expression: str,
        condition: str,
        values: Mapping[str, object],
        *,
        names: Mapping[str, str] | None = None,
        returning: str = "NONE",
    ) -> Item | None:
        """Update the item; None if the condition is false."""
        used = {name: real for name, real in _NAMES.items() if name in expression} | dict(names or {})
        optional: dict[str, Any] = {"ExpressionAttributeNames": used} if used else {}
        try:
            with dynamo_errors("registry"):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=self._key,
                    UpdateExpression=expression,
                    ConditionExpression=condition,
                    ExpressionAttributeValues=to_item(values),
                    ReturnValues=returning,  # type: ignore[arg-type]
                    **optional,
                )
        except ClientError:
            return None
        return dict(answer.get("Attributes", {}))

    @property
    def _key(self) -> Item:
        return key_of(self._tenant, self._document_id)

    def _until(self) -> float:
        return self._clock.now().timestamp() + self._lease_s


def _read(client: "DynamoDBClient", table: str, key: Item) -> Mapping[str, Any]:
    with dynamo_errors("registry"):
        return client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item", {})


def _claim_of(item: Mapping[str, Any]) -> LeaseClaim:
    if not item:
        return LeaseClaim(LeaseOutcome.CLAIMED)
    # A worker that died leaves PROCESSING: return the status of the last finished ingest.
    finished = {**item, "status": item["final_status"]} if "final_status" in item else item
    return LeaseClaim(
        LeaseOutcome.CLAIMED,
        document=document_of(finished),
        written=written_of(item),
        unfinished=unfinished_of(item),
        unpublished_at=from_item({"value": item["unpublished_at"]})["value"] if "unpublished_at" in item else "",
        uncounted_change="uncounted_change" in item,
    )


def _message_of(owner: str) -> str:
    """Return the message id of an owner: a redelivery of the same message is not a newer change."""
    return owner.partition("/")[0]
