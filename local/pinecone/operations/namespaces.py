"""GET, POST /namespaces, GET, DELETE /namespaces/{name}, and POST, GET /describe_index_stats."""

from typing import Any

from local.pinecone import validation
from local.pinecone.database import Index, NamespaceHandle
from local.pinecone.replies import Reply, existing_namespace, pagination, stored_name, token_position
from local.pinecone.validation import DEFAULT_NAMESPACE, RpcError

LIST_FIELDS = {
    "prefix": validation.namespace,
    "limit": validation.integer(1, validation.MAX_LIST_LIMIT),
    "paginationToken": validation.string,
}
CREATE_FIELDS = {"name": validation.namespace, "schema": validation.json_object}
ONE_FIELDS = {"namespace": validation.namespace}
STATS_FIELDS = {"filter": validation.json_object}


def list_namespaces(index: Index, request: dict[str, Any]) -> Reply:
    """List namespaces by name; the default one only once it holds something."""
    prefix, limit = request["prefix"] or "", request["limit"] or validation.DEFAULT_PAGE
    after = token_position(request["paginationToken"])
    shown = [handle for handle in index.namespaces() if handle.row.name or handle.count()]
    matching = {name: handle for handle in shown if (name := _shown_name(handle)).startswith(prefix)}
    rest = sorted(name for name in matching if name > after)
    page = rest[:limit]
    body = {"namespaces": [_description(matching[name]) for name in page], "total_count": len(matching)}
    return Reply(body | pagination(page, more=len(rest) > limit))


def create_namespace(index: Index, request: dict[str, Any]) -> Reply:
    """Create an empty namespace, optionally with a metadata schema."""
    name = request["name"]
    if not name:
        raise RpcError("Namespace name must not be empty")
    if name == DEFAULT_NAMESPACE:
        raise RpcError(f"Namespace name '{DEFAULT_NAMESPACE}' is reserved")
    for field, config in ((request["schema"] or {}).get("fields") or {}).items():
        if not isinstance(config, dict) or config.get("filterable") is not True:
            raise RpcError(
                f"Field '{field}' is set to filterable: false. Only filterable: true is supported. "
                "To avoid indexing the field, omit it from the list of fields."
            )
    if any(handle.row.name == name for handle in index.namespaces()):
        raise RpcError(f"Namespace '{name}' already exists", validation.ALREADY_EXISTS)
    return Reply(_description(index.namespace(name, create=True, schema=request["schema"])))


def describe_namespace(index: Index, request: dict[str, Any]) -> Reply:
    """Describe one namespace."""
    return Reply(_description(existing_namespace(index, request["namespace"])))


def delete_namespace(index: Index, request: dict[str, Any]) -> Reply:
    """Remove a namespace with all it holds."""
    existing_namespace(index, request["namespace"])
    index.delete_namespace(stored_name(request["namespace"]))
    return Reply({})


def describe_index_stats(index: Index, request: dict[str, Any]) -> Reply:
    """Count the records of each namespace. Serverless indexes refuse a filter here, and so does this one."""
    if request.get("filter"):
        kinds = "Serverless and Starter indexes"
        raise RpcError(f"{kinds} do not support describing index stats with metadata filtering")
    counts = {_shown_name(handle): handle.count() for handle in index.namespaces()}
    dimension = index.space.dimension
    return Reply(
        {
            "namespaces": {name: {"vectorCount": n} for name, n in counts.items() if n or name != DEFAULT_NAMESPACE},
            "indexFullness": 0,
            "totalVectorCount": sum(counts.values()),
            **({} if dimension is None else {"dimension": dimension}),
            "metric": index.space.metric,
            "vectorType": "sparse" if dimension is None else "dense",
            "memoryFullness": 0,
            "storageFullness": 0,
        }
    )


def _shown_name(handle: NamespaceHandle) -> str:
    return handle.row.name or DEFAULT_NAMESPACE


def _description(handle: NamespaceHandle) -> dict[str, Any]:
    # The vendor writes 64-bit numbers as strings here.
    sizes = {"record_count": str(handle.count()), "size_bytes": str(handle.size_bytes())}
    schema = handle.row.schema
    described = {"name": _shown_name(handle), **sizes}
    if schema is None:
        return described
    return {**described, "schema": schema, "indexed_fields": {"fields": sorted(schema.get("fields", {}))}}
