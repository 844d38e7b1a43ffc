"""Errors as problem details (RFC 9457): the one place where the error tree becomes HTTP."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from functions.query.api.schemas import DOCUMENT_ID, LANGUAGE_TAG, ONE_LINE, ULID, VERSION_ID
from functions.query.limits import LimitReached
from functions.query.understanding.question import TEXTS, reviewed_text
from shared.deadline import RequestTimedOut
from shared.errors import ClientError, DependencyError, InvalidRequest, NotFound, RectoError
from shared.telemetry import logger

MEDIA_TYPE = "application/problem+json"
MAX_FIELD_ERRORS = 20
"""Field errors in one response at most: a body may have a million of them."""
MAX_NAME_CHARACTERS = 200
"""Characters of a field's name in an error."""
_UNREADABLE_BODY = "The body could not be read: send JSON in UTF-8 that is nested less deeply."
CODES = {
    400: InvalidRequest.code,
    401: "not_authenticated",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
}
OPENAI_PATHS = "/v1/"
"""Errors below it are in OpenAI's form, which its clients read."""
_OPENAI_CODES = {"not_authenticated": "invalid_api_key", "limit_reached": "rate_limit_exceeded"}
"""OpenAI's word for a code, where it has one that clients know."""
_OPENAI_INVALID = {
    "extra_forbidden": "unknown_parameter",
    "missing": "missing_required_parameter",
    "unknown_parameter": "unknown_parameter",
}
"""OpenAI's code for a kind of wrong field, as pydantic and `known_parameters` call it."""
_TIME = "A time with its zone is expected, such as 2026-11-22T14:03:00Z."
_DAY = "A day is expected, such as 2026-11-22."
_IN_PLAIN_WORDS = {
    "missing": "It is needed, but was not sent.",
    "extra_forbidden": "It is not known here: check how it is spelled, or leave it out.",
    "bytes_type": "The file itself is expected as the body, sent with its own Content-Type, not as JSON.",
    "string_type": "Text is expected.",
    "string_unicode": "Text in UTF-8 is expected.",
    "string_too_short": "{min_length} characters or more are expected.",
    "string_too_long": "It is too long: {max_length} characters are allowed.",
    "string_pattern_mismatch": "It has another form than is expected here.",
    "int_parsing": "A whole number is expected.",
    "int_parsing_size": "A whole number of fewer digits is expected.",
    "int_type": "A whole number is expected.",
    "int_from_float": "A whole number is expected.",
    "finite_number": "A whole number is expected.",
    "greater_than_equal": "{ge} or more is expected.",
    "less_than_equal": "{le} or less is expected.",
    "bool_parsing": "true or false is expected.",
    "bool_type": "true or false is expected.",
    "enum": "{expected} is expected.",
    "literal_error": "{expected} is expected.",
    "list_type": "A list is expected.",
    "dict_type": "An object is expected.",
    "model_attributes_type": "An object is expected.",
    "model_type": "An object is expected.",
    "too_long": "It has too many entries: {max_length} are allowed.",
    "too_short": "{min_length} entries or more are expected.",
    "date_from_datetime_inexact": _DAY,
    "date_from_datetime_parsing": _DAY,
    "date_type": _DAY,
    "datetime_from_date_parsing": _TIME,
    "datetime_parsing": _TIME,
    "datetime_type": _TIME,
    "timezone_aware": _TIME,
}
"""What to do about a kind of wrong field, as pydantic calls it: every kind that a route can find."""
SHAPES = {
    DOCUMENT_ID: "The id of a document is expected as the API gives it: 32 digits and letters from a to f.",
    ULID: "An id is expected as the API gives it: 26 digits and capital letters.",
    VERSION_ID: "The id of a version is expected as the API gives it.",
    LANGUAGE_TAG: "A language code such as lt or en-GB is expected.",
    ONE_LINE: "Text without line breaks and other control characters is expected.",
}
"""What is expected of a text, by its pattern."""
_A_CURSOR = "The next_cursor of the page before is expected; leave it out for the first page."
DEFAULT_LANGUAGE = "en"


class Problem(NamedTuple):
    """An error as the client sees it. `retry_after_s` is 0 if retrying is useless; `more` are further fields."""

    status: int
    code: str
    detail: str
    retry_after_s: int = 0
    more: dict[str, Any] = {}  # noqa: RUF012  never changed

    def body(self, request: Request) -> dict[str, Any]:
        """Return the body: `type`, `title`, `status`, `detail`, a stable `code`, the `request_id`, and the rest."""
        return {
            "type": f"urn:recto:problem:{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "request_id": request_id_of(request),
            **self.more,
        }

    def openai_body(self) -> dict[str, Any]:
        """Return the body in OpenAI's form: `error` with `message`, `type`, `param` and `code`."""
        kind = "server_error" if self.status >= 500 else "requests" if self.status == 429 else "invalid_request_error"
        field = next((each["field"] for each in self.more.get("errors", ())), None)
        param = self.more.get("path") or (field and re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", field))
        code = _OPENAI_CODES.get(self.code, self.code)
        return {"error": {"message": self.detail, "type": kind, "param": param, "code": code}}


def request_id_of(request: Request) -> str:
    """Return API Gateway's id of this request, or the Lambda's, or an empty string."""
    event: dict[str, Any] = request.scope.get("aws.event") or {}
    context = request.scope.get("aws.context")
    return str((event.get("requestContext") or {}).get("requestId") or getattr(context, "aws_request_id", ""))


def problem_of(request: Request, error: Exception) -> Problem:
    """Return an error as a problem in the client's language, and log the details for the operator."""
    language = language_of(request)
    if isinstance(error, DependencyError):
        # The vendor's message is for the operator; the client sees which part failed and when to retry.
        logger.warning("dependency failed", extra={"dependency": error.dependency, "error": error.message})
        late = isinstance(error, RequestTimedOut)
        detail = _texts(language)["late" if late else "dependency"].format(part=error.dependency)
        wait_s = max(1, math.ceil(error.retry_after_s or 1.0)) if error.retriable else 0
        return Problem(error.status, error.code, detail, wait_s)
    if isinstance(error, ClientError):
        # The sentence is translated, the detail in it stays English.
        detail = _localized(language, error.code, error.message)
        if isinstance(error, LimitReached):
            more = {"limit": error.limit, "resets_at": error.resets_at.isoformat()}
            return Problem(error.status, error.code, detail, error.retry_after_s, more)
        named = {"path": path} if isinstance(path := getattr(error, "path", None), str) else {}
        return Problem(error.status, error.code, detail, more=named)
    if isinstance(error, RectoError):
        logger.error("request failed", extra={"code": error.code, "error": error.message})
        return Problem(error.status, error.code, _texts(language)["configuration_error"])
    logger.error("unexpected error", exc_info=error)
    return Problem(500, RectoError.code, _texts(language)["internal_error"])


def language_of(request: Request) -> str:
    """Return the first language of `Accept-Language` that problems are translated into, else English."""
    for wanted in request.headers.get("accept-language", "").split(","):
        code = wanted.split(";")[0].strip().split("-")[0].lower()
        if code in _languages():
            return code
    return DEFAULT_LANGUAGE


def response_to(request: Request, error: Exception) -> JSONResponse:
    """Return the response to an error."""
    return _response(request, problem_of(request, error))


def install(app: FastAPI) -> None:
    """Register the exception handlers."""

    @app.exception_handler(RectoError)
    @app.exception_handler(Exception)
    def on_error(request: Request, error: Exception) -> JSONResponse:
        return response_to(request, error)

    @app.exception_handler(RequestValidationError)
    def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        errors = list(map(field_error, error.errors()[:MAX_FIELD_ERRORS]))
        english = in_one_line(errors)
        detail = _localized(language_of(request), InvalidRequest.code, english)
        code = _OPENAI_INVALID.get(error.errors()[0]["type"], "") if is_openai(request) else ""
        return _response(request, Problem(400, code or InvalidRequest.code, detail, more={"errors": errors}))

    @app.exception_handler(HTTPException)
    def on_http_exception(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_methods_at(request))
        if request.method == "OPTIONS" and error.status_code == 405:
            # Not a browser's preflight: the CORS middleware answers those.
            return Response(status_code=204, headers=headers)
        code = CODES.get(error.status_code, "http_error")
        detail = _localized(language_of(request), code, _detail_of(request, error, headers))
        return _response(request, Problem(error.status_code, code, detail), headers)


def error_body(request: Request, error: Exception) -> dict[str, Any]:
    """Return the body for an error, in the form of the route's clients."""
    problem = problem_of(request, error)
    return problem.openai_body() if is_openai(request) else problem.body(request)


def is_openai(request: Request) -> bool:
    """Say whether a request is made by a client of OpenAI's API."""
    return str(request.scope.get("path", "")).startswith(OPENAI_PATHS)


def _response(request: Request, problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    headers = dict(headers or {})
    if problem.retry_after_s:
        headers["Retry-After"] = str(problem.retry_after_s)
    if is_openai(request):
        return JSONResponse(problem.openai_body(), problem.status, headers)
    return JSONResponse(problem.body(request), problem.status, headers, media_type=MEDIA_TYPE)


def field_error(error: Mapping[str, Any]) -> dict[str, str]:
    """Return which field is wrong and why."""
    path = error["loc"][1:]
    message = error["msg"].removeprefix("Value error, ")
    if message == "JSON decode error":
        message, path = f"This is not valid JSON: {error['ctx']['error']} (at character {path[0]}).", ()
    elif not path and error["type"] == "missing":
        message = "A body is needed, but none was sent."
    elif not path and error["type"] == "model_attributes_type":
        message = "A JSON object is expected, sent with Content-Type: application/json."
    else:
        message = _in_plain_words(error["type"], path, error.get("ctx", {})) or message
    name = ".".join(map(str, path)) or str(error["loc"][0])
    return {"field": name if len(name) <= MAX_NAME_CHARACTERS else f"{name[:MAX_NAME_CHARACTERS]}…", "message": message}


def in_one_line(errors: Sequence[Mapping[str, str]]) -> str:
    """Return what is wrong with each field as one line."""
    told = [f"{each['field']}: {each['message']}" for each in errors]
    return "; ".join([*(each.removesuffix(".") for each in told[:-1]), *told[-1:]])


def _in_plain_words(kind: str, path: Sequence[int | str], facts: Mapping[str, Any]) -> str:
    """Return what is expected of a field instead; empty for a kind of error that says so itself."""
    if facts.get("min_length") == 1:
        return "It must not be empty."
    if kind == "string_pattern_mismatch":
        return _A_CURSOR if path[-1:] == ("cursor",) else SHAPES.get(facts["pattern"], _IN_PLAIN_WORDS[kind])
    return _IN_PLAIN_WORDS.get(kind, "").format_map(facts)


def _methods_at(request: Request) -> list[str]:
    """Return the methods of every route at the request's path: Starlette names those of the first one only."""
    routes = request.app.routes
    served = [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return [*served, *(["HEAD"] if "GET" in served else []), "OPTIONS"]


def _detail_of(request: Request, error: HTTPException, headers: Mapping[str, str]) -> str:
    if error.status_code == 404:
        return NotFound().message
    if error.status_code == 400:
        return _UNREADABLE_BODY
    if error.status_code == 405:
        return f"{request.method} is not allowed on this path; allowed: {headers['Allow']}."
    return str(error.detail)


@cache
def _languages() -> frozenset[str]:
    return frozenset(path.stem for path in (TEXTS / "problems").glob("*.json"))


@cache
def _texts(language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads(reviewed_text(f"problems/{language}.json"))
    return texts


def _localized(language: str, code: str, english: str) -> str:
    """Return the language's sentence for the code, which may quote the English detail; else the detail itself."""
    return _texts(language).get(code, "{detail}").replace("{detail}", english)
