"""What was said before, and what is to be remembered of this."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass

from functions.query.answer import Answer, Question
from functions.query.deadline import Deadline
from functions.query.understanding.rewriting import normalized
from functions.query.understanding.summary import Summarized, refresh_summary, summary_due
from functions.query.understanding.understood import QueryMode
from functions.query.wiring import QueryPorts
from shared.errors import DependencyError
from shared.models import Conversation, Message, Principal
from shared.settings import Settings

TITLE_CHARACTERS = 80

_POOL = ThreadPoolExecutor(4, thread_name_prefix="save")


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
    return _POOL.submit(
        refresh_summary,
        conversation,
        tenant=who.tenant,
        user=who.user,
        conversations=ports.conversations,
        chat=chat,
        settings=ports.settings,
        deadline=deadline,
    )


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
        _POOL.submit(write).result(deadline.left())
    except (DependencyError, NotInTime):
        return False
    return True


def _details(answer: Answer) -> dict[str, object]:
    """What is worth knowing of an answer later on, for feedback and for whoever looks after the documents."""
    decision = answer.decision
    return {
        "mode": answer.mode,
        "no_relevant_info": answer.no_relevant_info,
        "best_score": answer.best_score,
        "score": decision.score if decision else None,
        "band": answer.band.value,
        "confidence": answer.confidence,
        "model": answer.model,
        "cached": answer.cached,
        "sources": [source.chunk_id for source in answer.sources],
        "near_misses": [[miss.chunk_id, round(miss.score, 4)] for miss in decision.near_misses] if decision else [],
    }
