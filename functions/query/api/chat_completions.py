"""`POST /v1/chat/completions` and `GET /v1/models`, as OpenAI's clients call them."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from pydantic import Field

from functions.query.answer import Answer, AnswerEvent, Delta, Done, SourcesFound
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
    errand_of,
    in_markdown,
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

CREATED = 1_795_392_000
"""When the model was first offered: 2026-11-23, in seconds since the epoch."""
NEUTRAL: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "modalities": (["text"],),
    "audio": (),
    "web_search_options": (),
    "moderation": (),
}
"""Parameters that ask for something unsupported, with the values that ask for nothing."""
FinishReason = Literal["stop", "length", "content_filter"]


class StreamOptionsIn(Body):
    """What a stream holds besides the text."""

    include_usage: bool | None = Field(None, description="Send one more chunk with the token counts.")
    include_obfuscation: Ignored = None


class ChatCompletionBody(Body):
    """`POST /v1/chat/completions`: OpenAI's parameters, and `recto` for our own."""

    model: str = Field(description=f"`{MODEL}`.")
    messages: list[TurnIn] = Field(min_length=1, description="The conversation; its last message is the question.")
    stream: bool | None = Field(None, description="Stream the answer as server-sent events.")
    stream_options: StreamOptionsIn | None = None
    store: bool | None = Field(None, description="Store question and answer as a conversation of yours.")
    recto: RectoIn = Field(default_factory=RectoIn)
    n: Refused = None
    tools: Refused = None
    tool_choice: Refused = None
    functions: Refused = None
    function_call: Refused = None
    response_format: Refused = None
    logprobs: Refused = None
    top_logprobs: Refused = None
    modalities: Refused = None
    audio: Refused = None
    web_search_options: Refused = None
    moderation: Refused = None
    frequency_penalty: Ignored = None
    logit_bias: Ignored = None
    max_completion_tokens: Ignored = None
    max_tokens: Ignored = None
    metadata: Ignored = None
    parallel_tool_calls: Ignored = None
    prediction: Ignored = None
    presence_penalty: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_options: Ignored = None
    prompt_cache_retention: Ignored = None
    reasoning_effort: Ignored = None
    safety_identifier: Ignored = None
    seed: Ignored = None
    service_tier: Ignored = None
    stop: Ignored = None
    temperature: Ignored = None
    top_p: Ignored = None
    user: Ignored = None
    verbosity: Ignored = None


class InputTokensOut(Out):
    """Of the input tokens: read from the provider's cache."""

    cached_tokens: int


class OutputTokensOut(Out):
    """Of the output tokens: spent on reasoning, not shown."""

    reasoning_tokens: int


class CompletionUsageOut(Out):
    """Tokens billed for the request, including those of the search."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: InputTokensOut
    completion_tokens_details: OutputTokensOut

    @classmethod
    def of(cls, usage: Usage) -> "CompletionUsageOut":
        """Return them in OpenAI's names."""
        return cls(
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            total_tokens=usage.input_tokens + usage.output_tokens,
            prompt_tokens_details=InputTokensOut(cached_tokens=usage.cached_tokens),
            completion_tokens_details=OutputTokensOut(reasoning_tokens=usage.reasoning_tokens),
        )


class CompletionMessageOut(Out):
    """The answer. A refusal is a text like any other."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    citations: list[CitationOut]


class CompletionChoiceOut(Out):
    """The only choice."""

    index: Literal[0] = 0
    message: CompletionMessageOut
    logprobs: None = None
    finish_reason: FinishReason


class ChatCompletionOut(Out):
    """OpenAI's chat completion, with `citations` in the message and `recto` beside it."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str = MODEL
    choices: list[CompletionChoiceOut]
    usage: CompletionUsageOut
    recto: RectoOut


class ModelOut(Out):
    """A model."""

    id: Literal["recto"] = "recto"
    object: Literal["model"] = "model"
    created: int = CREATED
    owned_by: str = "recto"


class ModelListOut(Out):
    """The models."""

    object: Literal["list"] = "list"
    data: list[ModelOut]


@router.get("/models", operation_id="listModels")
def list_models(principal: PrincipalDep) -> ModelListOut:  # noqa: ARG001  who may ask may list
    """List the models: one, which answers from the tenant's documents."""
    return ModelListOut(data=[ModelOut()])


@router.get("/models/{model}", operation_id="readModel")
def read_model(principal: PrincipalDep, model: Annotated[str, Path(examples=[MODEL])]) -> ModelOut:  # noqa: ARG001
    """Return a model."""
    check_model(model)
    return ModelOut()


@router.post(
    "/chat/completions",
    operation_id="createChatCompletion",
    response_model=ChatCompletionOut,
    responses=errors(404, 409, 422),
    openapi_extra=event_stream(
        "With `stream`: the answer as chunks (`chat.completion.chunk`), and `[DONE]` at the end.",
        'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795392000,"model":"recto","choices":'
        '[{"index":0,"delta":{"content":"The boilers are descaled yearly. [1]"},"finish_reason":null}]}\n\n',
    ),
)
async def create_chat_completion(
    body: ChatCompletionBody, request: Request, principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep
) -> Response:
    """Answer the last message from the tenant's documents, as OpenAI's API answers.

    The conversation is what the messages hold; it is stored only if `store` is true.
    """
    check_model(body.model)
    refuse_unsupported(body, NEUTRAL)
    question = question_of(body.messages, body.recto, is_saved=body.store is True)
    errand = errand_of(question.text)
    answer_events = (
        answering(question, principal, services, deadline) if errand is None else partial(_fixed_answer, errand)
    )
    created = int(services.clock.now().timestamp())
    completion_id = f"chatcmpl-{uuid4().hex}"
    is_listed = body.recto.citation_list is not False

    def completion_of(answer: Answer) -> ChatCompletionOut:
        content = in_markdown(answer.text) + sources_below(answer, question) if is_listed else answer.text
        message = CompletionMessageOut(content=content, citations=citations_of(answer))
        return ChatCompletionOut(
            id=completion_id,
            created=created,
            choices=[CompletionChoiceOut(message=message, finish_reason=finish_reason_of(answer))],
            usage=CompletionUsageOut.of(answer.usage),
            recto=RectoOut.of(answer),
        )

    def chunk(delta: dict[str, Any] | None, *, finish_reason: str | None = None, **more: Any) -> ServerSentEvent:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        head = {"id": completion_id, "object": "chat.completion.chunk", "created": created, "model": MODEL}
        return "", {**head, "choices": [] if delta is None else [choice], **more}

    def chunks() -> Iterator[ServerSentEvent]:
        for event in answer_events():
            match event:
                case SourcesFound():
                    yield chunk({"role": "assistant", "content": ""})
                case Delta(text):
                    yield chunk({"content": in_markdown(text) if is_listed else text})
                case Done(answer):
                    if is_listed and answer.citations:
                        yield chunk({"content": sources_below(answer, question)})
                    citations = [each.model_dump() for each in citations_of(answer)]
                    recto = RectoOut.of(answer).model_dump()
                    yield chunk({"citations": citations}, finish_reason=finish_reason_of(answer), recto=recto)
                    if body.stream_options and body.stream_options.include_usage:
                        yield chunk(None, usage=CompletionUsageOut.of(answer.usage).model_dump())
        yield "", "[DONE]"

    if body.stream:
        return EventStream(chunks, deadline, lambda error: error_body(request, error), error_name="")
    return await answered_as_json(answer_events, completion_of)


def _fixed_answer(text: str) -> Iterator[AnswerEvent]:
    """Yield the events of a fixed text."""
    yield SourcesFound(())
    yield Delta(text)
    yield Done(Answer(text, mode="service"))


def finish_reason_of(answer: Answer) -> FinishReason:
    """Return OpenAI's word for why the text ends; an answer of sentences from the sources is always whole."""
    match answer.finish_reason:
        case "length" | "content_filter" as reason:
            return reason
        case _:
            return "stop"
