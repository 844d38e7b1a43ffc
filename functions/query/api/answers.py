"""`POST /query`: one question, one answer; as JSON, or piece by piece as server-sent events."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from aws_lambda_powertools.metrics import MetricUnit
from fastapi import APIRouter, Request
from fastapi.responses import Response

from functions.query.answer import (
    Answer,
    AnswerEvent,
    CitationFound,
    Delta,
    Done,
    Question,
    SourcesFound,
    SupportFound,
    facts_of,
)
from functions.query.api.deadline_middleware import in_a_thread
from functions.query.api.dependencies import TimeLeft, Who, Wired
from functions.query.api.problems import problem_of
from functions.query.api.schemas import CitationOut, QueryBody, QueryOut, SourceOut, SupportOut
from functions.query.api.sse import MEDIA_TYPE, EventStream, Told
from functions.query.bootstrap import Services
from functions.query.pipeline import answer_events, answer_question
from shared.deadline import ClientDisconnected, Deadline
from shared.errors import InvalidRequest
from shared.models import Principal
from shared.telemetry import logger, metrics

# --- How the query line's events look on the wire ---


def told_of(event: AnswerEvent) -> Told:
    """Return the event's name and its data."""
    match event:
        case SourcesFound(sources, bands):
            return "sources", {"sources": [each.model_dump() for each in SourceOut.all_of(sources, bands)]}
        case Delta(text):
            return "delta", {"text": text}
        case CitationFound(citation):
            return "citation", CitationOut.of(citation).model_dump()
        case SupportFound(support, band, confidence):
            shown = SupportOut.model_validate(support, from_attributes=True).model_dump()
            return "support", {"support": shown, "band": band.value, "confidence": confidence}
        case Done(answer):
            return "done", QueryOut.of(answer).model_dump()


router = APIRouter()


@router.post(
    "/query",
    response_model=QueryOut,
    responses={
        200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}, "description": "The answer with its citations."}
    },
)
async def query(body: QueryBody, request: Request, who: Who, wired: Wired, deadline: TimeLeft) -> Response:
    """Answer one question from the tenant's documents; starts or continues a conversation.

    With `Accept: text/event-stream` the answer comes as events: `sources`, `delta`, `citation`, `support`, `done`
    (which holds all that the JSON answer would), or `error`.
    """
    limit = wired.settings.max_question_characters
    if len(body.question) > limit:
        raise InvalidRequest(f"The question has {len(body.question)} characters; at most {limit} are allowed.")
    question = body.asked()
    # In the loop's thread: metrics are counted and flushed there, and cannot bear a second one.
    loop = asyncio.get_running_loop()

    def report(answer: Answer) -> None:
        loop.call_soon_threadsafe(_report, answer)

    if _wants_events(request):
        return EventStream(
            lambda: _told(question, who, wired, deadline, report),
            deadline,
            lambda error: problem_of(request, error).body(request),
        )
    return await in_a_thread(partial(_answered, question, who, wired, deadline, report))


def _answered(
    question: Question, who: Principal, wired: Services, deadline: Deadline, report: Callable[[Answer], None]
) -> Response:
    try:
        answer = answer_question(question, who, wired.query_ports(who.tenant, deadline), deadline)
    except ClientDisconnected:
        return Response(status_code=204)  # told already that the time is up: this one is not sent
    report(answer)
    # Written here, because FastAPI would check once more what has just been checked.
    return Response(QueryOut.of(answer).model_dump_json(), media_type="application/json")


def _wants_events(request: Request) -> bool:
    accepted = (each.split(";")[0].strip() for each in request.headers.get("accept", "").split(","))
    return MEDIA_TYPE in accepted


def _told(
    question: Question, who: Principal, wired: Services, deadline: Deadline, report: Callable[[Answer], None]
) -> Iterator[Told]:
    for event in answer_events(question, who, wired.query_ports(who.tenant, deadline), deadline):
        if isinstance(event, Done):
            report(event.answer)
        yield told_of(event)


def _report(answer: Answer) -> None:
    logger.info(
        "answered",
        extra={
            **facts_of(answer),
            "citations": len(answer.citations),
            "dropped_citations": answer.dropped_citations,
            "embedding_cached": answer.embedding_cached,
            "warnings": list(answer.warnings),
            "timings_ms": dict(answer.timings_ms),
            "conversation_id": answer.conversation_id,
            "message_id": answer.message_id,
        },
    )
    metrics.add_metric(name=f"Answers{answer.mode.capitalize()}", unit=MetricUnit.Count, value=1)
    metrics.add_metric(name="AnswerCacheHits", unit=MetricUnit.Count, value=int(answer.cached))
    metrics.add_metric(name="EmbeddingCacheHits", unit=MetricUnit.Count, value=int(answer.embedding_cached))
    for stage, elapsed_ms in answer.timings_ms.items():
        metrics.add_metric(name=f"{stage.capitalize()}Time", unit=MetricUnit.Milliseconds, value=elapsed_ms)
