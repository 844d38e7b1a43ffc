"""How every route asks a question: check the limits, answer, log, count the cost."""

import asyncio
from collections.abc import Callable, Iterator, Mapping

from aws_lambda_powertools.metrics import MetricUnit
from fastapi.responses import Response
from pydantic import BaseModel

from functions.query.answer import Answer, AnswerEvent, Done, Question, facts_of
from functions.query.api.middleware import in_a_thread
from functions.query.api.roles import EDITORS, roles_of
from functions.query.bootstrap import Services
from functions.query.limits import Account
from functions.query.pipeline import answer_events
from shared.deadline import ClientDisconnected, Deadline
from shared.errors import InvalidRequest, NotAllowed
from shared.models import Principal
from shared.telemetry import logger, masked, metrics


def answering(
    question: Question, principal: Principal, services: Services, deadline: Deadline
) -> Callable[[], Iterator[AnswerEvent]]:
    """Return a function for a worker thread: its iterator checks the limits, answers, logs and counts the cost.

    Called in the loop's thread. Raises `InvalidRequest` for a question that is too long, `NotAllowed` if a reader asks
    for an explanation; the iterator raises `LimitReached` and what `answer_events` raises.
    """
    settings = services.settings
    if question.explain and not EDITORS & roles_of(principal.groups):
        raise NotAllowed("`explain` is for editors.")
    limit = settings.max_question_characters
    if len(question.text) > limit:
        raise InvalidRequest(f"The question has {len(question.text)} characters; at most {limit} are allowed.")
    loop = asyncio.get_running_loop()
    account = Account(principal, settings, services.usage, services.clock)

    def events() -> Iterator[AnswerEvent]:
        account.admit(question.conversation_id)
        ports = services.query_ports(principal.tenant, deadline)
        for event in answer_events(question, principal, ports, deadline):
            yield event
            if isinstance(event, Done):
                answer = event.answer
                content = {"question": question.text, "answer": answer.text} if settings.log_content else {}
                # Metrics are not thread-safe and are flushed in the loop's thread, so they are added there, too.
                loop.call_soon_threadsafe(report, answer, principal.tenant, content)
                account.settle(answer.spent)

    return events


def whole_answer(events: Iterator[AnswerEvent]) -> Answer:
    """Return the answer at the end of the events. Raises what they raise."""
    (answer,) = (event.answer for event in events if isinstance(event, Done))
    return answer


async def answered_as_json(
    events: Callable[[], Iterator[AnswerEvent]], write: Callable[[Answer], BaseModel]
) -> Response:
    """Answer in a worker thread, and return what `write` makes of the answer. Raises what the events raise."""

    def written() -> Response:
        try:
            answer = whole_answer(events())
        except ClientDisconnected:
            return Response(status_code=204)  # never sent: the client has its 504 already
        # Serialised here, because FastAPI would validate the model a second time.
        return Response(write(answer).model_dump_json(), media_type="application/json")

    return await in_a_thread(written)


def report(answer: Answer, tenant: str, content: Mapping[str, str]) -> None:
    """Log an answer and count it. `content` are the texts that are logged, by name; usually none."""
    logger.info(
        "answered",
        extra={
            "tenant": tenant,
            **{name: masked(text) for name, text in content.items()},
            **facts_of(answer),
            "citations": len(answer.citations),
            "dropped_citations": answer.dropped_citations,
            "embedding_cached": answer.embedding_cached,
            "suggestions": len(answer.suggestions),
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
    """Return what is counted for an answer, by metric: mode, step that refused, caches, claims, tokens, cost, sources.

    A refusal counts as one even if the model wrote it.
    """
    camel = "".join(word.capitalize() for word in (answer.refusal or "").split("_"))
    return {
        f"Answers{'Refused' if answer.refusal else answer.mode.capitalize()}": 1,
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
