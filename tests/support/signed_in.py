"""The application behind an authorizer for tests: it believes a bearer token that names tenant, user and group."""

import json
import uuid

from starlette.types import ASGIApp, Receive, Scope, Send

from functions.query.streaming_app import REQUEST_CONTEXT, FromAdapter
from tests.support.query_stack import authorized


def token_of(tenant: str, user: str, group: str) -> str:
    """Return the token of a user."""
    return f"{tenant}:{user}:{group}"


class SignedIn:
    """ASGI application: adds what API Gateway says about a verified token; without a token it adds nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = FromAdapter(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1").removeprefix("Bearer ")
            context: dict[str, object] = {"requestId": str(uuid.uuid4())}
            if sent.count(":") == 2:
                context["authorizer"] = authorized(*sent.split(":"))
            headers = [header for header in scope["headers"] if header[0] != REQUEST_CONTEXT]
            scope = {**scope, "headers": [*headers, (REQUEST_CONTEXT, json.dumps(context).encode())]}
        await self._app(scope, receive, send)
