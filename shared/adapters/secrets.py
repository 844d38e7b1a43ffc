"""The providers' API keys: read from Secrets Manager, and read again after a refusal and from time to time.

A rotated key reaches a warm container this way: the client that was made with the old one is replaced.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from shared.adapters.aws import aws_errors
from shared.deadline import Closable, Replaceable
from shared.errors import ConfigurationError, KeyRefused, RectoError
from shared.telemetry import logger

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

OPENAI_API_KEY = "OPENAI_API_KEY"
PINECONE_API_KEY = "PINECONE_API_KEY"
CHAT_KEYS = ("CHAT_API_KEY", OPENAI_API_KEY)
"""Keys of the chat model: the first one that the secret has."""
CHECK_API_KEY = "CHECK_API_KEY"
PLACEHOLDER = "replace-me"
"""The template's value for a missing key."""
REREAD_EVERY_S = 60.0
"""Seconds between two readings after refusals: a key that stays wrong must not become a call per question."""


def read_secret(client: "SecretsManagerClient", secret_id: str, *, required: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the secret's JSON object; its values never appear in an error.

    Raises `ConfigurationError` if it is not a JSON object of strings or a required name is missing, `DependencyError`
    if it cannot be read.
    """
    if not secret_id:
        raise ConfigurationError("RECTO_SECRET_ID is not set: name the secret that holds the provider keys.")
    with aws_errors("secrets"):
        text = client.get_secret_value(SecretId=secret_id).get("SecretString", "")
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ConfigurationError(
            f"Secret {secret_id!r} must hold a JSON object of strings with {OPENAI_API_KEY} and {PINECONE_API_KEY}."
        )
    missing = [name for name in required if values.get(name, "") in {"", PLACEHOLDER}]
    if missing:
        raise ConfigurationError(
            f"Secret {secret_id!r} has no {', '.join(missing)}: put both keys into it with `aws secretsmanager "
            f"put-secret-value --secret-id {secret_id}` (docs/operating.md, step 4)."
        )
    return values


class Secret:
    """The keys that `read` returns, kept for `ttl_s`. Thread-safe.

    If a later reading fails, the keys stay as they are. `now` is wall-clock time: a container may sleep between calls.
    """

    def __init__(
        self, read: Callable[[], Mapping[str, str]], *, ttl_s: float, now: Callable[[], float] = time.time
    ) -> None:
        self._read = read
        self._ttl_s = ttl_s
        self._now = now
        self._lock = Lock()
        self._values = read()
        self._read_at = now()
        self._asked_at = -math.inf

    def key(self, *names: str) -> "ApiKey":
        """Return the first of these keys that the secret has, now or later."""
        return ApiKey(partial(self._current, names), partial(self._renewed, names))

    def _current(self, names: tuple[str, ...]) -> str:
        with self._lock:
            if self._now() - self._read_at >= self._ttl_s:
                self._reread()
            return self._named(names)

    def _renewed(self, names: tuple[str, ...], refused: str) -> bool:
        with self._lock:
            if self._named(names) == refused and self._now() - self._asked_at >= REREAD_EVERY_S:
                self._asked_at = self._now()
                self._reread()
            return self._named(names) != refused

    def _named(self, names: tuple[str, ...]) -> str:
        return next((value for name in names if (value := self._values.get(name, ""))), "")

    def _reread(self) -> None:
        self._read_at = self._now()  # also if it fails: the next try is not made at once
        try:
            self._values = self._read()
        except RectoError as error:
            logger.error("secret not read again", extra={"code": error.code, "error": error.message})


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that may change: `current()` returns it; `renewed(refused)` says whether it has changed."""

    current: Callable[[], str]
    renewed: Callable[[str], bool] = lambda _: False

    @classmethod
    def of(cls, key: "str | ApiKey") -> "ApiKey":
        """Return the key; a string never changes."""
        return key if isinstance(key, ApiKey) else cls(lambda: key)


def with_renewed_key[T](key: ApiKey, call: Callable[[str], T]) -> T:
    """Return what `call(key)` returns; if the key is refused and has changed meanwhile, call once more."""
    used = key.current()
    try:
        return call(used)
    except KeyRefused:
        if not key.renewed(used):
            raise
        return call(key.current())


class KeyedClient[C: Closable]:
    """A vendor's client made with a key, and made anew when the key has changed. Thread-safe.

    `call` and `stream` are those of `Replaceable`; after a refused key they are repeated once if it has changed.
    """

    def __init__(self, key: str | ApiKey, make: Callable[[str], C]) -> None:
        self._key = ApiKey.of(key)
        self._make = make
        self._used = ""
        self._clients = Replaceable(self._made)

    def call[T](self, timeout_s: float, dependency: str, use: Callable[[C], T]) -> T:
        """Return `use(client)`."""
        end = time.monotonic() + timeout_s
        return with_renewed_key(self._key, lambda key: self._with(key).call(end - time.monotonic(), dependency, use))

    def stream[T](self, timeout_s: float, dependency: str, use: Callable[[C], Iterator[T]]) -> Iterator[T]:
        """Yield what `use(client)` yields; a refused key is known before the first piece."""
        end = time.monotonic() + timeout_s
        used = self._key.current()
        try:
            yield from self._with(used).stream(timeout_s, dependency, use)
        except KeyRefused:
            if not self._key.renewed(used):
                raise
            yield from self._with(self._key.current()).stream(end - time.monotonic(), dependency, use)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._clients.close()

    def _with(self, key: str) -> Replaceable[C]:
        if key != self._used:
            self._clients.retire()
        return self._clients

    def _made(self) -> C:
        self._used = self._key.current()
        return self._make(self._used)
