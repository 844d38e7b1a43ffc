"""API keys in DynamoDB, in the table of conversations: an item by the secret's hash, and a list for administrators.

pk = KEY#{sha256}              sk = KEY              tenant, key_id, name, role, groups, created_by, created_at,
                                                     valid_until, last_used_at, expires_at
pk = TENANT#{tenant}#KEYS      sk = KEY#{key_id}     sha256, expires_at

An expired key is listed for 30 days more; then DynamoDB deletes both.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import batch_get, dynamo_errors, from_item, to_item
from shared.adapters.retry import Retry
from shared.api_keys import ClientKey, hash_of, time_of
from shared.errors import DependencyUnavailable, InvalidRequest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_DEPENDENCY = "api_keys"
KEPT_AFTER_EXPIRY = timedelta(days=30)
_KEY_ID = re.compile(r"[0-9A-Z]{26}", re.ASCII)


class DynamoApiKeys:
    """Implements `ApiKeyRegister`, and what the authorizer asks."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    # --- for administrators ---

    def create(self, key: ClientKey, secret: str) -> None:
        """Store a new key by the hash of its secret. Raises `DependencyError`."""
        sha256 = hash_of(secret)
        ends = int((datetime.fromisoformat(key.expires_at) + KEPT_AFTER_EXPIRY).timestamp()) if key.expires_at else None
        item = {
            **_address(sha256),
            "tenant": key.tenant,
            "key_id": key.key_id,
            "name": key.name,
            "role": key.role,
            "created_by": key.created_by,
            "created_at": key.created_at,
            "groups": list(key.groups) or None,
            "valid_until": key.expires_at or None,
            "expires_at": ends,
        }
        listed = {**_place(key.tenant, key.key_id), "sha256": sha256, "expires_at": ends}
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.transact_write_items(
                    TransactItems=[
                        {"Put": {"TableName": self._table, "Item": to_item(each)}} for each in (item, listed)
                    ]
                )
        except ClientError as error:  # cancelled without a condition: throttled, or another transaction was faster
            raise DependencyUnavailable(_DEPENDENCY, "the key cannot be written") from error

    def list(self, tenant: str, *, limit: int, cursor: str = "") -> tuple[Sequence[ClientKey], str]:
        """Return a tenant's keys, the newest first, and the cursor of the next page (empty at the end).

        Raises `InvalidRequest` for a bad cursor, and `DependencyError`.
        """
        if cursor and not _KEY_ID.fullmatch(cursor):
            raise InvalidRequest("The cursor is invalid: start again without one.")
        start: dict[str, Any] = {"ExclusiveStartKey": to_item(_place(tenant, cursor))} if cursor else {}
        with dynamo_errors(_DEPENDENCY):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues=to_item({":pk": _place(tenant, "")["pk"]}),
                ScanIndexForward=False,
                ConsistentRead=True,
                Limit=limit,
                **start,
            )
        hashes = [str(from_item(item)["sha256"]) for item in answer["Items"]]
        addresses = [to_item(_address(sha256)) for sha256 in hashes]
        found = batch_get(self._client, self._table, addresses, retry=Retry(_DEPENDENCY), ConsistentRead=True)
        keys = sorted((_key_of(item) for item in found), key=lambda key: key.key_id, reverse=True)
        last = answer.get("LastEvaluatedKey")
        return keys, str(from_item(last)["sk"]).partition("#")[2] if last else ""

    def revoke(self, tenant: str, key_id: str) -> bool:
        """Delete a key; False if the tenant has no such key. Raises `DependencyError`; it may be deleted then."""
        place = to_item(_place(tenant, key_id))
        with dynamo_errors(_DEPENDENCY):
            listed = self._client.get_item(TableName=self._table, Key=place, ConsistentRead=True).get("Item")
            if listed is None:
                return False
            # First what the authorizer reads: interrupted after that, the key is useless already, and a retry ends it.
            self._client.delete_item(TableName=self._table, Key=to_item(_address(from_item(listed)["sha256"])))
            self._client.delete_item(TableName=self._table, Key=place)
        return True

    # --- for the authorizer ---

    def find(self, secret: str) -> ClientKey | None:
        """Return the key with this secret, None if there is none (any more). Raises `DependencyError`."""
        with dynamo_errors(_DEPENDENCY):
            item = self._client.get_item(
                TableName=self._table, Key=to_item(_address(hash_of(secret))), ConsistentRead=True
            ).get("Item")
        return _key_of(item) if item else None

    def mark_used(self, secret: str, *, at: datetime, unless_since: datetime) -> None:
        """Note when a key was used, unless that was noted since `unless_since`. Raises `DependencyError`."""
        try:
            with dynamo_errors(_DEPENDENCY):
                self._client.update_item(
                    TableName=self._table,
                    Key=to_item(_address(hash_of(secret))),
                    UpdateExpression="SET last_used_at = :at",
                    # The key may have been revoked since it was read: an update would create the item again.
                    ConditionExpression=(
                        "attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at < :since)"
                    ),
                    ExpressionAttributeValues=to_item({":at": time_of(at), ":since": time_of(unless_since)}),
                )
        except ClientError:
            return


def _address(sha256: str) -> dict[str, str]:
    return {"pk": f"KEY#{sha256}", "sk": "KEY"}


def _place(tenant: str, key_id: str) -> dict[str, str]:
    return {"pk": f"TENANT#{tenant}#KEYS", "sk": f"KEY#{key_id}"}


def _key_of(item: Mapping[str, Any]) -> ClientKey:
    values = from_item(item)
    return ClientKey(
        tenant=values["tenant"],
        key_id=values["key_id"],
        name=values["name"],
        role=values["role"],
        created_by=values["created_by"],
        created_at=values["created_at"],
        expires_at=values.get("valid_until", ""),
        last_used_at=values.get("last_used_at", ""),
        groups=values.get("groups", ()),
    )
