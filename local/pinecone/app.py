"""The web application: who is asking, which index is meant, which operation answers.

The data plane tells indexes apart by host. The host that `describe_index` returns is `http://ADDRESS/i/NAME`: the SDKs
put the operation's path behind it. `NAME.localhost:PORT` works too, and a bare address when there is just one index.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from local.faults import FaultMiddleware
from local.pinecone.database import Database, Index
from local.pinecone.operations import indexes, namespaces
from local.pinecone.operations.fetch import fetch, fetch_by_metadata, list_ids
from local.pinecone.operations.namespaces import describe_index_stats
from local.pinecone.operations.query import query
from local.pinecone.operations.rerank import MiniLmSimilarity, Scorer, rerank
from local.pinecone.operations.write import delete, update, upsert
from local.pinecone.replies import Reply
from local.pinecone.validation import (
    MAX_REQUEST_BYTES,
    MAX_RESULT_BYTES,
    NOT_FOUND,
    OUT_OF_RANGE,
    DataPlaneError,
    ErrorReply,
)

LATEST_VERSION = "2026-07"
_INDEX_PREFIX = "/i/"

type Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(database: Database, *, similarity: Scorer | None = None) -> FaultMiddleware:
    """Build the ASGI application over an open database; it closes the database when the server stops.

    `similarity` judges texts for the reranker; without one MiniLM does.
    """
    scorer = similarity or MiniLmSimilarity(database.folder / "rerank")

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        database.close()

    routes = [*_control_routes(database), Route("/_admin/visibility", partial(_visibility, database), methods=["POST"])]
    routes.append(Route("/rerank", partial(_rerank, scorer), methods=["POST"]))
    for path, method, operation in _data_operations(database):
        endpoint = partial(_data_endpoint, database, operation)
        routes += [Route(prefix + path, endpoint, methods=[method]) for prefix in ("", _INDEX_PREFIX + "{index}")]
    app = Starlette(routes=[*routes, Route("/healthz", _healthz)], lifespan=lifespan)
    return FaultMiddleware(app, path_of=operation_path)


def operation_path(path: str) -> str:
    """Return a request's path without the part that names the index: what fault rules and counters speak of."""
    if not path.startswith(_INDEX_PREFIX):
        return path
    _, _, operation = path.removeprefix(_INDEX_PREFIX).partition("/")
    return "/" + operation


# --- control plane -----------------------------------------------------------------------------------------------


def _control_routes(database: Database) -> list[Route]:
    def endpoint(operation: Callable[..., Reply], *, names_version: bool = True) -> Endpoint:
        async def serve(request: Request) -> Response:
            version = request.headers.get("x-pinecone-api-version", LATEST_VERSION)
            arguments: list[Any] = [database]
            if "name" in request.path_params:
                arguments.append(request.path_params["name"])
            if request.method in ("POST", "PATCH"):
                arguments.append(await request.body())
            base_url = f"{request.url.scheme}://{request.headers['host']}"
            options = {"version": version, "base_url": base_url} if names_version else {}
            response = await _answered(request, partial(operation, *arguments, **options))
            response.headers["x-pinecone-api-version"] = version
            return response

        return serve

    one = "/indexes/{name}"
    return [
        Route("/indexes", endpoint(indexes.list_indexes), methods=["GET"]),
        Route("/indexes", endpoint(indexes.create_index), methods=["POST"]),
        Route(one, endpoint(indexes.describe_index), methods=["GET"]),
        Route(one, endpoint(indexes.configure_index), methods=["PATCH"]),
        Route(one, endpoint(indexes.delete_index, names_version=False), methods=["DELETE"]),
    ]


async def _rerank(scorer: Scorer, request: Request) -> Response:
    return await _answered(request, partial(rerank, scorer, await request.body()))


# --- data plane --------------------------------------------------------------------------------------------------

type Operation = Callable[[Index, Request, bytes], Reply]


def _data_operations(database: Database) -> list[tuple[str, str, Operation]]:
    def name(request: Request) -> str:
        return str(request.path_params["namespace"])

    one = "/namespaces/{namespace:path}"
    return [
        ("/vectors/upsert", "POST", lambda index, _request, body: upsert(index, body)),
        ("/query", "POST", lambda index, _request, body: query(index, body)),
        ("/vectors/fetch", "GET", lambda index, request, _body: fetch(index, _params(request, "ids"))),
        ("/vectors/fetch_by_metadata", "POST", lambda index, _request, body: fetch_by_metadata(index, body)),
        ("/vectors/list", "GET", lambda index, request, _body: list_ids(index, _params(request))),
        ("/vectors/update", "POST", lambda index, _request, body: update(index, body)),
        ("/vectors/delete", "POST", lambda index, _request, body: delete(index, body)),
        ("/describe_index_stats", "POST", lambda index, _request, body: describe_index_stats(index, body)),
        ("/describe_index_stats", "GET", lambda index, _request, _body: describe_index_stats(index, b"")),
        ("/namespaces", "GET", lambda index, req, _b: namespaces.list_namespaces(database, index, _params(req))),
        ("/namespaces", "POST", lambda index, _request, body: namespaces.create_namespace(database, index, body)),
        (one, "GET", lambda index, request, _b: namespaces.describe_namespace(database, index, name(request))),
        (one, "DELETE", lambda index, request, _body: namespaces.delete_namespace(index, name(request))),
    ]


def _params(request: Request, *lists: str) -> dict[str, Any]:
    params: dict[str, Any] = dict(request.query_params)
    return params | {name: request.query_params.getlist(name) for name in lists}


async def _data_endpoint(database: Database, operation: Operation, request: Request) -> Response:
    body = await request.body()
    response = await _answered(request, lambda: operation(_index_of(database, request), request, _checked_size(body)))
    if len(response.body) > MAX_RESULT_BYTES and operation_path(request.url.path) == "/query":
        found = f"found {len(response.body)} bytes, the limit is: {MAX_RESULT_BYTES} bytes"
        return _refusal(DataPlaneError(f"Error, message length too large: {found}", OUT_OF_RANGE))
    return response


def _index_of(database: Database, request: Request) -> Index:
    host = request.headers.get("host", "").partition(":")[0]
    name = request.path_params.get("index") or (host.removesuffix(".localhost") if "." in host else "")
    if index := database.index(name):
        return index
    known = database.indexes()
    if "index" not in request.path_params and len(known) == 1:
        return known[0]
    raise DataPlaneError(
        f"Index not found: there are {len(known)} indexes here; use the host that describe_index returns", NOT_FOUND
    )


def _checked_size(body: bytes) -> bytes:
    if len(body) > MAX_REQUEST_BYTES:
        megabytes = -(-len(body) // 2**20)
        raise DataPlaneError(f"Request size {megabytes}MB exceeds the maximum supported size of 2MB")
    return body


# --- both --------------------------------------------------------------------------------------------------------


async def _answered(request: Request, operation: Callable[[], Reply]) -> Response:
    """Run an operation on a worker thread, for whoever shows a key."""
    if not request.headers.get("api-key", "").strip():
        return PlainTextResponse("Unauthorized", status_code=401)
    started = time.monotonic()
    try:
        answer = await run_in_threadpool(operation)
    except ErrorReply as error:
        return _refusal(error)
    except KeyError:
        # Deleted by another request between being found and being written to.
        return _refusal(DataPlaneError("Namespace not found", NOT_FOUND))
    elapsed_ms = str(round((time.monotonic() - started) * 1000))
    headers = {"x-pinecone-request-latency-ms": elapsed_ms, "x-pinecone-response-duration-ms": elapsed_ms}
    if answer.body is None:
        return Response(status_code=answer.status, headers=headers | answer.headers)
    content = orjson.dumps(answer.body, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, answer.status, headers | answer.headers, "application/json")


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
