"""Runs `python -m local` as a user would, on free ports."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from local.stack.config import PROJECT

UP_LIMIT_S = 300


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def run_local(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a verb of `python -m local` as a person would."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RECTO_")}
    return subprocess.run(
        [sys.executable, "-m", "local", *arguments, "--state", str(state)],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=UP_LIMIT_S,
        check=False,
    )
