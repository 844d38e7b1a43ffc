"""What operations return, and the small shapes that replies share."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

import orjson

from local.pinecone.database import Index, NamespaceHandle
from local.pinecone.records import Record
from local.pinecone.validation import DEFAULT_NAMESPACE, NOT_FOUND, DataPlaneError

_MAX_INDEXED_LSN = "x-pinecone-max-indexed-lsn"
_REQUEST_LSN = "x-pinecone-request-lsn"


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: JSON body (None for an empty one), status, headers beyond the usual."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def read_reply(body: dict[str, Any], lsn: int) -> Reply:
    """Reply a read, naming the last write it reflects."""
    return Reply(body, headers={_MAX_INDEXED_LSN: str(lsn)})


def write_reply(body: dict[str, Any], lsn: int) -> Reply:
    """Reply a write, naming its sequence number."""
    return Reply(body, headers={_REQUEST_LSN: str(lsn)})


def stored_name(namespace: str | None) -> str:
    """Return the name a namespace is stored under: "__default__" is an alias of the empty name."""
    return "" if namespace in (None, DEFAULT_NAMESPACE) else str(namespace)


def shown_name(stored: str) -> str:
    """Return the name listings show: the default namespace goes by its alias."""
    return stored or DEFAULT_NAMESPACE


def existing_namespace(index: Index, namespace: str | None) -> NamespaceHandle:
    """Return a namespace that must be there. Raises `DataPlaneError`, 404."""
    try:
        return index.namespace(stored_name(namespace))
    except KeyError:
        raise DataPlaneError("Namespace not found", NOT_FOUND) from None


def record_json(record: Record, *, values: bool = True, metadata: bool = True) -> dict[str, Any]:
    """Return a record in the vendor's shape; `values` is an empty list when there are none to show."""
    shown: dict[str, Any] = {"id": record.id, "values": record.values if values else []}
    if values and record.sparse is not None:
        shown["sparseValues"] = record.sparse.as_json()
    if metadata and record.metadata:
        shown["metadata"] = orjson.Fragment(record.metadata)
    return shown


def page_token(last: str) -> str:
    """Make the opaque token of the page after `last`."""
    return base64.b64encode(orjson.dumps({"skip_past": last})).decode()


def token_position(token: str | None) -> str:
    """Return what a page token says to skip past. Raises `DataPlaneError`."""
    if not token:
        return ""
    try:
        return str(orjson.loads(base64.b64decode(token, validate=True))["skip_past"])
    except (binascii.Error, orjson.JSONDecodeError, KeyError, TypeError):
        raise DataPlaneError("Invalid pagination token") from None
