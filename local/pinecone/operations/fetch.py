"""GET /vectors/fetch, POST /vectors/fetch_by_metadata and GET /vectors/list: records by id."""

import math
from collections.abc import Mapping
from typing import Any

from local.pinecone.database import Index
from local.pinecone.filters import parse_filter
from local.pinecone.namespace import Namespace
from local.pinecone.replies import Reply, page_token, read_reply, record_json, stored_name, token_position
from local.pinecone.validation import (
    DEFAULT_PAGE,
    MAX_FETCH_BY_METADATA_LIMIT,
    MAX_ID_CHARACTERS,
    MAX_LIST_LIMIT,
    DataPlaneError,
    integer,
    json_object,
    namespace,
    parse,
    parse_mapping,
    string,
    vector_ids,
)

FETCH_FIELDS = {"ids": vector_ids, "namespace": namespace}
BY_METADATA_FIELDS = {
    "filter": json_object,
    "namespace": namespace,
    "limit": integer(1, MAX_FETCH_BY_METADATA_LIMIT),
    "paginationToken": string,
}

_RECORDS_PER_READ_UNIT = 10


def fetch(index: Index, params: Mapping[str, Any]) -> Reply:
    """Return records by id; ids that are not there are left out."""
    request = parse_mapping(params, FETCH_FIELDS)
    if not request["ids"]:
        raise DataPlaneError("Must provide at least one ID to fetch")
    try:
        handle = index.namespace(stored_name(request["namespace"]))
    except KeyError:
        return read_reply(_body(Namespace(index.space), [], request["namespace"]), 0)
    with handle.lock:
        visible, lsn = handle.view()
        return read_reply(_body(visible, request["ids"], request["namespace"]), lsn)


def fetch_by_metadata(index: Index, body: bytes) -> Reply:
    """Return the records a filter selects, a page at a time, by id."""
    request = parse(body, BY_METADATA_FIELDS)
    if not request["filter"]:
        raise DataPlaneError("Empty filter provided for fetch by metadata request")
    node = parse_filter(request["filter"])
    after = token_position(request["paginationToken"])
    try:
        handle = index.namespace(stored_name(request["namespace"]))
    except KeyError:
        return read_reply(_body(Namespace(index.space), [], request["namespace"]), 0)
    with handle.lock:
        visible, lsn = handle.view()
        ids = [record_id for record_id in visible.select(node) if record_id > after]
        page = ids[: request["limit"] or DEFAULT_PAGE]
        answer = _body(visible, page, request["namespace"])
    if len(ids) > len(page):
        answer["pagination"] = {"next": page_token(page[-1])}
    return read_reply(answer, lsn)


def _body(visible: Namespace, ids: list[str], namespace: str | None) -> dict[str, Any]:
    found = [record for record_id in ids if (record := visible.get(record_id)) is not None]
    return {
        "vectors": {record.id: record_json(record) for record in found},
        "namespace": namespace or "",
        "usage": {"readUnits": max(1, math.ceil(len(found) / _RECORDS_PER_READ_UNIT))},
    }


def id_prefix(_name: str, value: Any) -> str:
    """The beginning of record ids: up to 512 ASCII characters, none at all included."""
    text = string("prefix", value)
    if not text.isascii() or "\0" in text or len(text) > MAX_ID_CHARACTERS:
        raise DataPlaneError(f"Prefix must be at most {MAX_ID_CHARACTERS} ASCII characters, but got '{text}'")
    return text


LIST_FIELDS = {
    "prefix": id_prefix,
    "limit": integer(1, MAX_LIST_LIMIT),
    "paginationToken": string,
    "namespace": namespace,
}


def list_ids(index: Index, params: Mapping[str, Any]) -> Reply:
    """Return ids by prefix, in code-point order, a page at a time; the last page has no `pagination`."""
    request = parse_mapping(params, LIST_FIELDS)
    limit = request["limit"] or DEFAULT_PAGE
    after = token_position(request["paginationToken"])
    answer: dict[str, Any] = {"vectors": [], "namespace": request["namespace"] or "", "usage": {"readUnits": 1}}
    try:
        handle = index.namespace(stored_name(request["namespace"]))
    except KeyError:
        return read_reply(answer, 0)
    with handle.lock:
        visible, lsn = handle.view()
        ids = visible.ids(prefix=request["prefix"] or "", after=after, limit=limit + 1)
    answer["vectors"] = [{"id": record_id} for record_id in ids[:limit]]
    if len(ids) > limit:
        answer["pagination"] = {"next": page_token(ids[limit - 1])}
    return read_reply(answer, lsn)
