"""The two shapes in which Pinecone says no: gRPC status JSON on the data plane, a named code on the control plane."""

from typing import Any

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


class ApiError(Exception):
    """A refusal that becomes a response: HTTP status and JSON body."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body


class DataError(ApiError):
    """A data-plane refusal: `{"code": 3, "message": …, "details": []}`."""

    def __init__(self, message: str, code: int = INVALID_ARGUMENT) -> None:
        super().__init__(_HTTP_STATUS[code], {"code": code, "message": message, "details": []})


class ControlError(ApiError):
    """A control-plane refusal: `{"error": {"code": "NOT_FOUND", "message": …}, "status": 404}`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, {"error": {"code": _CONTROL_CODES[status], "message": message}, "status": status})
