"""The emulated chat model, without a language model: answers, standalone questions and summaries.

An answer is what the query function tells of the given sources without a model, so that the model's code path runs on a
laptop too: the prompt it reads is Recto's, sources fenced as `<source n="1" title="…" page="3">…</source>`, then
`Question: …`. For the same reason a follow-up is rewritten by the heuristic that is used without a model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import orjson

from functions.query.retrieval.passages import Passage
from functions.query.understanding.rewriting import inherited_words
from functions.query.writing.extractive import extractive_claims
from local.openai.engine import EmbeddingEngine
from shared.language import language_of
from shared.models import Message, Role, SourceType
from shared.text import statement_spans

REFUSAL = "I don't have that information in the sources."

_MIN_SIMILARITY = 0.35
"""Cosine of the question and a sentence of the answer, or its source, below which all are about something else."""

_SOURCE = re.compile(r'<source\b((?:[^">]|"[^"]*")*)>\n?(.*?)\n?</source>', re.DOTALL)
_NUMBER = re.compile(r'\bn="(\d+)"')
_NAMES = re.compile(r'\b(title|section)="([^"]*)"')
_SEARCHED = re.compile(r"\n\(Searched for as: (.*)\)\s*\Z", re.DOTALL)
_QUESTION = re.compile(r"^\s*Question:\s*(.*)\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A numbered source as the prompt gives it."""

    number: int
    text: str
    title: str = ""
    section: str = ""

    @property
    def passage(self) -> Passage:
        """The source as a passage that stands next to no other one."""
        number = self.number
        return Passage(
            chunk_id=str(number),
            document_id=self.title,
            generation="",
            source_type=SourceType.PDF,
            title=self.title,
            section=self.section,
            text=self.text,
            score=0.0,
            chunk_index=2 * number,
            token_count=0,
            page_start=0,
            page_end=0,
            page_label="",
            char_start=number << 20,
            content_hash="",
            language=language_of(self.text),
        )


@dataclass(frozen=True, slots=True)
class Pick:
    """A piece of source `source`, character for character, and how an answer writes it.

    A table's row is written with the names of its columns ("Unit: litres; Least: 48").
    """

    sentence: str
    source: int
    told: str


def read_prompt(texts: Sequence[str]) -> tuple[list[PromptSource], str]:
    """Return the sources of all messages, and the question, which is the end of the last message."""
    sources = [
        PromptSource(int(number[1]), body, **{name: unescape(text) for name, text in _NAMES.findall(attributes)})
        for text in texts
        for attributes, body in _SOURCE.findall(text)
        if (number := _NUMBER.search(attributes))
    ]
    rest = _SOURCE.sub("", texts[-1]) if texts else ""
    found = _QUESTION.search(rest)
    question = found[1] if found else rest
    # A follow-up says "it"; without a language model only the searched question tells what that is.
    searched = _SEARCHED.search(question)
    return sources, (searched[1] if searched else question).strip()


def pick(sources: Sequence[PromptSource], question: str, engine: EmbeddingEngine) -> list[Pick]:
    """Return what answers the question, without what only stands beside it; nothing if none of it is near."""
    claims = extractive_claims(question, [source.passage for source in sources]) if question else ()
    answering = [claim for claim in claims if not claim.further]
    if not answering:
        return []
    quoted = [(claim.text, claim.references[0].quote, sources[claim.references[0].source - 1]) for claim in answering]
    compared = {source.text for _, _, source in quoted}
    compared |= {quote[start:end] for _, quote, _ in quoted for start, end in statement_spans(quote)}
    vectors = engine.embed([question, *sorted(compared)], urgent=True)
    if (vectors[1:] @ vectors[0]).max() < _MIN_SIMILARITY:
        return []
    return [Pick(quote, source.number, text) for text, quote, source in quoted]


def as_text(picks: Sequence[Pick]) -> str:
    """Write the answer, each piece followed by its source's number in brackets."""
    return " ".join(f"{pick.told} [{pick.source}]" for pick in picks) or REFUSAL


def as_claims(picks: Sequence[Pick]) -> dict[str, object]:
    """Write the answer as the object that Recto's JSON schema asks for: claims, each with its source and quote."""
    claims = [
        {
            "citations": [{"source": pick.source, "quote": pick.sentence}],
            "original": "",
            "text": pick.told,
        }
        for pick in picks
    ]
    return {"answered": bool(claims), "claims": claims}


_FENCE = re.compile(r"<conversation>\n(.*)\n</conversation>", re.DOTALL)
_SUMMARY_CHARACTERS = 600


def conversation_reply(texts: Sequence[str]) -> str | None:
    """Return the standalone question or the summary, if the last text requests one of them; else None."""
    match = _FENCE.fullmatch(texts[-1].strip()) if texts else None
    try:
        request = orjson.loads(match[1]) if match else None
    except orjson.JSONDecodeError:
        return None
    match request:
        case {"question": str(question), "conversation": list(conversation)}:
            return _rewrite(question, conversation)
        case {"notes": str(notes), "said": list(said)}:
            return _summary(notes, said)
        case _:
            return None


def _rewrite(question: str, conversation: Sequence[Mapping[str, Any]]) -> str:
    language = language_of(question)
    turns = enumerate(conversation)
    history = [Message(str(number), _role(turn), str(turn.get("text", "")), "") for number, turn in turns]
    text = f"{question} {inherited_words(question, history, language)}".rstrip()
    return orjson.dumps({"question": text, "language": language, "variations": []}).decode()


def _summary(former: str, turns: Sequence[Mapping[str, Any]]) -> str:
    questions = [str(turn.get("text", "")) for turn in turns if _role(turn) == "user"]
    return " ".join([former, *questions])[-_SUMMARY_CHARACTERS:].strip()


def _role(turn: Mapping[str, Any]) -> Role:
    return "assistant" if turn.get("role") == "assistant" else "user"
