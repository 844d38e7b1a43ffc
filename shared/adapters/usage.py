"""Usage in DynamoDB, in the table of conversations: counters of limits, and tokens and cost for `GET /admin/usage`.

pk = LIMIT#…           sk = LIMIT            questions, tokens, expires_at
pk = USAGE#{tenant}    sk = {day}#{user}     questions, and for each model `{field}#{model}`; expires_at
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError

from shared.adapters.aws import dynamo_errors, from_item, pages, to_item
from shared.models import Usage, UsageRow
from shared.prices import cost_usd

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_DEPENDENCY = "usage"
KEPT_DAYS = 400
"""Days that usage is kept: a year and a month, so that a month can be compared with the same one last year."""
_NANO = 1_000_000_000
"""Costs are stored as whole billionths of a dollar: DynamoDB adds exactly, and an embedding costs millionths."""
_FIELDS = tuple(Usage.__dataclass_fields__)


class DynamoUsage:
    """Implements `UsageLog`.

    The client must not retry by itself: a write that was done and looked like a failure would be counted twice.
    """

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def count(self, key: str, *, questions: int, tokens: int, expires_at: int) -> str:
        """Count one question unless the counter has reached `questions` or `tokens` (0: no limit).

        Return "" when it was counted, else which limit is used up. Raises `DependencyError`.
        """
        limits = {name: limit for name, limit in (("questions", questions), ("tokens", tokens)) if limit}
        checks = [f"(attribute_not_exists({name}) OR {name} < :{name})" for name in limits]
        values = {f":{name}": limit for name, limit in limits.items()}
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key=to_item({"pk": key, "sk": "LIMIT"}),
                    UpdateExpression="SET expires_at = :expires_at ADD questions :one",
                    ConditionExpression=" AND ".join(checks),
                    ExpressionAttributeValues=to_item({**values, ":one": 1, ":expires_at": expires_at}),
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:  # the condition failed: other errors are translated
            held = from_item(cast("Mapping[str, Any]", error.response.get("Item", {})))
            return "tokens" if tokens and held.get("tokens", 0) >= tokens else "questions"
        return ""

    def add_tokens(self, key: str, tokens: int, *, expires_at: int) -> None:
        """Add used tokens to a counter. Raises `DependencyError`."""
        with dynamo_errors(_DEPENDENCY):
            self._client.update_item(
                TableName=self._table,
                Key=to_item({"pk": key, "sk": "LIMIT"}),
                UpdateExpression="SET expires_at = :expires_at ADD tokens :tokens",
                ExpressionAttributeValues=to_item({":tokens": tokens, ":expires_at": expires_at}),
            )

    def record(self, tenant: str, user: str, spent: Mapping[str, Usage], *, questions: int, now: datetime) -> None:
        """Add what one question or one ingest cost; an empty `user` means ingest. Raises `DependencyError`."""
        added: dict[str, int] = {"questions": questions}
        for model, usage in spent.items():
            added |= {f"{name}#{model}": getattr(usage, name) for name in _FIELDS}
            cost = cost_usd(model, usage)
            added |= {f"unpriced#{model}": 1} if cost is None else {f"cost_nano_usd#{model}": round(cost * _NANO)}
        added = {name: value for name, value in added.items() if value}
        if not added:
            return
        expires_at = int((now + timedelta(days=KEPT_DAYS)).timestamp())
        with dynamo_errors(_DEPENDENCY):
            self._client.update_item(
                TableName=self._table,
                Key=to_item({"pk": f"USAGE#{tenant}", "sk": f"{now:%Y-%m-%d}#{user}"}),
                UpdateExpression="SET expires_at = :expires_at ADD "
                + ", ".join(f"#n{at} :v{at}" for at in range(len(added))),
                ExpressionAttributeNames={f"#n{at}": name for at, name in enumerate(added)},
                ExpressionAttributeValues=to_item(
                    {f":v{at}": value for at, value in enumerate(added.values())} | {":expires_at": expires_at}
                ),
            )

    def rows(self, tenant: str, first: date, last: date) -> Iterator[UsageRow]:
        """Yield the usage of each day, user and model from `first` to `last`. Raises `DependencyError`."""
        items = pages(
            _DEPENDENCY,
            self._client.query,
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues=to_item(
                {":pk": f"USAGE#{tenant}", ":first": f"{first}#", ":last": f"{last}#\U0010ffff"}
            ),
        )
        for item in items:
            yield from _rows_of(from_item(item))


def _rows_of(item: Mapping[str, Any]) -> Iterator[UsageRow]:
    """Yield one row for the questions and one for each model of a day and user."""
    day, _, user = item["sk"].partition("#")
    if questions := item.get("questions", 0):
        yield UsageRow(day, user, "", questions=questions)
    for model in sorted({name.partition("#")[2] for name in item if "#" in name}):
        usage = Usage(*(item.get(f"{name}#{model}", 0) for name in _FIELDS))
        cost = item.get(f"cost_nano_usd#{model}", 0) / _NANO
        yield UsageRow(day, user, model, usage=usage, cost_usd=cost, unpriced=item.get(f"unpriced#{model}", 0))
