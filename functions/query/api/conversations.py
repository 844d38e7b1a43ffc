"""`/conversations`: list, read, rename, erase and export your own conversations, and ask in one."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import AfterValidator, Field

from functions.query.api.answers import STREAM, respond
from functions.query.api.dependencies import ConversationIdDep, DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.openapi import errors
from functions.query.api.schemas import NEXT_CURSOR, Body, ConversationOut, Cursor, MessageBody, Out, QueryOut
from functions.query.api.transcript import disposition_of, markdown_of
from functions.query.bootstrap import Services
from functions.query.understanding.question import normalized
from functions.query.withholding import readable_messages
from shared.errors import DependencyError, NotFound
from shared.models import Message, Principal
from shared.telemetry import logger

router = APIRouter(prefix="/conversations", tags=["conversations"])

NO_CONVERSATION = "There is no such conversation."
MARKDOWN = "text/markdown; charset=utf-8"
MAX_EXPORT_BYTES = 3_000_000
"""Bytes of messages after which an export ends. One page of DynamoDB more, 1 MB, and JSON's escapes: Lambda takes 6."""

EXPORT_PAGE = 200
"""Messages that an export reads at a time."""


def _title(text: str) -> str:
    title = normalized(text)
    if any(map(str.isalnum, title)):
        return title
    raise ValueError("must hold a letter or a digit")


class RenameBody(Body):
    """`PATCH /conversations/{conversation_id}`."""

    title: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_title)]


class ConversationHeadOut(Out):
    """A conversation without its messages."""

    conversation_id: str
    title: str = Field(description="Its first question, shortened, unless it was renamed.")
    created_at: str
    updated_at: str = Field(description="When it was last used: its last question. Renaming does not count.")
    message_count: int = Field(description="Questions and answers together.")


class ConversationListOut(Out):
    """One page of a listing; an empty `next_cursor` ends it."""

    conversations: list[ConversationHeadOut]
    next_cursor: str


@router.get("", operation_id="listConversations")
def list_conversations(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor = "",
    q: Annotated[str, Query(max_length=200, description="A run of words of the title, upper or lower case.")] = "",
) -> ConversationListOut:
    """List your own conversations, the last used first, page by page.

    All pages keep the order of the first one, whatever is used meanwhile. A question of a moment ago may be missing.
    """
    who = principal.tenant, principal.user
    if not cursor:
        with suppress(DependencyError):
            # These erasures were interrupted, perhaps without the user noticing.
            for conversation_id in services.conversations.unfinished_erasures(*who):
                services.conversations.erase(*who, conversation_id)
    found, following = services.conversations.recent(*who, limit=limit, cursor=cursor, title=q)
    return ConversationListOut(
        conversations=[ConversationHeadOut.model_validate(each) for each in found], next_cursor=following
    )


@router.get("/{conversation_id}", operation_id="readConversation")
def read_conversation(
    principal: PrincipalDep,
    conversation_id: ConversationIdDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor = "",
) -> ConversationOut:
    """Return one of your conversations, oldest message first; another user's is a 404."""
    return _read(principal, conversation_id, services, limit=limit, cursor=cursor, max_bytes=0)


@router.patch("/{conversation_id}", operation_id="renameConversation")
def rename_conversation(
    body: RenameBody, principal: PrincipalDep, conversation_id: ConversationIdDep, services: ServicesDep
) -> ConversationHeadOut:
    """Give a conversation another title. Its place in the list stays."""
    renamed = services.conversations.rename(principal.tenant, principal.user, conversation_id, body.title)
    if renamed is None:
        raise NotFound(NO_CONVERSATION)
    return ConversationHeadOut.model_validate(renamed)


@router.delete("/{conversation_id}", status_code=204, operation_id="deleteConversation")
def delete_conversation(principal: PrincipalDep, conversation_id: ConversationIdDep, services: ServicesDep) -> None:
    """Erase a conversation with its messages and their feedback; it is gone at once, and cannot come back.

    An answer that is being written meanwhile is still sent, with the warning `not_saved`. After an error, delete again.
    """
    if not services.conversations.erase(principal.tenant, principal.user, conversation_id):
        raise NotFound(NO_CONVERSATION)
    logger.info("conversation erased", extra={"tenant": principal.tenant, "conversation_id": conversation_id})


@router.post(
    "/{conversation_id}/messages",
    response_model=QueryOut,
    operation_id="askInConversation",
    responses=errors(409, 422),
    openapi_extra=STREAM,
)
async def ask_in_conversation(
    body: MessageBody,
    request: Request,
    principal: PrincipalDep,
    conversation_id: ConversationIdDep,
    services: ServicesDep,
    deadline: DeadlineDep,
) -> Response:
    """Ask a question in a conversation: as `POST /query` with its `conversation_id`, streaming included."""
    return await respond(body.to_question(conversation_id), request, principal, services, deadline)


@router.get(
    "/{conversation_id}/export",
    response_model=ConversationOut,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}, "example": "# The boilers\n"}}}},
    operation_id="exportConversation",
)
def export_conversation(
    principal: PrincipalDep,
    conversation_id: ConversationIdDep,
    services: ServicesDep,
    form: Annotated[Literal["markdown", "json"], Query(alias="format")] = "markdown",
    cursor: Cursor = "",
) -> Response:
    """Return a conversation as a file, with titles, pages, quotes and verdicts.

    A very long one (3 MB) comes in pages: if there are more, the header `X-Next-Cursor` and the file (at its end, or in
    `next_cursor`) say so.
    """
    shown = _read(principal, conversation_id, services, limit=EXPORT_PAGE, cursor=cursor, max_bytes=MAX_EXPORT_BYTES)
    text, media, ending = (
        (markdown_of(shown), MARKDOWN, "md")
        if form == "markdown"
        else (shown.model_dump_json(indent=2), "application/json", "json")
    )
    headers = {"Content-Disposition": disposition_of(shown.title, ending), "X-Content-Type-Options": "nosniff"}
    if shown.next_cursor:
        headers[NEXT_CURSOR] = shown.next_cursor
    return Response(text, media_type=media, headers=headers)


def _read(
    principal: Principal, conversation_id: str, services: Services, *, limit: int, cursor: str, max_bytes: int
) -> ConversationOut:
    """Read a page of `limit` messages, and further ones until they have `max_bytes`. Raises `NotFound`."""
    address = principal.tenant, principal.user, conversation_id
    conversation = services.conversations.get(*address)
    if conversation is None:
        raise NotFound(NO_CONVERSATION)
    messages: list[Message] = []
    size = 0
    while True:
        page, cursor = services.conversations.messages(*address, limit=limit, cursor=cursor)
        messages += page
        size += sum(len(repr(each).encode()) for each in page) if max_bytes else 0
        if not cursor or size >= max_bytes:
            break
    shown = readable_messages(principal.tenant, messages, services.registry)
    return ConversationOut.of(conversation, shown, cursor, _versions_cited(shown, principal, services))


def _versions_cited(
    messages: Sequence[Message], principal: Principal, services: Services
) -> Mapping[str, Collection[str]] | None:
    """Read which versions of the cited documents there are; None if the registry is down."""
    cited = {citation.document_id: None for message in messages for citation in message.citations}
    try:
        return services.registry.versions(principal.tenant, list(cited))
    except DependencyError:
        return None
