"""`POST /query`: one question, one answer."""

from fastapi import APIRouter

from functions.query.pipeline import Answer, Question, answer_question
from functions.query.routes.dependencies import TimeLeft, Who, Wired
from functions.query.schemas import QueryBody, QueryOut
from shared.errors import InvalidRequest
from shared.telemetry import MetricUnit, logger, metrics

router = APIRouter()


@router.post("/query")
def query(body: QueryBody, who: Who, wired: Wired, deadline: TimeLeft) -> QueryOut:
    """Answer one question from the tenant's documents; starts or continues a conversation."""
    limit = wired.settings.max_question_characters
    if len(body.question) > limit:
        raise InvalidRequest(f"The question has {len(body.question)} characters; at most {limit} are allowed.")
    question = Question(
        body.question, body.conversation_id or "", body.top_k, body.filter, (body.language or "").split("-")[0]
    )
    answer = answer_question(question, who, wired.query_ports(who.tenant), deadline)
    _report(answer)
    return QueryOut.of(answer)


def _report(answer: Answer) -> None:
    logger.info(
        "answered",
        extra={
            "mode": answer.mode,
            "no_relevant_info": answer.no_relevant_info,
            "best_score": answer.best_score,
            "citations": len(answer.citations),
            "dropped_citations": answer.dropped_citations,
            "embedding_cached": answer.embedding_cached,
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "warnings": list(answer.warnings),
            "timings_ms": dict(answer.timings_ms),
            "conversation_id": answer.conversation_id,
            "message_id": answer.message_id,
        },
    )
    metrics.add_metric(name=f"Answers{answer.mode.capitalize()}", unit=MetricUnit.Count, value=1)
    metrics.add_metric(name="EmbeddingCacheHits", unit=MetricUnit.Count, value=int(answer.embedding_cached))
    for stage, elapsed_ms in answer.timings_ms.items():
        metrics.add_metric(name=f"{stage.capitalize()}Time", unit=MetricUnit.Milliseconds, value=elapsed_ms)
