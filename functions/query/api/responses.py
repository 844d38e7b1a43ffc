"""`POST /v1/responses`: the answers in the form of OpenAI's Responses API, citations as annotations; not stored."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from functions.query.answer import Answer, AnswerEvent, Delta, Done, Question
from functions.query.api.asking import answered_as_json, answering
from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.openai_wire import (
    MODEL,
    Ignored,
    RectoIn,
    RectoOut,
    Refused,
    TurnIn,
    check_model,
    citations_of,
    question_of,
    refuse_unsupported,
    sources_below,
)
from functions.query.api.openapi import errors, event_stream
from functions.query.api.problems import error_body
from functions.query.api.schemas import Body, CitationOut, Out
from functions.query.api.sse import EventStream, ServerSentEvent
from shared.models import Usage

router = APIRouter(prefix="/v1", tags=["openai"])

NEUTRAL: dict[str, tuple[object, ...]] = {
    "store": (False,),
    "background": (False,),
    "conversation": (),
    "previous_response_id": (),
    "prompt": (),
    "include": ([],),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "text": ({}, {"format": {"type": "text"}}),
    "top_logprobs": (0,),
    "moderation": (),
}
"""Parameters that ask for something unsupported, with the values that ask for nothing. Nothing is stored."""


def _as_turns(given: object) -> object:
    """Read a bare text as the user's message."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


_TURNS = {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/TurnIn"}}
ResponseInput = Annotated[
    list[TurnIn],
    BeforeValidator(_as_turns),
    WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, _TURNS]}),
]


class ResponseBody(Body):
    """`POST /v1/responses`: OpenAI's parameters, and `recto` for our own."""

    model: str = Field(description=f"`{MODEL}`.")
    input: ResponseInput = Field(description="The question, or the conversation whose last message it is.")
    instructions: str | None = Field(None, description="How to write, like a system message.")
    stream: bool | None = Field(None, description="Stream the answer as server-sent events.")
    recto: RectoIn = Field(default_factory=RectoIn)
    store: Refused = None
    background: Refused = None
    conversation: Refused = None
    previous_response_id: Refused = None
    prompt: Refused = None
    include: Refused = None
    tools: Refused = None
    tool_choice: Refused = None
    text: Refused = None
    top_logprobs: Refused = None
    moderation: Refused = None
    max_output_tokens: Ignored = None
    max_tool_calls: Ignored = None
    metadata: Ignored = None
    parallel_tool_calls: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_options: Ignored = None
    prompt_cache_retention: Ignored = None
    reasoning: Ignored = None
    safety_identifier: Ignored = None
    service_tier: Ignored = None
    stream_options: Ignored = None
    temperature: Ignored = None
    top_p: Ignored = None
    truncation: Ignored = None
    user: Ignored = None


class FileCitationOut(Out):
    """OpenAI's form of a citation. `index` is where its marker begins in the text."""

    type: Literal["file_citation"] = "file_citation"
    file_id: str = Field(description="The document's id.")
    filename: str
    index: int


class OutputTextOut(Out):
    """The text with its citations, in OpenAI's form and in ours, which has quote and page."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[FileCitationOut]
    citations: list[CitationOut]
    logprobs: list[Any] = Field(default_factory=list, description="Always empty.")

    @classmethod
    def of(cls, answer: Answer, text: str) -> "OutputTextOut":
        """Return an answer's text with its citations."""
        annotations = [
            FileCitationOut(
                file_id=each.document_id,
                filename=each.file_name or each.title,
                index=max(text.find(f"[{each.n}]"), 0),
            )
            for each in answer.citations
        ]
        return cls(text=text, annotations=annotations, citations=citations_of(answer))


class OutputMessageOut(Out):
    """The only output."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed"]
    content: list[OutputTextOut]


class ReadTokensOut(Out):
    """Of the input tokens: read from the provider's cache, and written to it."""

    cached_tokens: int
    cache_write_tokens: int


class WrittenTokensOut(Out):
    """Of the output tokens: spent on reasoning, not shown."""

    reasoning_tokens: int


class ResponseUsageOut(Out):
    """Tokens billed for the request, including those of the search."""

    input_tokens: int
    input_tokens_details: ReadTokensOut
    output_tokens: int
    output_tokens_details: WrittenTokensOut
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "ResponseUsageOut":
        """Return them in OpenAI's names."""
        return cls(
            input_tokens=usage.input_tokens,
            input_tokens_details=ReadTokensOut.model_validate(usage),
            output_tokens=usage.output_tokens,
            output_tokens_details=WrittenTokensOut.model_validate(usage),
            total_tokens=usage.input_tokens + usage.output_tokens,
        )


class ResponseOut(Out):
    """OpenAI's response, with `recto` beside it."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: Literal["in_progress", "completed"]
    model: str = MODEL
    output: list[OutputMessageOut]
    usage: ResponseUsageOut | None
    recto: RectoOut | None
    error: None = None
    incomplete_details: None = None
    instructions: str | None = None
    parallel_tool_calls: bool = False
    previous_response_id: None = None
    store: Literal[False] = False
    tool_choice: Literal["none"] = "none"
    tools: list[Any] = Field(default_factory=list, description="Always empty.")


@router.post(
    "/responses",
    operation_id="createResponse",
    response_model=ResponseOut,
    responses=errors(404, 422),
    openapi_extra=event_stream(
        "With `stream`: OpenAI's events, from `response.created` to `response.completed`.",
        'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"item_id":'
        '"msg_1","output_index":0,"content_index":0,"delta":"The boilers are descaled yearly. [1]","logprobs":[]}\n\n',
    ),
)
async def create_response(
    body: ResponseBody, request: Request, principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep
) -> Response:
    """Answer from the tenant's documents in the form of OpenAI's Responses API, with `file_citation` annotations.

    Nothing is stored, so a conversation is what `input` says.
    """
    check_model(body.model)
    refuse_unsupported(body, NEUTRAL)
    question = question_of(body.input, body.recto, instructions=body.instructions or "", is_saved=False)
    answer_events = answering(question, principal, services, deadline)
    blank = ResponseOut(
        id=f"resp_{uuid4().hex}",
        created_at=int(services.clock.now().timestamp()),
        status="in_progress",
        output=[],
        usage=None,
        recto=None,
        instructions=body.instructions,
    )
    listed_for = question if body.recto.citation_list else None

    if body.stream:
        return EventStream(
            lambda: response_events(blank, answer_events, listed_for),
            deadline,
            lambda error: {**error_body(request, error)["error"], "type": "error"},
        )
    return await answered_as_json(answer_events, partial(completed, blank, listed_for))


def completed(blank: ResponseOut, listed_for: Question | None, answer: Answer) -> ResponseOut:
    """Return the whole response to an answer; its text ends with the sources if they are listed for a question."""
    text = answer.text + (sources_below(answer, listed_for) if listed_for else "")
    message = OutputMessageOut(id=_message_id(blank), status="completed", content=[OutputTextOut.of(answer, text)])
    changed = {"output": [message], "usage": ResponseUsageOut.of(answer.usage), "recto": RectoOut.of(answer)}
    return blank.model_copy(update={"status": "completed", **changed})


def _message_id(response: ResponseOut) -> str:
    return response.id.replace("resp_", "msg_")


def response_events(
    blank: ResponseOut, answer_events: Callable[[], Iterator[AnswerEvent]], listed_for: Question | None
) -> Iterator[ServerSentEvent]:
    """Yield OpenAI's events, numbered."""
    numbers = count()
    text_place = {"item_id": _message_id(blank), "output_index": 0, "content_index": 0}

    def event(name: str, **data: Any) -> ServerSentEvent:
        return f"response.{name}", {"type": f"response.{name}", "sequence_number": next(numbers), **data}

    is_begun = False
    for each in answer_events():
        if not is_begun:
            is_begun = True
            started = OutputMessageOut(id=_message_id(blank), status="in_progress", content=[])
            part = OutputTextOut(text="", annotations=[], citations=[])
            yield event("created", response=blank.model_dump())
            yield event("in_progress", response=blank.model_dump())
            yield event("output_item.added", output_index=0, item=started.model_dump())
            yield event("content_part.added", **text_place, part=part.model_dump())
        match each:
            case Delta(text):
                yield event("output_text.delta", **text_place, delta=text, logprobs=[])
            case Done(answer):
                whole = completed(blank, listed_for, answer)
                (message,) = whole.output
                (written,) = message.content
                if listed := written.text.removeprefix(answer.text):
                    yield event("output_text.delta", **text_place, delta=listed, logprobs=[])
                for number, annotation in enumerate(written.annotations):
                    noted = {"annotation_index": number, "annotation": annotation.model_dump()}
                    yield event("output_text.annotation.added", **text_place, **noted)
                yield event("output_text.done", **text_place, text=written.text, logprobs=[])
                yield event("content_part.done", **text_place, part=written.model_dump())
                yield event("output_item.done", output_index=0, item=message.model_dump())
                yield event("completed", response=whole.model_dump())
