"""What AWS says is told in the tree's own errors, by S3, SQS and DynamoDB alike."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse, HeadersDict
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from shared.adapters.aws import (
    BrokenAnswer,
    aws_errors,
    client_config,
    dynamo_errors,
    dynamodb_client,
    s3_client,
)
from shared.deadline import CallAbandoned
from shared.errors import DependencyError, DependencyRefused, DependencyTimeout, DependencyUnavailable, RateLimited

Translator = Callable[[str], AbstractContextManager[None]]
BOTH = pytest.mark.parametrize("translated", [aws_errors, dynamo_errors])


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "DEFAULT_REGION": "eu-west-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


def answered(client: Any, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    """Let every request of a client be answered so, without a connection."""

    class Raw(BytesIO):
        def stream(self, *_: object, **__: object) -> Iterator[bytes]:
            yield self.read()

    def answer_of(request: Any, **_: object) -> AWSResponse:
        return AWSResponse(request.url, status, HeadersDict(headers), Raw(body))

    client.meta.events.register("before-send", answer_of)


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


JSON_ITEM = b'{"Item": {}}'


@pytest.mark.parametrize(
    ("operation", "body", "stated", "problem"),
    [
        ("get_item", JSON_ITEM, len(JSON_ITEM), ""),
        ("get_item", JSON_ITEM, len(JSON_ITEM) + 1, "broke off after 12 of 13 bytes"),
        ("get_item", JSON_ITEM + b"\n", None, ""),
        ("get_item", JSON_ITEM[:-2], None, "is no JSON"),
        ("get_item", JSON_ITEM[1:], None, "is no JSON"),
        ("get_item", b"", None, "is no JSON"),
        ("tag_resource", b"", None, ""),
        ("tag_resource", b"<html>", None, "is no JSON"),
        ("list_objects_v2", b'<?xml version="1.0"?><ListBucketResult></ListBucketResult>', None, ""),
        ("list_objects_v2", b"<html></html>", None, "is no listing"),
        ("list_objects_v2", b"", None, "is no listing"),
        ("put_object", b"", None, ""),
        ("put_object", b"<!DOCTYPE html><html/>", None, "is a web page"),
        ("put_object", b"<HTML></HTML>", None, "is a web page"),
    ],
)
def test_an_answer_of_aws_is_whole_and_of_its_kind_or_an_error(
    account: None, operation: str, body: bytes, stated: int | None, problem: str
):
    asked: dict[str, dict[str, object]] = {
        "get_item": {"TableName": "t", "Key": {"pk": {"S": "a"}}},
        "tag_resource": {"ResourceArn": "arn", "Tags": []},
        "list_objects_v2": {"Bucket": "b"},
        "put_object": {"Bucket": "b", "Key": "k"},
    }
    client: Any = (s3_client if "object" in operation else dynamodb_client)(attempts=1)
    answered(client, 200, body, {} if stated is None else {"content-length": str(stated)})
    if problem:
        with pytest.raises(BrokenAnswer, match=problem):
            getattr(client, operation)(**asked[operation])
    else:
        getattr(client, operation)(**asked[operation])


def test_a_refusal_and_an_answer_without_a_body_are_no_broken_answers(account: None):
    refused: Any = s3_client(attempts=1)
    answered(refused, 403, b"<html>", {})
    with pytest.raises(ClientError):
        refused.list_objects_v2(Bucket="b")
    looked: Any = s3_client(attempts=1)
    answered(looked, 200, b"", {"content-length": "7"})
    assert looked.head_object(Bucket="b", Key="k")["ContentLength"] == 7


def test_a_refusal_that_broke_off_is_a_broken_answer(account: None):
    client: Any = dynamodb_client(attempts=1)
    answered(client, 400, b'{"__type": "Conditional', {"content-length": "300"})
    with pytest.raises(BrokenAnswer, match="23 of 300 bytes"):
        client.get_item(TableName="t", Key={"pk": {"S": "a"}})


def test_a_call_that_is_abandoned_is_a_timeout_and_signing_is_no_call(account: None, monkeypatch: pytest.MonkeyPatch):
    within: list[float] = []

    def abandoned(seconds: float, *_: object) -> object:
        within.append(seconds)
        raise CallAbandoned("aws")

    monkeypatch.setattr("shared.adapters.aws.call_within", abandoned)
    client: Any = s3_client(call_s=3)
    with pytest.raises(ReadTimeoutError):
        client.list_objects_v2(Bucket="b")
    assert within == [3]
    assert "Signature" in client.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k"})
    assert within == [3]


def test_an_emulators_buckets_are_addressed_by_path_and_those_of_aws_by_host(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert client_config(read_timeout_s=1).s3 == {"addressing_style": "path"}
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert client_config(read_timeout_s=1).s3 == {"addressing_style": "virtual"}
