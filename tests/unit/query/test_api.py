"""The HTTP API without AWS: who may do what, and what an error looks like."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from mangum import Mangum
from pydantic import ValidationError
from starlette.testclient import TestClient

from functions.query.api import dependencies
from functions.query.api.dependencies import principal_of
from functions.query.api.documents import upload_key
from functions.query.api.roles import PERMISSIONS, PUBLIC, require_permission
from functions.query.api.schemas import AccessIn
from functions.query.app import app, respond
from functions.query.understanding.question import TEXTS
from functions.query.writing.localization import languages
from shared.errors import InvalidRequest, NotAllowed, NotAuthenticated
from shared.models import ROLES, Principal, UserRole


def event(**verified: object) -> dict[str, object]:
    return {"requestContext": {"authorizer": verified}}


def test_tenant_user_and_groups_come_from_the_authorizer():
    who = principal_of(event(principalId="u1", tenant="acme", groups="editor,admin"))
    assert who == Principal("acme", "u1", frozenset({"editor", "admin"}))


@pytest.mark.parametrize(
    "unverified",
    [
        {},
        {"requestContext": {}},
        {"requestContext": "x"},
        {"requestContext": {"authorizer": None}},
        {"requestContext": {"authorizer": "x"}},
        {"requestContext": {"authorizer": {"claims": {"sub": "u1", "custom:tenant": "acme"}}}},
        {"requestContext": {}, "principalId": "u1", "tenant": "acme"},
        event(tenant="acme", groups="admin"),
        event(),
    ],
)
def test_without_the_authorizers_word_the_request_is_not_authenticated(unverified: dict[str, object]):
    with pytest.raises(NotAuthenticated):
        principal_of(unverified)


@pytest.mark.parametrize("tenant", [None, "", "a b", "../x", "a#b", "a/b", "x" * 64])
def test_an_account_without_a_valid_tenant_is_not_allowed(tenant: object):
    with pytest.raises(NotAllowed):
        principal_of(event(principalId="u1", tenant=tenant))


def test_every_route_is_in_the_table_of_roles_or_public():
    routes = {f"{method.upper()} {path}" for path, methods in app.openapi()["paths"].items() for method in methods}
    assert routes == PERMISSIONS.keys() | PUBLIC


@pytest.mark.parametrize("route", PERMISSIONS)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_call_exactly_its_routes(role: UserRole, route: str):
    if role in PERMISSIONS[route]:
        require_permission(route, {role, "some-other-group"})
    else:
        with pytest.raises(NotAllowed, match=r"needs the group `"):
            require_permission(route, {role})


def test_a_user_without_a_role_is_a_reader_and_an_unlisted_route_is_refused():
    require_permission("POST /query", set())
    require_permission("POST /query", {"accounting"})
    with pytest.raises(NotAllowed):
        require_permission("POST /documents", {"accounting"})
    with pytest.raises(NotAllowed):
        require_permission("GET /new", {"admin"})


@pytest.mark.parametrize(
    ("filename", "key"),
    [
        ("a.pdf", "uploads/acme/a.pdf"),
        ("/reports/2024 Q1.PDF", "uploads/acme/reports/2024 Q1.PDF"),
        ("x\\y.pdf", "uploads/acme/x/y.pdf"),
        ("Zˇ.pdf", "uploads/acme/Zˇ.pdf"),
    ],
)
def test_an_upload_gets_a_key_below_its_tenant(filename: str, key: str):
    assert upload_key("acme", filename) == key


@pytest.mark.parametrize(
    "filename", ["a.txt", ".pdf", "../b/a.pdf", "a//b.pdf", "x/../../a.pdf", "a\n.pdf", "é" * 600 + ".pdf"]
)
def test_a_name_that_could_leave_the_tenant_or_is_no_pdf_is_refused(filename: str):
    with pytest.raises(InvalidRequest):
        upload_key("acme", filename)


def test_an_error_in_serving_a_readable_event_is_not_a_400():
    class Broken(Mangum):
        def __call__(self, event: Any, context: Any) -> dict[str, Any]:
            raise RuntimeError("no event loop")

    event = json.loads((Path(__file__).parents[3] / "events" / "api_get_healthz.json").read_text())
    with pytest.raises(RuntimeError, match="no event loop"):
        respond(event, cast("Any", None), Broken(app, lifespan="off"))


def test_every_problem_is_translated_to_every_shipped_language():
    texts = {path.stem: json.loads(path.read_text("utf-8")) for path in (TEXTS / "problems").glob("*.json")}
    assert texts.keys() == languages()
    names = set().union(*texts.values())
    for language in texts.keys() - {"en"}:  # English ones without a text are the errors' own messages
        assert texts[language].keys() == names
        for name, text in texts[language].items():
            assert ("{detail}" in text) == ("{detail}" in texts["lt"][name]), (language, name)


@pytest.fixture
def browser() -> Iterator[TestClient]:
    with TestClient(app, raise_server_exceptions=False, headers={"Origin": "https://app.example.com"}) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/documents", {"GET", "POST", "HEAD", "OPTIONS"}),
        ("PATCH", "/healthz", {"GET", "HEAD", "OPTIONS"}),
        ("GET", "/query", {"POST", "OPTIONS"}),
    ],
)
def test_a_wrong_method_is_told_all_the_right_ones(
    browser: TestClient, method: str, path: str, allowed: set[str]
) -> None:
    answer = browser.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == allowed
    assert answer.headers["allow"] in answer.json()["detail"]


def test_head_is_get_without_the_body(browser: TestClient) -> None:
    head, get = browser.head("/openapi.json"), browser.get("/openapi.json")
    assert (head.status_code, head.content) == (get.status_code, b"") == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.content))


@pytest.mark.parametrize(
    "headers",
    ["authorization,content-type", "idempotency-key,x-api-key", "x-stainless-os,baggage,mcp-session-id"],
)
def test_a_browser_may_send_any_header(browser: TestClient, headers: str) -> None:
    asked = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": headers}
    answer = browser.options("/documents", headers=asked)
    assert answer.status_code == 200
    assert set(headers.split(",")) <= set(answer.headers["access-control-allow-headers"].split(","))
    assert "PATCH" in answer.headers["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in answer.headers


def test_a_browser_is_shown_an_error_that_nobody_foresaw(browser: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(dependencies, "services", broken)
    answer = browser.get("/healthz")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(("characters", "accepted"), [(1, True), (128, True), (129, False)])
def test_a_rule_takes_groups_names_as_long_as_cognito_s(characters: int, accepted: bool) -> None:
    body = {"allowed_groups": ["g" * characters]}
    if accepted:
        assert AccessIn(**body).to_rule().groups == {"g" * characters}
    else:
        with pytest.raises(ValidationError, match="at most 128"):
            AccessIn(**body)


def test_an_event_that_cannot_be_read_is_a_400_in_plain_text():
    answer = respond({"version": "2.0"}, cast("Any", None), Mangum(app, lifespan="off"))
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (400, False)
    assert json.loads(answer["body"])["code"] == "invalid_request"
    assert "content-length" not in answer["headers"]
