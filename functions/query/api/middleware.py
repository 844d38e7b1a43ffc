"""Middleware for every request: HTTP as any server speaks it, and one deadline; a request that overruns it gets a 504.

Outgoing calls end with the deadline by themselves (`shared.deadline`); the middleware bounds everything else. Late work
is abandoned in a daemon thread: it delays neither the end of the process nor the next request, and stops at its next
step, because the deadline is cancelled.
"""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions.query.api import problems
from functions.query.bootstrap import configured
from shared.adapters.aws import SystemClock
from shared.deadline import CURRENT, Deadline, RequestTimedOut, Workers

DEADLINE = "recto.deadline"
"""Where the ASGI scope holds the request's `Deadline`."""
STREAMED = "recto.streamed"
"""Where the ASGI scope says that API Gateway streams the response, and so waits longer than `GATEWAY_TIMEOUT_S`."""
GATEWAY_TIMEOUT_S = 29.0
"""Seconds from a request's arrival until API Gateway answers 504 by itself (a quota that AWS can raise)."""
LAMBDA_MARGIN_S = 1.0
"""Seconds kept of the Lambda's own timeout, so that the 504 can still be sent."""
REPLY_MARGIN_S = 0.25
"""Seconds by which the request's deadline ends before the 504, so that the pipeline's error can name what was late."""

_CLOCK = SystemClock()
_WORKERS = Workers("request")


class HttpMiddleware:
    """ASGI middleware: routes see GET for HEAD, and an unexpected error becomes an ordinary response.

    Starlette would answer such an error outside of CORS, and a browser would be shown "Failed to fetch".
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection. Raises what is raised after the response has begun."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        scope = {**scope, "method": "GET"} if is_head else scope
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            begun = True
            if is_head and message["type"] == "http.response.body":
                if message.get("more_body", False):
                    return
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception as error:
            if begun:
                raise
            await problems.response_to(Request(scope), error)(scope, receive, send_on)


class DeadlineMiddleware:
    """ASGI middleware: gives each request its deadline, and answers 504 when it is exceeded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seconds = _seconds_for(scope)
        deadline = scope[DEADLINE] = Deadline(_CLOCK, seconds - REPLY_MARGIN_S)
        CURRENT.set(deadline)  # the server gives each connection a context of its own
        begun = timed_out = False

        async def send_in_time(message: Message) -> None:
            nonlocal begun
            begun = True
            if not timed_out:
                await send(message)

        task = asyncio.ensure_future(self._app(scope, receive, send_in_time))
        try:
            await asyncio.wait((task,), timeout=seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if begun or task.done():
            await task  # a stream that has begun ends by itself
            return
        timed_out = True
        deadline.cancel()
        # The next request runs in the same loop: a late failure of this one must not be logged under its id.
        task.cancel()
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # otherwise asyncio logs the error
        await problems.response_to(Request(scope), RequestTimedOut())(scope, receive, send)


def _seconds_for(scope: Scope) -> float:
    context = scope.get("aws.context")
    lambda_s = math.inf if context is None else context.get_remaining_time_in_millis() / 1_000 - LAMBDA_MARGIN_S
    if scope.get(STREAMED):
        return max(min(lambda_s, configured().stream_timeout_s - LAMBDA_MARGIN_S), 0.0)
    return max(min(lambda_s, configured().request_deadline_s, _gateway_s(scope)), 0.0)


def _gateway_s(scope: Scope) -> float:
    """Return the seconds until API Gateway gives up, less a margin: it also counts the cold start before our code."""
    context = (scope.get("aws.event") or {}).get("requestContext") or {}
    begun_ms = context.get("requestTimeEpoch")
    waited_s = _CLOCK.now().timestamp() - begun_ms / 1_000 if isinstance(begun_ms, int) else -1.0
    # A time in the future, or of a request that was given up, says nothing: clocks differ, and events are replayed.
    return GATEWAY_TIMEOUT_S - LAMBDA_MARGIN_S - waited_s if 0 <= waited_s < GATEWAY_TIMEOUT_S else math.inf


async def in_a_thread[T](work: Callable[[], T]) -> T:
    """Run `work` in a daemon thread, with this task's context."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def wake(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is closed, and the request abandoned
            loop.call_soon_threadsafe(done.set)

    future = _WORKERS.submit(work)
    future.add_done_callback(wake)
    await done.wait()
    return future.result()
