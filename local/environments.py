"""The environments of samconfig.toml (dev, prod, …), and the AWS account they are deployed to."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local.stack.config import PROJECT, LocalStackError


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment: the stack's name, and the region and profile if samconfig.toml names them."""

    name: str
    stack: str
    region: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class AwsAccount:
    """An AWS account in a region; `client` makes clients of its services."""

    id: str
    region: str
    client: Callable[[str], Any]


def read_environment(name: str, project: Path = PROJECT) -> Environment:
    """Read an environment of samconfig.toml. Raises `LocalStackError` with the names of those there are."""
    config = tomllib.loads((project / "samconfig.toml").read_text(encoding="utf-8"))
    tables = {key: table for key, table in config.items() if isinstance(table, dict)}
    if name not in tables:
        raise LocalStackError(
            f"samconfig.toml has no environment {name}: choose STACK from {', '.join(sorted(tables))}."
        )
    given: dict[str, Any] = {}
    for command in ("global", "deploy"):
        given |= tables[name].get(command, {}).get("parameters", {})
    if not given.get("stack_name"):
        raise LocalStackError(f"samconfig.toml gives the environment {name} no stack_name.")
    return Environment(name, given["stack_name"], given.get("region", ""), given.get("profile", ""))


def account_of(environment: Environment) -> AwsAccount:
    """Return the account of the shell's credentials. Raises `LocalStackError` when there are none, or no region."""
    try:
        session = boto3.Session(region_name=environment.region or None, profile_name=environment.profile or None)
        if not session.region_name:
            raise LocalStackError("No region is set: export AWS_DEFAULT_REGION, or put `region` into samconfig.toml.")
        number = session.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        raise LocalStackError(
            f"AWS cannot be reached with this shell's credentials: {error}\nCheck them: aws sts get-caller-identity"
        ) from None
    make: Any = session.client
    return AwsAccount(number, session.region_name, make)


def find_stack(account: AwsAccount, name: str) -> dict[str, Any] | None:
    """Return CloudFormation's description of a stack, None when there is none."""
    try:
        found: dict[str, Any] = account.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return found


def has_bucket(account: AwsAccount, name: str) -> bool:
    """Say whether a bucket of that name exists."""
    try:
        account.client("s3").head_bucket(Bucket=name)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
            return False
        raise
    return True
