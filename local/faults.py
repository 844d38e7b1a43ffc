"""Faults on demand for the emulators: an ASGI middleware with admin routes, so that tests can break the wire.

    POST   /_admin/faults   add a rule (fields: see `FaultRule`); answers {"id": …}
    GET    /_admin/faults   the rules, with what remains of each, and how many requests hang now
    DELETE /_admin/faults   forget all rules and let hanging requests go
    GET    /_admin/calls    how often each method, path and status was answered (0: no status line: reset, hang)
    DELETE /_admin/calls    start counting anew

The first rule that matches decides; requests that no rule matches reach the application unchanged.
"""

import asyncio
import fnmatch
import itertools
import json
import random
import socket
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """Answer 200 and a blank every `DRIP_S`, for ever: a client that limits only each read waits for ever."""
    response = Response(headers=headers, media_type="application/json")
    del response.headers["content-length"]
    await send({"type": "http.response.start", "status": 200, "headers": response.raw_headers})
    while True:
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.sleep(DRIP_S)


async def until_disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def read_body(receive: Receive) -> bytes:
    """Read the request's body to its end; it is empty when the client has gone meanwhile."""
    with suppress(ClientDisconnect):
        return await Request({"type": "http"}, receive).body()
    return b""


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first repeats a body that has been read already."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


async def respond(send: Send, status: int, body: object, *, headers: Mapping[str, str] | None = None) -> None:
    """Send a whole response: a text as it is, anything else as JSON, None as an empty body."""
    content = body if body is None or isinstance(body, str) else json.dumps(body)
    kind = "text/plain" if isinstance(body, str) else "application/json"
    response = Response(content, status, headers, kind)
    await send({"type": "http.response.start", "status": status, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": response.body})


class FaultRule(BaseModel):
    """One rule: which requests it is for, what happens to them, and how often.

    `route` is a path prefix, or a glob if it has `*`, `?` or `[`; `holding` and `lacking` are texts that the body must
    contain, or must not. `reset` closes the connection without a response, `truncate` sends half of the real body
    under its full Content-Length, `hang` never answers, `drip` sends a byte now and then and never ends. `skip` lets
    the first matching requests through; without `count` the rule lasts until cleared; `probability` is drawn from
    `seed`.
    """

    model_config = ConfigDict(extra="forbid")

    route: str = "/"
    method: str | None = None
    holding: str = ""
    lacking: str = ""
    kind: Literal["status", "delay", "reset", "truncate", "hang", "drip"]
    status: int = Field(500, ge=200, le=599)
    headers: dict[str, str] = {}
    body: Any = None
    delay_s: float = Field(0.0, ge=0)
    count: int | None = Field(None, ge=1)
    skip: int = Field(0, ge=0)
    probability: float = Field(1.0, ge=0, le=1)
    seed: int = 0

    _random: random.Random = PrivateAttr()

    def model_post_init(self, _context: object) -> None:
        """Seed the random numbers once, so that a run can be repeated."""
        self._random = random.Random(self.seed)  # noqa: S311 - repeatable on purpose, guards nothing

    @property
    def reads(self) -> bool:
        """Whether the rule depends on the body."""
        return bool(self.holding or self.lacking)

    def fires(self, method: str, path: str, body: bytes) -> bool:
        """Say whether this rule applies to the request, and count it if so. `body` is empty if no rule reads it."""
        if self.method is not None and self.method.upper() != method:
            return False
        is_glob = any(char in self.route for char in "*?[")
        if not (fnmatch.fnmatchcase(path, self.route) if is_glob else path.startswith(self.route)):
            return False
        if self.holding.encode() not in body or (self.lacking and self.lacking.encode() in body):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.count == 0 or self._random.random() >= self.probability:
            return False
        if self.count is not None:
            self.count -= 1
        return True


class FaultMiddleware:
    """Wraps an ASGI application; serves the admin routes itself and breaks what the rules say.

    `path_of` maps a request path to the one that rules and counters use (the Pinecone emulator removes the index's
    name). `reset` and `truncate` need uvicorn, whose transport they close.
    """

    def __init__(self, app: ASGIApp, *, path_of: Callable[[str], str] = lambda path: path) -> None:
        self._app = app
        self._path_of = path_of
        self._ids = itertools.count(1)
        self._rules: dict[str, FaultRule] = {}
        self._calls: Counter[tuple[str, str, int]] = Counter()
        self._cleared = asyncio.Event()
        self._hanging = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI says."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith("/_admin/") and await self._admin(scope, receive, send):
            return
        method, path, body = scope["method"], self._path_of(scope["path"]), b""
        if any(rule.reads for rule in self._rules.values()):
            body = await read_body(receive)
            receive = _replaying(body, receive)
        rule = next((rule for rule in self._rules.values() if rule.fires(method, path, body)), None)

        status = 0

        async def counting_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Counted before the client can see the response, so that no test reads the counters too early.
                self._calls[method, path, status] += 1
            await send(message)

        hangs = rule is not None and rule.kind == "hang"
        self._calls.update([(method, path, 0)] * hangs)  # at once: a hanging request ends whenever its client gives up
        if rule is None:
            await self._app(scope, receive, counting_send)
        else:
            await self._break(rule, scope, receive, counting_send, transport_of(send))
        if status == 0 and not hangs:
            self._calls[method, path, 0] += 1

    async def _break(self, rule: FaultRule, scope: Scope, receive: Receive, send: Send, transport: Any) -> None:
        if rule.kind == "delay":
            await asyncio.sleep(rule.delay_s)
            await self._app(scope, receive, send)
        elif rule.kind == "truncate":
            await self._truncate(scope, receive, send, transport)
        else:
            await read_body(receive)
            if rule.delay_s and rule.kind in {"status", "reset"}:
                await asyncio.sleep(rule.delay_s)
            if rule.kind == "status":
                await respond(send, rule.status, rule.body, headers=rule.headers)
            elif rule.kind == "reset":
                await abort(transport, receive)
            else:
                dripping = [drip(send, rule.headers)] if rule.kind == "drip" else []
                tasks = [*map(asyncio.ensure_future, (until_disconnected(receive), self._cleared.wait(), *dripping))]
                self._hanging += 1
                try:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    self._hanging -= 1
                    for task in tasks:
                        task.cancel()
                await abort(transport, receive)

    async def _truncate(self, scope: Scope, receive: Receive, send: Send, transport: Any) -> None:
        start: Message = {}
        body = bytearray()

        async def hold(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))

        await self._app(scope, receive, hold)
        headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        await send({**start, "headers": [*headers, (b"content-length", str(max(len(body), 2)).encode())]})
        await send({"type": "http.response.body", "body": bytes(body[: len(body) // 2]), "more_body": True})
        transport.close()
        await until_disconnected(receive)

    async def _admin(self, scope: Scope, receive: Receive, send: Send) -> bool:
        status, body = 200, dict[str, Any]()
        match scope["method"], scope["path"]:
            case "POST", "/_admin/faults":
                status, body = self._add(await read_body(receive))
            case "GET", "/_admin/faults":
                rules = [{"id": rule_id, **rule.model_dump()} for rule_id, rule in self._rules.items()]
                body = {"faults": rules, "hanging": self._hanging}
            case "DELETE", "/_admin/faults":
                self._rules.clear()
                self._cleared.set()
            case "GET", "/_admin/calls":
                counts = sorted(self._calls.items())
                calls = [{"method": key[0], "path": key[1], "status": key[2], "count": n} for key, n in counts]
                body = {"calls": calls, "total": self._calls.total()}
            case "DELETE", "/_admin/calls":
                self._calls.clear()
            case _:
                return False
        await respond(send, status, body)
        return True

    def _add(self, body: bytes) -> tuple[int, dict[str, Any]]:
        try:
            rule = FaultRule.model_validate_json(body)
        except ValidationError as error:
            return 400, {"error": str(error)}
        rule_id = f"fault-{next(self._ids)}"
        self._rules[rule_id] = rule
        self._cleared.clear()
        return 201, {"id": rule_id}
