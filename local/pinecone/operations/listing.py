"""GET /vectors/list."""

from collections.abc import Mapping
from typing import Any

from local.pinecone import limits
from local.pinecone.answers import Answer, page_token, read_answer, stored_name, token_position
from local.pinecone.database import Index
from local.pinecone.errors import DataError
from local.pinecone.fields import integer, namespace, parse_mapping, string


def id_prefix(_name: str, value: Any) -> str:
    """The beginning of record ids: up to 512 ASCII characters, none at all included."""
    text = string("prefix", value)
    if not text.isascii() or "\0" in text or len(text) > limits.MAX_ID_CHARACTERS:
        raise DataError(f"Prefix must be at most {limits.MAX_ID_CHARACTERS} ASCII characters, but got '{text}'")
    return text


FIELDS = {
    "prefix": id_prefix,
    "limit": integer(1, limits.MAX_LIST_LIMIT),
    "paginationToken": string,
    "namespace": namespace,
}


def list_ids(index: Index, params: Mapping[str, Any]) -> Answer:
    """Return ids by prefix, in code-point order, a page at a time; the last page has no `pagination`."""
    request = parse_mapping(params, FIELDS)
    limit = request["limit"] or limits.DEFAULT_PAGE
    after = token_position(request["paginationToken"])
    answer: dict[str, Any] = {"vectors": [], "namespace": request["namespace"] or "", "usage": {"readUnits": 1}}
    try:
        handle = index.namespace(stored_name(request["namespace"]))
    except KeyError:
        return read_answer(answer, 0)
    with handle.lock:
        visible, lsn = handle.view()
        ids = visible.ids(prefix=request["prefix"] or "", after=after, limit=limit + 1)
    answer["vectors"] = [{"id": record_id} for record_id in ids[:limit]]
    if len(ids) > limit:
        answer["pagination"] = {"next": page_token(ids[limit - 1])}
    return read_answer(answer, lsn)
