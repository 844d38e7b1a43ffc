"""Deploys the real template onto the AWS emulator with `sam deploy`, and adds what the emulator leaves out."""

import hashlib
import json
import re
from pathlib import Path

from botocore.exceptions import ClientError

from local.stack.aws import Aws, Deployed, find_stack
from local.stack.build import host_architecture, run_logged, sam_environment
from local.stack.config import (
    EMBEDDING_DIMENSIONS,
    EMBEDDING_MODEL,
    PINECONE_INDEX,
    REGION,
    STACK_NAME,
    LocalConfig,
    LocalStackError,
)

ARTIFACTS_BUCKET = "recto-artifacts"
RECORD = "deployed.json"
EMULATOR_KEY = "any-key-will-do"


def parameters(config: LocalConfig) -> dict[str, str]:
    """Return the template's parameters for a laptop: the emulators' addresses, the small model, this architecture.

    The emulators take any key, so a key for a chat server of one's own can stand where OpenAI's does.
    """
    return {
        "Architecture": host_architecture(),
        "Tracing": "PassThrough",  # there is no X-Ray daemon here
        "EmbeddingModel": EMBEDDING_MODEL,
        "EmbeddingDimensions": str(EMBEDDING_DIMENSIONS),
        "OpenaiBaseUrl": config.openai_url,
        "ChatBaseUrl": config.chat_base_url,
        "ChatModel": config.chat_model,
        "PineconeIndex": PINECONE_INDEX,
        "PineconeControlUrl": config.pinecone_url,
        "OpenaiApiKey": config.chat_key or EMULATOR_KEY,
        "PineconeApiKey": EMULATOR_KEY,
        **config.parameters,
    }


def known_parameters(project: Path) -> set[str]:
    """Return the names of the template's parameters."""
    _, _, rest = (project / "template.yaml").read_text(encoding="utf-8").partition("\nParameters:\n")
    return set(re.findall(r"^  (\w+):", re.split(r"^\w", rest, maxsplit=1, flags=re.M)[0], re.M))


def fingerprint(build_fingerprint: str, overrides: dict[str, str]) -> str:
    """Return what changes when the stack has to be deployed again."""
    return hashlib.sha256(json.dumps([build_fingerprint, overrides], sort_keys=True).encode()).hexdigest()[:16]


def recorded_fingerprint(config: LocalConfig) -> str:
    """Return the fingerprint of the last deployment that finished, or an empty string."""
    try:
        return str(json.loads((config.state / RECORD).read_text())["fingerprint"])
    except (OSError, ValueError, KeyError):
        return ""


def deploy(aws: Aws, config: LocalConfig, overrides: dict[str, str], wanted: str) -> Deployed:
    """Run `sam deploy` against the emulator and return the stack. Raises `LocalStackError`."""
    (config.state / RECORD).unlink(missing_ok=True)
    try:
        aws.s3.create_bucket(Bucket=ARTIFACTS_BUCKET)
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
            raise
    _empty_artifacts(aws)
    # In a file, because every user of the machine can read a command line, and a chat key may be among them.
    parameters_file = config.state / "parameters.yaml"
    parameters_file.touch(mode=0o600)
    parameters_file.write_text(json.dumps(overrides))  # JSON is YAML, which is what SAM reads
    command = [
        str(config.sam),
        "deploy",
        "--template-file",
        str(config.build / "template.yaml"),
        "--stack-name",
        STACK_NAME,
        "--s3-bucket",
        ARTIFACTS_BUCKET,
        "--region",
        REGION,
        "--capabilities",
        "CAPABILITY_IAM",
        "CAPABILITY_NAMED_IAM",
        "CAPABILITY_AUTO_EXPAND",
        "--no-confirm-changeset",
        "--no-fail-on-empty-changeset",
        "--parameter-overrides",
        f"file://{parameters_file}",
    ]
    environment = sam_environment() | {"AWS_ENDPOINT_URL": config.aws_url, "AWS_DEFAULT_REGION": REGION}
    run_logged(command, config, "sam-deploy", environment)
    deployed = find_stack(aws, config)
    if deployed is None:
        raise LocalStackError(f"`sam deploy` ended, but there is no finished stack; see {config.logs}/sam-deploy.log.")
    for table in deployed.of_type("AWS::DynamoDB::Table"):
        _turn_on_ttl(aws, table.physical_id)
    for mapping in deployed.of_type("AWS::Lambda::EventSourceMapping"):
        _make_concurrency_a_number(aws, mapping.physical_id)
    (config.state / RECORD).write_text(json.dumps({"fingerprint": wanted}) + "\n")
    return deployed


def _empty_artifacts(aws: Aws) -> None:
    """Drop the packages of earlier deploys (45 MB each); the emulator has its own copy of what it runs."""
    listed = aws.s3.list_objects_v2(Bucket=ARTIFACTS_BUCKET).get("Contents", [])
    if listed:
        aws.s3.delete_objects(Bucket=ARTIFACTS_BUCKET, Delete={"Objects": [{"Key": o["Key"]} for o in listed]})


def _turn_on_ttl(aws: Aws, table: str) -> None:
    """Do what `TimeToLiveSpecification` in the template does on AWS; the emulator ignores it there."""
    state = aws.dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    if state.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        aws.dynamodb.update_time_to_live(
            TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"}
        )


def _make_concurrency_a_number(aws: Aws, uuid: str) -> None:
    """Set the trigger's concurrency again through its own API.

    The emulator's CloudFormation keeps a `!Ref` to a parameter as text, and its poller then fails at comparing it
    ("'>=' not supported between instances of 'int' and 'str'"): nothing would ever be ingested.
    """
    scaling = aws.lambda_.get_event_source_mapping(UUID=uuid).get("ScalingConfig", {})
    if "MaximumConcurrency" in scaling:
        aws.lambda_.update_event_source_mapping(
            UUID=uuid, ScalingConfig={"MaximumConcurrency": int(scaling["MaximumConcurrency"])}
        )
