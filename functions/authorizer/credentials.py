"""Who sends a request, by its `Authorization` header: `Bearer TOKEN`, or the token alone."""

import re
from collections.abc import Mapping

from functions.authorizer.tokens import IdTokens
from shared.errors import NotAuthenticated
from shared.models import ROLES, Principal

MAX_CHARACTERS = 10_240
"""Of the header; API Gateway takes no more for all headers together."""

_CREDENTIAL = re.compile(r"(?:bearer +)?([\w.-]+)", re.ASCII | re.IGNORECASE)


class Credentials:
    """Finds the principal that a header proves."""

    def __init__(self, tokens: IdTokens) -> None:
        self._tokens = tokens

    def principal_of(self, header: str) -> Principal:
        """Return who sends the request; the tenant is empty for a user without one.

        Raises `NotAuthenticated` unless the header proves it, and `DependencyError` if that cannot be known now.
        """
        found = _CREDENTIAL.fullmatch(header.strip()) if len(header) <= MAX_CHARACTERS else None
        if found is None:
            raise NotAuthenticated("There is no token in the header.")
        return self._user(found[1])

    def _user(self, token: str) -> Principal:
        claims = self._tokens.claims_of(token)
        groups = claims.get("cognito:groups")
        named = groups if isinstance(groups, list) else []
        return Principal(
            tenant=str(claims.get("custom:tenant") or ""),
            user=str(claims["sub"]),
            groups=frozenset(role for role in ROLES if role in named),
        )


def context_of(principal: Principal) -> Mapping[str, str]:
    """Return what the API's functions are told as `requestContext.authorizer`: flat strings, as API Gateway allows."""
    return {
        "principalId": principal.user,
        "tenant": principal.tenant,
        "groups": ",".join(sorted(principal.groups)),
    }
