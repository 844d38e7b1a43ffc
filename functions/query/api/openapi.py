"""`GET /openapi.json`: the API's OpenAPI document, made from the routes when it is first asked for.

FastAPI describes parameters, bodies and answers. Added here is what it cannot know: who may call a route
(`api/roles.py`), which errors each one gives, the examples (`texts/openapi/`), and where this deployment is.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response

from functions.query.api import problems
from functions.query.api.roles import PERMISSIONS, PUBLIC

router = APIRouter(tags=["service"])

PATH = "/openapi.json"
MAX_AGE_S = 300
"""Seconds that a client may keep the document without asking again."""
TAGS = {
    "asking": "Questions and answers.",
    "conversations": "What was asked and answered before.",
    "handoffs": "Questions that a person answers.",
    "faqs": "Questions with the answers that editors have written.",
    "openai": "Routes in the form of OpenAI's API, for its clients.",
    "mcp": "Tools for agents, in the Model Context Protocol.",
    "documents": "Documents: upload, status, contents and deletion.",
    "erasures": "Erasing documents and users without a trace, with a signed receipt.",
    "passages": "What editors leave out of answers, or correct.",
    "administration": "What a tenant's administrators see.",
    "service": "The API itself.",
}
"""The groups of routes, in the order of a reference page."""
ABOUT = """Answers questions from a tenant's documents, with quotes that were verified.

Send an ID token or an API key as `Authorization: Bearer …`. Errors are problem details (RFC 9457) with a stable `code`.
A listing returns one page: send its `next_cursor` back as `cursor` for the next one; an empty one ends it."""
BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "A user's Cognito ID token, or an API key (`rk_…`).",
}
_EXAMPLES = Path(__file__).parents[1] / "texts" / "openapi"
_STRING = {"type": "string"}
_PROBLEM = {
    "type": "object",
    "description": "An error as problem details (RFC 9457).",
    "required": ["type", "title", "detail", "code", "request_id"],
    "properties": {
        "type": {**_STRING, "description": "`urn:recto:problem:` and the code."},
        "title": {**_STRING, "description": "The code in words."},
        "status": {"type": "integer", "description": "The HTTP status; missing in some of API Gateway's own errors."},
        "detail": {
            **_STRING,
            "description": "What is wrong, in the language of `Accept-Language` where it is shipped.",
        },
        "code": {**_STRING, "description": "Stable: clients may switch on it."},
        "request_id": {**_STRING, "description": "Give it to the operator, who finds the request by it."},
        "path": {**_STRING, "description": "Where in the filter the error is (`invalid_filter`)."},
        "limit": {**_STRING, "description": "The limit that is reached (`limit_reached`)."},
        "resets_at": {**_STRING, "format": "date-time", "description": "When the limit ends (`limit_reached`)."},
        "errors": {
            "type": "array",
            "description": "Each wrong field, and what is wrong with it (`invalid_request`).",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": _STRING, "message": _STRING},
            },
        },
    },
}
_OPENAI_ERROR = {
    "type": "object",
    "description": "An error below /v1, in OpenAI's form.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {**_STRING, "description": "What is wrong."},
                "type": {**_STRING, "description": "`invalid_request_error`, `requests` (429) or `server_error`."},
                "param": {"type": ["string", "null"], "description": "The field that is wrong."},
                "code": {**_STRING, "description": "Stable: clients may switch on it."},
            },
        }
    },
}


class ErrorKind(NamedTuple):
    """One status that routes give: its name in the document, when it is given, and an example."""

    name: str
    description: str
    code: str
    detail: str
    headers: Mapping[str, str] = {}


_AGAIN = {"Retry-After": "Seconds after which to try again."}
ERRORS = {
    400: ErrorKind(
        "BadRequest",
        "A parameter or the body is not in the expected form.",
        "invalid_request",
        "question: It is needed, but was not sent.",
    ),
    401: ErrorKind(
        "NotAuthenticated",
        "There is no valid token or API key.",
        "not_authenticated",
        "A valid token is needed.",
        {"WWW-Authenticate": "`Bearer`."},
    ),
    403: ErrorKind(
        "NotAllowed",
        "The account has no tenant, or none of the roles that may do this.",
        "not_allowed",
        "This needs the group `editor` or `admin`.",
    ),
    404: ErrorKind(
        "NotFound", "It does not exist, or it is not yours.", "not_found", "There is no such thing, or it is not yours."
    ),
    409: ErrorKind("Conflict", "Somebody else changed it.", "conflict", "Someone else changed it in the meantime."),
    410: ErrorKind("Gone", "It was deleted.", "erased", "The document was erased."),
    412: ErrorKind(
        "PreconditionFailed",
        "It is no longer the version that `If-Match` names.",
        "changed_meanwhile",
        "It has changed since you read it: read it again, then change it.",
    ),
    413: ErrorKind("TooLarge", "The body is too large.", "too_large", "The body is too large."),
    422: ErrorKind(
        "Unprocessable",
        "The form is right, but the content cannot be used.",
        "invalid_filter",
        "filter.page_start.$gte: must be a number, not a string.",
    ),
    428: ErrorKind(
        "PreconditionRequired", "`If-Match` is missing.", "version_needed", "Send `If-Match` with the ETag."
    ),
    429: ErrorKind(
        "TooManyRequests",
        "Too many requests a second, or a limit of the operator's is reached.",
        "busy",
        "Too many requests; try again in a second.",
        _AGAIN,
    ),
    500: ErrorKind("Failed", "An error for the operator.", "internal_error", "Something went wrong."),
    502: ErrorKind(
        "Refused", "A service that this one needs refuses it.", "upstream_refused", "The part `chat` does not work."
    ),
    503: ErrorKind(
        "Unavailable", "A service that this one needs is down.", "unavailable", "The part `vectors` is down.", _AGAIN
    ),
    504: ErrorKind("TimedOut", "It took too long.", "timeout", "The request took too long; try again."),
}
"""Every status of an error that a route may give."""
EVERYWHERE = (400, 429, 500, 502, 503, 504)
"""Statuses that the function, or API Gateway before it, can give to any request."""
METHODS = ("get", "put", "post", "delete", "patch")


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Name a route's errors that do not follow from its path, its body, or its need of a token (`statuses_of`)."""
    return {status: {"description": ERRORS[status].description} for status in statuses}


def event_stream(description: str, example: str) -> dict[str, Any]:
    """Describe a route's server-sent events, for `openapi_extra`.

    They are an extension, because a second media type of the answer would give generated clients a union: the JSON
    answer or a string, for every caller (docs/decisions/0027).
    """
    return {"x-event-stream": {"accept": "text/event-stream", "description": description, "example": example}}


def statuses_of(path: str, operation: Mapping[str, Any], *, public: bool) -> set[int]:
    """Return the statuses of errors that follow from what a route is."""
    return {
        *EVERYWHERE,
        *(() if public else (401, 403)),
        *((404,) if "{" in path else ()),
        *((413,) if "requestBody" in operation else ()),
    }


class DocumentedApi(FastAPI):
    """FastAPI with the whole document."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, made once."""
        return self._document

    @cached_property
    def _document(self) -> dict[str, Any]:
        made = get_openapi(title=self.title, version=self.version, description=ABOUT, routes=self.routes)
        return completed(made)


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """Return FastAPI's document with security, errors, examples and tags."""
    document = deepcopy(document)
    for path, method, operation in operations_of(document):
        route = f"{method.upper()} {path}"
        public = route in PUBLIC
        _describe(operation, route, public=public)
        own = {status: answer for status, answer in operation["responses"].items() if _is_own(status, answer)}
        common = statuses_of(path, operation, public=public) - {int(status) for status in own}
        named = {int(status) for status, answer in own.items() if _is_named_only(status, answer)}
        form = "OpenAi" if path.startswith(problems.OPENAI_PATHS) else ""
        for status in common | named:
            own[str(status)] = {"$ref": f"#/components/responses/{form}{ERRORS[status].name}"}
        operation["responses"] = dict(sorted(own.items()))
        for status, answer in operation["responses"].items():
            if answer.get("description") == "Successful Response":
                operation["responses"][status] = {**answer, "description": f"{operation['summary']}."}
        if public:
            operation["security"] = []
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for schema in schemas.values():
        _tell_defaults(schema)
    for name, example in examples().items():
        if name in schemas:
            schemas[name]["examples"] = [example]
    document["components"] |= {
        "schemas": dict(sorted({**schemas, "OpenAiError": _OPENAI_ERROR, "Problem": _PROBLEM}.items())),
        "responses": {
            **{kind.name: _response(status, kind) for status, kind in ERRORS.items()},
            **{f"OpenAi{kind.name}": _openai_response(status, kind) for status, kind in ERRORS.items()},
        },
        "securitySchemes": {"bearer": BEARER},
    }
    used = {tag for _, _, operation in operations_of(document) for tag in operation["tags"]}
    tags = [{"name": name, "description": about} for name, about in TAGS.items() if name in used]
    return {**document, "security": [{"bearer": []}], "tags": tags}


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Iterate over path, method and operation."""
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                yield path, method, methods[method]


def examples() -> dict[str, Any]:
    """Return an example of each body and answer, by the name of its schema; `{"$example": name}` is another one."""
    files = sorted(_EXAMPLES.glob("*.json"))
    written = {name: shown for file in files for name, shown in json.loads(file.read_text(encoding="utf-8")).items()}

    def whole(shown: Any) -> Any:
        if isinstance(shown, list):
            return list(map(whole, shown))
        if not isinstance(shown, dict):
            return shown
        other = shown.get("$example")
        return whole(written[other]) if other else {name: whole(value) for name, value in shown.items()}

    return {name: whole(shown) for name, shown in written.items()}


def _describe(operation: dict[str, Any], route: str, *, public: bool) -> None:
    """Make the docstring's first sentence the summary, and say who may call the route."""
    text = " ".join(operation.get("description", "").split("\n\n", 1)[0].split())
    operation["summary"] = text.split(". ")[0].rstrip(".")
    if not public:
        roles = sorted(PERMISSIONS.get(route, ()))
        operation["x-roles"] = roles
        operation["description"] = f"{operation.get('description', '')}\n\nRoles: {', '.join(roles)}.".strip()


def _tell_defaults(schema: Mapping[str, Any]) -> None:
    """Move the defaults of optional fields into words: openapi-typescript would have a client send such a field."""
    for name, field in schema.get("properties", {}).items():
        if name not in schema.get("required", ()) and "default" in field:
            default = json.dumps(field.pop("default"), ensure_ascii=False)
            field["description"] = f"{field.get('description', '')} Default: `{default}`.".strip()


def _is_own(status: str, answer: Mapping[str, Any]) -> bool:
    """Say whether the route named this response itself: FastAPI adds a 422 that is never given."""
    content = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return status.isdigit() and not content.get("$ref", "").endswith("/HTTPValidationError")


def _is_named_only(status: str, answer: Mapping[str, Any]) -> bool:
    return int(status) >= HTTPStatus.BAD_REQUEST and "content" not in answer


def example_of(status: int) -> dict[str, Any]:
    """Return a problem of that status."""
    kind = ERRORS[status]
    return {
        "type": f"urn:recto:problem:{kind.code}",
        "title": kind.code.replace("_", " ").capitalize(),
        "status": status,
        "detail": kind.detail,
        "code": kind.code,
        "request_id": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
    }


def _response(status: int, kind: ErrorKind) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return _with_headers(kind, {problems.MEDIA_TYPE: {"schema": schema, "example": example_of(status)}})


def _openai_response(status: int, kind: ErrorKind) -> dict[str, Any]:
    example = problems.Problem(status, kind.code, kind.detail).openai_body()
    schema = {"$ref": "#/components/schemas/OpenAiError"}
    return _with_headers(kind, {"application/json": {"schema": schema, "example": example}})


def _with_headers(kind: ErrorKind, content: dict[str, Any]) -> dict[str, Any]:
    response = {"description": kind.description, "content": content}
    headers = {name: {"description": about, "schema": _STRING} for name, about in kind.headers.items()}
    return {**response, **({"headers": headers} if headers else {})}


@router.get(
    PATH,
    operation_id="describeApi",
    response_class=Response,
    responses={
        200: {"content": {"application/json": {"schema": {"type": "object"}, "example": {"openapi": "3.1.0"}}}},
        304: {"description": "It is the one that `If-None-Match` names."},
    },
)
def describe_api(request: Request) -> Response:
    """Return this document. Needs no token."""
    server = {"url": server_of(request), "description": "This deployment."}
    body = json.dumps({**request.app.openapi(), "servers": [server]}, ensure_ascii=False).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": f"public, max-age={MAX_AGE_S}"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def server_of(request: Request) -> str:
    """Return the URL that paths are relative to, with API Gateway's stage, or a domain's base path, if there is one."""
    context = (request.scope.get("aws.event") or {}).get("requestContext") or {}
    domain, path = str(context.get("domainName") or ""), str(context.get("path") or "")
    if domain and path.endswith(PATH):
        return f"https://{domain}{path.removesuffix(PATH)}"
    return str(request.base_url).rstrip("/")
