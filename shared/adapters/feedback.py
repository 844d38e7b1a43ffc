"""Feedback on answers in DynamoDB: beside the answer for its reader, and once more, with the question, for editors.

pk = TENANT#{tenant}#USER#{user}  sk = CONV#{conversation}#MSG#{message}  feedback: rating, reason, comment, updated_at
pk = TENANT#{tenant}#FEEDBACK     sk = MSG#{message}                      feedback, updated_at, conversation_id, asked,
                                                                          and all that the message holds

The second item names no user. The index `recent` has it by the time it was given.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from shared.adapters.aws import from_item, pages, to_item
from shared.adapters.conversations import (
    ERASING,
    EXISTS,
    RECENT,
    conversation_key,
    cursor_of,
    feedback_key,
    message_key,
    message_of,
    message_values,
    place_of,
    write_together,
)
from shared.adapters.retry import Retry
from shared.models import Feedback, FoundMessage

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_DEPENDENCY = "feedback"
_FIRST_WAIT_S = 0.05
_OLDEST, _NEWEST = "0", "9"
"""Sort before and after every time."""

type _Place = tuple[str, str]
"""When an answer was rated, and its message's id. The greatest comes first."""


class DynamoFeedbackStore:
    """Implements `FeedbackStore`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table
        self._retry = Retry(_DEPENDENCY, first_wait_s=_FIRST_WAIT_S)

    def put(self, tenant: str, user: str, found: FoundMessage, feedback: Feedback) -> bool:
        """Store feedback on a found answer, replacing any earlier one; False if the answer was erased meanwhile."""
        given = asdict(feedback)
        return self._write(
            tenant,
            user,
            found,
            {"UpdateExpression": "SET feedback = :given", "ExpressionAttributeValues": to_item({":given": given})},
            {
                "Put": {
                    "TableName": self._table,
                    "Item": to_item(
                        {
                            **feedback_key(tenant, found.message.message_id),
                            **message_values(found.message),
                            "feedback": given,
                            "updated_at": feedback.updated_at,
                            "conversation_id": found.conversation_id,
                            "asked": found.asked,
                        }
                    ),
                }
            },
        )

    def remove(self, tenant: str, user: str, found: FoundMessage) -> bool:
        """Remove the feedback on a found answer, if there is any; False if the answer was erased meanwhile."""
        key = to_item(feedback_key(tenant, found.message.message_id))
        return self._write(
            tenant,
            user,
            found,
            {"UpdateExpression": "REMOVE feedback"},
            {"Delete": {"TableName": self._table, "Key": key}},
        )

    def given(
        self, tenant: str, *, limit: int, cursor: str = "", rating: str = "", since: datetime | None = None
    ) -> tuple[Sequence[FoundMessage], str]:
        """Return rated answers with their questions, the last rated first, and the cursor of the next page.

        With `since` only what was rated then or later. Raises `InvalidRequest` for an unusable cursor.
        """
        at, message_id = place_of(cursor, parts=2)
        first = since.astimezone(UTC).isoformat(timespec="milliseconds") if since else _OLDEST
        wanted = (
            (place, each)
            for place, each in self._by_time(tenant, first, at or _NEWEST)
            if (not cursor or place < (at, message_id)) and (not rating or _rating_of(each) == rating)
        )
        found = list(islice(wanted, limit + 1))
        following = cursor_of(*found[limit - 1][0]) if len(found) > limit else ""
        return [each for _, each in found[:limit]], following

    def _write(
        self, tenant: str, user: str, found: FoundMessage, change: Mapping[str, Any], copy: Mapping[str, Any]
    ) -> bool:
        """Change the message and its copy in one transaction; False if the conversation is being erased."""
        items: list[Any] = [
            {
                "ConditionCheck": {
                    "TableName": self._table,
                    "Key": to_item(conversation_key(tenant, user, found.conversation_id)),
                    "ConditionExpression": EXISTS,
                    "ExpressionAttributeValues": to_item({":erasing": ERASING}),
                }
            },
            {
                "Update": {
                    "TableName": self._table,
                    "Key": to_item(message_key(tenant, user, found.conversation_id, found.message.message_id)),
                    "ConditionExpression": "attribute_exists(sk)",
                    **change,
                }
            },
            copy,
        ]
        return not write_together(self._client, items, self._retry)

    def _by_time(self, tenant: str, first: str, last: str) -> Iterator[tuple[_Place, FoundMessage]]:
        """Yield rated answers by their places, the last rated first."""
        items = pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            IndexName=RECENT,
            KeyConditionExpression="pk = :pk AND updated_at BETWEEN :first AND :last",
            ExpressionAttributeValues=to_item({":pk": feedback_key(tenant, "")["pk"], ":first": first, ":last": last}),
            ScanIndexForward=False,
        )
        # The index does not say in which order it has those of one millisecond.
        for at, same in groupby(items, key=lambda item: str(from_item(item)["updated_at"])):
            found = sorted(map(_found, same), key=lambda each: each.message.message_id, reverse=True)
            yield from (((at, each.message.message_id), each) for each in found)


def _found(item: Mapping[str, Any]) -> FoundMessage:
    values = from_item(item)
    return FoundMessage(values["conversation_id"], message_of(item), values["asked"])


def _rating_of(found: FoundMessage) -> str:
    return found.message.feedback.rating if found.message.feedback else ""
