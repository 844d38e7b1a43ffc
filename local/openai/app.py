"""The emulator's HTTP side: routes, keys, headers and errors as OpenAI has them; optionally chat on another server."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import orjson
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from local.faults import FaultMiddleware
from local.openai import chat, chat_request, embeddings, models
from local.openai.engine import EmbeddingEngine
from local.openai.errors import ModelApiError

_UPSTREAM_TIMEOUT = httpx.Timeout(300.0, connect=5.0)  # a model on a laptop can be silent for minutes
_UPSTREAM_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")
_REQUESTS_PER_MINUTE = 10_000  # shown in headers, as a tier-5 account has them; nothing is limited
_TOKENS_PER_MINUTE = 10_000_000
_THREADS = 64  # that wait for the engine; far more than a laptop stack has clients
_KEYS_PAGE = "https://platform.openai.com/account/api-keys."

_log = logging.getLogger(__name__)
_Handler = Callable[[Request], Awaitable[Response]]


class Upstream:
    """Another server's chat endpoint; `base_url` ends in `/v1`, `key` is sent instead of the client's.

    Bodies pass unchanged in both directions, streams included.
    """

    def __init__(self, base_url: str, key: str) -> None:
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._client = httpx.AsyncClient(timeout=_UPSTREAM_TIMEOUT, headers=headers)

    async def complete(self, request: Request) -> Response:
        """Forward one request. Raises `ModelApiError` 503 when the server cannot be reached."""
        outgoing = self._client.build_request("POST", self._url, content=await request.body())
        try:
            incoming = await self._client.send(outgoing, stream=True)
        except httpx.TransportError as error:
            raise ModelApiError(
                503,
                f"The chat server at {self._url} cannot be reached ({type(error).__name__}): is it running? "
                "It was named with --chat-upstream.",
                type="server_error",
            ) from error
        headers = {name: incoming.headers[name] for name in _UPSTREAM_HEADERS if name in incoming.headers}
        closing = BackgroundTask(incoming.aclose)
        return StreamingResponse(incoming.aiter_bytes(), incoming.status_code, headers=headers, background=closing)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def create_app(engine: EmbeddingEngine, *, api_key: str = "", upstream: Upstream | None = None) -> ASGIApp:
    """Build the application. With `api_key` only that key is accepted, else any; `engine` is closed at shutdown."""
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="openai")

    async def in_thread[T](function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)

    async def embed(request: Request) -> Response:
        parsed = await in_thread(embeddings.parse, _json(await request.body()))
        answer = await in_thread(embeddings.answer, parsed, engine)
        return _respond(answer, tokens=parsed.total_tokens, headers={"x-recto-emulated-by": models.MINILM})

    async def complete(request: Request) -> Response:
        if upstream is not None:
            return await upstream.complete(request)
        parsed = await in_thread(chat_request.parse, _json(await request.body()))
        answer = await in_thread(chat.answer, parsed)
        if parsed.stream:
            events = chat.chunks(answer, include_usage=parsed.include_usage)
            headers = _rate_headers(parsed.prompt_tokens) | {"cache-control": "no-cache"}
            return StreamingResponse(events, headers=headers, media_type="text/event-stream; charset=utf-8")
        return _respond(chat.whole(answer), tokens=parsed.prompt_tokens)

    async def list_models(_request: Request) -> Response:
        return _respond(models.describe_all())

    async def get_model(request: Request) -> Response:
        return _respond(models.describe(request.path_params["model"]))

    async def health(_request: Request) -> Response:
        return _respond({"status": "ok"})

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        if upstream is not None:
            await upstream.close()
        engine.close()
        pool.shutdown(wait=False, cancel_futures=True)

    def route(path: str, handler: _Handler, method: str) -> Route:
        return Route(path, _guarded(handler, api_key), methods=[method])

    app = Starlette(
        routes=[
            route("/v1/embeddings", embed, "POST"),
            route("/v1/chat/completions", complete, "POST"),
            route("/v1/models", list_models, "GET"),
            route("/v1/models/{model:path}", get_model, "GET"),
            Route("/healthz", health, methods=["GET"]),
        ],
        exception_handlers={404: _not_found, 405: _wrong_method},
        lifespan=lifespan,
    )
    return FaultMiddleware(_Headers(app))


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise ModelApiError(
            400,
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP "
            "library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you "
            "have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)",
        )
    return value


def _respond(body: object, status: int = 200, *, tokens: int = 0, headers: Mapping[str, str] | None = None) -> Response:
    content = orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, status, headers=_rate_headers(tokens) | dict(headers or {}), media_type="application/json")


def _rate_headers(tokens: int) -> dict[str, str]:
    return {
        "x-ratelimit-limit-requests": str(_REQUESTS_PER_MINUTE),
        "x-ratelimit-limit-tokens": str(_TOKENS_PER_MINUTE),
        "x-ratelimit-remaining-requests": str(_REQUESTS_PER_MINUTE - 1),
        "x-ratelimit-remaining-tokens": str(_TOKENS_PER_MINUTE - tokens),
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": f"{60_000 * tokens // _TOKENS_PER_MINUTE}ms",
    }


def _check_key(authorization: str, api_key: str) -> None:
    scheme, _, key = authorization.partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        raise ModelApiError(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer "
            "auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're "
            "accessing the API from your browser and are prompted for a username and password. You can obtain an API "
            f"key from {_KEYS_PAGE}",
            code="invalid_api_key",
        )
    if api_key and not secrets.compare_digest(key.encode(), api_key.encode()):
        masked = key[:8] + "*" * (len(key) - 12) + key[-4:] if len(key) > 12 else "*" * len(key)
        message = f"Incorrect API key provided: {masked}. You can find your API key at {_KEYS_PAGE}"
        raise ModelApiError(401, message, code="invalid_api_key")


def _guarded(handler: _Handler, api_key: str) -> _Handler:
    """Require a key, and answer errors as OpenAI does."""

    async def guarded(request: Request) -> Response:
        try:
            _check_key(request.headers.get("authorization", ""), api_key)
            return await handler(request)
        except ModelApiError as error:
            return _respond(error.body, error.status)
        except Exception:  # noqa: BLE001 - the client gets OpenAI's 500, the log the reason
            _log.exception("%s %s failed", request.method, request.url.path)
            message = "The server had an error while processing your request. Sorry about that!"
            return _respond(ModelApiError(500, message, type="server_error").body, 500)

    return guarded


async def _not_found(request: Request, _error: Exception) -> Response:
    return _respond(ModelApiError(404, f"Invalid URL ({request.method} {request.url.path})").body, 404)


async def _wrong_method(_request: Request, error: Exception) -> Response:
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    allowed = ", ".join(method for method in headers.get("Allow", "POST").split(", ") if method != "HEAD")
    refusal = ModelApiError(405, f"Only {allowed} requests are accepted.", code="method_not_supported")
    return _respond(refusal.body, 405, headers=headers)


class _Headers:
    """Adds what every OpenAI response carries."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("x-request-id", f"req_{secrets.token_hex(16)}")
                headers["openai-version"] = "2020-10-01"
                headers["openai-organization"] = "recto-emulator"
                headers["openai-processing-ms"] = str(round(1000 * (time.perf_counter() - started)))
            await send(message)

        await self._app(scope, receive, with_headers)
