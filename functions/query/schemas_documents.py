"""What goes over the wire about conversations, documents and the service itself."""

import json
from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, Field

from functions.query.schemas import Body, CitationOut
from shared.models import Conversation, Document, Message, PageReport

MOST_PAGE_BYTES = 5_000_000
"""Of pages in one answer. Lambda's answers hold 6 MB at most, counted when the body is a string within JSON."""


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
    doubtful: float = Field(description="Share of the text that a second look would doubt: glued, wrongly decoded.")
    pictured: float = Field(description="Share of the page that pictures cover.")
    text_layer: bool = Field(description="Whether the page holds any text, seen or hidden.")


class DocumentOut(BaseModel):
    """A document's status."""

    document_id: str
    key: str
    title: str
    language: str
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
        """Show a document with its report; the last pages are left out where they would be too much for an answer."""
        return cls(**DocumentOut.of(document).model_dump(), pages=_fitting(document.report))


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


def _fitting(report: Iterable[PageReport]) -> list[PageOut]:
    pages: list[PageOut] = []
    room = MOST_PAGE_BYTES
    for each in report:
        page = PageOut.model_validate(each, from_attributes=True)
        room -= len(json.dumps(page.model_dump_json(), ensure_ascii=False).encode())
        if room < 0:
            break
        pages.append(page)
    return pages
