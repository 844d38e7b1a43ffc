"""Roles: which of a user's Cognito groups may call which route. docs/api.md prints this table, and a test compares."""

from collections.abc import Set

from shared.errors import NotAllowed
from shared.models import ROLES, UserRole

EVERYONE: frozenset[UserRole] = frozenset(ROLES)
EDITORS: frozenset[UserRole] = frozenset({"editor", "admin"})
AGENTS: frozenset[UserRole] = frozenset({"agent", "admin"})
ADMINS: frozenset[UserRole] = frozenset({"admin"})

PERMISSIONS: dict[str, frozenset[UserRole]] = {
    "POST /query": EVERYONE,
    "POST /search": EDITORS,
    "GET /conversations": EVERYONE,
    "GET /conversations/{conversation_id}": EVERYONE,
    "PATCH /conversations/{conversation_id}": EVERYONE,
    "DELETE /conversations/{conversation_id}": EVERYONE,
    "POST /conversations/{conversation_id}/messages": EVERYONE,
    "GET /conversations/{conversation_id}/export": EVERYONE,
    "PUT /messages/{message_id}/feedback": EVERYONE,
    "DELETE /messages/{message_id}/feedback": EVERYONE,
    "GET /messages/{message_id}/receipt": EVERYONE,
    "POST /messages/{message_id}/replay": EVERYONE,
    "GET /feedback": EDITORS,
    "GET /documents": EVERYONE,
    "GET /documents/{document_id}": EVERYONE,
    "GET /documents/{document_id}/content": EVERYONE,
    "GET /documents/{document_id}/pages/{number}": EVERYONE,
    "GET /documents/{document_id}/report": EVERYONE,
    "POST /documents": EDITORS,
    "POST /documents/bulk": EDITORS,
    "PATCH /documents/{document_id}": EDITORS,
    "DELETE /documents/{document_id}": EDITORS,
    "DELETE /users/me": EVERYONE,
    "DELETE /users/{user_id}": ADMINS,
    "GET /erasures/{erasure_id}": EVERYONE,
    "GET /documents/{document_id}/edits": EDITORS,
    "GET /passages/{passage_id}": EDITORS,
    "PATCH /passages/{passage_id}": EDITORS,
    "POST /conversations/{conversation_id}/handoff": EVERYONE,
    "GET /handoffs": AGENTS | EDITORS,
    "GET /handoffs/{handoff_id}": AGENTS | EDITORS,
    "POST /handoffs/{handoff_id}/claim": AGENTS,
    "POST /handoffs/{handoff_id}/release": AGENTS,
    "POST /handoffs/{handoff_id}/resolve": AGENTS,
    "POST /handoffs/{handoff_id}/close": AGENTS,
    "POST /handoffs/{handoff_id}/publish": EDITORS,
    "GET /insights/unanswered": EDITORS,
    "GET /faqs": EVERYONE,
    "POST /faqs": EDITORS,
    "GET /faqs/export": EVERYONE,
    "POST /faqs/import": EDITORS,
    "GET /faqs/{faq_id}": EVERYONE,
    "PUT /faqs/{faq_id}": EDITORS,
    "DELETE /faqs/{faq_id}": EDITORS,
    "POST /v1/chat/completions": EVERYONE,
    "POST /v1/responses": EVERYONE,
    "GET /v1/models": EVERYONE,
    "GET /v1/models/{model}": EVERYONE,
    "POST /keys": ADMINS,
    "GET /keys": ADMINS,
    "DELETE /keys/{key_id}": ADMINS,
    "GET /access": ADMINS,
    "PUT /access": ADMINS,
    "POST /mcp": EVERYONE,
    "GET /admin/health": ADMINS,
    "GET /admin/usage": ADMINS,
}
"""Method and path of every route that needs a token → the roles that may call it. An unlisted route is refused."""

PUBLIC = frozenset({"GET /healthz", "GET /openapi.json"})
"""Routes without a token."""


def roles_of(groups: Set[str]) -> frozenset[UserRole]:
    """Return the roles of a user's groups. A user without any is a reader: the tenant alone lets them ask."""
    return frozenset(role for role in ROLES if role in groups) or frozenset({"reader"})


def require_permission(route: str, groups: Set[str]) -> None:
    """Raise `NotAllowed` unless one of the groups may call the route ("GET /documents")."""
    allowed = PERMISSIONS.get(route, frozenset())
    if not allowed & roles_of(groups):
        needed = " or ".join(f"`{role}`" for role in ROLES if role in allowed)
        raise NotAllowed(f"This needs the group {needed}." if needed else "")
