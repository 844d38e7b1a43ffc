"""The emulated chat model, without a language model: answers, standalone questions and summaries.

An answer is what Recto itself quotes where it has no model, from the sources of the prompt: fenced as `<source n="1"
title="…" page="3" table="…">…</source>`, then `Question: …`. A follow-up is rewritten by the heuristic that the query
function uses without a model, so that the model's code path runs on a laptop too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import orjson

from functions.query.grounding.words import content_stems
from functions.query.retrieval.passages import Passage
from functions.query.understanding.parts import parts_of
from functions.query.understanding.rewriting import rewritten_by_rule
from functions.query.writing.generation import AskedPart, WritingRequest, choose
from shared.language import language_of
from shared.models import Message, Role, SectionStart, SourceType

REFUSAL = "I don't have that information in the sources."

_SOURCE = re.compile(r'<source\b((?:[^">]|"[^"]*")*)>\n?(.*?)\n?</source>', re.DOTALL)
_ATTRIBUTE = re.compile(r'\b(\w+)="([^"]*)"')
_APART = 1_000_000
"""Characters between the beginnings of two sources: where they stand in their documents a prompt does not say."""
_SEARCHED = re.compile(r"\n\(Searched for as: (.*)\)\s*\Z", re.DOTALL)
_QUESTION = re.compile(r"^\s*Question:\s*(.*)\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A numbered source as the prompt gives it."""

    number: int
    text: str
    table: str = ""
    """The lines above the table that its text goes on with."""
    title: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """What is quoted, character for character as in source `source`, and how an answer tells it.

    A row is told with the names of its columns ("Fuel: Diesel; Least: 48 litres").
    """

    quote: str
    source: int
    told: str


def read_prompt(texts: Sequence[str]) -> tuple[list[PromptSource], str, str]:
    """Return the sources of all messages, the question at the end of the last one, and what it was searched for as."""
    sources = [
        PromptSource(
            int(given["n"]),
            body,
            given.get("table", "").replace(" / ", "\n"),
            given.get("title", ""),
            given.get("section", ""),
        )
        for text in texts
        for attributes, body in _SOURCE.findall(text)
        if (given := {name: unescape(said) for name, said in _ATTRIBUTE.findall(attributes)}).get("n", "").isdecimal()
    ]
    rest = _SOURCE.sub("", texts[-1]) if texts else ""
    found = _QUESTION.search(rest)
    question = found[1] if found else rest
    searched = _SEARCHED.search(question)
    asked = question[: searched.start()] if searched else question
    return sources, asked.strip(), (searched[1] if searched else asked).strip()


def pick(sources: Sequence[PromptSource], question: str, searched: str = "") -> list[Pick]:
    """Return what answers the question; none if nothing of the sources does.

    A follow-up says "it"; without a language model only what it was searched for as tells what that is. Where words of
    the conversation were only put behind it, they may be more of another question than of this one.
    """
    if content_stems(question) and searched.startswith(question) and (picks := _picked(sources, question)):
        return picks
    return _picked(sources, searched or question)


def _picked(sources: Sequence[PromptSource], question: str) -> list[Pick]:
    """Return what answers a question, and each of its parts."""
    language = language_of(question) or "en"
    passages = [_passage(source) for source in sources]
    whole = range(1, len(sources) + 1)
    parts = [AskedPart(part.name, part.question, whole) for part in parts_of(question, language)]
    chosen = choose(WritingRequest(question, question, passages, parts=parts if len(parts) > 1 else ()))
    # Words that no source mentions refuse nothing: a model reads the sources, and says what they hold.
    told = [claim for claim in chosen.claims if not claim.further]
    return [
        Pick(reference.quote, sources[reference.source - 1].number, claim.text.strip())
        for claim in told
        for reference in claim.references[:1]
    ]


def _passage(source: PromptSource) -> Passage:
    start = source.number * _APART
    return Passage(
        chunk_id=str(source.number),
        document_id=source.title,
        generation="",
        source_type=SourceType.PDF,
        title=source.title,
        section=source.section,
        text=source.text,
        score=1.0,
        chunk_index=source.number,
        token_count=0,
        page_start=0,
        page_end=0,
        page_label="",
        char_start=start,
        content_hash="",
        language=language_of(source.text),
        sections=(SectionStart(start, source.section),) if source.section else (),
        table=source.table,
    )


def as_text(picks: Sequence[Pick]) -> str:
    """Write the answer, each quote followed by its source's number in brackets."""
    return " ".join(f"{pick.told} [{pick.source}]" for pick in picks) or REFUSAL


def as_claims(picks: Sequence[Pick]) -> dict[str, object]:
    """Write the answer as the object that Recto's JSON schema asks for: claims, each with its source and quote."""
    claims = [
        {
            "citations": [{"source": pick.source, "quote": pick.quote}],
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
    text, _ = rewritten_by_rule(question, history, language)
    return orjson.dumps({"question": text, "language": language, "variations": []}).decode()


def _summary(former: str, turns: Sequence[Mapping[str, Any]]) -> str:
    questions = [str(turn.get("text", "")) for turn in turns if _role(turn) == "user"]
    return " ".join([former, *questions])[-_SUMMARY_CHARACTERS:].strip()


def _role(turn: Mapping[str, Any]) -> Role:
    return "assistant" if turn.get("role") == "assistant" else "user"
