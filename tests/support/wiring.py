"""What bootstraps put together, as text: every object of ours with all that it holds, down to numbers and names."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

SET = {
    "BUCKET": "made-bucket", "DOCUMENTS_TABLE": "made-documents", "CONVERSATIONS_TABLE": "made-conversations",
    "CACHE_TABLE": "made-cache", "QUEUE_URL": "https://sqs.example.org/changes", "SECRET_ID": "made-secret",
    "PINECONE_INDEX": "made-index", "EMBEDDING_MODEL": "all-MiniLM-L6-v2", "EMBEDDING_DIMENSIONS": "384",
}  # fmt: skip
MORE = {
    "CHAT_MODEL": "made-chat", "CHECK_MODEL": "made-check", "FIGURE_MODEL": "made-figures", "RERANK_MODEL": "made-rank",
    "REWRITE_MODEL": "made-rewriter", "OCR_QUEUE_URL": "https://sqs.example.org/ocr", "REINDEX_AUTOMATICALLY": "true",
    "CHAT_BASE_URL": "https://chat.example.org", "CHUNK_CACHE_TTL_S": "86400", "REQUEST_DEADLINE_S": "28",
}  # fmt: skip
OTHERS = {
    "RERANK_MODEL": "", "REWRITE_MODEL": "", "CHAT_API": "responses", "CHUNK_CACHE_TTL_S": "0",
    "CHECK_BASE_URL": "https://check.example.org", "FIGURE_BASE_URL": "https://figures.example.org",
    "REQUEST_DEADLINE_S": "6", "STREAM_TIMEOUT_S": "300",
}  # fmt: skip
WAYS = {"least": SET, "more": SET | MORE, "otherwise": SET | MORE | OTHERS}
"""Settings to wire with: what must be set, the models and features too, and others in their place."""
CLIENTS = ("dynamodb", "s3", "sqs", "events", "secrets")
KEYS = {"OPENAI_API_KEY": "made", "PINECONE_API_KEY": "made"}
DEEPEST = 12


@dataclass(frozen=True)
class Client:
    """Stands for a client of AWS: what it was asked for with. Its tables are empty."""

    service: str
    options: Mapping[str, object]

    def get_item(self, **_request: object) -> Mapping[str, object]:
        """Return no item."""
        return {}

    def close(self) -> None:
        """Close nothing."""


def set_up(monkeypatch: pytest.MonkeyPatch, bootstrap: ModuleType, way: str) -> None:
    """Set the settings, and put made clients and keys in the place of those that a bootstrap would ask networks for."""
    for name, value in WAYS[way].items():
        monkeypatch.setenv(f"RECTO_{name}", value)
    for service in CLIENTS:
        if hasattr(bootstrap, f"{service}_client"):
            monkeypatch.setattr(bootstrap, f"{service}_client", lambda service=service, **given: Client(service, given))
    monkeypatch.setattr(bootstrap, "read_secret", lambda _client, _name, required=(): {**KEYS, "required": required})
    monkeypatch.setattr(bootstrap, "resolve_host", lambda settings, _key: f"{settings.pinecone_index}.example.org")


def wired(name: str, value: object) -> str:
    """Return an object and what it holds as lines; what was told before is only named."""
    return "\n".join(_told(name, value, 0, {}))


def _told(name: str, value: Any, depth: int, known: dict[int, str]) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, functools.partial):
        yield f"{indent}{name}: partial of {_name_of(value.func)}"
        for at, each in enumerate(value.args):
            yield from _told(str(at), each, depth + 1, known)
        for key, each in value.keywords.items():
            yield from _told(key, each, depth + 1, known)
    elif isinstance(value, Client):
        options = ", ".join(f"{key}={each}" for key, each in sorted(value.options.items()))
        yield f"{indent}{name}: client of {value.service}({options})"
    elif type(value).__module__.split(".")[0] in {"functions", "shared"} and not isinstance(value, str):
        if id(value) in known or type(value).__name__ == "Settings" or depth > DEEPEST:
            yield f"{indent}{name}: {known.get(id(value), type(value).__name__)}"
            return
        known[id(value)] = f"the {type(value).__name__} of {name}"
        yield f"{indent}{name}: {type(value).__name__}"
        for key, each in sorted(_held(value).items()):
            yield from _told(key, each, depth + 1, known)
    elif callable(value):
        yield f"{indent}{name}: {_name_of(value)}"
    elif value is None or isinstance(value, (bool, int, float, str, tuple, frozenset)):
        yield f"{indent}{name}: {re.sub(r'0x[0-9a-f]+', '…', repr(value))}"
    else:
        yield f"{indent}{name}: {type(value).__name__}"


def _held(value: object) -> dict[str, Any]:
    slots = [name for each in type(value).__mro__ for name in getattr(each, "__slots__", ()) if name != "__weakref__"]
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return found | getattr(value, "__dict__", {})


def _name_of(value: Any) -> str:
    bound = getattr(value, "__self__", None)
    named = getattr(value, "__qualname__", type(value).__name__)
    return f"{named} of {type(bound).__name__}" if bound is not None and not isinstance(bound, ModuleType) else named
