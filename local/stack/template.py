"""The parameters and names in template.yaml, read as text: the laptop stack has no YAML reader."""

import re
from collections.abc import Mapping
from pathlib import Path

from local.stack.config import PROJECT, LocalStackError

LENGTHS = {
    "BucketName": 63,
    "Domain": 63,
    "FunctionName": 64,
    "QueueName": 80,
    "BudgetName": 100,
    "ClientName": 128,
    "DashboardName": 255,
    "TopicName": 256,
    "Name": 512,  # the secret's
    "LogGroupName": 512,
}
"""Characters AWS allows in the names that the template makes from the stack's (each service's API reference)."""
ACCOUNT_DIGITS = 12
LARGEST = 1e300
"""A number beyond any that a parameter takes, below infinity."""
LONGEST_REGION = 14
"""Characters of ap-southeast-1 and its like, the longest names of regions (botocore's endpoints.json)."""


def parameter_rules(project: Path = PROJECT) -> dict[str, dict[str, str]]:
    """Return what the template says of every parameter, by name and then by attribute, as it is written there."""
    _, _, rest = (project / "template.yaml").read_text(encoding="utf-8").partition("\nParameters:\n")
    body = re.split(r"^\w", rest, maxsplit=1, flags=re.M)[0]
    found = re.finditer(r"^  (\w+):\n((?:    .*\n)+)", body, re.M)
    return {name: dict(re.findall(r"^    (\w+): (.*)$", rules, re.M)) for name, rules in (e.groups() for e in found)}


def parameter_defaults(project: Path = PROJECT) -> dict[str, str]:
    """Return the default of every parameter of the template, by name."""
    return {name: _plain(rules["Default"]) for name, rules in parameter_rules(project).items()}


def check_parameters(given: Mapping[str, str], project: Path = PROJECT) -> None:
    """Raise `LocalStackError` for a parameter that the template does not have, or a value that it does not allow.

    SAM ignores the first silently. The second would be refused too, but only after everything is built and uploaded.
    """
    every = parameter_rules(project)
    if unknown := sorted(given.keys() - every.keys()):
        raise LocalStackError(f"template.yaml has no parameter {', '.join(unknown)}: see docs/settings.md.")
    for name, value in given.items():
        if expected := _expected(every[name], value):
            raise LocalStackError(f"{name}={value} is not possible: {expected} is expected. See docs/settings.md.")


def _expected(rules: Mapping[str, str], value: str) -> str:
    """Return in words what a parameter takes, if it does not take this value (CloudFormation's "Parameters" syntax)."""
    if "AllowedValues" in rules:
        allowed = [_plain(each) for each in rules["AllowedValues"].strip("[]").split(",")]
        return "" if value in allowed else " or ".join(each or "(empty)" for each in allowed)
    if rules["Type"] == "Number":
        least, most = rules.get("MinValue", ""), rules.get("MaxValue", "")
        try:
            is_inside = float(least or -LARGEST) <= float(value) <= float(most or LARGEST)
        except ValueError:
            is_inside = False
        bounds = f"from {least} to {most}" if least and most else f"of {least} or more" if least else ""
        return "" if is_inside else f"a number {bounds}".strip()
    if len(value) < int(rules.get("MinLength", 0)):
        return "something"
    if not re.fullmatch(_plain(rules.get("AllowedPattern", ".*")), value, re.S):
        described = _plain(rules.get("ConstraintDescription", ""))
        return described.removeprefix("must be ") or f"what matches {_plain(rules['AllowedPattern'])}"
    return ""


def _plain(value: str) -> str:
    quoted = re.fullmatch(r"""(["'])(.*)\1""", value.strip())
    return quoted.group(2) if quoted else value.strip()


def names_of_stack(project: Path = PROJECT) -> dict[str, str]:
    """Return the names that the template makes from the stack's, with `${…}` in them, by property."""
    text = (project / "template.yaml").read_text(encoding="utf-8")
    found = re.findall(r'^ +(\w*Name|Domain): !Sub "([^"]*\$\{AWS::StackName\}[^"]*)"$', text, re.M)
    longest: dict[str, str] = {}
    for name, pattern in found:
        longest[name] = max(longest.get(name, ""), pattern, key=len)
    return longest


def bucket_name(stack: str, account: str, region: str, project: Path = PROJECT) -> str:
    """Return the name of the stack's bucket."""
    values = {"AWS::StackName": stack, "AWS::AccountId": account, "AWS::Region": region}
    return re.sub(r"\$\{([^}]+)\}", lambda each: values[each[1]], names_of_stack(project)["BucketName"])


def longest_stack_name(region: str = "", project: Path = PROJECT) -> tuple[int, str]:
    """Return the most characters of a stack's name in a region (any, when empty), and the property that decides."""
    lengths = {"AWS::StackName": 0, "AWS::AccountId": ACCOUNT_DIGITS, "AWS::Region": len(region) or LONGEST_REGION}
    return min(
        (LENGTHS[name] - sum(_length(part, lengths) for part in re.findall(r"\$\{[^}]+\}|.", pattern)), name)
        for name, pattern in names_of_stack(project).items()
        if name in LENGTHS
    )


def _length(part: str, lengths: dict[str, int]) -> int:
    return lengths[part[2:-1]] if part.startswith("${") else 1


def check_stack_name(stack: str, region: str = "", project: Path = PROJECT) -> None:
    """Raise `LocalStackError` when AWS would refuse the stack's name, or a name made from it."""
    if not re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", stack):
        raise LocalStackError(
            f"{stack!r} cannot name a stack: the bucket is named after it, so lower-case letters, digits and hyphens "
            "only, a letter first (stack_name in samconfig.toml)."
        )
    most, named = longest_stack_name(region, project)
    if len(stack) > most:
        what = "bucket" if named == "BucketName" else named.removesuffix("Name").lower()
        where = f" in {region}" if region else ""
        raise LocalStackError(
            f"{stack!r} has {len(stack)} characters, and a stack's name may have {most}{where}: AWS allows "
            f"{LENGTHS[named]} in the name of the {what}, {names_of_stack(project)[named].replace('AWS::', '')}."
        )
