"""What routes depend on: the services, the principal, the request's deadline, and well-formed ids."""

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

WRITERS = frozenset({"editor", "admin"})
"""Groups whose members may change documents."""
ADMINS = frozenset({"admin"})
"""Groups whose members may see how the service does."""

_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_DOCUMENT_ID = re.compile(r"[0-9a-f]{32}")
_CONVERSATION_ID = re.compile(ULID)


def principal_of(event: Mapping[str, Any]) -> Principal:
    """Read tenant and user from the claims that the API's authorizer has verified, never from the request itself.

    Raises `NotAuthenticated` without verified claims, `NotAllowed` if they name no tenant.
    """
    claims: Mapping[str, Any] = event
    for name in ("requestContext", "authorizer", "claims"):
        inner = claims.get(name)
        claims = inner if isinstance(inner, Mapping) else {}
    user = str(claims.get("sub") or "")
    if not user:
        raise NotAuthenticated
    tenant = str(claims.get("custom:tenant") or "")
    if not _TENANT.fullmatch(tenant):
        raise NotAllowed("This account belongs to no tenant; an administrator has to set its `custom:tenant`.")
    return Principal(tenant, user, _groups(claims.get("cognito:groups")))


def require_writer(principal: Principal) -> None:
    """Raise `NotAllowed` unless the principal may change documents."""
    if not principal.groups & WRITERS:
        raise NotAllowed("Changing documents needs the group `editor` or `admin`.")


def _groups(claim: object) -> frozenset[str]:
    """API Gateway writes the list as text: `editor`, `editor,admin` or `[editor admin]`."""
    if isinstance(claim, list):
        return frozenset(map(str, claim))
    return frozenset(re.findall(r"[^\s,\[\]]+", str(claim or "")))


# Coroutines, because FastAPI would run plain functions in threads, which costs more than the functions themselves.


async def _services() -> Services:
    return services()


async def _principal(request: Request) -> Principal:
    return principal_of(request.scope.get("aws.event") or {})


async def _writer(principal: Annotated[Principal, Depends(_principal)]) -> Principal:
    require_writer(principal)
    return principal


async def _admin(principal: Annotated[Principal, Depends(_principal)]) -> Principal:
    if not principal.groups & ADMINS:
        raise NotAllowed("This needs the group `admin`.")
    return principal


async def _deadline(request: Request) -> Deadline:
    deadline: Deadline = request.scope[DEADLINE]
    return deadline


async def _document_id(document_id: str) -> str:
    # DynamoDB rejects an id too long for a key, and that would become a 500.
    if not _DOCUMENT_ID.fullmatch(document_id):
        raise NotFound("There is no such document.")
    return document_id


async def _conversation_id(conversation_id: str) -> str:
    # As above; also, a message's sort key begins with its conversation's id and must not pass as one.
    if not _CONVERSATION_ID.fullmatch(conversation_id):
        raise NotFound("There is no such conversation.")
    return conversation_id


ServicesDep = Annotated[Services, Depends(_services)]
PrincipalDep = Annotated[Principal, Depends(_principal)]
WriterDep = Annotated[Principal, Depends(_writer)]
AdminDep = Annotated[Principal, Depends(_admin)]
DeadlineDep = Annotated[Deadline, Depends(_deadline)]
DocumentIdDep = Annotated[str, Depends(_document_id)]
ConversationIdDep = Annotated[str, Depends(_conversation_id)]
