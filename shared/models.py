"""The value types shared by both functions; all are immutable.

Units go last in a name (`_s`, `_tokens`, `_bytes`).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import count, groupby
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from shared.access import AccessRule, Rules
from shared.rects import PageSize, Rect

MetadataValue = str | int | float | bool | list[str]
"""Metadata values that Pinecone accepts."""

Filter = Mapping[str, object]
"""A metadata filter in Pinecone's language, for example `{"language": {"$eq": "en"}}`."""


class SourceType(StrEnum):
    """Where a chunk came from; stored as vector metadata, so it can be filtered on."""

    PDF = "pdf"
    FAQ = "faq"
    RESOLVED_QUERY = "resolved_query"
    KNOWLEDGE = "knowledge"


class DocumentStatus(StrEnum):
    """The status of a document as a client sees it.

    PENDING: the upload was announced; nothing has been read yet.
    PROCESSING: an ingest holds the lease. The previous generation, if any, is still searched.
    READY: every page with text is searchable. PARTIAL: some pages are; the report says which are not.
    NEEDS_OCR: the pages are images of text. ENCRYPTED: a password is needed. FAILED: see `error`.
    DELETING: no longer searched; the object and its vectors are being deleted. DELETED: a tombstone.
    """

    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    READY = "READY"
    PARTIAL = "PARTIAL"
    NEEDS_OCR = "NEEDS_OCR"
    ENCRYPTED = "ENCRYPTED"
    FAILED = "FAILED"
    DELETING = "DELETING"
    DELETED = "DELETED"

    @property
    def is_final(self) -> bool:
        """Whether an ingest ends with this status."""
        return self.value in {"READY", "PARTIAL", "NEEDS_OCR", "ENCRYPTED", "FAILED"}


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """The model and number of dimensions; only vectors of one space can be compared."""

    model: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.model}@{self.dimensions}"


def document_id_of(tenant: str, key: str) -> str:
    """Return the stable id of a document: 32 hex digits of a SHA-256 over tenant and key."""
    return hashlib.sha256(f"{tenant}\0{key}".encode()).hexdigest()[:32]


def content_hash_of(text: str) -> str:
    """Return 32 hex digits of the text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


FIRST_INDEX_VERSION = 1
"""The number of every tenant's first index version."""


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """A complete index of a tenant's documents: one namespace of one Pinecone index, in one embedding space.

    The bucket is the source of truth. A re-index builds a second index version beside the first.
    Numbers start at `FIRST_INDEX_VERSION`; a tenant never reuses one.
    """

    number: int
    namespace: str
    index: str
    space: EmbeddingSpace

    @property
    def location(self) -> tuple[str, EmbeddingSpace]:
        """The index and the embedding space; index versions that share both differ only by namespace."""
        return self.index, self.space


def namespace_of(tenant: str, index_version_number: int) -> str:
    """Return an index version's namespace: the tenant's name for the first. Tenant names cannot contain `~`."""
    return tenant if index_version_number == FIRST_INDEX_VERSION else f"{tenant}~{index_version_number}"


def generation_in(index_version_number: int, unique_id: str) -> str:
    """Return a generation name that encodes the index version of its vectors."""
    return unique_id if index_version_number == FIRST_INDEX_VERSION else f"{unique_id}~{index_version_number}"


def index_version_number_of(generation: str) -> int:
    """Return the index version of a generation's vectors."""
    _, separator, number = generation.rpartition("~")
    return int(number) if separator and number.isdecimal() else FIRST_INDEX_VERSION


Labels = Mapping[str, str | list[str]]
"""The labels that editors may give a document; they become metadata of its vectors, under the same names."""
CARD = ("organisation", "author", "kind", "period", "date", "version", "product")
"""The fields of a document's identity card; a label of the same name takes precedence."""


def values_of(label: str | list[str]) -> list[str]:
    """Return a label's values, whether it holds one or several."""
    return [label] if isinstance(label, str) else label


class Published(NamedTuple):
    """The generation of a document that is published in one index version, and what it was made from.

    `editorial` identifies the labels and corrections that it was made with (`editorial_hash`); `edited` maps each
    passage in it that was ever edited, by the hash of its original text, to its number. `ocr` names the readings of its
    pictured pages and of its figures that it was made with, empty for none.
    """

    generation: str
    version_id: str
    settings_hash: str
    embedding_space: str
    chunk_count: int
    editorial: str = ""
    edited: Mapping[str, int] = MappingProxyType({})
    ocr: str = ""


EXCLUDED = "excluded"
ORIGINAL = ""
"""The values of an edit other than the hash of a corrected text: leave the passage out, or use it as it is."""

Edits = Mapping[str, str]
"""Hash of a passage's original text → what its edit says: `EXCLUDED`, `ORIGINAL`, or the hash of the corrected text."""


def corrected_by(edits: Edits) -> set[str]:
    """Return the hashes of the original texts that are corrected."""
    return {original for original, said in edits.items() if said not in {EXCLUDED, ORIGINAL}}


def editorial_hash(labels: Labels, edits: Edits) -> str:
    """Return a hash of the labels and corrections that a document's vectors hold; empty if there are none."""
    said: dict[str, object] = {name: value for name, value in labels.items() if value}
    if corrections := {original: edits[original] for original in corrected_by(edits)}:
        said["corrections"] = corrections
    return content_hash_of(json.dumps(said, sort_keys=True, ensure_ascii=False)) if said else ""


class PublishedDocument(NamedTuple):
    """What may be shown of a document: its published generation, without what editors have left out or replaced.

    `rules` say to whom. Without a generation nothing may be shown, because the reader may not read the document.
    """

    generation: str
    edits: Edits = MappingProxyType({})
    rules: Rules = ()

    def shows(self, generation: str, metadata: Mapping[str, Any]) -> bool:
        """Say whether a vector may be shown: it is of this generation, and was made under the edit now in force.

        Without metadata only the generation is compared.
        """
        if generation != self.generation or not generation:
            return False
        edit = metadata.get("edit", ORIGINAL)
        if not metadata or not (self.edits or edit):
            return True
        return self.edits.get(_original_hash_of(metadata), ORIGINAL) == str(edit)


def _original_hash_of(metadata: Mapping[str, Any]) -> str:
    """Return the hash of a passage's original text, which a corrected one keeps beside its own."""
    return str(metadata.get("original_hash") or content_hash_of(str(metadata.get("text", ""))))


class PassageChange(NamedTuple):
    """One change of an edit: by whom, when (ISO 8601), and what it then said."""

    by: str
    at: str
    excluded: bool
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class PassageEdit:
    """What editors have made of one passage, known by the hash of its original text.

    `text` is the correction, empty for none. `changes` come oldest first, the last one is in force. `generation` and
    `chunk_index` are where the passage was seen last by an editor; its place is the original's.
    """

    document_id: str
    original_hash: str
    original: str
    text: str
    excluded: bool
    note: str
    generation: str
    chunk_index: int
    page_start: int
    page_end: int
    page_label: str
    section: str
    char_start: int
    changes: Sequence[PassageChange] = ()

    @property
    def says(self) -> str:
        """Its entry in the document's `Edits`."""
        return EXCLUDED if self.excluded else content_hash_of(self.text) if self.text else ORIGINAL


def vector_id_of(document_id: str, generation: str, chunk_index: int) -> str:
    """Return a vector's id, `{document_id}#{generation}#{index}`: a prefix lists one generation of one document."""
    return f"{document_id}#{generation}#{chunk_index}"


def generation_named_by(vector_id: str) -> tuple[str, str]:
    """Return the document id and generation in a vector id; both empty if the id is not ours."""
    document_id, _, rest = vector_id.partition("#")
    generation, separator, _ = rest.partition("#")
    return (document_id, generation) if separator else ("", "")


# --- What ingest makes ---


PageState = Literal["text", "empty", "scanned", "garbled", "hidden", "failed"]
UNREAD_STATES: frozenset[PageState] = frozenset({"scanned", "garbled"})
"""A page shows text that OCR may read: it is a picture, or its text cannot be decoded."""
OCR_PENDING = "OCR_PENDING"
"""Code of the error of a document whose unread pages are being read by OCR."""
OCR_FAILED = "OCR_FAILED"
"""Code of the error of a document all of whose unread pages OCR could not read either."""


@dataclass(frozen=True, slots=True)
class PageReport:
    """What parsing found on one page; the document's status is derived from these reports.

    `doubtful` is the share of the text that may be wrong (glued words, wrongly decoded glyphs), `pictured` the share of
    the page covered by images, `text_layer` whether the page has any text, visible or hidden.
    """

    number: int
    characters: int
    state: PageState = "text"
    detail: str = ""
    seconds: float = 0.0
    doubtful: float = 0.0
    pictured: float = 0.0
    text_layer: bool = True


def ranges_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Join consecutive page numbers: 1, 2, 3, 7 → (1, 3), (7, 7)."""
    counted = count()
    runs = [list(run) for _, run in groupby(sorted(numbers), key=lambda number: number - next(counted))]
    return [(run[0], run[-1]) for run in runs]


@dataclass(frozen=True, slots=True)
class Block:
    """A structural span of a page; `char_start` and `char_end` are offsets in that page's cleaned text.

    For a `heading`, `section` is the full path that starts here ("2 Scope > 2.1 Terms"). For a `table`, `header` is
    what stands above its rows (caption, unit, header rows), repeated before the embedded text when the table is split.
    A `figure` is its caption and, line by line, what is written in it: one passage where it fits.
    """

    kind: Literal["heading", "paragraph", "list_item", "table", "code", "figure"]
    char_start: int
    char_end: int
    section: str = ""
    header: str = ""


type LinePlace = tuple[int, str]
"""Where a line of a page's cleaned text begins, and its place on the page (`shared.rects`; empty: not known).

It ends where the next one begins. Each cell of a table is a line of its own. A page has up to thousands.
"""


@dataclass(frozen=True, slots=True)
class Page:
    """The cleaned text of one page: blank lines between paragraphs; list items, table rows and code one per line.

    `number` starts at 1; `label` is the printed page number ("iv", "A-3") if known. `continues` is True when the first
    paragraph started on the previous page. `width` and `height` are in points, of the page as it is shown; they and
    `lines` are there where the engine gives positions.
    """

    number: int
    text: str
    label: str = ""
    blocks: Sequence[Block] = ()
    continues: bool = False
    lines: Sequence[LinePlace] = ()
    width: float = 0.0
    height: float = 0.0


def page_separator(page: Page) -> str:
    """Return the separator between `page` and the previous one in the document's cleaned text.

    A newline where a paragraph continues, else a blank line. Character offsets of chunks and citations refer to the
    text joined this way.
    """
    return "\n" if page.continues else "\n\n"


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page starts in the document's cleaned text. Metadata form: `"{number}|{char_start}|{label}"`."""

    number: int
    char_start: int
    label: str = ""

    def __str__(self) -> str:
        return f"{self.number}|{self.char_start}|{self.label}"

    @classmethod
    def parse(cls, text: str) -> "PageStart":
        """Read the metadata form back. Raises `ValueError`."""
        number, char_start, label = text.split("|", 2)
        return cls(int(number), int(char_start), label)


@dataclass(frozen=True, slots=True)
class SectionStart:
    """Where a section starts in the document's cleaned text. Metadata form: `"{char_start}|{path}"`."""

    char_start: int
    path: str

    def __str__(self) -> str:
        return f"{self.char_start}|{self.path}"

    @classmethod
    def parse(cls, text: str) -> "SectionStart":
        """Read the metadata form back. Raises `ValueError`."""
        char_start, path = text.split("|", 1)
        return cls(int(char_start), path)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of cleaned text small enough to embed.

    `char_start` and `char_end` are code point offsets in the document's cleaned text (see `page_separator`):
    `text == cleaned[char_start:char_end]`. Pages start at 1, both ends inclusive; `pages` and `sections` say where each
    page and section that the chunk overlaps starts, so that a quote gets its exact page and section.
    `embedded_text` is what the model sees: title, section path, then the text. `rects` says where its lines stand on
    their pages (`shared.rects`); neither the vector nor `content_hash` depends on it. `table` is what stands above the
    piece of a table that it begins with, in earlier chunks: caption, unit and header rows.
    """

    index: int
    text: str
    embedded_text: str
    token_count: int
    page_start: int
    page_end: int
    char_start: int
    char_end: int
    content_hash: str
    page_label: str = ""
    section: str = ""
    language: str = ""
    pages: Sequence[PageStart] = ()
    sections: Sequence[SectionStart] = ()
    rects: str = ""
    table: str = ""


class SparseVector(NamedTuple):
    """A sparse vector in Pinecone's form: indices (unsigned 32 bits, ascending, unique) and their values."""

    indices: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """One vector to write: id, values (unit length), metadata, and an optional sparse part."""

    id: str
    values: Sequence[float]
    metadata: Mapping[str, MetadataValue]
    sparse: SparseVector | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One hit of a vector search. `score` is the dense similarity, or in a hybrid search the sum of both parts."""

    id: str
    score: float
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a model call was billed for.

    Of the input, `cached_tokens` were read from the provider's cache and `cache_write_tokens` written to it, both at
    prices of their own. Of the output, `reasoning_tokens` were not shown.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The usage of one user on one day (UTC, `YYYY-MM-DD`); an empty `user` is ingest.

    The questions have a row of their own, with an empty `model`. `cost_usd` lacks the `unpriced` calls, whose model is
    not in the price file.
    """

    day: str
    user: str
    model: str
    questions: int = 0
    usage: Usage = NO_USAGE
    cost_usd: float = 0.0
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of one request, in input order, and the tokens billed."""

    vectors: Sequence[Sequence[float]]
    usage: Usage


# --- Objects and the registry ---


@dataclass(frozen=True, slots=True)
class ObjectHead:
    """What S3 says about the current version of an object."""

    key: str
    version_id: str
    etag: str
    size_bytes: int
    last_modified: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentError:
    """Why a document is not READY: a stable code, and a message that tells a person what to do."""

    code: str
    message: str


class PagesRead(NamedTuple):
    """Up to which page a document has been read, and how many it has."""

    page: int
    page_count: int


@dataclass(frozen=True, slots=True)
class Document:
    """The registry's record of one object in the bucket.

    `generation` is the set of vectors published in the tenant's current index version; empty means that the document
    is not searchable. `card` is the identity card as it was found, without labels (`identity`). `index_versions` maps
    each index version's number to what is published in it. `access` is its own rule; `access_version` the object
    version whose metadata were last asked for one. `progress` is that of an ingest under way, if it is known.
    """

    tenant: str
    document_id: str
    key: str
    status: DocumentStatus
    title: str = ""
    language: str = ""
    version_id: str = ""
    etag: str = ""
    sequencer: str = ""
    generation: str = ""
    chunk_count: int = 0
    page_count: int = 0
    token_count: int = 0
    size_bytes: int = 0
    source_type: SourceType = SourceType.PDF
    embedding_space: str = ""
    settings_hash: str = ""
    error: DocumentError | None = None
    report: Sequence[PageReport] = ()
    labels: Labels = field(default_factory=dict)
    card: Labels = field(default_factory=dict)
    created_at: str = ""
    updated_at: str = ""
    index_versions: Mapping[int, Published] = field(default_factory=dict)
    editorial: str = ""
    edits: Edits = field(default_factory=dict)
    edited: Mapping[str, int] = field(default_factory=dict)
    access: AccessRule | None = None
    access_version: str = ""
    ocr: str = ""
    progress: PagesRead | None = None

    @property
    def identity(self) -> Labels:
        """The identity card, with labels in place of what was found where there are any."""
        return {**self.card, **{name: value for name, value in self.labels.items() if name in CARD}}

    def in_index_version(self, number: int) -> "Document":
        """Return the document as that index version has it: chunks, generation, and what these were made from."""
        published = self.index_versions.get(number)
        return self if published is None else replace(self, **published._asdict())

    def as_published(self) -> Published:
        """Return the registry's entry for the index version that this document is published in."""
        return Published(
            self.generation,
            self.version_id,
            self.settings_hash,
            self.embedding_space,
            self.chunk_count,
            self.editorial,
            self.edited,
            self.ocr,
        )


# --- Conversations and answers ---

Role = Literal["system", "user", "assistant"]
MessageRole = Literal[Role, "agent"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message sent to a chat model; `images` are PNG files that a user's message shows it."""

    role: Role
    content: str
    images: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a chat model is asked for.

    `response_format` is OpenAI's (a JSON schema). Some servers do not support it, so the text may be in any form.
    """

    messages: Sequence[ChatMessage]
    max_output_tokens: int
    temperature: float = 0.0
    response_format: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat model's answer. `finish_reason` is the provider's value ("stop", "length")."""

    text: str
    finish_reason: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of one claim; the quote is copied from the stored text.

    `quote == stored_text[char_start - chunk.char_start : char_end - chunk.char_start]`; offsets refer to the document's
    cleaned text. `score` is the cited chunk's cosine similarity to the question, None where it is not known. `key` and
    `version_id` name the object in the bucket that was quoted; both are empty where that is not known.
    `rects` are the quote's lines on their pages, whose sizes are `page_sizes`; none where that is not known.
    Of a `corrected` passage, quote and offsets are those of the correction, and there are no `rects`. `ocr`: it was
    read from pictures, so letters may be wrong. `described_by` names the model that has described a figure in these
    words, which stand nowhere in the document; empty for the document's own.
    """

    n: int
    document_id: str
    title: str
    source_type: SourceType
    page_start: int
    page_end: int
    page_label: str
    section: str
    quote: str
    char_start: int
    char_end: int
    score: float | None
    key: str = ""
    version_id: str = ""
    rects: Sequence[Rect] = ()
    page_sizes: Sequence[PageSize] = ()
    corrected: bool = False
    ocr: bool = False
    described_by: str = ""

    @property
    def file_name(self) -> str:
        """The last part of the key."""
        return self.key.rsplit("/", 1)[-1]

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Citation":
        """Read what `asdict` gave, now or before fields were added."""
        values = {
            "score": None,
            **stored,
            "source_type": SourceType(stored["source_type"]),
            "rects": tuple(Rect(*rect) for rect in stored.get("rects", ())),
            "page_sizes": tuple(PageSize(*size) for size in stored.get("page_sizes", ())),
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """A claim as an answer shows it: `text` stands in the answer, `citations` are the numbers behind it.

    `verdict` is "confirmed" or "unconfirmed"; `derived` is the calculation that confirmed it, empty if none did.
    """

    text: str
    verdict: str
    citations: Sequence[int] = ()
    derived: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "AnswerClaim":
        """Read what `asdict` gave."""
        return cls(**{**stored, "citations": tuple(stored["citations"])})


FeedbackRating = Literal["up", "down"]
FeedbackReason = Literal[
    "wrong", "incomplete", "off_topic", "wrong_source", "outdated", "unclear", "not_answered", "other"
]
"""Why an answer was rated as it was: it is wrong, incomplete, or about something else; its citation does not show what
it says; it is outdated; it is hard to read; or it is a refusal although the documents have the answer."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the asker thought of an answer. `updated_at` is ISO 8601 in UTC."""

    rating: FeedbackRating
    reason: FeedbackReason | None = None
    comment: str = ""
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One stored turn of a conversation; `created_at` is ISO 8601 in UTC. The role "agent" is a person's answer."""

    message_id: str
    role: MessageRole
    content: str
    created_at: str
    citations: Sequence[Citation] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    claims: Sequence[AnswerClaim] = ()
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages. `summary` covers the first `summarized` messages; empty if there is none."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int
    summary: str = ""
    summarized: int = 0


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message, the conversation that it stands in and, of an answer, the question as it was typed."""

    conversation_id: str
    message: Message
    asked: str = ""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A question that was refused, or whose answer was rated badly; without its user.

    `question_id` is the id of the message that did not answer, `space` the embedding space of `vector`. `nearest` are
    the ids and relevances of the nearest passages. An empty `refusal` means that there was an answer. It is deleted at
    `expires_at` (epoch seconds).
    """

    question_id: str
    question: str
    asked_at: str
    language: str
    space: str
    vector: Sequence[float]
    refusal: str = ""
    nearest: Sequence[tuple[str, float]] = ()
    expires_at: int = 0


HandoffStatus = Literal["open", "claimed", "resolved", "closed"]
"""Where a hand-off is: nobody has it, an agent has it, a person has answered, or it was ended without an answer."""
Publication = Literal["", "requested", "published"]
"""Whether a person's answer is one of the documents, or waits for an editor's approval to become one."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """A question that a person is asked to answer. `user` asked; `claimed_by` is the agent who has it or answered it.

    `message_id` is the answer that did not help, `near_misses` are the ids and relevances of the passages nearest to
    the question. `revision` counts changes, for optimistic locking. `notified`: the event was sent.
    """

    tenant: str
    handoff_id: str
    conversation_id: str
    user: str
    created_at: str
    updated_at: str
    status: HandoffStatus = "open"
    reason: str = ""
    contact: str = ""
    question: str = ""
    message_id: str = ""
    refusal: str = ""
    near_misses: Sequence[tuple[str, float]] = ()
    claimed_by: str = ""
    answer: str = ""
    publication: Publication = ""
    notified: bool = False
    revision: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it still waits for an answer."""
        return self.status in {"open", "claimed"}


TENANT = r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}"
"""What a tenant's name looks like, as a pattern: it is a namespace of Pinecone's and part of every object's key."""

UserRole = Literal["reader", "editor", "agent", "admin"]
ROLES: tuple[UserRole, ...] = get_args(UserRole)
"""The names of the Cognito groups that mean something to the API."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated user, taken only from verified token claims. Roles are among the `groups`."""

    tenant: str
    user: str
    groups: frozenset[str] = frozenset()
