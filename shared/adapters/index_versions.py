"""Which index version of a tenant's documents is searched, and how far the stack is in renewing them.

Items of the documents table, beside the documents (`sk=DOC#…`), never among them:

    pk=TENANT#{tenant} sk=TENANT   the pointer; `changes` counts what changed in what is found, and makes the knowledge
                                   version together with `revision`
    pk=STACK sk=RENEWAL            how far the stack is in bringing every tenant to the settings of the day
"""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from shared.adapters.aws import Item, dynamo_errors, from_item, to_item
from shared.errors import DependencyUnavailable
from shared.models import FIRST_VIEW, EmbeddingSpace, View, namespace_of
from shared.ports import Clock, RenewalNote, TenantViews
from shared.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


MAX_AGE_S = 5.0
"""Seconds a pointer may be kept for reading: a view left behind stays whole for a minute at least."""
_CREATE_ATTEMPTS = 3


def view_as_set(settings: Settings, tenant: str, number: int = FIRST_VIEW) -> View:
    """Return a view of this number as the settings of the day would have it."""
    return View(number, namespace_of(tenant, number), settings.pinecone_index, settings.embedding_space)


def count_change(client: "DynamoDBClient", table: str, tenant: str) -> None:
    """Make the tenant's knowledge version a new one. Raises `DependencyError`."""
    with dynamo_errors("registry"):
        client.update_item(
            TableName=table,
            Key=_key_of(tenant),
            UpdateExpression="ADD changes :one",
            ExpressionAttributeValues=to_item({":one": 1}),
        )


class DynamoTenantViews:
    """Implements `ViewRegistry`, `ViewReader` and `KnowledgeVersion`.

    `wanted` gives the first view of a tenant that has none.
    """

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock, wanted: Callable[[str], View]) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._wanted = wanted
        self._recent: dict[str, tuple[float, View]] = {}
        self._lock = Lock()

    def current(self, tenant: str) -> View:
        """Return the view to search, up to `MAX_AGE_S` old; a tenant without documents has the one that is set."""
        now = self._clock.monotonic()
        with self._lock:
            held = self._recent.get(tenant)
        if held is not None and now - held[0] < MAX_AGE_S:
            return held[1]
        found = self._read(tenant)
        view = self._wanted(tenant) if found is None else found.current
        with self._lock:
            self._recent[tenant] = now, view
        return view

    def of(self, tenant: str) -> TenantViews:
        """Return the tenant's pointer, creating it if there is none. Raises `DependencyError`."""
        for _ in range(_CREATE_ATTEMPTS):
            found = self._read(tenant)
            if found is not None:
                return found
            self.save(TenantViews(tenant, self._wanted(tenant), changed_at=self._clock.now().isoformat()))
        raise DependencyUnavailable("registry", "the tenant's pointer could not be created")

    def save(self, views: TenantViews) -> bool:
        """Write the pointer unless it changed since it was read. Raises `DependencyError`."""
        # An update, not a put: `changes` is counted by others at the same time.
        stored = _attributes_of(views._replace(revision=views.revision + 1))
        values = {f":{name}": value for name, value in stored.items() if value is not None}
        gone = [f"#{name}" for name, value in stored.items() if value is None]
        assignments = ", ".join(f"#{name} = :{name}" for name, value in stored.items() if value is not None)
        try:
            with dynamo_errors("registry"):
                self._client.update_item(
                    TableName=self._table,
                    Key=_key_of(views.tenant),
                    UpdateExpression=f"SET {assignments}" + (f" REMOVE {', '.join(gone)}" if gone else ""),
                    ConditionExpression="#revision = :before" if views.revision else "attribute_not_exists(#revision)",
                    ExpressionAttributeNames={f"#{name}": name for name in stored},
                    ExpressionAttributeValues=to_item(values | ({":before": views.revision} if views.revision else {})),
                )
        except ClientError:
            return False
        return True

    def version(self, tenant: str) -> str:
        """Return what changes with everything that changes what is found. One consistent read."""
        values = from_item(self._item(tenant) or {})
        return f"{values.get('revision', 0)}.{values.get('changes', 0)}"

    def count_change(self, tenant: str) -> None:
        """Make the tenant's knowledge version a new one. Raises `DependencyError`."""
        count_change(self._client, self._table, tenant)

    def _read(self, tenant: str) -> TenantViews | None:
        item = self._item(tenant)
        return _views_of(item) if item is not None and "revision" in item else None

    def _item(self, tenant: str) -> Mapping[str, Any] | None:
        with dynamo_errors("registry"):
            return self._client.get_item(TableName=self._table, Key=_key_of(tenant), ConsistentRead=True).get("Item")


def _key_of(tenant: str) -> Item:
    return to_item({"pk": f"TENANT#{tenant}", "sk": "TENANT"})


def _attributes_of(views: TenantViews) -> dict[str, object]:
    return {
        "tenant": views.tenant,
        "current": _stored(views.current),
        "other": None if views.other is None else _stored(views.other),
        "changed_at": views.changed_at,
        "dropped": [_stored(view) for view in views.dropped],
        "revision": views.revision,
        "declined": views.declined or None,
    }


def _views_of(item: Mapping[str, Any]) -> TenantViews:
    values = from_item(item)
    return TenantViews(
        tenant=values["tenant"],
        current=_view_of(values["current"]),
        other=_view_of(values["other"]) if "other" in values else None,
        changed_at=values["changed_at"],
        dropped=[_view_of(stored) for stored in values["dropped"]],
        revision=values["revision"],
        declined=values.get("declined", ""),
    )


def _stored(view: View) -> dict[str, object]:
    return {
        "number": view.number,
        "namespace": view.namespace,
        "index": view.index,
        "model": view.space.model,
        "dimensions": view.space.dimensions,
    }


def _view_of(stored: Mapping[str, Any]) -> View:
    space = EmbeddingSpace(stored["model"], stored["dimensions"])
    return View(stored["number"], stored["namespace"], stored["index"], space)


_KEY = to_item({"pk": "STACK", "sk": "RENEWAL"})


class DynamoRenewalNotes:
    """Implements `RenewalNotes`; `pk=STACK`, which no tenant's key can be."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table

    def read(self) -> RenewalNote | None:
        """Return the note, or None before the first. Raises `DependencyError`."""
        with dynamo_errors("registry"):
            item = self._client.get_item(TableName=self._table, Key=_KEY, ConsistentRead=True).get("Item")
        return None if item is None else RenewalNote(**from_item({"note": item["note"]})["note"])

    def write(self, note: RenewalNote) -> None:
        """Replace the note. Raises `DependencyError`."""
        with dynamo_errors("registry"):
            self._client.update_item(
                TableName=self._table,
                Key=_KEY,
                UpdateExpression="SET note = :note",
                ExpressionAttributeValues=to_item({":note": note._asdict()}),
            )
