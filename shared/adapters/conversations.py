"""Conversations in DynamoDB: one item per conversation and one per message, because an item is limited to 400 KB.

pk = TENANT#{tenant}#USER#{user}
sk = CONV#{conversation}                    title, created_at, updated_at, message_count, summary, summarized
sk = CONV#{conversation}#MSG#{message}      role, content, created_at, citations, claims, details
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, pages, to_item
from shared.errors import Conflict, DependencyRefused, InvalidRequest, NotFound, RateLimited
from shared.models import AnswerClaim, Citation, Conversation, Message

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_DEPENDENCY = "conversations"
_INVALID_CURSOR = "The cursor is invalid: start again without one."
_THROTTLED = {"ProvisionedThroughputExceeded", "ThrottlingError"}
"""Reasons for which DynamoDB cancels a valid transaction."""
_KEY_CHARACTERS = 200
"""Maximum length of a cursor's key: three times ours. DynamoDB rejects keys over 1,024 bytes with an error."""


class DynamoConversationStore:
    """Implements `ConversationStore`. The user is part of the key, so another user's conversation is never found."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages, oldest first. Raises `NotFound` for an unknown conversation."""
        newest_first = partial(self._query, tenant, user, conversation_id, ScanIndexForward=False)
        # A page also ends at 1 MB, which fifty long answers with quotes can reach.
        found = list(islice(pages(_DEPENDENCY, newest_first, Limit=max(1, limit)), max(1, limit)))
        if not found and self.get(tenant, user, conversation_id) is None:
            raise NotFound("There is no such conversation.")
        return [_message(item) for item in reversed(found)][-limit:] if limit else []

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return a conversation without its messages, or None."""
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
        answer = self._query(tenant, user, conversation_id, Limit=limit, **start)
        last = answer.get("LastEvaluatedKey")
        following = base64.urlsafe_b64encode(from_item(last)["sk"].encode()).decode() if last else ""
        return [_message(item) for item in answer["Items"]], following

    def save_turns(self, tenant: str, user: str, conversation_id: str, *, title: str, turns: Sequence[Message]) -> None:
        """Append the turns in one transaction, creating the conversation if it is new.

        Writing the same turns again (a retry after a lost response) changes nothing.
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
                raise Conflict("Another request is writing to this conversation.") from error
            codes = ", ".join(sorted(reasons))
            if reasons & _THROTTLED:
                raise RateLimited(_DEPENDENCY, codes) from error
            raise DependencyRefused(_DEPENDENCY, f"the turns cannot be written: {codes}") from error

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Store the summary of the first `upto` messages, unless a longer one is stored or the conversation is gone."""
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
            return

    def _query(self, tenant: str, user: str, conversation_id: str, **request: Any) -> Mapping[str, Any]:
        with dynamo_errors(_DEPENDENCY):
            return self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                ExpressionAttributeValues=to_item({":pk": _pk(tenant, user), ":sk": f"CONV#{conversation_id}#MSG#"}),
                ConsistentRead=True,
                **request,
            )


def _pk(tenant: str, user: str) -> str:
    return f"TENANT#{tenant}#USER#{user}"


def _decoded(cursor: str, conversation_id: str) -> str:
    try:
        sk = base64.urlsafe_b64decode(cursor.encode()).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise InvalidRequest(_INVALID_CURSOR) from error
    if not sk.startswith(f"CONV#{conversation_id}#MSG#") or len(sk) > _KEY_CHARACTERS:
        raise InvalidRequest(_INVALID_CURSOR)
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
            "claims": [asdict(claim) for claim in message.claims],
            # One JSON string, because details are never searched.
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
        citations=tuple(map(Citation.of, values.get("citations", ()))),
        details=json.loads(values.get("details", "{}")),
        claims=tuple(map(AnswerClaim.of, values.get("claims", ()))),
    )
