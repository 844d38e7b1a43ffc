"""What ASGI has no message for: connections that are dropped, dripped on, or watched until the client goes."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

from starlette.types import Message, Receive, Send

DRIP_S = 0.2


def transport_of(send: Send) -> Any:
    """Reach uvicorn's transport: ASGI has no message for "drop the connection". Raises `RuntimeError` elsewhere."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        raise RuntimeError("Faults need to be the outermost application under uvicorn: its transport is not in reach.")
    return transport


async def abort(transport: Any, receive: Receive) -> None:
    """Close the TCP connection at once, with a reset rather than an orderly end, and wait until it is gone."""
    connection = transport.get_extra_info("socket")
    if connection is not None and not transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
    await until_disconnected(receive)


async def drip(send: Send, headers: Mapping[str, str]) -> None:
    """Answer 200 and a blank every `DRIP_S`, for ever: a client that bounds each read alone never sees the end."""
    fields = {"content-type": "application/json"} | {name.lower(): value for name, value in headers.items()}
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": 200, "headers": encoded})
    while True:
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.sleep(DRIP_S)


async def until_disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def read_body(receive: Receive) -> bytes:
    """Read the request's body to its end."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body.extend(message.get("body", b""))
        if not message.get("more_body", False):
            return bytes(body)


def again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that hands over a body that has been read already, then what `receive` does."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


async def respond(send: Send, status: int, body: object, *, headers: dict[str, str] | None = None) -> None:
    """Send a whole response: a text as it is, anything else as JSON, None as an empty body."""
    is_text = isinstance(body, str)
    content = b"" if body is None else str(body).encode() if is_text else json.dumps(body).encode()
    fields = {"content-type": "text/plain" if is_text else "application/json"}
    fields |= {name.lower(): value for name, value in (headers or {}).items()} | {"content-length": str(len(content))}
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": content})
