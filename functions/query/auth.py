"""Who is asking: tenant and user from the claims the API's authorizer verified, and from nowhere else."""

import re
from collections.abc import Mapping
from typing import Any

from shared.errors import NotAllowed, NotAuthenticated
from shared.models import Principal

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
