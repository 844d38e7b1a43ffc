"""Query parameters that a route does not have are refused by every route, which names those that it has."""

import re

import pytest

from functions.query.api.roles import PERMISSIONS, PUBLIC
from tests.support.routes import Routes


def test_a_misspelt_filter_does_not_list_everything(api: Routes):
    status, told = api.call("GET", "/documents", params={"staus": "FAILED", "limit": "3"})
    known = "author, cursor, kind, language, limit, organisation, period, product, q, status"
    message = f"There is no such parameter; known are: {known}."
    assert (status, told["code"], told["errors"]) == (
        400,
        "invalid_request",
        [{"field": "staus", "message": message}],
    )
    assert told["detail"].endswith(f"staus: {message}")


def test_a_parameter_is_known_by_its_name_in_the_url(api: Routes):
    by_name = {"from": "2026-11-01", "to": "2026-11-02", "format": "json"}
    assert api.call("GET", "/admin/usage", params=by_name, groups="admin")[0] == 200
    status, told = api.call("GET", "/admin/usage", params={"first": "2026-11-01"}, groups="admin")
    assert (status, [each["field"] for each in told["errors"]]) == (400, ["first"])


@pytest.mark.parametrize("route", sorted({*PERMISSIONS, *PUBLIC}))
def test_every_route_refuses_an_unknown_parameter(api: Routes, route: str):
    method, path = route.split()
    status, told = api.call(method, re.sub(r"\{\w+\}", "x", path), params={"frobnicate": "1"}, groups="admin")
    assert status == 400
    if path.startswith("/v1/"):
        assert (told["error"]["param"], told["error"]["code"]) == ("frobnicate", "unknown_parameter")
    else:
        assert [each["field"] for each in told["errors"]] == ["frobnicate"]
