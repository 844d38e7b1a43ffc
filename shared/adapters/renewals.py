"""How far the stack is in bringing every tenant to the settings of the day: one item of the documents table."""

from typing import TYPE_CHECKING

from shared.adapters.dynamo import dynamo_errors, from_item, to_item
from shared.ports import RenewalNote

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEY = to_item({"pk": "STACK", "sk": "RENEWAL"})


class DynamoRenewalNotes:
    """Implements `RenewalNotes`; `pk=STACK`, which no tenant's key can be."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def read(self) -> RenewalNote | None:
        """Return the note, or None before the first. Raises `DependencyError`."""
        with dynamo_errors("registry"):
            item = self._client.get_item(TableName=self._table, Key=_KEY, ConsistentRead=True).get("Item")
        return None if item is None else RenewalNote(**from_item({"note": item["note"]})["note"])

    def write(self, note: RenewalNote) -> None:
        """Replace the note. Raises `DependencyError`."""
        with dynamo_errors("registry"):
            self._client.update_item(
                TableName=self._table,
                Key=_KEY,
                UpdateExpression="SET note = :note",
                ExpressionAttributeValues=to_item({":note": note._asdict()}),
            )
