"""A pytest plugin for `make test`: says which tests go to the same xdist worker, and which come next.

The e2e suite deploys one stack and asks it everything, so it is one group. Everywhere else a file is: what its module's
fixtures build is built once, not by each worker, and its tests share what they share when it is run alone.

Unit tests need the processor all the time, all others wait for servers most of the time. So one worker has unit tests
from the beginning while the others wait; when the others have nothing left, all have unit tests. Load with
`-p tests.support.grouping`; without xdist it changes nothing.

xdist's own `xdist_group` does not work here: xdist 3.8 writes the group into `Item._nodeid`, which pytest 9.2 does not
read any more, and then every test goes to whichever worker is free, without a warning.
"""

from collections.abc import Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController


class GroupScheduling(LoadScopeScheduling):
    """Sends a whole group to one worker: unit tests to one, the others in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        others = [groups for worker, groups in self.assigned_work.items() if worker is not node]
        running = [group for groups in others for group, tests in groups.items() if not all(tests.values())]
        self.workqueue.move_to_end(next_group(list(self.workqueue), running), last=False)
        super()._assign_work_unit(node)


def next_group(left: Sequence[str], elsewhere: Sequence[str]) -> str:
    """Return which group a worker gets next of those that are left, by the groups that other workers have."""
    wants_unit = not any(map(is_unit, elsewhere))
    return next((group for group in left if is_unit(group) == wants_unit), left[0])


def is_unit(group: str) -> bool:
    """Whether a group's tests are unit tests, which wait for nothing."""
    return group.startswith("tests/unit/")


def group_of(nodeid: str) -> str:
    """Return the group of a test: the e2e suite, or its file."""
    file = nodeid.split("::", 1)[0]
    return "tests/e2e" if file.startswith("tests/e2e/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    """Schedule by group; `--no-loadscope-reorder` keeps the slow e2e suite first."""
    return GroupScheduling(config, log)
