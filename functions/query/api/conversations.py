"""`GET /conversations/{id}`: read a conversation back."""

from typing import Annotated

from fastapi import APIRouter, Query

from functions.query.api.dependencies import ConversationId, Who, Wired
from functions.query.api.schemas import ConversationOut, MessageOut
from shared.errors import NotFound

router = APIRouter()


@router.get("/conversations/{conversation_id}")
def read_conversation(
    who: Who,
    conversation_id: ConversationId,
    wired: Wired,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str = "",
) -> ConversationOut:
    """Return a conversation of the asking user, oldest message first; anybody else's is 404."""
    conversation = wired.conversations.get(who.tenant, who.user, conversation_id)
    if conversation is None:
        raise NotFound("There is no such conversation.")
    messages, next_cursor = wired.conversations.messages(
        who.tenant, who.user, conversation_id, limit=limit, cursor=cursor
    )
    return ConversationOut.of(conversation, [MessageOut.of(message) for message in messages], next_cursor)
