"""What routes ask FastAPI for: the wired services, and who is asking."""

from typing import Annotated

from fastapi import Depends, Request

from functions.query.auth import principal_of, require_writer
from functions.query.backstop import DEADLINE
from functions.query.bootstrap import Services, services
from functions.query.deadline import Deadline
from shared.models import Principal

# All of them are coroutines, because FastAPI runs plain functions in threads: a hand-over each, for next to no work.


async def _services() -> Services:
    return services()


async def _principal(request: Request) -> Principal:
    return principal_of(request.scope.get("aws.event") or {})


async def _writer(who: Annotated[Principal, Depends(_principal)]) -> Principal:
    require_writer(who)
    return who


async def _deadline(request: Request) -> Deadline:
    deadline: Deadline = request.scope[DEADLINE]
    return deadline


Wired = Annotated[Services, Depends(_services)]
Who = Annotated[Principal, Depends(_principal)]
Writer = Annotated[Principal, Depends(_writer)]
TimeLeft = Annotated[Deadline, Depends(_deadline)]
