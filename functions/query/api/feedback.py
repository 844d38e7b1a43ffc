"""`/messages/{id}/feedback`: the asker's rating of an answer; `/feedback`: all ratings, for editors."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from typing import Annotated, Any

from aws_lambda_powertools.metrics import MetricUnit
from fastapi import APIRouter, Query
from pydantic import AwareDatetime, Field

from functions.query.api.dependencies import MessageIdDep, PrincipalDep, ServicesDep
from functions.query.api.middleware import in_a_thread
from functions.query.api.schemas import BandOut, Body, CitationOut, ClaimOut, Cursor, FeedbackOut, Out
from functions.query.bootstrap import Services
from functions.query.withholding import unreadable_messages, withheld
from shared.errors import InvalidRequest, NotFound
from shared.models import Feedback, FeedbackRating, FeedbackReason, FoundMessage, Principal
from shared.telemetry import logger, metrics

router = APIRouter(tags=["conversations"])

MAX_COMMENT = 2_000
NO_MESSAGE = "There is no such message."


class FeedbackBody(Body):
    """`PUT /messages/{message_id}/feedback`."""

    rating: FeedbackRating
    reason: FeedbackReason | None = None
    comment: str = Field("", max_length=MAX_COMMENT)


class RatedSourceOut(Out):
    """A passage that the rated answer was made from."""

    chunk_id: str
    key: str = ""
    page_start: int = 0
    page_end: int = 0
    score: float = 0.0
    band: BandOut = "none"


class RatedAnswerOut(Out):
    """Feedback with the question, the answer, and what had been retrieved for it."""

    message_id: str
    conversation_id: str
    feedback: FeedbackOut
    question: str = Field(description="As it was typed.")
    rewritten: str | None = Field(description="The question that was searched for, if it differs from the typed one.")
    asked_at: str
    answer: str
    mode: str
    refusal: str | None = Field(description="Which step found nothing, if it is a refusal.")
    citations: list[CitationOut]
    claims: list[ClaimOut]
    sources: list[RatedSourceOut]
    near_misses: list[str] = Field(description="Ids of a refusal's nearest passages.")
    band: BandOut
    confidence: float | None
    best_score: float | None
    relevance: float
    threshold: float
    model: str
    prompt_version: str

    @classmethod
    def of(cls, found: FoundMessage) -> "RatedAnswerOut":
        """Return a rated answer as editors see it. Answers of earlier releases lack some details."""
        message, details = found.message, found.message.details
        known: Mapping[str, Any] = {name: details.get(name) for name in cls.model_fields}
        empty = {"mode": "", "band": "none", "relevance": 0.0, "threshold": 0.0, "model": "", "prompt_version": ""}
        sources = details.get("sources")
        misses = details.get("near_misses")
        return cls.model_validate(
            empty
            | {name: value for name, value in known.items() if value is not None}
            | {
                "message_id": message.message_id,
                "conversation_id": found.conversation_id,
                "feedback": message.feedback,
                "question": found.asked,
                "rewritten": known["rewritten"] or None,
                "refusal": known["refusal"],
                "asked_at": message.created_at,
                "answer": message.content,
                "citations": message.citations,
                "claims": message.claims,
                "sources": [each if isinstance(each, dict) else {"chunk_id": each} for each in _list(sources)],
                "near_misses": [each[0] for each in _list(misses)],
                "confidence": known["confidence"],
                "best_score": known["best_score"],
            }
        )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


class FeedbackListOut(Out):
    """One page of a listing; an empty `next_cursor` ends it."""

    feedback: list[RatedAnswerOut]
    next_cursor: str


@router.put("/messages/{message_id}/feedback", operation_id="giveFeedback")
async def give_feedback(
    body: FeedbackBody, principal: PrincipalDep, message_id: MessageIdDep, services: ServicesDep
) -> FeedbackOut:
    """Rate an answer that you were given; the latest rating counts. The tenant's editors see it without your name."""
    now = services.clock.now().isoformat(timespec="milliseconds")
    feedback = Feedback(body.rating, body.reason, body.comment, now)

    def put() -> None:
        found = _answer(principal, message_id, services)
        if not services.feedback.put(principal.tenant, principal.user, found, feedback):
            raise NotFound(NO_MESSAGE)

    await in_a_thread(put)
    facts = {"rating": body.rating, "reason": body.reason, "comment_characters": len(body.comment)}
    logger.info("feedback given", extra={"tenant": principal.tenant, "message_id": message_id, **facts})
    metrics.add_metric(name=f"Feedback{body.rating.capitalize()}", unit=MetricUnit.Count, value=1)
    return FeedbackOut.model_validate(feedback)


@router.delete("/messages/{message_id}/feedback", status_code=204, operation_id="withdrawFeedback")
def withdraw_feedback(principal: PrincipalDep, message_id: MessageIdDep, services: ServicesDep) -> None:
    """Take back your rating of an answer; nothing happens if there is none."""
    found = _answer(principal, message_id, services)
    if not services.feedback.remove(principal.tenant, principal.user, found):
        raise NotFound(NO_MESSAGE)


@router.get("/feedback", operation_id="listFeedback")
def list_feedback(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Cursor = "",
    rating: FeedbackRating | None = None,
    since: Annotated[AwareDatetime | None, Query(description="Given then or later; ISO 8601 with a zone.")] = None,
) -> FeedbackListOut:
    """List the feedback of the tenant's users with questions, answers and what was retrieved, the latest first.

    It is a snapshot of each answer as it was given, so that it can be evaluated later (`python -m evals`). Answers made
    from documents that you may not read are listed without their text.
    """
    found, following = services.feedback.given(
        principal.tenant, limit=limit, cursor=cursor, rating=rating or "", since=since and since.astimezone(UTC)
    )
    hidden = unreadable_messages(principal.tenant, [each.message for each in found], services.registry)
    shown = [
        replace(each, message=withheld(each.message)) if each.message.message_id in hidden else each for each in found
    ]
    return FeedbackListOut(feedback=list(map(RatedAnswerOut.of, shown)), next_cursor=following)


def _answer(principal: Principal, message_id: str, services: Services) -> FoundMessage:
    found = services.conversations.find_message(principal.tenant, principal.user, message_id)
    if found is None:
        raise NotFound(NO_MESSAGE)
    if found.message.role != "assistant":
        raise InvalidRequest("Only answers take feedback; this message is a question.")
    return found
