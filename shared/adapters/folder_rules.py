"""A tenant's folder rules: the source is `access/{tenant}.json` in the bucket; the copy in the documents table applies.

    pk=TENANT#{tenant} sk=TENANT   `access`: the ETag of the object that is in force; absent without folder rules
    pk=TENANT#{tenant} sk=ACCESS   `etag`, and `body`: the object, packed by gzip

Whoever reads what is published reads the tenant's item in any case, so a tenant without folder rules costs no request,
and a change is in force for the next question.
"""

import gzip
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from shared.access import MAX_BYTES, NO_FOLDERS, FolderRules, kinds_of, parse_folder_rules, rules_key
from shared.adapters.aws import dynamo_errors, from_item, to_item
from shared.adapters.index_versions import count_rules, read_knowledge
from shared.errors import DependencyUnavailable
from shared.ports import SmallObject

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_TENANTS = 200
"""Tenants whose rules a container keeps; the one read longest ago is dropped."""
_ATTEMPTS = 5


class RulesObjects(Protocol):
    """Where the objects are."""

    def read(self, key: str, *, max_bytes: int) -> SmallObject | None:
        """Return the object, or None; of one that is larger, its first `max_bytes` + 1 bytes."""


class DynamoFolderRules:
    """Keeps folder rules in force, and reads them. Thread-safe."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table
        self._held: dict[str, tuple[str, FolderRules]] = {}
        self._lock = Lock()

    def of(self, tenant: str, etag: str) -> FolderRules:
        """Return the rules that the tenant's item names by this ETag; a later version if there is one already.

        Raises `DependencyError`: without its rules nothing of a tenant may be shown.
        """
        if not etag:
            return NO_FOLDERS
        with self._lock:
            held = self._held.get(tenant)
        if held is not None and held[0] == etag:
            return held[1]
        with dynamo_errors("registry"):
            item = self._client.get_item(TableName=self._table, Key=to_item(_place(tenant)), ConsistentRead=True).get(
                "Item"
            )
        if item is None:
            raise DependencyUnavailable("registry", "the tenant's folder rules are missing")
        values = from_item(item)
        rules = parse_folder_rules(gzip.decompress(values["body"]))
        with self._lock:
            self._held.pop(tenant, None)
            self._held[tenant] = str(values["etag"]), rules
            while len(self._held) > MAX_TENANTS:
                del self._held[next(iter(self._held))]
        return rules

    def in_force(self, tenant: str) -> str:
        """Return the ETag of the object that is in force; empty if the tenant has no folder rules. Consistent read."""
        return read_knowledge(self._client, self._table, tenant).access

    def apply(self, tenant: str, objects: RulesObjects) -> str:
        """Put the tenant's object in force as it is now, and return its ETag; empty if there is none.

        Others may do so at the same time, so this repeats until the rules in force are those of the object. Raises
        `AccessRulesInvalid` (the former rules then stay in force) and `DependencyError`.
        """
        for _ in range(_ATTEMPTS):
            found = objects.read(rules_key(tenant), max_bytes=MAX_BYTES)
            etag, body = (found.etag, found.body or b"") if found else ("", b"")
            rules = parse_folder_rules(body, tenant) if found else NO_FOLDERS
            if self.in_force(tenant) == etag:
                return etag
            if etag:
                self._write(tenant, etag, body)
            count_rules(self._client, self._table, tenant, etag, kinds_of(tuple(rules.folders.values())))
        raise DependencyUnavailable("registry", "the folder rules change too often")

    def _write(self, tenant: str, etag: str, body: bytes) -> None:
        with dynamo_errors("registry"):
            self._client.update_item(
                TableName=self._table,
                Key=to_item(_place(tenant)),
                UpdateExpression="SET etag = :etag, body = :body",
                ExpressionAttributeValues=to_item({":etag": etag, ":body": gzip.compress(body, mtime=0)}),
            )


def _place(tenant: str) -> dict[str, str]:
    return {"pk": f"TENANT#{tenant}", "sk": "ACCESS"}
