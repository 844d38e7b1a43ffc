"""The control plane: /indexes and /indexes/{name}.

Two dialects by `X-Pinecone-Api-Version`: from 2026-04 on an index has a schema and a deployment; before, a
dimension, a metric and a spec. Only what the vectors API serves can be created: the fields `_values`, `_sparse_values`.
"""

import re
import secrets
from dataclasses import dataclass
from typing import Any

import orjson

from local.pinecone.database import Database, Index
from local.pinecone.records import METRICS
from local.pinecone.replies import Reply
from local.pinecone.validation import MAX_DIMENSION, MAX_INDEX_NAME_CHARACTERS, ControlError

_SCHEMA_SINCE = "2026-04"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_REGION = {"aws": r"[a-z]{2}-[a-z]+-\d", "gcp": r"[a-z]+-[a-z]+\d", "azure": r"[a-z]+\d?"}


@dataclass(frozen=True, slots=True)
class ControlCall:
    """A control-plane request: the index in its path, its body, the API's version, this server's base URL."""

    name: str
    body: bytes
    version: str
    base_url: str


def list_indexes(database: Database, call: ControlCall) -> Reply:
    """List all indexes."""
    return Reply({"indexes": [_shown(index, call) for index in database.indexes()]})


def describe_index(database: Database, call: ControlCall) -> Reply:
    """Describe one index."""
    return Reply(_shown(_existing(database, call.name), call))


def create_index(database: Database, call: ControlCall) -> Reply:
    """Create an index; it is ready at once."""
    request = _json(call.body)
    name = request.get("name") or f"index-{secrets.token_hex(4)}"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        rule = "contain only lowercase alphanumeric characters or hyphens, and must not begin or end with a hyphen"
        raise ControlError(400, f"Index name must {rule}.")
    if len(name) > MAX_INDEX_NAME_CHARACTERS:
        raise ControlError(400, f"Index name must be at most {MAX_INDEX_NAME_CHARACTERS} characters long.")
    config = {**_vectors(request), **_place(request), **_settings(request)}
    index = database.create_index(name, config)
    if index is None:
        raise ControlError(409, "Resource already exists.")
    return Reply(_shown(index, call), status=201)


def configure_index(database: Database, call: ControlCall) -> Reply:
    """Change deletion protection and tags; an empty tag value removes the tag."""
    index = _existing(database, call.name)
    request = _json(call.body)
    if request.get("schema") or request.get("deployment") or request.get("spec"):
        raise ControlError(400, "Bad request. A serverless index's schema and deployment cannot be changed.")
    changes = _settings({"deletion_protection": index.config["deletion_protection"], **request})
    tags = {**(index.config["tags"] or {}), **(changes["tags"] or {})}
    changes["tags"] = {tag: value for tag, value in tags.items() if value} or None
    database.configure_index(index, changes)
    return Reply(_shown(index, call))


def delete_index(database: Database, call: ControlCall) -> Reply:
    """Remove an index, unless it is protected."""
    if _existing(database, call.name).config["deletion_protection"] == "enabled":
        message = "Deletion protection is enabled for this index. Disable deletion protection before retrying."
        raise ControlError(403, message)
    database.delete_index(call.name)
    return Reply(None, status=202)


def _existing(database: Database, name: str) -> Index:
    index = database.index(name)
    if index is None:
        raise ControlError(404, f"Resource {name} not found")
    return index


def _json(body: bytes) -> dict[str, Any]:
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ControlError(400, f"Failed to parse the request body as JSON: {error}") from error
    if not isinstance(request, dict):
        raise ControlError(422, "Failed to deserialize the JSON body into the target type: expected a map")
    return request


def _vectors(request: dict[str, Any]) -> dict[str, Any]:
    """Read dimension and metric from either dialect. A sparse index has dimension None."""
    if "schema" not in request or "dimension" in request:
        if request.get("vector_type") == "sparse":
            return {"dimension": None, "metric": "dotproduct"}
        return _dense(request.get("dimension"), request.get("metric") or "cosine")
    schema = request["schema"]
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(fields, dict) or not fields or not all(isinstance(field, dict) for field in fields.values()):
        raise _undeserializable("fields")
    if not set(fields) <= {"_values", "_sparse_values"}:
        raise ControlError(
            400,
            "This emulator serves the vectors API only: declare the schema fields `_values` and `_sparse_values`, "
            "or pass a dimension.",
        )
    if "_values" not in fields:
        return {"dimension": None, "metric": "dotproduct"}
    for key in ("dimension", "metric"):
        if key not in fields["_values"]:
            raise _undeserializable(key)
    dense = _dense(fields["_values"]["dimension"], fields["_values"]["metric"])
    # Without the sparse field the creation succeeds, and sparse upserts are refused later.
    return {**dense, "sparse": "_sparse_values" in fields and dense["metric"] == "dotproduct"}


def _dense(dimension: Any, metric: Any) -> dict[str, Any]:
    if dimension is None:
        raise _undeserializable("dimension")
    if not isinstance(dimension, int) or not 1 <= dimension <= MAX_DIMENSION:
        raise ControlError(400, f"Dimension must be between 1 and {MAX_DIMENSION}, got {dimension}")
    if metric not in METRICS:
        raise ControlError(400, f"Metric must be one of {', '.join(METRICS)}, got {metric}")
    return {"dimension": dimension, "metric": metric}


def _place(request: dict[str, Any]) -> dict[str, Any]:
    place = request.get("deployment") or (request.get("spec") or {}).get("serverless")
    if place is None:
        place = {"cloud": "aws", "region": "us-east-1"}
    elif "deployment" in request and "deployment_type" not in place:
        raise _undeserializable("deployment_type")
    elif place.get("deployment_type", "managed") != "managed":
        kind = place["deployment_type"]
        raise ControlError(400, f"deployment_type '{kind}' is not supported on this API version")
    cloud, region = place.get("cloud"), place.get("region")
    if cloud not in _REGION or not isinstance(region, str) or not re.fullmatch(_REGION[cloud], region):
        raise ControlError(404, f"Resource cloud: {cloud} region: {region} not found.")
    return {"cloud": cloud, "region": region}


def _settings(request: dict[str, Any]) -> dict[str, Any]:
    protection = request.get("deletion_protection") or "disabled"
    if protection not in ("enabled", "disabled"):
        raise ControlError(400, f"deletion_protection must be one of enabled, disabled, got {protection}")
    return {"deletion_protection": protection, "tags": request.get("tags") or None}


def _undeserializable(field: str) -> ControlError:
    return ControlError(422, f"Failed to deserialize the JSON body into the target type: missing field `{field}`")


def _shown(index: Index, call: ControlCall) -> dict[str, Any]:
    config, dimension = index.config, index.space.dimension
    shown: dict[str, Any] = {
        "name": index.name,
        "host": f"{call.base_url}/i/{index.name}",
        "status": {"ready": True, "state": "Ready"},
        "deletion_protection": config["deletion_protection"],
        **({"tags": config["tags"]} if config["tags"] else {}),
    }
    place = {"cloud": config["cloud"], "region": config["region"]}
    size = {"dimension": dimension, "metric": config["metric"]}
    if call.version < _SCHEMA_SINCE:
        sparse = {"vector_type": "sparse", "metric": config["metric"]}
        kind = sparse if dimension is None else {"vector_type": "dense", **size}
        return {**shown, **kind, "spec": {"serverless": place}}
    fields: dict[str, Any] = {} if dimension is None else {"_values": {"type": "dense_vector", **size}}
    if index.space.sparse:
        fields["_sparse_values"] = {"type": "sparse_vector"}
    return {
        **shown,
        "schema": {"fields": fields},
        "deployment": {"deployment_type": "managed", **place},
        "read_capacity": {"mode": "OnDemand", "status": {"state": "Ready"}},
    }
