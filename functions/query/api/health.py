"""`GET /healthz`: liveness and versions."""

from fastapi import APIRouter

from functions.query.api.dependencies import PublicServicesDep
from functions.query.api.schemas import HealthOut
from shared.telemetry import VERSION

router = APIRouter(tags=["service"])


@router.get("/healthz", operation_id="checkHealth")
def health(services: PublicServicesDep) -> HealthOut:
    """Say that the function is up. It calls no other service, so it cannot fail because of one."""
    settings = services.settings
    return HealthOut(
        status="ok",
        version=VERSION,
        embedding_space=str(settings.embedding_space),
        chat_model=settings.chat_model or "extractive",
    )
