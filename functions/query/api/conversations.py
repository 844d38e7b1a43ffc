"""`GET /conversations/{id}`: read a conversation."""

from typing import Annotated

from fastapi import APIRouter, Query

from functions.query.api.dependencies import ConversationIdDep, PrincipalDep, ServicesDep
from functions.query.api.schemas import ConversationOut
from shared.errors import NotFound

router = APIRouter()


@router.get("/conversations/{conversation_id}")
def read_conversation(
    principal: PrincipalDep,
    conversation_id: ConversationIdDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str = "",
) -> ConversationOut:
    """Return one of the user's conversations, oldest message first; another user's is a 404."""
    address = principal.tenant, principal.user, conversation_id
    conversation = services.conversations.get(*address)
    if conversation is None:
        raise NotFound("There is no such conversation.")
    messages, next_cursor = services.conversations.messages(*address, limit=limit, cursor=cursor)
    return ConversationOut.of(conversation, messages, next_cursor)
