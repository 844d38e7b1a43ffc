"""Erasures of a document or a user: the record that is kept while one runs, and the receipt at its end.

A receipt is a JSON object of texts, whole numbers and lists. Its signature is the HMAC-SHA256 of its canonical form:
all but `signature`, keys sorted, no spaces, UTF-8. Who has the key can check it (docs/decisions/0036).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

ErasureKind = Literal["document", "user"]
ErasureState = Literal["running", "erased"]

ERASED_USER = "erased"
"""Replaces an erased user's id in items that stay: a tenant's usage, an API key, a hand-off they answered."""
ERASED_ANSWER = "This answer was made from a document that has been erased."
"""The text of an answer whose document was erased."""
RECEIPT_KEY = "RECEIPT_KEY"
"""The key of receipts in the stack's secret. Without it, one is derived from the key of the vector store."""
_BACKUPS = "Backups of the tables (point-in-time recovery) hold what was erased for 35 days at most."
_PROVIDER = "A model's provider may keep what it was sent, as its contract says."
_KEPT = MappingProxyType(
    {
        "document": (
            "What people wrote themselves stays: questions, agents' answers, FAQs and published answers.",
            "The registry keeps the document's id, without its name, for 21 days, so that late events find it.",
            "Log lines name its id until they expire; notifications of changes name its key for 14 days at most.",
            _BACKUPS,
            "Pinecone keeps deleted records, out of everybody's reach, for 90 days at most.",
            _PROVIDER,
        ),
        "user": (
            "The sign-in account is not deleted: an operator does that in the user pool or at the company.",
            "Usage and costs of the tenant stay, without the user's id; API keys that the user made go on working.",
            "Log lines name ids until they expire; notices of hand-offs that were sent cannot be taken back.",
            "Rules of access that name the user stay until editors or administrators change them.",
            "Vectors of questions stay in the cache, by a hash of their text and without a user, until they expire.",
            _BACKUPS,
            _PROVIDER,
        ),
    }
)
"""What no erasure reaches, by its kind: part of every receipt."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure. `subject` is the id of the document or user; times are ISO 8601 in UTC.

    `key` and `title` are the document's, until it is erased. `before` are counts by store from when it began, `found`
    what was erased since, `left` what is not erased yet, in words. `last_found_at` is when a trace was last found.
    """

    tenant: str
    erasure_id: str
    kind: ErasureKind
    subject: str
    requested_by: str
    begun_at: str
    key: str = ""
    title: str = ""
    state: ErasureState = "running"
    before: Mapping[str, int] = field(default_factory=dict)
    found: Mapping[str, int] = field(default_factory=dict)
    left: Sequence[str] = ()
    rounds: int = 0
    last_found_at: str = ""
    finished_at: str = ""
    receipt: Mapping[str, Any] = field(default_factory=dict)

    @property
    def began(self) -> float:
        """When it began, in epoch seconds."""
        return datetime.fromisoformat(self.begun_at).timestamp()

    def names(self) -> Sequence[str]:
        """Return what lists and refusals call the document: its title, and its file's name with and without its end."""
        file_name = self.key.rpartition("/")[2]
        return [name for name in (self.title, file_name, file_name.rpartition(".")[0]) if name]


class ScanPosition(NamedTuple):
    """Where a scan goes on: in which table ("conversations" or "cache"), after which key; no key: at its beginning."""

    table: str = "conversations"
    key: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SoughtErasure:
    """An erasure that a scan looks for; times are epoch seconds.

    What was written until `settled` may be of requests that began before it. Answers after `until` are not about its
    document, but about a new one of the same name; it has no end where there is none.
    """

    erasure: Erasure
    settled: float
    until: float


def receipt_of(erasure: Erasure, *, re_read_at: str, settled_s: int, left: Mapping[str, int]) -> dict[str, Any]:
    """Return the receipt without its signature; `left` is what the last look found, by store."""
    stores = sorted({*erasure.before, *erasure.found, *left})
    return {
        "version": 1,
        "erasure_id": erasure.erasure_id,
        "tenant": erasure.tenant,
        "kind": erasure.kind,
        "subject": erasure.subject,
        "state": erasure.state,
        "begun_at": erasure.begun_at,
        "finished_at": erasure.finished_at,
        "re_read_at": re_read_at,
        "settled_s": settled_s,
        "rounds": erasure.rounds,
        "stores": [
            {
                "store": store,
                "before": max(erasure.before.get(store, 0), erasure.found.get(store, 0)),
                "after": left.get(store, 0),
            }
            for store in stores
        ],
        "left": list(erasure.left),
        "not_erased": list(_KEPT[erasure.kind]),
    }


def signing_key(secret: Mapping[str, str]) -> bytes:
    """Return the key of receipts: the secret's own, else one derived from the key of the vector store."""
    own = secret.get(RECEIPT_KEY, "")
    return hmac.digest((own or secret.get("PINECONE_API_KEY", "")).encode(), b"recto receipts of erasures 1", "sha256")


def signed(receipt: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """Return the receipt with the name of its key and its signature."""
    named = {**receipt, "key": hashlib.sha256(key).hexdigest()[:12]}
    return {**named, "signature": hmac.new(key, canonical(named), "sha256").hexdigest()}


def is_genuine(receipt: Mapping[str, Any], key: bytes) -> bool:
    """Say whether the receipt is, to the letter, one that was signed with this key."""
    given = receipt.get("signature")
    expected = hmac.new(key, canonical(receipt), "sha256").hexdigest()
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


def canonical(receipt: Mapping[str, Any]) -> bytes:
    """Return what is signed."""
    unsigned = {name: value for name, value in receipt.items() if name != "signature"}
    return json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
