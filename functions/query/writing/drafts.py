"""Reads a model's answer as claims, in whatever form its server lets through.

Asked for is a JSON object (`RESPONSE_FORMAT`) or sentences with markers; either may come for the other. The object is
found behind text, in a fence, in a string, or inside another object, and read leniently. Its names are those of the
prompt and the schema, and their plurals; nothing else is guessed:

    a claim      "text", or "claim" or "answer"
    citations    "citations", "citation", "sources" or "source": objects, or labels like 1, "1", "[1]", "Source 1"
    in these     "source", "sources", "number" or "n" (as in `<source n="1">`), and "quote" or "quotes"

Around an answer any names are accepted if just one of their values is an answer: an object, or a text with markers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from json import JSONDecoder
from typing import Any

from functions.query.grounding.claims import MAX_CLAIMS, MAX_REFERENCES, Claim, Reference, lead_of, statement_spans_of
from functions.query.grounding.statements import is_yes_or_no
from functions.query.writing.lenient_json import read_json
from functions.query.writing.markers import read_sentences, source_numbers, without_markers_of
from shared.dates import dates_in
from shared.lexical import fold
from shared.reasoning import AnswerStart, answer_start, without_reasoning
from shared.text import BULLETS, SEPARATOR

_TEXT = ("text", "claim", "answer")
_CITATIONS = ("citations", "citation", "sources", "source")
_SOURCE = ("source", "sources", "n", "number")
_QUOTE = ("quote", "quotes")
_NOT_ANSWERED = frozenset({"false", "no", "0"})
"""Values of `answered` that models write for false if the server does not enforce the schema."""
_CLAIMS_BEGIN = re.compile(r"[^}]{0,200}?(\"claims\"\s*:\s*\[)")
"""The list of claims in an object that has just begun, or in one around it."""
_SAYS_NOT_ANSWERED = re.compile(r'"answered"\s*:\s*(?:"?false|"?no|0\b)', re.IGNORECASE)
_VALUE = re.compile(r"[{\[]|\"(?=\s*[{\[])")
_OPENING = frozenset("{[")
_OPENING_CHARACTERS = 40
"""The list of claims begins at most so many characters behind an opening bracket."""
_MAX_OPENINGS = 20
_MAX_DEPTH = 5
MAX_SUGGESTIONS = 5
"""More questions of a model are not looked at."""
_ITEM_NUMBER = re.compile(r"(?:\*\*|__)?\(?(\d{1,3})[.)](?:\*\*|__)?\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Draft:
    """A parsed answer. `answered` is False if the model says that the sources do not contain the answer.

    `suggestions` are questions to ask next.
    """

    claims: Sequence[Claim]
    answered: bool = True
    suggestions: Sequence[str] = ()


def read_draft(text: str, *, cut: bool = False) -> Draft:
    """Parse a model's whole answer in either form; of one that was `cut` off, the whole claims."""
    text = without_reasoning(text)
    draft = _find_object(text) or (_find_object(text.replace('\\"', '"')) if text.startswith('{\\"') else None)
    if draft is not None:
        return draft
    claims = _Claims()
    if answer_start(text) is None:  # an object that cannot be read has no sentences either
        claims.add(read_sentences(text, cut=cut))
    return Draft(claims.all)


class DraftReader:
    """Reads a model's answer while it is written: the claims of a JSON object, each as soon as it is complete.

    Sentences with markers are read when they are whole, because only their end tells that what came before was
    thinking, or what a footnote means.
    """

    def __init__(self) -> None:
        self.answered = True
        self.suggestions: Sequence[str] = ()
        self._text = ""
        self._start = AnswerStart()
        self._at = 0
        self._claims = _Claims()
        self._shown = 0
        self._decoder = JSONDecoder(strict=False)

    def more(self, piece: str) -> Sequence[Claim]:
        """Add a piece of the text; return the claims that it completes."""
        self._text += piece
        if not self._at and not _OPENING.isdisjoint(self._text[-len(piece) - _OPENING_CHARACTERS :]):
            self._begin_claims()
        if self._at and "}" in piece:
            self._decode()
        return self._new(self._claims.all)

    def rest(self, text: str | None = None, *, cut: bool = False) -> Sequence[Claim]:
        """Return the claims not returned yet, of the whole `text`, or of the pieces if there will be no more."""
        draft = read_draft(self._text if text is None else text, cut=cut)
        self.answered, self.suggestions = draft.answered, draft.suggestions
        return self._new(draft.claims)

    def _begin_claims(self) -> None:
        begin = self._start.find(self._text)
        if begin is not None and (found := _CLAIMS_BEGIN.match(self._text, begin)):
            self._at = found.end()
            self.answered = not _SAYS_NOT_ANSWERED.search(self._text, begin, found.start(1))

    def _decode(self) -> None:
        text = self._text
        while True:
            at = self._at
            while at < len(text) and text[at] in " \t\r\n,":
                at += 1
            if not text.startswith("{", at):
                return
            try:
                item, self._at = self._decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                return
            self._claims.add(_claims_in(item, first=not self._claims.all))

    def _new(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        new = claims[self._shown :] if self.answered else ()
        self._shown += len(new)
        return new


class _Claims:
    """The claims of a draft in order, with the numbers of its lists taken out, because sources need not hold them."""

    def __init__(self) -> None:
        self.all: list[Claim] = []
        self._last = 0

    def add(self, claims: Sequence[Claim]) -> None:
        for claim in _with_yes_or_no(claims)[: MAX_CLAIMS - len(self.all)]:
            number, self._last = _number_of_item(claim.text, self._last)
            self.all.append(replace(claim, text=claim.text[len(number) :], number=number))


def _with_yes_or_no(claims: Sequence[Claim]) -> Sequence[Claim]:
    """Join a "Yes." with the sentence after it, which it is about: alone it claims nothing."""
    found: list[Claim] = []
    for claim in claims:
        if found and is_yes_or_no(found[-1].text):
            before = found.pop()
            claim = replace(claim, text=f"{before.text.rstrip(' .!,:;–—-')}: {claim.text}", lead=before.lead)
        found.append(claim)
    return found


# --- the object ---


def _find_object(text: str) -> Draft | None:
    """Return the value in a text that is an answer; of claims that follow each other, all.

    A text that begins with an answer has said it; behind other text the last one counts, which corrects those before.
    """
    begins = answer_start(text) is not None
    found: Draft | None = None
    claims: list[object] = []
    at = 0
    for _ in range(_MAX_OPENINGS):
        opening = _VALUE.search(text, at)
        if opening is None:
            break
        at = opening.end()
        try:
            value, end = read_json(text, opening.start())
        except ValueError:
            continue
        if _is_claim(value):
            claims.append(value)
        elif not claims and (draft := _as_draft(value)) is not None:
            found = draft
            if begins:
                break
        at = max(end, at)
    return found or (_draft({"claims": claims}) if claims else None)


def _as_draft(value: object, depth: int = 0) -> Draft | None:
    """Return a value as a draft: an answer, claims, or something around exactly one of these; else None."""
    if isinstance(value, str):
        return _text_as_draft(value, depth)
    if isinstance(value, dict):
        if "answered" in value or "claims" in value:
            return _draft(value)
        if _is_claim(value):
            return _draft({"claims": [value]})
    if isinstance(value, list) and value and all(map(_is_claim, value)):
        return _draft({"claims": value})
    if depth == _MAX_DEPTH or not isinstance(value, list | dict):
        return None
    inside = [_as_draft(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
    drafts = [each for each in inside if each is not None]
    return drafts[0] if len(drafts) == 1 else None


def _text_as_draft(text: str, depth: int) -> Draft | None:
    """Read a string inside an object: another object, or sentences if one of them names its source."""
    if answer_start(text) is not None:
        try:
            return _as_draft(read_json(text.strip())[0], depth + 1) if depth < _MAX_DEPTH else None
        except ValueError:
            return None
    return _draft({"claims": text}) if without_markers_of(text)[1] else None


def _is_claim(value: object) -> bool:
    """Say whether a value is one claim; its "answer" may also be a whole object in a string."""
    if not isinstance(value, dict) or "claims" in value or "answered" in value:
        return False
    text = _said_in(value)
    return bool(text) and answer_start(text) is None


def _draft(value: Mapping[str, Any]) -> Draft:
    items = value.get("claims")
    if isinstance(items, dict):
        items = [items] if _is_claim(items) else list(items.values())
    if isinstance(items, str):
        items = [items]
    if not isinstance(items, list):
        # Some models leave the list out if they have no answer, or write the answer as one text.
        items = [value] if _said_in(value) else []
    claims = _Claims()
    for item in items:
        claims.add(_claims_in(item, first=not claims.all))
    answered = str(value.get("answered")).strip().casefold() not in _NOT_ANSWERED
    given = value.get("suggestions")
    suggestions = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    return Draft(claims.all, answered=answered, suggestions=suggestions[:MAX_SUGGESTIONS])


def _claims_in(item: object, *, first: bool) -> list[Claim]:
    if isinstance(item, str):
        return read_sentences(item)
    if not isinstance(item, dict):
        return []
    original = item.get("original")
    text, named = without_markers_of(without_reasoning(_said_in(item)))
    references = _references_of(item) or named
    claim = Claim(text, references, original=original.strip() if isinstance(original, str) else "")
    return _split(claim, first=first)


def _split(claim: Claim, *, first: bool) -> list[Claim]:
    """Split a claim into sentences, which are verified separately; each keeps the claim's references.

    An original of as many sentences is split too; else each sentence has the whole of it.
    """
    text = claim.text
    spans = statement_spans_of(text)
    originals = [claim.original[slice(*span)] for span in statement_spans_of(claim.original)]
    found: list[Claim] = []
    for number, (start, end) in enumerate(spans):
        lead = lead_of(text[spans[number - 1][1] : start]) if found else "" if first else _lead_of_item(text[start:end])
        original = originals[number] if len(originals) == len(spans) else claim.original
        found.append(replace(claim, text=text[start:end], lead=lead, original=original))
    return found


def _references_of(item: Mapping[str, Any]) -> Sequence[Reference]:
    """Return a claim's references; a quote that stands beside its citations is that of those without one."""
    given = next((item[name] for name in _CITATIONS if item.get(name) not in (None, [], "")), None)
    references = list(_references(given))
    quotes = [*_texts(item, _QUOTE)]
    if quotes and not any(each.quote for each in references):
        references = _joined([each.source for each in references], quotes)
    return tuple(references[:MAX_REFERENCES])


def _references(given: object) -> Iterator[Reference]:
    if isinstance(given, dict):
        yield from _joined(_numbers(_given(given, _SOURCE)), [*_texts(given, _QUOTE)])
    elif isinstance(given, list):
        for each in given[: 2 * MAX_REFERENCES]:
            yield from _references(each)
    else:
        yield from map(Reference, _numbers(given))


def _joined(sources: Sequence[int], quotes: Sequence[str]) -> list[Reference]:
    """Pair sources with quotes in order; the last of the one goes with what is left of the other."""
    if not sources:
        return []
    pairs = zip_longest(sources, quotes[:MAX_REFERENCES])
    return [
        Reference(sources[-1] if source is None else source, quotes[-1] if quote is None and quotes else quote or "")
        for source, quote in pairs
    ]


def _numbers(given: object) -> Sequence[int]:
    if isinstance(given, bool):
        return ()
    if isinstance(given, int):
        return (given,)
    if isinstance(given, float):
        return (int(given),) if given.is_integer() else ()
    if isinstance(given, str):
        return source_numbers(given)
    if isinstance(given, list):
        return tuple(number for each in given if not isinstance(each, list | dict) for number in _numbers(each))
    if isinstance(given, dict):
        return _numbers(None if isinstance(number := _given(given, _SOURCE), dict) else number)
    return ()


def _said_in(item: Mapping[str, Any]) -> str:
    return next((item[name] for name in _TEXT if isinstance(item.get(name), str) and item[name]), "")


def _texts(item: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Yield the texts that are given under any of the names, in a list or alone."""
    for name in names:
        given = item.get(name)
        yield from (each for each in (given if isinstance(given, list) else [given]) if isinstance(each, str) and each)


def _given(item: Mapping[str, Any], names: Sequence[str]) -> object:
    return next((item[name] for name in names if name in item), None)


# --- lists ---


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


def _lead_of_item(text: str) -> str:
    return "\n" if SEPARATOR in text or re.match(rf"[{BULLETS}|#]\s|\d{{1,3}}[.)]\s", text) else " "
