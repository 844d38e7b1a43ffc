"""What an operator does to a running stack, on the laptop or on AWS: sweep, and redrive."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from functions.ingest.changes import unpack
from local.stack.config import LocalStackError
from local.stack.laptop import Laptop

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sqs import SQSClient

INVOKE_TIMEOUT_S = 910
"""A little more than the 15 minutes Lambda lets the maintenance function run."""
HIDDEN_S = 60
"""Seconds a dead letter is hidden while it is moved: interrupted, it is there again after that."""


@dataclass(frozen=True, slots=True)
class Target:
    """A deployed stack: the clients that reach it, and the outputs of its template."""

    lambda_: "LambdaClient"
    sqs: "SQSClient"
    outputs: Mapping[str, str]


def laptop_target(laptop: Laptop) -> Target:
    """Return the laptop stack. Raises `LocalStackError` when it does not run."""
    return Target(laptop.aws.lambda_, laptop.aws.sqs, laptop.deployed().outputs)


def aws_target(stack_name: str) -> Target:
    """Return a stack in the AWS account of the shell's credentials. Raises `LocalStackError`."""
    try:
        session = boto3.Session()
        stack = session.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"][0]
        patient = Config(read_timeout=INVOKE_TIMEOUT_S, retries={"total_max_attempts": 1})
        lambda_: LambdaClient = session.client("lambda", config=patient)
        sqs: SQSClient = session.client("sqs")
    except (BotoCoreError, ClientError) as error:
        raise LocalStackError(
            f"The stack {stack_name} cannot be reached: {error}\n"
            "Check the credentials and the region of this shell (`aws sts get-caller-identity`, AWS_DEFAULT_REGION), "
            "and the stack's name (`sam list stack-outputs`)."
        ) from None
    return Target(lambda_, sqs, {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])})


def maintain(target: Target, request: Mapping[str, str]) -> dict[str, Any]:
    """Have the maintenance function do something; return its answer. Raises `LocalStackError`."""
    name = target.outputs.get("MaintenanceFunctionName")
    if not name:
        raise LocalStackError("This stack has no maintenance function yet: deploy it again first.")
    answer = target.lambda_.invoke(FunctionName=name, Payload=json.dumps(request).encode())
    payload = json.loads(answer["Payload"].read())
    if answer.get("FunctionError"):
        raise LocalStackError(f"{name} failed: {payload.get('errorMessage', payload)}\nIts log tells more.")
    return dict(payload)


def redriven(target: Target) -> Iterator[list[str]]:
    """Move the dead letters back to the queue of change notifications; yield the keys each of them is about.

    Sent before it is deleted: interrupted between the two, a change notification comes twice, which does no harm.
    """
    dead, alive = target.outputs["DlqUrl"], target.outputs["QueueUrl"]
    while True:
        answer = target.sqs.receive_message(
            QueueUrl=dead, MaxNumberOfMessages=10, VisibilityTimeout=HIDDEN_S, WaitTimeSeconds=1
        )
        if not answer.get("Messages"):
            return
        for message in answer["Messages"]:
            target.sqs.send_message(QueueUrl=alive, MessageBody=message["Body"])
            target.sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
            yield _keys_of(message["Body"])


def _keys_of(body: str) -> list[str]:
    record = {"eventSource": "aws:sqs", "messageId": "", "body": body}
    return [change.key for delivery in unpack({"Records": [record]}, request_id="") for change in delivery.changes]
