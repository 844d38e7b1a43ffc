"""Runs `python -m local` as a user would, on free ports."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from local.cli_demo import sample_pdfs
from local.client import ApiClient
from local.report import Reporter
from local.stack.config import PORTS, PROJECT, LocalConfig
from local.stack.laptop import Laptop

UP_LIMIT_S = 300


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def own_environment() -> dict[str, str]:
    """Return the environment without the variables that `make test` passes to every nested `make`."""
    handed_down = ("MAKE", "MFLAGS", "RECTO_", "ARGS", "STACK", "PARAMETERS")
    return {name: value for name, value in os.environ.items() if not name.startswith(handed_down)}


def run_local(state: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a verb of `python -m local` as a person would, who types `typed`."""
    return subprocess.run(
        [sys.executable, "-m", "local", *arguments, "--state", str(state)],
        cwd=PROJECT,
        env=own_environment(),
        input=typed,
        capture_output=True,
        text=True,
        timeout=UP_LIMIT_S,
        check=False,
    )


@contextmanager
def running_stack(suite: str, *arguments: str) -> Iterator[Path]:
    """Bring a stack up on free ports, by `up` with these arguments, and take it down; yield its state folder.

    If `RECTO_{SUITE}_STATE` names a folder, yield that of the stack that is already up there instead.
    """
    running = os.environ.get(f"RECTO_{suite.upper()}_STATE")
    if running:
        yield Path(running).resolve()
        return
    folder = Path(tempfile.mkdtemp(prefix=f"recto-{suite}-"))
    flags = [f"--{name.replace('_', '-')}={port}" for name, port in zip(PORTS, free_ports(len(PORTS)), strict=True)]
    try:
        up = run_local(folder, "up", *flags, *arguments)
        assert up.returncode == 0, f"`python -m local up` failed:\n{up.stdout}\n{up.stderr}"
        yield folder
    finally:
        down = run_local(folder, "down")
        shutil.rmtree(folder, ignore_errors=True)
    assert down.returncode == 0, f"`python -m local down` failed:\n{down.stdout}\n{down.stderr}"


def handle_of(state: Path) -> Laptop:
    """Return the handle of the stack in a state folder: addresses, tokens, AWS clients."""
    return Laptop(LocalConfig.load(state, {}), Reporter(Console(quiet=True)))


def upload_samples(client: ApiClient) -> dict[str, str]:
    """Upload the sample PDFs and wait until they are final; return file name to document id."""
    ids = {pdf.name: client.upload(pdf).document_id for pdf in sample_pdfs()}
    for document_id in ids.values():
        client.wait_until_final(document_id)
    return ids


def mark_tests_of_stack(items: list[pytest.Item], folder: Path) -> None:
    """Mark the tests below a folder as `e2e`; the first of them waits for build and deploy."""
    inside = f"{folder}/"
    for item in items:
        if str(item.path).startswith(inside):  # of 14,000 tests; comparing paths would take seconds
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(UP_LIMIT_S + 60))
