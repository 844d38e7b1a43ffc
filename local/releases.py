"""Releases of a deployed stack: list them, go back to an older one, delete the oldest (also on AWS).

A deployment publishes a version of each function; its environment names the release. The alias says which one is live.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from local.operate import Target
from local.report import Reporter, counted
from local.stack.config import ALIAS, KEPT_RELEASES, LocalStackError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

FUNCTIONS = (
    "QueryFunctionName",
    "QueryStreamFunctionName",
    "AuthorizerFunctionName",
    "IngestFunctionName",
    "OcrFunctionName",
    "MaintenanceFunctionName",
)
"""The outputs that name functions with an alias; the second one exists with `Streaming`."""


@dataclass(frozen=True, slots=True)
class Release:
    """One deployment's versions, by function."""

    name: str
    published: str
    versions: Mapping[str, str]
    live: bool


def run(target: Target, report: Reporter, step: str, release: str = "") -> int:
    """Take a step; 0 when it succeeded. Raises `LocalStackError`."""
    names = [target.outputs[output] for output in FUNCTIONS if output in target.outputs]
    found = releases(target.lambda_, names)
    if step == "rollback":
        chosen = _chosen(found, release)
        missing = [name for name in names if name not in chosen.versions]
        if missing:
            raise LocalStackError(f"Release {chosen.name} has no version of {', '.join(missing)}: deploy that commit.")
        for name, version in chosen.versions.items():
            # Without weights: a gradual deployment that is under way ends here.
            weights: dict[str, float] = {}
            target.lambda_.update_alias(
                FunctionName=name,
                Name=ALIAS,
                FunctionVersion=version,
                RoutingConfig={"AdditionalVersionWeights": weights},
            )
        report.say(f"Release {chosen.name} is live. The next deployment goes forward again.")
        return 0
    if step == "prune":
        return _prune(target, report, found)
    for each in found:
        versions = ", ".join(f"{name} {version}" for name, version in each.versions.items())
        report.say(f"{'live' if each.live else '    '}  {each.name}  {each.published[:16]}  {versions}")
    return 0


def releases(lambda_: "LambdaClient", names: list[str]) -> list[Release]:
    """Return the releases of these functions, newest first; live is what the first function's alias calls."""
    versions: dict[str, dict[str, str]] = {}
    published: dict[str, str] = {}
    for name in names:
        for page in lambda_.get_paginator("list_versions_by_function").paginate(FunctionName=name):
            for each in page["Versions"]:
                release = each.get("Environment", {}).get("Variables", {}).get("RELEASE", "")
                if release and each["Version"] != "$LATEST":
                    versions.setdefault(release, {})[name] = each["Version"]  # the last one: they come in order
                    published[release] = max(published.get(release, ""), each.get("LastModified", ""))
    live = lambda_.get_alias(FunctionName=names[0], Name=ALIAS)["FunctionVersion"]
    found = [Release(name, published[name], of, live=of.get(names[0]) == live) for name, of in versions.items()]
    return sorted(found, key=lambda release: int(release.versions.get(names[0], 0)), reverse=True)


def _chosen(found: list[Release], name: str) -> Release:
    if name:
        chosen = next((each for each in found if each.name == name), None)
        if chosen is None:
            raise LocalStackError(f"There is no release {name}; there are: {', '.join(each.name for each in found)}.")
        return chosen
    live = next((at for at, each in enumerate(found) if each.live), len(found))
    if live + 1 >= len(found):
        raise LocalStackError("There is no release before the live one.")
    return found[live + 1]


def _prune(target: Target, report: Reporter, found: list[Release]) -> int:
    old = [each for each in found[KEPT_RELEASES:] if not each.live]
    for each in old:
        for name, version in each.versions.items():
            if target.lambda_.get_alias(FunctionName=name, Name=ALIAS)["FunctionVersion"] != version:
                target.lambda_.delete_function(FunctionName=name, Qualifier=version)
        report.say(f"  {each.name}")
    report.say(f"{counted(len(old), 'release')} deleted, {len(found) - len(old)} kept.")
    return 0
