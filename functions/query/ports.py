"""What the query function needs from outside, as narrow protocols, and all of it in one value, `QueryPorts`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from shared.models import (
    FIRST_INDEX_VERSION,
    ChatMessage,
    Completion,
    Conversation,
    Document,
    DocumentStatus,
    Filter,
    IndexVersion,
    Match,
    Message,
    SparseVector,
)
from shared.ports import (
    Clock,
    DocumentPage,
    Embedder,
    PresignedPost,
    SmallObject,
)
from shared.settings import Settings

if TYPE_CHECKING:
    from functions.query.understanding.glossary import Glossary


class IdFactory(Protocol):
    """Makes ids that sort by the time they were made (ULIDs), as an argument for the same reason."""

    def __call__(self) -> str:
        """Return a new id of 26 characters, later than every one before it."""
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


class SmallObjectReader(Protocol):
    """Reads objects that fit in memory, again and again."""

    def read_small(self, key: str, *, known_etag: str, most_bytes: int) -> SmallObject | None:
        """Return the object, or None where there is none; of one that is too large, `most_bytes` + 1 bytes.

        Raises `DependencyError`.
        """
        ...


class ObjectStore(Protocol):
    """What the API does to the bucket."""

    def presigned_post(self, key: str, *, max_bytes: int, content_type: str, expires_s: int) -> PresignedPost:
        """Allow one upload to exactly this key, of this type, of 1 to `max_bytes` bytes."""
        ...

    def delete_all_versions(self, key: str) -> int:
        """Remove every version and delete marker of `key`; return how many there were."""
        ...


class IndexVersionReader(Protocol):
    """What the query function needs of index versions."""

    def current(self, tenant: str) -> IndexVersion:
        """Return the index version to search; up to five seconds old. Raises `DependencyError`.

        Search `index_version.namespace` of `index_version.index` with a question embedded in `index_version.space`, and
        pass `index_version.number` to `DocumentRegistry.published_generations`. An index version that is no longer
        current stays whole for a minute at least.
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


class DocumentRegistry(Protocol):
    """The registry as the API needs it."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document, tombstones included, or None. Consistent read."""
        ...

    def list(self, tenant: str, *, limit: int, cursor: str = "", status: DocumentStatus | None = None) -> DocumentPage:
        """Return documents in a stable order, without tombstones."""
        ...

    def published_generations(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, str]:
        """Map each document that may be answered from to its published generation (one consistent batch read).

        `index_version` is the number of the index version that was searched.
        """
        ...

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Create a PENDING item for an upload that was promised; an existing document is left as it is and returned."""
        ...

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Mark DELETING and remove the generation pointer, at once and for every reader; None if there is none."""
        ...


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


class GlossarySource(Protocol):
    """Where glossaries come from."""

    def of(self, tenant: str) -> "Glossary":
        """Return the tenant's glossary, an empty one where there is none.

        Raises `DependencyError` when it cannot be read and `GlossaryInvalid` when it is not in the expected form.
        """
        ...


@dataclass(frozen=True, slots=True)
class QueryPorts:
    """Everything the line needs from outside. `chat` is None where answers are extractive.

    `answers` and `knowledge` belong together: without either, no answer is kept for later. Without a `rewriter`
    follow-ups are made to stand alone by a heuristic.

    `index_version` is the index version of the tenant's documents that is searched; `search`, `embedder` and `settings`
    fit it. None means the first one.
    """

    settings: Settings
    clock: Clock
    new_id: IdFactory
    embedder: Embedder
    cache: EmbeddingCache
    search: VectorSearch
    registry: DocumentRegistry
    conversations: ConversationStore
    chat: ChatModel | None
    index_version: IndexVersion | None = None
    answers: AnswerCache | None = None
    knowledge: KnowledgeVersion | None = None
    rewriter: ChatModel | None = None
    glossary: GlossarySource | None = None
    reranker: Reranker | None = None
