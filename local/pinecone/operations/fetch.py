"""GET /vectors/fetch and POST /vectors/fetch_by_metadata."""

import math
from collections.abc import Mapping
from typing import Any

from local.pinecone import limits
from local.pinecone.answers import Answer, page_token, read_answer, record_json, stored_name, token_position
from local.pinecone.database import Index
from local.pinecone.errors import DataError
from local.pinecone.fields import integer, json_object, namespace, parse, parse_mapping, string, vector_ids
from local.pinecone.filters import parse_filter
from local.pinecone.namespace import Namespace

FETCH_FIELDS = {"ids": vector_ids, "namespace": namespace}
BY_METADATA_FIELDS = {
    "filter": json_object,
    "namespace": namespace,
    "limit": integer(1, limits.MAX_FETCH_BY_METADATA_LIMIT),
    "paginationToken": string,
}

_RECORDS_PER_READ_UNIT = 10


def fetch(index: Index, params: Mapping[str, Any]) -> Answer:
    """Return records by id; ids that are not there are left out."""
    request = parse_mapping(params, FETCH_FIELDS)
    if not request["ids"]:
        raise DataError("Must provide at least one ID to fetch")
    try:
        handle = index.namespace(stored_name(request["namespace"]))
    except KeyError:
        return read_answer(_body(Namespace(index.space), [], request["namespace"]), 0)
    with handle.lock:
        visible, lsn = handle.view()
        return read_answer(_body(visible, request["ids"], request["namespace"]), lsn)


def fetch_by_metadata(index: Index, body: bytes) -> Answer:
    """Return the records a filter selects, a page at a time, by id."""
    request = parse(body, BY_METADATA_FIELDS)
    if not request["filter"]:
        raise DataError("Empty filter provided for fetch by metadata request")
    node = parse_filter(request["filter"])
    after = token_position(request["paginationToken"])
    try:
        handle = index.namespace(stored_name(request["namespace"]))
    except KeyError:
        return read_answer(_body(Namespace(index.space), [], request["namespace"]), 0)
    with handle.lock:
        visible, lsn = handle.view()
        ids = [record_id for record_id in visible.select(node) if record_id > after]
        page = ids[: request["limit"] or limits.DEFAULT_PAGE]
        answer = _body(visible, page, request["namespace"])
    if len(ids) > len(page):
        answer["pagination"] = {"next": page_token(page[-1])}
    return read_answer(answer, lsn)


def _body(visible: Namespace, ids: list[str], namespace: str | None) -> dict[str, Any]:
    found = [record for record_id in ids if (record := visible.get(record_id)) is not None]
    return {
        "vectors": {record.id: record_json(record) for record in found},
        "namespace": namespace or "",
        "usage": {"readUnits": max(1, math.ceil(len(found) / _RECORDS_PER_READ_UNIT))},
    }
