"""Who sends a request, by its `Authorization` header: `Bearer` and an ID token or an API key, or either alone."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Protocol

from functions.authorizer.tokens import IdTokens
from shared.access import is_name
from shared.api_keys import PREFIX, SECRET, ClientKey
from shared.errors import DependencyError, NotAuthenticated
from shared.models import ROLES, Principal
from shared.telemetry import logger

MAX_CHARACTERS = 10_240
"""Of the header; API Gateway takes no more for all headers together."""
USE_NOTED_EVERY = timedelta(minutes=5)
"""How exact a key's time of use is: noting it costs a write."""

_CREDENTIAL = re.compile(r"(?:bearer +)?([\w.-]+)", re.ASCII | re.IGNORECASE)


class ClientKeys(Protocol):
    """What the authorizer asks of the stored keys; both raise `DependencyError`."""

    def find(self, secret: str) -> ClientKey | None:
        """Return the key with this secret, None if there is none (any more)."""

    def mark_used(self, secret: str, *, at: datetime, unless_since: datetime) -> None:
        """Record when a key was used, unless a use since `unless_since` is recorded."""


class Credentials:
    """Finds the principal that a header proves. `keys` is asked for with the first API key."""

    def __init__(
        self,
        tokens: IdTokens,
        keys: Callable[[], ClientKeys],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._tokens = tokens
        self._keys = keys
        self._now = now

    def principal_of(self, header: str) -> Principal:
        """Return who sends the request; the tenant is empty for a user without one.

        Raises `NotAuthenticated` unless the header proves it, and `DependencyError` if that cannot be known now.
        """
        found = _CREDENTIAL.fullmatch(header.strip()) if len(header) <= MAX_CHARACTERS else None
        if found is None:
            raise NotAuthenticated("There is no token or API key in the header.")
        return self._client(found[1]) if found[1].startswith(PREFIX) else self._user(found[1])

    def _user(self, token: str) -> Principal:
        claims = self._tokens.claims_of(token)
        groups = claims.get("cognito:groups")
        named = groups if isinstance(groups, list) else []
        return Principal(
            tenant=str(claims.get("custom:tenant") or ""),
            user=str(claims["sub"]),
            groups=frozenset(filter(is_name, map(str, named))),
        )

    def _client(self, secret: str) -> Principal:
        key = self._keys().find(secret) if SECRET.fullmatch(secret) else None
        now = self._now()
        if key is None:
            raise NotAuthenticated("There is no such API key.")
        if key.is_expired(now):
            raise NotAuthenticated("The API key has expired.")
        if key.role not in ROLES:  # without any, it would be a reader
            raise NotAuthenticated("The API key has no role.")
        self._note_use(key, secret, now)
        # A group with the name of a role gives no role: an administrator chooses a key's role with `role`.
        return Principal(key.tenant, key.user, frozenset({key.role, *(set(key.groups) - set(ROLES))}))

    def _note_use(self, key: ClientKey, secret: str, now: datetime) -> None:
        """Record the time of use, at most once in a while. A failure keeps nobody out."""
        since = now - USE_NOTED_EVERY
        if key.last_used_at and datetime.fromisoformat(key.last_used_at) >= since:
            return
        try:
            self._keys().mark_used(secret, at=now, unless_since=since)
        except DependencyError as error:
            logger.warning("use of a key not noted", extra={"key_id": key.key_id, "error": error.message})


def context_of(principal: Principal) -> Mapping[str, str]:
    """Return what the API's functions get as `requestContext.authorizer`: flat strings, as API Gateway allows.

    `groups` are the roles; `member_of` the other groups as JSON, because a group's name may hold a comma.
    """
    others = sorted(principal.groups - set(ROLES))
    return {
        "principalId": principal.user,
        "tenant": principal.tenant,
        "groups": ",".join(sorted(principal.groups & set(ROLES))),
        **({"member_of": json.dumps(others, separators=(",", ":"))} if others else {}),
    }
