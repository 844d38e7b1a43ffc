"""The values Recto speaks in, named as the field names them.

Everything here is a frozen dataclass: a pipeline step takes values and returns values.
Units stand last in a name (`_s`, `_tokens`, `_bytes`).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

MetadataValue = str | int | float | bool | list[str]
"""What a vector database keeps beside a vector: strings, numbers, booleans and lists of strings."""

Filter = Mapping[str, object]
"""A metadata filter in Pinecone's language, for example `{"language": {"$eq": "en"}}`."""


class SourceType(StrEnum):
    """Where a chunk came from; the value is stored as vector metadata and can be filtered on."""

    PDF = "pdf"
    FAQ = "faq"
    RESOLVED_QUERY = "resolved_query"
    KNOWLEDGE = "knowledge"


class DocumentStatus(StrEnum):
    """What a client may rely on about a document.

    PENDING: an upload was promised or announced; nothing has been read yet.
    PROCESSING: an ingest holds the lease. A former generation, if there is one, is still answered from.
    READY: every page with text can be found. PARTIAL: some pages can, the report says which cannot.
    NEEDS_OCR: the pages are pictures of text. ENCRYPTED: a password is needed. FAILED: see `error`.
    DELETING: no longer answered from; object and vectors are on their way out. DELETED: a tombstone.
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
        """Whether an ingest ends with it: the object was read, or will never be."""
        return self.value in {"READY", "PARTIAL", "NEEDS_OCR", "ENCRYPTED", "FAILED"}


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Which vectors may be compared: the model and the number of dimensions."""

    model: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.model}@{self.dimensions}"


def document_id_of(tenant: str, key: str) -> str:
    """Name a document for good: the same tenant and key always give the same 32 hex digits.

    SHA-256, because ids are compared across processes and years (Python's `hash()` is salted per process).
    """
    return hashlib.sha256(f"{tenant}\0{key}".encode()).hexdigest()[:32]


def content_hash_of(text: str) -> str:
    """Fingerprint a text: 32 hex digits of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


FIRST_INDEX_VERSION = 1
"""Number of the index version every tenant begins with."""


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One whole index of a tenant's documents: a namespace of one Pinecone index, embedded in one space.

    The bucket is the truth and an index version shows it; a re-index makes a second index version beside the first.
    Numbers count from `FIRST_INDEX_VERSION` and are never used twice by one tenant.
    """

    number: int
    namespace: str
    index: str
    space: EmbeddingSpace

    @property
    def location(self) -> tuple[str, EmbeddingSpace]:
        """The index and the embedding space; index versions that share both differ by their namespaces alone."""
        return self.index, self.space


def namespace_of(tenant: str, index_version_number: int) -> str:
    """Name an index version's namespace: the tenant's own name for the first one; `~` occurs in no tenant's name."""
    return tenant if index_version_number == FIRST_INDEX_VERSION else f"{tenant}~{index_version_number}"


def generation_in(index_version_number: int, unique_id: str) -> str:
    """Name a generation, so that its name alone tells in which index version its vectors lie."""
    return unique_id if index_version_number == FIRST_INDEX_VERSION else f"{unique_id}~{index_version_number}"


def index_version_number_of(generation: str) -> int:
    """Tell in which index version a generation's vectors lie."""
    _, separator, number = generation.rpartition("~")
    return int(number) if separator and number.isdecimal() else FIRST_INDEX_VERSION


class Published(NamedTuple):
    """What of a document is published in one index version: a generation of so many chunks, made from one version."""

    generation: str
    version_id: str
    settings_hash: str
    embedding_space: str
    chunk_count: int


def vector_id_of(document_id: str, generation: str, chunk_index: int) -> str:
    """Name a vector: `{document_id}#{generation}#{index}`, so that a prefix lists one generation of one document."""
    return f"{document_id}#{generation}#{chunk_index}"


def generation_named_by(vector_id: str) -> tuple[str, str]:
    """Read document and generation out of a vector's name; both empty where it is not one of ours."""
    document_id, _, rest = vector_id.partition("#")
    generation, separator, _ = rest.partition("#")
    return (document_id, generation) if separator else ("", "")


# --- What ingest makes ---


PageState = Literal["text", "empty", "scanned", "garbled", "hidden", "failed"]


@dataclass(frozen=True, slots=True)
class PageReport:
    """What was found on one page, so that a status can be derived and a person can see why.

    `doubtful` is the share of the text that may be wrong (words glued together, glyphs wrongly decoded), `pictured` the
    share of the page that pictures cover, `text_layer` whether there is any text in the file, seen or hidden.
    """

    number: int
    characters: int
    state: PageState = "text"
    detail: str = ""
    seconds: float = 0.0
    doubtful: float = 0.0
    pictured: float = 0.0
    text_layer: bool = True


@dataclass(frozen=True, slots=True)
class Block:
    """A span of a page's cleaned text with a shape of its own; `char_start`/`char_end` count in that page's text.

    For a `heading`, `section` is the whole path that begins here ("2 Scope > 2.1 Terms"). For a `table`, `header` is
    its header row, repeated before the embedded text when the table has to be split.
    """

    kind: Literal["heading", "paragraph", "list_item", "table", "code"]
    char_start: int
    char_end: int
    section: str = ""
    header: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The cleaned, reflowed text of one page: paragraphs apart by a blank line, list items, rows and code line by line.

    `number` counts from 1; `label` is the printed one ("iv", "A-3") if known. `continues` says that the first paragraph
    goes on from the page before.
    """

    number: int
    text: str
    label: str = ""
    blocks: Sequence[Block] = ()
    continues: bool = False


def page_separator(page: Page) -> str:
    """Return what stands between `page` and the one before it in the document's cleaned text.

    A newline where a paragraph runs on, else a blank line. Character positions of chunks and citations count in the
    pages' texts joined in this way.
    """
    return "\n" if page.continues else "\n\n"


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins in the document's cleaned text. As vector metadata: `"{number}|{char_start}|{label}"`."""

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
    """Where a section begins in the document's cleaned text. As vector metadata: `"{char_start}|{path}"`."""

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
    """A run of cleaned text small enough to embed.

    `char_start` and `char_end` count Unicode code points in the document's cleaned text (pages joined as
    `page_separator` says); `text == cleaned[char_start:char_end]` always holds. Pages count from 1, both ends included;
    `pages` says where in the cleaned text each of them begins, and `sections` the same of each section that the chunk
    holds a part of, so that a quote inside the chunk gets its very page and section.
    `embedded_text` is what the model sees: title and section path stand before the text.
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


class SparseVector(NamedTuple):
    """A sparse vector in Pinecone's form: indices (unsigned 32 bits, ascending, no repeats) and their values."""

    indices: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """One vector to be written: id, values (unit length), metadata, and optionally a sparse part."""

    id: str
    values: Sequence[float]
    metadata: Mapping[str, MetadataValue]
    sparse: SparseVector | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One hit of a vector search. `score` is the dense similarity; of a hybrid search, the sum of both parts."""

    id: str
    score: float
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a model call was billed for."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of one request, in the order of its inputs, and what they cost."""

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
    content_type: str = ""
    last_modified: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentError:
    """Why a document is not READY: a stable code, and a sentence a person understands and can act on."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """The registry's truth about one object of the bucket.

    `generation` names the published set of vectors; empty means that nothing of this document may be answered from.
    It is that of the tenant's current index version; `index_versions` has what is published in each index version, by
    its number.
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
    labels: Mapping[str, str] = field(default_factory=dict)
    created_at: str = ""
    updated_at: str = ""
    index_versions: Mapping[int, Published] = field(default_factory=dict)

    def as_published(self) -> Published:
        """Return what the registry keeps of this document for the index version it is published in."""
        return Published(self.generation, self.version_id, self.settings_hash, self.embedding_space, self.chunk_count)


# --- Conversations and answers ---

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message as a chat model takes it."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a chat model returned. `finish_reason` is the provider's word ("stop", "length")."""

    text: str
    finish_reason: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of one claim: where it stands, and the words, re-checked against the stored text.

    `quote == stored_text[char_start - chunk.char_start : char_end - chunk.char_start]`: positions count in the
    document's cleaned text. `score` is the cosine similarity of the cited chunk to the question.
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
    score: float


@dataclass(frozen=True, slots=True)
class Message:
    """One stored turn of a conversation; `created_at` is ISO 8601 in UTC."""

    message_id: str
    role: Role
    content: str
    created_at: str
    citations: Sequence[Citation] = ()
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The head of a conversation; its messages are items of their own.

    `summary` tells the first `summarized` messages in a few sentences; empty while there is none.
    """

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int
    summary: str = ""
    summarized: int = 0


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking, taken from verified claims and from nowhere else."""

    tenant: str
    user: str
    groups: frozenset[str] = frozenset()
