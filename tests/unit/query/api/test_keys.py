"""API keys over the API: made, listed and revoked by people who are administrators."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.query_stack import call
from tests.support.routes import FIRST_ID, Routes

ROOT = {"user": "root", "groups": "admin"}


def test_a_new_key_is_shown_once_and_listed_without_its_secret(api: Routes):
    body = {"name": "Bot", "role": "editor", "groups": ["b", "a", "b"], "expires_at": "2026-01-02T02:00:00+02:00"}
    status, made, headers = call("POST", "/keys", body, **ROOT)
    secret = made.pop("key")
    assert (status, headers["cache-control"], secret[:3], len(secret)) == (201, "no-store", "rk_", 46)
    assert made == {
        "key_id": FIRST_ID,
        "name": "Bot",
        "role": "editor",
        "groups": ["a", "b"],
        "created_by": "root",
        "created_at": "2026-01-01T00:00:00.000+00:00",
        "expires_at": "2026-01-02T00:00:00.000+00:00",
        "last_used_at": "",
    }
    assert api.call("GET", "/keys", **ROOT) == (200, {"keys": [made], "next_cursor": ""})
    item = api.aws.dynamodb.get_item(
        TableName="conversations",
        Key={"pk": {"S": f"KEY#{hashlib.sha256(secret.encode()).hexdigest()}"}, "sk": {"S": "KEY"}},
        ConsistentRead=True,
    )["Item"]
    assert int(item["expires_at"]["N"]) == datetime(2026, 2, 1, tzinfo=UTC).timestamp()
    plain = api.call("POST", "/keys", {"name": "Plain"}, **ROOT)[1]
    assert (plain["role"], plain["groups"], plain["expires_at"]) == ("reader", [], "")
    assert [each["name"] for each in api.call("GET", "/keys", **ROOT)[1]["keys"]] == ["Plain", "Bot"]
    first, cursor = api.call("GET", "/keys", params={"limit": "1"}, **ROOT)[1].values()
    assert ([each["name"] for each in first], cursor) == (["Plain"], plain["key_id"])
    assert api.call("DELETE", f"/keys/{FIRST_ID}", **ROOT)[0] == 204
    assert api.call("DELETE", f"/keys/{FIRST_ID}", **ROOT)[0] == 404
    assert api.call("DELETE", "/keys/x", **ROOT)[0] == 404
    assert [each["name"] for each in api.call("GET", "/keys", **ROOT)[1]["keys"]] == ["Plain"]


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"groups": ["admin", "x", "editor"]}, "groups: admin, editor is a role: name it as `role`."),
        ({"expires_at": "2026-01-01T00:00:00Z"}, "expires_at: must be in the future, and within 100 years."),
        ({"expires_at": "2125-12-08T00:00:01Z"}, "expires_at: must be in the future, and within 100 years."),
        ({"expires_at": "2126-01-01T00:00:00"}, ""),
        ({"name": ""}, ""),
        ({"name": "x" * 101}, ""),
        ({"role": "boss"}, ""),
    ],
)
def test_what_is_no_key_is_refused(api: Routes, more: dict[str, Any], wrong: str):
    status, problem = api.call("POST", "/keys", {"name": "Bot", **more}, **ROOT)
    assert status == 400
    assert problem["detail"] == wrong or not wrong


def test_a_key_may_last_a_hundred_years_to_the_second(api: Routes):
    status, made = api.call("POST", "/keys", {"name": "x" * 100, "expires_at": "2125-12-08T00:00:00Z"}, **ROOT)
    assert (status, made["expires_at"][:10]) == (201, "2125-12-08")
    assert api.call("POST", "/keys", {"name": "x", "expires_at": "2026-01-01T00:00:00.001Z"}, **ROOT)[0] == 201


def test_keys_are_for_people_who_are_administrators(api: Routes):
    for method, path in (("GET", "/keys"), ("POST", "/keys"), ("DELETE", f"/keys/{FIRST_ID}")):
        body = {"name": "x"} if method == "POST" else None
        assert api.call(method, path, body, groups="editor")[0] == 403
        status, problem = api.call(method, path, body, user="key:1", groups="admin")
        assert (status, problem["detail"]) == (403, "An API key cannot manage keys: sign in as an administrator.")
