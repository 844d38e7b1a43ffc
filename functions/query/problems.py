"""Errors as problem details (RFC 9457): the one place where the error tree becomes HTTP."""

import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from shared.errors import ClientError, DependencyError, InvalidRequest, NotFound, RectoError
from shared.telemetry import logger

_CODES = {401: "not_authenticated", 403: "not_allowed", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def problem(
    request: Request, *, status: int, code: str, detail: str, headers: dict[str, str] | None = None, **more: Any
) -> JSONResponse:
    """Build the response: `type`, `title`, `status`, `detail`, a stable `code` and the `request_id`."""
    body = {
        "type": f"urn:recto:problem:{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request_id_of(request),
        **more,
    }
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def request_id_of(request: Request) -> str:
    """Return API Gateway's id of this request, or the Lambda's, or an empty string."""
    event: dict[str, Any] = request.scope.get("aws.event") or {}
    context = request.scope.get("aws.context")
    return str((event.get("requestContext") or {}).get("requestId") or getattr(context, "aws_request_id", ""))


def install(app: FastAPI) -> None:
    """Register the handlers of every error the app can answer with."""

    @app.exception_handler(RectoError)
    def on_recto_error(request: Request, error: RectoError) -> JSONResponse:
        headers: dict[str, str] = {}
        detail = error.message
        if isinstance(error, DependencyError):
            # The vendor's words are for the operator's log; the client is told which part is missing and when to retry.
            logger.warning("dependency failed", extra={"dependency": error.dependency, "error": error.message})
            detail = f"The service's {error.dependency} part cannot answer right now."
            if error.retriable:
                headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s or 1.0)))
        elif not isinstance(error, ClientError):
            logger.error("request failed", extra={"code": error.code, "error": error.message})
            detail = "The service is not set up rightly; its log tells the operator what is missing."
        return problem(request, status=error.status, code=error.code, detail=detail, headers=headers)

    @app.exception_handler(RequestValidationError)
    def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        errors = [
            {"field": ".".join(map(str, each["loc"][1:])) or str(each["loc"][0]), "message": each["msg"]}
            for each in error.errors()
        ]
        detail = "; ".join(f"{each['field']}: {each['message']}" for each in errors)
        return problem(request, status=400, code=InvalidRequest.code, detail=detail, errors=errors)

    @app.exception_handler(HTTPException)
    def on_http_exception(request: Request, error: HTTPException) -> Response:
        if request.method == "OPTIONS" and error.status_code == 405:
            # Not a browser's preflight: the CORS middleware has answered those.
            return Response(status_code=204, headers=dict(error.headers or {}))
        code = _CODES.get(error.status_code, "http_error")
        detail = NotFound().message if error.status_code == 404 else str(error.detail)
        return problem(request, status=error.status_code, code=code, detail=detail, headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    def on_anything_else(request: Request, error: Exception) -> JSONResponse:
        logger.error("unexpected error", exc_info=error)
        return problem(request, status=500, code=RectoError.code, detail="Something went wrong on our side.")
