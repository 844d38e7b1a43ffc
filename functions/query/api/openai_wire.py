"""What the routes below /v1 share: OpenAI's form of messages, errors and token counts, and its one model.

A client sends the whole conversation. Its last message is the question; system messages say how to write, never what
is true; and the list of citations below an earlier answer is removed again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from functions.query.answer import Answer, Question
from functions.query.api.schemas import (
    BandOut,
    Body,
    CitationOut,
    FilterField,
    Language,
    Out,
    PreferencesIn,
    QueryOut,
    SupportOut,
)
from functions.query.api.transcript import escaped
from functions.query.decision import Band
from functions.query.grounding.sanitizing import plain_name
from functions.query.history import TITLE_CHARACTERS
from functions.query.retrieval.filters import checked_filter
from functions.query.understanding.question import QueryMode, normalized, shortened
from functions.query.writing.localization import Refusal, texts_for
from shared.errors import ClientError, InvalidRequest, NotFound, cut_name
from shared.language import language_of
from shared.models import Citation, Message

MODEL = "recto"
"""The only model: which one writes behind it is the operator's choice."""
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_ERRAND = re.compile(r"\s*### Task:.*?\{\s*\"(title|tags|follow_ups|queries|text)\"\s*:", re.DOTALL | re.IGNORECASE)
_CHAT = "<chat_history>"
_FIRST_QUESTION = re.compile(r"^USER: *(.+)$", re.MULTILINE)
_ERRAND_CHARACTERS = 10_000
"""Characters at the beginning in which an errand's form must stand."""
_SOURCES_BELOW = re.compile(r"\n\n---\n(?:\*[^*\n]+\*\n\n)?(?:- \[\d+\] [^\n]*(?:\n|\Z))+\s*\Z")


class NotSupported(ClientError):
    """A parameter of OpenAI's API that is not supported here; `path` names it."""

    code = "unsupported_parameter"

    def __init__(self, path: str) -> None:
        super().__init__(f"Unsupported parameter: '{path}' is not supported with this model in the form it has here.")
        self.path = path


class NoSuchModel(NotFound):
    """A model that is not offered."""

    code = "model_not_found"

    def __init__(self, model: str) -> None:
        super().__init__(f"The model '{cut_name(model)}' does not exist; there is one: '{MODEL}'.")
        self.path = "model"


def check_model(model: str) -> None:
    """Raise `NoSuchModel` unless it is ours."""
    if model != MODEL:
        raise NoSuchModel(model)


# --- Requests ---


def _joined(content: object) -> object:
    """Return the text of a message: it may come in parts. Raises `ValueError` for a part that is not text."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return content
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS]
    if len(texts) < len(content) or not all(isinstance(text, str) for text in texts):
        raise ValueError("only parts of type text can be read")
    return "\n".join(map(str, texts))


_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")
_PART = {"type": "object", "required": ["type", "text"], "properties": {"type": {"enum": sorted(_TEXT_PARTS)}}}
MessageText = Annotated[
    str,
    BeforeValidator(_joined),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": _PART}]}),
]
Ignored = Annotated[Any, Field(description="Accepted, without effect.")]
Refused = Annotated[Any, Field(description="Refused, unless it says what is done anyway.")]


class TurnIn(Body):
    """One message of the conversation; what else a client repeats of an answer is ignored."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant"]
    content: MessageText = ""


class RectoIn(Body):
    """What `POST /query` takes besides the question, and whether the text ends with the list of citations."""

    top_k: int | None = Field(None, ge=1, le=50, description="The most passages to answer from.")
    filter: FilterField = Field(None, description="Which passages to search, by their metadata.")
    language: Language | None = Field(None, description="Language of the answer: `lt`, `lt-LT`, `Lithuanian`.")
    mode: QueryMode | None = Field(None, description="Search for the `question` or the `session`.")
    preferences: PreferencesIn | None = Field(None, description="How to write; before the system message.")
    citation_list: bool | None = Field(
        None, description="End the text with a Markdown list of its citations; default: in chat completions only."
    )


def refuse_unsupported(body: Body, neutral: Mapping[str, Sequence[object]]) -> None:
    """Raise `NotSupported` if a field has none of its neutral values; None is neutral for all."""
    for name, values in neutral.items():
        if (value := getattr(body, name)) is not None and value not in values:
            raise NotSupported(name)


def question_of(turns: Sequence[TurnIn], recto: RectoIn, *, instructions: str = "", is_saved: bool) -> Question:
    """Return the question and the conversation before it. Raises `InvalidRequest` and `InvalidFilter`."""
    *earlier, last = [turn for turn in turns if turn.role in {"user", "assistant"}] or [TurnIn(role="assistant")]
    if last.role != "user" or not normalized(last.content):
        raise InvalidRequest("The last message must be the user's, with a text: it is the question.")
    wishes = " ".join([instructions, *(turn.content for turn in turns if turn.role in {"system", "developer"})]).strip()
    given = recto.preferences.model_dump(exclude_none=True) if recto.preferences else {}
    return Question(
        text=last.content,
        top_k=recto.top_k,
        filter=checked_filter(recto.filter),
        language=recto.language or "",
        mode=recto.mode,
        preferences={"style": wishes, **given} if wishes else given,
        history=[_message(turn) for turn in earlier if turn.content],
        is_saved=is_saved,
    )


def errand_of(text: str) -> str | None:
    """Return the answer to an errand of a chat client (Open WebUI's), None for a question.

    After an answer the client asks the same model for a title, tags or follow-up questions of the chat, as JSON. The
    documents say nothing about that: the title is the chat's first question, and lists are empty.
    """
    form, _, chat = text.partition(_CHAT)
    wanted = _ERRAND.match(form[:_ERRAND_CHARACTERS]) if chat else None
    if wanted is None:
        return None
    first = _FIRST_QUESTION.search(chat)
    title = shortened(normalized(first[1]), TITLE_CHARACTERS) if first else ""
    filled: object = {"title": title, "text": ""}.get(wanted[1], [])
    return json.dumps({wanted[1]: filled}, ensure_ascii=False)


def _message(turn: TurnIn) -> Message:
    if turn.role == "user":
        return Message("", "user", turn.content, "")
    return Message("", "assistant", _SOURCES_BELOW.sub("", turn.content), "")


# --- Answers ---


class RectoOut(Out):
    """What OpenAI's form has no field for, as in the answer of `POST /query`."""

    mode: str
    no_relevant_info: bool
    refusal: Refusal | None
    handoff_offered: bool
    band: BandOut
    confidence: float | None
    support: SupportOut
    rewritten: str | None
    cached: bool
    cost_usd: float | None
    warnings: list[str]
    suggestions: list[str] = Field(description="Questions to ask next that the documents answer, at most three.")
    conversation_id: str = Field(description="Empty unless the answer was stored.")
    message_id: str

    @classmethod
    def of(cls, answer: Answer) -> "RectoOut":
        """Return these fields of an answer."""
        return cls.model_validate(QueryOut.of(answer))


def citations_of(answer: Answer) -> list[CitationOut]:
    """Return an answer's citations."""
    return [CitationOut.model_validate(each) for each in answer.citations]


def in_markdown(text: str) -> str:
    """Return an answer's text, or a piece of it, for clients that show Markdown: a line ends where it does here."""
    return _LINE_END.sub("  \n", text)


def sources_below(answer: Answer, question: Question) -> str:
    """Return what stands below an answer's text: its citations as a Markdown list, and a caution if it is unsure.

    The caution is in the language of the question. Empty for an answer without citations.
    """
    lines = [f"- [{each.n}] {_place(each)}: “{escaped(plain_name(each.quote))}”" for each in answer.citations]
    if lines and answer.band is Band.LOW:
        lines.insert(0, f"*{texts_for(question.language or language_of(question.text)).unsure}*\n")
    return "\n\n---\n" + "\n".join(lines) if lines else ""


def _place(citation: Citation) -> str:
    """Return title, file name and pages: many filings have the same title."""
    place = f"*{escaped(plain_name(citation.title))}*"
    if citation.file_name:
        place += f" ({escaped(plain_name(citation.file_name))})"
    if citation.page_end > citation.page_start:
        return f"{place}, pp. {citation.page_start}–{citation.page_end}"
    return f"{place}, p. {citation.page_start}" if citation.page_start else place
