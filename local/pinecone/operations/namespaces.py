"""GET, POST /namespaces and GET, DELETE /namespaces/{name}."""

from collections.abc import Mapping
from typing import Any

from local.pinecone import limits
from local.pinecone.answers import Answer, existing_namespace, page_token, shown_name, stored_name, token_position
from local.pinecone.database import Database, Index, NamespaceHandle
from local.pinecone.errors import ALREADY_EXISTS, DataError
from local.pinecone.fields import DEFAULT_NAMESPACE, integer, json_object, namespace, parse, parse_mapping, string

LIST_FIELDS = {"prefix": namespace, "limit": integer(1, limits.MAX_LIST_LIMIT), "paginationToken": string}
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


def list_namespaces(database: Database, index: Index, params: Mapping[str, Any]) -> Answer:
    """List namespaces by name; the default one only once it holds something."""
    request = parse_mapping(params, LIST_FIELDS)
    prefix, limit = request["prefix"] or "", request["limit"] or limits.DEFAULT_PAGE
    after = token_position(request["paginationToken"])
    named = sorted((shown_name(handle.row.name), handle) for handle in index.namespaces() if _is_shown(handle))
    matching = [(name, handle) for name, handle in named if name.startswith(prefix)]
    rest = [(name, handle) for name, handle in matching if name > after]
    answer: dict[str, Any] = {"namespaces": [_description(database, handle) for _, handle in rest[:limit]]}
    if len(rest) > limit:
        answer["pagination"] = {"next": page_token(rest[limit - 1][0])}
    return Answer(answer | {"total_count": len(matching)})


def _is_shown(handle: NamespaceHandle) -> bool:
    return handle.row.name != "" or handle.count() > 0


def create_namespace(database: Database, index: Index, body: bytes) -> Answer:
    """Create an empty namespace, optionally with a metadata schema."""
    request = parse(body, CREATE_FIELDS)
    name = request["name"]
    if not name:
        raise DataError("Namespace name must not be empty")
    if name == DEFAULT_NAMESPACE:
        raise DataError(f"Namespace name '{DEFAULT_NAMESPACE}' is reserved")
    for field, config in ((request["schema"] or {}).get("fields") or {}).items():
        if not isinstance(config, dict) or config.get("filterable") is not True:
            raise DataError(
                f"Field '{field}' is set to filterable: false. Only filterable: true is supported. "
                "To avoid indexing the field, omit it from the list of fields."
            )
    if any(handle.row.name == name for handle in index.namespaces()):
        raise DataError(f"Namespace '{name}' already exists", ALREADY_EXISTS)
    return Answer(_description(database, index.namespace(name, create=True, schema=request["schema"])))


def describe_namespace(database: Database, index: Index, name: str) -> Answer:
    """Describe one namespace."""
    return Answer(_description(database, existing_namespace(index, namespace("namespace", name))))


def delete_namespace(index: Index, name: str) -> Answer:
    """Remove a namespace with all it holds."""
    existing_namespace(index, namespace("namespace", name))
    index.delete_namespace(stored_name(name))
    return Answer({})
