"""Ports that only the query function needs, as narrow protocols, and `QueryPorts`, which holds all its ports."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from shared.access import AccessRule, FolderRules, Rules
from shared.api_keys import ClientKey
from shared.erasures import Erasure
from shared.models import (
    FIRST_INDEX_VERSION,
    NO_USAGE,
    Completion,
    Conversation,
    Document,
    Feedback,
    Filter,
    FoundMessage,
    Handoff,
    HandoffStatus,
    IndexVersion,
    Labels,
    Match,
    Message,
    ModelRequest,
    ObjectHead,
    PassageEdit,
    PublishedDocument,
    SparseVector,
    UnansweredQuestion,
    Usage,
    UsageRow,
)
from shared.ports import (
    ALL_DOCUMENTS,
    CatalogueEntry,
    Clock,
    DocumentFilter,
    DocumentPage,
    Embedder,
    ListedObject,
    PresignedPost,
    SmallObject,
    TenantKnowledge,
    UsageRecorder,
)
from shared.receipts import StoredReceipt
from shared.settings import Settings

if TYPE_CHECKING:
    from functions.query.understanding.glossary import Glossary


type IdFactory = Callable[[], str]
"""Returns a new id of 26 characters, later than every one before it (a ULID)."""


class ChatModel(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """The model's name, as the provider knows it."""

    def complete(self, request: ModelRequest, *, timeout_s: float) -> Completion:
        """Return one completion. Raises `DependencyError`."""


@runtime_checkable
class StreamingChatModel(Protocol):
    """A `ChatModel` that can also stream its text."""

    def stream(self, request: ModelRequest, *, timeout_s: float) -> Iterator[str | Completion]:
        """Yield pieces of the text as they come, the whole `Completion` last. Closing the iterator ends the request.

        The pieces may contain the model's reasoning; the whole does not.

        Raises `DependencyError` at any point; nothing is yielded after that.
        """


Opinion = Literal["supported", "contradicted", "unclear"]
"""A checker's opinion of a claim: it follows from its quotes, they contradict it, or neither is certain."""


@dataclass(frozen=True, slots=True)
class ClaimToCheck:
    """A claim and its quotes, without instructions found in them."""

    text: str
    quotes: Sequence[str]


@dataclass(frozen=True, slots=True)
class CheckedClaims:
    """One opinion for each claim, in their order, the model's name, and the tokens billed."""

    opinions: Sequence[Opinion]
    model: str = ""
    usage: Usage = NO_USAGE


class ClaimChecker(Protocol):
    """Compares claims with their quotes by meaning."""

    def check(self, claims: Sequence[ClaimToCheck], *, timeout_s: float) -> CheckedClaims:
        """Return an opinion on each claim. Raises `DependencyError`."""


class VectorSearch(Protocol):
    """Searches the index."""

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
        is_retry: bool = False,
    ) -> Sequence[Match]:
        """Return up to `top_k` matches, best first. Raises `DependencyError`.

        With a sparse part, a match's score is the sum of both dot products; a faint `vector` makes the search lexical.
        Without `metadata`, only ids and scores are guaranteed: a hundredth of the bytes. `is_retry`: a similar search
        has just failed, so this one counts against the retry budget.
        """


class Reranker(Protocol):
    """Scores each passage against a question: slower and better than similarity."""

    def rerank(self, question: str, texts: Sequence[str], *, timeout_s: float) -> Sequence[float]:
        """Return one score per text, in their order; higher is better. Raises `DependencyError`."""


class SmallObjectReader(Protocol):
    """Reads objects that fit in memory, only if they have changed."""

    def read_small(self, key: str, *, known_etag: str, max_bytes: int) -> SmallObject | None:
        """Return the object, or None where there is none; of one that is too large, `max_bytes` + 1 bytes.

        Raises `DependencyError`.
        """


class ObjectStore(Protocol):
    """The bucket, as the API uses it."""

    def presigned_post(
        self,
        key: str,
        *,
        max_bytes: int,
        content_type: str,
        expires_s: int,
        metadata: Mapping[str, str] = MappingProxyType({}),
    ) -> PresignedPost:
        """Allow one upload to exactly this key, of this type, of 1 to `max_bytes` bytes, with this metadata."""

    def head(self, key: str, *, version_id: str = "") -> ObjectHead | None:
        """Return this version of `key`, else the current one; None where it is gone."""

    def presigned_get(self, head: ObjectHead, *, expires_s: int, file_name: str, content_type: str) -> str:
        """Return a link that shows this version in a browser until it expires."""

    def delete_all_versions(self, key: str) -> int:
        """Delete every version and delete marker of `key`; return their number."""

    def under(self, prefix: str, *, after: str = "") -> Iterator[ListedObject]:
        """Yield the objects under `prefix` with keys after `after`, ordered by key. Raises `DependencyError`."""

    def read(self, key: str, *, max_bytes: int) -> SmallObject | None:
        """Return the object, or None; of one that is larger, its first `max_bytes` + 1 bytes."""

    def write(self, key: str, body: bytes, *, content_type: str, replacing: str | None = None) -> str:
        """Write an object and return its ETag.

        `replacing` is the ETag of the version to replace, or "" if there must be none; None writes in any case. Raises
        `ChangedMeanwhile` if it is another one by now.
        """


class ChangeNotifier(Protocol):
    """Tells ingest that a key may have changed."""

    def notify(self, key: str) -> None:
        """Send a change notification. Raises `DependencyError`."""


class IndexVersionReader(Protocol):
    """Says which index version a tenant searches."""

    def current(self, tenant: str) -> IndexVersion:
        """Return the index version to search; up to five seconds old. Raises `DependencyError`.

        Search `index_version.namespace` of `index_version.index` with a question embedded in `index_version.space`, and
        pass `index_version.number` to `PublishedDocuments.published_documents`. A replaced index version stays
        complete for at least a minute.
        """

    def is_restricted(self, tenant: str) -> bool:
        """Say whether any document has or had an access rule; up to five seconds old. Raises `DependencyError`."""


class KnowledgeVersion(Protocol):
    """A version of everything that a tenant's answers are made from; cached answers are bound to it."""

    def knowledge(self, tenant: str) -> TenantKnowledge:
        """Return what changes with every publication, rejection, deletion, rule and index switch (consistent read).

        It changes just before the documents do and again just after them, or up to two minutes later if a worker dies
        in between. So before a cached answer is served, its documents must also be looked up in the registry.
        """


class PublishedDocuments(Protocol):
    """The document registry as the pipeline needs it."""

    def published_documents(
        self, tenant: str, document_ids: Sequence[str], *, index_version: int = FIRST_INDEX_VERSION
    ) -> Mapping[str, PublishedDocument]:
        """Map each published document to what may be shown of it in the given index version, as it is now.

        A document that the reader may not read has no generation. The result is remembered as long as the tenant's
        knowledge version stays the same.
        """


class PassageEdits(Protocol):
    """Editors' changes of passages."""

    def get(self, tenant: str, document_id: str, original_hash: str) -> PassageEdit | None:
        """Return the edit of one passage, by the hash of its original text. Consistent read."""

    def of(self, tenant: str, document_id: str) -> Sequence[PassageEdit]:
        """Return all edits of a document, in the order of their places."""

    def save(self, document: Document, edit: PassageEdit, *, before: PassageEdit | None) -> bool:
        """Write an edit, in force for every reader at once; False if it or the document's list changed meanwhile."""


class Catalogue(PublishedDocuments, Protocol):
    """The document registry as questions about the collection need it."""

    def catalogue(self, tenant: str, *, index_version: int = FIRST_INDEX_VERSION) -> Iterator[CatalogueEntry]:
        """Yield every document that is published in the index version, unordered; read page by page."""


class ReadableCatalogue(Catalogue, Protocol):
    """The document registry as the reader may see it."""

    def unreadable(self, tenant: str, document_ids: Iterable[str]) -> Set[str]:
        """Return those of the documents that they may not read."""


class DocumentRegistry(Catalogue, Protocol):
    """The document registry as the API needs it."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document, tombstones included, or None. Consistent read."""

    def list(
        self, tenant: str, wanted: DocumentFilter = ALL_DOCUMENTS, *, limit: int, cursor: str = ""
    ) -> DocumentPage:
        """Return documents, newest first, without tombstones."""

    def cursor_after(self, document: Document) -> str:
        """Return the cursor with which `list` goes on after this document."""

    def titles(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, str]:
        """Map each document that is not deleted to its title, or to its file's name if it has none."""

    def versions(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        """Map each document that is not deleted to the published versions of its object, or to the last one read."""

    def announce(self, document: Document, *, expires_s: int) -> Document:
        """Create a PENDING item for an announced upload; an existing document is returned unchanged."""

    def label(self, tenant: str, document_id: str, labels: Labels, *, before: Labels) -> bool:
        """Replace a document's labels if they are still those `before`; else return False."""

    def restrict(self, tenant: str, document_id: str, rule: AccessRule | None, *, before: AccessRule | None) -> bool:
        """Replace a document's own rule, for every reader at once, if it is still `before`; else return False."""

    def unpublish(self, tenant: str, document_id: str) -> Document | None:
        """Mark DELETING and remove the generation pointer, at once and for every reader; None if there is none."""


class RuledRegistry(DocumentRegistry, Protocol):
    """The document registry of all readers: `ReadableDocuments` shows each of them what they may read."""

    def rules_of(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Rules] | None:
        """Map each known document, tombstones included, to its rules; None if the tenant never had any."""

    def folder_rules(self, tenant: str) -> FolderRules:
        """Return the tenant's folder rules in force. Consistent read."""


class RulesInForce(Protocol):
    """Puts folder rules in force."""

    def apply(self, tenant: str, objects: "ObjectStore") -> str:
        """Put the tenant's object in force and return its ETag; empty if there is none. Raises `AccessRulesInvalid`."""


class ConversationHistory(Protocol):
    """A user's conversations as the pipeline needs them; those of other users are never found."""

    def recent_messages(self, tenant: str, user: str, conversation_id: str, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages, oldest first. Raises `NotFound` when the user has no such conversation."""

    def get(self, tenant: str, user: str, conversation_id: str) -> Conversation | None:
        """Return the head of a conversation, or None."""

    def save_turns(
        self,
        tenant: str,
        user: str,
        conversation_id: str,
        *,
        title: str,
        turns: Sequence[Message],
        is_new: bool,
        unanswered: UnansweredQuestion | None = None,
        receipt: StoredReceipt | None = None,
    ) -> None:
        """Append the turns in one transaction, creating the conversation (titled `title`) if it is new.

        An `unanswered` question, and the `receipt` of the last turn, are kept by the same transaction, so that they
        cost no further request. Raises `NotFound` if it is not new and does not exist: one that was erased meanwhile
        does not come back.
        """

    def save_summary(self, tenant: str, user: str, conversation_id: str, *, summary: str, upto: int) -> None:
        """Store the summary of the first `upto` messages, unless one of more messages is stored already."""


class ConversationStore(ConversationHistory, Protocol):
    """A user's conversations as the API needs them."""

    def messages(
        self, tenant: str, user: str, conversation_id: str, *, limit: int, cursor: str = ""
    ) -> tuple[Sequence[Message], str]:
        """Return messages oldest first, and the cursor of the next page (empty at the end)."""

    def recent(
        self, tenant: str, user: str, *, limit: int, cursor: str = "", title: str = ""
    ) -> tuple[Sequence[Conversation], str]:
        """Return conversations whose title holds `title`, the last used first, and the cursor of the next page.

        All pages show the order in which the first one found them. Raises `InvalidRequest` for an unusable cursor.
        """

    def find_message(self, tenant: str, user: str, message_id: str) -> FoundMessage | None:
        """Return one of the user's messages with its conversation and the question before it; None if there is none."""

    def messages_before(self, tenant: str, user: str, found: FoundMessage, *, limit: int) -> Sequence[Message]:
        """Return the last `limit` messages before a found answer and its question, oldest first."""

    def receipt(self, tenant: str, user: str, message_id: str) -> bytes | None:
        """Return the packed receipt of one of the user's answers (`shared.receipts`), or None."""

    def rename(self, tenant: str, user: str, conversation_id: str, title: str) -> Conversation | None:
        """Give a conversation another title, and return it; None if there is none. Its last use stays."""

    def erase(self, tenant: str, user: str, conversation_id: str) -> bool:
        """Erase a conversation and everything below it; return False if there is none.

        Its owner no longer sees it at once. If the rest is interrupted, a second call continues it.
        """

    def unfinished_erasures(self, tenant: str, user: str) -> Sequence[str]:
        """Return the ids of the user's conversations whose erasure was interrupted, or is running just now."""


class ApiKeyRegister(Protocol):
    """The API keys of a tenant, as its administrators manage them."""

    def create(self, key: ClientKey, secret: str) -> None:
        """Store a new key by the hash of its secret. Raises `DependencyError`."""

    def list(self, tenant: str, *, limit: int, cursor: str = "") -> tuple[Sequence[ClientKey], str]:
        """Return keys, the newest first, and the cursor of the next page (empty at the end)."""

    def revoke(self, tenant: str, key_id: str) -> bool:
        """Delete a key, at once and for every reader; False if the tenant has no such key."""


class ErasureRegister(Protocol):
    """The erasures of a tenant. Every method raises `DependencyError`."""

    def begin(self, erasure: Erasure) -> Erasure:
        """Keep a new erasure and return it, or the one of this subject that is not finished yet."""

    def get(self, tenant: str, erasure_id: str) -> Erasure | None:
        """Return an erasure, or None. Consistent read."""

    def count_before(self, erasure: Erasure, store: str, count: int) -> None:
        """Record how much a store held before."""


class HandoffStore(Protocol):
    """The hand-offs of a tenant. Every method raises `DependencyError`."""

    def open(self, handoff: Handoff) -> Handoff:
        """Keep a new hand-off, unless the conversation has an open one, and return the open one.

        Raises `NotFound` if the conversation does not exist any more.
        """

    def get(self, tenant: str, handoff_id: str) -> Handoff | None:
        """Return a hand-off, or None. Consistent read."""

    def list(
        self, tenant: str, *, limit: int, cursor: str = "", status: HandoffStatus | None = None
    ) -> tuple[Sequence[Handoff], str]:
        """Return hand-offs, the oldest first, and the cursor of the next page (empty at the end)."""

    def change(self, before: Handoff, after: Handoff) -> bool:
        """Replace a hand-off; return False if it is not `before` any more."""

    def answer(self, before: Handoff, after: Handoff, message: Message) -> bool:
        """As `change`, and append the message to the asker's conversation, in one transaction.

        Raises `NotFound` if the conversation does not exist any more.
        """


class UnansweredLog(Protocol):
    """Questions that nobody has answered yet."""

    def since(
        self, tenant: str, first: datetime, *, limit: int
    ) -> tuple[Sequence[UnansweredQuestion], Collection[str]]:
        """Return the questions asked since then, the latest first, and the ids of those that are answered by now."""

    def mark(self, tenant: str, question_ids: Sequence[str], faq_id: str, *, expires_at: int) -> int:
        """Mark questions as answered by an FAQ; return how many of them are."""


class EventSender(Protocol):
    """Sends events to other systems."""

    def send(self, kind: str, detail: str) -> None:
        """Send one event with its detail, a JSON object. Raises `DependencyError`."""


class FeedbackStore(Protocol):
    """Ratings of answers, for the askers and for their tenant's editors."""

    def put(self, tenant: str, user: str, found: FoundMessage, feedback: Feedback) -> bool:
        """Store feedback on a found answer, replacing any earlier one; False if the answer was erased meanwhile."""

    def remove(self, tenant: str, user: str, found: FoundMessage) -> bool:
        """Remove the feedback on a found answer, if there is any; False if the answer was erased meanwhile."""

    def given(
        self, tenant: str, *, limit: int, cursor: str = "", rating: str = "", since: datetime | None = None
    ) -> tuple[Sequence[FoundMessage], str]:
        """Return rated answers with their questions, the last rated first, and the cursor of the next page.

        With `since` only what was rated then or later. Raises `InvalidRequest` for an unusable cursor.
        """


class EmbeddingCache(Protocol):
    """Caches query embeddings. A cache that is down is a miss, never an error."""

    def get(self, key: str) -> Sequence[float] | None:
        """Return the vector, or None when absent or expired (checked on read: TTL deletes lag by days)."""

    def put(self, key: str, vector: Sequence[float], *, ttl_s: int) -> None:
        """Keep the vector for `ttl_s` seconds."""


class AnswerCache(Protocol):
    """Caches answers, as bytes. A cache that is down is a miss, never an error."""

    def get(self, key: str) -> bytes | None:
        """Return the data, or None when absent or expired (checked on read: TTL deletes lag by days)."""

    def put(self, key: str, data: bytes, *, ttl_s: int) -> None:
        """Keep `data` for `ttl_s` seconds; more than 300 KB is not kept."""


class UsageLog(UsageRecorder, Protocol):
    """Counts questions and tokens against limits, and keeps what was used; all processes share one."""

    def count(self, key: str, *, questions: int, tokens: int, expires_at: int) -> str:
        """Count one question unless the counter has reached `questions` or `tokens` (0: no limit).

        Return "" when it was counted, else which limit is used up: "questions" or "tokens". Raises `DependencyError`.
        """

    def add_tokens(self, key: str, tokens: int, *, expires_at: int) -> None:
        """Add used tokens to a counter. Raises `DependencyError`."""

    def rows(self, tenant: str, first: date, last: date) -> Iterable[UsageRow]:
        """Return the usage of each day, user and model from `first` to `last`. Raises `DependencyError`."""


class GlossarySource(Protocol):
    """Reads glossaries."""

    def of(self, tenant: str) -> "Glossary":
        """Return the tenant's glossary, an empty one where there is none.

        Raises `DependencyError` when it cannot be read and `GlossaryInvalid` when it is not in the expected form.
        """


@dataclass(frozen=True, slots=True)
class QueryPorts:
    """Everything the pipeline needs from outside.

    Optional: `chat` (without it answers are extractive), `rewriter` (without it follow-ups are rewritten by a
    heuristic), `checker` (without it no verdict changes), `glossary`, `reranker`, and `answers` with `knowledge`
    (without both, answers are not cached).

    `index_version` is the tenant's current index version, None for the first one; `search`, `embedder` and `settings`
    belong to it. `registry` shows what the asker may read; `is_restricted` says whether any document of the tenant has
    or had a rule.
    """

    settings: Settings
    clock: Clock
    new_id: IdFactory
    embedder: Embedder
    cache: EmbeddingCache
    search: VectorSearch
    registry: ReadableCatalogue
    conversations: ConversationHistory
    chat: ChatModel | None
    index_version: IndexVersion | None = None
    answers: AnswerCache | None = None
    knowledge: KnowledgeVersion | None = None
    rewriter: ChatModel | None = None
    glossary: GlossarySource | None = None
    reranker: Reranker | None = None
    checker: ClaimChecker | None = None
    is_restricted: Callable[[], bool] = bool

    @property
    def index_number(self) -> int:
        """The number of the index version."""
        return self.index_version.number if self.index_version else FIRST_INDEX_VERSION

    def namespace_of(self, tenant: str) -> str:
        """Return the tenant's namespace in the index version."""
        return self.index_version.namespace if self.index_version else tenant
