"""GET, POST /namespaces, GET, DELETE /namespaces/{name}, and POST, GET /describe_index_stats."""

from collections.abc import Mapping
from typing import Any

from local.pinecone.database import Database, Index, NamespaceHandle
from local.pinecone.replies import Reply, existing_namespace, page_token, shown_name, stored_name, token_position
from local.pinecone.validation import (
    ALREADY_EXISTS,
    DEFAULT_NAMESPACE,
    DEFAULT_PAGE,
    MAX_LIST_LIMIT,
    DataPlaneError,
    integer,
    json_object,
    namespace,
    parse,
    parse_mapping,
    string,
)

LIST_NAMESPACES_FIELDS = {"prefix": namespace, "limit": integer(1, MAX_LIST_LIMIT), "paginationToken": string}
CREATE_FIELDS = {"name": namespace, "schema": json_object}


def _description(database: Database, handle: NamespaceHandle) -> dict[str, Any]:
    """The vendor writes 64-bit numbers as strings here."""
    shown = {
        "name": shown_name(handle.row.name),
        "record_count": str(handle.count()),
        "size_bytes": str(database.storage.size_bytes(handle.row.id)),
    }
    if handle.row.schema is None:
        return shown
    fields = sorted(handle.row.schema.get("fields", {}))
    return {**shown, "schema": handle.row.schema, "indexed_fields": {"fields": fields}}


def list_namespaces(database: Database, index: Index, params: Mapping[str, Any]) -> Reply:
    """List namespaces by name; the default one only once it holds something."""
    request = parse_mapping(params, LIST_NAMESPACES_FIELDS)
    prefix, limit = request["prefix"] or "", request["limit"] or DEFAULT_PAGE
    after = token_position(request["paginationToken"])
    named = sorted((shown_name(handle.row.name), handle) for handle in index.namespaces() if _is_shown(handle))
    matching = [(name, handle) for name, handle in named if name.startswith(prefix)]
    rest = [(name, handle) for name, handle in matching if name > after]
    answer: dict[str, Any] = {"namespaces": [_description(database, handle) for _, handle in rest[:limit]]}
    if len(rest) > limit:
        answer["pagination"] = {"next": page_token(rest[limit - 1][0])}
    return Reply(answer | {"total_count": len(matching)})


def _is_shown(handle: NamespaceHandle) -> bool:
    return handle.row.name != "" or handle.count() > 0


def create_namespace(database: Database, index: Index, body: bytes) -> Reply:
    """Create an empty namespace, optionally with a metadata schema."""
    request = parse(body, CREATE_FIELDS)
    name = request["name"]
    if not name:
        raise DataPlaneError("Namespace name must not be empty")
    if name == DEFAULT_NAMESPACE:
        raise DataPlaneError(f"Namespace name '{DEFAULT_NAMESPACE}' is reserved")
    for field, config in ((request["schema"] or {}).get("fields") or {}).items():
        if not isinstance(config, dict) or config.get("filterable") is not True:
            raise DataPlaneError(
                f"Field '{field}' is set to filterable: false. Only filterable: true is supported. "
                "To avoid indexing the field, omit it from the list of fields."
            )
    if any(handle.row.name == name for handle in index.namespaces()):
        raise DataPlaneError(f"Namespace '{name}' already exists", ALREADY_EXISTS)
    return Reply(_description(database, index.namespace(name, create=True, schema=request["schema"])))


def describe_namespace(database: Database, index: Index, name: str) -> Reply:
    """Describe one namespace."""
    return Reply(_description(database, existing_namespace(index, namespace("namespace", name))))


def delete_namespace(index: Index, name: str) -> Reply:
    """Remove a namespace with all it holds."""
    existing_namespace(index, namespace("namespace", name))
    index.delete_namespace(stored_name(name))
    return Reply({})


STATS_FIELDS = {"filter": json_object}


def describe_index_stats(index: Index, body: bytes) -> Reply:
    """Count the records of each namespace. Serverless indexes refuse a filter here, and so does this one."""
    if parse(body, STATS_FIELDS)["filter"]:
        raise DataPlaneError(
            "Serverless and Starter indexes do not support describing index stats with metadata filtering"
        )
    counts = {handle.row.name: handle.count() for handle in index.namespaces()}
    sparse_only = index.space.dimension is None
    return Reply(
        {
            "namespaces": {shown_name(name): {"vectorCount": n} for name, n in counts.items() if n or name},
            "indexFullness": 0,
            "totalVectorCount": sum(counts.values()),
            **({} if sparse_only else {"dimension": index.space.dimension}),
            "metric": index.space.metric,
            "vectorType": "sparse" if sparse_only else "dense",
            "memoryFullness": 0,
            "storageFullness": 0,
        }
    )
