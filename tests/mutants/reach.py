"""Notes which functions of the product each test calls; as a pytest plugin, only whether a statement runs at all.

Written as JSON to `$RECTO_REACH`: {test id: {"seconds": …, "shared_s": …, "passed": …, "reached": ["path:qualified
name", …]}}. What a fixture of several tests calls counts for each of them, and so does what the parser's child
processes call. How long such fixtures took is `shared_s` of the test that they were set up for.
"""

import json
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.ingest.parsing import fork_server
from tests.mutants import reach_child

_CHILD = "functions.ingest.parsing.child"


class SeenProcess(subprocess.Popen[Any]):
    """Starts the parser's fork server so that it and its children note what they call."""

    def __init__(self, args: Any, **how: Any) -> None:
        if not isinstance(args, str) and _CHILD in args:
            args = [reach_child.__name__ if each == _CHILD else each for each in args]
            how["env"] = {**how["env"], **_told_to_children()}
        super().__init__(args, **how)


def _told_to_children() -> dict[str, str]:
    if reach_child.LINES in os.environ:
        return {reach_child.LINES: os.environ[reach_child.LINES]}
    return {reach_child.NOTES: _notes_of_children()}


def _notes_of_children() -> str:
    return f"{os.environ['RECTO_REACH']}.children"


class Reach:
    """Notes a function at its first call in each test, in whatever thread or child."""

    def __init__(self) -> None:
        self.reached: set[str] = set()
        self.by_fixture: defaultdict[str, set[str]] = defaultdict(set)
        self.tests: dict[str, dict[str, Any]] = {}
        self._shared_s = 0.0
        reach_child.watch(lambda name: self.reached.add(name))

    def _begin(self) -> None:
        self.reached = set()
        fork_server.close()  # it would not note again what it has noted, and its notes go
        Path(_notes_of_children()).unlink(missing_ok=True)
        reach_child.begin_again()

    def _end(self) -> set[str]:
        notes = Path(_notes_of_children())
        return self.reached | set(notes.read_text().split("\n") if notes.exists() else ())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._begin()
        self._shared_s = 0.0
        self.tests[item.nodeid] = {"seconds": 0.0, "passed": True, "reached": []}
        outcome = yield
        self.tests[item.nodeid]["shared_s"] = round(self._shared_s, 3)
        self.tests[item.nodeid]["seconds"] = round(self.tests[item.nodeid]["seconds"] - self._shared_s, 3)
        shared = [self.by_fixture[name] for name in getattr(item, "fixturenames", ())]
        self.tests[item.nodeid]["reached"] = sorted(self._end().union(*shared) - {""})
        return outcome

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = self._end()
        self._begin()
        begun = time.monotonic()
        outcome = yield
        self._shared_s += time.monotonic() - begun
        self.by_fixture[fixturedef.argname] |= self._end()
        self._begin()
        self.reached = before
        return outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = self.tests[report.nodeid]
        test["seconds"] += report.duration
        test["passed"] &= report.passed

    def pytest_sessionfinish(self) -> None:
        Path(os.environ["RECTO_REACH"]).write_text(json.dumps(self.tests))


def pytest_configure(config: pytest.Config) -> None:
    subprocess.Popen = SeenProcess  # type: ignore[misc]
    reach_child.watch_lines(os.environ[reach_child.LINES])
