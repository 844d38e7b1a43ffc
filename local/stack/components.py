"""The three programs of the laptop stack, and how each is started."""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from local.stack.config import REGION, LocalConfig, LocalStackError
from local.stack.processes import Component, clean_environment

AWS, PINECONE, OPENAI, STREAMING = "ministack", "pinecone", "openai", "streaming"
NAMES = (AWS, STREAMING, PINECONE, OPENAI)
"""In the order in which they are stopped."""


def _emulator(config: LocalConfig, name: str, title: str, port: int, health_path: str) -> Component:
    command = [sys.executable, "-m", f"local.{name}", "--port", str(port), "--state", str(config.state / name)]
    environment = clean_environment() | {"PYTHONPATH": str(config.project), "PYTHONUNBUFFERED": "1"}
    return Component(
        name=name,
        title=title,
        command=command,
        port=port,
        port_setting=f"--{name}-port or RECTO_{name.upper()}_PORT",
        health_url=f"http://127.0.0.1:{port}{health_path}",
        environment=environment,
    )


def pinecone(config: LocalConfig) -> Component:
    """The Pinecone emulator, control and data plane on one port.

    Its reranker reads with the model emulator's graph, which is built by then: loading it takes half a second, and
    building one of its own would outlast the first questions.
    """
    found = _emulator(config, PINECONE, "The Pinecone emulator", config.pinecone_port, "/indexes")
    graphs = {"RECTO_MODEL_CACHE": str(config.state / OPENAI / "model")}
    return replace(found, environment={**found.environment, **graphs})


def openai(config: LocalConfig) -> Component:
    """The model-API emulator."""
    return _emulator(config, OPENAI, "The model emulator", config.openai_port, "/v1/models")


def streaming(config: LocalConfig, environment: Mapping[str, str], *, pool: str, client: str) -> Component:
    """The query application on a port that streams; `environment` is the deployed function's."""
    command = [sys.executable, "-m", "local.streaming", "--port", str(config.streaming_port)]
    command += ["--aws-url", config.aws_url, "--pool", pool, "--client", client]
    own = {
        "PYTHONPATH": str(config.project),
        "PYTHONUNBUFFERED": "1",
        "AWS_ENDPOINT_URL": config.aws_url,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "POWERTOOLS_TRACE_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    return Component(
        name=STREAMING,
        title="The streaming port",
        command=command,
        port=config.streaming_port,
        port_setting="--streaming-port or RECTO_STREAMING_PORT",
        health_url=f"{config.streaming_url}/healthz",
        environment=clean_environment() | dict(environment) | own,
    )


def ministack(config: LocalConfig) -> Component:
    """The AWS emulator. Raises `LocalStackError` when it is not installed."""
    if not config.ministack.exists():
        raise LocalStackError(f"The AWS emulator is not installed ({config.ministack}): run `make setup`.")
    home = config.state / AWS
    environment = clean_environment() | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(config.aws_port),
        "MINISTACK_REGION": REGION,
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        "STATE_DIR": str(home / "state"),
        "S3_DATA_DIR": str(home / "s3"),
        "TMPDIR": str(home / "tmp"),
        # It is only ever asked for this machine: a proxy set for the internet must not be in between.
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    return Component(
        name=AWS,
        title="The AWS emulator",
        command=[str(config.ministack)],
        port=config.aws_port,
        port_setting="--aws-port or RECTO_AWS_PORT",
        health_url=f"{config.aws_url}/_ministack/ready",
        environment=environment,
        stop_timeout_s=30.0,  # it writes its state now, and only now
    )


def prepare_folders(config: LocalConfig) -> None:
    """Make the emulators' folders, and empty the AWS emulator's TMPDIR: it leaks every package it unpacks there.

    Thousands of files take seconds to delete, so that is left to a process of its own.
    """
    scratch: Path = config.state / AWS / "tmp"
    if scratch.exists():
        rubbish = Path(tempfile.mkdtemp(prefix="rubbish-", dir=scratch.parent))
        scratch.rename(rubbish / "tmp")
    leftovers = [str(path) for path in scratch.parent.glob("rubbish-*")]
    if leftovers:
        subprocess.Popen(["rm", "-rf", "--", *leftovers], start_new_session=True, stderr=subprocess.DEVNULL)
    for folder in (scratch, config.state / AWS / "state", config.state / AWS / "s3"):
        folder.mkdir(parents=True, exist_ok=True)
    for name in (PINECONE, OPENAI):
        (config.state / name).mkdir(parents=True, exist_ok=True)
