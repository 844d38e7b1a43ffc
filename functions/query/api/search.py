"""`POST /search`: what a question finds, and why it ranks as it does; no answer is written."""

from fastapi import APIRouter
from pydantic import Field

from functions.query.answer import Question, spent_by
from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.openapi import errors
from functions.query.api.schemas import Body, ExplanationOut, FilterField, Language
from functions.query.explaining import explained
from functions.query.finding import find_passages
from functions.query.limits import Account
from functions.query.pipeline import requested_language_of
from functions.query.retrieval.filters import checked_filter
from functions.query.retrieval.retrieve import check_fields
from functions.query.understanding.question import normalized
from functions.query.understanding.rewriting import understand
from shared.deadline import StageTimer
from shared.errors import InvalidRequest

router = APIRouter(tags=["asking"])

MAX_RESULTS = 100


class SearchBody(Body):
    """`POST /search`."""

    question: str = Field(min_length=1, description="The question, in any language.")
    top_k: int | None = Field(None, ge=1, le=50, description="The most passages to answer from, as in `POST /query`.")
    limit: int = Field(20, ge=1, le=MAX_RESULTS, description="Passages to return, chosen or not.")
    filter: FilterField = Field(None, description="Which passages to search, by their metadata.")
    language: Language | None = Field(None, description="Language of the question, if it should not be detected.")


class SearchOut(ExplanationOut):
    """What a question finds, best first."""

    timings_ms: dict[str, float]


@router.post("/search", operation_id="search", responses=errors(422))
def search(body: SearchBody, principal: PrincipalDep, services: ServicesDep, deadline: DeadlineDep) -> SearchOut:
    """Return the passages that a question finds, with each part of their scores and why they rank there.

    It is the search of `POST /query`, and counts as a question; nothing is answered or saved.
    """
    most = services.settings.max_question_characters
    if not normalized(body.question) or len(body.question) > most:
        raise InvalidRequest(f"The question must have text, and at most {most} characters.")
    wanted = checked_filter(body.filter)
    account = Account(principal, services.settings, services.usage, services.clock)
    account.admit("")
    tenant, ports = principal.tenant, services.query_ports(principal.tenant, deadline)
    settings, timer = ports.settings, StageTimer(ports.clock, deadline)
    check_fields(wanted, tenant=tenant, ports=ports, deadline=deadline)
    question = Question(body.question, top_k=body.top_k, filter=wanted, language=body.language or "", explain=True)
    with timer.stage("rewrite"):
        understood = understand(
            question.text,
            (),
            tenant=tenant,
            chat=ports.rewriter,
            glossary=ports.glossary,
            settings=settings,
            deadline=deadline,
            mode=settings.query_mode,
            language=requested_language_of(question),
        )
    language = question.language or understood.language or settings.default_language
    found = find_passages(
        question, understood, language=language, tenant=tenant, ports=ports, deadline=deadline, timer=timer
    )
    account.settle(spent_by((found.asked.model, found.asked.usage), (settings.embedding_model, found.usage)))
    explanation = ExplanationOut.of(explained(found, limit=body.limit))
    return SearchOut(**explanation.model_dump(), timings_ms=dict(timer.timings_ms))
