"""API keys of machine clients: what they look like, and what is known of one without its secret."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.models import UserRole

PREFIX = "rk_"
SECRET = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
"""256 random bits in base64, so nobody can guess one, and a fast hash protects it as well as a slow one."""
USER_PREFIX = "key:"
"""The user id of an API key begins with this; no user of the pool has such an id."""


@dataclass(frozen=True, slots=True)
class ClientKey:
    """A machine client's API key without its secret.

    Times are ISO 8601 in UTC, to the millisecond; empty means never. `groups` are those that rules of access may name.
    """

    tenant: str
    key_id: str
    name: str
    role: UserRole
    created_by: str
    created_at: str
    expires_at: str = ""
    last_used_at: str = ""
    groups: Sequence[str] = ()

    @property
    def user(self) -> str:
        """Who the key is to the API: a user of its own, with limits, usage and conversations of its own."""
        return f"{USER_PREFIX}{self.key_id}"

    def is_expired(self, now: datetime) -> bool:
        """Say whether the key has expired."""
        return bool(self.expires_at) and datetime.fromisoformat(self.expires_at) <= now


def new_secret() -> str:
    """Return a new secret, from the operating system's randomness."""
    return f"{PREFIX}{secrets.token_urlsafe(32)}"


def hash_of(secret: str) -> str:
    """Return the SHA-256 of a secret in hex: all of it that is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def time_of(moment: datetime) -> str:
    """Return a time as it is stored: always of the same length, so that texts compare as times do."""
    return moment.isoformat(timespec="milliseconds")
