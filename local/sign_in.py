"""The laptop's sign-in page, in place of Cognito's managed login, and the rest of the sign-in on one origin.

The emulated Cognito does the work: it knows the client and its addresses, checks the password, issues the code and
exchanges it for tokens, including PKCE. The difference: this page lists the laptop's users and signs one in with a
click, because whoever reaches 127.0.0.1 may do anything with the emulators anyway.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import parse_qsl

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from local.stack.users import User

PATH = "/sign-in"
TIMEOUT_S = 30.0
FORM_BYTES = 20_000
CARRIED = (
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
)
"""What the page asks for, kept while the user signs in."""
ROLES = {
    "reader": "asks questions, reads documents",
    "editor": "also uploads documents and writes FAQs",
    "agent": "also answers questions that were handed over",
    "admin": "also sees keys, usage and health",
}
"""In the order of the page."""
WRONG = "The e-mail address or the password is wrong."
MUST_CHANGE = "This user has to set a password of their own first, which this page cannot do."
UNREACHABLE = "The stack does not answer. Is it still up? `make up` brings it up again; then reload this page."
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
STYLE = """
:root { color-scheme: light dark; --paper: #faf9f6; --card: #fff; --line: #e2ded4; --edge: #8e887b; --text: #1f1d1a;
  --soft: #5f5a51; --accent: #0f6b5c; --accent-soft: #e1efec; --on-accent: #fff; --bad: #a3261e; --bad-soft: #fbe6e3; }
@media (prefers-color-scheme: dark) { :root { --paper: #171614; --card: #201f1c; --line: #38352f; --edge: #8d877b;
  --text: #f0ede6; --soft: #b5afa3; --accent: #5cc2ad; --accent-soft: #1d3a34; --on-accent: #0c1f1b; --bad: #f2a097;
  --bad-soft: #44201d; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1rem; background: var(--paper);
  color: var(--text); font: 15px/1.5 ui-sans-serif, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { width: min(26rem, 100%); background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  padding: 2rem; box-shadow: 0 8px 24px rgb(31 29 26 / 9%); }
img { display: block; } h1 { font-size: 1.375rem; line-height: 1.25; margin: 1rem 0 .25rem; }
p { margin: 0 0 1.25rem; color: var(--soft); } .wrong { background: var(--bad-soft); color: var(--bad);
  border-radius: .625rem; padding: .75rem 1rem; }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
button { font: inherit; cursor: pointer; border-radius: .625rem; min-height: 2.75rem; padding: .5rem 1rem; width: 100%;
  }
.who { display: grid; text-align: left; background: none; color: inherit; border: 1px solid var(--edge); }
.who:hover { background: var(--accent-soft); } .who small { color: var(--soft); font-size: .8125rem; }
.enter { background: var(--accent); color: var(--on-accent); border: 0; font-weight: 600; margin-top: 1rem; }
details { margin-top: 1.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
summary { cursor: pointer; color: var(--soft); } label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { font: inherit; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--edge);
  border-radius: .625rem; background: var(--paper); color: inherit; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
"""
_FORM = {"content-type": "application/x-www-form-urlencoded"}


def application(cognito_url: str, people: Sequence[User], password: Callable[[], str]) -> Starlette:
    """Return the ASGI application below `PATH`: page, token, revoke and logout. `people` share the `password`."""
    pages = SignIn(cognito_url, people, password)
    routes = [
        Route(PATH, pages.ask, methods=["GET"]),
        Route(PATH, pages.answer, methods=["POST"]),
        Route(f"{PATH}/style.css", lambda _: Response(STYLE, media_type="text/css"), methods=["GET"]),
        Route(f"{PATH}/token", pages.token, methods=["POST"]),
        Route(f"{PATH}/revoke", pages.revoke, methods=["POST"]),
        Route(f"{PATH}/logout", pages.logout, methods=["GET"]),
    ]
    # Otherwise a web site whose name resolves to 127.0.0.1 could sign in here.
    own_names = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"], www_redirect=False)
    return Starlette(routes=routes, middleware=[own_names])


class SignIn:
    """The steps of a sign-in, each passed on to the emulated Cognito."""

    def __init__(self, cognito_url: str, people: Sequence[User], password: Callable[[], str]) -> None:
        self._people = sorted(people, key=lambda user: list(ROLES).index(user.group))
        self._password = password
        self._cognito_url = cognito_url

    async def ask(self, request: Request) -> Response:
        """Show the page, if Cognito would show its own."""
        asked = dict(request.query_params)
        answered = await self._cognito("GET", "/oauth2/authorize", params=asked)
        if answered.status_code != 200:
            return _passed_on(answered)
        return self._page(asked)

    async def answer(self, request: Request) -> Response:
        """Sign the user in and send the browser back with a code; show the page again if that fails."""
        form = await _form_of(request)
        asked = {name: form[name] for name in CARRIED if name in form}
        chosen = next((user for user in self._people if user.name == form.get("as")), None)
        name, password = (
            (chosen.name, self._password()) if chosen else (form.get("username", ""), form.get("password", ""))
        )
        answered = await self._cognito("POST", "/login", data={**asked, "username": name, "password": password})
        if answered.status_code == 200:
            return self._page(asked, MUST_CHANGE if "new_password" in answered.text else WRONG, name)
        return _passed_on(answered)

    async def token(self, request: Request) -> Response:
        """Exchange a code or a refresh token for tokens."""
        return _passed_on(await self._cognito("POST", "/oauth2/token", content=await _body_of(request), headers=_FORM))

    async def revoke(self, request: Request) -> Response:
        """Revoke a refresh token (RFC 7009); the emulator supports that only through its API."""
        form = await _form_of(request)
        target = {
            "content-type": "application/x-amz-json-1.1",
            "x-amz-target": "AWSCognitoIdentityProviderService.RevokeToken",
        }
        sent = {"Token": form.get("token", ""), "ClientId": form.get("client_id", "")}
        answered = await self._cognito("POST", "/", json=sent, headers=target)
        return Response(status_code=200 if answered.status_code == 200 else 400, headers=HEADERS)

    async def logout(self, request: Request) -> Response:
        """Send the browser to the address it asks for, if it is one of the client's."""
        return _passed_on(await self._cognito("GET", "/logout", params=dict(request.query_params)))

    async def _cognito(self, method: str, path: str, **sent: Any) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self._cognito_url, timeout=TIMEOUT_S, trust_env=False) as http:
            try:
                return await http.request(method, path, **sent)
            except httpx.TransportError as error:
                raise HTTPException(503, UNREACHABLE) from error

    def _page(self, asked: Mapping[str, str], wrong: str = "", name: str = "") -> HTMLResponse:
        carried = "".join(
            f'<input type="hidden" name="{each}" value="{escape(asked[each])}">' for each in CARRIED if each in asked
        )
        told = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
        who = "".join(
            f'<li><button class="who" name="as" value="{escape(user.name)}"><span>{escape(user.name)}</span>'
            f"<small>{user.group}: {ROLES[user.group]}</small></button></li>"
            for user in self._people
        )
        page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in · Recto</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="{PATH}/style.css"><main><img src="/favicon.svg" width="40" height="40" alt="">
<h1>Sign in to Recto</h1><p>This stack runs on your own machine. Choose who you are:</p>{told}
<form method="post" action="{PATH}">{carried}<ul>{who}</ul></form>
<details{" open" if wrong else ""}><summary>Somebody else</summary><form method="post" action="{PATH}">{carried}
<label for="username">E-mail address</label>
<input id="username" name="username" type="email" autocomplete="username" required value="{escape(name)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="enter">Sign in</button></form></details></main></html>"""
        return HTMLResponse(page, 401 if wrong else 200, HEADERS)


def _passed_on(answered: httpx.Response) -> Response:
    """Return Cognito's answer: a redirect, JSON, or an error in words."""
    if location := answered.headers.get("location"):
        return RedirectResponse(location, 302, HEADERS)
    kind = answered.headers.get("content-type", "")
    if not kind.startswith("application/json"):
        return PlainTextResponse("The sign-in failed.", 502, HEADERS)
    return Response(answered.content, answered.status_code, HEADERS, kind)


async def _body_of(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            raise HTTPException(413)
    return body


async def _form_of(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await _body_of(request)).decode("utf-8", errors="replace"), keep_blank_values=True))
