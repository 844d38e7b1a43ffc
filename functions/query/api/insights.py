"""`/insights`: questions that got no answer, for editors."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, Field

from functions.query.api.dependencies import DeadlineDep, PrincipalDep, ServicesDep
from functions.query.api.handoffs import NearPassageOut
from functions.query.api.schemas import Out
from functions.query.bootstrap import Services
from functions.query.handoffs import near_passages
from functions.query.unanswered import MAX_QUESTIONS, QuestionGroup, grouped, rated_badly
from shared.models import UnansweredQuestion

router = APIRouter(prefix="/insights", tags=["faqs"])

DEFAULT_DAYS = 30
EXAMPLES = 5
NEAREST = 3


class UnansweredQuestionOut(Out):
    """A question as it was typed."""

    question_id: str
    question: str
    asked_at: str
    refusal: str = Field(description="Which step found nothing; empty if the answer was rated badly.")


class QuestionClusterOut(Out):
    """Questions that mean much the same."""

    cluster_id: str = Field(description="The oldest question's id; it stays while the cluster grows.")
    count: int
    refused: int = Field(description="Questions that got no answer.")
    rated_down: int = Field(description="Questions whose answer was rated badly.")
    language: str
    first_asked_at: str
    last_asked_at: str
    examples: list[UnansweredQuestionOut] = Field(description="The latest ones, at most five.")
    question_ids: list[str] = Field(description="All of them, for `answers` of `POST /faqs`.")
    nearest: list[NearPassageOut] = Field(description="The passages nearest to any of them.")


class UnansweredOut(Out):
    """Questions that got no answer, the largest cluster first."""

    clusters: list[QuestionClusterOut]
    questions: int = Field(description="Questions that were grouped.")
    truncated: bool = Field(description="There are more: only the latest 500 were grouped.")


@router.get("/unanswered", operation_id="listUnanswered")
def list_unanswered(
    principal: PrincipalDep,
    services: ServicesDep,
    deadline: DeadlineDep,
    since: Annotated[AwareDatetime | None, Query(description="Default: 30 days ago.")] = None,
    limit: Annotated[int, Query(ge=1, le=100, description="Clusters at most.")] = 20,
) -> UnansweredOut:
    """Group the questions that were refused, or whose answers were rated badly, and that nobody has answered since.

    The user who asked is neither shown nor known: questions are kept without users, for `UnansweredDays`.
    """
    first = since or services.clock.now() - timedelta(days=DEFAULT_DAYS)
    refused, answered = services.unanswered.since(principal.tenant, first, limit=MAX_QUESTIONS + 1)
    known = {each.question_id for each in refused} | set(answered)
    rated = rated_badly(principal.tenant, first, known, services.feedback, services.query_ports, deadline)
    latest = sorted((*refused, *rated), key=lambda each: each.question_id)[-MAX_QUESTIONS:]
    groups = grouped(latest)
    return UnansweredOut(
        clusters=[_cluster(each, principal.tenant, services) for each in groups[:limit]],
        questions=len(latest),
        truncated=len(refused) + len(rated) > MAX_QUESTIONS,
    )


def _cluster(group: QuestionGroup, tenant: str, services: Services) -> QuestionClusterOut:
    questions: Sequence[UnansweredQuestion] = group.questions
    refused = sum(bool(each.refusal) for each in questions)
    return QuestionClusterOut(
        cluster_id=group.group_id,
        count=len(questions),
        refused=refused,
        rated_down=len(questions) - refused,
        language=questions[-1].language,
        first_asked_at=questions[0].asked_at,
        last_asked_at=questions[-1].asked_at,
        examples=[UnansweredQuestionOut.model_validate(each) for each in reversed(questions[-EXAMPLES:])],
        question_ids=[each.question_id for each in questions],
        nearest=[
            NearPassageOut.model_validate(each)
            for each in near_passages(tenant, group.nearest[:NEAREST], services.registry)
        ],
    )
