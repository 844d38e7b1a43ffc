"""The condition key that the AWS emulator lacks: the partition keys of a DynamoDB request."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from local.stack.enforcing_emulator import name_leading_keys


def judged_by(request: dict[str, Any]) -> list[str] | None:
    actions = SimpleNamespace(dynamodb_service_context=lambda body: {"dynamodb:Select": "ALL_ATTRIBUTES"})
    name_leading_keys(actions)
    context = actions.dynamodb_service_context(json.dumps(request).encode())
    assert context.pop("dynamodb:Select")
    found: list[str] | None = context.get("dynamodb:LeadingKeys")
    return found


KEY = {"pk": {"S": "TENANT#acme"}, "sk": {"S": "DOC#1"}}
OTHER = {"pk": {"S": "TENANT#other"}, "sk": {"S": "DOC#1"}}


@pytest.mark.parametrize(
    ("request_", "keys"),
    [
        ({"TableName": "t", "Key": KEY}, ["TENANT#acme"]),
        ({"TableName": "t", "Item": {**KEY, "title": {"S": "pk"}}}, ["TENANT#acme"]),
        ({"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": {"S": "A"}}}, ["A"]),
        ({"RequestItems": {"t": {"Keys": [KEY, OTHER]}}}, ["TENANT#acme", "TENANT#other"]),
        ({"RequestItems": {"t": [{"PutRequest": {"Item": KEY}}]}}, ["TENANT#acme"]),
        ({"TransactItems": [{"Update": {"Key": KEY}}, {"Put": {"Item": OTHER}}]}, ["TENANT#acme", "TENANT#other"]),
        ({"TableName": "t"}, None),
    ],
)
def test_the_partition_keys_of_a_request_are_found(request_: dict[str, Any], keys: list[str] | None) -> None:
    assert judged_by(request_) == keys
