"""The web application: checks the key, finds the index, checks the fields, runs the operation.

The data plane tells indexes apart by host. The host that `describe_index` returns is `http://ADDRESS/i/NAME`: the SDKs
append the operation's path to it. `NAME.localhost:PORT` works too, and a bare address when there is just one index.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from local.faults import FaultMiddleware
from local.pinecone import validation
from local.pinecone.database import Database, Index
from local.pinecone.operations import fetch, indexes, namespaces, query, write
from local.pinecone.operations.rerank import MiniLmSimilarity, Scorer, rerank
from local.pinecone.replies import Reply
from local.pinecone.validation import NOT_FOUND, ErrorReply, Field, RpcError, parse, parse_mapping

LATEST_VERSION = "2026-07"
_INDEX_PREFIX = "/i/"

type Operation = Callable[[Index, dict[str, Any]], Reply]
type Control = Callable[[Database, indexes.ControlCall], Reply]

_CONTROL_PLANE: list[tuple[str, str, Control]] = [
    ("GET", "/indexes", indexes.list_indexes),
    ("POST", "/indexes", indexes.create_index),
    ("GET", "/indexes/{name}", indexes.describe_index),
    ("PATCH", "/indexes/{name}", indexes.configure_index),
    ("DELETE", "/indexes/{name}", indexes.delete_index),
]
_DATA_PLANE: list[tuple[str, str, Mapping[str, Field], Operation]] = [
    ("POST", "/vectors/upsert", write.UPSERT_FIELDS, write.upsert),
    ("POST", "/vectors/update", write.UPDATE_FIELDS, write.update),
    ("POST", "/vectors/delete", write.DELETE_FIELDS, write.delete),
    ("POST", "/query", query.FIELDS, query.query),
    ("GET", "/vectors/fetch", fetch.FETCH_FIELDS, fetch.fetch),
    ("POST", "/vectors/fetch_by_metadata", fetch.BY_METADATA_FIELDS, fetch.fetch_by_metadata),
    ("GET", "/vectors/list", fetch.LIST_FIELDS, fetch.list_ids),
    ("POST", "/describe_index_stats", namespaces.STATS_FIELDS, namespaces.describe_index_stats),
    ("GET", "/describe_index_stats", {}, namespaces.describe_index_stats),
    ("GET", "/namespaces", namespaces.LIST_FIELDS, namespaces.list_namespaces),
    ("POST", "/namespaces", namespaces.CREATE_FIELDS, namespaces.create_namespace),
    ("GET", "/namespaces/{namespace:path}", namespaces.ONE_FIELDS, namespaces.describe_namespace),
    ("DELETE", "/namespaces/{namespace:path}", namespaces.ONE_FIELDS, namespaces.delete_namespace),
]


def create_app(database: Database, *, similarity: Scorer | None = None) -> FaultMiddleware:
    """Build the ASGI application over an open database; it closes the database when the server stops.

    `similarity` scores texts for the reranker; the default is MiniLM.
    """
    scorer = similarity or MiniLmSimilarity(database.folder / "rerank")

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        database.close()

    routes = [
        Route("/healthz", _healthz),
        Route("/_admin/visibility", partial(_visibility, database), methods=["POST"]),
        Route("/rerank", partial(_rerank, scorer), methods=["POST"]),
    ]
    for method, path, control in _CONTROL_PLANE:
        routes.append(Route(path, partial(_control, database, control), methods=[method]))
    for method, path, fields, operation in _DATA_PLANE:
        endpoint = partial(_data, database, fields, operation)
        routes += [Route(prefix + path, endpoint, methods=[method]) for prefix in ("", _INDEX_PREFIX + "{index}")]
    return FaultMiddleware(Starlette(routes=routes, lifespan=lifespan), path_of=operation_path)


def operation_path(path: str) -> str:
    """Return a request's path without the part that names the index: the path that fault rules and counters use."""
    if not path.startswith(_INDEX_PREFIX):
        return path
    _, _, operation = path.removeprefix(_INDEX_PREFIX).partition("/")
    return "/" + operation


async def _control(database: Database, operation: Control, request: Request) -> Response:
    version = request.headers.get("x-pinecone-api-version", LATEST_VERSION)
    base_url = f"{request.url.scheme}://{request.headers['host']}"
    call = indexes.ControlCall(request.path_params.get("name", ""), await request.body(), version, base_url)
    response = await _answered(request, partial(operation, database, call))
    response.headers["x-pinecone-api-version"] = version
    return response


async def _rerank(scorer: Scorer, request: Request) -> Response:
    return await _answered(request, partial(rerank, scorer, await request.body()))


async def _data(database: Database, fields: Mapping[str, Field], operation: Operation, request: Request) -> Response:
    body = await request.body()

    def run() -> Reply:
        index = _index_of(database, request)
        if len(body) > validation.MAX_REQUEST_BYTES:
            megabytes = -(-len(body) // 2**20)
            raise RpcError(f"Request size {megabytes}MB exceeds the maximum supported size of 2MB")
        if request.method == "POST":
            return operation(index, parse(body, fields))
        ids = request.query_params.getlist("ids")
        return operation(index, parse_mapping({**request.query_params, **request.path_params, "ids": ids}, fields))

    response = await _answered(request, run)
    if len(response.body) > validation.MAX_RESULT_BYTES and operation_path(request.url.path) == "/query":
        found = f"found {len(response.body)} bytes, the limit is: {validation.MAX_RESULT_BYTES} bytes"
        return _refusal(RpcError(f"Error, message length too large: {found}", validation.OUT_OF_RANGE))
    return response


def _index_of(database: Database, request: Request) -> Index:
    host = request.headers.get("host", "").partition(":")[0]
    name = request.path_params.get("index") or (host.removesuffix(".localhost") if "." in host else "")
    if index := database.index(name):
        return index
    known = database.indexes()
    if "index" not in request.path_params and len(known) == 1:
        return known[0]
    message = f"there are {len(known)} indexes here; use the host that describe_index returns"
    raise RpcError(f"Index not found: {message}", NOT_FOUND)


async def _answered(request: Request, operation: Callable[[], Reply]) -> Response:
    """Run an operation on a worker thread; any key will do, but there must be one."""
    if not request.headers.get("api-key", "").strip():
        return PlainTextResponse("Unauthorized", status_code=401)
    started = time.monotonic()
    try:
        reply = await run_in_threadpool(operation)
    except ErrorReply as error:
        return _refusal(error)
    except KeyError:
        # Another request deleted the namespace between lookup and write.
        return _refusal(RpcError("Namespace not found", NOT_FOUND))
    elapsed_ms = str(round((time.monotonic() - started) * 1000))
    headers = {"x-pinecone-request-latency-ms": elapsed_ms, "x-pinecone-response-duration-ms": elapsed_ms}
    if reply.body is None:
        return Response(status_code=reply.status, headers=headers | reply.headers)
    content = orjson.dumps(reply.body, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, reply.status, headers | reply.headers, "application/json")


def _refusal(error: ErrorReply) -> Response:
    return Response(orjson.dumps(error.body), error.status, media_type="application/json")


async def _visibility(database: Database, request: Request) -> Response:
    """Change how long writes stay invisible: {"delay_s": 2}. Zero also shows everything committed so far."""
    try:
        delay_s = float(orjson.loads(await request.body())["delay_s"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return PlainTextResponse('Send {"delay_s": seconds}.', status_code=400)
    await run_in_threadpool(database.set_visibility_delay, delay_s)
    return Response(orjson.dumps({"delay_s": delay_s}), media_type="application/json")


async def _healthz(_request: Request) -> Response:
    return Response(b'{"status":"ok"}', media_type="application/json")
