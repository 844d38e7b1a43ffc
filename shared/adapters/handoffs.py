"""Hand-offs in the conversations table.

pk = TENANT#{tenant}#HANDOFF
sk = HANDOFF#{handoff}              the fields of `Handoff`
sk = CONV#{conversation}            handoffs (all of the conversation), open_handoff (the id of the open one, or "")
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shared.adapters.aws import Item, dynamo_errors, from_item, to_item
from shared.adapters.conversations import (
    NO_CONVERSATION,
    DynamoConversationStore,
    handoff_key,
    handoffs_key,
    head_exists,
    write_together,
)
from shared.adapters.retry import Retry
from shared.errors import Conflict, NotFound
from shared.models import Handoff, HandoffStatus, Message

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_DEPENDENCY = "handoffs"
_FIRST_WAIT_S = 0.05
_OPENINGS = 3
"""Attempts to open a hand-off while another one of the conversation is opened or ended."""
_PAGES = 5
"""Pages of 1 MB that one listing reads: a rare status may be far away; the cursor continues from there."""


class DynamoHandoffStore:
    """Implements `HandoffStore`. Each change is conditional on the revision that was read."""

    def __init__(self, client: "DynamoDBClient", table: str, conversations: DynamoConversationStore) -> None:
        self._client = client
        self._table = table
        self._conversations = conversations
        self._retry = Retry(_DEPENDENCY, first_wait_s=_FIRST_WAIT_S)

    def open(self, handoff: Handoff) -> Handoff:
        """Keep a new hand-off, unless the conversation has an open one, and return the open one."""
        place = handoffs_key(handoff.tenant, handoff.conversation_id)
        put: TransactWriteItemTypeDef = {"Put": {"TableName": self._table, "Item": _item(handoff)}}
        point: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": to_item(place),
                "UpdateExpression": (
                    "SET open_handoff = :id, handoffs = list_append(if_not_exists(handoffs, :empty), :ids)"
                ),
                "ConditionExpression": "attribute_not_exists(open_handoff) OR open_handoff = :none",
                "ExpressionAttributeValues": to_item(
                    {":id": handoff.handoff_id, ":ids": [handoff.handoff_id], ":empty": [], ":none": ""}
                ),
            }
        }
        exists = head_exists(self._table, handoff.tenant, handoff.user, handoff.conversation_id)
        for _ in range(_OPENINGS):
            failed = write_together(self._client, [exists, point, put], self._retry)
            if not failed:
                return handoff
            if 0 in failed:
                raise NotFound(NO_CONVERSATION)
            known = self._read(place)
            opened = self.get(handoff.tenant, known["open_handoff"]) if known and known["open_handoff"] else None
            if opened is not None and opened.is_open:
                return opened
        raise Conflict("Another request is changing this hand-off.")

    def get(self, tenant: str, handoff_id: str) -> Handoff | None:
        """Return a hand-off, or None. Consistent read."""
        found = self._read(handoff_key(tenant, handoff_id))
        return _handoff(tenant, found) if found is not None else None

    def list(
        self, tenant: str, *, limit: int, cursor: str = "", status: HandoffStatus | None = None
    ) -> tuple[Sequence[Handoff], str]:
        """Return hand-offs, the oldest first, and the cursor of the next page: an id, empty at the end."""
        after = f"HANDOFF#{cursor}" if cursor else "HANDOFF#"
        values = {":pk": handoff_key(tenant, "")["pk"], ":after": after, ":last": "HANDOFF$"} | (
            {":status": status} if status else {}
        )
        named = {"FilterExpression": "#status = :status", "ExpressionAttributeNames": {"#status": "status"}}
        request: dict[str, Any] = named if status else {"Limit": limit + 2}  # the cursor's own item is left out
        found: list[Handoff] = []
        for _ in range(_PAGES):
            with dynamo_errors(_DEPENDENCY):
                answer = self._client.query(
                    TableName=self._table,
                    KeyConditionExpression="pk = :pk AND sk BETWEEN :after AND :last",
                    ExpressionAttributeValues=to_item(values),
                    ConsistentRead=True,
                    **request,
                )
            items = map(from_item, answer["Items"])
            found += [_handoff(tenant, item) for item in items if item["sk"] != after]
            if len(found) > limit:
                return found[:limit], found[limit - 1].handoff_id
            if "LastEvaluatedKey" not in answer:
                return found, ""
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return found, from_item(request["ExclusiveStartKey"])["sk"].removeprefix("HANDOFF#")

    def change(self, before: Handoff, after: Handoff) -> bool:
        """Replace a hand-off; return False if it is not `before` any more."""
        return not write_together(self._client, self._writes(before, after), self._retry)

    def answer(self, before: Handoff, after: Handoff, message: Message) -> bool:
        """As `change`, and append the message to the asker's conversation, in one transaction."""
        writes = self._writes(before, after)
        failed = self._conversations.write_turns(
            after.tenant,
            after.user,
            after.conversation_id,
            title="",
            turns=[message],
            is_new=False,
            also=writes,
        )
        if 0 in failed:
            raise NotFound(NO_CONVERSATION)
        return not failed

    def _writes(self, before: Handoff, after: Handoff) -> "Sequence[TransactWriteItemTypeDef]":
        put: TransactWriteItemTypeDef = {
            "Put": {
                "TableName": self._table,
                "Item": _item(after),
                "ConditionExpression": "revision = :revision",
                "ExpressionAttributeValues": to_item({":revision": before.revision}),
            }
        }
        if not before.is_open or after.is_open:
            return [put]
        free: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": to_item(handoffs_key(after.tenant, after.conversation_id)),
                "UpdateExpression": "SET open_handoff = :none",
                "ConditionExpression": "open_handoff = :id",
                "ExpressionAttributeValues": to_item({":none": "", ":id": after.handoff_id}),
            }
        }
        return [put, free]

    def _read(self, key: Mapping[str, str]) -> Mapping[str, Any] | None:
        with dynamo_errors(_DEPENDENCY):
            item = self._client.get_item(TableName=self._table, Key=to_item(key), ConsistentRead=True).get("Item")
        return from_item(item) if item is not None else None


def _item(handoff: Handoff) -> Item:
    fields = asdict(handoff)
    del fields["tenant"], fields["handoff_id"]
    return to_item({**handoff_key(handoff.tenant, handoff.handoff_id), **fields})


def _handoff(tenant: str, item: Mapping[str, Any]) -> Handoff:
    fields = {name: value for name, value in item.items() if name not in {"pk", "sk", "near_misses"}}
    near_misses = tuple((str(chunk_id), float(score)) for chunk_id, score in item["near_misses"])
    return Handoff(tenant, item["sk"].removeprefix("HANDOFF#"), near_misses=near_misses, **fields)
