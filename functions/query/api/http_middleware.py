"""What HTTP expects of any server: HEAD is GET without the body, and an error nobody foresaw is an answer like others.

Starlette would answer such an error outside of CORS, and a browser would be shown "Failed to fetch".
"""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions.query.api import problems


class HttpMiddleware:
    """ASGI middleware: routes see GET for HEAD, and what they raise is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection. Raises what is raised after the response has begun."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        scope = {**scope, "method": "GET"} if is_head else scope
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            begun = True
            if is_head and message["type"] == "http.response.body":
                if message.get("more_body", False):
                    return
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception as error:
            if begun:
                raise
            await problems.response_to(Request(scope), error)(scope, receive, send_on)
