"""What every DynamoDB adapter needs: values to items and back, and errors of the tree instead of botocore's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, SupportsBytes, cast

from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError

from shared.errors import DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited

_SERIALIZER = TypeSerializer()
_DESERIALIZER = TypeDeserializer()
_THROTTLES = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "TooManyRequestsException",
    "LimitExceededException",
}
_TRANSIENT = {"InternalServerError", "ServiceUnavailable", "TransactionInProgressException"}

Item = dict[str, Any]
"""A DynamoDB item in its wire form: `{"pk": {"S": "…"}}`."""


def to_item(values: Mapping[str, object]) -> Item:
    """Turn plain values into a wire item. Floats become numbers by their shortest text; None values are left out."""
    return {name: _SERIALIZER.serialize(_storable(value)) for name, value in values.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a wire item into plain values: whole numbers are `int`, others `float`, binary is `bytes`."""
    return {name: _plain(_DESERIALIZER.deserialize(value)) for name, value in item.items()}


@contextmanager
def dynamo_errors(dependency: str) -> Iterator[None]:
    """Translate botocore's errors; a failed condition passes through, because only the caller knows what it means."""
    try:
        yield
    except (ConnectTimeoutError, ReadTimeoutError) as error:
        raise DependencyTimeout(dependency, type(error).__name__) from error
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in {"ConditionalCheckFailedException", "TransactionCanceledException"}:
            raise
        if code in _THROTTLES:
            raise RateLimited(dependency, code) from error
        if code in _TRANSIENT or status >= 500:
            raise DependencyUnavailable(dependency, code) from error
        raise DependencyRefused(dependency, f"{code}: {error.response.get('Error', {}).get('Message', '')}") from error
    except BotoCoreError as error:
        raise DependencyUnavailable(dependency, type(error).__name__) from error


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
