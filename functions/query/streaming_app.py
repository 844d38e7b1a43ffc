"""The same application as a web server: for AWS behind the Lambda Web Adapter, and for the laptop's streaming port.

`uvicorn functions.query.streaming_app:app`. The adapter turns API Gateway's event into an HTTP request and puts what
the gateway said about it into headers; here they are put back to where the Lambda handler has them. These headers are
trusted, so only the adapter (or the laptop's authorizer) may reach this port: both replace what a client sends.
"""

import json
from dataclasses import dataclass
from time import time
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions.query.app import app as api
from shared.telemetry import logger, metrics

REQUEST_CONTEXT = b"x-amzn-request-context"
LAMBDA_CONTEXT = b"x-amzn-lambda-context"


@dataclass(frozen=True, slots=True)
class AdaptedContext:
    """As much of Lambda's context as the adapter passes on."""

    aws_request_id: str
    deadline_ms: int

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until Lambda ends the invocation."""
        return max(0, self.deadline_ms - round(time() * 1_000))


class FromAdapter:
    """ASGI middleware: headers of the adapter in, the scope as Mangum would make it out; metrics flushed at the end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI says."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context = _json_of(scope, REQUEST_CONTEXT)
        stage = f"/{context.get('stage')}"
        path = scope["path"]
        if context.get("stage") and path.startswith(f"{stage}/"):
            path = path.removeprefix(stage)
        adapted = {**scope, "path": path, "aws.event": {"requestContext": context}}
        invocation = _json_of(scope, LAMBDA_CONTEXT)
        if invocation:
            adapted["aws.context"] = AdaptedContext(
                str(invocation.get("request_id", "")), int(invocation.get("deadline", 0))
            )
            logger.append_keys(function_request_id=invocation.get("request_id", ""))
        metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)

        async def flushing(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if is_last and metrics.metric_set:  # none are left where another request's end has told of this one, too
                metrics.flush_metrics()
            await send(message)

        await self._app(adapted, receive, flushing)


def _json_of(scope: Scope, name: bytes) -> dict[str, Any]:
    value = next((value for key, value in scope["headers"] if key == name), b"")
    try:
        found = json.loads(value or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


app = FromAdapter(api)
