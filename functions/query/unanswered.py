"""Unanswered questions: refused questions are stored with the turns, and similar ones are shown together.

A question is personal data. The record names no user, expires (`unanswered_days`), and is erased with its conversation.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from functions.query.answer import Answer, Question
from functions.query.ports import FeedbackStore, QueryPorts, UnansweredLog
from functions.query.retrieval.search import cache_key, embed_queries
from functions.query.understanding.question import normalized
from shared.deadline import Deadline
from shared.errors import DependencyError
from shared.language import language_of
from shared.models import Principal, UnansweredQuestion
from shared.ports import Clock

MAX_QUESTIONS = 500
"""The most questions that are grouped, the latest: each is compared with each group, 16 µs for 1,536 dimensions."""
SIMILARITY = 0.6
"""A question belongs to a group if its cosine with the mean of the group's questions is at least this.

Measured with MiniLM on 45 written questions about 16 things: of the pairs that were grouped 91 % belong together, of
those that belong together 82 % were grouped (0.7: 89 % and 62 %). For other models it is a guess."""

MARKED_DAYS = 400
"""Days that a badly rated answer stays marked as answered; a refused question's mark expires with the question."""


def unanswered_question(
    question: Question,
    answer: Answer,
    searched_for: str,
    vector: Sequence[float] | None,
    language: str,
    principal: Principal,
    ports: QueryPorts,
) -> UnansweredQuestion | None:
    """Return the record of a refused question; None if there is nothing to store.

    `vector` is its embedding; for a cached refusal it is looked up in the cache. A question searched for without
    embeddings is not stored: that nothing was found says little about the documents.
    """
    days = ports.settings.unanswered_days
    if not (answer.no_relevant_info and days):
        return None
    if vector is None:
        vector = ports.cache.get(cache_key(principal.tenant, ports.settings.embedding_space, searched_for))
    if vector is None:
        return None
    now = ports.clock.now()
    return UnansweredQuestion(
        question_id=answer.message_id,
        question=question.text,
        asked_at=now.isoformat(timespec="milliseconds"),
        language=language,
        space=str(ports.settings.embedding_space),
        vector=vector,
        refusal=answer.refusal or "",
        nearest=[(each.chunk_id, each.score) for each in answer.near_misses],
        expires_at=int((now + timedelta(days=days)).timestamp()),
    )


def mark_answered(tenant: str, question_ids: Sequence[str], by: str, log: UnansweredLog, clock: Clock) -> int:
    """Mark questions as answered by a document; return how many were marked. A failed one is shown again."""
    until = int((clock.now() + timedelta(days=MARKED_DAYS)).timestamp())
    return log.mark(tenant, list(dict.fromkeys(question_ids)), by, expires_at=until)


def rated_badly(
    tenant: str,
    first: datetime,
    known: Collection[str],
    feedback: FeedbackStore,
    ports_of: Callable[[str, Deadline], QueryPorts],
    deadline: Deadline,
) -> Sequence[UnansweredQuestion]:
    """Return the questions since then whose answers were rated down, without the `known` ones, at most `MAX_QUESTIONS`.

    They are embedded now, in one request for those not in the cache: a rating may be withdrawn, so none is stored.
    Without embeddings the result is empty.
    """
    rated, _ = feedback.given(tenant, limit=MAX_QUESTIONS, rating="down", since=first)
    found = [each for each in rated if each.asked and each.message.message_id not in known]
    if not found:
        return []
    try:
        ports = ports_of(tenant, deadline)
    except DependencyError:
        return []
    texts = [normalized(each.asked) for each in found]
    embedded = embed_queries(
        texts,
        tenant=tenant,
        embedder=ports.embedder,
        cache=ports.cache,
        ttl_s=ports.settings.embedding_cache_ttl_s,
        deadline=deadline,
    )
    return [
        UnansweredQuestion(
            question_id=each.message.message_id,
            question=each.asked,
            asked_at=each.message.created_at,
            language=language_of(each.asked),
            space=str(ports.settings.embedding_space),
            vector=vector,
            refusal=str(each.message.details.get("refusal") or ""),
            nearest=_sources_of(each.message.details),
        )
        for each, vector in zip(found, embedded.vectors, strict=True)
        if vector is not None
    ]


def _sources_of(details: Mapping[str, Any]) -> Sequence[tuple[str, float]]:
    """Return ids and scores of the passages an answer was made from, or of a refusal's near misses."""
    sources = [
        (str(each["chunk_id"]), float(each["score"])) for each in details.get("sources") or () if "score" in each
    ]
    return sources or [(str(chunk_id), float(score)) for chunk_id, score in details.get("near_misses") or ()]


@dataclass(slots=True)
class QuestionGroup:
    """Questions that mean much the same, oldest first, and the sum of their vectors."""

    questions: list[UnansweredQuestion] = field(default_factory=list)
    total: list[float] = field(default_factory=list)

    @property
    def group_id(self) -> str:
        """The id of the oldest question: the group keeps it while it grows."""
        return self.questions[0].question_id

    @property
    def nearest(self) -> Sequence[tuple[str, float]]:
        """The passages nearest to any of the questions, best first, each once."""
        best: dict[str, float] = {}
        for question in self.questions:
            for chunk_id, score in question.nearest:
                best[chunk_id] = max(score, best.get(chunk_id, score))
        return sorted(best.items(), key=lambda each: (-each[1], each[0]))

    def similarity(self, question: UnansweredQuestion) -> float:
        """Return the cosine between a question and the mean of the group's; -1 in another embedding space."""
        if question.space != self.questions[0].space or len(question.vector) != len(self.total):
            return -1.0
        lengths = math.hypot(*self.total) * math.hypot(*question.vector)
        return math.sumprod(self.total, question.vector) / lengths if lengths else -1.0

    def add(self, question: UnansweredQuestion) -> None:
        """Add a question."""
        self.questions.append(question)
        held = self.total or [0.0] * len(question.vector)
        self.total = [mine + other for mine, other in zip(held, question.vector, strict=True)]


def grouped(questions: Sequence[UnansweredQuestion]) -> Sequence[QuestionGroup]:
    """Group questions by meaning, the largest group first, of equal ones the one asked last.

    One pass, the oldest question first: each joins the group that it is most similar to, from `SIMILARITY` on, or
    begins one. So the same questions give the same groups, and a new question changes no earlier one's group.
    """
    groups: list[QuestionGroup] = []
    for question in sorted(questions, key=lambda each: each.question_id):
        best = max(groups, key=lambda group: group.similarity(question), default=None)
        if best is None or best.similarity(question) < SIMILARITY:
            groups.append(best := QuestionGroup())
        best.add(question)
    return sorted(groups, key=lambda group: (-len(group.questions), _reversed(group.questions[-1].question_id)))


def _reversed(text: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in text)
