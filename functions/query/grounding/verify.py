"""Verifies the claims of a draft against its sources and decides what is shown, with which citations.

Every answer passes through here, generated or extractive. The steps for each claim:

    1. split    Remove images, markup and addresses that are in no source; split into sentences.
    2. quotes   Find the quote in each named source, or else the sentences nearest to the claim.
                Dropped: the source does not exist; neither the quote nor a sentence like the claim is there; all
                evidence is prompt injection.
    3. facts    Dropped: one of its numbers, dates, shares, amounts, units, identifiers or names is in no source, or it
                contradicts the source. Doubtful, but shown: it may contradict the source, or a name is only in the
                question or another source.
    4. wording  Dropped: too few of its words are in the evidence, or it copies a sentence with a word replaced, added
                or reordered. Skipped if claim and evidence are in different languages.
    5. keep     Show it with the numbers of its citations, or drop it; count the findings either way.

Quotes that are shown are always copied from the stored text, never from the model's output.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from functions.query.grounding.claims import Claim, Reference, lead_of
from functions.query.grounding.facts import facts_in, missing_facts, unknown_names
from functions.query.grounding.injection import is_prompt_rule, without_injections
from functions.query.grounding.polarity import near_copy_conflict, reversal
from functions.query.grounding.quotes import (
    MIN_OVERLAP,
    EvidenceSpan,
    NumberedCitations,
    facts_of,
    find_quote,
    nearest_spans,
    quoted_spans,
    titles_of,
    with_markers,
)
from functions.query.grounding.sanitizing import SourceTexts, cleaned
from functions.query.grounding.wording import (
    MIN_CLAUSE_WORDS,
    QUOTED_COVERAGE,
    UNINFORMATIVE_STEMS,
    is_altered,
    is_covered,
    is_reversed,
)
from functions.query.grounding.words import stems_of, tokens_of
from functions.query.retrieval.passages import Passage
from shared.models import Citation
from shared.text import sentence_spans

DOUBTS = frozenset({"negation", "name"})
"""Findings with which a claim is shown, but not counted as supported."""
MAX_INTRODUCTION_WORDS = 15


@dataclass(frozen=True, slots=True)
class Support:
    """How much of a draft is grounded: counts of claims, and the findings, sorted.

    `claims`: all. `supported`: shown, with a verified quote and no doubt. `dropped`: not shown. The rest is shown with
    a doubt. Flags: "source" (does not exist), "quote" (not in the source), "uncited", "words", "number", "negation",
    "name", "instruction"; "link", "image", "html", "marker" (removed from a text); "translated" (claim and source
    differ in language, so only facts and quotes were compared).
    """

    claims: int = 0
    supported: int = 0
    dropped: int = 0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A claim to show: its text with markers `[n]`, and its new citations."""

    text: str
    citations: Sequence[Citation]
    flags: Sequence[str] = ()


class Verifier:
    """Verifies the claims of one draft in order against its sources (source n is `sources[n - 1]`)."""

    def __init__(self, sources: Sequence[Passage], *, question: str = "", language: str = "") -> None:
        self._sources = sources
        self._question = question
        self._language = language or "en"
        self._source_texts = SourceTexts(text for passage in sources for text in (passage.text, *titles_of(passage)))
        self._citations = NumberedCitations()
        self._support = Support()
        self._flags: list[str] = []
        self._introduction: Claim | None = None
        self._started = False
        self.dropped_citations = 0

    @property
    def support(self) -> Support:
        """The counts and findings so far."""
        return replace(self._support, flags=tuple(sorted(self._flags)))

    @property
    def citations(self) -> Sequence[Citation]:
        """The citations so far, by number."""
        return self._citations.citations

    def check(self, claim: Claim) -> Iterator[VerifiedClaim]:
        """Yield the grounded sentences of a claim."""
        clean = cleaned(claim.text, self._source_texts)
        findings = list(clean.findings)
        sentences = [span for span in sentence_spans(clean.text) if any(map(str.isalnum, clean.text[slice(*span)]))]
        if not sentences and (findings or any(map(str.isalnum, claim.text))):
            self._count(findings, "dropped")
        for number, (start, end) in enumerate(sentences):
            # Cleaning may split a sentence; each part is verified separately.
            part = replace(claim, text=clean.text[start:end])
            if number:
                part = replace(part, lead=lead_of(clean.text[sentences[number - 1][1] : start]), number="")
            verified = self._verify(part, [] if number else findings)
            if verified is not None:
                yield verified

    def _verify(self, claim: Claim, flags: list[str]) -> VerifiedClaim | None:
        """Verify one sentence: quotes, facts, wording, then keep or drop. Adds its findings to `flags`."""
        if not claim.references and self._may_introduce(claim.text):
            self._introduction = claim
            self._flags.extend(flags)
            return None
        spans = self._find_evidence(claim, flags)
        if not spans or not self._is_supported(claim.text, spans, flags):
            spans = []
        self._count(flags, "dropped" if not spans else "doubtful" if DOUBTS & set(flags) else "supported")
        self._count_dropped_citations(claim, spans)
        introduction, self._introduction = self._introduction, None
        return self._shown(claim, spans, introduction, flags) if spans else None

    def _is_supported(self, claim: str, spans: Sequence[EvidenceSpan], flags: list[str]) -> bool:
        """Compare a claim with all its spans; a claim that repeats a sentence word for word is supported."""
        sentences = [sentence for span in spans for sentence in span.sentences]
        if any(tokens_of(claim) == tokens_of(sentence) for sentence in sentences):
            return True
        if is_prompt_rule(claim):
            flags.append("instruction")
            return False
        return self._has_same_facts(claim, spans, sentences, flags) and (
            "translated" in flags or self._has_same_wording(claim, spans, sentences, flags)
        )

    # --- quotes ---

    def _find_evidence(self, claim: Claim, flags: list[str]) -> list[EvidenceSpan]:
        """Return the related spans of the sources that a claim names."""
        if not claim.references:
            flags.append("uncited")
        found: list[EvidenceSpan] = []
        for reference in claim.references:
            found.extend(each for each in self._find_quote(claim.text, reference, flags) if each not in found)
        readable = [span for span in found if not span.is_injected]
        if len(readable) < len(found):
            flags.append("instruction")
        spans = [span for span in readable if self._is_related(claim.text, span)]
        if readable and not spans:
            flags.append("words")
        return spans

    def _find_quote(self, claim: str, reference: Reference, flags: list[str]) -> list[EvidenceSpan]:
        if not self._is_source(reference.source):
            flags.append("source")
            self.dropped_citations += 1
            return []
        passage = self._sources[reference.source - 1]
        if reference.quote.strip():
            places = quoted_spans(reference.quote, passage)
            if places:
                # The same words may be in several places: prefer the one with the claim's facts.
                return [min(places, key=lambda each: (each.is_injected, len(missing_facts(claim, facts_of([each])))))]
            flags.append("quote")
            too_short_to_tell = len(stems_of(claim, self._language)) < MIN_CLAUSE_WORDS
            if too_short_to_tell and not _is_quoted_from(claim, passage.text):
                return []
        return nearest_spans(claim, passage, self._language)

    def _is_related(self, claim: str, span: EvidenceSpan) -> bool:
        """Return whether a span is related to the claim: by its words, or by a fact if words cannot decide."""
        if _is_quoted_from(claim, span.passage.text[span.start : span.end]):
            return True
        said = self._stems(claim)
        translated = self._is_in_another_language(span)
        if said and not translated:
            shared = len(said & (span.stems | span.title_stems))
            return bool(said & span.stems) and shared >= MIN_OVERLAP * len(said)
        facts = facts_in(claim)
        return len(missing_facts(claim, facts_of([span]))) < len(facts) or (translated and not facts)

    # --- facts ---

    def _has_same_facts(
        self, claim: str, spans: Sequence[EvidenceSpan], sentences: Sequence[str], flags: list[str]
    ) -> bool:
        conflict = "number" if missing_facts(claim, facts_of(spans)) else near_copy_conflict(claim, sentences)
        if conflict:
            flags.append(conflict)
            return False
        if all(map(self._is_in_another_language, spans)):
            flags.append("translated")
        elif not self._has_same_polarity(claim, sentences, flags):
            return False
        return self._has_known_names(claim, spans, flags)

    def _has_same_polarity(self, claim: str, sentences: Sequence[str], flags: list[str]) -> bool:
        found = reversal(claim, sentences, self._language)
        if found:
            flags.append("negation")
        return found != "certain"

    def _has_known_names(self, claim: str, spans: Sequence[EvidenceSpan], flags: list[str]) -> bool:
        if not unknown_names(claim, _texts_of([span.passage for span in spans]), self._language):
            return True
        flags.append("name")
        return not unknown_names(claim, [self._question, *_texts_of(self._sources)], self._language)

    # --- wording ---

    def _has_same_wording(
        self, claim: str, spans: Sequence[EvidenceSpan], sentences: Sequence[str], flags: list[str]
    ) -> bool:
        @cache
        def nearby() -> frozenset[str]:
            texts = [self._question, *_texts_of([span.passage for span in spans])]
            return frozenset().union(*(stems_of(text, self._language) for text in texts))

        same = (
            is_covered(claim, self._stems(claim), spans, question=self._question, language=self._language)
            and not is_reversed(claim, sentences, self._language)
            and not is_altered(claim, sentences, lambda stem: stem in nearby(), self._language)
        )
        if not same:
            flags.append("words")
        return same

    # --- keep or drop ---

    def _shown(
        self, claim: Claim, spans: Sequence[EvidenceSpan], introduction: Claim | None, flags: Sequence[str]
    ) -> VerifiedClaim:
        before = len(self.citations)
        numbers = [self._citations.number_of(span) for span in spans]
        lead = claim.lead or " " if self._started else ""
        if introduction is not None and self._is_introduction_known(introduction.text, spans):
            before_it = introduction.lead or " " if self._started else ""
            lead = f"{before_it}{introduction.text}{claim.lead or '\n'}"
        self._started = True
        text = lead + claim.number + with_markers(claim.text, numbers)
        return VerifiedClaim(text, self.citations[before:], tuple(flags))

    def _may_introduce(self, text: str) -> bool:
        """Return whether a text without a reference may introduce the next claim: "The steps are:"."""
        return text.rstrip(" *_").endswith(":") and len(text.split()) <= MAX_INTRODUCTION_WORDS and not facts_in(text)

    def _is_introduction_known(self, text: str, spans: Sequence[EvidenceSpan]) -> bool:
        """Return whether an introduction's words and names are in the question or the next claim's evidence."""
        said = stems_of(text, self._language)
        held = stems_of(self._question, self._language).union(*(span.stems | span.title_stems for span in spans))
        near = [self._question, *_texts_of([span.passage for span in spans])]
        return len(said & held) >= QUOTED_COVERAGE * len(said) and not unknown_names(text, near, self._language)

    def _count(self, flags: Sequence[str], outcome: str) -> None:
        support = self._support
        self._support = replace(
            support,
            claims=support.claims + 1,
            supported=support.supported + (outcome == "supported"),
            dropped=support.dropped + (outcome == "dropped"),
        )
        self._flags.extend(dict.fromkeys(flags))

    def _count_dropped_citations(self, claim: Claim, spans: Sequence[EvidenceSpan]) -> None:
        named = {each.source for each in claim.references if self._is_source(each.source)}
        cited = {number for number in named if any(span.passage is self._sources[number - 1] for span in spans)}
        self.dropped_citations += len(named - cited)

    def _is_source(self, number: int) -> bool:
        return 1 <= number <= len(self._sources)

    def _stems(self, claim: str) -> frozenset[str]:
        return stems_of(claim, self._language) - UNINFORMATIVE_STEMS

    def _is_in_another_language(self, span: EvidenceSpan) -> bool:
        spoken = span.passage.language
        return bool(spoken) and spoken.split("-")[0] != self._language.split("-")[0]


def _is_quoted_from(claim: str, text: str) -> bool:
    return any(find_quote(claim.rstrip(" .!?…"), text))


def _texts_of(passages: Sequence[Passage]) -> list[str]:
    """Return the texts and titles of passages, without prompt injections."""
    return [text for passage in passages for text in (without_injections(passage.text), *titles_of(passage))]
