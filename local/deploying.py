"""`make deploy`, before anything is built: what CloudFormation would refuse, and what a deploy will not change.

SAM sends the parameters that are not given as "the previous value" (aws-sam-cli, `merge_parameters`), so a default that
the template changed since the last deployment does not take effect. Each such parameter is listed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from functions.identity.app import EVERYBODY, read_roles, read_tenants
from functions.query.limits import overrides_in
from local.environments import AwsAccount, Environment, find_stack, has_bucket
from local.report import Reporter
from local.stack import template
from local.stack.config import LocalStackError
from shared.errors import ConfigurationError

REFUSED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
"""A role that may deploy one stack need not be allowed to see the others."""
HIDDEN = "****"
"""What CloudFormation shows for a parameter with NoEcho."""
PRODUCTION = "prod"
"""The environment that gets more warnings."""
STUCK = {
    "ROLLBACK_COMPLETE": "Its first deployment failed, and such a stack can only be deleted: make destroy STACK={env}",
    "ROLLBACK_FAILED": "Its first deployment failed, and such a stack can only be deleted: make destroy STACK={env}",
    "DELETE_FAILED": "Its deletion did not finish: make destroy STACK={env}",
    "UPDATE_ROLLBACK_FAILED": "Its last update could not be undone: "
    "aws cloudformation continue-update-rollback --stack-name {stack}",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """A parameter whose deployed value is not the default; `former` is the default of the deployed template."""

    name: str
    value: str
    default: str
    former: str | None

    @property
    def is_outdated(self) -> bool:
        """Whether nobody chose the value: it was the default, and the default has changed."""
        return self.value == self.former


def check(environment: Environment, account: AwsAccount, given: Sequence[str], report: Reporter) -> int:
    """Check that the deploy can succeed, and print what it will not change. Raises `LocalStackError`."""
    parameters = _given(given)
    defaults = template.parameter_defaults()
    _company({**defaults, **parameters})  # says more than the template's patterns do
    template.check_parameters(parameters)
    _check_limits(parameters)
    template.check_stack_name(environment.stack, account.region)
    stack = find_stack(account, environment.stack)
    _check_state(environment, account, stack)
    deployed = {} if stack is None else _values(stack)
    for line in _kept_lines(kept(deployed, _former_defaults(account, stack), defaults, parameters)):
        report.say(line)
    effective = {**defaults, **deployed, **parameters}
    warnings = [*_sharing(environment, account, effective), *_warnings(environment, effective), *_company(effective)]
    warnings += _page(effective, _outputs(stack))
    for warning in warnings:
        report.say(f"Warning: {warning}")
    return 0


def kept(
    deployed: Mapping[str, str], former: Mapping[str, str], defaults: Mapping[str, str], given: Mapping[str, str]
) -> list[Kept]:
    """Return what this deploy leaves at a value that is not the template's default, in the template's order."""
    return [
        Kept(name, deployed[name], default, former.get(name))
        for name, default in defaults.items()
        if name in deployed and name not in given and deployed[name] not in (default, HIDDEN)
    ]


def _given(given: Sequence[str]) -> dict[str, str]:
    if wrong := [each for each in given if "=" not in each]:
        raise LocalStackError(f"{wrong[0]!r} is not a parameter: write Name=value, and put spaces between several.")
    return dict(each.split("=", 1) for each in given)


def _check_limits(given: Mapping[str, str]) -> None:
    """Raise `LocalStackError` for limits that the query function could not read: it would refuse every question."""
    try:
        overrides_in(given.get("LimitOverrides", ""))
    except ConfigurationError as error:
        raise LocalStackError(str(error)) from None


def _check_state(environment: Environment, account: AwsAccount, stack: Mapping[str, Any] | None) -> None:
    status = stack["StackStatus"] if stack else ""
    if status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        raise LocalStackError(
            f"The stack {environment.stack} is being changed now ({status}): try again when that is done."
        )
    if status in STUCK:
        what = STUCK[status].format(env=environment.name, stack=environment.stack)
        raise LocalStackError(f"The stack {environment.stack} cannot be deployed ({status}). {what}")
    bucket = template.bucket_name(environment.stack, account.id, account.region)
    if status in ("", "REVIEW_IN_PROGRESS") and has_bucket(account, bucket):
        raise LocalStackError(
            f"The bucket {bucket} was kept when an earlier stack {environment.stack} was deleted, and CloudFormation "
            f"creates no second one. Delete it with its documents (make destroy STACK={environment.name}), or choose "
            "another stack_name."
        )


def _values(stack: Mapping[str, Any]) -> dict[str, str]:
    return {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])}


def _outputs(stack: Mapping[str, Any] | None) -> dict[str, str]:
    return {each["OutputKey"]: each["OutputValue"] for each in (stack or {}).get("Outputs", [])}


def _former_defaults(account: AwsAccount, stack: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the defaults of the template that is deployed."""
    if stack is None:
        return {}
    summary = account.client("cloudformation").get_template_summary(StackName=stack["StackName"])
    return {each["ParameterKey"]: str(each["DefaultValue"]) for each in summary["Parameters"] if "DefaultValue" in each}


def _kept_lines(found: Sequence[Kept]) -> list[str]:
    outdated = [each for each in found if each.is_outdated]
    chosen = [each for each in found if not each.is_outdated]
    lines = []
    if outdated:
        lines.append("New defaults that do not take effect, because CloudFormation keeps the deployed value:")
        lines += [f"  {each.name}={each.value}, now {each.default or '(empty)'} by default" for each in outdated]
        new = " ".join(f"{each.name}={each.default}" for each in outdated)
        lines.append(
            f'To use them: make deploy PARAMETERS="{new}". To keep a value for good: put it into deploy.parameters.'
        )
    if chosen:
        lines.append("Set at an earlier deployment, and kept:")
        lines += [f"  {each.name}={each.value or '(empty)'} (default: {each.default or '(empty)'})" for each in chosen]
    return lines


def _sharing(environment: Environment, account: AwsAccount, effective: Mapping[str, str]) -> list[str]:
    """Return a warning for each other stack in this account and region that uses the same Pinecone index."""
    index = effective["PineconeIndex"]
    try:
        pages = account.client("cloudformation").get_paginator("describe_stacks").paginate()
        stacks = [stack for page in pages for stack in page["Stacks"]]
    except ClientError as error:
        if error.response["Error"]["Code"] not in REFUSED:
            raise
        return [f"other stacks may not be listed, so one of them may use the Pinecone index {index}, too."]
    others = [
        stack["StackName"]
        for stack in stacks
        if stack["StackName"] != environment.stack and _values(stack).get("PineconeIndex") == index
    ]
    return [
        f"the stack {other} uses the Pinecone index {index}, too. Tenants of the same name share a namespace there, "
        "and each stack's sweep deletes the other's vectors: give each its own (PineconeIndex, make index)."
        for other in others
    ]


def _company(effective: Mapping[str, str]) -> list[str]:
    """Return a warning for each group of a company that gives no access. Raises `LocalStackError` for a bad table."""
    if effective["IdentityProvider"] == "none":
        return []
    try:
        roles = read_roles(effective["GroupRoles"])
        tenants = read_tenants(effective["GroupTenants"])
    except ValueError as error:
        raise LocalStackError(f"{error}. Nobody could sign in through the company's provider.") from None
    found = [
        f"users in the group {group} get no access: GroupTenants gives it two tenants ({', '.join(sorted(names))})"
        for group, names in tenants.items()
        if len(names) > 1
    ]
    if not effective["TenantAttribute"] and EVERYBODY not in tenants:
        without = sorted(roles.keys() - tenants.keys())
        found += [
            f"the group {group} has a role but no tenant; its users need another group that has" for group in without
        ]
    return found


def _page(effective: Mapping[str, str], outputs: Mapping[str, str]) -> list[str]:
    """Return a warning if the page may not call the API."""
    origins = effective["CorsAllowOrigins"].split(",")
    host = effective["PageDomain"]
    page = f"https://{host}" if host else outputs.get("PageUrl", "").rstrip("/")
    if effective["Page"] == "false" or not page or "*" in origins or page in origins:
        return []
    return [f"the page may not call the API: CorsAllowOrigins does not name {page}"]


def _warnings(environment: Environment, effective: Mapping[str, str]) -> list[str]:
    if environment.name != PRODUCTION:
        return []
    found = []
    if effective["CorsAllowOrigins"] == "*":
        found.append(
            "any web site may call the API (CorsAllowOrigins=*): name yours, CorsAllowOrigins=https://example.org"
        )
    if not effective["AlarmEmail"]:
        found.append("nobody is told about alarms: set AlarmEmail")
    return found
