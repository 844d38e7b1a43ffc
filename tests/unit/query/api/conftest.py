"""The API's routes over the real handler and adapters, for each test anew."""

from collections.abc import Iterator

import pytest

from tests.support.routes import Routes, routes


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Routes]:
    with routes(monkeypatch) as made:
        yield made
