"""Server-sent events: the pipeline runs in a thread, and each event is sent at once.

An error before the first event is an ordinary error response; after it, an `error` event with the same problem. Where
API Gateway streams, the response begins after `QUIET_S` at the latest, with a comment. When the client disconnects, the
pipeline stops: no further step starts, and a call to a model is abandoned.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from functions.query.api.middleware import REPLY_MARGIN_S, STREAMED, in_a_thread
from shared.deadline import ClientDisconnected, Deadline, RequestTimedOut

MEDIA_TYPE = "text/event-stream"
QUIET_S = 10.0
"""Seconds of silence after which a comment is sent, so that proxies keep the connection open."""
HEARTBEAT: Message = {"type": "http.response.body", "body": b": still working\n\n", "more_body": True}
"""A comment, which clients ignore."""
LEAVE_S = 1.0
"""Seconds that the pipeline gets to notice that the client has disconnected."""

type ServerSentEvent = tuple[str, dict[str, Any] | str]
"""An event's name, which may be empty, and its data: an object, or a text of one line."""
type _Item = ServerSentEvent | Exception | None
"""What the worker passes to the loop; None is the end."""


class EventStream(StreamingResponse):
    """Streams `make()`'s events. `problem_of` turns an error into the data of an event called `error_name`."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        make: Callable[[], Iterator[ServerSentEvent]],
        deadline: Deadline,
        problem_of: Callable[[Exception], dict[str, Any]],
        *,
        error_name: str = "error",
    ) -> None:
        # no-transform: a proxy that compresses would hold pieces back.
        super().__init__((), headers={"cache-control": "no-store, no-transform", "x-accel-buffering": "no"})
        self._make = make
        self._deadline = deadline
        self._problem_of = problem_of
        self._error_name = error_name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises what the pipeline raises before its first event."""
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[_Item] = asyncio.Queue()

        def put(item: _Item) -> None:
            loop.call_soon_threadsafe(items.put_nowait, item)

        worker = asyncio.ensure_future(in_a_thread(lambda: self._work(put)))
        watcher = loop.create_task(self._cancel_on_disconnect(receive))
        try:
            try:
                # A buffered response is seen at its end only: there an error keeps its status, however late it comes.
                first = await asyncio.wait_for(items.get(), QUIET_S if scope.get(STREAMED) else None)
            except TimeoutError:
                await self._begin(send)
                await send(HEARTBEAT)
                first = await self._next(items, send)
            else:
                if isinstance(first, Exception):
                    raise first
                await self._begin(send)
            await self._send_all(first, items, send)
        finally:
            self._deadline.cancel()
            watcher.cancel()
            await asyncio.wait([worker], timeout=LEAVE_S)

    async def _begin(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

    def _work(self, put: Callable[[_Item], None]) -> None:
        try:
            for event in self._make():
                put(event)
        except ClientDisconnected:
            pass
        except Exception as error:  # noqa: BLE001  becomes an error response or event
            put(error)
        put(None)

    async def _send_all(self, item: _Item, items: asyncio.Queue[_Item], send: Send) -> None:
        while item is not None:
            event = (self._error_name, self._problem_of(item)) if isinstance(item, Exception) else item
            await send({"type": "http.response.body", "body": encoded(event), "more_body": True})
            item = None if isinstance(item, Exception) else await self._next(items, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self, items: asyncio.Queue[_Item], send: Send) -> _Item:
        while True:
            # Once the client has disconnected, the pipeline stops on its own.
            left_s = QUIET_S + 1 if self._deadline.cancelled else self._deadline.left() + REPLY_MARGIN_S / 2
            try:
                return await asyncio.wait_for(items.get(), min(QUIET_S, left_s))
            except TimeoutError:
                if left_s <= QUIET_S:
                    return RequestTimedOut()
                await send(HEARTBEAT)

    async def _cancel_on_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._deadline.cancel()


def encoded(event: ServerSentEvent) -> bytes:
    """Return one event as bytes. Its JSON is on one line, because a line break would end the data."""
    name, data = event
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {name}\n" * bool(name) + f"data: {text}\n\n").encode()
