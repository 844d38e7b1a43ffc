"""`python -m local keys`: made, listed and revoked in the stack's own table."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from rich.console import Console

from local import cli, keys
from local.operate import Target
from local.report import Reporter
from local.stack.config import LocalStackError
from shared.adapters.api_keys import DynamoApiKeys
from shared.api_keys import SECRET, ClientKey
from tests.support.moto_aws import create_tables, mocked_aws

type Run = Callable[..., str]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with mocked_aws(monkeypatch) as aws:
        create_tables(aws.dynamodb, "ConversationsTable")
        yield aws.dynamodb


@pytest.fixture
def run(table: Any, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the verb and returns all it prints."""
    target = Mock(spec=Target, client=lambda _: table, outputs={"ConversationsTableName": "conversations"})

    def ran(*arguments: str, tenant: str = "acme") -> str:
        given = cli._parser().parse_args(["keys", *arguments, "--tenant", tenant])
        told = StringIO()
        assert keys.run(target, Reporter(Console(file=told, width=200)), given) == 0
        return told.getvalue() + capsys.readouterr().out

    return ran


def stored(table: Any, secret: str) -> ClientKey | None:
    return DynamoApiKeys(table, "conversations").find(secret)


def test_a_key_is_printed_once_alone_on_its_line_and_works_until_it_is_revoked(table: Any, run: Run) -> None:
    *told, secret = run("create", "Open WebUI", "--role", "editor").splitlines()
    assert SECRET.fullmatch(secret)
    key = stored(table, secret)
    assert key
    assert (key.tenant, key.role, key.name, key.created_by, key.expires_at) == (
        "acme", "editor", "Open WebUI", "operator", "",
    )  # fmt: skip
    assert key.key_id in told[0]
    listed = run("list")
    assert key.key_id in listed
    assert secret not in listed
    assert "within a minute" in run("revoke", key.key_id)
    assert stored(table, secret) is None
    assert "no API keys" in run("list")


def test_a_key_can_be_made_for_some_days(table: Any, run: Run) -> None:
    key = stored(table, run("create", "Report", "--days", "30").splitlines()[-1])
    assert key
    assert timedelta(days=29) < datetime.fromisoformat(key.expires_at) - datetime.now(UTC) <= timedelta(days=30)
    assert f"until {key.expires_at[:10]}" in run("list")


def test_a_long_list_is_shown_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "PAGE", 2)
    for number in range(5):
        run("create", f"key {number}")
    assert [line.rsplit("  ", 1)[1] for line in run("list").splitlines()] == [f"key {n}" for n in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["create"], "needs a name"),
        (["create", "x" * 101], "needs a name"),
        (["create", "a\nb"], "needs a name"),
        (["create", "x", "--days", "-1"], "--days"),
        (["revoke"], "`keys list --tenant NAME` shows it"),
        (["revoke", "01M82Z3Q6W0V6T2C8R4Y1B7N5K"], "has no key"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_to_do(run: Run, arguments: list[str], says: str) -> None:
    with pytest.raises(LocalStackError, match=says):
        run(*arguments)


def test_a_tenant_is_checked_before_anything_is_written(run: Run) -> None:
    with pytest.raises(LocalStackError, match="not a tenant"):
        run("create", "x", tenant="a b")
