"""`GET /healthz`: liveness and versions."""

from fastapi import APIRouter

from functions.query.api.dependencies import Wired
from functions.query.api.schemas import HealthOut
from shared.telemetry import VERSION

router = APIRouter()


@router.get("/healthz")
def health(wired: Wired) -> HealthOut:
    """Say that the function is up; calls nothing, so it cannot fail for somebody else's reason."""
    settings = wired.settings
    return HealthOut(
        status="ok",
        version=VERSION,
        embedding_space=str(settings.embedding_space),
        chat_model=settings.chat_model or "extractive",
    )
