"""A company's user signs in: SAML answer → Cognito → trigger → ID token → API.

The emulated Cognito checks no signature of an answer, reads one value of an attribute (so groups come as Cognito writes
several), and does not know which attributes a client may write.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import httpx
import pytest

from local.client import ApiClient
from local.stack.laptop import Laptop
from tests.e2e.conftest import COMPANY
from tests.support.template import properties, template

NAME = template()["Parameters"]["IdentityProviderName"]["Default"]
CALLBACK = template()["Parameters"]["CallbackUrls"]["Default"]
ANSWER = (
    '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol">'
    '<Assertion xmlns="urn:oasis:names:tc:SAML:2.0:assertion"><Subject><NameID>{name}</NameID></Subject>'
    "<AttributeStatement>{attributes}</AttributeStatement></Assertion></samlp:Response>"
)

type SignIn = Callable[..., str]


@pytest.fixture(scope="module")
def provider(laptop: Laptop) -> Iterator[None]:
    """The identity provider, which the emulator's CloudFormation does not know, as the template describes it."""
    if "CompanyClientId" not in laptop.deployed().outputs:
        pytest.skip("this stack has no identity provider")
    pool = laptop.deployed().outputs["UserPoolId"]
    mapped = properties("CompanyProvider")["AttributeMapping"]
    defaults = {name: each["Default"] for name, each in template()["Parameters"].items()}
    laptop.aws.cognito.create_identity_provider(
        UserPoolId=pool,
        ProviderName=NAME,
        ProviderType="SAML",
        ProviderDetails={"MetadataURL": COMPANY["SamlMetadataUrl"]},
        AttributeMapping={name: defaults[source["Ref"]] for name, source in mapped.items() if "Ref" in source},
    )
    yield
    laptop.aws.cognito.delete_identity_provider(UserPoolId=pool, ProviderName=NAME)


@pytest.fixture
def sign_in(laptop: Laptop, provider: None) -> SignIn:
    """Return a function that signs a company's user in and returns the ID token."""
    client, url = laptop.deployed().outputs["CompanyClientId"], laptop.config.aws_url

    def signed_in(name: str, **attributes: str) -> str:
        asked = {"client_id": client, "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid email"}
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as browser:
            sent = browser.get("/oauth2/authorize", params={**asked, "identity_provider": NAME})
            assert sent.status_code == 302, sent.text
            assert sent.headers["location"].startswith(COMPANY["SamlMetadataUrl"])
            answer = {"SAMLResponse": saml_answer(name, attributes), "RelayState": value_in(sent, "RelayState")}
            back = browser.post("/saml2/idpresponse", data=answer)
            assert back.status_code == 302, back.text
            code = {"grant_type": "authorization_code", "code": value_in(back, "code")}
            tokens = browser.post("/oauth2/token", data={**code, "client_id": client, "redirect_uri": CALLBACK})
            assert tokens.status_code == 200, tokens.text
        token: str = tokens.json()["id_token"]
        return token

    return signed_in


def saml_answer(name: str, attributes: dict[str, str]) -> str:
    values = "".join(
        f'<Attribute Name="{escape(key)}"><AttributeValue>{escape(value)}</AttributeValue></Attribute>'
        for key, value in attributes.items()
    )
    return base64.b64encode(ANSWER.format(name=escape(name), attributes=values).encode()).decode()


def value_in(response: httpx.Response, name: str) -> str:
    return parse_qs(urlsplit(response.headers["location"]).query)[name][0]


def claims(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def statuses(laptop: Laptop, token: str) -> dict[str, int]:
    """What the API answers this user: to a reader's, an editor's and an administrator's request."""
    with ApiClient(laptop.deployed().api_url, token) as api:
        return {
            "list": api.request("GET", "/documents").status_code,
            "upload": api.request("POST", "/documents", json={"filename": "a.pdf"}).status_code,
            "usage": api.request("GET", "/admin/usage").status_code,
        }


def test_groups_become_roles_and_a_tenant(laptop: Laptop, sign_in: SignIn) -> None:
    token = sign_in("ann@company.example", email="ann@company.example", groups="[Everyone, Recto-Editors]")
    assert claims(token)["custom:tenant"] == "demo"
    told = set(claims(token)["cognito:groups"])
    assert told == {"editor", "reader", "Recto-Editors", "Everyone"}  # the company's own count in rules of access
    assert statuses(laptop, token) == {"list": 200, "upload": 201, "usage": 403}


def test_a_reader_of_the_subsidiary_reads_there_and_uploads_nothing(laptop: Laptop, sign_in: SignIn) -> None:
    token = sign_in("ben@company.example", email="ben@company.example", groups="[Everyone, Subsidiary]")
    assert claims(token)["custom:tenant"] == "other"
    assert statuses(laptop, token) == {"list": 200, "upload": 403, "usage": 403}


@pytest.mark.parametrize("groups", ["[Canteen]", "[admin]", "Everyone,Recto-Editors"])
def test_a_user_without_a_known_group_gets_no_access(laptop: Laptop, sign_in: SignIn, groups: str) -> None:
    token = sign_in("eve@company.example", email="eve@company.example", groups=groups)
    assert "custom:tenant" not in claims(token)
    assert set(statuses(laptop, token).values()) == {403}


def test_a_group_that_is_lost_is_lost_at_the_next_sign_in(laptop: Laptop, sign_in: SignIn) -> None:
    token = sign_in("kim@company.example", email="kim@company.example", groups="[Recto-Editors]")
    assert statuses(laptop, token)["upload"] == 201
    token = sign_in("kim@company.example", email="kim@company.example", groups="[Canteen]")
    assert set(statuses(laptop, token).values()) == {403}


def test_the_pools_own_users_are_who_they_were(laptop: Laptop) -> None:
    found = claims(laptop.token())
    assert (found["custom:tenant"], found["cognito:groups"]) == ("demo", ["editor"])
