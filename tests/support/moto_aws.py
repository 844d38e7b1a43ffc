"""AWS on moto, with the resources that the template would make."""

import copy
import itertools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.loaders import Loader
from moto import mock_aws
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler

from shared.adapters.aws import dynamodb_client, s3_client, secrets_client, sqs_client
from tests.support.template import properties

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

REGION = "eu-central-1"
DESCRIPTIONS = Loader()
"""botocore's descriptions of the services, read once: each session would read them anew, for tenths of a second."""


@dataclass
class MockedAws:
    """Clients of a mocked account with the resources that the template would make."""

    dynamodb: "DynamoDBClient"
    s3: "S3Client"
    sqs: "SQSClient"
    secrets: "SecretsManagerClient"
    documents_table: str = "documents"
    bucket: str = "uploads-bucket"
    secret_id: str = "recto/keys"
    queue_url: str = ""


def create_tables(dynamodb: "DynamoDBClient", *logical_ids: str) -> None:
    """Make tables as the template has them, named in lower case: `ConversationsTable` becomes `conversations`."""
    for logical_id in logical_ids:
        named = ("KeySchema", "AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes")
        given = {name: value for name, value in properties(logical_id).items() if name in named}
        dynamodb.create_table(TableName=logical_id.removesuffix("Table").lower(), **given)


@contextmanager
def mocked_aws(patch: pytest.MonkeyPatch) -> Iterator[MockedAws]:
    """Run with moto in place of AWS: the documents table, a versioned bucket, a queue and the secret."""
    patch.setenv("AWS_DEFAULT_REGION", REGION)
    patch.setenv("AWS_REGION", REGION)
    patch.setenv("AWS_ACCESS_KEY_ID", "testing")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    patch.setenv("MOTO_SQS_ENFORCE_STRICT_QUEUE_PURGE_BEHAVIOUR", "false")  # else once a minute, as with AWS
    patch.delenv("AWS_ENDPOINT_URL", raising=False)
    patch.setattr("botocore.session.create_loader", lambda _path: DESCRIPTIONS)
    _true_transactions(patch)
    with mock_aws():
        boto3.setup_default_session()
        aws = MockedAws(dynamodb_client(), s3_client(), sqs_client(), secrets_client())
        aws.dynamodb.create_table(
            TableName=aws.documents_table,
            **{
                name: properties("DocumentsTable")[name]
                for name in ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode")
            },
        )
        aws.s3.create_bucket(Bucket=aws.bucket, CreateBucketConfiguration={"LocationConstraint": REGION})  # type: ignore[typeddict-item]
        aws.s3.put_bucket_versioning(Bucket=aws.bucket, VersioningConfiguration={"Status": "Enabled"})
        aws.queue_url = aws.sqs.create_queue(QueueName="changes")["QueueUrl"]
        aws.secrets.create_secret(
            Name=aws.secret_id, SecretString='{"OPENAI_API_KEY": "sk-test", "PINECONE_API_KEY": "pc-test"}'
        )
        yield aws


# --- transactions ---


class _CopiesNoTables:
    """Replaces the module `copy`."""

    def deepcopy(self, value: Any) -> Any:
        return value if isinstance(value, Table) else copy.deepcopy(value)


def _true_transactions(patch: pytest.MonkeyPatch) -> None:
    """Make the tables take one request at a time, and make a failed transaction undo what it wrote, and only that.

    moto copies whole tables before each transaction: that takes longer the more is in them, soon most of a test's time,
    fails while another thread writes, and a rollback undoes what that has written.
    """
    lock = threading.RLock()
    answer, transact = DynamoHandler.call_action, DynamoDBBackend.transact_write_items

    def one_at_a_time(handler: DynamoHandler) -> Any:
        with lock:
            return answer(handler)

    def transact_items(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
        before = [_item_of(backend, *each.values()) for each in transact_items]
        try:
            transact(backend, transact_items)
        except Exception:
            for table, key, item in before:
                _put_back(table, key, item)
            raise

    patch.setattr("moto.dynamodb.models.copy", _CopiesNoTables())
    patch.setattr(DynamoHandler, "call_action", one_at_a_time)
    patch.setattr(DynamoDBBackend, "transact_write_items", transact_items)


type _Key = tuple[DynamoType, DynamoType | None]


def _item_of(backend: DynamoDBBackend, operation: dict[str, Any]) -> tuple[Table, _Key, Item | None]:
    table = backend.get_table(operation["TableName"])
    values = operation.get("Key") or operation["Item"]
    range_key = DynamoType(values[table.range_key_attr]) if table.range_key_attr else None
    key = DynamoType(values[table.hash_key_attr]), range_key
    return table, key, copy.deepcopy(table.get_item(*key))


def _put_back(table: Table, key: _Key, item: Item | None) -> None:
    if item is None:
        table.delete_item(*key)
    elif key[1] is None:
        table.items[key[0]] = item
    else:
        table.items[key[0]][key[1]] = item


# --- reads that are not consistent ---

FREE = re.compile(r"USAGE#|TENANT#[^#]*#UNANSWERED|(?:ANS|EMB|CHUNK)#")
"""Partitions that may be read as they were a moment ago: what is shown of them is no promise."""


def stale_reads(patch: pytest.MonkeyPatch) -> None:
    """Make a read of a table that is not consistent see nothing, as it may just after a write; indexes show all."""
    call = BaseClient._make_api_call

    def is_stale(asked: dict[str, Any], partition: dict[str, Any]) -> bool:
        return not asked.get("ConsistentRead") and not FREE.match(str(partition.get("S", "")))

    def called(client: BaseClient, operation: str, asked: dict[str, Any]) -> Any:
        answer = call(client, operation, asked)
        if operation == "GetItem" and is_stale(asked, asked["Key"]["pk"]):
            answer.pop("Item", None)
        of_table = operation == "Query" and "IndexName" not in asked
        if of_table and is_stale(asked, asked["ExpressionAttributeValues"].get(":pk", {})):
            answer["Items"] = []
        if operation == "BatchGetItem":
            for table, keys in asked["RequestItems"].items():
                if is_stale(keys, keys["Keys"][0]["pk"]):
                    answer["Responses"][table] = []
        return answer

    patch.setattr(BaseClient, "_make_api_call", called)


# --- a process that is killed ---


class Killed(BaseException):
    """The process is gone."""


def kill_after(patch: pytest.MonkeyPatch, client: "DynamoDBClient", calls: int) -> None:
    """Make a client raise `Killed` at each call after so many."""
    real, made = client._make_api_call, itertools.count(1)  # type: ignore[attr-defined]

    def called(operation: str, asked: dict[str, Any]) -> Any:
        if next(made) > calls:
            raise Killed
        return real(operation, asked)

    patch.setattr(client, "_make_api_call", called)
