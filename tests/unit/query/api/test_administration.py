"""What administrators do over the API: keys of machine clients, folder rules, usage, and the providers' health."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from functions.query import bootstrap
from functions.query.api.admin import retirement_warnings
from shared.adapters.provider_health import HEALTH
from shared.models import Usage
from shared.prices import cost_usd
from tests.support.query_stack import call, raw_call
from tests.support.routes import FIRST_ID, Routes, routes

ROOT = {"user": "root", "groups": "admin"}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Routes]:
    with routes(monkeypatch) as made:
        yield made


# --- keys ---


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


# --- folder rules ---


def test_folder_rules_are_replaced_by_who_has_read_them_and_bind_at_once(api: Routes):
    pay = api.publish("uploads/acme/hr/pay.pdf", "Pay.")
    status, told, headers = call("GET", "/access", **ROOT)
    assert (status, told, headers["etag"]) == (200, {"folders": [], "etag": "", "in_force": True, "errors": []}, '""')
    folders = [
        {"prefix": "uploads/acme/hr/", "allowed_groups": ["hr", "boss"], "allowed_users": ["zoe"]},
        {"prefix": "uploads/acme/", "allowed_groups": ["*"], "allowed_users": []},
    ]
    assert api.call("PUT", "/access", {"folders": folders}, **ROOT)[0] == 428
    status, told, headers = call("PUT", "/access", {"folders": folders}, headers={"If-Match": '""'}, **ROOT)
    etag = told.pop("etag")
    assert (status, headers["etag"]) == (200, f'"{etag}"')
    assert told == {
        "folders": [
            {"prefix": "uploads/acme/", "allowed_groups": ["*"], "allowed_users": []},
            {"prefix": "uploads/acme/hr/", "allowed_groups": ["boss", "hr"], "allowed_users": ["zoe"]},
        ],
        "in_force": True,
        "errors": [],
    }
    assert api.call("GET", "/access", **ROOT) == (200, {**told, "etag": etag})
    path = f"/documents/{pay.document_id}"
    assert api.call("GET", path, groups="editor")[0] == 404
    assert api.call("GET", path, user="zoe")[0] == 200
    shown = api.call("GET", path, **ROOT)[1]
    assert (shown["access"], shown["folder"], shown["folder_access"]) == (
        None,
        "uploads/acme/hr/",
        {"allowed_groups": ["boss", "hr"], "allowed_users": ["zoe"]},
    )
    assert api.call("PUT", "/access", {"folders": []}, headers={"If-Match": "*"}, **ROOT)[0] == 200
    assert api.call("GET", path, groups="editor")[0] == 200


@pytest.mark.parametrize(
    ("folders", "wrong"),
    [
        ([{"prefix": "uploads/acme/hr/"}] * 2, "folders: a prefix is listed twice."),
        ([{"prefix": "uploads/other/hr/"}], "a folder of acme's documents is expected, such as uploads/acme/hr/"),
        ([{"prefix": "uploads/acme/hr"}], "a folder ends with one slash: uploads/acme/hr/"),
        ([{"prefix": "up/"}], ""),
    ],
)
def test_rules_of_no_folder_of_the_tenant_are_refused(api: Routes, folders: list[Any], wrong: str):
    status, problem = api.call("PUT", "/access", {"folders": folders}, headers={"If-Match": "*"}, **ROOT)
    assert (status, wrong in problem["detail"]) == (400, True)


def test_a_file_of_rules_that_cannot_be_read_is_told_and_not_in_force(api: Routes):
    api.aws.s3.put_object(Bucket=api.aws.bucket, Key="access/acme.json", Body=b"{")
    status, told = api.call("GET", "/access", **ROOT)
    assert (status, told["folders"], told["in_force"], len(told["errors"])) == (200, [], False, 1)
    assert told["etag"]


# --- usage and health ---


def test_usage_is_added_up_by_day_user_or_model(api: Routes):
    usage = bootstrap.services().usage
    mini = Usage(1_000_000, 100, 10, 5, 3)
    for day, user, model in ((30, "ann", "gpt-6-luna"), (31, "bob", "gpt-6-luna"), (31, "ann", "other")):
        usage.record("acme", user, {model: mini}, questions=2, now=datetime(2025, 12, day, tzinfo=UTC))
    usage.record("acme", "", {"other": Usage(7)}, questions=0, now=datetime(2025, 12, 31, tzinfo=UTC))
    usage.record("acme", "ann", {"other": Usage(7)}, questions=1, now=datetime(2025, 12, 2, tzinfo=UTC))
    usage.record("rival", "eve", {"other": Usage(7)}, questions=1, now=datetime(2025, 12, 31, tzinfo=UTC))

    def report(**params: str) -> dict[str, Any]:
        status, told = api.call("GET", "/admin/usage", params=params, **ROOT)
        assert status == 200, told
        return dict(told)

    by_day = report()
    assert (by_day["from"], by_day["to"], by_day["by"]) == ("2025-12-03", "2026-01-01", "day")
    names = ("key", "questions", "input_tokens", "cached_tokens", "output_tokens", "unpriced_calls")
    lines = [tuple(each[name] for name in names) for each in by_day["lines"]]
    assert lines == [
        ("2025-12-30", 2, 1_000_000, 10, 100, 0),
        ("2025-12-31", 4, 2_000_007, 20, 200, 2),
    ]
    assert tuple(by_day["total"][name] for name in names) == ("", 6, 3_000_007, 30, 300, 2)
    cost = by_day["lines"][0]["cost_usd"]
    assert cost == round(cost_usd("gpt-6-luna", mini) or 0, 6) > 0
    assert by_day["total"]["cost_usd"] == pytest.approx(2 * cost, abs=1e-6)
    assert [(each["key"], each["questions"]) for each in report(by="user")["lines"]] == [
        ("", 0),
        ("ann", 4),
        ("bob", 2),
    ]
    assert [(each["key"], each["questions"], each["unpriced_calls"]) for each in report(by="model")["lines"]] == [
        ("gpt-6-luna", 0, 0),
        ("other", 0, 2),
    ]
    assert report(**{"from": "2025-12-02", "to": "2025-12-02"})["total"]["questions"] == 1
    assert report(**{"from": "2025-12-01", "to": "2025-12-31"})["total"]["questions"] == 7
    assert report(**{"from": "2025-01-01", "to": "2026-01-01"})["total"]["questions"] == 7
    for first, last in (("2024-12-31", "2026-01-01"), ("2026-01-02", "2026-01-01")):
        assert api.call("GET", "/admin/usage", params={"from": first, "to": last}, **ROOT)[0] == 400
    status, text, headers = raw_call("GET", "/admin/usage", params={"format": "csv"}, **ROOT)
    assert (status, headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert text.splitlines()[:2] == [
        "key,questions,input_tokens,cached_tokens,output_tokens,cost_usd,unpriced_calls",
        f"2025-12-30,2,1000000,10,100,{cost},0",
    ]


def test_a_model_that_is_shut_down_within_sixty_days_is_told():
    told = retirement_warnings({"b": date(2026, 3, 2), "a": date(2025, 12, 1), "c": date(2026, 3, 3)}, date(2026, 1, 1))
    assert [each.split()[2] for each in told] == ["a", "b"]
    assert told[1] == "The model b is shut down by its provider on 2026-03-02: deploy with another one."


def test_health_is_degraded_unless_every_provider_answered(api: Routes):
    HEALTH.forget()
    status, told = api.call("GET", "/admin/health", **ROOT)
    assert (status, told["status"], told["providers"], told["warnings"]) == (200, "degraded", [], [])
    assert api.call("GET", "/admin/health", groups="editor")[0] == 403
