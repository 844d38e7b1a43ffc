"""A record as it is stored, and the rules for what may become one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from local.pinecone import validation
from local.pinecone.validation import RpcError, describe, expect

type Floats = NDArray[np.float32]
type Indices = NDArray[np.int64]

SMALLEST_VALUE = 1e-8
"""A dense vector needs one value of at least this magnitude (2026-07 OpenAPI, `Vector.values`)."""

METRICS = ("cosine", "dotproduct", "euclidean")


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: distinct indices and their values, of equal length."""

    indices: Indices
    values: Floats


@dataclass(frozen=True, slots=True)
class Record:
    """One stored vector. `metadata` is its JSON, numbers as floats as the vendor keeps them; empty if there is none."""

    id: str
    values: Floats
    sparse: Sparse | None = None
    metadata: bytes = b""


@dataclass(frozen=True, slots=True)
class Space:
    """What vectors of an index must look like; `dimension` is None for a purely sparse index.

    `sparse` says whether vectors may have a sparse part: the schema of a hybrid index declares `_sparse_values`.
    """

    dimension: int | None
    metric: str
    sparse: bool


def dense_values(raw: Any, space: Space) -> Floats:
    """Check a dense vector against the index. Raises `RpcError`."""
    values = expect(raw, list, "a sequence")
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or array.ndim != 1 or any(value is None or isinstance(value, (bool, str)) for value in values):
        wrong = next((v for v in values if isinstance(v, bool) or not isinstance(v, (int, float))), None)
        raise RpcError(f"invalid type: {describe(wrong)}, expected f32")
    if len(array) != (dimension := space.dimension or 0):
        raise RpcError(f"Vector dimension {len(array)} does not match the dimension of the index {dimension}")
    if not np.isfinite(array).all():
        raise RpcError("Vector values must be finite 32-bit floating point numbers")
    return array


def check_not_zero(values: Floats, record_id: str = "") -> None:
    """Refuse a dense vector of zeros; in a query, it has no id. Raises `RpcError`."""
    if not (np.abs(values) >= SMALLEST_VALUE).any():
        zeros = f" Vector ID '{record_id}' contains only zeros" if record_id else ""
        raise RpcError(f"Dense vectors must contain at least one non-zero value.{zeros}")


def sparse_values(raw: Any, space: Space) -> Sparse | None:
    """Check a sparse vector; an empty one counts as none. Raises `RpcError`."""
    mapping = validation.json_object("sparseValues", raw)
    indices = expect(mapping.get("indices", []), list, "a sequence")
    values = expect(mapping.get("values", []), list, "a sequence")
    if not space.sparse:
        supported = "only indexes that are sparse or using dotproduct are supported"
        raise RpcError(f"Index configuration does not support sparse values - {supported}")
    if len(indices) != len(values):
        lengths = f"{len(indices)} and {len(values)}"
        raise RpcError(f"Sparse vector indices and values must have the same length, got {lengths}")
    if not indices:
        raise RpcError("Sparse vector must contain at least one value")
    if len(indices) > validation.MAX_SPARSE_VALUES:
        most = f"the maximum size of {validation.MAX_SPARSE_VALUES} values"
        raise RpcError(f"Sparse vector size {len(indices)} exceeds {most}")
    for index in indices:
        expect(index, int, "u32")
        if not 0 <= index <= validation.MAX_SPARSE_INDEX:
            raise RpcError(f"invalid value: integer `{index}`, expected u32")
    if len(set(indices)) != len(indices):
        raise RpcError("Sparse vector indices must be unique")
    for value in values:
        expect(value, (int, float), "f32")
    with np.errstate(over="ignore"):
        array = np.asarray(values, dtype=np.float32)
    if not np.isfinite(array).all():
        raise RpcError("Sparse vector values must be finite 32-bit floating point numbers")
    return Sparse(np.asarray(indices, dtype=np.int64), array)


def metadata_json(raw: Any) -> bytes:
    """Check metadata and encode it as it is kept: nulls dropped, numbers as floats. Raises `RpcError`."""
    mapping = validation.json_object("metadata", raw)
    return encode_metadata({name: _metadata_value(name, value) for name, value in mapping.items() if value is not None})


def encode_metadata(metadata: dict[str, Any]) -> bytes:
    """Encode checked metadata within the size limit."""
    encoded = orjson.dumps(metadata) if metadata else b""
    if len(encoded) > validation.MAX_METADATA_BYTES:
        limit = f"{validation.MAX_METADATA_BYTES} bytes per vector"
        raise RpcError(f"Metadata size is {len(encoded)} bytes, which exceeds the limit of {limit}")
    return encoded


def _metadata_value(field: str, value: Any) -> Any:
    if field.startswith("$"):
        raise RpcError(f"Metadata field name '{field}' must not start with '$'")
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    got = f"got '{render(value, 16)}' for field '{field}'"
    raise RpcError(f"Metadata value must be a string, number, boolean or list of strings, {got}")


def render(value: Any, limit: int | None = None) -> str:
    """Render JSON as the vendor does in its messages: compact, whole numbers as `10.0`, cut after `limit` bytes."""
    encoded = orjson.dumps(_with_floats(value))
    if limit is not None and len(encoded) > limit:
        return encoded[:limit].decode(errors="ignore") + "..."
    return encoded.decode()


def _with_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_floats(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def record_from(raw: Any, space: Space) -> Record:
    """Check one vector of an upsert. Raises `RpcError` with the vendor's words."""
    mapping = validation.json_object("vectors", raw)
    record_id = validation.vector_id("id", mapping.get("id", ""))
    raw_sparse = mapping.get("sparseValues", mapping.get("sparse_values"))
    sparse = sparse_values(raw_sparse, space) if raw_sparse is not None else None
    if space.dimension is None and sparse is None:
        raise RpcError("Sparse vector must contain at least one value")
    values = dense_values(mapping.get("values") or [], space)
    if len(values):
        check_not_zero(values, record_id)
    raw_metadata = mapping.get("metadata")
    return Record(record_id, values, sparse, metadata_json(raw_metadata) if raw_metadata is not None else b"")
