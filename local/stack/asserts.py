"""Checks that every part of the deployed stack exists.

The emulator reports CREATE_COMPLETE even for resources it does not understand, so each one is checked through the API
of its own service.
"""

from botocore.exceptions import ClientError

from local.stack.aws import Aws, Deployed
from local.stack.config import LocalStackError

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""What `/{proxy+}` must answer; all but OPTIONS behind the authorizer."""

AT_LEAST = {
    "AWS::Lambda::Function": 4,
    "AWS::DynamoDB::Table": 3,
    "AWS::SQS::Queue": 2,
    "AWS::S3::Bucket": 1,
    "AWS::ApiGateway::RestApi": 1,
    "AWS::Cognito::UserPool": 1,
    "AWS::Cognito::UserPoolClient": 1,
    "AWS::SecretsManager::Secret": 1,
    "AWS::Lambda::EventSourceMapping": 1,
    "AWS::Events::Rule": 1,
}
"""How many resources of each type the stack has at least."""


def missing_parts(aws: Aws, deployed: Deployed) -> list[str]:
    """Name every part that should exist and does not; an empty list means all is well."""
    counts = {kind: len(deployed.of_type(kind)) for kind in AT_LEAST}
    missing = [f"{counts[kind]} of at least {least} {kind}" for kind, least in AT_LEAST.items() if counts[kind] < least]
    if missing:
        return missing
    for check in (_routes, _notifications, _event_sources, _schedules, _tables, _functions, _secrets):
        try:
            missing += check(aws, deployed)
        except ClientError as error:
            missing.append(f"{check.__name__.strip('_')}: {error}")
    return missing


def assert_complete(aws: Aws, deployed: Deployed) -> None:
    """Raise `LocalStackError` that lists every missing part."""
    missing = missing_parts(aws, deployed)
    if missing:
        listing = "\n".join(f"    - {part}" for part in missing)
        raise LocalStackError(f"The deployment reports that it is complete, but these parts are missing:\n{listing}")


def _routes(aws: Aws, deployed: Deployed) -> list[str]:
    missing = []
    authorizers = aws.apigateway.get_authorizers(restApiId=deployed.api_id).get("items", [])
    if not any(a.get("type") == "TOKEN" for a in authorizers):
        missing.append("the API's authorizer")
    resources = aws.apigateway.get_resources(restApiId=deployed.api_id, limit=500).get("items", [])
    proxy = next((r for r in resources if r.get("path") == "/{proxy+}"), None)
    if proxy is None:
        return [*missing, "the API's resource /{proxy+} (the API has no routes)"]
    for method in METHODS:
        if method not in proxy.get("resourceMethods", {}):
            missing.append(f"the route {method} /{{proxy+}}")
            continue
        details = aws.apigateway.get_method(restApiId=deployed.api_id, resourceId=proxy["id"], httpMethod=method)
        wanted = "NONE" if method == "OPTIONS" else "CUSTOM"
        if details.get("authorizationType", "NONE") != wanted:
            missing.append(f"{method} /{{proxy+}} has authorization {details.get('authorizationType')}, not {wanted}")
    return missing


def _notifications(aws: Aws, deployed: Deployed) -> list[str]:
    configuration = aws.s3.get_bucket_notification_configuration(Bucket=deployed.bucket)
    events = {e for queue in configuration.get("QueueConfigurations", []) for e in queue["Events"]}
    return [
        f"the bucket's notification of s3:{kind} to the queue"
        for kind in ("ObjectCreated", "ObjectRemoved")
        if not any(e.startswith(f"s3:{kind}:") for e in events)
    ]


def _event_sources(aws: Aws, deployed: Deployed) -> list[str]:
    mappings = aws.lambda_.list_event_source_mappings()["EventSourceMappings"]
    ours = [m for m in mappings if m["UUID"] in {r.physical_id for r in deployed.resources}] or mappings
    sqs = [m for m in ours if ":sqs:" in m.get("EventSourceArn", "")]
    if not sqs:
        return ["the trigger from the queue to the ingest function"]
    return [
        f"partial batch responses on the trigger {m['UUID']}"
        for m in sqs
        if "ReportBatchItemFailures" not in m.get("FunctionResponseTypes", [])
    ] + [f"the trigger {m['UUID']} is {m['State']}" for m in sqs if m["State"] not in {"Enabled", "Enabling"}]


def _schedules(aws: Aws, deployed: Deployed) -> list[str]:
    events = aws.client("events")
    return [
        f"a function for the schedule {rule.logical_id} to call"
        for rule in deployed.of_type("AWS::Events::Rule")
        if not events.list_targets_by_rule(Rule=rule.physical_id.rsplit("/", 1)[-1]).get("Targets")
    ]


def _tables(aws: Aws, deployed: Deployed) -> list[str]:
    states = {
        table.logical_id: aws.dynamodb.describe_table(TableName=table.physical_id)["Table"]["TableStatus"]
        for table in deployed.of_type("AWS::DynamoDB::Table")
    }
    return [f"the table {name} is {state}" for name, state in states.items() if state != "ACTIVE"]


def _functions(aws: Aws, deployed: Deployed) -> list[str]:
    return [
        f"the handler of the function {function.logical_id}"
        for function in deployed.of_type("AWS::Lambda::Function")
        if not aws.lambda_.get_function(FunctionName=function.physical_id)["Configuration"].get("Handler")
    ]


def _secrets(aws: Aws, deployed: Deployed) -> list[str]:
    return [
        f"the value of the secret {secret.logical_id}"
        for secret in deployed.of_type("AWS::SecretsManager::Secret")
        if not aws.secrets.get_secret_value(SecretId=secret.physical_id).get("SecretString")
    ]
