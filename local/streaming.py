"""The query application with streaming, behind an authorizer: `python -m local.streaming --port 8082 …`.

It does for a request what API Gateway's Cognito authorizer and the Lambda Web Adapter do. A token is accepted when the
pool signed it (RS256, with the keys the pool publishes), when it is an ID token of this pool for this client, and has
not expired. Only its claims identify the user: the adapter's headers are replaced, whatever the client sends. The
function's own environment (RECTO_…) is expected, as the laptop stack sets it.
"""

import argparse
import base64
import binascii
import io
import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import httpx
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from functions.query.api.problems import MEDIA_TYPE, Problem
from functions.query.streaming_app import LAMBDA_CONTEXT, REQUEST_CONTEXT
from local.serving import AtMost, serve_in_processes

MAX_PROCESSES = 4
"""By default one serves for each core, but not more than these: each takes some 150 MB."""
REQUESTS_AT_ONCE = 8
"""In each process; more would only make one another slow."""
OPEN_PATHS = frozenset({"/healthz"})
MIN_REFETCH_S = 10.0
"""Minimum seconds between two fetches of the pool's keys: made-up key ids must not cause a fetch per request."""


class NotSigned(Exception):
    """The token is not from this pool; the message says why."""


class Tokens:
    """Verifies the ID tokens of one user pool for one client. Thread-safe."""

    def __init__(
        self,
        *,
        keys_url: str,
        pool: str,
        client_id: str,
        now: Callable[[], float] = time.time,
        fetch: Callable[[str], Mapping[str, Any]] | None = None,
    ) -> None:
        self._keys_url = keys_url
        self._pool = pool
        self._client_id = client_id
        self._now = now
        self._fetch = fetch or _fetched
        self._keys: dict[str, RSAPublicKey] = {}
        self._fetched_at = float("-inf")
        self._lock = Lock()

    def claims_of(self, token: str) -> dict[str, Any]:
        """Return a token's claims. Raises `NotSigned`."""
        try:
            head, body, signature = token.split(".")
            header, claims = json.loads(_decoded(head)), json.loads(_decoded(body))
            signed = _decoded(signature)
        except (ValueError, binascii.Error) as error:
            raise NotSigned("not a token") from error
        if not isinstance(header, dict) or not isinstance(claims, dict) or header.get("alg") != "RS256":
            raise NotSigned("not signed by RS256")
        key = self._key(str(header.get("kid")))
        try:
            key.verify(signed, f"{head}.{body}".encode(), PKCS1v15(), SHA256())
        except InvalidSignature as error:
            raise NotSigned("the signature is wrong") from error
        self._check(claims)
        return claims

    def _check(self, claims: Mapping[str, Any]) -> None:
        if str(claims.get("iss", "")).rsplit("/", 1)[-1] != self._pool:
            raise NotSigned("of another pool")
        if claims.get("token_use") != "id" or claims.get("aud") != self._client_id:
            raise NotSigned("not an ID token for this client")
        expires = claims.get("exp")
        if not isinstance(expires, int | float) or expires <= self._now():
            raise NotSigned("expired")

    def _key(self, key_id: str) -> RSAPublicKey:
        with self._lock:
            if key_id not in self._keys and self._now() - self._fetched_at >= MIN_REFETCH_S:
                self._fetched_at = self._now()
                self._keys = {str(key["kid"]): _rsa(key) for key in self._fetch(self._keys_url)["keys"]}
            if key_id not in self._keys:
                raise NotSigned("signed by an unknown key")
            return self._keys[key_id]


class Authorized:
    """ASGI middleware: 401 without a good token, else the request as the Lambda Web Adapter would hand it on.

    `timeout_s` is what the function's timeout is on AWS.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, timeout_s: float) -> None:
        self._app = app
        self._tokens = tokens
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI says."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context: dict[str, Any] = {"requestId": str(uuid.uuid4())}
        headers = [(name, value) for name, value in scope["headers"] if name not in {REQUEST_CONTEXT, LAMBDA_CONTEXT}]
        if scope["method"] != "OPTIONS" and scope["path"] not in OPEN_PATHS:
            kind, _, token = dict(headers).get(b"authorization", b"").decode("latin-1").partition(" ")
            try:
                # The pool's keys may have to be fetched first.
                claims = await run_in_threadpool(self._tokens.claims_of, token if kind.lower() == "bearer" else kind)
            except (NotSigned, httpx.HTTPError):
                await _refusal(scope, context)(scope, receive, send)
                return
            context["authorizer"] = {"claims": claims}
        invocation = {"request_id": context["requestId"], "deadline": round((time.time() + self._timeout_s) * 1_000)}
        headers.append((REQUEST_CONTEXT, json.dumps(context).encode()))
        headers.append((LAMBDA_CONTEXT, json.dumps(invocation).encode()))
        await self._app({**scope, "headers": headers}, receive, send)


def _refusal(scope: Scope, context: Mapping[str, Any]) -> JSONResponse:
    """Return what the template's GatewayResponses answer."""
    request = Request({**scope, "aws.event": {"requestContext": context}})
    problem = Problem(401, "not_authenticated", "A valid token is needed.").body(request)
    headers = {"www-authenticate": "Bearer", "access-control-allow-origin": "*"}
    return JSONResponse(problem, 401, headers, MEDIA_TYPE)


def _fetched(url: str) -> Mapping[str, Any]:
    # trust_env off: requests to 127.0.0.1 must not go through a proxy that is set for the internet.
    found: dict[str, Any] = httpx.get(url, timeout=5, trust_env=False).raise_for_status().json()
    return found


def _rsa(key: Mapping[str, str]) -> RSAPublicKey:
    modulus, exponent = (int.from_bytes(_decoded(key[part])) for part in ("n", "e"))
    return RSAPublicNumbers(exponent, modulus).public_key()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)


def main() -> None:
    """Read the command line and serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.streaming", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--aws-url", required=True, help="where the user pool publishes its keys")
    parser.add_argument("--pool", required=True, help="id of the user pool")
    parser.add_argument("--client", required=True, help="id of the pool's client")
    parser.add_argument("--processes", type=int, default=min(MAX_PROCESSES, os.process_cpu_count() or 1))
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Whole lines, because several processes write to one log.
        sys.stdout.reconfigure(line_buffering=True, write_through=False)

    def application() -> Authorized:
        from functions.query.bootstrap import configured, warm_up
        from functions.query.streaming_app import app

        warm_up()
        keys_url = f"{arguments.aws_url}/{arguments.pool}/.well-known/jwks.json"
        tokens = Tokens(keys_url=keys_url, pool=arguments.pool, client_id=arguments.client)
        return Authorized(AtMost(app, REQUESTS_AT_ONCE), tokens, configured().stream_timeout_s)

    serve_in_processes(application, arguments.port, processes=arguments.processes)


if __name__ == "__main__":
    main()
