"""The query Lambda: API Gateway in, FastAPI on Mangum, problem details when something is wrong."""

import os
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from fastapi import FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from mangum import Mangum
from mangum.types import LambdaContext

from functions.query import app as gateway
from functions.query import bootstrap
from functions.query.api import answers, conversations, documents, health, problems
from functions.query.api.deadline_middleware import DeadlineMiddleware
from shared.errors import InvalidRequest
from shared.settings import Settings
from shared.telemetry import VERSION, logger, metrics, traced

# --- API Gateway's proxy event in, its proxy response out: Mangum, and a 400 for an event that it cannot read ---

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


def create_app(settings: Settings) -> FastAPI:
    """Build the ASGI app; it calls nothing until it is asked."""
    app = FastAPI(
        title="Recto",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # behind API Gateway the address to go to would lack the stage
        responses=problems.DESCRIBED,
    )
    app.add_middleware(DeadlineMiddleware)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=settings.cors_allow_origins.split(","),
        allow_methods=["*"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
        max_age=600,
    )
    problems.install(app)

    for routes in (answers, conversations, documents, health):
        app.include_router(routes.router)
    return app


settings = Settings()
app = create_app(settings)
# Anything that is not on this list would be sent as base64, problem details too.
_mangum = Mangum(app, lifespan="off", text_mime_types=["text/", "application/json", "application/problem+json"])
if "AWS_LAMBDA_RUNTIME_API" in os.environ and settings.secret_id:
    bootstrap.warm()


@logger.inject_lambda_context(clear_state=True)
@traced
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one API Gateway proxy event."""
    metrics.add_metric(name="Requests", unit=MetricUnit.Count, value=1)
    return gateway.answered(event, context, _mangum)
