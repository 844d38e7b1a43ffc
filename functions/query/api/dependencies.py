"""What routes depend on: the services, the principal, the deadline, well-formed ids, and no unknown parameters."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from fastapi import Depends, Path, Request, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError

from functions.query.api.middleware import DEADLINE
from functions.query.api.roles import require_permission
from functions.query.api.schemas import DOCUMENT_ID, ULID
from functions.query.bootstrap import Services, services
from shared.deadline import Deadline
from shared.errors import NotAllowed, NotAuthenticated, NotFound
from shared.models import ROLES, TENANT, Principal

_DOCUMENT_ID = re.compile(DOCUMENT_ID)
_ULID = re.compile(ULID)


def principal_of(event: Mapping[str, Any]) -> Principal:
    """Read tenant and user from what the API's authorizer has verified, never from the request itself.

    Raises `NotAuthenticated` if the authorizer said nothing, `NotAllowed` if it names no tenant.
    """
    verified: Mapping[str, Any] = event
    for name in ("requestContext", "authorizer"):
        inner = verified.get(name)
        verified = inner if isinstance(inner, Mapping) else {}
    user = str(verified.get("principalId") or "")
    if not user:
        raise NotAuthenticated
    tenant = str(verified.get("tenant") or "")
    if not re.fullmatch(TENANT, tenant):
        raise NotAllowed(
            "This account belongs to no tenant: an administrator has to set its `custom:tenant` or, for a company's "
            "account, give one of its groups a role and a tenant (`GroupRoles`, `GroupTenants`)."
        )
    roles = str(verified.get("groups") or "").split(",")
    return Principal(tenant, user, frozenset(filter(None, (*roles, *_member_of(verified)))))


def _member_of(verified: Mapping[str, Any]) -> Iterator[str]:
    """Yield the groups that are not roles: their names may contain any character, so they come as JSON."""
    try:
        named = json.loads(str(verified.get("member_of") or "[]"))
    except ValueError:
        return
    yield from (name for name in named if isinstance(name, str) and name not in ROLES)


# Coroutines, because FastAPI would run plain functions in threads, which costs more than the functions themselves.


async def known_parameters(request: Request) -> None:
    """Raise `RequestValidationError` for query parameters that the route does not have.

    A misspelt filter would otherwise list everything. It comes before the role is checked: the parameters are public.
    """
    if not request.query_params:
        return
    fields = get_flat_params(request.scope["route"].dependant)
    known = sorted(field.alias for field in fields if isinstance(field.field_info, params.Query))
    if unknown := [name for name in request.query_params if name not in known]:
        message = f"There is no such parameter; known are: {', '.join(known) or 'none'}."
        raise RequestValidationError(
            [{"type": "unknown_parameter", "loc": ("query", name), "msg": message} for name in unknown]
        )


async def _principal(request: Request) -> Principal:
    """Return the principal. Raises `NotAllowed` unless one of their roles may call this route."""
    principal = principal_of(request.scope.get("aws.event") or {})
    require_permission(f"{request.method} {request.scope['route'].path}", principal.groups)
    return principal


PrincipalDep = Annotated[Principal, Depends(_principal)]


async def _services(principal: PrincipalDep) -> Services:
    """Return the services for this principal."""
    return services().for_reader(principal)


async def _deadline(request: Request) -> Deadline:
    deadline: Deadline = request.scope[DEADLINE]
    return deadline


async def _document_id(document_id: Annotated[str, Path(json_schema_extra={"pattern": DOCUMENT_ID})]) -> str:
    # DynamoDB rejects an id too long for a key, and that would become a 500.
    if not _DOCUMENT_ID.fullmatch(document_id):
        raise NotFound("There is no such document.")
    return document_id


async def _conversation_id(conversation_id: Annotated[str, Path(json_schema_extra={"pattern": ULID})]) -> str:
    # As above; also, a message's sort key begins with its conversation's id and must not pass as one.
    if not _ULID.fullmatch(conversation_id):
        raise NotFound("There is no such conversation.")
    return conversation_id


async def _message_id(message_id: str) -> str:
    if not _ULID.fullmatch(message_id):
        raise NotFound("There is no such message.")
    return message_id


async def _public_services() -> Services:
    return services()


PublicServicesDep = Annotated[Services, Depends(_public_services)]
ServicesDep = Annotated[Services, Depends(_services)]
DeadlineDep = Annotated[Deadline, Depends(_deadline)]
DocumentIdDep = Annotated[str, Depends(_document_id)]
ConversationIdDep = Annotated[str, Depends(_conversation_id)]
MessageIdDep = Annotated[str, Depends(_message_id)]
