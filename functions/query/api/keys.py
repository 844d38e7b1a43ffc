"""`/keys`: API keys of machine clients, which a tenant's administrators create, list and revoke."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import AwareDatetime, Field, StringConstraints

from functions.query.api.dependencies import PrincipalDep, ServicesDep
from functions.query.api.schemas import ONE_LINE, ULID, Body, Cursor, GroupName, Out
from shared.access import MAX_NAMES
from shared.api_keys import USER_PREFIX, ClientKey, new_secret, time_of
from shared.errors import InvalidRequest, NotAllowed, NotFound
from shared.models import ROLES, Principal, UserRole
from shared.telemetry import logger

router = APIRouter(prefix="/keys", tags=["administration"])

LONGEST = timedelta(days=36_500)
KeyName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=ONE_LINE)]


class KeyBody(Body):
    """`POST /keys`."""

    name: KeyName = Field(description="What uses the key, for whoever reads the list.")
    role: UserRole = Field("reader", description="What the key may do.")
    groups: list[GroupName] = Field(
        default_factory=list, max_length=MAX_NAMES, description="Groups whose documents it may read; no roles."
    )
    expires_at: AwareDatetime | None = Field(
        None,
        description="When the key stops working, with an offset from UTC, within 100 years; absent: never.",
    )


class KeyOut(Out):
    """An API key, without its secret."""

    key_id: str
    name: str
    role: UserRole
    groups: list[str] = Field(description="Groups whose documents it may read.")
    created_by: str = Field(description="The user who created it; `operator` for `python -m local keys`.")
    created_at: str
    expires_at: str = Field(description="Empty if it does not expire.")
    last_used_at: str = Field(description="Exact to about five minutes; empty if it was never used.")


class NewKeyOut(KeyOut):
    """A new API key with its secret, which is shown this once and stored nowhere."""

    key: str = Field(description="Send it as `Authorization: Bearer rk_…`.")


class KeyListOut(Out):
    """One page of a listing; an empty `next_cursor` ends it."""

    keys: list[KeyOut]
    next_cursor: str


async def _key_id(key_id: Annotated[str, Path(json_schema_extra={"pattern": ULID})]) -> str:
    if not re.fullmatch(ULID, key_id):
        raise NotFound("There is no such key.")
    return key_id


async def _person(principal: PrincipalDep) -> Principal:
    """Return the administrator. Raises `NotAllowed` for an API key: a leaked one must not outlive its revocation."""
    if principal.user.startswith(USER_PREFIX):
        raise NotAllowed("An API key cannot manage keys: sign in as an administrator.")
    return principal


KeyIdDep = Annotated[str, Depends(_key_id)]
PersonDep = Annotated[Principal, Depends(_person)]


@router.post("", status_code=201, operation_id="createKey")
def create_key(body: KeyBody, principal: PersonDep, services: ServicesDep, response: Response) -> NewKeyOut:
    """Create an API key for your tenant. Only this response shows the key."""
    now = services.clock.now()
    if wrong := set(body.groups) & set(ROLES):
        raise InvalidRequest(f"groups: {', '.join(sorted(wrong))} is a role: name it as `role`.")
    if body.expires_at and not now < body.expires_at <= now + LONGEST:
        raise InvalidRequest("expires_at: must be in the future, and within 100 years.")
    key = ClientKey(
        tenant=principal.tenant,
        key_id=services.new_id(),
        name=body.name,
        role=body.role,
        created_by=principal.user,
        created_at=time_of(now),
        expires_at=_utc(body.expires_at),
        groups=sorted(set(body.groups)),
    )
    secret = new_secret()
    services.api_keys.create(key, secret)
    logger.info("key created", extra={"tenant": key.tenant, "key_id": key.key_id, "by": key.created_by})
    response.headers["Cache-Control"] = "no-store"
    return NewKeyOut(**KeyOut.model_validate(key).model_dump(), key=secret)


@router.get("", operation_id="listKeys")
def list_keys(
    principal: PersonDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Cursor = "",
) -> KeyListOut:
    """List the tenant's API keys, the newest first, page by page. An expired one is listed for 30 days more."""
    keys, following = services.api_keys.list(principal.tenant, limit=limit, cursor=cursor)
    return KeyListOut(keys=[KeyOut.model_validate(key) for key in keys], next_cursor=following)


@router.delete("/{key_id}", status_code=204, operation_id="revokeKey")
def revoke_key(principal: PersonDep, key_id: KeyIdDep, services: ServicesDep) -> None:
    """Revoke an API key: it stops working within a minute. What it asked and wrote stays."""
    if not services.api_keys.revoke(principal.tenant, key_id):
        raise NotFound("There is no such key.")
    logger.info("key revoked", extra={"tenant": principal.tenant, "key_id": key_id, "by": principal.user})


def _utc(moment: datetime | None) -> str:
    return time_of(moment.astimezone(UTC)) if moment else ""
