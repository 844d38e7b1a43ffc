"""The programs of the laptop stack, and how each is started."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from local.stack.config import REGION, LocalConfig, LocalStackError
from local.stack.processes import Component, clean_environment

NO_PROXY = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
"""The emulators are on this machine: requests to them must not go through a proxy."""
AWS, PINECONE, OPENAI, STREAMING = "ministack", "pinecone", "openai", "streaming"
NAMES = (AWS, STREAMING, PINECONE, OPENAI)
"""In the order in which they are stopped."""
FUNCTIONS = ("authorizer", "ingest", "ocr", "query", "maintenance")
LOG_NAMES = (*NAMES, *FUNCTIONS, "sam-build", "sam-deploy")
STREAMING_PORT_SETTING = "--streaming-port or RECTO_STREAMING_PORT"


def stop_timeout_s(name: str) -> float:
    """Return how long a component may take to stop: the AWS emulator writes its state then, and only then."""
    return 30.0 if name == AWS else 10.0


def _emulator(config: LocalConfig, name: str, title: str, port: int, health_path: str) -> Component:
    command = [sys.executable, "-m", f"local.{name}", "--port", str(port), "--state", str(config.state / name)]
    return Component(
        name=name,
        title=title,
        command=command,
        port=port,
        port_setting=f"--{name}-port or RECTO_{name.upper()}_PORT",
        health_url=f"http://127.0.0.1:{port}{health_path}",
        environment=clean_environment() | _python(config),
    )


def _python(config: LocalConfig) -> dict[str, str]:
    return {"PYTHONPATH": str(config.project), "PYTHONUNBUFFERED": "1"}


def pinecone(config: LocalConfig) -> Component:
    """The Pinecone emulator, control and data plane on one port.

    Its reranker loads the model emulator's graph (half a second), which exists by then: building one of its own would
    outlast the first questions.
    """
    found = _emulator(config, PINECONE, "The Pinecone emulator", config.pinecone_port, "/indexes")
    graphs = {"RECTO_MODEL_CACHE": str(config.state / OPENAI / "model")}
    return replace(found, environment={**found.environment, **graphs})


def openai(config: LocalConfig) -> Component:
    """The model-API emulator."""
    return _emulator(config, OPENAI, "The model emulator", config.openai_port, "/v1/models")


def streaming(config: LocalConfig, environment: Mapping[str, str], page_client: str) -> Component:
    """The query application on a port that streams, and the page, if its users have a `page_client` to sign in by.

    `environment` is that of the query function and the authorizer.
    """
    command = [sys.executable, "-m", "local.streaming", "--port", str(config.streaming_port)]
    if page_client:
        command += ["--page-client", page_client, "--state", str(config.state)]
    return Component(
        name=STREAMING,
        title="The API server",
        command=command,
        port=config.streaming_port,
        port_setting=STREAMING_PORT_SETTING,
        health_url=f"{config.streaming_url}/healthz",
        environment=clean_environment() | dict(environment) | _python(config) | own_account(config) | NO_PROXY,
    )


def own_account(config: LocalConfig) -> dict[str, str]:
    """Return the environment in which AWS is the laptop's emulator."""
    return {
        "AWS_ENDPOINT_URL": config.aws_url,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


def ministack(config: LocalConfig) -> Component:
    """The AWS emulator. Raises `LocalStackError` when it is not installed."""
    if not config.ministack.exists():
        raise LocalStackError(f"The AWS emulator is not installed ({config.ministack}): run `make setup`.")
    home = config.state / AWS
    environment = clean_environment() | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(config.aws_port),
        "MINISTACK_REGION": REGION,
        "MINISTACK_COGNITO_PRETOKEN_STRICT": "1",  # no token if the trigger fails, as on AWS
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        "STATE_DIR": str(home / "state"),
        "S3_DATA_DIR": str(home / "s3"),
        "TMPDIR": str(home / "tmp"),
    }
    return Component(
        name=AWS,
        title="The AWS emulator",
        command=_ministack_command(config),
        port=config.aws_port,
        port_setting="--aws-port or RECTO_AWS_PORT",
        health_url=f"{config.aws_url}/_ministack/ready",
        environment=environment | NO_PROXY,
    )


def _ministack_command(config: LocalConfig) -> list[str]:
    if not config.enforce_roles:
        return [str(config.ministack)]
    config.logs.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).with_name("enforcing_emulator.py")
    return [str(config.ministack.with_name("python")), str(script), str(config.calls)]


def prepare_folders(config: LocalConfig) -> None:
    """Make the emulators' folders, and empty the AWS emulator's TMPDIR: it leaks every package it unpacks there.

    Thousands of files take seconds to delete, so a separate process does that.
    """
    home = config.state / AWS
    scratch = home / "tmp"
    if scratch.exists():
        rubbish = tempfile.mkdtemp(prefix="rubbish-", dir=home)
        scratch.rename(f"{rubbish}/scratch")
    leftovers = [str(path) for path in home.glob("rubbish-*")]
    if leftovers:
        # With our stdout it would keep a pipe open: `make up | cat` would hang until it has ended.
        quiet = subprocess.DEVNULL
        subprocess.Popen(
            ["rm", "-rf", "--", *leftovers], start_new_session=True, stdin=quiet, stdout=quiet, stderr=quiet
        )
    for folder in (scratch, home / "state", home / "s3", config.state / PINECONE, config.state / OPENAI):
        folder.mkdir(parents=True, exist_ok=True)
