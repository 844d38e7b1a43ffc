"""`GET /admin/health`: how the providers do, for administrators."""

from fastapi import APIRouter

from functions.query.api.dependencies import AdminDep
from functions.query.api.schemas import AdminHealthOut, ProviderOut
from shared.adapters.provider_health import HEALTH
from shared.telemetry import VERSION

router = APIRouter(prefix="/admin")


@router.get("/health")
def health(_: AdminDep) -> AdminHealthOut:
    """Say how each provider answered this container's last call. The alarm and the metrics cover all containers."""
    providers = [ProviderOut.model_validate(state) for state in HEALTH.states()]
    is_degraded = any(each.status == "degraded" for each in providers)
    return AdminHealthOut(status="degraded" if is_degraded else "ok", version=VERSION, providers=providers)
