"""Settings and hooks for all tests."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.snapshots import OPTION, Rewriting

# A test never claims how fast the machine is. In CI, Hypothesis' own profile stays in force otherwise.
settings.register_profile("recto", settings(), deadline=None)
settings.load_profile("recto")

AGAINST_THE_CLOCK = tuple(
    f"{Path(__file__).parent / each}/" for each in ("clients", "contract", "e2e", "faults", "functional", "web")
)
"""Folders whose tests call servers within real deadlines, which fail if the machine stalls for seconds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites snapshots."""
    parser.addoption(OPTION, action="store_true", help="store what snapshot tests get instead of comparing it")


def pytest_configure(config: pytest.Config) -> None:
    """Tell the snapshots whether they are to be rewritten."""
    Rewriting.asked_for = config.getoption(OPTION)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give a test that depends on time a second try (docs/decisions/0045); the summary names each that needed it."""
    for item in items:
        if str(item.path).startswith(AGAINST_THE_CLOCK):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a second try new fixtures of its module, too: the first try may have changed what they hold."""
    if isinstance(item, pytest.Function) and getattr(item, "execution_count", 1) > 1:
        request: Any = item._request
        for name in item.fixturenames:
            for fixture in request._arg2fixturedefs.get(name, ()):
                if fixture.scope == "module":
                    fixture.finish(request)
