"""What goes over the wire, in and out."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from functions.query.passages import Passage
from functions.query.pipeline import Answer
from shared.models import Citation, Conversation, Document, Message

Ulid = Annotated[str, StringConstraints(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$")]


class Body(BaseModel):
    """A request body: a field nobody knows is an error, not silence."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class QueryBody(Body):
    """`POST /query`."""

    question: str = Field(min_length=1, description="The question, in any language.")
    conversation_id: Ulid | None = Field(None, description="Continue this conversation; absent starts one.")
    top_k: int | None = Field(None, ge=1, le=50, description="Passages to answer from at most.")
    filter: dict[str, object] | None = Field(None, description="Metadata filter in Pinecone's language.")
    language: str | None = Field(
        None, pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", description="Answer language."
    )


class CitationOut(BaseModel):
    """A quote and where it stands."""

    n: int
    document_id: str
    title: str
    source_type: str
    page_start: int
    page_end: int
    page_label: str
    section: str
    quote: str
    char_start: int
    char_end: int
    score: float

    @classmethod
    def of(cls, citation: Citation) -> "CitationOut":
        """Show a citation."""
        return cls.model_validate(citation, from_attributes=True)


class SourceOut(BaseModel):
    """A passage the answer was made from."""

    chunk_id: str
    document_id: str
    title: str
    section: str
    page_start: int
    page_end: int
    page_label: str
    score: float

    @classmethod
    def of(cls, passage: Passage) -> "SourceOut":
        """Show a passage, without its text."""
        return cls.model_validate(passage, from_attributes=True)


class UsageOut(BaseModel):
    """Tokens billed for this request."""

    input_tokens: int
    output_tokens: int


class QueryOut(BaseModel):
    """The answer with its proof."""

    answer: str
    mode: Literal["generated", "extractive", "refused"]
    no_relevant_info: bool
    handoff_offered: bool
    citations: list[CitationOut]
    sources: list[SourceOut]
    conversation_id: str
    message_id: str
    best_score: float | None = Field(description="Cosine similarity of the best passage; null when there was none.")
    threshold: float = Field(description="Under this nothing is answered.")
    dropped_citations: int = Field(description="Citations the model made that did not hold and were taken out.")
    model: str
    usage: UsageOut
    warnings: list[str]
    timings_ms: dict[str, float]

    @classmethod
    def of(cls, answer: Answer) -> "QueryOut":
        """Show an answer."""
        return cls(
            answer=answer.text,
            mode=answer.mode,
            no_relevant_info=answer.no_relevant_info,
            handoff_offered=answer.no_relevant_info,
            citations=[CitationOut.of(citation) for citation in answer.citations],
            sources=[SourceOut.of(source) for source in answer.sources],
            conversation_id=answer.conversation_id,
            message_id=answer.message_id,
            best_score=None if answer.best_score is None else round(answer.best_score, 4),
            threshold=answer.threshold,
            dropped_citations=answer.dropped_citations,
            model=answer.model,
            usage=UsageOut.model_validate(answer.usage, from_attributes=True),
            warnings=list(answer.warnings),
            timings_ms=dict(answer.timings_ms),
        )


class MessageOut(BaseModel):
    """One turn."""

    message_id: str
    role: str
    content: str
    created_at: str
    citations: list[CitationOut]

    @classmethod
    def of(cls, message: Message) -> "MessageOut":
        """Show a stored turn."""
        return cls(
            message_id=message.message_id,
            role=message.role,
            content=message.content,
            created_at=message.created_at,
            citations=[CitationOut.of(citation) for citation in message.citations],
        )


class ConversationOut(BaseModel):
    """A conversation with one page of its messages."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int
    messages: list[MessageOut]
    next_cursor: str

    @classmethod
    def of(cls, conversation: Conversation, messages: list[MessageOut], next_cursor: str) -> "ConversationOut":
        """Show a conversation."""
        return cls(
            conversation_id=conversation.conversation_id,
            title=conversation.title,
            created_at=conversation.created_at,
            updated_at=conversation.updated_at,
            message_count=conversation.message_count,
            messages=messages,
            next_cursor=next_cursor,
        )


class UploadBody(Body):
    """`POST /documents`."""

    filename: str = Field(min_length=1, max_length=512, description="Path of the PDF below your uploads, with folders.")


class UploadForm(BaseModel):
    """A form to post the file with: the fields first, the file last, under the name `file`."""

    url: str
    fields: dict[str, str]
    expires_in_s: int
    max_bytes: int


class UploadOut(BaseModel):
    """Where to send the file, and under which id to ask for its status."""

    document_id: str
    key: str
    status: str
    upload: UploadForm


class ErrorOut(BaseModel):
    """Why a document is not READY."""

    code: str
    message: str


class PageOut(BaseModel):
    """What was found on a page."""

    number: int
    characters: int
    state: str
    detail: str
    seconds: float


class DocumentOut(BaseModel):
    """A document's status."""

    document_id: str
    key: str
    title: str
    status: str
    source_type: str
    page_count: int
    chunk_count: int
    token_count: int
    size_bytes: int
    etag: str
    error: ErrorOut | None
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, document: Document) -> "DocumentOut":
        """Show a document without its report."""
        return cls.model_validate(document, from_attributes=True)


class DocumentDetailOut(DocumentOut):
    """A document's status with its extraction report, page by page."""

    pages: list[PageOut]

    @classmethod
    def of(cls, document: Document) -> "DocumentDetailOut":
        """Show a document with its report."""
        pages = [PageOut.model_validate(page, from_attributes=True) for page in document.report]
        return cls(**DocumentOut.of(document).model_dump(), pages=pages)


class DocumentListOut(BaseModel):
    """One page of a listing; an empty `next_cursor` ends it."""

    documents: list[DocumentOut]
    next_cursor: str


class DeletedOut(BaseModel):
    """The document is no longer answered from; its object and vectors are on their way out."""

    document_id: str
    status: str


class HealthOut(BaseModel):
    """The function is up."""

    status: Literal["ok"]
    version: str
    embedding_space: str
    chat_model: str
