"""Unanswered questions in the conversations table.

pk = TENANT#{tenant}#UNANSWERED
sk = MSG#{message}      question, asked_at, language, space, vector (float32), refusal, nearest, answered_by, expires_at

The id is that of the message that did not answer, so an erased conversation finds its questions, and ids sort by time.
"""

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from shared.adapters.aws import Item, dynamo_errors, from_item, pages, to_item
from shared.adapters.conversations import unanswered_key
from shared.deadline import Workers
from shared.errors import DependencyError
from shared.models import UnansweredQuestion
from shared.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_DEPENDENCY = "unanswered"
_AT_ONCE = 8
_WORKERS = Workers(_DEPENDENCY)


class DynamoUnansweredLog:
    """Implements `UnansweredLog`. A vector is stored as little-endian float32: 6 KB for 1,536 dimensions."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def since(
        self, tenant: str, first: datetime, *, limit: int
    ) -> tuple[Sequence[UnansweredQuestion], Collection[str]]:
        """Return the questions asked since then that nobody has answered, the latest first, at most `limit`.

        Also return the ids of those marked as answered that are no older than the last of these. Expired ones are left
        out (DynamoDB deletes late).
        """
        now = self._clock.now().timestamp()
        items = pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
            FilterExpression="(asked_at >= :first OR attribute_not_exists(asked_at)) AND expires_at > :now",
            ExpressionAttributeValues=to_item(
                {
                    ":pk": unanswered_key(tenant, "")["pk"],
                    ":sk": "MSG#",
                    ":first": first.isoformat(timespec="milliseconds"),
                    ":now": int(now),
                }
            ),
            ScanIndexForward=False,
        )
        answered: set[str] = set()
        open_ones = self._open(items, answered)
        return list(islice(open_ones, limit)), answered

    def _open(self, items: Iterator[Item], answered: set[str]) -> Iterator[UnansweredQuestion]:
        """Yield the open questions; add the ids of the answered ones to `answered` on the way."""
        for item in map(from_item, items):
            if item.get("answered_by"):
                answered.add(item["sk"].removeprefix("MSG#"))
            elif "question" in item:
                yield _question(item)

    def mark(self, tenant: str, question_ids: Sequence[str], faq_id: str, *, expires_at: int) -> int:
        """Mark questions as answered by an FAQ; return how many were marked. If one fails, it stays as it is."""

        def one(question_id: str) -> None:
            with dynamo_errors(_DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key=to_item(unanswered_key(tenant, question_id)),
                    UpdateExpression="SET answered_by = :faq, expires_at = if_not_exists(expires_at, :until)",
                    ExpressionAttributeValues=to_item({":faq": faq_id, ":until": expires_at}),
                )

        marked = 0
        for at in range(0, len(question_ids), _AT_ONCE):
            for writing in [_WORKERS.submit(one, each) for each in question_ids[at : at + _AT_ONCE]]:
                with suppress(DependencyError):
                    writing.result()
                    marked += 1
        return marked


def _question(item: Mapping[str, Any]) -> UnansweredQuestion:
    return UnansweredQuestion(
        question_id=item["sk"].removeprefix("MSG#"),
        question=item["question"],
        asked_at=item["asked_at"],
        language=item["lang"],
        space=item["space"],
        vector=struct.unpack(f"<{len(item['vector']) // 4}f", item["vector"]),
        refusal=item["refusal"],
        nearest=[(str(chunk_id), float(score)) for chunk_id, score in item["nearest"]],
    )
