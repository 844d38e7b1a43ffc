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


def own_environment() -> dict[str, str]:
    """Return the environment without what `make test` hands down to every `make` below it."""
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
