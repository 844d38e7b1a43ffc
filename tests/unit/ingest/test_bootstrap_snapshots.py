"""What the ingest function is wired with stays as it is stored; `make snapshots` rewrites it (decision 76)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.ingest import bootstrap
from shared.settings import Settings
from tests.support.snapshots import check, check_names
from tests.support.wiring import WAYS, set_up, wired

HERE = Path(__file__).parent / "snapshots" / "bootstrap"
BUILT = (
    bootstrap.batch, bootstrap.page_reader, bootstrap.scan, bootstrap.comparison, bootstrap.reindexer,
    bootstrap.eraser, bootstrap.automatic_reindex,
)  # fmt: skip


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    set_up(monkeypatch, bootstrap, request.param)
    _forget()
    yield request.param
    _forget()


def _forget() -> None:
    for built in BUILT:
        built.cache_clear()


def test_the_function_is_wired_as_stored(way: str) -> None:
    batch = bootstrap.batch()
    told = [wired("batch", batch), wired("reconciler", batch.reconciler)]
    told += [wired("describer", bootstrap.build_describer(Settings(), batch.queue))]
    told += [wired(built.__name__, built()) for built in BUILT[1:]]
    check(HERE / f"{way}.txt", "\n".join(told))


def test_each_stored_text_has_its_settings() -> None:
    check_names(HERE, WAYS)
