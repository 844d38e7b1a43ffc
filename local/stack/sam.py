"""Builds the Lambda packages and deploys the real template onto the AWS emulator, both with SAM.

Neither runs again while none of its inputs has changed. What the emulator leaves out of a deployment is added here.
"""

import hashlib
import json
import platform
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from botocore.exceptions import ClientError

from local.stack.aws import Aws, Deployed, find_stack
from local.stack.config import (
    EMBEDDING_DIMENSIONS,
    EMBEDDING_MODEL,
    PINECONE_INDEX,
    REGION,
    STACK_NAME,
    LocalConfig,
    LocalStackError,
)
from local.stack.processes import clean_environment

INPUTS = (
    "template.yaml",
    "Makefile",
    "pyproject.toml",
    "uv.lock",
    ".python-version",
    "functions",
    "shared",
    "local/packaging.py",
)
"""What the packages are made from, relative to the project."""

BUILD_RECORD = "build.json"


def host_architecture() -> str:
    """Return this machine's architecture in Lambda's words: `arm64` or `x86_64`."""
    return "arm64" if platform.machine().lower() in {"arm64", "aarch64"} else "x86_64"


def _input_files(project: Path) -> Iterator[Path]:
    for name in INPUTS:
        path = project / name
        if path.is_dir():
            yield from (p for p in sorted(path.rglob("*")) if p.is_file() and "__pycache__" not in p.parts)
        elif path.exists():
            yield path


def source_fingerprint(project: Path) -> str:
    """Return 16 hex digits that change when a package would: names and bytes of every input, and this platform."""
    digest = hashlib.sha256(f"{sysconfig.get_platform()} {sys.version_info[:2]}".encode())
    for path in _input_files(project):
        digest.update(f"\0{path.relative_to(project).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def is_current(config: LocalConfig, wanted: str) -> bool:
    """Say whether the packages of this fingerprint have been built and are still there."""
    try:
        record = json.loads((config.state / BUILD_RECORD).read_text())
    except (OSError, ValueError):
        return False
    return bool(record.get("fingerprint") == wanted) and (config.build / "template.yaml").exists()


def build(config: LocalConfig, wanted: str) -> None:
    """Run `sam build` for this machine. Raises `LocalStackError` with SAM's own words when it fails."""
    if not config.sam.exists():
        raise LocalStackError(f"SAM is not installed ({config.sam}): run `make setup`.")
    (config.state / BUILD_RECORD).unlink(missing_ok=True)
    environment = sam_environment() | {"ARCH": host_architecture(), "RECTO_LOCAL_BUILD": "1"}
    command = [
        str(config.sam),
        "build",
        "--template-file",
        str(config.project / "template.yaml"),
        "--build-dir",
        str(config.build),
        "--parameter-overrides",
        f"ParameterKey=Architecture,ParameterValue={host_architecture()}",
    ]
    run_logged(command, config, "sam-build", environment)
    (config.state / BUILD_RECORD).write_text(json.dumps({"fingerprint": wanted}) + "\n")


def sam_environment() -> dict[str, str]:
    """Return the environment for SAM: no telemetry, no update check, nobody's real AWS account."""
    return clean_environment() | {
        "SAM_CLI_TELEMETRY": "0",
        "SAM_CLI_CHECK_FOR_UPDATES": "0",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


def run_logged(command: list[str], config: LocalConfig, name: str, environment: dict[str, str]) -> str:
    """Run a tool to its end with its output in `logs/{name}.log`, and return that output."""
    config.logs.mkdir(parents=True, exist_ok=True)
    log = config.logs / f"{name}.log"
    with log.open("w") as out:
        done = subprocess.run(  # a hang would be a tool's bug; the limit only keeps it from lasting for ever
            command, cwd=config.project, env=environment, stdout=out, stderr=subprocess.STDOUT, timeout=900, check=False
        )
    output = log.read_text(errors="replace")
    if done.returncode != 0:
        tail = "\n".join(f"    {line}" for line in output.splitlines()[-25:])
        raise LocalStackError(f"`{Path(command[0]).name} {command[1]}` failed ({done.returncode}); see {log}:\n{tail}")
    return output


ARTIFACTS_BUCKET = "recto-artifacts"
DEPLOY_RECORD = "deployed.json"
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


def deployment_fingerprint(build_fingerprint: str, overrides: dict[str, str]) -> str:
    """Return what changes when the stack has to be deployed again."""
    return hashlib.sha256(json.dumps([build_fingerprint, overrides], sort_keys=True).encode()).hexdigest()[:16]


def recorded_fingerprint(config: LocalConfig) -> str:
    """Return the fingerprint of the last deployment that finished, or an empty string."""
    try:
        return str(json.loads((config.state / DEPLOY_RECORD).read_text())["fingerprint"])
    except (OSError, ValueError, KeyError):
        return ""


def deploy(aws: Aws, config: LocalConfig, overrides: dict[str, str], wanted: str) -> Deployed:
    """Run `sam deploy` against the emulator and return the stack. Raises `LocalStackError`."""
    (config.state / DEPLOY_RECORD).unlink(missing_ok=True)
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
    (config.state / DEPLOY_RECORD).write_text(json.dumps({"fingerprint": wanted}) + "\n")
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
