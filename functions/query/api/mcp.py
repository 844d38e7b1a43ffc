"""`POST /mcp`: the Model Context Protocol over streamable HTTP, stateless, one JSON answer to each request.

Two kinds of clients are served (docs/decisions/0028): those of the revision 2026-07-28, which say version and
capabilities with every request and repeat some of it in headers, and earlier ones, which begin with `initialize`. Both
are answered from the request alone; there is no session and no stream to be kept open.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.mcp_tools import TOOLS, CalledTool, Caller, permitted
from functions.query.api.middleware import in_a_thread
from functions.query.api.openapi import example_of
from functions.query.api.problems import MEDIA_TYPE, problem_of
from shared.deadline import ClientDisconnected
from shared.errors import cut_name
from shared.telemetry import VERSION

router = APIRouter(tags=["mcp"])

CURRENT_VERSIONS = ("2026-07-28",)
"""Revisions without a handshake."""
EARLIER_VERSIONS = ("2025-11-25", "2025-06-18")
"""Revisions that begin with `initialize`, newest first. The one before them demands batches."""
VERSIONS = (*CURRENT_VERSIONS, *EARLIER_VERSIONS)
_SPOKEN, _CAPABILITIES, _SERVER_INFO = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientCapabilities", "serverInfo")
)
LIST_TTL_MS = 300_000
"""Milliseconds that a client may keep the list of tools."""
JSON_TYPE = "application/json"
INSTRUCTIONS = (
    "Answers questions from an organisation's own documents, with verified quotes. Use `ask` for an answer with "
    "citations; `search` and `get_page` to read the passages themselves. `ask` refuses what the documents do not say."
)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_MESSAGE = {
    "type": "object",
    "required": ["jsonrpc"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["string", "integer"]},
        "method": {"type": "string"},
        "params": {"type": "object"},
    },
}
_ANSWER = {
    "type": "object",
    "required": ["jsonrpc"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["string", "integer"]},
        "result": {"type": "object"},
        "error": {"type": "object", "required": ["code", "message"]},
    },
}
_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "ask", "arguments": {"question": "How often are the coffee boilers descaled?"}},
}
_RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "Every 12 months. [1]"}]}}
_FAILED = {"jsonrpc": "2.0", "id": 1, "error": {"code": METHOD_NOT_FOUND, "message": "Method not found: prompts/list"}}


def _in_json_rpc(description: str, example: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {JSON_TYPE: {"schema": _ANSWER, "example": example}}}


def _error_in_json_rpc(status: int, description: str) -> dict[str, Any]:
    """Describe an error of the protocol; before the message has been read it is an ordinary problem."""
    described = _in_json_rpc(description, _FAILED)
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example_of(status)}
    return {**described, "content": {**described["content"], MEDIA_TYPE: problem}}


class Refusal(Exception):
    """A request that is not carried out: a JSON-RPC error and the HTTP status it comes with."""

    def __init__(self, status: int, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.data = status, code, data


class Call(NamedTuple):
    """A readable request; `id` is None for a notification. `is_current` says whether it is of a current revision."""

    id: str | int | None
    method: str
    params: Mapping[str, Any]
    is_current: bool


@router.post(
    "/mcp",
    operation_id="callMcp",
    responses={
        200: _in_json_rpc("The answer to a request.", _RESULT),
        202: {"description": "A notification was accepted."},
        400: _error_in_json_rpc(
            400, "This is not a message of the protocol, or it has a revision that is not supported."
        ),
        403: _error_in_json_rpc(403, "The account may not do this, or the page's origin may not call the API."),
        404: _error_in_json_rpc(404, "There is no such method."),
    },
    openapi_extra={
        "requestBody": {"required": True, "content": {JSON_TYPE: {"schema": _MESSAGE, "example": _CALL}}},
    },
)
async def call_mcp(request: Request, principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep) -> Response:
    """Answer one message of the Model Context Protocol.

    The tools are `search`, `ask`, `list_documents` and `get_page`, each with the rights and limits of its route.
    """
    body = await _json_of(request)
    message_id = _id_of(body)
    try:
        _check_origin(request, services.settings.cors_allow_origins)
        call = read_call(body, request.headers)
        if call.id is None:
            return Response(status_code=202)
        result = await _result(call, Caller(principal, services, deadline), request)
    except Refusal as refusal:
        error = {"code": refusal.code, "message": str(refusal), **({"data": refusal.data} if refusal.data else {})}
        named = {} if message_id is None else {"id": message_id}
        return JSONResponse({"jsonrpc": "2.0", **named, "error": error}, refusal.status)
    except ClientDisconnected:
        return Response(status_code=204)  # never sent: the client has its 504 already
    return JSONResponse({"jsonrpc": "2.0", "id": call.id, "result": result})


async def _json_of(request: Request) -> object:
    """Return the body, None if it is not JSON."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        return None


def _id_of(body: object) -> str | int | None:
    found = body.get("id") if isinstance(body, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _check_origin(request: Request, allowed: str) -> None:
    """Raise `Refusal` if the request comes from a web page whose origin may not call the API."""
    origin, origins = request.headers.get("origin"), allowed.split(",")
    if origin and "*" not in origins and origin not in origins:
        raise Refusal(403, INVALID_REQUEST, "Pages of this origin may not call the API (CorsAllowOrigins).")


def read_call(body: object, headers: Mapping[str, str]) -> Call:
    """Read one message. Raises `Refusal` if it is malformed, contradicts its headers, or has an unknown revision."""
    if not isinstance(body, dict):
        code = PARSE_ERROR if body is None else INVALID_REQUEST
        raise Refusal(400, code, "One JSON-RPC message is expected as the body, in JSON.")
    method, params = body.get("method"), body.get("params", {})
    is_request, message_id = "id" in body, _id_of(body)
    if body.get("jsonrpc") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
        raise Refusal(400, INVALID_REQUEST, "This is not a request or notification of JSON-RPC 2.0.")
    if is_request and message_id is None:
        raise Refusal(400, INVALID_REQUEST, "The id must be a text or a whole number.")
    version = headers.get("mcp-protocol-version")
    is_current = version not in (None, *EARLIER_VERSIONS)
    if is_current and is_request:
        _check_headers(method, params, headers)
    if is_current and version not in CURRENT_VERSIONS:
        data = {"supported": VERSIONS, "requested": version}
        raise Refusal(400, UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return Call(message_id, method, params, is_current)


def _check_headers(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Raise `Refusal` if the headers of a current request do not say what its body says."""
    meta = params.get("_meta")
    said = meta if isinstance(meta, dict) else {}
    missing = [name for name in (_SPOKEN, _CAPABILITIES) if name not in said]
    if missing:
        raise Refusal(400, INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    expected = {"mcp-protocol-version": said[_SPOKEN], "mcp-method": method}
    if method == "tools/call":
        expected["mcp-name"] = params.get("name")
    for name, value in expected.items():
        if _decoded(headers.get(name)) != value:
            raise Refusal(400, HEADER_MISMATCH, f"Header mismatch: {name} does not say what the body says.")


def _decoded(value: str | None) -> str | None:
    """Return a header's value, which may be in Base64: `=?base64?…?=`."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


# --- Methods ---


async def _result(call: Call, caller: Caller, request: Request) -> Mapping[str, Any]:
    """Carry out a request. Raises `Refusal` and `ClientDisconnected`."""
    if call.method == "tools/call":
        result = await _called(call, caller, request)
    elif call.method in (methods := _CURRENT_METHODS if call.is_current else _EARLIER_METHODS):
        result = methods[call.method](call, caller)
    else:
        status = 404 if call.is_current else 200
        raise Refusal(status, METHOD_NOT_FOUND, f"Method not found: {cut_name(call.method)}")
    return {"resultType": "complete", **result} if call.is_current else result


def _initialize(call: Call, _: Caller) -> Mapping[str, Any]:
    wanted = call.params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in EARLIER_VERSIONS else EARLIER_VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": _SERVER,
        "instructions": INSTRUCTIONS,
    }


def _discover(_: Call, __: Caller) -> Mapping[str, Any]:
    return {
        "supportedVersions": VERSIONS,
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
        "_meta": {_SERVER_INFO: _SERVER},
    }


def _list_tools(call: Call, caller: Caller) -> Mapping[str, Any]:
    tools = [tool.described() for tool in TOOLS.values() if permitted(tool, caller.principal)]
    # Which tools there are depends on the caller's role.
    return {"tools": tools, **({"ttlMs": LIST_TTL_MS, "cacheScope": "private"} if call.is_current else {})}


def _ping(_: Call, __: Caller) -> Mapping[str, Any]:
    return {}


_SERVER = {"name": "recto", "title": "Recto", "version": VERSION}
type _Method = Callable[[Call, Caller], Mapping[str, Any]]
_CURRENT_METHODS: dict[str, _Method] = {"server/discover": _discover, "tools/list": _list_tools}
_EARLIER_METHODS: dict[str, _Method] = {"initialize": _initialize, "tools/list": _list_tools, "ping": _ping}


async def _called(call: Call, caller: Caller, request: Request) -> Mapping[str, Any]:
    """Call a tool. What the model can correct (arguments, a refusal, an outage) is a result that says so."""
    name, arguments = call.params.get("name"), call.params.get("arguments")
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise Refusal(400 if call.is_current else 200, INVALID_PARAMS, f"Unknown tool: {cut_name(str(name))}")
    try:
        answered = await in_a_thread(tool.prepared({} if arguments is None else arguments, caller))
    except ClientDisconnected:
        raise
    except Exception as error:  # noqa: BLE001  told to the model, logged for the operator
        problem = problem_of(request, error)
        again = f" Try again in {problem.retry_after_s} s." if problem.retry_after_s else ""
        text = f"{problem.detail}{again}"
        return {"content": [{"type": "text", "text": text}], "isError": True}
    return _shown(answered)


def _shown(answered: CalledTool) -> Mapping[str, Any]:
    content = [{"type": "text", "text": answered.text}]
    return {"content": content, "structuredContent": answered.result.model_dump(mode="json"), "isError": False}
