"""A pytest plugin for `make test`: says which tests must share an xdist worker.

The e2e suite deploys one stack and asks it everything, so it is one group. Everywhere else a file is: its module
fixtures are built once. Load with `-p tests.support.grouping`; without xdist it changes nothing.
"""

from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give every test without a group of its own that of its suite or file."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            path = Path(item.path).relative_to(config.rootpath)
            group = "e2e" if path.parts[:2] == ("tests", "e2e") else str(path)
            item.add_marker(pytest.mark.xdist_group(group))
