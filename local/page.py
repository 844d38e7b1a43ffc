"""The page (web/) as the laptop's server serves it: its files with strict headers, `/config.json`, and sign-in.

CloudFront does the same on AWS (PageHeaders in template.yaml).
"""

import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from local import sign_in
from local.stack.config import PROJECT

BUILT = PROJECT / "web" / "dist"
"""What `make web` builds."""
INDEX, CONFIG = "index.html", "/config.json"
SCOPES = "openid email profile"
HASHED = "assets"
"""The folder of the files that have a hash of their content in the name."""
KEPT_FOR_GOOD = "public, max-age=31536000, immutable"
ASKED_AGAIN = "no-cache"
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cross-origin-opener-policy": "same-origin-allow-popups",  # signing in again takes a window of its own
    "cross-origin-resource-policy": "cross-origin",  # another site may load the widget, also if it is isolated
    "x-frame-options": "DENY",
}
NOT_BUILT = """<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>Recto</title><h1>The page is not built</h1>
<p>The API runs. For the page run <code>make web</code> in the checkout (it needs npm's registry once), then reload.</p>
"""


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Where the page's files are, what it may reach besides its own server, and how its users sign in."""

    files: Path
    reaches: Sequence[str]
    client_id: str
    hint: str


class WithPage:
    """ASGI application: serves the page and its sign-in without a token, and passes everything else on."""

    def __init__(self, app: ASGIApp, settings: PageSettings, signing_in: ASGIApp) -> None:
        self._app = app
        self._settings = settings
        self._signing_in = signing_in
        self._files = settings.files.resolve()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection as ASGI says."""
        if scope["type"] == "http" and (found := self._answer(Request(scope))):
            await found(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _answer(self, request: Request) -> ASGIApp | None:
        path = request.url.path
        if path == sign_in.PATH or path.startswith(f"{sign_in.PATH}/"):
            return self._signing_in
        if request.method not in ("GET", "HEAD"):
            return None
        if path == CONFIG:
            return JSONResponse(self._config(own_address(request)), headers={**HEADERS, "cache-control": ASKED_AGAIN})
        return self._file(path)

    def _file(self, path: str) -> Response | None:
        try:
            file = (self._files / (path.lstrip("/") or INDEX)).resolve()
            is_ours = file.is_relative_to(self._files) and file.is_file()
        except (OSError, ValueError):  # longer than a file's name can be, or with a NUL
            return None
        if is_ours:
            return FileResponse(file, headers=self._headers(file), media_type=media_type(file))
        return HTMLResponse(NOT_BUILT, 503, HEADERS) if path == "/" else None

    def _headers(self, file: Path) -> dict[str, str]:
        policy = content_security_policy(self._settings.reaches)
        return {**HEADERS, "cache-control": how_long_kept(file), "content-security-policy": policy}

    def _config(self, base: str) -> dict[str, Any]:
        """Return what the page must know: where the API is, and how to sign in."""
        signing_in = {
            "authorize_url": f"{base}{sign_in.PATH}",
            "token_url": f"{base}{sign_in.PATH}/token",
            "logout_url": f"{base}{sign_in.PATH}/logout",
            "revoke_url": f"{base}{sign_in.PATH}/revoke",
        }
        return {**config(base, signing_in, self._settings.client_id, f"{base}/"), "hint": self._settings.hint}


def config(api: str, addresses: Mapping[str, str], client_id: str, page: str) -> dict[str, Any]:
    """Return what `config.json` tells the page at `page`: the API, and the `addresses` of the sign-in."""
    return {"api": api, "sign_in": {**addresses, "client_id": client_id, "scope": SCOPES, "redirect_uri": page}}


def content_security_policy(reaches: Sequence[str]) -> str:
    """Return the page's policy: nothing but its own files; `reaches` are the origins it may send requests to."""
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            " ".join(["connect-src 'self'", *reaches]),
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )


def how_long_kept(file: PurePath) -> str:
    """Return the Cache-Control of one of the page's files."""
    return KEPT_FOR_GOOD if file.parent.name == HASHED else ASKED_AGAIN


def media_type(file: PurePath) -> str:
    """Return a file's media type, whatever this machine's own tables say."""
    known = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
    return known.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"


def own_address(request: Request) -> str:
    """Return the address under which the browser called this server, without a slash at its end."""
    return str(request.base_url).rstrip("/")
