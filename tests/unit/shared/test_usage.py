"""Usage as it is stored: one item for each day and user, read as one row for the questions and one for each model."""

from datetime import UTC, date, datetime
from typing import Any
from unittest.mock import Mock

from shared.adapters.aws import from_item, to_item
from shared.adapters.usage import KEPT_DAYS, DynamoUsage
from shared.models import Usage, UsageRow

NOW = datetime(2026, 1, 2, 23, 30, tzinfo=UTC)


def rows_of(*items: dict[str, Any]) -> list[UsageRow]:
    client = Mock()
    client.query.return_value = {"Items": [to_item(item) for item in items]}
    return list(DynamoUsage(client, "table").rows("acme", date(2026, 1, 1), date(2026, 1, 2)))


def test_questions_have_a_row_of_their_own_and_each_model_has_one() -> None:
    item = {
        "sk": "2026-01-02#ann#b", "questions": 3, "expires_at": 9, "input_tokens#gpt": 70, "output_tokens#gpt": 7,
        "cost_nano_usd#gpt": 1_500_000_000, "input_tokens#embed": 5, "unpriced#embed": 2,
    }  # fmt: skip
    assert rows_of(item) == [
        UsageRow("2026-01-02", "ann#b", "", questions=3),
        UsageRow("2026-01-02", "ann#b", "embed", usage=Usage(5), unpriced=2),
        UsageRow("2026-01-02", "ann#b", "gpt", usage=Usage(70, 7), cost_usd=1.5),
    ]


def test_ingest_asks_no_questions_and_has_no_row_for_them() -> None:
    assert rows_of({"sk": "2026-01-02#", "input_tokens#embed": 5}) == [
        UsageRow("2026-01-02", "", "embed", usage=Usage(5))
    ]


def recorded(spent: dict[str, Usage], questions: int) -> dict[str, Any] | None:
    """What is added to an item, by name."""
    client = Mock()
    DynamoUsage(client, "table").record("acme", "ann", spent, questions=questions, now=NOW)
    if not client.update_item.called:
        return None
    asked = client.update_item.call_args.kwargs
    assert from_item(asked["Key"]) == {"pk": "USAGE#acme", "sk": "2026-01-02#ann"}
    values = from_item(asked["ExpressionAttributeValues"])
    assert values[":expires_at"] == int(NOW.timestamp()) + KEPT_DAYS * 86_400
    return {name: values[number.replace("#n", ":v")] for number, name in asked["ExpressionAttributeNames"].items()}


def test_what_was_spent_is_added_by_field_and_model_and_nothing_for_nothing() -> None:
    assert recorded({}, 0) is None
    assert recorded({}, 1) == {"questions": 1}
    assert recorded({"no-such-model": Usage(70, 7)}, 0) == {
        "input_tokens#no-such-model": 70, "output_tokens#no-such-model": 7, "unpriced#no-such-model": 1
    }  # fmt: skip
    priced = recorded({"gpt-5.6-luna": Usage(1_000_000, 0)}, 1) or {}
    assert priced["questions"] == 1
    assert priced["cost_nano_usd#gpt-5.6-luna"] > 1_000_000
    assert "unpriced#gpt-5.6-luna" not in priced
