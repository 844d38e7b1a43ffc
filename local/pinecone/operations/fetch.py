"""GET /vectors/fetch, POST /vectors/fetch_by_metadata and GET /vectors/list: records by id."""

import math
from typing import Any

from local.pinecone import validation
from local.pinecone.database import Index
from local.pinecone.filters import parse_filter
from local.pinecone.namespace import Namespace
from local.pinecone.replies import Reply, pagination, read_reply, reading, record_json, token_position
from local.pinecone.validation import RpcError

_RECORDS_PER_READ_UNIT = 10


def id_prefix(_name: str, value: Any) -> str:
    """The beginning of record ids: up to 512 ASCII characters, or none."""
    text: str = validation.string("prefix", value)
    if not text.isascii() or "\0" in text or len(text) > validation.MAX_ID_CHARACTERS:
        raise RpcError(f"Prefix must be at most {validation.MAX_ID_CHARACTERS} ASCII characters, but got '{text}'")
    return text


FETCH_FIELDS = {"ids": validation.vector_ids, "namespace": validation.namespace}
BY_METADATA_FIELDS = {
    "filter": validation.json_object,
    "namespace": validation.namespace,
    "limit": validation.integer(1, validation.MAX_FETCH_BY_METADATA_LIMIT),
    "paginationToken": validation.string,
}
LIST_FIELDS = {
    "prefix": id_prefix,
    "limit": validation.integer(1, validation.MAX_LIST_LIMIT),
    "paginationToken": validation.string,
    "namespace": validation.namespace,
}


def fetch(index: Index, request: dict[str, Any]) -> Reply:
    """Return records by id; unknown ids are skipped."""
    if not request["ids"]:
        raise RpcError("Must provide at least one ID to fetch")
    with reading(index, request["namespace"]) as (visible, lsn):
        return read_reply(_body(visible, request["ids"], request["namespace"]), lsn)


def fetch_by_metadata(index: Index, request: dict[str, Any]) -> Reply:
    """Return the records a filter selects, a page at a time, by id."""
    if not request["filter"]:
        raise RpcError("Empty filter provided for fetch by metadata request")
    passes = parse_filter(request["filter"])
    after = token_position(request["paginationToken"])
    with reading(index, request["namespace"]) as (visible, lsn):
        ids = [record_id for record_id in visible.select(passes) if record_id > after]
        page = ids[: request["limit"] or validation.DEFAULT_PAGE]
        body = _body(visible, page, request["namespace"])
    return read_reply(body | pagination(page, more=len(ids) > len(page)), lsn)


def list_ids(index: Index, request: dict[str, Any]) -> Reply:
    """Return ids by prefix, in code-point order, a page at a time."""
    limit = request["limit"] or validation.DEFAULT_PAGE
    after = token_position(request["paginationToken"])
    with reading(index, request["namespace"]) as (visible, lsn):
        ids = visible.ids(prefix=request["prefix"] or "", after=after, limit=limit + 1)
    page = ids[:limit]
    vectors = [{"id": record_id} for record_id in page]
    body = {"vectors": vectors, "namespace": request["namespace"] or "", "usage": {"readUnits": 1}}
    return read_reply(body | pagination(page, more=len(ids) > limit), lsn)


def _body(visible: Namespace, ids: list[str], namespace: str | None) -> dict[str, Any]:
    found = [record for record_id in ids if (record := visible.get(record_id)) is not None]
    return {
        "vectors": {record.id: record_json(record) for record in found},
        "namespace": namespace or "",
        "usage": {"readUnits": max(1, math.ceil(len(found) / _RECORDS_PER_READ_UNIT))},
    }
