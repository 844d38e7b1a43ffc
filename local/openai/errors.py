"""OpenAI's error bodies, with OpenAI's messages.

Texts as seen in public reports of the API's answers (2023-2026): clients match on some of them.
"""

from typing import Any

_JSON_TYPES = {str: "a string", bool: "a boolean", int: "an integer", float: "a decimal", list: "an array"}


class ModelApiError(Exception):
    """An error response: HTTP status and the four fields of OpenAI's `error` object."""

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


def missing_parameter(name: str) -> ModelApiError:
    """A required parameter of the chat API is absent."""
    return ModelApiError(400, f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter")


def invalid_type(name: str, expected: str, got: object) -> ModelApiError:
    """A parameter is of the wrong JSON type."""
    actual = "null" if got is None else _JSON_TYPES.get(type(got), "an object")
    message = f"Invalid type for '{name}': expected {expected}, but got {actual} instead."
    return ModelApiError(400, message, param=name, code="invalid_type")


def invalid_value(name: str, message: str, code: str = "invalid_value") -> ModelApiError:
    """A parameter is of the right type but out of range."""
    return ModelApiError(400, message, param=name, code=code)
