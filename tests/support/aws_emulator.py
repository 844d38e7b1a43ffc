"""The laptop stack's AWS emulator alone, and a small stack with what matters to deploying and destroying."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.environments import AwsAccount
from local.stack import components
from local.stack.aws import Aws
from local.stack.config import PROJECT, REGION, LocalConfig
from local.stack.processes import Supervisor
from local.stack.sam import without_unknown_resources
from tests.support.local_stack import free_ports
from tests.support.waiting import until

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


def real_template(account: AwsAccount) -> str:
    """Return the URL of template.yaml in the emulator, with functions of a package that holds nothing."""
    s3 = account.client("s3")
    s3.create_bucket(Bucket="artifacts")
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("functions/__init__.py", "")
    s3.put_object(Bucket="artifacts", Key="package.zip", Body=package.getvalue())
    text = without_unknown_resources((PROJECT / "template.yaml").read_text())
    text = text.replace("CodeUri: functions/", "CodeUri: s3://artifacts/package.zip")
    s3.put_object(Bucket="artifacts", Key="template.yaml", Body=text.encode())
    return f"{s3.meta.endpoint_url}/artifacts/template.yaml"


def deploy(account: AwsAccount, name: str, template: str, parameters: Mapping[str, str] | None = None) -> None:
    """Create a stack of a template, or of the one at a URL, and wait for it."""
    cloudformation = account.client("cloudformation")
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in (parameters or {}).items()]
    source = {"TemplateURL" if template.startswith("http") else "TemplateBody": template}
    capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
    cloudformation.create_stack(StackName=name, Parameters=given, Capabilities=capabilities, **source)
    status = until(
        lambda: cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"],
        lambda now: not now.endswith("PROGRESS"),
        what=f"the stack {name}",
        within_s=120,
        every_s=0.05,
    )
    assert status == "CREATE_COMPLETE"
