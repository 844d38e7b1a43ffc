"""What a model's answer is checked as: claims, each with the sources that it names; and the schema that asks for them.

A claim's quotes come before its text: a model that has just copied a sentence writes what that sentence says.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.understanding.model_rewriting import json_format, object_schema
from shared.text import sentence_spans

MAX_CLAIMS = 60
MAX_REFERENCES = 6
_FIRST_NUMBER = re.compile(r"(\d{1,2})[.)]\s")
_LAST_NUMBER = re.compile(r"\s(\d{1,2})[.)]\Z")


_CITATION_SCHEMA = object_schema(
    source={"type": "integer", "description": "the source's number"},
    quote={"type": "string", "description": "copied from it word for word"},
)
_CLAIM_SCHEMA = object_schema(
    citations={"type": "array", "items": _CITATION_SCHEMA},
    original={
        "type": "string",
        "description": "the claim in the quote's language, if the answer is in another one; otherwise empty",
    },
    text={"type": "string", "description": "one sentence or list item of the answer"},
)
RESPONSE_FORMAT = json_format(
    "grounded_answer",
    answered={"type": "boolean", "description": "false if the sources answer no part of the question"},
    claims={"type": "array", "items": _CLAIM_SCHEMA},
)
"""OpenAI's structured output: an answer in claims."""
RESPONSE_FORMAT_WITH_SUGGESTIONS = json_format(
    "grounded_answer",
    answered={"type": "boolean", "description": "false if the sources answer no part of the question"},
    claims={"type": "array", "items": _CLAIM_SCHEMA},
    suggestions={"type": "array", "items": {"type": "string"}, "description": "at most three questions"},
)
"""The same with questions to ask next."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The source number that the model gave for a claim, and its quote, if any."""

    source: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a draft.

    `lead` is the white space before it, `number` its list item's number. `original` is the same statement in the
    source's language, if the model has translated it; otherwise empty. `further`: it stands beside what answers.
    """

    text: str
    references: Sequence[Reference] = ()
    lead: str = ""
    number: str = ""
    original: str = ""
    further: bool = False


def lead_of(between: str) -> str:
    """Normalise the white space between two sentences to a space, a newline, or a blank line."""
    breaks = between.count("\n")
    return "\n\n" if breaks > 1 else "\n" if breaks else " "


def statement_spans_of(text: str) -> list[tuple[int, int]]:
    """Return the spans of an answer's sentences and of the items of a list within a line ("1. Pump 2. Valve")."""
    found: list[tuple[int, int]] = []
    number, moved = 0, None
    for start, end in sentence_spans(text):
        begin = start if moved is None else moved
        moved = None
        if first := _FIRST_NUMBER.match(text, begin):
            number = int(first[1])
        last = _LAST_NUMBER.search(text[begin:end])
        if first and last and int(last[1]) == number + 1 and end < len(text):
            moved = begin + last.start(1)
            end = begin + last.start()
        found.append((begin, end))
    return found
