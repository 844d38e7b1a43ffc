"""What was said before, and what is to be remembered of this."""

from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass

from functions.query.answer import Answer, Question
from functions.query.ports import QueryPorts
from functions.query.understanding.question import QueryMode, normalized
from functions.query.understanding.summary import Summarized, refresh_summary, summary_due
from shared.deadline import Deadline, Workers, call_within
from shared.errors import DependencyError
from shared.models import Conversation, Message, Principal
from shared.settings import Settings

TITLE_CHARACTERS = 80

_WORKERS = Workers("save")


@dataclass(frozen=True, slots=True)
class Past:
    """The conversation so far: its last messages, oldest first, and its head where summaries are made."""

    history: Sequence[Message] = ()
    conversation: Conversation | None = None

    @property
    def summary(self) -> str:
        """What was said before `history`, in a few sentences; empty where there is none."""
        return self.conversation.summary if self.conversation else ""


NOTHING_SAID = Past()


def mode_of(question: Question, settings: Settings) -> QueryMode:
    """Return what is searched for: as the request says, else as it is set."""
    return question.mode or settings.query_mode


def past_of(question: Question, who: Principal, ports: QueryPorts, warnings: list[str]) -> Past:
    """Return what was said before; nothing where the conversation begins, or cannot be read.

    Where the whole session is asked, that is as much of it as may be read back.

    Raises `NotFound` for a conversation that is not theirs.
    """
    if not question.conversation_id:
        return NOTHING_SAID
    settings = ports.settings
    whole = mode_of(question, settings) == "session"
    limit = settings.session_messages if whole else settings.history_messages
    named = who.tenant, who.user, question.conversation_id
    try:
        history = ports.conversations.recent_messages(*named, limit=limit)
        summed_up = ports.rewriter is not None and settings.summary_every_turns > 0
        return Past(history, ports.conversations.get(*named) if summed_up else None)
    except DependencyError:
        warnings.append("history_unavailable")
        return NOTHING_SAID


def begin_summary(past: Past, who: Principal, ports: QueryPorts, deadline: Deadline) -> Future[Summarized] | None:
    """Begin to sum up a conversation that has grown long, beside the answering; None where there is nothing to do."""
    chat, conversation = ports.rewriter, past.conversation
    if chat is None or conversation is None or not summary_due(conversation, ports.settings):
        return None
    return _WORKERS.submit(
        refresh_summary,
        conversation,
        tenant=who.tenant,
        user=who.user,
        conversations=ports.conversations,
        chat=chat,
        settings=ports.settings,
        deadline=deadline,
    )


def finished(summing: Future[Summarized], deadline: Deadline) -> Summarized:
    """Wait for a summary that was begun; what it cost is not known when it is late."""
    try:
        return summing.result(deadline.left())
    except NotInTime:
        return Summarized()


def save(
    question: Question,
    message_id: str,
    answer: Answer,
    who: Principal,
    ports: QueryPorts,
    deadline: Deadline,
) -> bool:
    """Remember both turns in one transaction; say whether they are remembered for certain.

    Waits for no longer than the deadline: an answer that could not be saved is still an answer.
    """
    now = ports.clock.now().isoformat(timespec="milliseconds")
    turns = [
        Message(message_id, "user", question.text, now),
        Message(answer.message_id, "assistant", answer.text, now, answer.citations, _details(answer)),
    ]

    def write() -> None:
        ports.conversations.save_turns(
            who.tenant,
            who.user,
            answer.conversation_id,
            title=normalized(question.text)[:TITLE_CHARACTERS],
            turns=turns,
        )

    try:
        call_within(deadline.left(), "conversations", write)
    except DependencyError:
        return False
    return True


def known_of(answer: Answer) -> dict[str, object]:
    """What is worth knowing of an answer later on, for who looks after the documents: logged and stored, so no texts.

    `near_misses` are the passages that came nearest to being an answer, where there was none: ids and relevance.
    """
    near = answer.decision.near_misses if answer.decision else ()
    return {
        "mode": answer.mode,
        "no_relevant_info": answer.no_relevant_info,
        "refusal": answer.refusal,
        "best_score": answer.best_score,
        "relevance": round(answer.relevance, 4),
        "threshold": answer.threshold,
        "near_misses": [[miss.chunk_id, miss.score] for miss in near],
        "model": answer.model,
        "finish_reason": answer.finish_reason,
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
        "cached": answer.cached,
    }


def _details(answer: Answer) -> dict[str, object]:
    """What is kept of an answer beside its text: for feedback, too."""
    sources = [source.chunk_id for source in answer.sources]
    return {**known_of(answer), "band": answer.band.value, "confidence": answer.confidence, "sources": sources}
