"""`make destroy`: deletes a stack and its bucket, and says what is kept and how to delete that, too.

The stack is deleted first: otherwise the bucket would send every deletion to a stack that still listens. The bucket's
name follows from the stack's, so an interrupted run continues where it stopped, even if the stack is gone.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from local.environments import AwsAccount, Environment, find_stack, has_bucket
from local.report import Reporter, counted
from local.stack import template
from local.stack.config import LocalStackError

BATCH = 1000
"""Keys in one DeleteObjects request (S3's limit)."""
TRIES = 3
"""Batches in a row without any deletion after which it gives up."""
POLL_S = 5.0
SHOWN = 5
SAM_STACK = "aws-sam-cli-managed-default"
"""The stack in which SAM keeps the packages it uploads."""
_KEPT_COMMANDS = {
    "AWS::DynamoDB::Table": ["aws dynamodb delete-table --table-name {id}"],
    "AWS::Cognito::UserPool": [
        "aws cognito-idp update-user-pool --user-pool-id {id} --deletion-protection INACTIVE",
        "aws cognito-idp delete-user-pool --user-pool-id {id}",
    ],
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a bucket holds: versions and delete markers, and the bytes of the versions."""

    versions: int
    bytes: int


def destroy(
    environment: Environment,
    account: AwsAccount,
    report: Reporter,
    *,
    yes: bool,
    ask: Callable[[str], str] = input,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Delete stack and bucket, after asking; say what is kept. Raises `LocalStackError` when it cannot be done."""
    name = environment.stack
    stack = find_stack(account, name)
    bucket = template.bucket_name(name, account.id, account.region)
    has_documents = has_bucket(account, bucket)
    if stack is None and not has_documents:
        report.say(f"There is neither a stack {name} nor a bucket {bucket} in {account.region}.")
        _tell_kept(account, environment, _last_deleted(account, name), report)
        return 0
    _check(environment, stack)
    contents = _contents(account, bucket, report) if has_documents else Contents(0, 0)
    report.say(f"In account {account.id}, {account.region}, these are deleted for good:")
    if stack is not None:
        report.say(f"  the stack {name}")
    if has_documents:
        held = f"{counted(contents.versions, 'version')} of documents, {counted(contents.bytes, 'byte')}"
        report.say(f"  the bucket {bucket} with {held}")
    if not yes and not _confirmed(name, ask):
        report.say("Nothing was deleted.")
        return 1
    stack_id = stack["StackId"] if stack else _last_deleted(account, name)
    if stack is not None:
        _empty_page(account, stack, report)
        _delete_stack(account, stack_id, report, wait)
    if has_documents:
        _empty(account, bucket, contents.versions, report)
        _delete_bucket(account, bucket)
        report.say(f"The bucket {bucket} is deleted.")
    _tell_kept(account, environment, stack_id, report, stack)
    return 0


def _check(environment: Environment, stack: dict[str, Any] | None) -> None:
    if stack is None:
        return
    name, status = environment.stack, stack["StackStatus"]
    if stack.get("EnableTerminationProtection"):
        raise LocalStackError(
            f"The stack {name} is protected from deletion. If you mean it:\n  aws cloudformation "
            f"update-termination-protection --stack-name {name} --no-enable-termination-protection\nThen run it again."
        )
    if status.endswith("_IN_PROGRESS") and status != "DELETE_IN_PROGRESS":
        raise LocalStackError(f"The stack {name} is being changed now ({status}): try again when that is done.")


def _confirmed(name: str, ask: Callable[[str], str]) -> bool:
    if ask is input and not sys.stdin.isatty():
        raise LocalStackError("There is no terminal to ask on: CONFIRM=no (or --yes) deletes without asking.")
    return ask(f"Type the stack's name ({name}) to delete all this: ").strip() == name


def _empty_page(account: AwsAccount, stack: dict[str, Any], report: Reporter) -> None:
    """Empty the page's bucket: nothing listens to it, and it is deleted with the stack."""
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
    if (bucket := outputs.get("PageBucketName")) and has_bucket(account, bucket):
        _empty(account, bucket, 0, report)


# --- the stack --------------------------------------------------------------------------------------------------------


def _delete_stack(account: AwsAccount, stack_id: str, report: Reporter, wait: Callable[[float], None]) -> None:
    cloudformation = account.client("cloudformation")
    cloudformation.delete_stack(StackName=stack_id)
    with report.step("The stack is deleted"), report.live("Deleting the stack") as show:
        while True:
            status = cloudformation.describe_stacks(StackName=stack_id)["Stacks"][0]["StackStatus"]
            left = [each for each in _resources(account, stack_id) if not each["ResourceStatus"].startswith("DELETE_")]
            if status == "DELETE_COMPLETE":
                return
            if status == "DELETE_FAILED":
                raise LocalStackError(_why_failed(account, stack_id))
            show(f"{counted(len(left), 'resource')} left")
            wait(POLL_S)


def _resources(account: AwsAccount, stack_id: str) -> list[dict[str, Any]]:
    pages = account.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack_id)
    return [each for page in pages for each in page["StackResourceSummaries"]]


def _at_last(account: AwsAccount, stack_id: str) -> list[dict[str, Any]]:
    """Return the last event of each resource; CloudFormation keeps the events of a deleted stack for 90 days."""
    pages = account.client("cloudformation").get_paginator("describe_stack_events").paginate(StackName=stack_id)
    last: dict[str, dict[str, Any]] = {}
    for page in pages:  # newest first
        for event in page["StackEvents"]:
            last.setdefault(event["LogicalResourceId"], event)
    return list(last.values())


def _why_failed(account: AwsAccount, stack_id: str) -> str:
    failed = [each for each in _resources(account, stack_id) if each["ResourceStatus"] == "DELETE_FAILED"]
    lines = [f"  {each['LogicalResourceId']}: {each.get('ResourceStatusReason', 'no reason given')}" for each in failed]
    return "\n".join(["CloudFormation could not delete these:", *lines, "Fix that, then run this again."])


def _last_deleted(account: AwsAccount, name: str) -> str:
    """Return the id of the stack of that name that was deleted last, empty if there was none in the last 90 days."""
    pages = (
        account.client("cloudformation").get_paginator("list_stacks").paginate(StackStatusFilter=["DELETE_COMPLETE"])
    )
    found = [each for page in pages for each in page["StackSummaries"] if each["StackName"] == name]
    return str(max(found, key=lambda each: each.get("DeletionTime", each["CreationTime"]))["StackId"]) if found else ""


# --- the bucket -------------------------------------------------------------------------------------------------------


def _versions(account: AwsAccount, bucket: str) -> Iterator[dict[str, Any]]:
    """Yield versions and delete markers; the latter have no size."""
    for page in account.client("s3").get_paginator("list_object_versions").paginate(Bucket=bucket):
        yield from page.get("Versions", [])
        yield from page.get("DeleteMarkers", [])


def _contents(account: AwsAccount, bucket: str, report: Reporter) -> Contents:
    versions = size = 0
    with report.live("Counting") as show:
        for versions, each in enumerate(_versions(account, bucket), start=1):
            size += each.get("Size", 0)
            if versions % (10 * BATCH) == 0:
                show(counted(versions, "version"))
    return Contents(versions, size)


def _empty(account: AwsAccount, bucket: str, count: int, report: Reporter) -> None:
    """Delete versions, delete markers and abandoned uploads. Raises `LocalStackError` that names what is left.

    The bucket is listed from its beginning after each batch, so that a deletion that failed for a moment is repeated.
    """
    s3 = account.client("s3")
    done = fruitless = 0
    with report.live("Emptying the bucket") as show:
        while batch := list(islice(_versions(account, bucket), BATCH)):
            objects = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in batch]
            failed = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True}).get("Errors", [])
            done += len(batch) - len(failed)
            show(f"{done:,} of {counted(max(count, done), 'version')}")
            fruitless = fruitless + 1 if len(failed) == len(batch) else 0
            if fruitless == TRIES:
                raise LocalStackError(_left(failed))
    for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket):
        for upload in page.get("Uploads", []):
            s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])


def _left(failed: Sequence[dict[str, Any]]) -> str:
    named = "\n".join(f"  {each['Key']}: {each.get('Message', each.get('Code'))}" for each in failed[:SHOWN])
    return f"{counted(len(failed), 'version')} could not be deleted, among them:\n{named}\nRun this again."


def _delete_bucket(account: AwsAccount, bucket: str) -> None:
    try:
        account.client("s3").delete_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] != "BucketNotEmpty":
            raise
        raise LocalStackError(f"Something was put into {bucket} meanwhile: run this again.") from None


# --- what is kept -----------------------------------------------------------------------------------------------------


def _tell_kept(
    account: AwsAccount, environment: Environment, stack_id: str, report: Reporter, stack: dict[str, Any] | None = None
) -> None:
    """Print what still exists and costs money or holds data, each with the command that deletes it."""
    lines: list[str] = []
    resources = _at_last(account, stack_id) if stack_id else []
    for each in resources:
        if each["ResourceStatus"] == "DELETE_SKIPPED" and _is_there(account, each):
            lines += [line.format(id=each["PhysicalResourceId"]) for line in _KEPT_COMMANDS[each["ResourceType"]]]
    lines += [f"aws logs delete-log-group --log-group-name {group}" for group in _log_groups(account, resources)]
    secret = f"{environment.stack}/keys"
    if _answers(account.client("secretsmanager").describe_secret, SecretId=secret):
        # It exists, or waits for its deletion: its name is taken until then.
        lines.append(f"aws secretsmanager delete-secret --force-delete-without-recovery --secret-id {secret}")
    if packages := find_stack(account, SAM_STACK):
        outputs = {each["OutputKey"]: each["OutputValue"] for each in packages.get("Outputs", [])}
        if bucket := outputs.get("SourceBucket"):
            lines.append(f"aws s3 rm --recursive s3://{bucket}/{environment.stack}/")
    if stack is None and stack_id:
        stack = find_stack(account, stack_id)
    values = {each["ParameterKey"]: each["ParameterValue"] for each in (stack or {}).get("Parameters", [])}
    if index := values.get("PineconeIndex"):
        url = values.get("PineconeControlUrl", "https://api.pinecone.io")
        lines.append(
            f'curl -X DELETE -H "Api-Key: $PINECONE_API_KEY" {url}/indexes/{index}   # unless another stack uses it'
        )
    if lines:
        report.say("Kept, because it holds data or does not belong to this stack alone. To delete it, too:")
    for line in lines:
        report.say(f"  {line}")


def _log_groups(account: AwsAccount, resources: Sequence[dict[str, Any]]) -> list[str]:
    """Return the log groups that exist: a function that still ran while the stack was deleted makes its own again."""
    logs = account.client("logs")
    names = [f"/aws/lambda/{each['PhysicalResourceId']}" for each in resources if _is_a(each, "AWS::Lambda::Function")]
    names += [each["PhysicalResourceId"] for each in resources if _is_a(each, "AWS::Logs::LogGroup")]
    return [
        name
        for name in dict.fromkeys(names)
        if any(each["logGroupName"] == name for each in logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"])
    ]


def _is_a(resource: dict[str, Any], type_name: str) -> bool:
    return resource["ResourceType"] == type_name and bool(resource.get("PhysicalResourceId"))


def _is_there(account: AwsAccount, resource: dict[str, Any]) -> bool:
    """Whether a resource that the stack's deletion left still exists; kinds unknown to this command do not count."""
    name = resource["PhysicalResourceId"]
    match resource["ResourceType"]:
        case "AWS::DynamoDB::Table":
            return _answers(account.client("dynamodb").describe_table, TableName=name)
        case "AWS::Cognito::UserPool":
            return _answers(account.client("cognito-idp").describe_user_pool, UserPoolId=name)
    return False


def _answers(ask: Callable[..., object], **arguments: str) -> bool:
    try:
        ask(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return False
        raise
    return True
