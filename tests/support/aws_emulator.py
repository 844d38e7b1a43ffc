"""The laptop stack's AWS emulator alone, and a small stack with what matters to deploying and destroying."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.environments import AwsAccount
from local.stack import components
from local.stack.aws import Aws
from local.stack.config import REGION, LocalConfig
from local.stack.processes import Supervisor
from tests.support.local_stack import free_ports

ACCOUNT = "000000000000"


@contextmanager
def emulated_account(state: Path) -> Iterator[AwsAccount]:
    """Run the emulator on a free port."""
    (port,) = free_ports(1)
    config = LocalConfig(state=state, aws_port=port)
    components.prepare_folders(config)
    supervisor = Supervisor(state)
    component = components.ministack(config)
    supervisor.start(component)
    try:
        supervisor.wait_healthy(component)
        yield AwsAccount(ACCOUNT, REGION, Aws(config.aws_url).client)
    finally:
        supervisor.stop(component.name)


def small_template(**defaults: str) -> str:
    """Return a template with the parameters that deploy-check looks at, and one resource of each kind that is kept."""
    parameters: dict[str, Any] = {
        "TopK": {"Type": "Number", "Default": "7"},
        "PineconeIndex": {"Type": "String", "Default": "recto"},
        "CorsAllowOrigins": {"Type": "String", "Default": "*"},
        "AlarmEmail": {"Type": "String", "Default": ""},
        "OpenaiApiKey": {"Type": "String", "Default": "replace-me", "NoEcho": True},
    }
    for name, default in defaults.items():
        parameters[name] = {"Type": "String", "Default": default}
    keep = {"DeletionPolicy": "RetainExceptOnCreate"}
    resources = {
        "Uploads": {
            "Type": "AWS::S3::Bucket",
            **keep,
            "Properties": {
                "BucketName": {"Fn::Sub": "${AWS::StackName}-uploads-${AWS::AccountId}-${AWS::Region}"},
                "VersioningConfiguration": {"Status": "Enabled"},
            },
        },
        "Documents": {
            "Type": "AWS::DynamoDB::Table",
            **keep,
            "Properties": {
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        },
        "Users": {
            "Type": "AWS::Cognito::UserPool",
            **keep,
            "Properties": {"UserPoolName": {"Ref": "AWS::StackName"}, "DeletionProtection": "ACTIVE"},
        },
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::Sub": "${AWS::StackName}-changes"}}},
        "Logs": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"LogGroupName": {"Fn::Sub": "/aws/lambda/${AWS::StackName}-ingest"}},
        },
    }
    return json.dumps({"Parameters": parameters, "Resources": resources})


def deploy(account: AwsAccount, name: str, template: str, parameters: Mapping[str, str] | None = None) -> None:
    """Create a stack and wait for it."""
    cloudformation = account.client("cloudformation")
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in (parameters or {}).items()]
    cloudformation.create_stack(StackName=name, TemplateBody=template, Parameters=given)
    while (status := cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]).endswith("PROGRESS"):
        time.sleep(0.05)
    assert status == "CREATE_COMPLETE"
