"""Passes chat through to another OpenAI-compatible server, body and answer unchanged, streams included."""

from collections.abc import AsyncIterator

import httpx
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from local.openai.errors import ApiError

_TIMEOUT = httpx.Timeout(300.0, connect=5.0)  # a model on a laptop can be silent for minutes
_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")


class Upstream:
    """Another server's chat endpoint; `base_url` ends in `/v1`, `key` is sent instead of the client's."""

    def __init__(self, base_url: str, key: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, headers={"authorization": f"Bearer {key}"} if key else {})

    async def complete(self, request: Request) -> Response:
        """Forward one request. Raises `ApiError` 503 when the server cannot be reached."""
        outgoing = self._client.build_request(
            "POST",
            f"{self.base_url}/chat/completions",
            content=await request.body(),
            headers={"content-type": "application/json"},
        )
        try:
            incoming = await self._client.send(outgoing, stream=True)
        except httpx.TransportError as error:
            raise ApiError(
                503,
                f"The chat server at {self.base_url} cannot be reached ({type(error).__name__}): is it running? "
                "It was named with --chat-upstream.",
                type="server_error",
            ) from error
        headers = {name: incoming.headers[name] for name in _KEPT_HEADERS if name in incoming.headers}
        return StreamingResponse(
            _body(incoming), incoming.status_code, headers=headers, background=BackgroundTask(incoming.aclose)
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


async def _body(incoming: httpx.Response) -> AsyncIterator[bytes]:
    async for part in incoming.aiter_bytes():
        yield part
