"""`/handoffs`: questions that a person answers. Anyone may ask for one; agents claim, answer or close it."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from functions.query import handoffs
from functions.query.api.dependencies import ConversationIdDep, PrincipalDep, ServicesDep
from functions.query.api.faqs import Answer, FaqLanguage, Question
from functions.query.api.openapi import errors
from functions.query.api.roles import ADMINS, AGENTS, EDITORS, roles_of
from functions.query.api.schemas import ULID, Body, Out
from functions.query.bootstrap import Services
from functions.query.faqs import Pair
from functions.query.readable import OUTSIDER
from functions.query.unanswered import mark_answered
from functions.query.withholding import readable_messages
from shared.errors import Conflict, NotAllowed, NotFound
from shared.models import Handoff, HandoffStatus, Principal, document_id_of

router = APIRouter(tags=["handoffs"])


class HandoffBody(Body):
    """`POST /conversations/{conversation_id}/handoff`."""

    reason: Annotated[str, StringConstraints(max_length=1_000)] = Field("", description="Why a person is needed.")
    contact: Annotated[str, StringConstraints(max_length=200)] = Field("", description="How the person may reach you.")


class ResolveBody(Body):
    """`POST /handoffs/{handoff_id}/resolve`."""

    answer: Answer = Field(description="The answer that the asker gets in their conversation.")
    publish: bool = Field(False, description="Use it for other users' questions, too, once an editor has approved it.")


class PublishBody(Body):
    """`POST /handoffs/{handoff_id}/publish`: what is published; empty: the question and the answer as they are."""

    question: Question | None = None
    answer: Answer | None = None
    language: FaqLanguage = ""


class NearPassageOut(Out):
    """A passage near the question that did not answer it."""

    chunk_id: str
    document_id: str
    title: str
    relevance: float


class HandoffOut(Out):
    """A hand-off as the asker and the list show it."""

    handoff_id: str
    conversation_id: str
    status: HandoffStatus
    reason: str
    question: str = Field(description="The last question of the conversation when a person was asked for.")
    refusal: str = Field(description="Which step found nothing (see `/query`); empty if there was an answer.")
    created_at: str
    updated_at: str
    claimed_by: str = Field(description="The agent who has it, or answered it.")
    answer: str
    publication: Literal["", "requested", "published"] = Field(
        description="Whether the answer waits for an editor's approval, or is one of the documents."
    )
    document_id: str = Field(description="The id of the published answer among the documents; empty if it is not.")
    notified: bool = Field(description="Whether the event was sent. If not, asking again sends it again.")

    @classmethod
    def of(cls, handoff: Handoff) -> "HandoffOut":
        """Return a hand-off as the API shows it."""
        return cls(**_values(handoff))


class SaidOut(Out):
    """A message of the transcript."""

    role: str
    content: str
    created_at: str


class HandoffDetailOut(HandoffOut):
    """A hand-off with what an agent needs; an editor who is not an agent sees neither contact nor transcript."""

    contact: str
    near_misses: list[NearPassageOut]
    transcript: list[SaidOut] = Field(description="The conversation's last 50 messages; empty if it was erased.")


class HandoffListOut(Out):
    """One page of a listing, the oldest first; an empty `next_cursor` ends it."""

    handoffs: list[HandoffOut]
    next_cursor: str


async def _handoff_id(handoff_id: str) -> str:
    if not re.fullmatch(ULID, handoff_id):
        raise NotFound("There is no such hand-off.")
    return handoff_id


OPEN_ALREADY: dict[int | str, dict[str, Any]] = {
    200: {"model": HandoffOut, "description": "The hand-off that is open already."}
}
HandoffIdDep = Annotated[str, Depends(_handoff_id)]


@router.post(
    "/conversations/{conversation_id}/handoff",
    status_code=201,
    operation_id="openHandoff",
    responses=OPEN_ALREADY | errors(409),
)
def open_handoff(
    conversation_id: ConversationIdDep,
    body: HandoffBody,
    principal: PrincipalDep,
    services: ServicesDep,
    response: Response,
) -> HandoffOut:
    """Ask a person to answer. Asking again returns the same hand-off (200) for as long as it is open."""
    if not services.settings.handoff_offer:
        raise NotAllowed("Nobody answers questions here: HandoffOffer is off.")
    address = principal.tenant, principal.user, conversation_id
    conversation = services.conversations.get(*address)
    if conversation is None:
        raise NotFound("There is no such conversation.")
    messages = services.conversations.recent_messages(*address, limit=handoffs.TRANSCRIPT_MESSAGES)
    asked = handoffs.question_of(messages)
    now = services.clock.now().isoformat(timespec="milliseconds")
    new = Handoff(
        principal.tenant,
        services.new_id(),
        conversation_id,
        principal.user,
        created_at=now,
        updated_at=now,
        reason=body.reason,
        contact=body.contact,
        question=asked.question,
        message_id=asked.message_id,
        refusal=asked.refusal,
        near_misses=asked.near_misses,
    )
    handoff = services.handoffs.open(new)
    if handoff.handoff_id != new.handoff_id:
        response.status_code = 200
    if not handoff.notified:
        # It is not known here who gets the event, so it holds only what everybody in the tenant may read.
        outside = services.registry.for_reader(OUTSIDER)
        near = handoffs.near_passages(handoff.tenant, handoff.near_misses, outside)
        messages = readable_messages(handoff.tenant, messages, outside)
        omitted = max(0, conversation.message_count - len(messages))
        detail = handoffs.detail_of(handoff, messages, omitted, near)
        handoff = handoffs.notify(handoff, detail, services.events, services.handoffs)
    return HandoffOut.of(handoff)


@router.get("/handoffs", operation_id="listHandoffs")
def list_handoffs(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str, Query(pattern=rf"{ULID}|^$")] = "",
    status: HandoffStatus | None = None,
) -> HandoffListOut:
    """List the tenant's hand-offs, the oldest first."""
    found, following = services.handoffs.list(principal.tenant, limit=limit, cursor=cursor, status=status)
    return HandoffListOut(handoffs=list(map(HandoffOut.of, found)), next_cursor=following)


@router.get("/handoffs/{handoff_id}", operation_id="readHandoff")
def read_handoff(principal: PrincipalDep, handoff_id: HandoffIdDep, services: ServicesDep) -> HandoffDetailOut:
    """Return a hand-off with its near misses and, for agents, the conversation as it is now."""
    handoff = services.handoffs.get(principal.tenant, handoff_id)
    if handoff is None:
        raise NotFound("There is no such hand-off.")
    near = handoffs.near_passages(handoff.tenant, handoff.near_misses, services.registry)
    is_agent = bool(roles_of(principal.groups) & AGENTS)
    return HandoffDetailOut(
        **_values(handoff),
        contact=handoff.contact if is_agent else "",
        near_misses=[NearPassageOut.model_validate(each) for each in near],
        transcript=_transcript(handoff, services) if is_agent else [],
    )


@router.post("/handoffs/{handoff_id}/claim", operation_id="claimHandoff", responses=errors(409))
def claim_handoff(principal: PrincipalDep, handoff_id: HandoffIdDep, services: ServicesDep) -> HandoffOut:
    """Take a hand-off. If two agents try at once, one gets it and the other a 409."""
    return _changed(handoff_id, lambda each: handoffs.claim(each, principal.user), principal, services)


@router.post("/handoffs/{handoff_id}/release", operation_id="releaseHandoff", responses=errors(409))
def release_handoff(principal: PrincipalDep, handoff_id: HandoffIdDep, services: ServicesDep) -> HandoffOut:
    """Give a hand-off back to the others; an administrator may take it from any agent."""
    is_admin = _is_admin(principal)
    return _changed(
        handoff_id, lambda each: handoffs.release(each, principal.user, is_admin=is_admin), principal, services
    )


@router.post("/handoffs/{handoff_id}/resolve", operation_id="resolveHandoff", responses=errors(409))
def resolve_handoff(
    principal: PrincipalDep, handoff_id: HandoffIdDep, body: ResolveBody, services: ServicesDep
) -> HandoffOut:
    """Answer a hand-off that you have claimed; sending this again changes nothing.

    The answer becomes a message of the asker's conversation. With `publish` it also becomes a document: at once if you
    are an editor, else when one approves.
    """
    resolved = handoffs.changed(
        principal.tenant,
        handoff_id,
        lambda each: handoffs.resolve(each, principal.user, body.answer, publish=body.publish),
        services.handoffs,
        services.clock,
        new_id=services.new_id,
    )
    if resolved.publication == "requested" and _is_editor(principal):
        return _published(resolved, Pair(resolved.question, resolved.answer), principal, services)
    return HandoffOut.of(resolved)


@router.post("/handoffs/{handoff_id}/close", operation_id="closeHandoff", responses=errors(409))
def close_handoff(principal: PrincipalDep, handoff_id: HandoffIdDep, services: ServicesDep) -> HandoffOut:
    """End a hand-off without an answer."""
    is_admin = _is_admin(principal)
    return _changed(
        handoff_id, lambda each: handoffs.close(each, principal.user, is_admin=is_admin), principal, services
    )


@router.post("/handoffs/{handoff_id}/publish", operation_id="publishHandoff", responses=errors(409))
def publish_handoff(
    principal: PrincipalDep, handoff_id: HandoffIdDep, body: PublishBody, services: ServicesDep
) -> HandoffOut:
    """Approve an answer: it becomes a document, as it is or as the body has it, and answers the same question.

    Publishing again replaces it; `DELETE /documents/{document_id}` takes it back.
    """
    handoff = services.handoffs.get(principal.tenant, handoff_id)
    if handoff is None:
        raise NotFound("There is no such hand-off.")
    if handoff.status != "resolved":
        raise Conflict("Only an answer can be published: this hand-off has none.")
    pair = Pair(body.question or handoff.question, body.answer or handoff.answer, body.language)
    return _published(handoff, pair, principal, services)


def _values(handoff: Handoff) -> dict[str, Any]:
    is_published = handoff.publication == "published"
    document_id = document_id_of(handoff.tenant, handoffs.key_of(handoff)) if is_published else ""
    known = {name: getattr(handoff, name) for name in HandoffOut.model_fields if hasattr(handoff, name)}
    return known | {"document_id": document_id}


def _changed(
    handoff_id: str, change: Callable[[Handoff], Handoff], principal: Principal, services: Services
) -> HandoffOut:
    after = handoffs.changed(principal.tenant, handoff_id, change, services.handoffs, services.clock)
    return HandoffOut.of(after)


def _published(handoff: Handoff, pair: Pair, principal: Principal, services: Services) -> HandoffOut:
    """Write the object first: a hand-off is published only once its document is there."""
    handoffs.publish(handoff, pair, services.objects)
    if handoff.message_id:
        mark_answered(handoff.tenant, [handoff.message_id], handoff.handoff_id, services.unanswered, services.clock)
    return _changed(handoff.handoff_id, handoffs.published, principal, services)


def _transcript(handoff: Handoff, services: Services) -> list[SaidOut]:
    try:
        messages = services.conversations.recent_messages(
            handoff.tenant, handoff.user, handoff.conversation_id, limit=handoffs.TRANSCRIPT_MESSAGES
        )
    except NotFound:
        return []
    shown = readable_messages(handoff.tenant, messages, services.registry)
    return [SaidOut.model_validate(message) for message in shown]


def _is_admin(principal: Principal) -> bool:
    return bool(roles_of(principal.groups) & ADMINS)


def _is_editor(principal: Principal) -> bool:
    return bool(roles_of(principal.groups) & EDITORS)
