"""Checks `response_format` as OpenAI does, in OpenAI's words: its kinds, and what strict schemas must hold."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from local.openai import errors

_KINDS = ("text", "json_object", "json_schema")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def wants_json(value: object, texts: Sequence[str]) -> bool:
    """Say whether the answer is to be JSON. Raises `ApiError` for a format that OpenAI would refuse."""
    if value is None:
        return False
    if not isinstance(value, dict):
        raise errors.invalid_type("response_format", "an object", value)
    kind = value.get("type")
    if kind not in _KINDS:
        raise errors.invalid_value(
            "response_format.type",
            f"Invalid value: '{kind}'. Supported values are: 'json_object', 'json_schema', and 'text'.",
        )
    if kind == "json_object" and not any("json" in text.lower() for text in texts):
        raise errors.ApiError(
            400,
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            param="messages",
        )
    if kind == "json_schema":
        _check(value.get("json_schema"))
    return bool(kind != "text")


def _check(wanted: object) -> None:
    if wanted is None:
        raise errors.missing_parameter("response_format.json_schema")
    if not isinstance(wanted, dict):
        raise errors.invalid_type("response_format.json_schema", "an object", wanted)
    name, schema = wanted.get("name"), wanted.get("schema")
    if name is None:
        raise errors.missing_parameter("response_format.json_schema.name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise errors.ApiError(
            400,
            "Invalid 'response_format.json_schema.name': string does not match pattern. Expected a string that matches "
            "the pattern '^[a-zA-Z0-9_-]+$'.",
            param="response_format.json_schema.name",
            code="invalid_value",
        )
    if schema is None:
        raise errors.missing_parameter("response_format.json_schema.schema")
    if wanted.get("strict"):
        _check_strict(name, schema, ())


def _check_strict(name: str, schema: Mapping[str, Any], path: Sequence[str]) -> None:
    """Strict mode takes objects only that allow no further properties and require all they have."""

    def refuse(what: str) -> errors.ApiError:
        where = ", ".join(f"'{part}'" for part in path)
        return errors.ApiError(
            400,
            f"Invalid schema for response_format '{name}': In context=({where}), {what}",
            param="response_format",
        )

    if schema.get("type") == "object":
        properties = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False:
            raise refuse("'additionalProperties' is required to be supplied and to be false.")
        missing = [key for key in properties if key not in schema.get("required", ())]
        if missing:
            raise refuse(
                "'required' is required to be supplied and to be an array including every key in properties. "
                f"Missing '{missing[0]}'."
            )
        for key, each in properties.items():
            _check_strict(name, each, (*path, "properties", key))
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        _check_strict(name, schema["items"], (*path, "items"))
