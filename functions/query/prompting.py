"""What the model is shown: rules, the conversation, numbered sources behind a fence, the question."""

import re
from collections.abc import Sequence

from functions.query.localization import system_prompt
from functions.query.passages import Passage
from shared.models import ChatMessage, Message

_FENCE = re.compile(r"<(?=\s*/?\s*source\b)", re.IGNORECASE)
_HISTORY_CHARACTERS = 2_000
"""Characters of one earlier message that are repeated to the model; an answer's gist stands at its beginning."""


def within_budget(passages: Sequence[Passage], budget_tokens: int) -> Sequence[Passage]:
    """Keep the best passages whose stored token counts fit the budget; the first is always kept."""
    kept: list[Passage] = []
    used = 0
    for passage in passages:
        if kept and used + passage.token_count > budget_tokens:
            break
        kept.append(passage)
        used += passage.token_count
    return kept


def grounded_messages(
    question: str, passages: Sequence[Passage], history: Sequence[Message], *, language: str, default_language: str
) -> Sequence[ChatMessage]:
    """Build the whole prompt: passage `i` is source `i + 1`."""
    sources = "\n\n".join(_source(number, passage) for number, passage in enumerate(passages, start=1))
    return [
        ChatMessage("system", system_prompt(language, default_language)),
        *(ChatMessage(turn.role, turn.content[:_HISTORY_CHARACTERS]) for turn in history),
        ChatMessage("user", f"{sources}\n\nQuestion: {_escaped(question)}"),
    ]


def _source(number: int, passage: Passage) -> str:
    page = f' page="{_attribute(passage.page_label or str(passage.page_start))}"' if passage.page_start else ""
    return f'<source n="{number}" title="{_attribute(passage.title)}"{page}>\n{_escaped(passage.text)}\n</source>'


def _escaped(text: str) -> str:
    """Keep text from closing the fence or opening one of its own."""
    return _FENCE.sub("&lt;", text)


def _attribute(text: str) -> str:
    return _escaped(text).replace('"', "'").replace("\n", " ").replace(">", "&gt;")
