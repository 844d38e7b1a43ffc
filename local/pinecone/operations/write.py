"""POST /vectors/upsert, /vectors/update and /vectors/delete."""

from typing import Any

import orjson

from local.pinecone import records, validation
from local.pinecone.database import Changes, Committed, Index
from local.pinecone.filters import parse_filter
from local.pinecone.records import Record
from local.pinecone.replies import Reply, existing_namespace, stored_name, write_reply
from local.pinecone.validation import RpcError

UPSERT_FIELDS = {"vectors": validation.json_list, "namespace": validation.namespace}
UPDATE_FIELDS = {
    "id": validation.vector_id,
    "filter": validation.json_object,
    "values": validation.json_list,
    "sparseValues": validation.json_object,
    "setMetadata": validation.json_object,
    "dryRun": validation.boolean,
    "namespace": validation.namespace,
}
DELETE_FIELDS = {
    "ids": validation.vector_ids,
    "deleteAll": validation.boolean,
    "filter": validation.json_object,
    "namespace": validation.namespace,
}


def upsert(index: Index, request: dict[str, Any]) -> Reply:
    """Store vectors, replacing those of the same id; the namespace comes into being with its first vector."""
    vectors = request["vectors"] or []
    if not vectors:
        raise RpcError("No vectors provided for upsert")
    if len(vectors) > validation.MAX_UPSERT_VECTORS:
        size = f"The requested batch size of {len(vectors)}"
        raise RpcError(f"{size} exceeds the maximum batch size of {validation.MAX_UPSERT_VECTORS}")
    stored = [records.record_from(vector, index.space) for vector in vectors]
    handle = index.namespace(stored_name(request["namespace"]), create=True)
    lsn = handle.write(lambda _committed: {record.id: record for record in stored})
    return write_reply({"upsertedCount": len(stored)}, lsn)


def update(index: Index, request: dict[str, Any]) -> Reply:
    """Change one record by id (a missing one is no error), or the metadata of all records a filter selects."""
    by_filter = request["filter"] is not None
    if by_filter == (request["id"] is not None):
        raise RpcError("Exactly one of 'id' or 'filter' must be provided for update")
    if by_filter:
        if not request["filter"]:
            raise RpcError("Update with empty metadata filter is not allowed")
        if request["values"] or request["sparseValues"]:
            raise RpcError("Update by metadata request does not support updating vector values.")
    passes = parse_filter(request["filter"]) if by_filter else None
    patch = _Patch(index, request)
    handle = existing_namespace(index, request["namespace"])
    ids: list[str] = []

    def decide(committed: Committed) -> Changes:
        nonlocal ids
        ids = [request["id"]] if passes is None else committed.select(passes)
        selected = [] if by_filter and request["dryRun"] else [committed.get(record_id) for record_id in ids]
        return {record.id: patch.applied_to(record) for record in selected if record is not None}

    lsn = handle.write(decide)
    return write_reply({"matchedRecords": len(ids)} if by_filter else {}, lsn)


class _Patch:
    """The checked changes of one update; what the request does not name stays."""

    def __init__(self, index: Index, request: dict[str, Any]) -> None:
        raw_values, raw_sparse, raw_metadata = request["values"], request["sparseValues"], request["setMetadata"]
        self._values = records.dense_values(raw_values, index.space) if raw_values else None
        if self._values is not None:
            records.check_not_zero(self._values, request["id"])
        self._sparse = records.sparse_values(raw_sparse, index.space) if raw_sparse else None
        self._metadata = orjson.loads(records.metadata_json(raw_metadata) or b"{}") if raw_metadata else {}

    def applied_to(self, record: Record) -> Record:
        """Return the record with the changes made."""
        return Record(
            record.id,
            record.values if self._values is None else self._values,
            record.sparse if self._sparse is None else self._sparse,
            records.encode_metadata({**orjson.loads(record.metadata or b"{}"), **self._metadata}),
        )


def delete(index: Index, request: dict[str, Any]) -> Reply:
    """Remove records; unknown ids are no error, an unknown namespace is. A filter makes the vendor ignore the ids."""
    if request["deleteAll"] and request["ids"]:
        raise RpcError("No explicit IDs allowed when delete_all=true")
    if request["deleteAll"] and request["filter"] is not None:
        raise RpcError("No filter allowed when delete_all=true")
    if request["filter"] is not None and not request["filter"]:
        raise RpcError("Delete with empty metadata filter is not allowed")
    if not (request["deleteAll"] or request["ids"] or request["filter"]):
        raise RpcError("Must provide either IDs, a filter or delete_all=true for delete")
    passes = parse_filter(request["filter"]) if request["filter"] else None
    handle = existing_namespace(index, request["namespace"])

    def decide(committed: Committed) -> Changes:
        if request["deleteAll"]:
            return dict.fromkeys(committed.ids())
        if passes is not None:
            return dict.fromkeys(committed.select(passes))
        return {record_id: None for record_id in request["ids"] if committed.get(record_id) is not None}

    return write_reply({}, handle.write(decide))
