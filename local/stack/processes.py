"""Supervises the stack's long-running programs: detached, with a pid file and a log each; says who holds a port."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from local.stack.config import LocalStackError

LOG_LIMIT_BYTES = 10 * 2**20
"""A log longer than this is emptied at the next start of its component."""


def is_free(port: int) -> bool:
    """Say whether 127.0.0.1:`port` can be bound right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose last connections are still in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def holder_of(port: int) -> str:
    """Name the process that listens on `port`, with its pid, as far as the system lets us see it."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            for connection in process.net_connections(kind="tcp"):
                if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                    return f"{process.name()} (pid {process.pid})"
    return "another process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A program of the stack. `port_setting` is what a person changes when its port is taken."""

    name: str
    title: str
    command: Sequence[str]
    port: int
    port_setting: str
    health_url: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Running:
    """A component's process as its pid file names it."""

    pid: int
    port: int


class Supervisor:
    """Starts, watches and stops components; their pid files and logs are under `state`.

    A process is identified by pid and start time together, because pids are reused.
    """

    def __init__(self, state: Path) -> None:
        self._pids = state / "pids"
        self._logs = state / "logs"
        self._children: dict[str, subprocess.Popen[bytes]] = {}  # started by this process, which must reap them

    def log_of(self, name: str) -> Path:
        """The log file of a component."""
        return self._logs / f"{name}.log"

    def _pid_file(self, name: str) -> Path:
        return self._pids / f"{name}.json"

    def _process(self, name: str) -> psutil.Process | None:
        running = self.running(name)
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(running.pid) if running else None
        return None

    def running(self, name: str) -> Running | None:
        """Return the component's process if it lives."""
        if name in self._children:
            self._children[name].poll()
        try:
            recorded = json.loads(self._pid_file(name).read_text())
            process = psutil.Process(recorded["pid"])
            same = abs(process.create_time() - recorded["create_time"]) < 1
            alive = same and process.status() != psutil.STATUS_ZOMBIE
            return Running(process.pid, recorded["port"]) if alive else None
        except (OSError, ValueError, KeyError, psutil.Error):
            return None

    def died(self, name: str) -> bool:
        """Say whether the component was started and ended without `stop`: it crashed or was killed."""
        return self._pid_file(name).exists() and self.running(name) is None

    def start(self, component: Component) -> None:
        """Start the program in a session of its own, so that it outlives this process and its terminal."""
        self._pids.mkdir(parents=True, exist_ok=True)
        self._logs.mkdir(parents=True, exist_ok=True)
        log_path = self.log_of(component.name)
        fresh = not log_path.exists() or log_path.stat().st_size > LOG_LIMIT_BYTES
        with log_path.open("wb" if fresh else "ab") as log:
            child = subprocess.Popen(
                list(component.command),
                env=dict(component.environment),
                cwd=self._logs.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children[component.name] = child
        try:
            created = psutil.Process(child.pid).create_time()
        except psutil.Error:
            created = time.time()
        record = {"pid": child.pid, "create_time": created, "port": component.port}
        self._pid_file(component.name).write_text(json.dumps(record))

    def wait_healthy(self, component: Component, timeout_s: float = 60.0) -> None:
        """Wait until the component answers. Raises `LocalStackError` with the end of its log if it does not."""
        deadline = time.monotonic() + timeout_s
        import httpx  # here, because `--help` names the programs without starting one

        with httpx.Client(timeout=5.0, trust_env=False) as http:
            while True:
                try:
                    if http.get(component.health_url).status_code < 500:
                        return
                except httpx.HTTPError:
                    pass
                if self.running(component.name) is None:
                    self._pid_file(component.name).unlink(missing_ok=True)
                    raise LocalStackError(f"{component.title} stopped right after its start.\n{self._tail(component)}")
                if time.monotonic() > deadline:
                    silent = f"{component.title} did not answer on {component.health_url} within {timeout_s:g} s."
                    raise LocalStackError(f"{silent}\n{self._tail(component)}")
                time.sleep(0.05)

    def _tail(self, component: Component) -> str:
        log = self.log_of(component.name)
        lines = log.read_text(errors="replace").splitlines()[-12:] if log.exists() else []
        return "\n".join([f"The end of {log}:", *(f"    {line}" for line in lines)])

    def stop(self, name: str, timeout_s: float = 10.0) -> str:
        """Ask the component to end (SIGTERM), wait, and kill it only if it does not. Returns what happened.

        What it started itself (Lambda workers) ends with it.
        """
        process = self._process(name)
        if process is None:
            self._pid_file(name).unlink(missing_ok=True)
            return "was not running"
        try:
            children = process.children(recursive=True)
            process.terminate()
        except psutil.NoSuchProcess:
            children = []
        outcome = "stopped"
        if not self._gone_within(process, timeout_s):
            process.kill()
            self._gone_within(process, 5)
            outcome = f"did not stop within {timeout_s:g} s and was killed: unsaved state is lost"
        if name in self._children:
            self._children.pop(name).wait()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        self._pid_file(name).unlink(missing_ok=True)
        return outcome

    def _gone_within(self, process: psutil.Process, timeout_s: float) -> bool:
        # Not psutil's wait: a process whose parent never reads its exit code stays a zombie, which counts as gone.
        deadline = time.monotonic() + timeout_s
        with suppress(psutil.NoSuchProcess):
            while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.02)
        return True


def clean_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment without variables that would leak into the emulated stack.

    The AWS emulator passes its environment on to the Lambdas: it must not hold a real account's keys, endpoint or CA
    bundle, nor a `RECTO_*` of this shell that the template does not set.
    """
    return {k: v for k, v in environ.items() if not k.startswith(("AWS_", "RECTO_", "OPENAI_", "PINECONE_"))}
