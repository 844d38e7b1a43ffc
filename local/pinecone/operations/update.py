"""POST /vectors/update: one record by id, or the metadata of all records a filter selects."""

from typing import Any

import numpy as np
import orjson

from local.pinecone.answers import Answer, existing_namespace, write_answer
from local.pinecone.database import Changes, Committed, Index
from local.pinecone.errors import DataError
from local.pinecone.fields import boolean, json_list, json_object, namespace, parse, vector_id
from local.pinecone.filters import Node, parse_filter
from local.pinecone.records import SMALLEST_VALUE, Record, dense_values, encode_metadata, metadata_json, sparse_values

FIELDS = {
    "id": vector_id,
    "filter": json_object,
    "values": json_list,
    "sparseValues": json_object,
    "setMetadata": json_object,
    "dryRun": boolean,
    "namespace": namespace,
}


def update(index: Index, body: bytes) -> Answer:
    """Change what the request names and leave the rest; a record that is not there stays away, silently."""
    request = parse(body, FIELDS)
    by_filter = request["filter"] is not None
    if by_filter == (request["id"] is not None):
        raise DataError("Exactly one of 'id' or 'filter' must be provided for update")
    if by_filter:
        if not request["filter"]:
            raise DataError("Update with empty metadata filter is not allowed")
        if request["values"] or request["sparseValues"]:
            raise DataError("Update by metadata request does not support updating vector values.")
        node = parse_filter(request["filter"])
        return _update_many(index, node, request)
    patch = _Patch(index, request)
    handle = existing_namespace(index, request["namespace"])

    def decide(committed: Committed) -> Changes:
        record = committed.get(request["id"])
        return {} if record is None else {record.id: patch.applied_to(record)}

    return write_answer({}, handle.write(decide))


def _update_many(index: Index, node: Node, request: dict[str, Any]) -> Answer:
    patch = _Patch(index, request)
    handle = existing_namespace(index, request["namespace"])
    matched = 0

    def decide(committed: Committed) -> Changes:
        nonlocal matched
        ids = committed.select(node)
        matched = len(ids)
        records = [] if request["dryRun"] else [committed.get(record_id) for record_id in ids]
        return {record.id: patch.applied_to(record) for record in records if record is not None}

    lsn = handle.write(decide)
    return write_answer({"matchedRecords": matched}, lsn)


class _Patch:
    """The checked changes of one request."""

    def __init__(self, index: Index, request: dict[str, Any]) -> None:
        raw_values, raw_sparse, raw_metadata = request["values"], request["sparseValues"], request["setMetadata"]
        self._values = dense_values(raw_values, index.space) if raw_values else None
        if self._values is not None and not (np.abs(self._values) >= SMALLEST_VALUE).any():
            raise DataError(
                "Dense vectors must contain at least one non-zero value. "
                f"Vector ID '{request['id']}' contains only zeros"
            )
        self._sparse = sparse_values(raw_sparse, index.space) if raw_sparse else None
        self._metadata = orjson.loads(metadata_json(raw_metadata) or b"{}") if raw_metadata else {}

    def applied_to(self, record: Record) -> Record:
        """Return the record with the changes made."""
        metadata = {**orjson.loads(record.metadata or b"{}"), **self._metadata}
        return Record(
            record.id,
            record.values if self._values is None else self._values,
            record.sparse if self._sparse is None else self._sparse,
            encode_metadata(metadata),
        )
