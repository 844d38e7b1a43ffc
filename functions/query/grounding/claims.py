"""Parses a model's answer into claims: from a JSON object, or from text with `[n]` markers."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from functions.query.grounding.quantities import dates_in
from shared.lexical import fold
from shared.text import BULLETS, SEPARATOR, sentence_spans

MAX_CLAIMS = 60
MAX_REFERENCES = 6
_MARKERS = re.compile(r"[\[【［]\s*(?:source\s*)?(\d{1,6}(?:\s*[,;]\s*\d{1,6})*)\s*[\]】］]", re.IGNORECASE)
_MARKED = re.compile(rf"\s*(?:{_MARKERS.pattern})", re.IGNORECASE)
_LEADING_MARKERS = re.compile(rf"(?:{_MARKERS.pattern}\s*)+", re.IGNORECASE)
_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_LABEL = re.compile(
    r"\s*(?:Question:.{1,500}?\s)?[*_]{0,3}(?:answer|atsakymas)[*_]{0,3}:[*_]{0,3}\s+(?=\S)", re.IGNORECASE | re.DOTALL
)
_NOT_ANSWERED = frozenset({"false", "no", "0"})
"""Values of `answered` that models write for false if the server does not enforce the schema."""
_UNFINISHED_MARKER = re.compile(r"\s*[\[【［][^\]】］]*\Z")
_NO_WORDS = re.compile(r"[\s\W_]*\Z")
_ITEM_NUMBER = re.compile(r"(?:\*\*|__)?\(?(\d{1,3})[.)](?:\*\*|__)?\s+(?=\S)")


def _object_schema(**properties: object) -> Mapping[str, object]:
    return {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}


_CITATION_SCHEMA = _object_schema(
    source={"type": "integer", "description": "the source's number"},
    quote={"type": "string", "description": "copied from it word for word"},
)
_CLAIM_SCHEMA = _object_schema(
    text={"type": "string", "description": "one sentence or list item of the answer"},
    citations={"type": "array", "items": _CITATION_SCHEMA},
)
RESPONSE_FORMAT: Mapping[str, object] = {
    "type": "json_schema",
    "json_schema": {
        "name": "grounded_answer",
        "strict": True,
        "schema": _object_schema(
            answered={"type": "boolean", "description": "false when the sources do not contain the answer"},
            claims={"type": "array", "items": _CLAIM_SCHEMA},
        ),
    },
}
"""OpenAI's structured output; "strict" needs every property required and no others."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The source number that the model gave for a claim, and its quote, if any."""

    source: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a draft. `lead` is the white space before it, `number` its list item's number."""

    text: str
    references: Sequence[Reference] = ()
    lead: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A parsed answer. `answered` is False if the model says that the sources do not contain the answer."""

    claims: Sequence[Claim]
    answered: bool = True
    structured: bool = False


def read_draft(text: str, *, whole: bool = True) -> Draft:
    """Parse a model's answer in either form; a truncated JSON object gives its complete claims.

    With `whole=False`, more text will follow, and only claims that it cannot change are returned.
    """
    fenced = _FENCED.match(text)
    inner = (fenced[1] if fenced else text).strip()
    if inner.startswith("{") or (not whole and inner.startswith("```")):
        found = _read_object(inner[inner.find("{") :])
        if found is not None:
            return found
        if not whole:
            return Draft(())
    claims = _numbered(_read_marked(text if whole else _UNFINISHED_MARKER.sub("", text)))[:MAX_CLAIMS]
    return Draft(claims if whole else _settled(claims))


def without_label(text: str) -> str:
    """Return a text without a leading "Answer:" (and question), which models copy from FAQs."""
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _settled(claims: Sequence[Claim]) -> Sequence[Claim]:
    """Return the leading claims that are final: the last may get more markers, one without markers gets the next's."""
    for at, claim in enumerate(claims[:-1]):
        ends_paragraph = any(later.lead == "\n\n" for later in claims[at + 1 :])
        if not claim.references and not ends_paragraph:
            return claims[:at]
    # Claims that share the last one's references share what it may still get.
    return [claim for claim in claims[:-1] if claim.references is not claims[-1].references or not claim.references]


def _read_object(text: str) -> Draft | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # nested too deep
        value = _read_unfinished(text)
    if not isinstance(value, dict):
        return None
    # Some models leave the list out if they have no answer.
    items = value.get("claims")
    items = [] if items is None and "answered" in value else items
    if not isinstance(items, list):
        return None
    claims: list[Claim] = []
    for item in items:
        claims.extend(_split(_claim(item), first=not claims))
    answered = str(value.get("answered")).strip().casefold() not in _NOT_ANSWERED
    return Draft(_numbered(claims)[:MAX_CLAIMS], answered=answered, structured=True)


def _read_unfinished(text: str) -> dict[str, Any] | None:
    """Parse the complete claims of an object that was truncated by the output limit."""
    begin = re.search(r'"claims"\s*:\s*\[', text)
    if not begin:
        return None
    decoder, items, at = json.JSONDecoder(), [], begin.end()
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(item)
    answered = not re.search(r'"answered"\s*:\s*(?:"?false|"?no"|0\b)', text[: begin.start()], re.IGNORECASE)
    return {"answered": answered, "claims": items}


def _claim(item: object) -> Claim:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return Claim("")
    given = item.get("citations")
    references = [
        Reference(each["source"], each["quote"] if isinstance(each.get("quote"), str) else "")
        for each in (given if isinstance(given, list) else [])
        if isinstance(each, dict) and isinstance(each.get("source"), int) and not isinstance(each["source"], bool)
    ]
    return Claim(item["text"], tuple(references[:MAX_REFERENCES]))


def _split(claim: Claim, *, first: bool) -> list[Claim]:
    """Split a claim into sentences, which are verified separately; each keeps the claim's references."""
    # Markers inside the text are not verified, so they are removed.
    text = without_label(_MARKED.sub("", claim.text))
    found: list[Claim] = []
    end_before = 0
    for start, end in sentence_spans(text):
        lead = lead_of(text[end_before:start]) if found else "" if first else _lead_of_item(text[start:end])
        found.append(replace(claim, text=text[start:end], lead=lead))
        end_before = end
    return found


def _read_marked(text: str) -> list[Claim]:
    """Split a text with markers into sentences; one without a marker gets those of the next in its paragraph."""
    claims: list[Claim] = []
    waiting = 0
    end_before = 0
    for start, end in sentence_spans(text):
        between, raw = text[end_before:start], text[start:end]
        end_before = end
        bare = without_label(_MARKED.sub("", raw).strip())
        leading = _LEADING_MARKERS.match(raw) if claims else None
        if leading:
            # Markers after the full stop belong to the previous sentence.
            between, raw = leading.group(), raw[leading.end() :]
            references = (*claims[-1].references, *_references(between))
            claims[-1] = replace(claims[-1], references=references[:MAX_REFERENCES])
            claims, waiting = _with_last_references(claims, waiting)
        if _NO_WORDS.match(bare):
            continue
        if re.search(r"\n\s*\n", between):
            waiting = len(claims)
        claims.append(Claim(bare, _references(raw), lead_of(between) if claims else ""))
        if claims[-1].references:
            claims, waiting = _with_last_references(claims, waiting)
    return claims


def _with_last_references(claims: list[Claim], waiting: int) -> tuple[list[Claim], int]:
    """Give the last claim's references to the waiting claims before it."""
    last = claims[-1].references
    given = [claim if claim.references else replace(claim, references=last) for claim in claims[waiting:]]
    return [*claims[:waiting], *given], len(claims)


def _references(text: str) -> Sequence[Reference]:
    numbers = (int(number) for marker in _MARKERS.finditer(text) for number in re.findall(r"\d+", marker[1]))
    return tuple(Reference(number) for number in islice(numbers, MAX_REFERENCES))


def _numbered(claims: Sequence[Claim]) -> list[Claim]:
    """Move list numbers out of the claims' texts, because sources need not contain them."""
    found: list[Claim] = []
    last = 0
    for claim in claims:
        number, last = _number_of_item(claim.text, last)
        found.append(replace(claim, text=claim.text[len(number) :], number=number))
    return found


def _number_of_item(text: str, last: int) -> tuple[str, int]:
    """Return a list item's number as written, with the space after it, and its value; ("", last) if there is none.

    A list number is 1 or follows the `last` one, and does not start a date; any other may be a fact.
    """
    sign = _ITEM_NUMBER.match(text)
    if sign is None or int(sign[1]) not in (1, last + 1):
        return "", last
    if any(date.start < sign.end() for date in dates_in(fold(text))):
        return "", last
    return sign.group(), int(sign[1])


def lead_of(between: str) -> str:
    """Normalise the white space between two sentences to a space, a newline, or a blank line."""
    breaks = between.count("\n")
    return "\n\n" if breaks > 1 else "\n" if breaks else " "


def _lead_of_item(text: str) -> str:
    return "\n" if SEPARATOR in text or re.match(rf"[{BULLETS}|#]\s|\d{{1,3}}[.)]\s", text) else " "
