"""Checks the body of `POST /v1/chat/completions` as OpenAI does, with OpenAI's messages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.openai import tokens
from local.openai.errors import ModelApiError, invalid_type, invalid_value, missing_parameter
from local.openai.models import EMBEDDING_MODELS, known_model
from local.openai.pictures import Picture, pictures_in

CONTEXT_TOKENS = 128_000  # of OpenAI's present small models
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_FORMATS = ("text", "json_object", "json_schema")
_SCHEMA_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A valid request. `texts` are the messages' contents, without the assistant's own; `images` their pictures."""

    model: str
    texts: Sequence[str]
    prompt_tokens: int
    max_tokens: int | None
    stops: Sequence[str]
    json: bool
    stream: bool
    include_usage: bool
    images: Sequence[Picture] = ()


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """Check a request's body. Raises `ModelApiError` with OpenAI's message."""
    model = known_model(body.get("model"))
    if model in EMBEDDING_MODELS:
        raise ModelApiError(
            404,
            "This is not a chat model and thus not supported in the v1/chat/completions endpoint. "
            "Did you mean to use v1/completions?",
            param="model",
        )
    messages = _messages(body.get("messages"))
    images = list(pictures_in(body["messages"]))
    # Every message costs 3 tokens more, and the answer's head another 3 (OpenAI cookbook, counting tokens).
    prompt_tokens = 3 + sum(3 + tokens.count(role) + tokens.count(text) for role, text in messages)
    prompt_tokens += sum(image.tokens for image in images)
    if prompt_tokens > CONTEXT_TOKENS:
        raise invalid_value(
            "messages",
            f"This model's maximum context length is {CONTEXT_TOKENS} tokens. However, your messages resulted in "
            f"{prompt_tokens} tokens. Please reduce the length of the messages.",
            "context_length_exceeded",
        )
    _check_decimal("temperature", body.get("temperature"), 0, 2)
    _check_decimal("top_p", body.get("top_p"), 0, 1)
    if body.get("n") not in (None, 1):
        raise invalid_value("n", "Invalid value for 'n': this model answers once.")
    options = body.get("stream_options")
    if options is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise ModelApiError(400, message, param="stream_options")
    return ChatRequest(
        model=model,
        texts=[text for role, text in messages if role != "assistant"],
        prompt_tokens=prompt_tokens,
        max_tokens=_max_tokens(body),
        stops=_stops(body.get("stop")),
        json=_wants_json(body.get("response_format"), [text for _, text in messages]),
        stream=bool(body.get("stream")),
        include_usage=isinstance(options, dict) and bool(options.get("include_usage")),
        images=images,
    )


def _messages(value: object) -> list[tuple[str, str]]:
    """Return each message's role and text."""
    if value is None:
        raise missing_parameter("messages")
    if not isinstance(value, list):
        raise invalid_type("messages", "an array of objects", value)
    if not value:
        raise invalid_value(
            "messages",
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "empty_array",
        )
    for position, message in enumerate(value):
        if not isinstance(message, dict):
            raise invalid_type(f"messages[{position}]", "an object", message)
        role = message.get("role")
        if role is None:
            raise missing_parameter(f"messages[{position}].role")
        if role not in _ROLES:
            supported = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            text = f"Invalid value: '{role}'. Supported values are: {supported}, and '{_ROLES[-1]}'."
            raise invalid_value(f"messages[{position}].role", text)
    return [(message["role"], _text(position, message)) for position, message in enumerate(value)]


def _text(position: int, message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if content is None and message["role"] == "assistant":
        return ""  # a turn that held tool calls only
    raise invalid_type(f"messages[{position}].content", "one of a string or array of objects", content)


def _check_decimal(name: str, value: object, low: float, high: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise invalid_type(name, "a decimal", value)
    if not low <= value <= high:
        side, sign, limit = ("below min", ">=", low) if value < low else ("above max", "<=", high)
        message = f"Invalid '{name}': decimal {side}imum value. Expected a value {sign} {limit}, but got {value}"
        raise invalid_value(name, f"{message} instead.", f"decimal_{side.replace(' ', '_')}_value")


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    limit = None
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise invalid_type(name, "an integer", value)
        if value < 1:
            message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead."
            raise invalid_value(name, message, "integer_below_min_value")
        limit = value
    return limit


def _stops(value: object) -> list[str]:
    stops = [value] if isinstance(value, str) else value or []
    if not isinstance(stops, list) or len(stops) > 4 or not all(isinstance(stop, str) and stop for stop in stops):
        raise invalid_value("stop", "Invalid 'stop': expected up to 4 sequences that are not empty.")
    return stops


# --- response_format -------------------------------------------------------------------------------------------------


def _wants_json(value: object, texts: Sequence[str]) -> bool:
    """Say whether the answer is to be JSON. Raises `ModelApiError` for a format that OpenAI would refuse."""
    if value is None:
        return False
    if not isinstance(value, dict):
        raise invalid_type("response_format", "an object", value)
    kind = value.get("type")
    if kind not in _FORMATS:
        message = f"Invalid value: '{kind}'. Supported values are: 'json_object', 'json_schema', and 'text'."
        raise invalid_value("response_format.type", message)
    if kind == "json_object" and not any("json" in text.lower() for text in texts):
        raise ModelApiError(
            400,
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            param="messages",
        )
    if kind == "json_schema":
        _check_schema(value.get("json_schema"), "response_format.json_schema")
    return bool(kind != "text")


def _check_schema(wanted: object, path: str) -> None:
    if wanted is None:
        raise missing_parameter(path)
    if not isinstance(wanted, dict):
        raise invalid_type(path, "an object", wanted)
    name, schema = wanted.get("name"), wanted.get("schema")
    if name is None:
        raise missing_parameter(f"{path}.name")
    if not isinstance(name, str) or not _SCHEMA_NAME.fullmatch(name):
        raise invalid_value(
            f"{path}.name",
            f"Invalid '{path}.name': string does not match pattern. Expected a string that matches "
            "the pattern '^[a-zA-Z0-9_-]+$'.",
        )
    if schema is None:
        raise missing_parameter(f"{path}.schema")
    if wanted.get("strict"):
        _check_strict(name, schema, ())


def _check_strict(name: str, schema: Mapping[str, Any], path: Sequence[str]) -> None:
    """Strict mode: every object forbids further properties and requires all it has."""

    def refusal(what: str) -> ModelApiError:
        context = ", ".join(f"'{part}'" for part in path)
        message = f"Invalid schema for response_format '{name}': In context=({context}), {what}"
        return ModelApiError(400, message, param="response_format")

    if schema.get("type") == "object":
        properties = schema.get("properties") or {}
        if schema.get("additionalProperties") is not False:
            raise refusal("'additionalProperties' is required to be supplied and to be false.")
        missing = [key for key in properties if key not in schema.get("required", ())]
        if missing:
            raise refusal(
                "'required' is required to be supplied and to be an array including every key in properties. "
                f"Missing '{missing[0]}'."
            )
        for key, each in properties.items():
            _check_strict(name, each, (*path, "properties", key))
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        _check_strict(name, schema["items"], (*path, "items"))
