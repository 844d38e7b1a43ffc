"""What a request may hold: the vendor's limits, its two error shapes, and declarative fields.

An operation lists its fields, and `parse` turns JSON into checked Python values:

    FIELDS = {"topK": integer(1, MAX_TOP_K), "includeValues": boolean, "filter": json_object}

A field that is absent or null is None. Protobuf's JSON mapping accepts `topK` and `top_k` alike, and so does `parse`.
Limits: docs.pinecone.io "Database limits" and the 2026-07 OpenAPI files.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

MAX_REQUEST_BYTES = 2 * 2**20
"""Bytes of an upsert request."""

MAX_RESULT_BYTES = 4 * 2**20
"""Bytes of a query's answer."""

MAX_UPSERT_VECTORS = 1_000
MAX_IDS = 1_000
MAX_TOP_K = 10_000
MAX_LIST_LIMIT = 100
MAX_FETCH_BY_METADATA_LIMIT = 10_000
DEFAULT_PAGE = 100

MAX_ID_CHARACTERS = 512
MAX_NAMESPACE_CHARACTERS = 512
MAX_METADATA_BYTES = 40_960
MAX_DIMENSION = 20_000
MAX_SPARSE_VALUES = 2_048
MAX_SPARSE_INDEX = 2**32 - 1
MAX_FILTER_LIST = 10_000
MAX_INDEX_NAME_CHARACTERS = 45

DEFAULT_NAMESPACE = "__default__"

INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, OUT_OF_RANGE = 3, 5, 6, 11
"""gRPC codes: the number a data-plane error carries."""

_HTTP_STATUS = {INVALID_ARGUMENT: 400, NOT_FOUND: 404, ALREADY_EXISTS: 409, OUT_OF_RANGE: 400}

_CONTROL_CODES = {
    400: "INVALID_ARGUMENT",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    422: "UNPROCESSABLE_ENTITY",
    500: "UNKNOWN",
}


class ErrorReply(Exception):
    """An error that becomes a response: HTTP status and JSON body."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body


class RpcError(ErrorReply):
    """A data-plane error, as a gRPC status: `{"code": 3, "message": …, "details": []}`."""

    def __init__(self, message: str, code: int = INVALID_ARGUMENT) -> None:
        super().__init__(_HTTP_STATUS[code], {"code": code, "message": message, "details": []})


class ControlError(ErrorReply):
    """A control-plane error: `{"error": {"code": "NOT_FOUND", "message": …}, "status": 404}`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, {"error": {"code": _CONTROL_CODES[status], "message": message}, "status": status})


type Field = Callable[[str, Any], Any]
"""Checks one value and returns it as the operation wants it; raises `RpcError`."""


def parse(body: bytes, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Read a JSON object's known fields; unknown ones are ignored. Raises `RpcError` with the vendor's words."""
    try:
        raw = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as error:
        raise RpcError(f"Invalid JSON: {error}") from error
    if not isinstance(raw, dict):
        raise RpcError(f"invalid type: {describe(raw)}, expected a JSON object")
    return parse_mapping(raw, fields)


def parse_mapping(raw: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Check the known fields of a JSON object (or of query parameters)."""
    values: dict[str, Any] = {}
    for name, check in fields.items():
        value = raw.get(name)
        if value is None:
            value = raw.get(_snake(name))
        values[name] = None if value is None else check(name, value)
    return values


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def describe(value: Any) -> str:
    """Name a JSON value the way the vendor's decoder does."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"{'integer' if isinstance(value, int) else 'floating point'} `{value}`"
    if isinstance(value, str):
        return f'string "{value}"'
    return "sequence" if isinstance(value, list) else "map"


def expect(value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    """Return `value` if it is of the JSON type, else refuse it. Booleans are no numbers."""
    wanted = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise RpcError(f"invalid type: {describe(value)}, expected {expected}")
    return value


def _of_type(kind: type, expected: str) -> Field:
    return lambda _name, value: expect(value, kind, expected)


boolean = _of_type(bool, "a boolean")
string = _of_type(str, "a string")
json_object = _of_type(dict, "a map")
json_list = _of_type(list, "a sequence")


def integer(low: int, high: int) -> Field:
    """A whole number within bounds; digits in a string will do, as in query parameters and protobuf JSON."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        number: int = expect(value, int, "an integer")
        if not low <= number <= high:
            raise RpcError(f"{name} must be between {low} and {high}, got {number}")
        return number

    return check


def vector_id(_name: str, value: Any) -> str:
    """A record id: 1 to 512 ASCII characters, no NUL."""
    text: str = string("id", value)
    if not text:
        raise RpcError("Vector ID must not be empty")
    if not text.isascii():
        raise RpcError(f"Vector ID must be ASCII, but got '{text}'")
    if "\0" in text:
        raise RpcError(f"Vector ID must not contain null character, but got '{text}'")
    return _not_longer("Vector ID", text, MAX_ID_CHARACTERS)


def vector_ids(name: str, value: Any) -> list[str]:
    """Up to 1,000 record ids, duplicates dropped."""
    ids = json_list(name, value)
    if len(ids) > MAX_IDS:
        raise RpcError(f"The number of IDs {len(ids)} exceeds the maximum of {MAX_IDS} IDs per request")
    return list(dict.fromkeys(vector_id(name, one) for one in ids))


def namespace(_name: str, value: Any) -> str:
    """A namespace name: up to 512 ASCII characters, no NUL; empty means the default one."""
    text: str = string("namespace", value)
    if not text.isascii():
        raise RpcError(f"Namespace must be ASCII, but got '{text}'")
    if "\0" in text:
        raise RpcError("Namespace must not contain null character")
    return _not_longer("Namespace", text, MAX_NAMESPACE_CHARACTERS)


def _not_longer(what: str, text: str, limit: int) -> str:
    if len(text) > limit:
        raise RpcError(f"{what} is {len(text)} characters, which exceeds the limit of {limit} characters")
    return text
