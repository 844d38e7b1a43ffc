"""The line from a question to an answer with its proof.

history → rewrite → embed → retrieve → decide → generate → verify → save
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from functions.query.citations import CitedAnswer, cite, keep_verified
from functions.query.deadline import Deadline
from functions.query.decision import is_relevant
from functions.query.extractive import extractive_answer
from functions.query.localization import texts_for
from functions.query.passages import Passage
from functions.query.prompting import grounded_messages, within_budget
from functions.query.retrieval import QuestionEmbedding, Search, embed_question, retrieve
from functions.query.rewriting import normalized, standalone_question
from functions.query.timing import StageTimer
from shared.errors import DependencyError
from shared.models import FIRST_VIEW, Citation, Filter, Message, Principal, Usage, View
from shared.ports import (
    ChatModel,
    Clock,
    ConversationStore,
    DocumentRegistry,
    Embedder,
    EmbeddingCache,
    IdFactory,
    VectorSearch,
)
from shared.settings import Settings

SAVE_RESERVE_S = 2.0
"""Seconds kept of the deadline, when the model is called, for verifying and saving."""
TITLE_CHARACTERS = 80
NO_USAGE = Usage()

Mode = Literal["generated", "extractive", "refused"]


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked. An empty `conversation_id` starts a conversation."""

    text: str
    conversation_id: str = ""
    top_k: int | None = None
    filter: Filter | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered. `no_relevant_info` says that nothing was found and no model was asked."""

    text: str
    mode: Mode
    conversation_id: str
    message_id: str
    citations: Sequence[Citation] = ()
    sources: Sequence[Passage] = ()
    no_relevant_info: bool = False
    best_score: float | None = None
    threshold: float = 0.0
    model: str = ""
    usage: Usage = NO_USAGE
    dropped_citations: int = 0
    embedding_cached: bool = False
    warnings: Sequence[str] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryPorts:
    """Everything the line needs from outside. `chat` is None where answers are extractive.

    `view` is the view of the tenant's documents that is searched; `search`, `embedder` and `settings` fit it. None
    means the first one.
    """

    settings: Settings
    clock: Clock
    new_id: IdFactory
    embedder: Embedder
    cache: EmbeddingCache
    search: VectorSearch
    registry: DocumentRegistry
    conversations: ConversationStore
    chat: ChatModel | None
    view: View | None = None


@dataclass(frozen=True, slots=True)
class _Written:
    answer: CitedAnswer
    mode: Mode
    model: str = ""
    usage: Usage = NO_USAGE
    knows: bool = True


def answer_question(question: Question, who: Principal, ports: QueryPorts, deadline: Deadline) -> Answer:
    """Answer one question for one principal, and remember both turns.

    Raises `NotFound` for a conversation that is not theirs, and `DependencyError` when the index cannot be searched.
    Embeddings that fail leave the search to the words, a model that fails is replaced by extraction, a history that
    fails by none; `warnings` says so.
    """
    settings = ports.settings
    warnings: list[str] = []
    timer = StageTimer(ports.clock)
    language = question.language or settings.default_language

    with timer.stage("history"):
        history = _history(question, who, ports, warnings)
    with timer.stage("rewrite"):
        standalone = normalized(standalone_question(normalized(question.text), history))
    with timer.stage("embed"):
        embedding = _embedding(standalone, who, ports, deadline, warnings)
    search = Search(
        question=standalone,
        vector=embedding.vector if embedding else None,
        dimensions=settings.embedding_dimensions,
        namespace=ports.view.namespace if ports.view else who.tenant,
        view=ports.view.number if ports.view else FIRST_VIEW,
        language=language,
        filter=question.filter,
    )
    with timer.stage("retrieve"):
        found = retrieve(
            search,
            tenant=who.tenant,
            top_k=question.top_k or settings.top_k,
            index=ports.search,
            registry=ports.registry,
            deadline=deadline,
        )
        warnings.extend(found.warnings)
    if not is_relevant(search, found, settings.threshold):
        sources: Sequence[Passage] = ()
        refusal = texts_for(language, settings.default_language).no_relevant_info
        written = _Written(CitedAnswer(refusal, (), 0), "refused", knows=False)
    else:
        sources = within_budget(found.passages, settings.context_budget_tokens)
        with timer.stage("generate"):
            written = _write(
                normalized(question.text), standalone, sources, history, language, ports, deadline, warnings
            )
    with timer.stage("verify"):
        proven = keep_verified(written.answer, sources)
    user_message_id, message_id = ports.new_id(), ports.new_id()

    answer = Answer(
        text=proven.text,
        mode=written.mode,
        conversation_id=question.conversation_id or ports.new_id(),
        message_id=message_id,
        citations=proven.citations,
        sources=sources,
        no_relevant_info=not written.knows,
        best_score=found.best_score,
        threshold=settings.threshold,
        model=written.model,
        usage=Usage(
            written.usage.input_tokens + (embedding.usage.input_tokens if embedding else 0), written.usage.output_tokens
        ),
        dropped_citations=proven.dropped,
        embedding_cached=embedding is not None and embedding.cached,
        warnings=warnings,
        timings_ms=timer.timings_ms,
    )
    with timer.stage("save"):
        _save(question, user_message_id, answer, who, ports, warnings)
    return answer


def _embedding(
    question: str, who: Principal, ports: QueryPorts, deadline: Deadline, warnings: list[str]
) -> QuestionEmbedding | None:
    try:
        return embed_question(
            question,
            tenant=who.tenant,
            embedder=ports.embedder,
            cache=ports.cache,
            ttl_s=ports.settings.embedding_cache_ttl_s,
            deadline=deadline,
        )
    except DependencyError:
        warnings.append("embeddings_unavailable")
        return None


def _history(question: Question, who: Principal, ports: QueryPorts, warnings: list[str]) -> Sequence[Message]:
    if not question.conversation_id:
        return ()
    try:
        return ports.conversations.recent_messages(
            who.tenant, who.user, question.conversation_id, limit=ports.settings.history_messages
        )
    except DependencyError:
        warnings.append("history_unavailable")
        return ()


def _write(
    question: str,
    standalone: str,
    sources: Sequence[Passage],
    history: Sequence[Message],
    language: str,
    ports: QueryPorts,
    deadline: Deadline,
    warnings: list[str],
) -> _Written:
    settings = ports.settings
    if ports.chat is not None:
        messages = grounded_messages(
            question, sources, history, language=language, default_language=settings.default_language
        )
        try:
            completion = ports.chat.complete(
                messages,
                max_output_tokens=settings.max_output_tokens,
                temperature=settings.temperature,
                timeout_s=deadline.cut("chat", settings.request_deadline_s, reserve_s=SAVE_RESERVE_S),
            )
        except DependencyError:
            warnings.append("model_unavailable")
        else:
            dont_know = texts_for(language, settings.default_language).dont_know
            if completion.finish_reason == "length":
                warnings.append("answer_cut_short")
            if completion.text.strip().rstrip(".").casefold() == dont_know.rstrip(".").casefold():
                return _Written(CitedAnswer(dont_know, (), 0), "generated", completion.model, completion.usage, False)
            answer = cite(completion.text, sources)
            if answer.citations:
                return _Written(answer, "generated", completion.model, completion.usage)
            warnings.append("answer_not_supported")
            return _Written(extractive_answer(standalone, sources), "extractive", completion.model, completion.usage)
    return _Written(extractive_answer(standalone, sources), "extractive")


def _save(
    question: Question, message_id: str, answer: Answer, who: Principal, ports: QueryPorts, warnings: list[str]
) -> None:
    now = ports.clock.now().isoformat(timespec="milliseconds")
    details = {
        "mode": answer.mode,
        "no_relevant_info": answer.no_relevant_info,
        "best_score": answer.best_score,
        "model": answer.model,
        "sources": [source.chunk_id for source in answer.sources],
    }
    turns = [
        Message(message_id, "user", question.text, now),
        Message(answer.message_id, "assistant", answer.text, now, answer.citations, details),
    ]
    try:
        ports.conversations.save_turns(
            who.tenant,
            who.user,
            answer.conversation_id,
            title=normalized(question.text)[:TITLE_CHARACTERS],
            turns=turns,
        )
    except DependencyError:
        warnings.append("not_saved")
