"""The summary of a long conversation, for messages that are no longer in the prompt; renewed every few turns.

Only a model writes it. It covers what was said before the current question, so that it can be written while that is
answered. If it fails, the former summary stays.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from functions.query.ports import ChatModel, ConversationHistory
from functions.query.understanding.model_rewriting import fenced
from functions.query.understanding.question import normalized, reviewed_text, shortened
from shared.deadline import Deadline
from shared.errors import DependencyError, NotFound
from shared.models import NO_USAGE, ChatMessage, Conversation, Message, ModelRequest, Usage
from shared.settings import Settings

OUTPUT_TOKENS = 400
TIMEOUT_S = 8.0
RESERVE_S = 3.0
MAX_CHARACTERS = 1_500
"""Characters of a summary at most."""
MAX_MESSAGES = 40
"""Messages added to one summary at most, the latest ones."""
MESSAGE_CHARACTERS = 1_000

_RULES = reviewed_text("summary_prompt.txt")
_LINK = re.compile(r"!?\[[^\]]*\]\([^)]*\)|(?:https?://|www\.)\S+", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


class Summarized(NamedTuple):
    """A new summary; with an empty text the former one stays."""

    text: str = ""
    usage: Usage = NO_USAGE
    warnings: tuple[str, ...] = ()


def summary_due(conversation: Conversation, settings: Settings) -> bool:
    """Say whether the conversation is long and `summary_every_turns` turns were added since its last summary."""
    new_messages = conversation.message_count - conversation.summarized
    return (
        settings.summary_every_turns > 0
        and conversation.message_count >= settings.summary_after_messages
        and new_messages >= 2 * settings.summary_every_turns
    )


def next_summary(
    former: str, messages: Sequence[Message], *, chat: ChatModel, settings: Settings, deadline: Deadline
) -> Summarized:
    """Update the `former` summary with `messages`. Never raises `DependencyError`.

    It goes into later prompts: links are removed, and a summary with a number that was never said is dropped.
    """
    said = {"notes": former, "said": [_turn(message) for message in messages[-MAX_MESSAGES:]]}
    prompt = [ChatMessage("system", _RULES), ChatMessage("user", fenced("conversation", said))]
    try:
        request = ModelRequest(prompt, max_output_tokens=min(OUTPUT_TOKENS, settings.max_output_tokens))
        completion = chat.complete(request, timeout_s=deadline.cut("chat", TIMEOUT_S, reserve_s=RESERVE_S))
    except DependencyError as error:
        return Summarized(usage=error.usage, warnings=(error.warning_about("summary"),))
    text = shortened(normalized(_LINK.sub("", completion.text)), MAX_CHARACTERS)
    known = set(_NUMBER.findall(" ".join((former, *(message.content for message in messages)))))
    if not text or not set(_NUMBER.findall(text)) <= known:
        return Summarized(usage=completion.usage, warnings=("summary_unusable",))
    return Summarized(text, completion.usage)


def refresh_summary(
    conversation: Conversation,
    *,
    tenant: str,
    user: str,
    conversations: ConversationHistory,
    chat: ChatModel,
    settings: Settings,
    deadline: Deadline,
) -> Summarized:
    """Write and store the conversation's summary if it is due. Never raises `DependencyError`."""
    if not summary_due(conversation, settings):
        return Summarized()
    limit = min(conversation.message_count - conversation.summarized, MAX_MESSAGES)
    try:
        messages = conversations.recent_messages(tenant, user, conversation.conversation_id, limit=limit)
        made = next_summary(conversation.summary, messages, chat=chat, settings=settings, deadline=deadline)
        if made.text:
            conversations.save_summary(
                tenant, user, conversation.conversation_id, summary=made.text, upto=conversation.message_count
            )
    except (DependencyError, NotFound):
        return Summarized(warnings=("summary_unavailable",))
    return made


def _turn(message: Message) -> dict[str, str]:
    return {"role": message.role, "text": shortened(normalized(message.content), MESSAGE_CHARACTERS)}
