"""The conversation: its history before a question, and the turns saved after it."""

from collections.abc import Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, replace

from functions.query.answer import Answer, Question, facts_of
from functions.query.ports import QueryPorts
from functions.query.understanding.question import normalized
from functions.query.understanding.summary import Summarized, refresh_summary, summary_due
from functions.query.withholding import documents_of, stored_documents, unreadable_messages
from functions.query.writing.localization import without_notes
from shared.deadline import Deadline, Workers
from shared.errors import DependencyError, NotFound
from shared.language import language_of
from shared.models import Conversation, Message, Principal, UnansweredQuestion
from shared.receipts import StoredReceipt

TITLE_CHARACTERS = 80

_WORKERS = Workers("summary")


@dataclass(frozen=True, slots=True)
class HistoryContext:
    """The last messages of the conversation, oldest first, and its head if summaries are enabled."""

    messages: Sequence[Message] = ()
    conversation: Conversation | None = None
    warnings: Sequence[str] = ()

    @property
    def documents(self) -> Set[str]:
        """The ids of the documents that its answers were made from."""
        return frozenset[str]().union(*map(documents_of, self.messages))

    @property
    def summary(self) -> str:
        """The summary of what was said before `messages`; empty if there is none."""
        return self.conversation.summary if self.conversation else ""


def read_history(question: Question, principal: Principal, ports: QueryPorts) -> HistoryContext:
    """Return the conversation so far, as the client sent it or as it is stored; empty, with a warning, if unreadable.

    Answers made from documents that the principal may no longer read are left out, and so is the summary of earlier
    messages, because parts of a summary cannot be removed. Session mode reads up to `session_messages`. Raises
    `NotFound` for a conversation that is not the principal's.
    """
    settings = ports.settings
    is_session = (question.mode or settings.query_mode) == "session"
    limit = settings.session_messages if is_session else settings.history_messages
    if not question.conversation_id:
        return HistoryContext(_as_said(question.history[-limit:] if limit else ()))
    address = principal.tenant, principal.user, question.conversation_id
    try:
        messages = ports.conversations.recent_messages(*address, limit=limit)
        is_restricted = ports.is_restricted()
        if is_restricted:
            hidden = unreadable_messages(principal.tenant, messages, ports.registry)
            messages = [each for each in messages if each.message_id not in hidden]
        has_summary = ports.rewriter is not None and settings.summary_every_turns > 0 and not is_restricted
        return HistoryContext(_as_said(messages), ports.conversations.get(*address) if has_summary else None)
    except DependencyError:
        return HistoryContext(warnings=["history_unavailable"])


def _as_said(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages without the notes that were added to answers."""
    return [
        replace(each, content=without_notes(each.content)) if each.role == "assistant" else each for each in messages
    ]


def begin_summary(
    history: HistoryContext, principal: Principal, ports: QueryPorts, deadline: Deadline
) -> Future[Summarized] | None:
    """Start to summarise a long conversation in parallel; None if no summary is due."""
    chat, conversation = ports.rewriter, history.conversation
    if chat is None or conversation is None or not summary_due(conversation, ports.settings):
        return None
    return _WORKERS.submit(
        refresh_summary,
        conversation,
        tenant=principal.tenant,
        user=principal.user,
        conversations=ports.conversations,
        chat=chat,
        settings=ports.settings,
        deadline=deadline,
    )


def finish_summary(summary: Future[Summarized] | None, deadline: Deadline) -> Summarized:
    """Wait for a started summary until the deadline. A late one is ignored, and its cost is not counted."""
    if summary is None:
        return Summarized()
    try:
        return summary.result(deadline.left())
    except TimeoutError:
        return Summarized()


def document_spoken_of(message: Message) -> str:
    """Return the id of the document that an answer cites first, or is told of without citing it; "" without one."""
    if message.citations:
        return message.citations[0].document_id
    spoken_of = message.details.get("spoken_of")
    return spoken_of if isinstance(spoken_of, str) else ""


def save_turns(
    question: Question,
    user_message_id: str,
    answer: Answer,
    principal: Principal,
    ports: QueryPorts,
    unanswered: UnansweredQuestion | None = None,
    receipt: StoredReceipt | None = None,
    spoken_of: str = "",
) -> bool:
    """Save question and answer in one transaction; return False, not an error, if that is not certain.

    The record of an `unanswered` question, and the `receipt` of the answer, are saved with them, and the id of the one
    document that the answer is told of without citing it. If the conversation was erased while the question was
    answered, nothing is saved.
    """
    now = ports.clock.now().isoformat(timespec="milliseconds")
    details = {
        **facts_of(answer),
        "band": answer.band.value,
        "confidence": answer.confidence,
        "documents": stored_documents(answer.named),
        **({"spoken_of": spoken_of} if spoken_of else {}),
        "language": answer.language or language_of(answer.text),
        "rewritten": answer.rewritten,
        "sources": [
            {
                "chunk_id": source.chunk_id,
                "key": source.key,
                "page_start": source.page_start,
                "page_end": source.page_end,
                "score": round(source.score, 4),
                "band": band.value,
            }
            for source, band in zip(answer.sources, answer.bands, strict=True)
        ],
    }
    turns = [
        Message(user_message_id, "user", question.text, now),
        Message(answer.message_id, "assistant", answer.text, now, answer.citations, details, answer.claims),
    ]
    title = normalized(question.text)[:TITLE_CHARACTERS]
    try:
        ports.conversations.save_turns(
            principal.tenant,
            principal.user,
            answer.conversation_id,
            title=title,
            turns=turns,
            is_new=not question.conversation_id,
            unanswered=unanswered,
            receipt=receipt,
        )
    except (DependencyError, NotFound):
        return False
    return True
