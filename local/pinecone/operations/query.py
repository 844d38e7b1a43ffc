"""POST /query."""

import math
from typing import Any

from local.pinecone import validation
from local.pinecone.database import Index
from local.pinecone.filters import parse_filter
from local.pinecone.namespace import Namespace
from local.pinecone.records import Floats, Sparse, check_not_zero, dense_values, sparse_values
from local.pinecone.replies import Reply, read_reply, reading, record_json
from local.pinecone.validation import RpcError

FIELDS = {
    "topK": validation.integer(1, validation.MAX_TOP_K),
    "vector": validation.json_list,
    "sparseVector": validation.json_object,
    "id": validation.vector_id,
    "namespace": validation.namespace,
    "filter": validation.json_object,
    "includeValues": validation.boolean,
    "includeMetadata": validation.boolean,
}

_READ_UNIT_BYTES = 2**30


def query(index: Index, request: dict[str, Any]) -> Reply:
    """Find the nearest records to a vector, a sparse vector, both together, or a stored record."""
    if request["topK"] is None:
        raise RpcError(f"topK must be between 1 and {validation.MAX_TOP_K}, got 0")
    _check_selectors(request)
    values = dense_values(request["vector"], index.space) if request["vector"] else None
    if values is not None:
        check_not_zero(values)  # not documented for queries, so nothing may rely on zeros being taken
    sparse = sparse_values(request["sparseVector"], index.space) if request["sparseVector"] else None
    passes = parse_filter(request["filter"]) if request["filter"] else None
    with reading(index, request["namespace"]) as (visible, lsn):
        if request["id"] is not None:
            values, sparse = _stored_vector(visible, request["id"])
        found = []
        if values is not None or sparse is not None:
            found = visible.search(values, sparse, top_k=request["topK"], passes=passes)
        size_bytes = len(visible) * 4 * (index.space.dimension or 1)
    shown = {"values": bool(request["includeValues"]), "metadata": bool(request["includeMetadata"])}
    body = {
        "results": [],
        "matches": [{**record_json(each.record, **shown), "score": each.score} for each in found],
        "namespace": request["namespace"] or "",
        "usage": {"readUnits": max(1, math.ceil(size_bytes / _READ_UNIT_BYTES))},
    }
    return read_reply(body, lsn)


def _check_selectors(request: dict[str, Any]) -> None:
    if request["id"] is not None and request["vector"]:
        raise RpcError("Cannot provide both 'ID' and 'vector' at the same time")
    if request["id"] is not None and request["sparseVector"]:
        raise RpcError("Cannot provide both 'ID' and 'sparse_vector' at the same time")
    if request["id"] is None and not request["vector"] and not request["sparseVector"]:
        raise RpcError("Must provide either 'ID', 'vector' or 'sparse_vector'")


def _stored_vector(visible: Namespace, record_id: str) -> tuple[Floats | None, Sparse | None]:
    record = visible.get(record_id)
    if record is None:
        return None, None
    return (record.values, None) if len(record.values) else (None, record.sparse)
