"""What the query function is wired with stays as it is stored; `make snapshots` rewrites it (decision 76)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.query import bootstrap
from tests.support.snapshots import check, check_names
from tests.support.wiring import WAYS, set_up, wired

HERE = Path(__file__).parent / "snapshots" / "bootstrap"


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    set_up(monkeypatch, bootstrap, request.param)
    bootstrap.reset()
    yield request.param
    bootstrap.reset()


def test_the_function_is_wired_as_stored(way: str) -> None:
    services = bootstrap.services()
    told = [wired("services", services), wired("ports", services.query_ports("acme"))]
    check(HERE / f"{way}.txt", "\n".join(told))


def test_each_stored_text_has_its_settings() -> None:
    check_names(HERE, WAYS)
