"""What routes ask FastAPI for: the wired services, and who is asking."""

import re
from typing import Annotated

from fastapi import Depends, Request

from functions.query.auth import principal_of, require_writer
from functions.query.backstop import DEADLINE
from functions.query.bootstrap import Services, services
from functions.query.deadline import Deadline
from functions.query.schemas import ULID
from shared.errors import NotFound
from shared.models import Principal

_DOCUMENT_ID = re.compile(r"[0-9a-f]{32}")
_CONVERSATION_ID = re.compile(ULID)

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


async def _document_id(document_id: str) -> str:
    """What is no id is nobody's; DynamoDB would call it our error if it is too long for a key."""
    if not _DOCUMENT_ID.fullmatch(document_id):
        raise NotFound("There is no such document.")
    return document_id


async def _conversation_id(conversation_id: str) -> str:
    """As above; and no key of a message, which lies below its conversation, is the id of one."""
    if not _CONVERSATION_ID.fullmatch(conversation_id):
        raise NotFound("There is no such conversation.")
    return conversation_id


Wired = Annotated[Services, Depends(_services)]
Who = Annotated[Principal, Depends(_principal)]
Writer = Annotated[Principal, Depends(_writer)]
DocumentId = Annotated[str, Depends(_document_id)]
ConversationId = Annotated[str, Depends(_conversation_id)]
TimeLeft = Annotated[Deadline, Depends(_deadline)]
