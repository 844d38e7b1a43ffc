"""What the emulated model makes of a conversation: the question that stands alone, or the notes of it.

It understands no more than the query function does without a model: the same heuristic, so that the path through the
model is walked on a laptop, and the words come from the conversation.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from functions.query.understanding.language import language_of
from functions.query.understanding.rewriting import standalone_question
from shared.models import Message, Role

_FENCE = re.compile(r"<conversation>\n(.*)\n</conversation>", re.DOTALL)
_NOTES_CHARACTERS = 600


def conversing(texts: Sequence[str]) -> str | None:
    """Return the rewrite or the notes, when it is one of the two that the last text asks for."""
    match = _FENCE.fullmatch(texts[-1].strip()) if texts else None
    if match is None:
        return None
    try:
        asked = orjson.loads(match.group(1))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(asked, dict):
        return None
    if isinstance(asked.get("question"), str) and isinstance(asked.get("conversation"), list):
        return _rewrite(asked["question"], asked["conversation"])
    if isinstance(asked.get("notes"), str) and isinstance(asked.get("said"), list):
        return _notes(asked["notes"], asked["said"])
    return None


def _rewrite(question: str, conversation: Sequence[Mapping[str, Any]]) -> str:
    language = language_of(question)
    history = [
        Message(str(number), _role(turn), str(turn.get("text", "")), "") for number, turn in enumerate(conversation)
    ]
    text = standalone_question(question, history, language)
    return orjson.dumps({"question": text, "language": language, "variations": []}).decode()


def _notes(former: str, said: Sequence[Mapping[str, Any]]) -> str:
    asked = [str(turn.get("text", "")) for turn in said if _role(turn) == "user"]
    return " ".join([former, *asked])[-_NOTES_CHARACTERS:].strip()


def _role(turn: Mapping[str, Any]) -> Role:
    return "assistant" if turn.get("role") == "assistant" else "user"
