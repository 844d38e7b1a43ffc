"""The query application with streaming, behind an authorizer, and the page: `python -m local.streaming --port 8082`.

It does for a request what API Gateway's authorizer and the Lambda Web Adapter do, with the authorizer's own code. Only
the authorizer's result identifies the user: the adapter's headers are replaced, whatever the client sends. It expects
the environment of both functions (RECTO_…), as the laptop stack sets it.
"""

import argparse
import io
import json
import os
import sys
import time
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from functions.authorizer.credentials import Credentials, context_of
from functions.query.api.problems import MEDIA_TYPE, Problem
from functions.query.streaming_app import LAMBDA_CONTEXT, REQUEST_CONTEXT
from local import sign_in
from local.page import BUILT, PageSettings, WithPage
from local.reference import WithReference
from local.serving import AtMost, serve_in_processes
from local.stack import users
from shared.errors import DependencyError, NotAuthenticated

MAX_PROCESSES = 4
"""The most processes: by default there is one for each core; each takes some 150 MB."""
REQUESTS_AT_ONCE = 8
"""Requests at once in each process; more would only slow each other down."""
OPEN_PATHS = frozenset({"/healthz", "/openapi.json"})


class Authorized:
    """ASGI middleware: 401 without a valid token, else the request as the Lambda Web Adapter would pass it on.

    `timeout_s` is what the function's timeout is on AWS.
    """

    def __init__(self, app: ASGIApp, credentials: Credentials, timeout_s: float) -> None:
        self._app = app
        self._credentials = credentials
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI says."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context: dict[str, Any] = {"requestId": str(uuid.uuid4())}
        headers = [(name, value) for name, value in scope["headers"] if name not in {REQUEST_CONTEXT, LAMBDA_CONTEXT}]
        if scope["method"] != "OPTIONS" and scope["path"] not in OPEN_PATHS:
            header = dict(headers).get(b"authorization", b"").decode("latin-1")
            try:
                # The pool's keys may have to be fetched first.
                principal = await run_in_threadpool(self._credentials.principal_of, header)
            except NotAuthenticated:
                problem = Problem(401, "not_authenticated", "A valid token or API key is needed.")
                await _refusal(problem, scope, context)(scope, receive, send)
                return
            except DependencyError:
                problem = Problem(500, "gateway_failed", "The token could not be verified.")
                await _refusal(problem, scope, context)(scope, receive, send)
                return
            context["authorizer"] = dict(context_of(principal))
        invocation = {"request_id": context["requestId"], "deadline": round((time.time() + self._timeout_s) * 1_000)}
        headers.append((REQUEST_CONTEXT, json.dumps(context).encode()))
        headers.append((LAMBDA_CONTEXT, json.dumps(invocation).encode()))
        await self._app({**scope, "headers": headers}, receive, send)


def _refusal(problem: Problem, scope: Scope, context: Mapping[str, Any]) -> JSONResponse:
    """Return the response that the template's GatewayResponses describe."""
    request = Request({**scope, "aws.event": {"requestContext": context}})
    headers = {"access-control-allow-origin": "*"} | ({"www-authenticate": "Bearer"} if problem.status == 401 else {})
    return JSONResponse({**problem.body(request), **problem.openai_body()}, problem.status, headers, MEDIA_TYPE)


def main() -> None:
    """Read the command line and serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.streaming", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--processes", type=int, default=min(MAX_PROCESSES, os.process_cpu_count() or 1))
    parser.add_argument(
        "--page-client", metavar="ID", help="serve the page, too; its users sign in with this app client"
    )
    parser.add_argument("--state", type=Path, metavar="DIR", help="folder of the stack's state, for the page's users")
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Whole lines, because several processes write to one log.
        sys.stdout.reconfigure(line_buffering=True, write_through=False)
    make = partial(_application, arguments.page_client, arguments.state)
    serve_in_processes(make, arguments.port, processes=arguments.processes)


def _application(page_client: str | None, state: Path | None) -> ASGIApp:
    from functions.authorizer.app import credentials
    from functions.query.app import app as api
    from functions.query.bootstrap import configured, warm_up
    from functions.query.streaming_app import app

    warm_up()
    authorized = Authorized(AtMost(app, REQUESTS_AT_ONCE), credentials(), configured().stream_timeout_s)
    documented = WithReference(authorized, api)
    return documented if page_client is None or state is None else _with_page(documented, page_client, state)


def _with_page(app: ASGIApp, client_id: str, state: Path) -> WithPage:
    aws_url = os.environ["AWS_ENDPOINT_URL"]
    people = [user for user in users.LAPTOP if user.tenant == users.DEMO.tenant]
    hint = "Sign in as " + ", ".join(f"{user.name} ({user.group})" for user in people) + "."
    # The browser fetches documents from the emulated bucket, and uploads them there.
    settings = PageSettings(BUILT, [aws_url], client_id, hint)
    return WithPage(app, settings, sign_in.application(aws_url, people, lambda: users.password_of(state)))


if __name__ == "__main__":
    main()
