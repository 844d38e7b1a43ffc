"""`GET /admin/health`: how the providers do, for administrators."""

from collections.abc import Mapping
from datetime import date, timedelta

from fastapi import APIRouter

from functions.query.api.deadline_middleware import in_a_thread
from functions.query.api.dependencies import AdminDep, ServicesDep
from functions.query.api.schemas import AdminHealthOut, ProviderOut
from shared.adapters.provider_health import HEALTH
from shared.telemetry import VERSION

NOTICE = timedelta(days=60)
"""How long before its last day a model is warned about."""

router = APIRouter(prefix="/admin")


@router.get("/health")
async def health(_: AdminDep, services: ServicesDep) -> AdminHealthOut:
    """Say how each provider answered this container's last call. The alarm and the metrics cover all containers."""
    retirements = await in_a_thread(services.retirements)
    providers = [ProviderOut.model_validate(state) for state in HEALTH.states()]
    is_degraded = any(each.status == "degraded" for each in providers)
    return AdminHealthOut(
        status="degraded" if is_degraded else "ok",
        version=VERSION,
        providers=providers,
        warnings=retirement_warnings(retirements, services.clock.now().date()),
    )


def retirement_warnings(retirements: Mapping[str, date], today: date) -> list[str]:
    """Warn of models whose last day is less than `NOTICE` away."""
    return [
        f"The model {model} is shut down by its provider on {day.isoformat()}: deploy with another one."
        for model, day in sorted(retirements.items())
        if day - today <= NOTICE
    ]
