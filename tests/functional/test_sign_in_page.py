"""The laptop's sign-in page on the emulated Cognito: a code for the right password only, traded once, with PKCE."""

import base64
import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import Response
from starlette.testclient import TestClient

from local import sign_in
from local.stack import users
from tests.support.aws_emulator import emulated_account
from tests.support.template import properties

HERE = "http://127.0.0.1:8082"
PASSWORD = users.new_password()
OWN = users.User("kim@example.com", "demo", "reader")
"""Not among those of the laptop."""
OWN_PASSWORD = users.new_password()


@dataclass(frozen=True)
class Page:
    """The sign-in page, and what the app asks it for."""

    http: TestClient
    asked: dict[str, str]
    verifier: str

    def code(self, **form: str) -> Response:
        return self.http.post(sign_in.PATH, data={**self.asked, **form}, follow_redirects=False)

    def token(self, **form: str) -> Response:
        return self.http.post(f"{sign_in.PATH}/token", data={"client_id": self.asked["client_id"], **form})

    def trade(self, redirect: Response, verifier: str = "") -> Response:
        (code,) = parse_qs(urlsplit(redirect.headers["location"]).query)["code"]
        proof = {"code_verifier": verifier or self.verifier, "redirect_uri": f"{HERE}/"}
        return self.token(grant_type="authorization_code", code=code, **proof)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with emulated_account(tmp_path_factory.mktemp("aws")) as account:
        cognito = account.client("cognito-idp")
        declared = properties("PageClient")
        pool = cognito.create_user_pool(PoolName="recto", Schema=[{"Name": "tenant", "AttributeDataType": "String"}])
        pool_id = pool["UserPool"]["Id"]
        for group in sign_in.ROLES:
            cognito.create_group(UserPoolId=pool_id, GroupName=group)
        taken = ("GenerateSecret", "AllowedOAuthFlowsUserPoolClient", "AllowedOAuthFlows", "AllowedOAuthScopes")
        client = cognito.create_user_pool_client(
            UserPoolId=pool_id,
            ClientName="page",
            ExplicitAuthFlows=declared["ExplicitAuthFlows"],
            SupportedIdentityProviders=["COGNITO"],
            CallbackURLs=[f"{HERE}/"],
            LogoutURLs=[f"{HERE}/"],
            **{name: declared[name] for name in taken},
        )["UserPoolClient"]["ClientId"]
        for user, password in ((users.DEMO, PASSWORD), (OWN, OWN_PASSWORD)):
            users.create(cognito, pool_id, user, password=password)
        verifier = secrets.token_urlsafe(48)
        asked = {
            "client_id": client,
            "redirect_uri": f"{HERE}/",
            "response_type": "code",
            "scope": "openid email profile",
            "state": "where&<one>was",
            "code_challenge": base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        app = sign_in.application(cognito.meta.endpoint_url, [users.DEMO], lambda: PASSWORD)
        with TestClient(app, base_url=HERE) as http:
            yield Page(http, asked, verifier)


def test_a_user_of_the_laptop_signs_in_at_a_click(page: Page) -> None:
    shown = page.http.get(sign_in.PATH, params=page.asked)
    assert (shown.status_code, users.DEMO.name in shown.text, PASSWORD in shown.text) == (200, True, False)
    redirect = page.code(**{"as": users.DEMO.name})
    back = urlsplit(redirect.headers["location"])
    assert (redirect.status_code, f"{back.scheme}://{back.netloc}{back.path}") == (302, f"{HERE}/")
    assert parse_qs(back.query)["state"] == [page.asked["state"]]
    traded = page.trade(redirect)
    assert traded.status_code == 200
    assert {"id_token", "refresh_token", "expires_in"} <= traded.json().keys()
    assert traded.headers["cache-control"] == "no-store"


def test_a_code_is_traded_once_and_only_by_who_asked_for_it(page: Page) -> None:
    redirect = page.code(**{"as": users.DEMO.name})
    assert page.trade(redirect, verifier="x" * 64).json()["error"] == "invalid_grant"
    redirect = page.code(**{"as": users.DEMO.name})
    assert page.trade(redirect).status_code == 200
    assert page.trade(redirect).json()["error"] == "invalid_grant"


def test_another_user_needs_their_password(page: Page) -> None:
    wrong = page.code(username=OWN.name, password=PASSWORD)
    assert (wrong.status_code, sign_in.WRONG in wrong.text) == (401, True)
    assert page.trade(page.code(username=OWN.name, password=OWN_PASSWORD)).status_code == 200
    assert page.code(**{"as": OWN.name}).status_code == 401


def test_a_refresh_token_lasts_until_it_is_revoked(page: Page) -> None:
    tokens = page.trade(page.code(**{"as": users.DEMO.name})).json()
    again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert page.token(**again).json()["id_token"]
    given = {"token": tokens["refresh_token"], "client_id": page.asked["client_id"]}
    assert page.http.post(f"{sign_in.PATH}/revoke", data=given).status_code == 200
    assert page.token(**again).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "changed",
    [{"redirect_uri": "https://evil.example/"}, {"client_id": "another"}, {"response_type": "token"}],
    ids=["address", "client", "flow"],
)
def test_nobody_is_sent_anywhere_else(page: Page, changed: dict[str, str]) -> None:
    asked = {**page.asked, **changed}
    assert page.http.get(sign_in.PATH, params=asked, follow_redirects=False).status_code == 400
    if "response_type" not in changed:
        assert page.http.post(
            sign_in.PATH, data={**asked, "as": users.DEMO.name}, follow_redirects=False
        ).is_client_error


def test_sign_out_leads_back_to_the_page_and_nowhere_else(page: Page) -> None:
    asked = {"client_id": page.asked["client_id"], "logout_uri": f"{HERE}/"}
    out = page.http.get(f"{sign_in.PATH}/logout", params=asked, follow_redirects=False)
    assert (out.status_code, out.headers["location"]) == (302, f"{HERE}/")
    elsewhere = {**asked, "logout_uri": "https://evil.example/"}
    assert page.http.get(f"{sign_in.PATH}/logout", params=elsewhere, follow_redirects=False).status_code == 400


def test_what_is_carried_cannot_become_part_of_the_page(page: Page) -> None:
    shown = page.http.get(sign_in.PATH, params={**page.asked, "state": '"><script>alert(1)</script>'})
    assert "<script" not in shown.text
    assert "unsafe-inline" not in shown.headers["content-security-policy"]


def test_a_foreign_name_that_leads_to_this_machine_is_refused(page: Page) -> None:
    rebound = page.http.get(sign_in.PATH, params=page.asked, headers={"host": "rebound.example:8082"})
    assert rebound.status_code == 400


def test_a_stack_that_is_down_is_said_to_be_down() -> None:
    app = sign_in.application("http://127.0.0.1:9", [users.DEMO], lambda: PASSWORD)
    shown = TestClient(app, base_url=HERE).get(sign_in.PATH)
    assert (shown.status_code, shown.text) == (503, sign_in.UNREACHABLE)


def test_a_form_that_is_too_large_is_refused(page: Page) -> None:
    assert page.http.post(sign_in.PATH, content=b"x" * (sign_in.FORM_BYTES + 1)).status_code == 413
