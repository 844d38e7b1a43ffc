"""The query Lambda: API Gateway in, FastAPI on Mangum, problem details when something is wrong."""

import os
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from mangum import Mangum
from mangum.types import LambdaContext

from functions.query import bootstrap, gateway, problems
from functions.query.backstop import Backstop
from functions.query.routes import answers, conversations, documents, health
from shared.settings import Settings
from shared.telemetry import MetricUnit, logger, metrics, traced
from shared.version import VERSION


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
    app.add_middleware(Backstop)
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
