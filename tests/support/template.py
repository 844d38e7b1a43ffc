"""template.yaml as data: intrinsic functions in their long form, `{"Ref": …}`, `{"Fn::Sub": …}`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


class _Loader(yaml.CSafeLoader):
    pass


def _intrinsic(loader: yaml.Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)  # type: ignore[no-untyped-call]


@cache
def template() -> dict[str, Any]:
    """Return template.yaml; do not change it."""
    loaded = yaml.load((ROOT / "template.yaml").read_text(), _Loader)
    assert isinstance(loaded, dict)
    return loaded


def properties(logical_id: str) -> dict[str, Any]:
    """Return the properties of a resource of the template."""
    found = template()["Resources"][logical_id]["Properties"]
    assert isinstance(found, dict)
    return found


def environment() -> dict[str, Any]:
    """Return the environment variables both functions get."""
    found = template()["Globals"]["Function"]["Environment"]["Variables"]
    assert isinstance(found, dict)
    return found


def evaluated(node: Any, given: Mapping[str, str]) -> Any:
    """Return a part of the template as CloudFormation evaluates it: parameters (else defaults), conditions, maps.

    Values that only a deployed stack knows stay as they are; `AWS::NoValue` becomes None.
    """
    match node:
        case {"Ref": "AWS::NoValue"}:
            return None
        case {"Ref": str(name)} if name in template()["Parameters"]:
            return str(given.get(name, template()["Parameters"][name]["Default"]))
        case {"Condition": str(name)}:
            return evaluated(template()["Conditions"][name], given)
        case {"Fn::Equals": [left, right]}:
            return str(evaluated(left, given)) == str(evaluated(right, given))
        case {"Fn::Not": [inner]}:
            return not evaluated(inner, given)
        case {"Fn::And": parts}:
            return all(evaluated(part, given) for part in parts)
        case {"Fn::Or": parts}:
            return any(evaluated(part, given) for part in parts)
        case {"Fn::If": [name, then, otherwise]}:
            return evaluated(then if evaluated({"Condition": name}, given) else otherwise, given)
        case {"Fn::FindInMap": [name, first, second]}:
            return template()["Mappings"][name][evaluated(first, given)][evaluated(second, given)]
        case dict():
            return {name: evaluated(value, given) for name, value in node.items()}
        case list():
            return [evaluated(value, given) for value in node]
        case _:
            return node


def settings_tables() -> str:
    """Render the tables of docs/settings.md: one for each group of parameters in the template."""
    lines: list[str] = []
    for group in template()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]:
        lines += ["", f"## {group['Label']['default']}", "", "| Parameter | Default | What it does |", "|---|---|---|"]
        for name in group["Parameters"]:
            parameter = template()["Parameters"][name]
            default = f"`{parameter['Default']}`" if parameter["Default"] != "" else "(empty)"
            lines.append(f"| `{name}` | {default} | {' '.join(parameter['Description'].split())} |")
    return "\n".join(lines)


if __name__ == "__main__":  # python -m tests.support.template: the tables, to be put into docs/settings.md
    print(settings_tables())  # noqa: T201  that is its job
