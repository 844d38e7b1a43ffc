"""The query Lambda: API Gateway's proxy event in, FastAPI on Mangum, the proxy response out."""

import gc
import os
from collections.abc import Mapping
from typing import Any

gc.disable()  # until all is imported, which leaves little behind: the collections took a fourteenth of the start

from aws_lambda_powertools.metrics import MetricUnit
from fastapi import Depends, Request
from fastapi.middleware.cors import CORSMiddleware
from mangum import Mangum
from mangum.types import LambdaContext

from functions.query import bootstrap
from functions.query.api import (
    access,
    admin,
    answers,
    chat_completions,
    conversations,
    document_contents,
    documents,
    erasures,
    faqs,
    feedback,
    handoffs,
    health,
    insights,
    keys,
    mcp,
    openapi,
    passages,
    problems,
    receipts,
    responses,
    search,
)
from functions.query.api.dependencies import known_parameters
from functions.query.api.middleware import DeadlineMiddleware, HttpMiddleware
from functions.query.api.openapi import DocumentedApi
from shared.errors import InvalidRequest
from shared.settings import Settings
from shared.telemetry import VERSION, logger, metrics

EXPOSED_HEADERS = (
    "allow",
    "content-disposition",
    "etag",
    "location",
    "mcp-session-id",
    "retry-after",
    "www-authenticate",
    "x-next-cursor",
)
"""The response headers that a browser's scripts may read besides those that they always may."""
YOUNG_OBJECTS = 20_000
"""Objects made, less those freed, until a collection looks for garbage among them: a question holds some 2,000 for as
long as it is answered, so with Python's own 2,000 each would be interrupted by one that finds nothing."""
_UNREADABLE = "This request could not be read: its body, its path or one of its headers is malformed; correct it."


def create_app(settings: Settings) -> DocumentedApi:
    """Build the ASGI app. It connects to nothing before the first request."""
    app = DocumentedApi(
        title="Recto",
        version=VERSION,
        openapi_url=None,  # FastAPI's own route; ours adds this deployment's address
        dependencies=[Depends(known_parameters)],
        redirect_slashes=False,  # behind API Gateway the redirect would lack the stage
    )
    app.add_middleware(DeadlineMiddleware)
    app.add_middleware(HttpMiddleware)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.cors_allow_origins.split(","),
        allow_methods=["*"],
        # Any: SDKs, tracers and MCP clients send headers of their own, and no cookie comes with them.
        allow_headers=["*"],
        expose_headers=EXPOSED_HEADERS,
        max_age=600,
    )
    problems.install(app)
    for routes in (
        answers,
        search,
        conversations,
        feedback,
        receipts,
        documents,
        document_contents,
        erasures,
        passages,
        faqs,
        handoffs,
        insights,
        chat_completions,
        keys,
        access,
        responses,
        mcp,
        admin,
        health,
        openapi,
    ):
        app.include_router(routes.router)
    return app


def respond(event: dict[str, Any], context: LambdaContext, serve: Mangum) -> dict[str, Any]:
    """Return the response to an event; a 400 for one that cannot be read."""
    if _is_readable(event, context, serve):
        return serve(event, context)
    request = Request({"type": "http", "headers": [], "aws.context": context})
    problem = problems.response_to(request, InvalidRequest(_UNREADABLE))
    headers = {name: value for name, value in problem.headers.items() if name != "content-length"}
    body = bytes(problem.body).decode()
    return {"statusCode": problem.status_code, "headers": headers, "body": body, "isBase64Encoded": False}


def _is_readable(event: dict[str, Any], context: LambdaContext, serve: Mangum) -> bool:
    """Say whether Mangum can translate the event. Errors raised while serving it are ours, so they are not caught."""
    if not isinstance(event.get("requestContext"), Mapping):
        return False
    if not all(isinstance(event.get(name, ""), str) for name in ("httpMethod", "path")):
        return False
    try:
        translated = serve.infer(event, context)
        return bool(translated.scope) and isinstance(translated.body, bytes)
    except Exception as error:  # noqa: BLE001  Mangum raises anything on an unknown shape
        logger.warning("the event could not be translated", exc_info=error)
        return False


gc.freeze()  # no collection looks at what was imported again
gc.set_threshold(YOUNG_OBJECTS)
gc.enable()
settings = Settings()
app = create_app(settings)
# Mangum sends any other media type as base64, which would include problem details.
_mangum = Mangum(app, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])
if "AWS_LAMBDA_RUNTIME_API" in os.environ and settings.secret_id:
    bootstrap.register_snapshot_hooks()
    bootstrap.warm_up()


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one API Gateway proxy event."""
    metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)
    return respond(event, context, _mangum)
