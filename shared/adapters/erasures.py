"""Erasures in the conversations table.

pk = TENANT#{tenant}#ERASURES   sk = ERASURE#{erasure}                  the fields of `Erasure`; expires_at
pk = ERASURES                   sk = OPEN#{tenant}#{kind}#{subject}     tenant, erasure_id: while it is not finished
pk = ERASURES                   sk = ROUND                              held_until, and where a scan was interrupted

A finished erasure keeps its receipt, and no longer the document's name, until DynamoDB's TTL takes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import dynamo_errors, from_item, pages, to_item
from shared.adapters.conversations import write_together
from shared.adapters.retry import Retry
from shared.erasures import Erasure

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_DEPENDENCY = "erasures"
_FIRST_WAIT_S = 0.05
KEPT_S = 400 * 86_400
"""Seconds that a receipt is kept after its erasure."""
_OPEN = "ERASURES"
_ROUND = {"pk": _OPEN, "sk": "ROUND"}
_FIELDS = [each.name for each in fields(Erasure) if each.name not in {"tenant", "erasure_id"}]


class DynamoErasures:
    """Implements `ErasureRegister` and `ErasureStore`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table
        self._retry = Retry(_DEPENDENCY, first_wait_s=_FIRST_WAIT_S)

    # --- for the API ---

    def begin(self, erasure: Erasure) -> Erasure:
        """Keep a new erasure and return it, or the one of this subject that is not finished yet."""
        place = _place(erasure)
        failed = write_together(
            self._client,
            [
                {
                    "Put": {
                        "TableName": self._table,
                        "Item": to_item({**place, "tenant": erasure.tenant, "erasure_id": erasure.erasure_id}),
                        "ConditionExpression": "attribute_not_exists(sk)",
                    }
                },
                {
                    "Put": {
                        "TableName": self._table,
                        "Item": to_item({**_key(erasure.tenant, erasure.erasure_id), **_values(erasure)}),
                    }
                },
            ],
            self._retry,
        )
        if failed:
            known = self._read(place)
            found = self.get(erasure.tenant, known["erasure_id"]) if known else None
            return found or erasure
        return erasure

    def get(self, tenant: str, erasure_id: str) -> Erasure | None:
        """Return an erasure, or None. Consistent read."""
        found = self._read(_key(tenant, erasure_id))
        return _erasure(found) if found is not None else None

    def count_before(self, erasure: Erasure, store: str, count: int) -> None:
        """Note how much a store held before."""
        with dynamo_errors(_DEPENDENCY):
            self._client.update_item(
                TableName=self._table,
                Key=to_item(_key(erasure.tenant, erasure.erasure_id)),
                UpdateExpression="SET #before.#store = :count",
                ExpressionAttributeNames={"#before": "before", "#store": store},
                ExpressionAttributeValues=to_item({":count": count}),
            )

    # --- for maintenance ---

    def unfinished(self) -> Sequence[Erasure]:
        """Return the erasures of all tenants that are not finished."""
        places = pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :open)",
            ExpressionAttributeValues=to_item({":pk": _OPEN, ":open": "OPEN#"}),
            ConsistentRead=True,
        )
        found = (self.get(each["tenant"], each["erasure_id"]) for each in map(from_item, places))
        return [each for each in found if each is not None]

    def save(self, erasure: Erasure) -> None:
        """Replace an erasure; a finished one is not among the unfinished any more."""
        values = {name: value for name, value in _values(erasure).items() if name not in {"before", "requested_by"}}
        if erasure.finished_at:
            values["expires_at"] = int(datetime.fromisoformat(erasure.finished_at).timestamp()) + KEPT_S
        names = {f"#{name}": name for name in values}
        with dynamo_errors(_DEPENDENCY):
            self._client.update_item(
                TableName=self._table,
                Key=to_item(_key(erasure.tenant, erasure.erasure_id)),
                UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=to_item({f":{name}": value for name, value in values.items()}),
            )
            if erasure.finished_at:
                self._client.delete_item(TableName=self._table, Key=to_item(_place(erasure)))

    def hold(self, now: float, until: float) -> Mapping[str, Any] | None:
        """Begin a round that nobody else begins before `until` (epoch seconds); None if another one is going on.

        Return what the last one left to continue, empty if it was finished.
        """
        try:
            with dynamo_errors(_DEPENDENCY):
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=to_item(_ROUND),
                    UpdateExpression="SET held_until = :until",
                    ConditionExpression="attribute_not_exists(held_until) OR held_until < :now",
                    ExpressionAttributeValues=to_item({":until": until, ":now": now}),
                    ReturnValues="ALL_NEW",
                )
        except ClientError:  # the condition failed: other errors are translated
            return None
        scan: Mapping[str, Any] = from_item(answer["Attributes"]).get("scan", {})
        return scan

    def let_go(self, scan: Mapping[str, Any]) -> None:
        """End a round, with what the next one has to continue."""
        with dynamo_errors(_DEPENDENCY):
            self._client.update_item(
                TableName=self._table,
                Key=to_item(_ROUND),
                UpdateExpression="SET held_until = :never, #scan = :scan",
                ExpressionAttributeNames={"#scan": "scan"},
                ExpressionAttributeValues=to_item({":never": 0, ":scan": dict(scan)}),
            )

    def _read(self, key: Mapping[str, str]) -> Mapping[str, Any] | None:
        with dynamo_errors(_DEPENDENCY):
            item = self._client.get_item(TableName=self._table, Key=to_item(key), ConsistentRead=True).get("Item")
        return from_item(item) if item is not None else None


def _key(tenant: str, erasure_id: str) -> dict[str, str]:
    return {"pk": f"TENANT#{tenant}#ERASURES", "sk": f"ERASURE#{erasure_id}"}


def _place(erasure: Erasure) -> dict[str, str]:
    return {"pk": _OPEN, "sk": f"OPEN#{erasure.tenant}#{erasure.kind}#{erasure.subject}"}


def _values(erasure: Erasure) -> dict[str, Any]:
    return {name: value for name, value in asdict(erasure).items() if name in _FIELDS}


def _erasure(item: Mapping[str, Any]) -> Erasure:
    tenant = item["pk"].removeprefix("TENANT#").removesuffix("#ERASURES")
    known = {name: item[name] for name in _FIELDS if name in item}
    return Erasure(tenant=tenant, erasure_id=item["sk"].removeprefix("ERASURE#"), **known)
