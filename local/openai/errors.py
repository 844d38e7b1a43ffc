"""OpenAI's error bodies, in OpenAI's words.

Texts as seen in public reports of the API's answers (2023-2026): clients match on some of them.
"""

from typing import Any


class ModelApiError(Exception):
    """An answer that is an error: HTTP status and the four fields of OpenAI's `error` object."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"error": {"message": message, "type": type, "param": param, "code": code}}


def missing_key() -> ModelApiError:
    """No `Authorization: Bearer` header."""
    return ModelApiError(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
        "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the "
        "API from your browser and are prompted for a username and password. You can obtain an API key from "
        "https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    )


def wrong_key(key: str) -> ModelApiError:
    """A key that is not the one the emulator was started with; most of it is masked."""
    masked = key[:8] + "*" * max(0, len(key) - 12) + key[-4:] if len(key) > 12 else "*" * len(key)
    return ModelApiError(
        401,
        f"Incorrect API key provided: {masked}. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    )


def bad_json() -> ModelApiError:
    """A body that is not a JSON object."""
    return ModelApiError(
        400,
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library "
        "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble "
        "figuring out how to fix this, please contact us through our help center at help.openai.com.)",
    )


def unknown_url(method: str, path: str) -> ModelApiError:
    """No such path."""
    return ModelApiError(404, f"Invalid URL ({method} {path})")


def wrong_method(allowed: str) -> ModelApiError:
    """The path exists, but not with this method."""
    return ModelApiError(405, f"Only {allowed} requests are accepted.", code="method_not_supported")


def unknown_model(model: str) -> ModelApiError:
    """No such model."""
    return ModelApiError(
        404, f"The model `{model}` does not exist or you do not have access to it.", code="model_not_found"
    )


def missing_model() -> ModelApiError:
    """No `model` in the body."""
    return ModelApiError(400, "you must provide a model parameter")


def invalid_input() -> ModelApiError:
    """An `input` that is empty, of a wrong type, or has more than 2,048 entries: OpenAI has one text for them all."""
    return ModelApiError(
        400, "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference."
    )


def input_too_long(limit: int, tokens: int) -> ModelApiError:
    """One input has too many tokens."""
    return ModelApiError(
        400,
        f"This model's maximum context length is {limit} tokens, however you requested {tokens} tokens "
        f"({tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    )


def request_too_long(limit: int, tokens: int) -> ModelApiError:
    """All inputs together have too many tokens."""
    return ModelApiError(
        400,
        f"Requested {tokens} tokens, max {limit} tokens per request",
        type="max_tokens_per_request",
        code="max_tokens_per_request",
    )


def messages_too_long(limit: int, tokens: int) -> ModelApiError:
    """The messages of a chat have too many tokens."""
    return ModelApiError(
        400,
        f"This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens. "
        "Please reduce the length of the messages.",
        param="messages",
        code="context_length_exceeded",
    )


def missing_parameter(name: str) -> ModelApiError:
    """A required parameter of the chat API is absent."""
    return ModelApiError(400, f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter")


def invalid_type(name: str, expected: str, got: object) -> ModelApiError:
    """A parameter is of the wrong JSON type."""
    names = {str: "a string", bool: "a boolean", int: "an integer", float: "a decimal", list: "an array"}
    actual = "null" if got is None else names.get(type(got), "an object")
    return ModelApiError(
        400,
        f"Invalid type for '{name}': expected {expected}, but got {actual} instead.",
        param=name,
        code="invalid_type",
    )


def invalid_value(name: str, message: str) -> ModelApiError:
    """A parameter is of the right type but out of range."""
    return ModelApiError(400, message, param=name, code="invalid_value")


def server_error() -> ModelApiError:
    """Something failed in here; the log says what."""
    return ModelApiError(
        500,
        "The server had an error while processing your request. Sorry about that!",
        type="server_error",
    )
