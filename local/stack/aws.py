"""boto3 clients for the AWS emulator, and what the deployed stack is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from local.stack.config import REGION, STACK_NAME, LocalConfig

if TYPE_CHECKING:
    from mypy_boto3_apigateway import APIGatewayClient
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient


_SERVICES = {"cognito": "cognito-idp", "lambda_": "lambda", "secrets": "secretsmanager"}
"""boto3's names of services whose attribute here has another name."""


class Aws:
    """Clients that can only reach the emulator: its endpoint and made-up keys, whatever the shell's settings are."""

    apigateway: "APIGatewayClient"
    cloudformation: "CloudFormationClient"
    cognito: "CognitoIdentityProviderClient"
    dynamodb: "DynamoDBClient"
    lambda_: "LambdaClient"
    s3: "S3Client"
    secrets: "SecretsManagerClient"
    sqs: "SQSClient"

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._session = boto3.Session(
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - the emulator takes anything
            aws_session_token="",
            region_name=REGION,
        )

    def client(self, service: str) -> Any:
        """Return a client of any service."""
        config = Config(
            connect_timeout=5,
            read_timeout=60,
            retries={"total_max_attempts": 3, "mode": "standard"},
            proxies={},
            s3={"addressing_style": "path"},
        )
        make: Any = self._session.client
        return make(service, endpoint_url=self._endpoint, config=config, verify=False)

    def __getattr__(self, name: str) -> Any:
        """Create one of the clients above at its first use."""
        if name not in Aws.__annotations__:
            raise AttributeError(name)
        client = self.client(_SERVICES.get(name, name))
        setattr(self, name, client)
        return client

    def log_events(self, group: str, since_ms: int) -> list[tuple[int, str, str]]:
        """Return a log group's events from `since_ms` on, oldest first: time (ms since 1970), stream and message.

        A group that does not exist yet has none.
        """
        client = self.client("logs")
        try:
            pages = client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since_ms)
            events = [event for page in pages for event in page["events"]]
        except client.exceptions.ResourceNotFoundException:
            return []
        events.sort(key=lambda event: event["timestamp"])
        return [(event["timestamp"], event["logStreamName"], event["message"]) for event in events]


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the stack: its name in the template, its type, its physical id."""

    logical_id: str
    type: str
    physical_id: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployed stack: its resources and outputs, and the address of its API."""

    resources: tuple[Resource, ...]
    outputs: Mapping[str, str]
    aws_url: str

    def of_type(self, type_name: str) -> list[Resource]:
        """Return the resources of one CloudFormation type."""
        return [r for r in self.resources if r.type == type_name]

    def one(self, type_name: str) -> str:
        """Return the physical id of the first resource of a type, or an empty string."""
        found = self.of_type(type_name)
        return found[0].physical_id if found else ""

    @property
    def api_id(self) -> str:
        """Id of the REST API."""
        return self.one("AWS::ApiGateway::RestApi")

    @property
    def api_url(self) -> str:
        """Base URL of the API with its stage, as the emulator serves it."""
        stages = self.of_type("AWS::ApiGateway::Stage")
        stage = self.outputs.get("StageName") or (stages[0].physical_id.rsplit("|", 1)[-1] if stages else "prod")
        # The emulator's output is an amazonaws.com address, which only resolves in AWS.
        return f"{self.aws_url}/_aws/execute-api/{self.api_id}/{stage}"

    @property
    def bucket(self) -> str:
        """Name of the upload bucket."""
        return self.outputs.get("BucketName") or self.one("AWS::S3::Bucket")


def find_stack(aws: Aws, config: LocalConfig) -> Deployed | None:
    """Return the deployed stack, or None when there is none or its deployment did not finish."""
    try:
        stack = aws.cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    except ClientError:
        return None
    if stack["StackStatus"] not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
        return None
    pages = aws.cloudformation.get_paginator("list_stack_resources").paginate(StackName=STACK_NAME)
    resources = tuple(
        Resource(r["LogicalResourceId"], r["ResourceType"], r.get("PhysicalResourceId", ""))
        for page in pages
        for r in page["StackResourceSummaries"]
    )
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stack.get("Outputs", [])}
    return Deployed(resources, outputs, config.aws_url)
