"""The application as a web server: on AWS behind the Lambda Web Adapter, and on the laptop's streaming port.

`uvicorn functions.query.streaming_app:app`. The adapter turns API Gateway's event into an HTTP request with the event's
context in headers; `FromAdapter` moves it back into the ASGI scope, where Mangum puts it. These headers are trusted, so
only the adapter (or the laptop's authorizer) may reach this port: both overwrite what a client sends.

With SnapStart the adapter also announces the snapshot, with a POST to paths of its settings that nobody else may call.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from time import time
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions.query import bootstrap
from functions.query.api.middleware import STREAMED
from functions.query.app import app as api
from shared.telemetry import logger, metrics

REQUEST_CONTEXT = b"x-amzn-request-context"
LAMBDA_CONTEXT = b"x-amzn-lambda-context"
SNAPSHOT_HOOKS = {
    "AWS_LWA_SNAPSTART_BEFORE_CHECKPOINT_PATH": bootstrap.before_snapshot,
    "AWS_LWA_SNAPSTART_AFTER_RESTORE_PATH": bootstrap.after_restore,
}
"""What happens at a POST to the path that the variable names. Without the adapter there is neither."""


@dataclass(frozen=True, slots=True)
class AdaptedContext:
    """The part of Lambda's context that the adapter passes on. `deadline_ms` is since the epoch."""

    aws_request_id: str
    deadline_ms: int

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until Lambda ends the invocation."""
        return max(0, self.deadline_ms - round(time() * 1_000))


class FromAdapter:
    """ASGI middleware: builds the scope from the adapter's headers as Mangum would, and flushes metrics at the end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if hook := _snapshot_hook(scope):
            await run_in_threadpool(hook)
            await Response(status_code=204)(scope, receive, send)
            return
        context = _json_header(scope, REQUEST_CONTEXT)
        path, stage = scope["path"], context.get("stage")
        # API Gateway's own path has the stage; the adapter's may have it or not, and a route may begin like one: /v1/….
        if stage and path.startswith(f"/{stage}/") and path == context.get("path", path):
            path = path.removeprefix(f"/{stage}")
        adapted = {**scope, "path": path, "aws.event": {"requestContext": context}}
        if invocation := _json_header(scope, LAMBDA_CONTEXT):
            request_id = str(invocation.get("request_id", ""))
            adapted["aws.context"] = AdaptedContext(request_id, int(invocation.get("deadline", 0)))
            adapted[STREAMED] = True
            logger.append_keys(function_request_id=request_id)
        metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)

        async def send_and_flush(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if is_last and metrics.metric_set:  # another request may have flushed them
                metrics.flush_metrics()
            await send(message)

        await self._app(adapted, receive, send_and_flush)


def _snapshot_hook(scope: Scope) -> Callable[[], None] | None:
    if scope.get("method") != "POST":
        return None
    return next((hook for name, hook in SNAPSHOT_HOOKS.items() if os.environ.get(name) == scope["path"]), None)


def _json_header(scope: Scope, name: bytes) -> dict[str, Any]:
    value = next((value for key, value in scope["headers"] if key == name), b"{}")
    try:
        found = json.loads(value)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


app = FromAdapter(api)
