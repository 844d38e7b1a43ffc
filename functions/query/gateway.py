"""API Gateway's proxy event in, its proxy response out: Mangum, and a 400 for an event that it cannot read.

Mangum raises at an event that does not hold what API Gateway sends (a test event of the console, another service's) or
at a header that it stumbles over. That would be a 502 to the client, and to the operator an error of the function.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from mangum import Mangum
from mangum.types import LambdaContext

from functions.query import problems
from shared.errors import InvalidRequest
from shared.telemetry import logger

type Answer = dict[str, Any]
_UNREADABLE = "This request could not be read: its body, its address or one of its headers is malformed; mend it."


def answered(event: dict[str, Any], context: LambdaContext, serve: Mangum) -> Answer:
    """Return what is served for the event, or the problem that it cannot be read."""
    if _is_readable(event, context, serve):
        return serve(event, context)
    request = Request({"type": "http", "headers": [], "aws.context": context})
    told = problems.response_to(request, InvalidRequest(_UNREADABLE))
    headers = {name: value for name, value in told.headers.items() if name != "content-length"}
    body = bytes(told.body).decode()
    return {"statusCode": told.status_code, "headers": headers, "body": body, "isBase64Encoded": False}


def _is_readable(event: dict[str, Any], context: LambdaContext, serve: Mangum) -> bool:
    """Translate it once to see, and only that: what goes wrong in serving it is not the sender's fault."""
    if not isinstance(event.get("requestContext"), Mapping):
        return False
    if not all(isinstance(event.get(name, ""), str) for name in ("httpMethod", "path")):
        return False
    try:
        translated = serve.infer(event, context)
        return bool(translated.scope) and isinstance(translated.body, bytes)
    except Exception as error:  # noqa: BLE001  whatever it raises at a shape that it does not know
        logger.warning("the event could not be translated", exc_info=error)
        return False
