"""What operations return, and what reads have in common."""

import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from local.pinecone.database import Index, NamespaceHandle
from local.pinecone.namespace import Namespace
from local.pinecone.records import Record
from local.pinecone.validation import DEFAULT_NAMESPACE, NOT_FOUND, RpcError


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: JSON body (None for an empty one), status, headers beyond the usual."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def read_reply(body: dict[str, Any], lsn: int) -> Reply:
    """Answer a read, with the sequence number of the last write it reflects."""
    return Reply(body, headers={"x-pinecone-max-indexed-lsn": str(lsn)})


def write_reply(body: dict[str, Any], lsn: int) -> Reply:
    """Answer a write, with its sequence number."""
    return Reply(body, headers={"x-pinecone-request-lsn": str(lsn)})


def stored_name(namespace: str | None) -> str:
    """Return the name a namespace is stored under: "__default__" is an alias of the empty name."""
    return "" if namespace in (None, DEFAULT_NAMESPACE) else str(namespace)


def existing_namespace(index: Index, namespace: str | None) -> NamespaceHandle:
    """Return a namespace that must exist. Raises `RpcError`, 404."""
    try:
        return index.namespace(stored_name(namespace))
    except KeyError:
        raise RpcError("Namespace not found", NOT_FOUND) from None


@contextmanager
def reading(index: Index, namespace: str | None) -> Iterator[tuple[Namespace, int]]:
    """Yield what reads of a namespace see, and the last write it reflects; a missing namespace is empty."""
    try:
        handle = index.namespace(stored_name(namespace))
    except KeyError:
        yield Namespace(index.space), 0
        return
    with handle.lock:
        yield handle.visible()


def record_json(record: Record, *, values: bool = True, metadata: bool = True) -> dict[str, Any]:
    """Return a record in the vendor's shape; `values` is an empty list when there are none to show."""
    shown: dict[str, Any] = {"id": record.id, "values": record.values if values else []}
    if values and record.sparse is not None:
        shown["sparseValues"] = {"indices": record.sparse.indices, "values": record.sparse.values}
    if metadata and record.metadata:
        shown["metadata"] = orjson.Fragment(record.metadata)
    return shown


def pagination(page: list[str], *, more: bool) -> dict[str, Any]:
    """Return the opaque token of the next page; the last page has none."""
    if not more:
        return {}
    token = base64.b64encode(orjson.dumps({"skip_past": page[-1]})).decode()
    return {"pagination": {"next": token}}


def token_position(token: str | None) -> str:
    """Return the name or id after which a page begins. Raises `RpcError`."""
    if not token:
        return ""
    try:
        return str(orjson.loads(base64.b64decode(token, validate=True))["skip_past"])
    except (binascii.Error, orjson.JSONDecodeError, KeyError, TypeError):
        raise RpcError("Invalid pagination token") from None
