"""Builds the Lambda packages and deploys the real template onto the AWS emulator, both with SAM.

Neither runs again while its inputs stay the same. What the emulator leaves out of a deployment is added here.
"""

import hashlib
import json
import platform
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

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
from local.stack.template import parameter_defaults

INPUT_FILES = ("template.yaml", "Makefile", "pyproject.toml", "uv.lock", ".python-version", "local/packaging.py")
INPUT_FOLDERS = ("functions", "shared")
"""What the packages are made from, relative to the project."""

BUILD_RECORD = "build.json"
DEPLOY_RECORD = "deployed.json"
UNKNOWN_TO_EMULATOR = (
    "AWS::Budgets::Budget",
    "AWS::Cognito::ManagedLoginBranding",
    "AWS::Cognito::UserPoolIdentityProvider",
)
ARTIFACTS_BUCKET = "recto-artifacts"
VERSIONS_KEPT = 2
EMULATOR_KEY = "any-key-will-do"
TOOL_TIMEOUT_S = 900
"""A tool that hangs has a bug; the limit only keeps the hang from lasting for ever."""


# --- build -----------------------------------------------------------------------------------------------------------


def host_architecture() -> str:
    """Return this machine's architecture in Lambda's words: `arm64` or `x86_64`."""
    return "arm64" if platform.machine().lower() in {"arm64", "aarch64"} else "x86_64"


def source_fingerprint(project: Path) -> str:
    """Return 16 hex digits that change when a package would: names and bytes of every input, and this platform."""
    digest = hashlib.sha256(f"{sysconfig.get_platform()} {sys.version_info[:2]}".encode())
    inside = (path for name in INPUT_FOLDERS for path in sorted((project / name).rglob("*")))
    for path in [*(project / name for name in INPUT_FILES), *inside]:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"\0{path.relative_to(project).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def is_built(config: LocalConfig, fingerprint: str) -> bool:
    """Say whether the packages of this fingerprint have been built and are still there."""
    recorded = _recorded(config, BUILD_RECORD)
    return recorded == fingerprint and (config.build / "template.yaml").exists()


def build(config: LocalConfig, fingerprint: str) -> None:
    """Run `sam build` for this machine. Raises `LocalStackError` with the end of SAM's output."""
    if not config.sam.exists():
        raise LocalStackError(f"SAM is not installed ({config.sam}): run `make setup`.")
    (config.state / BUILD_RECORD).unlink(missing_ok=True)
    architecture = host_architecture()
    command = [str(config.sam), "build", "--template-file", str(config.project / "template.yaml")]
    command += ["--build-dir", str(config.build)]
    command += ["--parameter-overrides", f"ParameterKey=Architecture,ParameterValue={architecture}"]
    _run(command, config, "sam-build", {"ARCH": architecture, "RECTO_LOCAL_BUILD": "1"})
    built = config.build / "template.yaml"
    built.write_text(without_unknown_resources(built.read_text()))
    _record(config, BUILD_RECORD, fingerprint)


def stamped(template: str, release: str) -> str:
    """Write the release's name into the functions' environment: only that makes SAM publish new versions."""
    return re.sub(r"^( +RELEASE: ).*$", rf"\g<1>'{release}'", template, flags=re.M)


def with_plain_http(template: str, *, refused: bool) -> str:
    """Let the policies refuse plain HTTP, or on a stack that enforces policies TLS: there everything is plain HTTP."""
    return re.sub(r"(aws:SecureTransport: )'\w+'", rf"\g<1>'{'false' if refused else 'true'}'", template)


def without_unknown_resources(template: str) -> str:
    """Remove the resources that the emulator does not know, because one of them makes it refuse the whole template."""
    resources = re.compile(r"^  (\w+):\n((?:    .*\n|\n)+)", re.M)
    unknown = tuple(f"    Type: {name}\n" for name in UNKNOWN_TO_EMULATOR)
    return resources.sub(lambda found: "" if found[2].startswith(unknown) else found[0], template)


# --- deploy ----------------------------------------------------------------------------------------------------------


def parameters(config: LocalConfig) -> dict[str, str]:
    """Return the template's parameters for a laptop: the emulators' addresses, the small model, this architecture.

    All others have the template's defaults: SAM would keep the values of the last deployment, which a newer template
    may not even accept. The emulators accept any key, so that of the user's chat server can take the place of OpenAI's.
    """
    return {
        **parameter_defaults(config.project),
        "Architecture": host_architecture(),
        "Tracing": "PassThrough",  # there is no X-Ray daemon here
        "Ocr": "true",
        "EmbeddingModel": EMBEDDING_MODEL,
        "EmbeddingDimensions": str(EMBEDDING_DIMENSIONS),
        "EmbeddingBatchInputs": "32",  # some seconds here: after each the page tells how far a document is read
        "OpenaiBaseUrl": config.openai_url,
        "ChatBaseUrl": config.chat_base_url,
        "ChatModel": config.chat_model,
        "PineconeIndex": PINECONE_INDEX,
        "PineconeControlUrl": config.pinecone_url,
        "PageUrls": ",".join(config.page_urls),
        "OpenaiApiKey": config.chat_key or EMULATOR_KEY,
        "PineconeApiKey": EMULATOR_KEY,
        **config.parameters,
    }


def deployment_fingerprint(source: str, config: LocalConfig) -> str:
    """Return 16 hex digits that change when the stack has to be deployed again.

    `source` is the fingerprint of its code. A stack that enforces the policies is deployed with others.
    """
    made_of = [source, parameters(config), config.enforce_roles]
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:16]


def deployed_fingerprint(config: LocalConfig) -> str:
    """Return the fingerprint of the last finished deployment, or an empty string."""
    return _recorded(config, DEPLOY_RECORD)


def deploy(aws: Aws, config: LocalConfig, overrides: dict[str, str], fingerprint: str) -> Deployed:
    """Run `sam deploy` against the emulator and return the stack. Raises `LocalStackError`."""
    (config.state / DEPLOY_RECORD).unlink(missing_ok=True)
    _empty_artifacts(aws)
    template = config.build / "template.yaml"
    built = with_plain_http(template.read_text(), refused=not config.enforce_roles)
    template.write_text(stamped(built, fingerprint))
    # In a file, because every user of the machine can read a command line, and a chat key may be among them.
    parameters_file = config.state / "parameters.yaml"
    parameters_file.touch(mode=0o600)
    parameters_file.write_text(json.dumps(overrides))  # JSON is YAML, which is what SAM reads
    command = [str(config.sam), "deploy", "--template-file", str(template)]
    command += ["--stack-name", STACK_NAME, "--s3-bucket", ARTIFACTS_BUCKET, "--region", REGION]
    command += ["--capabilities", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
    command += ["--no-confirm-changeset", "--no-fail-on-empty-changeset"]
    command += ["--parameter-overrides", f"file://{parameters_file}"]
    _run(command, config, "sam-deploy", {"AWS_ENDPOINT_URL": config.aws_url, "AWS_DEFAULT_REGION": REGION})
    deployed = find_stack(aws, config)
    if deployed is None:
        raise LocalStackError(f"`sam deploy` ended, but there is no finished stack; see {config.logs}/sam-deploy.log.")
    for table in deployed.of_type("AWS::DynamoDB::Table"):
        _turn_on_ttl(aws, table.physical_id)
    _say_errors_as_the_template_does(aws, deployed)
    for mapping in deployed.of_type("AWS::Lambda::EventSourceMapping"):
        _make_concurrency_a_number(aws, mapping.physical_id)
    for function in deployed.of_type("AWS::Lambda::Function"):
        delete_old_versions(aws, function.physical_id)
    _record(config, DEPLOY_RECORD, fingerprint)
    return deployed


def _empty_artifacts(aws: Aws) -> None:
    """Drop the packages of earlier deploys (45 MB each); the emulator has its own copy of what it runs."""
    try:
        aws.s3.create_bucket(Bucket=ARTIFACTS_BUCKET)
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
            raise
    listed = aws.s3.list_objects_v2(Bucket=ARTIFACTS_BUCKET).get("Contents", [])
    if listed:
        aws.s3.delete_objects(Bucket=ARTIFACTS_BUCKET, Delete={"Objects": [{"Key": o["Key"]} for o in listed]})


def delete_old_versions(aws: Aws, function: str) -> None:
    """Delete all versions except the live one and the one before: each takes 150 MB here, and a process when called."""
    listed = aws.lambda_.list_versions_by_function(FunctionName=function)["Versions"]
    for version in sorted(int(each["Version"]) for each in listed if each["Version"] != "$LATEST")[:-VERSIONS_KEPT]:
        aws.lambda_.delete_function(FunctionName=function, Qualifier=str(version))


def _turn_on_ttl(aws: Aws, table: str) -> None:
    """Do what `TimeToLiveSpecification` in the template does on AWS; the emulator ignores it there."""
    state = aws.dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    if state.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        ttl = {"Enabled": True, "AttributeName": "expires_at"}
        aws.dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=ttl)  # type: ignore[arg-type]


def _say_errors_as_the_template_does(aws: Aws, deployed: Deployed) -> None:
    """Set `GatewayResponses` through the API's own calls; the emulator leaves them out of an imported definition.

    They count from the next deployment on, so there is one more.
    """
    template: Any = aws.client("cloudformation").get_template(StackName=STACK_NAME, TemplateStage="Processed")
    body = template["TemplateBody"]["Resources"]["Api"]["Properties"]["Body"]
    for kind, response in body["x-amazon-apigateway-gateway-responses"].items():
        aws.apigateway.put_gateway_response(restApiId=deployed.api_id, responseType=kind, **response)
    (stage,) = deployed.of_type("AWS::ApiGateway::Stage")
    aws.apigateway.create_deployment(restApiId=deployed.api_id, stageName=stage.physical_id)


def _make_concurrency_a_number(aws: Aws, uuid: str) -> None:
    """Set the trigger's concurrency again through its own API.

    The emulator's CloudFormation keeps a `!Ref` to a parameter as text, and its poller then fails at comparing it
    ("'>=' not supported between instances of 'int' and 'str'"): nothing would ever be ingested.
    """
    scaling = aws.lambda_.get_event_source_mapping(UUID=uuid).get("ScalingConfig", {})
    if "MaximumConcurrency" in scaling:
        concurrency = int(scaling["MaximumConcurrency"])
        aws.lambda_.update_event_source_mapping(UUID=uuid, ScalingConfig={"MaximumConcurrency": concurrency})


# --- both ------------------------------------------------------------------------------------------------------------


def _recorded(config: LocalConfig, record: str) -> str:
    try:
        return str(json.loads((config.state / record).read_text())["fingerprint"])
    except (OSError, ValueError, KeyError):
        return ""


def _record(config: LocalConfig, record: str, fingerprint: str) -> None:
    (config.state / record).write_text(json.dumps({"fingerprint": fingerprint}) + "\n")


def without_progress(output: str) -> str:
    """Return what a terminal shows in the end: SAM writes each state of an upload over the one before."""
    return re.sub(r"[^\r\n]*\r(?!\n)", "", output)


def _run(command: list[str], config: LocalConfig, name: str, environment: dict[str, str]) -> None:
    """Run SAM to its end with its output in `logs/{name}.log`: without telemetry, never on a real AWS account."""
    config.logs.mkdir(parents=True, exist_ok=True)
    log = config.logs / f"{name}.log"
    quiet = {"SAM_CLI_TELEMETRY": "0", "SAM_CLI_CHECK_FOR_UPDATES": "0"}
    account = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    with log.open("w") as out:
        done = subprocess.run(
            command,
            cwd=config.project,
            env=clean_environment() | quiet | account | environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            timeout=TOOL_TIMEOUT_S,
            check=False,
        )
    told = without_progress(log.read_bytes().decode(errors="replace"))
    log.write_text(told)
    if done.returncode != 0:
        tail = "\n".join(f"    {line}" for line in told.splitlines()[-25:])
        raise LocalStackError(f"`{Path(command[0]).name} {command[1]}` failed ({done.returncode}); see {log}:\n{tail}")
