"""Conversations in DynamoDB: one item for the head, one item a message (an item holds 400 KB at most).

pk = TENANT#{tenant}#USER#{user}
sk = CONV#{conversation}                    title, created_at, updated_at, message_count, summary, summarized
sk = CONV#{conversation}#MSG#{message}      role, content, created_at, citations, details
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, to_item
from shared.errors import Conflict, DependencyRefused, InvalidRequest, NotFound, RateLimited
from shared.models import Citation, Conversation, Message, SourceType

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_DEPENDENCY = "conversations"
_THROTTLED = {"ProvisionedThroughputExceeded", "ThrottlingError"}
"""Why DynamoDB cancels a transaction that has nothing wrong with it."""
_KEY_CHARACTERS = 200
"""Three times those of a key here; DynamoDB refuses one of more than 1,024 bytes, which would look like our fault."""


class DynamoConversationStore:
    """Implements `ConversationStore`. The user is part of the key, so somebody else's conversation does not exist."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages, oldest first. Raises `NotFound` for an unknown conversation."""
        found: list[Mapping[str, Any]] = []
        request: dict[str, Any] = {}
        while True:
            with dynamo_errors(_DEPENDENCY):
                answer = self._client.query(
                    TableName=self._table,
                    KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                    ExpressionAttributeValues=to_item(
                        {":pk": _pk(tenant, user), ":sk": f"CONV#{conversation_id}#MSG#"}
                    ),
                    ScanIndexForward=False,
                    Limit=max(1, limit) - len(found),
                    ConsistentRead=True,
                    **request,
                )
            found += answer["Items"]
            # A page ends at 1 MB, too, which fifty long answers with their quotes come to.
            if "LastEvaluatedKey" not in answer or len(found) >= limit:
                break
            request = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        if not found and self.get(tenant, user, conversation_id) is None:
            raise NotFound("There is no such conversation.")
        return [_message(item) for item in reversed(found)][-limit:] if limit else []

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return the head of a conversation, or None."""
        with dynamo_errors(_DEPENDENCY):
            item = self._client.get_item(
                TableName=self._table,
                Key=to_item({"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}),
                ConsistentRead=True,
            ).get("Item")
        if item is None:
            return None
        head = from_item(item)
        return Conversation(
            conversation_id,
            head["title"],
            head["created_at"],
            head["updated_at"],
            int(head["message_count"]),
            head.get("summary", ""),
            int(head.get("summarized", 0)),
        )

    def messages(
        self, tenant: str, user: str, conversation_id: str, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[Message], str]:
        """Return messages oldest first, and the cursor of the next page (empty at the end)."""
        start: dict[str, Any] = {}
        if cursor:
            start = {"ExclusiveStartKey": to_item({"pk": _pk(tenant, user), "sk": _decoded(cursor, conversation_id)})}
        with dynamo_errors(_DEPENDENCY):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                ExpressionAttributeValues=to_item({":pk": _pk(tenant, user), ":sk": f"CONV#{conversation_id}#MSG#"}),
                Limit=limit,
                ConsistentRead=True,
                **start,
            )
        last = answer.get("LastEvaluatedKey")
        following = base64.urlsafe_b64encode(from_item(last)["sk"].encode()).decode() if last else ""
        return [_message(item) for item in answer["Items"]], following

    def save_turns(self, tenant: str, user: str, conversation_id: str, *, title: str, turns: Sequence[Message]) -> None:
        """Append the turns in one transaction, creating the conversation (titled `title`) if it is new.

        Writing the same turns again (a retry whose first answer was lost) is no error and changes nothing.
        """
        pk = _pk(tenant, user)
        head: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": to_item({"pk": pk, "sk": f"CONV#{conversation_id}"}),
                "UpdateExpression": (
                    "SET title = if_not_exists(title, :title), created_at = if_not_exists(created_at, :now), "
                    "updated_at = :now ADD message_count :count"
                ),
                "ExpressionAttributeValues": to_item(
                    {":title": title, ":now": turns[-1].created_at, ":count": len(turns)}
                ),
            }
        }
        puts: list[TransactWriteItemTypeDef] = [
            {
                "Put": {
                    "TableName": self._table,
                    "Item": _message_item(pk, conversation_id, turn),
                    "ConditionExpression": "attribute_not_exists(sk)",
                }
            }
            for turn in turns
        ]
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.transact_write_items(TransactItems=[head, *puts])
        except ClientError as error:
            reasons = {reason.get("Code", "") for reason in error.response.get("CancellationReasons", [])} - {"None"}
            if "ConditionalCheckFailed" in reasons:
                return
            if "TransactionConflict" in reasons:
                raise Conflict("The conversation is being written to by another request.") from error
            told = ", ".join(sorted(reasons))
            if reasons & _THROTTLED:
                raise RateLimited(_DEPENDENCY, told) from error
            raise DependencyRefused(_DEPENDENCY, f"the turns cannot be written: {told}") from error

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Remember the summary of the first `upto` messages; one of fewer messages, or of an erased one, is let be."""
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key=to_item({"pk": _pk(tenant, user), "sk": f"CONV#{conversation_id}"}),
                    UpdateExpression="SET summary = :summary, summarized = :upto",
                    ConditionExpression=(
                        "attribute_exists(sk) AND (attribute_not_exists(summarized) OR summarized < :upto)"
                    ),
                    ExpressionAttributeValues=to_item({":summary": summary, ":upto": upto}),
                )
        except ClientError:
            return  # what is there covers more, or the conversation has been erased


def _pk(tenant: str, user: str) -> str:
    return f"TENANT#{tenant}#USER#{user}"


def _decoded(cursor: str, conversation_id: str) -> str:
    try:
        sk = base64.urlsafe_b64decode(cursor.encode()).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidRequest("The cursor is not one this service gave out.") from error
    if not sk.startswith(f"CONV#{conversation_id}#MSG#") or len(sk) > _KEY_CHARACTERS:
        raise InvalidRequest("The cursor is not one this service gave out.")
    return sk


def _message_item(pk: str, conversation_id: str, message: Message) -> Item:
    return to_item(
        {
            "pk": pk,
            "sk": f"CONV#{conversation_id}#MSG#{message.message_id}",
            "role": message.role,
            "content": message.content,
            "created_at": message.created_at,
            "citations": [asdict(citation) for citation in message.citations],
            # One JSON string: details are read back whole and never searched.
            "details": json.dumps(message.details, separators=(",", ":"), sort_keys=True),
        }
    )


def _message(item: Mapping[str, Any]) -> Message:
    values = from_item(item)
    return Message(
        message_id=values["sk"].rsplit("#", 1)[1],
        role=values["role"],
        content=values["content"],
        created_at=values["created_at"],
        citations=tuple(
            Citation(**{**citation, "source_type": SourceType(citation["source_type"])})
            for citation in values.get("citations", ())
        ),
        details=json.loads(values.get("details", "{}")),
    )
