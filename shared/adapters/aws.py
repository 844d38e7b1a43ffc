"""AWS clients with explicit limits, AWS's errors in our tree, DynamoDB's items as plain values, and the clock."""

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import batched
from typing import TYPE_CHECKING, Any, SupportsBytes, cast
from weakref import WeakSet

import boto3
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
)
from botocore.parsers import ResponseParserError

from shared.adapters.retry import AWS_ATTEMPTS, Retry
from shared.deadline import CallAbandoned, call_within
from shared.errors import DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient


_THROTTLES = {
    "LimitExceededException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "RequestThrottled",
    "RequestThrottledException", "SlowDown", "Throttling", "ThrottlingException", "TooManyRequestsException",
}  # fmt: skip
_TRANSIENT = {
    "InternalServerError", "ServiceUnavailable", "TransactionConflictException", "TransactionInProgressException",
}  # fmt: skip
"""Codes that mean "try again", whatever their HTTP status."""
MAX_CONNECTIONS = 16
"""Connections of one client at once."""
READ_TIMEOUT_S = 5.0
LONG_READ_TIMEOUT_S = 10.0
"""Seconds that an answer is waited for, and that one of S3 is."""


class SystemClock:
    """Implements `Clock` with the system clock."""

    def now(self) -> datetime:
        """Return the wall-clock time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()


def client_config(*, read_timeout_s: float, connect_timeout_s: float = 2.0, attempts: int = AWS_ATTEMPTS) -> Config:
    """Return botocore settings with explicit limits, because its defaults can wait for minutes (60 s × 5 attempts).

    `attempts` includes the first one. On an emulator, which has no wildcard DNS, S3 is addressed by path.
    """
    return Config(
        connect_timeout=connect_timeout_s,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=MAX_CONNECTIONS,
        s3={"addressing_style": "path" if os.environ.get("AWS_ENDPOINT_URL") else "virtual"},
    )


def dynamodb_client(
    *,
    read_timeout_s: float = READ_TIMEOUT_S,
    connect_timeout_s: float = 2.0,
    attempts: int = AWS_ATTEMPTS,
    call_s: float | None = None,
) -> "DynamoDBClient":
    """Return a DynamoDB client; like all clients here, it uses `AWS_ENDPOINT_URL` if set.

    `call_s` bounds each call, as does what is left of the current request; None means botocore's timeouts only.
    """
    config = client_config(read_timeout_s=read_timeout_s, connect_timeout_s=connect_timeout_s, attempts=attempts)
    return _within_deadline(_tracked(boto3.client("dynamodb", config=config)), call_s)


def s3_client(
    *,
    read_timeout_s: float = LONG_READ_TIMEOUT_S,
    connect_timeout_s: float = 2.0,
    attempts: int = AWS_ATTEMPTS,
    call_s: float | None = None,
) -> "S3Client":
    """Return an S3 client that signs links with version 4 for the region's own host; `call_s` as for DynamoDB.

    `call_s` ends with the response's headers: the body of an object is read by the caller.
    """
    config = client_config(read_timeout_s=read_timeout_s, connect_timeout_s=connect_timeout_s, attempts=attempts)
    signed = config.merge(Config(signature_version="s3v4"))
    return _within_deadline(_tracked(boto3.client("s3", config=signed)), call_s)


def sqs_client() -> "SQSClient":
    """Return an SQS client."""
    return _tracked(boto3.client("sqs", config=client_config(read_timeout_s=READ_TIMEOUT_S)))


def events_client(*, read_timeout_s: float, attempts: int, call_s: float) -> Any:
    """Return an EventBridge client; `call_s` as for DynamoDB."""
    config = client_config(read_timeout_s=read_timeout_s, connect_timeout_s=read_timeout_s, attempts=attempts)
    return _within_deadline(_tracked(boto3.client("events", config=config)), call_s)


def secrets_client(*, call_s: float | None = None) -> "SecretsManagerClient":
    """Return a Secrets Manager client; `call_s` as for DynamoDB."""
    config = client_config(read_timeout_s=READ_TIMEOUT_S)
    return _within_deadline(_tracked(boto3.client("secretsmanager", config=config)), call_s)


def forget_clients() -> None:
    """Close the connections of every client and forget the session, its credentials included.

    A client that is still held opens new connections, with the old credentials: make it anew.
    """
    for client in tuple(_CLIENTS):
        client.close()
    _CLIENTS.clear()
    boto3.DEFAULT_SESSION = None


_CLIENTS: WeakSet[Any] = WeakSet()


def _tracked[C](client: C) -> C:
    _CLIENTS.add(client)
    events = cast("Any", client).meta.events
    events.register("before-parse", _mark_a_broken_answer)
    events.register("after-call", _raise_a_broken_answer)
    return client


class BrokenAnswer(BotoCoreError):
    """An answer of AWS that is not whole or cannot be read, after the last attempt."""

    fmt = "The answer to {operation} {problem}."


_TRY_AGAIN = "RequestTimeout"
"""The code of an error that botocore's standard mode repeats, whatever the HTTP status."""
_BROKEN = "RectoBroken"
"""The field that tells our error from one of AWS with that code."""
_START = 400
"""In how many bytes an answer's root element must stand, after the XML declaration."""


def _mark_a_broken_answer(
    operation_model: Any, response_dict: Any, customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Mark an answer that broke off, or is not what it must be, as a failure that botocore tries again.

    Botocore (1.44) tells urllib3 not to compare the length (`enforce_content_length=False`) and does so itself for
    streams only. It reads half an answer of DynamoDB, or the page of a proxy, as an empty one: an item that is there
    would be "not found". A write that is repeated so may meet its own condition (ConditionalCheckFailed) if the first
    one had gone through, as after a read timeout.
    """
    if problem := _problem_of(operation_model, response_dict):
        response_dict["body"] = b""
        customized_response_dict["Error"] = {"Code": _TRY_AGAIN, "Message": problem, _BROKEN: True}


def _problem_of(operation_model: Any, response_dict: Any) -> str:
    """Say what is wrong with an answer; empty if nothing is, or if its body is a stream."""
    stated = response_dict["headers"].get("content-length", "")
    body = response_dict["body"]
    is_bare = operation_model.http.get("method") == "HEAD" or response_dict["status_code"] == 304
    if not isinstance(body, bytes) or is_bare:
        return ""
    if stated.isdigit() and len(body) < int(stated):
        return f"broke off after {len(body)} of {stated} bytes"
    if response_dict["status_code"] >= 300:
        return ""
    if operation_model.service_model.protocol == "json":
        text, output = body.strip(), operation_model.output_shape
        may_be_empty = output is None or not output.members
        is_json = text[:1] == b"{" and text[-1:] == b"}"
        return "" if is_json or (may_be_empty and not text) else "is no JSON"
    start = body[:_START]  # of S3's XML: botocore takes any other, and none, for one without entries
    if operation_model.name.startswith("List") and b"<List" not in start:
        return "is no listing"
    is_page = any(mark in start.lower() for mark in (b"<html", b"<!doctype"))
    return "is a web page" if is_page else ""  # of a proxy, with which no write went through


def _raise_a_broken_answer(parsed: Any, model: Any, **_: object) -> None:
    """Raise `BrokenAnswer` for what is marked: botocore takes a status of 200 for a success, one of 400 for final."""
    if parsed.get("Error", {}).get(_BROKEN):
        raise BrokenAnswer(operation=model.name, problem=parsed["Error"]["Message"])


def _within_deadline[C](client: C, call_s: float | None) -> C:
    return client if call_s is None else cast("C", _WithinDeadline(client, call_s))


class _WithinDeadline:
    """A client whose calls are bounded by `call_s` and by what is left of the current request.

    An abandoned call keeps its thread and connection until the server or a read timeout ends it, because botocore
    closes idle connections only. Later calls open new ones.
    """

    def __init__(self, client: Any, call_s: float) -> None:
        self._client = client
        self._call_s = call_s

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._client, name)
        if name not in self._client.meta.method_to_api_mapping:
            return operation  # no call: signing links, closing

        def call(**request: Any) -> Any:
            try:
                return call_within(self._call_s, "aws", partial(operation, **request))
            except CallAbandoned as error:
                raise ReadTimeoutError(endpoint_url=self._client.meta.endpoint_url) from error

        return call


@contextmanager
def aws_errors(dependency: str, *, passing: Collection[str] = ()) -> Iterator[None]:
    """Translate botocore's errors into `DependencyError`s of `dependency`, except those with a code in `passing`.

    Missing credentials are not retried: on AWS a function always has some, so an operator must check.
    """
    try:
        yield
    except (ConnectTimeoutError, ReadTimeoutError) as error:
        raise DependencyTimeout(dependency, type(error).__name__) from error
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in passing:
            raise
        if code in _THROTTLES or status == 429:
            raise RateLimited(dependency, code) from error
        if code in _TRANSIENT or status >= 500:
            raise DependencyUnavailable(dependency, code) from error
        raise DependencyRefused(dependency, f"{code}: {error.response.get('Error', {}).get('Message', '')}") from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise DependencyRefused(dependency, str(error)) from error
    except (BotoCoreError, ResponseParserError) as error:
        raise DependencyUnavailable(dependency, type(error).__name__) from error


_SERIALIZER = TypeSerializer()
_DESERIALIZER = TypeDeserializer()
_CONDITIONS = {"ConditionalCheckFailedException", "TransactionCanceledException"}

Item = dict[str, Any]
"""A DynamoDB item in its wire form: `{"pk": {"S": "…"}}`."""


def to_item(values: Mapping[str, object]) -> Item:
    """Turn plain values into a wire item. Floats become their shortest decimal form; None values are left out."""
    return {name: _SERIALIZER.serialize(_storable(value)) for name, value in values.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a wire item into plain values: whole numbers are `int`, others `float`, binary is `bytes`."""
    return {name: _plain(_DESERIALIZER.deserialize(value)) for name, value in item.items()}


def dynamo_errors(dependency: str) -> AbstractContextManager[None]:
    """Translate botocore's errors; a failed condition passes through, because only the caller knows what it means."""
    return aws_errors(dependency, passing=_CONDITIONS)


def until_processed[R](requests: Sequence[R], send: Callable[[Sequence[R]], Sequence[R]], retry: Retry) -> None:
    """Send the requests of a batch, then those that `send` returns because DynamoDB left them unprocessed.

    Raises `RateLimited` if some are left after the last attempt: DynamoDB leaves them when it throttles.
    """
    tried = 0
    while requests := send(requests):
        tried += 1
        retry.wait(RateLimited(retry.dependency, "a batch was left unprocessed in part"), tried)


BATCH_KEYS = 100
"""Maximum keys in one BatchGetItem (DynamoDB's limit)."""


def batch_get(
    client: "DynamoDBClient", table: str, keys: Sequence[Item], *, retry: Retry, **request: Any
) -> Iterator[Item]:
    """Yield the items with these keys, any number, in no order; `request` goes with each batch.

    DynamoDB leaves keys when it throttles, or after 1 MB of one partition. They are tried again for as long as some are
    read. Raises `DependencyError`; `RateLimited` after the last attempt that read nothing.
    """
    left: Sequence[Item]
    for left in batched(keys, BATCH_KEYS, strict=False):
        tried = 0
        while left:
            with dynamo_errors(retry.dependency):
                batch: Any = {"Keys": left, **request}
                answer: Any = client.batch_get_item(RequestItems={table: batch})
            yield from answer["Responses"].get(table, ())
            unprocessed = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", ())
            left, tried = unprocessed, tried + 1 if len(unprocessed) == len(left) else 1
            if left:
                retry.wait(RateLimited(retry.dependency, "a batch was left unprocessed in part"), tried)


def pages(dependency: str, ask: Callable[..., Any], **request: Any) -> Iterator[Item]:
    """Yield the items of a query or scan, read page by page. Raises `DependencyError`."""
    while True:
        with dynamo_errors(dependency):
            answer = ask(**request)
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


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
