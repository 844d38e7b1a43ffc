"""API keys on DynamoDB: the secret is nowhere, a revoked key is nowhere, and another tenant's key does not exist."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from botocore.stub import Stubber
from mypy_boto3_dynamodb import DynamoDBClient

from shared.adapters.api_keys import KEPT_AFTER_EXPIRY, DynamoApiKeys
from shared.api_keys import PREFIX, SECRET, ClientKey, hash_of, new_secret, time_of
from shared.errors import DependencyError, DependencyUnavailable, InvalidRequest
from tests.support.moto_aws import create_tables, mocked_aws

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
KEY = ClientKey("acme", f"{1:026d}", "Open WebUI", "reader", "ann", time_of(NOW))


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoDBClient]:
    with mocked_aws(monkeypatch) as aws:
        create_tables(aws.dynamodb, "ConversationsTable")
        yield aws.dynamodb


@pytest.fixture
def keys(client: DynamoDBClient) -> DynamoApiKeys:
    return DynamoApiKeys(client, "conversations")


def test_a_secret_is_long_random_and_of_one_form() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(SECRET.fullmatch(secret) and secret.startswith(PREFIX) for secret in secrets)


def test_a_key_is_found_by_its_secret_which_is_stored_nowhere(keys: DynamoApiKeys, client: DynamoDBClient) -> None:
    secret = new_secret()
    keys.create(KEY, secret)
    assert keys.find(secret) == KEY
    assert keys.find(new_secret()) is None
    assert keys.find(hash_of(secret)) is None, "whoever reads the table has no key by that"
    stored = json.dumps(client.scan(TableName="conversations")["Items"])
    assert secret not in stored
    assert secret.removeprefix(PREFIX) not in stored


def test_a_revoked_key_is_found_no_more_and_only_its_tenant_revokes_it(
    keys: DynamoApiKeys, client: DynamoDBClient
) -> None:
    secret = new_secret()
    keys.create(KEY, secret)
    assert keys.revoke("other", KEY.key_id) is False
    assert keys.find(secret) == KEY
    assert keys.revoke("acme", KEY.key_id) is True
    assert keys.find(secret) is None
    assert keys.revoke("acme", KEY.key_id) is False
    assert client.scan(TableName="conversations")["Items"] == []


def test_a_revocation_that_was_cut_short_has_worked_and_can_be_repeated(
    keys: DynamoApiKeys, client: DynamoDBClient
) -> None:
    secret = new_secret()
    keys.create(KEY, secret)
    client.delete_item(TableName="conversations", Key={"pk": {"S": f"KEY#{hash_of(secret)}"}, "sk": {"S": "KEY"}})
    assert keys.find(secret) is None
    assert keys.list("acme", limit=10) == ([], "")
    assert keys.revoke("acme", KEY.key_id) is True


def test_keys_are_listed_the_newest_first_page_by_page_for_their_tenant_only(keys: DynamoApiKeys) -> None:
    for number in range(1, 6):
        keys.create(replace(KEY, key_id=f"{number:026d}", name=f"key {number}"), new_secret())
    keys.create(replace(KEY, tenant="other", key_id=f"{9:026d}"), new_secret())
    seen: list[str] = []
    cursor, pages = "", 0
    while pages == 0 or cursor:
        page, cursor = keys.list("acme", limit=2, cursor=cursor)
        seen += [key.name for key in page]
        pages += 1
    assert seen == [f"key {number}" for number in (5, 4, 3, 2, 1)]
    assert [key.tenant for key in keys.list("other", limit=10)[0]] == ["other"]
    assert keys.list("nobody", limit=10) == ([], "")


@pytest.mark.parametrize("cursor", ["x", "KEY#1", f"{1:027d}", "ü" * 26])
def test_a_made_up_cursor_is_refused(keys: DynamoApiKeys, cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        keys.list("acme", limit=10, cursor=cursor)


def test_the_time_of_use_is_noted_once_in_a_while(keys: DynamoApiKeys) -> None:
    secret = new_secret()
    keys.create(KEY, secret)
    five = timedelta(minutes=5)
    for minutes, noted in ((0, 0), (4, 0), (6, 6), (7, 6)):
        now = NOW + timedelta(minutes=minutes)
        keys.mark_used(secret, at=now, unless_since=now - five)
        found = keys.find(secret)
        assert found
        assert found.last_used_at == time_of(NOW + timedelta(minutes=noted))
    assert keys.list("acme", limit=1)[0][0].last_used_at == found.last_used_at


def test_noting_the_use_of_a_revoked_key_does_not_bring_it_back(keys: DynamoApiKeys, client: DynamoDBClient) -> None:
    secret = new_secret()
    keys.create(KEY, secret)
    keys.revoke("acme", KEY.key_id)
    keys.mark_used(secret, at=NOW, unless_since=NOW)
    assert client.scan(TableName="conversations")["Items"] == []


def test_an_expired_key_is_still_found_and_deleted_by_the_table_a_month_later(
    keys: DynamoApiKeys, client: DynamoDBClient
) -> None:
    ends = NOW + timedelta(days=90)
    secret = new_secret()
    keys.create(replace(KEY, expires_at=time_of(ends)), secret)
    found = keys.find(secret)
    assert found
    assert [found.is_expired(at) for at in (ends - timedelta(seconds=1), ends)] == [False, True]
    assert not KEY.is_expired(ends)
    deleted_at = {item["expires_at"]["N"] for item in client.scan(TableName="conversations")["Items"]}
    assert deleted_at == {str(int((ends + KEPT_AFTER_EXPIRY).timestamp()))}


def test_every_failure_of_the_table_is_one_of_ours(keys: DynamoApiKeys, client: DynamoDBClient) -> None:
    with Stubber(client) as stubbed:
        stubbed.add_client_error("transact_write_items", "TransactionCanceledException")
        with pytest.raises(DependencyUnavailable):
            keys.create(KEY, new_secret())
        for operation, call in (
            ("get_item", lambda: keys.find(new_secret())),
            ("update_item", lambda: keys.mark_used(new_secret(), at=NOW, unless_since=NOW)),
            ("query", lambda: keys.list("acme", limit=1)),
            ("get_item", lambda: keys.revoke("acme", KEY.key_id)),
        ):
            stubbed.add_client_error(operation, "AccessDeniedException", http_status_code=400)
            with pytest.raises(DependencyError):
                call()
