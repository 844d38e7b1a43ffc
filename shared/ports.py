"""What the pipelines need from the outside world, as narrow protocols.

One port per need, not per vendor: nobody needs both to search and to write vectors, so these are two ports.
Adapters (`shared/adapters/`, one file a vendor) translate every vendor error into the tree of `shared/errors.py`;
a port never raises anything else. Every call that can wait takes its own `timeout_s`, cut by the caller from what is
left of the whole deadline.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from shared.models import (
    FIRST_VIEW,
    ChatMessage,
    Completion,
    Conversation,
    Document,
    DocumentError,
    DocumentStatus,
    Embeddings,
    EmbeddingSpace,
    Filter,
    Match,
    Message,
    ObjectHead,
    SparseVector,
    VectorRecord,
    View,
)


class Clock(Protocol):
    """Time as an argument, so that tests can turn it."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        ...


class IdFactory(Protocol):
    """Makes ids that sort by the time they were made (ULIDs), as an argument for the same reason."""

    def __call__(self) -> str:
        """Return a new id of 26 characters, later than every one before it."""
        ...


# --- models ------------------------------------------------------------------------------------------------------


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


class ChatModel(Protocol):
    """Completes a conversation."""

    @property
    def model(self) -> str:
        """The model's name as sent to the provider."""
        ...

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_output_tokens: int,
        temperature: float,
        timeout_s: float,
        response_format: Mapping[str, object] | None = None,
    ) -> Completion:
        """Return one completion. Raises `DependencyError`.

        `response_format` is OpenAI's (a JSON schema); a server that refuses it answers without, so the text may be in
        any form.
        """
        ...


@runtime_checkable
class StreamingChatModel(Protocol):
    """A `ChatModel` that can also be listened to while it writes."""

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_output_tokens: int,
        temperature: float,
        timeout_s: float,
        response_format: Mapping[str, object] | None = None,
    ) -> Iterator[str | Completion]:
        """Yield pieces of the text as they come, and the whole `Completion` last.

        Raises `DependencyError` at any point; what was yielded before is then all there will be. Closing the iterator
        ends the request.
        """
        ...


# --- vectors -----------------------------------------------------------------------------------------------------


class VectorSearch(Protocol):
    """Reads the index."""

    def query(
        self,
        *,
        namespace: str,
        vector: Sequence[float],
        sparse: SparseVector | None = None,
        top_k: int,
        filter: Filter | None = None,
        timeout_s: float,
        metadata: bool = True,
        again: bool = False,
    ) -> Sequence[Match]:
        """Return up to `top_k` matches, best first. Raises `DependencyError`.

        With a sparse part, a match's score is the sum of both dot products; a zero `vector` searches by words alone.
        Without `metadata`, ids and scores are all that is promised: a hundredth of the bytes. `again` says that a
        search like it has just failed: it counts as a retry, and is not made where there have been too many of them.
        """
        ...


class Reranker(Protocol):
    """Judges passages against a question, each on its own: slower and better than similarity."""

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        """Return one score a text, in their order, higher for better. Raises `DependencyError`."""
        ...


class VectorWriter(Protocol):
    """Writes the index."""

    def upsert(self, *, namespace: str, records: Sequence[VectorRecord]) -> None:
        """Write records of any number; split under the vendor's limits (1,000 vectors, 2 MB a request)."""
        ...

    def delete(self, *, namespace: str, ids: Sequence[str]) -> None:
        """Delete by id, any number; unknown ids are no error."""
        ...

    def list_ids(self, *, namespace: str, prefix: str) -> Iterator[Sequence[str]]:
        """Yield pages of the ids that start with `prefix`."""
        ...


class VectorNamespaces(Protocol):
    """Removes what a whole view has written."""

    def drop(self, *, namespace: str) -> None:
        """Delete a namespace with all its vectors; one that is not there is no error. Raises `DependencyError`."""
        ...


class VectorReader(Protocol):
    """Reads vectors back by id."""

    def fetch(self, *, namespace: str, ids: Sequence[str]) -> Mapping[str, VectorRecord]:
        """Return those of the vectors that are visible by now, any number; missing ones are left out."""
        ...


# --- objects -----------------------------------------------------------------------------------------------------


class PresignedPost(NamedTuple):
    """A form a browser can post a file with."""

    url: str
    fields: Mapping[str, str]


class ObjectReader(Protocol):
    """Looks at the bucket."""

    def head(self, key: str) -> ObjectHead | None:
        """Return what the bucket holds now under `key`, or None."""
        ...

    def download(self, head: ObjectHead, path: Path) -> None:
        """Write exactly this version's bytes to `path`. Raises `NotFound` if the version is gone."""
        ...


class SmallObject(NamedTuple):
    """An object's bytes, or None where they are those the reader knows already by the ETag."""

    etag: str
    body: bytes | None


class SmallObjectReader(Protocol):
    """Reads objects that fit in memory, again and again."""

    def read_small(self, key: str, *, known_etag: str, most_bytes: int) -> SmallObject | None:
        """Return the object, or None where there is none; of one that is too large, `most_bytes` + 1 bytes.

        Raises `DependencyError`.
        """
        ...


class ListedObject(NamedTuple):
    """What a listing of the bucket tells about an object's newest version."""

    key: str
    etag: str
    last_modified: datetime


class ObjectListing(Protocol):
    """Lists the bucket, a thousand entries a request."""

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield what stands between `prefix` and the next `/` of any key, each once."""
        ...

    def under(self, prefix: str, *, after: str = "") -> Iterator[ListedObject]:
        """Yield the objects under `prefix` whose keys come after `after`, in the order of their keys (code points)."""
        ...


class ObjectStore(Protocol):
    """What the API does to the bucket."""

    def presigned_post(self, key: str, *, max_bytes: int, content_type: str, expires_s: int) -> PresignedPost:
        """Allow one upload to exactly this key, of this type, of 1 to `max_bytes` bytes."""
        ...

    def delete_all_versions(self, key: str) -> int:
        """Remove every version and delete marker of `key`; return how many there were."""
        ...


# --- the registry ------------------------------------------------------------------------------------------------


class ClaimOutcome(StrEnum):
    """How an attempt to take a document's lease ended.

    CLAIMED: the lease is ours. STALE: a later event has already been taken up. NOTED: another worker holds the lease;
    the hint has been noted on the item, and that worker will look again before it lets go. BUSY: another worker holds
    the lease for this very event: come back when it must have ended, because if it dies nobody else will.
    """

    CLAIMED = "claimed"
    STALE = "stale"
    NOTED = "noted"
    BUSY = "busy"


class Draft(NamedTuple):
    """An unfinished ingest: which bytes and settings it was for, and how many chunks are safely in the index."""

    generation: str
    version_id: str
    settings_hash: str
    chunks_done: int


class Claim(NamedTuple):
    """The result of `DocumentFence.claim`.

    `document` is the item as it stood before (None if new). `written` names every generation that may have vectors in
    the index, with an upper bound of their number: the ids to sweep are known without asking the index.
    `unpublished_at` is when the API was asked to delete the document (ISO 8601), empty if it was not.
    `retry_after_s` is how long the lease of the other worker still runs, for BUSY. `news`: what is found changed, and
    the tenant's knowledge version does not count it yet.
    """

    outcome: ClaimOutcome
    document: Document | None = None
    written: Mapping[str, int] = MappingProxyType({})
    draft: Draft | None = None
    unpublished_at: str = ""
    retry_after_s: float = 0.0
    news: bool = False


class DocumentFence(Protocol):
    """The registry as ingest needs it: every write is conditional on holding the lease.

    `owner` names one attempt as `{message id}/{anything unique}`. All methods but `claim` raise `LeaseLost` when
    someone else holds the lease by now. `publish`, `publish_beside`, `fail` and `tombstone` return False, with nothing
    changed, when a newer hint arrived meanwhile: `look_again` then. The lease is kept until `release`: sweeping is done
    under it.
    """

    def claim(self, tenant: str, document_id: str, key: str, *, sequencer: str, owner: str, lease_s: float) -> Claim:
        """Take the lease, ordered by S3 sequencer, in one conditional write. An empty sequencer means "look now"."""
        ...

    def look_again(self, tenant: str, document_id: str, *, owner: str, lease_s: float) -> Claim:
        """Take up the hints noted so far, before the object is looked at once more."""
        ...

    def renew(self, tenant: str, document_id: str, *, owner: str, lease_s: float) -> None:
        """Hold the lease for longer."""
        ...

    def save_progress(
        self, tenant: str, document_id: str, draft: Draft, *, upper_bound: int, owner: str, lease_s: float
    ) -> None:
        """Record, before they are written, that the draft's chunks under `upper_bound` may be in the index; renew."""
        ...

    def publish(self, document: Document, *, owner: str) -> bool:
        """Move the generation pointer and set the final status in one conditional write."""
        ...

    def publish_beside(self, document: Document, *, owner: str) -> bool:
        """Move the pointers in `document.views` alone: those of a view that is not read yet, or no longer."""
        ...

    def fail(self, document: Document, error: DocumentError, *, owner: str, status: DocumentStatus) -> bool:
        """Record a final failure and remove the generation pointer."""
        ...

    def tombstone(self, tenant: str, document_id: str, *, owner: str) -> bool:
        """Turn the item into a tombstone that outlives the queue's retention."""
        ...

    def swept(self, tenant: str, document_id: str, generation: str, *, owner: str) -> None:
        """Forget a generation whose vectors have been deleted."""
        ...

    def forewarn(self, tenant: str, document_id: str, error: DocumentError, *, owner: str) -> None:
        """Show FAILED with `error` for the case that this last try ends without a word; keeps the lease."""
        ...

    def written(self, tenant: str, document_id: str) -> Mapping[str, int]:
        """Return every generation that may rightly have vectors in the index. Consistent read; needs no lease.

        A generation is entered before its first vector is written: what the index holds of others is orphaned.
        """
        ...

    def release(
        self,
        tenant: str,
        document_id: str,
        *,
        owner: str,
        error: DocumentError | None = None,
        status: DocumentStatus | None = None,
    ) -> bool:
        """Let go of the lease.

        Without `error` and `status` everything is settled: the last final status shows again; False, with nothing
        changed, when a newer hint arrived. With either, nothing was decided: they are shown (PROCESSING if no status is
        given) while what was published stays published; False says that a newer hint had been noted.
        """
        ...


class DocumentEntry(NamedTuple):
    """As much of a document as it takes to compare it with the bucket.

    `etag` is that of the object it was settled for last, `updated_at` when a worker last took it up or settled it, and
    `held_until` when the lease ends (epoch seconds; 0 without one). `noted`: a hint waits on the item. `trouble` is the
    code of what kept the last try from any outcome.
    """

    key: str
    status: DocumentStatus
    etag: str = ""
    updated_at: float = 0.0
    held_until: float = 0.0
    noted: bool = False
    trouble: str = ""


class DocumentScan(Protocol):
    """The whole registry, read for maintenance: slow, and never on a request's way."""

    def tenants(self) -> set[str]:
        """Return every tenant that has, or ever had, a document."""
        ...

    def entries(self, tenant: str) -> Iterator[DocumentEntry]:
        """Yield every document of one tenant, tombstones included, in no order. Consistent read."""
        ...

    def forgotten(self, *, quiet_s: float) -> Iterator[Document]:
        """Yield the documents that are PROCESSING, have a hint noted or vectors to sweep, and nobody for `quiet_s`."""
        ...


class Watched(NamedTuple):
    """A document, and whether a worker holds it (or died holding it)."""

    document: Document
    held: bool


class TenantScan(Protocol):
    """One tenant's whole registry, read for re-indexing."""

    def of(self, tenant: str) -> Iterator[Watched]:
        """Yield every document of the tenant, tombstones included, without its report. Consistent read."""
        ...


# --- views: which index a tenant's questions go to -----------------------------------------------------------------


class TenantViews(NamedTuple):
    """A tenant's pointer: the view that is searched, and the one beside it while there are two.

    `other` is newer than `current` while it is built, and older when it is kept for going back. `changed_at` is when it
    came to be as it is (ISO 8601). `dropped` are views given up lately, whose namespaces late writers may fill again.
    `revision` counts changes and makes each of them conditional on the one before. `declined` is the goal (index, space
    and settings, as one string) that an operator rolled back from: nothing goes there again by itself.
    """

    tenant: str
    current: View
    other: View | None = None
    changed_at: str = ""
    dropped: Sequence[View] = ()
    revision: int = 0
    declined: str = ""

    @property
    def live(self) -> Sequence[View]:
        """Every view that is kept up to date, in the order in which a document is published in them.

        The one that is searched comes last: what can be found in it can be found in the other, so that a switch
        between the two loses nothing.
        """
        return (self.current,) if self.other is None else (self.other, self.current)

    @property
    def newest(self) -> View:
        """The view that is kept to the settings of the day; an older one is kept as it was made."""
        return max(self.live, key=lambda view: view.number)


class RenewalNote(NamedTuple):
    """How far the stack is in bringing every tenant to the settings of the day.

    `waiting` names the tenants that are not there yet. `idle` counts looks since the last progress (`done` documents),
    and `next_at` is before when looking again is no use (epoch seconds).
    """

    goal: str
    waiting: Sequence[str] = ()
    done: int = 0
    idle: int = 0
    next_at: float = 0.0


class RenewalNotes(Protocol):
    """Where that note is kept: one for the whole stack."""

    def read(self) -> RenewalNote | None:
        """Return the note, or None before the first. Raises `DependencyError`."""
        ...

    def write(self, note: RenewalNote) -> None:
        """Replace the note. Raises `DependencyError`."""
        ...


class ViewReader(Protocol):
    """What the query function needs of views."""

    def current(self, tenant: str) -> View:
        """Return the view to search; up to five seconds old. Raises `DependencyError`.

        Search `view.namespace` of `view.index` with a question embedded in `view.space`, and pass `view.number` to
        `DocumentRegistry.published_generations`. A view that is no longer current stays whole for a minute at least.
        """
        ...


class KnowledgeVersion(Protocol):
    """Whether anything that answers are made from has changed: what an answer kept for later is kept under."""

    def version(self, tenant: str) -> str:
        """Return what changes with every publication, rejection, deletion and switch. One consistent read.

        It is counted up just after the change, and if a worker dies between the two, when its document is taken up
        again (two minutes). So who serves something kept must look, besides, whether what it cites is still published.
        """
        ...


class ViewRegistry(Protocol):
    """What ingest needs of views."""

    def count_change(self, tenant: str) -> None:
        """Make the tenant's knowledge version a new one. Raises `DependencyError`."""
        ...

    def of(self, tenant: str) -> TenantViews:
        """Return the tenant's pointer, creating it as the settings say if there is none. Consistent read."""
        ...

    def save(self, views: TenantViews) -> bool:
        """Write the pointer unless it changed since `views.revision` was read; say whether it was written."""
        ...


class DocumentPage(NamedTuple):
    """One page of a listing; `cursor` is opaque, empty at the end."""

    documents: Sequence[Document]
    cursor: str


class DocumentRegistry(Protocol):
    """The registry as the API needs it."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document, tombstones included, or None. Consistent read."""
        ...

    def list(self, tenant: str, *, limit: int, cursor: str = "", status: DocumentStatus | None = None) -> DocumentPage:
        """Return documents in a stable order, without tombstones."""
        ...

    def published_generations(
        self, tenant: str, document_ids: Sequence[str], *, view: int = FIRST_VIEW
    ) -> Mapping[str, str]:
        """Map each document that may be answered from to its published generation (one consistent batch read).

        `view` is the number of the view that was searched.
        """
        ...

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Create a PENDING item for an upload that was promised; an existing document is left as it is and returned."""
        ...

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Mark DELETING and remove the generation pointer, at once and for every reader; None if there is none."""
        ...


# --- the queue of hints ------------------------------------------------------------------------------------------


class HintQueue(Protocol):
    """The queue that hints come from."""

    def send(self, body: str, *, delay_s: int = 0) -> None:
        """Put a hint on the queue, to be seen after `delay_s` seconds (900 at most, SQS's limit)."""
        ...

    def extend(self, receipt_handle: str, *, visibility_s: int) -> None:
        """Hide a message that is being worked on (or is to be retried later) for so many seconds from now."""
        ...

    def waiting(self) -> int:
        """Return about how many messages there are, hidden ones included."""
        ...


# --- conversations and caches ------------------------------------------------------------------------------------


class ConversationStore(Protocol):
    """A user's conversations. Somebody else's conversation does not exist."""

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages, oldest first. Raises `NotFound` when the user has no such conversation."""
        ...

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return the head of a conversation, or None."""
        ...

    def messages(
        self, tenant: str, user: str, conversation_id: str, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[Message], str]:
        """Return messages oldest first, and the cursor of the next page (empty at the end)."""
        ...

    def save_turns(self, tenant: str, user: str, conversation_id: str, *, title: str, turns: Sequence[Message]) -> None:
        """Append the turns in one transaction, creating the conversation (titled `title`) if it is new."""
        ...

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Remember the summary of the first `upto` messages, unless one of more of them is remembered already."""
        ...


class ChunkVectorCache(Protocol):
    """Vectors of passages embedded before, in whichever document. A cache that is down is a miss, never an error."""

    def get_many(self, space: EmbeddingSpace, content_hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Return content hash → vector for what is known of that embedding space."""
        ...

    def put_many(self, space: EmbeddingSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Remember vectors by content hash."""
        ...


class EmbeddingCache(Protocol):
    """Query embeddings seen before. A cache that is down is a miss, never an error."""

    def get(self, key: str) -> Sequence[float] | None:
        """Return the vector, or None when absent or expired (checked on read: TTL deletes lag by days)."""
        ...

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:
        """Remember the vector for `ttl_s` seconds."""
        ...


class AnswerCache(Protocol):
    """Answers given before, as bytes. A cache that is down is a miss, never an error."""

    def get(self, key: str) -> bytes | None:
        """Return what is remembered, or None when absent or expired (checked on read: TTL deletes lag by days)."""
        ...

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        """Remember `data` (at most 300 KB; more is not kept) for `ttl_s` seconds."""
        ...
