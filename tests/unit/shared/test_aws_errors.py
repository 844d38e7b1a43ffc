"""What AWS says is told in the tree's own errors, by S3, SQS and DynamoDB alike."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from shared.adapters.aws import aws_errors, client_config, dynamo_errors
from shared.errors import DependencyError, DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited

Translator = Callable[[str], AbstractContextManager[None]]
BOTH = pytest.mark.parametrize("translated", [aws_errors, dynamo_errors])


def answer(code: str, status: int = 400) -> ClientError:
    response = {"Error": {"Code": code, "Message": "why"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "Operation")  # type: ignore[arg-type]


@BOTH
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ConnectTimeoutError(endpoint_url="x"), DependencyTimeout),
        (ReadTimeoutError(endpoint_url="x"), DependencyTimeout),
        (EndpointConnectionError(endpoint_url="x"), DependencyUnavailable),
        (answer("ThrottlingException"), RateLimited),
        (answer("ProvisionedThroughputExceededException"), RateLimited),
        (answer("SlowDown", 503), RateLimited),
        (answer("Whatever", 429), RateLimited),
        (answer("TransactionConflictException"), DependencyUnavailable),
        (answer("InternalServerError", 500), DependencyUnavailable),
        (answer("Whatever", 503), DependencyUnavailable),
        (answer("AccessDeniedException"), DependencyRefused),
        (answer("ValidationException"), DependencyRefused),
        (NoCredentialsError(), DependencyRefused),
        (PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), DependencyRefused),
    ],
)
def test_each_kind_of_trouble_has_its_error(
    translated: Translator, raised: ClientError | BotoCoreError, expected: type[DependencyError]
) -> None:
    with pytest.raises(expected) as caught, translated("registry"):
        raise raised
    assert type(caught.value) is expected
    assert caught.value.dependency == "registry"
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize("code", ["ConditionalCheckFailedException", "TransactionCanceledException"])
def test_a_failed_condition_is_for_the_caller_of_dynamodb_alone(code: str) -> None:
    with pytest.raises(ClientError), dynamo_errors("registry"):
        raise answer(code)
    with pytest.raises(DependencyRefused), aws_errors("objects"):
        raise answer(code)


def test_an_emulators_buckets_are_addressed_by_path_and_those_of_aws_by_host(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert client_config(read_timeout_s=1).s3 == {"addressing_style": "path"}
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert client_config(read_timeout_s=1).s3 == {"addressing_style": "virtual"}
