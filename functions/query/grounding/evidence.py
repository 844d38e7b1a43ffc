"""Finds the evidence of a claim: the spans of the sources it names that its quotes, or its own words, lead to."""

from collections.abc import Sequence
from dataclasses import dataclass

from functions.query.grounding.claims import Claim, Reference
from functions.query.grounding.facts import facts_in, missing_facts
from functions.query.grounding.quotes import (
    MIN_OVERLAP,
    EvidenceSpan,
    facts_of,
    find_quote,
    nearest_spans,
    quoted_spans,
)
from functions.query.grounding.wording import MIN_CLAUSE_WORDS, UNINFORMATIVE_STEMS
from functions.query.grounding.words import stems_of
from functions.query.retrieval.passages import Passage


@dataclass(frozen=True, slots=True)
class Evidence:
    """The related spans of the sources that a claim names, and what was found on the way.

    Findings: "uncited", "source" (does not exist), "quote" (not in the source), "instruction" (a span is a prompt
    injection), "words" (no span is related to the claim). `unknown_sources` counts references to no source.
    """

    spans: Sequence[EvidenceSpan]
    findings: Sequence[str] = ()
    unknown_sources: int = 0


def find_evidence(claim: Claim, sources: Sequence[Passage], language: str) -> Evidence:
    """Return the evidence of a claim; reference n is to `sources[n - 1]`."""
    findings = [] if claim.references else ["uncited"]
    known = [each for each in claim.references if 1 <= each.source <= len(sources)]
    unknown = len(claim.references) - len(known)
    findings += ["source"] * unknown
    found: list[EvidenceSpan] = []
    for reference in known:
        spans, missing = _follow(claim.text, reference, sources[reference.source - 1], language)
        found += [each for each in spans if each not in found]
        findings += ["quote"] if missing else []
    readable = [span for span in found if not span.is_injected]
    if len(readable) < len(found):
        findings.append("instruction")
    spans = [span for span in readable if _is_related(claim.text, span, language)]
    if readable and not spans:
        findings.append("words")
    return Evidence(spans, findings, unknown)


def is_in_another_language(span: EvidenceSpan, language: str) -> bool:
    """Return whether a span's passage is known to be in another language."""
    spoken = span.passage.language
    return bool(spoken) and spoken.split("-")[0] != language.split("-")[0]


def _follow(claim: str, reference: Reference, passage: Passage, language: str) -> tuple[Sequence[EvidenceSpan], bool]:
    """Return the spans that a reference leads to, and whether its quote is missing in the source."""
    missing = False
    if reference.quote.strip():
        places = quoted_spans(reference.quote, passage)
        if places:
            # The same words may be in several places: prefer the one with the claim's facts.
            return [
                min(places, key=lambda each: (each.is_injected, len(missing_facts(claim, facts_of([each])))))
            ], False
        missing = True
        too_short_to_tell = len(stems_of(claim, language)) < MIN_CLAUSE_WORDS
        if too_short_to_tell and not _is_quoted_from(claim, passage.text):
            return [], missing
    return nearest_spans(claim, passage, language), missing


def _is_related(claim: str, span: EvidenceSpan, language: str) -> bool:
    """Return whether a span is related to the claim: by its words, or by a fact if words cannot decide."""
    if _is_quoted_from(claim, span.passage.text[span.start : span.end]):
        return True
    said = stems_of(claim, language) - UNINFORMATIVE_STEMS
    translated = is_in_another_language(span, language)
    if said and not translated:
        shared = len(said & (span.stems | span.title_stems))
        return bool(said & span.stems) and shared >= MIN_OVERLAP * len(said)
    facts = facts_in(claim)
    return len(missing_facts(claim, facts_of([span]))) < len(facts) or (translated and not facts)


def _is_quoted_from(claim: str, text: str) -> bool:
    return any(find_quote(claim.rstrip(" .!?…"), text))
