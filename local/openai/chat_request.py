"""Checks the body of `POST /v1/chat/completions` as OpenAI does, with OpenAI's messages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.openai import errors, tokens
from local.openai.models import CHAT_MODELS, EMBEDDING_MODELS

CONTEXT_TOKENS = 128_000  # what OpenAI's present small models take
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request that was found good. `texts` are the messages' contents, without the assistant's own."""

    model: str
    texts: Sequence[str]
    prompt_tokens: int
    max_tokens: int | None
    stops: Sequence[str]
    json: bool
    stream: bool
    include_usage: bool


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """Check a request's body. Raises `ModelApiError` with OpenAI's words."""
    model = _model(body.get("model"))
    messages = _messages(body.get("messages"))
    contents = [(role, _content(position, message)) for position, (role, message) in enumerate(messages)]
    # Every message costs 3 tokens more, and the answer's head another 3 (OpenAI cookbook, counting tokens).
    prompt_tokens = 3 + sum(3 + tokens.count(role) + tokens.count(text) for role, text in contents)
    if prompt_tokens > CONTEXT_TOKENS:
        raise errors.messages_too_long(CONTEXT_TOKENS, prompt_tokens)
    _in_range("temperature", body.get("temperature"), 0, 2)
    _in_range("top_p", body.get("top_p"), 0, 1)
    if body.get("n") not in (None, 1):
        raise errors.invalid_value("n", "Invalid value for 'n': this model answers once.")
    options = body.get("stream_options")
    if options is not None and not body.get("stream"):
        raise errors.ModelApiError(
            400, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    return ChatRequest(
        model=model,
        texts=[text for role, text in contents if role != "assistant"],
        prompt_tokens=prompt_tokens,
        max_tokens=_max_tokens(body),
        stops=_stops(body.get("stop")),
        json=wants_json(body.get("response_format"), [text for _, text in contents]),
        stream=bool(body.get("stream")),
        include_usage=isinstance(options, dict) and bool(options.get("include_usage")),
    )


def _model(name: object) -> str:
    if name is None or name == "":
        raise errors.missing_model()
    if not isinstance(name, str):
        raise errors.invalid_type("model", "a string", name)
    if name in EMBEDDING_MODELS:
        raise errors.ModelApiError(
            404,
            "This is not a chat model and thus not supported in the v1/chat/completions endpoint. "
            "Did you mean to use v1/completions?",
            param="model",
        )
    if name not in CHAT_MODELS:
        raise errors.unknown_model(name)
    return name


def _messages(value: object) -> list[tuple[str, Mapping[str, Any]]]:
    if value is None:
        raise errors.missing_parameter("messages")
    if not isinstance(value, list):
        raise errors.invalid_type("messages", "an array of objects", value)
    if not value:
        raise errors.ModelApiError(
            400,
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="messages",
            code="empty_array",
        )
    messages: list[tuple[str, Mapping[str, Any]]] = []
    for position, message in enumerate(value):
        if not isinstance(message, dict):
            raise errors.invalid_type(f"messages[{position}]", "an object", message)
        role = message.get("role")
        if role is None:
            raise errors.missing_parameter(f"messages[{position}].role")
        if role not in _ROLES:
            supported = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            raise errors.invalid_value(
                f"messages[{position}].role",
                f"Invalid value: '{role}'. Supported values are: {supported}, and '{_ROLES[-1]}'.",
            )
        messages.append((role, message))
    return messages


def _content(position: int, message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if content is None and message["role"] == "assistant":
        return ""  # a turn that held tool calls only
    raise errors.invalid_type(f"messages[{position}].content", "one of a string or array of objects", content)


def _in_range(name: str, value: object, low: float, high: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise errors.invalid_type(name, "a decimal", value)
    if value < low or value > high:
        side, sign, limit = ("below minimum", ">=", low) if value < low else ("above maximum", "<=", high)
        code = "decimal_below_min_value" if value < low else "decimal_above_max_value"
        raise errors.ModelApiError(
            400,
            f"Invalid '{name}': decimal {side} value. Expected a value {sign} {limit}, but got {value} instead.",
            param=name,
            code=code,
        )


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    limit = None
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise errors.invalid_type(name, "an integer", value)
        if value < 1:
            raise errors.ModelApiError(
                400,
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead.",
                param=name,
                code="integer_below_min_value",
            )
        limit = value
    return limit


def _stops(value: object) -> list[str]:
    stops = [value] if isinstance(value, str) else value or []
    if not isinstance(stops, list) or len(stops) > 4 or not all(isinstance(stop, str) and stop for stop in stops):
        raise errors.invalid_value("stop", "Invalid 'stop': expected up to 4 sequences that are not empty.")
    return stops


_KINDS = ("text", "json_object", "json_schema")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def wants_json(value: object, texts: Sequence[str]) -> bool:
    """Say whether the answer is to be JSON. Raises `ModelApiError` for a format that OpenAI would refuse."""
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
        raise errors.ModelApiError(
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
        raise errors.ModelApiError(
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

    def refuse(what: str) -> errors.ModelApiError:
        where = ", ".join(f"'{part}'" for part in path)
        return errors.ModelApiError(
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
