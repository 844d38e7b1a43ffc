"""What routes ask FastAPI for: the wired services, and who is asking."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request

from functions.query.api.deadline_middleware import DEADLINE
from functions.query.api.schemas import ULID
from functions.query.bootstrap import Services, services
from shared.deadline import Deadline
from shared.errors import NotAllowed, NotAuthenticated, NotFound
from shared.models import Principal

# --- Who is asking: tenant and user from the claims the API's authorizer verified, and from nowhere else ---

_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
WRITERS = frozenset({"editor", "admin"})


def principal_of(event: Mapping[str, Any]) -> Principal:
    """Read the principal out of an API Gateway proxy event.

    Raises `NotAuthenticated` where there are no verified claims, `NotAllowed` where they name no tenant.
    """
    claims = _within(_within(_within(event, "requestContext"), "authorizer"), "claims")
    user = str(claims.get("sub") or "")
    if not user:
        raise NotAuthenticated
    tenant = str(claims.get("custom:tenant") or "")
    if not _TENANT.fullmatch(tenant):
        raise NotAllowed("This account belongs to no tenant; an administrator has to set its `custom:tenant`.")
    return Principal(tenant, user, _groups(claims.get("cognito:groups")))


def require_writer(who: Principal) -> None:
    """Raise `NotAllowed` unless the principal may change documents."""
    if not who.groups & WRITERS:
        raise NotAllowed("Changing documents needs the group `editor` or `admin`.")


def _within(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = found.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _groups(claim: object) -> frozenset[str]:
    """API Gateway hands the list over as text: `editor`, `editor,admin` or `[editor admin]`."""
    if isinstance(claim, list):
        return frozenset(map(str, claim))
    return frozenset(re.findall(r"[^\s,\[\]]+", str(claim or "")))


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
