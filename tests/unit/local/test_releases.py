"""Releases: which there are, going back, and deleting the oldest."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from rich.console import Console

from local import releases
from local.operate import Target
from local.report import Reporter
from local.stack.config import LocalStackError

NAMES = {"QueryFunctionName": "q", "IngestFunctionName": "i", "MaintenanceFunctionName": "m"}


@dataclass
class FakeLambda:
    """Three functions; `versions` name the release of each version, in order, and `live` where the aliases point."""

    versions: dict[str, list[str]]
    live: dict[str, str]
    weights: dict[str, Any] = field(default_factory=dict)

    def get_paginator(self, name: str) -> "FakeLambda":
        assert name == "list_versions_by_function"
        return self

    def paginate(self, *, FunctionName: str) -> Iterator[dict[str, Any]]:  # noqa: N803 - as boto3 has it
        yield {"Versions": [self._version("$LATEST", self.versions[FunctionName][-1])]}
        for number, release in enumerate(self.versions[FunctionName], 1):
            if release:
                yield {"Versions": [self._version(str(number), release)]}

    @staticmethod
    def _version(version: str, release: str) -> dict[str, Any]:
        return {
            "Version": version,
            "LastModified": "2026-11-22T20:15:00.000+0000",
            "Environment": {"Variables": {"RELEASE": release}},
        }

    def get_alias(self, *, FunctionName: str, Name: str) -> dict[str, str]:  # noqa: N803
        assert Name == "live"
        return {"FunctionVersion": self.live[FunctionName]}

    def update_alias(
        self,
        *,
        FunctionName: str,  # noqa: N803
        Name: str,  # noqa: N803
        FunctionVersion: str,  # noqa: N803
        RoutingConfig: dict[str, Any],  # noqa: N803
    ) -> None:
        assert Name == "live"
        self.live[FunctionName] = FunctionVersion
        self.weights[FunctionName] = RoutingConfig["AdditionalVersionWeights"]

    def delete_function(self, *, FunctionName: str, Qualifier: str) -> None:  # noqa: N803
        assert Qualifier != self.live[FunctionName]
        self.versions[FunctionName][int(Qualifier) - 1] = ""


def stack(**versions: list[str]) -> FakeLambda:
    return FakeLambda(versions, {name: str(len(each)) for name, each in versions.items()})


def run(functions: FakeLambda, step: str, release: str = "") -> str:
    nobody = cast("Any", None)
    console = Console(file=io.StringIO(), record=True, width=200)
    target = Target(cast("Any", functions), nobody, nobody, NAMES, nobody)
    assert releases.run(target, Reporter(console), step, release) == 0
    return console.export_text()


def test_the_releases_are_listed_newest_first_with_the_live_one_marked() -> None:
    shown = run(stack(q=["a", "b"], i=["a", "b"], m=["a", "b"]), "list").splitlines()
    assert [line.split()[:2] for line in shown] == [["live", "b"], ["a", "2026-11-22T20:15"]]
    assert "q 2, i 2, m 2" in shown[0]


def test_a_rollback_takes_every_function_to_the_release_before_whatever_its_numbers() -> None:
    functions = stack(q=["a", "b", "c"], i=["z", "a", "b", "c"], m=["a", "b", "c"])
    assert "Release b is live" in run(functions, "rollback")
    assert functions.live == {"q": "2", "i": "3", "m": "2"}
    assert functions.weights == {"q": {}, "i": {}, "m": {}}, "a gradual deployment ends"
    run(functions, "rollback")
    assert functions.live == {"q": "1", "i": "2", "m": "1"}
    run(functions, "rollback", "c")
    assert functions.live == {"q": "3", "i": "4", "m": "3"}
    with pytest.raises(LocalStackError, match="no release x; there are: c, b, a"):
        run(functions, "rollback", "x")


def test_a_release_that_is_not_whole_changes_nothing() -> None:
    functions = stack(q=["a", "b"], i=["a", "b"], m=["b"])
    before = dict(functions.live)
    with pytest.raises(LocalStackError, match="Release a has no version of m"):
        run(functions, "rollback")
    assert functions.live == before


def test_there_is_nothing_before_the_first_release() -> None:
    with pytest.raises(LocalStackError, match="no release before"):
        run(stack(q=["a"], i=["a"], m=["a"]), "rollback")


def test_pruning_keeps_the_newest_and_the_live_one() -> None:
    names = list("abcdefgh")
    functions = stack(q=names[:], i=names[:], m=names[:])
    functions.live = {"q": "2", "i": "2", "m": "2"}
    assert "2 releases deleted, 6 kept" in run(functions, "prune")
    for versions in functions.versions.values():
        assert [each for each in versions if each] == ["b", "d", "e", "f", "g", "h"]
    assert "0 releases deleted, 6 kept" in run(functions, "prune")
