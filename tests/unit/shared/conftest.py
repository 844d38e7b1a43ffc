"""AWS on moto, for each module; the tables of conversations and of the cache, empty for each test."""

from collections.abc import Iterator

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from tests.support.moto_aws import MockedAws, create_tables, mocked_aws


@pytest.fixture(scope="module")
def aws() -> Iterator[MockedAws]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as mocked:
        yield mocked


@pytest.fixture(scope="module")
def dynamodb(aws: MockedAws) -> DynamoDBClient:
    return aws.dynamodb


@pytest.fixture
def client(dynamodb: DynamoDBClient) -> Iterator[DynamoDBClient]:
    create_tables(dynamodb, "ConversationsTable", "CacheTable")
    yield dynamodb
    for table in ("conversations", "cache"):
        dynamodb.delete_table(TableName=table)
