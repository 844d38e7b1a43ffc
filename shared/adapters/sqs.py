"""The queue of change notifications in SQS."""

import json
from typing import TYPE_CHECKING

from shared.adapters.aws import aws_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

MAX_DELAY_S = 900
MAX_VISIBILITY_S = 43_200
"""SQS's limits."""
_COUNTS: tuple["QueueAttributeNameType", ...] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class SqsChangeQueue:
    """Implements `ChangeQueue` on one queue."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def send(self, body: str, *, delay_s: int = 0) -> None:
        """Send a change notification, visible after `delay_s` seconds."""
        with aws_errors("queue"):
            self._client.send_message(
                QueueUrl=self._queue_url, MessageBody=body, DelaySeconds=min(max(delay_s, 0), MAX_DELAY_S)
            )

    def waiting(self) -> int:
        """Return the approximate number of messages, including hidden and delayed ones."""
        with aws_errors("queue"):
            found = self._client.get_queue_attributes(QueueUrl=self._queue_url, AttributeNames=list(_COUNTS))
        return sum(int(count) for count in found["Attributes"].values())

    def extend(self, receipt_handle: str, *, visibility_s: int) -> None:
        """Hide a message for `visibility_s` seconds from now."""
        with aws_errors("queue"):
            self._client.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=receipt_handle,
                VisibilityTimeout=min(max(visibility_s, 0), MAX_VISIBILITY_S),
            )


class SqsChangeNotifier:
    """Implements `ChangeNotifier`: ingest reads the message as one of its own (`functions/ingest/changes.py`)."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._queue = SqsChangeQueue(client, queue_url)

    def notify(self, key: str) -> None:
        """Send a change notification for a key."""
        self._queue.send(json.dumps({"recto": "change", "key": key}, ensure_ascii=False))
