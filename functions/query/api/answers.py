"""`POST /query`: one question, one answer, as JSON or as server-sent events; `GET /conversations/{id}`: both, later."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Annotated

from aws_lambda_powertools.metrics import MetricUnit
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from functions.query.answer import Answer, AnswerEvent, CitationFound, Delta, Done, SourcesFound, SupportFound, facts_of
from functions.query.api.deadline_middleware import in_a_thread
from functions.query.api.dependencies import ConversationIdDep, DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.openapi import errors, event_stream
from functions.query.api.problems import problem_of
from functions.query.api.schemas import (
    CitationOut,
    ClaimOut,
    ConversationOut,
    Cursor,
    QueryBody,
    QueryOut,
    SourceOut,
    SupportOut,
)
from functions.query.api.sse import MEDIA_TYPE, EventStream, ServerSentEvent
from functions.query.limits import Account
from functions.query.pipeline import answer_events, answer_question
from shared.deadline import ClientDisconnected
from shared.errors import InvalidRequest, NotFound
from shared.telemetry import logger, masked, metrics

router = APIRouter()


@router.post(
    "/query",
    response_model=QueryOut,
    operation_id="ask",
    tags=["asking"],
    responses=errors(404, 409, 422),
    openapi_extra=event_stream(
        "The answer as events: `sources`, `delta`, `citation`, `support`, `done` (what the JSON answer holds), or "
        "`error` (a problem).",
        'event: delta\ndata: {"text":"The coffee boilers are descaled every 12 months with citric acid. [1]"}\n\n',
    ),
)
async def query(
    body: QueryBody, request: Request, principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep
) -> Response:
    """Answer one question from the tenant's documents; starts or continues a conversation.

    With `Accept: text/event-stream` the answer comes as server-sent events.
    """
    limit = services.settings.max_question_characters
    if len(body.question) > limit:
        raise InvalidRequest(f"The question has {len(body.question)} characters; at most {limit} are allowed.")
    question = body.to_question()
    loop = asyncio.get_running_loop()
    account = Account(principal, services.settings, services.usage, services.clock)

    def report(answer: Answer) -> None:
        # Metrics are not thread-safe and are flushed in the loop's thread, so they are added there, too.
        content = {"question": body.question, "answer": answer.text} if services.settings.log_content else {}
        loop.call_soon_threadsafe(_report, answer, principal.tenant, content)
        account.settle(answer.spent)

    def events() -> Iterator[ServerSentEvent]:
        account.admit(question.conversation_id)
        ports = services.query_ports(principal.tenant, deadline)
        for event in answer_events(question, principal, ports, deadline):
            yield sse_of(event)
            if isinstance(event, Done):
                report(event.answer)

    def json_response() -> Response:
        account.admit(question.conversation_id)
        try:
            answer = answer_question(question, principal, services.query_ports(principal.tenant, deadline), deadline)
        except ClientDisconnected:
            return Response(status_code=204)  # never sent: the client has its 504 already
        report(answer)
        # Serialised here, because FastAPI would validate the model a second time.
        return Response(QueryOut.of(answer).model_dump_json(), media_type="application/json")

    if _accepts_events(request):
        return EventStream(events, deadline, lambda error: problem_of(request, error).body(request))
    return await in_a_thread(json_response)


def sse_of(event: AnswerEvent) -> ServerSentEvent:
    """Return the name and the data of a pipeline event on the wire."""
    match event:
        case SourcesFound(sources, bands):
            return "sources", {"sources": [each.model_dump() for each in SourceOut.all_of(sources, bands)]}
        case Delta(text):
            return "delta", {"text": text}
        case CitationFound(citation):
            return "citation", CitationOut.model_validate(citation).model_dump()
        case SupportFound(support, claims, band, confidence):
            return "support", {
                "support": SupportOut.model_validate(support).model_dump(),
                "claims": [ClaimOut.model_validate(claim).model_dump() for claim in claims],
                "band": band.value,
                "confidence": confidence,
            }
        case Done(answer):
            return "done", QueryOut.of(answer).model_dump()


def _accepts_events(request: Request) -> bool:
    accepted = (each.split(";")[0].strip() for each in request.headers.get("accept", "").split(","))
    return MEDIA_TYPE in accepted


def _report(answer: Answer, tenant: str, content: Mapping[str, str]) -> None:
    logger.info(
        "answered",
        extra={
            "tenant": tenant,
            **{name: masked(text) for name, text in content.items()},
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
    for name, value in counts_of(answer).items():
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
    for stage, elapsed_ms in answer.timings_ms.items():
        metrics.add_metric(name=f"{stage.capitalize()}Time", unit=MetricUnit.Milliseconds, value=elapsed_ms)


def counts_of(answer: Answer) -> dict[str, float]:
    """Return what is counted of an answer, by metric: mode, refusal's step, caches, claims, tokens, cost, sources."""
    camel = "".join(word.capitalize() for word in (answer.refusal or "").split("_"))
    return {
        f"Answers{answer.mode.capitalize()}": 1,
        **({f"Refused{camel}": 1} if camel else {}),
        "AnswerCacheHits": int(answer.cached),
        "EmbeddingCacheHits": int(answer.embedding_cached),
        "Claims": answer.support.claims,
        "ClaimsUnconfirmed": answer.support.unconfirmed,
        "ClaimsDropped": answer.support.dropped,
        "InputTokens": answer.usage.input_tokens,
        "OutputTokens": answer.usage.output_tokens,
        "CostUsd": answer.cost_usd or 0.0,
        **{f"Passages{arm.capitalize()}": count for arm, count in answer.found_by.items()},
    }


@router.get("/conversations/{conversation_id}", operation_id="readConversation", tags=["conversations"])
def read_conversation(
    principal: PrincipalDep,
    conversation_id: ConversationIdDep,
    services: ServicesDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor = "",
) -> ConversationOut:
    """Return one of the user's conversations, oldest message first; another user's is a 404."""
    address = principal.tenant, principal.user, conversation_id
    conversation = services.conversations.get(*address)
    if conversation is None:
        raise NotFound("There is no such conversation.")
    messages, next_cursor = services.conversations.messages(*address, limit=limit, cursor=cursor)
    return ConversationOut.of(conversation, messages, next_cursor)
