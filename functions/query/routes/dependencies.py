"""What routes ask FastAPI for: the wired services, and who is asking."""

from typing import Annotated

from fastapi import Depends, Request

from functions.query.auth import principal_of, require_writer
from functions.query.bootstrap import Services, services
from functions.query.deadline import Deadline
from shared.models import Principal

LAMBDA_MARGIN_S = 1.0
"""Seconds before the Lambda's own timeout at which a request gives up, so that it can still say so."""


def _services() -> Services:
    return services()


def _principal(request: Request) -> Principal:
    return principal_of(request.scope.get("aws.event") or {})


def _writer(who: Annotated[Principal, Depends(_principal)]) -> Principal:
    require_writer(who)
    return who


def _deadline(request: Request, wired: Annotated[Services, Depends(_services)]) -> Deadline:
    seconds = wired.settings.request_deadline_s
    context = request.scope.get("aws.context")
    if context is not None:
        seconds = min(seconds, context.get_remaining_time_in_millis() / 1_000 - LAMBDA_MARGIN_S)
    return Deadline(wired.clock, seconds)


Wired = Annotated[Services, Depends(_services)]
Who = Annotated[Principal, Depends(_principal)]
Writer = Annotated[Principal, Depends(_writer)]
TimeLeft = Annotated[Deadline, Depends(_deadline)]
