"""What the pipelines need from the outside world, as narrow protocols.

One port per need, not per vendor: nobody needs both to search and to write vectors, so these are two ports.
Adapters (`shared/adapters/`, one file a vendor) translate every vendor error into the tree of `shared/errors.py`;
a port never raises anything else. Every call that can wait takes its own `timeout_s`, cut by the caller from what is
left of the whole deadline.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from shared.models import Document, DocumentStatus, Embeddings, EmbeddingSpace, IndexVersion


class Clock(Protocol):
    """Time as an argument, so that tests can turn it."""

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
        """The space every vector of this embedder lies in."""
        ...

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        """Embed one request's worth of texts; vectors come in their order, of unit length, all finite.

        Raises `DependencyError`; never returns fewer vectors than texts.
        """
        ...


class PresignedPost(NamedTuple):
    """A form a browser can post a file with."""

    url: str
    fields: Mapping[str, str]


class SmallObject(NamedTuple):
    """An object's bytes, or None where they are those the reader knows already by the ETag."""

    etag: str
    body: bytes | None


class ListedObject(NamedTuple):
    """What a listing of the bucket tells about an object's newest version."""

    key: str
    etag: str
    last_modified: datetime


class LeaseOutcome(StrEnum):
    """How an attempt to take a document's lease ended.

    CLAIMED: the lease is ours. STALE: a later event has already been taken up. DELEGATED: another worker holds the
    lease; the change has been recorded on the item, and that worker looks again before it releases the lease. BUSY:
    another worker holds the lease for this very event: come back when it must have ended, because if it dies nobody
    else will.
    """

    CLAIMED = "claimed"
    STALE = "stale"
    DELEGATED = "delegated"
    BUSY = "busy"


class UnfinishedIngest(NamedTuple):
    """An unfinished ingest: which bytes and settings it was for, and how many chunks are safely in the index."""

    generation: str
    version_id: str
    settings_hash: str
    chunks_done: int


class LeaseClaim(NamedTuple):
    """The result of `DocumentFence.claim`.

    `document` is the item as it stood before (None if new). `written` names every generation that may have vectors in
    the index, with an upper bound of their number: the ids to sweep are known without asking the index.
    `unpublished_at` is when the API was asked to delete the document (ISO 8601), empty if it was not.
    `retry_after_s` is how long the lease of the other worker still runs, for BUSY. `uncounted_change`: what can be
    found changed, and the tenant's knowledge version does not count it yet.
    """

    outcome: LeaseOutcome
    document: Document | None = None
    written: Mapping[str, int] = MappingProxyType({})
    unfinished: UnfinishedIngest | None = None
    unpublished_at: str = ""
    retry_after_s: float = 0.0
    uncounted_change: bool = False


class DocumentEntry(NamedTuple):
    """As much of a document as it takes to compare it with the bucket.

    `etag` is that of the object its final status is about, `updated_at` when a worker last claimed or finished it, and
    `leased_until` when the lease ends (epoch seconds; 0 without one). `change_pending`: a change notification waits on
    the item. `attempt_error` is the code of what kept the last try from any outcome.
    """

    key: str
    status: DocumentStatus
    etag: str = ""
    updated_at: float = 0.0
    leased_until: float = 0.0
    change_pending: bool = False
    attempt_error: str = ""


class ScannedDocument(NamedTuple):
    """A document, and whether a worker holds it (or died holding it)."""

    document: Document
    leased: bool


class TenantIndexVersions(NamedTuple):
    """A tenant's pointer: the index version that is searched, and the one beside it while there are two.

    `other` is newer than `current` while it is built, and older when it is kept for going back. `changed_at` is when it
    came to be as it is (ISO 8601). `dropped` are index versions given up lately, whose namespaces late writers may fill
    again. `revision` counts changes and makes each of them conditional on the one before. `declined` is the goal
    (index, space and settings, as one string) that an operator rolled back from: nothing goes there again by itself.
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
        """Every index version that is kept up to date, in the order in which a document is published in them.

        The one that is searched comes last: what can be found in it can be found in the other, so that a switch
        between the two loses nothing.
        """
        return (self.current,) if self.other is None else (self.other, self.current)

    @property
    def is_building(self) -> bool:
        """Whether a re-index is under way: the other index version is the newer one."""
        return self.other is not None and self.other.number > self.current.number

    @property
    def newest(self) -> IndexVersion:
        """The index version that follows the current settings; an older one keeps those it was built with."""
        return max(self.live, key=lambda index_version: index_version.number)


class ReindexProgress(NamedTuple):
    """How far the automatic re-index of the whole stack to the current settings (`goal`) is.

    `waiting` names the tenants that are not re-indexed yet. `idle` counts the runs since `done` (documents) last grew,
    and the next run is at `next_at` (epoch seconds) at the earliest.
    """

    goal: str
    waiting: Sequence[str] = ()
    done: int = 0
    idle: int = 0
    next_at: float = 0.0


class DocumentPage(NamedTuple):
    """One page of a listing; `cursor` is opaque, empty at the end."""

    documents: Sequence[Document]
    cursor: str
