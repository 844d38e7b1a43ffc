"""Builds the Lambda packages with SAM, and not again while nothing that goes into them has changed."""

import hashlib
import json
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from local.stack.config import LocalConfig, LocalStackError
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

RECORD = "build.json"


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


def fingerprint(project: Path) -> str:
    """Return 16 hex digits that change when a package would: names and bytes of every input, and this platform."""
    digest = hashlib.sha256(f"{sysconfig.get_platform()} {sys.version_info[:2]}".encode())
    for path in _input_files(project):
        digest.update(f"\0{path.relative_to(project).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def is_current(config: LocalConfig, wanted: str) -> bool:
    """Say whether the packages of this fingerprint have been built and are still there."""
    try:
        record = json.loads((config.state / RECORD).read_text())
    except (OSError, ValueError):
        return False
    return bool(record.get("fingerprint") == wanted) and (config.build / "template.yaml").exists()


def build(config: LocalConfig, wanted: str) -> None:
    """Run `sam build` for this machine. Raises `LocalStackError` with SAM's own words when it fails."""
    if not config.sam.exists():
        raise LocalStackError(f"SAM is not installed ({config.sam}): run `make setup`.")
    (config.state / RECORD).unlink(missing_ok=True)
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
    (config.state / RECORD).write_text(json.dumps({"fingerprint": wanted}) + "\n")


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
