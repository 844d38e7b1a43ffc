"""DynamoDB on moto: the tables of conversations and of the cache, empty for each test."""

from collections.abc import Iterator

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from tests.support.moto_aws import create_tables, mocked_aws


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[DynamoDBClient]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as aws:
        yield aws.dynamodb


@pytest.fixture
def client(dynamodb: DynamoDBClient) -> Iterator[DynamoDBClient]:
    create_tables(dynamodb, "ConversationsTable", "CacheTable")
    yield dynamodb
    for table in ("conversations", "cache"):
        dynamodb.delete_table(TableName=table)
