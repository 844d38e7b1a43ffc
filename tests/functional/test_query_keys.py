"""API keys over the real handlers: made by an administrator, judged by the authorizer, at work, revoked."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.authorizer import app as authorizer
from functions.query import bootstrap
from tests.support.ingest import Context
from tests.support.moto_aws import MockedAws, create_tables, mocked_aws
from tests.support.query_stack import call, raw_call
from tests.support.signing import CLIENT, ISSUER

ARN = "arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/v1/GET/documents"


@pytest.fixture(scope="module")
def aws() -> Iterator[MockedAws]:
    with pytest.MonkeyPatch.context() as patch, mocked_aws(patch) as made:
        create_tables(made.dynamodb, "ConversationsTable")
        variables = {
            "DOCUMENTS_TABLE": made.documents_table,
            "CONVERSATIONS_TABLE": "conversations",
            "BUCKET": made.bucket,
            "TOKEN_ISSUER": ISSUER,
            "TOKEN_CLIENTS": CLIENT,
        }
        for name, value in variables.items():
            patch.setenv(f"RECTO_{name}", value)
        bootstrap.reset()
        authorizer.credentials.cache_clear()
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        yield made
        asyncio.set_event_loop(None)
        loop.close()
        bootstrap.reset()
        authorizer.credentials.cache_clear()
        authorizer._api_keys.cache_clear()


def create(*, tenant: str = "acme", user: str = "ada", **body: Any) -> dict[str, Any]:
    status, key, headers = call(
        "POST", "/keys", {"name": "Open WebUI", **body}, tenant=tenant, user=user, groups="admin"
    )
    assert status == 201, key
    assert headers["cache-control"] == "no-store"
    return key


def keys_of(tenant: str, **params: str) -> dict[str, Any]:
    status, body, _ = call("GET", "/keys", tenant=tenant, groups="admin", params=params)
    assert status == 200, body
    return body


def judged(secret: str) -> dict[str, str] | None:
    """Who the authorizer takes the key for, as `call` sends it on; None if it denies."""
    event = {"type": "TOKEN", "authorizationToken": f"Bearer {secret}", "methodArn": ARN}
    policy = authorizer.handler(event, Context(function_name="authorizer"))
    if policy["policyDocument"]["Statement"][0]["Effect"] == "Deny":
        return None
    return {"user": policy["principalId"], **policy["context"]}


def test_a_key_does_what_its_role_may_in_its_tenant_until_it_is_revoked(aws: MockedAws) -> None:
    key = create(role="editor", name="Nightly upload")
    assert (key["role"], key["created_by"], key["expires_at"], key["last_used_at"]) == ("editor", "ada", "", "")
    who = judged(key["key"])
    assert who == {"user": f"key:{key['key_id']}", "tenant": "acme", "groups": "editor"}
    status, announced, _ = call("POST", "/documents", {"filename": "a.pdf"}, **who)
    assert (status, announced["key"]) == (201, "uploads/acme/a.pdf")
    assert call("GET", "/admin/usage", **who)[0] == 403
    assert raw_call("DELETE", f"/keys/{key['key_id']}", groups="admin")[:2] == (204, "")
    assert judged(key["key"]) is None
    assert call("DELETE", f"/keys/{key['key_id']}", groups="admin")[0] == 404


def test_a_key_is_a_reader_unless_it_is_told_otherwise_and_a_reader_uploads_nothing(aws: MockedAws) -> None:
    who = judged(create()["key"])
    assert who
    assert who["groups"] == "reader"
    assert call("GET", "/documents", **who)[0] == 200
    status, problem, _ = call("POST", "/documents", {"filename": "a.pdf"}, **who)
    assert (status, problem["code"]) == (403, "not_allowed")


def test_a_key_of_one_tenant_sees_nothing_of_another(aws: MockedAws) -> None:
    _, announced, _ = call("POST", "/documents", {"filename": "mine.pdf"}, tenant="north")
    who = judged(create(tenant="south", role="admin")["key"])
    assert who
    assert call("GET", "/documents", **who)[1]["documents"] == []
    assert call("GET", f"/documents/{announced['document_id']}", **who)[0] == 404


def test_keys_are_listed_and_revoked_by_their_own_tenant_only(aws: MockedAws) -> None:
    mine = create(tenant="west", name="mine")
    create(tenant="east")
    assert [each["name"] for each in keys_of("west")["keys"]] == ["mine"]
    assert call("DELETE", f"/keys/{mine['key_id']}", tenant="east", groups="admin")[0] == 404
    assert judged(mine["key"])


def test_the_list_is_paged_and_shows_no_secret_but_the_time_of_use(aws: MockedAws) -> None:
    made = [create(tenant="paged", name=f"key {number}") for number in range(3)]
    judged(made[0]["key"])
    first = keys_of("paged", limit="2")
    rest = keys_of("paged", limit="2", cursor=first["next_cursor"])
    shown = first["keys"] + rest["keys"]
    assert [each["name"] for each in shown] == ["key 2", "key 1", "key 0"]
    assert rest["next_cursor"] == ""
    assert [bool(each["last_used_at"]) for each in shown] == [False, False, True]
    for each in made:
        assert each["key"] not in str(shown)
    assert all("key" not in each for each in shown)


@pytest.mark.parametrize("route", [("POST", "/keys"), ("GET", "/keys"), ("DELETE", f"/keys/{1:026d}")])
@pytest.mark.parametrize("groups", ["reader", "editor", "agent"])
def test_only_administrators_manage_keys(aws: MockedAws, route: tuple[str, str], groups: str) -> None:
    assert call(*route, {"name": "x"}, groups=groups)[0] == 403


@pytest.mark.parametrize("route", [("POST", "/keys"), ("GET", "/keys"), ("DELETE", f"/keys/{1:026d}")])
def test_a_key_manages_no_keys_so_that_a_leaked_one_ends_with_its_revocation(
    aws: MockedAws, route: tuple[str, str]
) -> None:
    who = judged(create(role="admin")["key"])
    assert who
    status, problem, _ = call(*route, {"name": "x"}, **who)
    assert (status, problem["code"]) == (403, "not_allowed")
    assert "sign in" in problem["detail"]


def test_a_key_expires_when_it_was_said_to(aws: MockedAws) -> None:
    ends = datetime(2099, 1, 1, 12, tzinfo=UTC) + timedelta(milliseconds=5)
    key = create(expires_at="2099-01-01T14:00:00.005+02:00")
    assert key["expires_at"] == ends.isoformat(timespec="milliseconds")
    assert judged(key["key"])


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\nb"},
        {"name": "\ud800"},
        {"name": "x", "role": "root"},
        {"name": "x", "tenant": "other"},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "2099-01-01T00:00:00"},
        {"name": "x", "expires_at": "2999-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "9999-12-31T23:59:59-14:00"},
        {"name": "x", "expires_at": "0001-01-01T00:00:00+14:00"},
        {"name": "x", "expires_at": "soon"},
    ],
)
def test_a_key_in_the_wrong_form_is_not_made(aws: MockedAws, body: dict[str, Any]) -> None:
    status, problem, _ = call("POST", "/keys", body, tenant="wrong", groups="admin")
    assert (status, problem["code"]) == (400, "invalid_request")
    assert keys_of("wrong")["keys"] == []


@pytest.mark.parametrize("key_id", ["x", "KEY", "0" * 27, "%23"])
def test_a_malformed_id_is_404(aws: MockedAws, key_id: str) -> None:
    assert call("DELETE", f"/keys/{key_id}", groups="admin")[0] == 404


def test_a_made_up_cursor_is_a_400(aws: MockedAws) -> None:
    assert call("GET", "/keys", groups="admin", params={"cursor": "made-up"})[0] == 400
