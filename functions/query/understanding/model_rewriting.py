"""Rewriting a follow-up into a standalone question by a model: one cheap call, whose output is checked.

The rewrite must use only what was said: it may not add links, numbers or instructions, nor change the subject. A
rewrite that does is dropped, and the heuristic's is used.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from functions.query.ports import ChatModel
from functions.query.understanding.parts import MAX_PARTS
from functions.query.understanding.question import normalized, reviewed_text, shortened
from shared import lexical
from shared.deadline import Deadline
from shared.language import language_of
from shared.models import ChatMessage, Completion, Message, ModelRequest, Usage
from shared.settings import Settings

SCHEMA_NAME = "standalone_question"
MESSAGE_CHARACTERS = 1_000
"""Characters of an earlier message in the prompt."""
LONGER_CHARACTERS = 300
"""Characters by which a rewrite may be longer than the typed question."""
MAX_NEW = 0.5
"""Share of a rewrite's rare words that may be neither in the question nor in the conversation."""
MAX_NEW_IN_VARIATION = 0.8
"""The same for a variation, which is useful for its new words; one in five must tie it to the question."""
MIN_RARITY = 3.0
"""Commoner words do not count as new."""
RESERVE_S = 10.0
"""Seconds kept of the deadline for searching and writing."""

_RULES = reviewed_text("rewrite_prompt.txt")
_TRANSLATION_RULES = reviewed_text("translate_prompt.txt")
_CODE = re.compile(r"[a-z]{2,3}")
_NUMBER = re.compile(r"\d+")
_LINK = re.compile(r"https?:|www\.|\]\(|!\[|<[a-z/!]", re.IGNORECASE)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|rule|above|previous|prior|prompt|source)"
    r"|\bsystem prompt\b|\byou are now\b|\bact as\b|^\s*(?:system|assistant|user)\s*:|<\||\[/?inst",
    re.IGNORECASE,
)


class Rewrite(NamedTuple):
    """The model's checked output. `question` is empty if the rewrite is not usable.

    `parts` are two to four, or none for one question; None if the model does not say, or not in a usable form.
    """

    question: str
    language: str
    variations: tuple[str, ...]
    model: str
    usage: Usage
    parts: tuple[str, ...] | None = None


def rewrite_with_model(
    question: str, history: Sequence[Message], *, chat: ChatModel, settings: Settings, deadline: Deadline
) -> Rewrite:
    """Request the standalone question from the model. Raises `DependencyError` when it fails or is late."""
    messages = rewrite_messages(question, history, variations=settings.query_variations)
    completion = _asked(chat, messages, response_format(), settings=settings, deadline=deadline)
    said = " ".join((question, *(message.content[:MESSAGE_CHARACTERS] for message in history)))
    spoken = language_of(question) or "en"

    def is_usable(text: str, max_new: float) -> bool:
        return bool(text) and _is_usable(text, question, said, language=spoken, max_new=max_new)

    reply = object_in(completion.text)
    text, code = _text(reply.get("question")), _text(reply.get("language")).lower()
    listed = reply.get("variations")
    others = dict.fromkeys(map(_text, listed if isinstance(listed, list) else ()))
    known = {text.casefold(), question.casefold()}
    variations = [each for each in others if each.casefold() not in known and is_usable(each, MAX_NEW_IN_VARIATION)]
    return Rewrite(
        question=text if is_usable(text, MAX_NEW) else "",
        language=code if _CODE.fullmatch(code) else "",
        variations=tuple(variations[: settings.query_variations]),
        model=completion.model,
        usage=completion.usage,
        parts=_parts(reply.get("parts"), lambda part: is_usable(part, MAX_NEW)),
    )


def _parts(listed: object, is_usable: Callable[[str], bool]) -> tuple[str, ...] | None:
    """Return the parts in a reply; one part is none. None if there is no list, or any part is not usable."""
    if not isinstance(listed, list):
        return None
    parts = tuple(dict.fromkeys(map(_text, listed)))
    if len(parts) < 2:
        return ()
    return parts if len(parts) <= MAX_PARTS and all(map(is_usable, parts)) else None


class Translation(NamedTuple):
    """The model's checked translation of a question; `question` is empty if it is not usable."""

    question: str
    model: str
    usage: Usage


def translate_with_model(
    question: str, language: str, *, chat: ChatModel, settings: Settings, deadline: Deadline
) -> Translation:
    """Request the question in another language from the model. Raises `DependencyError` when it fails or is late."""
    messages = [
        ChatMessage("system", _TRANSLATION_RULES.replace("{language}", language)),
        ChatMessage("user", fenced("question", {"question": question})),
    ]
    completion = _asked(chat, messages, _translation_format(), settings=settings, deadline=deadline)
    text = _text(object_in(completion.text).get("question"))
    usable = bool(text) and _adds_nothing_unsafe(text, question, question) and language_of(text) in (language, "")
    return Translation(text if usable else "", completion.model, completion.usage)


def _asked(
    chat: ChatModel,
    messages: Sequence[ChatMessage],
    response_format: Mapping[str, object],
    *,
    settings: Settings,
    deadline: Deadline,
) -> Completion:
    timeout_s = deadline.cut("chat", settings.rewrite_timeout_s, reserve_s=min(RESERVE_S, deadline.left() / 2))
    request = ModelRequest(messages, settings.rewrite_output_tokens, response_format=response_format)
    return chat.complete(request, timeout_s=timeout_s)


def rewrite_messages(question: str, history: Sequence[Message], *, variations: int) -> Sequence[ChatMessage]:
    """Build the prompt: rules, then the conversation and the question as one fenced JSON object."""
    conversation = {
        "conversation": [
            {"role": turn.role, "text": shortened(normalized(turn.content), MESSAGE_CHARACTERS)} for turn in history
        ],
        "question": question,
    }
    rules = _RULES.replace("{variations}", str(variations))
    return [ChatMessage("system", rules), ChatMessage("user", fenced("conversation", conversation))]


def fenced(name: str, value: object) -> str:
    """Write a value as JSON between `<name>` and `</name>`; no text in it can close the JSON or the fence."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"<{name}>\n{data.replace('<', '\\u003c').replace('>', '\\u003e')}\n</{name}>"


@cache
def _translation_format() -> Mapping[str, object]:
    """Return OpenAI's structured-output option: an object with the question."""
    return json_format("translated_question", question={"type": "string"})


@cache
def response_format() -> Mapping[str, object]:
    """Return OpenAI's structured-output option: an object with question, language, variations and parts."""
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    return json_format(SCHEMA_NAME, question=text, language=text, variations=texts, parts=texts)


def json_format(name: str, **properties: object) -> Mapping[str, object]:
    """Return OpenAI's structured-output option: an object with these properties, written in this order."""
    schema = object_schema(**properties)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def object_schema(**properties: object) -> Mapping[str, object]:
    """Return the schema of an object; "strict" needs every property required and no others."""
    return {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}


def object_in(text: str) -> Mapping[str, Any]:
    """Return the JSON object in a model's text, fenced or not; an empty one if there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return normalized(value) if isinstance(value, str) else ""


def _is_usable(text: str, question: str, said: str, *, language: str, max_new: float) -> bool:
    """Say whether a rewrite is short and adds no links, instructions, numbers or subjects to what was said."""
    if not _adds_nothing_unsafe(text, question, said):
        return False
    table = lexical.background(language)
    stems = {terms[0][0] for terms in lexical.words_of(text, language) if terms}
    rare = {stem for stem in stems if table.get(stem, lexical.MAX_RARITY) >= MIN_RARITY}
    return len(rare - {term for term, _ in lexical.terms_of(said, language)}) <= max_new * len(rare)


def _adds_nothing_unsafe(text: str, question: str, said: str) -> bool:
    """Say whether a text is about as long as the question and adds no links, instructions or numbers to what was said.

    Links and instructions that the user typed are allowed.
    """
    return (
        len(text) <= len(question) + LONGER_CHARACTERS
        and not any(pattern.search(text) and not pattern.search(question) for pattern in (_LINK, _ORDERS))
        and set(_NUMBER.findall(text)) <= set(_NUMBER.findall(said))
    )
