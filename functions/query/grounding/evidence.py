"""Finds the evidence of a claim: the spans of the sources it names that its quotes, or its own words, lead to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.facts import facts_in
from functions.query.grounding.foreign import is_stray
from functions.query.grounding.known_facts import missing_facts
from functions.query.grounding.quotes import (
    MIN_OVERLAP,
    EvidenceSpan,
    facts_of,
    find_quote,
    nearest_spans,
    quoted_spans,
    titles_of,
)
from functions.query.grounding.statements import statement_of
from functions.query.grounding.wording import MIN_CLAUSE_WORDS, UNINFORMATIVE_STEMS
from functions.query.grounding.words import stems_of, tokens_of
from functions.query.retrieval.passages import Passage
from shared.language import language_of
from shared.text import SEPARATOR, row_cells

_CALCULATES = re.compile(
    r"[+×−]|\d\s*[-*]\s*\d|\b(?:more|less|fewer|off|difference|total|together|sum|half|twice|double|longer|shorter|would"
    r"|comes? to|in all|altogether|save)\b",
    re.IGNORECASE,
)
"""What says that a claim calculates, so that a number may come from those of another of its quotes."""
SAME_LANGUAGE_SHARE = 0.4
"""Share of a claim's words in the passage from which its language is not detected: it is the passage's."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The related spans of the sources that a claim names, and what was found on the way.

    Findings: "uncited", "source" (does not exist), "quote" (not in the source), "instruction" (a span is a prompt
    injection, or foreign to its document), "words" (no span is related to the claim). `unknown_sources` counts
    references to no source.
    """

    spans: Sequence[EvidenceSpan]
    findings: Sequence[str]
    unknown_sources: int


def find_evidence(claim: Claim, sources: Sequence[Passage], language: str, question: str = "") -> Evidence:
    """Return the evidence of a claim; reference n is to `sources[n - 1]`. `language` is that of the answer.

    Sentences that instruct a model, or that are foreign to their document and to the question, are none.
    """
    findings = [] if claim.references else ["uncited"]
    known = [each for each in claim.references if 1 <= each.source <= len(sources)]
    unknown = len(claim.references) - len(known)
    findings += ["source"] * unknown
    statement = statement_of(claim.text) or claim.text
    found: list[EvidenceSpan] = []
    for reference in known:
        spans, missing = _follow(statement, reference, sources[reference.source - 1], language)
        found += [each for each in spans if each not in found]
        findings += ["quote"] if missing else []
    readable = [
        span
        for span in found
        if not (span.is_injected or is_foreign_in(span.passage, statement, span.start, span.end, sources, question))
    ]
    if len(readable) < len(found):
        findings.append("instruction")
    spans = [span for span in readable if _is_related(statement, span, language)]
    if readable and not spans:
        findings.append("words")
    if spans and _CALCULATES.search(statement) and missing_facts(statement, facts_of(spans)):
        spans += [span for span in readable if span not in spans and facts_in(" ".join(span.sentences))]
    return Evidence(spans, findings, unknown)


def is_foreign_in(
    passage: Passage, claim: str, start: int, end: int, sources: Sequence[Passage], question: str
) -> bool:
    """Return whether the place that a claim is made from is foreign to its document and the question (`is_stray`)."""
    others = (each for each in sources if each.document_id == passage.document_id and each is not passage)
    near = (question, *titles_of(passage), *(each.text for each in others))
    return is_stray(claim, passage.text, start, end, near)


def passage_language(passage: Passage, language: str) -> str:
    """Return the language of a passage; if neither its metadata nor its text tells, that of the answer."""
    return (passage.language or _detected(passage.text) or language).split("-")[0]


@lru_cache(maxsize=64)
def _detected(text: str) -> str:
    return language_of(text)


def claim_language(claim: str, passage: Passage, language: str) -> str:
    """Return the language of a claim: the passage's, unless too few of its words are there and it is clearly another.

    `language` is that of the answer, for passages in an unknown language.
    """
    return _claim_language(claim, passage.text, passage_language(passage, language))


@lru_cache(maxsize=256)
def _claim_language(claim: str, text: str, spoken: str) -> str:
    words = tokens_of(claim)
    held = _tokens_in(text)
    shared = sum(word in held for word in words)
    if shared >= SAME_LANGUAGE_SHARE * len(words):
        return spoken
    return language_of(claim, within=spoken if shared >= SAME_LANGUAGE_SHARE / 2 * len(words) else "") or spoken


@lru_cache(maxsize=64)
def _tokens_in(text: str) -> frozenset[str]:
    return frozenset(tokens_of(text))


def _follow(claim: str, reference: Reference, passage: Passage, language: str) -> tuple[Sequence[EvidenceSpan], bool]:
    """Return the spans that a reference leads to, and whether its quote is missing in the source."""
    spoken = claim_language(claim, passage, language)
    missing = False
    if reference.quote.strip():
        places = quoted_spans(reference.quote, passage)
        if places:
            # The same words may be in several places: prefer the one with the claim's facts.
            return [places[0] if len(places) == 1 else _fitting(claim, places)], False
        missing = True
        too_short_to_tell = len(stems_of(claim, spoken)) < MIN_CLAUSE_WORDS
        if too_short_to_tell and not _is_quoted_from(claim, passage.text):
            return [], missing
    return nearest_spans(claim, passage, spoken), missing


def _fitting(claim: str, places: Sequence[EvidenceSpan]) -> EvidenceSpan:
    return min(places, key=lambda each: (each.is_injected, len(missing_facts(claim, facts_of([each])))))


def _is_related(claim: str, span: EvidenceSpan, language: str) -> bool:
    """Return whether a span is related to the claim: by its words, a row's label, or a fact if words cannot decide."""
    spoken = claim_language(claim, span.passage, language)
    said = stems_of(claim, spoken) - UNINFORMATIVE_STEMS
    facts = facts_in(claim)
    has_fact = len(missing_facts(claim, facts_of([span]))) < len(facts)
    if spoken != passage_language(span.passage, language):
        return has_fact or not facts
    held = (span.stems | span.title_stems) & said
    enough = bool(said & span.stems) and len(held) >= MIN_OVERLAP * len(said)
    quoted = span.passage.text[span.start : span.end]
    label = stems_of(row_cells(quoted)[0], spoken) if SEPARATOR in quoted else frozenset()
    return enough or has_fact or (bool(label) and label <= said) or _is_quoted_from(claim, quoted)


def _is_quoted_from(claim: str, text: str) -> bool:
    return any(find_quote(claim.rstrip(" .!?…"), text))
