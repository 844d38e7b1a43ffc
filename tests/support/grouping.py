"""A pytest plugin for `make test`: says which tests go to the same xdist worker.

The e2e suite deploys one stack and asks it everything, so it is one group. Everywhere else a file is: what its module's
fixtures build is built once, not by each worker, and its tests share what they share when it is run alone. Load with
`-p tests.support.grouping`; without xdist it changes nothing.

xdist's own `xdist_group` does not work here: xdist 3.8 writes the group into `Item._nodeid`, which pytest 9.2 does not
read any more, and then every test goes to whichever worker is free, without a warning.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling


class GroupScheduling(LoadScopeScheduling):
    """Sends a whole group to one worker, in the order in which the groups were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the group of a test: the e2e suite, or its file."""
    file = nodeid.split("::", 1)[0]
    return "tests/e2e" if file.startswith("tests/e2e/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    """Schedule by group; `--no-loadscope-reorder` keeps the slow e2e suite first."""
    return GroupScheduling(config, log)
