"""`/admin`: what a tenant's administrators see."""

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from functions.query.api.dependencies import PrincipalDep, ServicesDep
from functions.query.api.middleware import in_a_thread
from functions.query.api.schemas import AdminHealthOut, ProviderOut, UsageLineOut, UsageReportOut
from shared.adapters.provider_health import HEALTH
from shared.errors import InvalidRequest, RectoError
from shared.models import NO_USAGE, UsageRow
from shared.telemetry import VERSION

router = APIRouter(prefix="/admin", tags=["administration"])

NOTICE = timedelta(days=60)
"""How long before a model's last day a warning is shown."""
Grouping = Literal["user", "model", "day"]
DEFAULT_DAYS = 30
MAX_DAYS = 366
CSV = "text/csv; charset=utf-8"
EXAMPLE_CSV = (
    "key,questions,input_tokens,cached_tokens,output_tokens,cost_usd,unpriced_calls\r\n"
    "2026-11-23,41,98400,12800,2542,0.031,0\r\n"
)


@router.get("/health", operation_id="checkProviders")
async def health(_: PrincipalDep, services: ServicesDep) -> AdminHealthOut:
    """Ask the providers, and say how each answered this container's last call. The alarms cover all containers."""
    warnings: list[str] = []
    try:
        retirements = await in_a_thread(services.ask_providers)
    except RectoError as error:
        warnings.append(error.message)
    else:
        warnings += retirement_warnings(retirements, services.clock.now().date())
    providers = [ProviderOut.model_validate(state) for state in HEALTH.states()]
    are_well = len(providers) > 0 and all(each.status == "ok" for each in providers)
    return AdminHealthOut(
        status="ok" if are_well else "degraded", version=VERSION, providers=providers, warnings=warnings
    )


def retirement_warnings(retirements: Mapping[str, date], today: date) -> list[str]:
    """Warn of models whose last day is less than `NOTICE` away."""
    return [
        f"The model {model} is shut down by its provider on {day.isoformat()}: deploy with another one."
        for model, day in sorted(retirements.items())
        if day - today <= NOTICE
    ]


@router.get(
    "/usage",
    operation_id="reportUsage",
    response_model=UsageReportOut,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}, "example": EXAMPLE_CSV}}}},
)
def usage(
    principal: PrincipalDep,
    services: ServicesDep,
    first: Annotated[date | None, Query(alias="from", description="Default: 29 days before `to`.")] = None,
    last: Annotated[date | None, Query(alias="to", description="Default: today (UTC).")] = None,
    by: Grouping = "day",
    form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
) -> UsageReportOut | Response:
    """Return the tenant's questions, tokens and cost by user, model or day."""
    last = last or services.clock.now().date()
    first = first or last - timedelta(days=DEFAULT_DAYS - 1)
    if not first <= last < first + timedelta(days=MAX_DAYS):
        raise InvalidRequest(f"`from` must not be after `to`, and the range at most {MAX_DAYS} days.")
    rows = list(services.usage.rows(principal.tenant, first, last))
    keys = sorted({getattr(row, by) for row in rows if by != "model" or row.model})
    lines = [_line(key, (row for row in rows if getattr(row, by) == key)) for key in keys]
    if form == "csv":
        return Response(_csv_of(lines), media_type=CSV)
    return UsageReportOut(first=first, last=last, by=by, lines=lines, total=_line("", rows))


def _line(key: str, rows: Iterable[UsageRow]) -> UsageLineOut:
    """Add up rows."""
    held = list(rows)
    used = sum((row.usage for row in held), NO_USAGE)
    return UsageLineOut(
        key=key,
        questions=sum(row.questions for row in held),
        input_tokens=used.input_tokens,
        cached_tokens=used.cached_tokens,
        output_tokens=used.output_tokens,
        cost_usd=round(sum(row.cost_usd for row in held), 6),
        unpriced_calls=sum(row.unpriced for row in held),
    )


def _csv_of(lines: Iterable[UsageLineOut]) -> str:
    """Return the lines with a header, as RFC 4180 has it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, UsageLineOut.model_fields)
    writer.writeheader()
    writer.writerows(line.model_dump() for line in lines)
    return text.getvalue()
