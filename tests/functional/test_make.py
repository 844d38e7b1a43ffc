"""What is told before anything is installed."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.stack.config import PROJECT
from tests.support.local_stack import free_ports, own_environment


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh checkout, as far as the verb looks at it."""
    (tmp_path / "web").mkdir()
    shutil.copy(PROJECT / "Makefile", tmp_path)
    return tmp_path


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def checked(checkout: Path, *arguments: str, **ports: int) -> subprocess.CompletedProcess[str]:
    environment = own_environment() | {f"RECTO_{name}_PORT": str(port) for name, port in ports.items()}
    command = ["make", "free-ports", *arguments]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def test_a_taken_port_is_told_before_anything_is_installed(checkout: Path, taken: int) -> None:
    aws, pinecone, openai, streaming = free_ports(4)
    free = {"AWS": aws, "PINECONE": pinecone, "OPENAI": openai, "STREAMING": streaming}
    assert checked(checkout, **free).returncode == 0
    refused = checked(checkout, **free | {"OPENAI": taken})
    assert refused.returncode == 2
    assert f"Port {taken} is taken" in refused.stderr
    assert "RECTO_OPENAI_PORT" in refused.stderr
    assert checked(checkout, f"ARGS=--chat-model x --openai-port {taken}", **free).returncode == 2
    assert checked(checkout, f"ARGS=--openai-port={openai}", **free | {"OPENAI": taken}).returncode == 0


def test_an_installed_checkout_is_left_to_the_command_that_knows_its_own_programs(checkout: Path, taken: int) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / ".synced").touch()
    assert checked(checkout, AWS=taken).returncode == 0


def test_a_python_without_recto_says_how_to_get_one() -> None:
    bare = [
        sys.executable,
        "-S",
        "-c",
        "import runpy, sys; sys.prefix = '/usr'; runpy.run_module('local', None, '__main__')",
    ]
    told = subprocess.run(bare, cwd=PROJECT, env=own_environment(), capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "run `make setup`" in told.stderr
    assert "Traceback" not in told.stderr
