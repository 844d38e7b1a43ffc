"""Usage and the providers' health over the API, for administrators."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from functions.query import bootstrap
from functions.query.api.admin import retirement_warnings
from shared.adapters.provider_health import HEALTH
from shared.models import Usage
from shared.prices import cost_usd
from tests.support.query_stack import raw_call
from tests.support.routes import Routes

ROOT = {"user": "root", "groups": "admin"}


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
