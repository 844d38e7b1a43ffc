"""Stores which index version a tenant searches, and the progress of the automatic re-index.

Items of the documents table, in addition to the documents (`sk=DOC#…`):

    pk=TENANT#{tenant} sk=TENANT   the pointer; `changes` counts changes of the searchable content, and `revision` and
                                   `changes` together are the knowledge version; `changing` marks the documents that are
                                   being changed, as `{document id}#{epoch seconds}#{random}`; `access` is the ETag of
                                   the folder rules in force, `restricted` by what rules tell readers apart
    pk=STACK sk=REINDEX            progress of the automatic re-index of all tenants to the current settings
"""

from collections.abc import Callable, Mapping, Set
from datetime import datetime
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, to_item
from shared.errors import DependencyUnavailable
from shared.models import FIRST_INDEX_VERSION, EmbeddingSpace, IndexVersion, namespace_of
from shared.ports import Clock, ReindexProgress, TenantIndexVersions, TenantKnowledge
from shared.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


MAX_AGE_S = 5.0
"""Seconds that a pointer is cached: a replaced index version stays complete for at least a minute."""
MARK_S = 86_400
"""Age in seconds from which a mark must be that of a dead worker: an invocation lasts 15 minutes at most."""
_CREATE_ATTEMPTS = 3


def configured_index_version(settings: Settings, tenant: str, number: int = FIRST_INDEX_VERSION) -> IndexVersion:
    """Return an index version with this number and the current settings."""
    return IndexVersion(number, namespace_of(tenant, number), settings.pinecone_index, settings.embedding_space)


class Knowledge(NamedTuple):
    """What a tenant's item says: the knowledge version, the searched index version, the documents being changed.

    `access` is the ETag of its folder rules, `restricted` as `TenantKnowledge` has it.
    """

    version: str
    index_version: int
    changing: frozenset[str]
    access: str = ""
    restricted: frozenset[str] = frozenset()


def read_knowledge(client: "DynamoDBClient", table: str, tenant: str) -> Knowledge:
    """Read the tenant's item: one small consistent read. Raises `DependencyError`."""
    values = from_item(_read_item(client, table, tenant) or {})
    return Knowledge(
        version=f"{values.get('revision', 0)}.{values.get('changes', 0)}",
        index_version=values["current"]["number"] if "current" in values else FIRST_INDEX_VERSION,
        changing=frozenset(mark.partition("#")[0] for mark in values.get("changing", ())),
        access=values.get("access", ""),
        restricted=frozenset(values.get("restricted", ())),
    )


def begin_change(
    client: "DynamoDBClient",
    table: str,
    tenant: str,
    document_id: str,
    now: datetime,
    *,
    restricts: Set[str] = frozenset(),
) -> Set[str]:
    """Give the tenant a new knowledge version and mark the document as changing. Raises `DependencyError`.

    Returns the marks that `end_change` removes: this one, and those of workers that died more than `MARK_S` ago. While
    a document is marked it may change at any moment, so what was read of it is not remembered. `restricts` are the
    kinds of the rule that it is about to get.
    """
    epoch = int(now.timestamp())
    mark = f"{document_id}#{epoch}#{token_hex(4)}"
    expression = "ADD changes :one, changing :marks" + (", restricted :restricts" if restricts else "")
    more = {":restricts": set(restricts)} if restricts else {}
    marks = _count(client, table, tenant, expression, {mark}, more).get("changing", set())
    return {mark, *(each for each in marks if int(each.split("#")[1]) < epoch - MARK_S)}


def end_change(client: "DynamoDBClient", table: str, tenant: str, marks: Set[str]) -> None:
    """Give the tenant a new knowledge version and remove the marks. Raises `DependencyError`."""
    _count(client, table, tenant, "ADD changes :one DELETE changing :marks", marks)


def count_rules(client: "DynamoDBClient", table: str, tenant: str, etag: str, restricts: Set[str]) -> None:
    """Record which folder rules are in force (none if `etag` is empty), with a new knowledge version."""
    expression = ("SET #access = :etag" if etag else "REMOVE #access") + " ADD changes :one"
    more: dict[str, object] = {":etag": etag} if etag else {}
    if restricts:
        expression += ", restricted :restricts"
        more[":restricts"] = set(restricts)
    _count(client, table, tenant, expression, None, more, {"#access": "access"})


def _count(
    client: "DynamoDBClient",
    table: str,
    tenant: str,
    expression: str,
    marks: Set[str] | None = None,
    more: Mapping[str, object] | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    named: dict[str, Any] = {"ExpressionAttributeNames": dict(names)} if names else {}
    with dynamo_errors("registry"):
        answer = client.update_item(
            TableName=table,
            Key=_key_of(tenant),
            UpdateExpression=expression,
            ExpressionAttributeValues=to_item({":one": 1, ":marks": marks, **(more or {})}),
            ReturnValues="UPDATED_NEW",
            **named,
        )
    return from_item(answer["Attributes"])


class DynamoIndexVersions:
    """Implements `IndexVersionRegistry`, `IndexVersionReader` and `KnowledgeVersion`.

    `first_version` returns the first index version of a new tenant.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, clock: Clock, first_version: Callable[[str], IndexVersion]
    ) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._first_version = first_version
        self._recent: dict[str, tuple[float, IndexVersion, bool]] = {}
        self._lock = Lock()

    def current(self, tenant: str) -> IndexVersion:
        """Return the index version to search, up to `MAX_AGE_S` old; a new tenant's is the configured one."""
        return self._looked_up(tenant)[1]

    def is_restricted(self, tenant: str) -> bool:
        """Say whether any of the tenant's documents has or had a rule; up to `MAX_AGE_S` old."""
        return self._looked_up(tenant)[2]

    def _looked_up(self, tenant: str) -> tuple[float, IndexVersion, bool]:
        now = self._clock.monotonic()
        with self._lock:
            held = self._recent.get(tenant)
        if held is not None and now - held[0] < MAX_AGE_S:
            return held
        item = _read_item(self._client, self._table, tenant) or {}
        index_version = _index_versions_of(item).current if "revision" in item else self._first_version(tenant)
        with self._lock:
            self._recent[tenant] = held = now, index_version, "restricted" in item
        return held

    def of(self, tenant: str) -> TenantIndexVersions:
        """Return the tenant's pointer, creating it if there is none. Raises `DependencyError`."""
        for _ in range(_CREATE_ATTEMPTS):
            found = self._read(tenant)
            if found is not None:
                return found
            first = self._first_version(tenant)
            self.save(TenantIndexVersions(tenant, first, changed_at=self._clock.now().isoformat()))
        raise DependencyUnavailable("registry", "the tenant's pointer could not be created")

    def save(self, index_versions: TenantIndexVersions) -> bool:
        """Write the pointer unless it changed since it was read. Raises `DependencyError`."""
        # An update, not a put, because others increase `changes` at the same time.
        before = index_versions.revision
        stored = _attributes_of(index_versions._replace(revision=before + 1))
        values = {f":{name}": value for name, value in stored.items() if value is not None}
        removed = [f"#{name}" for name, value in stored.items() if value is None]
        assignments = ", ".join(f"#{name} = :{name}" for name, value in stored.items() if value is not None)
        try:
            with dynamo_errors("registry"):
                self._client.update_item(
                    TableName=self._table,
                    Key=_key_of(index_versions.tenant),
                    UpdateExpression=f"SET {assignments}" + (f" REMOVE {', '.join(removed)}" if removed else ""),
                    ConditionExpression="#revision = :before" if before else "attribute_not_exists(#revision)",
                    ExpressionAttributeNames={f"#{name}": name for name in stored},
                    ExpressionAttributeValues=to_item(values | ({":before": before} if before else {})),
                )
        except ClientError:
            return False
        return True

    def knowledge(self, tenant: str) -> TenantKnowledge:
        """Return what changes with the searchable content. One consistent read."""
        found = read_knowledge(self._client, self._table, tenant)
        return TenantKnowledge(found.version, found.restricted)

    def count_change(self, tenant: str) -> None:
        """Give the tenant a new knowledge version. Raises `DependencyError`."""
        _count(self._client, self._table, tenant, "ADD changes :one")

    def begin_change(self, tenant: str, document_id: str, *, restricts: Set[str] = frozenset()) -> Set[str]:
        """Give the tenant a new knowledge version, and mark the document; return what `end_change` takes."""
        return begin_change(self._client, self._table, tenant, document_id, self._clock.now(), restricts=restricts)

    def end_change(self, tenant: str, marks: Set[str]) -> None:
        """Give the tenant a new knowledge version, and remove the marks."""
        end_change(self._client, self._table, tenant, marks)

    def _read(self, tenant: str) -> TenantIndexVersions | None:
        item = _read_item(self._client, self._table, tenant)
        return _index_versions_of(item) if item is not None and "revision" in item else None


def _read_item(client: "DynamoDBClient", table: str, tenant: str) -> Mapping[str, Any] | None:
    with dynamo_errors("registry"):
        return client.get_item(TableName=table, Key=_key_of(tenant), ConsistentRead=True).get("Item")


def _key_of(tenant: str) -> Item:
    return to_item({"pk": f"TENANT#{tenant}", "sk": "TENANT"})


def _attributes_of(index_versions: TenantIndexVersions) -> dict[str, object]:
    return {
        "tenant": index_versions.tenant,
        "current": _stored(index_versions.current),
        "other": None if index_versions.other is None else _stored(index_versions.other),
        "changed_at": index_versions.changed_at,
        "dropped": [_stored(index_version) for index_version in index_versions.dropped],
        "revision": index_versions.revision,
        "declined": index_versions.declined or None,
    }


def _index_versions_of(item: Mapping[str, Any]) -> TenantIndexVersions:
    values = from_item(item)
    return TenantIndexVersions(
        tenant=values["tenant"],
        current=_index_version_of(values["current"]),
        other=_index_version_of(values["other"]) if "other" in values else None,
        changed_at=values["changed_at"],
        dropped=[_index_version_of(stored) for stored in values["dropped"]],
        revision=values["revision"],
        declined=values.get("declined", ""),
    )


def _stored(index_version: IndexVersion) -> dict[str, object]:
    return {
        "number": index_version.number,
        "namespace": index_version.namespace,
        "index": index_version.index,
        "model": index_version.space.model,
        "dimensions": index_version.space.dimensions,
    }


def _index_version_of(stored: Mapping[str, Any]) -> IndexVersion:
    space = EmbeddingSpace(stored["model"], stored["dimensions"])
    return IndexVersion(stored["number"], stored["namespace"], stored["index"], space)


_KEY = to_item({"pk": "STACK", "sk": "REINDEX"})


class DynamoReindexProgress:
    """Implements `ReindexProgressStore`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def read(self) -> ReindexProgress | None:
        """Return the stored progress, or None before the first write. Raises `DependencyError`."""
        with dynamo_errors("registry"):
            item = self._client.get_item(TableName=self._table, Key=_KEY, ConsistentRead=True).get("Item")
        return None if item is None else ReindexProgress(**from_item({"progress": item["progress"]})["progress"])

    def write(self, progress: ReindexProgress) -> None:
        """Replace the stored progress. Raises `DependencyError`."""
        with dynamo_errors("registry"):
            self._client.update_item(
                TableName=self._table,
                Key=_KEY,
                UpdateExpression="SET progress = :progress",
                ExpressionAttributeValues=to_item({":progress": progress._asdict()}),
            )
