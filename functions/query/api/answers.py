"""`POST /query`: one question, one answer, as JSON or as server-sent events."""

from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import Response

from functions.query.answer import AnswerEvent, CitationFound, Delta, Done, Question, SourcesFound, SupportFound
from functions.query.api.asking import answered_as_json, answering
from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.openapi import errors, event_stream
from functions.query.api.problems import error_body
from functions.query.api.schemas import CitationOut, ClaimOut, QueryBody, QueryOut, SourceOut, SupportOut
from functions.query.api.sse import MEDIA_TYPE, EventStream, ServerSentEvent
from functions.query.bootstrap import Services
from shared.deadline import Deadline
from shared.models import Principal

router = APIRouter()

STREAM = event_stream(
    "The answer as events: `sources`, `delta`, `citation`, `support`, `done` (what the JSON answer holds), or "
    "`error` (a problem).",
    'event: delta\ndata: {"text":"The coffee boilers are descaled every 12 months with citric acid. [1]"}\n\n',
)
"""What the OpenAPI document says of a streamed answer."""


@router.post(
    "/query",
    response_model=QueryOut,
    operation_id="ask",
    tags=["asking"],
    responses=errors(404, 409, 422),
    openapi_extra=STREAM,
)
async def query(
    body: QueryBody, request: Request, principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep
) -> Response:
    """Answer one question from the tenant's documents; starts or continues a conversation.

    With `Accept: text/event-stream` the answer comes as server-sent events.
    """
    return await respond(body.to_question(body.conversation_id or ""), request, principal, services, deadline)


async def respond(
    question: Question, request: Request, principal: Principal, services: Services, deadline: Deadline
) -> Response:
    """Answer a question as JSON, or as events if the request accepts them."""
    answer_events = answering(question, principal, services, deadline)

    def events() -> Iterator[ServerSentEvent]:
        return map(sse_of, answer_events())

    if _accepts_events(request):
        return EventStream(events, deadline, lambda error: error_body(request, error))
    return await answered_as_json(answer_events, QueryOut.of)


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
