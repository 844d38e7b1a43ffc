"""API Gateway's proxy event in, its proxy response out: Mangum, and a 400 for an event that it cannot read.

What the application raises is answered within it. What comes out of Mangum is its own, at an event that does not hold
what API Gateway sends (a test event of the console, another service's) or a header that it stumbles over; raised, it
would be a 502 to the client and an error of the function to the operator.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Request
from mangum.types import LambdaContext

from functions.query import problems
from shared.errors import InvalidRequest
from shared.telemetry import logger

type Answer = dict[str, Any]
_UNREADABLE = "This request could not be read: its body, its address or one of its headers is malformed; mend it."


def answered(event: Mapping[str, Any], context: LambdaContext, serve: Callable[[Any, Any], Answer]) -> Answer:
    """Return what `serve` answers, or the problem that the event is not one of API Gateway's."""
    if _is_proxy_event(event):
        try:
            return serve(event, context)
        except Exception as error:  # noqa: BLE001  whatever a translator raises on a shape it does not know
            logger.warning("the event could not be translated", exc_info=error)
    request = Request({"type": "http", "headers": [], "aws.context": context})
    told = problems.response_to(request, InvalidRequest(_UNREADABLE))
    headers = {name: value for name, value in told.headers.items() if name != "content-length"}
    body = bytes(told.body).decode()
    return {"statusCode": told.status_code, "headers": headers, "body": body, "isBase64Encoded": False}


def _is_proxy_event(event: Mapping[str, Any]) -> bool:
    named = all(isinstance(event.get(name, ""), str) for name in ("httpMethod", "path"))
    return named and isinstance(event.get("requestContext"), Mapping)
