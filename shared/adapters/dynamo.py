"""What every DynamoDB adapter needs: values to items and back, and errors of the tree instead of botocore's."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any, SupportsBytes, cast

from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer

from shared.adapters.aws import aws_errors

_SERIALIZER = TypeSerializer()
_DESERIALIZER = TypeDeserializer()
_CONDITIONS = {"ConditionalCheckFailedException", "TransactionCanceledException"}

Item = dict[str, Any]
"""A DynamoDB item in its wire form: `{"pk": {"S": "…"}}`."""


def to_item(values: Mapping[str, object]) -> Item:
    """Turn plain values into a wire item. Floats become numbers by their shortest text; None values are left out."""
    return {name: _SERIALIZER.serialize(_storable(value)) for name, value in values.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a wire item into plain values: whole numbers are `int`, others `float`, binary is `bytes`."""
    return {name: _plain(_DESERIALIZER.deserialize(value)) for name, value in item.items()}


def dynamo_errors(dependency: str) -> AbstractContextManager[None]:
    """Translate botocore's errors; a failed condition passes through, because only the caller knows what it means."""
    return aws_errors(dependency, passing=_CONDITIONS)


def _storable(value: object) -> object:
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Mapping):
        return {key: _storable(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_storable(inner) for inner in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Binary):
        return bytes(cast("SupportsBytes", value))
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
