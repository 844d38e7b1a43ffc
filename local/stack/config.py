"""Configuration of the laptop stack: ports, folders, tools, and its chat model."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

PROJECT = Path(__file__).resolve().parents[2]
"""The checkout this package is in."""

EMBEDDING_MODEL = "all-MiniLM-L6-v2"
EMBEDDING_DIMENSIONS = 384
PINECONE_INDEX = "recto-all-minilm-l6-v2-384"
STACK_NAME = "recto"
REGION = "us-east-1"
ALIAS = "live"
"""The functions' alias, which everything calls."""
PORTS = ("aws_port", "pinecone_port", "openai_port", "streaming_port")
DEMO_ROLE = "editor"
"""The role of the user that the verbs act as."""
KEPT_RELEASES = 5
"""Releases that `releases prune` keeps."""
EXTRACTIVE_CHAT_MODEL = "extractive-minilm"
"""The model emulator's own chat model: it answers from the numbered sources it is given, and says so in its name."""


class LocalStackError(Exception):
    """The laptop stack cannot do that now; the message says what to do."""


def read_json(path: Path, what: str) -> Any:
    """Return the JSON that a file holds. Raises `LocalStackError`, which says that the file is not `what`."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LocalStackError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise LocalStackError(f"{path} is not {what}: {error}.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalConfig:
    """One laptop stack. `state` holds everything it stores: emulators' data, build, logs, pid files.

    The ports are bound on 127.0.0.1 only. Without `chat_base_url` the model emulator answers; without `chat_model`
    as well, the query function itself writes extractive answers.
    """

    project: Path = PROJECT
    state: Path = PROJECT / ".recto"
    aws_port: int = 4566
    pinecone_port: int = 5081
    openai_port: int = 8081
    streaming_port: int = 8082
    chat_base_url: str = ""
    chat_model: str = EXTRACTIVE_CHAT_MODEL
    chat_key: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict)
    """More parameters of the template, over those a laptop needs."""
    enforce_roles: bool = False
    """Whether the AWS emulator enforces the functions' roles, and records their calls in `calls`."""

    @property
    def aws_url(self) -> str:
        """Endpoint of the AWS emulator."""
        return f"http://127.0.0.1:{self.aws_port}"

    @property
    def pinecone_url(self) -> str:
        """Control plane of the Pinecone emulator."""
        return f"http://127.0.0.1:{self.pinecone_port}"

    @property
    def streaming_url(self) -> str:
        """Base URL of the API where it streams."""
        return f"http://127.0.0.1:{self.streaming_port}"

    @property
    def page_urls(self) -> tuple[str, str]:
        """Addresses at which a browser on this machine finds the page, the one that is printed first."""
        return f"{self.streaming_url}/", f"http://localhost:{self.streaming_port}/"

    @property
    def openai_url(self) -> str:
        """Base URL of the model emulator, as OpenAI's SDK takes it."""
        return f"http://127.0.0.1:{self.openai_port}/v1"

    @property
    def logs(self) -> Path:
        """Folder of the components' logs."""
        return self.state / "logs"

    @property
    def calls(self) -> Path:
        """The file of calls: what was called, by whom, and whether it was allowed; only with `enforce_roles`."""
        return self.logs / "calls.jsonl"

    @property
    def build(self) -> Path:
        """Folder of the built packages, apart from `.aws-sam` because these are built for this machine."""
        return self.state / "build"

    @property
    def ministack(self) -> Path:
        """The AWS emulator's program."""
        return Path(os.environ.get("RECTO_MINISTACK", self.project / ".venvs/aws-emulator/bin/ministack"))

    @property
    def sam(self) -> Path:
        """SAM's program."""
        return Path(os.environ.get("RECTO_SAM", self.project / ".venvs/sam/bin/sam"))

    def save(self) -> None:
        """Remember ports and chat model, so that the other verbs find the stack `up` started."""
        self.state.mkdir(parents=True, exist_ok=True)
        kept = {k: v for k, v in asdict(self).items() if k not in {"project", "state"}}
        file = self.state / "config.json"
        file.touch(mode=0o600)  # a chat key may be in it
        file.write_text(json.dumps(kept, indent=2) + "\n")

    @staticmethod
    def _remembered(state: Path) -> dict[str, Any]:
        file = state / "config.json"
        return dict(json.loads(file.read_text())) if file.exists() else {}

    @classmethod
    def remembered_parameters(cls, state: Path) -> Mapping[str, str]:
        """Return the template's parameters that `up` remembered."""
        return dict(cls._remembered(state).get("parameters", {}))

    @classmethod
    def load(cls, state: Path, environ: Mapping[str, str], **flags: int | str | Mapping[str, str] | None) -> Self:
        """Merge the settings: a flag overrides the environment, which overrides what `up` remembered."""
        config = cls(state=state, **cls._remembered(state))
        ports = {name: environ.get(f"RECTO_{name.upper()}") for name in PORTS}
        try:
            from_environment = {name: int(value) for name, value in ports.items() if value}
        except ValueError as error:
            raise LocalStackError(f"A port in the environment is not a number ({error}). Check RECTO_*_PORT.") from None
        given = {name: value for name, value in flags.items() if value is not None}
        config = replace(config, **(from_environment | given))  # type: ignore[arg-type]
        config._check_ports()
        return config

    def _check_ports(self) -> None:
        chosen = {name: getattr(self, name) for name in PORTS}
        listed = ", ".join(f"{name.removesuffix('_port')} {port}" for name, port in chosen.items())
        if not all(0 < port < 65536 for port in chosen.values()):
            raise LocalStackError(f"A port is a number from 1 to 65535, and not all of these are: {listed}.")
        if len(set(chosen.values())) < len(chosen):
            raise LocalStackError(f"Each component needs a port of its own, and two of these are the same: {listed}.")
