"""Ports that both functions use, and the values they exchange.

A port is a narrow protocol for one need, not for one vendor: searching and writing vectors are two ports. Adapters
(`shared/adapters/`) translate every vendor error into the tree of `shared/errors.py`; a port raises nothing else.
Calls that can wait take a `timeout_s`, which the caller derives from its deadline.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from shared.access import Rules
from shared.models import (
    Document,
    DocumentStatus,
    Edits,
    Embeddings,
    EmbeddingSpace,
    IndexVersion,
    Labels,
    PublishedDocument,
    SourceType,
    Usage,
)


class Clock(Protocol):
    """The time, injected so that tests can set it."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one embedding space."""

    @property
    def space(self) -> EmbeddingSpace:
        """The embedding space of every returned vector."""
        ...

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        """Return one vector per text, in order, finite and of unit length. Raises `DependencyError`."""
        ...


class UsageRecorder(Protocol):
    """Keeps what a tenant's questions and documents cost."""

    def record(self, tenant: str, user: str, spent: Mapping[str, Usage], *, questions: int, now: datetime) -> None:
        """Add tokens by model to the usage of a day and user; ingest has no `user`. Raises `DependencyError`."""
        ...


class PresignedPost(NamedTuple):
    """A form with which a browser can upload a file."""

    url: str
    fields: Mapping[str, str]


class SmallObject(NamedTuple):
    """An object's bytes, or None if the ETag that the reader knows is still current."""

    etag: str
    body: bytes | None


class ListedObject(NamedTuple):
    """The newest version of an object, as listed."""

    key: str
    etag: str
    last_modified: datetime


class LeaseOutcome(StrEnum):
    """The result of an attempt to take a document's lease.

    CLAIMED: this worker has the lease. STALE: a later event was already processed. DELEGATED: another worker holds it;
    the change is recorded on the item, and that worker handles it before it releases the lease. BUSY: another worker
    holds the lease for the same event; try again after the lease ends, in case that worker dies.
    """

    CLAIMED = "claimed"
    STALE = "stale"
    DELEGATED = "delegated"
    BUSY = "busy"


class UnfinishedIngest(NamedTuple):
    """An unfinished ingest: the object version and settings it is for, and how many chunks are already in the index."""

    generation: str
    version_id: str
    settings_hash: str
    chunks_done: int


class LeaseClaim(NamedTuple):
    """The result of `DocumentLease.claim`.

    `document` is the item before the claim (None if new). `written` maps every generation that may have vectors in the
    index to an upper bound of their number, so that sweeping needs no listing. `unpublished_at` is when the API was
    asked to delete the document (ISO 8601, or empty). `retry_after_s` is how long the other worker's lease still runs,
    for BUSY. `uncounted_change`: the searchable content changed, and the tenant's knowledge version does not count it
    yet.
    """

    outcome: LeaseOutcome
    document: Document | None = None
    written: Mapping[str, int] = MappingProxyType({})
    unfinished: UnfinishedIngest | None = None
    unpublished_at: str = ""
    retry_after_s: float = 0.0
    uncounted_change: bool = False


class DocumentRemains(NamedTuple):
    """What the registry still has of a document that is being erased: its status, None if there is no item.

    `is_held`: a worker has it, or a change of it is pending. `has_name`: it holds more than an id, status and times.
    """

    status: DocumentStatus | None
    is_held: bool = False
    has_name: bool = False


class DocumentEntry(NamedTuple):
    """The fields of a document that are needed to compare it with the bucket.

    `etag` is that of the object that the final status refers to, `updated_at` when a worker last claimed or finished
    it, `leased_until` when the lease ends (epoch seconds; 0 without one). `change_pending`: a change notification is
    recorded on the item. `attempt_error` is the error code of the last attempt, if it had no outcome.
    """

    key: str
    status: DocumentStatus
    etag: str = ""
    updated_at: float = 0.0
    leased_until: float = 0.0
    change_pending: bool = False
    attempt_error: str = ""


class ScannedDocument(NamedTuple):
    """A document, and whether a worker holds its lease (or died while holding it)."""

    document: Document
    leased: bool


class TenantIndexVersions(NamedTuple):
    """A tenant's pointer: the index version that is searched, and the second one while there are two.

    `other` is newer than `current` while it is being built, and older while it is kept for a rollback. `changed_at` is
    when the pointer last changed (ISO 8601). `dropped` are recently deleted index versions, whose namespaces late
    writers may fill again. `revision` counts changes, for optimistic locking. `declined` is the goal (index, space and
    settings, as one string) that an operator rolled back from: no automatic re-index goes there again.
    """

    tenant: str
    current: IndexVersion
    other: IndexVersion | None = None
    changed_at: str = ""
    dropped: Sequence[IndexVersion] = ()
    revision: int = 0
    declined: str = ""

    @property
    def live(self) -> Sequence[IndexVersion]:
        """The index versions that are kept up to date, in publishing order.

        The searched one is published last: the other then always holds at least as much, so a switch loses nothing.
        """
        return (self.current,) if self.other is None else (self.other, self.current)

    @property
    def is_building(self) -> bool:
        """Whether a re-index is running: the other index version is the newer one."""
        return self.other is not None and self.other.number > self.current.number

    @property
    def newest(self) -> IndexVersion:
        """The index version that follows the current settings; an older one keeps its own."""
        return max(self.live, key=lambda index_version: index_version.number)


class ReindexProgress(NamedTuple):
    """Progress of the automatic re-index of all tenants to the current settings (`goal`).

    `waiting` are the tenants still to do. `idle` counts the runs since `done` (documents) last grew; the next run
    starts no earlier than `next_at` (epoch seconds).
    """

    goal: str
    waiting: Sequence[str] = ()
    done: int = 0
    idle: int = 0
    next_at: float = 0.0


class DocumentFilter(NamedTuple):
    """Which documents a listing holds: of a status, with the words `q` in title or file name, in any case.

    `identity` maps fields of the identity card, and `language`, to words that they hold.
    """

    status: DocumentStatus | None = None
    q: str = ""
    identity: Mapping[str, str] = MappingProxyType({})


ALL_DOCUMENTS = DocumentFilter()


class DocumentPage(NamedTuple):
    """One page of a listing; `cursor` is opaque, empty at the end."""

    documents: Sequence[Document]
    cursor: str


class CatalogueEntry(NamedTuple):
    """What a published document is called. `generation` is that of the index version that was asked for.

    `card` is its identity card as it was found.
    """

    document_id: str
    key: str
    title: str
    generation: str
    chunk_count: int = 0
    language: str = ""
    source_type: SourceType = SourceType.PDF
    labels: Labels = MappingProxyType({})
    edits: Edits = MappingProxyType({})
    rules: Rules = ()
    card: Labels = MappingProxyType({})
    page_count: int = 0
    created_at: str = ""

    @property
    def published(self) -> PublishedDocument:
        """What may be shown of it."""
        return PublishedDocument(self.generation, self.edits, self.rules)

    @property
    def labelled(self) -> Labels:
        """Its identity card and its labels; a label replaces the card's field of the same name."""
        return {**self.card, **self.labels}


class TenantKnowledge(NamedTuple):
    """The knowledge version of a tenant, and on what its access rules depend in a reader (`kinds_of`).

    Once a document has had a rule `restricted` is never empty again: its former readers may have asked about it.
    """

    version: str
    restricted: Set[str] = frozenset()
