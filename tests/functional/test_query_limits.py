"""Roles, limits and usage through the real handler, with the counters in DynamoDB (moto)."""

import csv
import io
import json
import logging
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from functions.query import bootstrap
from functions.query.api.roles import PERMISSIONS
from functions.query.limits import Account, LimitReached
from shared.adapters.aws import SystemClock, dynamodb_client
from shared.adapters.usage import DynamoUsage
from shared.models import ROLES, Principal
from shared.settings import Settings
from tests.support.clock import FakeClock
from tests.support.ingest import Stack
from tests.support.query_stack import LENS, call, events_of, query_stack, raw_call

_asked = count()
OVERRIDES = json.dumps({
    "acme": {"user_questions_per_minute": 3, "tenant_questions_per_day": 5},
    "frugal": {"user_tokens_per_day": 20},
})  # fmt: skip


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with (
        pytest.MonkeyPatch.context() as patch,
        query_stack(patch, tmp_path_factory.mktemp("limits"), LIMIT_OVERRIDES=OVERRIDES) as running,
    ):
        yield running


@pytest.fixture
def fresh(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The stack with nothing counted yet, where the minute that the limits count in does not end."""
    minute = datetime.now(UTC).replace(second=30)
    monkeypatch.setattr(SystemClock, "now", lambda _: minute)
    found = stack.aws.dynamodb.scan(TableName="conversations")["Items"]
    for item in found:
        stack.aws.dynamodb.delete_item(TableName="conversations", Key={name: item[name] for name in ("pk", "sk")})
    return stack


def ask(user: str = "ann", tenant: str = "acme") -> tuple[int, dict[str, Any], dict[str, str]]:
    """Ask a question that no cache holds."""
    question = f"{LENS} I ask for the {next(_asked)}th time."
    return call("POST", "/query", {"question": question}, user=user, tenant=tenant)


@pytest.mark.parametrize("route", PERMISSIONS)
@pytest.mark.parametrize("role", ROLES)
def test_the_api_enforces_the_table_of_roles(fresh: Stack, role: str, route: str):
    method, path = route.split()
    path = re.sub(r"\{\w+\}", "0" * 32, path)
    status, text, _ = raw_call(method, path, {} if method != "GET" else None, groups=role, tenant="other")
    if role in PERMISSIONS[route]:  # type: ignore[comparison-overlap]
        assert status not in {401, 403, 405}
        assert status < 500
    else:
        assert (status, json.loads(text)["code"]) == (403, "not_allowed")


def test_a_user_over_the_rate_gets_a_429_that_says_when_to_come_back(fresh: Stack):
    assert [ask()[0] for _ in range(3)] == [200, 200, 200]
    status, problem, headers = ask()
    assert (status, problem["code"], problem["limit"]) == (429, "limit_reached", "user_questions_per_minute")
    assert 1 <= int(headers["retry-after"]) <= 60
    assert problem["resets_at"].endswith("+00:00")
    assert "3 questions a minute" in problem["detail"]
    assert ask(user="bob")[0] == 200  # counted apart


def test_the_tenants_day_counts_all_users_and_no_refused_question(fresh: Stack):
    statuses = [ask(user=user)[0] for user in ("ann", "ann", "ann", "ann", "bob", "bob", "cy")]
    assert statuses == [200, 200, 200, 429, 200, 200, 429]
    _, problem, headers = ask(user="dan")
    assert problem["limit"] == "tenant_questions_per_day"
    assert int(headers["retry-after"]) <= 86_400
    assert ask(user="ann", tenant="other")[0] == 200


def test_a_stream_over_the_limit_is_a_plain_429(fresh: Stack):
    for _ in range(3):
        status, text, _ = raw_call("POST", "/query", {"question": LENS}, headers={"Accept": "text/event-stream"})
        assert status == 200
        assert events_of(text)[-1][0] == "done"
    status, text, headers = raw_call("POST", "/query", {"question": LENS}, headers={"Accept": "text/event-stream"})
    assert (status, json.loads(text)["code"]) == (429, "limit_reached")
    assert "retry-after" in headers


def test_the_question_after_the_token_budget_is_refused(fresh: Stack):
    status, answer, _ = ask(tenant="frugal")
    assert status == 200
    assert answer["usage"]["input_tokens"] > 0
    assert (
        next(problem for status, problem, _ in (ask(tenant="frugal") for _ in range(9)) if status == 429)["limit"]
        == "user_tokens_per_day"
    )


def test_without_the_table_questions_are_answered_and_the_log_says_so(fresh: Stack, caplog: pytest.LogCaptureFixture):
    class Down(DynamoUsage):
        def __init__(self) -> None:
            super().__init__(dynamodb_client(attempts=1), "no-such-table")

    account = Account(Principal("acme", "ann"), Settings(), Down(), FakeClock())
    with caplog.at_level(logging.ERROR):
        account.admit("")
        account.settle({})
    assert [record.message for record in caplog.records] == ["usage not counted"] * 2


def test_a_day_later_the_budget_is_new(fresh: Stack):
    clock = FakeClock()
    usage = DynamoUsage(dynamodb_client(), "conversations")
    account = Account(Principal("acme", "eve"), Settings(), usage, clock)
    for _ in range(3):
        account.admit("")
    with pytest.raises(LimitReached):
        account.admit("")
    clock.advance(timedelta(days=1).total_seconds())
    account.admit("")


def test_usage_is_reported_by_day_user_and_model_with_its_cost(fresh: Stack):
    for user in ("ann", "bob", "bob"):
        assert ask(user=user, tenant="other")[0] == 200
    asked = {"tenant": "other", "groups": "admin"}
    by_user = call("GET", "/admin/usage", params={"by": "user"}, **asked)[1]
    assert {line["key"]: line["questions"] for line in by_user["lines"]} == {"ann": 1, "bob": 2}
    by_model = call("GET", "/admin/usage", params={"by": "model"}, **asked)[1]
    assert by_model["total"]["questions"] == 3
    assert by_model["total"]["input_tokens"] == sum(line["input_tokens"] for line in by_model["lines"]) > 0
    by_day = call("GET", "/admin/usage", **asked)[1]
    assert [line["questions"] for line in by_day["lines"]] == [3]
    assert by_day["lines"][0]["key"] == by_day["to"]


def test_usage_as_csv_and_of_one_tenant_only(fresh: Stack):
    assert ask(tenant="other")[0] == 200
    status, text, headers = raw_call(
        "GET", "/admin/usage", groups="admin", tenant="other", params={"by": "user", "format": "csv"}
    )
    assert (status, headers["content-type"]) == (200, "text/csv; charset=utf-8")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [(line["key"], line["questions"]) for line in lines] == [("ann", "1")]
    assert call("GET", "/admin/usage", groups="admin", tenant="third")[1]["lines"] == []


@pytest.mark.parametrize(
    "params", [{"from": "2026-02-01", "to": "2026-01-01"}, {"from": "2020-01-01", "to": "2026-01-01"}, {"by": "hour"}]
)
def test_a_wrong_range_is_a_400(fresh: Stack, params: dict[str, str]):
    assert call("GET", "/admin/usage", groups="admin", params=params)[0] == 400


def test_parallel_questions_never_pass_a_limit_together(fresh: Stack):
    usage = DynamoUsage(dynamodb_client(), "conversations")
    account = Account(Principal("acme", "flood"), Settings(), usage, FakeClock())

    def admitted(_: int) -> bool:
        try:
            account.admit("")
        except LimitReached:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(admitted, range(64))) == 3


def test_wrong_overrides_fail_at_start_with_what_is_expected(fresh: Stack, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECTO_LIMIT_OVERRIDES", '{"acme": {"questions": 5}}')
    bootstrap.reset()
    try:
        status, problem, _ = ask()
        assert (status, problem["code"]) == (500, "configuration_error")
    finally:
        bootstrap.reset()
