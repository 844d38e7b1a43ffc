"""Folder rules over the API: who may read which folder, from the moment that it is said."""

from typing import Any

import pytest

from tests.support.query_stack import call
from tests.support.routes import Routes

ROOT = {"user": "root", "groups": "admin"}


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
