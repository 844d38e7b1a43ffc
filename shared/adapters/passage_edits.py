"""Edits of passages, beside their document in the documents table.

    pk=TENANT#{tenant} sk=EDIT#{document_id}#{hash of the original text}   the fields of `PassageEdit`

The document's item lists them (`edits`), so that whoever reads what is published knows them too: both are written in
one transaction. Of an erased edit only the key is left, until DynamoDB's TTL deletes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, pages, to_item
from shared.adapters.document_registry import key_of
from shared.adapters.index_versions import begin_change, end_change
from shared.erasures import ERASED_USER
from shared.models import Document, DocumentStatus, PassageChange, PassageEdit, corrected_by
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_FIELDS = [each.name for each in fields(PassageEdit)]


class DynamoPassageEdits:
    """Implements `PassageEdits`."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def get(self, tenant: str, document_id: str, original_hash: str) -> PassageEdit | None:
        """Return the edit of one passage. Consistent read."""
        return read_edit(self._client, self._table, tenant, document_id, original_hash)

    def of(self, tenant: str, document_id: str) -> Sequence[PassageEdit]:
        """Return all edits of a document, in the order of their places."""
        items = self._items(tenant, f"EDIT#{document_id}#")
        return sorted(map(_edit_of, items), key=lambda edit: edit.char_start)

    def save(self, document: Document, edit: PassageEdit, *, before: PassageEdit | None) -> bool:
        """Write an edit and the document's list of edits; False if either has changed since it was read.

        A changed correction is a pending change of a searchable document, too. Nothing made from the passage as it was
        is shown from then on, whatever a container remembers.
        """
        tenant, document_id, name = document.tenant, document.document_id, edit.original_hash
        is_first = not document.edits
        assignments = ["edits = :edits" if is_first else "edits.#name = :says"]
        conditions = [
            "attribute_exists(pk) AND NOT #status IN (:deleting, :deleted)",
            "attribute_not_exists(edits)" if is_first else "attribute_exists(edits)",
        ]
        values: dict[str, object] = {
            (":edits" if is_first else ":says"): {name: edit.says} if is_first else edit.says,
            ":deleting": DocumentStatus.DELETING.value,
            ":deleted": DocumentStatus.DELETED.value,
        }
        if document.index_versions and _is_made_anew(document, edit):
            assignments.append("pending_sequencer = :change")
            values[":change"] = "now"
        of_document = self._update(
            key_of(tenant, document_id),
            f"SET {', '.join(assignments)}",
            " AND ".join(conditions),
            {"#status": "status", **({} if is_first else {"#name": name})},
            values,
        )
        stored = asdict(edit) | {"changes": [each._asdict() for each in edit.changes]}
        last = before.changes[-1].at if before is not None else ""
        of_edit = self._update(
            _key_of(tenant, document_id, name),
            f"SET {', '.join(f'#{field} = :{field}' for field in _FIELDS)}, changed_at = :changed_at REMOVE expires_at",
            "changed_at = :before" if last else "attribute_not_exists(original)",
            {f"#{field}": field for field in _FIELDS},
            {f":{field}": stored[field] for field in _FIELDS}
            | {":changed_at": edit.changes[-1].at}
            | ({":before": last} if last else {}),
        )
        marks = begin_change(self._client, self._table, tenant, document_id, self._clock.now())
        try:
            with dynamo_errors("registry"):
                self._client.transact_write_items(TransactItems=[{"Update": of_document}, {"Update": of_edit}])
            is_saved = True
        except ClientError:
            is_saved = False
        end_change(self._client, self._table, tenant, marks)
        return is_saved

    def erase_document(self, tenant: str, document_id: str) -> int:
        """Remove all that the edits of a document say; return how many there were."""
        edits = self.of(tenant, document_id)
        for edit in edits:
            erase_edit(self._client, self._table, tenant, document_id, edit.original_hash, self._clock.now())
        return len(edits)

    def forget_editor(self, tenant: str, user: str) -> int:
        """Take a user's id out of the changes they made; return how many edits named them."""
        found = 0
        for item in self._items(tenant, "EDIT#"):
            values = from_item(item)
            if all(change["by"] != user for change in values["changes"]):
                continue
            found += 1
            changes = [{**each, "by": ERASED_USER if each["by"] == user else each["by"]} for each in values["changes"]]
            with suppress(ClientError), dynamo_errors("registry"):  # changed meanwhile: found again the next time
                self._client.update_item(
                    TableName=self._table,
                    Key=to_item({"pk": values["pk"], "sk": values["sk"]}),
                    UpdateExpression="SET changes = :changes",
                    ConditionExpression="changed_at = :before",
                    ExpressionAttributeValues=to_item({":changes": changes, ":before": values["changed_at"]}),
                )
        return found

    def _update(
        self, key: Item, expression: str, condition: str, names: Mapping[str, str], values: Mapping[str, object]
    ) -> Any:
        return {
            "TableName": self._table,
            "Key": key,
            "UpdateExpression": expression,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": dict(names),
            "ExpressionAttributeValues": to_item(values),
        }

    def _items(self, tenant: str, prefix: str) -> Iterator[Item]:
        """Yield the items of edits that are not erased. Consistent reads."""
        return pages(
            "registry",
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :edit)",
            FilterExpression="attribute_exists(original)",
            ExpressionAttributeValues=to_item({":pk": f"TENANT#{tenant}", ":edit": prefix}),
            ConsistentRead=True,
        )


def _is_made_anew(document: Document, edit: PassageEdit) -> bool:
    """Say whether an edit changes the document's vectors: a correction does, an exclusion does not."""
    after = {**document.edits, edit.original_hash: edit.says}
    corrections = [{name: said[name] for name in corrected_by(said)} for said in (document.edits, after)]
    return corrections[0] != corrections[1]


def read_edit(
    client: "DynamoDBClient", table: str, tenant: str, document_id: str, original_hash: str
) -> PassageEdit | None:
    """Return the edit of one passage, None if there is none. Consistent read."""
    key = _key_of(tenant, document_id, original_hash)
    with dynamo_errors("registry"):
        item = client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")
    return _edit_of(item) if item is not None and "original" in item else None


def erase_edit(
    client: "DynamoDBClient", table: str, tenant: str, document_id: str, original_hash: str, now: datetime
) -> None:
    """Remove all that an edit says; its key goes with DynamoDB's TTL."""
    names = {f"#{name}": name for name in (*_FIELDS, "changed_at")}
    with dynamo_errors("registry"):
        client.update_item(
            TableName=table,
            Key=_key_of(tenant, document_id, original_hash),
            UpdateExpression=f"SET expires_at = :now REMOVE {', '.join(names)}",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=to_item({":now": int(now.timestamp())}),
        )


def _key_of(tenant: str, document_id: str, original_hash: str) -> Item:
    return to_item({"pk": f"TENANT#{tenant}", "sk": f"EDIT#{document_id}#{original_hash}"})


def _edit_of(item: Mapping[str, Any]) -> PassageEdit:
    values = from_item({name: item[name] for name in _FIELDS if name in item})
    return PassageEdit(**{**values, "changes": tuple(PassageChange(**each) for each in values["changes"])})
